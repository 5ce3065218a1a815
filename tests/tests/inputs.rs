//! Bad input from the command line: whatever a file or a line of the sidecar holds, an answer, soon, no panic.

use crate::cli::build_guardc;
use guard_compiler::{NoFiles, SourceFile, compile};
use guard_plan::encode::FORMAT_VERSION;
use guard_plan::{LoadedPlan, load};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A folder that goes when the test has ended.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("guard-inputs-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).expect("the folder is writable");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a command; its exit code, and all it prints. It must end soon, and not by a panic.
#[track_caller]
fn guardc(folder: &Folder, args: &[&str], input: &[u8]) -> (i32, String) {
    static GUARDC: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    let binary: &Path = GUARDC.get_or_init(build_guardc);
    let started = Instant::now();
    let mut command = Command::new(binary);
    command.args(args).current_dir(&folder.0).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("guardc runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // A command that does not read to the end closes the pipe; that is its right.
    let writer = std::thread::spawn(move || _ = stdin.write_all(&input));
    let output = child.wait_with_output().expect("guardc ends");
    writer.join().expect("the writer ends");
    let took = started.elapsed();
    let mut text = String::from_utf8(output.stdout).expect("what is printed is UTF-8");
    text.push_str(&String::from_utf8(output.stderr).expect("what is printed is UTF-8"));
    assert!(took < Duration::from_secs(20), "{args:?} took {took:?}");
    let code = output.status.code().expect("guardc is not killed");
    assert!((0..=2).contains(&code) && !text.contains("panicked"), "{args:?}: {code}\n{text}");
    (code, text)
}

const GUARD: &str = "guard g\n\ntool a(x: int) {\n  deny when x > 3\n}\n";

/// A name, the bytes, and what `guardc check` says of them.
const FILES: [(&str, &[u8], i32, &str); 10] = [
    ("empty", b"", 1, "error[G0101]: the file has no `guard NAME` line"),
    ("zeros", &[0; 5000], 1, "error[G00"),
    ("binary", &[0x7f, b'E', b'L', b'F', 2, 1, 0x80, 0], 2, "it is not UTF-8, at byte 6"),
    ("latin1", b"guard g\n// caf\xe9\n", 2, "it is not UTF-8, at byte 14"),
    ("utf16", b"\xff\xfeg\0u\0a\0r\0d\0", 2, "it is not UTF-8, at byte 0"),
    ("cut", b"guard g\n// \xe2\x82", 2, "it is not UTF-8, at byte 11"),
    ("crlf", b"guard g\r\n\r\ntool a(x: int) {\r\n  deny when x > 3\r\n}\r\n", 0, "no problems"),
    ("mark", b"\xef\xbb\xbfguard g\n\ntool a()\n", 0, "no problems"),
    ("mark_crlf", b"\xef\xbb\xbfguard g\r\ntool a() {\r\n  requires b\r\n}\r\n", 1, ".guard:3:12"),
    ("marks", b"\xef\xbb\xbf\xef\xbb\xbfguard g\n", 1, "error[G00"),
];

#[test]
fn files_that_are_no_guards() {
    let folder = Folder::new("files");
    for (name, bytes, code, says) in FILES {
        let file = format!("{name}.guard");
        folder.file(&file, bytes);
        let (found, text) = guardc(&folder, &["check", &file], b"");
        assert!(found == code && text.contains(says), "{name}: {found}\n{text}");
        let (found, text) = guardc(&folder, &["check", "-"], bytes);
        assert!(found == code && (text.contains(says) || code == 1), "{name}: {found}\n{text}");
        for command in ["test", "explain", "compile"] {
            let (found, text) = guardc(&folder, &[command, &file], b"");
            assert!((found == 0) == (code == 0), "{command} {name}: {found}\n{text}");
        }
        guardc(&folder, &["fmt", "--check", &file], b"");
        // The same bytes where a plan is expected.
        let plan = format!("{name}.plan");
        folder.file(&plan, bytes);
        let (found, text) = guardc(&folder, &["run", &plan], b"");
        assert!(found == 2 && text.contains("this is not a plan"), "{name}: {found}\n{text}");
    }
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let folder = Folder::new("large");
    for name in ["large.guard", "large.plan"] {
        let file = std::fs::File::create(folder.0.join(name)).expect("the folder is writable");
        file.set_len(100 << 20).expect("a file may have holes");
    }
    folder.file("uses.guard", b"guard g\nuse \"large.guard\"\n");
    let large = "it is larger than 16 MiB";
    guardc(&folder, &["version"], b"");
    let started = Instant::now();
    for (args, code) in [
        (["check", "large.guard"], 2),
        (["compile", "large.guard"], 2),
        (["run", "large.plan"], 2),
        (["test", "large.guard"], 2),
        (["fmt", "large.guard"], 2),
        (["check", "uses.guard"], 1),
    ] {
        let (found, text) = guardc(&folder, &args, b"");
        assert!(found == code && text.contains(large), "{args:?}: {found}\n{text}");
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    let (found, text) = guardc(&folder, &["check", "-"], &vec![b' '; 17 << 20]);
    assert!(found == 2 && text.contains(large), "{found}\n{text}");
}

fn plan() -> LoadedPlan {
    let text = "guard g\nbudget usd = 5.00\nstate { n: int in 0..=9 = 1 }\ntool b(p: path)\n\
        tool a(x: int, p: path) {\n  requires b(p) within 5m\n  deny when x > n because \"no {x}\"\n  \
        costs 0.50 usd\n  effect n += 1\n}\n";
    let root = SourceFile { path: "g.guard".into(), text: text.into() };
    let output = compile(root, &mut NoFiles).output.expect("it compiles");
    LoadedPlan::from_plan(output.plan, output.sources).expect("it loads")
}

/// One changed byte: refused, or the same plan. Where its rules stand is not part of the JSON form's hash.
#[test]
fn damaged_plans() {
    let made = plan();
    for (form, step) in [(made.to_bytes(), 1), (made.to_json().into_bytes(), 5)] {
        let binary = step == 1;
        let mut refused = 0;
        for at in (0..form.len()).step_by(step) {
            for change in [0x01, 0x20, 0x80, 0xff] {
                let mut bytes = form.clone();
                bytes[at] ^= change;
                match load(&bytes) {
                    Ok(plan) => {
                        assert!(!binary, "byte {at} does not matter");
                        assert_eq!((plan.plan(), plan.hash()), (made.plan(), made.hash()));
                    }
                    Err(_) => refused += 1,
                }
            }
        }
        assert!(refused > form.len() / step * 2, "only {refused} were refused");
        (0..form.len())
            .step_by(step)
            .for_each(|end| assert!(load(&form[..end]).is_err() || !binary));
    }
    let folder = Folder::new("damaged");
    let form = made.to_bytes();
    for at in (0..form.len()).step_by(form.len() / 9) {
        let mut bytes = form.clone();
        bytes[at] ^= 0x10;
        folder.file("damaged.plan", &bytes);
        let (code, text) = guardc(&folder, &["run", "damaged.plan"], b"");
        assert!(code == 2 && text.contains("cannot load `damaged.plan`: "), "{at}: {text}");
    }
}

#[test]
fn plans_of_other_versions() {
    let folder = Folder::new("versions");
    let mut bytes = plan().to_bytes();
    let own = u8::try_from(FORMAT_VERSION).expect("a small version");
    bytes[10] = own + 1;
    let version = |version: u64| format!("\"version\": {version}");
    let json = plan().to_json().replace(&version(own.into()), &version(u64::from(own) + 1));
    let huge = json.replace(&version(u64::from(own) + 1), &version(70_000_000_000));
    let other = format!(
        "the plan has version {}, and this Guard reads version {own}: compile it again",
        own + 1
    );
    for (bytes, says) in [
        (bytes, other.as_str()),
        (json.into_bytes(), other.as_str()),
        (huge.into_bytes(), "the plan does not decode: "),
        (b"{}".to_vec(), "the plan does not decode: missing field `format`"),
        (b"{\"format\":\"x\",\"version\":1}".to_vec(), "this is not a plan"),
        (b"GUARDPLAN\n\x01".to_vec(), "it ends within its header"),
    ] {
        folder.file("other.plan", &bytes);
        let (code, text) = guardc(&folder, &["run", "other.plan"], b"");
        assert!(code == 2 && text.contains(says), "{code}\n{text}\nand not\n{says}");
    }
}

/// Lines for the sidecar, after a session `s` of `GUARD` was opened, and what their answers contain.
fn lines() -> Vec<(Vec<u8>, &'static str)> {
    let propose = |args: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"call.propose","params":{{"session":"s","call":"c","tool":"a","args":{args}}}}}"#
        )
    };
    let deep = |n: usize| "[".repeat(n) + &"]".repeat(n);
    let with = |tool: &str, more: &str| {
        propose("{\"x\":9}").replace("\"tool\":\"a\"", &format!("\"tool\":{tool}{more}"))
    };
    let mut lines: Vec<(Vec<u8>, &str)> = [
        (propose("{\"x\":NaN}"), "parse_error"),
        (propose("{\"x\":Infinity}"), "parse_error"),
        (propose("{\"x\":1,\"x\":2}"), "an object has the same key twice"),
        (propose("{\"x\":1,\"\\u0078\":2}"), "an object has the same key twice"),
        (propose(&format!("{{\"x\":{}}}", deep(10_000))), "invalid_arguments"),
        (propose(&deep(10_000)), "invalid_arguments"),
        (propose(&"[".repeat(10_000)), "parse_error"),
        (propose("{\"x\":1e400}"), "expected int, found 1e400"),
        (propose("{\"x\":1e999999999999}"), "expected int, found 1e999999999999"),
        (propose("{\"x\":9223372036854775808}"), "expected int, found 9223372036854775808"),
        (propose("{\"x\":1.0}"), "expected int, found 1.0"),
        (propose("{\"x\":\"1\"}"), "expected int, found \\\"1\\\""),
        (propose("{\"x\":null}"), "invalid_arguments"),
        (propose("{\"x\":\"\\ud800\"}"), "invalid_arguments"),
        (propose("[1]"), "invalid_arguments"),
        (propose("7"), "invalid_arguments"),
        (propose("{\"X\":1}"), "did you mean `x`?"),
        (propose("{\"x\":9}"), "denied when x > 3"),
        (with("\"b\"", ""), "the guard declares no tool `b`"),
        (with("\"\"", ""), "unknown_tool"),
        (with("7", ""), "invalid_params"),
        (with("null", ""), "invalid_params"),
        (with("\"a\"", &format!(",\"more\":{}", deep(10_000))), "denied when x > 3"),
        (with("\"a\"", ",\"tool\":\"b\""), "invalid_params"),
        (with("\"a\"", ",\"now\":7"), "invalid_params"),
        (with("\"a\"", ",\"now\":\"2026-02-30T00:00:00Z\""), "bad_time"),
        (propose("{}").replace("\"id\":1", "\"id\":1,\"id\":2"), "invalid_request"),
        (propose("{}").replace("call.propose", "call.propos"), "did you mean `call.propose`?"),
        (deep(10_000), "batches are not supported"),
        ("{}".into(), "invalid_request"),
        ("null".into(), "invalid_request"),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.state\",\"params\":[\"s\"]}".into(),
            "`params` is an object",
        ),
    ]
    .map(|(line, says)| (line.into_bytes(), says))
    .into();
    lines.push((b"{\"jsonrpc\":\"\xff\"}".to_vec(), "the line is not UTF-8, at byte 12"));
    lines.push((vec![0; 100], "parse_error"));
    lines.push((vec![b' '; (16 << 20) + 1], "the line is longer than 16 MiB"));
    lines
}

#[test]
fn lines_that_are_no_requests() {
    let folder = Folder::new("lines");
    let open = serde_json::json!({"jsonrpc": "2.0", "id": 0, "method": "session.open",
        "params": {"source": GUARD, "session": "s"}});
    let mut input = format!("{open}\n").into_bytes();
    for (line, _) in lines() {
        input.extend(line);
        input.push(b'\n');
    }
    let (code, text) = guardc(&folder, &["serve", "--workers", "1"], &input);
    assert_eq!(code, 0, "{text}");
    let answers: Vec<&str> = text.lines().skip(1).collect();
    let shown = |line: &[u8]| String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
    for ((line, says), answer) in lines().iter().zip(&answers) {
        assert!(answer.contains(says), "{}\n{answer}\nand not\n{says}", shown(line));
        assert!(answer.len() < 2_000, "{}", shown(line));
    }
    assert_eq!(answers.len(), lines().len());
}

#[test]
fn sources_and_plans_over_the_sidecar() {
    let folder = Folder::new("serve");
    folder.file("damaged.plan", &plan().to_bytes()[..200]);
    folder.file("binary.guard", b"guard \xff");
    let file = std::fs::File::create(folder.0.join("large.guard")).expect("a file");
    file.set_len(100 << 20).expect("a file may have holes");
    let open = |name: &str, value: &str| {
        let params = serde_json::json!({ name: value });
        serde_json::json!({"jsonrpc": "2.0", "id": 0, "method": "session.open", "params": params})
    };
    let cases = [
        (open("plan", "damaged.plan"), "its checksum is wrong"),
        (open("plan", "binary.guard"), "it is not UTF-8, at byte 6"),
        (open("plan", "large.guard"), "it is larger than 16 MiB"),
        (open("plan", "."), "it is a directory"),
        (open("plan", ""), "bad_plan"),
        (open("plan", "\0"), "bad_plan"),
        (open("source", ""), "the file has no `guard NAME` line"),
        (open("source", "\0"), "bad_source"),
        (open("source", &"(".repeat(100_000)), "bad_source"),
        (open("source", "guard g\nuse \"no_such.guard\"\n"), "bad_source"),
    ];
    let input: String = cases.iter().map(|(line, _)| format!("{line}\n")).collect();
    let (_, text) = guardc(&folder, &["serve", "--workers", "1"], input.as_bytes());
    let answers: Vec<&str> = text.lines().collect();
    assert_eq!(answers.len(), cases.len(), "{text}");
    for ((line, says), answer) in cases.iter().zip(answers) {
        let line: String = line.to_string().chars().take(200).collect();
        assert!(answer.contains(says), "{line}\n{answer}\nand not\n{says}");
    }
}

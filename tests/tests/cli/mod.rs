//! CLI cases: `tests/suite/cli/*.guard` and those in folders below, each with what it prints beside it.
//!
//! The first lines of a case say what to run: `// RUN: guardc check %`, where `%` is the case itself,
//! `$TMP` a fresh folder, `$GUARDC` the program and `$SUITE` the suite in what is printed, `"a b"` one word, and `< file` standard input. `GUARD_BLESS=1` rewrites the outputs. Whatever the folder
//! of a case, commands run in `tests/suite/cli`.

use guard_tests::guards_below;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[test]
fn cli() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/cli");
    let guardc = build_guardc();
    let bless = std::env::var_os("GUARD_BLESS").is_some();
    let mut failures = String::new();
    for case in cases(&suite) {
        let got = run_case(&guardc, &suite, &case);
        let beside = case.with_extension("out");
        let expected = std::fs::read_to_string(&beside).unwrap_or_default();
        if got == expected {
            continue;
        }
        if bless {
            std::fs::write(&beside, &got).expect("the suite is writable");
        } else {
            let name = name_of(&suite, &case);
            let _ = writeln!(failures, "\n=== {name}\n{}", difference(&expected, &got));
        }
    }
    assert!(failures.is_empty(), "{failures}\nGUARD_BLESS=1 accepts what is printed now");
}

/// A case as it is typed in the suite: `render/session.guard`.
fn name_of(suite: &Path, case: &Path) -> String {
    case.strip_prefix(suite).unwrap_or(case).to_string_lossy().replace('\\', "/")
}

/// The cases, sorted.
fn cases(suite: &Path) -> Vec<PathBuf> {
    let mut cases = guards_below(suite);
    cases.retain(|path| runs(path).next().is_some());
    cases
}

/// The drawing in the guide is what the command draws.
#[test]
fn pictures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let command = ["render", "graph", "specs/examples/web_deploy.guard"];
    let drawn = Command::new(build_guardc()).args(command).current_dir(&root).output();
    let drawn = String::from_utf8(drawn.expect("guardc runs").stdout).expect("text");
    let picture = root.join("docs/guide/web_deploy.svg");
    let difference = crate::render::compare(&picture, &drawn);
    assert!(difference.is_none(), "{difference:?}\nGUARD_BLESS=1 accepts what is drawn now");
}

/// The commands of a case.
fn runs(case: &Path) -> impl Iterator<Item = String> {
    let text = std::fs::read(case).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let runs: Vec<String> = text
        .lines()
        .map_while(|line| line.strip_prefix("// RUN: ").map(|run| run.trim().to_owned()))
        .collect();
    runs.into_iter()
}

/// The words of a line; what stands between two `"` is one.
fn words(run: &str) -> Vec<String> {
    let quoted = |(index, part): (usize, &str)| match index % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    };
    run.split('"').enumerate().flat_map(quoted).collect()
}

/// Builds the binary where this test was built, which cargo does not do by itself.
pub fn build_guardc() -> PathBuf {
    let here = std::env::current_exe().expect("a test has a path");
    let profile = here.ancestors().nth(2).expect("target/PROFILE/deps/test").to_owned();
    let target = profile.parent().expect("target/PROFILE");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    // With the features of the tests: its crates are built by now.
    build.args(["build", "--quiet", "--workspace", "--tests", "--bin", "guardc", "--target-dir"]);
    build.arg(target);
    build.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")));
    if profile.file_name().is_some_and(|name| name == "release") {
        build.arg("--release");
    }
    assert!(build.status().is_ok_and(|status| status.success()), "guardc does not build");
    profile.join(format!("guardc{}", std::env::consts::EXE_SUFFIX))
}

/// Runs the commands of a case and prints command, exit code and both streams of each.
fn run_case(guardc: &Path, suite: &Path, case: &Path) -> String {
    let name = name_of(suite, case);
    let folder = format!("guard-cli-{}-{}", std::process::id(), name.replace('/', "-"));
    let tmp = std::env::temp_dir().join(folder);
    std::fs::create_dir_all(&tmp).expect("a temporary folder");
    let mut out = String::new();
    for run in runs(case) {
        let tmp_text = tmp.display().to_string();
        let words: Vec<String> =
            words(&run).iter().map(|w| w.replace("$TMP", &tmp_text).replace('%', &name)).collect();
        let (words, input) = match words.iter().position(|w| w == "<") {
            Some(at) => {
                let rest = words.iter().skip(at + 2);
                (words[..at].iter().chain(rest).cloned().collect(), words.get(at + 1).cloned())
            }
            None => (words, None),
        };
        assert_eq!(words.first().map(String::as_str), Some("guardc"), "{name}: only guardc is run");
        let printed = execute(guardc, suite, &words[1..], input.as_deref());
        let printed = printed.replace(&tmp_text, "$TMP");
        let printed = printed.replace(&guardc.display().to_string(), "$GUARDC");
        let printed = printed.replace(&suite.display().to_string(), "$SUITE");
        let printed = without_times(&printed);
        let _ = write!(out, "$ {run}\n{printed}");
    }
    let _ = std::fs::remove_dir_all(&tmp);
    out
}

/// Returns the text without the times of JUnit, which differ from run to run.
fn without_times(text: &str) -> String {
    const TIME: &str = " time=\"";
    let mut parts = text.split(TIME);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once('"').map_or(part, |(_, rest)| rest));
    }
    out
}

fn execute(guardc: &Path, suite: &Path, args: &[String], input: Option<&str>) -> String {
    let stdin = match input {
        Some(file) => Stdio::from(std::fs::File::open(suite.join(file)).expect("the input exists")),
        None => Stdio::null(),
    };
    let output = Command::new(guardc)
        .args(args)
        .current_dir(suite)
        .env_remove("NO_COLOR")
        .env_remove("FORCE_COLOR")
        .stdin(stdin)
        .output()
        .expect("guardc runs");
    let stream = |label: &str, bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        if text.is_empty() {
            String::new()
        } else {
            format!("[{label}]\n{text}{}", if text.ends_with('\n') { "" } else { "\n" })
        }
    };
    let code = output.status.code().map_or("killed".into(), |code| code.to_string());
    format!(
        "{}{}[exit {code}]\n\n",
        stream("stdout", &output.stdout),
        stream("stderr", &output.stderr)
    )
}

/// Plays the cases of a folder, files that hold what is said and what is answered; returns the differences.
/// `GUARD_BLESS=1` writes the answers of now.
pub fn played(folder: &Path, extension: &str, play: impl Fn(&str) -> String) -> String {
    let entries = std::fs::read_dir(folder).expect("a folder of cases");
    let mut cases: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|known| known == extension))
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "{} has no cases", folder.display());
    let mut failures = String::new();
    for case in cases {
        let text = std::fs::read_to_string(&case).expect("a case is text");
        let answered = play(&text);
        if answered == text {
            continue;
        }
        if std::env::var_os("GUARD_BLESS").is_some() {
            std::fs::write(&case, answered).expect("the suite is writable")
        } else {
            let difference = difference(&text, &answered);
            let _ = writeln!(failures, "\n=== {}\n{difference}", case.display());
        }
    }
    failures
}

/// The lines around the first difference.
pub fn difference(expected: &str, got: &str) -> String {
    let a: Vec<&str> = expected.lines().collect();
    let b: Vec<&str> = got.lines().collect();
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let from = head.saturating_sub(3);
    let mut out = String::new();
    for line in &a[from..head] {
        let _ = writeln!(out, "  {line}");
    }
    for line in a.iter().skip(head).take(20) {
        let _ = writeln!(out, "- {line}");
    }
    for line in b.iter().skip(head).take(20) {
        let _ = writeln!(out, "+ {line}");
    }
    out
}

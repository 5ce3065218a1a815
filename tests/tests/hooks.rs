//! `guardc hook`, as a host runs it: `tests/suite/hooks/HOST/*.hook`, each a session.
//!
//! A case begins with `guard: FILE`, a file of `tests/suite/hooks/guards`. Each line `--> TEXT` is an event, whose text goes to
//! standard input as it stands; `<-- ANSWER` below it is the answer, or `<-- exit N: REASON`. A line `$ guardc ARGS` runs another command on
//! the same store, and lines `| TEXT` below it are its output. `$WORK` is the workspace, `$STORE` the store, `$GUARDS` the
//! folder of the guards. Other lines are comments. `GUARD_BLESS=1` rewrites answers and outputs.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

/// The key of the stores of these tests: ids of requests are the same in each run.
const KEY: &str = "0101010101010101010101010101010101010101010101010101010101010101\n";

/// A store and a workspace of its own.
pub(crate) struct HookPlace {
    guardc: PathBuf,
    guards: PathBuf,
    folder: tempfile::TempDir,
}

/// The program, built once for all tests of this file.
fn guardc() -> PathBuf {
    static GUARDC: OnceLock<PathBuf> = OnceLock::new();
    GUARDC.get_or_init(crate::cli::build_guardc).clone()
}

impl HookPlace {
    pub(crate) fn new() -> HookPlace {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["store", "work"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        std::fs::write(folder.path().join("store/.key"), KEY).expect("a key");
        let guards = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/hooks/guards");
        HookPlace { guardc: guardc(), guards, folder }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.guardc);
        command.current_dir(self.folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for variable in
            ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDECODE", "GEMINI_CLI", "GUARD_STORE"]
        {
            command.env_remove(variable);
        }
        command
    }

    /// The hook of a host, with a guard of the suite.
    fn hook(&self, host: &str, guard: &str) -> Command {
        let mut command = self.command();
        command.args(["hook", host, "--store", &self.path("store"), "--plan"]);
        command.arg(self.guards.join(guard)).stdin(Stdio::piped());
        command
    }

    /// The text of a case with the paths of this run, and back.
    pub(crate) fn fill(&self, text: &str) -> String {
        let text = text.replace("$GUARDS", &self.guards.display().to_string());
        text.replace("$WORK", &self.path("work")).replace("$STORE", &self.path("store"))
    }

    pub(crate) fn blank(&self, text: &str) -> String {
        let text = text.replace(&self.guards.display().to_string(), "$GUARDS");
        text.replace(&self.path("work"), "$WORK").replace(&self.path("store"), "$STORE")
    }

    fn decide(&self, host: &str, guard: &str, event: &str) -> Output {
        finish(start(&mut self.hook(host, guard), event.as_bytes()))
    }
}

/// Starts a hook and gives it its event.
fn start(command: &mut Command, event: &[u8]) -> Child {
    let mut child = command.spawn().expect("guardc runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(event).expect("a hook reads its input to the end");
    child
}

fn finish(child: Child) -> Output {
    child.wait_with_output().expect("the hook ends")
}

/// The answer of a hook on one line.
fn shown(output: &Output) -> String {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) if stderr.is_empty() => stdout.trim_end_matches('\n').to_owned(),
        code => {
            let code = code.map_or("killed".into(), |code| code.to_string());
            format!("exit {code}: {}{}", stdout, stderr.trim_end())
        }
    }
}

#[test]
fn cases() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/hooks");
    let hosts = ["claude-code", "codex", "gemini"];
    let failures =
        hosts.map(|host| crate::cli::played(&suite.join(host), "hook", |text| play(host, text)));
    let failures = failures.concat();
    assert!(failures.is_empty(), "{failures}\nGUARD_BLESS=1 accepts what is answered now");
}

/// Plays a case and returns it with the answers of now.
fn play(host: &str, text: &str) -> String {
    let place = HookPlace::new();
    let mut guard = "";
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with("<-- ") || line.starts_with("| ") || line == "|" {
            continue;
        }
        let _ = writeln!(out, "{line}");
        if let Some(name) = line.strip_prefix("guard: ") {
            guard = name;
        } else if let Some(event) = line.strip_prefix("--> ") {
            let output = place.decide(host, guard, &place.fill(event));
            let _ = writeln!(out, "<-- {}", place.blank(&shown(&output)));
        } else if let Some(command) = line.strip_prefix("$ guardc ") {
            let _ = write!(out, "{}", other(&place, command));
        }
    }
    out
}

/// Another command on the store of a case.
pub(crate) fn other(place: &HookPlace, line: &str) -> String {
    let quoted = |(index, part): (usize, &str)| match index % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    };
    let words: Vec<String> = place.fill(line).split('"').enumerate().flat_map(quoted).collect();
    let mut command = place.command();
    command.args(words).env("GUARD_STORE", place.path("store")).stdin(Stdio::null());
    let output = command.output().expect("guardc runs");
    let streams = [output.stdout, output.stderr].concat();
    let text = place.blank(&String::from_utf8_lossy(&streams));
    let mut out: String =
        text.lines().map(|line| format!("| {line}\n").replace("|  \n", "|\n")).collect();
    if output.status.code() != Some(0) {
        let _ = writeln!(out, "| exit {}", output.status.code().unwrap_or(-1));
    }
    out
}

/// An event before a call of the shell.
fn bash(session: &str, call: &str, command: &str) -> String {
    format!(
        r#"{{"hook_event_name": "PreToolUse", "session_id": "{session}", "cwd": "/", "tool_name": "Bash",
            "tool_use_id": "{call}", "tool_input": {{"command": "{command}"}}}}"#
    )
}

fn blocks(output: &Output, why: &str) {
    let text = shown(output);
    assert!(text.starts_with("exit 2: guard: blocked, since ") && text.contains(why), "{text}");
    assert!(output.stdout.is_empty(), "{text}");
}

fn allows(output: &Output) {
    assert_eq!(shown(output), "{}");
}

/// Two hooks of one session at the same moment: both are decided, and a limit for one call lets one pass.
#[test]
fn one_session_many_hooks() {
    let place = HookPlace::new();
    let children: Vec<Child> = (0..12)
        .map(|n| {
            start(
                &mut place.hook("claude-code", "limits.guard"),
                bash("s1", &format!("c{n}"), "ls").as_bytes(),
            )
        })
        .collect();
    let outputs: Vec<Output> = children.into_iter().map(finish).collect();
    let allowed = outputs.iter().filter(|output| shown(output) == "{}").count();
    let denied = outputs
        .iter()
        .filter(|output| shown(output).contains(r#""permissionDecision":"deny""#))
        .count();
    assert_eq!((allowed, denied), (5, 7), "{outputs:?}");
}

/// Thirty sessions at the same moment, in a store that nobody has used before.
#[test]
fn thirty_sessions() {
    let place = HookPlace::new();
    std::fs::remove_dir_all(place.path("store")).expect("a store");
    let children: Vec<Child> = (0..30)
        .map(|n| {
            start(
                &mut place.hook("claude-code", "limits.guard"),
                bash(&format!("s{n}"), "c", "ls").as_bytes(),
            )
        })
        .collect();
    children.into_iter().map(finish).for_each(|output| allows(&output));
}

/// Events that are too long, cut anywhere, or not text.
#[test]
fn unreadable_events_block() {
    let place = HookPlace::new();
    let event = bash("s1", "c1", "ls");
    for cut in (0..event.len()).step_by(7) {
        blocks(&place.decide("codex", "limits.guard", &event[..cut]), "");
    }
    let long = bash("s1", "c1", &"x".repeat(50 << 20));
    blocks(&place.decide("claude-code", "limits.guard", &long), "longer than 32 MiB");
    let output = finish(start(&mut place.hook("gemini", "limits.guard"), &[b'{', 0xff, b'}']));
    blocks(&output, "not UTF-8");
}

/// A hook whose command line is wrong reads its input to the end as well: a host that cannot write takes that for a failure.
#[test]
fn failures_read_all_input() {
    let place = HookPlace::new();
    let mut command = place.command();
    command.args(["hook", "codex", "--no-such-flag"]).stdin(Stdio::piped());
    blocks(&finish(start(&mut command, &vec![b' '; 4 << 20])), "command line is wrong");
}

/// A guard that is missing, or has errors; a store that is not a folder.
#[test]
fn broken_surroundings_block() {
    let place = HookPlace::new();
    let event = bash("s1", "c1", "ls");
    blocks(&place.decide("codex", "no_such.guard", &event), "no_such.guard");
    let broken = place.path("broken.guard");
    std::fs::write(&broken, "guard broken\ntool a() { requires b }\n").expect("a file");
    blocks(&place.decide("codex", &broken, &event), "unknown tool `b`");
    for store in ["/proc/none/store", "/dev/null"] {
        let mut command = place.command();
        command.args(["hook", "codex", "--store", store, "--plan"]).stdin(Stdio::piped());
        command.arg(place.guards.join("limits.guard"));
        blocks(&finish(start(&mut command, event.as_bytes())), store);
    }
}

/// A guard that has changed since the session began.
#[test]
fn a_changed_guard_blocks_its_sessions() {
    let place = HookPlace::new();
    let guard = place.path("own.guard");
    let text = std::fs::read_to_string(place.guards.join("limits.guard")).expect("a guard");
    std::fs::write(&guard, &text).expect("a file");
    allows(&place.decide("codex", &guard, &bash("s1", "c1", "ls")));
    std::fs::write(&guard, text.replace("limit 5", "limit 50")).expect("a file");
    blocks(&place.decide("codex", &guard, &bash("s1", "c2", "ls")), "another plan");
    allows(&place.decide("codex", &guard, &bash("s2", "c1", "ls")));
}

/// Another process has the session: the hook waits, and then refuses before its deadline.
#[test]
fn a_locked_session_blocks() {
    let place = HookPlace::new();
    allows(&place.decide("codex", "limits.guard", &bash("s1", "c1", "ls")));
    let file = std::fs::File::open(place.path("store/s1.jsonl")).expect("the session");
    file.lock().expect("nobody else has it");
    let mut command = place.hook("codex", "limits.guard");
    command.args(["--deadline", "300ms"]);
    blocks(&finish(start(&mut command, bash("s1", "c2", "ls").as_bytes())), "in use");
    drop(file);
    allows(&place.decide("codex", "limits.guard", &bash("s1", "c2", "ls")));
}

/// A hook that is killed leaves no lock and no half record: the next one decides.
#[test]
fn killed_hooks_leave_nothing() {
    let place = HookPlace::new();
    for n in 0..20 {
        let mut child = start(
            &mut place.hook("codex", "open.guard"),
            bash("s1", &format!("k{n}"), "ls").as_bytes(),
        );
        let _ = child.kill();
        let _ = child.wait();
    }
    allows(&place.decide("codex", "open.guard", &bash("s1", "last", "ls")));
    // A record that was cut when the machine stopped.
    let path = place.path("store/s1.jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(path).expect("the session");
    file.write_all(br#"{"seq":99,"time":"2026"#).expect("written");
    drop(file);
    allows(&place.decide("codex", "open.guard", &bash("s1", "after", "ls")));
}

/// A host that never closes the input, or a probe that never ends, is answered at the deadline.
#[test]
fn the_deadline_holds() {
    let place = HookPlace::new();
    let mut command = place.hook("codex", "limits.guard");
    command.args(["--deadline", "100ms"]);
    let mut child = command.spawn().expect("guardc runs");
    let stdin = child.stdin.take();
    let output = finish(child);
    drop(stdin);
    blocks(&output, "no decision within 100 ms");
    let mut command = place.hook("codex", "slow.guard");
    command.args(["--deadline", "400ms", "--workspace", &place.path("work")]);
    blocks(
        &finish(start(&mut command, bash("s1", "c1", "ls").as_bytes())),
        "no decision within 400 ms",
    );
}

/// An answer that cannot be written is a failure too.
#[test]
fn a_closed_output_blocks() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let place = HookPlace::new();
    let mut command = place.hook("codex", "limits.guard");
    command.stdout(Stdio::from(full));
    blocks(&finish(start(&mut command, bash("s1", "c1", "ls").as_bytes())), "cannot be written");
}

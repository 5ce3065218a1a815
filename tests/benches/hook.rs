//! Benchmark of `guardc hook`, from exec to answer, in comparison with `true` in the same run.
//!
//! `cargo build --release -p guardc-cli && cargo bench -p guard-tests --bench hook -- target/release/guardc [TOOLS] [CALLS]`: a plan of TOOLS tools (1,000), a session of CALLS
//! calls (10,000) in a folder store, each record on disk before the answer. Each line is a median and the ninth tenth.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The number of runs of each command.
const RUNS: usize = 41;

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| !arg.starts_with("--"));
    let Some(guardc) = args.next() else { return println!("give the path of guardc") };
    let guardc = Path::new("..").join(guardc).canonicalize().expect("a program");
    let mut number = |default: usize| args.next().map_or(default, |n| n.parse().expect("a number"));
    let tools = number(1_000);
    let calls = number(10_000);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    let plans = [("one", 1), ("many", tools)]
        .map(|(name, tools)| plan(&guardc, folder.path(), name, tools));
    fill(&guardc, &plans[1], &at("store"), calls);
    time("true", || Command::new("true"), |_| String::new());
    time("guardc version", || command(&guardc, &["version"]), |_| String::new());
    let hook = |plan: &Path, store: &str| {
        let mut command = Command::new(&guardc);
        command.args(["hook", "claude-code", "--plan"]).arg(plan).arg("--store").arg(at(store));
        command
    };
    time(
        "an event that passes",
        || hook(&plans[0], "a"),
        |_| r#"{"hook_event_name": "Notification"}"#.into(),
    );
    time("1 tool, new sessions", || hook(&plans[0], "b"), |n| event(&format!("s{n}"), n));
    time(
        &format!("{tools} tools, new sessions"),
        || hook(&plans[1], "c"),
        |n| event(&format!("s{n}"), n),
    );
    time(
        &format!("{tools} tools, a session of {calls} calls"),
        || hook(&plans[1], "store"),
        |n| event("long", n),
    );
}

fn command(program: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args);
    command
}

/// Compiles a guard with so many tools.
fn plan(guardc: &Path, folder: &Path, name: &str, tools: usize) -> PathBuf {
    let mut text = format!("guard {name}\n");
    for n in 0..tools {
        let _ = write!(
            text,
            "tool t{n}(path: path, text: string max 1000) {{\n  deny unless path within workspace\n  \
             deny when text contains \"rm -rf\"\n  limit 100000 per session\n}}\n"
        );
    }
    let source = folder.join(format!("{name}.guard"));
    let plan = folder.join(format!("{name}.plan"));
    std::fs::write(&source, text).expect("a file");
    let compiled = Command::new(guardc).arg("compile").arg(&source).arg("-o").arg(&plan).output();
    assert!(compiled.expect("guardc runs").status.success(), "{name} compiles");
    plan
}

/// Plays the calls of a session through the sidecar.
fn fill(guardc: &Path, plan: &Path, store: &Path, calls: usize) {
    let mut serve = Command::new(guardc);
    serve.args(["serve", "--durability", "off", "--journal"]).arg(store);
    let mut child =
        serve.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("guardc runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut answers = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut ask = |method: &str, params: String| {
        writeln!(
            stdin,
            r#"{{"jsonrpc": "2.0", "id": 1, "method": "{method}", "params": {params}}}"#
        )
        .expect("written");
        let mut line = String::new();
        answers.read_line(&mut line).expect("an answer");
        assert!(line.contains("\"result\""), "{line}");
    };
    ask(
        "session.open",
        format!(r#"{{"session": "long", "plan": "{}", "workspace": "/tmp"}}"#, plan.display()),
    );
    for n in 0..calls {
        let call = format!(
            r#"{{"session": "long", "call": "c{n}", "tool": "t0", "args": {{"path": "/tmp/a", "text": "{n}"}}}}"#
        );
        ask("call.propose", call);
        ask(
            "call.settle",
            format!(r#"{{"session": "long", "call": "c{n}", "outcome": "success"}}"#),
        );
    }
    drop(stdin);
    let _ = child.wait();
}

fn event(session: &str, n: usize) -> String {
    format!(
        r#"{{"hook_event_name": "PreToolUse", "session_id": "{session}", "cwd": "/tmp", "tool_name": "t0",
            "tool_use_id": "n{n}", "tool_input": {{"path": "/tmp/a", "text": "{n}"}}}}"#
    )
}

fn time(name: &str, command: impl Fn() -> Command, input: impl Fn(usize) -> String) {
    let mut took: Vec<Duration> = (0..RUNS)
        .map(|n| {
            let mut command = command();
            let input = input(n);
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let begun = Instant::now();
            let mut child = command.spawn().expect("it runs");
            let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
            let output = child.wait_with_output().expect("it ends");
            let took = begun.elapsed();
            assert!(output.status.success(), "{name}: {output:?}");
            assert!(input.is_empty() || output.stdout.starts_with(b"{}"), "{name}: {output:?}");
            took
        })
        .collect();
    took.sort();
    let millis = |at: usize| took[at].as_secs_f64() * 1000.0;
    println!("{:7.2} ms  {:7.2} ms  {name}", millis(RUNS / 2), millis(RUNS * 9 / 10));
}

//! `guardc mcp-proxy`, as a client runs it: `tests/suite/mcp/*.mcp`, each a session.
//!
//! A case begins with `guard: FILE`, a file of `tests/suite/mcp/guards`, and may have `options: …` for the proxy, and
//! `lock: […]`, the tools that were accepted. The test plays both ends: a line `--> TEXT` is a line of the client, and `<== TEXT` a line of the server, as they stand. Below each
//! are the lines that arrived then: `==> TEXT` at the server, `<-- TEXT` at the client. `wait` waits for a line that time
//! brings. `$ guardc ARGS` runs another command on the same store, and `| TEXT` is its output. Other lines are comments.
//! `GUARD_BLESS=1` rewrites what arrived. `$WORK` is the workspace, `$STORE` the store, `$GUARDS` the folder of
//! guards, `TOKEN` the proxy's random text.

use crate::hooks::{HookPlace, other};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The timeout of one line. A test waits this long only if something is wrong.
const PATIENCE: Duration = Duration::from_secs(60);

/// Lines that mark the end of what an input has brought.
const FENCE: &str = "guard-tests-fence";

fn guards() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/mcp/guards")
}

/// A running proxy, with the test at both ends.
struct PlayedProxy {
    child: Child,
    client: Option<ChildStdin>,
    server: File,
    from_server: Receiver<String>,
    from_client: Receiver<String>,
    token: Option<String>,
    /// The request for an approval that was named first.
    request: Option<String>,
    fences: usize,
}

/// The lines of a reader, as they come.
fn lines(from: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(from);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned();
            if send.send(text).is_err() {
                return;
            }
            line.clear();
        }
    });
    receive
}

/// A proxy with options, in front of a server. `unnamed` among the options: the calls name their sessions.
fn proxy(place: &HookPlace, guard: &str, options: &[&str], server: &[&str]) -> Command {
    let mut command = place.command();
    command.args(["mcp-proxy", "--store", &place.path("store"), "--plan"]);
    command.arg(guards().join(guard)).args(["--workspace", &place.path("work")]);
    if !options.contains(&"unnamed") {
        command.args(["--session", "s1"]);
    }
    command.args(options.iter().filter(|option| **option != "unnamed"));
    command.arg("--").args(server).stdin(Stdio::piped()).env_remove("GUARD_SESSION");
    command
}

impl PlayedProxy {
    fn start(place: &HookPlace, guard: &str, options: &[&str]) -> PlayedProxy {
        let [to, from] = ["to_proxy", "from_proxy"].map(|name| place.path(name));
        assert!(Command::new("mkfifo").args([&to, &from]).status().is_ok_and(|s| s.success()));
        // The server is the test: a shell joins its pipes with two named ones.
        let script = "cat \"$1\" & exec cat > \"$2\"";
        let server = ["/bin/sh", "-c", script, "server", &to, &from];
        let mut child = proxy(place, guard, options, &server).spawn().expect("guardc runs");
        let client = child.stdin.take();
        let from_client = lines(child.stdout.take().expect("a pipe"));
        // Notes are for people; the cases are about the two protocols.
        lines(child.stderr.take().expect("a pipe"));
        let server = File::options().write(true).open(&to).expect("the server reads");
        let from_server = lines(File::open(&from).expect("the server writes"));
        PlayedProxy {
            child,
            client,
            server,
            from_server,
            from_client,
            token: None,
            request: None,
            fences: 0,
        }
    }

    fn send_to_server(&mut self, line: &str) {
        let client = self.client.as_mut().expect("the client is there");
        client.write_all(format!("{line}\n").as_bytes()).expect("the proxy reads");
    }

    fn send_to_client(&mut self, line: &str) {
        self.server.write_all(format!("{line}\n").as_bytes()).expect("the proxy reads");
    }

    /// The lines that arrived at both ends since the last line of the client. A fence follows the same way: one directly, one
    /// through the queue of the other side.
    fn after_client(&mut self) -> String {
        self.fences += 1;
        let n = self.fences;
        self.send_to_server(&format!(r#"{{"jsonrpc":"2.0","method":"{FENCE}-{n}"}}"#));
        self.send_to_server(&format!(r#"{{"jsonrpc":"2.0","id":"{FENCE}-{n}","method":5}}"#));
        self.arrived()
    }

    /// The same since the last line of the server.
    fn after_server(&mut self) -> String {
        self.fences += 1;
        let n = self.fences;
        self.send_to_client(&format!(r#"{{"jsonrpc":"2.0","method":"{FENCE}-{n}"}}"#));
        self.send_to_client(&format!(r#"{{"jsonrpc":"2.0","id":"{FENCE}-{n}","method":5e}}"#));
        self.arrived()
    }

    fn arrived(&mut self) -> String {
        let mut out = String::new();
        for (mark, at) in [("==>", &self.from_server), ("<--", &self.from_client)] {
            loop {
                let line = at.recv_timeout(PATIENCE).expect("a fence arrives");
                if line.contains(&format!("{FENCE}-{}\"", self.fences)) {
                    break;
                }
                let _ = writeln!(out, "{mark} {line}");
            }
        }
        self.blank(&out)
    }

    /// The next line at the client, which time brings; and what came with it.
    fn wait(&mut self) -> String {
        let line = self.from_client.recv_timeout(PATIENCE).expect("a line comes");
        let first = self.blank(&format!("<-- {line}\n"));
        first + &self.after_server()
    }

    /// The proxy's random text under one name.
    fn blank(&mut self, text: &str) -> String {
        if self.token.is_none() {
            let at = text.find("\"guard-").map(|at| &text[at + 7..]);
            let token = at.and_then(|rest| rest.get(..16));
            self.token =
                token.filter(|t| t.bytes().all(|b| b.is_ascii_hexdigit())).map(str::to_owned);
        }
        if self.request.is_none() {
            let found = ["approval as ", "guard-approval:"].iter().find_map(|before| {
                let at = text.find(before)? + before.len();
                text.get(at..at + 12)
            });
            self.request = found.map(str::to_owned);
        }
        let text = text.replace(&guards().display().to_string(), "$GUARDS");
        match &self.token {
            Some(token) => text.replace(token.as_str(), "TOKEN"),
            None => text,
        }
    }

    /// The text of a case with what is known only in this run.
    fn fill(&self, text: &str) -> String {
        let text = text.replace("$GUARDS", &guards().display().to_string());
        let text = text.replace("TOKEN", self.token.as_deref().unwrap_or("TOKEN"));
        text.replace("REQUEST1", self.request.as_deref().unwrap_or("REQUEST1"))
    }
}

impl Drop for PlayedProxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn cases() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/mcp");
    let failures = crate::cli::played(&suite, "mcp", play);
    assert!(failures.is_empty(), "{failures}\nGUARD_BLESS=1 accepts what arrives now");
}

/// Plays a case and returns it with what arrives now.
fn play(text: &str) -> String {
    let place = HookPlace::new();
    let head =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    let options = place.fill(head("options: "));
    let options: Vec<&str> = options.split_whitespace().collect();
    let lock = place.path("imported.mcp.lock");
    let mut options = options;
    if !head("lock: ").is_empty() {
        std::fs::write(place.path("tools.json"), head("lock: ")).expect("a file");
        let tools = place.path("tools.json");
        let guard = place.path("imported.guard");
        let mut import = place.command();
        let done =
            import.args(["import", "mcp", &tools, "-o", &guard]).output().expect("guardc runs");
        assert!(done.status.success(), "{done:?}");
        options.extend(["--lock", &lock]);
    }
    let mut proxy = PlayedProxy::start(&place, head("guard: "), &options);
    let mut out = String::new();
    let old = ["==> ", "<-- ", "| "];
    for line in text.lines() {
        if old.iter().any(|mark| line.starts_with(mark)) || line == "|" {
            continue;
        }
        let _ = writeln!(out, "{line}");
        let arrived = if let Some(sent) = line.strip_prefix("--> ") {
            let sent = proxy.fill(&place.fill(sent));
            proxy.send_to_server(&sent);
            proxy.after_client()
        } else if let Some(sent) = line.strip_prefix("<== ") {
            let sent = proxy.fill(&place.fill(sent));
            proxy.send_to_client(&sent);
            proxy.after_server()
        } else if line == "wait" {
            proxy.wait()
        } else if let Some(command) = line.strip_prefix("$ guardc ") {
            other(&place, &proxy.fill(command))
        } else {
            continue;
        };
        let _ = write!(out, "{}", place.blank(&arrived));
    }
    out
}

fn call(id: u32, tool: &str, args: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{args}}}}}"#
    )
}

/// Runs a proxy to its end with these lines, and returns its output, errors and exit code.
fn run(place: &HookPlace, server: &[&str], input: &[u8]) -> (String, String, Option<i32>) {
    let mut child = proxy(place, "files.guard", &[], server).spawn().expect("guardc runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || _ = stdin.write_all(&input));
    let output = child.wait_with_output().expect("the proxy ends");
    writer.join().expect("the writer ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

/// A plan, store or server that cannot be used: the proxy ends before anything passes.
#[test]
fn broken_surroundings_end_it() {
    let place = HookPlace::new();
    let input = call(1, "read_file", r#"{"path": "a"}"#);
    let (out, err, code) = run(&place, &["/no/such/server"], input.as_bytes());
    assert_eq!((out.as_str(), code), ("", Some(2)), "{err}");
    assert!(err.contains("cannot start `/no/such/server`"), "{err}");
    let mut command = place.command();
    command.args(["mcp-proxy", "--plan", "no.guard", "--store", &place.path("store"), "--", "cat"]);
    let output = command.stdin(Stdio::null()).output().expect("guardc runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let mut command = proxy(&place, "files.guard", &["--lock", "/dev/null"], &["cat"]);
    let output = command.stdin(Stdio::null()).output().expect("guardc runs");
    assert_eq!(output.status.code(), Some(2), "a lock that is not a lock");
}

/// A server that dies in the middle of a call: every request is answered, and the call has failed.
#[test]
fn a_server_that_dies_is_told() {
    let place = HookPlace::new();
    let lines =
        [call(1, "slow", r#"{"n": 1}"#), r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#.into()];
    // It reads one line, and ends before it answers. Its input stays open: the client waits for an answer.
    let mut child = proxy(&place, "files.guard", &[], &["/bin/sh", "-c", "read a; read b; exit 3"])
        .spawn()
        .expect("guardc runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(format!("{}\n{}\n", lines[0], lines[1]).as_bytes()).expect("the proxy reads");
    let output = child.wait_with_output().expect("the proxy ends");
    drop(stdin);
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"the server has ended"#), "{out}");
    assert!(out.contains(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32603"#), "{out}");
    assert_eq!(output.status.code(), Some(2));
    let trace = std::fs::read_to_string(place.path("store/s1.jsonl")).expect("a trace");
    assert!(
        trace.contains(r#""kind":"settle""#) && trace.contains(r#""success":false"#),
        "{trace}"
    );
}

/// A client that leaves in the middle of a call: the call has failed, and the server and all of its group are gone.
#[test]
fn a_client_that_leaves_takes_the_server_along() {
    let place = HookPlace::new();
    let pids = place.path("pids");
    let script = format!("trap '' TERM; sleep 1000 & echo $! $$ > {pids}; cat > /dev/null; wait");
    let input = call(1, "slow", r#"{"n": 1}"#) + "\n";
    let mut child =
        proxy(&place, "files.guard", &["--linger", "50ms"], &["/bin/sh", "-c", &script])
            .spawn()
            .expect("guardc runs");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("the proxy reads");
    let output = child.wait_with_output().expect("the proxy ends");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_gone(&pids);
    let trace = std::fs::read_to_string(place.path("store/s1.jsonl")).expect("a trace");
    assert!(trace.contains(r#""kind":"settle""#), "{trace}");
}

/// The proxy is killed: no process of the server stays.
#[test]
fn a_killed_proxy_leaves_no_server() {
    let place = HookPlace::new();
    let pids = place.path("pids");
    let script = format!("sleep 1000 & echo $! $$ > {pids}; echo '{{}}'; wait");
    let mut child = proxy(&place, "files.guard", &[], &["/bin/sh", "-c", &script])
        .spawn()
        .expect("guardc runs");
    let mut first = String::new();
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    stdout.read_line(&mut first).expect("the server is there");
    child.kill().expect("killed");
    child.wait().expect("gone");
    assert_gone(&pids);
}

/// A call of a proxy that was killed has failed for the next one.
#[test]
fn calls_of_a_killed_proxy_settle() {
    let place = HookPlace::new();
    let mut killed = PlayedProxy::start(&place, "files.guard", &[]);
    killed.send_to_server(&call(1, "slow", r#"{"n": 1}"#));
    assert!(killed.after_client().starts_with("==> "));
    drop(killed);
    for name in ["to_proxy", "from_proxy"] {
        std::fs::remove_file(place.path(name)).expect("removed");
    }
    let mut next = PlayedProxy::start(&place, "files.guard", &["--wait", "1ms"]);
    next.send_to_server(&call(1, "slow", r#"{"n": 2}"#));
    let arrived = next.after_client();
    assert!(arrived.starts_with("==> "), "{arrived}");
}

/// Waits until the processes named in a file are gone.
fn assert_gone(pids: &str) {
    let pids = std::fs::read_to_string(pids).expect("ids of processes");
    for pid in pids.split_whitespace() {
        let gone = || {
            let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            status.is_empty() || status.contains(") Z ")
        };
        let begun = std::time::Instant::now();
        while !gone() {
            assert!(begun.elapsed() < PATIENCE, "process {pid} is left");
            std::thread::yield_now();
        }
    }
}

/// A line of 50 MB from either side is answered with an error that names its id.
#[test]
fn long_lines_are_answered() {
    let place = HookPlace::new();
    let long = call(
        1,
        "write_file",
        &format!(r#"{{"path": "a", "content": "{}"}}"#, "x".repeat(50 << 20)),
    );
    let (out, _, code) = run(&place, &["cat"], format!("{long}\n").as_bytes());
    let said = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32700,"message":"guard: not forwarded: the message is longer than 32 MiB"}}"#;
    assert_eq!((out.trim_end(), code), (said, Some(0)));
    let script = "read line; printf '{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"'; head -c 52428800 /dev/zero | tr '\\0' x; echo '\"}'; cat > /dev/null";
    let input = call(7, "slow", r#"{"n": 1}"#) + "\n";
    let (out, _, code) = run(&place, &["/bin/sh", "-c", script], input.as_bytes());
    assert!(out.starts_with(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"the server's answer is longer than 32 MiB"#), "{out}");
    assert_eq!(code, Some(0));
}

/// Another process has the session, for longer than the deadline: the call is denied, and the proxy goes on.
#[test]
fn a_locked_session_denies() {
    let place = HookPlace::new();
    let mut proxy = PlayedProxy::start(&place, "files.guard", &["--deadline", "100ms"]);
    std::fs::write(place.path("store/s1.jsonl"), "").expect("a file");
    let file = File::open(place.path("store/s1.jsonl")).expect("the session");
    file.lock().expect("nobody else has it");
    proxy.send_to_server(&call(1, "slow", r#"{"n": 1}"#));
    let arrived = proxy.after_client();
    assert!(
        arrived.contains("stays in use by another process") && !arrived.contains("==>"),
        "{arrived}"
    );
    drop(file);
    std::fs::remove_file(place.path("store/s1.jsonl")).expect("removed");
    proxy.send_to_server(&call(2, "slow", r#"{"n": 1}"#));
    assert!(proxy.after_client().starts_with("==> "));
}

//! Guard: a plan, typed arguments, a session.

use crate::{Call, Engine, Login, NOW, most};
use guard_compiler::{NoFiles, SourceFile, compile};
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_plan::verdict::Decision;
use guard_runtime::{Ending, Kernel, NoWorld, Proposal, Scratch, SessionState, Settlement};

fn kernel(text: String) -> Kernel {
    let root = SourceFile { path: "peers.guard".into(), text };
    let output = compile(root, &mut NoFiles).output.expect("a sound guard");
    Kernel::new(LoadedPlan::from_plan(output.plan, output.sources).expect("a plan")).expect("a kernel")
}

fn deployments(rules: usize) -> Kernel {
    let mut text = String::from("guard peers\nenum Env { dev, staging, prod }\n");
    for tool in 0..rules {
        let most = most(tool);
        text.push_str(&format!(
            "tool tool_{tool}(env: Env, count: int) {{ deny when env == staging and count > {most} }}\n"
        ));
    }
    kernel(text)
}

fn requests(calls: &[Call]) -> Vec<(String, Json)> {
    let request = |call: &Call| {
        let args = format!(r#"{{"env": "{}", "count": {}}}"#, call.env, call.count);
        (format!("tool_{}", call.tool), Json::parse(&args).expect("JSON"))
    };
    calls.iter().map(request).collect()
}

fn verdicts(kernel: Kernel, session: SessionState, requests: Vec<(String, Json)>) -> Engine<'static> {
    let mut scratch = Scratch::default();
    Box::new(move |n| {
        let (tool, args) = &requests[n];
        let proposal = Proposal { call: "c", tool, args: args.into(), now: NOW * 1000 };
        let proposed = kernel.check_with(&session, &proposal, &mut NoWorld, &mut scratch);
        proposed.verdict.decision == Decision::Allow
    })
}

fn settled(kernel: Kernel, mut session: SessionState, requests: Vec<(String, Json)>) -> Engine<'static> {
    Box::new(move |n| {
        let (tool, args) = &requests[n];
        call(&kernel, &mut session, tool, args, NOW * 1000)
    })
}

/// Proposes, and settles what is allowed.
fn call(kernel: &Kernel, session: &mut SessionState, tool: &str, args: &Json, now: i64) -> bool {
    let proposal = Proposal { call: "c", tool, args: args.into(), now };
    let proposed = kernel.propose(session, &proposal, &mut NoWorld).expect("a free id");
    let allowed = proposed.verdict.decision == Decision::Allow;
    if allowed {
        let settlement = Settlement { call: "c", ending: Ending::Success(None), now };
        kernel.settle(session, &settlement, &mut NoWorld).expect("in flight");
    }
    allowed
}

/// One rule a tool: the verdict.
pub fn rules(calls: Vec<Call>, rules: usize) -> Engine<'static> {
    let kernel = deployments(rules);
    let session = kernel.open("s", 0, "/w").expect("a session");
    verdicts(kernel, session, requests(&calls))
}

/// The same, with all that follows.
pub fn rules_settled(calls: Vec<Call>, rules: usize) -> Engine<'static> {
    let kernel = deployments(rules);
    let session = kernel.open("s", 0, "/w").expect("a session");
    settled(kernel, session, requests(&calls))
}

fn read_after_login(logins: &[Login]) -> (Kernel, SessionState) {
    let text = "guard peers\ntool login(user: string)\ntool read(user: string) { requires login(user) within 1h }\n";
    let kernel = kernel(text.into());
    let mut session = kernel.open("s", 0, "/w").expect("a session");
    for login in logins {
        let args = user(&login.user);
        assert!(call(&kernel, &mut session, "login", &args, login.at * 1000));
    }
    (kernel, session)
}

fn user(name: &str) -> Json {
    Json::parse(&format!(r#"{{"user": "{name}"}}"#)).expect("JSON")
}

fn reads(readers: &[String]) -> Vec<(String, Json)> {
    readers.iter().map(|name| ("read".to_owned(), user(name))).collect()
}

/// A read by who has logged in within an hour: the verdict.
pub fn history(logins: Vec<Login>, readers: Vec<String>) -> Engine<'static> {
    let (kernel, session) = read_after_login(&logins);
    verdicts(kernel, session, reads(&readers))
}

/// The same, with all that follows.
pub fn history_settled(logins: Vec<Login>, readers: Vec<String>) -> Engine<'static> {
    let (kernel, session) = read_after_login(&logins);
    settled(kernel, session, reads(&readers))
}

//! A benchmark of one verdict, in a plan of a thousand tools and rules.

#[path = "../tests/main/build.rs"]
#[allow(dead_code)]
mod build;

use divan::{Bencher, black_box};
use guard_plan::json::Json;
use guard_runtime::{Ending, Kernel, NoWorld, Proposal, Recorder, Salt, SessionState, Settlement};
use std::cell::RefCell;

#[global_allocator]
static ALLOCATOR: divan::AllocProfiler = divan::AllocProfiler::system();

fn main() {
    divan::main();
}

fn run(kernel: &Kernel, session: &mut SessionState, tool: &str, args: &Json, now: i64) {
    let proposal = Proposal { call: "c", tool, args: args.into(), now };
    let proposed = kernel.propose(session, &proposal, &mut NoWorld).expect("a free id");
    black_box(&proposed);
    if proposed.verdict.reasons.is_empty() {
        let settlement = Settlement { call: "c", ending: Ending::Success(None), now };
        kernel.settle(session, &settlement, &mut NoWorld).expect("in flight");
    }
}

/// A session in which `deploy` is allowed.
fn ready(others: usize) -> (Kernel, SessionState) {
    let kernel = build::kernel(build::deployment(others));
    let mut session = kernel.open("s", 0, "/ws").expect("a session");
    for tool in ["lint", "build", "test"] {
        run(&kernel, &mut session, tool, &Json::Object(vec![]), 0);
    }
    (kernel, session)
}

const ARGS: &str = r#"{"env": "prod", "count": 2}"#;

/// Measures the verdict alone, from parsed arguments.
#[divan::bench(args = [0, 1000])]
fn check_allow(bencher: Bencher, others: usize) {
    let (kernel, session) = ready(others);
    let args = Json::parse(ARGS).expect("JSON");
    let proposal = Proposal { call: "c", tool: "deploy", args: (&args).into(), now: 1 };
    bencher.bench_local(|| black_box(kernel.check(&session, black_box(&proposal), &mut NoWorld)));
}

/// Measures an allow and its settlement, in a session that grows.
#[divan::bench(args = [0, 1000])]
fn propose_and_settle(bencher: Bencher, others: usize) {
    let (kernel, mut session) = ready(others);
    let args = Json::parse(ARGS).expect("JSON");
    let mut now = 1;
    bencher.bench_local(|| {
        now += 1_000;
        run(&kernel, &mut session, "deploy", &args, now);
    });
}

/// Measures the proposal of an allowed call alone, without the settlement of the call before.
#[divan::bench(args = [0, 1000], sample_size = 1, sample_count = 20000)]
fn propose_allow(bencher: Bencher, others: usize) {
    let (kernel, session) = ready(others);
    let session = RefCell::new(session);
    let args = Json::parse(ARGS).expect("JSON");
    let settle = || {
        let mut session = session.borrow_mut();
        let settlement = Settlement { call: "c", ending: Ending::Success(None), now: 1 };
        let _ = kernel.settle(&mut session, &settlement, &mut NoWorld);
    };
    bencher.with_inputs(settle).bench_local_values(|()| {
        let proposal = Proposal { call: "c", tool: "deploy", args: (&args).into(), now: 1 };
        kernel.propose(&mut session.borrow_mut(), black_box(&proposal), &mut NoWorld)
    });
}

/// Measures an allow and its record: encoding and hashing.
#[divan::bench]
fn propose_settle_and_record(bencher: Bencher) {
    let (kernel, mut session) = ready(1000);
    let args = Json::parse(ARGS).expect("JSON");
    let mut recorder = Recorder::new(std::sync::Arc::new(Salt::new(b"salt")));
    bencher.bench_local(|| {
        let proposal = Proposal { call: "c", tool: "deploy", args: (&args).into(), now: 1 };
        let proposed = kernel.propose(&mut session, &proposal, &mut NoWorld).expect("a free id");
        black_box(recorder.proposed(&kernel, &session, &proposal, &proposed));
        let settlement = Settlement { call: "c", ending: Ending::Success(None), now: 1 };
        kernel.settle(&mut session, &settlement, &mut NoWorld).expect("in flight");
    });
}

/// Measures a refusal, with its explanation.
#[divan::bench]
fn propose_deny(bencher: Bencher) {
    let (kernel, mut session) = ready(1000);
    let args = Json::parse(r#"{"env": "staging", "count": 5}"#).expect("JSON");
    bencher.bench_local(|| run(&kernel, &mut session, "deploy", &args, 1));
}

/// Measures a verdict from the text of the arguments.
#[divan::bench]
fn parse_and_check(bencher: Bencher) {
    let (kernel, session) = ready(1000);
    bencher.bench_local(|| {
        let args = Json::parse(black_box(ARGS)).expect("JSON");
        let proposal = Proposal { call: "c", tool: "deploy", args: (&args).into(), now: 1 };
        black_box(kernel.check(&session, &proposal, &mut NoWorld))
    });
}

//! Benchmarks of feedback, keyed memories and a large state. No cost may grow with the length of
//! the session.

#[path = "../tests/main/build.rs"]
#[allow(dead_code)]
mod build;

use build::*;
use divan::{Bencher, black_box};
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_runtime::{Ending, Kernel, NoWorld, Proposal, SessionState, Settlement};
use std::cell::RefCell;

fn main() {
    divan::main();
}

fn propose(kernel: &Kernel, session: &mut SessionState, tool: &str, args: &Json, now: i64) {
    let proposal = Proposal { call: "c", tool, args: args.into(), now };
    let proposed = kernel.propose(session, &proposal, &mut NoWorld).expect("a free id");
    assert!(black_box(&proposed).verdict.reasons.is_empty());
}

fn settle(kernel: &Kernel, session: &mut SessionState, now: i64) {
    let settlement = Settlement { call: "c", ending: Ending::Success(None), now };
    black_box(kernel.settle(session, &settlement, &mut NoWorld).expect("in flight"));
}

/// `work`, which counts, and providers of all kinds. The providers with messages deliver one every
/// `speaks` calls.
fn guarded(providers: usize, speaks: u32) -> Kernel {
    let mut plan = plan();
    plan.state.push(variable("n", INT, Node::Int(0)));
    let mut work = tool("work", &[]);
    work.effects.push(effect("work", 0, EffectOp::Add, expr([Node::Int(1)])));
    work.writes = vec![Touch::State(0)];
    plan.tools.push(work);
    plan.feedback = (0..providers)
        .map(|i| {
            let limit = Node::Int(1_000_000_000 + i as i64);
            let condition = expr([Node::State(0), limit, Node::Compare(CompareOp::Gt, 0, 1)]);
            let reads = Some(vec![Touch::State(0)]);
            let triggers = vec![match i % 4 {
                0 => Trigger::Calls(speaks),
                1 => Trigger::Every(1_000_000_000),
                2 => Trigger::Denied(Some(vec![0])),
                _ => Trigger::Becomes { condition, reads },
            }];
            let block = Block {
                severity: Severity::Info,
                when: None,
                message: Message { parts: vec![Part::Text("The work goes on.".into())] },
                notes: vec![],
            };
            Feedback { name: format!("p{i:02}"), span: 0, triggers, blocks: vec![block] }
        })
        .collect();
    kernel(plan)
}

/// Returns a session with `history` settled calls and one more call in flight.
fn worked(kernel: &Kernel, history: i64) -> SessionState {
    let mut session = kernel.open("s", 0, "/ws").expect("a session");
    for now in 0..history {
        propose(kernel, &mut session, "wire.work", &Json::Object(vec![]), now);
        settle(kernel, &mut session, now);
    }
    session
}

fn settles(bencher: Bencher, kernel: &Kernel, history: i64) {
    let session = RefCell::new(worked(kernel, history));
    let args = Json::Object(vec![]);
    bencher
        .with_inputs(|| propose(kernel, &mut session.borrow_mut(), "wire.work", &args, history))
        .bench_local_values(|()| settle(kernel, &mut session.borrow_mut(), history));
}

/// Measures a settlement that triggers no provider, with 20 providers or none.
#[divan::bench(args = [(0, 10), (0, 10_000), (20, 10), (20, 10_000)], sample_size = 1, sample_count = 20000)]
fn feedback(bencher: Bencher, (providers, history): (usize, i64)) {
    settles(bencher, &guarded(providers, u32::MAX), history);
}

/// Measures a settlement after which five of 20 providers deliver messages.
#[divan::bench(args = [10, 10_000], sample_size = 1, sample_count = 5000)]
fn feedback_speaking(bencher: Bencher, history: i64) {
    settles(bencher, &guarded(20, 1), history);
}

/// Measures a verdict that looks up one of many keys.
#[divan::bench(args = [10, 10_000], sample_size = 100, sample_count = 200)]
fn keyed_requires(bencher: Bencher, keys: i64) {
    let mut plan = plan();
    plan.indexes = vec![SuccessIndex { tool: 0, params: vec![0] }];
    let mut read = tool("read", &[("path", PATH)]);
    read.indexes = vec![0];
    let mut write = tool("write", &[("path", PATH)]);
    let key = Key { index: 0, values: vec![expr([Node::Param(0)])] };
    let alternative =
        Requirement { latest: false, tool: 0, key: Some(key), since: None, within: None };
    write.requires = vec![Requires { rule: rule("write"), any_of: vec![alternative], when: None }];
    plan.tools = vec![read, write];
    let kernel = kernel(plan);
    let mut session = kernel.open("s", 0, "/ws").expect("a session");
    let args = |n: i64| Json::parse(&format!(r#"{{"path": "src/{n}.rs"}}"#)).expect("JSON");
    for n in 0..keys {
        propose(&kernel, &mut session, "read", &args(n), n);
        settle(&kernel, &mut session, n);
    }
    let args = args(keys / 2);
    let proposal = Proposal { call: "w", tool: "write", args: (&args).into(), now: keys };
    bencher.bench_local(|| black_box(kernel.check(&session, black_box(&proposal), &mut NoWorld)));
}

/// Measures a call that touches two of many variables.
#[divan::bench(args = [10, 1000], sample_size = 100, sample_count = 200)]
fn state_variables(bencher: Bencher, variables: usize) {
    let mut plan = plan();
    plan.state = (0..variables).map(|i| variable(&format!("v{i:04}"), INT, Node::Int(0))).collect();
    plan.invariants = (0..variables as u32)
        .map(|i| invariant(&format!("i{i:04}"), at_most(i, i64::MAX), "v", &[i]))
        .collect();
    let mut work = tool("work", &[]);
    work.effects.push(effect("work", 3, EffectOp::Add, expr([Node::State(7)])));
    work.frame = vec![3];
    plan.tools.push(work);
    let kernel = kernel(plan);
    let session = RefCell::new(kernel.open("s", 0, "/ws").expect("a session"));
    let args = Json::Object(vec![]);
    bencher.bench_local(|| {
        let mut session = session.borrow_mut();
        propose(&kernel, &mut session, "wire.work", &args, 0);
        settle(&kernel, &mut session, 0);
    });
}

//! Tests that an allowed call allocates nothing after the first calls of its session.

use super::build::*;
use super::live::{plan_of, provider};
use allocation_counter::measure;
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_runtime::*;

fn cycle(kernel: &Kernel, session: &mut SessionState, tool: &str, args: &Json, now: i64) {
    let proposal = Proposal { call: "call-1", tool, args: args.into(), now };
    let proposed = kernel.propose(session, &proposal, &mut NoWorld).unwrap();
    assert!(proposed.verdict.reasons.is_empty());
    let settlement = Settlement { call: "call-1", ending: Ending::Success(None), now };
    kernel.settle(session, &settlement, &mut NoWorld).unwrap();
}

#[test]
fn an_allowed_call_allocates_nothing() {
    let mut plan = deployment(1000);
    // The window is full of calls, so that its ring does not grow any more.
    plan.limits[0].count = 100;
    plan.limits[0].scope = LimitScope::Window(50);
    let kernel = kernel(plan);
    let mut session = kernel.open("s", 0, "/ws").unwrap();
    for tool in ["lint", "build", "test"] {
        cycle(&kernel, &mut session, tool, &Json::Object(vec![]), 0);
    }
    let args = Json::parse(r#"{"env": "prod", "count": 2}"#).unwrap();
    for now in 0..1_000 {
        cycle(&kernel, &mut session, "deploy", &args, now);
    }
    let info = measure(|| {
        for now in 1_000..2_000 {
            cycle(&kernel, &mut session, "deploy", &args, now);
        }
    });
    assert_eq!(info.count_total, 0, "{info:?}");
}

#[test]
fn an_allowed_check_allocates_nothing() {
    let mut plan = deployment(10);
    let deploy = plan.tools.iter().position(|tool| tool.name == "deploy").unwrap();
    let approval = approval("deploy", "human");
    plan.tools[deploy].approvals = vec![approval];
    let kernel = kernel(plan);
    let mut session = kernel.open("s", 0, "/ws").unwrap();
    for tool in ["lint", "build", "test"] {
        cycle(&kernel, &mut session, tool, &Json::Object(vec![]), 0);
    }
    let args = Json::parse(r#"{"env": "prod", "count": 2}"#).unwrap();
    let role = "human";
    let by = "ann";
    let approve = CallApproval { tool: "deploy", args: &args, role, by, expires: None, now: 0 };
    kernel.approve(&mut session, &approve).unwrap();
    let proposal = Proposal { call: "c", tool: "deploy", args: (&args).into(), now: 1 };
    let mut scratch = Scratch::default();
    let mut check = || {
        let proposed = kernel.check_with(&session, &proposal, &mut NoWorld, &mut scratch);
        assert!(proposed.verdict.reasons.is_empty());
    };
    check();
    assert_eq!(measure(check).count_total, 0);
}

/// If a part of a variable is written, only the value of that part is newly allocated.
#[test]
fn an_entry_of_a_map_is_written_without_copying_the_map() {
    let mut plan = plan();
    plan.types.push(TypeDef::Map { key: None, of: STRING, max: None });
    let map = (plan.types.len() - 1) as TypeId;
    plan.state.push(variable("names", map, Node::Map(vec![])));
    let mut put = tool("put", &[("key", STRING)]);
    let mut one = effect("put", 0, EffectOp::Set, expr([Node::String("a name".into())]));
    one.target.path = vec![Step::Index(expr([Node::Param(0)]))];
    put.effects = vec![one];
    plan.tools = vec![put];
    let kernel = kernel(plan);
    let mut session = kernel.open("s", 0, "/ws").unwrap();
    let args = |n: i64| Json::parse(&format!(r#"{{"key": "k{n}"}}"#)).unwrap();
    for n in 0..1_000 {
        cycle(&kernel, &mut session, "put", &args(n), n);
    }
    let args = args(500);
    let mut scratch = Scratch::default();
    let proposal = Proposal { call: "c", tool: "put", args: (&args).into(), now: 1_000 };
    let mut check = || {
        let proposed = kernel.check_with(&session, &proposal, &mut NoWorld, &mut scratch);
        assert!(proposed.verdict.reasons.is_empty());
    };
    check();
    let info = measure(check);
    assert_eq!(info.count_total, 1, "{info:?}");
}

#[test]
fn texts_are_borrowed() {
    let mut plan = plan();
    plan.indexes = vec![SuccessIndex { tool: 0, params: vec![0] }];
    let mut read = tool("read", &[("path", PATH), ("note", STRING)]);
    read.indexes = vec![0];
    let prefix = expr([
        Node::Param(0),
        Node::Workspace,
        Node::Within(0, 1),
        Node::Not(2),
        Node::Param(1),
        Node::String("no".into()),
        Node::Compare(CompareOp::Eq, 4, 5),
        Node::Or(3, 6),
    ]);
    read.denies = vec![deny("read", prefix, "outside")];
    plan.tools = vec![read];
    let kernel = kernel(plan);
    let mut session = kernel.open("s", 0, "/ws").unwrap();
    let args =
        Json::parse(r#"{"path": "/ws/src/main.rs", "note": "a text of some length"}"#).unwrap();
    for now in 0..10 {
        cycle(&kernel, &mut session, "read", &args, now);
    }
    let info = measure(|| cycle(&kernel, &mut session, "read", &args, 10));
    assert_eq!(info.count_total, 0, "{info:?}");
}

#[test]
fn a_quiet_round_of_feedback_allocates_nothing() {
    let mut plan = plan_of(&[]);
    plan.state.push(variable("n", REPLICAS, Node::Int(0)));
    let mut work = tool("work", &[]);
    work.effects.push(effect("work", 0, EffectOp::Set, expr([Node::Int(1)])));
    plan.tools.push(work);
    let above = |limit| {
        let condition = compare(Node::State(0), CompareOp::Gt, Node::Int(limit));
        Trigger::Becomes { condition, reads: Some(vec![Touch::State(0)]) }
    };
    let triggers = |i: i64| {
        vec![
            Trigger::Calls(1_000_000),
            Trigger::Every(1_000_000),
            Trigger::Denied(None),
            above(50 + i),
        ]
    };
    plan.feedback =
        (0..20).map(|i| provider(&format!("p{i:02}"), triggers(i), "Hear me.")).collect();
    let kernel = kernel(plan);
    let mut session = kernel.open("s", 0, "/ws").unwrap();
    let args = Json::Object(vec![]);
    for now in 0..10 {
        cycle(&kernel, &mut session, "work", &args, now);
    }
    let info = measure(|| cycle(&kernel, &mut session, "work", &args, 10));
    assert_eq!(info.count_total, 0, "{info:?}");
}

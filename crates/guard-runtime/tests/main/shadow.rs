//! Tests of the full plan beside an optimized plan that was modified to be wrong.

use super::build::*;
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_plan::record::NoteKind;
use guard_plan::verdict::{Code, Decision};
use guard_runtime::*;
use std::num::NonZeroU32;

/// Returns a kernel of the second plan, watched by the first.
fn watched_by(
    full: LoadedPlan,
    optimized: LoadedPlan,
    every: NonZeroU32,
) -> Result<Kernel, KernelError> {
    Kernel::with_shadow(Kernel::new(full)?, Kernel::new(optimized)?, every)
}

/// `work(count)`, denied from 4 on, which adds to `n`; an invariant keeps `n` at most 10.
fn honest() -> Plan {
    let mut plan = plan();
    plan.state.push(variable("n", INT, Node::Int(0)));
    plan.invariants.push(invariant("cap", at_most(0, 10), "n <= 10", &[0]));
    let mut work = tool("work", &[("count", COUNT)]);
    let above = [Node::Param(0), Node::Int(3), Node::Compare(CompareOp::Gt, 0, 1)];
    work.denies.push(deny("work", expr(above), "too much"));
    work.effects.push(effect("work", 0, EffectOp::Add, expr([Node::Param(0)])));
    work.frame = vec![0];
    work.touches = vec![Touch::State(0)];
    work.writes = vec![Touch::State(0)];
    plan.tools.push(work);
    plan
}

fn loaded(plan: Plan) -> LoadedPlan {
    LoadedPlan::from_plan(plan, Sources::default()).unwrap()
}

fn shadowed(optimized: Plan, every: u32) -> Kernel {
    let every = NonZeroU32::new(every).unwrap();
    watched_by(loaded(honest()), loaded(optimized), every).unwrap()
}

fn propose(kernel: &Kernel, session: &mut SessionState, call: &str, count: i64) -> Proposed {
    let args = Json::parse(&format!("{{\"count\": {count}}}")).unwrap();
    let proposal = Proposal { call, tool: "wire.work", args: (&args).into(), now: 0 };
    kernel.propose(session, &proposal, &mut NoWorld).unwrap()
}

fn settle(kernel: &Kernel, session: &mut SessionState, call: &str) -> Settled {
    let settlement = Settlement { call, ending: Ending::Success(None), now: 0 };
    kernel.settle(session, &settlement, &mut NoWorld).unwrap()
}

/// Checks the codes of the reasons of consecutive calls with these counts.
#[track_caller]
fn check(optimized: Plan, every: u32, counts: &[i64], expected: &[&str]) -> SessionState {
    let kernel = shadowed(optimized, every);
    let mut session = kernel.open("s", 0, "/ws").unwrap();
    let mut said = Vec::new();
    for count in counts {
        let verdict = propose(&kernel, &mut session, "c", *count).verdict;
        said.push(verdict.reasons.first().map_or("allow", |reason| reason.code.as_str()));
        if verdict.decision == Decision::Allow {
            settle(&kernel, &mut session, "c");
        }
    }
    assert_eq!(said, expected);
    session
}

#[test]
fn equal_plans_agree() {
    let session = check(honest(), 1, &[1, 4, 3], &["allow", "denied", "allow"]);
    assert!(!session.is_on_full_plan());
}

#[test]
fn a_verdict_that_differs_is_denied_and_the_full_plan_goes_on() {
    let mut falsified = honest();
    falsified.tools[0].denies.clear();
    let session = check(falsified.clone(), 1, &[1, 4, 4], &["allow", "plan_mismatch", "denied"]);
    assert!(session.is_on_full_plan());
    // Only every second decision is watched.
    let session = check(falsified, 2, &[4, 4, 4], &["allow", "plan_mismatch", "denied"]);
    assert!(session.is_on_full_plan());
}

#[test]
fn reasons_that_differ_are_a_mismatch() {
    let mut falsified = honest();
    falsified.tools[0].denies[0].because = None;
    check(falsified, 1, &[1, 4], &["allow", "plan_mismatch"]);
}

#[test]
fn a_state_that_differs_is_a_mismatch() {
    let mut falsified = honest();
    falsified.tools[0].effects[0].value = Some(expr([Node::Int(1)]));
    check(falsified, 1, &[1, 2, 2], &["allow", "plan_mismatch", "allow"]);
    // An invariant was dropped although it is not proved.
    let mut falsified = honest();
    falsified.tools[0].frame.clear();
    check(falsified, 4, &[3, 3, 3, 3], &["allow", "allow", "allow", "plan_mismatch"]);
}

#[test]
fn a_settlement_that_differs_is_that_of_the_full_plan() {
    let full = |value: i64| {
        let mut plan = honest();
        plan.tools[0].reconciles = vec![reconcile("work", at_most(0, value), "n")];
        plan
    };
    let every = NonZeroU32::new(1).unwrap();
    let kernel = watched_by(loaded(full(1)), loaded(full(9)), every).unwrap();
    let mut session = kernel.open("s", 0, "/ws").unwrap();
    propose(&kernel, &mut session, "a", 1);
    assert!(settle(&kernel, &mut session, "a").notes.is_empty());
    propose(&kernel, &mut session, "b", 1);
    let settled = settle(&kernel, &mut session, "b");
    let kinds: Vec<NoteKind> = settled.notes.iter().map(|note| note.kind).collect();
    assert_eq!(kinds, [NoteKind::Halt, NoteKind::Mismatch]);
    assert!(settled.halted && session.is_on_full_plan());
    let verdict = propose(&kernel, &mut session, "c", 1).verdict;
    assert_eq!(verdict.reasons[0].code, Code::Halted);
}

#[test]
fn a_guard_in_shadow_is_not_refused_for_a_mismatch() {
    let quiet = |plan: Plan| Plan { shadow: true, ..plan };
    let mut falsified = honest();
    falsified.tools[0].denies.clear();
    let every = NonZeroU32::new(1).unwrap();
    let kernel = watched_by(loaded(quiet(honest())), loaded(quiet(falsified)), every).unwrap();
    let mut session = kernel.open("s", 0, "/ws").unwrap();
    let verdict = propose(&kernel, &mut session, "c", 4).verdict;
    assert_eq!(verdict.decision, Decision::Allow);
    let codes: Vec<Code> = verdict.shadowed.iter().map(|reason| reason.code).collect();
    assert_eq!(codes, [Code::Denied, Code::PlanMismatch]);
    assert!(session.is_on_full_plan());
}

#[test]
fn plans_of_other_guards_are_refused() {
    let mut other = honest();
    other.state[0].name = "m".into();
    let every = NonZeroU32::new(1).unwrap();
    let error = watched_by(loaded(honest()), loaded(other), every).unwrap_err();
    assert_eq!(error.to_string(), "the full plan is one of another guard: they differ in state");
}

#[test]
fn a_replay_watches_the_same_decisions() {
    let mut falsified = honest();
    falsified.tools[0].denies.clear();
    let record = || {
        let kernel = shadowed(falsified.clone(), 2);
        let mut session = kernel.open("s", 0, "/ws").unwrap();
        let mut recorder = Recorder::new(std::sync::Arc::new(Salt::new(b"salt")));
        let mut lines = Vec::new();
        for count in [4, 4, 1] {
            let args = Json::parse(&format!("{{\"count\": {count}}}")).unwrap();
            let call = format!("c{}", lines.len());
            let proposal =
                Proposal { call: &call, tool: "wire.work", args: (&args).into(), now: 0 };
            let proposed = kernel.propose(&mut session, &proposal, &mut NoWorld).unwrap();
            let line = recorder.proposed(&kernel, &session, &proposal, &proposed);
            lines.push(String::from_utf8(line.to_vec()).unwrap());
        }
        lines
    };
    let lines = record();
    assert!(lines[1].contains("plan_mismatch"), "{}", lines[1]);
    assert_eq!(lines, record());
}

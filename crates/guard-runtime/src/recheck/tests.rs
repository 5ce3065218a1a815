//! Tests with wrong proofs that bypass the checker: the sampled re-check finds them.

use crate::build::*;
use crate::compiled::CompiledPlan;
use crate::{
    Ending, Event, HaltEnd, Kernel, NoWorld, Outcome, Proposal, Proposed, Recorder, SessionState,
    Settled, Settlement,
};
use guard_contract::NoSchemas;
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_plan::record::{Payload, Record};
use guard_plan::verdict::{Code, Decision};
use std::num::NonZeroU32;
use std::sync::Arc;

/// `work(count)` adds to `n`. An invariant keeps `n` at most 10, and a claim without any proof says
/// that `work` preserves it.
fn planted() -> Plan {
    let mut plan = plan();
    plan.state.push(variable("n", INT, Node::Int(0)));
    plan.invariants.push(invariant("cap", at_most(0, 10), "n <= 10", &[0]));
    let mut work = tool("work", &[("count", COUNT)]);
    work.effects.push(effect("work", 0, EffectOp::Add, expr([Node::Param(0)])));
    work.frame = vec![0];
    work.touches = vec![Touch::State(0)];
    work.writes = vec![Touch::State(0)];
    plan.tools.push(work);
    let claim = Claim::Preserved { tool: 0, invariant: 0, part: 0 };
    plan.proofs.push(Proof { claim, certificate: Certificate::default() });
    plan
}

/// A kernel that accepts every proof of a plan as checked. Only tests can build one.
fn believing(plan: Plan) -> Kernel {
    let loaded = LoadedPlan::from_plan(plan, Sources::default()).unwrap();
    let compiled = CompiledPlan::with_checked_proofs(loaded, &NoSchemas).unwrap();
    Kernel::of_compiled(compiled).unwrap()
}

fn opened(kernel: &Kernel, every: u32) -> SessionState {
    let mut session = kernel.open("s", 0, "/").unwrap();
    kernel.set_recheck(&mut session, NonZeroU32::new(every));
    session
}

fn propose(kernel: &Kernel, session: &mut SessionState, call: u64, count: i64) -> Proposed {
    let args = Json::parse(&format!("{{\"count\": {count}}}")).unwrap();
    let id = call.to_string();
    let proposal = Proposal { call: &id, tool: "wire.work", args: (&args).into(), now: 0 };
    kernel.propose(session, &proposal, &mut NoWorld).unwrap()
}

fn settle(kernel: &Kernel, session: &mut SessionState, call: u64) -> Settled {
    let id = call.to_string();
    let settlement = Settlement { call: &id, ending: Ending::Success(None), now: 0 };
    kernel.settle(session, &settlement, &mut NoWorld).unwrap()
}

/// Admits and settles calls that add 5 each, until one is refused. Returns the number of admitted
/// calls.
fn until_refused(kernel: &Kernel, session: &mut SessionState) -> (u64, Proposed) {
    for call in 0..1000 {
        let proposed = propose(kernel, session, call, 5);
        if !proposed.verdict.is_allowed() {
            return (call, proposed);
        }
        settle(kernel, session, call);
    }
    panic!("nothing was refused");
}

#[test]
fn the_checker_refuses_the_planted_proof() {
    let loaded = LoadedPlan::from_plan(planted(), Sources::default()).unwrap();
    assert!(Kernel::new(loaded).is_err());
}

#[test]
fn without_the_sample_a_wrong_proof_is_an_open_gate() {
    let kernel = believing(planted());
    let mut session = opened(&kernel, 0);
    for call in 0..300 {
        assert!(propose(&kernel, &mut session, call, 5).verdict.is_allowed());
        assert_eq!(settle(&kernel, &mut session, call).rechecked, 0);
    }
}

#[test]
fn with_every_call_in_the_sample_the_first_violation_is_refused() {
    let kernel = believing(planted());
    let mut session = opened(&kernel, 1);
    let (admitted, refused) = until_refused(&kernel, &mut session);
    assert_eq!(admitted, 2, "5 and 10 keep the invariant, 15 does not");
    assert_eq!(refused.verdict.reasons[0].code, Code::BrokenProof);
    assert_eq!(
        refused.verdict.reasons[0].message,
        "a wrong proof: `n <= 10` would be false after this call"
    );
    assert!(refused.halted && session.halted().is_some() && session.distrusts_proofs());
    let broken = refused.broken_proof.unwrap();
    assert_eq!((broken.tool, broken.invariant, broken.already), (Some(0), Some(0), false));
    assert!(session.in_flight().is_empty());
}

#[test]
fn by_default_one_call_of_256_finds_it_wherever_the_session_begins_in_the_sample() {
    let kernel = believing(planted());
    for id in ["a", "b", "session-17", "2f1c7a52"] {
        let mut session = kernel.open(id, 0, "/").unwrap();
        assert_eq!(session.rechecked_every(), NonZeroU32::new(256));
        let mut found = None;
        for call in 0..256 {
            if !propose(&kernel, &mut session, call, 5).verdict.is_allowed() {
                found = Some(call);
                break;
            }
            if settle(&kernel, &mut session, call).halted {
                found = Some(call);
                break;
            }
        }
        assert!(found.is_some(), "{id}");
    }
}

#[test]
fn a_state_that_is_broken_already_is_found_when_a_call_settles() {
    let kernel = believing(planted());
    let mut session = opened(&kernel, 0);
    for call in 0..3 {
        propose(&kernel, &mut session, call, 5);
        settle(&kernel, &mut session, call);
    }
    assert!(propose(&kernel, &mut session, 3, 5).verdict.is_allowed());
    kernel.set_recheck(&mut session, NonZeroU32::new(1));
    let settled = settle(&kernel, &mut session, 3);
    assert!(settled.halted && session.halted().is_some());
    assert!(settled.broken_proof.unwrap().already);
    assert_eq!(settled.notes[0].message, "a wrong proof: `n <= 10` is false");
}

#[test]
fn after_the_halt_ends_the_session_relies_on_no_proof() {
    let kernel = believing(planted());
    let mut session = opened(&kernel, 1);
    until_refused(&kernel, &mut session);
    let resume = HaltEnd { role: "owner", by: "ann", now: 0 };
    kernel.resume(&mut session, &resume).unwrap();
    let again = propose(&kernel, &mut session, 9, 5);
    assert_eq!(again.verdict.reasons[0].code, Code::Invariant);
    assert!(session.halted().is_none() && again.rechecked == 0);
    let recalled = kernel.recall(&session.memory()).unwrap();
    assert!(recalled.distrusts_proofs());
    assert_eq!(recalled.rechecked_every(), NonZeroU32::new(1));
}

#[test]
fn a_type_that_is_claimed_to_be_kept_is_checked_again() {
    let mut plan = planted();
    plan.invariants.clear();
    plan.tools[0].frame.clear();
    plan.state[0].ty = REPLICAS;
    plan.proofs[0].claim = Claim::Refined { tool: 0, var: 0 };
    let kernel = believing(plan);
    let mut session = opened(&kernel, 1);
    let (admitted, refused) = until_refused(&kernel, &mut session);
    assert_eq!(admitted, 20, "the type ends at 100");
    assert_eq!(refused.verdict.reasons[0].code, Code::BrokenProof);
    assert_eq!(refused.broken_proof.unwrap().invariant, None);
}

#[test]
fn a_refused_call_is_not_in_the_sample() {
    let kernel = believing(planted());
    let mut session = opened(&kernel, 1);
    let args = Json::parse("{\"count\": 9}").unwrap();
    let proposal = Proposal { call: "c", tool: "work", args: (&args).into(), now: 0 };
    let proposed = kernel.propose(&mut session, &proposal, &mut NoWorld).unwrap();
    assert_eq!((proposed.verdict.decision, proposed.rechecked), (Decision::Deny, 0));
}

/// The record contains what was checked and found, and a replay gives the same result.
#[test]
fn the_trace_says_so_and_replays() {
    let kernel = believing(planted());
    let play = |session: &mut SessionState| {
        let mut recorder = Recorder::new(Arc::new(crate::Salt::new(&[7; 32])));
        let mut lines = vec![line(recorder.open(&kernel, session, None))];
        for call in 0..4 {
            let args = Json::parse("{\"count\": 5}").unwrap();
            let id = call.to_string();
            let event =
                Event::Propose(Proposal { call: &id, tool: "work", args: (&args).into(), now: 0 });
            let outcome = kernel.step(session, &event, &mut NoWorld).unwrap();
            let allowed =
                matches!(&outcome, Outcome::Proposed(proposed) if proposed.verdict.is_allowed());
            lines.push(line(recorder.event(&kernel, session, &event, &outcome)));
            if !allowed {
                break;
            }
            let event =
                Event::Settle(Settlement { call: &id, ending: Ending::Success(None), now: 0 });
            let outcome = kernel.step(session, &event, &mut NoWorld).unwrap();
            lines.push(line(recorder.event(&kernel, session, &event, &outcome)));
        }
        lines
    };
    let lines = play(&mut opened(&kernel, 1));
    let record = Record::parse(&lines[0]).unwrap();
    let Payload::Open(open) = &record.payload else { panic!("{record:?}") };
    assert_eq!(open.recheck, NonZeroU32::new(1));
    let record = Record::parse(&lines[1]).unwrap();
    let Payload::Propose(first) = &record.payload else { panic!("{record:?}") };
    assert_eq!((first.rechecked, &first.broken_proof), (1, &None));
    let record = Record::parse(lines.last().unwrap()).unwrap();
    let Payload::Propose(last) = &record.payload else { panic!("{record:?}") };
    let broken = last.broken_proof.as_deref().unwrap();
    assert_eq!(broken.name, "cap");
    assert_eq!(broken.condition.as_deref(), Some("n <= 10"));
    assert_eq!(broken.tool.as_deref(), Some("work"));
    assert_eq!(broken.plan, kernel.loaded().hash_text());
    assert_eq!((broken.session.as_str(), broken.calls), ("s", 2));
    assert_eq!(broken.state[0].after.to_string(), "15");
    assert!(last.halted);
    let mut again = kernel.open("s", 0, "/").unwrap();
    kernel.set_recheck(&mut again, open.recheck);
    assert_eq!(play(&mut again), lines);
}

fn line(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

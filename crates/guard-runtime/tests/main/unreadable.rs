//! Tests of arguments that could not be parsed as JSON: they are refused, recorded, and decided
//! again from the record.

use super::build::*;
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_plan::record::{Payload, Record};
use guard_plan::verdict::{Code, Decision};
use guard_runtime::*;
use std::sync::Arc;

const ERROR: &str = "the key `a` is there twice at line 1, column 12";
const TEXT: &str = r#"{"a": 1, "a": 2}"#;

fn guard() -> Plan {
    Plan { tools: vec![tool("lint", &[])], ..plan() }
}

/// Proposes unparsable arguments, and returns the verdict and the record.
fn refused(plan: Plan, tool: &str, text: &str) -> (Proposed, SessionState, String) {
    let kernel = kernel(plan);
    let mut session = kernel.open("s", 1_000, "/w").unwrap();
    let mut recorder = Recorder::new(Arc::new(Salt::new(b"salt")));
    recorder.open(&kernel, &session, None);
    let args = Arguments::Unreadable { text, error: ERROR };
    let proposal = Proposal { call: "c", tool, args, now: 2_000 };
    let proposed = kernel.propose(&mut session, &proposal, &mut NoWorld).unwrap();
    let line = recorder.proposed(&kernel, &session, &proposal, &proposed).to_vec();
    let line = String::from_utf8(line).unwrap();
    assert_replayed(&kernel, &line);
    (proposed, session, line)
}

/// Checks that the record leads to the same decision, which gives the same record.
fn assert_replayed(kernel: &Kernel, line: &str) {
    let record: Record = Record::parse(line).unwrap();
    let event = replay::event(&record).expect("an event");
    let mut session = kernel.open("s", 1_000, "/w").unwrap();
    let outcome = kernel.step(&mut session, &event, &mut replay::world(&record)).unwrap();
    let mut recorder = Recorder::new(Arc::new(Salt::new(b"salt")));
    recorder.open(kernel, &session, None);
    let again = recorder.event(kernel, &session, &event, &outcome);
    if !line.contains("secret:") {
        assert_eq!(String::from_utf8_lossy(again), line);
    }
    let Payload::Propose(propose) = &record.payload else { panic!("no proposal") };
    let Outcome::Proposed(proposed) = outcome else { panic!("no verdict") };
    assert_eq!(*propose.verdict, proposed.verdict);
}

fn message(proposed: &Proposed) -> Vec<(Code, &str)> {
    let reasons = proposed.verdict.reasons.iter();
    reasons.map(|reason| (reason.code, reason.message.as_str())).collect()
}

const MESSAGE: &str =
    "the arguments cannot be read: the key `a` is there twice at line 1, column 12";

#[test]
fn an_undeclared_tool_is_refused_although_others_are_allowed() {
    let plan = Plan { default_allow: true, ..guard() };
    let (proposed, session, line) = refused(plan, "other", TEXT);
    assert_eq!(proposed.verdict.decision, Decision::Deny);
    assert_eq!(message(&proposed), [(Code::InvalidArguments, MESSAGE)]);
    assert!(session.in_flight().is_empty());
    assert_eq!(session.spent(0), Some(0));
    // The guard has a record with a secret field, which may be meant: no part of the text is shown.
    assert!(line.contains(r#""args":"secret:"#), "{line}");
    assert!(line.contains(r#""unreadable":"the key `a` is there twice"#), "{line}");
}

#[test]
fn an_unknown_tool_is_unknown_first() {
    let (proposed, ..) = refused(guard(), "other", TEXT);
    let codes: Vec<Code> = proposed.verdict.reasons.iter().map(|reason| reason.code).collect();
    assert_eq!(codes, [Code::UnknownTool]);
}

#[test]
fn a_declared_tool_is_refused_by_its_name() {
    let (proposed, ..) = refused(guard(), "wire.lint", TEXT);
    assert_eq!(message(&proposed), [(Code::InvalidArguments, MESSAGE)]);
    assert_eq!(proposed.verdict.reasons[0].rule, "lint");
    assert_eq!(proposed.verdict.reasons[0].help, "");
}

#[test]
fn a_guard_in_shadow_lets_it_pass_and_says_so() {
    for name in ["wire.lint", "other"] {
        let plan = Plan { default_allow: true, shadow: true, ..guard() };
        let (proposed, session, _) = refused(plan, name, TEXT);
        assert_eq!(proposed.verdict.decision, Decision::Allow);
        let shadowed = &proposed.verdict.shadowed;
        assert_eq!(shadowed.len(), 1);
        assert_eq!(shadowed[0].message, MESSAGE);
        assert_eq!(session.in_flight(), ["c"]);
    }
}

#[test]
fn a_halt_comes_first() {
    let kernel = kernel(guard());
    let mut session = kernel.open("s", 0, "/w").unwrap();
    let none = Json::Object(vec![]);
    let readable = Proposal { call: "c", tool: "wire.lint", args: (&none).into(), now: 0 };
    let unreadable = Arguments::Unreadable { text: TEXT, error: ERROR };
    kernel.propose(&mut session, &readable, &mut NoWorld).unwrap();
    let again = Proposal { args: unreadable, ..readable };
    let twice = kernel.propose(&mut session, &again, &mut NoWorld);
    assert_eq!(twice, Err(StepError::CallInFlight("c".into())));
}

#[test]
fn the_record_keeps_four_thousand_characters() {
    let text = format!("{{{}", "x".repeat(9_000));
    let (.., line) = refused(guard(), "wire.lint", &text);
    let record: Record = Record::parse(&line).unwrap();
    let Payload::Propose(propose) = &record.payload else { panic!("no proposal") };
    let Json::String(kept) = &*propose.args else { panic!("no text") };
    assert!(kept.chars().count() <= 4_001, "{}", kept.chars().count());
}

#[test]
fn a_text_that_may_hold_a_secret_is_a_hash() {
    let login = tool("login", &[("token", STRING)]);
    for name in ["wire.login", "wire.lint"] {
        let plan = Plan { tools: vec![tool("lint", &[]), login.clone()], ..plan() };
        let (.., line) = refused(plan, name, r#"{"token": "hunter2", }"#);
        assert!(!line.contains("hunter2"), "{line}");
        assert!(line.contains(r#""args":"secret:"#), "{line}");
    }
}

#[test]
fn an_unreadable_result_of_an_undeclared_tool_is_not_recorded_beside_secrets() {
    let login = tool("login", &[("token", STRING)]);
    for (tools, kept) in [(vec![login], false), (vec![tool("lint", &[])], true)] {
        let mut plan = Plan { default_allow: true, tools, ..plan() };
        if kept {
            plan.types.retain(|def| !matches!(def, TypeDef::Record { fields, .. } if fields.iter().any(|field| field.secret)));
        }
        let kernel = kernel(plan);
        let mut session = kernel.open("s", 1_000, "/w").unwrap();
        let mut recorder = Recorder::new(Arc::new(Salt::new(b"salt")));
        recorder.open(&kernel, &session, None);
        let none = Json::Object(vec![]);
        let proposal = Proposal { call: "c", tool: "other", args: (&none).into(), now: 2_000 };
        let proposed = kernel.propose(&mut session, &proposal, &mut NoWorld).unwrap();
        assert!(proposed.verdict.is_allowed());
        let ending = Ending::Unreadable { text: r#"{"token": "hunter2", }"#, error: ERROR };
        let settlement = Settlement { call: "c", ending, now: 3_000 };
        let settled = kernel.settle(&mut session, &settlement, &mut NoWorld).unwrap();
        let line = recorder.settled(&kernel, &session, &settlement, &settled).to_vec();
        let line = String::from_utf8(line).unwrap();
        assert_eq!(line.contains("hunter2"), kept, "{line}");
        assert_eq!(line.contains("it is secret"), !kept, "{line}");
    }
}

//! Tests of stops: the missing conditions of a completion, as messages on which an agent can act.

use super::build::*;
use super::live::*;
use guard_plan::plan::*;
use guard_plan::record::{RunEnd, StopDecision, TEXT_BYTES};
use guard_runtime::*;

fn check(kind: CheckKind) -> Check {
    Check { kind, text: "it".into(), span: 0 }
}

/// A completion of some checks under one `all`.
fn guarded(paths: &[&str], at_most: u32, checks: Vec<CheckKind>) -> Plan {
    let mut plan = plan_of(paths);
    plan.tools.push(tool("work", &[]));
    plan.commands.push(command("cargo test"));
    plan.completion = Some(completion(at_most, checks));
    plan
}

fn completion(at_most: u32, kinds: Vec<CheckKind>) -> Completion {
    let mut checks: Vec<Check> = kinds.into_iter().map(check).collect();
    let children: Vec<u32> = (0..checks.len() as u32).collect();
    checks.push(check(CheckKind::All(children)));
    Completion { span: 0, at_most, checks: Checks(checks) }
}

fn missing(stopped: &Stopped) -> String {
    let messages: Vec<&str> = stopped.missing.iter().map(|one| one.message.as_str()).collect();
    messages.join(" | ")
}

#[track_caller]
fn lacks(live: &mut Live, expected: &str) {
    let stopped = live.stop();
    let decision = if expected.is_empty() { StopDecision::Allow } else { StopDecision::Block };
    assert_eq!((missing(&stopped).as_str(), stopped.decision), (expected, decision));
}

#[test]
fn a_blocked_stop_says_what_to_do() {
    let mut live = Live::new(guarded(&["report.md"], 20, vec![CheckKind::File(0)]));
    let stopped = live.stop();
    assert_eq!(
        stopped.message,
        "The work is not complete:\n- `report.md` is missing\nDo the missing work, then stop again."
    );
    live.file("report.md", "done");
    lacks(&mut live, "");
}

#[test]
fn files_side_by_side_are_named_together() {
    let files: Vec<CheckKind> = (0..5).map(CheckKind::File).collect();
    let mut live = Live::new(guarded(&["a", "b", "c", "d", "e"], 20, files));
    lacks(&mut live, "`a`, `b`, `c` and 2 more are missing");
    live.file("a", "");
    live.file("c", "");
    lacks(&mut live, "`b`, `d` and `e` are missing");
    live.file("b", "");
    lacks(&mut live, "`d` and `e` are missing");
    live.world.blind = true;
    lacks(
        &mut live,
        "it is unknown whether `a` is there; it is unknown whether `b` is there; \
         it is unknown whether `c` is there and 2 more",
    );
}

#[test]
fn all_and_any_stop_early() {
    let mut plan = guarded(&["a", "b"], 20, vec![CheckKind::File(0)]);
    let completion = plan.completion.as_mut().unwrap();
    completion.checks = Checks(vec![
        check(CheckKind::Command(0, 0)),
        check(CheckKind::Contains(1, "ok".into())),
        check(CheckKind::Any(vec![0, 1])),
        check(CheckKind::Committed),
        check(CheckKind::All(vec![2, 3])),
    ]);
    let mut live = Live::new(plan);
    live.world.runs.insert("cargo test".into(), ran(RunEnd::Exited(101), "a\nb\n\u{1b}[31mred\n"));
    lacks(
        &mut live,
        "`cargo test` exits 101, not 0\n  | a\n  | b\n  | \\u{1b}[31mred; or `b` does not contain \"ok\"",
    );
    live.file("b", "all ok");
    lacks(&mut live, "it is unknown whether everything is committed");
    live.world.committed = Some(false);
    lacks(&mut live, "there are uncommitted changes");
    live.world.committed = Some(true);
    lacks(&mut live, "");
}

#[test]
fn commands_end_in_many_ways() {
    let mut live = Live::new(guarded(&[], 20, vec![CheckKind::Command(0, 0)]));
    lacks(&mut live, "`cargo test` cannot be run here");
    let mut ends = |ended, expected: &str| {
        live.world.runs.insert("cargo test".into(), ran(ended, ""));
        lacks(&mut live, expected);
    };
    ends(RunEnd::TimedOut, "`cargo test` did not end within 5 minutes");
    ends(RunEnd::Signalled(9), "`cargo test` was ended by signal 9");
    ends(RunEnd::NotStarted("no such file".into()), "`cargo test` cannot be started: no such file");
    ends(RunEnd::Exited(0), "");
    // Only a small part of a long output is kept.
    live.world.runs.insert("cargo test".into(), ran(RunEnd::Exited(1), &"é".repeat(100_000)));
    let stopped = live.stop();
    assert!(stopped.message.len() < 2_000);
    assert!(format!("{:?}", stopped.asked).len() < 5_000);
}

#[test]
fn blocks_are_bounded() {
    let mut live = Live::new(guarded(&["a"], 2, vec![CheckKind::File(0)]));
    for _ in 0..2 {
        lacks(&mut live, "`a` is missing");
    }
    let stopped = live.stop();
    assert_eq!((stopped.decision, stopped.incomplete), (StopDecision::Allow, true));
    assert_eq!(stopped.message, "Stopped with work missing:\n- `a` is missing");
    assert_eq!(live.session.blocked(), 2);
    let mut plan = guarded(&["a"], 2, vec![CheckKind::File(0)]);
    plan.shadow = true;
    let stopped = Live::new(plan).stop();
    assert_eq!((stopped.decision, stopped.incomplete), (StopDecision::Allow, true));
}

#[test]
fn nothing_is_asked_where_there_is_no_going_on() {
    let bypassed = |live: &mut Live| {
        let stopped = live.stop();
        assert_eq!((stopped.decision, stopped.asked.len()), (StopDecision::Allow, 0));
        stopped.bypassed.unwrap_or_default()
    };
    let mut plan = guarded(&["a"], 20, vec![CheckKind::File(0)]);
    plan.deadline = Some(1_000);
    plan.units[0].budget = Some(1_000_000);
    let mut live = Live::new(plan.clone());
    live.ok("work");
    assert_eq!(bypassed(&mut live), "calls");
    live.now = 1_000;
    assert_eq!(bypassed(&mut live), "deadline");
    let condition = expr([Node::Bool(false)]);
    plan.tools[0].reconciles.push(reconcile("work", condition, "no"));
    let mut live = Live::new(plan);
    live.ok("work");
    live.now = 1_000;
    assert_eq!(bypassed(&mut live), "halted");
}

#[test]
fn items_conditions_and_paths() {
    let outside = vec![CheckKind::File(0)];
    let mut live = Live::new(guarded(&["../x"], 20, outside));
    live.world.files.insert("/x".into(), "x".into());
    lacks(&mut live, "`/x` is outside the workspace");

    let mut plan = with_todos(plan_of(&[]));
    let fault = compare(Node::RemainingTime, CompareOp::Gt, Node::Duration(0));
    plan.completion = Some(completion(
        20,
        vec![CheckKind::Every(0, 3), CheckKind::Condition(expr([Node::Bool(false)]))],
    ));
    let mut live = Live::new(plan.clone());
    lacks(&mut live, "`it` does not hold");
    for _ in 0..5 {
        live.propose("c", r#"todo_create {"content": "x", "criteria": [{"git_commit": true}]}"#);
    }
    live.propose("c", r#"todo_start {"id": "todo-2"}"#);
    lacks(
        &mut live,
        "todo-1 is pending, not verified; todo-2 is in_progress, not verified; \
         todo-3 is pending, not verified and 2 more",
    );
    plan.completion = Some(completion(20, vec![CheckKind::Condition(fault)]));
    lacks(&mut Live::new(plan), "`it` cannot be judged: the guard has no deadline");
}

#[test]
fn an_attest_names_every_dimension_at_zero() {
    let dimension = |name: &str, kind| Dimension {
        name: name.into(),
        checks: Checks(vec![Check { kind, text: name.into(), span: 0 }]),
    };
    let score = |units| CheckKind::Score(expr([Node::Decimal(units)]));
    let mut plan = guarded(&["a"], 20, vec![CheckKind::Attest(0)]);
    plan.attests.push(Attest {
        name: "release".into(),
        span: 0,
        dimensions: vec![
            dimension("clear", score(1)),
            dimension("fast", score(0)),
            dimension("safe", CheckKind::File(0)),
            dimension("sane", score(1_000_001)),
        ],
    });
    let mut live = Live::new(plan);
    lacks(
        &mut live,
        "`release` fails: `fast` scores 0 (`fast` is 0); `safe` scores 0 (`a` is missing); \
         `sane` scores 0 (`sane` is not between 0 and 1)",
    );
}

#[test]
fn a_guard_without_completion_lets_go() {
    let stopped = Live::new(plan_of(&[])).stop();
    assert_eq!(
        (stopped.decision, stopped.bypassed, stopped.incomplete),
        (StopDecision::Allow, None, false)
    );
}

/// A completion that a file conforms to a contract of a title and a few names.
fn conforming() -> Plan {
    let mut plan = guarded(&["report.json"], 20, vec![CheckKind::Conforms(0, 0)]);
    let field = |name: &str, ty| Field { name: name.into(), ty, secret: false, doc: String::new() };
    let next = plan.types.len() as TypeId;
    let record = |name: &str, fields| TypeDef::Record { name: name.into(), fields };
    plan.types.push(record("Finding", vec![field("name", STRING)]));
    plan.types.push(TypeDef::List { of: next, max: None });
    plan.types.push(record("contract Report", vec![field("findings", next + 1)]));
    let finding = ItemList {
        within: None,
        field: 0,
        name: "findings".into(),
        shape: ItemShape::Type(next),
        max: Some(1),
        by: None,
        partial: false,
    };
    let bounds = Bounds { depth: 4, string: 40, bytes: 400, quarantine: 3 };
    plan.contracts.push(Contract {
        name: "Report".into(),
        doc: String::new(),
        span: 0,
        root: Root::Envelope,
        record: next + 2,
        lists: vec![finding],
        bounds,
        references: vec![],
    });
    plan
}

#[test]
fn what_a_file_holds_must_conform() {
    let mut live = Live::new(conforming());
    lacks(&mut live, "`report.json` is missing");
    live.file("report.json", "{\"findings\": [{\"name\": \"a\"}, {\"name\": \"b\"}]}");
    lacks(
        &mut live,
        "`report.json` does not conform to `Report`: findings[1]: over_limit: \
 at most 1 are kept, the first ones",
    );
    live.file("report.json", &" ".repeat(TEXT_BYTES + 1));
    lacks(&mut live, "`report.json` is longer than 1048576 bytes");
    live.world.blind = true;
    lacks(&mut live, "the contents of `report.json` are unknown");
    live.world.blind = false;
    live.file("report.json", "{\"findings\": [{\"name\": \"a\"}]}");
    let stopped = live.stop();
    assert_eq!(stopped.decision, StopDecision::Allow);
    let mut again = live.kernel.open("s", 0, "/ws").unwrap();
    let stop = StopAttempt { reason: None, now: 0 };
    let recalled = live.kernel.stop(&mut again, &stop, &mut Recalled(&stopped.asked)).unwrap();
    assert_eq!((recalled.decision, recalled.asked), (StopDecision::Allow, stopped.asked));
}

#[test]
fn nobody_can_say_what_conforms_to_a_schema_without_schemas() {
    let mut plan = conforming();
    let text = "{}".to_string();
    // A value described only by a schema has no type.
    let item = plan.contracts[0].record as usize - 2;
    plan.types[item] = TypeDef::Json;
    plan.contracts[0].lists[0].shape = ItemShape::Schema { file: "a.json".into(), text };
    let mut live = Live::new(plan);
    live.file("report.json", "{\"findings\": []}");
    lacks(
        &mut live,
        "it is unknown whether `report.json` conforms to `Report`: the schema `a.json`: \
         JSON Schemas are not supported here",
    );
}

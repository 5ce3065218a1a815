//! Tests of lifecycles: items that the kernel serves, and that only the harness verifies.

use super::build::*;
use super::live::*;
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_plan::record::RunEnd;
use guard_plan::verdict::Decision;
use guard_runtime::*;

fn todos() -> Live {
    let mut plan = with_todos(plan_of(&[]));
    plan.commands.push(command("cargo test"));
    plan.probes.extend([probe("level", INT), probe("up", BOOL)]);
    Live::new(plan)
}

const CREATE: &str = r#"todo_create {"content": "write", "criteria": [{"file": "a.md"}]}"#;

fn move_to(live: &mut Live, item: &str, transition: &str, reason: Option<&str>) -> String {
    let by = Move { item, transition, by: "ann", reason, now: live.now };
    match live.kernel.move_item(&mut live.session, &by) {
        Ok(moved) => format!(
            "{} → {} ({})",
            moved.change.before.unwrap(),
            moved.change.after,
            moved.change.rejections
        ),
        Err(error) => error.to_string(),
    }
}

fn verified(live: &mut Live, item: &str) -> String {
    match live.verify(item) {
        Ok(Moved { change, .. }) => {
            let why = change.reasons.iter().chain(&change.unanswered);
            let why: Vec<&str> = why.map(String::as_str).collect();
            format!("{:?} {} {}", change.transition, change.after, why.join("; "))
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_item_goes_its_way() {
    let mut live = todos();
    live.check(CREATE, r#"{"id":"todo-1","state":"pending"}"#);
    live.check(CREATE, r#"{"id":"todo-2","state":"pending"}"#);
    live.check(r#"todo_start {"id": "todo-1"}"#, r#"{"id":"todo-1","state":"in_progress"}"#);
    live.ok("work");
    let claim = r#"todo_claim {"id": "todo-1", "evidence": [{"call": "c4"}]}"#;
    let proposed = live.propose("k", claim);
    assert_eq!(proposed.served.unwrap().to_string(), r#"{"id":"todo-1","state":"claimed"}"#);
    let change = &proposed.items[0];
    assert_eq!((change.by.as_str(), change.before.as_deref()), ("k", Some("in_progress")));
    assert_eq!((change.actor, change.transition.as_deref()), (Actor::Agent, Some("claim")));
    // The criteria fail at first, then pass; only then is the item verified.
    let reject = "Some(\"reject\") in_progress `a.md` is missing";
    assert_eq!(verified(&mut live, "todo-1"), reject);
    live.check(claim, r#"{"id":"todo-1","state":"claimed"}"#);
    live.file("a.md", "x");
    assert_eq!(verified(&mut live, "todo-1"), "Some(\"verify\") verified ");
    assert_eq!(live.session.item_state(&live.kernel, "todo-1"), Some("verified"));
    let item = live.session.item(&live.kernel, "todo-1").unwrap().to_string();
    let expected = r#"{"id":"todo-1","state":"verified","fields":{"content":"write"},"rejections":1,"reasons":[],"criteria":[{"file":"a.md"}],"evidence":[{"call":"c4"}],"created":"1970-01-01T00:00:00Z","last":{"time":"1970-01-01T00:00:00Z","actor":"harness","transition":"verify","by":"verify"}}"#;
    assert_eq!(item, expected);
}

#[test]
fn steps_are_not_skipped() {
    let mut live = todos();
    live.check(CREATE, r#"{"id":"todo-1","state":"pending"}"#);
    live.ok("work");
    live.check(
        r#"todo_claim {"id": "todo-1", "evidence": [{"call": "c2"}]}"#,
        "deny; lifecycle: todo-1 is `pending`, and `claim` begins in `in_progress`; you can `start`",
    );
    live.check(
        r#"todo_start {"id": "todo-2"}"#,
        "deny; lifecycle: there is no item `todo-2` of `todo`",
    );
    for id in ["plan-1", "todo-01", "todo-+1", "todo-", "todo-99999999999", ""] {
        let verdict = live.propose("x", &format!(r#"todo_start {{"id": "{id}"}}"#)).verdict;
        assert_eq!(verdict.decision, Decision::Deny, "{id}");
    }
    assert_eq!(move_to(&mut live, "todo-1", "start", None), "`start` is a transition of the agent");
    assert_eq!(
        move_to(&mut live, "todo-1", "verify", None),
        "`verify` is made when the criteria are verified, not by hand"
    );
    assert_eq!(
        move_to(&mut live, "todo-1", "retrun", None),
        "`todo` has no transition `retrun`; did you mean `return`?"
    );
    assert_eq!(
        move_to(&mut live, "todo-1", "return", None),
        "todo-1 is `pending`, and `return` begins in `in_progress` or `claimed`; you can `start`"
    );
    assert_eq!(move_to(&mut live, "todo-7", "return", None), "there is no item `todo-7`");
    assert_eq!(verified(&mut live, "todo-1"), "todo-1 is `pending`: nothing is verified there");
}

#[test]
fn evidence_is_of_this_session() {
    let mut live = todos();
    live.check(CREATE, r#"{"id":"todo-1","state":"pending"}"#);
    live.check(r#"todo_start {"id": "todo-1"}"#, r#"{"id":"todo-1","state":"in_progress"}"#);
    live.propose("failed", "work");
    live.settle("failed", Ending::Failure);
    live.propose("flying", "work");
    live.file("b.md", "four");
    let mut lacks = |evidence: &str, why: &str| {
        let claim = format!(r#"todo_claim {{"id": "todo-1", "evidence": [{evidence}]}}"#);
        live.check(&claim, &format!("deny; lifecycle: {why}"));
    };
    lacks("", "`claim` requires evidence: calls or files");
    lacks(r#"{"call": "failed"}"#, "evidence[0]: the call `failed` failed");
    lacks(r#"{"call": "flying"}"#, "evidence[0]: the call `flying` is still in flight");
    lacks(r#"{"call": "none"}"#, "evidence[0]: there was no call `none` in this session");
    lacks(r#"{"call": "c1"}"#, "evidence[0]: the call `c1` is a lifecycle call");
    lacks(r#"{"file": "a.md"}"#, "evidence[0]: `a.md` is missing");
    lacks(r#"{"file": "../a.md"}"#, "evidence[0]: `/a.md` is outside the workspace");
    let form = "evidence has exactly one of call and file (with sha256)";
    lacks("{}", &format!("evidence[0]: {form}"));
    lacks(r#"{"call": "c1", "file": "b.md"}"#, &format!("evidence[0]: {form}"));
    let hash = format!("{:064x}", 4);
    lacks(
        r#"{"file": "b.md", "sha256": "00"}"#,
        &format!("evidence[0]: `b.md` has the hash {hash}, which is not the given one"),
    );
    let claim = format!(
        r#"todo_claim {{"id": "todo-1", "evidence": [{{"file": "b.md", "sha256": "{hash}"}}]}}"#
    );
    live.check(&claim, r#"{"id":"todo-1","state":"claimed"}"#);
    live.check(
        &claim,
        "deny; lifecycle: todo-1 is `claimed`, and `claim` begins in `in_progress`; \
         the harness can `reject`, `return` or `verify`",
    );
}

#[test]
fn criteria_are_those_of_the_guard() {
    let mut live = todos();
    let mut lacks = |criteria: &str, why: &str| {
        let create = format!(r#"todo_create {{"content": "x", "criteria": [{criteria}]}}"#);
        live.check(&create, &format!("deny; lifecycle: {why}"));
    };
    lacks(
        "",
        "an item needs at least one criterion: `file`, `file with contains`, `command`, \
         `git_commit` or `probe`",
    );
    lacks(r#"{"command": ["rm", "-rf", "/"]}"#, "criteria[0]: the guard has no command `rm -rf /`");
    lacks(r#"{"probe": "down"}"#, "criteria[0]: there is no probe `down`");
    lacks(
        r#"{"probe": "level"}"#,
        "criteria[0]: the probe `level` cannot return `true`: it is not a bool",
    );
    lacks(r#"{"file": "/etc/passwd"}"#, "criteria[0]: `/etc/passwd` is outside the workspace");
    let form =
        "a criterion has exactly one of file (with contains), command, git_commit true and probe";
    for criterion in ["{}", r#"{"contains": "x"}"#, r#"{"git_commit": false}"#] {
        lacks(criterion, &format!("criteria[0]: {form}"));
    }
    let mut plan = with_todos(plan_of(&[]));
    plan.lifecycles[0].criteria = vec![CriterionKind::Probe];
    let verdict = Live::new(plan).propose("c", CREATE).verdict;
    assert_eq!(
        decided(&verdict),
        "deny; lifecycle: criteria[0]: items of `todo` have no criterion file"
    );
}

#[test]
fn a_question_without_answer_moves_nothing() {
    let mut live = todos();
    let criteria = r#"[{"file": "a", "contains": "x"}, {"command": ["cargo", "test"]}, {"git_commit": true}, {"probe": "up"}]"#;
    live.propose("c", &format!(r#"todo_create {{"content": "x", "criteria": {criteria}}}"#));
    live.propose("c", r#"todo_start {"id": "todo-1"}"#);
    live.ok("work");
    live.propose("c", r#"todo_claim {"id": "todo-1", "evidence": [{"call": "c1"}]}"#);
    assert_eq!(
        verified(&mut live, "todo-1"),
        "None claimed `a` does not contain \"x\"; `cargo test` cannot be run here; \
         it is unknown whether everything is committed; the probe `up` gives no answer"
    );
    live.world.runs.insert("cargo test".into(), ran(RunEnd::Exited(0), ""));
    live.world.probes.insert("up".into(), Json::Bool(false));
    live.world.committed = Some(true);
    assert_eq!(
        verified(&mut live, "todo-1"),
        "Some(\"reject\") in_progress `a` does not contain \"x\"; the probe `up` returned false"
    );
}

#[test]
fn rejections_escalate() {
    let mut live = todos();
    live.check(CREATE, r#"{"id":"todo-1","state":"pending"}"#);
    let start = r#"todo_start {"id": "todo-1"}"#;
    for rejections in 1..=2 {
        live.check(start, r#"{"id":"todo-1","state":"in_progress"}"#);
        let moved = move_to(&mut live, "todo-1", "return", Some("too short"));
        assert_eq!(moved, format!("in_progress → pending ({rejections})"));
    }
    live.check(
        start,
        "ask; approval: todo-1 was rejected 2 times, and can now move only with the approval of lead \
         (ask lead to approve exactly this call)",
    );
    let args = Json::parse(r#"{"id": "todo-1"}"#).unwrap();
    let approve = CallApproval {
        tool: "todo_start",
        args: &args,
        role: "lead",
        by: "ann",
        expires: None,
        now: 0,
    };
    live.kernel.approve(&mut live.session, &approve).unwrap();
    live.check(start, r#"{"id":"todo-1","state":"in_progress"}"#);
    // The approval is used up. A move without a reason is not a rejection.
    assert_eq!(move_to(&mut live, "todo-1", "return", None), "in_progress → pending (2)");
    assert_eq!(live.propose("x", start).verdict.decision, Decision::Ask);
}

#[test]
fn served_calls_are_governed_like_others() {
    let mut plan = with_todos(plan_of(&[]));
    plan.units[0].budget = Some(2_000_000);
    plan.feedback.push(provider("often", vec![Trigger::Calls(1)], "Listed."));
    plan.tools[1].denies.push(deny("p", expr([Node::Bool(true)]), "not now"));
    let mut live = Live::new(plan);
    live.check(CREATE, "deny; denied: not now (denied when it is so)");
    let proposed = live.propose("c", "todo_list");
    assert_eq!(speakers(&proposed.feedback), "often");
    assert!(live.session.in_flight().is_empty());
    assert_eq!(live.session.outcomes(2), Some((1, 0)));
    live.check("todo_list", r#"{"items":[],"total":0,"more":false}"#);
    live.check("todo_list", "deny; budget: 0 of 2 calls left; this call costs 1");
}

#[test]
fn in_shadow_what_cannot_be_done_is_not() {
    let mut plan = with_todos(plan_of(&[]));
    plan.shadow = true;
    let mut live = Live::new(plan);
    let error = r#"{"error":"there is no item `todo-9` of `todo`"}"#;
    live.check(r#"todo_start {"id": "todo-9"}"#, error);
    assert_eq!(live.session.outcomes(3), Some((0, 1)));
    live.check("todo_start {}", r#"{"error":"the call could not be read"}"#);
    assert!(live.session.in_flight().is_empty());
}

#[test]
fn a_hundred_thousand_items() {
    let mut live = todos();
    let text = CREATE.split_once(' ').unwrap().1;
    let args = Json::parse(text).unwrap();
    let mut create = || {
        let proposal = Proposal { call: "c", tool: "todo_create", args: (&args).into(), now: 0 };
        live.kernel.propose(&mut live.session, &proposal, &mut live.world).unwrap()
    };
    for _ in 0..100_000 {
        assert!(create().served.is_some());
    }
    let full = "deny; lifecycle: there are 100000 items of `todo` already";
    assert_eq!(decided(&create().verdict), full);
    let list = live.propose("l", r#"todo_list {"after": "todo-99950"}"#).served.unwrap();
    let Some(Json::Array(items)) = list.get("items") else { panic!() };
    assert_eq!((items.len(), list.get("more")), (50, Some(&Json::Bool(false))));
    live.propose("s", r#"todo_start {"id": "todo-70000"}"#);
    let list = live.propose("l", r#"todo_list {"state": "in_progress"}"#).served.unwrap();
    let first = r#"{"items":[{"id":"todo-70000","state":"in_progress""#;
    assert!(list.to_string().starts_with(first), "{list}");
    let page = live.session.items(&live.kernel, "todo", Some("pending"), Some("todo-69999"));
    let page = page.unwrap();
    assert_eq!(page.get("total"), Some(&Json::Int(99_999)));
    let Some(Json::Array(items)) = page.get("items") else { panic!() };
    assert_eq!((items.len(), items[0].get("id")), (100, Some(&Json::string("todo-70001"))));
}

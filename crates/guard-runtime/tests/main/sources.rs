//! Tests of sources: opening data and prompts teach facts, and are remembered as origins of values.

use super::build::*;
use super::live::*;
use guard_plan::builtin::Builtin;
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_plan::value::Value;
use guard_runtime::*;

/// A plan with `send(to)` to known recipients, and `look` and `page` with trusted and untrusted
/// results.
fn guarded(max: u64) -> Plan {
    let mut plan = plan_of(&[]);
    let column =
        vec![Field { name: "email".into(), ty: STRING, secret: false, doc: String::new() }];
    plan.types.push(TypeDef::Record { name: "Recipient".into(), fields: column });
    let row = (plan.types.len() - 1) as TypeId;
    plan.facts.push(Fact { name: "recipient".into(), row, keys: 1, max, halts: false });
    let learn = |nodes: Vec<Node>| Learn {
        rule: rule("recipient"),
        fact: 0,
        ranges: vec![],
        when: None,
        row: vec![expr(nodes)],
    };
    let emails = |of| vec![of, Node::Call(Builtin::Emails, vec![0])];
    plan.sources = vec![
        Source { kind: SourceKind::Start, learns: vec![learn(emails(Node::Result))] },
        Source { kind: SourceKind::Prompt, learns: vec![learn(emails(Node::Text))] },
    ];
    let mut look = tool("look", &[]);
    look.trust = Trust { whole: true, parts: vec![(vec!["notes".into()], false)] };
    look.learns.push(learn(vec![Node::Result, Node::Member(0, "to".into())]));
    plan.tools.push(look);
    plan.tools.push(tool("page", &[]));
    let mut send = tool("send", &[("to", STRING)]);
    let known = vec![Node::Param(0), Node::Known(0, vec![0]), Node::Not(1)];
    send.denies.push(deny("send", expr(known), "unknown recipient"));
    plan.tools.push(send);
    plan
}

#[test]
fn the_start_teaches() {
    let kernel = kernel(guarded(10));
    let data = Json::parse(r#"{"staff": ["ann@example.org", "bob@example.org"]}"#).unwrap();
    let session = kernel.open_with("s", 5, "/ws", Some(&data)).unwrap();
    let rows = session.facts(&kernel, "recipient", 0, 9).unwrap();
    let shown: Vec<String> =
        rows.iter().map(|row| format!("{} {} {}", row.number, row.row, row.by)).collect();
    assert_eq!(
        shown,
        [r#"1 {"email":"ann@example.org"} start"#, r#"2 {"email":"bob@example.org"} start"#]
    );
    let line =
        Recorder::new(std::sync::Arc::new(Salt::new(b""))).open(&kernel, &session, None).to_vec();
    let line = String::from_utf8(line).unwrap();
    assert!(line.contains(r#""data":{"staff":["ann@example.org","bob@example.org"]},"learned":2"#));
    // Without data, nothing is learned and nothing is noted.
    let session = kernel.open("s", 5, "/ws").unwrap();
    assert_eq!(session.facts(&kernel, "recipient", 0, 9), Some(vec![]));
    assert_eq!(session.facts(&kernel, "recipients", 0, 9), None);
}

#[test]
fn rows_know_who_taught_them() {
    let mut live = Live::new(guarded(2));
    let send = r#"send {"to": "ann@example.org"}"#;
    live.check(send, "deny; denied: unknown recipient (denied when it is so)");
    assert_eq!(live.prompt("Write to ann@example.org, please.").learned, 1);
    live.check(send, "allow");
    live.prompt("no more");
    let learned = live.prompt("and cy@example.org, dee@example.org");
    assert_eq!((learned.learned, learned.forgotten), (2, 1));
    let settled = live.ok_with("look", Some(r#"{"to": "eve@example.org"}"#));
    assert_eq!((settled.learned, settled.forgotten), (1, 1));
    let rows = live.session.facts(&live.kernel, "recipient", 0, 9).unwrap();
    let by: Vec<&str> = rows.iter().map(|row| &*row.by).collect();
    assert_eq!(by, ["prompt 3", "c3"]);
    // Learning a row again from another source changes its recorded source.
    live.prompt("eve@example.org");
    let rows = live.session.facts(&live.kernel, "recipient", rows[1].number, 9).unwrap();
    assert_eq!((rows.len(), &*rows[0].by), (1, "prompt 4"));
}

#[test]
fn what_does_not_decode_is_noted() {
    let mut live = Live::new(guarded(5));
    let settled = live.ok_with("look", Some(r#"{"to": 7}"#));
    assert_eq!(settled.learned, 0);
    assert_eq!(
        settled.notes[0].message,
        "a row of `recipient` was not learned: expected string, found 7"
    );
}

#[test]
fn facts_wake_feedback_when_prompts_teach_them() {
    let mut plan = guarded(5);
    let condition = expr([Node::String("ann@example.org".into()), Node::Known(0, vec![0])]);
    let reads = Some(vec![Touch::Fact(0)]);
    plan.feedback =
        vec![provider("ann", vec![Trigger::Becomes { condition, reads }], "She is known.")];
    let mut live = Live::new(plan);
    assert_eq!(live.ok("page").feedback, []);
    live.prompt("ann@example.org");
    assert_eq!(speakers(&live.ok("page").feedback), "ann");
    assert_eq!(live.ok("page").feedback, []);
}

fn origins() -> Live {
    let mut plan = guarded(5);
    plan.origins = true;
    Live::new(plan)
}

/// Checks the origin of a value: `prompt`, `trusted`, `untrusted` or `unknown`, by index.
#[track_caller]
fn origin(live: &mut Live, value: Node, expected: u32) {
    let asks = expr([value, Node::Origin(0)]);
    let origin = live.kernel.evaluate(&live.session, &asks, 0, &mut NoWorld);
    assert_eq!(origin, Ok(Value::Enum(expected)));
}

#[test]
fn values_come_from_somewhere() {
    let mut live = origins();
    let text = |text: &str| Node::String(text.into());
    origin(&mut live, text("ann@example.org"), 3);
    live.prompt("Pay 5.50 to ann@example.org (see docs/a.md and HTTPS://Example.org/x).");
    origin(&mut live, text("ann@example.org"), 0);
    origin(&mut live, Node::Decimal(5_500_000), 0);
    origin(&mut live, text("/ws/docs/a.md"), 0);
    origin(&mut live, Node::Url("https://example.org/x".into()), 0);
    origin(&mut live, text("ann"), 3);
    live.ok_with("page", Some(r#"{"to": ["ann@example.org", "eve@example.org"], "n": 7}"#));
    // The first origin counts.
    origin(&mut live, text("ann@example.org"), 0);
    origin(&mut live, text("eve@example.org"), 2);
    origin(&mut live, Node::Int(7), 2);
    live.ok_with("look", Some(r#"{"to": "bob@example.org", "notes": {"from": "cy@example.org"}}"#));
    origin(&mut live, text("bob@example.org"), 1);
    origin(&mut live, text("cy@example.org"), 2);
    // The results of failed calls are not seen.
    live.propose("f", "page");
    live.settle("f", Ending::Failure);
    origin(&mut live, text(""), 3);
}

#[test]
fn memory_is_bounded_and_says_so_once() {
    let mut live = origins();
    // 10 MB of words, and as many addresses.
    let many: String = (0..600_000).map(|i| format!("x{i}@example.org ")).collect();
    assert!(many.len() > 10_000_000);
    let learned = live.prompt(&many);
    assert_eq!((learned.learned, learned.forgotten), (100_000, 99_995));
    let notes: Vec<&str> = learned.notes.iter().map(|note| &*note.message).collect();
    assert_eq!(
        notes,
        [
            "at most 100000 rows of `recipient` are learned at once",
            "the origins of 65536 values are remembered; later values have an unknown origin"
        ]
    );
    assert_eq!(live.session.origins(), (65_536, true));
    assert_eq!(live.prompt("and more").notes, []);
    origin(&mut live, Node::String("x0@example.org".into()), 0);
    origin(&mut live, Node::String("more".into()), 3);
}

#[test]
fn what_nobody_declares_is_untrusted_and_what_items_say_is_not_seen() {
    let mut plan = with_todos(plan_of(&[]));
    (plan.origins, plan.default_allow) = (true, true);
    let mut live = Live::new(plan);
    let text = |text: &str| Node::String(text.into());
    live.ok_with("undeclared", Some(r#"{"to": "eve@example.org"}"#));
    origin(&mut live, text("eve@example.org"), 2);
    live.propose(
        "c",
        r#"todo_create {"content": "cy@example.org", "criteria": [{"git_commit": true}]}"#,
    );
    live.check("todo_list", r#"{"items":[{"id":"todo-1","state":"pending","fields":{"content":"cy@example.org"},"rejections":0,"reasons":[]}],"total":1,"more":false}"#);
    origin(&mut live, text("cy@example.org"), 3);
}

#[test]
fn one_name_over_an_object_is_its_values() {
    let mut plan = guarded(5);
    let tool = plan.tools.iter_mut().find(|tool| tool.name == "look").unwrap();
    let learn = &mut tool.learns[0];
    let over = expr([Node::Result, Node::Member(0, "staff".into())]);
    learn.ranges = vec![Range { over, binders: vec![0] }];
    learn.row = vec![expr([Node::Local(0)])];
    let mut live = Live::new(plan);
    live.ok_with(
        "look",
        Some(r#"{"staff": {"ann": "ann@example.org", "bob": "bob@example.org"}}"#),
    );
    let rows = live.session.facts(&live.kernel, "recipient", 0, 9).unwrap();
    let shown: Vec<String> = rows.iter().map(|row| row.row.to_string()).collect();
    assert_eq!(shown, [r#"{"email":"ann@example.org"}"#, r#"{"email":"bob@example.org"}"#]);
}

#[test]
fn what_a_probe_answers_to_a_prompt_is_kept() {
    let mut plan = guarded(5);
    plan.probes.push(Probe { every: Some(1_000), ..probe("up", BOOL) });
    plan.sources[1].learns[0].when = Some(expr([Node::Probe(0)]));
    let mut live = Live::new(plan);
    live.world.probes.insert("up".into(), Json::Bool(true));
    assert_eq!(live.prompt("ann@example.org").learned, 1);
    assert_eq!(live.session.next_attempt(&live.kernel, "up"), Some(ProbeTurn::At(1_000)));
    live.world.probes.insert("up".into(), Json::Bool(false));
    assert_eq!(live.prompt("bob@example.org").learned, 1);
}

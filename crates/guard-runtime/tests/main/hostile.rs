//! Tests that a modified plan is either refused by the loader, or causes no panic and no endless
//! loop in a session.

use super::build::*;
use super::live::*;
use super::trace::{played, whole};
use guard_plan::builtin::Builtin;
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_plan::record::RunEnd;
use guard_plan::{LoadedPlan, plan::Sources};
use guard_runtime::*;
use proptest::prelude::*;
use std::sync::OnceLock;

/// A guard with every kind of entity that concerns sessions.
fn everything() -> Plan {
    let mut plan = whole();
    plan.origins = true;
    plan.deadline = Some(3_600_000);
    plan.state.push(variable("n", INT, Node::Int(1)));
    let column = vec![Field { name: "word".into(), ty: STRING, secret: false, doc: String::new() }];
    plan.types.push(TypeDef::Record { name: "Word".into(), fields: column });
    let row = (plan.types.len() - 1) as TypeId;
    plan.facts.push(Fact { name: "word".into(), row, keys: 1, max: 2, halts: false });
    let learn = |of| Learn {
        rule: rule("word"),
        fact: 0,
        ranges: vec![],
        when: None,
        row: vec![expr([of, Node::Call(Builtin::Names, vec![0])])],
    };
    plan.sources = vec![
        Source { kind: SourceKind::Start, learns: vec![learn(Node::Result)] },
        Source { kind: SourceKind::Prompt, learns: vec![learn(Node::Text)] },
    ];
    let backoff = Some(Backoff { factor: 1_500_000, up_to: 60_000 });
    plan.probes[0] = Probe { every: Some(5), backoff, within: Some(9), ..plan.probes[0].clone() };
    let mut asked = probe("version", INT);
    asked.asks = ProbeAsks::Command(0);
    plan.probes.push(asked);
    let mut edge = provider("edges", vec![], "");
    edge.triggers = vec![
        Trigger::Becomes {
            condition: expr([
                Node::Int(7),
                Node::State(0),
                Node::Arith(ArithOp::Div, 0, 1),
                Node::Int(7),
                Node::Compare(CompareOp::Eq, 2, 3),
            ]),
            reads: Some(vec![Touch::State(0)]),
        },
        Trigger::Every(1),
        Trigger::Denied(Some(vec![0])),
    ];
    edge.blocks[0].when = Some(expr([Node::Bool(true)]));
    edge.blocks[0].message.parts.push(value(DURATION, [Node::RemainingTime]));
    plan.feedback.insert(0, edge);
    let check = |kind| Check { kind, text: "it".into(), span: 0 };
    let scored = vec![
        check(CheckKind::Score(expr([Node::Decimal(1)]))),
        check(CheckKind::Every(0, 1)),
        check(CheckKind::Any(vec![0, 1])),
    ];
    let dimensions = vec![Dimension { name: "d".into(), checks: Checks(scored) }];
    plan.attests.push(Attest { name: "a".into(), span: 0, dimensions });
    let checks = vec![
        check(CheckKind::Attest(0)),
        check(CheckKind::File(0)),
        check(CheckKind::Contains(0, "x".into())),
        check(CheckKind::Command(0, 0)),
        check(CheckKind::All(vec![0, 1, 2, 3])),
    ];
    plan.completion = Some(Completion { span: 0, at_most: 3, checks: Checks(checks) });
    plan
}

fn text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| serde_json::to_string(&everything()).expect("a plan is data"))
}

fn run(plan: Plan) {
    let Ok(loaded) = LoadedPlan::from_plan(plan, Sources::default()) else { return };
    let Ok(kernel) = Kernel::new(loaded) else { return };
    let mut world = Small::default();
    world.files.insert("/ws/a.md".into(), "text".into());
    world.probes.insert("up".into(), Json::Bool(true));
    world.runs.insert("cargo test".into(), ran(RunEnd::Exited(0), "7"));
    let Ok(mut session) = kernel.open_with("s", 0, "/ws", Some(&Json::string("A Bc"))) else {
        return;
    };
    let args = [
        r#"{"content": "x", "criteria": [{"file": "a.md"}, {"command": ["cargo", "test"]}, {"probe": "up"}]}"#,
        r#"{"id": "todo-1"}"#,
        r#"{"id": "todo-1", "evidence": [{"call": "c"}, {"file": "a.md"}]}"#,
        "{}",
    ];
    let args = args.map(|text| Json::parse(text).expect("JSON"));
    let none = &args[3];
    let mut names: Vec<String> =
        kernel.plan().tools.iter().map(|tool| tool.wire_name.clone()).collect();
    names.push("other".into());
    for (now, tool) in (0..).zip(names.iter().cycle().take(20)) {
        for args in &args {
            let proposal = Proposal { call: "c", tool, args: args.into(), now };
            let _ = kernel.propose(&mut session, &proposal, &mut world);
            let settlement = Settlement { call: "c", ending: Ending::Success(Some(none)), now };
            let _ = kernel.settle(&mut session, &settlement, &mut world);
        }
        let _ = kernel.prompt(&mut session, &UserPrompt { text: "Ann and Bob", now }, &mut world);
        let _ = kernel.stop(&mut session, &StopAttempt { reason: None, now }, &mut world);
        let _ = kernel.verify(&mut session, &Verify { item: "todo-1", now }, &mut world);
    }
    session.state_json(&kernel);
}

#[test]
fn everything_runs() {
    run(everything());
    let mut world = Small::default();
    world.probes.insert("up".into(), Json::Bool(true));
    world.files.insert("/ws/a.md".into(), "x".into());
    assert_eq!(played(&kernel(everything()), &mut world).len(), 11);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2048) })]

    #[test]
    fn spoilt_numbers_are_survived(at: usize, number in prop::sample::select(vec![
        "0", "1", "2", "7", "255", "65536", "4294967295", "9223372036854775807", "-1",
        "-9223372036854775808",
    ])) {
        let json = text();
        let numbers: Vec<(usize, &str)> = json
            .match_indices(|c: char| c.is_ascii_digit())
            .filter(|(at, _)| !json.as_bytes()[at - 1].is_ascii_digit())
            .collect();
        let (start, _) = numbers[at % numbers.len()];
        let end = json[start..].find(|c: char| !c.is_ascii_digit()).map_or(json.len(), |n| start + n);
        let spoilt = format!("{}{number}{}", &json[..start], &json[end..]);
        if let Ok(plan) = serde_json::from_str::<Plan>(&spoilt) {
            run(plan);
        }
    }
}

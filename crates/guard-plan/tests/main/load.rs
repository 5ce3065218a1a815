//! Loading is the inverse of encoding, and survives anything.

use guard_plan::plan::*;
use guard_plan::{LoadError, LoadedPlan, encode, load};
use proptest::prelude::*;

fn rule(owner: &str) -> RuleMeta {
    RuleMeta { owner: owner.into(), doc: "why".into(), shadow: false, span: 0 }
}

/// A plan with one of most things.
fn plan() -> Plan {
    let json = r#"{
        "edition": 1, "guard": "sample", "shadow": false, "default_allow": false, "deadline": 60000,
        "types": ["bool", {"int": {"min": 0, "max": 9}}, {"string": {"max_chars": 5, "max_bytes": null,
            "patterns": [0]}}, {"record": {"name": "R", "fields": [{"name": "id", "ty": 2, "secret": true}]}},
            {"option": {"of": 3}}, {"list": {"of": 3, "max": 4}}],
        "state": [], "units": [], "limits": [], "regexes": ["^a"], "paths": ["src"], "invariants": [],
        "monitors": [], "indexes": [], "windows": [], "facts": [], "commands": [], "probes": [], "sources": [], "origins": false, "lifecycles": [], "feedback": [],
        "attests": [], "completion": null, "goals": [], "tools": []
    }"#;
    let mut plan: Plan = serde_json::from_str(json).unwrap();
    plan.units.push(Unit { name: "calls".into(), budget: Some(1), host_charged: false, span: 0 });
    plan.state.push(StateVar { name: "n".into(), ty: 1, init: Expr(vec![Node::Int(1)]) });
    plan.facts.push(Fact { name: "f".into(), row: 3, keys: 1, max: 10 });
    plan.probes.push(Probe {
        name: "up".into(),
        returns: 0,
        asks: ProbeAsks::Host,
        every: None,
        backoff: None,
        timeout: 10_000,
        within: None,
    });
    plan.indexes.push(SuccessIndex { tool: 0, params: vec![0] });
    let condition = Expr(vec![
        Node::Set(vec![]),
        Node::Local(7),
        Node::Int(3),
        Node::Compare(CompareOp::Lt, 1, 2),
        Node::Quantified { op: QuantifierOp::Any, over: vec![0], binders: vec![7], body: 3 },
    ]);
    plan.invariants.push(Invariant {
        rule: rule("i"),
        monitor: false,
        condition: condition.clone(),
        text: "…".into(),
        because: Some(Message { parts: vec![Part::Text("no".into())] }),
        shows: vec![],
        reads: vec![0],
    });
    plan.tools.push(Tool {
        name: "t".into(),
        wire_name: "t".into(),
        title: None,
        doc: String::new(),
        tags: vec![],
        params: vec![Field { name: "id".into(), ty: 2, secret: false }],
        returns: Some(4),
        trust: Trust { whole: true, parts: vec![] },
        served: None,
        prior: None,
        risk: Risk::High,
        irreversible: false,
        span: 0,
        steps: 5,
        requires: vec![],
        denies: vec![Deny {
            rule: rule("t"),
            condition,
            text: String::new(),
            because: None,
            shows: vec![],
        }],
        limits: vec![],
        costs: vec![],
        effects: vec![],
        frame: vec![0],
        approvals: vec![],
        ready: vec![Ready { rule: rule("t"), probe: 0 }],
        observes: vec![],
        observe_frame: vec![],
        learns: vec![],
        reconciles: vec![],
        touches: vec![Touch::History(0)],
        writes: vec![],
        indexes: vec![0],
        windows: vec![],
        keeps_args: false,
        keeps_result: false,
    });
    plan
}

fn sources() -> Sources {
    let span = SourceSpan { file: 0, line: 2, column: 3, end_line: 2, end_column: 9 };
    Sources { files: vec!["a.guard".into()], spans: vec![span] }
}

fn loaded() -> LoadedPlan {
    LoadedPlan::from_plan(plan(), sources()).unwrap()
}

#[test]
fn loading_undoes_encoding() {
    let loaded = loaded();
    assert_eq!(load(&loaded.to_bytes()).as_ref(), Ok(&loaded));
    assert_eq!(load(loaded.to_json().as_bytes()).as_ref(), Ok(&loaded));
    assert_eq!(loaded.span_text(0).as_deref(), Some("a.guard:2:3"));
    assert_eq!(loaded.span_text(9), None);
    let moved = LoadedPlan::from_plan(plan(), Sources::default()).unwrap();
    assert_eq!(moved.hash(), loaded.hash());
}

#[test]
fn damage_is_named() {
    let loaded = loaded();
    assert_eq!(load(b"hello"), Err(LoadError::UnknownForm));
    let mut bytes = loaded.to_bytes();
    bytes[10] = 9;
    assert_eq!(load(&bytes), Err(LoadError::Version(9)));
    let mut bytes = loaded.to_bytes();
    *bytes.last_mut().unwrap() ^= 1;
    assert_eq!(load(&bytes), Err(LoadError::Checksum));
    let json = loaded.to_json();
    let other = json.replace("\"keeps_args\": false", "\"keeps_args\": true");
    assert_eq!(load(other.as_bytes()), Err(LoadError::Hash));
    let future = json.replace("\"version\": 1", "\"version\": 2");
    assert_eq!(load(future.as_bytes()), Err(LoadError::Version(2)));
}

/// Changes the sample, and expects a refusal that says so.
#[track_caller]
fn refused(change: impl FnOnce(&mut Plan), expected: &str) {
    let mut plan = plan();
    change(&mut plan);
    let error = LoadedPlan::from_plan(plan, sources()).unwrap_err().to_string();
    assert_eq!(error, format!("the plan is unsound: {expected}"));
}

#[test]
fn unsound_plans_are_refused() {
    let condition =
        |plan: &mut Plan, nodes: Vec<Node>| plan.tools[0].denies[0].condition = Expr(nodes);
    refused(|p| p.types[4] = TypeDef::Option { of: 5 }, "type 4: refers to type 5 of 4");
    refused(|p| p.types.push(TypeDef::Option { of: 4 }), "type 6: an option of an option");
    refused(|p| p.units.clear(), "there is no unit `calls`");
    refused(|p| p.tools[0].touches = vec![Touch::History(1)], "tool `t`: tool 1 of 1");
    refused(|p| p.tools[0].indexes.clear(), "tool `t`: its memories");
    refused(
        |p| p.tools[0].steps = u64::MAX,
        "tool `t`: 18446744073709551615 steps, at most 10000000",
    );
    refused(|p| p.tools.push(p.tools[0].clone()), "tools are not in order");
    refused(|p| p.state[0].init = Expr(vec![Node::Now]), "state `n`: node 0: more than a constant");
    refused(|p| condition(p, vec![]), "tool `t`: an empty expression");
    refused(|p| condition(p, vec![Node::Not(0)]), "tool `t`: node 0: its children");
    refused(
        |p| condition(p, vec![Node::Bool(true), Node::And(0, 0)]),
        "tool `t`: node 1: its children",
    );
    refused(
        |p| condition(p, vec![Node::Bool(true), Node::Bool(true)]),
        "tool `t`: an expression with unused nodes",
    );
    refused(|p| condition(p, vec![Node::Local(7)]), "tool `t`: node 0: slot 7 is not bound");
    refused(|p| condition(p, vec![Node::Param(1)]), "tool `t`: node 0: parameter 1 of 1");
    refused(
        |p| condition(p, vec![Node::LastResult(0)]),
        "tool `t`: node 0: a result that is not kept",
    );
    refused(
        |p| {
            let deep = (0..300).map(|i| if i == 0 { Node::Bool(true) } else { Node::Not(i - 1) });
            condition(p, deep.collect());
        },
        "tool `t`: node 256: nests too deep",
    );
}

/// Puts a mutated body behind a right header, so that more than the checksum is tested.
fn resealed(mut bytes: Vec<u8>, at: usize, by: u8) -> Vec<u8> {
    const HEADER: usize = 78;
    let place = HEADER + at % (bytes.len() - HEADER);
    bytes[place] ^= by;
    let (head, body) = bytes.split_at(HEADER);
    encode::seal(body, head[14..46].try_into().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn mutated_binaries_are_survived(at in any::<usize>(), by in 1..=255_u8) {
        prop_assert!(load(&resealed(loaded().to_bytes(), at, by)).is_err_or_same());
    }

    #[test]
    fn mutated_json_is_survived(at in any::<usize>(), by in prop::sample::select(b"0129-\"{}[],:tn".to_vec())) {
        let mut bytes = loaded().to_json().into_bytes();
        let at = at % bytes.len();
        bytes[at] = by;
        prop_assert!(load(&bytes).is_err_or_same());
    }

    #[test]
    fn mutated_plans_are_survived(at in any::<usize>(), number in prop::sample::select(vec!["0", "1", "7", "65536", "-1"])) {
        // A number of the plan is another, and the hash is right again.
        let json = serde_json::to_string(&plan()).unwrap();
        let digits: Vec<usize> = json.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(i, _)| i).collect();
        let place = digits[at % digits.len()];
        let text = format!("{}{number}{}", &json[..place], &json[place + 1..]);
        if let Ok(plan) = serde_json::from_str::<Plan>(&text) {
            let _ = LoadedPlan::from_plan(plan, sources());
        }
    }
}

trait Survived {
    fn is_err_or_same(&self) -> bool;
}

impl Survived for Result<LoadedPlan, LoadError> {
    fn is_err_or_same(&self) -> bool {
        self.as_ref().map_or(true, |other| other.plan() == &plan())
    }
}

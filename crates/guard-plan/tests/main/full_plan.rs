//! A plan with most kinds of entities.

use guard_plan::LoadedPlan;
use guard_plan::plan::*;

pub fn rule(owner: &str) -> RuleMeta {
    RuleMeta { owner: owner.into(), doc: "why".into(), shadow: false, span: 0 }
}

/// A plan with most kinds of entities.
pub fn plan() -> Plan {
    let json = r#"{
        "edition": 1, "guard": "sample", "shadow": false, "default_allow": false, "deadline": 60000,
        "types": ["bool", {"int": {"min": 0, "max": 9}}, {"string": {"max_chars": 5, "max_bytes": null,
            "patterns": [0]}}, {"record": {"name": "R", "fields": [{"name": "id", "ty": 2, "secret": true, "doc": ""}]}},
            {"option": {"of": 3}}, {"list": {"of": 3, "max": 4}}],
        "state": [], "units": [], "limits": [], "regexes": ["^a"], "coercions": [], "paths": ["src"], "invariants": [], "proofs": [],
        "monitors": [], "indexes": [], "windows": [], "facts": [], "commands": [], "probes": [], "sources": [], "origins": false, "mentions": false, "confidential": false, "lifecycles": [], "feedback": [],
        "attests": [], "completion": null, "goals": [], "contracts": [], "tools": []
    }"#;
    let mut plan: Plan = serde_json::from_str(json).unwrap();
    plan.units.push(Unit { name: "calls".into(), budget: Some(1), host_charged: false, span: 0 });
    plan.state.push(StateVar { name: "n".into(), ty: 1, init: Expr(vec![Node::Int(1)]) });
    plan.facts.push(Fact { name: "f".into(), row: 3, keys: 1, max: 10, halts: false });
    plan.probes.push(Probe {
        name: "up".into(),
        returns: 0,
        forms: None,
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
        params: vec![Field { name: "id".into(), ty: 2, secret: false, doc: String::new() }],
        returns: Some(4),
        forms: None,
        trust: Trust { whole: true, parts: vec![] },
        served: None,
        states: false,
        prior: None,
        risks: Vec::new(),
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
            replacement: None,
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
        transforms: vec![],
        privates: vec![],
        endorsements: vec![],
        touches: vec![Touch::History(0)],
        writes: vec![],
        indexes: vec![0],
        windows: vec![],
        keeps_args: false,
        keeps_result: false,
        undecoded: Default::default(),
    });
    session(&mut plan);
    plan
}

/// Adds most kinds of entities that concern a session.
fn session(plan: &mut Plan) {
    let field = |name: &str, ty| Field { name: name.into(), ty, secret: false, doc: String::new() };
    let truth = || Expr(vec![Node::Bool(true)]);
    let variants = vec!["open".into(), "done".into()];
    plan.types.extend([
        TypeDef::String { max_chars: None, max_bytes: None, patterns: vec![] },
        TypeDef::Option { of: 6 },
        TypeDef::Path,
        TypeDef::Option { of: 8 },
        TypeDef::Record {
            name: "E".into(),
            fields: vec![field("sha256", 7), field("file", 9), field("call", 7)],
        },
        TypeDef::List { of: 10, max: Some(3) },
        TypeDef::Enum { name: "S".into(), variants },
        TypeDef::Option { of: 12 },
    ]);
    with_contract(plan);
    plan.commands.push(Command {
        argv: vec!["make".into()],
        env: vec!["A".into(), "B".into()],
        within: 5,
    });
    plan.probes[0].asks = ProbeAsks::Command(0);
    plan.probes[0].backoff = Some(Backoff { factor: 1_000_000, up_to: 9 });
    plan.origins = true;
    let learn = Learn {
        rule: rule("f"),
        fact: 0,
        ranges: vec![],
        when: Some(Expr(vec![
            Node::Text,
            Node::Origin(0),
            Node::Enum(0),
            Node::Compare(CompareOp::Eq, 1, 2),
        ])),
        row: vec![Expr(vec![Node::Text])],
    };
    plan.sources.push(Source { kind: SourceKind::Prompt, learns: vec![learn] });
    let transition = |name: &str, actor, criteria| Transition {
        name: name.into(),
        span: 0,
        actor,
        from: vec![0],
        to: 1,
        evidence: actor == Actor::Agent,
        criteria,
    };
    plan.lifecycles.push(Lifecycle {
        name: "l".into(),
        doc: String::new(),
        span: 0,
        fields: vec![field("text", 6)],
        states: vec!["open".into(), "done".into()],
        initial: 0,
        finals: vec![1],
        transitions: vec![
            transition("claim", Actor::Agent, None),
            transition("verify", Actor::Harness, None),
        ],
        criteria: vec![],
        escalate: Some(Escalate { role: "r".into(), after: 1 }),
    });
    let mut serves = |name: &str, params: Vec<Field>, op| {
        let mut one = plan.tools[0].clone();
        (one.name, one.wire_name, one.params) = (name.into(), name.into(), params);
        one.served = Some(Served { lifecycle: 0, op });
        (one.indexes, one.touches, one.returns) = (vec![], vec![], None);
        plan.tools.insert(plan.tools.len() - 1, one);
    };
    serves("l_claim", vec![field("id", 6), field("evidence", 11)], ServedOp::Move(0));
    serves("l_create", vec![field("text", 6)], ServedOp::Create);
    serves("l_list", vec![field("state", 13), field("after", 7)], ServedOp::List);
    plan.indexes[0].tool = 3;
    plan.feedback.push(Feedback {
        name: "b".into(),
        span: 0,
        triggers: vec![
            Trigger::Calls(1),
            Trigger::Every(1),
            Trigger::Created(0),
            Trigger::Denied(Some(vec![0, 3])),
            Trigger::Becomes { condition: truth(), reads: Some(vec![Touch::State(0)]) },
        ],
        blocks: vec![Block {
            severity: Severity::Info,
            when: Some(truth()),
            message: Message { parts: vec![] },
            notes: vec![],
        }],
    });
    let check = |kind| Check { kind, text: String::new(), span: 0 };
    let score = check(CheckKind::Score(Expr(vec![Node::Decimal(1)])));
    plan.attests.push(Attest {
        name: "a".into(),
        span: 0,
        dimensions: vec![Dimension { name: "d".into(), checks: Checks(vec![score]) }],
    });
    let checks = vec![
        check(CheckKind::File(0)),
        check(CheckKind::Command(0, 0)),
        check(CheckKind::Any(vec![0, 1])),
        check(CheckKind::Every(0, 1)),
        check(CheckKind::Attest(0)),
        check(CheckKind::All(vec![2, 3, 4])),
    ];
    plan.completion = Some(Completion { span: 0, at_most: 1, checks: Checks(checks) });
    let conditions = vec![("true".into(), truth())];
    plan.goals.push(Goal { name: "g".into(), doc: String::new(), span: 0, conditions });
}

pub fn sources() -> Sources {
    let span = SourceSpan { file: 0, line: 2, column: 3, end_line: 2, end_column: 9 };
    Sources { files: vec!["a.guard".into()], spans: vec![span], rewrites: vec![] }
}

pub fn loaded() -> LoadedPlan {
    LoadedPlan::from_plan(plan(), sources()).unwrap()
}

/// Adds a contract of items that contain items, after all other types.
fn with_contract(plan: &mut Plan) {
    let field = |name: &str, ty| Field { name: name.into(), ty, secret: false, doc: String::new() };
    let next = plan.types.len() as TypeId;
    let record = |name: &str, fields| TypeDef::Record { name: name.into(), fields };
    plan.types.extend([
        record("Part", vec![field("of", 2)]),
        TypeDef::List { of: next, max: None },
        record("Found", vec![field("rank", 1), field("parts", next + 1)]),
        TypeDef::List { of: next + 2, max: None },
        record("contract c", vec![field("found", next + 3)]),
    ]);
    let list = |within, field, name: &str, ty| ItemList {
        within,
        field,
        name: name.into(),
        shape: ItemShape::Type(ty),
        max: Some(7),
        by: None,
        partial: false,
    };
    plan.contracts.push(Contract {
        name: "c".into(),
        doc: String::new(),
        span: 0,
        root: Root::Envelope,
        record: next + 4,
        lists: vec![list(None, 0, "found", next + 2), list(Some(0), 1, "parts", next)],
        bounds: Bounds { depth: 8, string: 100, bytes: 1000, quarantine: 5 },
        references: vec![Reference {
            list: Some(0),
            path: vec!["rank".into()],
            allowed: Allowed::Given("x".into()),
            text: "found.rank in x".into(),
            span: 0,
        }],
    });
}

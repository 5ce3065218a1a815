//! Tests that loading is the inverse of encoding, and never panics.

use guard_plan::plan::*;
use guard_plan::{LoadError, LoadedPlan, encode, load};
use proptest::prelude::*;

fn rule(owner: &str) -> RuleMeta {
    RuleMeta { owner: owner.into(), doc: "why".into(), shadow: false, span: 0 }
}

/// A plan with most kinds of entities.
fn plan() -> Plan {
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

fn sources() -> Sources {
    let span = SourceSpan { file: 0, line: 2, column: 3, end_line: 2, end_column: 9 };
    Sources { files: vec!["a.guard".into()], spans: vec![span], rewrites: vec![] }
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
    bytes[10] = 255;
    assert_eq!(load(&bytes), Err(LoadError::Version(255)));
    let mut bytes = loaded.to_bytes();
    *bytes.last_mut().unwrap() ^= 1;
    assert_eq!(load(&bytes), Err(LoadError::Checksum));
    let json = loaded.to_json();
    let other = json.replace("\"keeps_args\": false", "\"keeps_args\": true");
    assert_eq!(load(other.as_bytes()), Err(LoadError::Hash));
    let ours = encode::FORMAT_VERSION;
    let next = encode::FORMAT_VERSION + 1;
    let future = json.replace(&format!("\"version\": {ours}"), &format!("\"version\": {next}"));
    assert_eq!(load(future.as_bytes()), Err(LoadError::Version(next)));
}

#[track_caller]
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

fn refused(change: impl FnOnce(&mut Plan), expected: &str) {
    let mut plan = plan();
    change(&mut plan);
    let error = LoadedPlan::from_plan(plan, sources()).unwrap_err().to_string();
    assert_eq!(error, format!("the plan is unsound: {expected}"));
}

#[test]
fn unsound_plans_are_refused() {
    let condition =
        |plan: &mut Plan, nodes: Vec<Node>| plan.tools[3].denies[0].condition = Expr(nodes);
    refused(|p| p.types[4] = TypeDef::Option { of: 5 }, "type 4: refers to type 5 of 4");
    refused(|p| p.types.push(TypeDef::Option { of: 4 }), "type 19: an option of an option");
    let keyed = |key| TypeDef::Map { key: Some(key), of: 0, max: None };
    refused(|p| p.types.push(keyed(19)), "type 19: refers to type 19 of 19");
    refused(|p| p.types.push(keyed(4)), "type 19: its keys are not keys of a map");
    refused(|p| p.units.clear(), "there is no unit `calls`");
    let limit = |scope| Limit {
        rule: rule("t"),
        count: 1,
        success: false,
        scope,
        keyed: false,
        ask: Some("boss".into()),
    };
    refused(
        |p| p.limits.push(limit(LimitScope::InFlight)),
        "a limit in flight asks for an approval",
    );
    refused(|p| p.tools[3].touches = vec![Touch::History(4)], "tool `t`: tool 4 of 4");
    refused(|p| p.tools[3].indexes.clear(), "tool `t`: its memories");
    refused(
        |p| p.tools[3].steps = u64::MAX,
        "tool `t`: 18446744073709551615 steps, at most 10000000",
    );
    refused(|p| p.tools.push(p.tools[3].clone()), "tools are not in order");
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
    refused(|p| condition(p, vec![Node::Rows(9)]), "tool `t`: node 0: fact 9 of 1");
    let key = |ty| vec![Node::Bool(true), Node::ToKey(0, ty)];
    refused(|p| condition(p, key(99)), "tool `t`: node 1: type 99 of 19");
    refused(|p| condition(p, key(4)), "tool `t`: node 1: a type that is not a key of a map");
    refused(|p| condition(p, vec![Node::Local(7)]), "tool `t`: node 0: slot 7 is not bound");
    refused(|p| condition(p, vec![Node::Param(1)]), "tool `t`: node 0: parameter 1 of 1");
    refused(
        |p| condition(p, vec![Node::LastResult(3)]),
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

#[test]
fn unsound_sessions_are_refused() {
    refused(|p| p.commands[0].argv.clear(), "command 0: it names no binary");
    refused(|p| p.commands[0].argv[0].clear(), "command 0: it names no binary");
    refused(|p| p.commands[0].env.reverse(), "command 0: its variables are not in order");
    refused(|p| p.commands[0].within = 0, "command 0: it has no time");
    refused(|p| p.probes[0].asks = ProbeAsks::Command(1), "probe `up`: command 1 of 1");
    refused(|p| p.probes[0].timeout = 0, "probe `up`: a duration that is not positive");
    refused(
        |p| p.probes[0].backoff = Some(Backoff { factor: 999_999, up_to: 1 }),
        "probe `up`: its back-off",
    );
    refused(
        |p| p.sources[0].kind = SourceKind::Start,
        "a source: node 0: a prompt where there is none",
    );
    refused(|p| p.origins = false, "a source: node 1: an origin that is not remembered");
    refused(
        |p| {
            p.origins = false;
            p.sources.clear();
            p.tools[3].denies[0].condition = Expr(vec![Node::Param(0), Node::Seen(0)]);
        },
        "tool `t`: node 1: an origin that is not remembered",
    );
    refused(
        |p| p.tools[0].trust.parts = vec![(vec![], true); 2],
        "tool `l_claim`: what it trusts are not in order",
    );
    refused(
        |p| {
            let one = Expr(vec![Node::Decimal(1)]);
            p.tools[3].prior = Some(Prior { alpha: Expr(vec![Node::Param(0)]), beta: one });
        },
        "tool `t`: node 0: parameter 0 of 0",
    );
    refused(|p| p.goals[0].conditions[0].1.0.clear(), "goal `g`: an empty expression");
}

#[test]
fn unsound_lifecycles_are_refused() {
    refused(|p| p.tools[0].states = true, "tool `l_claim`: it is a statement and a lifecycle's");
    let refused_of = |change: fn(&mut Lifecycle), why: &str| {
        refused(|p| change(&mut p.lifecycles[0]), &format!("lifecycle `l`: {why}"));
    };
    refused_of(|l| l.initial = 2, "state 2 of 2");
    refused_of(|l| l.finals = vec![1, 1], "its final states are not in order");
    refused_of(|l| l.transitions[0].from.clear(), "transition `claim`: it begins nowhere");
    refused_of(|l| l.transitions[0].to = 9, "transition `claim`: state 9 of 2");
    refused_of(|l| l.transitions[1].name = "claim".into(), "transition `claim` is there twice");
    refused_of(
        |l| l.transitions[1].criteria = Some(true),
        "transition `verify`: criteria of nobody",
    );
    refused_of(
        |l| l.transitions[1].evidence = true,
        "transition `verify`: evidence of the harness",
    );
    refused_of(|l| l.escalate.as_mut().unwrap().after = 0, "it escalates after no rejections");
    let other = "its parameters are not those of what it does";
    for (tool, name) in [(0, "l_claim"), (1, "l_create"), (2, "l_list")] {
        let why = format!("tool `{name}`: {other}");
        refused(|p| p.tools[tool].params.truncate(tool / 2), &why);
        refused(|p| p.tools[tool].params[0].ty = 0, &why);
    }
    refused(|p| p.tools[0].params[1].ty = 5, &format!("tool `l_claim`: {other}"));
    refused(
        |p| p.tools[0].served = Some(Served { lifecycle: 0, op: ServedOp::Move(1) }),
        "tool `l_claim`: it makes a transition of the harness",
    );
    refused(
        |p| p.tools[0].served = Some(Served { lifecycle: 0, op: ServedOp::Move(2) }),
        "tool `l_claim`: transition 2 of 2",
    );
    refused(
        |p| p.tools[0].served = Some(Served { lifecycle: 1, op: ServedOp::List }),
        "tool `l_claim`: lifecycle 1 of 1",
    );
}

#[test]
fn unsound_feedback_and_checks_are_refused() {
    let trigger = |of: Trigger, why: &str| {
        refused(|p| p.feedback[0].triggers = vec![of], &format!("feedback `b`: {why}"));
    };
    trigger(Trigger::Calls(0), "every 0 calls");
    trigger(Trigger::Every(0), "a duration that is not positive");
    trigger(Trigger::Created(1), "path 1 of 1");
    trigger(Trigger::Denied(Some(vec![3, 0])), "its tools are not in order");
    trigger(Trigger::Denied(Some(vec![4])), "tool 4 of 4");
    let condition = || Expr(vec![Node::Bool(true)]);
    let touch = vec![Touch::State(0); 2];
    trigger(
        Trigger::Becomes { condition: condition(), reads: Some(touch) },
        "what it reads are not in order",
    );
    trigger(
        Trigger::Becomes { condition: Expr(vec![Node::Result]), reads: None },
        "node 0: a result where there is none",
    );
    refused(|p| p.feedback[0].blocks.clear(), "feedback `b`: it has no blocks");
    refused(|p| p.feedback.push(p.feedback[0].clone()), "providers of feedback are not in order");
    let check = |kind: CheckKind, why: &str| {
        refused(
            |p| p.completion.as_mut().unwrap().checks.0[3].kind = kind,
            &format!("completion: {why}"),
        );
    };
    check(CheckKind::Every(0, 2), "check 3: state 2 of 2");
    check(CheckKind::All(vec![3]), "check 3: its children");
    check(CheckKind::Any(vec![2, 2]), "check 3: its children");
    check(CheckKind::Any(vec![]), "check 3: it holds none");
    check(CheckKind::Score(condition()), "check 3: a score outside of an attest");
    check(CheckKind::Attest(1), "check 3: attest 1 of 1");
    refused(
        |p| _ = p.completion.as_mut().unwrap().checks.0.pop(),
        "completion: checks that are not used",
    );
    refused(|p| p.completion.as_mut().unwrap().checks.0.clear(), "completion: it has no checks");
    let nested = |p: &mut Plan| {
        p.attests[0].dimensions[0].checks.0[0].kind = CheckKind::Attest(0);
    };
    refused(nested, "attest `a`: check 0: an attest in an attest");
}

/// Combines a mutated body with a valid header, so that more than the checksum is tested.
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
        // One number of the plan is changed, and the hash is recomputed.
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

#[test]
fn unsound_contracts_are_refused() {
    let refused_of = |change: fn(&mut Contract), why: &str| {
        refused(|p| change(&mut p.contracts[0]), &format!("contract `c`: {why}"));
    };
    refused(|p| p.contracts.push(p.contracts[0].clone()), "contracts are not in order");
    refused_of(|c| c.record = 999, "type 999 of 19");
    refused_of(|c| c.record = 0, "type 0 is not a record");
    refused_of(|c| c.bounds.depth = 0, "items may nest 0 deep");
    refused_of(|c| c.bounds.depth = 101, "items may nest 101 deep");
    refused_of(|c| c.lists[0].field = 9, "list `found`: field 9 of 1");
    refused_of(|c| c.lists[0].name = "lost".into(), "list `lost`: its field is `found`");
    refused_of(|c| c.lists[0].within = Some(0), "list `found`: list 0 of 0");
    refused_of(|c| c.lists[1].within = Some(1), "list `parts`: list 1 of 1");
    refused_of(|c| c.lists[1].within = None, "list `parts`: field 1 of 1");
    refused_of(|c| c.lists.push(c.lists[1].clone()), "list `parts`: it is there twice");
    refused_of(|c| c.lists[0].by = Some("age".into()), "list `found`: its items have no such rank");
    refused_of(
        |c| c.lists[0].shape = ItemShape::Type(0),
        "list `found`: its items are of another type",
    );
    let schema = || ItemShape::Schema { file: "f".into(), text: "{}".into() };
    let own = schema();
    refused(
        move |p| p.contracts[0].lists[0].shape = own.clone(),
        "contract `c`: list `found`: its items have a type and a schema",
    );
    refused_of(|c| c.lists = vec![c.lists[0].clone(); 1001], "more than 1000 lists");
    refused_of(|c| c.references = vec![c.references[0].clone(); 1001], "more than 1000 references");
    refused_of(|c| c.references[0].list = Some(2), "reference `found.rank in x`: list 2 of 2");
    refused_of(
        |c| c.references[0].path.clear(),
        "reference `found.rank in x`: it refers by nothing",
    );
    refused_of(
        |c| c.references[0].allowed = Allowed::Fact(9),
        "reference `found.rank in x`: fact 9 of 1",
    );
    refused_of(
        |c| c.references[0].allowed = Allowed::Values(Expr(vec![])),
        "reference `found.rank in x`: an empty expression",
    );
    refused_of(
        |c| c.references[0].allowed = Allowed::Values(Expr(vec![Node::Param(0)])),
        "reference `found.rank in x`: node 0: parameter 0 of 0",
    );
    refused(
        |p| {
            let check = &mut p.completion.as_mut().unwrap().checks.0[0];
            check.kind = CheckKind::Conforms(0, 1);
        },
        "completion: check 0: contract 1 of 1",
    );
}

//! Tests of decisions, each with one small plan.

use super::build::*;
use super::run::*;
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_plan::verdict::Decision;
use guard_runtime::*;

/// `deploy` of the language reference, and the tools before it.
fn deployment_run() -> Run {
    Run::new(deployment(0))
}

#[test]
fn requirements_are_named_in_order() {
    let mut run = deployment_run();
    run.check(
        r#"deploy {"env": "dev", "count": 1}"#,
        "deny; requires deploy: `deploy` requires `build` (call `lint`, then `build` first); \
         requires deploy: `deploy` requires `test` (call `lint`, then `build`, then `test` first)",
    );
    run.ok("lint");
    assert_eq!(run.propose("b", "build").decision, Decision::Allow);
    run.check("test", "wait; requires test: `test` requires `build` (wait for `build`)");
    run.fail("b");
    run.check("test", "deny; requires test: `test` requires `build` (call `build` first)");
    run.ok("build");
    run.ok("wire.test");
    run.check(r#"deploy {"env": "dev", "count": 1}"#, "allow");
}

#[test]
fn unknown_tools_and_wrong_arguments() {
    let mut run = deployment_run();
    run.check(
        "deplyo",
        "deny; unknown_tool deplyo: the guard declares no tool `deplyo` (did you mean `deploy`?)",
    );
    let verdict = run.propose("x", r#"deploy {"env": "qa", "count": 9, "force": true}"#);
    let messages: Vec<_> = verdict.reasons.iter().map(|reason| &*reason.message).collect();
    assert_eq!(
        messages,
        [
            "`count`: expected int in 1..=5, found 9",
            "`env`: expected one of dev, staging, prod, found \"qa\"",
            "`force`: is not a parameter; there are: env, count",
        ]
    );
    let mut plan = plan();
    plan.default_allow = true;
    plan.units[0].budget = Some(1_000_000);
    let mut run = Run::new(plan);
    run.check("anything", "allow");
    run.check("anything", "deny; budget calls: 0 of 1 calls left; this call costs 1");
}

#[test]
fn denies_explain_themselves() {
    let mut run = deployment_run();
    for tool in ["lint", "build", "test"] {
        run.ok(tool);
    }
    run.check(
        r#"deploy {"env": "staging", "count": 4}"#,
        "deny; denied deploy: staging holds at most three replicas (denied when it is so)",
    );
}

#[test]
fn limits() {
    let mut plan = plan();
    plan.limits = vec![
        limit("window", 2, LimitScope::Window(60_000)),
        limit("parallel", 1, LimitScope::InFlight),
        limit("same", 1, LimitScope::Identical),
        Limit { keyed: true, ..limit("each", 1, LimitScope::Session) },
    ];
    let mut a = tool("a", &[]);
    a.limits = vec![held(0), held(1)];
    let mut b = tool("b", &[("n", INT)]);
    b.limits = vec![held(2)];
    let mut c = tool("c", &[("n", INT)]);
    c.limits = vec![LimitUse { limit: 3, by: Some(expr([Node::Param(0)])), by_type: Some(INT) }];
    plan.tools = vec![a, b, c];
    let mut run = Run::new(plan);
    assert_eq!(run.propose("1", "a").decision, Decision::Allow);
    run.check(
        "a",
        "wait; limit parallel: 1 of 1 call in flight used (wait until a call has settled)",
    );
    run.fail("1");
    run.now = 15_000;
    run.ok("a");
    run.now = 20_000;
    run.check(
        "a",
        "deny; limit window: 2 of 2 calls in the last 1 minute used \
         (the next call can be made in 40 seconds)",
    );
    run.now = 60_000;
    run.check("a", "allow");
    run.ok(r#"b {"n": 1}"#);
    run.ok(r#"b {"n": 2}"#);
    run.check(
        r#"b {"n": 1}"#,
        "deny; limit same: 1 of 1 call with the same arguments used \
         (do not repeat the call; change something)",
    );
    run.ok(r#"c {"n": 1}"#);
    run.ok(r#"c {"n": 2}"#);
    run.check(r#"c {"n": 1}"#, "deny; limit each: 1 of 1 call in this session used for 1");
}

#[test]
fn budgets_are_charged_when_allowed() {
    let mut plan = plan();
    plan.units.push(unit("tokens", Some(100)));
    plan.units.push(unit("usd", Some(50)));
    plan.deadline = Some(60_000);
    let mut buy = tool("buy", &[]);
    buy.costs = vec![cost("buy", 2, 20)];
    plan.tools = vec![buy];
    let mut run = Run::new(plan);
    assert_eq!(run.propose("1", "buy").decision, Decision::Allow);
    run.fail("1");
    run.ok("buy");
    run.check("buy", "deny; budget usd: 10 of 50 usd left; this call costs 20");
    let usage = |unit, amount| UsageReport { unit, amount, now: 0 };
    assert!(run.kernel.usage(&mut run.session, &usage("usd", 1)).is_err());
    run.kernel.usage(&mut run.session, &usage("tokens", i64::MAX)).unwrap();
    run.kernel.usage(&mut run.session, &usage("tokens", i64::MAX)).unwrap();
    run.now = 60_000;
    run.check(
        "buy",
        "deny; budget tokens: nothing is left of 100 tokens; \
         budget usd: 10 of 50 usd left; this call costs 20; \
         deadline deadline: the deadline of 1 minute has passed",
    );
}

#[test]
fn effects_are_simulated_and_applied_on_success() {
    let mut plan = plan();
    plan.state = vec![variable("n", REPLICAS, Node::Int(0))];
    plan.invariants = vec![invariant("cap", at_most(0, 10), "n <= 10", &[0])];
    plan.invariants[0].shows =
        vec![Show { label: "n".into(), expr: expr([Node::State(0)]), ty: INT, secret: false }];
    let mut add = tool("add", &[("n", INT)]);
    add.effects = vec![effect("add", 0, EffectOp::Add, expr([Node::Param(0)]))];
    add.frame = vec![0];
    plan.tools = vec![add];
    let mut run = Run::new(plan);
    assert_eq!(run.propose("1", r#"add {"n": 6}"#).decision, Decision::Allow);
    assert_eq!(run.session.value(0), Some(&guard_plan::value::Value::Int(0)));
    run.settle("1", None);
    let verdict = run.propose("2", r#"add {"n": 6}"#);
    assert_eq!(shown(&verdict), "deny; invariant cap: `n <= 10` would be false");
    assert_eq!(verdict.reasons[0].values, [("n".to_string(), "6 → 12".to_string())]);
    run.check(
        r#"add {"n": 100}"#,
        "deny; invariant cap: `n <= 10` would be false; \
         invariant n: `n` would not fit its type: expected int in 0..=100, found 106",
    );
    run.check(
        r#"add {"n": 9223372036854775807}"#,
        "deny; evaluation_error add: a rule cannot be evaluated: addition overflows 64 bits",
    );
}

#[test]
fn approvals_are_for_one_call_and_used_once() {
    let mut plan = plan();
    let mut drop = tool("drop", &[("n", INT)]);
    drop.risk = Risk::Critical;
    drop.irreversible = true;
    let mut pay = tool("pay", &[("n", INT)]);
    let approval = Approval { within: Some(60_000), ..approval("pay", "boss") };
    pay.approvals = vec![approval];
    plan.tools = vec![drop, pay];
    let mut run = Run::new(plan);
    let gated = "deny; gated drop: `drop` is critical and irreversible, and this exact call is not approved (ask a person to approve exactly this call)";
    let asks = "ask; approval pay: `pay` needs the approval of boss \
                (ask boss to approve exactly this call)";
    run.check(r#"drop {"n": 1}"#, gated);
    run.approve(r#"drop {"n": 1}"#, "anybody");
    run.check(r#"drop {"n": 2}"#, gated);
    run.check(r#"drop {"n": 1}"#, "allow");
    run.check(r#"drop {"n": 1}"#, gated);
    run.approve(r#"pay {"n": 1}"#, "clerk");
    run.check(r#"pay {"n": 1}"#, asks);
    run.approve(r#"pay {"n": 1}"#, "boss");
    run.now = 60_001;
    run.check(r#"pay {"n": 1}"#, asks);
    run.now = 60_000;
    run.approve(r#"pay {"n": 1}"#, "boss");
    run.check(r#"pay {"n": 1}"#, "allow");
    run.check(r#"pay {"n": 1}"#, asks);
}

#[test]
fn keyed_requirements() {
    let mut plan = plan();
    plan.indexes = vec![SuccessIndex { tool: 0, params: vec![0] }];
    let mut read = tool("read", &[("path", PATH)]);
    read.indexes = vec![0];
    let mut write = tool("write", &[("path", PATH)]);
    let key = Some(Key { index: 0, values: vec![expr([Node::Param(0)])] });
    let alternative = Requirement { latest: false, tool: 0, key, since: None, within: Some(1_000) };
    let exists = expr([Node::Param(0), Node::Exists(0)]);
    write.requires =
        vec![Requires { rule: rule("write"), any_of: vec![alternative], when: Some(exists) }];
    plan.tools = vec![read, write];
    let mut run = Run::new(plan);
    run.check(
        r#"write {"path": "a"}"#,
        "deny; evaluation_error write: a rule cannot be evaluated: it is unknown whether \
         `/ws/a` exists",
    );
    run.world.exists = Some(true);
    let unread = "deny; requires write: `write` requires `read` with path /ws/a \
                  in the last 1 second (call `read` first)";
    run.check(r#"write {"path": "a"}"#, unread);
    run.ok(r#"read {"path": "b"}"#);
    run.check(r#"write {"path": "a"}"#, unread);
    assert_eq!(run.propose("r", r#"read {"path": "/ws/x/../a"}"#).decision, Decision::Allow);
    assert_eq!(run.propose("w", r#"write {"path": "a"}"#).decision, Decision::Wait);
    run.settle("r", None);
    run.check(r#"write {"path": "./a"}"#, "allow");
    run.now = 1_001;
    run.check(r#"write {"path": "a"}"#, unread);
    run.world.exists = Some(false);
    run.check(r#"write {"path": "a"}"#, "allow");
}

#[test]
fn conflicts_probes_and_halts() {
    let mut plan = plan();
    plan.probes = vec![probe("up", BOOL)];
    let mut a = tool("a", &[]);
    a.touches = vec![Touch::History(1)];
    let mut b = tool("b", &[]);
    let ok = expr([Node::Result, Node::Member(0, "ok".into()), Node::IsSome(1)]);
    b.reconciles = vec![reconcile("b", ok, "result.ok")];
    let mut c = tool("c", &[]);
    c.ready = vec![Ready { rule: rule("c"), probe: 0 }];
    plan.tools = vec![a, b, c];
    let mut run = Run::new(plan);
    assert_eq!(run.propose("1", "b").decision, Decision::Allow);
    run.check(
        "a",
        "wait; conflict a: `a` depends on state that an unsettled call of `b` may change (wait for `b`)",
    );
    assert!(!run.settle("1", Some(r#"{"ok": 1}"#)).halted);
    run.world.probe = Some(Json::Bool(false));
    run.check(
        "c",
        "deny; not_ready c: `c` is not ready: the probe `up` returned false (try again later)",
    );
    run.world.probe = Some(Json::Int(1));
    run.check(
        "c",
        "deny; evaluation_error c: a rule cannot be evaluated: the probe `up` answers something \
         else: expected bool, found 1",
    );
    run.world.probe = Some(Json::Bool(true));
    run.check("c", "allow");
    assert!(run.ok_with("b", Some("{}")).halted);
    let halted = "deny; halted b: the session is halted: `result.ok` does not hold after the call";
    run.check("a", halted);
    run.check("nothing", halted);
    let resume = HaltEnd { role: "boss", by: "ann", now: 0 };
    run.kernel.resume(&mut run.session, &resume).unwrap();
    run.check("a", "allow");
    assert_eq!(run.kernel.resume(&mut run.session, &resume), Err(StepError::NotHalted));
}

#[test]
fn observations_and_facts() {
    let mut plan = plan();
    plan.state = vec![variable("n", REPLICAS, Node::Int(0))];
    plan.invariants = vec![invariant("cap", at_most(0, 10), "n <= 10", &[0])];
    plan.facts = vec![Fact { name: "rows".into(), row: ROW, keys: 1, max: 2, halts: false }];
    let mut look = tool("look", &[]);
    look.trust.whole = true;
    look.observes = vec![Observe {
        rule: rule("look"),
        target: Target { var: 0, path: vec![] },
        value: expr([Node::Result, Node::Member(0, "n".into())]),
        ty: REPLICAS,
        warn: true,
    }];
    look.observe_frame = vec![0];
    look.learns = vec![Learn {
        rule: rule("look"),
        fact: 0,
        ranges: vec![Range {
            over: expr([Node::Result, Node::Member(0, "rows".into())]),
            binders: vec![0, 1],
        }],
        when: None,
        row: vec![expr([Node::Local(0)]), expr([Node::Local(1)])],
    }];
    let mut send = tool("send", &[("to", STRING)]);
    send.denies =
        vec![deny("send", expr([Node::Param(0), Node::Known(0, vec![0]), Node::Not(1)]), "no")];
    plan.tools = vec![look, send];
    let mut run = Run::new(plan);
    run.check(r#"send {"to": "a"}"#, "deny; denied send: no (denied when it is so)");
    let settled = run.ok_with("look", Some(r#"{"n": 5, "rows": {"a": 1, "b": "x", "c": 3}}"#));
    let messages: Vec<_> = settled.notes.iter().map(|note| &*note.message).collect();
    assert_eq!(messages, ["a row of `rows` was not learned: expected int, found \"x\""]);
    assert_eq!(settled.learned, 2);
    run.check(r#"send {"to": "a"}"#, "allow");
    run.check(r#"send {"to": "b"}"#, "deny; denied send: no (denied when it is so)");
    let settled = run.ok_with("look", Some(r#"{"n": 11, "rows": {"d": 1}}"#));
    let messages: Vec<_> = settled.notes.iter().map(|note| &*note.message).collect();
    assert_eq!(messages, ["`n <= 10` is false after the observation"]);
    assert!(!settled.halted);
    run.check(r#"send {"to": "a"}"#, "deny; denied send: no (denied when it is so)");
    let settled = run.ok_with("look", Some(r#"{"n": 101, "rows": {}}"#));
    assert!(settled.notes[0].message.contains("cannot be observed"), "{settled:?}");
    assert_eq!(run.session.value(0), Some(&guard_plan::value::Value::Int(11)));
}

#[test]
fn history_and_time_in_conditions() {
    let mut plan = plan();
    plan.state = vec![variable("on", BOOL, Node::Bool(false))];
    plan.windows = vec![Window { tool: 1, failures: true, size: WindowSize::Within(1_000) }];
    plan.monitors =
        vec![Monitor { op: TemporalOp::Once, of: expr([Node::State(0)]), trigger: None }];
    let mut off = tool("off", &[]);
    off.effects = vec![effect("off", 0, EffectOp::Set, expr([Node::Bool(false)]))];
    let mut on = tool("on", &[]);
    on.windows = vec![0];
    on.keeps_args = true;
    on.effects = vec![effect("on", 0, EffectOp::Set, expr([Node::Bool(true)]))];
    let mut ask = tool("was", &[]);
    let once = expr([Node::Temporal(0), Node::Not(0)]);
    let calls = |window| Node::Calls { tool: 1, failures: true, window };
    let often = expr([calls(Some(0)), Node::Int(2), Node::Compare(CompareOp::Ge, 0, 1)]);
    let failed = Node::Failed { tool: 1, since: Some(1), within: None };
    ask.denies =
        vec![deny("once", once, ""), deny("often", often, ""), deny("failed", expr([failed]), "")];
    plan.tools = vec![off, on, ask];
    let mut run = Run::new(plan);
    let rules = |run: &mut Run| {
        let verdict = run.kernel.check(
            &run.session,
            &Proposal {
                call: "x",
                tool: "was",
                args: (&Json::Object(vec![])).into(),
                now: run.now,
            },
            &mut NoWorld,
        );
        verdict.verdict.reasons.into_iter().map(|reason| reason.rule).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(rules(&mut run), "once");
    run.propose("1", "on");
    run.fail("1");
    assert_eq!(rules(&mut run), "failed once");
    run.now = 500;
    run.propose("1", "on");
    run.fail("1");
    assert_eq!(rules(&mut run), "failed often once");
    run.now = 1_501;
    run.ok("on");
    assert_eq!(rules(&mut run), "");
    run.ok("off");
    assert_eq!(rules(&mut run), "");
}

#[test]
fn shadows_speak_without_effect() {
    let mut plan = plan();
    plan.units.push(unit("usd", Some(1)));
    let mut a = tool("a", &[]);
    a.denies = vec![deny("a", expr([Node::Bool(true)]), "no")];
    a.denies[0].rule.shadow = true;
    a.costs = vec![cost("a", 1, 2)];
    a.costs[0].rule.shadow = true;
    plan.tools = vec![a];
    let mut run = Run::new(plan.clone());
    run.check("a", "allow; shadow denied a; shadow budget usd");
    assert_eq!(run.session.spent(1), Some(0));
    plan.shadow = true;
    plan.tools[0].denies[0].rule.shadow = false;
    let mut run = Run::new(plan);
    run.check("a", "allow; shadow denied a; shadow budget usd");
    run.check("b", "allow; shadow unknown_tool b");
}

#[test]
fn a_missing_value_is_reported_only_where_nothing_else_is() {
    let mut plan = plan();
    plan.state = vec![StateVar { name: "m".into(), ty: MAP, init: expr([Node::Map(vec![])]) }];
    let mut a = tool("a", &[("k", STRING)]);
    let entry = [Node::State(0), Node::Param(0), Node::Index(0, 1)];
    let missing =
        [&entry[..], &[Node::Unwrap(2), Node::Int(1), Node::Compare(CompareOp::Gt, 3, 4)]];
    a.denies = vec![deny("a", expr(missing.concat()), "too much")];
    let mut b = a.clone();
    b.name = "b".into();
    b.wire_name = "b".into();
    b.denies.push(deny("b", expr([Node::Bool(true)]), "never"));
    plan.tools = vec![a, b];
    let mut run = Run::new(plan);
    run.check(
        r#"a {"k": "x"}"#,
        "deny; evaluation_error a: a rule cannot be evaluated: an entry of `m` is missing",
    );
    run.check(r#"b {"k": "x"}"#, "deny; denied b: never (denied when it is so)");
}

#[test]
fn errors_of_the_host() {
    let mut run = deployment_run();
    assert_eq!(run.propose("1", "lint").decision, Decision::Allow);
    let args = Json::Object(vec![]);
    let again = Proposal { call: "1", tool: "lint", args: (&args).into(), now: 0 };
    let error = run.kernel.propose(&mut run.session, &again, &mut NoWorld).unwrap_err();
    assert_eq!(error, StepError::CallInFlight("1".into()));
    assert_eq!(run.session.in_flight(), ["1"]);
    let settlement = Settlement { call: "2", ending: Ending::Failure, now: 0 };
    let error = run.kernel.settle(&mut run.session, &settlement, &mut NoWorld).unwrap_err();
    assert_eq!(error, StepError::NoSuchCall("2".into()));
}

#[test]
fn a_session_as_json() {
    let mut plan = plan();
    let secret = expr([Node::String("hush".into()), Node::Record(vec![0])]);
    plan.state = vec![StateVar { name: "auth".into(), ty: SECRETIVE, init: secret }];
    plan.tools = vec![tool("a", &[])];
    let mut run = Run::new(plan);
    run.ok("a");
    run.propose("c1", "a");
    let json = run.session.state_json(&run.kernel).to_string();
    assert!(json.contains(r#""state":{"auth":{"token":"(secret)"}}"#), "{json}");
    assert!(json.contains(r#""in_flight":[{"call":"c1","tool":"a"}]"#), "{json}");
    assert!(!json.contains("hush"), "{json}");
}

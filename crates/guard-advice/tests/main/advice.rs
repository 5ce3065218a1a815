//! Tests of the advice for small plans, with one claim each.

use super::build::*;
use super::run::*;
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_runtime::*;

/// The example of ConstrAI: build, test, deploy.
fn constrai() -> Plan {
    let mut plan = plan();
    plan.units.push(unit("usd", Some(50)));
    for (var, name) in ["built", "deployed", "tested"].into_iter().enumerate() {
        plan.state.push(variable(name, BOOL, Node::Bool(false)));
        let name = ["build", "deploy", "test"][var];
        let mut one = tool(name, &[]);
        one.effects.push(set_true(name, var as u32));
        plan.tools.push(one);
    }
    let [build, deploy, test] = &mut plan.tools[..] else { unreachable!() };
    build.costs.push(cost("build", 1, 12));
    test.title = Some("Run Tests".into());
    test.prior = Some(beta(2_000_000, 1_000_000));
    test.costs.push(cost("test", 1, 2));
    test.requires.push(requires("test", &[0]));
    deploy.title = Some("Deploy".into());
    deploy.costs.push(cost("deploy", 1, 5));
    deploy.requires.push(requires("deploy", &[2]));
    deploy.risk = Risk::High;
    let conditions = vec![
        ("built".into(), expr([Node::State(0)])),
        ("tested".into(), expr([Node::State(2)])),
        ("deployed".into(), expr([Node::State(1)])),
    ];
    plan.goals.push(Goal { doc: "Deploy a web application.".into(), ..goal("ship", conditions) });
    plan
}

#[test]
fn the_text_of_the_seed() {
    let mut run = Run::new(constrai());
    run.ok("build");
    run.now = 5_000;
    let expected = r#"GOAL: Deploy a web application. (33.3333%)
  [x] built
  [ ] tested
  [ ] deployed
STATE: {"built": true, "deployed": false, "tested": false}
PROGRESS: 33.3333%
BUDGET: 38 usd remaining of 50 (24% used)
RECENT:
  build succeeded 5 seconds ago (succeeded 1, failed 0)

AVAILABLE ACTIONS (ranked by computed value):

### [READY] Run Tests (id=test)
  Cost: 2 usd | Risk: low
  Value: 0.236403 (progress=0.333333, info=0.5, cost_ratio=0.052632, risk=0, opportunity=0)
  Beliefs: Beta(2,1) → 66.6667% success

### [BLOCKED] Deploy (id=deploy) — needs: test
  Cost: 5 usd | Risk: high
  Value: 0.015842 (progress=0.1, info=0.36, cost_ratio=0.131579, risk=0.5, opportunity=0)
  Beliefs: Beta(0.6,2.4) → 20% success

### [READY] build (id=build)
  Cost: 12 usd | Risk: low
  Value: -0.031579 (progress=0, info=0, cost_ratio=0.315789, risk=0, opportunity=0)
  Beliefs: Beta(2.52,1.48) → 63% success

Choose an action. Return one JSON object and nothing else:
{"action": "...", "args": {...}, "reasoning": "..."}
or, to end the session:
{"stop": true, "reasoning": "..."}
"#;
    assert_eq!(run.advise().text(), expected);
}

#[test]
fn chains_are_told_whole() {
    let mut run = Run::new(constrai());
    run.check(&["[BLOCKED] test — build", "[READY] build", "[BLOCKED] deploy — build, then test"]);
}

/// A step that only leads to the goal gets a share: half of the progress that it unblocks, or a
/// third if two steps are missing.
#[test]
fn unblocking_is_progress() {
    let mut plan = constrai();
    plan.goals[0].conditions = vec![("deployed".into(), expr([Node::State(1)]))];
    let mut run = Run::new(plan);
    let progress = |run: &mut Run, tool| run.action(tool).terms.progress.to_string();
    // deploy: 0.2 · 1; test: 2/3 · (0.2 · 1 / 2); build: 1.52/3 · (2/3 · 0.1 / 2).
    assert_eq!(progress(&mut run, "deploy"), "0.2");
    assert_eq!(progress(&mut run, "test"), "0.066667");
    assert_eq!(progress(&mut run, "build"), "0.016889");
    run.ok("build");
    assert_eq!(progress(&mut run, "build"), "0");
    run.ok("test");
    assert_eq!(progress(&mut run, "test"), "0");

    let mut plan = constrai();
    plan.goals[0].conditions = vec![("deployed".into(), expr([Node::State(1)]))];
    plan.tools[2].requires.clear();
    plan.tools[1].requires.push(requires("deploy", &[0]));
    let mut run = Run::new(plan);
    assert_eq!(progress(&mut run, "test"), "0.044445");
}

/// A `deny` that the state may lift leaves an action possible; a `deny` that only reads the
/// arguments does not.
#[test]
fn hope_leads_on() {
    let progress = |denied: Expr| {
        let mut plan = constrai();
        plan.goals[0].conditions = vec![("deployed".into(), expr([Node::State(1)]))];
        plan.tools[1].denies.push(deny("deploy", denied, "no"));
        Run::new(plan).action("test").terms.progress.to_string()
    };
    assert_eq!(progress(expr([Node::State(2), Node::Not(0)])), "0.066667");
    assert_eq!(progress(expr([Node::Bool(true)])), "0");
}

#[test]
fn a_history_is_progress_too() {
    let calls = compare(
        Node::Calls { tool: 0, failures: false, window: None },
        CompareOp::Ge,
        Node::Int(2),
    );
    let called = expr([Node::Called { tool: 1, key: None, since: None, within: None }]);
    let mut plan = plan();
    plan.tools = vec![tool("a", &[]), tool("b", &[])];
    plan.goals =
        vec![goal("g", vec![("calls(a) >= 2".into(), calls), ("called(b)".into(), called)])];
    let mut run = Run::new(plan);
    let mut progress = |tool| run.action(tool).terms.progress.to_string();
    assert_eq!((progress("a"), progress("b")), ("0".into(), "0.333333".into()));
    run.ok("a");
    let mut progress = |tool| run.action(tool).terms.progress.to_string();
    assert_eq!((progress("a"), progress("b")), ("0.375".into(), "0.333333".into()));
    run.ok("a");
    run.ok("b");
    assert!(run.advise().reached());
}

/// A keyed requirement is met only by the call with that key, and only that call has a value.
#[test]
fn keys_choose_arguments() {
    let mut plan = plan();
    plan.state.push(variable("live", BOOL, Node::Bool(false)));
    plan.indexes.push(SuccessIndex { tool: 0, params: vec![0] });
    let mut check = tool("check", &[("env", ENV)]);
    check.indexes.push(0);
    let mut deploy = tool("deploy", &[("env", ENV)]);
    let prod = expr([
        Node::Param(0),
        Node::Enum(2),
        Node::Compare(CompareOp::Eq, 0, 1),
        Node::Bool(true),
        Node::And(2, 3),
    ]);
    deploy.effects.push(effect("deploy", 0, EffectOp::Set, prod));
    let key = Key { index: 0, values: vec![expr([Node::Param(0)])] };
    let requirement =
        Requirement { latest: false, tool: 0, key: Some(key), since: None, within: None };
    deploy.requires.push(Requires { rule: rule("deploy"), any_of: vec![requirement], when: None });
    plan.tools = vec![check, deploy];
    plan.goals.push(goal("g", vec![is_true(0)]));
    let mut run = Run::new(plan);
    run.check(&[
        r#"[BLOCKED] deploy {"env":"prod"} — check(env: prod)"#,
        r#"[READY] check {"env":"prod"}"#,
    ]);
    run.ok(r#"check {"env": "dev"}"#);
    assert_eq!(run.action("check").args, Some(Json::parse(r#"{"env":"prod"}"#).unwrap()));
    run.ok(r#"check {"env": "prod"}"#);
    assert_eq!(shown(&run.action("deploy")), r#"[READY] deploy {"env":"prod"}"#);
}

/// Arguments with too many combinations are left to the reasoner: only rules that hold for all of
/// them count.
#[test]
fn open_arguments() {
    let mut plan = plan();
    plan.units.push(unit("usd", Some(10)));
    plan.state.push(variable("n", INT, Node::Int(0)));
    plan.state.push(variable("ready", BOOL, Node::Bool(false)));
    let mut write = tool("write", &[("text", STRING), ("n", INT)]);
    let empty = compare(Node::Param(0), CompareOp::Eq, Node::String(String::new()));
    write.denies.push(deny("write", empty, "it is empty"));
    let unready = expr([Node::State(1), Node::Not(0)]);
    write.denies.push(deny("write", unready, "it is not ready"));
    write.costs.push(cost("write", 1, 3));
    let amount = expr([Node::Call(guard_plan::builtin::Builtin::Decimal, vec![0])]);
    let amount = Expr([vec![Node::Param(1)], amount.0].concat());
    write.costs.push(Cost { rule: rule("write"), unit: 1, amount, returned: false });
    write.effects.push(effect("write", 0, EffectOp::Set, expr([Node::Param(1)])));
    plan.tools = vec![tool("prepare", &[]), write];
    plan.tools[0].effects.push(set_true("prepare", 1));
    plan.goals.push(goal(
        "g",
        vec![("n is 7".into(), compare(Node::State(0), CompareOp::Eq, Node::Int(7)))],
    ));
    let mut run = Run::new(plan);
    assert_eq!(
        shown(&run.action("write")),
        "[BLOCKED] write ? — it is not ready (denied when it is so)"
    );
    run.ok("prepare");
    let write = run.action("write");
    assert_eq!(shown(&write), "[READY] write ?");
    assert_eq!(write.params[1].ty, "int");
    let usd = write.cost.iter().find(|price| price.unit == "usd").unwrap();
    assert_eq!((usd.amount.to_string(), usd.at_least), ("3".into(), true));
    // α = 2 − 2·(0.3 + 0.25): the prior counts a cost that depends on arguments as a quarter of the budget.
    assert_eq!(write.belief.alpha.to_string(), "0.9");
    // It is unknown whether the call makes the condition true, so it counts half.
    assert_eq!(write.terms.progress.to_string(), "0.15");
    assert!(run.advise().text().contains("Arguments are yours to choose: text: string, n: int"));
}

#[test]
fn approvals_probes_conflicts_and_halts() {
    let mut plan = plan();
    plan.probes.push(probe("db", BOOL));
    let mut asks = tool("asks", &[]);
    asks.approvals.push(approval("asks", "human"));
    let mut gated = tool("gated", &[("why", STRING)]);
    (gated.risk, gated.irreversible) = (Risk::Critical, true);
    let mut migrate = tool("migrate", &[]);
    migrate.ready.push(Ready { rule: rule("migrate"), probe: 0 });
    let mut parallel = tool("parallel", &[]);
    parallel.touches.push(Touch::History(4));
    let mut strict = tool("strict", &[]);
    let condition = expr([Node::Bool(false)]);
    strict.reconciles.push(reconcile("strict", condition, "false"));
    plan.tools = vec![asks, gated, migrate, parallel, strict];
    let mut run = Run::new(plan);
    run.world = Answers(Some(Json::Bool(false)));
    run.propose("strict");
    run.check(&[
        "[ASK] asks — approval of human",
        "[BLOCKED] migrate — `migrate` is not ready: the probe `db` returned false (try again later)",
        "[WAIT] parallel — wait for `strict`",
        "[READY] strict",
        "[BLOCKED] gated ? — `gated` is critical and irreversible, and this exact call is not approved (ask a person to approve exactly this call)",
    ]);
    let args = Json::parse(r#"{"why": "so"}"#).unwrap();
    let approve = CallApproval {
        tool: "gated",
        args: &args,
        role: "human",
        by: "ann",
        expires: None,
        now: 0,
    };
    run.kernel.approve(&mut run.session, &approve).unwrap();
    assert_eq!(shown(&run.action("gated")), "[READY] gated ?");
    run.settle("strict", Ending::Success(None));
    let advice = run.advise();
    assert!(advice.halted.is_some());
    assert!(advice.actions.iter().all(|action| action.status.as_str() == "BLOCKED"));
    assert!(advice.text().starts_with("HALTED: "));
}

#[test]
fn boundaries_are_risks() {
    let mut plan = plan();
    plan.state.push(variable("replicas", REPLICAS, Node::Int(0)));
    plan.invariants.push(invariant("cap", at_most(0, 10), "replicas <= 10", &[0]));
    let mut grow = tool("grow", &[("count", COUNT)]);
    grow.effects.push(effect("grow", 0, EffectOp::Add, expr([Node::Param(0)])));
    grow.frame.push(0);
    let mut shrink = tool("shrink", &[]);
    shrink.effects.push(effect("shrink", 0, EffectOp::Subtract, expr([Node::Int(1)])));
    shrink.frame.push(0);
    plan.tools = vec![grow, shrink];
    let mut run = Run::new(plan);
    // The least dangerous of all counts is shown: 1 of 10.
    let grow = run.action("grow");
    assert_eq!(
        (shown(&grow).as_str(), grow.terms.risk.to_string().as_str()),
        (r#"[READY] grow {"count":1}"#, "0.1")
    );
    run.ok(r#"grow {"count": 5}"#);
    run.ok(r#"grow {"count": 4}"#);
    assert_eq!(run.action("grow").terms.risk.to_string(), "1");
    // Away from the cap, and a hundredth of the way to the least value there is: 92 of 100.
    assert_eq!(run.action("shrink").terms.risk.to_string(), "0.92");
}

#[test]
fn what_is_given_up() {
    let mut plan = plan();
    plan.units.push(unit("usd", Some(10)));
    plan.state.push(variable("done", BOOL, Node::Bool(false)));
    let mut dear = tool("dear", &[]);
    dear.costs.push(cost("dear", 1, 7));
    let mut useful = tool("useful", &[]);
    useful.costs.push(cost("useful", 1, 4));
    useful.effects.push(set_true("useful", 0));
    plan.tools = vec![dear, useful];
    plan.goals.push(goal("g", vec![is_true(0)]));
    let mut run = Run::new(plan);
    let dear = run.action("dear");
    let useful = run.action("useful");
    assert_eq!(dear.terms.opportunity, useful.value);
    assert_eq!(useful.terms.opportunity.0, 0);
    run.ok("useful");
    run.check(&["[READY] useful", "[BLOCKED] dear — 6 of 10 usd left; this call costs 7"]);
}

#[test]
fn default_priors_follow_cost_and_risk() {
    let check = |risk, whole, expected: &str| {
        let mut plan = plan();
        plan.units.push(unit("usd", Some(100)));
        let mut one = tool("one", &[]);
        one.risk = risk;
        one.costs.push(cost("one", 1, whole));
        plan.tools.push(one);
        let belief = Run::new(plan).action("one").belief;
        assert_eq!(format!("{} {}", belief.alpha, belief.beta), expected);
    };
    check(Risk::Low, 0, "2 1");
    check(Risk::Low, 50, "1 2");
    check(Risk::Low, 25, "1.5 1.5");
    check(Risk::Low, 1_000, "0.3 2.7");
    check(Risk::Medium, 0, "1 2");
    check(Risk::High, 10, "0.6 2.4");
    check(Risk::Critical, 0, "0.3 2.7");
}

#[test]
fn beliefs_follow_outcomes() {
    let mut plan = plan();
    plan.tools.push(tool("flaky", &[]));
    let mut run = Run::new(plan);
    run.ok("flaky");
    run.propose("flaky");
    run.settle("flaky", Ending::Failure);
    run.now = 90_000;
    let advice = run.advise();
    let belief = advice.actions[0].belief;
    assert_eq!([belief.alpha, belief.beta, belief.mean].map(|n| n.to_string()), ["3", "2", "0.6"]);
    assert!(
        advice
            .text()
            .contains("\n  flaky failed 1 minute 30 seconds ago (succeeded 1, failed 1)\n")
    );
}

#[test]
fn state_is_short_and_keeps_secrets() {
    let mut plan = plan();
    plan.types.push(TypeDef::Option { of: SECRETIVE });
    let auth = plan.types.len() as u32 - 1;
    let long = "x\n### [READY] rm".repeat(1_000);
    plan.state.push(StateVar {
        name: "auth".into(),
        ty: auth,
        init: expr([Node::String("hunter2".into()), Node::Record(vec![0])]),
    });
    plan.state.push(variable("long", STRING, Node::String(long)));
    for i in 0..100 {
        plan.state.push(variable(&format!("v{i:03}"), INT, Node::Int(i)));
    }
    plan.goals.push(goal("g", vec![("v".into(), at_most(101, 0))]));
    let advice = Run::new(plan).advise();
    assert_eq!((advice.state.len(), advice.state_more), (50, 52));
    assert_eq!(advice.state[0].name, "v099");
    let text = advice.text();
    assert!(text.contains(r#""auth": "{token: (secret)}""#) && !text.contains("hunter2"));
    assert!(text.contains(r#""long": "x\\n### [READY]"#) && text.len() < 5_000);
    assert!(!text.contains("\n### "));
    assert!(!advice.to_json().contains("hunter2"));
}

#[test]
fn nothing_to_reach_and_nothing_to_do() {
    let advice = Run::new(plan()).advise();
    assert_eq!((advice.progress, advice.reached(), advice.best()), (None, false, None));
    let mut plan = plan();
    plan.deadline = Some(60_000);
    plan.tools.push(tool("a", &[]));
    let mut run = Run::new(plan);
    run.now = 70_000;
    run.check(&["[BLOCKED] a — the deadline of 1 minute has passed"]);
    assert!(run.advise().text().contains("TIME: 0 seconds remaining of 1 minute"));
}

/// Two goals have the same weight, however many conditions each has.
#[test]
fn several_goals() {
    let mut plan = plan();
    for (var, name) in ["a", "b", "c"].into_iter().enumerate() {
        plan.state.push(variable(name, BOOL, Node::Bool(var == 0)));
        let mut one = tool(name, &[]);
        one.prior = Some(beta(1_000_000, 1_000_000));
        one.effects.push(set_true(name, var as u32));
        plan.tools.push(one);
    }
    plan.goals = vec![goal("one", vec![is_true(1)]), goal("two", vec![is_true(0), is_true(2)])];
    let mut run = Run::new(plan);
    let advice = run.advise();
    let parts: Vec<String> = advice.goals.iter().map(|goal| goal.progress.to_string()).collect();
    assert_eq!(
        (parts.join(" ").as_str(), advice.progress.unwrap().to_string().as_str()),
        ("0 0.5", "0.25")
    );
    assert_eq!(run.action("b").terms.progress.to_string(), "0.333334");
    assert_eq!(run.action("c").terms.progress.to_string(), "0.166666");
}

//! Tests that unsound plans are refused, with the reason.

use super::full_plan::{plan, rule, sources};
use guard_plan::LoadedPlan;
use guard_plan::plan::*;

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

//! Tests of external expressions beside a plan: their values, and the faults of invalid ones.

use super::build::*;
use guard_plan::builtin::Builtin;
use guard_plan::plan::*;
use guard_plan::value::{Fault, Value};
use guard_runtime::*;

fn counting() -> Kernel {
    let mut plan = plan();
    plan.state.push(variable("n", COUNT, Node::Int(3)));
    plan.tools.push(tool("note", &[("p", INT)]));
    kernel(plan)
}

#[track_caller]
fn check(nodes: impl Into<Vec<Node>>, expected: Result<Value, &str>) {
    let kernel = counting();
    let session = kernel.open("s", 1_000, "/ws").unwrap();
    let value = kernel.evaluate(&session, &expr(nodes), 4_000, &mut NoWorld);
    let expected = expected.map_err(|why| Fault::Decode(why.into()).to_string());
    assert_eq!(value.map_err(|fault| fault.to_string()), expected);
}

#[test]
fn values() {
    check([Node::State(0)], Ok(Value::Int(3)));
    check([Node::Elapsed], Ok(Value::Duration(3_000)));
    check(
        [Node::State(0), Node::Int(4), Node::Compare(CompareOp::Lt, 0, 1)],
        Ok(Value::Bool(true)),
    );
    check([Node::State(0), Node::Int(0), Node::Arith(ArithOp::Div, 0, 1)], Err("division by zero"));
    check([Node::Path(0)], Err("not an expression of this plan: node 0: path 0 of 0"));
    let call = Node::Call(Builtin::Concat, vec![0, 1]);
    let texts = |second: Node| [Node::String("a".into()), second, call.clone()];
    check(texts(Node::String("b".into())), Ok(Value::String("ab".into())));
    check(texts(Node::None), Err("a builtin got a value of another kind"));
}

#[test]
fn first_elements() {
    let first = |over: Vec<NodeId>, binders: Vec<u32>, least: i64| {
        let mut nodes: Vec<Node> = [0, 4, 5].map(Node::Int).to_vec();
        nodes.push(Node::List(vec![0, 1, 2]));
        let last = *binders.last().expect("a name");
        nodes.extend([Node::Local(last), Node::Int(least), Node::Compare(CompareOp::Gt, 4, 5)]);
        nodes.push(Node::Quantified { op: QuantifierOp::First, over, binders, body: 6 });
        nodes
    };
    check(first(vec![3], vec![0], 1), Ok(Value::Int(4)));
    check(first(vec![3], vec![0, 1], 4), Ok(Value::Int(5)));
    check(first(vec![3], vec![0], 5), Ok(Value::None));
    check(
        first(vec![3], vec![0, 1, 2], 5),
        Err("not an expression of this plan: node 7: the names a quantifier binds"),
    );
    let in_step = [
        Node::List(vec![]),
        Node::List(vec![]),
        Node::Bool(true),
        Node::Quantified {
            op: QuantifierOp::First,
            over: vec![0, 1],
            binders: vec![0, 1],
            body: 2,
        },
    ];
    check(in_step, Err("not an expression of this plan: node 3: the names a quantifier binds"));
}

#[test]
fn nothing_changes_and_a_halt_does_not_matter() {
    let mut plan = plan();
    plan.state.push(variable("n", COUNT, Node::Int(3)));
    let mut watched = tool("watched", &[]);
    let condition = expr([Node::Bool(false)]);
    watched.reconciles.push(reconcile("watched", condition, "false"));
    plan.tools.push(watched);
    let kernel = kernel(plan);
    let mut session = kernel.open("s", 0, "/ws").unwrap();
    let args = guard_plan::json::Json::Object(vec![]);
    let proposal = Proposal { call: "c", tool: "watched", args: (&args).into(), now: 5 };
    kernel.propose(&mut session, &proposal, &mut NoWorld).unwrap();
    let settlement = Settlement { call: "c", ending: Ending::Success(None), now: 5 };
    kernel.settle(&mut session, &settlement, &mut NoWorld).unwrap();
    assert!(session.halted().is_some());
    let called = expr([Node::Calls { tool: 0, failures: false, window: None }]);
    let value = kernel.evaluate(&session, &called, 9, &mut NoWorld);
    assert_eq!(value, Ok(Value::Int(1)));
    assert_eq!(session.now(), 5);
}

/// An expression that refers to a missing entity of the plan is refused before it is evaluated. A
/// type mismatch is a separate fault.
#[test]
fn foreign_expressions_are_faults() {
    let no_key = Node::Called { tool: 0, key: Some((0, vec![])), since: None, within: None };
    let foreign: [&[Node]; 18] = [
        &[],
        &[Node::Not(0)],
        &[Node::Not(1), Node::Bool(true)],
        &[Node::Bool(true), Node::Bool(true)],
        &[Node::State(1)],
        &[Node::Param(0)],
        &[Node::Local(0)],
        &[Node::Result],
        &[Node::Text],
        &[Node::Spent(1)],
        &[Node::Remaining(0)],
        &[Node::Int(1), Node::Row(0, vec![0])],
        &[Node::String("a".into()), Node::Matches(0, 0)],
        &[Node::Calls { tool: 1, failures: false, window: None }],
        &[Node::LastArg(0, 0)],
        &[Node::Temporal(0)],
        &[Node::Probe(0)],
        &[no_key],
    ];
    let kernel = counting();
    let session = kernel.open("s", 0, "/").unwrap();
    for nodes in foreign {
        let fault = kernel.evaluate(&session, &expr(nodes), 0, &mut NoWorld).unwrap_err();
        let shown = fault.to_string();
        assert!(shown.starts_with("not an expression of this plan: "), "{nodes:?}: {shown}");
    }
    let confused: [&[Node]; 5] = [
        &[Node::Int(1), Node::Not(0)],
        &[Node::State(0), Node::Field(0, 7)],
        &[Node::Bool(true), Node::Int(1), Node::Arith(ArithOp::Add, 0, 1)],
        &[Node::Int(1), Node::Exists(0)],
        &[Node::Enum(9), Node::Int(1), Node::Compare(CompareOp::Lt, 0, 1)],
    ];
    for nodes in confused {
        assert!(kernel.evaluate(&session, &expr(nodes), 0, &mut NoWorld).is_err(), "{nodes:?}");
    }
}

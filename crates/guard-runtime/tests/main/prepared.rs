//! Tests that the kernel's prepared forms decide as the plan does: screens of patterns, bits of
//! requirements, parts of variables.

use super::build::*;
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_plan::value::Value;
use guard_runtime::*;

fn propose(
    kernel: &Kernel,
    session: &mut SessionState,
    tool: &str,
    args: &str,
    call: &str,
) -> Proposed {
    let args = Json::parse(args).unwrap();
    kernel
        .propose(session, &Proposal { call, tool, args: (&args).into(), now: 0 }, &mut NoWorld)
        .unwrap()
}

fn succeed(kernel: &Kernel, session: &mut SessionState, call: &str) {
    let settlement = Settlement { call, ending: Ending::Success(None), now: 0 };
    kernel.settle(session, &settlement, &mut NoWorld).unwrap();
}

/// Three denies match one text behind one screen; a fourth does not.
#[test]
fn a_screen_hides_no_deny() {
    let mut plan = plan();
    plan.regexes = ["^rm ", "tmp", "^dd "].map(String::from).to_vec();
    let mut run = tool("run", &[("command", STRING), ("count", COUNT)]);
    for (regex, because) in [(0, "removes"), (1, "temporary"), (2, "copies")] {
        let condition = expr([Node::Param(0), Node::Matches(0, regex)]);
        run.denies.push(deny("run", condition, because));
    }
    let above = [Node::Param(1), Node::Int(3), Node::Compare(CompareOp::Gt, 0, 1)];
    run.denies.push(deny("run", expr(above), "too many"));
    plan.tools.push(run);
    let kernel = kernel(plan);
    let mut session = kernel.open("s", 0, "/ws").unwrap();
    let mut check = |command: &str, count: u32, expected: &[&str]| {
        let args = format!(r#"{{"command": "{command}", "count": {count}}}"#);
        let verdict = propose(&kernel, &mut session, "run", &args, "c").verdict;
        let said: Vec<&str> = verdict.reasons.iter().map(|reason| &*reason.message).collect();
        assert_eq!(said, expected, "{command} {count}");
        if expected.is_empty() {
            succeed(&kernel, &mut session, "c");
        }
    };
    check("ls", 1, &[]);
    check("ls", 4, &["too many"]);
    check("rm /tmp/a", 1, &["removes", "temporary"]);
    check("dd", 4, &["too many"]);
    check("dd if=/tmp/x", 5, &["copies", "temporary", "too many"]);
}

/// A tool that requires many others, more than fit one word.
#[test]
fn requirements_are_met_when_all_tools_have_succeeded() {
    let mut plan = plan();
    let names: Vec<String> = (0..130).map(|n| format!("t{n:03}")).collect();
    plan.tools = names.iter().map(|name| tool(name, &[])).collect();
    let mut last = tool("z", &[]);
    let needed = [0, 63, 64, 129];
    last.requires = needed.iter().map(|id| requires("z", &[*id])).collect();
    plan.tools.push(last);
    let kernel = kernel(plan);
    let mut session = kernel.open("s", 0, "/ws").unwrap();
    for (done, id) in needed.iter().enumerate() {
        let verdict = propose(&kernel, &mut session, "z", "{}", "c").verdict;
        let missing: Vec<&str> =
            verdict.reasons.iter().flat_map(|one| &one.needs).map(|s| &**s).collect();
        let left: Vec<&str> = needed[done..].iter().map(|id| &*names[*id as usize]).collect();
        assert_eq!(missing, left);
        propose(&kernel, &mut session, &names[*id as usize], "{}", "c");
        succeed(&kernel, &mut session, "c");
    }
    assert!(propose(&kernel, &mut session, "z", "{}", "c").verdict.reasons.is_empty());
}

/// Returns a kernel whose map of rows is written in one part; the map has at most three entries.
fn rows(op: EffectOp, path: Vec<Step>, value: Option<Expr>) -> Kernel {
    let mut plan = plan();
    plan.types.push(TypeDef::Map { key: None, of: ROW, max: Some(3) });
    let map = (plan.types.len() - 1) as TypeId;
    plan.state.push(variable("rows", map, Node::Map(vec![])));
    let mut put = tool("put", &[("id", STRING)]);
    let row = expr([Node::Param(0), Node::Int(1), Node::Record(vec![0, 1])]);
    let mut one = effect("put", 0, EffectOp::Set, row);
    one.target.path = vec![Step::Index(expr([Node::Param(0)]))];
    put.effects = vec![one.clone()];
    let mut change = tool("zchange", &[("id", STRING)]);
    one.target.path = path;
    (one.op, one.value) = (op, value);
    change.effects = vec![one];
    plan.tools = vec![put, change];
    kernel(plan)
}

/// Checks the message of a refusal, or the value of the map after the call.
#[track_caller]
fn check(kernel: &Kernel, entries: &[&str], tool: &str, id: &str, expected: &str) {
    let mut session = kernel.open("s", 0, "/ws").unwrap();
    for id in entries {
        let args = format!(r#"{{"id": "{id}"}}"#);
        assert!(propose(kernel, &mut session, "put", &args, "c").verdict.reasons.is_empty());
        succeed(kernel, &mut session, "c");
    }
    let verdict = propose(kernel, &mut session, tool, &format!(r#"{{"id": "{id}"}}"#), "c").verdict;
    let actual = match verdict.reasons.first() {
        Some(reason) => reason.message.clone(),
        None => {
            let before = session.value(0).cloned();
            succeed(kernel, &mut session, "c");
            assert_eq!(session.changes(), [(0, before.unwrap())]);
            let Some(Value::Map(rows)) = session.value(0) else { panic!("no map") };
            let row = |id: &str, row: &Value| match row {
                Value::Record(fields) => format!("{id}: {:?}", fields[1]),
                other => format!("{id}: {other:?}"),
            };
            rows.iter().map(|(id, value)| row(id, value)).collect::<Vec<_>>().join(", ")
        }
    };
    assert_eq!(actual, expected);
}

#[test]
fn parts_of_variables_are_written_as_whole_variables_would_be() {
    let key = || Step::Index(expr([Node::Param(0)]));
    let add = rows(EffectOp::Add, vec![key(), Step::Field(1)], Some(expr([Node::Int(2)])));
    check(&add, &[], "put", "a", "a: Int(1)");
    check(&add, &["a"], "put", "a", "a: Int(1)");
    check(&add, &["a", "b"], "zchange", "b", "a: Int(1), b: Int(3)");
    check(
        &add,
        &["a"],
        "zchange",
        "x",
        "a rule cannot be evaluated: the entry to write to is missing",
    );
    let four = "`rows` would not fit its type: expected at most 3 entries, found 4";
    check(&add, &["a", "b", "c"], "put", "d", four);
    let delete = rows(EffectOp::Delete, vec![key()], None);
    check(&delete, &["a", "b"], "zchange", "a", "b: Int(1)");
    check(&delete, &["a"], "zchange", "x", "a: Int(1)");
    let overflow =
        rows(EffectOp::Add, vec![key(), Step::Field(1)], Some(expr([Node::Int(i64::MAX)])));
    check(
        &overflow,
        &["a"],
        "zchange",
        "a",
        "a rule cannot be evaluated: addition overflows 64 bits",
    );
}

//! `fold`: evaluates constant expressions. An expression with a fault stays unchanged, and faults
//! when it is evaluated.

use super::PassWork;
use super::facts::TypeFacts;
use super::tree::ExprTree;
use crate::analysis::reference::values::{arithmetic, compare, index, is_in, negate};
use guard_plan::plan::{Node, QuantifierOp, ToolId};
use guard_plan::value::{Fault, Value};

/// Folds every deciding expression.
pub(super) fn fold(work: &mut PassWork<'_>) {
    work.rewrite(|facts, tool, tree| tree.map(&|tree| node(facts, tool, tree)));
}

fn node(facts: &TypeFacts, tool: Option<ToolId>, tree: ExprTree) -> ExprTree {
    match (&tree.node, tree.kids.as_slice()) {
        (Node::And(..) | Node::Or(..) | Node::Implies(..), [_, _]) => connective(facts, tool, tree),
        (Node::If(..), [condition, ..]) => match condition.known() {
            Some(truth) => kid(tree, if truth { 1 } else { 2 }),
            None => tree,
        },
        (Node::Else(..), [value, _]) => match value.constant() {
            Some(Value::None) => kid(tree, 1),
            Some(_) => kid(tree, 0),
            None => tree,
        },
        (Node::Quantified { .. }, _) => empty(tree),
        _ => computed(&tree).and_then(ExprTree::of_value).unwrap_or(tree),
    }
}

fn kid(mut tree: ExprTree, at: usize) -> ExprTree {
    tree.kids.swap_remove(at)
}

/// Simplifies a connective with one constant operand. The right operand is dropped if the left one
/// decides; the left operand is dropped if the right one decides and the left cannot fault.
fn connective(facts: &TypeFacts, tool: Option<ToolId>, tree: ExprTree) -> ExprTree {
    let left = tree.kids[0].known();
    let right = tree.kids[1].known();
    let total = facts.total(tool, &tree.kids[0]);
    match (&tree.node, left, right) {
        (Node::And(..), Some(false), _) if guard_proof::mutant!("`false and x` is x") => {
            kid(tree, 1)
        }
        (Node::And(..), Some(false), _) => ExprTree::bool(false),
        (Node::Or(..), Some(true), _) | (Node::Implies(..), Some(false), _) => ExprTree::bool(true),
        // Every other constant on the left leaves the decision to the right side.
        (_, Some(_), _) => kid(tree, 1),
        (Node::And(..), _, Some(true)) | (Node::Or(..), _, Some(false)) => kid(tree, 0),
        (Node::Implies(..), _, Some(false)) => ExprTree::one(Node::Not, kid(tree, 0)),
        (Node::And(..), _, Some(false))
            if total || guard_proof::mutant!("folding loses a fault") =>
        {
            ExprTree::bool(false)
        }
        (Node::Or(..) | Node::Implies(..), _, Some(true)) if total => ExprTree::bool(true),
        _ => tree,
    }
}

/// Simplifies a quantifier over an empty collection.
fn empty(tree: ExprTree) -> ExprTree {
    let Node::Quantified { op, over, .. } = &tree.node else { return tree };
    let nothing = |kid: &ExprTree| {
        matches!(kid.node, Node::List(_) | Node::Set(_) | Node::Map(_)) && kid.kids.is_empty()
    };
    if over.len() != 1 || !tree.kids.first().is_some_and(nothing) {
        return tree;
    }
    ExprTree::leaf(match op {
        QuantifierOp::All => Node::Bool(!guard_proof::mutant!("nothing holds of nothing")),
        QuantifierOp::Any => Node::Bool(false),
        QuantifierOp::First => Node::None,
        QuantifierOp::Count | QuantifierOp::SumInt => Node::Int(0),
        QuantifierOp::SumDecimal => Node::Decimal(0),
        QuantifierOp::SumDuration => Node::Duration(0),
    })
}

/// Evaluates an operation on constants; `None` if the operands are not constant, or it faults.
fn computed(tree: &ExprTree) -> Option<Value> {
    let kids: Vec<Value> = tree.kids.iter().map(ExprTree::constant).collect::<Option<_>>()?;
    let value: Result<Value, Fault> = match (&tree.node, kids.as_slice()) {
        (Node::Not(_), [Value::Bool(truth)]) => Ok(Value::Bool(!truth)),
        (Node::Neg(_), [value]) => negate(value.clone()),
        (Node::Compare(op, ..), [a, b]) => Ok(Value::Bool(compare(*op, a, b))),
        (Node::Arith(op, ..), [a, b]) => arithmetic(*op, a.clone(), b.clone()),
        (Node::In(..), [item, many]) => Ok(Value::Bool(is_in(item, many))),
        (Node::IsSome(_), [value]) => Ok(Value::Bool(*value != Value::None)),
        (Node::Unwrap(_), [value]) if *value != Value::None => Ok(value.clone()),
        (Node::Field(_, at), [Value::Record(fields)]) => Ok(fields.get(*at as usize)?.clone()),
        (Node::Index(..), [collection, at]) => Ok(index(collection.clone(), at.clone())),
        // The evaluator, and not the builtin, decides what a missing argument means.
        (Node::Call(builtin, _), _) if !kids.contains(&Value::None) => {
            builtin.eval(&kids.iter().collect::<Vec<_>>())
        }
        _ => return None,
    };
    value.ok()
}

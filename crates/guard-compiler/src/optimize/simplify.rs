//! `simplify`: conditions with fewer steps, and the same value or the same fault.

use super::PassWork;
use super::facts::TypeFacts;
use super::tree::ExprTree;
use guard_plan::plan::{CompareOp, Node, ToolId};

/// Simplifies every deciding expression.
pub(super) fn simplify(work: &mut PassWork<'_>) {
    work.rewrite(|facts, tool, tree| tree.map(&|tree| node(facts, tool, tree)));
}

fn node(facts: &TypeFacts, tool: Option<ToolId>, tree: ExprTree) -> ExprTree {
    match &tree.node {
        Node::Not(_) => negation(facts, tool, tree),
        Node::Compare(CompareOp::Eq, ..) => equality(facts, tool, tree),
        Node::If(..) => choice(facts, tool, tree),
        Node::In(..) => membership(tree),
        Node::IsSome(_)
            if facts.present(tool, &tree.kids[0]) && facts.total(tool, &tree.kids[0]) =>
        {
            ExprTree::bool(true)
        }
        Node::Unwrap(_) | Node::Else(..) if facts.present(tool, &tree.kids[0]) => first(tree),
        Node::And(..) | Node::Or(..)
            if tree.kids[0] == tree.kids[1] && facts.total(tool, &tree.kids[0]) =>
        {
            first(tree)
        }
        _ => tree,
    }
}

fn first(mut tree: ExprTree) -> ExprTree {
    tree.kids.swap_remove(0)
}

/// Simplifies `not not a` to `a`, and `not a == b` to `a != b`, even if an operand is missing. An
/// ordering is reversed only if both sides are always present.
fn negation(facts: &TypeFacts, tool: Option<ToolId>, tree: ExprTree) -> ExprTree {
    let inner = &tree.kids[0];
    match inner.node {
        Node::Not(_) => first(first(tree)),
        Node::Compare(op, ..) => {
            let present = inner.kids.iter().all(|kid| facts.present(tool, kid));
            let turned = match op {
                CompareOp::Eq => CompareOp::Ne,
                CompareOp::Ne => CompareOp::Eq,
                CompareOp::Lt if guard_proof::mutant!("not less is greater") => CompareOp::Gt,
                CompareOp::Lt if present => CompareOp::Ge,
                CompareOp::Le if present => CompareOp::Gt,
                CompareOp::Gt if present => CompareOp::Le,
                CompareOp::Ge if present => CompareOp::Lt,
                _ => return tree,
            };
            let kids = first(tree).kids;
            ExprTree { node: Node::Compare(turned, 0, 0), kids }
        }
        _ => tree,
    }
}

/// Simplifies `a == true` to `a`, if `a` is always present.
fn equality(facts: &TypeFacts, tool: Option<ToolId>, tree: ExprTree) -> ExprTree {
    let known = (tree.kids[0].known(), tree.kids[1].known());
    let (truth, other) = match known {
        (None, Some(truth)) => (truth, 0),
        (Some(truth), None) => (truth, 1),
        _ => return tree,
    };
    if !facts.present(tool, &tree.kids[other]) {
        return tree;
    }
    let mut kids = tree.kids;
    let side = kids.swap_remove(other);
    let truth = truth || guard_proof::mutant!("`x == false` is x");
    if truth { side } else { ExprTree::one(Node::Not, side) }
}

/// Simplifies `if c then true else false` to `c`. If both branches are equal, a condition that
/// cannot fault is removed.
fn choice(facts: &TypeFacts, tool: Option<ToolId>, tree: ExprTree) -> ExprTree {
    let [condition, then, other] = tree.kids.as_slice() else { return tree };
    match (then.known(), other.known()) {
        (Some(true), Some(false)) => first(tree),
        (Some(false), Some(true)) => ExprTree::one(Node::Not, first(tree)),
        _ if then == other && facts.total(tool, condition) => {
            let mut kids = tree.kids;
            kids.swap_remove(1)
        }
        _ => tree,
    }
}

/// Simplifies membership in a literal with one element to equality.
fn membership(tree: ExprTree) -> ExprTree {
    let single = matches!(&tree.kids[1].node, Node::List(ids) | Node::Set(ids) if ids.len() == 1);
    if !single {
        return tree;
    }
    let mut kids = tree.kids;
    let many = kids.swap_remove(1);
    let item = kids.swap_remove(0);
    ExprTree::two(|a, b| Node::Compare(CompareOp::Eq, a, b), item, first(many))
}

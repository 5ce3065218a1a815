//! `order`: among the operands that cannot fault and do not ask the world, evaluates the cheapest
//! first.
//!
//! The other operands keep their positions, and no operand moves past them, because their
//! evaluation must not change.

use super::PassWork;
use super::facts::TypeFacts;
use super::tree::ExprTree;
use guard_plan::plan::{Node, NodeId, ToolId};

/// Orders the operands of every `and` and `or`.
pub(super) fn order(work: &mut PassWork<'_>) {
    work.rewrite(|facts, tool, tree| tree.map(&|tree| node(facts, tool, tree)));
}

fn node(facts: &TypeFacts, tool: Option<ToolId>, tree: ExprTree) -> ExprTree {
    match tree.node {
        Node::And(..) => chain(facts, tool, tree, Node::And),
        Node::Or(..) => chain(facts, tool, tree, Node::Or),
        _ => tree,
    }
}

/// Orders the operands of a chain. Both connectives are associative, including faults, so a chain
/// is evaluated from left to right in any grouping.
fn chain(
    facts: &TypeFacts,
    tool: Option<ToolId>,
    tree: ExprTree,
    join: fn(NodeId, NodeId) -> Node,
) -> ExprTree {
    let before = tree.clone();
    let mut operands = Vec::new();
    open(tree, &join(0, 0), &mut operands);
    let mut sorted = false;
    let any = guard_proof::mutant!("order forgets faults");
    for run in operands.chunk_by_mut(|a, b| any || facts.total(tool, a) && facts.total(tool, b)) {
        if !run.is_sorted_by_key(cost) {
            run.sort_by_key(cost);
            sorted = true;
        }
    }
    if !sorted {
        return before;
    }
    let joined = operands.into_iter().reduce(|a, b| ExprTree::two(join, a, b));
    joined.unwrap_or(before)
}

/// Collects the operands of a chain, from left to right.
pub(super) fn open(tree: ExprTree, join: &Node, operands: &mut Vec<ExprTree>) {
    if tree.node != *join {
        return operands.push(tree);
    }
    tree.kids.into_iter().for_each(|kid| open(kid, join, operands));
}

/// Estimates the cost of an evaluation, in leaves.
fn cost(tree: &ExprTree) -> u64 {
    let kids: u64 = tree.kids.iter().map(cost).fold(0, u64::saturating_add);
    let itself: u64 = match &tree.node {
        Node::Matches(..) => 30,
        Node::Known(..) | Node::Row(..) | Node::Called { key: Some(_), .. } => 20,
        Node::Index(..) | Node::Within(..) | Node::Origin(_) => 8,
        Node::In(..) => 4 + tree.size(),
        Node::Call(..) => 15,
        // It searches a text word by word.
        Node::MayRead(..) => 40,
        // A body is usually evaluated more than once.
        Node::Quantified { .. } => return kids.saturating_mul(16),
        _ => 1,
    };
    kids.saturating_add(itself)
}

//! Extraction of parts of expressions.

use guard_plan::plan::{Expr, Node, NodeId};

/// Returns the part of an expression below a node: the reachable nodes, renumbered.
pub(super) fn part(expr: &Expr, root: NodeId) -> Expr {
    let count = root as usize + 1;
    let mut reached = vec![false; count];
    reached[root as usize] = true;
    // Children precede parents, so one backward pass finds all reachable nodes.
    for id in (0..count).rev() {
        if reached[id] {
            expr.0[id].for_each_child(&mut |child| reached[child as usize] = true);
        }
    }
    let mut numbers = vec![0; count];
    let mut nodes: Vec<Node> = Vec::new();
    for id in (0..count).filter(|id| reached[*id]) {
        let mut node = expr.0[id].clone();
        node.for_each_child_mut(&mut |child| *child = numbers[*child as usize]);
        numbers[id] = nodes.len() as NodeId;
        nodes.push(node);
    }
    Expr(nodes)
}

/// Returns true if an expression has the same value in every session.
pub(super) fn is_constant(expr: &Expr) -> bool {
    is_fixed(expr) && !expr.0.iter().any(|node| matches!(node, Node::Param(_)))
}

/// Returns true if an expression has the same value at every time of a session: it reads only
/// literals and arguments.
pub(super) fn is_fixed(expr: &Expr) -> bool {
    let moves = |node: &Node| matches!(node, Node::State(_) | Node::Result | Node::Text);
    !expr.0.iter().any(|node| moves(node) || node.asks())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_holds_only_the_nodes_it_reaches() {
        let expr = Expr(vec![
            Node::Bool(true),
            Node::Int(1),
            Node::Neg(1),
            Node::Int(2),
            Node::List(vec![2, 3]),
        ]);
        assert_eq!(part(&expr, 2), Expr(vec![Node::Int(1), Node::Neg(0)]));
        let list = Node::List(vec![1, 2]);
        assert_eq!(part(&expr, 4), Expr(vec![Node::Int(1), Node::Neg(0), Node::Int(2), list]));
    }
}

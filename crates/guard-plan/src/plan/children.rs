//! The children of a node, and the test whether it reads session data.

use super::{Node, NodeId};

impl Node {
    /// Returns true if the node reads history, time, budgets, facts or the world.
    pub fn asks(&self) -> bool {
        matches!(
            self,
            Node::Now
                | Node::Elapsed
                | Node::Said
                | Node::Clock(_)
                | Node::RemainingTime
                | Node::Remaining(_)
                | Node::Spent(_)
                | Node::Row(..)
                | Node::Known(..)
                | Node::Rows(_)
                | Node::Called { .. }
                | Node::Failed { .. }
                | Node::Calls { .. }
                | Node::LastArg(..)
                | Node::LastResult(_)
                | Node::Temporal(_)
                | Node::Exists(_)
                | Node::Probe(_)
                | Node::Origin(_)
                | Node::Seen(_)
                | Node::MayRead(..)
        )
    }

    /// Visits the children, in order.
    pub fn for_each_child(&self, visit: &mut dyn FnMut(NodeId)) {
        match self {
            Node::List(all) | Node::Set(all) | Node::Record(all) => {
                all.iter().for_each(|id| visit(*id))
            }
            Node::Row(_, all) | Node::Known(_, all) | Node::Call(_, all) => {
                all.iter().for_each(|id| visit(*id));
            }
            Node::Map(entries) => entries.iter().for_each(|(_, id)| visit(*id)),
            Node::Field(a, _)
            | Node::Member(a, _)
            | Node::UrlPart(a, _)
            | Node::Not(a)
            | Node::Neg(a)
            | Node::Matches(a, _)
            | Node::IsSome(a)
            | Node::Unwrap(a)
            | Node::Exists(a)
            | Node::ToKey(a, _)
            | Node::FromKey(a, _)
            | Node::Seen(a)
            | Node::Origin(a) => visit(*a),
            Node::Index(a, b)
            | Node::And(a, b)
            | Node::Or(a, b)
            | Node::Implies(a, b)
            | Node::Compare(_, a, b)
            | Node::Arith(_, a, b)
            | Node::In(a, b)
            | Node::Within(a, b)
            | Node::MayRead(a, b)
            | Node::Else(a, b) => [*a, *b].into_iter().for_each(visit),
            Node::If(a, b, c) => [*a, *b, *c].into_iter().for_each(visit),
            Node::Quantified { over, body, .. } => {
                over.iter().for_each(|id| visit(*id));
                visit(*body);
            }
            Node::Called { key: Some((_, values)), .. } => values.iter().for_each(|id| visit(*id)),
            _ => {}
        }
    }

    /// Visits the children, in order, to renumber them.
    pub fn for_each_child_mut(&mut self, visit: &mut dyn FnMut(&mut NodeId)) {
        match self {
            Node::List(all) | Node::Set(all) | Node::Record(all) => all.iter_mut().for_each(visit),
            Node::Row(_, all) | Node::Known(_, all) | Node::Call(_, all) => {
                all.iter_mut().for_each(visit)
            }
            Node::Map(entries) => entries.iter_mut().for_each(|(_, id)| visit(id)),
            Node::Field(a, _)
            | Node::Member(a, _)
            | Node::UrlPart(a, _)
            | Node::Not(a)
            | Node::Neg(a)
            | Node::Matches(a, _)
            | Node::IsSome(a)
            | Node::Unwrap(a)
            | Node::Exists(a)
            | Node::ToKey(a, _)
            | Node::FromKey(a, _)
            | Node::Seen(a)
            | Node::Origin(a) => visit(a),
            Node::Index(a, b)
            | Node::And(a, b)
            | Node::Or(a, b)
            | Node::Implies(a, b)
            | Node::Compare(_, a, b)
            | Node::Arith(_, a, b)
            | Node::In(a, b)
            | Node::Within(a, b)
            | Node::MayRead(a, b)
            | Node::Else(a, b) => [a, b].into_iter().for_each(visit),
            Node::If(a, b, c) => [a, b, c].into_iter().for_each(visit),
            Node::Quantified { over, body, .. } => {
                over.iter_mut().for_each(&mut *visit);
                visit(body);
            }
            Node::Called { key: Some((_, values)), .. } => values.iter_mut().for_each(visit),
            _ => {}
        }
    }
}

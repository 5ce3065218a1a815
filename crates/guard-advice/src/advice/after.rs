//! The predicted session after a successful call, as far as it is known.
//!
//! The effects stage simulates the writes of the call. Nodes that read the history and the budgets
//! are replaced by their predicted values here.

use super::Supposition;
use super::expression::part;
use guard_plan::plan::{Expr, FactId, IndexId, Node, NodeId, ToolId, UnitId, VarId};
use guard_plan::value::Value;
use std::borrow::Cow;

/// The maximum length of conditions that are searched for keys: the cost is quadratic in their
/// length.
const MAX_NODES: usize = 500;

/// A call that has succeeded.
pub(super) struct SucceededCall<'c> {
    pub tool: ToolId,
    /// The arguments; `None` if they are not chosen.
    pub args: Option<&'c [Value]>,
    /// The simulated values of variables.
    pub writes: &'c [(VarId, Value)],
    /// Variables with an unknown new value.
    pub unknown: &'c [VarId],
    /// Facts that the call may have taught.
    pub facts: &'c [FactId],
    pub charges: &'c [(UnitId, i64)],
}

impl SucceededCall<'_> {
    /// Returns an expression with the changed history and budget nodes replaced by values.
    pub fn rewritten<'e>(&self, cx: &Supposition<'_, '_>, expr: &'e Expr) -> Cow<'e, Expr> {
        let mut changed = Cow::Borrowed(expr);
        for (at, node) in expr.0.iter().enumerate() {
            if let Some(leaf) = self.leaf(cx, expr, node) {
                changed.to_mut().0[at] = leaf;
            }
        }
        match changed {
            // The children of a node that has become a leaf are unused.
            Cow::Owned(changed) => {
                let root = changed.0.len() as NodeId - 1;
                Cow::Owned(part(&changed, root))
            }
            unchanged => unchanged,
        }
    }

    fn leaf(&self, cx: &Supposition<'_, '_>, expr: &Expr, node: &Node) -> Option<Node> {
        match node {
            // No event is later than the call itself.
            Node::Called { since: Some(since), .. } | Node::Failed { since: Some(since), .. }
                if *since == self.tool =>
            {
                Some(Node::Bool(false))
            }
            Node::Called { tool, key: None, .. } if *tool == self.tool => Some(Node::Bool(true)),
            Node::Called { tool, key: Some((index, values)), .. } if *tool == self.tool => {
                self.has_key(cx, expr, *index, values).then_some(Node::Bool(true))
            }
            Node::Calls { tool, failures: false, .. } if *tool == self.tool => {
                let Ok(Value::Int(count)) = cx.evaluate(&Expr(vec![node.clone()])) else {
                    return None;
                };
                Some(Node::Int(count.saturating_add(1)))
            }
            Node::LastArg(tool, param) if *tool == self.tool => {
                self.args?.get(*param as usize).and_then(literal)
            }
            Node::Spent(unit) => {
                let spent = cx.scene.session.spent(*unit)?;
                Some(Node::Decimal(spent.saturating_add(self.charge(*unit))))
            }
            Node::Remaining(unit) => {
                let budget = cx.scene.plan.units[*unit as usize].budget.unwrap_or_default();
                let spent = cx.scene.session.spent(*unit)?.saturating_add(self.charge(*unit));
                Some(Node::Decimal(budget.saturating_sub(spent)))
            }
            _ => None,
        }
    }

    fn charge(&self, unit: UnitId) -> i64 {
        let charge = self.charges.iter().find(|(charged, _)| *charged == unit);
        charge.map_or(0, |(_, amount)| *amount)
    }

    /// Returns true if the call has the arguments that a key requires.
    fn has_key(
        &self,
        cx: &Supposition<'_, '_>,
        expr: &Expr,
        index: IndexId,
        values: &[NodeId],
    ) -> bool {
        let Some(args) = self.args.filter(|_| expr.0.len() <= MAX_NODES) else { return false };
        let params = &cx.scene.plan.indexes[index as usize].params;
        params.iter().zip(values).all(|(param, id)| {
            let value = cx.evaluate(&part(expr, *id)).ok();
            value.is_some() && value.as_ref() == args.get(*param as usize)
        })
    }

    /// Returns true if a condition depends on an unknown result of the call.
    pub fn may_change(&self, expr: &Expr) -> bool {
        expr.0.iter().any(|node| match node {
            Node::State(var) => self.unknown.contains(var),
            Node::Known(fact, _) | Node::Row(fact, _) | Node::Rows(fact) => {
                self.facts.contains(fact)
            }
            Node::LastResult(tool) => *tool == self.tool,
            Node::LastArg(tool, _) | Node::Called { tool, key: Some(_), .. } => {
                *tool == self.tool && self.args.is_none()
            }
            _ => false,
        })
    }
}

/// Returns the literal node of a scalar.
fn literal(value: &Value) -> Option<Node> {
    Some(match value {
        Value::None => Node::None,
        Value::Bool(value) => Node::Bool(*value),
        Value::Int(number) => Node::Int(*number),
        Value::Decimal(units) => Node::Decimal(*units),
        Value::Duration(millis) => Node::Duration(*millis),
        Value::Time(at) => Node::Time(*at),
        Value::Enum(index) => Node::Enum(*index),
        Value::String(text) => Node::String(text.to_string()),
        _ => return None,
    })
}

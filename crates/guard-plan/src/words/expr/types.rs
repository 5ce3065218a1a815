//! Types of the nodes of an expression, as far as fields and variants are named by them.

use super::super::ty::{element, open};
use super::{Printer, quoted};
use crate::origin::Origin;
use crate::plan::{ClockPart, Node, NodeId, QuantifierOp, Range, TypeDef, TypeId};

const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Partial type information, enough to name a variant.
#[derive(Clone, Copy)]
pub(super) enum TypeHint {
    Type(TypeId),
    Weekday,
    Origin,
}

impl Printer<'_> {
    /// Returns the type of a node, if it is easily known.
    pub(super) fn ty(&self, id: NodeId) -> Option<TypeId> {
        let plan = self.shows.plan;
        match self.nodes.get(id as usize)? {
            Node::Param(n) => Some(self.shows.tool?.params.get(*n as usize)?.ty),
            Node::State(var) => Some(plan.state.get(*var as usize)?.ty),
            Node::Field(record, field) => {
                self.record_field(self.ty(*record)?, *field).map(|(_, ty)| ty)
            }
            Node::Index(collection, _) => element(plan, self.ty(*collection)?),
            Node::Row(fact, _) => Some(plan.facts.get(*fact as usize)?.row),
            Node::Unwrap(operand) | Node::Else(operand, _) => self.ty(*operand),
            Node::If(_, then, _) => self.ty(*then),
            Node::LastArg(tool, n) => {
                Some(plan.tools.get(*tool as usize)?.params.get(*n as usize)?.ty)
            }
            Node::LastResult(tool) => plan.tools.get(*tool as usize)?.returns,
            Node::FromKey(_, ty) => Some(*ty),
            Node::Quantified { op: QuantifierOp::First, over, binders, .. } => {
                self.bound_ty(over, binders, binders.len().checked_sub(1)?)
            }
            Node::Result => self.shows.tool?.returns,
            Node::Local(slot) => self.quantified_ty(*slot).or_else(|| {
                let bound = |range: &&Range| range.binders.last() == Some(slot);
                let over = &self.shows.ranges.iter().find(bound)?.over;
                let root = NodeId::try_from(over.0.len().checked_sub(1)?).ok()?;
                element(plan, Printer { shows: self.shows, nodes: &over.0 }.ty(root)?)
            }),
            _ => None,
        }
    }

    /// Returns the type of the variable that a quantifier binds.
    fn quantified_ty(&self, slot: u32) -> Option<TypeId> {
        self.nodes.iter().find_map(|node| match node {
            Node::Quantified { over, binders, .. } => {
                self.bound_ty(over, binders, binders.iter().position(|b| *b == slot)?)
            }
            _ => None,
        })
    }

    /// Returns the type of the binder at an index.
    fn bound_ty(&self, over: &[NodeId], binders: &[u32], at: usize) -> Option<TypeId> {
        let plan = self.shows.plan;
        let over = if over.len() == binders.len() { over.get(at) } else { over.first() };
        match self.nodes.get(*over? as usize) {
            Some(Node::Rows(fact)) => Some(plan.facts.get(*fact as usize)?.row),
            _ => element(plan, self.ty(*over?)?),
        }
    }

    /// Returns the name and the type of a field of a record type.
    pub(super) fn record_field(&self, id: TypeId, field: u32) -> Option<(String, TypeId)> {
        match self.shows.plan.types.get(open(self.shows.plan, id) as usize)? {
            TypeDef::Record { fields, .. } => {
                fields.get(field as usize).map(|f| (f.name.clone(), f.ty))
            }
            _ => None,
        }
    }

    /// Returns the hint that a node gives for a value that is compared with it.
    pub(super) fn hint(&self, id: NodeId) -> Option<TypeHint> {
        match self.nodes.get(id as usize)? {
            Node::Clock(ClockPart::Weekday) => Some(TypeHint::Weekday),
            Node::Origin(_) | Node::Seen(_) => Some(TypeHint::Origin),
            _ => self.ty(id).map(TypeHint::Type),
        }
    }

    /// Returns the hint for the elements of a collection. An enum is its own hint.
    pub(super) fn elements(&self, hint: Option<TypeHint>) -> Option<TypeHint> {
        match hint {
            Some(TypeHint::Type(id)) => {
                Some(TypeHint::Type(element(self.shows.plan, id).unwrap_or(id)))
            }
            other => other,
        }
    }

    /// Returns the name of a field of a record.
    pub(super) fn field(&self, record: NodeId, field: u32) -> String {
        let named =
            self.ty(record).and_then(|id| self.record_field(id, field)).map(|(name, _)| name);
        named.unwrap_or_else(|| format!("field {}", field + 1))
    }

    /// Returns the name of a variant.
    pub(super) fn variant(&self, variant: u32, hint: Option<TypeHint>) -> String {
        let named = match hint {
            Some(TypeHint::Weekday) => WEEKDAYS.get(variant as usize).map(|day| (*day).to_owned()),
            Some(TypeHint::Origin) => {
                Origin::NAMES.get(variant as usize).map(|origin| (*origin).to_owned())
            }
            Some(TypeHint::Type(id)) => {
                let plan = self.shows.plan;
                let id = element(plan, id).unwrap_or(id);
                match plan.types.get(open(plan, id) as usize) {
                    Some(TypeDef::Enum { variants, .. }) => {
                        variants.get(variant as usize).map(|v| word(v))
                    }
                    _ => None,
                }
            }
            None => None,
        };
        named.unwrap_or_else(|| format!("variant {}", variant + 1))
    }
}

fn word(text: &str) -> String {
    let plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain { text.to_owned() } else { quoted(text) }
}

//! Types, refinements and fields.

use super::build::TreeBuilder;
use super::grammar::{ChildNodes, Rule, SyntaxNode};
use crate::ast::{Field, Literal, OtherForms, Refinement, Rounding, Str, Type, TypeKind};

impl TreeBuilder<'_> {
    pub fn take_type(&mut self, parts: &mut ChildNodes) -> Option<Type> {
        let node = parts.accept(Rule::ty).or_else(|| parts.accept(Rule::item_ty))?;
        self.ty(node)
    }

    fn ty(&mut self, node: SyntaxNode) -> Option<Type> {
        let span = self.span(&node);
        let mut parts = ChildNodes::new(node);
        let head = parts.next()?;
        let kind = match head.as_rule() {
            Rule::list_ty => TypeKind::List(Box::new(self.take_type(&mut ChildNodes::new(head))?)),
            Rule::set_ty => TypeKind::Set(Box::new(self.take_type(&mut ChildNodes::new(head))?)),
            Rule::map_ty => {
                let mut arguments = ChildNodes::new(head);
                let key = self.take_type(&mut arguments)?;
                TypeKind::Map(Box::new(key), Box::new(self.take_type(&mut arguments)?))
            }
            _ => TypeKind::Name(self.checked(&head)),
        };
        let optional = parts.has(Rule::optional);
        let mut refinements = Vec::new();
        for part in parts {
            refinements.push(self.refinement(part)?);
        }
        Some(Type { kind, optional, refinements, span })
    }

    fn refinement(&mut self, node: SyntaxNode) -> Option<Refinement> {
        let rule = node.as_rule();
        let span = self.span_eq(&node);
        let mut parts = ChildNodes::new(node);
        Some(match rule {
            Rule::range => {
                let low = self.bound(&mut parts);
                let inclusive = parts.has(Rule::dots_eq);
                parts.has(Rule::dots);
                let high = self.bound(&mut parts);
                Refinement::Range { low, high, inclusive, span }
            }
            Rule::max => Refinement::Max(self.take_literal(&mut parts)?),
            Rule::ty_pattern => Refinement::Matches(self.take_regex(&mut parts)?),
            _ => Refinement::Format(self.take_string(&mut parts)?),
        })
    }

    fn bound(&mut self, parts: &mut ChildNodes) -> Option<Literal> {
        parts.accept(Rule::bound).map(|node| self.literal(&node))
    }

    pub fn take_regex(&mut self, parts: &mut ChildNodes) -> Option<Str> {
        parts.accept(Rule::regex).map(|node| self.regex(&node))
    }

    /// Parses `max N` as a separate clause.
    pub fn take_max(&mut self, parts: &mut ChildNodes) -> Option<Literal> {
        self.take_literal(&mut parts.enter(Rule::max)?)
    }

    pub fn field(&mut self, node: SyntaxNode) -> Option<Field> {
        let docs = self.docs(&node);
        let span = self.span_eq(&node);
        let mut parts = ChildNodes::new(node);
        let name = self.name(&mut parts)?;
        let secret = parts.has(Rule::secret);
        let ty = self.take_type(&mut parts)?;
        let key = parts.has(Rule::key);
        let caseless = parts.has(Rule::caseless);
        let forms = self.take_forms(&mut parts);
        let wire = self.take_wire(&mut parts);
        Some(Field { docs, name, ty, secret, key, caseless, forms, wire, span })
    }

    /// Parses the other forms in which a value is accepted.
    pub fn take_forms(&mut self, parts: &mut ChildNodes) -> OtherForms {
        let Some(mut parts) = parts.enter(Rule::forms) else { return OtherForms::default() };
        let from = parts.enter(Rule::coerced).and_then(|mut inner| self.name(&mut inner));
        let rounded = parts.accept(Rule::rounded).map(|node| Rounding {
            span: self.span_eq(&node),
            places: self.take_literal(&mut ChildNodes::new(node)),
        });
        let timezone = parts.enter(Rule::timezone);
        let timezone = timezone.and_then(|mut inner| self.take_string(&mut inner));
        let fallback = parts.enter(Rule::fallback).and_then(|mut inner| self.name(&mut inner));
        OtherForms { from, rounded, timezone, fallback }
    }

    /// Parses `as "NAME"`.
    pub fn take_wire(&mut self, parts: &mut ChildNodes) -> Option<Str> {
        self.take_string(&mut parts.enter(Rule::wire)?)
    }

    /// Returns the fields in `params` or `fields`.
    pub fn fields(&mut self, node: SyntaxNode) -> Option<Vec<Field>> {
        ChildNodes::new(node).map(|field| self.field(field)).collect()
    }
}

//! Contracts: the envelope, the items, their bounds and references.
//!
//! Checked whole; the kernel carries nothing of them out yet, which a warning says.

use super::Checker;
use super::scope::Missing;
use super::session::session_scope;
use super::ty::fits;
use crate::errors;
use crate::hir::Type;
use guard_syntax::ast::{self, ContractClause, Ident};
use guard_syntax::span::Span;
use std::collections::HashMap;

impl Checker<'_, '_> {
    pub(super) fn contracts(&mut self) {
        let names = self.names;
        for entry in &names.contracts.items {
            self.contract(entry.decl);
            self.report(errors::not_enforced("the contract", entry.name.span));
        }
    }

    fn contract(&mut self, contract: &ast::Contract) {
        let mut members: HashMap<String, (Type, Span)> = HashMap::new();
        for clause in &contract.clauses {
            match &clause.node {
                ContractClause::Field(field) => {
                    let ty = self.ty(&field.ty);
                    self.member(&mut members, &field.name, ty);
                }
                ContractClause::Items { name, shape, max, by } => {
                    let max = max.as_ref().and_then(|m| self.count(m));
                    let ty = match shape {
                        ast::ItemShape::Type(ty) => self.ty(ty),
                        ast::ItemShape::Schema(_) => Type::Json,
                    };
                    if let Some(by) = by {
                        self.ranked_by(by, &ty);
                    }
                    self.member(&mut members, name, Type::List(ty.into(), max));
                }
                ContractClause::Bounds(bounds) => self.bounds(bounds),
                ContractClause::Reference { .. } => {}
            }
        }
        for clause in &contract.clauses {
            if let ContractClause::Reference { path, allowed } = &clause.node {
                self.reference(&members, path, allowed);
            }
        }
    }

    fn member(&mut self, members: &mut HashMap<String, (Type, Span)>, name: &Ident, ty: Type) {
        if let Some((_, first)) = members.insert(name.node.clone(), (ty, name.span)) {
            self.report(errors::duplicate("member", name, first));
        }
    }

    fn ranked_by(&mut self, by: &Ident, item: &Type) {
        let Type::Record(id) = item else {
            if !matches!(item, Type::Json | Type::Error) {
                let why = format!("items are ranked by a field, and this is {}", self.show(item));
                self.report(errors::contract(
                    by.span,
                    why,
                    "give the items a record type, or remove `by`",
                ));
            }
            return;
        };
        let def = self.program.records[*id].clone();
        match def.fields.iter().find(|f| f.name == by.node) {
            Some(field)
                if matches!(
                    field.ty,
                    Type::Int(..) | Type::Decimal(..) | Type::Time(_) | Type::Error
                ) => {}
            Some(field) => {
                let why = format!(
                    "items cannot be ranked by `{}`, which is {}",
                    by.node,
                    self.show(&field.ty)
                );
                self.report(errors::contract(
                    by.span,
                    why,
                    "rank by an int, a decimal or a time that is always there",
                ));
            }
            None => {
                let of = format!("the record `{}`", def.name);
                self.report(errors::unknown_field(
                    by,
                    &of,
                    def.fields.iter().map(|f| f.name.as_str()),
                ));
            }
        }
    }

    fn bounds(&mut self, bounds: &[(Ident, ast::Literal)]) {
        let known = ["depth", "string", "bytes", "quarantine"];
        for (name, value) in bounds {
            if !known.contains(&name.node.as_str()) {
                self.report(errors::unknown_word("bound", name, known.into_iter()));
            }
            match super::literal::size(&value.node) {
                Ok(Some(_)) => {}
                Ok(None) => {
                    self.count(value);
                }
                Err(why) => self.report(errors::literal(value.span, &value.node, &why)),
            }
        }
    }

    fn reference(
        &mut self,
        members: &HashMap<String, (Type, Span)>,
        path: &[Ident],
        allowed: &ast::Expr,
    ) {
        let Some(first) = path.first() else { return };
        let Some((mut ty, _)) = members.get(&first.node).cloned() else {
            let mut known: Vec<&str> = members.keys().map(String::as_str).collect();
            known.sort_unstable();
            self.report(errors::unknown_field(first, "the contract", known.into_iter()));
            return;
        };
        for name in &path[1..] {
            let element = match &ty {
                Type::List(of, _) | Type::Set(of, _) => (**of).clone(),
                other => other.clone(),
            };
            let Type::Record(id) = element.required() else {
                if !matches!(element.required(), Type::Json | Type::Error) {
                    let shown = self.show(&element);
                    self.report(errors::no_fields(name.span, &shown));
                }
                return;
            };
            let def = self.program.records[*id].clone();
            match def.fields.iter().find(|f| f.name == name.node) {
                Some(field) => ty = field.ty.clone(),
                None => {
                    let of = format!("the record `{}`", def.name);
                    self.report(errors::unknown_field(
                        name,
                        &of,
                        def.fields.iter().map(|f| f.name.as_str()),
                    ));
                    return;
                }
            }
        }
        self.reference_target(&ty, allowed);
    }

    /// What a reference may point to: a collection in state, a fact, or something the host gives by name.
    fn reference_target(&mut self, ty: &Type, allowed: &ast::Expr) {
        if let ast::ExprKind::Name(name) = &allowed.kind
            && self.names.state.peek(name).is_none()
        {
            // A fact, or a list that the host hands over under this name.
            self.names.facts.get(name);
            return;
        }
        let mut scope = session_scope(Missing::Any);
        let found =
            self.expr(allowed, Some(&Type::Set(ty.required().clone().into(), None)), &mut scope);
        let element = match found.ty.required() {
            Type::List(of, _) | Type::Set(of, _) => (**of).clone(),
            Type::Map(..) => Type::string(),
            Type::Error => return,
            other => {
                let shown = self.show(other);
                self.report(errors::mismatch(allowed.span, "a collection or a fact", &shown));
                return;
            }
        };
        if !fits(ty.required(), &element) {
            let (l, r) = (self.show(ty), self.show(&element));
            self.report(errors::mismatch(
                allowed.span,
                &format!("a collection of what refers, {l}"),
                &r,
            ));
        }
    }
}

//! Literal values: numbers, texts, collections and records.

use super::scope::{MissingMeaning, Scope};
use super::ty::join;
use super::typed::typed;
use super::{TypeChecker, literal};
use crate::errors;
use crate::hir::{Expr, ExprKind, MapKey, Type};
use guard_syntax::ast;
use guard_syntax::span::Span;
use std::collections::HashMap;

impl TypeChecker<'_, '_> {
    pub(super) fn number(&mut self, text: &str, wanted: Option<&Type>, span: Span) -> Expr {
        if matches!(wanted, Some(Type::Decimal(..))) || text.contains('.') {
            return match literal::decimal(text) {
                Ok(v) => typed(ExprKind::Decimal(v), Type::Decimal(Some(v), Some(v)), span),
                Err(why) => self.broken(span, errors::literal(span, text, &why)),
            };
        }
        match literal::int(text) {
            Ok(v) => typed(ExprKind::Int(v), Type::Int(Some(v), Some(v)), span),
            Err(why) => self.broken(span, errors::literal(span, text, &why)),
        }
    }

    pub(super) fn string(&mut self, text: &str, wanted: Option<&Type>, span: Span) -> Expr {
        match wanted {
            // Only the form is checked, because the workspace is known only at run time.
            Some(Type::Path) => match guard_plan::path::normalise("/", text) {
                Ok(_) => typed(ExprKind::Path(text.into()), Type::Path, span),
                Err(why) => self.bad_text(span, text, "path", &why.to_string()),
            },
            Some(Type::Url) => match guard_plan::url::Url::parse(text) {
                Ok(_) => typed(ExprKind::Url(text.into()), Type::Url, span),
                Err(why) => self.bad_text(span, text, "url", &why.to_string()),
            },
            Some(Type::Command) => typed(ExprKind::String(text.into()), Type::Command, span),
            Some(Type::Time(_)) => match guard_plan::time::parse_rfc3339(text) {
                Some(at) => typed(ExprKind::Time(at), Type::Time(None), span),
                None => {
                    self.bad_text(span, text, "time", "write RFC 3339, as `2026-01-05T09:00:00Z`")
                }
            },
            Some(Type::Enum(id)) => self.variant(*id, text, span),
            _ => typed(ExprKind::String(text.into()), Type::string(), span),
        }
    }

    pub(super) fn bad_text(&mut self, span: Span, text: &str, what: &str, why: &str) -> Expr {
        self.broken(span, errors::bad_text(span, text, what, why))
    }

    pub(super) fn list(
        &mut self,
        xs: &[ast::Expr],
        wanted: Option<&Type>,
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        let (xs, ty) = self.members(xs, element(wanted), scope);
        let n = xs.len() as u64;
        typed(ExprKind::List(xs), Type::List(ty.into(), Some(n)), span)
    }

    pub(super) fn set(
        &mut self,
        xs: &[ast::Expr],
        wanted: Option<&Type>,
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        if let (true, Some(Type::Map(key, value, _))) = (xs.is_empty(), wanted) {
            let ty = Type::Map(*key, value.clone(), Some(0));
            return typed(ExprKind::Map(Vec::new()), ty, span);
        }
        let (xs, ty) = self.members(xs, element(wanted), scope);
        let n = xs.len() as u64;
        typed(ExprKind::Set(xs), Type::Set(ty.into(), Some(n)), span)
    }

    pub(super) fn members(
        &mut self,
        xs: &[ast::Expr],
        element: Option<Type>,
        scope: &mut Scope,
    ) -> (Vec<Expr>, Type) {
        // A collection has no missing elements.
        let outer = std::mem::replace(&mut scope.missing, MissingMeaning::Strict);
        let mut ty = element.clone().unwrap_or(Type::Never);
        let mut typed = Vec::new();
        for x in xs {
            let guide = if ty == Type::Never { None } else { Some(ty.clone()) };
            let found = self.expr(x, guide.as_ref(), scope);
            let found = match &guide {
                Some(wanted) => self.fit(x, found, wanted, scope),
                None => self.present(x, found, scope),
            };
            if element.is_none() {
                ty = join(&ty, &found.ty).unwrap_or(Type::Error);
            }
            typed.push(found);
        }
        scope.missing = outer;
        (typed, ty)
    }

    pub(super) fn map(
        &mut self,
        entries: &[(ast::Ident, ast::Expr)],
        wanted: Option<&Type>,
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        if let Some(Type::Record(id)) = wanted {
            return self.record(*id, entries, span, scope);
        }
        let (key, element) = match wanted {
            Some(Type::Map(key, value, _)) => (*key, Some((**value).clone())),
            _ => (MapKey::Text, None),
        };
        // A type without values guides nothing.
        let element = element.filter(|element| *element != Type::Never);
        let mut written: HashMap<&str, Span> = HashMap::new();
        for (name, _) in entries {
            self.written_key(name, key);
            if let Some(first) = written.insert(&name.node, name.span) {
                self.report(errors::duplicate("key", name, first));
            }
        }
        let values: Vec<ast::Expr> = entries.iter().map(|(_, v)| v.clone()).collect();
        let (values, ty) = self.members(&values, element, scope);
        let entries: Vec<_> = entries.iter().map(|(k, _)| k.node.clone()).zip(values).collect();
        let n = entries.len() as u64;
        typed(ExprKind::Map(entries), Type::Map(key, ty.into(), Some(n)), span)
    }

    pub(super) fn record(
        &mut self,
        id: usize,
        entries: &[(ast::Ident, ast::Expr)],
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        for (name, _) in entries {
            self.reported(self.record_field(id, name));
        }
        let def = self.program.records[id].clone();
        let mut values = Vec::new();
        for field in &def.fields {
            let value = entries.iter().find(|(name, _)| name.node == field.name);
            values.push(match value {
                Some((_, value)) => self.value(value, &field.ty, scope),
                None if field.ty.is_option() => typed(ExprKind::None, field.ty.clone(), span),
                None => {
                    let wanted = format!("a record `{}`", def.name);
                    let found = format!("a record without `{}`", field.name);
                    self.broken(span, errors::mismatch(span, &wanted, &found))
                }
            });
        }
        typed(ExprKind::Record(values), Type::Record(id), span)
    }
}

/// Returns the type of the elements of a wanted list or set.
fn element(wanted: Option<&Type>) -> Option<Type> {
    match wanted {
        Some(Type::List(element, _) | Type::Set(element, _)) => Some((**element).clone()),
        _ => None,
    }
}

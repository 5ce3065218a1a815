//! Parts of values: fields, entries and elements.

use super::TypeChecker;
use super::expr::looks_like_int;
use super::name::OtherMeaning;
use super::scope::Scope;
use super::typed::{boxed, broken, typed};
use crate::errors;
use crate::hir::{Expr, ExprKind, Type, WEEKDAY};
use guard_plan::plan::{ClockPart, UrlPart};
use guard_syntax::ast;
use guard_syntax::span::Span;

impl TypeChecker<'_, '_> {
    pub(super) fn field(
        &mut self,
        record: &ast::Expr,
        name: &ast::Ident,
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        if let Some(special) = self.special_field(record, name, span, scope) {
            return special;
        }
        let inner = self.expr(record, None, scope);
        let lift = |ty: Type| {
            if inner.ty.is_option() { ty.optional() } else { ty }
        };
        match inner.ty.required() {
            Type::Record(id) => match self.record_field(*id, name) {
                Ok((at, field)) => {
                    let ty = lift(field.ty);
                    typed(ExprKind::Field(boxed(inner), at as u32), ty, span)
                }
                Err(unknown) => self.broken(span, *unknown),
            },
            Type::Url => {
                let parts = [
                    ("host", UrlPart::Host, Type::string()),
                    ("scheme", UrlPart::Scheme, Type::string()),
                    ("port", UrlPart::Port, Type::Int(Some(0), Some(65535))),
                    ("path", UrlPart::Path, Type::string()),
                    ("query", UrlPart::Query, Type::string()),
                ];
                match parts.iter().find(|(known, ..)| *known == name.node) {
                    Some((_, part, ty)) => {
                        let ty = lift(ty.clone());
                        typed(ExprKind::UrlPart(boxed(inner), *part), ty, span)
                    }
                    None => {
                        let known = parts.iter().map(|p| p.0);
                        self.broken(span, errors::unknown_field(name, "a url", known))
                    }
                }
            }
            Type::Json => typed(
                ExprKind::Member(boxed(inner), name.node.clone()),
                Type::Json.optional(),
                span,
            ),
            Type::Error => broken(span),
            other => {
                self.no_fields(name, other);
                broken(span)
            }
        }
    }

    /// Types `clock.hour` and `last(T).arg`, whose left sides are not values.
    pub(super) fn special_field(
        &mut self,
        base: &ast::Expr,
        name: &ast::Ident,
        span: Span,
        scope: &mut Scope,
    ) -> Option<Expr> {
        match &base.kind {
            ast::ExprKind::Name(clock) if clock == "clock" && !scope.is_bound(clock) => {
                Some(self.clock(name, span, scope))
            }
            ast::ExprKind::Call(last, args) if last.node == "last" => {
                Some(self.last(last, args, name, span, scope))
            }
            _ => None,
        }
    }

    pub(super) fn clock(&mut self, part: &ast::Ident, span: Span, scope: &Scope) -> Expr {
        if !scope.place.asks() {
            return self.misplaced(span, "the clock", scope);
        }
        let parts = [
            ("hour", ClockPart::Hour, Type::Int(Some(0), Some(23))),
            ("minute", ClockPart::Minute, Type::Int(Some(0), Some(59))),
            ("weekday", ClockPart::Weekday, Type::Enum(WEEKDAY)),
            ("day", ClockPart::Day, Type::Int(Some(1), Some(31))),
            ("month", ClockPart::Month, Type::Int(Some(1), Some(12))),
            ("year", ClockPart::Year, Type::int()),
        ];
        match parts.iter().find(|(known, ..)| *known == part.node) {
            Some((_, part, ty)) => typed(ExprKind::Clock(*part), ty.clone(), span),
            None => {
                self.broken(span, errors::unknown_field(part, "`clock`", parts.iter().map(|p| p.0)))
            }
        }
    }

    pub(super) fn index(
        &mut self,
        collection: &ast::Expr,
        keys: &[ast::Expr],
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        if let ast::ExprKind::Name(name) = &collection.kind
            && !scope.is_bound(name)
            && self.names.state.peek(name).is_none()
            && let Some(fact) = self.names.facts.get(name)
        {
            return self.row(fact, keys, span, scope);
        }
        if let ast::ExprKind::Name(name) = &collection.kind
            && scope.local(name).is_none()
            && let Some(fact) = self.names.facts.peek(name)
        {
            let other = OtherMeaning::Declared("fact", self.names.facts.items[fact].name.span);
            if self.means_two(name, collection.span, scope, Some(other)) {
                return broken(span);
            }
        }
        let [at] = keys else {
            return self.broken(span, errors::several_keys(span));
        };
        // The key in the access determines the type of the keys of a map literal.
        let guide =
            matches!(collection.kind, ast::ExprKind::Map(_)).then(|| self.keyed_by(at, scope));
        let inner = self.expr(collection, guide.flatten().as_ref(), scope);
        // An element of a missing collection is missing.
        let inner = if self.is_established(collection, &inner, scope) {
            self.present_unless_json(collection, inner, scope)
        } else {
            inner
        };
        let (key, ty) = match inner.ty.required() {
            Type::List(element, _) => (Type::int(), (**element).clone()),
            Type::Map(key, value, _) => {
                let key = *key;
                let ty = (**value).clone();
                let at = self.key(at, key, scope);
                return typed(ExprKind::Index(boxed(inner), boxed(at)), ty.optional(), span);
            }
            Type::Json => {
                (if looks_like_int(at, scope) { Type::int() } else { Type::string() }, Type::Json)
            }
            Type::Error => {
                self.expr(at, None, scope);
                return broken(span);
            }
            other => {
                let d = errors::no_elements(collection.span, &self.show(other));
                return self.broken(span, d);
            }
        };
        let at = self.value(at, &key, scope);
        typed(ExprKind::Index(boxed(inner), boxed(at)), ty.optional(), span)
    }

    pub(super) fn present_unless_json(
        &mut self,
        e: &ast::Expr,
        found: Expr,
        scope: &Scope,
    ) -> Expr {
        if *found.ty.required() == Type::Json && found.ty.is_option() {
            let ty = Type::Json;
            return Expr { ty, ..found };
        }
        self.present(e, found, scope)
    }
}

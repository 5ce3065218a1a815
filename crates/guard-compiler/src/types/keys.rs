//! Keys of maps: each is known by its text, which a constant key is at once.

use super::TypeChecker;
use super::scope::Scope;
use super::typed::{boxed, typed};
use crate::errors;
use crate::hir::{Expr, ExprKind, MapKey, Type};
use guard_syntax::ast::{self, Ident};

impl TypeChecker<'_, '_> {
    /// A key by which a map is asked, as the text that the map knows.
    pub(super) fn key(&mut self, at: &ast::Expr, key: MapKey, scope: &mut Scope) -> Expr {
        // A key that is a test says neither yes nor no to the call: what it compares must be there.
        let found = self.operand(scope, |checker, scope| checker.value(at, &key.ty(), scope));
        self.as_key(found, key)
    }

    /// The text of a key.
    pub(super) fn as_key(&self, found: Expr, key: MapKey) -> Expr {
        let span = found.span;
        let text = match (key, &found.kind) {
            (MapKey::Text, _) | (_, ExprKind::Error) => return found,
            (_, ExprKind::Bool(truth)) => truth.to_string(),
            (_, ExprKind::Int(number)) => number.to_string(),
            (MapKey::Enum(id), ExprKind::Enum(at)) => {
                self.program.enums[id].variants[*at as usize].clone()
            }
            _ => {
                let text = Type::string();
                let ty = if found.ty.is_option() { text.optional() } else { text };
                return typed(ExprKind::ToKey(boxed(found), key), ty, span);
            }
        };
        typed(ExprKind::String(text), Type::string(), span)
    }

    /// The type of a map that is written out, by the type of the key that it is asked for.
    pub(super) fn keyed_by(&mut self, at: &ast::Expr, scope: &mut Scope) -> Option<Type> {
        let said = self.diagnostics.len();
        let found = self.expr(at, None, scope);
        // The key is checked again, against the type that the map has.
        self.diagnostics.truncate(said);
        let key = match found.ty.required() {
            Type::Bool => MapKey::Bool,
            Type::Int(..) => MapKey::Int,
            Type::Enum(id) => MapKey::Enum(*id),
            _ => return None,
        };
        Some(Type::Map(key, Type::Never.into(), None))
    }

    /// Reports a key of a map that is written out and has another type.
    pub(super) fn written_key(&mut self, name: &Ident, key: MapKey) {
        let text = name.node.as_str();
        match key {
            MapKey::Text => {}
            MapKey::Bool if matches!(text, "true" | "false") => {}
            MapKey::Int if text.parse().is_ok_and(|n: i64| n.to_string() == text) => {}
            MapKey::Enum(id) => _ = self.variant(id, text, name.span),
            MapKey::Bool => self.report(errors::written_key(name.span, text, "a bool", "true")),
            MapKey::Int => self.report(errors::written_key(name.span, text, "an int", "5")),
        }
    }
}

//! Keys of maps: each is represented by its text. The text of a constant key is computed at compile
//! time.

use super::TypeChecker;
use super::scope::Scope;
use super::typed::{boxed, typed};
use crate::errors;
use crate::hir::{Expr, ExprKind, MapKey, Type};
use guard_syntax::ast::{self, Ident};

impl TypeChecker<'_, '_> {
    /// Types a key in a map access, as the text by which the map stores it.
    pub(super) fn key(&mut self, at: &ast::Expr, key: MapKey, scope: &mut Scope) -> Expr {
        // The result of a test that is used as a key does not decide about the call, so the
        // operands of the test must be present.
        let found = self.operand(scope, |checker, scope| checker.value(at, &key.ty(), scope));
        self.as_key(found, key)
    }

    /// Returns the text of a key.
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

    /// Returns the type of a map literal, determined by the type of the key in the access.
    pub(super) fn keyed_by(&mut self, at: &ast::Expr, scope: &mut Scope) -> Option<Type> {
        let said = self.diagnostics.len();
        let found = self.expr(at, None, scope);
        // The key is checked again, against the type of the map.
        self.diagnostics.truncate(said);
        let key = match found.ty.required() {
            Type::Bool => MapKey::Bool,
            Type::Int(..) => MapKey::Int,
            Type::Enum(id) => MapKey::Enum(*id),
            _ => return None,
        };
        Some(Type::Map(key, Type::Never.into(), None))
    }

    /// Reports a key of a map literal that has another type.
    pub(super) fn written_key(&mut self, name: &Ident, key: MapKey) {
        let text = name.node.as_str();
        match key {
            MapKey::Text => {}
            MapKey::Bool if matches!(text, "true" | "false") => {}
            // Another spelling of the number, as `05`, would be a key that no access finds.
            MapKey::Int if text.parse().is_ok_and(|n: i64| n.to_string() == text) => {}
            MapKey::Enum(id) => _ = self.variant(id, text, name.span),
            MapKey::Bool => self.report(errors::written_key(name.span, text, "a bool", "true")),
            MapKey::Int => self.report(errors::written_key(name.span, text, "an int", "5")),
        }
    }
}

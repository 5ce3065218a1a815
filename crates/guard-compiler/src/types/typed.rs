//! Constructors of typed expressions.

use crate::hir::{Expr, ExprKind, Field, Type};
use guard_plan::builtin::Builtin;
use guard_syntax::span::Span;

/// Returns a typed expression.
pub(crate) fn typed(kind: ExprKind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, span, name: None }
}

/// Returns the expression for something that was already reported.
pub(crate) fn broken(span: Span) -> Expr {
    typed(ExprKind::Error, Type::Error, span)
}

/// Returns a value for a column, in lower case if the column is `caseless`.
pub(super) fn folded(e: Expr, column: &Field) -> Expr {
    if !column.caseless || e.ty == Type::Error {
        return e;
    }
    let span = e.span;
    let name = e.name.clone();
    Expr { name, ..typed(ExprKind::Call(Builtin::Lower, vec![e]), Type::string(), span) }
}

pub(super) fn boxed(e: Expr) -> Box<Expr> {
    Box::new(e)
}

//! Comparisons, membership and arithmetic.

use super::TypeChecker;
use super::builtins::accepts;
use super::scope::Scope;
use super::text::text;
use super::ty::fits;
use super::typed::{broken, typed};
use crate::analysis::diff::implied::is_total;
use crate::errors;
use crate::hir::{Expr, ExprKind, StringBounds, Type};
use guard_plan::builtin::{Builtin, ParamKind};
use guard_plan::plan::{ArithOp, CompareOp};
use guard_syntax::ast::{self, BinaryOp};
use guard_syntax::span::Span;

impl TypeChecker<'_, '_> {
    /// Types both operands. Each is guided by the type of the other: the operand that needs no
    /// guide is typed first.
    fn operands(&mut self, a: &ast::Expr, b: &ast::Expr, scope: &mut Scope) -> (Expr, Expr) {
        if self.needs_guide(a, scope) && !self.needs_guide(b, scope) {
            let right = self.expr(b, None, scope);
            let left = self.expr(a, Some(&right.ty.clone()), scope);
            return (left, right);
        }
        let left = self.expr(a, None, scope);
        let right = self.expr(b, Some(&left.ty.clone()), scope);
        (left, right)
    }

    /// Returns true if the type of the expression depends on the value that it is compared with.
    pub(super) fn needs_guide(&self, e: &ast::Expr, scope: &Scope) -> bool {
        match &e.kind {
            ast::ExprKind::Number(_) | ast::ExprKind::String(_) | ast::ExprKind::None => true,
            ast::ExprKind::List(_) | ast::ExprKind::Set(_) | ast::ExprKind::Map(_) => true,
            ast::ExprKind::Name(name) => {
                let builtin =
                    ["now", "elapsed", "workspace", "result", "text"].contains(&name.as_str());
                if let Some(value) = scope.let_value(name) {
                    return scope.lets.is_sound(name)
                        && self.needs_guide(value, &scope.of_let(name));
                }
                let bound = scope.is_bound(name) || scope.define(name, false).is_some();
                !bound && !builtin && self.names.state.peek(name).is_none()
            }
            ast::ExprKind::Unary(ast::UnaryOp::Neg, operand) => self.needs_guide(operand, scope),
            // Operators of level 7 and above are arithmetic.
            ast::ExprKind::Binary(op, a, b) if op.level() >= 7 => {
                self.needs_guide(a, scope) && self.needs_guide(b, scope)
            }
            _ => false,
        }
    }

    pub(super) fn comparison(
        &mut self,
        op: BinaryOp,
        a: &ast::Expr,
        b: &ast::Expr,
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        let (mut left, mut right) =
            self.operand(scope, |checker, scope| checker.operands(a, b, scope));
        if left.ty == Type::Error || right.ty == Type::Error {
            return broken(span);
        }
        if left.ty.required() == &Type::Never || right.ty.required() == &Type::Never {
            let (test, other) =
                if left.ty.required() == &Type::Never { (b, &right) } else { (a, &left) };
            let is = if op == BinaryOp::Ne { "is some" } else { "is none" };
            let help = format!("write `{} {is}`", text(test));
            return self.inapplicable(span, op.word(), (test, &other.ty), None, &help);
        }
        if !self.comparable(op, (a, &left.ty), (b, &right.ty), span) {
            return broken(span);
        }
        // A comparison with a missing value is false, and only `!=` is true.
        let lifted = op == BinaryOp::Ne;
        if !scope.missing.accepts(lifted) {
            left = self.present(a, left, scope);
            right = self.present(b, right, scope);
            if left.ty == Type::Error || right.ty == Type::Error {
                return broken(span);
            }
        }
        self.lint_comparison(op, &left, &right, span);
        self.lint_case(&left, &right, span);
        let op = match op {
            BinaryOp::Eq => CompareOp::Eq,
            BinaryOp::Ne => CompareOp::Ne,
            BinaryOp::Lt => CompareOp::Lt,
            BinaryOp::Le => CompareOp::Le,
            BinaryOp::Gt => CompareOp::Gt,
            _ => CompareOp::Ge,
        };
        typed(ExprKind::Compare(op, Box::new(left), Box::new(right)), Type::Bool, span)
    }

    fn comparable(
        &mut self,
        op: BinaryOp,
        left: (&ast::Expr, &Type),
        right: (&ast::Expr, &Type),
        span: Span,
    ) -> bool {
        let (l, r) = (left.1.required(), right.1.required());
        let spelling = op.word();
        if *l == Type::Json || *r == Type::Json {
            let what = format!("`{spelling}` compares typed values");
            self.report(errors::json_value(span, &what));
            return false;
        }
        if !fits(l, r) && !fits(r, l) {
            self.incomparable(op, (left.0, l), (right.0, r), span);
            return false;
        }
        let ordered = matches!(
            l,
            Type::Int(..)
                | Type::Decimal(..)
                | Type::Duration(..)
                | Type::Time(_)
                | Type::Enum(_)
                | Type::String(_)
        );
        if !ordered && !matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
            let help = "numbers, durations, times, strings and enums have an order; the rest is compared with `==`";
            self.inapplicable(span, spelling, (left.0, l), Some((right.0, r)), help);
            return false;
        }
        true
    }

    fn incomparable(
        &mut self,
        op: BinaryOp,
        (a, l): (&ast::Expr, &Type),
        (b, r): (&ast::Expr, &Type),
        span: Span,
    ) {
        let spelling = op.word();
        let equality = matches!(op, BinaryOp::Eq | BinaryOp::Ne);
        let not = if op == BinaryOp::Ne { "not " } else { "" };
        match (l, r) {
            (Type::Int(..), Type::Decimal(..)) => {
                self.report(errors::mixed_numbers(span, spelling, a.span, b.span, true));
            }
            (Type::Decimal(..), Type::Int(..)) => {
                self.report(errors::mixed_numbers(span, spelling, a.span, b.span, false));
            }
            (item, Type::List(element, _) | Type::Set(element, _))
                if equality && fits(item, element) =>
            {
                let repaired = format!("{not}{} in {}", text(a), text(b));
                self.report(errors::membership(span, spelling, &repaired));
            }
            (Type::List(element, _) | Type::Set(element, _), item)
                if equality && fits(item, element) =>
            {
                let repaired = format!("{not}{} in {}", text(b), text(a));
                self.report(errors::membership(span, spelling, &repaired));
            }
            _ => {
                let help = "both sides must have the same type; there are no implicit conversions";
                self.inapplicable(span, spelling, (a, l), Some((b, r)), help);
            }
        }
    }

    /// Reports a comparison of a refined value with a literal outside its range, because its result
    /// is always the same.
    fn lint_comparison(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span) {
        let literal = |e: &Expr| {
            matches!(e.kind, ExprKind::Int(_) | ExprKind::Decimal(_) | ExprKind::Duration(_))
        };
        let range = |ty: &Type| match ty {
            Type::Int(l, h) | Type::Decimal(l, h) | Type::Duration(l, h) => Some((*l, *h)),
            _ => None,
        };
        // A guard in shadow mode refuses no value that its types exclude.
        // What is left of a budget is less than nothing after an upgrade to a lower one.
        let is_left = matches!(left.kind, ExprKind::Remaining(_));
        if self.program.shadow || is_left || !literal(right) || literal(left) {
            return;
        }
        let (Some((low, high)), Some((Some(value), _))) = (range(&left.ty), range(&right.ty))
        else {
            return;
        };
        let below = high.is_some_and(|h| h < value);
        let above = low.is_some_and(|l| l > value);
        let at_most = high.is_some_and(|h| h <= value);
        let at_least = low.is_some_and(|l| l >= value);
        let outcome = match op {
            BinaryOp::Eq if below || above => false,
            BinaryOp::Ne if below || above => true,
            BinaryOp::Lt if below => true,
            BinaryOp::Lt if at_least => false,
            BinaryOp::Le if at_most => true,
            BinaryOp::Le if above => false,
            BinaryOp::Gt if above => true,
            BinaryOp::Gt if at_most => false,
            BinaryOp::Ge if at_least => true,
            BinaryOp::Ge if below => false,
            _ => return,
        };
        let is_total = is_total(left);
        self.report(errors::never_varies(span, outcome, "the type's range decides it", is_total));
    }

    /// Reports a comparison of a text in lower case with one that is not, because they are never
    /// equal.
    fn lint_case(&mut self, left: &Expr, right: &Expr, span: Span) {
        let folded = |e: &Expr| match &e.kind {
            ExprKind::Call(Builtin::Lower, _) => true,
            ExprKind::String(text) => *text == text.to_lowercase(),
            _ => self.caseless_column(e).is_some(),
        };
        let is_left = folded(left);
        let is_right = folded(right);
        let column = self.caseless_column(left).filter(|_| !is_right);
        let column = column.or_else(|| self.caseless_column(right).filter(|_| !is_left));
        if let Some(name) = column.map(str::to_owned) {
            self.report(errors::cased(span, &name));
        }
    }

    /// Returns the name of the column of lower-case texts that an expression reads.
    fn caseless_column(&self, e: &Expr) -> Option<&str> {
        match &e.kind {
            ExprKind::Unwrap(inner, _) | ExprKind::Else(inner, _) => self.caseless_column(inner),
            ExprKind::Field(record, at) => {
                let Type::Record(id) = record.ty.required() else { return None };
                let field = self.program.records[*id].fields.get(*at as usize)?;
                field.caseless.then_some(&*field.name)
            }
            _ => None,
        }
    }

    /// Types `item in collection`, written `collection contains item` if `flipped`.
    pub(super) fn membership(
        &mut self,
        item: &ast::Expr,
        collection: &ast::Expr,
        flipped: bool,
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        let spelling = if flipped { "contains" } else { "in" };
        let (one, many) = self
            .operand(scope, |checker, scope| checker.membership_operands(item, collection, scope));
        if one.ty == Type::Error || many.ty == Type::Error {
            return broken(span);
        }
        let element = match many.ty.required() {
            Type::List(element, _) | Type::Set(element, _) => Some((**element).clone()),
            Type::Map(key, ..) => Some(key.ty()),
            Type::String(_) => Some(Type::string()),
            _ => None,
        };
        if let Some(element) = &element
            && fits(one.ty.required(), element)
        {
            if matches!(many.ty.required(), Type::String(_)) {
                self.empty_needle(&one);
                self.lint_case(&one, &many, span);
            }
            if let ExprKind::List(elements) | ExprKind::Set(elements) = &many.kind {
                elements.iter().for_each(|element| self.lint_case(&one, element, span));
            }
            let (one, many) = if scope.missing.accepts(false) {
                (one, many)
            } else {
                (self.present(item, one, scope), self.present(collection, many, scope))
            };
            let one = match many.ty.required() {
                Type::Map(key, ..) => self.as_key(one, *key),
                _ => one,
            };
            return typed(ExprKind::In(Box::new(one), Box::new(many)), Type::Bool, span);
        }
        // The reversed order would be valid: this is the most common mistake.
        let reversed = match one.ty.required() {
            Type::List(element, _) | Type::Set(element, _) => fits(many.ty.required(), element),
            _ => false,
        };
        let (a, b) = if flipped { (collection, item) } else { (item, collection) };
        if reversed {
            let repaired = if flipped {
                format!("{} in {}", text(collection), text(item))
            } else {
                format!("{} in {}", text(b), text(a))
            };
            return self.broken(span, errors::membership(span, spelling, &repaired));
        }
        let (l, r) = if flipped { (&many, &one) } else { (&one, &many) };
        let help = "`x in xs` and `xs contains x` ask for an element of a list or set, a key of a map, or a part of a string";
        self.inapplicable(span, spelling, (a, &l.ty), Some((b, &r.ty)), help)
    }

    /// Reports a constant empty text that is searched for.
    pub(super) fn empty_needle(&mut self, needle: &Expr) {
        if matches!(&needle.kind, ExprKind::String(text) if text.is_empty()) {
            self.report(errors::empty_needle(needle.span));
        }
    }

    fn membership_operands(
        &mut self,
        item: &ast::Expr,
        collection: &ast::Expr,
        scope: &mut Scope,
    ) -> (Expr, Expr) {
        if self.needs_guide(item, scope) && !self.needs_guide(collection, scope) {
            let many = self.expr(collection, None, scope);
            let guide = match many.ty.required() {
                Type::List(element, _) | Type::Set(element, _) => Some((**element).clone()),
                Type::Map(key, ..) => Some(key.ty()),
                _ => None,
            };
            return (self.expr(item, guide.as_ref(), scope), many);
        }
        let item_expr = self.expr(item, None, scope);
        let guide = match item_expr.ty.required() {
            Type::List(..) | Type::Set(..) | Type::Map(..) => None,
            other => Some(Type::Set(other.clone().into(), None)),
        };
        let many = self.expr(collection, guide.as_ref(), scope);
        (item_expr, many)
    }

    pub(super) fn arithmetic(
        &mut self,
        op: BinaryOp,
        a: &ast::Expr,
        b: &ast::Expr,
        wanted: Option<&Type>,
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        // Two literals do not guide each other, so the type of the place does.
        let guide = wanted.filter(|t| matches!(t, Type::Decimal(..))).cloned();
        let (left, right) = match guide {
            Some(guide) if self.needs_guide(a, scope) && self.needs_guide(b, scope) => {
                (self.expr(a, Some(&guide), scope), self.expr(b, Some(&guide), scope))
            }
            _ => self.operands(a, b, scope),
        };
        let left = self.present(a, left, scope);
        let right = self.present(b, right, scope);
        if left.ty == Type::Error || right.ty == Type::Error {
            return broken(span);
        }
        if let (BinaryOp::Add, Type::String(_), Type::String(_)) = (op, &left.ty, &right.ty) {
            return joined_texts(left, right, span);
        }
        let spelling = op.word();
        let Some(ty) = result(op, &left.ty, &right.ty) else {
            let mixed = matches!(
                (&left.ty, &right.ty),
                (Type::Int(..), Type::Decimal(..)) | (Type::Decimal(..), Type::Int(..))
            );
            if mixed {
                let left_is_int = matches!(left.ty, Type::Int(..));
                self.report(errors::mixed_numbers(span, spelling, a.span, b.span, left_is_int));
            } else if left.ty == Type::Json || right.ty == Type::Json {
                self.report(errors::json_value(
                    span,
                    &format!("`{spelling}` computes with typed values"),
                ));
            } else {
                let help = match (&left.ty, &right.ty) {
                    (Type::List(..), Type::List(..)) | (Type::Set(..), Type::Set(..))
                        if op == BinaryOp::Add =>
                    {
                        &format!("write `joined({}, {})`", text(a), text(b))
                    }
                    (Type::String(_), other) if op == BinaryOp::Add && has_text(other) => {
                        &format!("write `text({})`: both operands of `+` are strings", text(b))
                    }
                    (other, Type::String(_)) if op == BinaryOp::Add && has_text(other) => {
                        &format!("write `text({})`: both operands of `+` are strings", text(a))
                    }
                    (l, r) if op == BinaryOp::Add && (is_written(l) || is_written(r)) => {
                        "text joining takes texts: both operands of `+` are strings"
                    }
                    _ => {
                        "arithmetic is on two ints, two decimals, durations, or a time and a duration"
                    }
                };
                self.inapplicable(span, spelling, (a, &left.ty), Some((b, &right.ty)), help);
            }
            return broken(span);
        };
        let op = match op {
            BinaryOp::Add => ArithOp::Add,
            BinaryOp::Sub => ArithOp::Sub,
            BinaryOp::Mul => ArithOp::Mul,
            BinaryOp::Div => ArithOp::Div,
            _ => ArithOp::Rem,
        };
        typed(ExprKind::Arith(op, Box::new(left), Box::new(right)), ty, span)
    }
}

/// Returns true if `text` returns a text for values of a type.
fn has_text(ty: &Type) -> bool {
    accepts(ParamKind::Shown, ty, None)
}

/// Returns true if values of a type are written as texts.
fn is_written(ty: &Type) -> bool {
    matches!(ty, Type::String(_) | Type::Path | Type::Url | Type::Command)
}

/// Returns the concatenation of two texts. If both have a bound, the result has a bound too.
fn joined_texts(left: Expr, right: Expr, span: Span) -> Expr {
    let first = bounds(&left);
    let second = bounds(&right);
    let sum = |a: Option<u64>, b: Option<u64>| a?.checked_add(b?);
    let ty = Type::String(StringBounds {
        max_chars: sum(first.0, second.0),
        max_bytes: sum(first.1, second.1),
        patterns: Vec::new(),
    });
    typed(ExprKind::Call(Builtin::Concat, vec![left, right]), ty, span)
}

/// Returns the maximum number of characters and bytes of a text. For a literal, these are exact.
fn bounds(text: &Expr) -> (Option<u64>, Option<u64>) {
    match (&text.kind, &text.ty) {
        (ExprKind::String(text), _) => (Some(text.chars().count() as u64), Some(text.len() as u64)),
        (_, Type::String(bounds)) => (bounds.max_chars, bounds.max_bytes),
        _ => (None, None),
    }
}

/// Returns the type of an arithmetic result. The bounds are used to check that costs are not
/// negative.
fn result(op: BinaryOp, a: &Type, b: &Type) -> Option<Type> {
    use BinaryOp::{Add, Div, Mul, Rem, Sub};
    Some(match (op, a, b) {
        (_, Type::Int(al, ah), Type::Int(bl, bh)) => {
            let (l, h) = interval(op, (*al, *ah), (*bl, *bh), 1);
            Type::Int(l, h)
        }
        (_, Type::Decimal(al, ah), Type::Decimal(bl, bh)) => {
            let (l, h) = interval(op, (*al, *ah), (*bl, *bh), guard_plan::value::DECIMAL_ONE);
            Type::Decimal(l, h)
        }
        (Add | Sub, Type::Duration(..), Type::Duration(..)) => Type::duration(),
        (Mul, Type::Duration(..), Type::Int(..)) | (Mul, Type::Int(..), Type::Duration(..)) => {
            Type::duration()
        }
        (Div, Type::Duration(..), Type::Int(..)) => Type::duration(),
        (Div, Type::Duration(..), Type::Duration(..)) => Type::int(),
        (Rem, Type::Duration(..), Type::Duration(..)) => Type::duration(),
        (Sub, Type::Time(_), Type::Time(_)) => Type::duration(),
        (Add | Sub, Type::Time(_), Type::Duration(..))
        | (Add, Type::Duration(..), Type::Time(_)) => Type::Time(None),
        _ => return None,
    })
}

type NumberRange = (Option<i64>, Option<i64>);

/// Returns the bounds of a sum, difference or product. Only the sign of a lower bound is used.
fn interval(op: BinaryOp, a: NumberRange, b: NumberRange, unit: i64) -> NumberRange {
    let add = |x: Option<i64>, y: Option<i64>| x?.checked_add(y?);
    let sub = |x: Option<i64>, y: Option<i64>| x?.checked_sub(y?);
    let positive = |x: NumberRange| x.0.is_some_and(|l| l >= 0);
    match op {
        BinaryOp::Add => (add(a.0, b.0), add(a.1, b.1)),
        BinaryOp::Sub => (sub(a.0, b.1), sub(a.1, b.0)),
        BinaryOp::Mul if positive(a) && positive(b) => {
            let high = a.1.zip(b.1).and_then(|(x, y)| {
                // Decimals are rounded at run time, so the bound is one unit higher.
                let product = i128::from(x) * i128::from(y) / i128::from(unit);
                i64::try_from(product + 1).ok()
            });
            (Some(0), high)
        }
        BinaryOp::Div | BinaryOp::Rem if positive(a) && positive(b) => (Some(0), None),
        _ => (None, None),
    }
}

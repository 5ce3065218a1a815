//! Expressions: from syntax to typed HIR. The expected type guides literals.

use super::ask::last_calls_misplaced;
use super::narrow;
use super::scope::{MissingMeaning, Scope};
use super::text::{text, text_in};
use super::ty::{fits, join};
use super::typed::{boxed, broken, typed};
use super::{TypeChecker, literal, regex};
use crate::errors;
use crate::hir::{Expr, ExprKind, Type};
use guard_plan::plan::TemporalOp;
use guard_syntax::ast::{self, BinaryOp, UnaryOp};
use guard_syntax::span::Span;

/// Returns true if the value of an expression is the value of one of its operands, or the result of a test of them. The
/// place around such an expression decides the meaning of a missing value.
fn has_polarity(e: &ast::Expr, scope: &Scope) -> bool {
    use ast::ExprKind as E;
    if scope.stands_for_another(e) {
        // The replaced expression decides.
        return true;
    }
    match &e.kind {
        E::Unary(op, _) => *op != UnaryOp::Neg,
        E::Binary(op, ..) => !matches!(
            op,
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem
        ),
        E::Else(..) | E::If(..) | E::Quantified { .. } | E::Known(..) => true,
        // Functions that return a bool are tests.
        E::Call(name, _) => super::ask::is_test(&name.node) || name.node == "may_read",
        _ => false,
    }
}

pub(super) fn looks_like_int(e: &ast::Expr, scope: &Scope) -> bool {
    matches!(&e.kind, ast::ExprKind::Number(_))
        || scope.written_out(e, looks_like_int).unwrap_or(false)
}

impl TypeChecker<'_, '_> {
    /// Types the expression as a value of type `wanted`, and reports any other type.
    pub fn value(&mut self, e: &ast::Expr, wanted: &Type, scope: &mut Scope) -> Expr {
        let found = self.expr(e, Some(wanted), scope);
        self.fit(e, found, wanted, scope)
    }

    /// Adapts `found` to the type `wanted`.
    pub fn fit(&mut self, e: &ast::Expr, found: Expr, wanted: &Type, scope: &mut Scope) -> Expr {
        if fits(&found.ty, wanted) {
            return found;
        }
        // `none` alone has no value to take, so it is reported as another type.
        let none = *found.ty.required() == Type::Never;
        if found.ty.is_option() && !none && !wanted.is_option() && fits(found.ty.required(), wanted)
        {
            return self.present(e, found, scope);
        }
        if *found.ty.required() == Type::Json {
            if scope.decodes {
                return found;
            }
            let what = format!("expected {}, found `json`", self.show(wanted));
            return self.broken(e.span, errors::json_value(e.span, &what));
        }
        self.mismatch(e.span, &self.show(wanted), &found.ty)
    }

    /// Types an operand of a test that is false if the operand is missing: as `wanted`, or as an
    /// option of it if such a test holds the call back.
    pub(super) fn lifted(&mut self, e: &ast::Expr, wanted: &Type, scope: &mut Scope) -> Expr {
        let found = self.operand(scope, |checker, scope| checker.expr(e, Some(wanted), scope));
        let none = *found.ty.required() == Type::Never;
        if scope.missing.accepts(false) && !none && fits(found.ty.required(), wanted) {
            return found;
        }
        self.fit(e, found, wanted, scope)
    }

    /// Returns the value of an option that must not be missing here.
    pub fn present(&mut self, e: &ast::Expr, found: Expr, scope: &Scope) -> Expr {
        if !found.ty.is_option() {
            return found;
        }
        if !self.is_established(e, &found, scope) {
            let condition = matches!(scope.missing, MissingMeaning::Refuses(_));
            return self.broken(
                e.span,
                errors::may_be_missing(e.span, &format!("`{}`", text(e)), condition),
            );
        }
        let ty = found.ty.required().clone();
        let name = found.name.clone();
        let value = typed(ExprKind::Unwrap(boxed(found), text_in(e, scope)), ty, e.span);
        Expr { name, ..value }
    }

    /// Uses what a condition has established for the value of its branch, because the value is
    /// still used after the branch.
    fn certain(&mut self, e: &ast::Expr, found: Expr, scope: &Scope) -> Expr {
        if self.is_established(e, &found, scope) { self.present(e, found, scope) } else { found }
    }

    pub(super) fn is_established(&self, e: &ast::Expr, found: &Expr, scope: &Scope) -> bool {
        if self.alone || narrow::key(e, scope).is_some_and(|key| scope.establishes(&key)) {
            return true;
        }
        let inside = |e: &ast::Expr, scope: &Scope| self.is_established(e, found, scope);
        if let Some(established) = scope.written_out(e, inside) {
            return established;
        }
        // A plain field is missing only if its record is missing.
        match (&e.kind, &found.kind) {
            (ast::ExprKind::Field(record, _), ExprKind::Field(inner, at)) => {
                let plain = match inner.ty.required() {
                    Type::Record(id) => {
                        !self.program.records[*id].fields[*at as usize].ty.is_option()
                    }
                    _ => false,
                };
                plain && self.is_established(record, inner, scope)
            }
            _ => false,
        }
    }

    /// Types a condition, which is a bool. A missing bool counts as false if the place accepts
    /// this.
    pub fn condition(&mut self, e: &ast::Expr, scope: &mut Scope) -> Expr {
        let found = self.expr(e, Some(&Type::Bool), scope);
        if found.ty.is_option()
            && *found.ty.required() == Type::Bool
            && scope.missing.accepts(false)
        {
            let no = typed(ExprKind::Bool(false), Type::Bool, e.span);
            return typed(ExprKind::Else(boxed(found), boxed(no)), Type::Bool, e.span);
        }
        self.fit(e, found, &Type::Bool, scope)
    }

    /// Types an expression of any type. `expected` guides literals and variants.
    ///
    /// The meaning of a missing value is known if the value of `e` is also the value of the
    /// condition around it. The operands of all other expressions are strict, at any depth.
    pub fn expr(&mut self, e: &ast::Expr, expected: Option<&Type>, scope: &mut Scope) -> Expr {
        if has_polarity(e, scope) {
            return self.kind(e, expected, scope);
        }
        self.operand(scope, |checker, scope| checker.kind(e, expected, scope))
    }

    /// Checks an operand whose value alone decides nothing.
    pub(super) fn operand<T>(
        &mut self,
        scope: &mut Scope,
        check: impl FnOnce(&mut Self, &mut Scope) -> T,
    ) -> T {
        let inside = scope.missing.inside();
        let outer = std::mem::replace(&mut scope.missing, inside);
        let result = check(self, scope);
        scope.missing = outer;
        result
    }

    fn kind(&mut self, e: &ast::Expr, expected: Option<&Type>, scope: &mut Scope) -> Expr {
        use ast::ExprKind as E;
        if let Some(used) = self.used(e, expected, scope) {
            return used;
        }
        let span = e.span;
        let wanted = expected.map(Type::required);
        match &e.kind {
            E::Bool(b) => typed(ExprKind::Bool(*b), Type::Bool, span),
            E::None => typed(ExprKind::None, Type::Option(Type::Never.into()), span),
            E::Number(text) => self.number(text, wanted, span),
            E::Duration(text) => match literal::duration(text) {
                Ok(ms) => typed(ExprKind::Duration(ms), Type::Duration(Some(ms), Some(ms)), span),
                Err(why) => self.broken(span, errors::literal(span, text, &why)),
            },
            E::String(text) => self.string(text, wanted, span),
            E::Regex(pattern) => {
                let help = "write `text matches /…/`";
                let op = format!("/{pattern}/");
                self.inapplicable(span, &op, (e, &Type::string()), None, help)
            }
            E::LastCalls(_) => self.broken(span, last_calls_misplaced(span)),
            E::Name(name) => self.name(name, wanted, span, scope),
            E::Field(record, name) => self.field(record, name, span, scope),
            E::Index(collection, keys) => self.index(collection, keys, span, scope),
            E::Each(operand) => {
                self.expr(operand, None, scope);
                let help = "write `all x in xs: …`, `sum(x in xs: …)` or `learn … for x in xs`";
                self.broken(
                    span,
                    errors::wrong_place(span, "`[*]`", "anything but a `learn`", help),
                )
            }
            E::Call(name, args) => self.call(e, name, args, scope),
            E::Known(fact, args) => self.known(fact, args, span, scope),
            E::Probe(name) => self.probe(name, scope),
            E::Unary(op, operand) => self.unary(*op, operand, wanted, span, scope),
            E::Binary(op, a, b) => self.binary(e, *op, a, b, wanted, scope),
            E::Is(operand, some) => self.is(operand, *some, span, scope),
            E::Else(a, b) => self.or_else(a, b, expected, span, scope),
            E::If(c, a, b) => self.conditional(c, a, b, expected, span, scope),
            E::Quantified { op, binders, over, body } => {
                self.quantified(*op, binders, over, body, wanted, span, scope)
            }
            E::List(xs) => self.list(xs, wanted, span, scope),
            E::Set(xs) => self.set(xs, wanted, span, scope),
            E::Map(entries) => self.map(entries, wanted, span, scope),
        }
    }

    fn unary(
        &mut self,
        op: UnaryOp,
        operand: &ast::Expr,
        wanted: Option<&Type>,
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        match op {
            UnaryOp::Not => {
                let outer = scope.missing;
                scope.missing = outer.negated();
                let inner = self.condition(operand, scope);
                scope.missing = outer;
                typed(ExprKind::Not(boxed(inner)), Type::Bool, span)
            }
            UnaryOp::Neg => self.negative(operand, wanted, span, scope),
            UnaryOp::Once => self.temporal(TemporalOp::Once, operand, None, span, scope),
            UnaryOp::Historically => {
                self.temporal(TemporalOp::Historically, operand, None, span, scope)
            }
            UnaryOp::Previous => self.temporal(TemporalOp::Previous, operand, None, span, scope),
        }
    }

    fn negative(
        &mut self,
        operand: &ast::Expr,
        wanted: Option<&Type>,
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        // The sign belongs to the literal, because the smallest int has no positive counterpart.
        if let ast::ExprKind::Number(text) = &operand.kind {
            return self.number(&format!("-{text}"), wanted, span);
        }
        let inner = self.expr(operand, wanted, scope);
        let inner = self.present(operand, inner, scope);
        let flip = |low: Option<i64>, high: Option<i64>| {
            // The smallest int has no negation, so its bound becomes unknown.
            (high.and_then(i64::checked_neg), low.and_then(i64::checked_neg))
        };
        let ty = match &inner.ty {
            Type::Int(l, h) => Type::Int(flip(*l, *h).0, flip(*l, *h).1),
            Type::Decimal(l, h) => Type::Decimal(flip(*l, *h).0, flip(*l, *h).1),
            Type::Duration(l, h) => Type::Duration(flip(*l, *h).0, flip(*l, *h).1),
            Type::Error => return broken(span),
            other => {
                let help = "only numbers and durations are negated";
                return self.inapplicable(span, "-", (operand, other), None, help);
            }
        };
        typed(ExprKind::Neg(boxed(inner)), ty, span)
    }

    /// Types a temporal operator. The operands may read only state.
    pub fn temporal(
        &mut self,
        op: TemporalOp,
        operand: &ast::Expr,
        trigger: Option<&ast::Expr>,
        span: Span,
        scope: &Scope,
    ) -> Expr {
        if !scope.place.asks() {
            return self.misplaced(span, "what was true before", scope);
        }
        let mut inner = scope.of_states();
        let operand = self.condition(operand, &mut inner);
        inner.missing = MissingMeaning::Strict;
        let trigger = trigger.map(|t| boxed(self.condition(t, &mut inner)));
        typed(ExprKind::Temporal(op, boxed(operand), trigger), Type::Bool, span)
    }

    fn is(&mut self, operand: &ast::Expr, some: bool, span: Span, scope: &mut Scope) -> Expr {
        let inner = self.expr(operand, None, scope);
        if !inner.ty.is_option() && inner.ty != Type::Error {
            let help = "only options are tested: declare it `T?`, or read it out of a map, a list or a fact";
            let op = if some { "is some" } else { "is none" };
            return self.inapplicable(span, op, (operand, &inner.ty), None, help);
        }
        let test = typed(ExprKind::IsSome(boxed(inner)), Type::Bool, span);
        if some { test } else { typed(ExprKind::Not(boxed(test)), Type::Bool, span) }
    }

    fn or_else(
        &mut self,
        a: &ast::Expr,
        b: &ast::Expr,
        expected: Option<&Type>,
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        let left = self.operand(scope, |checker, scope| checker.expr(a, expected, scope));
        let json = *left.ty.required() == Type::Json;
        let wanted =
            if json { expected.cloned().unwrap_or(Type::Json) } else { left.ty.required().clone() };
        let right = self.expr(b, Some(&wanted), scope);
        if left.ty == Type::Error || right.ty == Type::Error {
            return broken(span);
        }
        if json && (scope.decodes || right.ty == Type::Json) {
            return typed(ExprKind::Else(boxed(left), boxed(right)), Type::Json, span);
        }
        if json {
            let what = "the left side of `else` is `json`";
            return self.broken(span, errors::json_value(a.span, what));
        }
        if !left.ty.is_option() {
            let help = "it is never missing: remove the `else`";
            return self.inapplicable(span, "else", (a, &left.ty), None, help);
        }
        match join(left.ty.required(), &right.ty) {
            Some(ty) => typed(ExprKind::Else(boxed(left), boxed(right)), ty, span),
            None => self.mismatch(b.span, &self.show(left.ty.required()), &right.ty),
        }
    }

    fn conditional(
        &mut self,
        c: &ast::Expr,
        a: &ast::Expr,
        b: &ast::Expr,
        expected: Option<&Type>,
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        // Either branch may decide about the call, so a missing value has no safe meaning in the
        // condition.
        let outer = std::mem::replace(&mut scope.missing, MissingMeaning::Strict);
        let condition = self.condition(c, scope);
        scope.missing = outer;
        let left = self.narrowed(c, true, scope, |checker, scope| {
            let found = checker.expr(a, expected, scope);
            checker.certain(a, found, scope)
        });
        let wanted = expected.cloned().unwrap_or_else(|| left.ty.clone());
        let right = self.narrowed(c, false, scope, |checker, scope| {
            let found = checker.expr(b, Some(&wanted), scope);
            checker.certain(b, found, scope)
        });
        match join(&left.ty, &right.ty) {
            Some(ty) => typed(ExprKind::If(boxed(condition), boxed(left), boxed(right)), ty, span),
            None => self.mismatch(b.span, &self.show(&left.ty), &right.ty),
        }
    }

    /// Runs `check` in a scope in which `condition` is known to be `truth`.
    pub fn narrowed<T>(
        &mut self,
        condition: &ast::Expr,
        truth: bool,
        scope: &mut Scope,
        check: impl FnOnce(&mut Self, &mut Scope) -> T,
    ) -> T {
        let before = scope.established.len();
        narrow::establish(condition, truth, scope);
        let result = check(self, scope);
        scope.established.truncate(before);
        result
    }

    fn binary(
        &mut self,
        e: &ast::Expr,
        op: BinaryOp,
        a: &ast::Expr,
        b: &ast::Expr,
        wanted: Option<&Type>,
        scope: &mut Scope,
    ) -> Expr {
        if let Some(history) = self.history(e, scope) {
            return history;
        }
        match op {
            BinaryOp::And => self.connective(a, b, true, scope, e.span, ExprKind::And),
            BinaryOp::Or => self.connective(a, b, false, scope, e.span, ExprKind::Or),
            BinaryOp::Implies => {
                let outer = scope.missing;
                scope.missing = outer.negated();
                let left = self.condition(a, scope);
                scope.missing = outer;
                let right =
                    self.narrowed(a, true, scope, |checker, scope| checker.condition(b, scope));
                typed(ExprKind::Implies(boxed(left), boxed(right)), Type::Bool, e.span)
            }
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => self.comparison(op, a, b, e.span, scope),
            BinaryOp::In => self.membership(a, b, false, e.span, scope),
            BinaryOp::Contains => self.membership(b, a, true, e.span, scope),
            BinaryOp::Matches => self.matches(a, b, e.span, scope),
            BinaryOp::Within => self.within(a, b, e.span, scope),
            BinaryOp::Since => self.temporal(TemporalOp::Since, a, Some(b), e.span, scope),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => {
                self.arithmetic(op, a, b, wanted, e.span, scope)
            }
        }
    }

    fn connective(
        &mut self,
        a: &ast::Expr,
        b: &ast::Expr,
        truth: bool,
        scope: &mut Scope,
        span: Span,
        make: fn(Box<Expr>, Box<Expr>) -> ExprKind,
    ) -> Expr {
        let left = self.condition(a, scope);
        let right = self.narrowed(a, truth, scope, |checker, scope| checker.condition(b, scope));
        typed(make(boxed(left), boxed(right)), Type::Bool, span)
    }

    fn matches(&mut self, a: &ast::Expr, b: &ast::Expr, span: Span, scope: &mut Scope) -> Expr {
        let left = self.lifted(a, &Type::string(), scope);
        let ast::ExprKind::Regex(pattern) = &b.kind else {
            let right = self.expr(b, None, scope);
            let help = "write the expression between slashes: `text matches /^a+$/`";
            let right = Some((b, &right.ty));
            return self.inapplicable(span, "matches", (a, &left.ty), right, help);
        };
        if !regex::check(self, pattern, b.span) {
            return broken(span);
        }
        typed(ExprKind::Matches(boxed(left), pattern.as_str().into()), Type::Bool, span)
    }

    fn within(&mut self, a: &ast::Expr, b: &ast::Expr, span: Span, scope: &mut Scope) -> Expr {
        let (left, right) = self.operand(scope, |checker, scope| {
            let left = checker.expr(a, Some(&Type::Path), scope);
            (left, checker.expr(b, Some(&Type::Path), scope))
        });
        if left.ty == Type::Error || right.ty == Type::Error {
            return broken(span);
        }
        if *left.ty.required() == Type::Path && *right.ty.required() == Type::Path {
            let (left, right) = if scope.missing.accepts(false) {
                (left, right)
            } else {
                (self.present(a, left, scope), self.present(b, right, scope))
            };
            return typed(ExprKind::Within(boxed(left), boxed(right)), Type::Bool, span);
        }
        let help = "`within` compares paths (`path within workspace`) or history and a duration \
                    (`called(test) within 10m`)";
        self.inapplicable(span, "within", (a, &left.ty), Some((b, &right.ty)), help)
    }
}

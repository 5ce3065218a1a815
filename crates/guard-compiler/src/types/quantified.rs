//! Quantifiers, and the names that they and `for` bind.

use super::TypeChecker;
use super::narrow;
use super::scope::{MissingMeaning, Scope};
use super::secrets::reads_local;
use super::typed::{boxed, broken, typed};
use crate::errors;
use crate::hir::{Expr, ExprKind, MapKey, Type};
use guard_plan::plan::{CompareOp, QuantifierOp};
use guard_syntax::ast::{self, BinaryOp, Quantifier};
use guard_syntax::span::Span;

/// Returns the list whose pairs a quantifier ranges over.
fn paired<'e>(over: &'e ast::Expr, scope: &Scope) -> Option<&'e ast::Expr> {
    match &over.kind {
        ast::ExprKind::Call(name, args)
            if name.node == "pairs" && args.len() == 1 && !scope.is_bound("pairs") =>
        {
            Some(&args[0].value)
        }
        _ => None,
    }
}

impl TypeChecker<'_, '_> {
    #[allow(clippy::too_many_arguments, reason = "the parts of one syntax node")]
    pub(super) fn quantified(
        &mut self,
        op: Quantifier,
        binders: &[ast::Ident],
        over: &ast::Expr,
        body: &ast::Expr,
        wanted: Option<&Type>,
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        if let Some(collection) = paired(over, scope) {
            return self.of_pairs((op, span), binders, collection, body, scope);
        }
        let depth = scope.locals.len();
        let outer = scope.missing;
        let (sources, slots) = match self.rows(over, scope) {
            Some(rows) => self.bind_row(binders, rows, over.span, scope),
            None => self.bind(binders, over, scope),
        };
        // The element of the last name, and the key that the name is.
        let element = scope.locals.last().filter(|_| scope.locals.len() > depth);
        let element = element.map_or((Type::Error, MapKey::Text), |l| (l.ty.clone(), l.key));
        // A count, sum or first element can decide in both directions, so nothing may be missing in
        // the body.
        if !matches!(op, Quantifier::All | Quantifier::Any) {
            scope.missing = MissingMeaning::Strict;
        }
        let result = match op {
            Quantifier::Sum => {
                let found = self.expr(body, wanted, scope);
                self.present(body, found, scope)
            }
            _ => self.condition(body, scope),
        };
        scope.locals.truncate(depth);
        scope.missing = outer;
        if let Some(last) = swallowed(op, body, &result, &slots) {
            self.report(errors::swallowed(last, op == Quantifier::Any));
        }
        if op == Quantifier::First {
            return self.first(sources, slots, result, element, span);
        }
        let (op, ty) = match (op, &result.ty) {
            (Quantifier::All, _) => (QuantifierOp::All, Type::Bool),
            (Quantifier::Any, _) => (QuantifierOp::Any, Type::Bool),
            (Quantifier::Count, _) => (QuantifierOp::Count, Type::Int(Some(0), None)),
            // The sum of no elements is 0, whatever the lower bound of an element.
            (Quantifier::Sum, Type::Int(low, _)) => {
                (QuantifierOp::SumInt, Type::Int(low.filter(|l| *l >= 0).map(|_| 0), None))
            }
            (Quantifier::Sum, Type::Decimal(low, _)) => {
                (QuantifierOp::SumDecimal, Type::Decimal(low.filter(|l| *l >= 0).map(|_| 0), None))
            }
            (Quantifier::Sum, Type::Duration(..)) => (QuantifierOp::SumDuration, Type::duration()),
            (Quantifier::Sum | Quantifier::First, Type::Error) => return broken(span),
            (Quantifier::Sum | Quantifier::First, other) => {
                let help = "sum adds ints, decimals or durations";
                return self.inapplicable(span, "sum", (body, other), None, help);
            }
        };
        let kind = ExprKind::Quantified { op, over: sources, binders: slots, body: boxed(result) };
        typed(kind, ty, span)
    }

    /// Types the first element for which a condition is true: an option of the element of the last
    /// name.
    fn first(
        &mut self,
        over: Vec<Expr>,
        binders: Vec<u32>,
        body: Expr,
        (element, key): (Type, MapKey),
        span: Span,
    ) -> Expr {
        if over.len() != 1 {
            // A wrong number of lists was already reported.
            if over.len() == binders.len() {
                let message = "lists in step have no element that `first` could give".to_string();
                let written = "first x in xs: …, first i, x in xs: x == (ys[i] else …)";
                self.report(errors::arguments(span, message, written));
            }
            return broken(span);
        }
        if element == Type::Error {
            return broken(span);
        }
        let as_text = key != MapKey::Text;
        let ty = if as_text { Type::string() } else { element.clone() }.optional();
        let op = QuantifierOp::First;
        let kind = ExprKind::Quantified { op, over, binders, body: boxed(body) };
        let found = typed(kind, ty, span);
        if as_text {
            typed(ExprKind::FromKey(boxed(found), key), element.optional(), span)
        } else {
            found
        }
    }

    /// Types a quantifier over pairs as two nested quantifiers over one list, whose indexes are in
    /// order. The list is read where neither name is bound.
    fn of_pairs(
        &mut self,
        (op, span): (Quantifier, Span),
        binders: &[ast::Ident],
        collection: &ast::Expr,
        body: &ast::Expr,
        scope: &mut Scope,
    ) -> Expr {
        const FORM: &str = "all a, b in pairs(xs): …";
        let ([a, b], Quantifier::All | Quantifier::Any | Quantifier::Count) = (binders, op) else {
            let message = "`pairs` binds two names of an `all`, `any` or `count`".into();
            return self.broken(span, errors::arguments(collection.span, message, FORM));
        };
        let depth = scope.locals.len();
        let outer = scope.missing;
        let found = self.operand(scope, |checker, scope| checker.expr(collection, None, scope));
        let list = self.present(collection, found, scope);
        let Type::List(element, _) = list.ty.required() else {
            if list.ty != Type::Error {
                self.report(errors::arguments(
                    collection.span,
                    "`pairs` takes a list".into(),
                    FORM,
                ));
            }
            return broken(span);
        };
        // No text can name the indexes.
        let mut bind = |index, name: &ast::Ident| {
            self.hides(name, scope);
            let index = scope.bind(index, Type::int(), None);
            vec![index, scope.bind(&name.node, (**element).clone(), None)]
        };
        let first = bind("#first", a);
        let second = bind("#second", b);
        if op == Quantifier::Count {
            scope.missing = MissingMeaning::Strict;
        }
        let body = boxed(self.condition(body, scope));
        scope.locals.truncate(depth);
        scope.missing = outer;
        let at = |slot| boxed(typed(ExprKind::Local(slot), Type::int(), span));
        let ordered =
            |op| boxed(typed(ExprKind::Compare(op, at(first[0]), at(second[0])), Type::Bool, span));
        let count = Type::Int(Some(0), None);
        let (ops, body, ty) = match op {
            Quantifier::All => {
                ([QuantifierOp::All; 2], ExprKind::Or(ordered(CompareOp::Ge), body), Type::Bool)
            }
            Quantifier::Any => {
                ([QuantifierOp::Any; 2], ExprKind::And(ordered(CompareOp::Lt), body), Type::Bool)
            }
            _ => {
                let ops = [QuantifierOp::SumInt, QuantifierOp::Count];
                (ops, ExprKind::And(ordered(CompareOp::Lt), body), count)
            }
        };
        let of_each = |op, binders, body, ty| {
            let over = vec![list.clone()];
            typed(ExprKind::Quantified { op, over, binders, body: boxed(body) }, ty, span)
        };
        let inner = of_each(ops[1], second, typed(body, Type::Bool, span), ty.clone());
        of_each(ops[0], first, inner, ty)
    }

    /// Returns the rows of a fact that a quantifier names.
    fn rows(&mut self, over: &ast::Expr, scope: &Scope) -> Option<Expr> {
        let ast::ExprKind::Name(name) = &over.kind else { return None };
        if scope.is_bound(name) || self.names.state.peek(name).is_some() {
            return None;
        }
        let fact = self.names.facts.get(name)?;
        if !scope.place.asks() {
            return Some(self.misplaced(over.span, "a fact", scope));
        }
        let declared = &self.program.facts[fact];
        let ty = Type::List(Type::Record(declared.row).into(), Some(declared.max));
        Some(typed(ExprKind::Rows(fact), ty, over.span))
    }

    /// Binds a row of a fact.
    fn bind_row(
        &mut self,
        binders: &[ast::Ident],
        rows: Expr,
        span: Span,
        scope: &mut Scope,
    ) -> (Vec<Expr>, Vec<u32>) {
        if binders.len() > 1 && rows.ty != Type::Error {
            let message = format!("a row of a fact binds {} names", binders.len());
            self.report(errors::arguments(span, message, "any row in FACT: row.COLUMN == …"));
        }
        let mut slots = Vec::new();
        for binder in binders {
            let ty = match &rows.ty {
                Type::List(element, _) if binders.len() == 1 => (**element).clone(),
                _ => Type::Error,
            };
            self.hides(binder, scope);
            slots.push(scope.bind(&binder.node, ty, None));
        }
        (vec![rows], slots)
    }

    /// Binds the names of a quantifier or `for`. Returns the collections and the slots.
    pub fn bind(
        &mut self,
        binders: &[ast::Ident],
        over: &ast::Expr,
        scope: &mut Scope,
    ) -> (Vec<Expr>, Vec<u32>) {
        let zipped: Option<Vec<&ast::Expr>> = match &over.kind {
            ast::ExprKind::Call(name, args) if name.node == "zip" => {
                Some(args.iter().map(|a| &a.value).collect())
            }
            _ => None,
        };
        let sources = zipped.clone().unwrap_or_else(|| vec![over]);
        let mut typed_sources = Vec::new();
        for source in &sources {
            let found = self.operand(scope, |checker, scope| checker.expr(source, None, scope));
            typed_sources.push(self.present_unless_json(source, found, scope));
        }
        let symbols: Vec<Option<String>> = sources.iter().map(|s| narrow::each(s, scope)).collect();
        let elements = match zipped {
            Some(_) => self.zip_elements(binders, &typed_sources, over.span),
            None => self.elements(binders, &typed_sources[0], over.span),
        };
        let mut slots = Vec::new();
        for (at, binder) in binders.iter().enumerate() {
            let symbol = if sources.len() == binders.len() { symbols[at].clone() } else { None };
            let ty = elements.get(at).cloned().unwrap_or(Type::Error);
            self.hides(binder, scope);
            slots.push(scope.bind(&binder.node, ty, symbol));
            // The first or only name of a quantifier over a map is a key.
            if let (0, [Expr { ty: Type::Map(key, ..), .. }]) = (at, &typed_sources[..])
                && let Some(local) = scope.locals.last_mut()
            {
                local.key = *key;
            }
        }
        (typed_sources, slots)
    }

    fn zip_elements(&mut self, binders: &[ast::Ident], sources: &[Expr], span: Span) -> Vec<Type> {
        if binders.len() != sources.len() || sources.len() < 2 {
            let message = format!(
                "`zip` of {} binds {}",
                errors::count(sources.len(), "list"),
                errors::count(binders.len(), "name")
            );
            self.report(errors::arguments(span, message, "all a, b in zip(xs, ys): …"));
            return Vec::new();
        }
        sources
            .iter()
            .map(|s| match &s.ty {
                Type::List(element, _) => (**element).clone(),
                Type::Error => Type::Error,
                other => self.mismatch(s.span, "a list", other).ty,
            })
            .collect()
    }

    fn elements(&mut self, binders: &[ast::Ident], source: &Expr, span: Span) -> Vec<Type> {
        let (key, element) = match &source.ty {
            Type::List(element, _) => (Type::Int(Some(0), None), (**element).clone()),
            Type::Set(element, _) => (Type::Error, (**element).clone()),
            Type::Map(key, value, _) => (key.ty(), (**value).clone()),
            Type::Json => (Type::string(), Type::Json),
            Type::Error => return Vec::new(),
            other => {
                self.mismatch(span, "a collection", other);
                return Vec::new();
            }
        };
        match (binders.len(), &source.ty) {
            (1, Type::Map(..)) => vec![key],
            (1, _) => vec![element],
            (2, Type::List(..) | Type::Map(..) | Type::Json) => vec![key, element],
            (n, _) => {
                let message = format!("{} binds {n} names", self.show(&source.ty));
                self.report(errors::arguments(
                    span,
                    message,
                    "all x in xs: …, all key, value in map: …",
                ));
                Vec::new()
            }
        }
    }
}

/// Returns the position of the last operand of a body, if it reads no element and is therefore not
/// evaluated if the collection is empty.
fn swallowed(op: Quantifier, body: &ast::Expr, typed: &Expr, slots: &[u32]) -> Option<Span> {
    use ast::ExprKind::Binary;
    let other = match op {
        Quantifier::All => QuantifierOp::Any,
        Quantifier::Any => QuantifierOp::All,
        _ => return None,
    };
    let mut body = body;
    let mut typed = typed;
    let mut slots = slots.to_vec();
    // A quantifier of the other kind moves its last operand outwards.
    while let (
        ast::ExprKind::Quantified { body: written, .. },
        ExprKind::Quantified { op, binders, body: inner, .. },
    ) = (&body.kind, &typed.kind)
        && *op == other
    {
        slots.extend(binders);
        (body, typed) = (written, inner);
    }
    let (last, written) = match (op, &typed.kind, &body.kind) {
        (Quantifier::Any, ExprKind::Or(_, last), Binary(BinaryOp::Or, _, written)) => {
            (last, written)
        }
        (Quantifier::All, ExprKind::And(_, last), Binary(BinaryOp::And, _, written)) => {
            (last, written)
        }
        _ => return None,
    };
    let is_bound = last.ty == Type::Error || reads_local(last, &slots);
    (!is_bound).then_some(written.span)
}

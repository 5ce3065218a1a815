//! Ranges of clauses, and the rows that a `learn` teaches.

use super::TypeChecker;
use super::narrow;
use super::report::named_field;
use super::scope::{MissingMeaning, Scope};
use super::ty::fits;
use super::typed::folded;
use crate::errors;
use crate::hir::{self, Expr, Type};
use guard_plan::plan::MAX_RANGES;
use guard_syntax::ast;
use guard_syntax::span::Span;

impl TypeChecker<'_, '_> {
    /// Checks the collections that a clause iterates over, and binds the names. An element that is
    /// bound by its key or index is present.
    pub(super) fn ranges(
        &mut self,
        each: &[(Vec<ast::Ident>, ast::Expr)],
        (clause, help): (&str, &str),
        scope: &mut Scope,
    ) -> Vec<hir::Range> {
        let mut ranges = Vec::new();
        for (nth, (binders, source)) in each.iter().enumerate() {
            let (mut sources, slots) = self.bind(binders, source, scope);
            if sources.len() != 1 {
                self.report(errors::wrong_place(source.span, "`zip`", clause, help));
            } else if nth == MAX_RANGES {
                self.report(errors::too_many_ranges(source.span, MAX_RANGES));
            } else {
                let by_key = match sources[0].ty.required() {
                    Type::Map(..) => true,
                    Type::List(..) => binders.len() == 2,
                    _ => false,
                };
                let at = binders.first().filter(|_| by_key);
                let entry = at.and_then(|at| narrow::element(source, at, scope));
                scope.established.extend(entry);
                ranges.extend(sources.pop().map(|over| hir::Range { over, binders: slots }));
            }
        }
        ranges
    }

    /// Checks a `learn` clause of a result or a prompt.
    pub(super) fn learn(
        &mut self,
        learn: &ast::Learn,
        span: Span,
        scope: &mut Scope,
    ) -> Option<hir::Learn> {
        let projected = projected(learn);
        let learn = projected.as_ref().unwrap_or(learn);
        let depth = scope.locals.len();
        let established = scope.established.len();
        let help = "learn from one collection, a clause each";
        let ranges = self.ranges(&learn.each, ("a lesson", help), scope);
        // A missing value teaches nothing.
        scope.missing = MissingMeaning::Refuses(false);
        let when = learn.when.as_ref().map(|w| self.condition(w, scope));
        scope.missing = MissingMeaning::Strict;
        scope.decodes = true;
        if let Some(when) = &learn.when {
            narrow::establish(when, true, scope);
        }
        let row = self
            .fact(&learn.fact)
            .and_then(|fact| Some((fact, self.learned_row(fact, learn, span, scope)?)));
        scope.established.truncate(established);
        scope.decodes = false;
        scope.locals.truncate(depth);
        let (fact, row) = row?;
        Some(hir::Learn { fact, ranges, when, row })
    }

    fn learned_row(
        &mut self,
        fact: usize,
        learn: &ast::Learn,
        span: Span,
        scope: &mut Scope,
    ) -> Option<Vec<Expr>> {
        let row = self.program.facts[fact].row;
        let columns = self.program.records[row].fields.clone();
        let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
        let owner = format!("the fact `{}`", learn.fact.node);
        let mut values: Vec<Option<Expr>> = vec![None; columns.len()];
        for (nth, arg) in learn.args.iter().enumerate() {
            let at = match &arg.name {
                Some(name) => self.reported(named_field(&columns, &owner, name))?.0,
                None => match self.names.facts.items[fact].decl.columns.get(nth) {
                    // Columns are stored with the keys first, but written as declared.
                    Some(column) => names.iter().position(|n| *n == column.name.node)?,
                    None => break,
                },
            };
            values[at] = Some(self.learned_value(&arg.value, &columns[at], scope));
        }
        let complete = values.iter().all(Option::is_some) && learn.args.len() == columns.len();
        if !complete {
            let has = errors::count(columns.len(), "column");
            let message = format!("`{}` has {has}, found {}", learn.fact.node, learn.args.len());
            let signature = format!("learn {}({})", learn.fact.node, names.join(": …, ") + ": …");
            self.report(errors::arguments(span, message, &signature));
            return None;
        }
        Some(values.into_iter().flatten().collect())
    }

    /// Types the value of a column. A list or set of values teaches one row for each.
    fn learned_value(&mut self, e: &ast::Expr, column: &hir::Field, scope: &mut Scope) -> Expr {
        let found = self.expr(e, Some(&column.ty), scope);
        if let Type::List(element, _) | Type::Set(element, _) = found.ty.required()
            && !fits(&found.ty, &column.ty)
        {
            if fits(element, &column.ty) && !column.caseless {
                return found;
            }
            return self.mismatch(e.span, &self.show(&column.ty), &found.ty);
        }
        folded(self.fit(e, found, &column.ty, scope), column)
    }
}

/// The name that `[*]` binds. No author can write it.
const ELEMENT: &str = "[*]";

/// Rewrites `learn f(xs[*].a)` as `learn f(x.a) for x in xs`; `None` if there is no `[*]` to bind.
fn projected(learn: &ast::Learn) -> Option<ast::Learn> {
    let mut over: Option<ast::Expr> = None;
    let mut out = learn.clone();
    for arg in &mut out.args {
        bind_each(&mut arg.value, &mut over);
    }
    let binder = ast::Ident { node: ELEMENT.to_string(), span: over.as_ref()?.span };
    if !out.each.is_empty() {
        // There are two collections to iterate over: the `[*]` stays and is reported.
        return None;
    }
    out.each.push((vec![binder], over?));
    Some(out)
}

/// Replaces `xs[*]` by the bound element, if all of them iterate over the same collection.
fn bind_each(e: &mut ast::Expr, over: &mut Option<ast::Expr>) {
    use ast::ExprKind as E;
    match &mut e.kind {
        E::Each(operand) if over.as_ref().is_none_or(|known| *known == **operand) => {
            *over = Some((**operand).clone());
            e.kind = E::Name(ELEMENT.to_string());
        }
        E::Field(record, _) | E::Index(record, _) | E::Else(record, _) => bind_each(record, over),
        E::Binary(ast::BinaryOp::Add, a, b) => {
            bind_each(a, over);
            bind_each(b, over);
        }
        E::Call(_, args) => args.iter_mut().for_each(|arg| bind_each(&mut arg.value, over)),
        _ => {}
    }
}

//! `private result to READERS`, `may_read(READERS, TEXT)`, and the parts of results that are trusted under a condition.

use super::TypeChecker;
use super::clauses::negated_if;
use super::narrow;
use super::scope::{MissingMeaning, Scope};
use super::trust::inner;
use super::ty::innermost;
use super::typed::{boxed, broken, typed};
use crate::errors;
use crate::hir::{ClauseKind, Expr, ExprKind, Program, Range, SelectedPart, ToolId, Type};
use crate::lower::each_expr;
use guard_plan::builtin::{Builtin, TABLE};
use guard_plan::plan::MAX_RANGES;
use guard_plan::trust::ELEMENT;
use guard_syntax::ast::{self, Arg, PartPath, ResultStep};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;

/// The form of the question.
const MAY_READ: &str = "may_read(READER, TEXT)";

impl TypeChecker<'_, '_> {
    /// Checks a `private` clause. Its condition and its readers may read the result. What the
    /// condition establishes also holds for the readers.
    pub(super) fn private(
        &mut self,
        at: ToolId,
        (part, each): (&PartPath, &[(Vec<ast::Ident>, ast::Expr)]),
        to: Option<&ast::Expr>,
        guard: Option<&ast::ClauseCondition>,
        scope: &mut Scope,
    ) -> Option<ClauseKind> {
        let (part, _) = self.selected(at, Some(part), each, scope)?;
        let when = guard.map(|guard| self.guard(guard, scope));
        if let Some(guard) = guard {
            narrow::establish(&guard.condition, !guard.unless, scope);
        }
        scope.missing = MissingMeaning::Strict;
        let to = to.map(|to| {
            let readers = Type::Set(Type::string().into(), None);
            let found = self.expr(to, Some(&readers), scope);
            self.readers(to, found, scope)
        });
        Some(ClauseKind::Private { part, to, when })
    }

    /// Checks a `trusted` clause that applies only to some results.
    pub(super) fn endorsement(
        &mut self,
        at: ToolId,
        clause: &ast::ClauseKind,
        scope: &mut Scope,
    ) -> Option<ClauseKind> {
        let ast::ClauseKind::Trusted { extractor, part, each, guard } = clause else { return None };
        let (selected, ty) = self.selected(at, part.as_ref(), each, scope)?;
        let extractor = match extractor {
            Some(name) => Some(self.extractor(name, &ty)?),
            None => None,
        };
        let when = guard.as_ref().map(|guard| {
            // A missing value endorses nothing.
            scope.missing = MissingMeaning::Refuses(guard.unless);
            negated_if(guard.unless, self.condition(&guard.condition, scope))
        });
        Some(ClauseKind::Endorse { part: selected, extractor, when })
    }

    fn extractor(&mut self, name: &ast::Ident, ty: &Type) -> Option<Builtin> {
        let extractor = Builtin::by_name(&name.node).filter(|builtin| builtin.is_extractor());
        if extractor.is_none() {
            let extractors = TABLE.iter().filter(|row| row.builtin.is_extractor());
            self.report(errors::unknown_extractor(name, extractors.map(|row| row.name)));
        } else if *ty.required() == Type::Json || !holds_text(ty) {
            self.mismatch(name.span, "a text", ty);
            return None;
        }
        extractor
    }

    /// Returns the part of a result that a clause names, and its type; `None` if there is no such
    /// part.
    fn selected(
        &mut self,
        at: ToolId,
        part: Option<&PartPath>,
        each: &[(Vec<ast::Ident>, ast::Expr)],
        scope: &mut Scope,
    ) -> Option<(SelectedPart, Type)> {
        let mut base = self.signatures[at].returns.clone().unwrap_or(Type::Json);
        let mut path = Vec::new();
        let mut ranges = Vec::new();
        let mut begin: &str = "result";
        let mut element = None;
        for (binders, source) in each {
            if ranges.len() == MAX_RANGES {
                self.report(errors::too_many_ranges(source.span, MAX_RANGES));
                return None;
            }
            let (mut sources, slots) = self.bind(binders, source, scope);
            let over = sources.pop()?;
            let steps = sources.is_empty().then(|| list_within(&self.program, &over, element));
            base = match (steps.flatten(), over.ty.required()) {
                (Some(steps), Type::List(element, _)) => {
                    path.extend(steps);
                    Type::clone(element)
                }
                (Some(steps), Type::Json) => {
                    path.extend(steps);
                    Type::Json
                }
                (_, Type::List(..) | Type::Set(..) | Type::Map(..) | Type::Json) => {
                    self.report(errors::range_elsewhere(source.span, begin));
                    return None;
                }
                _ => return None,
            };
            path.push(ELEMENT.to_owned());
            begin = binders.last().map_or(begin, |name| &name.node);
            element = slots.last().copied();
            ranges.push(Range { over, binders: slots });
        }
        if let Some(part) = part.filter(|part| part.of.node != begin) {
            self.report(errors::part_of_other(&part.of, begin));
            return None;
        }
        let (steps, ty) = self.private_part(&base, part.map_or(&[], |part| &part.steps))?;
        path.extend(steps);
        Some((SelectedPart { path, ranges }, ty))
    }

    /// Types readers: a text, or a list or set of texts. A `json` value is decoded to this when the
    /// call settles.
    fn readers(&mut self, e: &ast::Expr, found: Expr, scope: &Scope) -> Expr {
        if *found.ty.required() == Type::Json {
            return found;
        }
        let found = self.present(e, found, scope);
        if !are_readers(&found.ty) {
            return self.mismatch(e.span, "a string, or a list or set of strings", &found.ty);
        }
        found
    }

    /// Returns the steps to a part of a result, by wire name, and its type; `None` if the type has
    /// no such part.
    fn private_part(&mut self, returns: &Type, path: &[ResultStep]) -> Option<(Vec<String>, Type)> {
        let mut steps = Vec::new();
        let mut ty = returns.clone();
        for step in path {
            let (step, inner) = match step {
                ResultStep::Elements(span) => (ELEMENT.to_owned(), self.each_of(&ty, span.0)?),
                ResultStep::Field(name) => self.part_within(&ty, name)?,
            };
            steps.push(step);
            ty = inner;
        }
        Some((steps, ty))
    }

    /// Returns the wire name and the type of a part of a value, or of each of its elements.
    pub(super) fn part_within(&mut self, ty: &Type, name: &ast::Ident) -> Option<(String, Type)> {
        match innermost(ty) {
            Type::Json => Some((name.node.clone(), Type::Json)),
            Type::Record(id) => {
                let (_, field) = self.reported(self.record_field(*id, name))?;
                Some((field.wire, field.ty))
            }
            other => {
                self.no_fields(name, other);
                None
            }
        }
    }

    /// Returns the type of the elements of a collection.
    fn each_of(&mut self, ty: &Type, span: Span) -> Option<Type> {
        match ty.required() {
            Type::List(element, _) | Type::Set(element, _) | Type::Map(_, element, _) => {
                Some(Type::clone(element))
            }
            Type::Json => Some(Type::Json),
            Type::Error => None,
            other => {
                self.mismatch(span, "a list, set or map", other);
                None
            }
        }
    }

    /// Types `may_read(who, text)`.
    pub(super) fn may_read(&mut self, args: &[Arg], span: Span, scope: &mut Scope) -> Expr {
        if !scope.place.asks() {
            return self.misplaced(span, "who may read a text", scope);
        }
        let [Arg { name: None, value: who }, Arg { name: None, value: text }] = args else {
            let message = "`may_read` asks for readers and for a text".to_owned();
            return self.broken(span, errors::arguments(span, message, MAY_READ));
        };
        // A named reader that is missing may read nothing, so the answer is false.
        let tested = scope.missing.accepts(false);
        let readers = self.operand(scope, |checker, scope| {
            let found = checker.expr(who, Some(&Type::string()), scope);
            if tested && are_readers(found.ty.required()) {
                found
            } else {
                checker.readers(who, found, scope)
            }
        });
        let found = self.operand(scope, |checker, scope| {
            let found = checker.expr(text, None, scope);
            // A missing place contains nothing. A missing computed value says nothing about the
            // values that it is computed from.
            if is_computed(&found) { checker.present(text, found, scope) } else { found }
        });
        if readers.ty == Type::Error || found.ty == Type::Error {
            return broken(span);
        }
        if !holds_text(&found.ty) {
            return self.mismatch(text.span, "a text, or a list or set of texts", &found.ty);
        }
        typed(ExprKind::MayRead(boxed(readers), boxed(found)), Type::Bool, span)
    }

    /// Warns about private results that no rule asks about, and about questions if nothing is
    /// private.
    pub(super) fn private_unasked(&mut self) {
        // A rule with an error may be the one that asks.
        if self.diagnostics.iter().any(Diagnostic::is_error) {
            return;
        }
        let (privates, questions) = private_places(&self.program);
        match (privates.first(), questions.first()) {
            (Some(_), None) => privates
                .into_iter()
                .for_each(|span| self.report_once(errors::private_unasked(span))),
            (None, Some(_)) => questions
                .into_iter()
                .for_each(|span| self.report_once(errors::nothing_private(span))),
            _ => {}
        }
    }
}

/// Returns true if a value is computed, or is a part of a computed value.
fn is_computed(e: &Expr) -> bool {
    match inner(e) {
        Some(element) => is_computed(element),
        None => {
            matches!(e.kind, ExprKind::Call(..) | ExprKind::Quantified { .. } | ExprKind::If(..))
        }
    }
}

/// Returns the steps from a bound element, or from the result, to a list in it; `None` for anything else.
fn list_within(program: &Program, e: &Expr, element: Option<u32>) -> Option<Vec<String>> {
    match &e.kind {
        ExprKind::Result if element.is_none() => Some(Vec::new()),
        ExprKind::Local(slot) if element == Some(*slot) => Some(Vec::new()),
        ExprKind::Unwrap(operand, _) => list_within(program, operand, element),
        ExprKind::Member(object, name) => {
            let mut steps = list_within(program, object, element)?;
            steps.push(name.clone());
            Some(steps)
        }
        ExprKind::Field(record, at) => {
            let mut steps = list_within(program, record, element)?;
            let Type::Record(id) = record.ty.required() else { return None };
            steps.push(program.records[*id].fields.get(*at as usize)?.wire.clone());
            Some(steps)
        }
        _ => None,
    }
}

/// Returns the positions of the `private` clauses of a program, and of the questions about private
/// content.
fn private_places(program: &Program) -> (Vec<Span>, Vec<Span>) {
    let clauses = program.tools.iter().flat_map(|tool| &tool.clauses);
    let privates = clauses.filter(|clause| matches!(clause.kind, ClauseKind::Private { .. }));
    let privates = privates.map(|clause| clause.rule.span).collect();
    let mut questions = Vec::new();
    each_expr(program, &mut |root| {
        root.walk(&mut |part| {
            if let ExprKind::MayRead(..) = &part.kind {
                questions.push(part.span);
            }
        });
    });
    (privates, questions)
}

fn are_readers(ty: &Type) -> bool {
    match ty {
        Type::String(_) | Type::Json | Type::Error => true,
        Type::List(element, _) | Type::Set(element, _) => {
            matches!(**element, Type::String(_) | Type::Never)
        }
        _ => false,
    }
}

fn holds_text(ty: &Type) -> bool {
    match ty.required() {
        Type::String(_) | Type::Command | Type::Path | Type::Url | Type::Json | Type::Never => true,
        Type::List(element, _) | Type::Set(element, _) => holds_text(element),
        _ => false,
    }
}

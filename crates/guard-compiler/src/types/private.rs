//! `private result to READERS`, and `may_read(READERS, TEXT)`.

use super::Checker;
use super::expr::{boxed, broken, typed};
use super::narrow;
use super::scope::{Missing, Place, Scope};
use crate::errors;
use crate::hir::{ClauseKind, Expr, ExprKind, Program, ToolId, Type};
use crate::lower::each_expr;
use guard_plan::trust::ELEMENT;
use guard_syntax::ast::{self, Arg, ResultStep};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;

/// The form of the question.
const MAY_READ: &str = "may_read(READER, TEXT)";

/// The parts of a `private` clause.
pub(super) struct PrivateClause<'a> {
    pub path: &'a [ResultStep],
    pub to: Option<&'a ast::Expr>,
    pub guard: Option<&'a ast::Guard>,
}

impl Checker<'_, '_> {
    /// Checks a `private` clause. Its condition and its readers may read the result; what the condition says holds for the
    /// readers.
    pub(super) fn private(
        &mut self,
        at: ToolId,
        private: &PrivateClause,
        outer: &Scope,
    ) -> Option<ClauseKind> {
        let mut scope = outer.clone();
        scope.place = Place::Settle;
        let returns = self.signatures[at].returns.clone();
        scope.result = Some(returns.clone().unwrap_or(Type::Json));
        let path = self.private_part(returns.as_ref().unwrap_or(&Type::Json), private.path)?;
        let when = private.guard.map(|guard| self.guard(guard, &mut scope));
        if let Some(guard) = private.guard {
            let mut keys = Vec::new();
            narrow::implied(&guard.condition, !guard.unless, &scope, &mut keys);
            scope.established.append(&mut keys);
        }
        scope.missing = Missing::Strict;
        let to = private.to.map(|to| {
            let readers = Type::Set(Type::string().into(), None);
            let found = self.expr(to, Some(&readers), &mut scope);
            self.readers(to, found, &scope)
        });
        Some(ClauseKind::Private { path, to, when })
    }

    /// Returns readers: a text, or a list or set of texts; `json` is read as such when the call settles.
    fn readers(&mut self, e: &ast::Expr, found: Expr, scope: &Scope) -> Expr {
        if *found.ty.required() == Type::Json {
            return found;
        }
        let found = self.present(e, found, scope);
        if !are_readers(&found.ty) {
            let shown = self.show(&found.ty);
            self.report(errors::mismatch(e.span, "a string, or a list or set of strings", &shown));
            return broken(e.span);
        }
        found
    }

    /// Returns the steps to a part of a result, by wire name; `None` where its type has no such part.
    fn private_part(&mut self, returns: &Type, path: &[ResultStep]) -> Option<Vec<String>> {
        let mut steps = Vec::new();
        let mut ty = returns.clone();
        for step in path {
            let name = match step {
                ResultStep::Elements(span) => {
                    ty = self.each_of(&ty, span.0)?;
                    steps.push(ELEMENT.to_owned());
                    continue;
                }
                ResultStep::Field(name) => name,
            };
            while let Type::List(of, _) | Type::Set(of, _) | Type::Option(of) = &ty {
                ty = Type::clone(of);
            }
            ty = match &ty {
                Type::Json => {
                    steps.push(name.node.clone());
                    Type::Json
                }
                Type::Record(id) => {
                    let record = &self.program.records[*id];
                    let Some(field) = record.fields.iter().find(|field| field.name == name.node)
                    else {
                        let known: Vec<String> =
                            record.fields.iter().map(|field| field.name.clone()).collect();
                        let of = format!("the record `{}`", record.name);
                        let known = known.iter().map(String::as_str);
                        self.report(errors::unknown_field(name, &of, known));
                        return None;
                    };
                    steps.push(field.wire.clone());
                    field.ty.clone()
                }
                other => {
                    let shown = self.show(other);
                    self.report(errors::no_fields(name.span, &shown));
                    return None;
                }
            };
        }
        Some(steps)
    }

    /// Returns the type of the elements of a collection.
    fn each_of(&mut self, ty: &Type, span: Span) -> Option<Type> {
        match ty.required() {
            Type::List(of, _) | Type::Set(of, _) | Type::Map(_, of, _) => Some(Type::clone(of)),
            Type::Json => Some(Type::Json),
            Type::Error => None,
            other => {
                let shown = self.show(other);
                self.report(errors::mismatch(span, "a list, set or map", &shown));
                None
            }
        }
    }

    /// `may_read(who, text)`.
    pub(super) fn may_read(&mut self, args: &[Arg], span: Span, scope: &mut Scope) -> Expr {
        if !scope.place.asks() {
            return self.misplaced(span, "who may read a text", scope);
        }
        let [Arg { name: None, value: who }, Arg { name: None, value: text }] = args else {
            let message = "`may_read` asks for readers and for a text".to_owned();
            self.report(errors::arguments(span, message, MAY_READ));
            return broken(span);
        };
        // Nobody who is named may read nothing: the answer is false.
        let tested = scope.missing.accepts(false);
        let readers = self.operand(scope, |this, scope| {
            let found = this.expr(who, Some(&Type::string()), scope);
            match tested && are_readers(found.ty.required()) {
                true => found,
                false => this.readers(who, found, scope),
            }
        });
        let found = self.operand(scope, |this, scope| this.expr(text, None, scope));
        if readers.ty == Type::Error || found.ty == Type::Error {
            return broken(span);
        }
        if !holds_text(&found.ty) {
            let shown = self.show(&found.ty);
            let wanted = "a text, or a list or set of texts";
            self.report(errors::mismatch(text.span, wanted, &shown));
            return broken(span);
        }
        typed(ExprKind::MayRead(boxed(readers), boxed(found)), Type::Bool, span)
    }

    /// Warns of private results that no rule asks about, and of questions where nothing is private.
    pub(super) fn private_unasked(&mut self) {
        // A rule that is wrong may be the one that asks.
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

/// The places of the `private` clauses of a program, and of its questions about them.
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
        Type::List(of, _) | Type::Set(of, _) => matches!(**of, Type::String(_) | Type::Never),
        _ => false,
    }
}

fn holds_text(ty: &Type) -> bool {
    match ty.required() {
        Type::String(_) | Type::Command | Type::Path | Type::Url | Type::Json | Type::Never => true,
        Type::List(of, _) | Type::Set(of, _) => holds_text(of),
        _ => false,
    }
}

//! `let`: names that a tool or a policy gives to expressions, for its own clauses.

use super::Checker;
use super::clauses::Governs;
use super::scope::{Place, Scope};
use super::text::text;
use crate::defines::{Measure, WrittenOut, free_names, in_circles, is_built_in, ordered};
use crate::errors;
use crate::hir::{self, Type};
use crate::names::Names;
use guard_syntax::ast::{self, ClauseKind, Ident};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;
use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The most names whose meaning is shown beside a condition.
const SHOWN_NAMES: usize = 8;
/// The most characters of a condition and of what its names stand for; what is longer helps nobody who reads it.
const SHOWN_MEANING: usize = 400;

/// The names of one tool or policy.
#[derive(Default)]
pub(crate) struct Lets<'s> {
    items: Vec<Let<'s>>,
}

struct Let<'s> {
    name: &'s Ident,
    value: &'s ast::Expr,
    /// None where it is in error.
    size: Option<WrittenOut>,
    used: Cell<bool>,
}

impl<'s> Lets<'s> {
    /// Collects the names of a tool's or a policy's own clauses; they may use one another in any order.
    pub fn of(
        clauses: &'s [ast::Clause],
        names: &Names,
        report: &mut dyn FnMut(Diagnostic),
    ) -> Lets<'s> {
        let mut lets = Lets { items: Vec::new() };
        for clause in clauses {
            let ClauseKind::Let { name, value } = &clause.kind else { continue };
            if clause.shadow {
                report(errors::shadow_let(clause.span.0, &name.node));
            }
            let first = lets.items.iter().find(|known| known.name.node == name.node);
            let first = first
                .map(|known| known.name.span)
                .or_else(|| names.value(&name.node).map(|(_, span)| span));
            match first {
                _ if is_built_in(&name.node) => report(errors::built_in_name("let", name)),
                Some(first) => report(errors::duplicate("name", name, first)),
                None => {
                    lets.items.push(Let { name, value, size: None, used: Cell::new(false) });
                }
            }
        }
        lets.measure(names, report);
        lets
    }

    fn measure(&mut self, names: &Names, report: &mut dyn FnMut(Diagnostic)) {
        let position = |name: &str| self.items.iter().position(|one| one.name.node == name);
        let uses = |one: &Let<'s>| -> Vec<(usize, Span)> {
            let mut free = Vec::new();
            free_names(one.value, &mut Vec::new(), &mut free);
            free.into_iter().filter_map(|(name, span)| Some((position(name)?, span))).collect()
        };
        let uses: Vec<Vec<(usize, Span)>> = self.items.iter().map(uses).collect();
        let (order, circles) = ordered(&uses);
        let name = |at: usize| self.items[at].name.node.as_str();
        let broken = in_circles("let", uses.len(), &circles, name, report);
        for at in order {
            if broken[at] || uses[at].iter().any(|(used, _)| self.items[*used].size.is_none()) {
                continue;
            }
            let size = self.size_of(self.items[at].value, names, &[]);
            if size.is_too_large() {
                report(errors::define_too_large(self.items[at].name, size.nodes(), size.depth()));
            } else {
                self.items[at].size = Some(size);
            }
        }
    }

    /// Returns the size of an expression; `hidden` are names that mean something else in it.
    pub fn size_of(&self, e: &ast::Expr, names: &Names, hidden: &[&str]) -> WrittenOut {
        let define = |name: &str| names.defines.peek(name);
        let given = |name: &str| self.find(name).and_then(|one| one.size.clone());
        let measure =
            Measure { sizes: &names.written_out, define: &define, params: &[], given: &given };
        measure.of(e, &mut hidden.to_vec())
    }

    fn find(&self, name: &str) -> Option<&Let<'s>> {
        self.items.iter().find(|one| one.name.node == name)
    }

    /// Returns the expression of this name.
    pub fn value(&self, name: &str) -> Option<&'s ast::Expr> {
        let found = self.find(name)?;
        found.used.set(true);
        Some(found.value)
    }

    /// Returns whether the expression of this name can be written out.
    pub fn is_sound(&self, name: &str) -> bool {
        self.find(name).is_some_and(|one| one.size.is_some())
    }

    /// Returns all names.
    pub fn names(&self) -> impl Iterator<Item = &'s str> + '_ {
        self.items.iter().map(|one| one.name.node.as_str())
    }

    /// Returns the names with their expressions that no clause has read.
    pub fn unused(&self) -> impl Iterator<Item = (&'s Ident, &'s ast::Expr)> + '_ {
        self.items.iter().filter(|one| !one.used.get()).map(|one| (one.name, one.value))
    }

    /// Returns where a name is given.
    pub fn declared(&self) -> impl Iterator<Item = &'s Ident> + '_ {
        self.items.iter().map(|one| one.name)
    }
}

impl<'a> Checker<'a, '_> {
    /// The names that the clauses of a tool or a policy give.
    pub(super) fn lets_of(&mut self, clauses: &'a [ast::Clause]) -> Lets<'a> {
        let names = self.names;
        Lets::of(clauses, names, &mut |d| self.report(d))
    }

    /// Looks at the names of a tool and its policies once their clauses have been judged.
    pub(super) fn lets<'s>(
        &mut self,
        at: hir::ToolId,
        clauses: &[Governs<'s>],
        scope: &mut Scope<'s>,
    ) {
        scope.place = Place::Settle;
        scope.result = Some(self.signatures[at].returns.clone().unwrap_or(Type::Json));
        let mut seen: Vec<*const Lets> = Vec::new();
        for governs in clauses {
            if seen.contains(&Rc::as_ptr(&governs.lets)) {
                continue;
            }
            seen.push(Rc::as_ptr(&governs.lets));
            for name in governs.lets.declared() {
                if let Some(param) = scope.param(&name.node) {
                    let d = errors::duplicate("name", name, scope.params[param].span);
                    self.report(d);
                }
            }
            scope.lets = governs.lets.clone();
            self.unused_lets(scope);
        }
    }

    /// Returns a condition as its author wrote it, and after `where` what its names stand for: a reader of a reason sees
    /// no declarations.
    pub(super) fn shown(&self, condition: &ast::Expr, scope: &Scope) -> String {
        let mut out = text(condition);
        // Names that wait, and whether they stand in a define, which sees no `let` and no parameter of a tool.
        let mut waiting = VecDeque::from([(condition, false, Vec::new())]);
        let mut seen: Vec<&str> = Vec::new();
        while let Some((e, in_define, mut bound)) = waiting.pop_front() {
            let mut free = Vec::new();
            free_names(e, &mut bound, &mut free);
            for (name, _) in free {
                let own = !in_define && scope.params.iter().any(|param| param.name == name);
                if own || seen.contains(&name) {
                    continue;
                }
                let (params, value) = match self.stands_for(name, in_define, scope) {
                    Some(found) => found,
                    None => continue,
                };
                seen.push(name);
                let params: Vec<&str> = params.iter().map(|param| &*param.name.node).collect();
                let head = match params.is_empty() {
                    true => name.to_owned(),
                    false => format!("{name}({})", params.join(", ")),
                };
                out += if seen.len() == 1 { " where " } else { ", " };
                let shown = text(value);
                match out.len() + shown.len() > SHOWN_MEANING {
                    true => out += &format!("{head} = …"),
                    false => out += &format!("{head} = {shown}"),
                }
                if seen.len() == SHOWN_NAMES {
                    return out;
                }
                let is_let = !in_define && scope.lets.find(name).is_some();
                waiting.push_back((value, !is_let, params));
            }
        }
        out
    }

    /// The parameters and the expression of a `let` or a define.
    fn stands_for(
        &self,
        name: &str,
        in_define: bool,
        scope: &Scope<'a>,
    ) -> Option<(&'a [ast::Field], &'a ast::Expr)> {
        let given = scope.lets.find(name).filter(|_| !in_define);
        match given {
            Some(found) => Some((&[], found.value)),
            None => {
                let define = self.names.defines.items[self.names.defines.peek(name)?].decl;
                Some((&define.params, &define.value))
            }
        }
    }

    /// A bound variable with the name of a `let` or a define.
    pub(super) fn hides(&mut self, binder: &Ident, scope: &Scope) {
        let name = &binder.node;
        let named = scope.lets.declared().find(|known| known.node == *name);
        let defined =
            self.names.defines.peek(name).map(|at| self.names.defines.items[at].name.span);
        let (of, declared) = match (named, defined) {
            (Some(named), _) => ("`let`", named.span),
            (None, Some(span)) => ("define", span),
            (None, None) => return,
        };
        self.report(errors::hidden_name("bound variable", name, binder.span, of, Some(declared)));
    }

    /// Judges the expressions that no clause reads, so that their mistakes are found, and says that nobody does.
    pub(super) fn unused_lets(&mut self, scope: &Scope) {
        let unused: Vec<(&Ident, &ast::Expr)> = scope.lets.unused().collect();
        for (_, value) in &unused {
            self.by_itself(|this| drop(this.expr(value, None, &mut scope.of_let())));
        }
        // With errors, the intended uses are unknown.
        if self.diagnostics.iter().all(|d| !d.is_error()) {
            unused.iter().for_each(|(name, _)| self.report(errors::unused("let", name)));
        }
    }
}

//! Checks the names that tools and policies declare, and shows their meanings.

use super::Lets;
use crate::defines::{FreeName, free_names};
use crate::errors;
use crate::hir::{self, Type};
use crate::types::TypeChecker;
use crate::types::governs::Governs;
use crate::types::scope::{ExprPlace, Scope};
use crate::types::text::text;
use guard_syntax::ast::{self, Ident};
use std::collections::VecDeque;
use std::rc::Rc;

/// The maximum number of names whose meaning is shown next to a condition.
const SHOWN_NAMES: usize = 8;
/// The maximum number of characters of a condition and of the meanings of its names. A longer text
/// helps no reader.
const SHOWN_MEANING: usize = 400;

impl<'a> TypeChecker<'a, '_> {
    /// Returns the names that the clauses of a tool or a policy declare.
    pub(in crate::types) fn lets_of(&mut self, clauses: &'a [ast::Clause]) -> Lets<'a> {
        let names = self.names;
        Lets::collect(clauses, names, &mut |d| self.report(d))
    }

    /// Checks the names of a tool and its policies after their clauses have been checked.
    pub(in crate::types) fn lets<'s>(
        &mut self,
        at: hir::ToolId,
        clauses: &[Governs<'s>],
        scope: &mut Scope<'s>,
    ) {
        scope.place = ExprPlace::Settle;
        scope.result = Some(self.signatures[at].returns.clone().unwrap_or(Type::Json));
        let mut seen: Vec<*const Lets> = Vec::new();
        for governs in clauses {
            // All clauses of a policy share its names.
            if seen.contains(&Rc::as_ptr(&governs.lets)) {
                continue;
            }
            seen.push(Rc::as_ptr(&governs.lets));
            for name in governs.lets.declared() {
                let param = scope.param(&name.node).map(|param| scope.params[param].span);
                let of_tool = governs.lets.of_tool.as_ref().and_then(|lets| lets.own(&name.node));
                if let Some(first) = param.or(of_tool.map(|binding| binding.name.span)) {
                    self.report(errors::duplicate("name", name, first));
                }
            }
            scope.lets = governs.lets.clone();
            self.unused_lets(scope);
        }
    }

    /// Returns a condition as its author wrote it, and after `where` the meanings of its names,
    /// because a reader of a reason does not see the declarations.
    pub(in crate::types) fn shown(&self, condition: &ast::Expr, scope: &Scope) -> String {
        let mut out = text(condition);
        // The waiting names, and the names declared around them. A define sees no `let` and no
        // parameter of a tool.
        let mut waiting = VecDeque::from([(condition, Some(scope.lets.clone()), Vec::new())]);
        let mut seen: Vec<&str> = Vec::new();
        let mut told = 0;
        while let Some((e, lets, mut bound)) = waiting.pop_front() {
            let mut free = Vec::new();
            free_names(e, &mut bound, &mut free);
            for FreeName { name, called, .. } in free {
                let lets = lets.as_ref().filter(|_| !called);
                let own = lets.is_some() && scope.params.iter().any(|param| param.name == name);
                if own || seen.contains(&name) {
                    continue;
                }
                let (params, value) = match self.stands_for(name, lets.map(Rc::as_ref)) {
                    Some(found) => found,
                    None => continue,
                };
                seen.push(name);
                let params: Vec<&str> = params.iter().map(|param| &*param.name.node).collect();
                let head = if params.is_empty() {
                    name.to_owned()
                } else {
                    format!("{name}({})", params.join(", "))
                };
                let shown = text(value);
                // A long meaning says less than its name, and the names in it say nothing then.
                if out.len() + head.len() + shown.len() > SHOWN_MEANING {
                    continue;
                }
                out += if told == 0 { " where " } else { ", " };
                out += &format!("{head} = {shown}");
                told += 1;
                if told == SHOWN_NAMES {
                    return out;
                }
                let lets = lets.filter(|lets| lets.find(name).is_some());
                waiting.push_back((value, lets.map(|lets| lets.around(name)), params));
            }
        }
        out
    }

    /// Returns the parameters and the expression of a `let` or a define.
    fn stands_for(
        &self,
        name: &str,
        lets: Option<&Lets<'a>>,
    ) -> Option<(&'a [ast::Field], &'a ast::Expr)> {
        match lets.and_then(|lets| lets.find(name)) {
            Some(found) => Some((&[], found.value)),
            None => {
                let define = self.names.defines.items[self.names.defines.peek(name)?].decl;
                Some((&define.params, &define.value))
            }
        }
    }

    /// Reports a bound variable with the name of a `let` or a define.
    pub(in crate::types) fn hides(&mut self, binder: &Ident, scope: &Scope) {
        let name = &binder.node;
        let named = scope.lets.find(name).map(|binding| binding.name);
        let defined =
            self.names.defines.peek(name).map(|at| self.names.defines.items[at].name.span);
        let (meaning, declared) = match (named, defined) {
            (Some(named), _) => ("`let`", named.span),
            (None, Some(span)) => ("define", span),
            (None, None) => return,
        };
        self.report(errors::hidden_name(
            "bound variable",
            name,
            binder.span,
            meaning,
            Some(declared),
        ));
    }

    /// Checks the expressions that no clause reads, to find their errors, and reports that they are
    /// unused.
    pub(in crate::types) fn unused_lets(&mut self, scope: &Scope) {
        let unused: Vec<(&Ident, &ast::Expr)> = scope.lets.unused().collect();
        for (name, value) in &unused {
            self.by_itself(|checker| {
                drop(checker.expr(value, None, &mut scope.of_let(&name.node)))
            });
        }
        // If there are errors, the intended uses are unknown.
        if self.diagnostics.iter().all(|d| !d.is_error()) {
            unused.iter().for_each(|(name, _)| self.report(errors::unused("let", name)));
        }
    }
}

//! `let`: names that a tool or a policy declares for expressions in its own clauses.

mod judged;

use crate::defines::{Measure, WrittenOut, free_names, in_cycles, is_value, ordered};
use crate::errors;
use crate::names::Names;
use guard_syntax::ast::{self, ClauseKind, Ident};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;
use std::cell::Cell;
use std::rc::Rc;

/// The names of one tool or policy.
#[derive(Default)]
pub(crate) struct Lets<'s> {
    items: Vec<Let<'s>>,
    /// The names of the tool that a policy governs. The clauses of the policy see them like
    /// parameters.
    of_tool: Option<Rc<Lets<'s>>>,
}

#[derive(Clone)]
struct Let<'s> {
    name: &'s Ident,
    value: &'s ast::Expr,
    /// The size; `None` if the expression has an error.
    size: Option<WrittenOut>,
    /// For a policy: true if it is used for any of its tools.
    used: Rc<Cell<bool>>,
}

impl<'s> Lets<'s> {
    /// Collects the names of a tool's or a policy's own clauses. They may use one another in any
    /// order.
    pub fn collect(
        clauses: &'s [ast::Clause],
        names: &Names,
        report: &mut dyn FnMut(Diagnostic),
    ) -> Lets<'s> {
        let mut lets = Lets::default();
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
                _ if is_value(&name.node) => report(errors::built_in_name("let", name)),
                Some(first) => report(errors::duplicate("name", name, first)),
                None => {
                    lets.items.push(Let { name, value, size: None, used: Rc::default() });
                }
            }
        }
        lets.measure(names, report);
        lets
    }

    /// Returns the names of a policy for one of its tools. They include the names of the tool,
    /// which change the sizes of the policy's own names.
    pub fn for_tool(
        self: &Rc<Self>,
        tool: &Rc<Lets<'s>>,
        names: &Names,
        report: &mut dyn FnMut(Diagnostic),
    ) -> Rc<Lets<'s>> {
        if tool.items.is_empty() {
            return self.clone();
        }
        let mut lets = Lets { items: self.items.clone(), of_tool: Some(tool.clone()) };
        // Errors of the policy alone were already reported.
        if lets.items.iter().all(|binding| binding.size.is_some()) {
            lets.items.iter_mut().for_each(|binding| binding.size = None);
            lets.measure(names, report);
        }
        Rc::new(lets)
    }

    fn measure(&mut self, names: &Names, report: &mut dyn FnMut(Diagnostic)) {
        let position = |name: &str| self.items.iter().position(|binding| binding.name.node == name);
        let uses = |binding: &Let<'s>| -> Vec<(usize, Span)> {
            let mut free = Vec::new();
            free_names(binding.value, &mut Vec::new(), &mut free);
            let values = free.into_iter().filter(|free| !free.called);
            values.filter_map(|free| Some((position(free.name)?, free.span))).collect()
        };
        let uses: Vec<Vec<(usize, Span)>> = self.items.iter().map(uses).collect();
        let (order, cycles) = ordered(&uses);
        let name = |at: usize| self.items[at].name.node.as_str();
        let broken = in_cycles(uses.len(), &cycles, name, |cycle| {
            report(errors::define_cycle("let", cycle));
        });
        for at in order {
            // An error in a name is reported once, and not again for the names that use it.
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

    /// Returns the size of an expression. `hidden` are names that have another meaning in it.
    pub fn size_of(&self, e: &ast::Expr, names: &Names, hidden: &[&str]) -> WrittenOut {
        let define = |name: &str| names.defines.peek(name);
        let given = |name: &str| self.find(name).and_then(|binding| binding.size.clone());
        let measure =
            Measure { sizes: &names.written_out, define: &define, params: &[], given: &given };
        measure.measure(e, &mut hidden.to_vec())
    }

    fn own(&self, name: &str) -> Option<&Let<'s>> {
        self.items.iter().find(|binding| binding.name.node == name)
    }

    fn find(&self, name: &str) -> Option<&Let<'s>> {
        self.own(name).or_else(|| self.of_tool.as_ref()?.own(name))
    }

    /// Returns the declaration of this name in the tool, if the policy does not declare it.
    pub fn given_by_tool(&self, name: &str) -> Option<&'s Ident> {
        let of_tool = self.of_tool.as_ref().filter(|_| self.own(name).is_none());
        of_tool.and_then(|lets| lets.own(name)).map(|binding| binding.name)
    }

    /// Returns the names that the expression of this name may use. The expression of a name of a
    /// tool cannot use the names of policies.
    pub fn around(self: &Rc<Self>, name: &str) -> Rc<Lets<'s>> {
        match &self.of_tool {
            Some(of_tool) if self.own(name).is_none() => of_tool.clone(),
            _ => self.clone(),
        }
    }

    /// Returns the expression of this name.
    pub fn value(&self, name: &str) -> Option<&'s ast::Expr> {
        let found = self.find(name)?;
        found.used.set(true);
        Some(found.value)
    }

    /// Returns true if the expression of this name can be used as the replacement.
    pub fn is_sound(&self, name: &str) -> bool {
        self.find(name).is_some_and(|binding| binding.size.is_some())
    }

    /// Returns all names.
    pub fn names(&self) -> impl Iterator<Item = &'s str> + '_ {
        let of_tool = self.of_tool.iter().flat_map(|lets| &lets.items);
        self.items.iter().chain(of_tool).map(|binding| binding.name.node.as_str())
    }

    /// Returns the names that no clause has read, with their expressions.
    pub fn unused(&self) -> impl Iterator<Item = (&'s Ident, &'s ast::Expr)> + '_ {
        self.items
            .iter()
            .filter(|binding| !binding.used.get())
            .map(|binding| (binding.name, binding.value))
    }

    /// Returns the declarations of its own names.
    pub fn declared(&self) -> impl Iterator<Item = &'s Ident> + '_ {
        self.items.iter().map(|binding| binding.name)
    }
}

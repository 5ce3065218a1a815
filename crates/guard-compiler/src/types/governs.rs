//! The clauses that govern a tool: the tool's own clauses, and those of policies and properties.

use super::TypeChecker;
use super::lets::Lets;
use super::policy::Governed;
use crate::hir::PropertyId;
use guard_syntax::ast;
use std::rc::Rc;

/// The maximum number of characters of a condition that a reason shows. A longer condition helps no
/// reader.
const SHOWN_CONDITION: usize = 400;

pub(super) fn shortened(text: String) -> String {
    match text.char_indices().nth(SHOWN_CONDITION) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A clause that governs one tool.
#[derive(Clone, Copy)]
pub(crate) struct Governing<'a> {
    pub clause: &'a ast::Clause,
    pub policy: Option<&'a ast::Policy>,
    /// The property, if the policy is one.
    pub property: Option<PropertyId>,
}

impl Governing<'_> {
    pub fn shadow(&self) -> bool {
        self.clause.shadow || self.policy.is_some_and(|p| p.shadow) || self.property.is_some()
    }
}

/// A clause of a tool, with the data of the clauses around it.
pub(crate) struct Governs<'a> {
    pub governing: Governing<'a>,
    /// The parameters and results that all tools of the policy have.
    pub governed: Rc<Governed>,
    /// The names that its tool or policy declares.
    pub lets: Rc<Lets<'a>>,
}

impl<'a> TypeChecker<'a, '_> {
    /// Returns for every tool its own clauses, then the clauses of the policies that govern it.
    pub(super) fn governing(&mut self) -> Vec<Vec<Governs<'a>>> {
        let names = self.names;
        let none: Rc<Governed> = Rc::default();
        let mut governing: Vec<Vec<Governs>> = Vec::new();
        let mut of_tools: Vec<Rc<Lets>> = Vec::new();
        for entry in &names.tools.items {
            let lets = Rc::new(self.lets_of(&entry.decl.clauses));
            let own = entry.decl.clauses.iter().map(|clause| Governs {
                governing: Governing { clause, policy: None, property: None },
                governed: none.clone(),
                lets: lets.clone(),
            });
            governing.push(own.collect());
            of_tools.push(lets);
        }
        for (nth, entry) in names.policies.items.iter().enumerate() {
            let tools = std::mem::take(&mut self.governed[nth]);
            let params = tools.iter().flat_map(|t| &self.signatures[*t].params);
            let given = tools.iter().flat_map(|t| of_tools[*t].names()).map(String::from);
            let names_of_tools = params.map(|p| p.name.clone()).chain(given).collect();
            let governed = Rc::new(Governed { names: names_of_tools, bundled: entry.bundled });
            let lets = Rc::new(self.lets_of(&entry.decl.clauses));
            for tool in tools {
                let clauses = entry.decl.clauses.iter();
                let policy = Some(entry.decl);
                let property = self.property_of(entry.name);
                let lets = lets.for_tool(&of_tools[tool], names, &mut |d| self.report_once(d));
                governing[tool].extend(clauses.map(|clause| Governs {
                    governing: Governing { clause, policy, property },
                    governed: governed.clone(),
                    lets: lets.clone(),
                }));
            }
        }
        governing
    }

    fn property_of(&self, name: &ast::Ident) -> Option<PropertyId> {
        self.program.properties.iter().position(|property| property.name == name.node)
    }
}

//! The clauses that govern a tool: the tool's own clauses, and those of policies and properties.

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

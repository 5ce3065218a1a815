//! The clauses that govern a tool: its own, and those of policies and properties.

use super::lets::Lets;
use super::policy::Governed;
use crate::hir::PropertyId;
use guard_syntax::ast;
use std::rc::Rc;

/// The most characters of a condition that a reason shows: a longer one helps nobody who reads it.
const SHOWN_CONDITION: usize = 400;

pub(super) fn shortened(text: String) -> String {
    match text.char_indices().nth(SHOWN_CONDITION) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A clause as it governs one tool.
#[derive(Clone, Copy)]
pub(crate) struct Governing<'a> {
    pub clause: &'a ast::Clause,
    pub policy: Option<&'a ast::Policy>,
    /// The property that the policy is.
    pub property: Option<PropertyId>,
}

impl Governing<'_> {
    pub fn shadow(&self) -> bool {
        self.clause.shadow || self.policy.is_some_and(|p| p.shadow) || self.property.is_some()
    }
}

/// A clause of a tool, with what the clauses around it say.
pub(crate) struct Governs<'a> {
    pub governing: Governing<'a>,
    /// The parameters and results that the tools of the policy share.
    pub governed: Rc<Governed>,
    /// The names that its tool or policy gives.
    pub lets: Rc<Lets<'a>>,
}

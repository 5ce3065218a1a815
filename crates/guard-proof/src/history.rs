//! Questions about the history, and the terms of their answers.

use crate::terms::TermId;
use guard_plan::plan::{IndexId, Millis, ToolId, WindowId};

/// A question about the history and the term of its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HistoryTerm {
    pub question: HistoryQuestion,
    pub term: TermId,
}

/// A question about the history, with its dependencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HistoryQuestion {
    /// `called`, and the alternatives of `requires`.
    Called {
        tool: ToolId,
        key: Option<(IndexId, Vec<TermId>)>,
        since: Option<ToolId>,
        within: Option<Millis>,
        latest: bool,
    },
    Failed {
        tool: ToolId,
        since: Option<ToolId>,
        within: Option<Millis>,
    },
    Calls {
        tool: ToolId,
        failures: bool,
        window: Option<WindowId>,
    },
    Temporal(u32),
}

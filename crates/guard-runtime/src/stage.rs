//! The stages of a decision, one module each. They are independent of one another; only `decide`
//! and `hypothesis` know their order.

pub(crate) mod approvals;
pub(crate) mod arguments;
pub(crate) mod budgets;
pub(crate) mod conflicts;
pub(crate) mod effects;
pub(crate) mod lifecycle;
pub(crate) mod limits;
pub(crate) mod ready;
pub(crate) mod requirements;
pub(crate) mod rules;

use crate::compiled::prepare;
use guard_plan::plan::{self, ToolId};

/// The call under decision, with its tool.
#[derive(Clone, Copy)]
pub(crate) struct DecidedCall<'a> {
    pub id: ToolId,
    pub tool: &'a plan::Tool,
    pub ready: &'a prepare::PreparedTool,
}

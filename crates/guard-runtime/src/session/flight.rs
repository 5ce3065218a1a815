//! Calls between *allow* and *settled*, and the drafts of calls that may become so.

use crate::stage::lifecycle::Action;
use guard_plan::plan::{LimitId, ToolId, UnitId, VarId};
use guard_plan::value::Value;
use std::ops::Range;

/// A call that was allowed and is not settled.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flight {
    /// Grows with each allowed call.
    pub number: u64,
    pub call: String,
    /// None for a tool that the guard does not declare, or arguments it could not read.
    pub tool: Option<ToolId>,
    /// Only where something after the call asks for them.
    pub args: Vec<Value>,
    pub draft: Draft,
    /// Of a served call: what it does, or why it cannot.
    pub action: Option<Box<Result<Action, String>>>,
}

impl Flight {
    pub fn clear(&mut self) {
        self.call.clear();
        self.tool = None;
        self.args.clear();
        self.draft.clear();
        self.action = None;
    }
}

/// What a call would change; its buffers are used again and again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    /// The simulated values of state variables.
    pub writes: Vec<(VarId, Value)>,
    /// What it costs, in units of 10⁻⁶.
    pub charges: Vec<(UnitId, i64)>,
    /// The counters that count it.
    pub counted: Vec<(LimitId, Option<Span>)>,
    /// The approvals it uses, by their place.
    pub approvals: Vec<usize>,
    /// Its keys in the tool's memories, in their order.
    pub keys: Vec<Span>,
    /// The bytes of all keys.
    pub bytes: Vec<u8>,
}

/// A range of the bytes of keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span(u32, u32);

impl Span {
    fn range(self) -> Range<usize> {
        self.0 as usize..self.1 as usize
    }
}

impl Draft {
    pub fn clear(&mut self) {
        self.writes.clear();
        self.charges.clear();
        self.counted.clear();
        self.approvals.clear();
        self.keys.clear();
        self.bytes.clear();
    }

    /// Keeps the key that was appended to the bytes since `start`, shortened.
    pub fn span_from(&mut self, start: usize) -> Span {
        guard_plan::key::shorten(start, &mut self.bytes);
        // INVARIANT: a key is short, and a call has few; the bytes never pass 32 bits.
        Span(start as u32, self.bytes.len() as u32)
    }

    /// The bytes of a key.
    pub fn key(&self, span: Span) -> &[u8] {
        &self.bytes[span.range()]
    }
}

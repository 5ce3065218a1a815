//! Calls between *allow* and *settled*, and drafts of calls that are being decided.

use super::CallStart;
use super::items::ServedAction;
use guard_plan::json::Json;
use guard_plan::plan::{LimitId, Plan, ToolId, UnitId, VarId};
use guard_plan::value::Value;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A call that is allowed and not settled.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct InFlight {
    /// The sequence number, which grows with each allowed call.
    pub number: u64,
    pub begun: CallStart,
    pub call: String,
    /// The tool; `None` if the guard does not declare it or the arguments could not be decoded.
    pub tool: Option<ToolId>,
    /// The arguments; kept only if a rule reads them after the call.
    pub args: Vec<Value>,
    pub draft: PendingWrites,
    /// For a served call, which is never kept: its action, or the reason why it is impossible.
    #[serde(skip)]
    pub action: Option<Box<Result<ServedAction, String>>>,
    /// For a refused call, which is never kept: the arguments that a `transform` requires.
    #[serde(skip)]
    pub instead: Option<Json>,
}

impl InFlight {
    pub fn clear(&mut self) {
        self.call.clear();
        self.tool = None;
        self.args.clear();
        self.draft.clear();
        self.action = None;
        self.instead = None;
    }
}

/// The changes that a call would make. Its buffers are reused.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct PendingWrites {
    /// The simulated values of state variables.
    pub writes: Vec<(VarId, Value)>,
    /// The simulated values of parts, for other variables.
    pub parts: Vec<WrittenPart>,
    /// The steps to all parts.
    pub steps: Vec<PartStep>,
    /// The charges, in units of 10⁻⁶.
    pub charges: Vec<(UnitId, i64)>,
    /// The charges that a failure gives back.
    pub returned: Vec<(UnitId, i64)>,
    /// The counters that count the call.
    pub counted: Vec<(LimitId, Option<KeyRange>)>,
    /// The approvals that the call uses, by index.
    pub approvals: Vec<usize>,
    /// The keys of the call in the tool's memories, in order.
    pub keys: Vec<KeyRange>,
    /// The bytes of all keys.
    pub bytes: Vec<u8>,
}

/// The part of a variable that a call writes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WrittenPart {
    pub var: VarId,
    /// The path to it: a range of the draft's steps, never empty.
    pub steps: (usize, usize),
    /// The value; `None` if the entry is deleted.
    pub value: Option<Value>,
}

/// A step on the path to a part.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum PartStep {
    Field(u32),
    /// The entry of a map with this text as its key.
    Entry(KeyRange),
    /// The element of a list.
    Element(usize),
}

/// A range of the bytes of keys.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct KeyRange(u32, u32);

impl KeyRange {
    fn range(self) -> Range<usize> {
        self.0 as usize..self.1 as usize
    }
}

impl PendingWrites {
    pub fn clear(&mut self) {
        self.writes.clear();
        self.parts.clear();
        self.steps.clear();
        self.charges.clear();
        self.returned.clear();
        self.counted.clear();
        self.approvals.clear();
        self.keys.clear();
        self.bytes.clear();
    }

    /// Returns true if all indexes in the draft exist: in its own bytes, and in the plan.
    pub fn is_of(&self, plan: &Plan) -> bool {
        let len = self.bytes.len();
        let inside = |span: &KeyRange| span.0 <= span.1 && span.1 as usize <= len;
        let vars = plan.state.len();
        let steps = |step: &PartStep| !matches!(step, PartStep::Entry(span) if !inside(span));
        self.writes.iter().all(|(var, _)| (*var as usize) < vars)
            && self.parts.iter().all(|part| (part.var as usize) < vars)
            && self.steps.iter().all(steps)
            && self
                .charges
                .iter()
                .chain(&self.returned)
                .all(|(unit, _)| (*unit as usize) < plan.units.len())
            && self.counted.iter().all(|(limit, span)| {
                (*limit as usize) < plan.limits.len() && span.as_ref().is_none_or(inside)
            })
            // Admission consumes the approvals, so a call in flight holds none.
            && self.approvals.is_empty()
            && self.keys.iter().all(inside)
    }

    /// Stores the key that was appended to the bytes since `start`, shortened.
    pub fn span_from(&mut self, start: usize) -> KeyRange {
        guard_plan::key::shorten(start, &mut self.bytes);
        // INVARIANT: a key is short, and a call has few; the bytes never exceed 32 bits.
        KeyRange(start as u32, self.bytes.len() as u32)
    }

    /// Stores a text among the bytes.
    pub fn text(&mut self, text: &str) -> KeyRange {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text.as_bytes());
        // INVARIANT: as above; a text is part of the arguments or of the state.
        KeyRange(start as u32, self.bytes.len() as u32)
    }

    /// Writes a part into the variable with this value. Returns true if the part exists.
    pub fn write_part(&mut self, part: usize, value: &mut Value) -> bool {
        let new = self.parts[part].value.take();
        let (first, end) = self.parts[part].steps;
        let steps = self.steps.get(first..end).unwrap_or_default();
        let Some((last, way)) = steps.split_last() else { return false };
        let mut at = value;
        for step in way {
            let Some(next) = self.follow(step, at) else { return false };
            at = next;
        }
        match (last, at, new) {
            (PartStep::Entry(key), Value::Map(entries), value) => {
                let Ok(key) = std::str::from_utf8(self.key(*key)) else { return false };
                match (entries.get_mut(key), value) {
                    (_, None) => _ = entries.remove(key),
                    (Some(entry), Some(value)) => *entry = value,
                    (None, Some(value)) => _ = entries.insert(key.into(), value),
                }
                true
            }
            (step, at, Some(value)) => self.follow(step, at).map(|at| *at = value).is_some(),
            _ => false,
        }
    }

    fn follow<'v>(&self, step: &PartStep, at: &'v mut Value) -> Option<&'v mut Value> {
        match (step, at) {
            (PartStep::Field(field), Value::Record(fields)) => fields.get_mut(*field as usize),
            (PartStep::Entry(key), Value::Map(entries)) => {
                entries.get_mut(std::str::from_utf8(self.key(*key)).ok()?)
            }
            (PartStep::Element(index), Value::List(items)) => items.get_mut(*index),
            _ => None,
        }
    }

    /// Returns the bytes of a key.
    pub fn key(&self, span: KeyRange) -> &[u8] {
        &self.bytes[span.range()]
    }
}

//! The effort of a guard's sessions, in steps: what searches count, since calls of one guard may take a thousand times as
//! long as those of another.
//!
//! A step is about one expression evaluated. It is counted and never timed, so a search ends at the same place on every
//! machine.

use super::ReferenceSession;
use guard_plan::value::Value;

/// The bytes or parts of a value that are read in the time of a step.
const A_STEP: usize = 16;

impl ReferenceSession<'_> {
    /// Returns the steps of this session and of all that it was copied to and from.
    pub(crate) fn steps(&self) -> u64 {
        self.read.steps.get()
    }

    pub(super) fn count_steps(&self, steps: usize) {
        self.read.steps.set(self.read.steps.get().saturating_add(steps as u64));
    }

    /// Counts the steps of reading or copying a value.
    pub(super) fn count_value(&self, value: &Value) {
        self.count_steps(extent(value) / A_STEP);
    }

    /// Counts the steps of a walk over things of which each is looked at.
    pub(super) fn count_walk(&self, things: usize) {
        self.count_steps(things / A_STEP);
    }
}

/// The parts and bytes of a value; what is in its parts counts little.
fn extent(value: &Value) -> usize {
    match value {
        Value::String(text) | Value::Path(text) => text.len(),
        Value::List(items) | Value::Record(items) => 8 * items.len(),
        Value::Set(items) => 8 * items.len(),
        Value::Map(entries) => 8 * entries.len(),
        _ => 0,
    }
}

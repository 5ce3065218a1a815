//! An outcome with its record.

use std::ops::Deref;

/// The outcome of one event, and the record that the session's store holds of it.
///
/// It dereferences to the outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded<T> {
    outcome: T,
    record: String,
}

impl<T> Recorded<T> {
    pub(crate) fn new(outcome: T, record: String) -> Recorded<T> {
        Recorded { outcome, record }
    }

    /// The record: one line of JSON, without its end (reference: plans and traces).
    pub fn record(&self) -> &str {
        &self.record
    }

    /// The outcome alone.
    pub fn into_outcome(self) -> T {
        self.outcome
    }

    /// The outcome and its record.
    pub fn into_parts(self) -> (T, String) {
        (self.outcome, self.record)
    }

    pub(crate) fn map<U>(self, outcome: impl FnOnce(T) -> U) -> Recorded<U> {
        Recorded { outcome: outcome(self.outcome), record: self.record }
    }
}

impl<T> Deref for Recorded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.outcome
    }
}

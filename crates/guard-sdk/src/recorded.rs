//! An outcome with its record.

use std::ops::Deref;

/// The outcome of one event, and its record in the session's store.
///
/// A `Recorded` dereferences to its outcome.
///
/// ```
/// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
/// # let mut session = guard.session("s1").open()?;
/// let proposed = session.propose("1", "ping", "{}")?;
/// assert!(proposed.verdict.is_allowed());
/// let (outcome, record) = proposed.into_parts();
/// assert!(outcome.verdict.is_allowed());
/// assert_eq!(session.records()?.last(), Some(&record));
/// # Ok::<(), guard_sdk::SessionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded<T> {
    outcome: T,
    record: String,
}

impl<T> Recorded<T> {
    pub(crate) fn new(outcome: T, record: String) -> Recorded<T> {
        Recorded { outcome, record }
    }

    /// The record: one line of JSON without a line break (reference: plans and traces).
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

//! The inputs for checking a text: the way it ended, and the known values.

use guard_plan::json::Json;
use guard_plan::plan::FactId;

/// The answers to the references of a contract. `None` means unknown.
pub trait Known {
    /// Returns true if a fact has a row whose first column equals the value.
    fn fact(&self, fact: FactId, value: &Json) -> Option<bool>;
    /// Returns true if a list that the host provides under this name contains the value. `None` if
    /// the host provides no such list; then nothing is checked. The answer is `None` for all values
    /// or for none.
    fn given(&self, name: &str, value: &Json) -> Option<bool>;
    /// Returns true if the values of the contract's reference with this index contain the value.
    fn value(&self, reference: usize, value: &Json) -> Option<bool>;
}

/// A `Known` without knowledge and without lists.
#[derive(Debug, Clone, Copy, Default)]
pub struct NothingKnown;

impl Known for NothingKnown {
    fn fact(&self, _: FactId, _: &Json) -> Option<bool> {
        None
    }

    fn given(&self, _: &str, _: &Json) -> Option<bool> {
        None
    }

    fn value(&self, _: usize, _: &Json) -> Option<bool> {
        None
    }
}

/// The inputs for judging a text.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The reason why the producer stopped, as it reports. `length` and similar values mean that
    /// the text was cut off.
    pub finish_reason: Option<&'a str>,
    /// The answers to the contract's references.
    pub known: &'a dyn Known,
    /// The normalised directory that relative paths are resolved against.
    pub workspace: &'a str,
}

impl Input<'_> {
    /// Returns an input without knowledge and without a finish reason.
    pub fn none() -> Input<'static> {
        Input { finish_reason: None, known: &NothingKnown, workspace: "/" }
    }
}

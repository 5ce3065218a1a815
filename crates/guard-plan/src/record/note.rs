//! Notes of the kernel: remarks in a record that are not reasons of a verdict.

use serde::{Deserialize, Serialize};

/// A note of the kernel about a rule, a tool or a variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Note {
    /// The kind of the note.
    pub kind: NoteKind,
    /// The rule, tool or variable.
    pub rule: String,
    /// The message.
    pub message: String,
}

/// The start of a note on a row that a result does not teach, before the name of the fact.
const UNLEARNED: &str = "a row of ";

impl Note {
    /// Returns the message for a row that was not taught, with the reason.
    pub fn unlearned(fact: &str, why: &dyn std::fmt::Display) -> String {
        format!("{UNLEARNED}`{fact}` was not learned: {why}")
    }

    /// Returns true if the note says that a result, or a row that it teaches, does not decode.
    pub fn is_undecoded(&self) -> bool {
        let row = self.kind == NoteKind::Warning && self.message.starts_with(UNLEARNED);
        self.kind == NoteKind::Undecoded || row
    }
}

/// The kind of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// A rule in shadow mode, or a monitor, would have given a reason.
    Shadow,
    /// A problem that is only reported.
    Warning,
    /// The result does not decode. Nothing was learned from it.
    Undecoded,
    /// A part of the result is shown to the agent with another value, or could not be replaced.
    Transform,
    /// A feedback provider could not be evaluated.
    Feedback,
    /// The problem halted the session.
    Halt,
    /// The optimized plan settled the call differently from the full plan. The outcome of the full
    /// plan is used.
    Mismatch,
}

//! The ending of a command: exit codes, and errors of usage or input and output.

pub use guard_sdk::sources::reason;

use std::io;

/// The ending of a command that did its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Nothing to report: exit code 0.
    Fine,
    /// There are findings: exit code 1.
    Findings,
    /// No part of the judged text is valid: exit code 3.
    Lost,
    /// The result is unknown: exit code 3.
    Unknown,
}

impl Exit {
    /// Returns `Findings` if there are any.
    pub fn findings(any: bool) -> Exit {
        if any { Exit::Findings } else { Exit::Fine }
    }
}

/// The reason why a command could not do its work: exit code 2.
#[derive(Debug)]
pub enum Failure {
    /// The reader of the output is gone; nothing is reported.
    Pipe,
    /// The problem and a suggestion.
    Message {
        /// One line: lower case, no full stop, user text in backticks.
        message: String,
        /// The suggestion.
        help: Option<String>,
    },
    /// Already reported on standard error.
    Said,
    /// The guard has errors, which were reported: exit code 1.
    Rejected,
}

/// The result of every command.
pub type CommandResult = Result<Exit, Failure>;

impl Failure {
    /// Returns a failure with a message.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure::Message { message: message.into(), help: None }
    }

    /// Adds a suggestion.
    #[must_use]
    pub fn help(self, text: impl Into<String>) -> Failure {
        match self {
            Failure::Message { message, .. } => {
                Failure::Message { message, help: Some(text.into()) }
            }
            other => other,
        }
    }

    /// Adds a suggestion, if there is one.
    #[must_use]
    pub fn maybe_help(self, text: Option<String>) -> Failure {
        match text {
            Some(text) => self.help(text),
            None => self,
        }
    }

    /// Returns the failure that standard output cannot be written.
    pub fn output(error: &io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Pipe,
            _ => Failure::new(format!("cannot write to standard output: {}", reason(error))),
        }
    }

    /// Returns the failure of a command that finds nothing out about a guard with errors.
    #[must_use]
    pub fn fatal(self) -> Failure {
        if matches!(self, Failure::Rejected) { Failure::Said } else { self }
    }
}

/// Makes failures of errors that libraries return. An error of reading or writing is none of them: a
/// broken pipe ends a command without a message ([`Failure::output`]).
macro_rules! failures {
    ($($error:ty),+ $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Failure::new(error.to_string())
            }
        }
    )+};
}

failures!(
    guard_sdk::approvals::ApprovalError,
    guard_sdk::GuardError,
    guard_sdk::SessionError,
    guard_trace::KeyError,
    guard_trace::store::StoreError,
    quick_junit::SerializeError,
    serde_json::Error,
);

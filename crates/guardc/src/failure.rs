//! How a command ends: exit codes, and errors of usage or input and output.

pub use guard_sdk::sources::reason;

use std::io;

/// How a command that did its work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Nothing to report: exit code 0.
    Fine,
    /// There are findings: exit code 1.
    Findings,
    /// Nothing of what was judged is left: exit code 3.
    Lost,
    /// Whether there are any could not be told: exit code 3.
    Unknown,
}

impl Exit {
    /// `Findings` where there are any.
    pub fn findings(any: bool) -> Exit {
        if any { Exit::Findings } else { Exit::Fine }
    }
}

/// Why a command could not do its work: exit code 2.
#[derive(Debug)]
pub enum Failure {
    /// Whoever read our output has gone; nothing is left to say.
    Pipe,
    /// What is wrong, and what to do about it.
    Message {
        /// One line: lower case, no full stop, user text in backticks.
        message: String,
        /// What to do.
        help: Option<String>,
    },
    /// Already said on standard error.
    Said,
}

/// What every command returns.
pub type Outcome = Result<Exit, Failure>;

impl Failure {
    /// A failure that says `message`.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure::Message { message: message.into(), help: None }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(self, text: impl Into<String>) -> Failure {
        match self {
            Failure::Message { message, .. } => {
                Failure::Message { message, help: Some(text.into()) }
            }
            other => other,
        }
    }

    /// Says what to do, if there is anything to say.
    #[must_use]
    pub fn maybe_help(self, text: Option<String>) -> Failure {
        match text {
            Some(text) => self.help(text),
            None => self,
        }
    }

    /// Writing to standard output failed.
    pub fn output(error: &io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Pipe,
            _ => Failure::new(format!("cannot write to standard output: {}", reason(error))),
        }
    }
}

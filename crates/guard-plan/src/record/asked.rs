//! The questions to the world that a record keeps with their answers: files, commands, probes.

use crate::json::Json;
use serde::{Deserialize, Serialize};

/// A question to the world, and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// A question whether a file exists.
    Exists {
        /// The normalised path of the file.
        path: Box<str>,
        /// The answer; none if the world could not answer.
        answer: Option<bool>,
    },
    /// A question for the answer of a probe.
    Probe {
        /// The name of the probe.
        name: Box<str>,
        /// True if there was an answer.
        answered: bool,
        /// The answer.
        answer: Json,
    },
    /// A question whether a regular file exists.
    File {
        /// The normalised path of the file.
        path: Box<str>,
        /// The answer; none if the world could not answer.
        answer: Option<bool>,
    },
    /// A question whether a file contains a text.
    Contains {
        /// The normalised path of the file.
        path: Box<str>,
        /// The text.
        text: Box<str>,
        /// The answer; none if the world could not answer.
        answer: Option<bool>,
    },
    /// A question for the content of a file.
    Text {
        /// The normalised path of the file.
        path: Box<str>,
        /// The answer; none if the world could not answer.
        answer: Option<Content>,
    },
    /// A question for the hash of a file's content.
    Sha256 {
        /// The normalised path of the file.
        path: Box<str>,
        /// True if there was an answer.
        answered: bool,
        /// The SHA-256 in lower-case hexadecimal; none if there is no regular file.
        answer: Option<String>,
    },
    /// A question for the outcome of a command.
    Run {
        /// The words of the command.
        command: Vec<String>,
        /// The outcome; none if the command could not be run.
        answer: Option<Ran>,
    },
    /// A question whether there are no uncommitted changes.
    Committed {
        /// The answer; none if the world could not answer.
        answer: Option<bool>,
    },
}

/// The maximum stored length of a command's output, in characters (semantics §12).
pub const OUTPUT_CHARS: usize = 1000;

/// The maximum length of a command's standard output as a probe's answer, in bytes (semantics §9).
pub const STDOUT_BYTES: usize = 64 << 10;

/// The maximum size of a file that a contract judges, in bytes (semantics §12).
pub const TEXT_BYTES: usize = 1 << 20;

/// The content of a file that a contract judges (semantics §12).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// There is no regular file at the path.
    Missing,
    /// The content is longer than [`TEXT_BYTES`].
    TooLarge,
    /// The content is not UTF-8.
    NotText,
    /// The content as text.
    Text(Box<str>),
}

impl Content {
    /// Returns the content of bytes. More than [`TEXT_BYTES`] bytes are too large.
    pub fn new(bytes: Vec<u8>) -> Content {
        match String::from_utf8(bytes) {
            Ok(text) => Content::Text(text.into()).bounded(),
            Err(error) if error.as_bytes().len() > TEXT_BYTES => Content::TooLarge,
            Err(_) => Content::NotText,
        }
    }

    /// Replaces content that exceeds the size limit of a record.
    pub fn bounded(self) -> Content {
        match self {
            Content::Text(text) if text.len() > TEXT_BYTES => Content::TooLarge,
            other => other,
        }
    }
}

/// The result of a command that was run (semantics §12).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ran {
    /// The way in which the command ended.
    pub ended: RunEnd,
    /// The last [`OUTPUT_CHARS`] characters of standard output followed by standard error; lossy
    /// UTF-8.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// The first [`STDOUT_BYTES`] of standard output, and one more byte if there is more. Kept only
    /// if a probe of another type than `bool` runs the command.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
}

/// The way in which a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// The command exited with this status.
    Exited(i32),
    /// The command exceeded its time limit and was killed.
    TimedOut,
    /// The command was ended by this signal of another process.
    Signalled(i32),
    /// The command could not be started. Contains the reason.
    NotStarted(String),
}

impl Ran {
    /// Truncates output that exceeds the size limit of a record. Drops `stdout` if no probe reads
    /// it.
    pub fn bounded(mut self, keeps_stdout: bool) -> Ran {
        let chars = self.output.chars().count();
        if let Some((at, _)) = self.output.char_indices().nth(chars.saturating_sub(OUTPUT_CHARS)) {
            self.output.drain(..at);
        }
        if !keeps_stdout {
            self.stdout.clear();
        } else if self.stdout.len() > STDOUT_BYTES {
            let mut end = STDOUT_BYTES + 1;
            while !self.stdout.is_char_boundary(end) {
                end += 1;
            }
            self.stdout.truncate(end);
        }
        self
    }
}

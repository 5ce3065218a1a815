//! Answers and failures as text: `=` and the answer, or `!` and the failure as JSON.

use guard_plan::json::Json;
use guard_sdk::approvals::ApprovalError;
use guard_sdk::diagnostics::DiagnosticReport;
use guard_sdk::{GuardError, SessionError};
use serde::Serialize;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A failure as the package raises it: the class of the error, a stable word, and the message.
#[derive(Debug, Serialize)]
pub struct ReplyFailure {
    class: &'static str,
    code: &'static str,
    message: String,
    /// The `seq` of the record from which on a trace cannot be taken up.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
}

impl ReplyFailure {
    /// A value that a method does not take.
    pub fn argument(message: impl Into<String>) -> ReplyFailure {
        let class = "ArgumentError";
        let code = "invalid_arguments";
        ReplyFailure { class, code, message: message.into(), seq: None }
    }

    /// A session or store that was closed.
    pub fn closed(what: &str) -> ReplyFailure {
        let message = format!("the {what} is closed");
        ReplyFailure { class: "Closed", code: "session_closed", message, seq: None }
    }

    /// A contract that cannot be used.
    pub fn contract(message: impl Into<String>) -> ReplyFailure {
        ReplyFailure {
            class: "ContractError",
            code: "bad_contract",
            message: message.into(),
            seq: None,
        }
    }

    /// An event after one in which the engine failed.
    pub fn broken() -> ReplyFailure {
        let message = "the engine failed in an earlier event: open the session again".into();
        ReplyFailure { class: "Broken", code: "engine_failed", message, seq: None }
    }

    /// An outcome that cannot be written.
    pub fn unshown(error: &serde_json::Error) -> ReplyFailure {
        let message = format!("an outcome cannot be shown: {error}");
        ReplyFailure { class: "GuardError", code: "failed", message, seq: None }
    }

    /// A panic of the engine.
    pub fn of_panic(panic: &(dyn Any + Send)) -> ReplyFailure {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_else(|| "no message".into());
        let message = format!("the engine failed, and nothing is allowed any more: {text}");
        ReplyFailure { class: "Broken", code: "engine_failed", message, seq: None }
    }

    /// The failure as text, after its mark.
    pub fn text(&self) -> String {
        // INVARIANT: three texts can be written as JSON.
        format!("!{}", serde_json::to_string(self).expect("a failure is text"))
    }

    /// The failure as an error that JavaScript throws; the package reads its message.
    pub fn thrown(&self) -> napi::Error {
        napi::Error::from_reason(self.text())
    }
}

impl From<&GuardError> for ReplyFailure {
    fn from(error: &GuardError) -> ReplyFailure {
        let (class, message) = match error {
            GuardError::Source { files, diagnostics } => {
                ("SourceError", DiagnosticReport::new(files, diagnostics).errors())
            }
            GuardError::UnknownContract(..) | GuardError::Contract(_) => {
                ("ContractError", error.to_string())
            }
            _ => ("SourceError", error.to_string()),
        };
        ReplyFailure { class, code: error.code(), message, seq: None }
    }
}

impl From<SessionError> for ReplyFailure {
    fn from(error: SessionError) -> ReplyFailure {
        let class = match &error {
            SessionError::Guard(error) => return ReplyFailure::from(error),
            SessionError::Broken => "Broken",
            _ => "SessionError",
        };
        ReplyFailure { class, code: error.code(), message: error.to_string(), seq: error.seq() }
    }
}

impl From<ApprovalError> for ReplyFailure {
    fn from(error: ApprovalError) -> ReplyFailure {
        let class = "SessionError";
        let code = "approvals_failed";
        ReplyFailure { class, code, message: error.to_string(), seq: None }
    }
}

/// Runs something of the engine; a panic is a failure.
pub fn caught<T>(work: impl FnOnce() -> Result<T, ReplyFailure>) -> Result<T, ReplyFailure> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(ReplyFailure::of_panic(&*panic)))
}

/// The text of an answer or of a failure.
pub fn text(answer: Result<String, ReplyFailure>) -> String {
    match answer {
        Ok(mut answer) => {
            answer.insert(0, '=');
            answer
        }
        Err(failure) => failure.text(),
    }
}

/// Anything that the engine writes as JSON, as text.
pub fn json_text(value: &impl Serialize) -> Result<String, ReplyFailure> {
    serde_json::to_string(value).map_err(|error| ReplyFailure::unshown(&error))
}

/// A JSON text that the package wrote.
pub fn json(text: &str) -> Result<Json, ReplyFailure> {
    Json::parse(text)
        .map_err(|error| ReplyFailure::argument(format!("the value is not JSON: {error}")))
}

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
pub struct Failure {
    class: &'static str,
    code: &'static str,
    message: String,
}

impl Failure {
    /// A value that a method does not take.
    pub fn argument(message: impl Into<String>) -> Failure {
        let (class, code) = ("ArgumentError", "invalid_arguments");
        Failure { class, code, message: message.into() }
    }

    /// A session or store that was closed.
    pub fn closed(what: &str) -> Failure {
        let message = format!("the {what} is closed");
        Failure { class: "Closed", code: "session_closed", message }
    }

    /// A contract that cannot be used.
    pub fn contract(message: impl Into<String>) -> Failure {
        Failure { class: "ContractError", code: "bad_contract", message: message.into() }
    }

    /// An event after one in which the engine failed.
    pub fn broken() -> Failure {
        let message = "the engine failed in an earlier event: open the session again".into();
        Failure { class: "Broken", code: "engine_failed", message }
    }

    /// An outcome that cannot be written.
    pub fn unshown(error: &serde_json::Error) -> Failure {
        let message = format!("an outcome cannot be shown: {error}");
        Failure { class: "GuardError", code: "failed", message }
    }

    /// A panic of the engine.
    pub fn of_panic(panic: &(dyn Any + Send)) -> Failure {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_else(|| "no message".into());
        let message = format!("the engine failed, and nothing is allowed any more: {text}");
        Failure { class: "Broken", code: "engine_failed", message }
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

impl From<&GuardError> for Failure {
    fn from(error: &GuardError) -> Failure {
        let (class, message) = match error {
            GuardError::Source { files, diagnostics } => {
                ("SourceError", DiagnosticReport::of(files, diagnostics).errors())
            }
            GuardError::UnknownContract(..) | GuardError::Contract(_) => {
                ("ContractError", error.to_string())
            }
            _ => ("SourceError", error.to_string()),
        };
        Failure { class, code: error.code(), message }
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Failure {
        let class = match &error {
            SessionError::Guard(error) => return Failure::from(error),
            SessionError::Broken => "Broken",
            _ => "SessionError",
        };
        Failure { class, code: error.code(), message: error.to_string() }
    }
}

impl From<ApprovalError> for Failure {
    fn from(error: ApprovalError) -> Failure {
        let (class, code) = ("SessionError", "approvals_failed");
        Failure { class, code, message: error.to_string() }
    }
}

/// Runs something of the engine; a panic is a failure.
pub fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Failure::of_panic(&*panic)))
}

/// The text of an answer or of a failure.
pub fn text(answer: Result<String, Failure>) -> String {
    match answer {
        Ok(mut answer) => {
            answer.insert(0, '=');
            answer
        }
        Err(failure) => failure.text(),
    }
}

/// Anything that the engine writes as JSON, as text.
pub fn json_text(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| Failure::unshown(&error))
}

/// A JSON text that the package wrote.
pub fn json(text: &str) -> Result<Json, Failure> {
    Json::parse(text).map_err(|error| Failure::argument(format!("the value is not JSON: {error}")))
}

//! The exceptions of the package, and how errors of the engine become them.

use guard_sdk::approvals::ApprovalError;
use guard_sdk::diagnostics::DiagnosticReport;
use guard_sdk::{GuardError as EngineError, SessionError as EngineSessionError};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(guardc, GuardError, PyException, "The base of all exceptions of Guard.");
create_exception!(guardc, SourceError, GuardError, "The guard has errors, or cannot be read.");
create_exception!(
    guardc,
    ArgumentError,
    GuardError,
    "A value is not JSON, or not what the method takes."
);
create_exception!(
    guardc,
    SessionError,
    GuardError,
    "The session did not take the event; `code` is a stable word."
);
create_exception!(guardc, Closed, SessionError, "The session is closed.");
create_exception!(guardc, Forked, SessionError, "The object belongs to the parent process.");
create_exception!(
    guardc,
    Broken,
    SessionError,
    "The engine failed: the session takes no further events."
);
create_exception!(guardc, ContractError, GuardError, "The contract is unknown, or cannot be used.");

/// Adds the exceptions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let types = [
        ("GuardError", py.get_type::<GuardError>()),
        ("SourceError", py.get_type::<SourceError>()),
        ("ArgumentError", py.get_type::<ArgumentError>()),
        ("SessionError", py.get_type::<SessionError>()),
        ("Closed", py.get_type::<Closed>()),
        ("Forked", py.get_type::<Forked>()),
        ("Broken", py.get_type::<Broken>()),
        ("ContractError", py.get_type::<ContractError>()),
    ];
    for (name, class) in types {
        class.setattr("code", default_code(name))?;
        module.add(name, class)?;
    }
    py.get_type::<SessionError>().setattr("seq", py.None())?;
    Ok(())
}

fn default_code(name: &str) -> &'static str {
    match name {
        "SourceError" => "bad_source",
        "ArgumentError" => "invalid_arguments",
        "Closed" => "session_closed",
        "Forked" => "session_forked",
        "Broken" => "engine_failed",
        "ContractError" => "bad_contract",
        _ => "failed",
    }
}

/// An exception with a stable word for its kind.
fn coded(py: Python<'_>, error: PyErr, code: &str) -> PyErr {
    match error.value(py).setattr("code", code) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// The exception for a guard that cannot be loaded or used.
pub fn of_guard(py: Python<'_>, error: &EngineError) -> PyErr {
    let code = error.code();
    let raised = match error {
        EngineError::Source { files, diagnostics } => {
            SourceError::new_err(DiagnosticReport::new(files, diagnostics).errors())
        }
        EngineError::UnknownContract(..) | EngineError::Contract(_) => {
            ContractError::new_err(error.to_string())
        }
        _ => SourceError::new_err(error.to_string()),
    };
    coded(py, raised, code)
}

/// The exception for an event that a session did not take.
pub fn of_session(py: Python<'_>, error: &EngineSessionError) -> PyErr {
    let raised = match error {
        EngineSessionError::Guard(error) => return of_guard(py, error),
        EngineSessionError::Broken => Broken::new_err(error.to_string()),
        _ => SessionError::new_err(error.to_string()),
    };
    let raised = coded(py, raised, error.code());
    let Some(seq) = error.seq() else { return raised };
    match raised.value(py).setattr("seq", seq) {
        Ok(()) => raised,
        Err(other) => other,
    }
}

/// The exception for requests that cannot be used or answered.
pub fn of_approvals(py: Python<'_>, error: &ApprovalError) -> PyErr {
    coded(py, SessionError::new_err(error.to_string()), "approvals_failed")
}

/// The exception for a value that a method does not take.
pub fn argument(message: impl Into<String>) -> PyErr {
    ArgumentError::new_err(message.into())
}

/// The exception for a panic of the engine.
pub fn of_panic(panic: &(dyn std::any::Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    let text = text.unwrap_or_else(|| "no message".into());
    Broken::new_err(format!("the engine failed, and nothing is allowed any more: {text}"))
}

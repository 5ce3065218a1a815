//! Outcomes of settlements and stops as Python reads them.

use crate::convert::serialized;
use guard_plan::record::{StopDecision, rendered};
use guard_sdk::{Settled as EngineSettled, Stopped as EngineStopped};
use pyo3::prelude::*;
use pyo3::types::PyList;

/// The outcome of a settled call.
#[pyclass(frozen, module = "guardc", name = "Settled")]
pub struct PySettled {
    settled: EngineSettled,
    record: String,
}

impl PySettled {
    /// An outcome with its record.
    pub fn new(settled: EngineSettled, record: String) -> PySettled {
        PySettled { settled, record }
    }
}

#[pymethods]
impl PySettled {
    /// The feedback for the agent: texts, in order.
    #[getter]
    fn feedback<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.settled.feedback.iter().map(|block| &block.text))
    }

    /// The feedback as one text; empty if there is none.
    #[getter]
    fn rendered(&self) -> String {
        rendered(&self.settled.feedback)
    }

    /// True if the session is halted now.
    #[getter]
    fn halted(&self) -> bool {
        self.settled.halted
    }

    /// The result that the agent must read in place of the tool's, as JSON text; None where it is the tool's.
    #[getter]
    fn shown_text(&self) -> Option<String> {
        self.settled.shown.as_ref().map(ToString::to_string)
    }

    /// The notes on the event: dicts with `kind`, `rule` and `message`.
    #[getter]
    fn notes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        serialized(py, &self.settled.notes)
    }

    /// The record of the event: one line of the session's trace.
    #[getter]
    fn record(&self) -> &str {
        &self.record
    }

    fn __repr__(&self) -> String {
        format!("<Settled halted={}>", self.settled.halted)
    }
}

/// The answer to an agent that would stop. It is true in a condition only if the agent may stop.
#[pyclass(frozen, module = "guardc", name = "Stopped")]
pub struct PyStopped {
    stopped: EngineStopped,
    record: String,
}

impl PyStopped {
    /// An outcome with its record.
    pub fn new(stopped: EngineStopped, record: String) -> PyStopped {
        PyStopped { stopped, record }
    }
}

#[pymethods]
impl PyStopped {
    /// True if the agent may stop.
    #[getter]
    fn allowed(&self) -> bool {
        self.stopped.decision == StopDecision::Allow
    }

    /// `allow` or `block`.
    #[getter]
    fn decision(&self) -> &'static str {
        if self.allowed() { "allow" } else { "block" }
    }

    /// The text for the agent; empty if nothing is missing.
    #[getter]
    fn message(&self) -> &str {
        &self.stopped.message
    }

    /// The reason why nothing was checked: `halted`, `deadline` or an exhausted unit.
    #[getter]
    fn bypassed(&self) -> Option<&str> {
        self.stopped.bypassed.as_deref()
    }

    /// True if the agent may stop although something is missing.
    #[getter]
    fn incomplete(&self) -> bool {
        self.stopped.incomplete
    }

    /// The failed checks: dicts with `text`, `message` and `span`.
    #[getter]
    fn missing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        serialized(py, &self.stopped.missing)
    }

    /// The notes on the event: dicts with `kind`, `rule` and `message`.
    #[getter]
    fn notes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        serialized(py, &self.stopped.notes)
    }

    /// The record of the event: one line of the session's trace.
    #[getter]
    fn record(&self) -> &str {
        &self.record
    }

    fn __bool__(&self) -> bool {
        self.allowed()
    }

    fn __repr__(&self) -> String {
        format!("<Stopped {}: {}>", self.decision(), self.stopped.message)
    }
}

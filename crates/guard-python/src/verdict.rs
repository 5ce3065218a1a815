//! Verdicts as Python reads them.

use crate::convert::{serialized, to_python};
use guard_plan::record::rendered;
use guard_sdk::approvals::PendingApproval;
use guard_sdk::{Proposed, Reason as EngineReason};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::fmt::Write as _;

/// One reason of a verdict.
#[pyclass(frozen, get_all, module = "guardc", name = "Reason")]
pub struct PyReason {
    /// A stable word for the kind of reason: `requires`, `limit`, `denied` and so on.
    code: &'static str,
    /// The decision that this reason alone would give: `deny`, `ask` or `wait`.
    decision: &'static str,
    /// The owner of the rule: a tool, policy, invariant, budget or variable.
    rule: String,
    /// The problem, for the agent.
    message: String,
    /// The step that would make the call allowed; may be empty.
    help: String,
    /// `file:line:column` of the rule, where it is known.
    span: Option<String>,
    /// The names still needed: tools to call, roles to approve, calls to wait for.
    needs: Vec<String>,
    /// The values that mattered: pairs of an expression and its value.
    values: Vec<(String, String)>,
}

#[pymethods]
impl PyReason {
    fn __repr__(&self) -> String {
        format!("<Reason {}: {}>", self.code, self.message)
    }
}

fn reason(reason: &EngineReason) -> PyReason {
    PyReason {
        code: reason.code.as_str(),
        decision: reason.decision.as_str(),
        rule: reason.rule.clone(),
        message: reason.message.clone(),
        help: reason.help.clone(),
        span: reason.span.clone(),
        needs: reason.needs.clone(),
        values: reason.values.clone(),
    }
}

fn reasons<'py>(py: Python<'py>, reasons: &[EngineReason]) -> PyResult<Bound<'py, PyTuple>> {
    let reasons: Vec<Py<PyReason>> =
        reasons.iter().map(|known| Py::new(py, reason(known))).collect::<PyResult<_>>()?;
    PyTuple::new(py, reasons)
}

/// The decision on a proposed call. It is true in a condition only if the call may run.
#[pyclass(frozen, module = "guardc", name = "Verdict")]
pub struct PyVerdict {
    proposed: Proposed,
    record: String,
    call: String,
    tool: String,
    args: String,
    request: Option<PendingApproval>,
}

impl PyVerdict {
    /// A verdict with its record, and the call that it is about.
    pub fn new(
        proposed: Proposed,
        record: String,
        (call, tool, args): (String, String, String),
        request: Option<PendingApproval>,
    ) -> PyVerdict {
        PyVerdict { proposed, record, call, tool, args, request }
    }
}

#[pymethods]
impl PyVerdict {
    /// `allow`, `deny`, `ask` (somebody must approve) or `wait` (for a call in flight).
    #[getter]
    fn decision(&self) -> &'static str {
        self.proposed.verdict.decision.as_str()
    }

    /// True if the call may run.
    #[getter]
    fn allowed(&self) -> bool {
        self.proposed.verdict.is_allowed()
    }

    /// The id of the call.
    #[getter]
    fn call(&self) -> &str {
        &self.call
    }

    /// The tool.
    #[getter]
    fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments as they were judged, JSON text; empty for an allowed call.
    #[getter]
    fn args_text(&self) -> &str {
        &self.args
    }

    /// The text for the agent: all reasons with their help, a line each, and the answer of a person who refused the call.
    #[getter]
    fn message(&self) -> String {
        let mut text = self.proposed.verdict.message();
        if let Some(refusal) = self.request.as_ref().and_then(|request| request.rejected.as_ref()) {
            let _ = write!(text, "\n{} refused exactly this call: {}", refusal.by, refusal.reason);
        }
        text
    }

    /// All reasons.
    #[getter]
    fn reasons<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        reasons(py, &self.proposed.verdict.reasons)
    }

    /// The verdicts of rules in shadow, which have no effect.
    #[getter]
    fn shadowed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        reasons(py, &self.proposed.verdict.shadowed)
    }

    /// The names that the reasons need, sorted: tools to call, roles to approve, calls to wait for.
    #[getter]
    fn needs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let names = self.proposed.verdict.reasons.iter().flat_map(|reason| &reason.needs);
        let mut names: Vec<&String> = names.collect();
        names.sort();
        names.dedup();
        PyTuple::new(py, names)
    }

    /// The arguments that a `transform` asks for, as JSON text; None where none does. They are a call of their own:
    /// propose it, and run it if it is allowed.
    #[getter]
    fn instead_text(&self) -> Option<String> {
        self.proposed.instead.as_ref().map(ToString::to_string)
    }

    /// True if the guard serves the tool itself: there is nothing to run.
    #[getter]
    fn is_served(&self) -> bool {
        self.proposed.served.is_some()
    }

    /// The result of a tool that the guard serves.
    #[getter]
    fn served<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.proposed.served.as_ref().map(|json| to_python(py, json)).transpose()
    }

    /// The same as JSON text.
    #[getter]
    fn served_text(&self) -> Option<String> {
        self.proposed.served.as_ref().map(ToString::to_string)
    }

    /// The feedback that the verdict calls for: texts, in order.
    #[getter]
    fn feedback<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.proposed.feedback.iter().map(|block| &block.text))
    }

    /// The feedback as one text; empty if there is none.
    #[getter]
    fn rendered(&self) -> String {
        rendered(&self.proposed.feedback)
    }

    /// The notes on the event: dicts with `kind`, `rule` and `message`.
    #[getter]
    fn notes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        serialized(py, &self.proposed.notes)
    }

    /// The record of the event: one line of the session's trace.
    #[getter]
    fn record(&self) -> &str {
        &self.record
    }

    /// The id of the request for approval in the store, where the session keeps requests there.
    #[getter]
    fn request(&self) -> Option<&str> {
        self.request.as_ref().map(|request| request.id.as_str())
    }

    /// The verdict as a dict, for logs.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let dict = serialized(py, &self.proposed.verdict)?;
        dict.set_item("message", self.message())?;
        dict.set_item("call", &self.call)?;
        dict.set_item("tool", &self.tool)?;
        Ok(dict)
    }

    fn __bool__(&self) -> bool {
        self.allowed()
    }

    fn __repr__(&self) -> String {
        let message = self.message();
        if message.is_empty() {
            format!("<Verdict {} {}>", self.decision(), self.tool)
        } else {
            format!("<Verdict {} {}: {message}>", self.decision(), self.tool)
        }
    }
}

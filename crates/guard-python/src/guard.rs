//! Guards: compiled once, shared by sessions and threads.

use crate::convert::serialized;
use crate::errors::{self, argument};
use guard_plan::encode;
use guard_plan::plan::{Probe, ProbeAsks};
use guard_plan::words;
use guard_sdk::{Guard, GuardError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// The engine's part of a guard; use `guardc.Guard`.
#[pyclass(frozen, subclass, module = "guardc")]
pub struct EngineGuard {
    guard: Guard,
}

impl EngineGuard {
    /// The guard.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }
}

/// Compiles or loads without the interpreter's lock; a panic is an exception.
fn ready(
    py: Python<'_>,
    load: impl FnOnce() -> Result<Guard, GuardError> + Send,
) -> PyResult<EngineGuard> {
    match py.detach(|| catch_unwind(AssertUnwindSafe(load))) {
        Ok(Ok(guard)) => Ok(EngineGuard { guard }),
        Ok(Err(error)) => Err(errors::of_guard(py, &error)),
        Err(panic) => Err(errors::of_panic(&*panic)),
    }
}

#[pymethods]
impl EngineGuard {
    #[new]
    #[pyo3(signature = (*, path=None, text=None, plan=None))]
    fn new(
        py: Python<'_>,
        path: Option<PathBuf>,
        text: Option<String>,
        plan: Option<&[u8]>,
    ) -> PyResult<EngineGuard> {
        match (path, text, plan) {
            (Some(path), None, None) => ready(py, || Guard::from_file(path)),
            (path, Some(text), None) => {
                let path = path.unwrap_or_else(|| "guard.guard".into());
                ready(py, || Guard::compile(path, text))
            }
            (None, None, Some(bytes)) => ready(py, || Guard::from_plan_bytes(bytes)),
            _ => Err(argument("a guard comes from a path, a text or a plan")),
        }
    }

    /// The name that the guard gives itself.
    #[getter]
    fn name(&self) -> &str {
        self.guard.name()
    }

    /// The content hash of the plan, as `sha256:…`.
    #[getter]
    fn plan_hash(&self) -> String {
        self.guard.plan_hash()
    }

    /// The compiled plan, as `guardc compile` writes it.
    fn plan_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let loaded = self.guard.kernel().loaded();
        PyBytes::new(py, &encode::to_bytes(loaded.plan(), loaded.sources()))
    }

    /// The declared tools: dicts with `name`, `guard_name`, `title`, `description`, `risk` and `irreversible`.
    #[getter]
    fn tools<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let tools = self.guard.plan().tools.iter().map(|tool| {
            serde_json::json!({
                "name": tool.wire_name,
                "guard_name": tool.name,
                "title": tool.title,
                "description": tool.doc,
                "risk": words::risk(tool.highest_risk()),
                "irreversible": tool.irreversible,
                "served": tool.is_served(),
            })
        });
        serialized(py, &tools.collect::<Vec<_>>())
    }

    /// The names of the contracts.
    #[getter]
    fn contracts(&self) -> Vec<String> {
        self.guard.plan().contracts.iter().map(|contract| contract.name.clone()).collect()
    }

    /// The names of the probes that the host answers.
    #[getter]
    fn probes(&self) -> Vec<String> {
        let asks_host = |probe: &&Probe| matches!(probe.asks, ProbeAsks::Host);
        self.guard.plan().probes.iter().filter(asks_host).map(|probe| probe.name.clone()).collect()
    }

    /// Instructions for an agent under this guard: its tools and their rules.
    fn guide(&self) -> String {
        self.guard.guide()
    }

    /// The contract with this name.
    fn contract(&self, py: Python<'_>, name: &str) -> PyResult<crate::contract::PyContract> {
        let contract = py.detach(|| self.guard.contract(name));
        let contract = contract.map_err(|error| errors::of_guard(py, &error))?;
        Ok(crate::contract::PyContract::new(self.guard.clone(), contract))
    }

    fn __repr__(&self) -> String {
        format!("<Guard {}>", self.guard.name())
    }
}

//! Contracts: texts judged whole or as they arrive.

use crate::convert::{json, serialized, to_python};
use crate::errors::{self, argument};
use guard_plan::json::Json;
use guard_plan::report::Report as EngineReport;
use guard_runtime::SessionState;
use guard_sdk::{Contract as EngineContract, Guard, TextOptions};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The workspace of contracts outside of a session.
const NO_WORKSPACE: &str = "/workspace";

/// The bytes of a text: `str` or `bytes`.
pub fn text_bytes(text: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(text) = text.cast::<PyString>() {
        let text = text.to_cow().map_err(|_| argument("the text has a lone surrogate"))?;
        return Ok(text.as_bytes().to_vec());
    }
    match text.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes().to_vec()),
        Err(_) => Err(argument("a text is `str` or `bytes`")),
    }
}

/// The lists of known values that a host hands over, by name.
pub fn known_lists(known: Option<&Bound<'_, PyAny>>) -> PyResult<BTreeMap<String, Vec<Json>>> {
    let wrong = || argument("`known` is a dict of lists");
    let Some(known) = known else { return Ok(BTreeMap::new()) };
    let Json::Object(members) = json(known)? else { return Err(wrong()) };
    let list = |(name, values): (Box<str>, Json)| match values {
        Json::Array(values) => Ok((name.into(), values)),
        _ => Err(wrong()),
    };
    members.into_iter().map(list).collect()
}

/// One contract of a guard.
#[pyclass(frozen, module = "guardc", name = "Contract")]
pub struct PyContract {
    guard: Guard,
    contract: EngineContract,
}

impl PyContract {
    /// A contract of a guard.
    pub fn new(guard: Guard, contract: EngineContract) -> PyContract {
        PyContract { guard, contract }
    }
}

#[pymethods]
impl PyContract {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.contract.name()
    }

    /// Judges a text outside of any session.
    #[pyo3(signature = (text, *, finish_reason=None, known=None))]
    fn check(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        finish_reason: Option<&str>,
        known: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyReport> {
        let text = text_bytes(text)?;
        let options = TextOptions { finish_reason, known: known_lists(known)? };
        let report = py.detach(|| self.contract.check(&text, &options));
        Ok(PyReport::new(report.map_err(|error| errors::of_guard(py, &error))?))
    }

    /// Begins to judge a text that arrives in pieces.
    #[pyo3(signature = (*, known=None))]
    fn feed(&self, known: Option<&Bound<'_, PyAny>>) -> PyResult<PyFeed> {
        let index = self.guard.plan().contracts.iter().position(|known| known.name == self.name());
        let state = self.guard.kernel().open("contract", 0, NO_WORKSPACE);
        let failed = |why: String| errors::ContractError::new_err(why);
        let state = state.map_err(|error| failed(error.to_string()))?;
        Ok(PyFeed {
            guard: self.guard.clone(),
            index: index.ok_or_else(|| failed("the plan does not have the contract".into()))?,
            state,
            known: known_lists(known)?,
            feed: Mutex::new(Some(self.contract.checker().feed())),
        })
    }

    /// Its JSON Schema, as a dict; `profile="strict"`: as APIs with strict structured outputs accept it.
    #[pyo3(signature = (*, known=None, profile="full"))]
    fn schema<'py>(
        &self,
        py: Python<'py>,
        known: Option<&Bound<'_, PyAny>>,
        profile: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let known = known_lists(known)?;
        match profile {
            "full" => serialized(py, &self.contract.schema(&known)),
            "strict" => {
                let strict = self.contract.strict_schema(&known);
                let refused =
                    |refused: Vec<String>| errors::ContractError::new_err(refused.join("; "));
                serialized(py, &strict.map_err(refused)?.schema)
            }
            _ => Err(argument("`profile` is \"full\" or \"strict\"")),
        }
    }

    /// The instructions for a producer, in words.
    #[pyo3(signature = (*, known=None))]
    fn prompt(&self, known: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        Ok(self.contract.prompt(&known_lists(known)?))
    }

    fn __repr__(&self) -> String {
        format!("<Contract {}>", self.name())
    }
}

/// A text that arrives in pieces. The report is the same as for the whole text, wherever it was cut.
#[pyclass(frozen, module = "guardc", name = "Feed")]
pub struct PyFeed {
    guard: Guard,
    index: usize,
    state: SessionState,
    known: BTreeMap<String, Vec<Json>>,
    feed: Mutex<Option<guard_contract::Feed>>,
}

impl PyFeed {
    /// Runs something with the feed and the answers to the contract's references, without the interpreter's lock.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        finish_reason: Option<&str>,
        work: impl FnOnce(&mut Option<guard_contract::Feed>, &guard_contract::Input<'_>) -> Option<T>
        + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let known = self.guard.kernel().known(&self.state, self.index, &self.known)?;
            let input =
                guard_contract::Input { finish_reason, known: &known, workspace: NO_WORKSPACE };
            work(&mut self.feed.lock().unwrap_or_else(PoisonError::into_inner), &input)
        });
        done.ok_or_else(|| errors::ContractError::new_err("the text has ended already"))
    }
}

#[pymethods]
impl PyFeed {
    /// Takes a piece of the text, and returns the valid items that it completes. A returned item may still be replaced
    /// by better ones: only the report is final.
    fn push<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let bytes = text_bytes(text)?;
        let items = self.run(py, None, |feed, input| Some(feed.as_mut()?.push(&bytes, input)))?;
        items.iter().map(|item| to_python(py, &item.value)).collect()
    }

    /// Ends the text and returns its report.
    #[pyo3(signature = (*, finish_reason=None))]
    fn finish(&self, py: Python<'_>, finish_reason: Option<&str>) -> PyResult<PyReport> {
        let report = self.run(py, finish_reason, |feed, input| Some(feed.take()?.finish(input)))?;
        Ok(PyReport::new(report))
    }
}

/// The report on a text.
#[pyclass(frozen, module = "guardc", name = "Report")]
pub struct PyReport {
    report: EngineReport,
}

impl PyReport {
    /// A report.
    pub fn new(report: EngineReport) -> PyReport {
        PyReport { report }
    }
}

#[pymethods]
impl PyReport {
    /// `valid`, or a word for what remains.
    #[getter]
    fn state(&self) -> &'static str {
        self.report.state.name()
    }

    /// True if the whole text holds.
    #[getter]
    fn valid(&self) -> bool {
        self.report.state.name() == "valid"
    }

    /// The number of items that survived.
    #[getter]
    fn kept(&self) -> usize {
        self.report.kept()
    }

    /// The number of units that did not survive.
    #[getter]
    fn quarantined_count(&self) -> u64 {
        self.report.quarantined_count
    }

    /// True if the text was cut.
    #[getter]
    fn truncated(&self) -> bool {
        self.report.truncated
    }

    /// True if a person should look.
    #[getter]
    fn review_required(&self) -> bool {
        self.report.review_required
    }

    /// The members of the envelope that hold, a dict.
    #[getter]
    fn envelope<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.report.envelope)
    }

    /// The values of the items that survived, by list.
    #[getter]
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (list, items) in &self.report.items {
            let values: Vec<_> =
                items.iter().map(|item| to_python(py, &item.value)).collect::<PyResult<_>>()?;
            dict.set_item(list, values)?;
        }
        Ok(dict)
    }

    /// The surviving values: a dict, or the list or value that the document is.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.report.values())
    }

    /// The problems, in words; at most `limit` of them.
    #[pyo3(signature = (limit=10))]
    fn lacks(&self, limit: usize) -> String {
        self.report.lacks(limit)
    }

    /// The whole report, as a dict.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        serialized(py, &self.report)
    }

    /// The whole report, as JSON text.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.report)
            .map_err(|error| errors::GuardError::new_err(error.to_string()))
    }

    fn __bool__(&self) -> bool {
        self.valid()
    }

    fn __repr__(&self) -> String {
        format!("<Report {} kept={}>", self.state(), self.kept())
    }
}

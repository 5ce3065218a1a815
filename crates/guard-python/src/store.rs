//! Stores: where sessions and requests for approval are kept.

use crate::convert::serialized;
use crate::errors::{self, argument};
use crate::process::Home;
use guard_plan::json::Json;
use guard_sdk::approvals::{ApprovalError, GrantExtent, PendingApproval, RequestState};
use guard_sdk::{Durability, Storage, system_time};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::time::Duration;

/// A folder of JSON Lines, or an SQLite database where the path ends in `.db`, `.sqlite` or `.sqlite3`.
#[pyclass(frozen, module = "guardc", name = "Store")]
pub struct PyStore {
    /// Empty once the object is gone.
    storage: Option<Storage>,
    path: PathBuf,
    home: Home,
}

impl Drop for PyStore {
    fn drop(&mut self) {
        if self.home.is_left() {
            // Closing it here would release locks and files of the parent process.
            std::mem::forget(self.storage.take());
        }
    }
}

impl PyStore {
    /// The store for a session of this process.
    pub fn storage(&self) -> PyResult<Storage> {
        self.home.expect("store")?;
        self.storage.clone().ok_or_else(|| argument("the store is closed"))
    }

    /// Works on the requests for approval, without the interpreter's lock.
    fn requests_do<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&guard_sdk::approvals::ApprovalLog) -> Result<T, ApprovalError> + Send,
    ) -> PyResult<T> {
        let storage = self.storage()?;
        let done = py.detach(move || work(&storage.approvals()?));
        done.map_err(|error| errors::of_approvals(py, &error))
    }
}

fn state(request: &PendingApproval) -> &'static str {
    match request.waiting(system_time()) {
        RequestState::Answer => "open",
        RequestState::Call => "granted",
        RequestState::Refused => "refused",
        RequestState::Over => "over",
    }
}

fn shown<'py>(py: Python<'py>, request: &PendingApproval) -> PyResult<Bound<'py, PyAny>> {
    let args = Json::parse(&request.args).unwrap_or_else(|_| Json::string(&request.args));
    serialized(
        py,
        &serde_json::json!({
            "id": request.id,
            "session": request.session,
            "tool": request.tool,
            "args": args,
            "roles": request.roles,
            "call": request.call,
            "actor": request.actor,
            "asked_at": guard_sdk::approvals::instant(request.asked_at),
            "state": state(request),
        }),
    )
}

#[pymethods]
impl PyStore {
    /// Opens a store, or creates it. `durability` is `full` (each record is on disk when it is acknowledged), `batch`
    /// or `off`; `key` is the path of a key file, beside the records where it is left out.
    #[new]
    #[pyo3(signature = (path, *, durability="full", key=None))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        durability: &str,
        key: Option<PathBuf>,
    ) -> PyResult<PyStore> {
        let durability = match durability {
            "full" => Durability::Full,
            "batch" => Durability::Batch(Duration::from_millis(2)),
            "off" => Durability::Off,
            _ => return Err(argument("`durability` is \"full\", \"batch\" or \"off\"")),
        };
        let opened = py.detach(|| Storage::open_with(&path, durability, key.as_deref()));
        let storage = opened.map_err(|error| errors::of_session(py, &error.into()))?;
        Ok(PyStore { storage: Some(storage), path, home: Home::here() })
    }

    /// Its path.
    #[getter]
    fn path(&self) -> &PathBuf {
        &self.path
    }

    /// Returns true if it has a session with this id.
    fn __contains__(&self, py: Python<'_>, session: &str) -> PyResult<bool> {
        let storage = self.storage()?;
        let found = py.detach(move || storage.contains(session));
        found.map_err(|error| errors::of_session(py, &error.into()))
    }

    /// The requests for approval, of one session or of all: dicts with `id`, `session`, `tool`, `args`, `roles`,
    /// `call`, `actor`, `asked_at` and `state` (`open`, `granted`, `refused`, `over`).
    #[pyo3(signature = (session=None))]
    fn requests<'py>(
        &self,
        py: Python<'py>,
        session: Option<&str>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let requests = self.requests_do(py, |log| log.requests(session))?;
        requests.iter().map(|request| shown(py, request)).collect()
    }

    /// Grants a request to one call within an hour, or to any number of identical calls for `seconds`.
    #[pyo3(signature = (request, *, by, role=None, seconds=None))]
    fn grant<'py>(
        &self,
        py: Python<'py>,
        request: &str,
        by: &str,
        role: Option<&str>,
        seconds: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let extent = match seconds {
            Some(seconds) => GrantExtent::For(i64::from(seconds) * 1000),
            None => GrantExtent::Once,
        };
        let granted =
            self.requests_do(py, |log| log.grant(request, by, role, extent, system_time()))?;
        shown(py, &granted)
    }

    /// Refuses a request; the agent reads the reason when it makes the call again.
    #[pyo3(signature = (request, *, by, reason))]
    fn reject<'py>(
        &self,
        py: Python<'py>,
        request: &str,
        by: &str,
        reason: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rejected =
            self.requests_do(py, |log| log.reject(request, by, reason, system_time()))?;
        shown(py, &rejected)
    }

    /// Takes the grants of a request back, as far as they are not used up.
    #[pyo3(signature = (request, *, by))]
    fn revoke<'py>(&self, py: Python<'py>, request: &str, by: &str) -> PyResult<Bound<'py, PyAny>> {
        let revoked = self.requests_do(py, |log| log.revoke(request, by, system_time()))?;
        shown(py, &revoked)
    }

    fn __repr__(&self) -> String {
        format!("<Store {}>", self.path.display())
    }
}

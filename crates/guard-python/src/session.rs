//! One agent's run as Python sees it: its events, and the host's clock and probes that each event asks first.

use crate::convert::{self, CallText, arguments, json, millis, serialized, to_python};
use crate::errors::{self, argument};
use crate::guard::EngineGuard;
use crate::outcome::{PySettled, PyStopped};
use crate::slot::LockedSession;
use crate::store::PyStore;
use crate::verdict::PyVerdict;
use guard_plan::json::Json;
use guard_runtime::StepError;
use guard_sdk::approvals::ApprovalLog;
use guard_sdk::{Decision, Recorded, Session, SessionError, Settled as EngineSettled, TextOptions};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use pyo3::{PyTraverseError, PyVisit};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// The host's answers at the moment of an event.
struct HostMoment {
    now: Option<i64>,
    answers: Vec<(Box<str>, Json)>,
}

/// The engine's part of a session; use `guardc.Session`.
#[pyclass(frozen, subclass, module = "guardc")]
pub struct EngineSession {
    session: LockedSession,
    id: String,
    clock: Option<Py<PyAny>>,
    probes: Option<Py<PyAny>>,
    approvals: Option<ApprovalLog>,
}

impl EngineSession {
    fn moment(&self, py: Python<'_>) -> PyResult<HostMoment> {
        let now = self.clock.as_ref().map(|clock| millis(&clock.bind(py).call0()?)).transpose()?;
        let answers = match &self.probes {
            Some(probes) => answers(&probes.bind(py).call0()?)?,
            None => Vec::new(),
        };
        Ok(HostMoment { now, answers })
    }

    /// Runs one event. The host's clock and probes are asked first, without the lock.
    fn event<T: Send>(
        &self,
        py: Python<'_>,
        event: impl FnOnce(&mut Session) -> Result<T, SessionError> + Send,
    ) -> PyResult<T> {
        self.session.expect_here()?;
        let moment = self.moment(py)?;
        self.session.run(py, move |session| {
            if !moment.answers.is_empty() {
                session.answer_probes(moment.answers)?;
            }
            if let Some(now) = moment.now {
                session.at(now);
            }
            event(session)
        })
    }

    /// Takes a settlement.
    fn settled(
        &self,
        py: Python<'_>,
        ending: impl FnOnce(&mut Session) -> Result<Recorded<EngineSettled>, SessionError> + Send,
    ) -> PyResult<PySettled> {
        let recorded = self.event(py, ending)?;
        let (outcome, record) = recorded.into_parts();
        Ok(PySettled::new(outcome, record))
    }
}

fn answers(given: &Bound<'_, PyAny>) -> PyResult<Vec<(Box<str>, Json)>> {
    match json(given)? {
        Json::Object(members) => Ok(members),
        Json::Null => Ok(Vec::new()),
        _ => Err(argument("`probes` returns a dict: the answer to each probe by its name")),
    }
}

#[pymethods]
impl EngineSession {
    #[new]
    #[pyo3(signature = (guard, id, *, workspace=None, store=None, clock=None, probes=None, data=None,
        actor=None, snapshot=None, trace=None, approvals=false))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python constructor")]
    fn new(
        py: Python<'_>,
        guard: &EngineGuard,
        id: String,
        workspace: Option<PathBuf>,
        store: Option<&PyStore>,
        clock: Option<Py<PyAny>>,
        probes: Option<Py<PyAny>>,
        data: Option<&Bound<'_, PyAny>>,
        actor: Option<String>,
        snapshot: Option<Vec<u8>>,
        trace: Option<Vec<String>>,
        approvals: bool,
    ) -> PyResult<EngineSession> {
        let data = data.map(json).transpose()?;
        let now = clock.as_ref().map(|clock| millis(&clock.bind(py).call0()?)).transpose()?;
        let storage = store.map(PyStore::storage).transpose()?;
        let log = match (approvals, &storage) {
            (true, Some(storage)) => {
                let log = storage.approvals().map_err(|error| errors::of_approvals(py, &error))?;
                Some(log)
            }
            (true, None) => return Err(argument("`approvals` needs a `store` that keeps them")),
            (false, _) => None,
        };
        let waits = workspace.is_some() || storage.is_some();
        let guard = guard.guard().clone();
        let opened = py.detach(|| {
            catch_unwind(AssertUnwindSafe(|| {
                let mut options = guard.session(id.clone());
                if let Some(folder) = workspace {
                    options = options.workspace(folder);
                }
                if let Some(storage) = &storage {
                    options = options.storage(storage);
                }
                if let Some(data) = &data {
                    options = options.data(data);
                }
                if let Some(actor) = &actor {
                    options = options.actor(actor);
                }
                if let Some(now) = now {
                    options = options.at(now);
                }
                if let Some(lines) = &trace {
                    options = options.trace(lines);
                }
                if let Some(bytes) = &snapshot {
                    options = options.snapshot(bytes);
                }
                options.open()
            }))
        });
        let session = match opened {
            Ok(Ok(session)) => session,
            Ok(Err(error)) => return Err(errors::of_session(py, &error)),
            Err(panic) => return Err(errors::of_panic(&*panic)),
        };
        Ok(EngineSession {
            session: LockedSession::new(session, waits),
            id,
            clock,
            probes,
            approvals: log,
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.clock)?;
        visit.call(&self.probes)
    }

    /// The session's id.
    #[getter]
    fn id(&self) -> &str {
        &self.id
    }

    /// True if the session went on from earlier records when it was opened.
    #[getter]
    fn is_resumed(&self, py: Python<'_>) -> PyResult<bool> {
        self.session.run(py, |session| Ok(session.is_resumed()))
    }

    /// The ids of the calls that were allowed and are not settled.
    #[getter]
    fn in_flight(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.session
            .run(py, |session| Ok(session.in_flight().into_iter().map(str::to_owned).collect()))
    }

    /// The denial of a call whose result the guard may change, for who hands results on as they are.
    #[pyo3(name = "_unshowable")]
    fn unshowable(
        &self,
        py: Python<'_>,
        tool: &str,
        call: Option<&str>,
    ) -> PyResult<Option<PyVerdict>> {
        let denied = self.session.run(py, |session| Ok(session.unshowable(tool)))?;
        let call = (call.unwrap_or_default().to_owned(), tool.to_owned(), String::new());
        Ok(denied.map(|denied| PyVerdict::new(denied, String::new(), call, None)))
    }

    /// The rule and the message of the halt, if the session is halted.
    #[getter]
    fn halted(&self, py: Python<'_>) -> PyResult<Option<(String, String)>> {
        self.session.run(py, |session| {
            let halt = session.state().halted();
            Ok(halt.map(|halt| (halt.rule.to_string(), halt.message.to_string())))
        })
    }

    /// The session's memory as a dict, without secrets.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state = self.session.run(py, |session| Ok(session.state_json()))?;
        to_python(py, &state)
    }

    /// Decides a call before it runs. The tool may run only if the verdict is allowed; then the call is in flight
    /// until it is settled.
    #[pyo3(signature = (tool, args=None, *, call=None))]
    fn propose(
        &self,
        py: Python<'_>,
        tool: String,
        args: Option<&Bound<'_, PyAny>>,
        call: Option<String>,
    ) -> PyResult<PyVerdict> {
        let args = arguments(args)?;
        let approvals = self.approvals.as_ref();
        let (recorded, request, call, tool, args) = self.event(py, move |session| {
            let call = call.unwrap_or_else(|| format!("call-{}", session.head().0));
            let (recorded, request) = match (&args, approvals) {
                (args, Some(log)) => {
                    let decided = session.propose_with(&call, &tool, &args.text(), log)?;
                    (decided.proposed, decided.request)
                }
                (CallText::Text(text), None) => (session.propose(&call, &tool, text)?, None),
                (CallText::Value(json), None) => (session.propose(&call, &tool, json)?, None),
            };
            let allowed = recorded.verdict.decision == Decision::Allow;
            let args = if allowed { String::new() } else { args.text().into_owned() };
            Ok((recorded, request, call, tool, args))
        })?;
        let (outcome, record) = recorded.into_parts();
        Ok(PyVerdict::new(outcome, record, (call, tool, args), request))
    }

    /// The verdict that a call would get now. Nothing changes, and nothing is recorded.
    #[pyo3(signature = (tool, args=None))]
    fn preview(
        &self,
        py: Python<'_>,
        tool: String,
        args: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyVerdict> {
        let args = arguments(args)?.into_json()?;
        let text = args.to_string();
        let (proposed, tool) =
            self.event(py, move |session| Ok((session.preview(&tool, &args), tool)))?;
        Ok(PyVerdict::new(proposed, String::new(), ("preview".into(), tool, text), None))
    }

    /// Says how an allowed call ended: `success`, with its result if it has one, or `failure`.
    #[pyo3(signature = (call, result=None, *, outcome="success"))]
    fn settle(
        &self,
        py: Python<'_>,
        call: &str,
        result: Option<&Bound<'_, PyAny>>,
        outcome: &str,
    ) -> PyResult<PySettled> {
        match outcome {
            "success" => {
                let result = result.map(json).transpose()?;
                self.settled(py, |session| session.settle(call, Ok(result.as_ref())))
            }
            "failure" => self.settled(py, |session| session.settle(call, Err(()))),
            _ => Err(argument("`outcome` is \"success\" or \"failure\"")),
        }
    }

    /// Says that a call succeeded with a result that is not JSON: it counts as one that does not decode.
    #[pyo3(name = "_settle_unreadable")]
    fn settle_unreadable(
        &self,
        py: Python<'_>,
        call: &str,
        text: &str,
        error: &str,
    ) -> PyResult<PySettled> {
        self.settled(py, |session| session.settle_unreadable(call, text, error))
    }

    /// Records that a person in a role approves exactly this call, until `expires` or for an hour.
    #[pyo3(signature = (tool, args, *, role, by, expires=None))]
    fn approve(
        &self,
        py: Python<'_>,
        tool: &str,
        args: &Bound<'_, PyAny>,
        role: &str,
        by: &str,
        expires: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let expires = expires.map(millis).transpose()?;
        let args = arguments(Some(args))?.into_json()?;
        self.event(py, |session| session.approve(tool, &args, role, by, expires)).map(drop)
    }

    /// Records that a person takes back what a role has approved of exactly this call.
    #[pyo3(signature = (tool, args, *, role, by))]
    fn revoke(
        &self,
        py: Python<'_>,
        tool: &str,
        args: &Bound<'_, PyAny>,
        role: &str,
        by: &str,
    ) -> PyResult<()> {
        let args = arguments(Some(args))?.into_json()?;
        self.event(py, |session| session.revoke(tool, &args, role, by)).map(drop)
    }

    /// Adds to what was spent of a unit that the host charges. Returns false if the guard charges nothing of it.
    fn usage(&self, py: Python<'_>, unit: &str, amount: &Bound<'_, PyAny>) -> PyResult<bool> {
        let units = convert::amount(amount)?;
        if units < 0 {
            return Err(argument("an amount is not negative"));
        }
        self.event(py, |session| match session.usage(unit, units) {
            Ok(_) => Ok(true),
            Err(SessionError::Step(StepError::NotHostCharged(_))) => Ok(false),
            Err(error) => Err(error),
        })
    }

    /// Ends a halt, in the name of a person in a role.
    #[pyo3(signature = (*, role, by))]
    fn resume(&self, py: Python<'_>, role: &str, by: &str) -> PyResult<()> {
        self.event(py, |session| session.resume(role, by)).map(drop)
    }

    /// Tells the words of the user: facts are learned from them. Returns the number of rows that were learned.
    fn prompt(&self, py: Python<'_>, text: &str) -> PyResult<u64> {
        self.event(py, |session| Ok(session.prompt(text)?.learned))
    }

    /// Asks whether the agent may stop. A blocked stop says what is missing.
    #[pyo3(signature = (reason=None))]
    fn stop(&self, py: Python<'_>, reason: Option<&str>) -> PyResult<PyStopped> {
        let recorded = self.event(py, |session| session.stop(reason))?;
        let (outcome, record) = recorded.into_parts();
        Ok(PyStopped::new(outcome, record))
    }

    /// Every tool judged and ranked: a dict, with the same as text under `prompt`. Nothing changes.
    fn advise<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let advice = self.event(py, |session| Ok(session.advise()))?;
        let dict = serialized(py, &advice)?;
        dict.set_item("prompt", advice.text())?;
        Ok(dict)
    }

    /// Judges the criteria of an item, which then is verified or goes back. Returns the change.
    fn verify_item<'py>(&self, py: Python<'py>, item: &str) -> PyResult<Bound<'py, PyAny>> {
        let moved = self.event(py, |session| session.verify_item(item))?;
        serialized(py, &moved.change)
    }

    /// Moves an item by hand, in somebody's name. Returns the change.
    #[pyo3(signature = (item, transition, *, by, reason=None))]
    fn move_item<'py>(
        &self,
        py: Python<'py>,
        item: &str,
        transition: &str,
        by: &str,
        reason: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let moved = self.event(py, |session| session.move_item(item, transition, by, reason))?;
        serialized(py, &moved.change)
    }

    /// All of one item, as a dict.
    fn item<'py>(&self, py: Python<'py>, item: &str) -> PyResult<Bound<'py, PyAny>> {
        let item = self.session.run(py, |session| session.item(item))?;
        to_python(py, &item)
    }

    /// At most `limit` rows of a fact, oldest first: dicts with `number`, `row` and `by`.
    #[pyo3(signature = (fact, *, start=1, limit=100))]
    fn facts<'py>(
        &self,
        py: Python<'py>,
        fact: &str,
        start: u64,
        limit: usize,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let rows = self.session.run(py, |session| session.facts(fact, start, limit))?;
        let row = |row: &guard_runtime::FactRow| {
            let dict = PyDict::new(py);
            dict.set_item("number", row.number)?;
            dict.set_item("row", serialized(py, &row.row)?)?;
            dict.set_item("by", &*row.by)?;
            Ok(dict)
        };
        rows.iter().map(row).collect()
    }

    /// Judges a text that an agent wrote by a contract of the guard and by what the session knows.
    #[pyo3(signature = (contract, text, *, finish_reason=None, known=None))]
    fn check(
        &self,
        py: Python<'_>,
        contract: &str,
        text: &Bound<'_, PyAny>,
        finish_reason: Option<&str>,
        known: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<crate::contract::PyReport> {
        let text = crate::contract::text_bytes(text)?;
        let known = crate::contract::known_lists(known)?;
        let options = TextOptions { finish_reason, known };
        let report = self.event(py, |session| {
            Ok(session.check_text(contract, &text, &options)?.into_outcome())
        })?;
        Ok(crate::contract::PyReport::new(report))
    }

    /// The session's whole memory as bytes; `guard.session(id, snapshot=…)` goes on from it.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.session.run(py, |session| session.snapshot())?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The lines of the session's trace, oldest first.
    fn records(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.session.run(py, |session| session.records())
    }

    /// The number of records, and the hash of the last one.
    #[getter]
    fn head(&self, py: Python<'_>) -> PyResult<(u64, String)> {
        self.session.run(py, |session| Ok(session.head()))
    }

    /// Gives the session up, so that another process may have it. Every later event raises `Closed`.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.session.close(py)
    }

    /// True if the session takes no more events.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> bool {
        self.session.is_closed(py)
    }

    /// Panics inside an event, as a bug of the engine would. For tests: it can only make the session refuse.
    #[pyo3(name = "_panic")]
    fn panic(&self, py: Python<'_>) -> PyResult<()> {
        self.event(py, |_| panic!("on request"))
    }
}

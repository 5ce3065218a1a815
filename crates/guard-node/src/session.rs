//! One agent's run. Every event takes the session's lock, in the event loop's thread or beside it; no lock is held
//! while JavaScript runs.

use crate::guard::NodeGuard;
use crate::reply::{ReplyFailure, caught, json, text};
use crate::request::{self, CallEnding, SessionRequest};
use crate::store::NodeStore;
use guard_plan::json::Json;
use guard_sdk::approvals::ApprovalLog;
use guard_sdk::{Session, SessionError};
use napi::bindgen_prelude::{AsyncTask, Buffer};
use napi::{Env, Task};
use napi_derive::napi;
use serde::Deserialize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The state of a session object.
enum NodeSlot {
    Open(Box<Session>),
    Closed,
    /// The engine panicked in the middle of an event.
    Broken,
}

/// A session, and what its events need.
struct SharedSession {
    slot: Mutex<NodeSlot>,
    approvals: Option<ApprovalLog>,
}

/// The host's answers at the moment of an event: the time, and probes as JSON text.
struct EventMoment {
    now: Option<f64>,
    answers: Option<String>,
}

impl SharedSession {
    /// The lock is never poisoned by an event: panics are caught while it is held.
    fn lock(&self) -> MutexGuard<'_, NodeSlot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs one event under the session's lock. After a panic the session takes nothing more.
    fn event(
        &self,
        moment: &EventMoment,
        work: impl FnOnce(&mut Session) -> Result<String, ReplyFailure>,
    ) -> String {
        let mut slot = self.lock();
        let session = match &mut *slot {
            NodeSlot::Open(session) => session,
            NodeSlot::Closed => return ReplyFailure::closed("session").text(),
            NodeSlot::Broken => return ReplyFailure::broken().text(),
        };
        let done = catch_unwind(AssertUnwindSafe(|| {
            prepare(session, moment)?;
            work(session)
        }));
        match done {
            Ok(answer) => text(answer),
            Err(panic) => {
                *slot = NodeSlot::Broken;
                ReplyFailure::of_panic(&*panic).text()
            }
        }
    }

    fn request(&self, moment: &EventMoment, request: &str) -> String {
        match serde_json::from_str::<SessionRequest>(request) {
            Ok(request) => self.event(moment, |session| {
                request::answer(session, request, self.approvals.as_ref())
            }),
            Err(error) => ReplyFailure::argument(error.to_string()).text(),
        }
    }
}

fn prepare(session: &mut Session, moment: &EventMoment) -> Result<(), ReplyFailure> {
    if let Some(answers) = &moment.answers {
        let Json::Object(answers) = json(answers)? else {
            let why = "`probes` returns an object: the answer to each probe by its name";
            return Err(ReplyFailure::argument(why));
        };
        session.answer_probes(answers)?;
    }
    if let Some(now) = moment.now {
        session.at(now as i64);
    }
    Ok(())
}

/// A request that is answered beside the event loop.
pub struct LaterRequest {
    shared: Arc<SharedSession>,
    moment: EventMoment,
    request: String,
}

impl Task for LaterRequest {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> napi::Result<String> {
        Ok(self.shared.request(&self.moment, &self.request))
    }

    fn resolve(&mut self, _env: Env, output: String) -> napi::Result<String> {
        Ok(output)
    }
}

/// The options of a session that are text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenOptions {
    workspace: Option<PathBuf>,
    data: Option<String>,
    actor: Option<String>,
    now: Option<i64>,
    trace: Option<Vec<String>>,
    approvals: bool,
}

/// The engine's part of a session; use `Session`.
#[napi]
pub struct NodeSession {
    shared: Arc<SharedSession>,
}

fn open(
    guard: &NodeGuard,
    id: String,
    options: &str,
    store: Option<&NodeStore>,
    snapshot: Option<&[u8]>,
) -> Result<NodeSession, ReplyFailure> {
    let given: OpenOptions =
        serde_json::from_str(options).map_err(|error| ReplyFailure::argument(error.to_string()))?;
    let approvals = match (given.approvals, store) {
        (true, Some(store)) => Some(store.storage().approvals()?),
        (true, None) => {
            return Err(ReplyFailure::argument("`approvals` needs a `store` that keeps them"));
        }
        (false, _) => None,
    };
    let data = given.data.as_deref().map(json).transpose()?;
    let mut options = guard.guard().session(id);
    if let Some(folder) = given.workspace {
        options = options.workspace(folder);
    }
    if let Some(store) = store {
        options = options.storage(store.storage());
    }
    if let Some(data) = &data {
        options = options.data(data);
    }
    if let Some(actor) = &given.actor {
        options = options.actor(actor);
    }
    if let Some(now) = given.now {
        options = options.at(now);
    }
    if let Some(lines) = &given.trace {
        options = options.trace(lines);
    }
    if let Some(bytes) = snapshot {
        options = options.snapshot(bytes);
    }
    let slot = Mutex::new(NodeSlot::Open(Box::new(options.open()?)));
    Ok(NodeSession { shared: Arc::new(SharedSession { slot, approvals }) })
}

#[napi]
impl NodeSession {
    /// Begins a session, or resumes it.
    #[napi(factory)]
    pub fn open(
        guard: &NodeGuard,
        id: String,
        options: String,
        store: Option<&NodeStore>,
        snapshot: Option<Buffer>,
    ) -> napi::Result<NodeSession> {
        let opened = caught(|| open(guard, id, &options, store, snapshot.as_deref()));
        opened.map_err(|failure| failure.thrown())
    }

    /// Decides a call.
    #[napi]
    pub fn propose(
        &self,
        tool: String,
        args: String,
        call: Option<String>,
        now: Option<f64>,
        answers: Option<String>,
    ) -> String {
        let approvals = self.shared.approvals.as_ref();
        self.shared.event(&EventMoment { now, answers }, |session| {
            request::propose(session, &tool, &args, call.as_deref(), approvals)
        })
    }

    /// Settles a call as a success.
    #[napi]
    pub fn settle(
        &self,
        call: String,
        result: Option<String>,
        now: Option<f64>,
        answers: Option<String>,
    ) -> String {
        self.shared.event(&EventMoment { now, answers }, |session| {
            request::settle(session, &call, CallEnding::Success(result))
        })
    }

    /// Answers any request.
    #[napi]
    pub fn ask(&self, request: String, now: Option<f64>, answers: Option<String>) -> String {
        self.shared.request(&EventMoment { now, answers }, &request)
    }

    /// Answers any request beside the event loop.
    #[napi]
    pub fn ask_later(
        &self,
        request: String,
        now: Option<f64>,
        answers: Option<String>,
    ) -> AsyncTask<LaterRequest> {
        let shared = self.shared.clone();
        let moment = EventMoment { now, answers };
        AsyncTask::new(LaterRequest { shared, moment, request })
    }

    /// The session's whole memory.
    #[napi]
    pub fn snapshot(&self) -> napi::Result<Buffer> {
        let slot = self.shared.lock();
        let bytes = match &*slot {
            NodeSlot::Open(session) => {
                caught(|| session.snapshot().map_err(|error: SessionError| error.into()))
            }
            NodeSlot::Closed => Err(ReplyFailure::closed("session")),
            NodeSlot::Broken => Err(ReplyFailure::broken()),
        };
        bytes.map(Buffer::from).map_err(|failure| failure.thrown())
    }

    /// Gives the session up.
    #[napi]
    pub fn close(&self) {
        let mut slot = self.shared.lock();
        if let NodeSlot::Open(_) = *slot {
            let open = std::mem::replace(&mut *slot, NodeSlot::Closed);
            drop(slot);
            drop(open);
        }
    }

    /// True if the session takes no more events.
    #[napi(getter)]
    pub fn is_closed(&self) -> bool {
        !matches!(*self.shared.lock(), NodeSlot::Open(_))
    }
}

//! The state of the sidecar: its options, its open sessions, the stores. Methods by name are in
//! `dispatch`.

use super::answers::{self, RpcAnswer};
use super::feeds::Feeds;
use super::limits::SidecarLimits;
use super::params::{instant, json, shared};
use super::plans::{DefaultGuard, SessionSummary};
use super::requests::{Named, OpenRequest, Probes};
use super::rpc::RpcError;
use super::stats::Stats;
use crate::config::Retention;
use guard_plan::json::Json;
use guard_sdk::{Durability, GuardCache, Session, Storage};
use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// The maximum number of compiled guards in the cache.
const GUARDS: usize = 256;

/// The sessions of one process.
pub struct Server {
    pub(super) sessions: Mutex<HashMap<String, Arc<OpenSession>>>,
    opened: AtomicU64,
    pub(super) guards: GuardCache,
    pub(super) feeds: Feeds,
    pub(super) default: DefaultGuard,
    pub(super) options: ServerOptions,
    storages: Mutex<BTreeMap<PathBuf, Arc<Mutex<Option<Storage>>>>>,
    pub(super) stats: Arc<Stats>,
    /// A lock that is shared by threads that open a session, and exclusive for dropping old
    /// sessions.
    pub(super) opening: RwLock<()>,
}

/// An open session.
pub struct OpenSession {
    pub session: Mutex<Session>,
    /// The data about the session that are available while it is busy.
    pub about: Mutex<SessionSummary>,
}

/// The options of a server.
pub struct ServerOptions {
    /// The storage of traces.
    pub storage: StorageOptions,
    /// The guard of sessions that do not name one.
    pub plan: Option<PathBuf>,
    /// The rate at which the plan as lowered decides too: on every Nth decision.
    pub shadow: Option<NonZeroU32>,
    pub recheck: Option<Option<NonZeroU32>>,
    pub limits: SidecarLimits,
    pub retention: Retention,
}

/// The settings of trace storage.
pub struct StorageOptions {
    /// The folder or database of sessions that do not name one.
    pub at: Option<PathBuf>,
    /// The durability of a record when its event is answered.
    pub durability: Durability,
    /// The key file; by default it is beside the traces.
    pub key: Option<PathBuf>,
}

impl Server {
    /// Creates a server without sessions.
    pub fn new(options: ServerOptions, stats: Arc<Stats>) -> Server {
        Server {
            sessions: Mutex::default(),
            opened: AtomicU64::new(0),
            guards: GuardCache::new(GUARDS),
            feeds: Feeds::default(),
            default: DefaultGuard::new(options.plan.clone()),
            options,
            storages: Mutex::default(),
            stats,
            opening: RwLock::default(),
        }
    }

    /// Runs a function with an open session in its current state: other processes may have written
    /// to it. The answers of the host in the request are applied first.
    pub(super) fn with<T>(
        &self,
        id: &str,
        probes: Probes,
        act: impl FnOnce(&mut Session) -> Result<T, RpcError>,
    ) -> Result<T, RpcError> {
        let open = lock(&self.sessions).get(id).cloned().ok_or_else(|| no_such_session(id))?;
        let mut session = lock(&open.session);
        session.refresh()?;
        if let Some(probes) = probes {
            let Json::Object(probes) = json("probes", &probes)? else {
                return Err(RpcError::params("`probes` is an object"));
            };
            session.answer_probes(probes)?;
        }
        act(&mut session)
    }

    pub(super) fn open(&self, open: OpenRequest) -> RpcAnswer {
        let most = self.options.limits.max_sessions;
        if lock(&self.sessions).len() >= most {
            let message =
                format!("{most} sessions are open, which is the maximum (`--max-sessions`)");
            return Err(RpcError::failed("too_many_sessions", message));
        }
        let _opening = self.opening.read().unwrap_or_else(PoisonError::into_inner);
        let storage = self.storage(open.journal.as_ref().map(PathBuf::from))?;
        let guard = self.guard(&open.chosen)?;
        let id = match open.session {
            Some(id) if lock(&self.sessions).contains_key(&id) => {
                let message = format!("a session `{id}` is open already");
                return Err(RpcError::failed("session_exists", message));
            }
            Some(id) => id,
            None => self.new_id(storage.as_ref())?,
        };
        let data = open.data.as_ref().map(|data| json("data", data)).transpose()?;
        let shared = shared(open.shared.unwrap_or_default())?;
        if !shared.is_empty() && storage.is_none() {
            return Err(RpcError::params("a shared budget needs a store: give `journal`"));
        }
        let mut options = guard.session(&id).at(instant(open.now)?);
        options = options.max_memory(self.options.limits.max_session_memory);
        options = match &open.workspace {
            Some(workspace) => options.workspace(workspace),
            None => options,
        };
        if let Some(storage) = &storage {
            options = options.storage(storage);
        }
        if let Some(actor) = &open.actor {
            options = options.actor(actor);
        }
        if let Some(data) = &data {
            options = options.data(data);
        }
        if let Some(every) = self.options.recheck {
            options = options.recheck(every);
        }
        let session = shared.into_iter().fold(options, |options, budget| options.share(budget));
        let session = session.open()?;
        let answer = answers::opened(&session);
        let about = Mutex::new(SessionSummary::new(&session));
        lock(&self.sessions)
            .insert(id, Arc::new(OpenSession { session: Mutex::new(session), about }));
        Ok(answer)
    }

    /// Returns the store in a folder or database, which is opened once.
    pub(super) fn storage(&self, path: Option<PathBuf>) -> Result<Option<Storage>, RpcError> {
        let StorageOptions { at, durability, key } = &self.options.storage;
        let Some(path) = path.or_else(|| at.clone()) else { return Ok(None) };
        let slot = Arc::clone(lock(&self.storages).entry(path.clone()).or_default());
        // A thread that opens another store does not wait for this one.
        let mut slot = lock(&slot);
        if let Some(storage) = &*slot {
            return Ok(Some(storage.clone()));
        }
        let storage = Storage::open_with(&path, *durability, key.as_deref());
        let mut storage = storage.map_err(guard_sdk::SessionError::Store)?;
        if let Some(bytes) = self.options.limits.max_store_size {
            storage = storage.limited_to(bytes);
        }
        Ok(Some(slot.insert(storage).clone()))
    }

    fn new_id(&self, storage: Option<&Storage>) -> Result<String, RpcError> {
        loop {
            let number = self.opened.fetch_add(1, Ordering::Relaxed) + 1;
            let id = format!("session-{number}");
            let stored = storage.map_or(Ok(false), |storage| storage.contains(&id));
            let stored = stored.map_err(guard_sdk::SessionError::Store)?;
            if !lock(&self.sessions).contains_key(&id) && !stored {
                return Ok(id);
            }
        }
    }

    pub(super) fn close(&self, request: Named) -> RpcAnswer {
        let id = &request.session;
        // A session whose store has failed can still be closed.
        let open = lock(&self.sessions).remove(id).ok_or_else(|| no_such_session(id))?;
        let mut session = lock(&open.session);
        self.shorten(&mut session);
        let answer = answers::closed(&session);
        drop(session);
        Ok(answer)
    }
}

fn no_such_session(id: &str) -> RpcError {
    RpcError::failed("no_such_session", format!("no session `{id}` is open"))
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

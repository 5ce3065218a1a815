//! The methods of the sidecar, and its sessions.

use super::answers::{self, RpcAnswer};
use super::feeds::{self, Feeds};
use super::limits::SidecarLimits;
use super::plans::{DefaultGuard, SessionSummary};
use super::requests::{
    self, AdviseRequest, ApproveRequest, CheckRequest, ContractRequest, FactsRequest,
    FinishRequest, ItemRequest, ItemsRequest, MoveRequest, Named, Probes, PromptRequest,
    ProposeRequest, PushRequest, ReaskRequest, ResumeRequest, RevokeApproval, SettleRequest,
    StopRequest, UsageRequest,
};
use super::rpc::RpcError;
use super::stats::Stats;
use crate::config::Retention;
use crate::near;
use guard_plan::json::Json;
use guard_plan::{decimal, time};
use guard_runtime::DEFAULT_APPROVAL;
use guard_sdk::{
    Contract, Durability, GuardCache, Lists, Session, SharedBudget, Storage, TextOptions,
};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

const METHODS: [&str; 31] = [
    "health",
    "version",
    "plan.reload",
    "session.open",
    "session.list",
    "session.upgrade",
    "session.prompt",
    "call.propose",
    "call.settle",
    "call.approve",
    "call.revoke",
    "session.usage",
    "session.resume",
    "session.stop",
    "session.advise",
    "session.guide",
    "session.facts",
    "session.state",
    "session.trace",
    "session.close",
    "item.verify",
    "item.move",
    "item.get",
    "item.list",
    "contract.check",
    "contract.schema",
    "contract.prompt",
    "contract.reask",
    "contract.feed",
    "feed.push",
    "feed.finish",
];

/// The default and the maximum number of rows of a fact in one answer.
const ROWS: usize = 1000;

/// The maximum number of compiled guards in the cache.
const GUARDS: usize = 256;

/// The sessions of one process.
pub struct Server {
    pub(super) sessions: Mutex<HashMap<String, Arc<OpenSession>>>,
    opened: AtomicU64,
    pub(super) guards: GuardCache,
    feeds: Feeds,
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

    /// Processes one request and returns the text of its result.
    pub fn call(&self, method: &str, params: Option<&RawValue>) -> RpcAnswer {
        let params = params.map_or("{}", RawValue::get);
        if !params.starts_with('{') {
            return Err(RpcError::params("`params` is an object"));
        }
        match method {
            "plan.reload" => self.reload(),
            "session.open" => self.open(read(params)?),
            "session.list" => self.list(),
            "session.upgrade" => self.upgrade(read(params)?),
            "call.propose" => self.propose(read(params)?),
            "call.settle" => self.settle(read(params)?),
            "call.approve" => self.approve(read(params)?),
            "call.revoke" => self.revoke(read(params)?),
            "session.usage" => self.usage(read(params)?),
            "session.resume" => self.resume(read(params)?),
            "session.prompt" => self.prompt(read(params)?),
            "session.stop" => self.stop(read(params)?),
            "session.advise" => self.advise(read(params)?),
            "session.guide" => self.guide(&read::<Named>(params)?.session),
            "session.facts" => self.facts(read(params)?),
            "item.verify" => self.verify(read(params)?),
            "item.move" => self.move_item(read(params)?),
            "item.get" => self.item(read(params)?),
            "item.list" => self.items(read(params)?),
            "session.state" => {
                let id = read::<Named>(params)?.session;
                self.with(&id, None, |session| Ok(answers::state(session)))
            }
            "session.trace" => {
                let id = read::<Named>(params)?.session;
                self.with(&id, None, |session| answers::trace(session))
            }
            "health" => Ok(self.health()),
            "version" => Ok(version()),
            "session.close" => self.close(read(params)?),
            "contract.check" => self.check(read(params)?),
            "contract.schema" => {
                let (contract, known, strict) = self.hint(read(params)?)?;
                answers::schema(&contract, &known, strict)
            }
            "contract.prompt" => {
                let (contract, known, _) = self.hint(read(params)?)?;
                Ok(serde_json::json!({ "prompt": contract.prompt(&known) }).to_string())
            }
            "contract.feed" => self.feed(read(params)?),
            "feed.push" => self.push(read(params)?),
            "feed.finish" => self.finish(read(params)?),
            "contract.reask" => {
                let ReaskRequest { session, plan, contract, known, report } = read(params)?;
                let profile = None;
                let hint = ContractRequest { session, plan, contract, known, profile };
                let (contract, known, _) = self.hint(hint)?;
                let prompt = contract.reask(&report, &known);
                Ok(serde_json::json!({ "prompt": prompt }).to_string())
            }
            other => {
                let near = near::did_you_mean(other, METHODS)
                    .map(|near| format!("; {near}"))
                    .unwrap_or_default();
                let message = format!("there is no method `{other}`{near}");
                Err(RpcError::method("unknown_method", message))
            }
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

    /// Returns the answer to `health`.
    fn health(&self) -> String {
        let sessions = lock(&self.sessions).len();
        let (most, (requests, errors)) = (self.options.limits.max_sessions, self.stats.totals());
        serde_json::json!({
            "status": if sessions < most { "ok" } else { "full" },
            "sessions": sessions,
            "max_sessions": most,
            "requests": requests,
            "errors": errors,
        })
        .to_string()
    }

    fn open(&self, open: requests::OpenRequest) -> RpcAnswer {
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

    fn propose(&self, request: ProposeRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        // Text that the kernel cannot parse is the agent's mistake, and leads to a verdict. The
        // line itself was JSON.
        let args = request.args.as_ref().map_or("{}", |args| args.get());
        self.with(&request.session, request.probes, |session| {
            let proposed = session.at(now).propose(&request.call, &request.tool, args)?;
            self.stats.decided(proposed.verdict.decision);
            Ok(answers::proposed(&proposed, session))
        })
    }

    fn settle(&self, request: SettleRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        if !matches!(request.outcome.as_str(), "success" | "failure") {
            let other = &request.outcome;
            let message = format!("`outcome` is \"success\" or \"failure\", not \"{other}\"");
            return Err(RpcError::params(message));
        }
        self.with(&request.session, request.probes, |session| {
            let session_now = session.at(now);
            // A result that the kernel cannot parse ends the call as well. The line itself was
            // JSON.
            let settled = match (request.outcome == "success", &request.result) {
                (true, Some(result)) => session_now.settle_text(&request.call, result.get())?,
                (true, None) => session_now.settle(&request.call, Ok(None))?,
                (false, _) => session_now.settle(&request.call, Err(()))?,
            };
            Ok(answers::settled(&settled, session))
        })
    }

    fn prompt(&self, request: PromptRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        self.with(&request.session, None, |session| {
            Ok(answers::learned(&*session.at(now).prompt(&request.text)?))
        })
    }

    fn stop(&self, request: StopRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        self.with(&request.session, request.probes, |session| {
            Ok(answers::stopped(&*session.at(now).stop(request.reason.as_deref())?))
        })
    }

    fn advise(&self, request: AdviseRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        self.with(&request.session, request.probes, |session| answers::advice(session.at(now)))
    }

    fn guide(&self, session: &str) -> RpcAnswer {
        let guide = self.with(session, None, |session| Ok(session.guard().guide()))?;
        Ok(serde_json::json!({ "prompt": guide }).to_string())
    }

    fn facts(&self, request: FactsRequest) -> RpcAnswer {
        let from = request.from.unwrap_or(0);
        let limit = request.limit.unwrap_or(ROWS).min(ROWS);
        self.with(&request.session, None, |session| {
            Ok(answers::facts(&session.facts(&request.fact, from, limit)?))
        })
    }

    fn item(&self, request: ItemRequest) -> RpcAnswer {
        self.with(&request.session, None, |session| {
            Ok(answers::item(&session.item(&request.item)?))
        })
    }

    fn items(&self, request: ItemsRequest) -> RpcAnswer {
        let ItemsRequest { session, lifecycle, state, after } = request;
        self.with(&session, None, |session| {
            Ok(session.items(&lifecycle, state.as_deref(), after.as_deref())?.to_string())
        })
    }

    fn verify(&self, request: ItemRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        self.with(&request.session, request.probes, |session| {
            let moved = session.at(now).verify_item(&request.item)?;
            answers::moved(&moved, session)
        })
    }

    fn move_item(&self, request: MoveRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        let by = request.by.unwrap_or_default();
        let reason = request.reason.as_deref();
        self.with(&request.session, None, |session| {
            let session_now = session.at(now);
            let moved = session_now.move_item(&request.item, &request.transition, &by, reason)?;
            answers::moved(&moved, session)
        })
    }

    fn approve(&self, request: ApproveRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        let expires = request.expires.map(|text| instant(Some(text))).transpose()?;
        let args = exact_args(request.args)?;
        let tool = request.tool;
        let role = request.role;
        let by = request.by.unwrap_or_default();
        self.with(&request.session, None, |session| {
            session.at(now).approve(&tool, &args, &role, &by, expires)?;
            let until = session.state().now().saturating_add(DEFAULT_APPROVAL);
            Ok(answers::approved(&tool, &role, &by, expires.unwrap_or(until)))
        })
    }

    fn revoke(&self, request: RevokeApproval) -> RpcAnswer {
        let now = instant(request.now)?;
        let args = exact_args(request.args)?;
        let by = request.by.unwrap_or_default();
        self.with(&request.session, None, |session| {
            session.at(now).revoke(&request.tool, &args, &request.role, &by)?;
            Ok("{}".into())
        })
    }

    fn usage(&self, request: UsageRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        let amount = amount("amount", &request.amount)?;
        self.with(&request.session, None, |session| {
            session.at(now).usage(&request.unit, amount)?;
            Ok("{}".into())
        })
    }

    fn resume(&self, request: ResumeRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        let by = request.by.unwrap_or_default();
        self.with(&request.session, None, |session| {
            session.at(now).resume(&request.role, &by)?;
            Ok("{}".into())
        })
    }

    fn check(&self, request: CheckRequest) -> RpcAnswer {
        let known = known_lists(request.known.as_deref())?;
        let options = TextOptions { finish_reason: request.finish_reason.as_deref(), known };
        let contract = &request.contract;
        let text = &request.text;
        match (&request.session, &request.plan) {
            (Some(id), None) => self.with(id, None, |session| {
                answers::report(&*session.check_text(contract, text, &options)?)
            }),
            (None, Some(path)) => {
                let contract = self.guards.load(path)?.contract(contract)?;
                answers::report(&contract.check(text, &options)?)
            }
            _ => Err(RpcError::params("give either `session` or `plan`, a path")),
        }
    }

    fn feed(&self, request: ContractRequest) -> RpcAnswer {
        let session = request.session.clone();
        let (contract, known, _) = self.hint(request)?;
        let open = feeds::OpenFeed { session, feed: contract.feed(known)? };
        Ok(serde_json::json!({ "feed": self.feeds.open(open)? }).to_string())
    }

    fn push(&self, request: PushRequest) -> RpcAnswer {
        let mut open = self.feeds.take(&request.feed)?;
        let text = request.text.as_bytes();
        let items = match open.session.clone() {
            None => Ok(open.feed.push(text)),
            Some(id) => self.with(&id, None, |session| Ok(session.push_text(&mut open.feed, text))),
        };
        // If the session is gone, the text is kept.
        self.feeds.put(&request.feed, open);
        Ok(feeds::pushed(&items?))
    }

    fn finish(&self, request: FinishRequest) -> RpcAnswer {
        let feeds::OpenFeed { session, feed } = self.feeds.take(&request.feed)?;
        let reason = request.finish_reason.as_deref();
        let report = match session {
            None => feed.finish(reason),
            Some(id) => self.with(&id, None, |session| feeds::finish(session, feed, reason))?,
        };
        answers::report(&report)
    }

    /// Returns a contract, the host's lists, and true if the strict profile is requested.
    fn hint(&self, request: ContractRequest) -> Result<(Contract, Lists, bool), RpcError> {
        let known = known_lists(request.known.as_deref())?;
        let strict = match request.profile.as_deref() {
            None | Some("full") => false,
            Some("strict") => true,
            Some(_) => return Err(RpcError::params("`profile` is `full` or `strict`")),
        };
        Ok((self.contract(&request)?, known, strict))
    }

    fn contract(&self, request: &ContractRequest) -> Result<Contract, RpcError> {
        let guard = match (&request.session, &request.plan) {
            (Some(id), None) => self.with(id, None, |session| Ok(session.guard().clone()))?,
            (None, Some(path)) => self.guards.load(path)?,
            _ => return Err(RpcError::params("give either `session` or `plan`, a path")),
        };
        Ok(guard.contract(&request.contract)?)
    }

    fn close(&self, request: Named) -> RpcAnswer {
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

/// Returns the answer to `version`.
fn version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    serde_json::json!({ "name": "guardc", "version": version, "edition": 1, "protocol": 1 })
        .to_string()
}

/// Returns the budgets that a session shares with others.
fn shared(
    requested: BTreeMap<String, requests::SharedService>,
) -> Result<Vec<SharedBudget>, RpcError> {
    let budget = |(unit, shared): (String, requests::SharedService)| {
        Ok(SharedBudget { unit, key: shared.budget, limit: amount("limit", &shared.limit)? })
    };
    requested.into_iter().map(budget).collect()
}

/// Parses a number of a request to 10⁻⁶ units. The number may be in quotes.
fn amount(name: &str, raw: &RawValue) -> Result<i64, RpcError> {
    decimal::parse(raw.get().trim_matches('"')).ok_or_else(|| {
        RpcError::params(format!("`{name}` is a number with at most six decimal places"))
    })
}

/// Parses the lists in `known`: an object of arrays.
fn known_lists(known: Option<&RawValue>) -> Result<Lists, RpcError> {
    let Some(known) = known else { return Ok(Lists::default()) };
    let wrong = || RpcError::params("`known` is an object of arrays");
    let Json::Object(lists) = json("known", known)? else { return Err(wrong()) };
    let list = |(name, list): (Box<str>, Json)| match list {
        Json::Array(values) => Ok((name.into(), values)),
        _ => Err(wrong()),
    };
    lists.into_iter().map(list).collect()
}

/// Parses a part of a request with Guard's own parser, which keeps numbers as text and rejects
/// duplicate keys.
fn json(name: &str, raw: &RawValue) -> Result<Json, RpcError> {
    Json::parse(raw.get()).map_err(|error| RpcError::params(format!("`{name}`: {error}")))
}

fn read<T: DeserializeOwned>(params: &str) -> Result<T, RpcError> {
    serde_json::from_str(params).map_err(|error| {
        let text = error.to_string();
        RpcError::params(text.split(" at line").next().unwrap_or_default())
    })
}

/// Returns the caller's time, or the system's.
pub(super) fn instant(text: Option<String>) -> Result<i64, RpcError> {
    let Some(text) = text else { return Ok(guard_sdk::system_time()) };
    let bad = || RpcError::failed("bad_time", format!("`{text}` is not an RFC 3339 time"));
    time::parse_rfc3339(&text).ok_or_else(bad)
}

/// Parses the arguments of a call that a person names. Missing arguments are those of a tool
/// without parameters.
fn exact_args(args: Option<Box<RawValue>>) -> Result<Json, RpcError> {
    let args = Json::parse(args.as_ref().map_or("{}", |args| args.get()));
    args.map_err(|e| RpcError::params(format!("`args`: {e}")))
}

//! The methods of the sidecar, and its sessions.

use super::contracts;
use super::lasting::{Keeping, Shared, Stored};
use super::live::{Live, Opening, now};
use super::requests::{
    self, Advise, Approve, Check, Contract, Facts, Item, Items, Move, Named, Open, Probes, Prompt,
    Propose, Resume, Settle, Stop, Usage,
};
use super::rpc::Error;
use crate::near;
use crate::project;
use guard_plan::json::Json;
use guard_plan::plan::Plan;
use guard_plan::{LoadedPlan, decimal, load, time};
use guard_runtime::{Kernel, KernelError};
use guard_schema::JsonSchemas;
use guard_trace::store::Durability;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

const METHODS: [&str; 21] = [
    "session.open",
    "session.prompt",
    "call.propose",
    "call.settle",
    "call.approve",
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
];

/// The default and maximum number of rows of a fact.
const ROWS: usize = 1000;

/// The sessions of one process.
pub struct Server {
    sessions: BTreeMap<String, Live>,
    opened: u64,
    keep: Keep,
    stores: BTreeMap<PathBuf, Stored>,
    shadow: Option<NonZeroU32>,
}

/// The options for storing traces.
pub struct Keep {
    /// The default folder or database of sessions.
    pub at: Option<PathBuf>,
    /// The durability of a record when its event is answered.
    pub durability: Durability,
    /// The key; by default it is beside the traces.
    pub key: Option<PathBuf>,
}

type Answer = Result<String, Error>;

impl Server {
    /// Returns a server without sessions.
    pub fn new(keep: Keep, shadow: Option<NonZeroU32>) -> Server {
        let (sessions, stores) = (BTreeMap::new(), BTreeMap::new());
        Server { sessions, opened: 0, keep, stores, shadow }
    }

    /// Processes one request and returns the text of its result.
    pub fn call(&mut self, method: &str, params: Option<&RawValue>) -> Answer {
        let params = params.map_or("{}", RawValue::get);
        if !params.starts_with('{') {
            return Err(Error::params("`params` is an object"));
        }
        match method {
            "session.open" => self.open(read(params)?),
            "call.propose" => self.propose(read(params)?),
            "call.settle" => self.settle(read(params)?),
            "call.approve" => self.approve(read(params)?),
            "session.usage" => self.usage(read(params)?),
            "session.resume" => self.resume(read(params)?),
            "session.prompt" => self.prompt(read(params)?),
            "session.stop" => self.stop(read(params)?),
            "session.advise" => self.advise(read(params)?),
            "session.guide" => self.live(&read::<Named>(params)?.session).map(|live| live.guide()),
            "session.facts" => self.facts(read(params)?),
            "item.verify" => self.verify(read(params)?),
            "item.move" => self.move_item(read(params)?),
            "item.get" => {
                let request: Item = read(params)?;
                self.live(&request.session)?.item(&request.item)
            }
            "item.list" => {
                let Items { session, lifecycle, state, after } = read(params)?;
                self.live(&session)?.items(&lifecycle, state.as_deref(), after.as_deref())
            }
            "session.state" => self.live(&read::<Named>(params)?.session).map(|live| live.state()),
            "session.trace" => self.live(&read::<Named>(params)?.session)?.trace(),
            "session.close" => self.close(read(params)?),
            "contract.check" => self.check(read(params)?),
            "contract.schema" => self.contract(read(params)?, contracts::schema),
            "contract.prompt" => self.contract(read(params)?, contracts::prompt),
            other => {
                let near = near::did_you_mean(other, METHODS)
                    .map(|near| format!("; {near}"))
                    .unwrap_or_default();
                Err(Error::method("unknown_method", format!("there is no method `{other}`{near}")))
            }
        }
    }

    fn live(&mut self, id: &str) -> Result<&mut Live, Error> {
        let missing = || Error::failed("no_such_session", format!("no session `{id}` is open"));
        let live = self.sessions.get_mut(id).ok_or_else(missing)?;
        live.catch_up()?;
        Ok(live)
    }

    fn open(&mut self, open: Open) -> Answer {
        let stored = self.stored(open.journal.map(PathBuf::from))?;
        let mut plan = match (&open.plan, &open.source) {
            (Some(path), None) => plan_at(Path::new(path))?,
            (None, Some(source)) => compile(Path::new("source.guard"), source.clone())?,
            _ => {
                return Err(Error::params("give either `plan`, a path, or `source`, a text"));
            }
        };
        if let Some(full) = &open.full {
            plan.lowered = Some(plan_at(Path::new(full))?.plan);
        }
        let id = match open.session {
            Some(id) if self.sessions.contains_key(&id) => {
                return Err(Error::failed(
                    "session_exists",
                    format!("a session `{id}` is open already"),
                ));
            }
            Some(id) => id,
            None => self.new_id(stored.as_ref())?,
        };
        let workspace = open.workspace.map(PathBuf::from);
        let data = open.data.as_ref().map(|data| json("data", data)).transpose()?;
        let opening = Opening {
            id: &id,
            now: instant(open.now)?,
            workspace: workspace.as_deref(),
            actor: open.actor.as_deref(),
            data: data.as_ref(),
        };
        let kernel = plan.kernel(self.shadow)?;
        let shared = shared(kernel.plan(), open.shared.unwrap_or_default())?;
        if !shared.is_empty() && stored.is_none() {
            return Err(Error::params("a shared budget is one of a store: give `journal`"));
        }
        let live = Live::open(kernel, Keeping::new(stored, &id, shared), &opening)?;
        let answer = live.opened();
        self.sessions.insert(id, live);
        Ok(answer)
    }

    /// Returns the store in a folder or database, which is opened once.
    fn stored(&mut self, path: Option<PathBuf>) -> Result<Option<Stored>, Error> {
        let Some(path) = path.or_else(|| self.keep.at.clone()) else { return Ok(None) };
        if let Some(stored) = self.stores.get(&path) {
            return Ok(Some(stored.clone()));
        }
        let stored = Stored::open(&path, self.keep.durability, self.keep.key.as_deref())?;
        self.stores.insert(path, stored.clone());
        Ok(Some(stored))
    }

    fn new_id(&mut self, stored: Option<&Stored>) -> Result<String, Error> {
        loop {
            self.opened += 1;
            let id = format!("session-{}", self.opened);
            let kept = stored.map_or(Ok(false), |stored| stored.has(&id))?;
            if !self.sessions.contains_key(&id) && !kept {
                return Ok(id);
            }
        }
    }

    fn propose(&mut self, request: Propose) -> Answer {
        let now = instant(request.now)?;
        let live = self.asked(&request.session, request.probes)?;
        // Invalid JSON here is the agent's mistake, and leads to a verdict; the line itself was
        // JSON.
        let args = request.args.as_ref().map_or("{}", |args| args.get());
        live.propose(now, &request.call, &request.tool, args)
    }

    fn settle(&mut self, request: Settle) -> Answer {
        let now = instant(request.now)?;
        let success = match request.outcome.as_str() {
            "success" => true,
            "failure" => false,
            other => {
                return Err(Error::params(format!(
                    "`outcome` is \"success\" or \"failure\", not \"{other}\""
                )));
            }
        };
        let result = request.result.as_ref().map(|r| json("result", r)).transpose()?;
        let live = self.asked(&request.session, request.probes)?;
        live.settle(now, &request.call, success, result)
    }

    fn prompt(&mut self, request: Prompt) -> Answer {
        let now = instant(request.now)?;
        self.live(&request.session)?.prompt(now, &request.text)
    }

    fn stop(&mut self, request: Stop) -> Answer {
        let now = instant(request.now)?;
        let live = self.asked(&request.session, request.probes)?;
        live.stop(now, request.reason.as_deref())
    }

    fn advise(&mut self, request: Advise) -> Answer {
        let now = instant(request.now)?;
        self.asked(&request.session, request.probes)?.advise(now)
    }

    fn facts(&mut self, request: Facts) -> Answer {
        let (from, limit) = (request.from.unwrap_or(0), request.limit.unwrap_or(ROWS).min(ROWS));
        self.live(&request.session)?.facts(&request.fact, from, limit)
    }

    fn verify(&mut self, request: Item) -> Answer {
        let now = instant(request.now)?;
        self.asked(&request.session, request.probes)?.verify(now, &request.item)
    }

    fn move_item(&mut self, request: Move) -> Answer {
        let now = instant(request.now)?;
        let by = request.by.unwrap_or_default();
        let by = guard_runtime::Move {
            item: &request.item,
            transition: &request.transition,
            by: &by,
            reason: request.reason.as_deref(),
            now,
        };
        self.live(&request.session)?.move_item(&by)
    }

    /// Returns the session, after setting these answers of its host.
    fn asked(&mut self, session: &str, probes: Probes) -> Result<&mut Live, Error> {
        let live = self.live(session)?;
        let Some(probes) = probes else { return Ok(live) };
        let Json::Object(probes) = json("probes", &probes)? else {
            return Err(Error::params("`probes` is an object"));
        };
        live.answers(probes)?;
        Ok(live)
    }

    fn approve(&mut self, request: Approve) -> Answer {
        let now = instant(request.now)?;
        let expires = request.expires.map(|text| instant(Some(text))).transpose()?;
        let args = Json::parse(request.args.as_ref().map_or("{}", |args| args.get()));
        let args = args.map_err(|e| Error::params(format!("`args`: {e}")))?;
        let by = request.by.unwrap_or_default();
        let approve = guard_runtime::Approve {
            tool: &request.tool,
            args: &args,
            role: &request.role,
            by: &by,
            expires,
            now,
        };
        self.live(&request.session)?.approve(&approve)
    }

    fn usage(&mut self, request: Usage) -> Answer {
        let now = instant(request.now)?;
        let amount = decimal::parse(request.amount.get().trim_matches('"'));
        let amount = amount
            .ok_or_else(|| Error::params("`amount` is a number with at most six decimal places"))?;
        self.live(&request.session)?.usage(now, &request.unit, amount)
    }

    fn resume(&mut self, request: Resume) -> Answer {
        let now = instant(request.now)?;
        let by = request.by.unwrap_or_default();
        self.live(&request.session)?.resume(now, &request.role, &by)
    }

    fn check(&mut self, request: Check) -> Answer {
        let given = match request.known.as_ref().map(|known| json("known", known)).transpose()? {
            Some(known) => contracts::given(known)?,
            None => BTreeMap::new(),
        };
        let judged = contracts::Judged {
            contract: &request.contract,
            text: &request.text,
            finish_reason: request.finish_reason.as_deref(),
            given: &given,
        };
        match (&request.session, &request.plan) {
            (Some(id), None) => self.live(id)?.check(&judged),
            (None, Some(path)) => {
                let kernel = Kernel::new(plan_at(Path::new(path))?.plan);
                let kernel = kernel.map_err(|e| Error::failed("bad_plan", e.to_string()))?;
                let session = kernel.open("contract", now(), "/workspace");
                let session = session.map_err(|e| Error::failed("bad_plan", e.to_string()))?;
                contracts::text(&contracts::check(&kernel, &session, &judged)?)
            }
            _ => Err(Error::params("give either `session` or `plan`, a path")),
        }
    }

    fn contract(&mut self, request: Contract, of: impl Fn(&Plan, usize) -> String) -> Answer {
        let loaded;
        let plan = match (&request.session, &request.plan) {
            (Some(id), None) => self.live(id)?.kernel.plan(),
            (None, Some(path)) => {
                loaded = plan_at(Path::new(path))?.plan;
                loaded.plan()
            }
            _ => return Err(Error::params("give either `session` or `plan`, a path")),
        };
        Ok(of(plan, contracts::find(plan, &request.contract)?))
    }

    fn close(&mut self, request: Named) -> Answer {
        let answer = self.live(&request.session)?.closed();
        self.sessions.remove(&request.session);
        Ok(answer)
    }
}

/// Returns the budgets that a session shares with others, by the units of its guard.
fn shared(plan: &Plan, asked: BTreeMap<String, requests::Shared>) -> Result<Vec<Shared>, Error> {
    let units = || plan.units.iter().map(|unit| unit.name.as_str());
    let one = |(name, asked): (String, requests::Shared)| {
        let unit = units().position(|unit| unit == name).ok_or_else(|| {
            let near = near::did_you_mean(&name, units()).map(|near| format!("; {near}"));
            let near = near.unwrap_or_default();
            Error::params(format!("the guard has no unit `{name}`{near}"))
        })?;
        let limit = decimal::parse(asked.limit.get().trim_matches('"'));
        let limit = limit
            .ok_or_else(|| Error::params("`limit` is a number with at most six decimal places"))?;
        Ok(Shared { unit: unit as u32, key: asked.budget, limit })
    };
    asked.into_iter().map(one).collect()
}

/// Parses a part of a request with Guard's own parser, which keeps numbers as text and rejects
/// duplicate keys.
fn json(name: &str, raw: &RawValue) -> Result<Json, Error> {
    Json::parse(raw.get()).map_err(|error| Error::params(format!("`{name}`: {error}")))
}

fn read<T: DeserializeOwned>(params: &str) -> Result<T, Error> {
    serde_json::from_str(params).map_err(|error| {
        let text = error.to_string();
        Error::params(text.split(" at line").next().unwrap_or_default())
    })
}

/// Returns the caller's time, or the machine's.
fn instant(text: Option<String>) -> Result<i64, Error> {
    let Some(text) = text else { return Ok(now()) };
    let bad = || Error::failed("bad_time", format!("`{text}` is no RFC 3339 time"));
    time::parse_rfc3339(&text).ok_or_else(bad)
}

/// A plan, and the same plan before its optimization, if known.
struct Plans {
    plan: LoadedPlan,
    lowered: Option<LoadedPlan>,
}

impl Plans {
    /// Returns the kernel, with a shadow if requested.
    fn kernel(self, shadow: Option<NonZeroU32>) -> Result<Kernel, Error> {
        let bad = |error: KernelError| Error::failed("bad_plan", error.to_string());
        let kernel = |plan| Kernel::with_schemas(plan, &JsonSchemas).map_err(bad);
        let Some(every) = shadow else { return kernel(self.plan) };
        let missing = || {
            let why = "`--shadow` needs the plan as lowered beside this one: give a guard, or `full`, \
                       the path of what `guardc compile --no-optimize` wrote";
            Error::failed("bad_plan", why)
        };
        let lowered = self.lowered.ok_or_else(missing)?;
        Kernel::with_shadow(kernel(lowered)?, kernel(self.plan)?, every).map_err(bad)
    }
}

fn plan_at(path: &Path) -> Result<Plans, Error> {
    let shown = crate::files::display(path);
    let bad = |why: String| Error::failed("bad_plan", format!("cannot load `{shown}`: {why}"));
    let bytes = crate::files::read_bytes(path).map_err(bad)?;
    if crate::plans::is_plan(&bytes) {
        let plan = load(&bytes).map_err(|e| bad(e.to_string()))?;
        return Ok(Plans { plan, lowered: None });
    }
    compile(path, crate::files::utf8(bytes).map_err(bad)?)
}

fn compile(path: &Path, text: String) -> Result<Plans, Error> {
    let config = crate::config::Config::default();
    let compiled = project::compile(path, text, &config);
    let mut report = crate::report::Report::of_one();
    report.add(&compiled.shown, &compiled.compilation.diagnostics);
    let Some(output) = compiled.compilation.output else {
        report.findings.retain(|finding| finding.error);
        let first = report
            .findings
            .first()
            .map_or("no reason is given", |finding| finding.message.as_str());
        let error = Error::failed("bad_source", format!("the guard does not compile: {first}"));
        return Err(error.with("diagnostics", report.to_json()["diagnostics"].clone()));
    };
    let loaded = |plan| {
        LoadedPlan::from_plan(plan, output.sources.clone())
            .map_err(|e| Error::failed("bad_plan", e.to_string()).with("compiled", true.into()))
    };
    let lowered = Some(loaded(output.lowered)?);
    Ok(Plans { plan: loaded(output.plan)?, lowered })
}

//! The reference evaluator: what a guard decides, on the checked program, as simply as
//! `docs/reference/semantics.md` reads.
//!
//! No plan, no indexes, no memory but the list of everything that happened. It gives decisions and the
//! codes and rules of their reasons, no messages. Laws hold it and the kernel together.

mod approvals;
mod conforming;
mod criteria;
pub(crate) mod distance;
mod effects;
mod eval;
mod feedback;
mod items;
mod learning;
mod origins;
mod parts;
mod private;
mod probes;
mod propose;
mod refinements;
mod settle;
mod shown;
mod stopping;
pub(crate) mod values;
mod view;

pub use stopping::{Stopping, UnmetCheck};

use crate::hir::{self, LimitId, Program, ToolId, UnitId, VarId};
use crate::lower::Tables;
use crate::types::trust::Flow;
use guard_plan::json::Json;
use guard_plan::plan::{Coercion, TypeDef};
use guard_plan::record::{Delivered, ItemChange, NoteKind};
use guard_plan::time::HOUR;
use guard_plan::value::{Fault, Value};
use guard_plan::verdict::{Code, Decision};
use guard_syntax::span::Span;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// A question to the world.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Ask {
    /// Whether anything is at a normalised path; answered by a bool.
    Exists(String),
    /// What a probe answers that is asked of the host.
    Probe(String),
    /// Whether a regular file is at a normalised path; answered by a bool.
    File(String),
    /// Whether a file contains a text; answered by a bool.
    Contains(String, String),
    /// What a file holds; answered by its text, or by null where no text of a bearable size is there.
    Text(String),
    /// The SHA-256 of a file; answered by a string, or by null where there is no file.
    Sha256(String),
    /// What a command does; answered by its status and standard output, or by null where it did not end by
    /// itself.
    Run(Vec<String>),
    /// Whether nothing is uncommitted; answered by a bool.
    Committed,
}

/// Whoever answers; the same question in one event gets the same answer.
pub type Answerer<'w> = &'w dyn Fn(&Ask) -> Option<Json>;

/// A reason: its code, its rule, its decision, and of unmet requirements, missing approvals and conflicts the names
/// that it needs, sorted.
pub type Outline = (Code, String, Decision, Vec<String>);

/// The judgement of a proposal: its decision, and the decision, code and rule of every reason, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The join of the reasons.
    pub decision: Decision,
    /// Reasons in effect.
    pub reasons: Vec<Outline>,
    /// Reasons of rules in shadow.
    pub shadowed: Vec<Outline>,
    /// The clauses and invariants behind the reasons of either kind, by place; those without one are not here.
    pub fired: Vec<(Code, Span)>,
    /// How many rules in effect refuse it, each counted by itself; approvals that are missing are not counted.
    pub unmet: usize,
    /// What else it came to: a denial is judged for feedback, a served call is settled at once.
    pub outcome: EventEffects,
}

/// The effects of an event besides its decision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventEffects {
    /// How many rows facts were taught.
    pub learned: u64,
    /// How many rows went for others.
    pub forgotten: u64,
    /// What was noticed: how grave it is, and of which rule.
    pub notes: Vec<(NoteKind, String)>,
    /// The feedback it called for, in order.
    pub feedback: Vec<Delivered>,
    /// The items it changed. A reason that is the kernel's sentence is a question mark.
    pub items: Vec<ItemChange>,
    /// The result of a served call; where it cannot be, null.
    pub served: Option<Json>,
    /// The arguments that the transforms of a refused call ask for.
    pub instead: Option<Json>,
    /// The result as the agent may read it, where that differs; a text where it may read none of it.
    pub shown: Option<Json>,
}

impl EventEffects {
    fn note(&mut self, kind: NoteKind, rule: &str) {
        self.notes.push((kind, rule.to_string()));
        self.notes.sort();
        self.notes.dedup();
    }
}

/// A misuse by the host: an event that cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misuse(pub String);

/// A session decided by the reference evaluator.
#[derive(Clone)]
pub struct ReferenceSession<'p> {
    program: &'p Program,
    tables: Rc<Tables<'p>>,
    lessons: Rc<learning::Lessons>,
    types: Rc<Vec<TypeDef>>,
    coercions: Rc<Vec<Coercion>>,
    regexes: Rc<HashMap<Arc<str>, regex::Regex>>,
    start: i64,
    now: i64,
    workspace: Rc<str>,
    state: Rc<Vec<Rc<Value>>>,
    /// What variables have held that is not trusted.
    trust: Flow<'p>,
    /// Every committed state so far, for the temporal operators.
    states: Vec<Rc<Vec<Rc<Value>>>>,
    spent: Vec<i64>,
    allowed: Vec<Rc<AllowedCall>>,
    settled: Vec<Rc<PastSettlement>>,
    flights: Vec<Flight>,
    /// How many admissions and settlements there were.
    moments: u64,
    /// How many calls have settled, or are settling.
    settlements: u64,
    grants: Vec<Grant>,
    facts: Vec<Rc<learning::FactTable>>,
    halted: bool,
    /// Every call that was allowed, by the order of its proposal.
    calls: Vec<Rc<EvidenceCall>>,
    /// Every attempt of every probe.
    attempts: Vec<Vec<probes::Attempt>>,
    /// The attempts of this event.
    asked: RefCell<Vec<(hir::ProbeId, probes::Attempt)>>,
    /// Something other than a probe refuses the call of this event.
    refused: Cell<bool>,
    /// No probe may be asked: a rule that tries is judged last.
    mute: Cell<bool>,
    /// A probe was asked while none may be.
    tried: Cell<bool>,
    /// A probe's last answer was used again.
    reused: Cell<bool>,
    /// Every value that was seen, and where first.
    seen: Rc<Vec<Rc<SeenText>>>,
    extracts: origins::Extracts,
    /// The words of the prompts, where a rule asks what the user named.
    said: String,
    /// The private texts that were read, where a rule asks who may read them.
    privates: private::PrivateTexts,
    prompts: u64,
    /// How many events were judged for feedback.
    judged: u64,
    providers: Vec<feedback::ProviderMemory>,
    items: Vec<Vec<items::ReferenceItem>>,
    /// How often a stop was blocked.
    blocked: u64,
    /// What this event comes to.
    outcome: EventEffects,
}

/// A value that was seen, and the indexes of its origins: the first one, then the others.
pub(crate) type SeenText = (String, Vec<u32>);

/// A call of this session, for evidence.
#[derive(Clone)]
struct EvidenceCall {
    id: String,
    served: bool,
    /// None while it is in flight.
    success: Option<bool>,
}

/// A call that was allowed, for the limits.
#[derive(Clone)]
struct AllowedCall {
    call: u64,
    time: i64,
    tool: ToolId,
    args: Rc<Vec<Value>>,
    limits: Vec<(LimitId, Option<Value>)>,
}

/// A call that has settled.
#[derive(Clone)]
struct PastSettlement {
    tool: ToolId,
    args: Rc<Vec<Value>>,
    result: Value,
    /// It succeeded, and its result decoded.
    success: bool,
    failed: bool,
    time: i64,
    /// The moment of its settlement.
    number: u64,
    /// Its number among the calls that have settled.
    nth: u64,
    begun: Begun,
}

/// The admission of a call: its moment, counted with settlements, and its time.
#[derive(Clone, Copy)]
struct Begun {
    moment: u64,
    time: i64,
}

/// A call between its allowance and its settlement; an undeclared tool has no number.
#[derive(Clone)]
struct Flight {
    /// What a served call does; none where it cannot, or nothing read it.
    deed: Option<items::ItemAction>,
    id: String,
    call: u64,
    begun: Begun,
    tool: Option<ToolId>,
    args: Rc<Vec<Value>>,
    writes: Vec<(VarId, Rc<Value>)>,
    /// What a failure gives back, by unit.
    returned: Vec<(UnitId, i64)>,
}

/// An approval not yet used.
#[derive(Clone)]
struct Grant {
    tool: ToolId,
    args: Vec<Value>,
    role: String,
    given: i64,
    expires: i64,
}

impl<'p> ReferenceSession<'p> {
    /// Opens a session at `start` (milliseconds since 1970) in a workspace, with what the host gives.
    ///
    /// # Errors
    ///
    /// The variable whose initial value cannot be computed or does not fit its type, and why.
    pub fn open(
        program: &'p Program,
        start: i64,
        workspace: &str,
        data: Option<&Json>,
    ) -> Result<Self, (VarId, String)> {
        let tables = Tables::collect(program);
        let regexes = tables
            .regexes
            .iter()
            .filter_map(|p| Some((p.clone(), regex::Regex::new(p).ok()?)))
            .collect();
        let workspace = guard_plan::path::normalise("/", workspace)
            .map_or_else(|_| "/".into(), |p| p.into_owned());
        let mut session = ReferenceSession {
            program,
            types: Rc::new(tables.type_rows()),
            coercions: Rc::new(tables.coercions()),
            lessons: Rc::new(learning::Lessons::new(program)),
            tables: Rc::new(tables),
            regexes: Rc::new(regexes),
            start,
            now: start,
            workspace: workspace.into(),
            state: Rc::default(),
            trust: Flow::clean(program),
            states: Vec::new(),
            spent: vec![0; program.units.len()],
            allowed: Vec::new(),
            settled: Vec::new(),
            flights: Vec::new(),
            moments: 0,
            settlements: 0,
            grants: Vec::new(),
            facts: vec![Rc::default(); program.facts.len()],
            halted: false,
            calls: Vec::new(),
            attempts: vec![Vec::new(); program.probes.len()],
            asked: RefCell::default(),
            refused: Cell::default(),
            mute: Cell::default(),
            tried: Cell::default(),
            reused: Cell::default(),
            seen: Rc::default(),
            extracts: origins::Extracts::default(),
            said: String::new(),
            privates: private::PrivateTexts::default(),
            prompts: 0,
            judged: 0,
            providers: program
                .feedback
                .iter()
                .map(|f| feedback::ProviderMemory::new(f, start))
                .collect(),
            items: vec![Vec::new(); program.lifecycles.len()],
            blocked: 0,
            outcome: EventEffects::default(),
        };
        for (at, var) in program.state.iter().enumerate() {
            let env = eval::Env::new(&[], &|_| None);
            let value = session.eval(&var.init, env).map_err(|fault| (at, fault.to_string()))?;
            if !session.fits(&var.ty, &value) {
                return Err((at, "does not fit its type".to_string()));
            }
            Rc::make_mut(&mut session.state).push(Rc::new(value));
        }
        session.states.push(session.state.clone());
        session.begin(data);
        Ok(session)
    }

    /// The names of the enforced invariants that the initial state breaks, with what is wrong.
    pub fn broken_initially(&self) -> Vec<(usize, String)> {
        let env = eval::Env::new(&self.state, &|_| None);
        let mut broken = Vec::new();
        for (at, invariant) in self.program.invariants.iter().enumerate() {
            match self.holds(&invariant.condition, env) {
                Ok(true) => {}
                Ok(false) => broken.push((at, "is false".to_string())),
                Err(fault) => broken.push((at, format!("cannot be evaluated ({fault})"))),
            }
        }
        broken
    }

    /// The state, by variable in the order of declaration.
    pub fn state(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.program
            .state
            .iter()
            .map(|v| v.name.as_str())
            .zip(self.state.iter().map(|value| &**value))
    }

    /// Returns the amount spent of each unit, in units of 10⁻⁶.
    pub fn spent(&self) -> impl Iterator<Item = (&str, i64)> {
        self.program.units.iter().map(|u| u.name.as_str()).zip(self.spent.iter().copied())
    }

    /// Returns the number of events that were judged for feedback, and the number of blocked stops.
    pub fn counts(&self) -> (u64, u64) {
        (self.judged, self.blocked)
    }

    /// Returns true if a call of this tool is in flight.
    pub fn flies(&self, tool: &str) -> bool {
        let is = |at: ToolId| self.program.tools[at].name == tool;
        self.flights.iter().any(|flight| flight.tool.is_some_and(is))
    }

    /// Returns true if a variable holds an untrusted value.
    pub fn is_tainted(&self) -> bool {
        self.trust.is_tainted()
    }

    /// Returns true if an answer of a probe was used again since the last call of this function.
    pub fn reused(&self) -> bool {
        self.reused.take()
    }

    /// Returns true if the session is halted.
    pub fn halted(&self) -> bool {
        self.halted
    }

    fn advance(&mut self, now: i64) {
        self.now = self.now.max(now);
    }

    /// The tool with this wire name, or else with this name in the guard.
    fn tool(&self, name: &str) -> Option<ToolId> {
        let tools = &self.program.tools;
        tools
            .iter()
            .position(|t| t.wire_name == name)
            .or_else(|| tools.iter().position(|t| t.name == name))
    }

    /// The typed arguments, or how many things are wrong with them.
    fn arguments(&self, tool: &hir::Tool, args: &Json) -> Result<Vec<Value>, usize> {
        let Json::Object(members) = args else {
            return Err(1);
        };
        let mut wrong = members
            .iter()
            .filter(|(name, _)| !tool.params.iter().any(|p| *p.name == **name))
            .count();
        let mut values = Vec::new();
        for param in &tool.params {
            let given = args.get(&param.name).filter(|v| !matches!(v, Json::Null));
            match given {
                Some(json) => match self.decode(&param.ty, json, false) {
                    Ok(value) => values.push(value),
                    Err(_) => wrong += 1,
                },
                None if param.ty.is_option() => values.push(Value::None),
                // `null` is a value of `json` itself.
                None if param.ty == hir::Type::Json && args.get(&param.name).is_some() => {
                    values.push(Value::Json(Box::new(Json::Null)));
                }
                None => wrong += 1,
            }
        }
        if wrong == 0 { Ok(values) } else { Err(wrong) }
    }

    /// An approval by `role` of exactly this call, until `expires` or for an hour.
    ///
    /// # Errors
    ///
    /// [`Misuse`] for an unknown tool, and for arguments that are not the tool's.
    pub fn approve(
        &mut self,
        tool: &str,
        args: &Json,
        role: &str,
        expires: Option<i64>,
        now: i64,
    ) -> Result<(), Misuse> {
        let tool = self.tool(tool).ok_or_else(|| Misuse(format!("unknown tool `{tool}`")))?;
        let args = self
            .arguments(&self.program.tools[tool], args)
            .map_err(|n| Misuse(format!("{n} wrong arguments")))?;
        self.advance(now);
        let expires = expires.unwrap_or(self.now.saturating_add(HOUR));
        self.grants.push(Grant { tool, args, role: role.to_string(), given: self.now, expires });
        Ok(())
    }

    /// A role takes back what it has approved of exactly this call.
    ///
    /// # Errors
    ///
    /// As [`ReferenceSession::approve`]; [`Misuse`] where nothing is left of the approval.
    pub fn revoke(&mut self, tool: &str, args: &Json, role: &str, now: i64) -> Result<(), Misuse> {
        let tool = self.tool(tool).ok_or_else(|| Misuse(format!("unknown tool `{tool}`")))?;
        let args = self
            .arguments(&self.program.tools[tool], args)
            .map_err(|n| Misuse(format!("{n} wrong arguments")))?;
        let later = self.now.max(now);
        let stays =
            |g: &Grant| g.tool != tool || g.args != args || g.role != role || g.expires <= later;
        if self.grants.iter().all(stays) {
            return Err(Misuse("there is nothing to take back".into()));
        }
        self.grants.retain(stays);
        self.advance(now);
        Ok(())
    }

    /// The host reports use of a host-charged unit.
    ///
    /// # Errors
    ///
    /// [`Misuse`] for a unit that the host does not charge, and for a negative amount.
    pub fn usage(&mut self, unit: &str, amount: i64, now: i64) -> Result<(), Misuse> {
        let at = self.program.units.iter().position(|u| u.name == unit && u.host_charged);
        let at = at.ok_or_else(|| Misuse(format!("`{unit}` is not charged by the host")))?;
        if amount < 0 {
            return Err(Misuse("use is never negative".into()));
        }
        self.advance(now);
        self.spent[at] = self.spent[at].saturating_add(amount);
        Ok(())
    }

    /// A halt ends.
    ///
    /// # Errors
    ///
    /// [`Misuse`] where the session is not halted.
    pub fn resume(&mut self, now: i64) -> Result<(), Misuse> {
        if !self.halted {
            return Err(Misuse("the session is not halted".into()));
        }
        self.advance(now);
        self.halted = false;
        Ok(())
    }
}

/// A fault that only says that another rule has not established something yet.
fn is_missing(fault: &Fault) -> bool {
    matches!(fault, Fault::Missing(_) | Fault::UnequalLengths(..))
}

//! The reference evaluator: the decisions of a guard, computed on the checked program, as directly
//! as `docs/reference/semantics.md` defines them.
//!
//! It has no plan, no indexes, and no memory except for the list of all events. It returns
//! decisions, and the codes and rules of their reasons, but no messages. Laws check that it agrees
//! with the kernel.

mod approvals;
mod conforming;
mod criteria;
pub(crate) mod distance;
mod effects;
mod effort;
mod eval;
mod feedback;
mod findings;
mod items;
mod judgement;
mod learning;
mod limits;
mod opening;
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

pub use judgement::{EventEffects, Judgement, Outline};
pub use stopping::{Stopping, UnmetCheck};

use crate::hir::{self, LimitId, Program, ToolId, UnitId, VarId};
use crate::lower::Tables;
use crate::types::trust::Flow;
use guard_plan::json::Json;
use guard_plan::plan::{Coercion, TypeDef};
use guard_plan::value::{Fault, Value};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// A question to the world.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Ask {
    /// Asks if there is anything at a normalised path; answered by a bool.
    Exists(String),
    /// Asks a probe that the host answers.
    Probe(String),
    /// Asks if there is a regular file at a normalised path; answered by a bool.
    File(String),
    /// Asks if a file contains a text; answered by a bool.
    Contains(String, String),
    /// Asks for the content of a file; answered by its text, or by null if there is no text of an
    /// acceptable size.
    Text(String),
    /// Asks for the SHA-256 of a file; answered by a string, or by null if there is no file.
    Sha256(String),
    /// Runs a command; answered by its status and standard output, or by null if it did not end by
    /// itself.
    Run(Vec<String>),
    /// Asks if there are no uncommitted changes; answered by a bool.
    Committed,
}

/// The function that answers questions. The same question in one event gets the same answer.
pub type Answerer<'w> = &'w dyn Fn(&Ask) -> Option<Json>;

/// A misuse by the host: an event that is not possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misuse(pub String);

/// A session decided by the reference evaluator.
#[derive(Clone)]
pub struct ReferenceSession<'p> {
    program: &'p Program,
    read: Rc<ReadProgram<'p>>,
    start: i64,
    now: i64,
    state: Rc<Vec<Rc<Value>>>,
    /// The untrusted values that variables have held.
    trust: Flow<'p>,
    /// Every committed state so far, for the temporal operators.
    states: Vec<Rc<Vec<Rc<Value>>>>,
    spent: Vec<i64>,
    allowed: Vec<Rc<AllowedCall>>,
    settled: Vec<Rc<PastSettlement>>,
    flights: Vec<Flight>,
    /// The number of admissions and settlements.
    moments: u64,
    /// The number of calls that have settled, or are settling.
    settlements: u64,
    grants: Vec<approvals::Grant>,
    facts: Vec<Rc<learning::FactTable>>,
    halted: bool,
    /// Every call that was allowed, in the order of the proposals.
    calls: Vec<Rc<EvidenceCall>>,
    /// Every attempt of every probe.
    attempts: Vec<Vec<probes::Attempt>>,
    /// The attempts of this event.
    asked: RefCell<Vec<(hir::ProbeId, probes::Attempt)>>,
    /// True if something other than a probe refuses the call of this event.
    refused: Cell<bool>,
    /// True if no probe may be asked: a rule that tries to ask one is judged last.
    mute: Cell<bool>,
    /// True if a rule tried to ask a probe when no probe may be asked.
    tried: Cell<bool>,
    /// True if the last answer of a probe was reused.
    reused: Cell<bool>,
    /// Every value that was seen, with its origins.
    seen: Rc<Vec<Rc<SeenText>>>,
    extracts: origins::Extracts,
    /// The words of the prompts, if a rule asks what the user named.
    said: String,
    /// The private texts that were read, if a rule asks who may read them.
    privates: private::PrivateTexts,
    prompts: u64,
    /// The number of events that were judged for feedback.
    judged: u64,
    providers: Vec<feedback::ProviderMemory>,
    items: Vec<Vec<items::ReferenceItem>>,
    /// The number of blocked stops.
    blocked: u64,
    /// The effects of the current event.
    outcome: EventEffects,
}

/// The tables and texts of a guard that its sessions share.
struct ReadProgram<'p> {
    tables: Tables<'p>,
    lessons: learning::Lessons,
    types: Vec<TypeDef>,
    coercions: Vec<Coercion>,
    regexes: HashMap<Arc<str>, regex::Regex>,
    workspace: String,
    /// The steps of all these sessions.
    steps: Cell<u64>,
}

/// A value that was seen, and the indexes of its origins: the first one, then the others.
pub(crate) type SeenText = (String, Vec<u32>);

/// A call of this session, for evidence.
#[derive(Clone)]
struct EvidenceCall {
    id: String,
    served: bool,
    /// `None` while it is in flight.
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
    /// True if it succeeded and its result decoded.
    success: bool,
    failed: bool,
    time: i64,
    /// The moment of the settlement.
    number: u64,
    /// The number of the call among the settled calls.
    nth: u64,
    begun: Begun,
}

/// The admission of a call: its moment, counted with the settlements, and its time.
#[derive(Clone, Copy)]
struct Begun {
    moment: u64,
    time: i64,
}

/// A call between its admission and its settlement. An undeclared tool has no number.
#[derive(Clone)]
struct Flight {
    /// The action of a served call; `None` if it is not possible, or if the call was not parsed.
    deed: Option<items::ItemAction>,
    id: String,
    call: u64,
    begun: Begun,
    tool: Option<ToolId>,
    args: Rc<Vec<Value>>,
    writes: Vec<(VarId, Rc<Value>)>,
    /// The amounts that a failure returns, by unit.
    returned: Vec<(UnitId, i64)>,
}

impl<'p> ReferenceSession<'p> {
    /// Returns the state, by variable in the order of declaration.
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

    /// Returns true if an answer of a probe was reused since the last call of this function.
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

    /// Returns the tool with this wire name, or otherwise with this name in the guard.
    fn tool(&self, name: &str) -> Option<ToolId> {
        let named = || self.program.tools.iter().position(|tool| tool.name == name);
        self.program.tool_on_wire(name).or_else(named)
    }

    /// Returns the typed arguments, or the number of errors in them.
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
                // `null` is itself a value of `json`.
                None if param.ty == hir::Type::Json && args.get(&param.name).is_some() => {
                    values.push(Value::Json(Box::new(Json::Null)));
                }
                None => wrong += 1,
            }
        }
        if wrong == 0 { Ok(values) } else { Err(wrong) }
    }

    /// Records the host's report of the use of a host-charged unit.
    ///
    /// # Errors
    ///
    /// [`Misuse`] for a unit that the host does not charge, and for a negative amount.
    pub fn usage(&mut self, unit: &str, amount: i64, now: i64) -> Result<(), Misuse> {
        let at = self.program.units.iter().position(|u| u.name == unit && u.host_charged);
        let at = at.ok_or_else(|| Misuse(format!("`{unit}` is not charged by the host")))?;
        if amount < 0 {
            return Err(Misuse("usage cannot be negative".into()));
        }
        self.advance(now);
        self.spent[at] = self.spent[at].saturating_add(amount);
        Ok(())
    }

    /// Ends a halt.
    ///
    /// # Errors
    ///
    /// [`Misuse`] if the session is not halted.
    pub fn resume(&mut self, now: i64) -> Result<(), Misuse> {
        if !self.halted {
            return Err(Misuse("the session is not halted".into()));
        }
        self.advance(now);
        self.halted = false;
        Ok(())
    }
}

/// Returns true for a fault that only says that another rule has not established something yet.
fn is_missing(fault: &Fault) -> bool {
    matches!(fault, Fault::Missing(_) | Fault::UnequalLengths(..))
}

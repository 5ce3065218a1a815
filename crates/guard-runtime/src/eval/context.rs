//! The inputs of an evaluation: the compiled plan, the session, the answers of the world, the call.

use crate::compiled::CompiledPlan;
use crate::session::SessionState;
use crate::val::Val;
use crate::world::WorldQuestions;
use guard_plan::plan::VarId;
use guard_plan::value::{Fault, Value};
use std::cell::{Cell, OnceCell, RefCell};

/// The maximum number of evaluation steps of one decision, whatever the plan declares.
const FUEL: u64 = 20_000_000;

/// The resources that the evaluations of one decision share.
pub(crate) struct DecisionResources {
    pub fuel: Cell<u64>,
    /// A reused buffer for keys, so that a look-up allocates nothing.
    pub buffer: RefCell<Vec<u8>>,
    /// The handling of a question to a probe.
    pub asking: Cell<Asking>,
    /// The commands of the first text that is read as commands: most rules of a tool ask about the
    /// same text.
    pub commands: OnceCell<Commands>,
    /// A description of the private content in the last text that its reader may not read.
    pub leak: RefCell<Option<String>>,
}

/// The commands of a text.
#[derive(Debug)]
pub(crate) struct Commands {
    pub text: Box<str>,
    pub folder: Box<str>,
    pub list: Value,
}

/// The handling of a question to a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    /// The probe answers.
    Now,
    /// The rule is checked later if it asks a probe; no probe was asked yet.
    Later,
    /// The rule is checked later, because it asks a probe.
    Postponed,
    /// The value is only shown: a probe that no rule has asked is not asked for it.
    Never,
}

impl Default for DecisionResources {
    fn default() -> Self {
        DecisionResources {
            fuel: Cell::new(FUEL),
            buffer: RefCell::default(),
            asking: Cell::new(Asking::Now),
            commands: OnceCell::new(),
            leak: RefCell::default(),
        }
    }
}

/// The inputs that an expression may read.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub compiled: &'a CompiledPlan,
    pub session: &'a SessionState,
    pub decision: &'a DecisionResources,
    pub answers: &'a dyn WorldQuestions,
    /// The clock of the session at this decision.
    pub now: i64,
    /// The arguments of the call.
    pub args: &'a [Val<'a>],
    /// The simulated values of state variables, which take precedence over the session's own.
    pub writes: &'a [(VarId, Value)],
    /// The decoded result of the call; for a source, the data it reads (a text if the source is a
    /// prompt).
    pub result: Option<&'a Value>,
}

/// Bound variables, the innermost first.
pub(crate) struct Bindings<'s, 'a> {
    pub slots: &'s [u32],
    pub values: &'s [Val<'a>],
    pub outer: Option<&'s Bindings<'s, 'a>>,
}

pub(crate) type Evaluated<'a> = Result<Val<'a>, Fault>;

impl<'a> Context<'a> {
    /// Returns the inputs of an expression without arguments, at the session's own time.
    pub fn new(
        compiled: &'a CompiledPlan,
        session: &'a SessionState,
        decision: &'a DecisionResources,
        answers: &'a dyn WorldQuestions,
    ) -> Context<'a> {
        let args: &[Val<'a>] = &[];
        let writes: &[(VarId, Value)] = &[];
        let now = session.now;
        Context { compiled, session, decision, answers, now, args, writes, result: None }
    }
}

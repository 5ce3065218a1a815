//! What a drive needs of the outside. Each door is a small trait; the host decides what is behind it.

use guard_plan::advice::Advice;
use guard_plan::json::Json;
use guard_plan::plan::Millis;
use guard_runtime::{Event, Kernel, Outcome, Session, World};

/// What a reasoner is asked.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'t> {
    /// What could be done.
    pub advice: &'t Advice,
    /// The same as text, led by what became of the last round and by its feedback.
    pub text: &'t str,
    /// What became of the last round, in words.
    pub last: Option<&'t str>,
    /// The feedback that the guard gave in the last round; may be empty.
    pub feedback: &'t str,
}

/// What a reasoner says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Its choice, as JSON; see [`Choice`](super::Choice).
    Text(String),
    /// It took too long. Who waits and for how long is the reasoner's affair.
    TimedOut,
    /// It gave no usable answer; why.
    Failed(String),
}

/// Whoever chooses what to do next.
pub trait Reasoner {
    /// Chooses.
    fn choose(&mut self, situation: &Situation<'_>) -> Reply;
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolOutcome {
    /// It did what it should; with its result, if it has one.
    Success(Option<Json>),
    /// It failed; what it said.
    Failure(String),
}

/// Whoever runs the calls that the kernel has allowed.
pub trait Tools {
    /// Runs one to its end. The tool is named by its wire name.
    fn run(&mut self, tool: &str, args: &Json) -> ToolOutcome;
}

/// The time, in milliseconds since 1970.
pub trait Clock {
    /// What time it is.
    fn now(&mut self) -> Millis;
    /// Comes back when it is at least so late.
    fn wait_until(&mut self, at: Millis);
}

/// A call that needs an approval.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The tool's wire name.
    pub tool: &'a str,
    /// The arguments.
    pub args: &'a Json,
    /// Whose approval is needed.
    pub role: &'a str,
    /// What the guard says of it.
    pub message: &'a str,
}

/// An approval of exactly the call that was asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approved {
    /// By whom.
    pub by: String,
    /// From when on it is gone; one hour where that is not said.
    pub expires: Option<Millis>,
}

/// Whoever approves calls.
pub trait Approvals {
    /// Asks for an approval; none if nobody gives it.
    fn ask(&mut self, wanted: &Wanted<'_>) -> Option<Approved>;
}

/// Nobody approves anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Approvals for Nobody {
    fn ask(&mut self, _: &Wanted<'_>) -> Option<Approved> {
        None
    }
}

/// Whoever keeps the record of a drive.
pub trait Witness {
    /// Hears of an event that the kernel has taken, and what it came to.
    fn event(&mut self, kernel: &Kernel, session: &Session, event: &Event<'_>, outcome: &Outcome);
}

/// Nobody keeps a record.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unheard;

impl Witness for Unheard {
    fn event(&mut self, _: &Kernel, _: &Session, _: &Event<'_>, _: &Outcome) {}
}

/// The outside of a drive.
pub struct Doors<'d> {
    /// Chooses.
    pub reasoner: &'d mut dyn Reasoner,
    /// Runs.
    pub tools: &'d mut dyn Tools,
    /// Is asked by rules.
    pub world: &'d mut dyn World,
    /// Says how late it is, and waits.
    pub clock: &'d mut dyn Clock,
    /// Approves.
    pub approvals: &'d mut dyn Approvals,
    /// Keeps the record.
    pub witness: &'d mut dyn Witness,
}

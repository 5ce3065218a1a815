//! The host's side of a drive: small traits that the host implements.

use guard_plan::advice::Advice;
use guard_plan::json::Json;
use guard_plan::plan::Millis;
use guard_runtime::{Event, Kernel, Outcome, SessionState, World};

/// The input of a reasoner.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'t> {
    /// The possible actions.
    pub advice: &'t Advice,
    /// The same as text, after the outcome and the feedback of the last round.
    pub text: &'t str,
    /// The outcome of the last round, as text.
    pub last: Option<&'t str>,
    /// The feedback of the guard in the last round; may be empty.
    pub feedback: &'t str,
}

/// A reasoner's reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Its choice, as JSON; see [`Choice`](super::Choice).
    Text(String),
    /// It timed out. The reasoner itself implements the time limit.
    TimedOut,
    /// It gave no usable answer: the reason.
    Failed(String),
}

/// Chooses the next action.
pub trait Reasoner {
    /// Returns the choice for a situation.
    fn choose(&mut self, situation: &Situation<'_>) -> Reply;
}

/// The outcome of a call, as its tool reports it.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolOutcome {
    /// It succeeded; with its result, if any.
    Success(Option<Json>),
    /// It failed: the error text.
    Failure(String),
}

/// Runs the calls that the kernel has allowed.
pub trait Tools {
    /// Runs a call to its end. The tool is given by its wire name.
    fn run(&mut self, tool: &str, args: &Json) -> ToolOutcome;
}

/// The time, in milliseconds since 1970.
pub trait Clock {
    /// Returns the current time.
    fn now(&mut self) -> Millis;
    /// Waits at least until this time.
    fn wait_until(&mut self, at: Millis);
}

/// A call that needs an approval.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The tool's wire name.
    pub tool: &'a str,
    /// The arguments.
    pub args: &'a Json,
    /// The role whose approval is needed.
    pub role: &'a str,
    /// The guard's message.
    pub message: &'a str,
}

/// An approval of exactly the requested call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approved {
    /// The name of the approver.
    pub by: String,
    /// The time when the approval expires; by default after one hour.
    pub expires: Option<Millis>,
}

/// Approves calls.
pub trait Approvals {
    /// Asks for an approval; `None` if it is refused.
    fn ask(&mut self, wanted: &Wanted<'_>) -> Option<Approved>;
}

/// Approves no call.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Approvals for Nobody {
    fn ask(&mut self, _: &Wanted<'_>) -> Option<Approved> {
        None
    }
}

/// The session that is driven. Every event goes through it, so that whoever keeps its record keeps it here.
pub trait DriveSession {
    /// The kernel that decides.
    fn kernel(&self) -> &Kernel;

    /// The session's memory.
    fn state(&self) -> &SessionState;

    /// Takes an event.
    ///
    /// # Errors
    ///
    /// The reason it was not taken, in words.
    fn step(&mut self, event: &Event<'_>) -> Result<Outcome, String>;

    /// Judges and ranks what could be done at a time.
    fn advise(&mut self, now: Millis) -> Advice;
}

/// A session whose record nobody keeps.
pub struct UnrecordedSession<'s> {
    /// The kernel that decides.
    pub kernel: &'s Kernel,
    /// The session's memory, which this kernel has opened.
    pub session: &'s mut SessionState,
    /// Answers the kernel's questions.
    pub world: &'s mut dyn World,
}

impl DriveSession for UnrecordedSession<'_> {
    fn kernel(&self) -> &Kernel {
        self.kernel
    }

    fn state(&self) -> &SessionState {
        self.session
    }

    fn step(&mut self, event: &Event<'_>) -> Result<Outcome, String> {
        let outcome = self.kernel.step(self.session, event, self.world);
        outcome.map_err(|error| error.to_string())
    }

    fn advise(&mut self, now: Millis) -> Advice {
        crate::advise(self.kernel, self.session, now, self.world)
    }
}

/// The host's implementations that a drive uses, besides its session.
pub struct DriveIo<'d> {
    /// Chooses.
    pub reasoner: &'d mut dyn Reasoner,
    /// Runs the calls.
    pub tools: &'d mut dyn Tools,
    /// Tells the time, and waits.
    pub clock: &'d mut dyn Clock,
    /// Approves calls.
    pub approvals: &'d mut dyn Approvals,
}

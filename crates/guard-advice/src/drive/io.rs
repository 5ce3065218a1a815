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
    /// The choice, as JSON; see [`Choice`](super::Choice).
    Text(String),
    /// The reasoner timed out. The reasoner itself implements the time limit.
    TimedOut,
    /// The reasoner gave no usable answer. Contains the reason.
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
    /// The call succeeded. Contains its result, if any.
    Success(Option<Json>),
    /// The call failed. Contains the error text.
    Failure(String),
}

/// Runs the calls that the kernel has allowed.
pub trait Tools {
    /// Runs a call to its end. The tool is given by its wire name.
    fn run(&mut self, tool: &str, args: &Json) -> ToolOutcome;
}

/// A clock, in milliseconds since 1970.
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

/// The session that is driven. Every event goes through it, so that an implementation can record
/// the events.
pub trait DriveSession {
    /// Returns the kernel that decides.
    fn kernel(&self) -> &Kernel;

    /// Returns the state of the session.
    fn state(&self) -> &SessionState;

    /// Applies an event.
    ///
    /// # Errors
    ///
    /// The reason why the event was not accepted, as text.
    fn step(&mut self, event: &Event<'_>) -> Result<Outcome, String>;

    /// Judges and ranks the possible next actions at a given time.
    fn advise(&mut self, now: Millis) -> Advice;
}

/// A session whose events are not recorded.
pub struct UnrecordedSession<'s> {
    /// The kernel that decides.
    pub kernel: &'s Kernel,
    /// The state of the session, which this kernel has opened.
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
    /// The reasoner, which chooses the next action.
    pub reasoner: &'d mut dyn Reasoner,
    /// The tools, which run the calls.
    pub tools: &'d mut dyn Tools,
    /// The clock, which gives the time and waits.
    pub clock: &'d mut dyn Clock,
    /// The approvals of calls.
    pub approvals: &'d mut dyn Approvals,
}

//! What a drive needs of the outside: small traits that the host implements.

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

/// The session that is driven. Every event goes through it, so that whoever keeps its record keeps it here.
pub trait DriveSession {
    /// The kernel that decides.
    fn kernel(&self) -> &Kernel;

    /// The session's memory.
    fn state(&self) -> &Session;

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
    pub session: &'s mut Session,
    /// Answers the kernel's questions.
    pub world: &'s mut dyn World,
}

impl DriveSession for UnrecordedSession<'_> {
    fn kernel(&self) -> &Kernel {
        self.kernel
    }

    fn state(&self) -> &Session {
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

/// What a drive needs beside its session.
pub struct DriveIo<'d> {
    /// Chooses.
    pub reasoner: &'d mut dyn Reasoner,
    /// Runs.
    pub tools: &'d mut dyn Tools,
    /// Tells the time, and waits.
    pub clock: &'d mut dyn Clock,
    /// Approves.
    pub approvals: &'d mut dyn Approvals,
}

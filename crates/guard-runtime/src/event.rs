//! Everything that can happen in a session, as the host reports it. Data alone: what an event comes to is in `outcome`.

use guard_plan::json::Json;
use guard_plan::plan::Millis;

/// The arguments of a call, as the host received them.
#[derive(Debug, Clone, Copy)]
pub enum Arguments<'a> {
    /// They were read as JSON. The tool takes an object.
    Read(&'a Json),
    /// They could not be read as JSON. Such a call is refused: the tool may read the text differently.
    Unreadable {
        /// The text.
        text: &'a str,
        /// The error of the reader.
        error: &'a str,
    },
}

impl<'a> Arguments<'a> {
    /// The JSON, where it was read.
    pub fn json(&self) -> Option<&'a Json> {
        match self {
            Arguments::Read(json) => Some(json),
            Arguments::Unreadable { .. } => None,
        }
    }
}

impl<'a> From<&'a Json> for Arguments<'a> {
    fn from(json: &'a Json) -> Arguments<'a> {
        Arguments::Read(json)
    }
}

/// A call that somebody wants to make.
#[derive(Debug, Clone, Copy)]
pub struct Proposal<'p> {
    /// Its id, unique among the calls in flight.
    pub call: &'p str,
    /// The tool's wire name.
    pub tool: &'p str,
    /// The arguments.
    pub args: Arguments<'p>,
    /// When.
    pub now: Millis,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending<'s> {
    /// It did what it should; with its result, if it has one.
    Success(Option<&'s Json>),
    /// It failed.
    Failure,
}

/// A call that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Settlement<'s> {
    /// Its id.
    pub call: &'s str,
    /// How it ended.
    pub ending: Ending<'s>,
    /// When.
    pub now: Millis,
}

/// The approval of exactly one call.
#[derive(Debug, Clone, Copy)]
pub struct Approve<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The arguments.
    pub args: &'a Json,
    /// In which role it is given.
    pub role: &'a str,
    /// By whom.
    pub by: &'a str,
    /// From when on it is gone; one hour after it is given where that is not said.
    pub expires: Option<Millis>,
    /// When it is given.
    pub now: Millis,
}

/// A report of something the host charges.
#[derive(Debug, Clone, Copy)]
pub struct Usage<'a> {
    /// The unit.
    pub unit: &'a str,
    /// How much, in units of 10⁻⁶.
    pub amount: i64,
    /// When.
    pub now: Millis,
}

/// The end of a halt.
#[derive(Debug, Clone, Copy)]
pub struct Resume<'a> {
    /// In which role.
    pub role: &'a str,
    /// By whom.
    pub by: &'a str,
    /// When.
    pub now: Millis,
}

/// The user has said something (semantics §8).
#[derive(Debug, Clone, Copy)]
pub struct Prompt<'p> {
    /// The user's words.
    pub text: &'p str,
    /// When.
    pub now: Millis,
}

/// The agent wants to stop.
#[derive(Debug, Clone, Copy)]
pub struct Stop<'s> {
    /// Why, as the host says; for the record.
    pub reason: Option<&'s str>,
    /// When.
    pub now: Millis,
}

/// The criteria of an item are to be judged.
#[derive(Debug, Clone, Copy)]
pub struct Verify<'i> {
    /// The item's id.
    pub item: &'i str,
    /// When.
    pub now: Millis,
}

/// The harness moves an item by hand.
#[derive(Debug, Clone, Copy)]
pub struct Move<'i> {
    /// The item's id.
    pub item: &'i str,
    /// The transition.
    pub transition: &'i str,
    /// Who does it.
    pub by: &'i str,
    /// Why; with one, a transition that does not lead to a final state is a rejection.
    pub reason: Option<&'i str>,
    /// When.
    pub now: Millis,
}

/// Anything that happens in a session.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "each is documented itself")]
pub enum Event<'a> {
    Propose(Proposal<'a>),
    Settle(Settlement<'a>),
    Approve(Approve<'a>),
    Usage(Usage<'a>),
    Resume(Resume<'a>),
    Prompt(Prompt<'a>),
    Stop(Stop<'a>),
    Verify(Verify<'a>),
    Move(Move<'a>),
}

//! The events of a session, as the host reports them. This module has only data; the outcomes of
//! events are in `outcome`.

use guard_plan::json::Json;
use guard_plan::plan::Millis;

/// The arguments of a call, as the host received them.
#[derive(Debug, Clone, Copy)]
pub enum Arguments<'a> {
    /// The arguments were parsed as JSON. The tool takes an object.
    Read(&'a Json),
    /// The arguments could not be parsed as JSON. Such a call is refused: the tool may parse the
    /// text differently.
    Unreadable {
        /// The text.
        text: &'a str,
        /// The error of the parser.
        error: &'a str,
    },
}

impl<'a> Arguments<'a> {
    /// Returns the JSON, if it was parsed.
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

/// A call that an agent proposes.
#[derive(Debug, Clone, Copy)]
pub struct Proposal<'p> {
    /// The id, unique among the calls in flight.
    pub call: &'p str,
    /// The tool's wire name.
    pub tool: &'p str,
    /// The arguments.
    pub args: Arguments<'p>,
    /// The time of the event.
    pub now: Millis,
}

/// The ending of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending<'s> {
    /// It succeeded; with its result, if any.
    Success(Option<&'s Json>),
    /// It succeeded, and its result could not be parsed as JSON: it counts as one that does not
    /// decode.
    Unreadable {
        /// The text of the result.
        text: &'s str,
        /// The error of the parser.
        error: &'s str,
    },
    /// It failed.
    Failure,
}

/// A call that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Settlement<'s> {
    /// The id.
    pub call: &'s str,
    /// The outcome of the call.
    pub ending: Ending<'s>,
    /// The time of the event.
    pub now: Millis,
}

/// The approval of exactly one call.
#[derive(Debug, Clone, Copy)]
pub struct CallApproval<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The arguments.
    pub args: &'a Json,
    /// The role in which the approval is given.
    pub role: &'a str,
    /// The name of the approver.
    pub by: &'a str,
    /// The time when the approval expires; by default one hour after it is given.
    pub expires: Option<Millis>,
    /// The time when it is given.
    pub now: Millis,
}

/// The revocation of a role's approval.
#[derive(Debug, Clone, Copy)]
pub struct Revocation<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The arguments.
    pub args: &'a Json,
    /// The role whose approvals are revoked.
    pub role: &'a str,
    /// The name of the person who revokes them.
    pub by: &'a str,
    /// The time of the event.
    pub now: Millis,
}

/// A report of usage that the host charges.
#[derive(Debug, Clone, Copy)]
pub struct UsageReport<'a> {
    /// The unit.
    pub unit: &'a str,
    /// The amount, in units of 10⁻⁶.
    pub amount: i64,
    /// The time of the event.
    pub now: Millis,
}

/// The end of a halt.
#[derive(Debug, Clone, Copy)]
pub struct HaltEnd<'a> {
    /// The role in which the session is resumed.
    pub role: &'a str,
    /// The name of the person who resumes it.
    pub by: &'a str,
    /// The time of the event.
    pub now: Millis,
}

/// A message from the user (semantics §8).
#[derive(Debug, Clone, Copy)]
pub struct UserPrompt<'p> {
    /// The user's words.
    pub text: &'p str,
    /// The time of the event.
    pub now: Millis,
}

/// A request of the agent to stop.
#[derive(Debug, Clone, Copy)]
pub struct StopAttempt<'s> {
    /// The reason that the host gives; for the record.
    pub reason: Option<&'s str>,
    /// The time of the event.
    pub now: Millis,
}

/// A request to judge the criteria of an item.
#[derive(Debug, Clone, Copy)]
pub struct Verify<'i> {
    /// The item's id.
    pub item: &'i str,
    /// The time of the event.
    pub now: Millis,
}

/// A manual transition of an item by the harness.
#[derive(Debug, Clone, Copy)]
pub struct Move<'i> {
    /// The item's id.
    pub item: &'i str,
    /// The transition.
    pub transition: &'i str,
    /// The name of the person who makes the transition.
    pub by: &'i str,
    /// The reason. A transition with a reason that does not lead to a final state is a rejection.
    pub reason: Option<&'i str>,
    /// The time of the event.
    pub now: Millis,
}

/// Any event of a session.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "each is documented itself")]
pub enum Event<'a> {
    Propose(Proposal<'a>),
    Settle(Settlement<'a>),
    Approve(CallApproval<'a>),
    Revoke(Revocation<'a>),
    Usage(UsageReport<'a>),
    Resume(HaltEnd<'a>),
    Prompt(UserPrompt<'a>),
    Stop(StopAttempt<'a>),
    Verify(Verify<'a>),
    Move(Move<'a>),
}

impl Event<'_> {
    /// Returns the time of the event.
    pub fn now(&self) -> Millis {
        match self {
            Event::Propose(event) => event.now,
            Event::Settle(event) => event.now,
            Event::Approve(event) => event.now,
            Event::Revoke(event) => event.now,
            Event::Usage(event) => event.now,
            Event::Resume(event) => event.now,
            Event::Prompt(event) => event.now,
            Event::Stop(event) => event.now,
            Event::Verify(event) => event.now,
            Event::Move(event) => event.now,
        }
    }
}

//! The decision interface of the proxy. A session implements it, and the protocol asks it.

use guard_plan::json::Json;
use guard_plan::plan::Plan;

/// A call of a tool, as the client sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardedCall {
    /// The number of the logical call. It is the same for a call that is repeated with its inputs.
    pub number: u64,
    /// The session that the message names, if any.
    pub session: Option<String>,
    /// The tool.
    pub tool: String,
    /// The arguments, under names that a guard can declare.
    pub args: Json,
    /// True if the gate has replaced the client's arguments. The server gets the new ones.
    pub transformed: bool,
}

/// The decision on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateAnswer {
    /// The call may run.
    Allow,
    /// The guard serves the tool itself: the result, and feedback for the agent.
    Served(Json, String),
    /// The call must not run. Contains the reason and the remedy.
    Deny(String),
    /// A call in flight must be settled first. Contains the reason.
    Wait(String),
    /// A person must approve exactly this call.
    Ask(ApprovalQuestion),
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalQuestion {
    /// The id of the request in the store.
    pub request: String,
    /// The question, if one person can answer it here. A request that needs several roles has no
    /// question.
    pub question: Option<String>,
    /// The denial, which explains how to approve.
    pub denial: String,
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonsAnswer {
    /// True for an approval.
    pub approves: bool,
    /// The name that the person gave.
    pub name: String,
    /// The reason of a refusal.
    pub reason: String,
}

/// The ending of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuardedEnding {
    /// The call failed, was cancelled, or was not answered.
    Failed,
    /// The call succeeded. Contains the forms in which its result can be read, the best first.
    Succeeded(Vec<Json>),
}

/// The effects of a settled call on what the agent reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SettledCall {
    /// The index of the form of the result that was accepted.
    pub form: usize,
    /// Feedback for the agent; may be empty.
    pub feedback: String,
    /// The result that the agent may read, if it differs from the original.
    pub shown: Option<Json>,
}

/// A session behind the proxy.
pub trait CallGate {
    /// Returns the plan, which never changes.
    fn plan(&self) -> &Plan;

    /// Decides a call before it runs. A held call is decided again; as long as it must wait, that
    /// leaves no trace. If the guard requires other arguments, the call has them afterwards, and
    /// the answer is about these.
    fn propose(&mut self, call: &mut GuardedCall, held: bool) -> GateAnswer;

    /// Checks a call in flight again that the client repeats with inputs.
    ///
    /// # Errors
    ///
    /// Returns the reason if the call may not continue.
    fn check_again(&mut self, call: &GuardedCall) -> Result<(), String>;

    /// Processes a person's answer to the request for a call.
    ///
    /// # Errors
    ///
    /// Returns the reason if the answer is not accepted.
    fn answer(
        &mut self,
        call: &GuardedCall,
        request: &str,
        answer: &PersonsAnswer,
    ) -> Result<(), String>;

    /// Settles a call that was allowed.
    ///
    /// # Errors
    ///
    /// Returns the reason if the ending cannot be recorded.
    fn settle(&mut self, call: &GuardedCall, ending: &GuardedEnding)
    -> Result<SettledCall, String>;
}

//! The side of the proxy that decides: implemented over a session, asked by the protocol.

use guard_plan::json::Json;
use guard_plan::plan::Plan;

/// A call of a tool, as the client sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardedCall {
    /// The number of the logical call: the same for a call that is made again with its inputs.
    pub number: u64,
    /// The session that the message names.
    pub session: Option<String>,
    /// The tool.
    pub tool: String,
    /// The arguments, under names that a guard can declare.
    pub args: Json,
    /// True if the gate has put other arguments in the place of the client's: the server gets these.
    pub transformed: bool,
}

/// The decision on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateAnswer {
    /// The call may run.
    Allow,
    /// The guard serves the tool itself: the result, and feedback for the agent.
    Served(Json, String),
    /// The call must not run: why, and what helps.
    Deny(String),
    /// A call in flight must settle first: why.
    Wait(String),
    /// A person must approve exactly this call.
    Ask(ApprovalQuestion),
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalQuestion {
    /// The id of the request in the store.
    pub request: String,
    /// The question, if one person can answer it here; a request that needs several roles has none.
    pub question: Option<String>,
    /// The denial that says how to approve.
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
    /// The call succeeded: the forms in which its result can be read, the best first.
    Succeeded(Vec<Json>),
}

/// The consequences of a settled call for what the agent reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SettledCall {
    /// The form of the result that was taken, as an index.
    pub form: usize,
    /// Feedback for the agent; may be empty.
    pub feedback: String,
    /// The result that the agent may read, if it is another one.
    pub shown: Option<Json>,
}

/// A session behind the proxy.
pub trait CallGate {
    /// The plan, which never changes.
    fn plan(&self) -> &Plan;

    /// Decides a call before it runs. A call that was held is decided again; as long as it must wait, that leaves no
    /// trace. Where the guard asks for other arguments, the call has them afterwards, and the answer is about these.
    fn propose(&mut self, call: &mut GuardedCall, held: bool) -> GateAnswer;

    /// Checks a call in flight again, whose client sends it once more with inputs.
    ///
    /// # Errors
    ///
    /// Returns the reason if it may not go on.
    fn check_again(&mut self, call: &GuardedCall) -> Result<(), String>;

    /// Takes a person's answer to the request for a call.
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
    /// Returns the reason if the ending cannot be put on record.
    fn settle(&mut self, call: &GuardedCall, ending: &GuardedEnding)
    -> Result<SettledCall, String>;
}

//! The meanings of the reason codes of verdicts, and the remedies.

use crate::verdict::Code;

/// The explanation of a reason code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    /// The meaning of the code, as the end of a sentence.
    pub means: &'static str,
    /// The remedy for the caller.
    pub remedy: &'static str,
    /// The remedy for the guard's author; empty if there is none.
    pub author: &'static str,
}

/// Returns the meaning of a code.
pub fn meaning(code: Code) -> Meaning {
    let (means, remedy) = match code {
        Code::UnknownTool => ("the guard declares no tool of this name", "Call a declared tool."),
        Code::InvalidArguments => (
            "the arguments do not have the declared types",
            "Correct the arguments named; every one that is wrong is named.",
        ),
        Code::Requires => (
            "a call that must have succeeded before has not",
            "First call what is missing. If it is in flight already, wait for it.",
        ),
        Code::Denied => (
            "a `deny` rule applies",
            "Read its `because`: other arguments or another state may be allowed.",
        ),
        Code::Transform => (
            "a `transform` says that an argument must have another value",
            "Make the call with the value that the help names.",
        ),
        Code::Limit => (
            "a counter of allowed calls is full",
            "Wait until the window has moved on, or do something else; a call in flight may have to settle.",
        ),
        Code::Budget => {
            ("the budget does not cover what the call costs", "Do something cheaper, or finish.")
        }
        Code::Deadline => {
            ("the session's deadline has passed", "Finish: no call is allowed any more.")
        }
        Code::Invariant => (
            "the state after the call would break an invariant or the range of a variable",
            "Change the state first, or call with other arguments.",
        ),
        Code::Approval => (
            "a person in a role must approve exactly this call",
            "Ask for the approval, then call again.",
        ),
        Code::Gated => (
            "the tool is irreversible and critical, and this call is not authorised",
            "Ask for an approval of exactly this call, by any role.",
        ),
        Code::NotReady => ("a probe reports that something is not ready", "Wait, then call again."),
        Code::Lifecycle => {
            ("an item's lifecycle does not permit the transition", "Take the preceding step first.")
        }
        Code::UnknownReference => {
            ("a value refers to something unknown", "Use a value that a trusted source has given.")
        }
        Code::EvaluationError => (
            "a rule could not be evaluated, so the call is denied",
            "The message names the cause: an overflow, a missing value, a question without an answer.",
        ),
        Code::Conflict => (
            "a call in flight may change state that this one depends on",
            "Wait until it has settled.",
        ),
        Code::Halted => {
            ("the session is halted", "A person must resume it; until then every call is denied.")
        }
        Code::PlanMismatch => (
            "the optimized plan and the full plan decided differently",
            "Call again: from here on the session stays on the full plan.",
        ),
        Code::BrokenProof => (
            "a proved invariant did not hold when it was checked again, so the session is halted",
            "A person must resume it; from then on every invariant is checked at every call.",
        ),
    };
    let author = match code {
        Code::UnknownTool => {
            "The author may declare it with `tool NAME(…)`, or say `default allow`."
        }
        Code::PlanMismatch => {
            "This is a defect of the optimizer or a plan that was changed: report it, with the trace."
        }
        Code::BrokenProof => {
            "This is a defect of the prover or a plan that was changed: report it, with `broken_proof` of the record."
        }
        _ => "",
    };
    Meaning { means, remedy, author }
}

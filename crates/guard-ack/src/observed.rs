//! The observations of an adapter.

use crate::adapter::AdapterTrouble;
use crate::protocol::{ApprovalRequest, Declared, LoopEnd, ModelCall, ModelMessage, ReplayAnswer};

/// The observations of one case.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observed {
    /// The adapter's declaration.
    pub declared: Declared,
    /// The runs, in order.
    pub runs: Vec<RunSeen>,
    /// Every message, in order.
    pub log: Vec<String>,
    /// True if earlier cases were played in the same process.
    pub is_process_used: bool,
    /// True if a run did not end although all processes of the adapter slept.
    pub is_asleep: bool,
    /// The reason why a run did not end, where that breaks a promise.
    pub trouble: Option<AdapterTrouble>,
}

/// The observations of one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunSeen {
    /// The messages shown to the model at each request.
    pub shown: Vec<Vec<ModelMessage>>,
    /// The indexes of the model's answers in the log.
    pub asked: Vec<usize>,
    /// The calls that ran, in the order in which they began.
    pub executed: Vec<RanCall>,
    /// The requests for approval.
    pub approvals: Vec<ApprovalRequest>,
    /// True if the model was asked again after its final stop.
    pub beyond: bool,
    /// The adapter's result.
    pub end: Option<LoopEnd>,
    /// The result of replaying its trace.
    pub replayed: Option<ReplayAnswer>,
    /// The index of its first message in the log.
    pub log_from: usize,
}

/// A call that ran.
#[derive(Debug, Clone, PartialEq)]
pub struct RanCall {
    /// The call.
    pub call: ModelCall,
    /// The id in the case; `None` if the model never made it.
    pub id: Option<String>,
    /// The number of begin and end events before its beginning.
    pub begun: usize,
    /// The number of those events before its end; `None` if it never ended.
    pub ended: Option<usize>,
    /// The index in the log of the message that reported the call's end to the adapter.
    pub told: Option<usize>,
}

impl RanCall {
    /// Returns true if two calls ran at the same time.
    pub fn beside(&self, other: &RanCall) -> bool {
        let before = |a: &RanCall, b: &RanCall| a.ended.is_some_and(|end| end < b.begun);
        !before(self, other) && !before(other, self)
    }
}

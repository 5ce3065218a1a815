//! What was seen of an adapter, and nothing that was only said.

use crate::protocol::{ApprovalRequest, Call, Declared, End, Message, Replayed};

/// What was seen of one case.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observed {
    /// What the adapter declares.
    pub declared: Declared,
    /// By run, in order.
    pub runs: Vec<RunSeen>,
    /// Every message, in order.
    pub log: Vec<String>,
}

/// What was seen of one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunSeen {
    /// What the model was shown, each time it was asked.
    pub shown: Vec<Vec<Message>>,
    /// What was run, in the order in which it began.
    pub executed: Vec<Served>,
    /// Who was asked to approve what.
    pub approvals: Vec<ApprovalRequest>,
    /// The model was asked again after it had stopped for good.
    pub beyond: bool,
    /// What the adapter handed over.
    pub end: Option<End>,
    /// What playing its trace again came to.
    pub replayed: Option<Replayed>,
    /// Where its messages begin in the log.
    pub log_from: usize,
}

/// A call that was run.
#[derive(Debug, Clone, PartialEq)]
pub struct Served {
    /// What was run.
    pub call: Call,
    /// Its id in the case; none where the model never made it.
    pub id: Option<String>,
    /// After how many beginnings and ends it began.
    pub begun: usize,
    /// After how many it ended; none where it never did.
    pub ended: Option<usize>,
}

impl Served {
    /// Whether two calls ran at the same time.
    pub fn beside(&self, other: &Served) -> bool {
        let before = |a: &Served, b: &Served| a.ended.is_some_and(|end| end < b.begun);
        !before(self, other) && !before(other, self)
    }
}

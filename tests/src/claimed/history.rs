//! The test's own history of a session, and its own answer to whether a rule refuses a call.

use super::MINUTE;
use super::rules::{Condition, CountScope, Denial};

/// A call that was allowed.
pub(super) struct AdmittedCall {
    pub tool: usize,
    /// When it was admitted: the event and the time.
    pub admitted: (usize, i64),
    /// When it settled, and whether it succeeded.
    pub settled: Option<(usize, i64, bool)>,
}

/// The history of a session, as the test keeps it itself.
#[derive(Default)]
pub(super) struct OwnHistory {
    pub calls: Vec<AdmittedCall>,
    pub event: usize,
    pub now: i64,
    /// The committed states: `x` and `f`.
    pub states: Vec<(i64, bool)>,
}

impl OwnHistory {
    fn ended(
        &self,
        tool: usize,
        success: bool,
    ) -> impl Iterator<Item = (&AdmittedCall, (usize, i64))> {
        self.calls.iter().filter(move |call| call.tool == tool).filter_map(move |call| {
            let (event, time, ok) = call.settled?;
            (ok == success).then_some((call, (event, time)))
        })
    }

    fn young(&self, time: i64, within: Option<i64>) -> bool {
        within.is_none_or(|minutes| self.now - time <= minutes * MINUTE)
    }

    /// A success counts if no call of the other tool was in flight or began since it was admitted.
    fn counts(&self, call: &AdmittedCall, since: Option<usize>, within: Option<i64>) -> bool {
        let before =
            |b: &AdmittedCall| b.settled.is_some_and(|(event, ..)| event < call.admitted.0);
        let others = |tool: usize| self.calls.iter().filter(move |b| b.tool == tool);
        self.young(call.admitted.1, within) && since.is_none_or(|tool| others(tool).all(before))
    }

    fn holds(&self, condition: &Condition) -> bool {
        let (x, f) = self.states[self.states.len() - 1];
        match condition {
            Condition::Called { tool, since, within } => {
                self.ended(*tool, true).any(|(call, _)| self.counts(call, *since, *within))
            }
            Condition::Failed { tool, since, within } => {
                let last = since.and_then(|b| self.ended(b, true).map(|(_, (at, _))| at).max());
                self.ended(*tool, false).any(|(_, (event, time))| {
                    last.is_none_or(|last| event > last) && self.young(time, *within)
                })
            }
            Condition::Calls { tool, failures, more } => {
                self.ended(*tool, !failures).count() > *more
            }
            Condition::AtLeast(least) => x >= *least,
            Condition::Flag => f,
            Condition::Once(wanted) => self.states.iter().any(|(_, f)| f == wanted),
            Condition::Historically(wanted) => self.states.iter().all(|(_, f)| f == wanted),
            Condition::Not(of) => !self.holds(of),
            Condition::And(a, b) => self.holds(a) && self.holds(b),
            Condition::Or(a, b) => self.holds(a) || self.holds(b),
        }
    }

    /// Returns true if the rule would refuse a call of the tool now.
    pub(super) fn refuses(&self, tool: usize, rule: &Denial) -> bool {
        match rule {
            Denial::Requires { tool, latest, since, within } => {
                let met = |call: &AdmittedCall| self.counts(call, *since, *within);
                let mut ended: Vec<(usize, &AdmittedCall, bool)> = Vec::new();
                for success in [true, false] {
                    let of = self.ended(*tool, success);
                    ended.extend(of.map(|(call, (event, _))| (event, call, success)));
                }
                let last = ended.iter().max_by_key(|(event, ..)| *event);
                if *latest {
                    !last.is_some_and(|(_, call, success)| *success && met(call))
                } else {
                    !ended.iter().any(|(_, call, success)| *success && met(call))
                }
            }
            Denial::Deny(condition) => self.holds(condition),
            Denial::Limit { count, scope, success, .. } => {
                let counted = |call: &&AdmittedCall| {
                    let failed = call.settled.is_some_and(|(.., ok)| !ok);
                    call.tool == tool
                        && !(*success && failed)
                        && match scope {
                            CountScope::Session => true,
                            CountScope::InFlight => call.settled.is_none(),
                            CountScope::Window(minutes) => {
                                self.now - call.admitted.1 < minutes * MINUTE
                            }
                        }
                };
                self.calls.iter().filter(counted).count() >= *count
            }
        }
    }
}

//! The behaviour of each fault. The duties call these functions; for a faultless adapter they do
//! nothing.

mod gate;
mod stop;
mod world;

pub(crate) use gate::{before, judged, told};
pub(crate) use stop::{ended, stopped};
pub(crate) use world::Lapsing;

use crate::fault::Fault;
use guard_ack::protocol::{Call, Done};
use guard_plan::record::{Payload, Record};
use guard_plan::verdict::Decision;
use guard_runtime::Stopped;
use std::collections::BTreeSet;

/// State that a faulty adapter wrongly keeps across runs and sessions.
#[derive(Default)]
pub struct Lapses {
    /// Denied calls, with the reasons.
    pub denied: Vec<(Call, String)>,
    /// Calls that have run, with their results.
    pub ran: Vec<(Call, String)>,
    /// Calls that were approved.
    pub approved: Vec<Call>,
    /// True if a call was denied in this turn.
    pub denied_here: bool,
    /// True if the loop ends unconditionally.
    pub ends: bool,
    /// Calls that are not settled yet.
    pub unsettled: Vec<(Call, Done)>,
    /// Usage that is not reported yet.
    pub usage: Vec<(String, String)>,
    /// Feedback that was not shown yet.
    pub feedback: Vec<String>,
    /// Feedback or failed checks that are shown repeatedly.
    pub repeated: Vec<String>,
    /// The answer to the first stop.
    pub stop: Option<Stopped>,
    /// True if a stop was blocked.
    pub blocked: bool,
    /// The first output.
    pub output: Option<String>,
    /// Calls that were settled before they ran.
    pub settled: BTreeSet<String>,
    /// Calls that ran before a restore.
    pub again: Vec<Call>,
    /// The ids of renamed calls.
    pub renamed: Vec<String>,
}

impl Lapses {
    /// Returns the id under which the guard knows a call.
    pub fn id(&mut self, fault: Fault, call: &str) -> String {
        if fault != Fault::RenamesCalls {
            return call.to_owned();
        }
        let known = self.renamed.iter().position(|known| known == call);
        let at = known.unwrap_or_else(|| {
            self.renamed.push(call.to_owned());
            self.renamed.len() - 1
        });
        format!("call-{at}")
    }

    /// Returns the trace that is restored instead of the correct one.
    pub fn restored(&mut self, fault: Fault, mut trace: Vec<String>) -> Vec<String> {
        let record = |line: &String| Record::parse(line).ok();
        match fault {
            Fault::RestoresNothing => trace.truncate(1),
            Fault::RestoresNoApprovals => trace.retain(|line| {
                let payload = record(line).map(|record| record.payload);
                !matches!(payload, Some(Payload::Approve(_) | Payload::Usage(_)))
            }),
            Fault::RestoresNoCadence => trace.retain(|line| {
                let payload = record(line).map(|record| record.payload);
                !matches!(payload, Some(Payload::Propose(_) | Payload::Settle(_)))
            }),
            Fault::RestoreRunsAgain => {
                let calls = trace.iter().filter_map(record).filter_map(|record| {
                    let Payload::Propose(propose) = record.payload else { return None };
                    let args = serde_json::from_str(&propose.args.to_string()).ok()?;
                    let allowed = propose.verdict.decision == Decision::Allow;
                    let call = Call { call: record.call?, tool: propose.tool.into_owned(), args };
                    allowed.then_some(call)
                });
                self.again = calls.collect();
            }
            _ => {}
        }
        trace
    }
}

//! What each fault does. The duties ask here where one can be forgotten; a faultless adapter passes through.

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

/// What a faulty adapter remembers that it should not, over runs and sessions.
#[derive(Default)]
pub struct Lapses {
    /// Calls that were denied, with why.
    pub denied: Vec<(Call, String)>,
    /// Calls that have run, with what they gave.
    pub ran: Vec<(Call, String)>,
    /// Calls that were approved.
    pub approved: Vec<Call>,
    /// Something was denied in this turn.
    pub denied_here: bool,
    /// The loop ends, whatever comes.
    pub ends: bool,
    /// Calls that are not settled yet.
    pub unsettled: Vec<(Call, Done)>,
    /// Usage that is not reported yet.
    pub usage: Vec<(String, String)>,
    /// Feedback that was not shown yet.
    pub feedback: Vec<String>,
    /// Feedback, or what is missing, that is shown again and again.
    pub repeated: Vec<String>,
    /// The answer to the first stop.
    pub stop: Option<Stopped>,
    /// A stop was blocked.
    pub blocked: bool,
    /// The first output.
    pub output: Option<String>,
    /// Calls that were settled before they ran.
    pub settled: BTreeSet<String>,
    /// Calls that ran before a restore.
    pub again: Vec<Call>,
    /// How many calls were renamed.
    pub renamed: Vec<String>,
}

impl Lapses {
    /// The id by which the guard knows a call.
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

    /// The trace that is restored instead of the one that should be.
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

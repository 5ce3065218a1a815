//! Iteration over the records of traces, each with context from the records before it.

use crate::commands::replay::{ReplayInput, ReplayMeter, sources};
use crate::failure::{Failure, reason};
use crate::term::Console;
use guard_plan::record::{Payload, Record};
use guard_plan::verdict::Decision;
use guard_trace::reading::{Entry, Flaw, Records};
use std::collections::HashMap;
use std::path::PathBuf;

/// The maximum number of calls in flight whose tool is remembered.
const IN_FLIGHT: usize = 100_000;

/// The position of a record.
#[derive(Debug, Clone, Default)]
pub struct At<'a> {
    /// The file.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u64,
    /// The session.
    pub session: String,
    /// The guard.
    pub guard: String,
    /// The tool of the call; for a settlement, the tool of the proposal.
    pub tool: Option<String>,
}

/// A visitor of records: the position, the record, and its line.
pub type WalkVisitor<'l> = dyn FnMut(&At<'_>, &Record, &[u8]) -> Result<(), Failure> + 'l;

/// Visits every record. Chains are not checked; see `trace verify`.
///
/// A line that is not a record is reported on standard error, and the rest of its file is not read.
/// Returns true if there was such a line.
pub fn walk(
    traces: &[PathBuf],
    verb: &'static str,
    term: &Console,
    look: &mut WalkVisitor<'_>,
) -> Result<bool, Failure> {
    let sources = sources(traces, &["jsonl"])?;
    let meter = ReplayMeter::new(term, verb, sources.iter().map(|source| source.bytes).sum());
    let mut sound = true;
    for source in &sources {
        sound &= file(source, term, &meter, look)?;
    }
    Ok(sound)
}

fn file(
    source: &ReplayInput,
    term: &Console,
    meter: &ReplayMeter,
    look: &mut WalkVisitor<'_>,
) -> Result<bool, Failure> {
    let fail = |why: &str| Failure::new(format!("cannot read `{}`: {why}", source.name));
    let mut records =
        Records::new(source.open().map_err(|error| fail(&reason(&error)))?).unchecked();
    let mut at = At { file: &source.name, ..At::default() };
    let mut tools = HashMap::new();
    let mut heard = 0;
    loop {
        match records.next_record() {
            Ok(None) => break,
            Ok(Some(Entry { record, line, number, .. })) => {
                at.line = number;
                place(&mut at, &mut tools, &record);
                look(&at, &record, line)?;
            }
            // A crash cut the record off before its event was answered.
            Err(Flaw::Cut) => {
                term.note(&format!(
                    "`{}:{}`: the last record is cut",
                    source.name,
                    records.number()
                ));
                break;
            }
            Err(Flaw::Io(error)) => return Err(fail(&reason(&error))),
            Err(flaw) => {
                term.error(&format!("`{}:{}`: {flaw}", source.name, records.number()), None);
                return Ok(false);
            }
        }
        meter.add(records.bytes() - heard);
        heard = records.bytes();
    }
    Ok(true)
}

/// Updates the context from a record.
fn place(at: &mut At<'_>, tools: &mut HashMap<String, String>, record: &Record) {
    at.tool = None;
    match &record.payload {
        Payload::Open(open) => {
            (at.session, at.guard) = (open.session.to_string(), open.guard.to_string());
            tools.clear();
        }
        Payload::Snapshot(snapshot) => {
            (at.session, at.guard) = (snapshot.session.to_string(), snapshot.guard.to_string());
        }
        Payload::Upgrade(upgrade) => at.guard = upgrade.snapshot.guard.to_string(),
        Payload::Propose(propose) => {
            at.tool = Some(propose.tool.to_string());
            // Other calls are never settled, and would fill the table.
            let runs = propose.verdict.decision == Decision::Allow && propose.served.is_none();
            if let Some(call) = record.call.as_ref().filter(|_| runs && tools.len() < IN_FLIGHT) {
                tools.insert(call.clone(), propose.tool.to_string());
            }
        }
        Payload::Settle(_) => at.tool = record.call.as_ref().and_then(|call| tools.remove(call)),
        Payload::Approve(approve) => at.tool = Some(approve.tool.to_string()),
        Payload::Revoke(revoke) => at.tool = Some(revoke.tool.to_string()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: &str, payload: &str) -> Record {
        let zeros = "0".repeat(64);
        let line = format!(
            "{{\"seq\":0,\"time\":\"2026-01-05T09:00:00Z\",\"kind\":\"{kind}\",\"call\":\"c\",\
             \"payload\":{payload},\"prev\":\"{zeros}\",\"hash\":\"{zeros}\"}}"
        );
        Record::parse(&line).expect("a record")
    }

    #[test]
    fn refused_calls_do_not_hide_the_tool_of_a_settled_one() {
        let proposed = |decision: &str| {
            let verdict = format!("{{\"decision\":\"{decision}\",\"reasons\":[],\"shadowed\":[]}}");
            record(
                "propose",
                &format!("{{\"tool\":\"a\",\"args\":{{}},\"verdict\":{verdict},\"asked\":[]}}"),
            )
        };
        let mut at = At::default();
        let mut tools = HashMap::new();
        let mut refused = proposed("deny");
        for call in 0..IN_FLIGHT {
            refused.call = Some(format!("d{call}"));
            place(&mut at, &mut tools, &refused);
        }
        place(&mut at, &mut tools, &proposed("allow"));
        place(
            &mut at,
            &mut tools,
            &record(
                "settle",
                "{\"success\":true,\"result\":null,\"changes\":[],\"learned\":0,\"notes\":[],\"halted\":false,\"asked\":[]}",
            ),
        );
        assert_eq!(at.tool.as_deref(), Some("a"));
        assert!(tools.is_empty());
    }
}

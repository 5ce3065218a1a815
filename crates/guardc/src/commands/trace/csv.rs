//! Traces as a table (RFC 4180), with one row per record, for spreadsheets and data frames.

use super::filter::Filter;
use super::walk::{At, walk};
use crate::failure::Failure;
use crate::term::Console;
use guard_plan::json::Json;
use guard_plan::record::{Charge, Payload, Record, StopDecision};
use std::io::Write;
use std::path::PathBuf;

/// The columns.
const COLUMNS: [&str; 17] = [
    "session", "guard", "seq", "time", "kind", "call", "tool", "verdict", "codes", "rules",
    "message", "success", "halted", "charged", "feedback", "args", "result",
];

/// The first characters of a formula. Some spreadsheets take the full-width forms for the others, and
/// skip a line break.
const FORMULA: [char; 11] =
    ['=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];

/// Writes the table. Returns true if all lines were records.
pub fn write(
    traces: &[PathBuf],
    filter: &Filter,
    out: &mut dyn Write,
    term: &Console,
) -> Result<bool, Failure> {
    let fail = |error: csv::Error| Failure::output(&error.into());
    let mut table = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
    table.write_record(COLUMNS).map_err(fail)?;
    let all_records = walk(traces, "exporting", term, &mut |at, record, _| {
        if !filter.takes(at, record) {
            return Ok(());
        }
        let row = row(at, record).map(without_formula);
        table.write_record(&row).map_err(fail)
    })?;
    table.flush().map_err(|error| Failure::output(&error))?;
    Ok(all_records)
}

fn row(at: &At<'_>, record: &Record) -> [String; 17] {
    let kind = format!("{:?}", record.kind()).to_lowercase();
    let mut row = [const { String::new() }; 17];
    row[0].clone_from(&at.session);
    row[1].clone_from(&at.guard);
    row[2] = record.seq.to_string();
    row[3].clone_from(&record.time);
    row[4] = kind;
    row[5] = record.call.clone().unwrap_or_default();
    row[6] = at.tool.clone().unwrap_or_default();
    let json = |json: &Json| match json {
        Json::Null => String::new(),
        json => json.to_string(),
    };
    match &record.payload {
        Payload::Propose(propose) => {
            let reasons = &propose.verdict.reasons;
            let list = |list: Vec<&str>| list.join("; ");
            row[7] = propose.verdict.decision.as_str().into();
            row[8] = list(reasons.iter().map(|reason| reason.code.as_str()).collect());
            row[9] = list(reasons.iter().map(|reason| &*reason.rule).collect());
            row[10] = list(reasons.iter().map(|reason| &*reason.message).collect());
            row[11] = if propose.served.is_some() { "true".into() } else { String::new() };
            row[12] = propose.halted.to_string();
            let charge = |Charge { unit, amount }: &Charge| format!("{amount} {unit}");
            row[13] = propose.charged.iter().map(charge).collect::<Vec<_>>().join("; ");
            row[14] = list(propose.feedback.iter().map(|message| &*message.provider).collect());
            row[15] = json(&propose.args);
            row[16] = propose.served.as_ref().map(|served| json(served)).unwrap_or_default();
        }
        Payload::Settle(settle) => {
            row[11] = settle.success.to_string();
            row[12] = settle.halted.to_string();
            let returned = |Charge { unit, amount }: &Charge| format!("-{amount} {unit}");
            row[13] = settle.returned.iter().map(returned).collect::<Vec<_>>().join("; ");
            row[14] = settle
                .feedback
                .iter()
                .map(|message| &*message.provider)
                .collect::<Vec<_>>()
                .join("; ");
            row[16] = json(&settle.result);
        }
        Payload::Approve(approve) => {
            row[10] = format!("{} by {}", approve.role, approve.by);
            row[15] = json(&approve.args);
        }
        Payload::Revoke(revoke) => {
            row[10] = format!("{} by {}", revoke.role, revoke.by);
            row[15] = json(&revoke.args);
        }
        Payload::Usage(usage) => row[13] = format!("{} {}", usage.amount, usage.unit),
        Payload::Resume(resume) => row[10] = format!("{} by {}", resume.role, resume.by),
        Payload::Prompt(prompt) => row[10] = prompt.text.to_string(),
        Payload::Stop(stop) => {
            row[7] = if stop.decision == StopDecision::Allow { "allow" } else { "block" }.into();
            row[10] = stop.message.to_string();
        }
        Payload::Item(item) => row[10] = format!("{} is {}", item.item, item.change.after),
        Payload::Contract(contract) => {
            row[10] = format!("{} is {}", contract.contract, contract.state)
        }
        Payload::Ledger(ledger) => row[10] = ledger.to_string(),
        Payload::Upgrade(upgrade) => {
            let by = upgrade.forced.as_ref().map(|forced| format!(", forced by {}", forced.by));
            row[10] = format!("to {}{}", upgrade.snapshot.plan, by.unwrap_or_default());
        }
        Payload::Open(_) | Payload::Answers(_) | Payload::Snapshot(_) => {}
    }
    row
}

/// Returns a cell that no spreadsheet interprets as a formula, because an agent may have written
/// it.
fn without_formula(cell: String) -> String {
    if cell.starts_with(FORMULA) { format!("'{cell}") } else { cell }
}

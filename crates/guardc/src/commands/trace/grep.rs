//! `guardc trace grep`: searches records for a text.

use super::filter::Filter;
use super::walk::{At, walk};
use crate::failure::{CommandResult, Exit, Failure};
use crate::term::{Console, Style};
use guard_plan::record::{Payload, Record, rendered};
use guard_plan::render::cut;
use guard_plan::verdict::Reason;
use regex::{Regex, RegexBuilder};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// The number of characters shown before and after a match.
const AROUND: usize = 40;
/// The largest size of a compiled pattern, in bytes.
const REGEX_BYTES: usize = 1 << 20;

/// Finds the records that contain a text
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 something was found, 1 nothing was found, 2 wrong usage, or an input \
    or output error."
)]
pub struct Args {
    /// A text, or `/a regular expression/`; `/…/i` ignores upper and lower case
    pub pattern: String,
    /// Traces, or folders of them; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    #[command(flatten)]
    pub filter: Filter,
    /// Search only this part of the records; may be given several times
    #[arg(long = "in", value_enum, value_name = "PART")]
    pub parts: Vec<RecordPart>,
    /// Print only the number of records
    #[arg(long, short, conflicts_with = "files")]
    pub count: bool,
    /// Print only the files with such records
    #[arg(long, short = 'l')]
    pub files: bool,
}

/// A part of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum RecordPart {
    /// The name of the tool.
    Tool,
    /// The arguments, as JSON.
    Args,
    /// The result, as JSON.
    Result,
    /// Codes, rules, messages and helps of the reasons.
    Reason,
    /// Feedback.
    Feedback,
    /// What the user said.
    Prompt,
    /// The reason of a stop, and what was still missing.
    Stop,
    /// State before and after.
    Change,
    /// Items.
    Item,
    /// Notes.
    Note,
    /// Questions about the world (files, commands, git, probes), and their answers.
    Asked,
    /// Roles, and the people who gave approvals.
    By,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    args.filter.check()?;
    let pattern = pattern(&args.pattern)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut found = 0_u64;
    let mut last = String::new();
    let sound = walk(&args.traces, "searching", term, &mut |at, record, _| {
        if !args.filter.takes(at, record) {
            return Ok(());
        }
        let parts = parts(at, record);
        let mut parts =
            parts.iter().filter(|(part, _)| args.parts.is_empty() || args.parts.contains(part));
        let Some((part, text, place)) = parts.find_map(|(part, text)| {
            let place = pattern.find(text)?;
            Some((*part, text.as_str(), place.range()))
        }) else {
            return Ok(());
        };
        found += 1;
        let written = match (args.count, args.files) {
            (true, _) => Ok(()),
            (_, true) if last == at.file => Ok(()),
            (_, true) => {
                at.file.clone_into(&mut last);
                writeln!(out, "{}", term.out.visible(at.file))
            }
            _ => {
                let line = line(at, record, part, text, place, term.out);
                writeln!(out, "{}", term.out.visible(&line))
            }
        };
        written.map_err(|error| Failure::output(&error))
    })?;
    if args.count {
        writeln!(out, "{found}").map_err(|error| Failure::output(&error))?;
    }
    out.flush().map_err(|error| Failure::output(&error))?;
    match (sound, found) {
        (false, _) => Err(Failure::Said),
        (true, 0) => Ok(Exit::Findings),
        _ => Ok(Exit::Fine),
    }
}

/// Parses a pattern: `/…/` and `/…/i` are regular expressions, anything else is a literal text.
fn pattern(text: &str) -> Result<Regex, Failure> {
    let inner = text.strip_prefix('/');
    let (source, any_case) = match inner.and_then(|inner| inner.strip_suffix("/i")) {
        Some(inner) => (inner.to_owned(), true),
        None => match inner.and_then(|inner| inner.strip_suffix('/')) {
            Some(inner) => (inner.to_owned(), false),
            None => (regex::escape(text), false),
        },
    };
    let built =
        RegexBuilder::new(&source).case_insensitive(any_case).size_limit(REGEX_BYTES).build();
    built.map_err(|error| Failure::new(format!("the pattern does not compile: {error}")))
}

fn line(
    at: &At<'_>,
    record: &Record,
    part: RecordPart,
    text: &str,
    place: std::ops::Range<usize>,
    style: Style,
) -> String {
    let from = text[..place.start].char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
    let to =
        text[place.end..].char_indices().nth(AROUND).map_or(text.len(), |(at, _)| place.end + at);
    let most = 4 * AROUND;
    let before =
        format!("{}{}", if from > 0 { "…" } else { "" }, cut(&text[from..place.start], most));
    let after =
        format!("{}{}", cut(&text[place.end..to], most), if to < text.len() { "…" } else { "" });
    let hit = style.red(&cut(&text[place], most));
    let part = format!("{part:?}").to_lowercase();
    let call = record.call.as_ref().map(|call| format!(" {}", cut(call, 60))).unwrap_or_default();
    let kind = format!("{:?}", record.kind()).to_lowercase();
    let place = style.cyan(&format!("{}:{}", cut(at.file, 4096), at.line));
    format!(
        "{place}: {} {kind}{call} {part}: {before}{hit}{after}",
        style.dim(&cut(&record.time, 40))
    )
}

/// Formats a reason: its code, rule, message and help.
fn reason_text(reason: &Reason) -> String {
    format!("{} {}: {} {}", reason.code.as_str(), reason.rule, reason.message, reason.help)
}

/// Returns the searchable parts of a record.
fn parts(at: &At<'_>, record: &Record) -> Vec<(RecordPart, String)> {
    let mut parts = Vec::new();
    let mut put = |part, text: String| {
        if !text.is_empty() {
            parts.push((part, text));
        }
    };
    put(RecordPart::Tool, at.tool.clone().unwrap_or_default());
    let json = |changes: &[guard_plan::record::Change]| {
        let change_text = |change: &guard_plan::record::Change| {
            format!("{}: {} → {}", change.name, change.before, change.after)
        };
        changes.iter().map(change_text).collect::<Vec<_>>().join("; ")
    };
    let notes = |notes: &[guard_plan::record::Note]| {
        let note_text =
            |note: &guard_plan::record::Note| format!("{}: {}", note.rule, note.message);
        notes.iter().map(note_text).collect::<Vec<_>>().join("; ")
    };
    let asked = |asked: &[guard_plan::record::Asked]| match asked {
        [] => String::new(),
        asked => serde_json::to_string(asked).unwrap_or_default(),
    };
    match &record.payload {
        Payload::Open(open) => put(
            RecordPart::Args,
            open.data.as_ref().map(|data| data.to_string()).unwrap_or_default(),
        ),
        Payload::Propose(propose) => {
            put(RecordPart::Args, propose.args.to_string());
            let reasons =
                propose.verdict.reasons.iter().chain(&propose.verdict.shadowed).map(reason_text);
            put(RecordPart::Reason, reasons.collect::<Vec<_>>().join("; "));
            put(
                RecordPart::Result,
                propose.served.as_ref().map(|served| served.to_string()).unwrap_or_default(),
            );
            put(RecordPart::Feedback, rendered(&propose.feedback));
            put(RecordPart::Change, json(&propose.changes));
            let item = |change: &guard_plan::record::ItemChange| {
                format!("{} {} {}", change.item, change.after, change.reasons.join("; "))
            };
            put(RecordPart::Item, propose.items.iter().map(item).collect::<Vec<_>>().join("; "));
            put(RecordPart::Note, notes(&propose.notes));
            put(RecordPart::Asked, asked(&propose.asked));
        }
        Payload::Settle(settle) => {
            put(RecordPart::Result, settle.result.to_string());
            put(RecordPart::Change, json(&settle.changes));
            put(RecordPart::Feedback, rendered(&settle.feedback));
            put(RecordPart::Note, notes(&settle.notes));
            put(RecordPart::Asked, asked(&settle.asked));
        }
        Payload::Approve(approve) => {
            put(RecordPart::Args, approve.args.to_string());
            put(RecordPart::By, format!("{} {}", approve.role, approve.by));
        }
        Payload::Revoke(revoke) => {
            put(RecordPart::Args, revoke.args.to_string());
            put(RecordPart::By, format!("{} {}", revoke.role, revoke.by));
        }
        Payload::Usage(usage) => put(RecordPart::Args, format!("{} {}", usage.amount, usage.unit)),
        Payload::Resume(resume) => put(RecordPart::By, format!("{} {}", resume.role, resume.by)),
        Payload::Prompt(prompt) => {
            put(RecordPart::Prompt, prompt.text.to_string());
            put(RecordPart::Note, notes(&prompt.notes));
        }
        Payload::Stop(stop) => {
            let missing = stop.missing.iter().map(|check| check.message.clone());
            let all: Vec<String> =
                stop.reason.iter().map(|reason| reason.to_string()).chain(missing).collect();
            put(RecordPart::Stop, all.join("; "));
            put(RecordPart::Asked, asked(&stop.asked));
        }
        Payload::Item(item) => {
            let change = &item.change;
            put(
                RecordPart::Item,
                format!("{} {} {}", item.item, change.after, change.reasons.join("; ")),
            );
            put(RecordPart::By, item.by.as_ref().map(|by| by.to_string()).unwrap_or_default());
        }
        Payload::Answers(answers) => put(RecordPart::Asked, answers.answers.to_string()),
        Payload::Contract(contract) => {
            put(RecordPart::Item, format!("{} {}", contract.contract, contract.state))
        }
        Payload::Ledger(ledger) => put(RecordPart::Note, ledger.to_string()),
        Payload::Upgrade(upgrade) => {
            let forgotten = upgrade.anew.iter().chain(upgrade.dropped.iter());
            put(RecordPart::Note, forgotten.cloned().collect::<Vec<_>>().join("; "));
            if let Some(forced) = &upgrade.forced {
                put(RecordPart::By, forced.by.to_string());
                put(RecordPart::Reason, forced.reason.as_deref().unwrap_or_default().to_owned());
            }
        }
        Payload::Snapshot(_) => {}
    }
    parts
}

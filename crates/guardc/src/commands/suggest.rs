//! `guardc suggest`: writes a first guard from recorded sessions.

use super::replay::{From, ReadLog, ReplayInput, ReplayMeter, read_log, sources};
use crate::draft::formatted;
use crate::failure::{CommandResult, Exit, Failure, reason};
use crate::files as disk;
use crate::term::{Console, count};
use guard_draft::suggest::{SessionObserver, UnseenCalls};
use guard_plan::record::{Payload, Record};
use guard_trace::import::Form;
use guard_trace::reading::{Flaw, Records};
use std::io::BufRead;
use std::path::{Path, PathBuf};

/// Writes a first guard from recorded sessions: tools, types, and the rules that held
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Only calls that were allowed count. Each rule held in every session, and says how often.\n\
                  `guardc replay --plan` lists what the guard would have denied in other sessions."
)]
pub struct Args {
    /// Traces, or folders of them; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// Read logs of other programs in this format, instead of traces of Guard
    #[arg(long, value_enum, value_name = "FORM")]
    pub from: Option<From>,
    /// The guard to write; the file must not exist yet [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The name of the guard [default: the name of the file, else `suggested`]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The fewest observations of a rule: values of a parameter, or sessions with calls of a tool
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub min_support: u64,
}

/// The advice to the user if the generated guard has errors.
const DEFECT: &str = "this is a defect of `guardc suggest`: please report it";

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let path = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    if let Some(path) = path.filter(|path| path.exists()) {
        let message = format!("`{}` is there already", disk::display(path));
        return Err(Failure::new(message).help("name another file: a guard is never overwritten"));
    }
    let endings: &[&str] = if args.from.is_some() { &["jsonl", "json", "log"] } else { &["jsonl"] };
    let sources = sources(&args.traces, endings)?;
    let meter = ReplayMeter::new(term, "reading", sources.iter().map(|source| source.bytes).sum());
    let mut observer = SessionObserver::new();
    for source in &sources {
        let reader = source.open().map_err(|error| unread(source, &reason(&error)))?;
        match args.from {
            None => trace(source, reader, &mut observer, &meter, term)?,
            Some(from) => log(source, from.form(), reader, &mut observer, &meter, term)?,
        }
        observer.end_source();
    }
    drop(meter);
    let stem = path.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    let name = args.name.clone().or(stem).unwrap_or_else(|| "suggested".into());
    let mut suggestion = observer.suggestion(&name, args.min_support);
    say(&suggestion.unseen, term);
    if suggestion.tools == 0 {
        return Err(Failure::new("there is no allowed call to learn from").maybe_help(
            args.from.is_none().then(|| "read logs of other tools with `--from auto`".to_owned()),
        ));
    }
    let text = match formatted(&suggestion.text, DEFECT) {
        Ok(text) => text,
        // A rule may use a name that only the rules cannot hold, and a guard without rules is still
        // a start.
        Err(_) => {
            suggestion = observer.suggestion(&name, u64::MAX);
            term.note("no rules: the names of these tools and parameters cannot be used in rules");
            formatted(&suggestion.text, DEFECT)?
        }
    };
    let Some(path) = path else {
        term.data(&text)?;
        return Ok(Exit::Fine);
    };
    disk::write_atomic(path, text.as_bytes())?;
    term.print(&format!(
        "{}: {}, {} of {} in {}\n",
        disk::display(path),
        count(suggestion.tools, "tool"),
        count(suggestion.rules, "rule"),
        count(suggestion.calls as usize, "allowed call"),
        count(suggestion.sessions as usize, "session"),
    ))?;
    Ok(Exit::Fine)
}

fn unread(source: &ReplayInput, why: &str) -> Failure {
    Failure::new(format!("cannot read `{}`: {why}", source.name))
}

/// Reads a trace of Guard. Hash chains are not checked; `trace verify` does that.
fn trace(
    source: &ReplayInput,
    reader: Box<dyn BufRead + '_>,
    observer: &mut SessionObserver,
    meter: &ReplayMeter,
    term: &Console,
) -> Result<(), Failure> {
    let mut records = Records::new(reader).unchecked();
    let mut session = String::new();
    let mut heard = 0;
    loop {
        match records.next_record() {
            Ok(None) => return Ok(()),
            Ok(Some(entry)) => {
                match &entry.record.payload {
                    Payload::Open(open) => session = open.session.to_string(),
                    Payload::Snapshot(kept) => session = kept.session.to_string(),
                    _ => {}
                }
                observer.record(&session, &entry.record);
            }
            // A crash cut the record off before its event was answered.
            Err(Flaw::Cut) => {
                let name = &source.name;
                let line = records.number();
                term.note(&format!("`{name}:{line}`: the last record is cut"));
                return Ok(());
            }
            Err(Flaw::Io(error)) => return Err(unread(source, &reason(&error))),
            Err(flaw) => {
                let place = format!("`{}:{}`: {flaw}", source.name, records.number());
                return Err(Failure::new(place).help(
                    "read logs of other tools with `--from auto`; `guardc trace verify` gives details",
                ));
            }
        }
        meter.add(records.bytes() - heard);
        heard = records.bytes();
    }
}

/// Reads a foreign log, and reports the skipped lines.
fn log(
    source: &ReplayInput,
    form: Option<Form>,
    reader: Box<dyn BufRead + '_>,
    observer: &mut SessionObserver,
    meter: &ReplayMeter,
    term: &Console,
) -> Result<(), Failure> {
    let mut give = |session: &str, record: Record| observer.record(session, &record);
    let ReadLog { importer, failed, bytes, .. } = read_log(source, form, reader, &mut give);
    meter.add(bytes);
    if let Some(why) = failed {
        return Err(unread(source, &why));
    }
    for passed in importer.passed_over() {
        let more = match passed.lines {
            0 | 1 => String::new(),
            lines => format!(" ({lines} of these)"),
        };
        term.note(&format!("`{}:{}`: {}{more}", passed.file, passed.first, passed.why));
    }
    Ok(())
}

/// Reports the calls that the guard does not cover.
fn say(passed: &UnseenCalls, term: &Console) {
    let calls = |number: u64| count(number as usize, "allowed call");
    if passed.undeclarable > 0 {
        term.note(&format!(
            "{} skipped: arguments that no guard can declare",
            calls(passed.undeclarable)
        ));
    }
    if passed.nameless > 0 {
        term.note(&format!(
            "{} skipped: tools that no guard can name, or more than 500 tools",
            calls(passed.nameless)
        ));
    }
    if passed.headless > 0 {
        let sessions = count(passed.headless as usize, "session");
        term.note(&format!("{sessions} skipped: the beginning is not in the trace"));
    }
}

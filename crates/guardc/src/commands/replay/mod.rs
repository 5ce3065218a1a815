//! `guardc replay`: replays recorded sessions with their own plan or with another.

mod files;
mod html;
mod logs;
mod meter;
mod summary;
mod text;
mod work;

pub use files::{ReplayInput, sources};
pub use logs::{ReadLog, read_log};
pub use meter::ReplayMeter;

use crate::failure::{CommandResult, Exit, Failure};
use crate::files as disk;
use crate::plans;
use crate::term::Console;
use guard_plan::replay_report::ReplayReport;
use guard_trace::Keys;
use guard_trace::import::Form;
use guard_trace::replay::Judge;
use guard_trace::store::key_path;
use std::path::PathBuf;

/// Decides recorded sessions again, and lists the decisions that differ
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 everything is as recorded, 1 something differs, 2 wrong usage, an \
    input error or a broken trace, 3 nothing differs but something cannot be decided."
)]
pub struct Args {
    /// Traces, or folders of them; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// The guard or plan that decides; if there are several, each session gets the one that it was
    /// recorded with
    #[arg(long, visible_alias = "guard", required = true, value_name = "GUARD")]
    pub plan: Vec<PathBuf>,
    /// Read logs of other programs in this format, instead of traces of Guard
    #[arg(long, value_enum, value_name = "FORM")]
    pub from: Option<From>,
    /// The format of the report
    #[arg(long, value_enum, default_value_t)]
    pub format: ReplayFormat,
    /// Write the report to this file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The key of sealed secrets [default: the key beside the traces]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Accept traces whose chain is broken
    #[arg(long)]
    pub allow_broken: bool,
    /// The most differences that JSON and HTML list
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub list: usize,
    /// The number of sessions that are decided at once [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
}

/// The output format of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ReplayFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// One self-contained page with a timeline.
    Html,
}

/// The form of logs of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum From {
    /// Detect the format from the first lines of each file.
    Auto,
    /// Transcripts of Claude Code.
    ClaudeCode,
    /// Messages with `tool_calls`, or items of the Responses API.
    Openai,
    /// JSON-RPC messages of the Model Context Protocol.
    Mcp,
    /// `{tool, args, outcome}`, one per line.
    Plain,
}

impl From {
    /// Returns the format, if one is named.
    pub fn form(self) -> Option<Form> {
        match self {
            From::Auto => None,
            From::ClaudeCode => Some(Form::ClaudeCode),
            From::Openai => Some(Form::OpenAi),
            From::Mcp => Some(Form::Mcp),
            From::Plain => Some(Form::Plain),
        }
    }
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    if let Some(output) = &args.output {
        disk::refuse_input(output, &args.traces)?;
    }
    let judges = judges(&args.plan, term).map_err(Failure::fatal)?;
    if args.from.is_some() && judges.len() > 1 {
        return Err(Failure::new("logs of other tools name no plan: give one with `--plan`"));
    }
    let keys = keys(args)?;
    let endings: &[&str] = if args.from.is_some() { &["jsonl", "json", "log"] } else { &["jsonl"] };
    let sources = sources(&args.traces, endings)?;
    let work = work::Work {
        judges: &judges,
        from: args.from.map(From::form),
        keys: keys.as_ref(),
        allow_broken: args.allow_broken,
        list: args.list,
    };
    let jobs = args.jobs.map(usize::from);
    let meter =
        ReplayMeter::new(term, "replaying", sources.iter().map(|source| source.bytes).sum());
    let sum = work::all(&work, &sources, jobs, &meter);
    drop(meter);
    let exact = sum.is_exact();
    let report = sum.report(&judges);
    // The report is written before failures end the command, since the other sessions were decided.
    write(args, &report, exact, term)?;
    for failed in &report.failures {
        let line = failed.line.map(|line| format!(":{line}")).unwrap_or_default();
        term.error(&format!("`{}{line}`: {}", failed.file, failed.message), None);
    }
    if !report.failures.is_empty() {
        return Err(Failure::Said);
    }
    if report.sessions == 0 {
        return Err(Failure::new("there is no session to decide").maybe_help(
            args.from.is_none().then(|| "read logs of other tools with `--from auto`".to_owned()),
        ));
    }
    let view = &report.recorded;
    let differs = view.changed() + view.reasons + view.feedback + view.records > 0;
    Ok(if view.is_same() {
        Exit::Fine
    } else if differs {
        Exit::Findings
    } else {
        Exit::Unknown
    })
}

/// Loads the deciding plans.
fn judges(paths: &[PathBuf], term: &Console) -> Result<Vec<Judge>, Failure> {
    let mut judges = Vec::new();
    for path in paths {
        let judge = Judge::new(plans::open(path, term)?);
        let shown = disk::display(path);
        judges.push(judge.map_err(|why| Failure::new(format!("cannot use `{shown}`: {why}")))?);
    }
    Ok(judges)
}

/// Returns the named key, or the one beside the traces.
fn keys(args: &Args) -> Result<Option<Keys>, Failure> {
    let beside = || args.traces.iter().map(|path| key_path(path)).find(|path| path.is_file());
    let path = args.key.clone().or_else(beside);
    Ok(path.map(|path| Keys::read(&path)).transpose()?)
}

fn write(args: &Args, report: &ReplayReport, exact: bool, term: &Console) -> Result<(), Failure> {
    let text = match args.format {
        ReplayFormat::Text => {
            let style = crate::term::Style { on: term.out.on && args.output.is_none() };
            text::report(report, exact, style)
        }
        ReplayFormat::Json => {
            let json = serde_json::to_string_pretty(report);
            json.map_err(|error| Failure::new(format!("the report cannot be written: {error}")))?
                + "\n"
        }
        ReplayFormat::Html => html::page(report),
    };
    match &args.output {
        Some(path) if path.as_os_str() != "-" => disk::write_atomic(path, text.as_bytes()),
        _ if args.format == ReplayFormat::Text => term.print(&text),
        _ => term.data(&text),
    }
}

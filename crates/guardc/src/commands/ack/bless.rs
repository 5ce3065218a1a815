//! `guardc ack bless`: fills in the expectations of a case from the reference evaluator, for
//! review.
//!
//! Only the calls that run and the ending are filled in; the shown texts and the approvals are
//! written by a person.

use crate::failure::{CommandResult, Exit, Failure};
use crate::files;
use crate::term::Console;
use guard_ack::protocol::LoopEndKind;
use guard_ack::{CaseSuite, Played, RunSeen, play};
use guard_adapters::Evaluator;
use std::path::{Path, PathBuf};

/// The seed for names and amounts.
const SEED: u64 = 1;

/// The filled-in keys, in the order in which they are written.
const KEYS: [&str; 2] = ["executed", "ended"];

/// Fills in the expectations of cases from the reference evaluator: what is run, and how it ends
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Case files, `ack/cases/AREA/CLAIM.toml`
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Write the expectations into the files; without it, they are only shown
    #[arg(long)]
    pub write: bool,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let mut differs = false;
    for path in &args.files {
        let text = files::read_text(path).map_err(|why| files::unreadable(path, &why))?;
        let filled = filled(path, &text)?;
        if filled == text {
            continue;
        }
        differs = true;
        let lines = |text: &str| -> Vec<String> { expected(text).map(str::to_owned).collect() };
        let mut out = format!("{}\n", files::display(path));
        lines(&text).iter().for_each(|line| out.push_str(&format!("  - {line}\n")));
        lines(&filled).iter().for_each(|line| out.push_str(&format!("  + {line}\n")));
        term.print(&out)?;
        if args.write {
            files::write_atomic(path, filled.as_bytes())?;
        }
    }
    if differs && args.write {
        term.note("review each before you commit it: it states what the evaluator does, which should be what you claim");
    }
    Ok(Exit::findings(differs && !args.write))
}

/// Returns the text with the results of the reference evaluator.
fn filled(path: &Path, text: &str) -> Result<String, Failure> {
    let shown = files::display(path);
    if text.contains("[[run]]") {
        let failure = Failure::new(format!("`{shown}` has several runs"));
        return Err(failure.help("the reference evaluator plays single runs; write these by hand"));
    }
    let mut stem = path.with_extension("");
    let claim = stem.file_name().map(|name| name.to_string_lossy().into_owned());
    stem.pop();
    let area = stem.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = format!("{}/{}", area.unwrap_or_default(), claim.unwrap_or_default());
    let whole = with(text, &["executed = []".into(), "ended = \"stopped\"".into()]);
    let suite = CaseSuite { texts: vec![(name, whole)], root: "ack/cases".into() };
    let (cases, bad) = suite.cases(SEED);
    let problem = bad.iter().flat_map(|file| &file.problems).next();
    let Some(case) = cases.first() else {
        let why =
            problem.map_or_else(String::new, |problem| format!(":{}: {problem}", problem.line));
        return Err(Failure::new(format!("`{shown}`{why}")));
    };
    let has_own_ids = case.calls().any(|call| call.given_id.is_some());
    let world = &case.world;
    if world.outage.is_some()
        || !world.probes.is_empty()
        || world.streamed
        || case.tools.iter().any(|tool| tool.missing)
        || case.run.iter().any(|run| !run.expect.may_run.is_empty())
        || has_own_ids
    {
        let failure =
            Failure::new(format!("`{shown}` contains steps that only a framework decides"));
        return Err(failure.help(
            "missing tools, calls that may run, ids of calls, streams, probes and outages of the guard are the adapter's; write these by hand",
        ));
    }
    let (played, seen) = play(case, &Evaluator { serial: false }, &suite.hash(), SEED, &|_| None);
    if let Played::Errored(trouble) = played {
        return Err(Failure::new(format!("the evaluator cannot play `{shown}`: {trouble}")));
    }
    let Some(run) = seen.runs.first() else {
        return Err(Failure::new(format!("`{shown}` was not played")));
    };
    if run.end.as_ref().is_none_or(|end| end.ended == LoopEndKind::Error) {
        let failure = Failure::new(format!("the evaluator does not reach the end of `{shown}`"));
        return Err(failure.help(
            "it serves no lifecycles and answers no commands and probes; write these by hand",
        ));
    }
    Ok(with(text, &lines(run)))
}

fn lines(run: &RunSeen) -> [String; 2] {
    let executed = run.executed.iter().filter_map(|call| call.id.as_deref());
    let executed: Vec<String> = executed.map(|id| format!("\"{id}\"")).collect();
    let ended = run.end.as_ref().and_then(|end| serde_json::to_value(end.ended).ok());
    let ended = ended.as_ref().and_then(|ended| ended.as_str()).unwrap_or("error");
    [format!("executed = [{}]", executed.join(", ")), format!("ended = \"{ended}\"")]
}

/// Returns the lines of `[expect]` that are filled in.
fn expected(text: &str) -> impl Iterator<Item = &str> {
    let is_expectation = |line: &&str| KEYS.iter().any(|key| line.starts_with(&format!("{key} =")));
    text.lines().skip_while(|line| line.trim() != "[expect]").skip(1).filter(is_expectation)
}

/// Returns the text with these lines in its `[expect]`. They replace existing lines, or precede the
/// others.
fn with(text: &str, lines: &[String; 2]) -> String {
    let (before, after) = match text.split_once("[expect]\n") {
        Some((before, after)) => (before.to_owned(), after),
        None => (format!("{}\n\n", text.trim_end()), ""),
    };
    let is = |key: &str, line: &str| line.starts_with(&format!("{key} ="));
    let places = || KEYS.into_iter().zip(lines);
    let missing = places().filter(|(key, _)| !after.lines().any(|line| is(key, line)));
    let missing = missing.map(|(_, new)| new.as_str());
    let there = after.lines().map(|line| {
        let place = places().find(|(key, _)| is(key, line));
        place.filter(|(_, new)| !permits(line, new)).map_or(line, |(_, new)| new.as_str())
    });
    let lines: String = missing.chain(there).map(|line| format!("{line}\n")).collect();
    format!("{before}[expect]\n{lines}")
}

/// Returns true if a line permits several values, and the other line names one of them: `ended =
/// "stopped or error"`.
fn permits(line: &str, single: &str) -> bool {
    let value = |line: &str| {
        line.split_once('"').and_then(|(_, rest)| Some(rest.split_once('"')?.0.to_owned()))
    };
    match (value(line), value(single)) {
        (Some(several), Some(single)) => {
            several.contains(" or ") && several.split(" or ").any(|value| value == single)
        }
        _ => false,
    }
}

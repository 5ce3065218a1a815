//! `guardc trace verify`: checks that traces are unchanged, and names the records that are not.

use super::sources::{self, SHOWN, SessionTrace};
use crate::failure::{CommandResult, Exit, Failure};
use crate::files;
use crate::meter::Meter;
use crate::term::{Console, TextOrJson, count};
use guard_plan::encode::hash_text;
use guard_plan::render::cut;
use guard_trace::checkpoint::{Checkpoint, CheckpointError, InclusionProof};
use guard_trace::sign::PublicKey;
use guard_trace::verify::{Against, TraceFinding, TraceTrouble, VerifiedTrace, Watch};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The size above which a trace is hashed on all cores; smaller traces are verified in parallel.
const LARGE: u64 = 32 << 20;

/// Checks the hash chain of each trace, and names the record that is wrong. Exit code 1: something
/// is wrong
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Traces: files, folders of them, databases; `-` is standard input
    #[arg(value_name = "TRACE", required_unless_present = "proof")]
    pub traces: Vec<PathBuf>,
    /// Only this session; may be given several times
    #[arg(long, value_name = "ID")]
    pub session: Vec<String>,
    /// Compare the traces with this checkpoint, to find traces that were cut or replaced
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// The public key whose owner must have signed the checkpoint, or the checkpoint of the proof
    #[arg(long, value_name = "PUBLIC KEY")]
    pub signed_by: Option<PathBuf>,
    /// Check this proof of a single record; no trace is needed
    #[arg(long, value_name = "FILE", conflicts_with_all = ["traces", "session"])]
    pub proof: Option<PathBuf>,
    /// The key of the store, with which snapshots are checked [default: the key beside the store]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The format of the report
    #[arg(long, value_enum, default_value_t)]
    pub format: TextOrJson,
    /// The number of threads that hash [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let signer = args.signed_by.as_deref().map(PublicKey::read).transpose()?;
    if let Some(path) = &args.proof {
        return proof(args, path, signer.as_ref(), term);
    }
    if args.checkpoint.is_none() && signer.is_some() {
        return Err(Failure::new("nothing here is signed").help("give `--checkpoint FILE` too"));
    }
    let (checkpoint, doubt) = match &args.checkpoint {
        Some(path) => believed(path, signer.as_ref())?,
        None => (None, None),
    };
    if let Some(doubt) = doubt {
        return said(term, args.format, &doubt);
    }
    let found = sources::all_with_ledgers(&args.traces, &args.session, args.key.as_deref())?;
    let several = checkpoint.as_ref().is_some_and(|listed| listed.sessions.len() != 1);
    if several && args.traces.iter().any(|place| place.as_os_str() == "-") {
        return Err(Failure::new(
            "standard input is one trace, and the checkpoint covers several sessions",
        )
        .help("give the trace as a file"));
    }
    let checked = verify_all(&found, checkpoint.as_ref(), args.jobs, false, term)?;
    let lost = checkpoint.as_ref().map(|listed| lost(listed, &found, &checked, &args.session));
    // The audit is of the whole store, and here only single sessions are asked about.
    let stores = if args.session.is_empty() {
        sources::audit(&args.traces, args.key.as_deref())?
    } else {
        Vec::new()
    };
    let lost = lost.unwrap_or_default();
    let report = ChainReport { found: &found, checked: &checked, lost, stores };
    match args.format {
        TextOrJson::Text => term.print(&report.text(term))?,
        TextOrJson::Json => term.data(&format!("{:#}\n", report.json()))?,
    }
    Ok(Exit::findings(!report.is_sound()))
}

/// Reads a checkpoint, or reports the reason why it is rejected.
fn believed(
    path: &Path,
    signer: Option<&PublicKey>,
) -> Result<(Option<Checkpoint>, Option<String>), Failure> {
    let text = files::read_text(path).map_err(|why| files::unreadable(path, &why))?;
    let signed = |read: &Checkpoint| signer.map_or(Ok(()), |key| read.signed_by(key));
    match Checkpoint::parse(&text).and_then(|read| signed(&read).map(|()| read)) {
        Ok(read) => Ok((Some(read), None)),
        Err(CheckpointError::Form(why)) => {
            Err(Failure::new(format!("`{}` is not a checkpoint: {why}", files::display(path))))
        }
        Err(doubt) => Ok((None, Some(format!("checkpoint `{}`: {doubt}", files::display(path))))),
    }
}

/// Reports a single problem.
fn said(term: &Console, format: TextOrJson, doubt: &str) -> CommandResult {
    match format {
        TextOrJson::Text => term.print(&format!("{} {doubt}\n", term.out.red("not sound:")))?,
        TextOrJson::Json => {
            let report = json!({ "sound": false, "doubt": doubt });
            term.data(&format!("{report:#}\n"))?;
        }
    }
    Ok(Exit::Findings)
}

fn proof(args: &Args, path: &Path, signer: Option<&PublicKey>, term: &Console) -> CommandResult {
    if signer.is_none() && args.checkpoint.is_none() {
        return Err(Failure::new("a proof leads to a checkpoint, and someone must vouch for that")
            .help("give `--signed-by KEY` or `--checkpoint FILE`"));
    }
    let text = files::read_text(path).map_err(|why| files::unreadable(path, &why))?;
    let shown = files::display(path);
    let read = match InclusionProof::parse(&text) {
        Ok(read) => read,
        Err(CheckpointError::Form(why)) => {
            return Err(Failure::new(format!("`{shown}` is not a proof: {why}")));
        }
        Err(doubt) => return said(term, args.format, &format!("proof `{shown}`: {doubt}")),
    };
    let mut holds = signer.map_or(Ok(()), |key| read.signed_by(key));
    if let Some(path) = &args.checkpoint {
        // The signature was checked on the proof, which carries the signed root.
        match believed(path, None)? {
            (Some(checkpoint), _) => holds = holds.and_then(|()| read.belongs(&checkpoint)),
            (None, doubt) => return said(term, args.format, &doubt.unwrap_or_default()),
        }
    }
    if let Err(doubt) = holds {
        return said(term, args.format, &format!("proof `{shown}`: {doubt}"));
    }
    let seq = read.seq().unwrap_or_default();
    let id = &read.entry.session;
    match args.format {
        TextOrJson::Text => {
            let good = term.out.green("proved:");
            term.print(&format!(
                "{good} record {seq} of session `{}`\n{}\n",
                cut(id, SHOWN),
                read.record
            ))?;
        }
        TextOrJson::Json => {
            let report =
                json!({ "sound": true, "session": id, "record": seq, "line": read.record });
            term.data(&format!("{report:#}\n"))?;
        }
    }
    Ok(Exit::Fine)
}

/// Verifies all traces: large ones one after another, small ones in parallel.
pub fn verify_all(
    found: &[SessionTrace],
    checkpoint: Option<&Checkpoint>,
    jobs: Option<u16>,
    tree: bool,
    term: &Console,
) -> Result<Vec<VerifiedTrace>, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = jobs.map_or(cores, usize::from);
    let watch = Watch::default();
    let total = found.iter().map(|source| source.bytes).sum();
    let meter = Meter::new(term, "verifying", total);
    let (large, small): (Vec<usize>, Vec<usize>) =
        (0..found.len()).partition(|at| found[*at].bytes >= LARGE || found.len() == 1);
    let verify = |at: usize, threads: usize| {
        let source = &found[at];
        // A trace without a session name is compared with the only session of a checkpoint.
        let entry = checkpoint.and_then(|listed| match &source.session {
            Some(id) => listed.entry(id),
            None if listed.sessions.len() == 1 => listed.sessions.first(),
            None => None,
        });
        let against = Against { tree, entry: entry.cloned(), ..Against::default() };
        source.verify(against, threads, &watch)
    };
    let mut done = BTreeMap::new();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watching = term.err_tty.then(|| scope.spawn(|| meter.follow(&watch.bytes, &ended)));
        for at in large {
            done.insert(at, verify(at, jobs));
        }
        done.extend(side_by_side(&small, jobs, &|at| verify(at, 1)));
        ended.store(true, Ordering::Release);
        if let Some(watching) = watching {
            // The follower sleeps between its reports, and is woken so that the end does not wait
            // for it.
            watching.thread().unpark();
        }
    });
    done.into_values().collect()
}

type SourceCheck<'o> = &'o (dyn Fn(usize) -> Result<VerifiedTrace, Failure> + Sync);

fn side_by_side(
    which: &[usize],
    jobs: usize,
    verify_source: SourceCheck,
) -> Vec<(usize, Result<VerifiedTrace, Failure>)> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(at) = which.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((*at, verify_source(*at)));
        }
        done
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs.min(which.len())).map(|_| scope.spawn(work)).collect();
        // INVARIANT: no code below panics. If it did, this must panic too, because otherwise its
        // results would be missing silently.
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("a thread that verifies"))
            .collect()
    })
}

/// Returns the sessions of a checkpoint for which there is no trace.
fn lost(
    checkpoint: &Checkpoint,
    found: &[SessionTrace],
    checked: &[VerifiedTrace],
    only: &[String],
) -> Vec<String> {
    let named = |id: &str| {
        let here = found.iter().zip(checked);
        here.filter_map(|(source, trace)| source.session.as_ref().or(trace.session.as_ref()))
            .any(|known| known == id)
    };
    // A single file, whatever its name, is compared with the only session of a checkpoint.
    let alone = found.len() == 1 && found[0].session.is_none();
    let wanted = |id: &str| only.is_empty() || only.iter().any(|wanted| wanted == id);
    let sessions = checkpoint.sessions.iter().map(|entry| &entry.session);
    let lost = sessions.filter(|id| wanted(id) && !named(id));
    lost.filter(|_| !(alone && checkpoint.sessions.len() == 1)).cloned().collect()
}

/// The findings on all traces.
struct ChainReport<'r> {
    found: &'r [SessionTrace],
    checked: &'r [VerifiedTrace],
    lost: Vec<String>,
    /// The findings on stores as a whole.
    stores: Vec<String>,
}

impl ChainReport<'_> {
    fn is_sound(&self) -> bool {
        self.lost.is_empty()
            && self.stores.is_empty()
            && self.checked.iter().all(VerifiedTrace::is_sound)
    }

    fn text(&self, term: &Console) -> String {
        let mut out = String::new();
        for (source, trace) in self.found.iter().zip(self.checked) {
            if !trace.is_sound() {
                out += &format!("{}: {}\n", term.out.bold(&source.name), term.out.red("not sound"));
                trace.findings.iter().for_each(|finding| out += &line(finding));
                if trace.more > 0 {
                    out += &format!("  … and {} more\n", trace.more);
                }
            } else if self.checked.len() == 1 {
                let head = hash_text(&trace.head.hash);
                let records = count(usize::try_from(trace.records).unwrap_or(usize::MAX), "record");
                out += &format!("{}: {records}, {head}\n", source.name);
            }
        }
        for id in &self.lost {
            out += &format!("session `{}` of the checkpoint is missing\n", cut(id, SHOWN));
        }
        for wrong in &self.stores {
            out += &format!("{wrong}\n");
        }
        let bad = self.checked.iter().filter(|trace| !trace.is_sound()).count();
        let bad = bad + self.lost.len() + self.stores.len();
        let records: u64 = self.checked.iter().map(|trace| trace.records).sum();
        let records = count(usize::try_from(records).unwrap_or(usize::MAX), "record");
        let total = format!("{}, {records}", count(self.checked.len(), "trace"));
        out += &match bad {
            0 => format!("{total}: {}\n", term.out.green("sound")),
            bad => format!("{total}: {}\n", term.out.red(&format!("{bad} not sound"))),
        };
        out
    }

    fn json(&self) -> Value {
        let row = |(source, trace): (&SessionTrace, &VerifiedTrace)| {
            json!({
                "trace": source.name,
                "session": source.session.as_ref().or(trace.session.as_ref()),
                "sound": trace.is_sound(),
                "first": trace.head.first,
                "records": trace.records,
                "bytes": trace.bytes,
                "head": hash_text(&trace.head.hash),
                "findings": trace.findings.iter().map(finding).collect::<Vec<_>>(),
                "more": trace.more,
            })
        };
        let traces: Vec<Value> = self.found.iter().zip(self.checked).map(row).collect();
        json!({ "sound": self.is_sound(), "traces": traces, "missing": self.lost, "stores": self.stores })
    }
}

fn line(finding: &TraceFinding) -> String {
    match (finding.line, finding.offset) {
        (Some(line), Some(offset)) => format!("  line {line}, byte {offset}: {finding}\n"),
        _ => format!("  at the end: {finding}\n"),
    }
}

fn finding(finding: &TraceFinding) -> Value {
    let to = match finding.trouble {
        TraceTrouble::Missing(to) => Some(to),
        _ => None,
    };
    json!({
        "line": finding.line,
        "offset": finding.offset,
        "record": finding.record,
        "to": to,
        "trouble": finding.trouble.word(),
        "message": finding.to_string(),
    })
}

/// Reports the findings; returns whether there are any.
pub fn unsound(
    found: &[SessionTrace],
    checked: &[VerifiedTrace],
    term: &Console,
) -> Result<bool, Failure> {
    let bad = checked.iter().any(|trace| !trace.is_sound());
    if bad {
        let report = ChainReport { found, checked, lost: Vec::new(), stores: Vec::new() };
        report.text(term).lines().for_each(|line| term.note(line));
    }
    Ok(bad)
}

//! `guardc ack run`: runs cases against an adapter and reports the results.

use super::ours::{self, Ours};
use super::plans::Plans;
use super::report::{self, KitReportFormat};
use super::selection::Selection;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files;
use crate::term::{Console, Progress};
use guard_ack::{AckReport, CaseSuite, Contestant, RunOptions, TroubleKind, process};
use guard_adapters::{AdapterFault, GeneratedCase};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// Judges an adapter, case by case
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command that starts the adapter, after `--`; no shell
    #[arg(last = true, value_name = "CMD", required_unless_present = "ours")]
    pub command: Vec<String>,
    /// Judge Guard's own engine in this process instead of a command
    #[arg(long, value_enum, value_name = "SHAPE", conflicts_with = "command")]
    pub ours: Option<Ours>,
    /// With `--ours`: plant this fault; `guardc ack list --faults` lists the faults
    #[arg(long, value_name = "FAULT", value_parser = ours::fault, requires = "ours")]
    pub fault: Option<AdapterFault>,
    /// Which cases
    #[command(flatten)]
    pub selection: Selection,
    /// Start no further case after the first finding
    #[arg(long)]
    pub fail_fast: bool,
    /// The seed of the random names, paths and amounts
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The number of cases that are judged at the same time
    #[arg(long, value_name = "N", default_value_t = jobs())]
    pub jobs: usize,
    /// The format of the report
    #[arg(long, value_enum, default_value_t)]
    pub format: KitReportFormat,
    /// Write the report to this file
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// A file that lists the cases known to fail, one glob per line; if one of them passes, that is
    /// a finding
    #[arg(long, value_name = "FILE")]
    pub known_failing: Option<PathBuf>,
    /// The demands on the run
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub profile: Option<AckProfile>,
    /// How long one step of the adapter may take, in seconds
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    /// How long the adapter may take to start and answer `hello`, in seconds
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub startup_timeout: u64,
    /// Start a process for each case, even if the adapter can serve several
    #[arg(long)]
    pub no_reuse: bool,
    /// Use the cases of this folder instead of those of this binary
    #[arg(long, value_name = "DIR")]
    pub cases: Option<PathBuf>,
    /// Judge N random scenarios instead of cases; the reference evaluator says what is expected
    #[arg(long, value_name = "N", conflicts_with = "cases", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub generate: Option<u64>,
    /// With `--generate`: shrink each scenario that fails, and save it as a case in this folder
    #[arg(long, value_name = "DIR", requires = "generate")]
    pub save: Option<PathBuf>,
}

/// The strictness of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum AckProfile {
    /// All cases of this binary, none skipped, none known to fail: the base of a certificate.
    Certify,
}

fn jobs() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let certify = args.profile == Some(AckProfile::Certify);
    let other = args.cases.is_some() || args.generate.is_some();
    if certify && (args.selection.is_given() || other || args.known_failing.is_some()) {
        let failure = Failure::new("`--profile certify` takes all cases and no exceptions");
        let help = "leave out `--known-failing`, and everything that selects cases";
        return Err(failure.help(help));
    }
    let report = judged(args, term)?;
    let command = shown(args);
    let text = report::written(args.format, &[(&report, &command)]);
    match &args.output {
        Some(path) => {
            files::write_atomic(path, text.as_bytes())?;
            let counts = guard_ack::report::counts(&report);
            term.note(&format!("{} cases: {counts}", report.outcomes.len()));
        }
        None => report::print(args.format, &text, term)?,
    }
    let skipped = report.count("skipped");
    if certify && skipped == 0 && report.is_fine() {
        term.note(&format!("certified: all of suite {}", report.suite));
    }
    if certify && skipped > 0 {
        term.error(&format!("not certified: {skipped} cases were skipped"), None);
    }
    Ok(Exit::findings(!report.is_fine() || (certify && skipped > 0)))
}

fn judged(args: &Args, term: &Console) -> Result<AckReport, Failure> {
    let generated =
        args.generate.map(|count| GeneratedCase::all(args.seed, count)).unwrap_or_default();
    let suite = match args.generate {
        Some(_) => suite_of(&generated),
        None => super::suite(args.cases.as_ref())?,
    };
    let (mut cases, mut bad) = suite.cases(args.seed);
    args.selection.select(&mut cases)?;
    bad.retain(|file| args.selection.is_named(&file.name));
    if cases.is_empty() && bad.is_empty() {
        return Err(args.selection.leaves_nothing(&suite, "run"));
    }
    let known_failing = match &args.known_failing {
        None => Vec::new(),
        Some(path) => guard_ack::known_failing(
            &files::read_text(path).map_err(|why| files::unreadable(path, &why))?,
        ),
    };
    let plans = Plans::default();
    let progress = Mutex::new(Progress::new(term, "judging", cases.len()));
    let options = RunOptions {
        seed: args.seed,
        jobs: args.jobs,
        known_failing,
        is_fail_fast: args.fail_fast,
        compile: &|source| plans.path(source),
        progress: &|done, _| {
            if let Ok(mut progress) = progress.lock() {
                progress.at(done.saturating_sub(1), "");
            }
        },
    };
    let guards = guard_sdk::GuardCache::new(1000);
    let contestant: Box<dyn Contestant + '_> = match args.ours {
        Some(ours) => Box::new(ours::mock(ours, args.fault, &guards)),
        None => Box::new(command(args)),
    };
    // The problem is reported once, not for every case.
    match contestant.start() {
        // The adapter was asked nothing, so it has nothing to reset.
        Ok(mut adapter) => drop(adapter.finish(true)),
        Err(trouble) if trouble.kind == TroubleKind::Start => {
            return Err(Failure::new(trouble.message).help(
                "write the command that starts the adapter after `--`; `guardc ack doctor -- CMD` tests it",
            ));
        }
        Err(_) => {}
    }
    let report = guard_ack::run(&suite, &cases, bad, &*contestant, &options);
    if let Some(folder) = &args.save {
        save(folder, generated, &report, &*contestant, term)?;
    }
    Ok(report)
}

fn command(args: &Args) -> process::AdapterCommand {
    let mut command = process::AdapterCommand::new(args.command.clone(), super::environment());
    command.patience = Duration::from_secs(args.timeout);
    command.startup = Duration::from_secs(args.startup_timeout);
    command.is_reusing = !args.no_reuse;
    command.failing_guard = Some(super::outage::script);
    command
}

fn suite_of(generated: &[GeneratedCase]) -> CaseSuite {
    let texts =
        generated.iter().map(|scenario| (scenario.name.clone(), scenario.text.clone())).collect();
    CaseSuite { texts, root: "generated".into() }
}

/// Shrinks failed cases, and writes them to a folder that `--cases` accepts.
fn save(
    folder: &Path,
    generated: Vec<GeneratedCase>,
    report: &AckReport,
    contestant: &dyn Contestant,
    term: &Console,
) -> Result<(), Failure> {
    let failed = |scenario: &GeneratedCase| {
        report.outcomes.iter().any(|outcome| outcome.name == scenario.name && outcome.is_finding())
    };
    let mut saved = 0;
    for scenario in generated.into_iter().filter(failed) {
        let small = scenario.shrunk(contestant, report.seed);
        let path = folder.join(format!("{}.toml", small.name));
        if let Some(area) = path.parent() {
            std::fs::create_dir_all(area).map_err(|error| Failure::output(&error))?;
        }
        files::write_atomic(&path, small.text.as_bytes())?;
        term.note(&format!("saved {}", files::display(&path)));
        saved += 1;
    }
    if saved > 0 {
        let shown = files::display(folder);
        term.note(&format!("play them again with `guardc ack run --cases {shown} -- …`"));
    }
    Ok(())
}

/// Returns the start command of the adapter in shell notation.
fn shown(args: &Args) -> String {
    match args.ours {
        Some(ours) => {
            let fault = args.fault.map(|fault| format!(" --fault {}", fault.name()));
            format!(
                "guardc ack adapter --shape {}{}",
                ours.shape().name(),
                fault.unwrap_or_default()
            )
        }
        None => args.command.join(" "),
    }
}

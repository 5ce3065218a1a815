//! `guardc verify`: the proved rules of a guard, the rules checked at every call, and the possible
//! outcomes.

mod cache;
mod json;
pub mod solver;
mod text;

pub use text::bases;

use crate::config::Config;
use crate::failure::{CommandResult, Exit, Failure};
use crate::project;
use crate::report::{FindingFormat, FindingReport};
use crate::term::Console;
use cache::Cache;
use guard_compiler::explore::{self, EffectCheck, Exploration, ExplorationLimits};
use guard_compiler::verify::smt::{self, OpenGoal};
use guard_compiler::{Compilation, CompilerOutput, diff, lint, property};
use guard_syntax::diagnostic::Diagnostic;
use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Reports what is proved about a guard, what is checked at every call, and what can happen
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The guard; `-` is standard input
    pub file: PathBuf,
    /// The format of the report
    #[arg(long, value_enum, default_value_t)]
    pub format: FindingFormat,
    /// Fail if an enforced invariant or a property is not proved for every tool
    #[arg(long)]
    pub require_proved: bool,
    /// Treat warnings as errors: the exit code is 1 if anything is found
    #[arg(long)]
    pub warnings_as_errors: bool,
    /// The most events in an explored session; 0 turns exploration off
    #[arg(long, value_name = "N", default_value_t = ExplorationLimits::default().depth)]
    pub depth: usize,
    /// The most states that exploration keeps; with more states, more calls are judged
    #[arg(long, value_name = "N", default_value_t = ExplorationLimits::default().states)]
    pub states: usize,
    /// Ask this SMT solver (`z3`, `cvc5` or a path) about what the prover leaves open
    #[arg(long, value_name = "SOLVER")]
    pub solver: Option<PathBuf>,
    /// Write the questions for solvers to this folder, one file each
    #[arg(long, value_name = "DIR")]
    pub emit_smt: Option<PathBuf>,
    /// Keep reports in this folder, and reuse a report as long as nothing that it depends on has
    /// changed
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

/// The parts of a report.
struct VerifyParts<'v> {
    output: &'v CompilerOutput,
    /// The solver's answers to open goals, in the order of the claims.
    solved: Vec<(OpenGoal, solver::SolverResult)>,
    /// The exploration; `None` if there was none.
    explored: Option<Exploration>,
    /// True if the exploration was interrupted.
    interrupted: bool,
    /// The result for each property.
    properties: Vec<property::PropertyOutcome>,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let config = Config::of_file(&args.file)?;
    let compiled = project::compile_alone(&args.file, &config)?;
    let made = compiled.compilation.output.as_ref().or(compiled.compilation.unproved.as_ref());
    let Some(output) = made else {
        compiled.print_errors(term);
        return Ok(Exit::Findings);
    };
    // The answers of a solver are not cached.
    let kept = args.cache.as_deref().filter(|_| args.solver.is_none() && args.emit_smt.is_none());
    let hard = args.warnings_as_errors || config.warnings_as_errors;
    let inputs = (output, compiled.shown.as_slice());
    let cache = kept.map(|folder| Cache::new(folder, args, inputs, hard, term));
    if let Some(kept) = cache.as_ref().and_then(Cache::read) {
        print(args, &kept.report, term)?;
        return Ok(Exit::findings(kept.findings));
    }
    let open = smt::open_goals(&output.plan);
    if let Some(folder) = &args.emit_smt {
        solver::emit(folder, &output.plan, &open)?;
    }
    let solved = match &args.solver {
        Some(path) => solver::ask_all(path, output, open, term)?,
        None => Vec::new(),
    };
    let stop = interruptions()?;
    let (limits, further) = limits(args, output);
    let phases = usize::from(args.depth > 0) + usize::from(output.properties.is_some());
    let patience = ProgressNotice::new(term, phases);
    let explored = (args.depth > 0).then(|| {
        explore::explore(&output.program, &limits, &|| {
            patience.show(0, "what can happen");
            stop.load(Ordering::Relaxed)
        })
    });
    let properties = output.properties.as_ref().map_or(Vec::new(), |properties| {
        let usual = diff::WitnessLimits::default();
        let times = if args.depth == 0 { 0 } else { further };
        let limits = diff::WitnessLimits {
            states: usual.states.saturating_mul(times),
            calls: usual.calls.saturating_mul(times),
            climbs: usual.climbs.saturating_mul(times),
            seeds: limits.seeds,
            ..usual
        };
        properties.decide(&limits, &|| {
            patience.show(phases - 1, "counterexamples to properties");
            stop.load(Ordering::Relaxed)
        })
    });
    drop(patience);
    let interrupted = stop.load(Ordering::Relaxed);
    let verified = VerifyParts { output, solved, explored, interrupted, properties };
    let mut report = FindingReport::of_one();
    report.add(&compiled.shown, &compiled.compilation.diagnostics);
    let tried = tried(&verified, &compiled.compilation);
    report.add(&compiled.shown, &tried);
    if hard {
        report.harden();
    }
    let unproved = output.verification.pairs.iter().any(|pair| {
        let invariant = &output.plan.invariants[pair.invariant as usize];
        !invariant.monitor && !invariant.rule.shadow && !pair.status.is_proved()
    });
    let open =
        |outcome: &property::PropertyOutcome| !matches!(outcome, property::PropertyOutcome::Proved);
    let refuted = |outcome: &property::PropertyOutcome| {
        matches!(outcome, property::PropertyOutcome::Refuted(_))
    };
    let unproved = unproved || verified.properties.iter().any(open);
    let findings = report.failed()
        || verified.properties.iter().any(refuted)
        || (args.require_proved && unproved);
    let written = match args.format {
        FindingFormat::Text => {
            text::report(&verified, term.out) + &text::findings(&tried, term.out)
        }
        FindingFormat::Json => json::report(&verified, &report),
        FindingFormat::Sarif | FindingFormat::Github => {
            report.print(term, args.format, 0, true)?;
            return Ok(Exit::findings(findings));
        }
    };
    print(args, &written, term)?;
    if let Some(cache) = cache.filter(|_| !interrupted) {
        cache.write(&written, findings)?;
    }
    if args.format == FindingFormat::Text && report.failed() {
        report.findings.retain(|finding| finding.error);
        report.sort();
        report.print_to_stderr(term);
    }
    Ok(Exit::findings(findings))
}

/// Writes a report on standard output.
fn print(args: &Args, report: &str, term: &Console) -> Result<(), Failure> {
    if args.format == FindingFormat::Text { term.print(report) } else { term.data(report) }
}

/// Returns the limits of the exploration, and how many times the usual ones they are.
fn limits(args: &Args, output: &CompilerOutput) -> (ExplorationLimits, usize) {
    let seeds = explore::events_of(&output.scenarios, &[&output.program]);
    let effects = unproved(output);
    let usual = ExplorationLimits::default();
    // As many calls for each state as usual.
    let further = args.states.div_ceil(usual.states).max(1);
    let limits = ExplorationLimits {
        depth: args.depth,
        states: args.states,
        calls: usual.calls.saturating_mul(further),
        seeds,
        effects,
    };
    (limits, further)
}

/// Returns the checks of effects that are left to the kernel.
fn unproved(output: &CompilerOutput) -> Vec<EffectCheck> {
    let plan = &output.plan;
    let verification = &output.verification;
    let pairs = verification.pairs.iter().map(|pair| {
        (pair.tool, &plan.invariants[pair.invariant as usize].rule.owner, &pair.status)
    });
    let types = verification.refinements.iter();
    let types = types.map(|refinement| {
        (refinement.tool, &plan.state[refinement.var as usize].name, &refinement.status)
    });
    pairs
        .chain(types)
        .filter(|(.., status)| !status.is_proved())
        .map(|(tool, owner, _)| EffectCheck {
            tool: plan.tools[tool as usize].name.clone(),
            owner: owner.clone(),
        })
        .collect()
}

/// Returns the findings about the guard that only exploration can detect.
fn tried(verified: &VerifyParts<'_>, compiled: &Compilation) -> Vec<Diagnostic> {
    let output = verified.output;
    let prover = lint::VerifiedPlan { plan: &output.plan, verification: &output.verification };
    let mut found = lint::all(&output.program, verified.explored.as_ref(), &prover);
    found.retain(|diagnostic| !compiled.diagnostics.contains(diagnostic));
    guard_compiler::keep_unaccepted(&compiled.files, &mut found);
    found
}

/// Installs the handler: the first interrupt ends the exploration, not the report; a second one
/// ends the process.
fn interruptions() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    {
        use signal_hook::consts::SIGINT;
        // The order matters: the shutdown must see the flag as it was before this interrupt sets
        // it.
        let twice = signal_hook::flag::register_conditional_shutdown(SIGINT, 130, stop.clone());
        let once = signal_hook::flag::register(SIGINT, stop.clone());
        twice
            .and(once)
            .map_err(|error| Failure::new(format!("cannot hear an interrupt: {error}")))?;
    }
    Ok(stop)
}

/// Reports the progress of a long exploration on a terminal: its phase, and that it goes on.
struct ProgressNotice {
    progress: std::cell::RefCell<crate::term::Progress>,
    begun: Instant,
    /// The second in which the notice was written last: a search asks a hundred thousand times in one.
    written: Cell<u64>,
}

impl ProgressNotice {
    fn new(term: &Console, phases: usize) -> ProgressNotice {
        let progress = crate::term::Progress::new(term, "exploring", phases).into();
        ProgressNotice { progress, begun: Instant::now(), written: Cell::new(0) }
    }

    fn show(&self, phase: usize, what: &str) {
        let seconds = self.begun.elapsed().as_secs();
        if self.written.replace(seconds) != seconds {
            let text = format!("{what}, {seconds} s (Ctrl-C keeps what is known)");
            self.progress.borrow_mut().at(phase, &text);
        }
    }
}

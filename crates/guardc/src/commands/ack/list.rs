//! `guardc ack list`, `show`, `explain`: the cases, and the clauses they judge.

use crate::failure::{Exit, Failure, Outcome};
use crate::near;
use crate::term::Term;
use guard_ack::clause::{self, Clause, TIERS};
use guard_adapters::Fault;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The seed for showing cases.
const SEED: u64 = 1;

/// Lists cases, or the clauses that have none
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The clauses that no case judges; a finding where there are any
    #[arg(long)]
    pub uncovered: bool,
    /// The faults that our own engine can be started with, each with the clause it breaks
    #[arg(long, conflicts_with_all = ["uncovered", "cases"])]
    pub faults: bool,
    /// The cases of this folder instead of those that came with this binary
    #[arg(long, value_name = "DIR")]
    pub cases: Option<PathBuf>,
}

/// Prints a case as it is played
#[derive(Debug, clap::Args)]
pub struct Show {
    /// Its name, such as `gate/denied_call_does_not_run`
    pub case: String,
    /// What names, paths and amounts are drawn from; without it the case as it is written
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// The cases of this folder instead of those that came with this binary
    #[arg(long, value_name = "DIR")]
    pub cases: Option<PathBuf>,
}

/// Says what a clause promises, and which cases judge it
#[derive(Debug, clap::Args)]
pub struct Explain {
    /// Its number, such as `GATE-1`; all of them where it is left out
    pub clause: Option<String>,
}

/// Lists the cases.
pub fn list(args: &Args, term: &Term) -> Outcome {
    if args.faults {
        let row = |fault: Fault| {
            format!("{:<9} {:<22} {}\n", fault.clause(), fault.name(), fault.summary())
        };
        term.print(&Fault::all().map(row).collect::<String>())?;
        return Ok(Exit::Fine);
    }
    let suite = super::suite(args.cases.as_ref())?;
    let (cases, bad) = suite.cases(SEED);
    for problem in bad.iter().flat_map(|one| one.problems.iter().map(move |it| (one, it))) {
        term.error(&format!("{}:{}: {}", problem.0.file, problem.1.line, problem.1), None);
    }
    let mut out = String::new();
    if args.uncovered {
        let judged = |clause: &&Clause| !cases.iter().any(|case| cites(case, clause.id));
        let uncovered: Vec<&Clause> = clause::all().iter().filter(judged).collect();
        for clause in &uncovered {
            let _ = writeln!(out, "{:<10} {}", clause.id, clause.promise);
        }
        let all = clause::all().len();
        let _ = match uncovered.len() {
            0 => writeln!(out, "all {all} clauses have a case"),
            count => writeln!(out, "{count} of {all} clauses have no case"),
        };
        term.print(&out)?;
        return Ok(Exit::findings(!uncovered.is_empty() || !bad.is_empty()));
    }
    for case in &cases {
        let _ = writeln!(out, "{:<10} {}\n           {}", case.clause, case.name, case.claim);
    }
    let _ = writeln!(out, "{} cases, suite {}", cases.len(), suite.hash());
    term.print(&out)?;
    Ok(Exit::findings(!bad.is_empty()))
}

/// Returns whether a case judges a clause, as its own or additionally.
fn cites(case: &guard_ack::case::Case, id: &str) -> bool {
    let sees = case.run.iter().flat_map(|run| &run.turn).flat_map(|turn| &turn.sees);
    case.clause == id || sees.filter_map(|sees| sees.clause.as_deref()).any(|clause| clause == id)
}

/// Prints a case.
pub fn show(args: &Show, term: &Term) -> Outcome {
    let suite = super::suite(args.cases.as_ref())?;
    let Some((name, text)) = suite.texts.iter().find(|(name, _)| *name == args.case) else {
        let near = near::nearest(&args.case, suite.texts.iter().map(|(name, _)| name.as_str()));
        let failure = Failure::new(format!("there is no case `{}`", args.case));
        return Err(failure.maybe_help(near.map(|near| format!("did you mean `{near}`?"))));
    };
    let text = match args.seed {
        None => text.clone(),
        Some(seed) => guard_ack::case::draw::fill(text, seed, name)
            .map_err(|bad| Failure::new(format!("{}:{}: {}", name, bad.line, bad.message)))?,
    };
    term.print(&text)?;
    Ok(Exit::Fine)
}

/// Explains clauses.
pub fn explain(args: &Explain, term: &Term) -> Outcome {
    let (cases, _) = guard_ack::Suite::bundled().cases(SEED);
    let mut out = String::new();
    let wanted: Vec<&Clause> = match &args.clause {
        None => clause::all().iter().collect(),
        Some(id) => {
            let Some(clause) = clause::find(id) else {
                let near = near::nearest(id, clause::all().iter().map(|clause| clause.id));
                let failure = Failure::new(format!("there is no clause `{id}`"));
                return Err(failure.maybe_help(near.map(|near| format!("did you mean `{near}`?"))));
            };
            vec![clause]
        }
    };
    for clause in wanted {
        let tier = TIERS.get(usize::from(clause.tier).wrapping_sub(1)).unwrap_or(&"");
        let _ = writeln!(out, "{} ({tier}): {}", clause.id, clause.promise);
        for case in cases.iter().filter(|case| cites(case, clause.id)) {
            let _ = writeln!(out, "  {}: {}", case.name, case.claim);
        }
    }
    term.print(&out)?;
    Ok(Exit::Fine)
}

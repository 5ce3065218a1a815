//! `guardc ack list`, `show`, `explain`: the cases, and the clauses they judge.

use super::selection::{Selection, clause_named};
use crate::failure::{CommandResult, Exit, Failure};
use crate::near;
use crate::term::{Console, TextOrJson};
use guard_ack::case::Case;
use guard_ack::clause::{self, AckClause, TIERS};
use guard_adapters::AdapterFault;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

/// The seed for showing cases.
const SEED: u64 = 1;

/// Lists cases, or the clauses that have none
#[derive(Debug, clap::Args)]
pub struct Args {
    /// List the clauses that no case judges; each of them is a finding
    #[arg(long, conflicts_with = "Selection")]
    pub uncovered: bool,
    /// List the faults that Guard's own engine can be started with, each with the clause it breaks
    #[arg(long, conflicts_with_all = ["uncovered", "cases", "Selection"])]
    pub faults: bool,
    /// Which cases
    #[command(flatten)]
    pub selection: Selection,
    /// The format of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: TextOrJson,
    /// Use the cases of this folder instead of those of this binary
    #[arg(long, value_name = "DIR")]
    pub cases: Option<PathBuf>,
}

/// Prints a case as it is played
#[derive(Debug, clap::Args)]
pub struct ShowCase {
    /// The name of the case, such as `gate/denied_call_does_not_run`
    pub case: String,
    /// The seed of the random names, paths and amounts; without it, the case is printed as it is
    /// written
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Use the cases of this folder instead of those of this binary
    #[arg(long, value_name = "DIR")]
    pub cases: Option<PathBuf>,
}

/// Says what a clause promises, and which cases judge it
#[derive(Debug, clap::Args)]
pub struct Explain {
    /// The clause, such as `GATE-1` [default: all clauses]
    pub clause: Option<String>,
    /// The format of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: TextOrJson,
}

/// Lists the cases.
pub fn list(args: &Args, term: &Console) -> CommandResult {
    if args.faults {
        let row = |fault: AdapterFault| {
            format!("{:<9} {:<22} {}\n", fault.clause(), fault.name(), fault.summary())
        };
        let object = |fault: AdapterFault| json!({ "clause": fault.clause(), "fault": fault.name(), "summary": fault.summary() });
        let object = json!({ "faults": AdapterFault::all().map(object).collect::<Vec<_>>() });
        print(args.format, AdapterFault::all().map(row).collect(), object, term)?;
        return Ok(Exit::Fine);
    }
    let suite = super::suite(args.cases.as_ref())?;
    let (mut cases, mut bad) = suite.cases(SEED);
    args.selection.select(&mut cases)?;
    bad.retain(|file| args.selection.is_named(&file.name));
    for problem in
        bad.iter().flat_map(|file| file.problems.iter().map(move |problem| (file, problem)))
    {
        term.error(&format!("{}:{}: {}", problem.0.file, problem.1.line, problem.1), None);
    }
    if args.uncovered {
        let is_uncovered = |clause: &&AckClause| !cases.iter().any(|case| cites(case, clause.id));
        let uncovered: Vec<&AckClause> = clause::all().iter().filter(is_uncovered).collect();
        let object = json!({
            "uncovered": uncovered.iter().map(|clause| promise_of(clause)).collect::<Vec<_>>(),
        });
        print(args.format, text_of_uncovered(&uncovered), object, term)?;
        return Ok(Exit::findings(!uncovered.is_empty() || !bad.is_empty()));
    }
    if cases.is_empty() && bad.is_empty() {
        return Err(args.selection.leaves_nothing(&suite, "list"));
    }
    let mut text = String::new();
    for case in &cases {
        let _ = writeln!(text, "{:<10} {}\n           {}", case.clause, case.name, case.claim);
    }
    let _ = writeln!(text, "{} cases, suite {}", cases.len(), suite.hash());
    let object = json!({
        "suite": suite.hash(),
        "cases": cases.iter().map(object_of).collect::<Vec<_>>(),
    });
    print(args.format, text, object, term)?;
    Ok(Exit::findings(!bad.is_empty()))
}

/// Returns a list in this form.
fn print(format: TextOrJson, text: String, object: Value, term: &Console) -> Result<(), Failure> {
    match format {
        TextOrJson::Text => term.print(&text),
        TextOrJson::Json => term.data(&format!("{object:#}\n")),
    }
}

fn text_of_uncovered(uncovered: &[&AckClause]) -> String {
    let mut text = String::new();
    for clause in uncovered {
        let _ = writeln!(text, "{:<10} {}", clause.id, clause.promise);
    }
    let all = clause::all().len();
    let _ = match uncovered.len() {
        0 => writeln!(text, "all {all} clauses have a case"),
        count => writeln!(text, "{count} of {all} clauses have no case"),
    };
    text
}

fn object_of(case: &Case) -> Value {
    json!({
        "case": case.name,
        "clause": case.clause,
        "tier": case.tier(),
        "claim": case.claim,
        "needs": case.needs,
        "tags": case.tags,
        "since": case.since,
        "hint": case.hint,
    })
}

fn promise_of(clause: &AckClause) -> Value {
    json!({ "clause": clause.id, "tier": clause.tier, "promise": clause.promise })
}

/// Returns true if a case judges a clause, as its own or additionally.
fn cites(case: &Case, id: &str) -> bool {
    let sees = case.run.iter().flat_map(|run| &run.turn).flat_map(|turn| &turn.sees);
    case.clause == id || sees.filter_map(|sees| sees.clause.as_deref()).any(|clause| clause == id)
}

/// Prints a case.
pub fn show(args: &ShowCase, term: &Console) -> CommandResult {
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
pub fn explain(args: &Explain, term: &Console) -> CommandResult {
    let (cases, _) = guard_ack::CaseSuite::bundled().cases(SEED);
    let mut out = String::new();
    let wanted: Vec<&AckClause> = match &args.clause {
        None => clause::all().iter().collect(),
        Some(id) => vec![clause_named(id)?],
    };
    let mut objects = Vec::new();
    for clause in wanted {
        let tier = TIERS.get(usize::from(clause.tier).wrapping_sub(1)).unwrap_or(&"");
        let _ = writeln!(out, "{} ({tier}): {}", clause.id, clause.promise);
        let judging: Vec<&Case> = cases.iter().filter(|case| cites(case, clause.id)).collect();
        for case in &judging {
            let _ = writeln!(out, "  {}: {}", case.name, case.claim);
        }
        let mut object = promise_of(clause);
        object["cases"] = judging.iter().map(|case| case.name.as_str()).collect();
        objects.push(object);
    }
    print(args.format, out, json!({ "clauses": objects }), term)?;
    Ok(Exit::Fine)
}

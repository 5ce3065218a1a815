//! `guardc compile`: compiles a guard to a plan.

use super::check::over_bound;
use super::verify::solver;
use crate::config::Config;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files;
use crate::project;
use crate::report::FindingReport;
use crate::term::Console;
use guard_plan::encode;
use guard_plan::plan::Sources;
use std::path::PathBuf;

/// Compiles a guard to a plan
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The guard; `-` is standard input
    pub file: PathBuf,
    /// Write the plan to this file; `-` is standard output [default: FILE with `.plan` or
    /// `.plan.json`]
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// The format of the plan
    #[arg(long, value_enum, default_value_t)]
    pub emit: EmittedForm,
    /// Do not optimize the plan: it decides the same, in more steps
    #[arg(long)]
    pub no_optimize: bool,
    /// Let this SMT solver (`z3`, `cvc5` or a path) suggest more proofs; Guard checks each of them
    /// itself
    #[arg(long, value_name = "SOLVER", conflicts_with = "no_optimize")]
    pub solver: Option<PathBuf>,
}

/// The two forms of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum EmittedForm {
    /// Compact.
    #[default]
    Binary,
    /// Readable, with a published schema.
    Json,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let config = Config::of_file(&args.file)?;
    let stdin = args.file.as_os_str() == "-";
    let to_stdout = args.output.as_ref().map_or(stdin, |out| out.as_os_str() == "-");
    if to_stdout && term.out_tty && args.emit == EmittedForm::Binary {
        let failure = Failure::new("a binary plan does not belong on a terminal");
        return Err(failure.help("name a file with `-o FILE`, or use `--emit json`"));
    }
    let (output, shown) = project::compile_one(&args.file, &config, term)?;
    if let Some(max) = config.max_steps {
        let mut report = FindingReport::of_one();
        over_bound(&mut report, &output, &shown, max);
        if report.failed() {
            report.print_to_stderr(term);
            return Ok(Exit::Findings);
        }
    }
    let mut sharpened = output.plan.clone();
    if let Some(solver) = &args.solver {
        sharpened.proofs.extend(solver::proofs(solver, &output, term)?);
        // The kernel finds a proof by binary search over the claims.
        sharpened.proofs.sort_by(|a, b| a.claim.cmp(&b.claim));
    }
    let (plan, sources) = if args.no_optimize {
        // Without the optimizer there are no rewrites for `guardc explain` to describe.
        (&output.lowered, &Sources { rewrites: Vec::new(), ..output.sources.clone() })
    } else {
        (&sharpened, &output.sources)
    };
    let bytes = match args.emit {
        EmittedForm::Binary => encode::to_bytes(plan, sources),
        EmittedForm::Json => encode::to_json(plan, sources).into_bytes(),
    };
    if to_stdout {
        term.write(&bytes)?;
        return Ok(Exit::Fine);
    }
    let extension = if args.emit == EmittedForm::Json { "plan.json" } else { "plan" };
    let path = args.output.clone().unwrap_or_else(|| args.file.with_extension(extension));
    if files::same(&path, &args.file) {
        return Err(Failure::new(format!(
            "`{}` would overwrite the guard itself",
            files::display(&path)
        )));
    }
    files::write_atomic(&path, &bytes)?;
    Ok(Exit::Fine)
}

//! `guardc verify`: what is proved of a guard, what is checked at every call, and what can happen.

mod text;

use crate::config::Config;
use crate::failure::{Exit, Outcome};
use crate::project;
use crate::term::Term;
use std::path::{Path, PathBuf};

/// Says what is proved of a guard, and what is checked at every call
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The guard; `-` is standard input
    pub file: PathBuf,
    /// Fail where an enforced invariant is not proved for every tool
    #[arg(long)]
    pub require_proved: bool,
}

/// Runs the command.
pub fn run(args: &Args, term: &Term) -> Outcome {
    let config = Config::discover(args.file.parent().unwrap_or(Path::new(".")))?;
    let Some(compiled) = project::compile_one(&args.file, &config, term)? else {
        return Ok(Exit::Findings);
    };
    let Some(output) = &compiled.compilation.output else { return Ok(Exit::Findings) };
    term.print(&text::report(&output.plan, &output.verification, term.out))?;
    let unproved = output.verification.pairs.iter().any(|pair| !pair.status.is_proved());
    Ok(Exit::findings(args.require_proved && unproved))
}

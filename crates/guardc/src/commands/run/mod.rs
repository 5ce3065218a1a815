//! Stub.
use crate::failure::{Exit, Outcome};
use crate::term::Term;
/// Stub
#[derive(Debug, clap::Args)]
pub struct Args {}
/// Runs the command.
pub fn run(_: &Args, _: &Term) -> Outcome {
    Ok(Exit::Fine)
}

//! `guardc ack sample`: writes an adapter to begin with.

use crate::failure::{CommandResult, Exit, Failure, reason};
use crate::files;
use crate::term::Console;
use std::io::Write;
use std::path::PathBuf;

/// Writes a whole adapter to copy from; never overwrites a file
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The sample
    #[arg(value_name = "SAMPLE")]
    pub sample: SampleLanguage,
    /// Write it to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The samples.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum SampleLanguage {
    /// Python's standard library, around `guardc serve`
    Python,
    /// TypeScript on Node, around `guardc serve`
    Typescript,
    /// Python around a hook written by hand, without a guard
    Hook,
}

impl SampleLanguage {
    fn text(self) -> &'static str {
        match self {
            SampleLanguage::Python => include_str!("../../../samples/adapter.py"),
            SampleLanguage::Typescript => include_str!("../../../samples/adapter.ts"),
            SampleLanguage::Hook => include_str!("../../../samples/hook.py"),
        }
    }
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let Some(path) = &args.output else {
        term.data(args.sample.text())?;
        return Ok(Exit::Fine);
    };
    let created = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    let written = created.and_then(|mut file| file.write_all(args.sample.text().as_bytes()));
    written.map_err(|error| {
        let shown = files::display(path);
        Failure::new(format!("cannot write `{shown}`: {}", reason(&error)))
    })?;
    Ok(Exit::Fine)
}

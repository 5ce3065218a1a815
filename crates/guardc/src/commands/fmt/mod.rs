//! `guardc fmt`: formats guards in the canonical layout.

pub mod diff;

use crate::config::Config;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{self, InputText};
use crate::project;
use crate::report::FindingReport;
use crate::term::{Console, Progress, count};
use guard_compiler::SourceFile;
use std::path::PathBuf;

/// Formats guards in place
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files and directories; `-` formats standard input to standard output
    #[arg(default_value = ".")]
    pub paths: Vec<PathBuf>,
    /// Change nothing; exit with 1 if something would change
    #[arg(long)]
    pub check: bool,
    /// Change nothing; print the changes, and exit with 1 if there are any
    #[arg(long)]
    pub diff: bool,
    /// Show standard input under this path
    #[arg(long, value_name = "PATH")]
    pub stdin_filename: Option<PathBuf>,
    /// Print nothing about files that need no change
    #[arg(long, short)]
    pub quiet: bool,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let config = Config::discover(&PathBuf::from("."))?;
    let inputs = files::find(&args.paths, args.stdin_filename.as_deref(), &config)?;
    let mut progress = Progress::new(term, "formatting", inputs.len());
    let mut done = Formatted::default();
    for (index, input) in inputs.iter().enumerate() {
        progress.at(index, &files::display(&input.path));
        match project::read(input) {
            Ok(text) => one(args, term, input, &text, &mut done)?,
            Err(failure) => {
                done.unread = true;
                crate::say(term, &failure);
            }
        }
    }
    drop(progress);
    finish(args, term, &done)
}

/// The result of formatting the files.
#[derive(Default)]
struct Formatted {
    report: FindingReport,
    changed: usize,
    unchanged: usize,
    unread: bool,
}

fn one(
    args: &Args,
    term: &Console,
    input: &InputText,
    text: &str,
    done: &mut Formatted,
) -> Result<(), Failure> {
    let name = files::display(&input.path);
    let formatted = match guard_syntax::format(text) {
        Ok(formatted) => formatted,
        Err(diagnostics) => {
            done.report.roots += 1;
            done.report.add(&[SourceFile { path: name, text: text.to_owned() }], &diagnostics);
            return Ok(());
        }
    };
    let changed = formatted != text;
    *if changed { &mut done.changed } else { &mut done.unchanged } += 1;
    if args.diff {
        return if changed {
            term.print(&diff::unified(&name, text, &formatted, term.out))
        } else {
            Ok(())
        };
    }
    if args.check {
        return if changed { term.print(&format!("would format `{name}`\n")) } else { Ok(()) };
    }
    if input.stdin {
        return term.data(&formatted);
    }
    if changed {
        files::write_atomic(&input.path, formatted.as_bytes())?;
    }
    Ok(())
}

fn finish(args: &Args, term: &Console, done: &Formatted) -> CommandResult {
    if done.report.roots > 0 {
        done.report.print_to_stderr(term);
    }
    let dry = args.check || args.diff;
    let stdin = args.paths.iter().any(|p| p.as_os_str() == "-");
    if !args.quiet && !args.diff && !stdin {
        let verb = if dry { "would change" } else { "formatted" };
        let said = match (done.changed, done.unchanged) {
            (0, n) => format!("{} already formatted", count(n, "file")),
            (n, 0) => format!("{} {verb}", count(n, "file")),
            (n, m) => format!("{} {verb}, {m} already formatted", count(n, "file")),
        };
        if done.changed + done.unchanged > 0 {
            term.note(&said);
        }
    }
    if done.unread {
        return Err(Failure::Said);
    }
    Ok(Exit::findings(done.report.roots > 0 || (dry && done.changed > 0)))
}

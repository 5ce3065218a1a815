//! The command line of Guard: arguments, files, colours, exit codes.
//!
//! Other crates make all decisions: the compiler builds plans, the kernel gives verdicts. This
//! crate makes them available from a shell, and formats their output.

mod cli;
mod commands;
mod config;
mod draft;
mod failure;
mod files;
mod meter;
mod near;
mod options;
mod plans;
mod play;
mod project;
mod report;
mod sessions;
mod signals;
mod term;

use clap::{CommandFactory, FromArgMatches};
use failure::{Exit, Failure};
use std::process::ExitCode;
use term::{ColorChoice, Console};

fn main() -> ExitCode {
    let term = Console::new(color_flag());
    let painted = if term.err.on { clap::ColorChoice::Always } else { clap::ColorChoice::Never };
    let parsed = cli::Cli::command()
        .color(painted)
        .try_get_matches()
        .and_then(|matches| cli::Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // Clap's exit code would do, but the hosts let a call pass if the hook does not read
            // its input.
            if error.use_stderr() && std::env::args_os().nth(1).is_some_and(|arg| arg == "hook") {
                commands::hook::refuse(&format!("its command line is wrong: {error}"));
            }
            // Help and version are not errors; a closed output is not one either.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    match cli.command.run(&term) {
        Ok(Exit::Fine) => ExitCode::SUCCESS,
        Ok(Exit::Findings) | Err(Failure::Rejected) => ExitCode::from(1),
        Ok(Exit::Lost | Exit::Unknown) => ExitCode::from(3),
        Err(Failure::Pipe) => ExitCode::SUCCESS,
        Err(failure) => {
            say(&term, &failure);
            ExitCode::from(2)
        }
    }
}

/// Reports a failure on standard error.
fn say(term: &Console, failure: &Failure) {
    if let Failure::Message { message, help } = failure {
        term.error(message, help.as_deref());
    }
}

/// Returns the value of `--color`, which is needed before the arguments are parsed, since it also
/// applies to usage errors.
fn color_flag() -> ColorChoice {
    let args: Vec<String> = std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
    let value = args.iter().enumerate().find_map(|(i, arg)| {
        let joined = arg.strip_prefix("--color=").map(str::to_owned);
        joined.or_else(|| (arg == "--color").then(|| args.get(i + 1).cloned()).flatten())
    });
    match value.as_deref() {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}

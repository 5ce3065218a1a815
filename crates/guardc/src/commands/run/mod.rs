//! `guardc run`: plays the agent interactively, and shows the guard's decisions.

mod call;
mod session;
mod session_lines;

use crate::failure::{CommandResult, Exit, Failure, reason};
use crate::files::{self, MAX_BYTES};
use crate::plans;
use crate::term::Console;
use guard_plan::lines::{NextLine, read_line};
use guard_sdk::Guard;
use session::{LineResult, Repl};
use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;

/// Plays a session by hand: type calls, see verdicts
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A guard or a plan
    pub file: PathBuf,
    /// Read commands from this file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let script = args.script.as_ref().filter(|script| script.as_os_str() != "-");
    if args.file.as_os_str() == "-" && script.is_none() {
        return Err(Failure::new(
            "the guard and the commands cannot both come from standard input",
        )
        .help("put the commands in a file and name it with `--script FILE`"));
    }
    let guard = Guard::from_plan(plans::open(&args.file, term)?)?;
    let mut repl = Repl::new(&guard, term.out)?;
    if let Some(script) = script {
        let text = files::read_text(script).map_err(|why| files::unreadable(script, &why))?;
        return drive(&mut repl, text.as_bytes(), term, false);
    }
    let typed = args.script.is_none() && std::io::stdin().is_terminal();
    if typed {
        term.print(&repl.greeting())?;
    }
    drive(&mut repl, std::io::stdin().lock(), term, typed)
}

/// Processes lines until the end. In a script, the lines are shown between the answers, and an
/// invalid line is a finding.
fn drive(repl: &mut Repl, mut input: impl BufRead, term: &Console, typed: bool) -> CommandResult {
    let mut misunderstood = false;
    loop {
        if typed {
            prompt(term)?;
        }
        let Some(line) = next_line(&mut input)? else {
            if typed {
                term.print("\n")?;
            }
            return Ok(Exit::findings(misunderstood && !typed));
        };
        let line = line.trim();
        if line.is_empty() || line.starts_with("//") {
            continue;
        }
        if !typed {
            term.print(&format!("{} {line}\n", term.out.dim(">")))?;
        }
        match repl.line(line) {
            LineResult::Text(text) => term.print(&text)?,
            LineResult::Misunderstood(text) => {
                misunderstood = true;
                term.print(&text)?;
            }
            LineResult::Quit => return Ok(Exit::findings(misunderstood && !typed)),
        }
    }
}

fn prompt(term: &Console) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    let text = format!("{} ", term.out.cyan(">"));
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|e| Failure::output(&e))
}

/// Reads the next line that was typed.
fn next_line(input: &mut impl BufRead) -> Result<Option<String>, Failure> {
    let line = read_line(input, MAX_BYTES as usize)
        .map_err(|e| Failure::new(format!("cannot read standard input: {}", reason(&e))))?;
    match line {
        NextLine::Whole(text) | NextLine::Open(text) => {
            Ok(Some(String::from_utf8_lossy(&text).into_owned()))
        }
        NextLine::TooLong => Err(Failure::new("the line is longer than 16 MiB")),
        NextLine::End => Ok(None),
    }
}

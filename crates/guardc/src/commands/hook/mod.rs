//! `guardc hook`: decides one event of a coding agent. The event comes on standard input, the answer goes to standard
//! output, and the process ends.
//!
//! The hosts let a call pass when their hook fails. So every failure here ends with exit code 2 and
//! a reason on standard error, which they read as a refusal: a panic, an invalid plan, a store that
//! stays locked, input that cannot be parsed, and a deadline that ends before the host's own.

mod decide;
pub mod line;

use crate::failure::CommandResult;
use crate::report::visible;
use crate::term::Console;
use guard_hooks::{EventAction, HookAnswer, HookEvent, Vocabulary};
use guard_plan::time;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The maximum length of an event, in bytes.
const MAX_EVENT: u64 = 32 << 20;

/// The maximum length of a reason on standard error, in characters.
const MAX_REASON: usize = 2_000;

/// True after the answer is being written, or the deadline has passed: only the first of the two
/// produces output.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Reads one event of a coding agent from standard input and writes the decision to standard output
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent: claude-code, codex or gemini
    #[arg(value_parser = host)]
    pub host: &'static Vocabulary,
    /// The guard, or the plan that was compiled from it
    #[arg(long, value_name = "FILE", visible_alias = "guard")]
    pub plan: PathBuf,
    /// The store of the sessions: a folder, or an SQLite database [default: guard in the user's state folder]
    #[arg(long, value_name = "PATH")]
    pub store: Option<PathBuf>,
    /// The workspace of new sessions [default: the host's project folder]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// The person for whom the agent acts. The record names them, and they may not approve its calls
    #[arg(long, value_name = "NAME")]
    pub actor: Option<String>,
    /// The time after which the event is refused; it must be shorter than the host's own limit
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = duration)]
    pub deadline: Duration,
}

/// Parses the name of a host.
pub fn host(text: &str) -> Result<&'static Vocabulary, String> {
    let known = || Vocabulary::ALL.map(|host| host.name).join(", ");
    Vocabulary::named(text).ok_or_else(|| format!("it is one of {}", known()))
}

/// Parses a duration in the language's notation.
pub fn duration(text: &str) -> Result<Duration, String> {
    time::parse_span(text).ok_or_else(|| "write it as `20s` or `500ms`".into())
}

/// The reason why an event is refused although no rule refuses it.
pub struct HookFailure(pub String);

impl<E: std::error::Error> From<E> for HookFailure {
    fn from(error: E) -> HookFailure {
        HookFailure(error.to_string())
    }
}

/// Runs the command. It always ends the process: with 0 and an answer, or with 2 and a reason.
pub fn run(args: &Args, _: &Console) -> CommandResult {
    // The default hook prints a message of several lines; the reason is printed below.
    std::panic::set_hook(Box::new(|_| {}));
    let until = Instant::now() + args.deadline;
    watch(args.deadline);
    crate::signals::end_commands_with_us(true);
    let decided = std::panic::catch_unwind(|| answer(args, until));
    match decided {
        Ok(Ok(answer)) => speak(&answer),
        Ok(Err(HookFailure(reason))) => refuse(&reason),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
            refuse(&format!("guardc panicked: {text}"))
        }
    }
}

/// Refuses the event when the deadline passes.
fn watch(deadline: Duration) {
    let watching = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(deadline);
        if !ENDED.swap(true, Ordering::SeqCst) {
            guard_hosts::end_commands();
            end(&format!("no decision within {} ms", deadline.as_millis()));
        }
    });
    if watching.is_err() {
        refuse("no thread for the deadline can be started");
    }
}

/// Writes the answer and ends the process.
fn speak(answer: &str) -> ! {
    if ENDED.swap(true, Ordering::SeqCst) {
        // The other thread is ending the process.
        loop {
            std::thread::park();
        }
    }
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(format!("{answer}\n").as_bytes()).and_then(|()| stdout.flush());
    match written {
        Ok(()) => std::process::exit(0),
        Err(error) => end(&format!("the answer cannot be written: {error}")),
    }
}

/// Refuses the event and ends the process. The rest of the input is read first: if a hook does not
/// read to the end, a host counts that as a failure and lets the call pass.
pub fn refuse(reason: &str) -> ! {
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    if ENDED.swap(true, Ordering::SeqCst) {
        loop {
            std::thread::park();
        }
    }
    end(reason)
}

fn end(reason: &str) -> ! {
    let one_line = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = one_line.chars().take(MAX_REASON).collect();
    let _ = writeln!(io::stderr().lock(), "guard: blocked, since {}", visible(&cut));
    std::process::exit(2)
}

fn answer(args: &Args, until: Instant) -> Result<String, HookFailure> {
    let input = read_input()?;
    let event = HookEvent::read(args.host, &input)?;
    let answer = match &event.action {
        EventAction::Pass => HookAnswer::Pass,
        _ => decide::decide(args, &event, until)?,
    };
    Ok(answer.encode(args.host, &event))
}

fn read_input() -> Result<Vec<u8>, HookFailure> {
    let mut input = Vec::new();
    let mut stdin = io::stdin().lock();
    // One byte more than allowed tells an event of the maximum length from a longer one.
    let read = stdin.by_ref().take(MAX_EVENT + 1).read_to_end(&mut input);
    read.map_err(|error| HookFailure(format!("standard input cannot be read: {error}")))?;
    if input.len() as u64 > MAX_EVENT {
        Err(HookFailure(format!("the event is longer than {} MiB", MAX_EVENT >> 20)))
    } else {
        Ok(input)
    }
}

/// Returns the default store of a user.
pub fn default_store() -> Result<PathBuf, String> {
    let set =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(store) = set("GUARD_STORE") {
        return Ok(store);
    }
    let state = set("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let state = state.or_else(|| set("HOME").map(|home| home.join(".local/state")));
    let state = state.or_else(|| set("LOCALAPPDATA"));
    let state = state.ok_or("no store: give `--store`, or set HOME or GUARD_STORE")?;
    Ok(state.join("guard"))
}

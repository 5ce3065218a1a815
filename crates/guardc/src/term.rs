//! The terminal: colours, and writing without panics.

use crate::failure::Failure;
use std::io::{self, IsTerminal, Write};

/// The use of colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    /// Always, even into a pipe.
    Always,
    /// Never.
    Never,
}

/// The output format of a report: text or JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum TextOrJson {
    /// For people.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

/// The colours of text, if enabled.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// True if escape codes are written.
    pub on: bool,
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        if self.on { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Formats important text.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Formats secondary text.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Formats refusals and errors.
    pub fn red(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// Formats successes.
    pub fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Formats warnings and pending calls.
    pub fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// Formats positions and names.
    pub fn cyan(self, text: &str) -> String {
        self.paint("36", text)
    }
}

/// The output streams of a command.
#[derive(Debug, Clone, Copy)]
pub struct Console {
    /// The style of standard output.
    pub out: Style,
    /// The style of standard error.
    pub err: Style,
    /// True if standard output is a terminal.
    pub out_tty: bool,
    /// True if standard error is a terminal.
    pub err_tty: bool,
}

impl Console {
    /// Determines the styles from the streams, the environment and the flag, in increasing
    /// priority.
    pub fn new(choice: ColorChoice) -> Console {
        let out_tty = io::stdout().is_terminal();
        let err_tty = io::stderr().is_terminal();
        let out = Style { on: wants_color(choice, out_tty) };
        let err = Style { on: wants_color(choice, err_tty) };
        Console { out, err, out_tty, err_tty }
    }

    /// Writes a text to standard output.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        self.write(text.as_bytes())
    }

    /// Writes bytes to standard output.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|e| Failure::output(&e))
    }

    /// Writes a line to standard error; a closed stream is ignored.
    pub fn note(&self, line: &str) {
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    /// Writes an error to standard error.
    pub fn error(&self, message: &str, help: Option<&str>) {
        self.note(&format!("{} {message}", self.err.red("error:")));
        if let Some(help) = help {
            self.note(&format!("  {} {help}", self.err.cyan("help:")));
        }
    }
}

/// Returns true if colour is used. The flag decides; otherwise `NO_COLOR`, then `FORCE_COLOR`, then
/// whether the stream is a terminal.
fn wants_color(choice: ColorChoice, tty: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty() && v != "0");
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()) => false,
        ColorChoice::Auto if set("FORCE_COLOR") => true,
        ColorChoice::Auto => tty && std::env::var_os("TERM").is_none_or(|t| t != "dumb"),
    }
}

pub use guard_plan::words::count;

/// A progress report of a long run on standard error; silent in the first second and without a
/// terminal.
pub struct Progress {
    started: std::time::Instant,
    total: usize,
    shown: bool,
    active: bool,
    verb: &'static str,
}

impl Progress {
    /// Creates the progress report of `total` items being `verb`.
    pub fn new(term: &Console, verb: &'static str, total: usize) -> Progress {
        Progress {
            started: std::time::Instant::now(),
            total,
            shown: false,
            active: term.err_tty,
            verb,
        }
    }

    /// Reports that item number `done` is about to begin.
    pub fn at(&mut self, done: usize, name: &str) {
        if self.active && self.started.elapsed().as_millis() > 1000 {
            self.shown = true;
            let _ =
                write!(io::stderr(), "\r\u{1b}[K{} {}/{} {name}", self.verb, done + 1, self.total);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}

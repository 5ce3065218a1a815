//! The terminal: whether to colour, and writing without panics.

use crate::failure::Failure;
use std::io::{self, IsTerminal, Write};

/// When to use colour.
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

/// Paints text, or leaves it alone.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Escape codes are written.
    pub on: bool,
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        if self.on { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// What matters.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// What is beside the point.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Refusals and errors.
    pub fn red(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// What went well.
    pub fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Warnings, and what waits for somebody.
    pub fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// Places and names.
    pub fn cyan(self, text: &str) -> String {
        self.paint("36", text)
    }
}

/// What a command needs to know of where its words go.
#[derive(Debug, Clone, Copy)]
pub struct Term {
    /// For standard output.
    pub out: Style,
    /// For standard error.
    pub err: Style,
    /// Standard output is a terminal.
    pub out_tty: bool,
    /// Standard error is a terminal.
    pub err_tty: bool,
}

impl Term {
    /// Looks at the streams, the environment and the flag, in rising order of weight.
    pub fn new(choice: ColorChoice) -> Term {
        let out_tty = io::stdout().is_terminal();
        let err_tty = io::stderr().is_terminal();
        let out = Style { on: wants_color(choice, out_tty) };
        let err = Style { on: wants_color(choice, err_tty) };
        Term { out, err, out_tty, err_tty }
    }

    /// Writes to standard output, all of it.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        self.write(text.as_bytes())
    }

    /// Writes bytes to standard output, all of them.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|e| Failure::output(&e))
    }

    /// Says a line on standard error; nobody listening is no reason to stop.
    pub fn note(&self, line: &str) {
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    /// Says an error on standard error.
    pub fn error(&self, message: &str, help: Option<&str>) {
        self.note(&format!("{} {message}", self.err.red("error:")));
        if let Some(help) = help {
            self.note(&format!("  {} {help}", self.err.cyan("help:")));
        }
    }
}

/// The flag decides; then `NO_COLOR`, then `FORCE_COLOR`; then whether somebody can see it.
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

/// `1 error`, `3 errors`.
pub fn count(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// Says on standard error how far a long run has come; silent in the first second and off a terminal.
pub struct Progress {
    started: std::time::Instant,
    total: usize,
    shown: bool,
    active: bool,
    verb: &'static str,
}

impl Progress {
    /// Progress of `total` things being `verb`.
    pub fn new(term: &Term, verb: &'static str, total: usize) -> Progress {
        Progress {
            started: std::time::Instant::now(),
            total,
            shown: false,
            active: term.err_tty,
            verb,
        }
    }

    /// The `done`-th is about to begin.
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

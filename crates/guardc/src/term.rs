//! The terminal: colours, and writing without panics.

use crate::failure::Failure;
use guard_sdk::diagnostics::visible;
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

/// The codes that a style writes.
const CODES: [&str; 7] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[1;31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
    "\u{1b}[36m",
];

impl Style {
    /// Replaces the characters with which a text could move the cursor, change colours or hide
    /// another text. Line breaks, tabs and the codes of this style stay.
    pub fn visible(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('\u{1b}').filter(|_| self.on) {
            let (before, code) = rest.split_at(at);
            out += &without_returns(before);
            let own = CODES.iter().find(|own| code.starts_with(**own));
            out += own.copied().unwrap_or("?");
            rest = &code[own.map_or(1, |own| own.len())..];
        }
        out + &without_returns(rest)
    }

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

/// Replaces control characters, with those that return to the beginning of the line: the text after
/// them would be written over the text before.
fn without_returns(text: &str) -> String {
    let text = visible(text);
    if !text.contains('\r') {
        return text;
    }
    let lines: Vec<String> = text.split("\r\n").map(|line| line.replace('\r', "?")).collect();
    lines.join("\n")
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

    /// Writes a text for people to standard output. Parts of it may be an agent's, so characters
    /// that would change the terminal are replaced.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        self.write(self.out.visible(text).as_bytes())
    }

    /// Writes a text for other programs to standard output, as it is.
    pub fn data(&self, text: &str) -> Result<(), Failure> {
        self.write(text.as_bytes())
    }

    /// Writes bytes to standard output.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|e| Failure::output(&e))
    }

    /// Writes a line for people to standard error, as [`Console::print`] does; a closed stream is
    /// ignored.
    pub fn note(&self, line: &str) {
        self.note_drawn(&self.err.visible(line));
    }

    /// Writes a line to standard error whose texts were made visible before it was drawn.
    pub fn note_drawn(&self, line: &str) {
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
            let _ = write!(
                io::stderr(),
                "\r\u{1b}[K{} {}/{} {}",
                self.verb,
                done + 1,
                self.total,
                visible(name)
            );
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_codes_of_a_style_reach_a_terminal() {
        let (on, off) = (Style { on: true }, Style { on: false });
        let own = on.red("denied");
        assert_eq!(on.visible(&own), own);
        assert_eq!(off.visible(&own), "?[1;31mdenied?[0m");
        for (text, expected) in [
            ("a\u{1b}]0;title\u{7}", "a?]0;title?"),
            ("a\u{1b}[8mb\u{1b}", "a?[8mb?"),
            ("one\rtwo\r\nthree\tfour\n", "one?two\nthree\tfour\n"),
            ("a\u{9b}2J", "a¿2J"),
            ("a\u{202e}b", "a\u{fffd}b"),
        ] {
            assert_eq!(on.visible(text), expected);
            assert_eq!(off.visible(text), expected);
        }
    }
}

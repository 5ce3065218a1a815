//! Programs that take commands from their standard input, from files and from options: databases,
//! editors, debuggers, clients.

use crate::operands::split;
use crate::raw_commands::{Raw, script};
use crate::runs::holds_substitution;
use crate::word::Word;

/// Programs that run, or could run, the text on their standard input.
const LISTENERS: &[&str] = &[
    "at",
    "batch",
    "bun",
    "clisp",
    "clj",
    "clojure",
    "crystal",
    "dc",
    "deno",
    "duckdb",
    "ed",
    "emacs",
    "erl",
    "ex",
    "ftp",
    "gdb",
    "ghci",
    "gnuplot",
    "gvim",
    "iex",
    "irb",
    "jshell",
    "kotlin",
    "lein",
    "lftp",
    "lldb",
    "m4",
    "mail",
    "mailx",
    "mariadb",
    "maxima",
    "mix",
    "mongo",
    "mongosh",
    "mutt",
    "mysql",
    "nvim",
    "ocaml",
    "octave",
    "pry",
    "psql",
    "rails",
    "rvim",
    "sbcl",
    "sbt",
    "scala",
    "sftp",
    "smbclient",
    "sqlite3",
    "sqlplus",
    "swift",
    "swipl",
    "telnet",
    "utop",
    "vi",
    "view",
    "vim",
];

/// Programs whose text on standard input can be read.
const DATABASES: &[&str] = &["sqlite3", "psql", "mysql", "mariadb", "duckdb"];

/// Handles a command after a pipe: if the program runs its standard input, it is unknown what runs.
pub(crate) fn behind_pipe(raw: &mut Raw) {
    raw.known &= !raw.name().is_some_and(|name| LISTENERS.contains(&name));
}

/// Returns true if a program runs nothing from the text on its standard input.
pub(crate) fn accepts_input(raw: &Raw) -> bool {
    let name = raw.name().unwrap_or_default();
    let Some(input) = raw.input.as_ref().filter(|_| LISTENERS.contains(&name)) else { return true };
    match name {
        "dc" => input.known && !input.text.contains('!'),
        _ => DATABASES.contains(&name) && is_query(name, input),
    }
}

/// Handles the words of these programs, and their standard input so far.
pub(super) fn inspect(name: &str, raw: &mut Raw) {
    // At this point, only redirects are among the files.
    let is_fed = LISTENERS.contains(&name) && !raw.reads.is_empty();
    raw.known &= !is_fed && accepts_input(raw);
    let starts = |parts: &[&str]| {
        raw.args.iter().any(|word| parts.iter().any(|part| word.text.starts_with(part)))
    };
    let harmless = match name {
        "vi" | "vim" | "nvim" | "gvim" | "ex" | "view" | "rvim" | "vimdiff" | "emacs" => {
            !raw.args.iter().any(|word| {
                let is_line = word.text.strip_prefix('+').is_some_and(is_number);
                let is_known = matches!(word.text.as_str(), "-R" | "-n" | "-nw" | "--version");
                word.text.starts_with(['-', '+']) && !is_line && !is_known
            })
        }
        "ed" => !starts(&["!"]),
        "gdb" | "lldb" => raw.args.iter().all(|word| {
            let known = ["-batch", "--batch", "-q", "-p", "--args", "-v", "--version"];
            !word.text.starts_with('-') || known.contains(&word.text.as_str())
        }),
        "less" | "more" => !raw.args.iter().any(|word| {
            let initial = word.text.trim_start_matches('+');
            let is_search = initial.starts_with('/') && !initial.contains('\n');
            word.text.starts_with('+')
                && !is_search
                && !initial.is_empty()
                && !matches!(initial, "F" | "G" | "g")
                && !is_number(initial)
        }),
        "scp" | "sftp" => {
            // Other options name a program, a configuration or a file of commands.
            let given = split(&raw.args, "cilPJXSoFDbBRs", &[]);
            given.options.iter().all(|option| {
                option
                    .strip_prefix('-')
                    .is_some_and(|letter| "346ABCpqrvTOacilPJfN".contains(letter))
            })
        }
        "dc" => dc(raw),
        _ if DATABASES.contains(&name) => database(name, raw),
        _ => true,
    };
    raw.known &= harmless;
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn dc(raw: &mut Raw) -> bool {
    let split = split(&raw.args, "ef", &["--expression", "--file"]);
    let files = split.operands.iter().copied().chain(split.values_of(&["-f", "--file"])).cloned();
    let files: Vec<Word> = files.collect();
    raw.scripts.extend(files);
    raw.args.iter().all(|word| word.known && !word.text.contains('!'))
        && raw.scripts.iter().all(|file| file.text != "-")
}

/// Handles databases whose shells run commands or write files.
fn database(name: &str, raw: &mut Raw) -> bool {
    let split = split(&raw.args, "cdfhpPuUeD", &["--file", "--command", "--init", "-init"]);
    raw.scripts.extend(split.values_of(&["-f", "--file", "--init"]).cloned());
    if name == "sqlite3" || name == "duckdb" {
        if let Some(at) =
            raw.args.iter().position(|word| word.text.trim_start_matches('-') == "init")
        {
            script(raw, at + 1);
        }
        // It makes and changes this file.
        let file = raw.args.iter().find(|word| !word.text.starts_with('-'));
        raw.touches.extend(file.map(|word| {
            let is_address = word.text.starts_with("file:");
            if is_address { Word::unknown(word.text.clone()) } else { word.clone() }
        }));
    }
    let options = ["--defaults", "--plugin", "--tee", "--pager", "--init-command"];
    raw.args.iter().all(|word| {
        // `-A` is the mode for archives.
        let is_archive = name == "sqlite3" && word.text.starts_with("-A");
        let is_option = options.iter().any(|option| word.text.starts_with(option));
        !is_archive && !is_option && is_query(name, word)
    })
}

/// Returns true if a text only asks a database, or changes its tables.
fn is_query(name: &str, word: &Word) -> bool {
    let text = word.text.to_lowercase();
    let parts = [
        "load_extension",
        "writefile",
        "edit(",
        "fts3_tokenizer",
        "program",
        "system",
        "pager",
        "outfile",
        "dumpfile",
        "copy ",
        "copy\n",
        "copy\t",
        "attach",
        "vacuum",
    ];
    let more: &[&str] = match name {
        "mysql" | "mariadb" => &["source ", "tee ", "edit", "\\!", "\\.", "\\t", "\\p", "\\e"],
        "duckdb" => &["copy", "export", "install", "load"],
        _ => &[],
    };
    // Commands of the shell of a database begin with a dot or a backslash.
    let dots = !matches!(name, "sqlite3" | "duckdb")
        || text.lines().all(|line| match line.trim_start().strip_prefix('.') {
            Some(command) => DOT_COMMANDS.contains(&first_name(command)),
            None => true,
        });
    let backslashes = name != "psql"
        || text.split('\\').skip(1).all(|command| {
            let command = first_name(command);
            command.starts_with('d')
                || matches!(command, "l" | "x" | "q" | "z" | "timing" | "conninfo")
        });
    word.known
        && dots
        && backslashes
        && !parts.iter().chain(more).any(|part| text.contains(part))
        && !holds_substitution(&text)
}

/// Commands of `sqlite3` that only show something, or change how it is shown.
const DOT_COMMANDS: &[&str] = &[
    "bail",
    "changes",
    "databases",
    "dbinfo",
    "echo",
    "exit",
    "fullschema",
    "headers",
    "help",
    "indexes",
    "indices",
    "mode",
    "nullvalue",
    "quit",
    "schema",
    "separator",
    "show",
    "stats",
    "tables",
    "timeout",
    "timer",
    "version",
    "width",
];

fn first_name(text: &str) -> &str {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default()
}

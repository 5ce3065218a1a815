//! Commands that run other commands: wrappers, shells, `eval`, `find -exec`, and the effects of
//! variables.

mod variables;
mod wrappers;

pub(crate) use variables::{
    harmless_assignment, harmless_make_variable, holds_substitution, is_codegen_option,
    is_harmless_value, is_sensitive,
};

use crate::grammar::text;
use crate::operands::{OptionSet, first_operand};
use crate::raw_commands::{
    FoundCommands, InnerCommand, Raw, Read, UnreadableText, is_device, script,
};
use crate::word::{Word, is_name};
use crate::{MAX_DEPTH, interpreters, paths, roles};
use wrappers::{RUNNERS, WRAPPERS};

const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash"];
/// Shells with a different grammar.
const OTHER_SHELLS: [&str; 11] =
    ["fish", "csh", "tcsh", "pwsh", "powershell", "cmd", "nu", "xonsh", "elvish", "rc", "su"];

/// Adds a command to the found ones, with the commands that it runs. Returns its index.
pub(crate) fn emit(mut raw: Raw, found: &mut FoundCommands, depth: usize) -> Read<usize> {
    if depth > MAX_DEPTH {
        return Err(UnreadableText);
    }
    let program = raw.program.as_ref();
    raw.known &= program.is_some_and(|word| word.known && !word.text.is_empty());
    let name = raw.name().unwrap_or_default().to_owned();
    let mut inner = Vec::new();
    variables::changed_by(&name, &mut raw, found);
    change_folder(&name, &raw, found);
    inspect(&name, &mut raw, &mut inner, found);
    interpreters::inspect(&name, &mut raw, &mut inner);
    roles::fill(&name, &mut raw);
    let folders = raw.folders.clone();
    // These run in the shell itself, so that a `cd` in them moves the shell.
    let stays = matches!(name.as_str(), "eval" | "command" | "builtin" | "exec" | "." | "source");
    let sub = Raw { text: raw.text.clone(), folders: folders.clone(), ..Raw::default() };
    let at = found.commands.len();
    found.push(raw)?;
    let after = found.folders.clone();
    for inner in inner {
        if !stays {
            // A trap runs at a later time, from whatever folder the shell is in then.
            found.folders = if name == "trap" { None } else { folders.clone() };
        }
        match inner {
            InnerCommand::Text(source) => text(&source, found, depth + 1)?,
            InnerCommand::Words(words) => {
                let mut sub = Raw { known: true, folders: found.folders.clone(), ..sub.clone() };
                let mut words = words.into_iter();
                sub.program = words.next();
                sub.args = words.collect();
                emit(sub, found, depth + 1)?;
            }
        }
    }
    if !stays {
        found.folders = after;
    }
    Ok(at)
}

/// Parses a here-document that followed its command. Returns true if it is certain what the command
/// runs.
pub(crate) fn fed(raw: &Raw, found: &mut FoundCommands, depth: usize) -> Read<bool> {
    match raw.input.as_ref().and_then(Word::known) {
        Some(source) if raw.waits => text(source, found, depth + 1).map(|()| true),
        _ => Ok(raw.known && interpreters::accepts_input(raw)),
    }
}

/// Records the folder of the shell after `cd`.
fn change_folder(name: &str, raw: &Raw, found: &mut FoundCommands) {
    if !matches!(name, "cd" | "pushd" | "popd" | "chdir") {
        return;
    }
    let operands: Vec<&Word> =
        raw.args.iter().filter(|word| !matches!(word.known(), Some("-P" | "-L" | "--"))).collect();
    found.folders = match (name, operands.as_slice()) {
        ("cd" | "chdir", []) => Some(vec![paths::HOME.to_owned()]),
        ("popd", _) => None,
        (_, [Word { known: false, under: Some(under), .. }]) => {
            raw.folders.as_ref().and_then(|folders| {
                let all = folders
                    .iter()
                    .flat_map(|base| under.iter().map(|file| paths::join(base, file)));
                let all: Vec<String> = all.collect();
                (all.len() <= 4).then_some(all)
            })
        }
        (_, [word]) => match word.known() {
            Some("-") | None => None,
            // A number is a place in the stack of folders, and an option is not understood.
            Some(folder) if folder.starts_with(['+', '-']) => None,
            Some(folder) => raw.folders.as_ref().map(|folders| {
                let at = |base: &String| {
                    if word.home {
                        paths::join(paths::HOME, &folder[1..].replacen('/', "", 1))
                    } else {
                        paths::join(base, folder)
                    }
                };
                folders.iter().map(at).collect()
            }),
        },
        _ => None,
    };
}

/// Finds the commands that a command runs.
fn inspect(name: &str, raw: &mut Raw, inner: &mut Vec<InnerCommand>, found: &mut FoundCommands) {
    if SHELLS.contains(&name) {
        return shell(raw, inner);
    }
    if OTHER_SHELLS.contains(&name) {
        raw.known = false;
        return;
    }
    match name {
        "eval" => raw.known &= joined(&raw.args.clone(), inner),
        "trap" => trap(raw, inner),
        "." | "source" => {
            let dashes = usize::from(first_text(raw) == Some("--"));
            let is_option = raw.args.get(dashes).is_some_and(|word| word.text.starts_with('-'));
            raw.known &= dashes == 1 || !is_option;
            script(raw, dashes)
        }
        "watch" => {
            let options = OptionSet {
                values: "nq",
                flags: "bcdegtpwx",
                long_values: &["interval"],
                long_flags: &["beep", "color", "no-title", "exec"],
            };
            match first_operand(&raw.args, options) {
                Some(at) => raw.known &= joined(&raw.args[at..], inner),
                None => raw.known = false,
            }
        }
        "ssh" => ssh(raw, inner, found),
        "find" | "gfind" => crate::roles::find(raw, inner),
        "fd" | "fdfind" => fd(raw, inner),
        "command" | "builtin" if matches!(first_text(raw), Some("-v" | "-V")) => {}
        "type" | "which" => {}
        _ if wrappers::runs_words(name, raw, inner) => {}
        _ => wrapped(name, raw, inner, found),
    }
}

fn first_text(raw: &Raw) -> Option<&str> {
    raw.args.first()?.known()
}

fn wrapped(name: &str, raw: &mut Raw, inner: &mut Vec<InnerCommand>, found: &mut FoundCommands) {
    let runner = RUNNERS.iter().find(|(program, subcommands)| {
        *program == name && first_text(raw).is_some_and(|first| subcommands.contains(&first))
    });
    let (args, options, skip) = match WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
        Some(wrapper) => (&raw.args[..], wrapper.options, wrapper.skip),
        None if runner.is_some() => {
            let options = OptionSet {
                values: "p",
                // `-c` and `-s` run a text with a shell.
                flags: "qvy",
                long_values: &["with", "python", "extra", "group", "package", "filter", "env"],
                long_flags: &[
                    "frozen",
                    "no-sync",
                    "locked",
                    "quiet",
                    "no-project",
                    "isolated",
                    "yes",
                ],
            };
            (&raw.args[1..], options, usize::from(name == "rustup"))
        }
        None => return,
    };
    let Some(at) = first_operand(args, options) else {
        raw.known = false;
        return;
    };
    // The value of an option could be another interpreter, or a package of its own.
    raw.known &= runner.is_none() || !args[..at].iter().any(|word| word.text.contains('/'));
    let mut words: Vec<Word> = args.get(at + skip..).unwrap_or_default().to_vec();
    if matches!(name, "npm" | "mise" | "opam") && words.first().is_some_and(|w| w.text == "--") {
        words.remove(0);
    }
    if matches!(name, "env" | "sudo" | "doas" | "cross-env") {
        while let Some((variable, value)) = words.first().and_then(assigned) {
            raw.known &= harmless_assignment(&variable, &value, found);
            raw.assigns.push((variable, value));
            words.remove(0);
        }
    }
    if name == "env" && words.first().is_some_and(|word| word.text == "-") {
        raw.known = false;
    }
    if name == "xargs" {
        xargs(&raw.args[..at], &mut words, found.listed.clone());
    }
    if name == "uv" && words.first().is_some_and(|word| word.text.ends_with(".py")) {
        raw.scripts.push(words[0].clone());
        return;
    }
    if name == "hatch" {
        raw.known &= joined(&words, inner);
    } else if !words.is_empty() {
        inner.push(InnerCommand::Words(words));
    }
}

/// Splits a word `NAME=VALUE`.
fn assigned(word: &Word) -> Option<(String, Word)> {
    let (name, value) = word.text.split_once('=')?;
    is_name(name).then(|| (name.to_owned(), word.part(value)))
}

/// Handles the command of `xargs`: the words from its input are appended, or replace the text of
/// `-I`.
fn xargs(options: &[Word], words: &mut Vec<Word>, listed: Option<Vec<String>>) {
    let read = Word { text: "(a word that xargs reads)".into(), under: listed, ..Word::default() };
    if words.is_empty() {
        words.push(Word::literal("echo"));
    }
    let mut replaced = None;
    for (at, option) in options.iter().enumerate() {
        if let Some(rest) = option.text.strip_prefix("-I") {
            replaced = if rest.is_empty() {
                options.get(at + 1).map(|word| word.text.clone())
            } else {
                Some(rest.to_owned())
            };
        }
    }
    match replaced.filter(|text| !text.is_empty()) {
        None => words.push(read),
        Some(text) => {
            for word in words.iter_mut().filter(|word| word.text.contains(&text)) {
                // Within a longer word the file that is read may be any part of a path.
                let under = read.under.clone().filter(|_| word.text == text);
                *word = Word { under, ..Word::unknown(word.text.clone()) };
            }
        }
    }
}

/// Adds the text of words as a shell would parse it again. Returns true if all of it is known.
fn joined(words: &[Word], inner: &mut Vec<InnerCommand>) -> bool {
    let Some(texts) = words.iter().map(Word::known).collect::<Option<Vec<_>>>() else {
        return false;
    };
    inner.push(InnerCommand::Text(texts.join(" ")));
    true
}

fn trap(raw: &mut Raw, inner: &mut Vec<InnerCommand>) {
    let args = &raw.args[usize::from(first_text(raw) == Some("--"))..];
    match args.first().map(|word| (word.known(), args.len())) {
        None | Some((Some("-" | "" | "-l" | "-p"), _)) => {}
        Some((Some(source), count)) if count > 1 => {
            inner.push(InnerCommand::Text(source.to_owned()))
        }
        Some((Some("EXIT" | "INT" | "TERM" | "HUP"), _)) => {}
        Some(_) => raw.known = false,
    }
}

fn ssh(raw: &mut Raw, inner: &mut Vec<InnerCommand>, found: &mut FoundCommands) {
    let options = OptionSet {
        // A file of `-F` or `-I` could run a program, and `-E` writes a log.
        values: "bcDeiJLlmOpQRSWw",
        flags: "46AaCfGgKkMNnqsTtVvXxYy",
        ..OptionSet::default()
    };
    let Some(at) = first_operand(&raw.args, options) else {
        raw.known = false;
        return;
    };
    let words = raw.args.get(at + 1..).unwrap_or_default().to_vec();
    found.folders.clone_from(&raw.folders);
    if !words.is_empty() {
        // The host runs the text with a shell of its own, so it is parsed once more.
        raw.known &= joined(&words, inner);
    } else {
        raw.known = false;
    }
}

fn fd(raw: &mut Raw, inner: &mut Vec<InnerCommand>) {
    let exec = |word: &Word| matches!(word.known(), Some("-x" | "-X" | "--exec" | "--exec-batch"));
    if let Some(at) = raw.args.iter().position(exec) {
        let mut words = raw.args[at + 1..].to_vec();
        words.push(Word::unknown("(a file that fd finds)"));
        inner.push(InnerCommand::Words(words));
    } else if raw.args.iter().any(|word| {
        word.text.starts_with("--ex")
            && !word.text.starts_with("--exclude")
            && !word.text.starts_with("--extension")
            || word.text.len() > 2
                && !word.text.starts_with("--")
                && word.text.starts_with('-')
                && word.text.contains(['x', 'X'])
    }) {
        raw.known = false;
    }
}

/// Handles a shell: the text of `-c`, a script, or the standard input.
fn shell(raw: &mut Raw, inner: &mut Vec<InnerCommand>) {
    let mut takes_text = false;
    let mut at = 0;
    while let Some(word) = raw.args.get(at) {
        let Some(text) = word.known() else { break };
        at += 1;
        match text {
            "--" => break,
            "--login" | "--norc" | "--noprofile" | "--posix" | "--verbose" => continue,
            "--version" | "--help" => return,
            "-" => break,
            _ if text.starts_with("--") => {
                raw.known = false;
                return;
            }
            _ if text.starts_with(['-', '+']) && text.len() > 1 => {
                let letters = &text[1..];
                takes_text |= letters.contains('c') && text.starts_with('-');
                // `-o NAME` and `-O NAME` take one word each.
                at += letters.matches(['o', 'O']).count();
                if letters.contains('s') {
                    raw.waits = raw.known;
                    raw.known = false;
                }
                if !letters.chars().all(|letter| "abefhiklmnprtuvxBCEHPTDcsoO".contains(letter)) {
                    raw.known = false;
                    return;
                }
            }
            _ => {
                at -= 1;
                break;
            }
        }
    }
    let operand = raw.args.get(at).cloned();
    match operand {
        Some(word) if takes_text => match word.known() {
            Some(source) => inner.push(InnerCommand::Text(source.to_owned())),
            None => raw.known = false,
        },
        _ if takes_text => raw.known = false,
        _ if raw.waits => {}
        Some(word) if word.text != "-" => script(raw, at),
        _ => standard_input(raw, inner),
    }
}

/// Handles a shell without a script, which runs its standard input.
fn standard_input(raw: &mut Raw, inner: &mut Vec<InnerCommand>) {
    let text = raw.input.as_ref().map(|word| word.known().map(str::to_owned));
    match (text, raw.reads.last().cloned()) {
        (Some(Some(source)), _) => inner.push(InnerCommand::Text(source)),
        (None, Some(file)) if file.known => {
            raw.known &= !is_device(&file.text);
            raw.scripts.push(file);
        }
        (None, None) => {
            raw.waits = raw.known;
            raw.known = false;
        }
        _ => raw.known = false,
    }
}

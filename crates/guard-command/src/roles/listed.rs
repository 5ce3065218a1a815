//! The files that a program lists for a command behind a pipe.
//!
//! A program lists files only if each of its options is known here: another option could print the
//! lines of a file, or text that somebody else has written, in the place of names.

use super::find::roots;
use crate::operands::{Split, split};
use crate::raw_commands::Raw;
use crate::word::Word;

const FIND_PRINTERS: [&str; 6] = ["-printf", "-fprintf", "-exec", "-execdir", "-ok", "-okdir"];

/// The options with which `grep` and `rg` print names alone.
const NAMES_ONLY: [&str; 3] = ["-l", "--files-with-matches", "--files"];

const GREP_OPTIONS: &str = "\
    -l -r -R -i -w -x -n -I -E -F -P -s -H -Z -m --files-with-matches --include --exclude \
    --exclude-dir --null --recursive --ignore-case --word-regexp --fixed-strings \
    --extended-regexp";

const RG_OPTIONS: &str = "\
    -l -i -w -x -n -F -P -s -S -u -U -0 -. -H -g -t -T -m --files --files-with-matches --glob \
    --type --type-not --null --hidden --no-ignore --ignore-case --smart-case --word-regexp \
    --fixed-strings --sort";

const FD_OPTIONS: &str = "\
    -t -e -E -d -H -I -u -s -i -g -F -p -0 --type --extension --exclude --max-depth --hidden \
    --no-ignore --unrestricted --glob --print0 --full-path";

const LS_FILES_OPTIONS: &str =
    "-c -m -o -d -z --cached --modified --others --deleted --exclude-standard";

const DIFF_OPTIONS: &str = "-z --name-only --cached --staged --diff-filter --merge-base --relative";

/// Returns the files that a command lists, one per line: those below its roots. `None` if the
/// command may print something else.
pub(crate) fn listed(raw: &Raw) -> Option<Vec<String>> {
    if !raw.known {
        return None;
    }
    match raw.name()? {
        "find" | "gfind" => {
            let prints = |word: &Word| FIND_PRINTERS.contains(&word.text.as_str());
            if raw.args.iter().any(prints) {
                return None;
            }
            below(&roots(&raw.args).0.iter().collect::<Vec<_>>())
        }
        "git" => git(&raw.args),
        "grep" => {
            let long = ["--include", "--exclude", "--exclude-dir"];
            matching(&split(&raw.args, "m", &long), GREP_OPTIONS)
        }
        "rg" => {
            let long = ["--glob", "--type", "--type-not", "--sort"];
            matching(&split(&raw.args, "gtTm", &long), RG_OPTIONS)
        }
        "fd" | "fdfind" => {
            let long = ["--type", "--extension", "--exclude", "--max-depth"];
            let words = split(&raw.args, "teEd", &long);
            knows(&words, FD_OPTIONS).then(|| below(words.operands.get(1..).unwrap_or_default()))?
        }
        _ => None,
    }
}

/// Returns the files that `grep` or `rg` names, if it prints names alone.
fn matching(words: &Split, options: &str) -> Option<Vec<String>> {
    let is_given = |name: &str| words.options.iter().any(|option| option == name);
    if !knows(words, options) || !NAMES_ONLY.iter().any(|name| is_given(name)) {
        return None;
    }
    // The first operand is the pattern, unless there is none.
    let patterns = usize::from(!is_given("--files"));
    below(words.operands.get(patterns..).unwrap_or_default())
}

/// Returns the files that `git` names: they are below the current folder, unless a path leads out.
fn git(args: &[Word]) -> Option<Vec<String>> {
    let (command, args) = args.split_first()?;
    let words = split(args, "", &[]);
    let is_list = match command.known()? {
        "ls-files" => knows(&words, LS_FILES_OPTIONS),
        // Without this option, `diff` prints the lines of files.
        "diff" => {
            words.options.iter().any(|option| option == "--name-only")
                && knows(&words, DIFF_OPTIONS)
        }
        _ => false,
    };
    let is_inside = |word: &&Word| {
        let text = word.known().unwrap_or("/");
        !text.starts_with(['/', ':']) && !text.split('/').any(|part| part == "..")
    };
    (is_list && words.operands.iter().all(is_inside)).then(|| vec!["*".into()])
}

fn knows(words: &Split, options: &str) -> bool {
    words.options.iter().all(|option| options.split(' ').any(|known| known == option))
}

/// Returns the roots, or the current folder if there are none; `None` if a root is not known.
fn below(roots: &[&Word]) -> Option<Vec<String>> {
    let mut texts: Vec<String> = Vec::new();
    for word in roots {
        match (word.known(), &word.under) {
            _ if word.home => return None,
            (Some(text), _) => texts.push(text.to_owned()),
            (None, Some(under)) => texts.extend(under.clone()),
            (None, None) => return None,
        }
    }
    Some(if texts.is_empty() { vec![".".to_owned()] } else { texts })
}

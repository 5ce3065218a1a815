//! The files and inner commands of `git`.

use super::{cloned, leads_out};
use crate::operands::{Split, split};
use crate::raw_commands::{InnerCommand, Raw};
use crate::word::Word;

/// Handles `git`: removes its own options from the words, and determines the commands and files of
/// its subcommands.
pub(crate) fn git(raw: &mut Raw, inner: &mut Vec<InnerCommand>) {
    while let Some(first) = raw.args.first() {
        let text = first.known().unwrap_or("?").to_owned();
        let takes = match text.as_str() {
            "-C" | "-c" => 2,
            "--no-pager"
            | "-P"
            | "-p"
            | "--paginate"
            | "--no-optional-locks"
            | "--literal-pathspecs"
            | "--bare" => 1,
            "--version" | "--help" | "-h" | "-v" => break,
            _ if text.starts_with('-') || !first.known => {
                raw.known = false;
                return;
            }
            _ => break,
        };
        let value = raw.args.get(1).cloned();
        match (text.as_str(), value) {
            ("-C", Some(folder)) => {
                raw.touches.push(folder.clone());
                raw.folders = match folder.known() {
                    Some(text) if !folder.home => raw.folders.as_ref().map(|folders| {
                        folders.iter().map(|base| crate::paths::join(base, text)).collect()
                    }),
                    _ => None,
                };
            }
            ("-c", Some(setting)) => {
                let key = setting.text.split('=').next().unwrap_or_default();
                raw.known &= setting.known && is_harmless_key(key, &setting.text);
            }
            ("-C" | "-c", None) => raw.known = false,
            _ => {}
        }
        raw.args.drain(..takes.min(raw.args.len()));
    }
    let Some(subcommand) = raw.args.first().and_then(Word::known).map(str::to_owned) else {
        return;
    };
    let rest = raw.args[1..].to_vec();
    let messages = if matches!(
        subcommand.as_str(),
        "commit" | "tag" | "merge" | "stash" | "notes" | "revert" | "log"
    ) {
        "mSGF"
    } else if matches!(subcommand.as_str(), "format-patch" | "archive" | "bundle" | "diff") {
        "o"
    } else {
        ""
    };
    let split = split(
        &rest,
        messages,
        &[
            "--message",
            "--author",
            "--date",
            "--grep",
            "--format",
            "--pretty",
            "--since",
            "--until",
            "--output",
            "--output-directory",
            "--file",
        ],
    );
    git_runs(&subcommand, &rest, &split, raw, inner);
    git_files(&subcommand, &split, raw);
}

/// Determines the files that a subcommand reads, changes and removes.
fn git_files(subcommand: &str, split: &Split<'_>, raw: &mut Raw) {
    raw.writes.extend(split.values_of(&["-o", "--output", "--output-directory"]).cloned());
    if subcommand != "config" {
        raw.reads.extend(split.values_of(&["-F", "--file"]).cloned());
    }
    for word in split.operands.iter().filter(|word| word.known) {
        // A file of a commit: `HEAD:FILE`.
        raw.reads.extend(word.text.split_once(':').map(|(_, file)| word.part(file)));
    }
    let messages = split.values.iter().map(|(_, value)| value);
    let files: Vec<Word> = match subcommand {
        "commit" | "tag" | "merge" | "log" | "grep" | "notes" => cloned(split.operands.clone()),
        _ => cloned(split.operands.clone()).into_iter().chain(messages.cloned()).collect(),
    };
    if matches!(subcommand, "add" | "show" | "diff" | "cat-file" | "grep" | "hash-object" | "blame")
    {
        raw.reads.extend(files.clone());
    }
    if !matches!(subcommand, "grep" | "commit" | "log") {
        leads_out(&files, raw);
    }
    match subcommand {
        "mv" => {
            raw.reads.extend(files.clone());
            raw.removes.extend(files);
        }
        "rm" => raw.removes.extend(files),
        "clone" | "init" | "worktree" => {
            let is_address = |word: &Word| word.known && word.text.contains(':');
            raw.writes.extend(files.into_iter().filter(|word| !is_address(word)));
        }
        // These subcommands change files of the folder that the words do not name.
        "apply" | "am" | "checkout" | "restore" | "switch" | "stash" | "reset" | "merge"
        | "pull" | "rebase" | "revert" | "cherry-pick" | "clean" => {
            raw.writes.push(Word::literal("."))
        }
        _ => {}
    }
}

fn git_runs(
    subcommand: &str,
    rest: &[Word],
    split: &Split<'_>,
    raw: &mut Raw,
    inner: &mut Vec<InnerCommand>,
) {
    let first = rest.first().and_then(Word::known);
    match (subcommand, first) {
        ("submodule", _) if rest.iter().any(|word| word.text == "foreach") => {
            let at = rest.iter().position(|word| word.text == "foreach").unwrap_or(0) + 1;
            let words = rest
                .iter()
                .skip(at)
                .filter(|word| !matches!(word.text.as_str(), "--recursive" | "--quiet"));
            match words.map(Word::known).collect::<Option<Vec<_>>>() {
                Some(texts) => inner.push(InnerCommand::Text(texts.join(" "))),
                None => raw.known = false,
            }
        }
        ("bisect", Some("run")) => inner.push(InnerCommand::Words(rest[1..].to_vec())),
        ("config", _) => raw.known &= is_harmless_config(rest, split),
        (
            "filter-branch" | "difftool" | "mergetool" | "send-email" | "instaweb" | "daemon"
            | "credential" | "p4" | "remote-ext" | "remote-fd" | "shell",
            _,
        ) => {
            raw.known = false;
        }
        _ => {}
    }
    let hazards = [
        "--upload-pack",
        "--receive-pack",
        "--exec",
        "--extcmd",
        "--open-files-in-pager",
        "--template",
        "--config-env",
        "--ext-diff",
        "--textconv",
    ];
    let short = match subcommand {
        "rebase" => "-x",
        "grep" => "-O",
        "clone" | "ls-remote" => "-u",
        _ => "-\0",
    };
    raw.known &= !split.has(&hazards) && !split.has(&[short]);
    // An address `ext::COMMAND` makes git run the command as a transport.
    raw.known &= !rest.iter().any(|word| word.text.contains("ext::"));
    if subcommand == "clone" {
        raw.known &= !split.has(&["-c", "--config"]);
    }
}

/// Returns true if `git config` only reads a setting, or sets one that runs nothing.
fn is_harmless_config(rest: &[Word], split: &Split<'_>) -> bool {
    if split.has(&[
        "--get",
        "--get-all",
        "--get-regexp",
        "--list",
        "-l",
        "--unset",
        "--get-urlmatch",
    ]) {
        return true;
    }
    if !rest.iter().all(|word| word.known) {
        return false;
    }
    if split.has(&["--global", "--system", "--file", "-f", "--edit", "-e", "--worktree", "--blob"])
    {
        return false;
    }
    match split.operands.as_slice() {
        [] | [_] => true,
        [first, ..] if matches!(first.text.as_str(), "get" | "list") => true,
        [first, key, ..] if first.text == "set" => is_harmless_key(&key.text, ""),
        [key, ..] => is_harmless_key(&key.text, ""),
    }
}

/// Returns true if a setting of git names no program.
fn is_harmless_key(key: &str, setting: &str) -> bool {
    let key = key.to_lowercase();
    let sections = [
        "user.",
        "color.",
        "advice.",
        "rerere.",
        "branch.",
        "pull.",
        "push.",
        "fetch.",
        "rebase.",
        "init.defaultbranch",
        "column.",
    ];
    let keys = [
        "core.autocrlf",
        "core.quotepath",
        "core.filemode",
        "core.ignorecase",
        "core.longpaths",
        "core.eol",
        "core.safecrlf",
        "core.abbrev",
        "merge.conflictstyle",
        "commit.gpgsign",
        "tag.gpgsign",
        "gc.auto",
        "http.postbuffer",
        "diff.algorithm",
        "diff.renames",
        "diff.colormoved",
        "log.date",
        "protocol.version",
        "submodule.recurse",
        "safe.directory",
        "diff.renamelimit",
        "core.compression",
        "http.version",
    ];
    let pager = key == "core.pager"
        && matches!(setting, "core.pager=cat" | "core.pager=" | "core.pager=less");
    let hooks = key == "core.hookspath" && setting == "core.hookspath=/dev/null";
    pager
        || hooks
        || keys.contains(&key.as_str())
        || (sections.iter().any(|section| key.starts_with(section))
            && !key.contains("command")
            && !key.contains("editor"))
}

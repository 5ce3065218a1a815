//! The roles of files: those that a command reads, changes and removes, for common programs.
//!
//! For an unknown program, every word that leads out of the folder counts as a file that the
//! program changes.

mod archives;
mod find;
mod git;

pub(crate) use find::{find, listed};
pub(crate) use git::git;

use crate::interpreters::sed_parts;
use crate::operands::split;
use crate::raw_commands::Raw;
use crate::word::Word;

/// Programs that only read, whose operands are files.
const READERS: &[&str] = &[
    "cat",
    "head",
    "tail",
    "less",
    "more",
    "wc",
    "ls",
    "ll",
    "dir",
    "stat",
    "file",
    "du",
    "df",
    "tree",
    "diff",
    "cmp",
    "comm",
    "nl",
    "od",
    "xxd",
    "hexdump",
    "strings",
    "cut",
    "paste",
    "join",
    "uniq",
    "fold",
    "fmt",
    "rev",
    "tac",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "shasum",
    "cksum",
    "b2sum",
    "readlink",
    "realpath",
    "basename",
    "dirname",
    "base64",
    "base32",
    "column",
    "expand",
    "unexpand",
    "bat",
    "batcat",
    "jq",
    "yq",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "rg",
    "ag",
    "ack",
    "look",
    "zcat",
    "bzcat",
    "xzcat",
    "iconv",
    "ldd",
    "nm",
    "objdump",
    "readelf",
    "size",
    "otool",
    "eza",
    "exa",
    "lsd",
    "cloc",
    "tokei",
    "scc",
    "lsof",
    "ps",
    "pgrep",
    "which",
    "whereis",
    "type",
    "pwd",
    "date",
    "uname",
    "id",
    "whoami",
    "hostname",
    "uptime",
    "free",
    "nproc",
    "env",
    "printenv",
    "locale",
    "tput",
    "stty",
    "sleep",
    "true",
    "false",
    ":",
    "seq",
    "yes",
    "expr",
    "bc",
    "dc",
    "factor",
    "cd",
    "pushd",
    "popd",
    "dirs",
    "test",
    "[",
    "set",
    "shift",
    "return",
    "exit",
    "break",
    "continue",
    "wait",
    "jobs",
    "fg",
    "bg",
    "ulimit",
    "umask",
    "hash",
    "alias",
    "unalias",
    "export",
    "declare",
    "local",
    "readonly",
    "unset",
    "read",
    "getopts",
    "shopt",
    "let",
    "times",
    "tr",
    "sed",
    "gsed",
    "delta",
    "colordiff",
    "lscpu",
    "lsblk",
    "vmstat",
    "iostat",
    "netstat",
    "ss",
    "ip",
    "ifconfig",
    "ping",
    "dig",
    "nslookup",
    "host",
    "man",
    "info",
    "help",
    "tldr",
    "source",
    ".",
    "bash",
    "sh",
    "dash",
    "zsh",
    "ksh",
    "kill",
    "pkill",
    "killall",
    "mapfile",
    "readarray",
    "eval",
    "trap",
    "exec",
    "command",
    "builtin",
    "xargs",
    "time",
    "timeout",
    "nice",
    "nohup",
    "watch",
    "sudo",
    "doas",
    "history",
    "fc",
    "complete",
    "compgen",
    "typeset",
    "logname",
    "groups",
    "tty",
    "arch",
    "getconf",
    "numfmt",
    "find",
    "gfind",
    "fd",
    "fdfind",
    "git",
    "sqlite3",
    "curl",
    "wget",
    "docker",
    "podman",
    "kubectl",
    "ssh",
    "sum",
    "pr",
];

/// Programs whose words are never files.
const SPEAKERS: &[&str] = &[
    "echo", "printf", "true", "false", ":", "sleep", "kill", "seq", "expr", "date", "exit",
    "return", "tr",
];

/// Determines the files of a command.
pub(crate) fn fill(name: &str, raw: &mut Raw) {
    let args = raw.args.clone();
    if !SPEAKERS.contains(&name) && !matches!(name, "test" | "[" | "ls" | "git" | "find" | "rm") {
        reads(name, &args, raw);
    }
    match name {
        "rm" | "rmdir" | "unlink" | "shred" | "srm" | "trash" | "rimraf" | "del" => {
            let values = if name == "shred" { "ns" } else { "" };
            raw.removes.extend(cloned(split(&args, values, &[]).operands));
        }
        "mv" | "cp" | "gcp" | "gmv" | "install" | "ginstall" | "ln" | "gln" | "link" | "rsync"
        | "scp" => copies(name, &args, raw),
        "touch" | "mkdir" | "mkfifo" | "mknod" | "mktemp" | "tee" | "sponge" | "truncate"
        | "fallocate" => {
            let values = match name {
                "touch" => "dtr",
                "mkdir" | "mkfifo" | "mknod" => "m",
                "truncate" => "sr",
                "fallocate" => "lo",
                "mktemp" => "p",
                _ => "",
            };
            let split =
                split(&args, values, &["--mode", "--size", "--date", "--reference", "--tmpdir"]);
            raw.writes.extend(split.values_of(&["-p", "--tmpdir"]).cloned());
            if name != "mktemp" {
                raw.writes.extend(cloned(split.operands));
            }
        }
        "dd" => {
            for word in &args {
                if let Some(file) = word.text.strip_prefix("of=") {
                    raw.writes.push(word.part(file));
                } else if !word.known && !word.text.starts_with("if=") {
                    raw.writes.push(word.clone());
                }
            }
        }
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" | "xattr" => {
            let split = split(&args, "", &[]);
            let skip = usize::from(!split.has(&["--reference"]));
            // A mode like `-x` is not an option.
            let mode_given = name == "chmod"
                && args.first().is_some_and(|word| {
                    word.text.starts_with('-')
                        && word.text.contains(['r', 'w', 'x'])
                        && !word.text.contains('R')
                });
            let operands = cloned(split.operands);
            raw.touches.extend(operands.into_iter().skip(if mode_given { 0 } else { skip }));
        }
        "sed" | "gsed" => {
            let sed = sed_parts(&args);
            if sed.in_place { raw.writes.extend(sed.files) } else { raw.reads.extend(sed.files) }
        }
        "patch" => {
            let split = split(
                &args,
                "idpBDFgorVYz",
                &["--input", "--directory", "--output", "--reject-file"],
            );
            let names = ["-d", "--directory", "-o", "--output", "-r", "--reject-file"];
            raw.writes.extend(split.values_of(&names).cloned());
            raw.writes.extend(cloned(split.operands));
            // It changes the files that the patch names, in its folder.
            raw.writes.push(Word::literal("."));
        }
        _ => archives::packed(name, &args, raw),
    }
    outputs(name, &args, raw);
}

/// Programs with the options that name their output files: single letters, then whole names.
const OUTPUTS: &[(&[&str], &str, &[&str])] = &[
    (&["gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "as", "gfortran"], "o", &[]),
    (&["rustc"], "o", &["--out-dir"]),
    (&["go"], "", &["-o", "-coverprofile", "-cpuprofile", "-memprofile", "-outputdir"]),
    (&["tsc"], "", &["--outDir", "--outFile", "--declarationDir", "--tsBuildInfoFile"]),
    (&["less"], "oO", &["--log-file", "--LOG-FILE"]),
    (
        &["pytest", "py.test"],
        "",
        &["--basetemp", "--junitxml", "--junit-xml", "--result-log", "--log-file"],
    ),
    (&["pandoc", "dot", "protoc"], "o", &["--output"]),
    (&["eslint", "ruff"], "o", &["--output-file"]),
    (&["cargo"], "", &["--target-dir", "--out-dir", "--artifact-dir"]),
];

/// Adds the files that the options of a program name as its output. A compiler builds the file from
/// sources, so running it is as certain as running the sources.
fn outputs(name: &str, args: &[Word], raw: &mut Raw) {
    for (_, letters, names) in OUTPUTS.iter().filter(|(programs, ..)| programs.contains(&name)) {
        let split = split(args, letters, names);
        let short: Vec<String> = letters.chars().map(|letter| format!("-{letter}")).collect();
        let is_output =
            |option: &str| short.iter().any(|known| known == option) || names.contains(&option);
        let values = split.values.iter().filter(|(option, _)| is_output(option));
        raw.touches.extend(values.map(|(_, value)| value.clone()));
        // Long names with one dash, as for `go`.
        for (at, word) in args.iter().enumerate() {
            let (option, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
            if names.contains(&option) && !option.starts_with("--") {
                raw.touches.extend(if value.is_empty() {
                    args.get(at + 1).cloned()
                } else {
                    Some(word.part(value))
                });
            }
        }
    }
}

fn cloned(words: Vec<&Word>) -> Vec<Word> {
    words.into_iter().cloned().collect()
}

/// Adds every word that could name a file to be read.
fn reads(name: &str, args: &[Word], raw: &mut Raw) {
    // The first operand of these programs is a pattern, not a file.
    let pattern = matches!(
        name,
        "grep"
            | "egrep"
            | "fgrep"
            | "zgrep"
            | "rg"
            | "ag"
            | "ack"
            | "awk"
            | "gawk"
            | "mawk"
            | "jq"
            | "yq"
            | "sed"
            | "gsed"
    );
    let given = args.iter().any(|word| {
        word.text.starts_with("-e")
            || word.text.starts_with("--regexp")
            || word.text.starts_with("-f")
            || word.text.starts_with("--file")
    });
    let mut skip = pattern && !given;
    let mut files = 0;
    for word in args {
        let text = word.text.as_str();
        if word.known && text.starts_with('-') && text.len() > 1 {
            if let Some((_, value)) = text.split_once('=') {
                raw.reads.push(word.part(value));
            }
            if let Some((_, value)) = text.split_once('@') {
                raw.reads.push(word.part(value));
            }
            continue;
        }
        if std::mem::take(&mut skip) {
            continue;
        }
        if word.known {
            if let Some((_, value)) = text.split_once('@') {
                raw.reads.push(word.part(value.split(';').next().unwrap_or(value)));
            }
            if let Some((_, value)) = text.split_once('=') {
                raw.reads.push(word.part(value));
            }
        }
        if matches!(name, "cp" | "mv" | "rsync" | "install" | "ln")
            && std::ptr::eq(word, &args[args.len() - 1])
        {
            continue;
        }
        raw.reads.push(word.clone());
        files += 1;
    }
    // Without a file, these programs search the whole folder.
    let recursive = args.iter().any(|word| {
        let short = word.text.starts_with('-') && !word.text.starts_with("--");
        short && word.text.contains(['r', 'R']) || word.text.starts_with("--recursive")
    });
    let searches = matches!(name, "rg" | "ag" | "ack")
        || (recursive && matches!(name, "grep" | "egrep" | "fgrep" | "zgrep"));
    if searches && files == 0 {
        raw.reads.push(Word::literal("."));
    }
    if matches!(name, "cd" | "chdir") && files == 0 {
        raw.reads.push(Word { home: true, ..Word::literal("~") });
    }
}

/// Handles programs with sources and a destination.
fn copies(name: &str, args: &[Word], raw: &mut Raw) {
    let values = match name {
        "install" | "ginstall" => "tSmogB",
        "rsync" => "efBTM",
        _ => "tS",
    };
    let split = split(
        args,
        values,
        &[
            "--target-directory",
            "--suffix",
            "--exclude",
            "--include",
            "--mode",
            "--owner",
            "--group",
        ],
    );
    let mut operands = cloned(split.operands.clone());
    let target: Vec<Word> = split.values_of(&["-t", "--target-directory"]).cloned().collect();
    let makes_folders = name == "install" && split.has(&["-d", "--directory"]);
    if makes_folders {
        raw.writes.extend(operands);
        return;
    }
    if !target.is_empty() {
        raw.writes.extend(target);
    } else if name == "ln" && operands.len() == 1 {
        raw.writes.push(Word::literal("."));
    } else {
        raw.writes.extend(operands.pop());
    }
    match name {
        // A link redirects writes to its target, relative to the folder of the link.
        "ln" | "gln" | "link" => {
            let link = raw.writes.last().and_then(Word::known).unwrap_or_default();
            let folder = link.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
            raw.touches.extend(operands.into_iter().map(|target| match target.known() {
                Some(text) if !text.starts_with('/') && !target.home && !folder.is_empty() => {
                    target.part(&format!("{folder}/{text}"))
                }
                _ => target,
            }));
        }
        "mv" | "gmv" => raw.removes.extend(operands),
        "rsync" if split.has(&["--remove-source-files"]) => raw.removes.extend(operands),
        _ => {}
    }
    if name == "rsync" && split.options.iter().any(|option| option.starts_with("--del")) {
        raw.removes.extend(raw.writes.clone());
    }
}

/// Handles the words of a program about which little is known: those that lead out of the folder
/// may be files that it changes.
fn leads_out(args: &[Word], raw: &mut Raw) {
    for word in args {
        let text = word.text.as_str();
        let values = if text.starts_with('-') {
            [
                text.split_once('=').map(|(_, value)| value),
                text.find(['/', '~'])
                    .filter(|at| *at < 3 || text.contains('='))
                    .map(|at| &text[at..]),
                // The value of a short option without a space: `-C../x`.
                text.get(2..).filter(|value| value.starts_with("..")),
            ]
        } else {
            [Some(text), text.split_once('=').map(|(_, value)| value), None]
        };
        for value in values.into_iter().flatten() {
            let up = value.split(['/', ':', ',']).any(|component| component == "..");
            let rooted = value.starts_with('/') && !value.starts_with("//");
            let home = value == "~" || value.starts_with("~/");
            if (up || rooted || home) && !value.contains("://") {
                raw.touches.push(word.part(value));
                break;
            }
        }
    }
}

//! Roles of files: those that a command reads, changes and removes, as known of common programs.
//!
//! For an unknown program, every word that leads out of the folder counts as a file that it changes.

use crate::grammar::Raw;
use crate::interpreters::sed_parts;
use crate::operands::{Split, split};
use crate::runs::InnerCommand;
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

/// Programs whose words are no files at all.
const SPEAKERS: &[&str] = &[
    "echo", "printf", "true", "false", ":", "sleep", "kill", "seq", "expr", "date", "exit",
    "return", "tr",
];

/// Fills in the files of a command.
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
            // A mode like `-x` is no option.
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
            match sed.in_place {
                true => raw.writes.extend(sed.files),
                false => raw.reads.extend(sed.files),
            }
        }
        "patch" => raw
            .writes
            .extend(cloned(split(&args, "idpBDFgorVYz", &["--input", "--directory"]).operands)),
        _ => packed(name, &args, raw),
    }
}

/// Archives, compressed files and downloads; then programs of which little is known.
fn packed(name: &str, args: &[Word], raw: &mut Raw) {
    match name {
        "tar" => archive(args, raw),
        "unzip" => extract(args, "dxP", "-d", raw),
        "7z" | "bsdtar" | "cpio" | "ar" => {
            raw.writes.extend(args.iter().filter(|word| !word.known).cloned())
        }
        "zip" => raw
            .writes
            .extend(split(args, "bitnxP", &[]).operands.first().map(|word| (*word).clone())),
        "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" | "unzstd" | "brotli" => {
            let split = split(args, "SoD", &["--suffix"]);
            raw.writes.extend(split.values_of(&["-o"]).cloned());
            if !split.has(&["-c", "--stdout", "-t", "-l", "--test", "--list"]) {
                raw.writes.extend(cloned(split.operands));
            }
        }
        "sort" => raw
            .writes
            .extend(split(args, "oktST", &["--output"]).values_of(&["-o", "--output"]).cloned()),
        "curl" => {
            let split = split(
                args,
                "odHXuAeFbmwTCr",
                &[
                    "--output",
                    "--dump-header",
                    "--cookie-jar",
                    "--output-dir",
                    "--trace",
                    "--trace-ascii",
                ],
            );
            let names = [
                "-o",
                "--output",
                "--dump-header",
                "-D",
                "--cookie-jar",
                "-c",
                "--output-dir",
                "--trace",
                "--trace-ascii",
                "--stderr",
            ];
            raw.writes.extend(split.values_of(&names).cloned());
        }
        "wget" => {
            let split = split(
                args,
                "OPoa",
                &["--output-document", "--directory-prefix", "--output-file", "--append-output"],
            );
            let names = [
                "-O",
                "--output-document",
                "-P",
                "--directory-prefix",
                "-o",
                "--output-file",
                "-a",
                "--append-output",
            ];
            raw.writes.extend(split.values_of(&names).cloned());
        }
        "split" | "csplit" => raw
            .writes
            .extend(split(args, "abClnt", &[]).operands.get(1).map(|word| (*word).clone())),
        "xxd" | "uniq" => raw
            .writes
            .extend(split(args, "clgsofnw", &[]).operands.get(1).map(|word| (*word).clone())),
        "tree" => raw.writes.extend(split(args, "oLIP", &[]).values_of(&["-o"]).cloned()),
        "yq" if args
            .iter()
            .any(|word| word.text.starts_with("-i") || word.text.starts_with("--in")) =>
        {
            raw.writes.extend(cloned(split(args, "", &[]).operands).into_iter().skip(1));
        }
        _ if READERS.contains(&name) || SPEAKERS.contains(&name) => {}
        _ => leads_out(args, raw),
    }
}

fn cloned(words: Vec<&Word>) -> Vec<Word> {
    words.into_iter().cloned().collect()
}

/// Every word that could name a file to be read.
fn reads(name: &str, args: &[Word], raw: &mut Raw) {
    // The first operand of these is a pattern, which is no file.
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
    }
}

/// Programs with sources and a destination.
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
        // A link leads writes to where it points, seen from its own folder.
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

fn archive(args: &[Word], raw: &mut Raw) {
    let mut args = args.to_vec();
    if let Some(first) = args.first_mut().filter(|word| word.known && !word.text.starts_with('-')) {
        first.text.insert(0, '-');
    }
    let split = split(
        &args,
        "fCXTgbHKNV",
        &[
            "--file",
            "--directory",
            "--exclude",
            "--transform",
            "--xform",
            "--strip-components",
            "--owner",
            "--group",
        ],
    );
    let file: Vec<Word> = split.values_of(&["-f", "--file"]).cloned().collect();
    let folder: Vec<Word> = split.values_of(&["-C", "--directory"]).cloned().collect();
    if split.has(&["-x", "--extract", "--get"]) {
        raw.writes.extend(folder);
        // These let members leave the folder.
        if split.has(&["-P", "--absolute-names", "--transform", "--xform"]) {
            raw.writes.push(Word::unknown("(a member of the archive)"));
        }
    } else if split.has(&["-c", "--create", "-r", "--append", "-u", "--update", "-A", "--delete"]) {
        raw.writes.extend(file);
    }
    if split.has(&["--remove-files"]) {
        raw.removes.extend(cloned(split.operands.clone()));
    }
    if split.has(&["--recursive-unlink", "--unlink-first"]) {
        raw.writes.push(Word::unknown("(a member of the archive)"));
    }
}

fn extract(args: &[Word], values: &str, folder: &str, raw: &mut Raw) {
    let split = split(args, values, &[]);
    raw.writes.extend(split.values_of(&[folder]).cloned());
    if split.has(&["-:"]) {
        raw.writes.push(Word::unknown("(a member of the archive)"));
    }
}

/// Words of a program of which little is known: those that lead out of the folder may be files that it changes.
fn leads_out(args: &[Word], raw: &mut Raw) {
    for word in args {
        let text = word.text.as_str();
        let option = text.starts_with('-');
        let values = match option {
            true => [
                text.split_once('=').map(|(_, value)| value),
                text.find(['/', '~']).map(|at| &text[at..]),
            ],
            false => [Some(text), text.split_once('=').map(|(_, value)| value)],
        };
        for value in values.into_iter().flatten() {
            let up = value.split(['/', ':', ',']).any(|component| component == "..");
            let rooted = value.starts_with('/') && !value.starts_with("//");
            let home = value == "~" || value.starts_with("~/");
            let cluster = option && !text.contains('=') && text.find('/').is_some_and(|at| at > 2);
            if (up || rooted || home) && !cluster && !value.contains("://") {
                raw.touches.push(word.part(value));
                break;
            }
        }
    }
}

/// `find`: what it removes, writes and runs.
pub(crate) fn find(raw: &mut Raw, inner: &mut Vec<InnerCommand>) {
    let args = raw.args.clone();
    let mut roots: Vec<Word> = Vec::new();
    let mut at = 0;
    while let Some(word) = args.get(at) {
        match word.text.as_str() {
            "-H" | "-L" | "-P" if word.known => {}
            "-D" | "-O" if word.known => at += 1,
            text if word.known && text.starts_with(['-', '(', '!', ',']) => break,
            _ => {
                // An action could hide in a word that is not known.
                raw.known &= word.known || word.under.is_some();
                roots.push(word.clone());
            }
        }
        at += 1;
    }
    if roots.is_empty() {
        roots.push(Word::literal("."));
    }
    raw.reads.extend(roots.clone());
    let roots_known = roots.iter().all(|word| word.known && !word.home);
    let found = Word {
        text: "{}".into(),
        under: roots_known.then(|| roots.iter().map(|word| word.text.clone()).collect()),
        known: false,
        ..Word::default()
    };
    while let Some(word) = args.get(at) {
        at += 1;
        if !word.known {
            // Only a value may be unknown: an action could hide in any other place.
            let value =
                at >= 2 && args[at - 2].known().is_some_and(|before| FIND_VALUES.contains(&before));
            raw.known &= value;
            continue;
        }
        match word.text.as_str() {
            "-delete" => match (is_narrowed(&args), &found.under) {
                (true, Some(under)) => raw
                    .removes
                    .extend(under.iter().map(|root| Word::literal(format!("{root}/*{{}}")))),
                _ => raw.removes.extend(roots.clone()),
            },
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let mut found = found.clone();
                if is_narrowed(&args) {
                    found.under = found
                        .under
                        .map(|under| under.iter().map(|root| format!("{root}/*{{}}")).collect());
                }
                let rest = &args[at..];
                let end = rest.iter().enumerate().position(|(place, word)| {
                    word.text == ";"
                        || (word.text == "+" && place > 0 && rest[place - 1].text == "{}")
                });
                let words: Vec<Word> = rest[..end.unwrap_or(rest.len())]
                    .iter()
                    .map(|word| match word.text.contains("{}") {
                        true if word.text == "{}" => found.clone(),
                        true => Word::unknown(word.text.clone()),
                        false => word.clone(),
                    })
                    .collect();
                raw.known &= end.is_some() && !words.is_empty();
                inner.push(InnerCommand::Words(words));
                at += end.unwrap_or(rest.len());
            }
            "-fprint" | "-fprint0" | "-fprintf" | "-fls" => {
                raw.writes.extend(args.get(at).cloned())
            }
            "-files0-from" => raw.known = false,
            _ => {}
        }
    }
}

/// Returns whether `find` leaves out most files.
fn is_narrowed(args: &[Word]) -> bool {
    args.windows(2).any(|pair| {
        let value = pair[1].text.trim_matches(['*', '?', '.']);
        pair[0].known && FIND_FILTERS.contains(&pair[0].text.as_str()) && !value.is_empty()
    })
}

/// Tests of `find` that leave most files out.
const FIND_FILTERS: &[&str] =
    &["-name", "-iname", "-path", "-wholename", "-regex", "-newer", "-mtime", "-mmin", "-empty"];

/// The files that a command lists, one a line: those below its roots.
pub(crate) fn listed(raw: &Raw) -> Option<Vec<String>> {
    let roots = |operands: Vec<&Word>| {
        let roots: Option<Vec<String>> = operands
            .iter()
            .map(|word| {
                match word.home {
                    true => None,
                    false => word.known().map(|text| vec![text.to_owned()]).or(word.under.clone()),
                }
                .map(|mut texts| texts.pop().unwrap_or_default())
            })
            .collect();
        roots.map(|roots| if roots.is_empty() { vec![".".to_owned()] } else { roots })
    };
    let lists =
        |options: &[&str]| raw.args.iter().any(|word| options.contains(&word.text.as_str()));
    if !raw.known {
        return None;
    }
    match raw.name()? {
        "find" | "gfind" if !lists(&["-printf", "-exec", "-execdir"]) => {
            let end = raw
                .args
                .iter()
                .position(|word| word.text.starts_with(['-', '(', '!']))
                .unwrap_or(raw.args.len());
            roots(raw.args[..end].iter().collect())
        }
        "git"
            if raw.args.first().is_some_and(|word| word.text == "ls-files")
                || lists(&["--name-only"]) =>
        {
            Some(vec!["*".into()])
        }
        "rg" | "grep"
            if raw.args.iter().any(|word| {
                word.known().is_some_and(|text| {
                    text == "--files"
                        || text == "--files-with-matches"
                        || text.starts_with('-')
                            && !text.starts_with("--")
                            && text.contains(['l', 'L'])
                })
            }) =>
        {
            let operands = split(
                &raw.args,
                "ABCmtgT",
                &["--include", "--exclude", "--exclude-dir", "--glob", "--type"],
            )
            .operands;
            roots(operands.into_iter().skip(1).collect())
        }
        "fd" | "fdfind" => {
            roots(split(&raw.args, "teEd", &[]).operands.into_iter().skip(1).collect())
        }
        _ => None,
    }
}

/// Tests of `find` with a value.
const FIND_VALUES: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-newer",
    "-newermt",
    "-mtime",
    "-mmin",
    "-size",
    "-type",
    "-maxdepth",
    "-mindepth",
    "-user",
    "-group",
    "-perm",
    "-printf",
];

/// `git`: its own options are taken off the words; what its subcommands run and touch.
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
        "mSG"
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
        ],
    );
    git_runs(&subcommand, &rest, &split, raw, inner);
    raw.writes.extend(split.values_of(&["--output", "--output-directory"]).cloned());
    for word in split.operands.iter().filter(|word| word.known) {
        // A file of a commit: `HEAD:FILE`.
        raw.reads.extend(word.text.split_once(':').map(|(_, file)| word.part(file)));
    }
    let messages = split.values.iter().map(|(_, value)| value);
    let files: Vec<Word> = match subcommand.as_str() {
        "commit" | "tag" | "merge" | "log" | "grep" | "notes" => cloned(split.operands.clone()),
        _ => cloned(split.operands.clone()).into_iter().chain(messages.cloned()).collect(),
    };
    if matches!(
        subcommand.as_str(),
        "add" | "show" | "diff" | "cat-file" | "grep" | "hash-object" | "blame"
    ) {
        raw.reads.extend(files.clone());
    }
    if !matches!(subcommand.as_str(), "grep" | "commit" | "log") {
        leads_out(&files, raw);
    }
    if matches!(subcommand.as_str(), "rm" | "mv") {
        raw.removes.extend(files);
    } else if matches!(subcommand.as_str(), "clone" | "init" | "worktree") {
        raw.writes.extend(files.iter().filter(|word| !word.known).cloned());
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
            | "credential" | "p4",
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
    raw.known &= !rest.iter().any(|word| word.text.contains("ext::"));
    if subcommand == "clone" {
        raw.known &= !split.has(&["-c", "--config"]);
    }
}

/// Returns whether `git config` only asks, or sets what runs nothing.
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

/// Returns whether a setting of git names no program.
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

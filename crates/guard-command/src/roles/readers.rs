//! Programs that only read, programs that name no files, and the words that may name a file to read.

use crate::raw_commands::Raw;
use crate::word::Word;

/// Programs that only read, whose operands are files.
pub(super) const READERS: &[&str] = &[
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
pub(super) const SPEAKERS: &[&str] = &[
    "echo", "printf", "true", "false", ":", "sleep", "kill", "seq", "expr", "date", "exit",
    "return", "tr",
];

/// Adds every word that could name a file to be read.
pub(super) fn reads(name: &str, args: &[Word], raw: &mut Raw) {
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

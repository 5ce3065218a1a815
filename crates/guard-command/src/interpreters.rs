//! Programs with a program in their words, and options that make a harmless program run another
//! one.

mod compilers;
mod languages;
mod listeners;
mod make;

pub(crate) use listeners::{accepts_input, behind_pipe};

use crate::operands::{OptionSet, first_operand, split};
use crate::raw_commands::{InnerCommand, Raw, is_device};
use crate::runs::holds_substitution;
use crate::scripts;
use crate::word::Word;

/// The options by which a program runs another program.
const HAZARDS: &[(&str, &[&str])] = &[
    (
        "tar",
        &[
            "--checkpoint-action",
            "--to-command",
            "-I",
            "--use-compress-program",
            "--rsh-command",
            "-F",
            "--info-script",
            "--new-volume-script",
            "--rmt-command",
        ],
    ),
    ("make", &["--eval", "-E"]),
    ("gmake", &["--eval", "-E"]),
    ("rsync", &["-e", "--rsh", "--rsync-path", "--daemon", "--config"]),
    ("sort", &["--compress-program"]),
    ("split", &["--filter"]),
    ("man", &["-P", "--pager", "-H", "--html", "-C", "--config-file"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("zip", &["-T", "--unzip-command", "--test"]),
    ("wget", &["--use-askpass", "-e", "--execute", "--config"]),
    ("curl", &["-K", "--config"]),
    ("go", &["-exec", "-toolexec", "-vettool"]),
    ("cargo", &["--config"]),
    ("mypy", &["--python-executable"]),
    ("npm", &["--script-shell", "--node-options", "-c", "--call"]),
    ("npx", &["-c", "--call"]),
    ("pnpm", &["--script-shell", "-c", "--shell-mode"]),
    ("install", &["--strip-program"]),
    ("ginstall", &["--strip-program"]),
    ("cpio", &["--rsh-command"]),
    ("bsdtar", &["--use-compress-program"]),
    ("kubectl", &["--kubeconfig"]),
    ("helm", &["--kubeconfig", "--post-renderer"]),
    ("tcpdump", &["-z"]),
    ("less", &["-k", "--lesskey-file"]),
    ("ctags", &["--options"]),
    ("bat", &["--pager"]),
    ("batcat", &["--pager"]),
    ("delta", &["--pager"]),
    ("iex", &["-e", "--eval", "--rpc-eval"]),
    ("mix", &["-e", "--eval"]),
];

/// Finds programs in the words of interpreters, and options that run other programs.
pub(crate) fn inspect(name: &str, raw: &mut Raw, inner: &mut Vec<InnerCommand>) {
    if languages::inspect(name, raw) {
        return;
    }
    raw.known &= compilers::is_harmless(name, raw);
    listeners::inspect(name, raw);
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => awk(raw),
        "sed" | "gsed" => sed(raw),
        "git" => crate::roles::git(raw, inner),
        "make" | "gmake" => make::make(raw),
        "cmake" if raw.args.first().is_some_and(|word| word.text == "-E") => {
            inner.push(InnerCommand::Words(raw.args[1..].to_vec()));
        }
        "erl" => raw.known &= raw.args.iter().all(|word| word.text == "-version"),
        "rails" if raw.args.first().is_some_and(|w| matches!(w.text.as_str(), "runner" | "r")) => {
            raw.known = false;
        }
        "npm" | "pnpm" | "yarn" if sets_configuration(raw) => raw.known = false,
        "go" => {
            let hazards = ["-extld", "-extar"];
            raw.known &= !raw.args.iter().any(|word| {
                word.text == "-w" || hazards.iter().any(|part| word.text.contains(part))
            });
        }
        // Bash expands the words that are completed.
        "compgen" | "complete" => {
            raw.known &= !raw.args.iter().any(|word| {
                holds_substitution(&word.text) || word.text.starts_with("-C") || !word.known
            });
        }
        "fc" => raw.known &= raw.args.iter().all(|word| word.text == "-l"),
        _ => {}
    }
    if let Some((_, options)) = HAZARDS.iter().find(|(program, _)| *program == name) {
        let given = split(&raw.args, "", &[]);
        let whole = raw.args.iter().any(|word| {
            let text = word.text.split('=').next().unwrap_or_default();
            options.contains(&text) || options.contains(&text.replacen("--", "-", 1).as_str())
        });
        raw.known &= !whole
            // `go` has long options with one dash, which are no clusters of letters.
            && (name == "go" || !given.has(options));
        // The old forms of `tar` options have no dash.
        let old = raw.args.first().filter(|word| name == "tar" && !word.text.starts_with('-'));
        raw.known &= !old.is_some_and(|word| word.text.contains(['I', 'F']));
    }
}

fn sets_configuration(raw: &Raw) -> bool {
    let mut words =
        raw.args.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-'));
    match words.next() {
        Some("config" | "c") => !matches!(words.next(), Some("get" | "list" | "ls") | None),
        Some("set") => true,
        Some("pkg") => matches!(words.next(), Some("set")),
        _ => false,
    }
}

fn awk(raw: &mut Raw) {
    let options = OptionSet {
        values: "Fvf",
        flags: "",
        long_values: &["file", "assign", "field-separator"],
        long_flags: &["version", "posix", "csv"],
    };
    // The first operand ends the options, so a `-f` after it names no program.
    let Some(at) = first_operand(&raw.args, options) else {
        raw.known = false;
        return;
    };
    let split = split(&raw.args[..at], "Fvf", &["--file", "--assign", "--field-separator"]);
    let files: Vec<Word> = split.values_of(&["-f", "--file"]).cloned().collect();
    raw.known &= if files.is_empty() {
        let program = raw.args.get(at);
        program.is_none_or(|word| word.known().is_some_and(scripts::awk_is_harmless))
    } else {
        files.iter().all(|word| word.known().is_some_and(|text| text != "-" && !is_device(text)))
    };
    raw.scripts.extend(files);
}

/// The parts of a call of `sed`.
pub(crate) struct Sed {
    pub scripts: Vec<Word>,
    pub files: Vec<Word>,
    pub script_files: Vec<Word>,
    pub in_place: bool,
    understood: bool,
}

/// Splits a call of `sed` into its parts.
pub(crate) fn sed_parts(args: &[Word]) -> Sed {
    let mut sed = Sed {
        scripts: Vec::new(),
        files: Vec::new(),
        script_files: Vec::new(),
        in_place: false,
        understood: true,
    };
    let mut words = args.iter();
    let mut operands = Vec::new();
    let mut after_operand = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if !word.known || !text.starts_with('-') || text == "-" {
            operands.push(word.clone());
            continue;
        }
        after_operand |= !operands.is_empty();
        if let Some(long) = text.strip_prefix("--") {
            match long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v))) {
                ("expression", Some(script)) => sed.scripts.push(word.part(script)),
                ("expression", None) => sed.scripts.extend(words.next().cloned()),
                ("file", Some(file)) => sed.script_files.push(word.part(file)),
                ("in-place", suffix) => {
                    sed.in_place = true;
                    sed.understood &= !suffix.is_some_and(|suffix| suffix.contains('/'));
                }
                (
                    "quiet" | "silent" | "regexp-extended" | "null-data" | "separate" | "posix"
                    | "sandbox" | "unbuffered" | "version" | "help" | "debug",
                    None,
                ) => {}
                ("", None) => operands.extend(words.by_ref().cloned()),
                _ => sed.understood = false,
            }
            continue;
        }
        for (place, letter) in text.char_indices().skip(1) {
            let rest = &text[place + letter.len_utf8()..];
            match letter {
                'e' | 'f' => {
                    let value =
                        if rest.is_empty() { words.next().cloned() } else { Some(word.part(rest)) };
                    let list = if letter == 'e' { &mut sed.scripts } else { &mut sed.script_files };
                    list.extend(value);
                    break;
                }
                'i' | 'I' => {
                    sed.in_place = true;
                    // With a `/`, the suffix of the backup is a path.
                    sed.understood &= !rest.contains('/');
                    break;
                }
                'n' | 'r' | 'E' | 's' | 'u' | 'z' | 'a' => {}
                _ => sed.understood = false,
            }
        }
    }
    // Without permutation of options (BSD, `POSIXLY_CORRECT`), the first operand would be the script.
    let script_given = |sed: &Sed| !sed.scripts.is_empty() || !sed.script_files.is_empty();
    sed.understood &= !(after_operand && script_given(&sed));
    // On systems other than Linux, `-i` takes the next word, which is then empty.
    if sed.in_place && operands.first().is_some_and(|word| word.known() == Some("")) {
        operands.remove(0);
    }
    if sed.scripts.is_empty() && sed.script_files.is_empty() && !operands.is_empty() {
        sed.scripts.push(operands.remove(0));
    }
    sed.files = operands;
    sed
}

fn sed(raw: &mut Raw) {
    let sed = sed_parts(&raw.args);
    // Text that ends with a backslash continues in the next script.
    let scripts: Option<Vec<&str>> = sed.scripts.iter().map(Word::known).collect();
    let harmless = scripts.is_some_and(|scripts| {
        scripts.iter().all(|script| scripts::sed_is_harmless(script))
            && scripts::sed_is_harmless(&scripts.join("\n"))
    });
    let file = |word: &Word| word.known().is_some_and(|text| text != "-" && !is_device(text));
    raw.known &= sed.understood && harmless && sed.script_files.iter().all(file);
    raw.scripts.extend(sed.script_files);
}

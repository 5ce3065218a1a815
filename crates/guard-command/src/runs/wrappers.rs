//! Programs that run the command in their words.

use crate::operands::OptionSet;
use crate::raw_commands::{InnerCommand, Raw};
use crate::word::Word;

/// A program that runs the command after its own options.
pub(super) struct Wrapper {
    pub name: &'static str,
    pub options: OptionSet,
    /// The number of operands before the command.
    pub skip: usize,
}

const fn wrapper(
    name: &'static str,
    values: &'static str,
    flags: &'static str,
    long_values: &'static [&'static str],
    long_flags: &'static [&'static str],
    skip: usize,
) -> Wrapper {
    Wrapper { name, options: OptionSet { values, flags, long_values, long_flags }, skip }
}

pub(super) const WRAPPERS: &[Wrapper] = &[
    wrapper(
        "sudo",
        "CDghpRrTtUu",
        "AbEHknPSBv",
        &["user", "group", "host", "prompt", "chdir", "chroot"],
        &["preserve-env", "non-interactive", "set-home", "stdin", "background"],
        0,
    ),
    wrapper("doas", "uC", "n", &[], &[], 0),
    wrapper("env", "u", "i0v", &["unset"], &["ignore-environment", "null", "debug"], 0),
    wrapper("nohup", "", "", &[], &[], 0),
    wrapper("setsid", "", "cfw", &[], &["fork", "wait", "ctty"], 0),
    wrapper("time", "fo", "apvq", &["format", "output"], &["portability", "verbose"], 0),
    wrapper(
        "timeout",
        "ks",
        "fpv",
        &["kill-after", "signal"],
        &["foreground", "preserve-status", "verbose"],
        1,
    ),
    wrapper("gtimeout", "ks", "fpv", &["kill-after", "signal"], &["foreground"], 1),
    wrapper("nice", "n", "0123456789", &["adjustment"], &[], 0),
    wrapper("ionice", "cnpPu", "t", &["class", "classdata"], &[], 0),
    wrapper("stdbuf", "ioe", "", &["input", "output", "error"], &[], 0),
    wrapper("command", "", "p", &[], &[], 0),
    wrapper("builtin", "", "", &[], &[], 0),
    wrapper("exec", "a", "cl", &[], &[], 0),
    wrapper("busybox", "", "", &[], &[], 0),
    wrapper("toybox", "", "", &[], &[], 0),
    wrapper("chronic", "", "ev", &[], &[], 0),
    wrapper("unbuffer", "", "p", &[], &[], 0),
    wrapper("caffeinate", "tw", "dimsu", &[], &[], 0),
    wrapper("xvfb-run", "enspwf", "al", &["server-args", "server-num"], &["auto-servernum"], 0),
    wrapper("taskset", "", "ac", &[], &[], 1),
    wrapper("chrt", "", "bfiro", &[], &[], 1),
    wrapper("npx", "", "yq", &[], &["yes", "no-install", "no", "quiet", "prefer-offline"], 0),
    wrapper("bunx", "", "", &[], &["bun"], 0),
    wrapper("cross-env", "", "", &[], &[], 0),
    wrapper("xargs", "InLPsdaE", "0rtxpo", XARGS_VALUES, XARGS_FLAGS, 0),
];

const XARGS_VALUES: &[&str] = &["max-args", "max-procs", "delimiter", "arg-file"];
const XARGS_FLAGS: &[&str] = &["null", "no-run-if-empty", "verbose", "exit"];

/// Programs whose subcommand runs the command after it: `poetry run`.
pub(super) const RUNNERS: &[(&str, &[&str])] = &[
    ("bundle", &["exec"]),
    ("poetry", &["run"]),
    ("pipenv", &["run"]),
    ("pdm", &["run"]),
    ("rye", &["run"]),
    ("hatch", &["run"]),
    ("uv", &["run"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx"]),
    ("npm", &["exec", "x"]),
    ("bun", &["x"]),
    ("mise", &["exec", "x"]),
    ("opam", &["exec"]),
    ("stack", &["exec"]),
    ("cabal", &["exec"]),
    ("devbox", &["run"]),
    ("rustup", &["run"]),
];

/// Programs that run the words after their options, or after one of these subcommands.
const PREFIXES: &[(&[&str], &[&str])] = &[
    (
        &[
            "valgrind",
            "nyc",
            "c8",
            "ccache",
            "sccache",
            "distcc",
            "strace",
            "ltrace",
            "fakeroot",
            "rlwrap",
            "eatmydata",
            "torsocks",
            "proxychains",
            "proxychains4",
            "firejail",
            "pkexec",
            "xcrun",
            "dotenv",
            "uvx",
        ],
        &[],
    ),
    (&["conda", "mamba", "micromamba", "volta", "pipx"], &["run"]),
    (&["asdf", "fnm", "lerna", "nx", "tox"], &["exec"]),
];

/// Programs that run words or texts in a way that is not read here.
const OPAQUE: &[&str] = &[
    "at",
    "batch",
    "bwrap",
    "capsh",
    "cgexec",
    "chpst",
    "chroot",
    "cross-env-shell",
    "daemonize",
    "dbus-run-session",
    "doppler",
    "dotenvx",
    "dtach",
    "entr",
    "expect",
    "faketime",
    "flock",
    "gdbserver",
    "linux32",
    "linux64",
    "nix-shell",
    "nsenter",
    "numactl",
    "parallel",
    "perf",
    "prlimit",
    "proot",
    "runuser",
    "screen",
    "script",
    "setarch",
    "setpriv",
    "start-stop-daemon",
    "systemd-run",
    "tmux",
    "unshare",
    "watchexec",
];

/// Handles programs that run their words. Returns false for other programs.
pub(super) fn runs_words(name: &str, raw: &mut Raw, inner: &mut Vec<InnerCommand>) -> bool {
    let first = raw.args.first().and_then(Word::known).unwrap_or_default();
    let has = |options: &[&str]| {
        raw.args.iter().any(|word| options.iter().any(|option| word.text.starts_with(option)))
    };
    let harmless = match name {
        _ if OPAQUE.contains(&name) => false,
        "hyperfine" | "concurrently" => {
            let texts: Option<Vec<&str>> = raw.args.iter().map(Word::known).collect();
            let is_plain = |texts: &Vec<&str>| !texts.iter().any(|text| text.starts_with('-'));
            match texts.filter(is_plain) {
                Some(texts) => {
                    inner.extend(texts.into_iter().map(|text| InnerCommand::Text(text.into())));
                    true
                }
                None => matches!(first, "--version" | "--help"),
            }
        }
        "nodemon" => !has(&["-x", "--exec", "--config", "-r", "--require"]),
        "gotestsum" => !has(&["--raw-command", "--post-run-command"]),
        "nvm" | "direnv" => first != "exec",
        "nix" => !matches!(first, "run" | "shell" | "develop") && !has(&["-c", "--command"]),
        "nyc" | "c8" if matches!(first, "report" | "check-coverage" | "merge") => true,
        _ => {
            let Some((_, subcommands)) = PREFIXES.iter().find(|(names, _)| names.contains(&name))
            else {
                return false;
            };
            let skip = usize::from(!subcommands.is_empty());
            if skip == 1 && !subcommands.contains(&first) {
                return true;
            }
            match command_at(&raw.args, skip) {
                Some(at) => {
                    inner.extend(
                        (at < raw.args.len()).then(|| InnerCommand::Words(raw.args[at..].to_vec())),
                    );
                    true
                }
                None => false,
            }
        }
    };
    raw.known &= harmless;
    true
}

/// Returns the index of the command. An option could take the next word, unless its value is in it.
fn command_at(args: &[Word], skip: usize) -> Option<usize> {
    let mut at = skip;
    while let Some(word) = args.get(at) {
        let text = word.known()?;
        if !text.starts_with('-') {
            return Some(at);
        }
        at += 1;
        let alone = args.len() == skip + 1;
        if text == "--" {
            return Some(at);
        }
        let has_value = text.starts_with("--") && text.contains('=');
        if !alone && !has_value {
            return None;
        }
    }
    Some(at)
}

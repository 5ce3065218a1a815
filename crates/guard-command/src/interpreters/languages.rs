//! Interpreters of languages: options with a program in them, files and modules of code, and the
//! script. An option that is not listed could be any of these, so it is uncertain what runs.

use crate::raw_commands::{Raw, script};
use crate::word::Word;

/// An interpreter with the options that are understood. Long options with a value end with `=`.
struct Interpreter {
    names: &'static [&'static str],
    /// Letters without a value.
    flags: &'static str,
    /// Letters whose value is the rest of the word.
    attached: &'static str,
    /// Letters with a value.
    values: &'static str,
    /// Options whose value is a file, or a folder, with code that runs before the script.
    files: &'static [&'static str],
    /// Options whose value is a module, or a file, with such code.
    modules: &'static [&'static str],
    long_flags: &'static [&'static str],
    /// Words with which the interpreter needs no script.
    alone: &'static [&'static str],
}

const NONE: Interpreter = Interpreter {
    names: &[],
    flags: "",
    attached: "",
    values: "",
    files: &[],
    modules: &[],
    long_flags: &[],
    alone: &[],
};

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["python", "pypy", "ipython"],
        flags: "bBdEIOPqsSuv",
        values: "WX",
        alone: &["-V", "-VV", "--version", "-h", "--help"],
        ..NONE
    },
    Interpreter {
        names: &["perl", "raku"],
        flags: "wWtTUcnpasXfg",
        attached: "il0",
        files: &["-I"],
        alone: &["-v", "-V", "--version"],
        ..NONE
    },
    Interpreter {
        names: &["ruby", "jruby", "irb"],
        flags: "acdlnpsUvw",
        attached: "iWTK0",
        values: "E",
        files: &["-I"],
        long_flags: &["--yjit", "--jit", "--enable=", "--disable=", "--encoding=", "--verbose"],
        alone: &["--version"],
        ..NONE
    },
    Interpreter {
        names: &["node", "nodejs"],
        flags: "c",
        values: "C",
        modules: &["-r", "--require", "--import"],
        long_flags: NODE_OPTIONS,
        alone: &["-v", "--version", "-h", "--help", "--v8-options"],
        ..NONE
    },
    Interpreter {
        names: &["tsx"],
        modules: &["-r", "--require", "--import"],
        long_flags: &["--no-cache", "--no-warnings", "--enable-source-maps", "--conditions="],
        files: &["--tsconfig"],
        alone: &["-v", "--version"],
        ..NONE
    },
    Interpreter {
        names: &["ts-node"],
        flags: "TFHs",
        modules: &["-r", "--require"],
        files: &["-P", "--project"],
        long_flags: &[
            "--transpile-only",
            "--transpileOnly",
            "--files",
            "--esm",
            "--swc",
            "--pretty",
        ],
        alone: &["-v", "--version"],
        ..NONE
    },
    Interpreter {
        names: &["php"],
        flags: "lnqsw",
        values: "d",
        alone: &["-v", "--version", "-m", "-i", "--ini"],
        ..NONE
    },
    Interpreter {
        names: &["lua", "luajit"],
        flags: "EW",
        modules: &["-l"],
        alone: &["-v"],
        ..NONE
    },
    Interpreter {
        names: &["Rscript", "R"],
        flags: "q",
        long_flags: &["--vanilla", "--no-save", "--no-restore", "--quiet", "--slave"],
        alone: &["--version"],
        ..NONE
    },
    Interpreter {
        names: &["julia"],
        flags: "q",
        attached: "O",
        values: "tp",
        files: &["-L", "-J", "--load", "--sysimage", "--project="],
        long_flags: &[
            "--project",
            "--threads=",
            "--startup-file=",
            "--color=",
            "--quiet",
            "--optimize=",
            "--check-bounds=",
            "--depwarn=",
        ],
        alone: &["-v", "--version"],
        ..NONE
    },
    Interpreter {
        names: &["elixir"],
        files: &["-r"],
        long_flags: &["--no-halt"],
        alone: &["-v", "--version"],
        ..NONE
    },
    Interpreter {
        names: &["osascript", "groovy", "scala", "racket", "guile", "tclsh"],
        alone: &["--version"],
        ..NONE
    },
];

/// Long options of `node` that load no code and write no file outside of the folder.
const NODE_OPTIONS: &[&str] = &[
    "--abort-on-uncaught-exception",
    "--allow-addons",
    "--allow-child-process",
    "--allow-fs-read=",
    "--allow-fs-write=",
    "--allow-worker",
    "--check",
    "--conditions=",
    "--cpu-prof",
    "--dns-result-order=",
    "--enable-source-maps",
    "--experimental-detect-module",
    "--experimental-json-modules",
    "--experimental-modules",
    "--experimental-permission",
    "--experimental-require-module",
    "--experimental-specifier-resolution=",
    "--experimental-sqlite",
    "--experimental-strip-types",
    "--experimental-test-coverage",
    "--experimental-test-module-mocks",
    "--experimental-transform-types",
    "--experimental-vm-modules",
    "--experimental-wasm-modules",
    "--experimental-websocket",
    "--expose-gc",
    "--frozen-intrinsics",
    "--heap-prof",
    "--inspect",
    "--inspect-brk",
    "--max-old-space-size=",
    "--max-semi-space-size=",
    "--no-deprecation",
    "--no-warnings",
    "--openssl-legacy-provider",
    "--pending-deprecation",
    "--permission",
    "--preserve-symlinks",
    "--preserve-symlinks-main",
    "--prof",
    "--run",
    "--stack-size=",
    "--stack-trace-limit=",
    "--test",
    "--test-concurrency=",
    "--test-force-exit",
    "--test-isolation=",
    "--test-name-pattern=",
    "--test-only",
    "--test-skip-pattern=",
    "--test-timeout=",
    "--throw-deprecation",
    "--title=",
    "--trace-deprecation",
    "--trace-exit",
    "--trace-uncaught",
    "--trace-warnings",
    "--unhandled-rejections=",
    "--watch",
    "--watch-preserve-output",
];

/// Modules of Python that run a text, a stream, or another module.
const RUNNING_MODULES: &[&str] = &[
    "asyncio", "bdb", "bpython", "cProfile", "code", "debugpy", "doctest", "idlelib", "ipdb",
    "ipython", "pdb", "pickle", "profile", "ptpython", "pudb", "pyrepl", "runpy", "timeit",
    "trace", "xonsh", "IPython", "_pyrepl",
];

/// Handles an interpreter. Returns false for other programs.
pub(super) fn inspect(name: &str, raw: &mut Raw) -> bool {
    // Versions are part of names: `python3.12`.
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let Some(interpreter) = INTERPRETERS.iter().find(|known| known.names.contains(&bare)) else {
        return false;
    };
    let known = words(interpreter, raw).is_some();
    raw.known &= known;
    true
}

/// Reads the options, up to the script. Returns `None` if it is uncertain what runs.
fn words(interpreter: &Interpreter, raw: &mut Raw) -> Option<()> {
    let is = |name: &str| interpreter.names[0] == name;
    let mut at = 0;
    let mut needs_script = true;
    while let Some(word) = raw.args.get(at).cloned() {
        let text = word.known()?;
        if interpreter.alone.contains(&text) && raw.args.len() == 1 {
            return Some(());
        }
        if !text.starts_with('-') || text == "-" {
            match text {
                "watch" if is("tsx") => at += 1,
                // `R CMD` runs any program of that name.
                "CMD" if is("Rscript") => {
                    let command = raw.args.get(at + 1)?.known()?;
                    return matches!(command, "BATCH" | "INSTALL" | "build" | "check")
                        .then_some(());
                }
                _ => break,
            }
            continue;
        }
        at += 1;
        if text == "--" {
            break;
        }
        let (name, value) = text.split_once('=').map_or((text, None), |(n, v)| (n, Some(v)));
        if text.starts_with("--") {
            let with_value = format!("{name}=");
            let listed = |list: &[&str], name: &str| list.contains(&name);
            let is_file = listed(interpreter.files, name)
                || value.is_some() && listed(interpreter.files, &with_value);
            let is_module = listed(interpreter.modules, name);
            if is_file || is_module {
                let value = argument(raw, &word, value, &mut at)?;
                code(raw, value, is_module)?;
            } else if value.is_some() && listed(interpreter.long_flags, &with_value) {
                continue;
            } else if listed(interpreter.long_flags, name) {
                needs_script &= !matches!(name, "--test" | "--run");
                // `--run NAME` names a script of the package.
                at += usize::from(name == "--run" && value.is_none());
            } else {
                return None;
            }
        } else if letters(interpreter, raw, &word, &mut at)? {
            return Some(());
        }
    }
    match raw.args.get(at) {
        Some(_) => script(raw, at),
        // Without a script, it reads its program from standard input.
        None if needs_script => return None,
        None => {}
    }
    Some(())
}

/// Reads a cluster of letters. Returns true if one of them names what runs.
fn letters(interpreter: &Interpreter, raw: &mut Raw, word: &Word, at: &mut usize) -> Option<bool> {
    let is = |name: &str| interpreter.names[0] == name;
    for (place, letter) in word.text.char_indices().skip(1) {
        let rest = Some(&word.text[place + letter.len_utf8()..]).filter(|rest| !rest.is_empty());
        let option = format!("-{letter}");
        let is_file = interpreter.files.contains(&option.as_str());
        let is_module = interpreter.modules.contains(&option.as_str());
        if is_file || is_module {
            let value = argument(raw, word, rest, at)?;
            code(raw, value, is_module)?;
            return Some(false);
        }
        match letter {
            'm' if is("python") => {
                let module = argument(raw, word, rest, at)?;
                let top = module.known()?.split('.').next().unwrap_or_default();
                return (!RUNNING_MODULES.contains(&top)).then_some(true);
            }
            // With a `/` or a `*`, the suffix of the backup is a path.
            _ if interpreter.attached.contains(letter) => {
                return (!rest.is_some_and(|rest| rest.contains(['/', '*']))).then_some(false);
            }
            _ if interpreter.values.contains(letter) => {
                let value = argument(raw, word, rest, at)?;
                return is_harmless(interpreter, letter, value.known()?).then_some(false);
            }
            _ if interpreter.flags.contains(letter) => {}
            _ => return None,
        }
    }
    Some(false)
}

/// Returns the value of an option: the rest of its word, or the next one.
fn argument(raw: &Raw, word: &Word, rest: Option<&str>, at: &mut usize) -> Option<Word> {
    match rest {
        Some(rest) => Some(word.part(rest)),
        None => {
            *at += 1;
            raw.args.get(*at - 1).cloned()
        }
    }
}

/// Records a file of code, or a module. A module of an installed package is as certain as the
/// package.
fn code(raw: &mut Raw, value: Word, is_module: bool) -> Option<()> {
    let text = value.known()?;
    if !is_module || text.starts_with(['.', '/', '~']) {
        raw.scripts.push(value);
        return Some(());
    }
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "@_./-".contains(c));
    (plain && !text.is_empty() && text.split('/').all(|part| part != "..")).then_some(())
}

/// Returns true for values of an option that load no code and write no file.
fn is_harmless(interpreter: &Interpreter, letter: char, value: &str) -> bool {
    match (interpreter.names[0], letter) {
        // A category with a dot is imported.
        ("python", 'W') => !value.contains('.'),
        ("python", 'X') => matches!(
            value.split('=').next(),
            Some("dev" | "utf8" | "faulthandler" | "importtime" | "tracemalloc" | "frozen_modules")
        ),
        ("php", _) => matches!(
            value.split('=').next(),
            Some(
                "memory_limit"
                    | "max_execution_time"
                    | "display_errors"
                    | "error_reporting"
                    | "date.timezone"
                    | "xdebug.mode"
                    | "zend.assertions"
                    | "assert.exception"
                    | "pcov.enabled"
                    | "opcache.enable_cli"
            )
        ),
        _ => true,
    }
}

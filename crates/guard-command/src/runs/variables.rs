//! Environment variables that affect what runs, and their harmless values.

mod flags;
mod names;

pub(crate) use flags::is_codegen_option;

use crate::raw_commands::{FoundCommands, Raw};
use crate::word::{Word, is_name};

/// Returns true for variables that change which programs run, or what runs before them.
fn is_dangerous(name: &str) -> bool {
    matches!(
        name,
        "PATH"
            | "ENV"
            | "BASH_ENV"
            | "SHELLOPTS"
            | "BASHOPTS"
            | "PS4"
            | "PROMPT_COMMAND"
            | "HOME"
            | "PWD"
            | "OLDPWD"
            | "CDPATH"
            | "FPATH"
            | "ZDOTDIR"
            | "SHELL"
            | "BASH_XTRACEFD"
    ) || ["LD_", "DYLD_", "BASH_FUNC", "GIT_CONFIG", "npm_config_", "NPM_CONFIG_"]
        .iter()
        .any(|prefix| name.starts_with(prefix) && name != "LD_FLAGS")
}

/// Returns true for harmless values of such variables.
pub(crate) fn is_harmless_value(value: &str) -> bool {
    // A number, or a version as in `gcc-13`.
    let value = value.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let value = value.trim_end_matches('-');
    let plain = matches!(
        value,
        "" | "true"
            | ":"
            | "cat"
            | "less"
            | "more"
            | "vi"
            | "vim"
            | "nano"
            | "echo"
            | "gcc"
            | "g++"
            | "cc"
            | "c++"
            | "clang"
            | "clang++"
            | "musl-gcc"
            | "lld"
            | "mold"
            | "ld"
            | "ar"
            | "sccache"
            | "ccache"
            | "rustc"
            | "python"
            | "make"
            | "ninja"
            | "ignore"
            | "default"
            | "error"
            | "false"
            | "never"
            | "stable"
            | "beta"
            | "nightly"
            | "-s"
            | "--silent"
            | "-mod=mod"
            | "-mod=vendor"
            | "-mod=readonly"
            | "-race"
            | "-v"
            | "-W0"
    );
    let jobs = value.strip_prefix("-j").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    let heap = value
        .strip_prefix("--max-old-space-size=")
        .or_else(|| value.strip_prefix("-Xmx"))
        .is_some_and(|n| n.bytes().all(|b| b.is_ascii_alphanumeric()));
    plain
        || jobs
        || heap
        || matches!(
            value,
            "--experimental-vm-modules" | "--no-warnings" | "--openssl-legacy-provider"
        )
}

/// Returns true if the folders that are added to `PATH` are usual folders of a person's own tools.
fn is_usual_path(value: &str) -> bool {
    const USUAL: [&str; 13] = [
        "$PATH",
        "${PATH}",
        "~/.cargo/bin",
        "~/.local/bin",
        "~/go/bin",
        "~/.bun/bin",
        "~/.deno/bin",
        "/usr/local/bin",
        "/usr/local/go/bin",
        "/opt/homebrew/bin",
        "/usr/bin",
        "/bin",
        "/usr/sbin",
    ];
    value.split(':').all(|folder| {
        let home = folder.strip_prefix("$HOME/").or_else(|| folder.strip_prefix("${HOME}/"));
        let folder = home.map_or(folder.to_owned(), |rest| format!("~/{rest}"));
        USUAL.contains(&folder.as_str())
    })
}

/// Returns true for a text in which a shell that parses it again would find a substitution.
pub(crate) fn holds_substitution(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.contains("<(") || text.contains("${")
}

/// Records an assignment. Returns true if it remains as certain as before what runs.
pub(crate) fn harmless_assignment(name: &str, value: &Word, found: &mut FoundCommands) -> bool {
    if is_dangerous(name) && !(name == "PATH" && is_usual_path(&value.text)) {
        found.tainted = true;
    }
    // Arithmetic evaluates the text of a variable once more, and would run the substitution.
    if value.known && holds_substitution(&value.text) {
        return false;
    }
    is_harmless_variable(name, value, &found.base)
}

/// Returns true if no program runs, loads or obeys what this value names.
fn is_harmless_variable(name: &str, value: &Word, base: &str) -> bool {
    if flags::is_code_path(name) {
        return !value.home && flags::is_inside_path(name, &value.text, base);
    }
    // It changes where the options of programs end.
    if name == "POSIXLY_CORRECT" {
        return false;
    }
    let known = value.known();
    match known.and_then(|value| flags::are_harmless_flags(name, value)) {
        Some(harmless) => harmless,
        None if known.is_none() && flags::are_harmless_flags(name, "").is_some() => false,
        None => !names::is_sensitive(name) || known.is_some_and(is_harmless_value),
    }
}

/// Returns true if a variable of `make`, which its recipes inherit, runs and loads nothing.
pub(crate) fn harmless_make_variable(name: &str, value: &Word) -> bool {
    !is_dangerous(name) && is_harmless_variable(name, value, "")
}

/// Returns true for variables that must not get an unknown value.
pub(crate) fn is_sensitive(name: &str) -> bool {
    is_dangerous(name) || !is_harmless_variable(name, &Word::unknown("$"), "")
}

/// Handles builtins that set variables by their words.
pub(super) fn changed_by(name: &str, raw: &mut Raw, found: &mut FoundCommands) {
    let declares = matches!(name, "export" | "declare" | "typeset" | "local" | "readonly");
    let names =
        matches!(name, "read" | "mapfile" | "readarray" | "unset" | "printf" | "getopts" | "wait");
    if !declares && !names && !matches!(name, "alias" | "hash" | "enable" | "let" | "test" | "[") {
        return;
    }
    for word in raw.args.clone() {
        if word.known && name != "printf" && holds_substitution(&word.text) {
            raw.known = false;
        }
        let (variable, value) = match word.text.split_once('=') {
            Some((variable, value)) => (variable.trim_end_matches('+'), Some(value)),
            None => (word.text.as_str(), None),
        };
        // A reference to another variable may stand for any variable.
        if declares && variable.starts_with('-') && variable.contains('n') {
            found.tainted = true;
        }
        if declares && !is_name(variable) && !variable.starts_with('-') {
            raw.known = false;
        }
        if let (true, Some(value)) = (declares, value) {
            let value = word.part(value);
            raw.known &= harmless_assignment(variable, &value, found);
            raw.assigns.push((variable.to_owned(), value));
        }
        let unset = name == "unset";
        if names && (is_dangerous(variable) || !unset && is_sensitive(variable)) {
            found.tainted = true;
        }
        if names && name != "printf" && !word.known {
            raw.known = false;
        }
        if name == "alias" && value.is_some()
            || name == "hash" && variable.starts_with('-')
            || name == "enable"
        {
            found.tainted = true;
        }
        let calls_back = variable.starts_with('-') && variable.contains('C');
        if matches!(name, "mapfile" | "readarray") && calls_back {
            raw.known = false;
        }
    }
    if name == "printf" && raw.args.first().is_some_and(|word| word.text.starts_with("-v")) {
        raw.known &= raw.args.get(1).is_some_and(|word| word.known().is_some_and(is_name));
    }
}

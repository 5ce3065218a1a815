//! Environment variables that affect what runs, and their harmless values.

use super::is_dangerous;
use crate::raw_commands::{FoundCommands, Raw};
use crate::word::{Word, is_name};

/// Returns true for variables whose value some program runs as a command.
fn is_command_variable(name: &str) -> bool {
    matches!(
        name,
        "GIT_SSH"
            | "GIT_DIR"
            | "GIT_WORK_TREE"
            | "GIT_SSH_COMMAND"
            | "GIT_EXEC_PATH"
            | "GIT_PROXY_COMMAND"
            | "GIT_EXTERNAL_DIFF"
            | "GIT_ASKPASS"
            | "SSH_ASKPASS"
            | "GIT_EDITOR"
            | "GIT_PAGER"
            | "GIT_SEQUENCE_EDITOR"
            | "GIT_TEMPLATE_DIR"
            | "EDITOR"
            | "VISUAL"
            | "PAGER"
            | "MANPAGER"
            | "BROWSER"
            | "LESSOPEN"
            | "LESSCLOSE"
            | "FCEDIT"
            | "SUDO_ASKPASS"
            | "RSYNC_RSH"
            | "CVS_RSH"
            | "TAR_OPTIONS"
            | "PERL5OPT"
            | "PERL5DB"
            | "RUBYOPT"
            | "NODE_OPTIONS"
            | "MAKEFLAGS"
            | "GNUMAKEFLAGS"
            | "MFLAGS"
            | "MAKEFILES"
            | "GOFLAGS"
            | "JAVA_TOOL_OPTIONS"
            | "_JAVA_OPTIONS"
            | "JDK_JAVA_OPTIONS"
            | "PYTHONSTARTUP"
            | "PYTHONINSPECT"
            | "PYTHONBREAKPOINT"
            | "PYTHONWARNINGS"
            | "PYTHONHOME"
            | "RUSTC"
            | "RUSTC_WRAPPER"
            | "RUSTC_WORKSPACE_WRAPPER"
            | "RUSTDOC"
            | "CC"
            | "CXX"
            | "LD"
            | "AR"
            | "AWKPATH"
            | "RIPGREP_CONFIG_PATH"
            | "CURL_HOME"
            | "WGETRC"
            | "INPUTRC"
            | "TERMINFO"
            | "PSQLRC"
            | "GCC_EXEC_PREFIX"
            | "COMPILER_PATH"
            | "GREP_OPTIONS"
            | "BAT_PAGER"
            | "DELTA_PAGER"
    ) || (name.starts_with("CARGO_")
        && (name.ends_with("RUNNER")
            || name.ends_with("LINKER")
            || name.ends_with("WRAPPER")
            || name.ends_with("RUSTC")))
}

/// Returns true for harmless values of such variables.
pub(crate) fn is_harmless_value(value: &str) -> bool {
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
            | "0"
            | "1"
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
            | "ignore"
            | "default"
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
    !is_command_variable(name) || value.known().is_some_and(is_harmless_value)
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
        if names && is_dangerous(variable) {
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
        if matches!(name, "mapfile" | "readarray") && variable.starts_with("-C") {
            raw.known = false;
        }
    }
    if name == "printf" && raw.args.first().is_some_and(|word| word.text.starts_with("-v")) {
        raw.known &= raw.args.get(1).is_some_and(|word| word.known().is_some_and(is_name));
    }
}

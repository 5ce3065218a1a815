//! Variables that hold options of compilers and test runners, or folders with code. Their values
//! are harmless if every part of them is known to be.

/// Returns true if a value consists of options that run no other program and load no other code;
/// `None` if the variable does not hold options.
pub(crate) fn are_harmless_flags(name: &str, value: &str) -> Option<bool> {
    let harmless: fn(&str) -> bool = match name {
        "CFLAGS" | "CXXFLAGS" | "CPPFLAGS" | "LDFLAGS" | "OBJCFLAGS" | "FFLAGS" | "FCFLAGS"
        | "CGO_CFLAGS" | "CGO_CXXFLAGS" | "CGO_CPPFLAGS" | "CGO_LDFLAGS" => is_compiler_flag,
        "PYTEST_ADDOPTS" => is_pytest_flag,
        _ if name.ends_with("RUSTFLAGS") || name.ends_with("RUSTDOCFLAGS") => {
            return Some(are_rust_flags(value));
        }
        // They may name a log file or a program.
        _ if name.ends_with("SAN_OPTIONS") => |flag| !flag.contains("path") && !flag.contains('/'),
        _ => return None,
    };
    Some(value.split_ascii_whitespace().all(harmless))
}

fn are_rust_flags(value: &str) -> bool {
    let mut words = value.split_ascii_whitespace();
    while let Some(word) = words.next() {
        let harmless = match word {
            "-D" | "-W" | "-A" | "-F" | "--cfg" | "--check-cfg" | "--cap-lints" => {
                words.next().is_some()
            }
            "-C" | "--codegen" => words.next().is_some_and(is_codegen_option),
            "-g" | "-O" | "-v" => true,
            _ => {
                let lint = ["-D", "-W", "-A", "-F"]
                    .iter()
                    .find_map(|option| word.strip_prefix(option))
                    .is_some_and(is_plain);
                lint || word.starts_with("--cfg=")
                    || word.starts_with("--cap-lints=")
                    || word.strip_prefix("-C").is_some_and(is_codegen_option)
                    || word.strip_prefix("-Zsanitizer=").is_some_and(is_plain)
            }
        };
        if !harmless {
            return false;
        }
    }
    true
}

/// Returns true for options of `-C` that name neither a linker nor a file.
pub(crate) fn is_codegen_option(option: &str) -> bool {
    let keys = [
        "opt-level",
        "target-cpu",
        "target-feature",
        "debuginfo",
        "debug-assertions",
        "overflow-checks",
        "lto",
        "codegen-units",
        "panic",
        "strip",
        "instrument-coverage",
        "embed-bitcode",
        "force-frame-pointers",
        "force-unwind-tables",
        "symbol-mangling-version",
        "relocation-model",
        "code-model",
        "prefer-dynamic",
        "split-debuginfo",
    ];
    let (key, value) = option.split_once('=').unwrap_or((option, ""));
    let linkers = ["-fuse-ld=lld", "-fuse-ld=mold", "-fuse-ld=gold", "-fuse-ld=bfd"];
    (keys.contains(&key) && !value.contains('/')) || (key == "link-arg" && linkers.contains(&value))
}

fn is_compiler_flag(flag: &str) -> bool {
    let plain = |prefix: &str| flag.strip_prefix(prefix).is_some_and(is_plain);
    let folder = ["-I", "-L"].iter().find_map(|option| flag.strip_prefix(option));
    let linkers = ["-fuse-ld=lld", "-fuse-ld=mold", "-fuse-ld=gold", "-fuse-ld=bfd"];
    match flag {
        "-pedantic" | "-pipe" | "-pthread" | "-s" | "-v" | "-static" | "-shared" | "-w" => true,
        "-wrapper" | "-mllvm" => false,
        _ if linkers.contains(&flag) => true,
        _ if flag.starts_with("-D") || flag.starts_with("-U") => true,
        _ if folder.is_some() => folder.is_some_and(|folder| is_inside(folder, "")),
        _ => {
            let names_code = ["plugin", "profile", "dump", "load", "use-ld"];
            !names_code.iter().any(|part| flag.contains(part))
                && ["-O", "-W", "-g", "-f", "-m", "-std=", "-l"].iter().any(|option| plain(option))
        }
    }
}

fn is_pytest_flag(flag: &str) -> bool {
    let letters = |text: &str| text.chars().all(|c| "vqxsl".contains(c));
    let values = ["--tb=", "--maxfail=", "--color=", "--durations=", "--timeout=", "-r", "-n"];
    matches!(flag, "--no-header" | "--lf" | "--ff" | "--strict-markers" | "auto" | "-n")
        || flag.bytes().all(|byte| byte.is_ascii_digit())
        || flag.strip_prefix('-').is_some_and(letters)
        || values.iter().any(|option| flag.strip_prefix(option).is_some_and(is_plain))
}

fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "-_=+.:".contains(c))
}

/// Returns true for variables with folders in which a program looks for code.
pub(super) fn is_code_path(name: &str) -> bool {
    matches!(
        name,
        "PYTHONPATH"
            | "NODE_PATH"
            | "PERL5LIB"
            | "PERLLIB"
            | "RUBYLIB"
            | "CLASSPATH"
            | "JULIA_LOAD_PATH"
            | "JULIA_PROJECT"
            | "MYPYPATH"
            | "CARGO_TARGET_DIR"
            | "CARGO_BUILD_TARGET_DIR"
            | "BUNDLE_GEMFILE"
            | "GIT_INDEX_FILE"
            | "COVERAGE_FILE"
    )
}

/// Returns true if every folder of a code path is inside of the folder where the command runs.
pub(super) fn is_inside_path(name: &str, value: &str, base: &str) -> bool {
    value.split(':').all(|folder| {
        let itself = folder == format!("${name}") || folder == format!("${{{name}}}");
        itself || is_inside(folder, base)
    })
}

fn is_inside(folder: &str, base: &str) -> bool {
    let folder = folder
        .strip_prefix(base)
        .filter(|rest| !base.is_empty() && (rest.is_empty() || rest.starts_with('/')))
        .map_or(folder, |rest| rest.trim_start_matches('/'));
    !folder.starts_with(['/', '~'])
        && !folder.contains(['$', '`', '\\', '*', '?', '[', '{'])
        && folder.split('/').all(|component| component != "..")
}

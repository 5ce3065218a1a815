//! Compilers and virtual machines: options with which they run another program or load code.

use crate::raw_commands::Raw;
use crate::runs::{is_codegen_option, is_harmless_value};

/// Returns false if an option of the program could run another one, or load code.
pub(super) fn is_harmless(name: &str, raw: &mut Raw) -> bool {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    match bare {
        "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" | "gfortran" | "ld" | "as" => {
            raw.args.iter().all(|word| !is_compiler_hazard(&word.text))
        }
        "java" | "javaw" | "kotlin" => raw.args.iter().all(|word| !is_java_hazard(&word.text)),
        "rustc" => is_rustc_harmless(raw),
        "cmake" => is_cmake_harmless(raw),
        "deno" | "bun" => raw.args.iter().all(|word| {
            let option = word.text.split('=').next().unwrap_or_default();
            let loads = match option {
                "-" | "-e" | "--eval" | "eval" | "--print" | "--preload" | "--require"
                | "--import" | "repl" => true,
                // For `deno`, these letters have another meaning.
                "-r" | "-p" => name == "bun",
                _ => false,
            };
            let is_address = ["http:", "https:", "data:", "file:", "blob:"]
                .iter()
                .any(|scheme| word.text.starts_with(scheme));
            !loads && !is_address
        }),
        _ => true,
    }
}

fn is_compiler_hazard(text: &str) -> bool {
    let starts = [
        "@",
        "-B",
        "-wrapper",
        "-specs",
        "--specs",
        "-fplugin",
        "-fpass-plugin",
        "-iplugindir",
        "-Xclang",
        "-Xlinker",
        "-mllvm",
        "-load",
        "-plugin",
        "--plugin",
        "--ld-path",
        "--config",
        "--gcc-toolchain",
        "-ccc-",
    ];
    starts.iter().any(|start| text.starts_with(start))
        || text.starts_with("-fuse-ld=") && text.contains('/')
        || text.starts_with("-W") && text.contains(',') && text.contains("plugin")
}

fn is_java_hazard(text: &str) -> bool {
    let starts = [
        "@",
        "-javaagent",
        "-agentpath",
        "-agentlib",
        "-XX:OnError",
        "-XX:OnOutOfMemoryError",
        "-XX:Flags",
        "-XX:VMOptionsFile",
        "-J-",
    ];
    starts.iter().any(|start| text.starts_with(start))
}

fn is_rustc_harmless(raw: &Raw) -> bool {
    raw.args.iter().enumerate().all(|(at, word)| {
        let text = word.text.as_str();
        let next = raw.args.get(at + 1).map_or("", |word| word.text.as_str());
        let option = match text {
            "-C" | "--codegen" => next,
            "-Z" => return false,
            _ if text.starts_with("-C") => &text[2..],
            _ if text.starts_with("--codegen=") => &text[10..],
            _ => {
                let starts = ["@", "-Z", "--extern", "--sysroot"];
                return !starts.iter().any(|start| text.starts_with(start));
            }
        };
        is_codegen_option(option)
    })
}

fn is_cmake_harmless(raw: &mut Raw) -> bool {
    let mut scripts = Vec::new();
    for (at, word) in raw.args.iter().enumerate() {
        let is_script = matches!(word.text.as_str(), "-P" | "-C" | "--toolchain");
        scripts.extend(raw.args.get(at + 1).filter(|_| is_script).cloned());
    }
    raw.scripts.extend(scripts);
    raw.args.iter().all(|word| {
        let definition = word.text.strip_prefix("-D").unwrap_or(&word.text);
        let Some((name, value)) = definition.split_once('=') else { return true };
        let name = name.to_uppercase();
        let parts = ["COMPILER", "LAUNCHER", "LINKER", "TOOLCHAIN", "PROGRAM", "EXECUTABLE"];
        let more = ["COMMAND", "EMULATOR", "PROJECT_INCLUDE", "PROJECT_TOP_LEVEL_INCLUDES"];
        !parts.iter().chain(&more).any(|part| name.contains(part)) || is_harmless_value(value)
    })
}

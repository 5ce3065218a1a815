//! The command line of `make`.

use crate::operands::split;
use crate::raw_commands::{Raw, is_device};
use crate::runs::{harmless_make_variable, is_harmless_value};
use crate::word::Word;

/// Long options of `make` that run nothing and read no other makefile.
const LONG_OPTIONS: &[&str] = &[
    "--always-make",
    "--debug",
    "--directory",
    "--dry-run",
    "--file",
    "--help",
    "--ignore-errors",
    "--jobs",
    "--just-print",
    "--keep-going",
    "--load-average",
    "--makefile",
    "--no-builtin-rules",
    "--no-builtin-variables",
    "--no-print-directory",
    "--output-sync",
    "--print-data-base",
    "--print-directory",
    "--question",
    "--quiet",
    "--recon",
    "--silent",
    "--touch",
    "--trace",
    "--version",
    "--warn-undefined-variables",
];

/// Returns true if a variable of `make` names no program, or a usual one.
fn harmless_tool(name: &str, word: &Word, value: &str) -> bool {
    let is_tool = matches!(name, "RM" | "SHELL" | ".SHELLFLAGS");
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    // Other signs are assignments of their own: `NAME!=COMMAND` runs it.
    plain
        && (!is_tool || (name == "RM" && is_harmless_value(value)))
        && harmless_make_variable(name, &word.part(value))
}

/// Handles `make`, whose variables reach the shells of its recipes.
pub(super) fn make(raw: &mut Raw) {
    for word in &raw.args {
        let Some((name, value)) =
            word.text.split_once('=').filter(|(name, _)| !name.starts_with('-'))
        else {
            continue;
        };
        raw.known &= word.known
            && harmless_tool(name.trim_end_matches([':', '?', '+']), word, value)
            && !value.contains([';', '|', '&', '`', '$', '<', '>', '(', ')', '\n']);
    }
    let split = split(&raw.args, "fCIjlo", &["--file", "--makefile", "--directory"]);
    let files: Vec<Word> = split.values_of(&["-f", "--file", "--makefile"]).cloned().collect();
    let is_long = |option: &String| option.starts_with("--");
    raw.known &= split
        .options
        .iter()
        .filter(|name| is_long(name))
        .all(|name| LONG_OPTIONS.contains(&&**name))
        && files
            .iter()
            .all(|word| word.known().is_some_and(|text| text != "-" && !is_device(text)));
    raw.scripts.extend(files);
}

//! The command line of `make`.

use crate::operands::split;
use crate::raw_commands::{Raw, is_device};
use crate::runs::is_harmless_value;
use crate::word::Word;

/// Returns true if a variable of `make` names no program, or a usual one.
fn harmless_tool(name: &str, value: &str) -> bool {
    let tools =
        ["CC", "CXX", "CPP", "LD", "AR", "AS", "FC", "RM", "YACC", "LEX", "RANLIB", "STRIP"];
    let name = name.trim_end_matches([':', '?', '+']);
    !tools.contains(&name) || is_harmless_value(value)
}

/// Handles `make`, whose variables reach the shells of its recipes.
pub(super) fn make(raw: &mut Raw) {
    for word in &raw.args {
        let Some((name, value)) =
            word.text.split_once('=').filter(|(name, _)| !name.starts_with('-'))
        else {
            continue;
        };
        let shell = matches!(
            name.trim_end_matches([':', '?', '+']),
            "SHELL" | ".SHELLFLAGS" | "MAKEFLAGS" | "MAKE" | "MAKEFILES"
        );
        raw.known &= word.known
            && !shell
            && harmless_tool(name, value)
            && !value.contains([';', '|', '&', '`', '$', '<', '>', '(', ')', '\n']);
    }
    let split = split(&raw.args, "fCIjlo", &["--file", "--makefile", "--directory"]);
    let files: Vec<Word> = split.values_of(&["-f", "--file", "--makefile"]).cloned().collect();
    raw.known &=
        files.iter().all(|word| word.known().is_some_and(|text| text != "-" && !is_device(text)));
    raw.scripts.extend(files);
}

//! Checks of definitions: the length of functions, and type names with more than one meaning.

use super::{Repo, TidyFindings};
use std::collections::{BTreeMap, BTreeSet};

/// Functions above this length are a problem, in lines.
const MAX_FUNCTION: usize = 100;

/// Functions that may be longer: each is one flat `match` with an arm for every construct of the language.
const FLAT: [(&str, &str); 3] = [
    ("crates/guard-compiler/src/analysis/reference/eval.rs", "eval"),
    ("crates/guard-compiler/src/analysis/explore/classes/flow.rs", "visit"),
    ("crates/guard-proof/src/eval.rs", "node"),
];

/// The number of type names that more than one crate defines; `ast`, `hir` and `plan` count as one. This number may
/// only decrease: a new type gets a name of its own.
const SHARED_NAMES: usize = 1;

/// The crates whose types have the same names on purpose, and are written with their layer: `ast::Tool`, `hir::Tool`.
const LAYERS: [&str; 3] = ["guard-syntax", "guard-compiler", "guard-plan"];

/// Checks the code of all crates, without tests.
pub fn check(repo: &Repo, found: &mut TidyFindings) {
    let mut crates_of: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let product = |name: &&str| name.starts_with("crates/") && name.contains("/src/");
    for name in repo.rust().filter(product).filter(|name| !name.ends_with("/tests.rs")) {
        let text = repo.text(name);
        let code = text.split("\n#[cfg(test)]").next().unwrap_or_default();
        let lines: Vec<&str> = code.lines().collect();
        functions(name, &lines, found);
        let folder = name.split('/').nth(1).unwrap_or_default();
        let layer = if LAYERS.contains(&folder) { "language" } else { folder };
        for line in &lines {
            if let Some(defined) = defined_type(line) {
                crates_of.entry(defined.to_owned()).or_default().insert(layer);
            }
        }
    }
    let shared: Vec<&String> =
        crates_of.iter().filter(|(_, crates)| crates.len() > 1).map(|(name, _)| name).collect();
    if shared.len() > SHARED_NAMES {
        found.problem(format!(
            "{} type names are defined by more than one crate, more than {SHARED_NAMES}: {shared:?}",
            shared.len()
        ));
    } else if shared.len() < SHARED_NAMES {
        found.note(format!("only {} type names are shared: lower SHARED_NAMES", shared.len()));
    }
}

/// rustfmt puts a function's closing brace under its first letter.
fn functions(name: &str, lines: &[&str], found: &mut TidyFindings) {
    for (start, line) in lines.iter().enumerate() {
        let Some(function) = defined_function(line) else { continue };
        let indent = &line[..line.len() - line.trim_start().len()];
        let closing = format!("{indent}}}");
        let Some(length) = lines[start..].iter().position(|line| **line == *closing) else {
            continue;
        };
        let flat = FLAT.contains(&(name, function));
        if length + 1 > MAX_FUNCTION && !flat {
            let length = length + 1;
            found.problem(format!(
                "{name}:{}: `{function}` has {length} lines, more than {MAX_FUNCTION}",
                start + 1
            ));
        }
    }
}

/// The name of a function that the line begins, with a body.
fn defined_function(line: &str) -> Option<&str> {
    let line = without_visibility(line.trim_start());
    let line = line.strip_prefix("const ").unwrap_or(line);
    name_after(line.strip_prefix("async ").unwrap_or(line), "fn ")
}

/// The name of a type that the line defines.
fn defined_type(line: &str) -> Option<&str> {
    let line = without_visibility(line.trim_start());
    ["struct ", "enum ", "trait "].into_iter().find_map(|keyword| name_after(line, keyword))
}

fn without_visibility(line: &str) -> &str {
    let line = line.strip_prefix("pub ").unwrap_or(line);
    match line.strip_prefix("pub(").and_then(|rest| rest.split_once(") ")) {
        Some((_, rest)) => rest,
        None => line,
    }
}

fn name_after<'l>(line: &'l str, keyword: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(keyword)?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

//! Checks of every source file: its header, its length and its text.

use super::{Repo, TidyFindings};

const MAX_LINES: usize = 500;
const GOOD_LINES: usize = 400;
/// Words that begin no documentation of an item: it is a noun phrase or begins with a verb.
const OPENERS: [&str; 6] = ["How", "What", "Where", "Whether", "Who", "Whose"];
/// Words that begin an item, but for the fields and variants of one.
const ITEMS: [&str; 10] =
    ["async", "const", "enum", "fn", "mod", "static", "struct", "trait", "type", "macro_rules!"];

/// Checks headers, documentation, lengths, leftovers, and paths of somebody's own machine.
pub fn check(repo: &Repo, found: &mut TidyFindings) {
    for name in repo.rust() {
        let text = repo.text(name);
        if !text.starts_with("//!") && !name.ends_with("/tests.rs") {
            found.problem(format!("{name}:1: a module starts with a `//!` header"));
        }
        let lines = text.lines().count();
        if lines > MAX_LINES {
            found.problem(format!("{name}: {lines} lines, more than {MAX_LINES}"));
        } else if lines > GOOD_LINES && !is_test(name) {
            found.note(format!("{name}: {lines} lines, more than {GOOD_LINES}"));
        }
        openers(name, &text, found);
        if !is_test(name) && !name.starts_with("crates/xtask/") {
            leftovers(name, &text, found);
        }
    }
    local_paths(repo, found);
}

fn is_test(name: &str) -> bool {
    name.starts_with("tests/") || name.ends_with("/tests.rs") || name.contains("/tests/")
}

/// Looks at the first line of each documentation.
fn openers(name: &str, text: &str, found: &mut TidyFindings) {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_doc = |line: &str| line.starts_with("///") || line.starts_with("//!");
    for (at, line) in lines.iter().enumerate() {
        let first = line.get(3..).filter(|_| is_doc(line)).unwrap_or_default();
        let first = first.split_whitespace().next().unwrap_or_default();
        if !OPENERS.contains(&first) || (at > 0 && is_doc(lines[at - 1])) {
            continue;
        }
        let item = lines[at..].iter().find(|line| !is_doc(line) && !line.starts_with('#'));
        let words =
            item.map(|item| item.split([' ', '(']).filter(|word| *word != "pub")).into_iter();
        let is_item = words
            .flatten()
            .find(|word| !word.ends_with(')'))
            .is_some_and(|word| ITEMS.contains(&word));
        if line.starts_with("//!") || is_item {
            found.problem(format!(
                "{name}:{}: documentation of an item is a noun phrase or begins with a verb, not with `{first}`",
                at + 1
            ));
        }
    }
}

/// Looks at the code before the first `#[cfg(test)]`; comments do not count.
fn leftovers(name: &str, text: &str, found: &mut TidyFindings) {
    for (index, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        if code.trim_start().starts_with("#[cfg(test)]") {
            return;
        }
        let at = format!("{name}:{}", index + 1);
        for word in ["dbg!(", "todo!(", "unimplemented!("] {
            if code.contains(word) {
                found.problem(format!("{at}: `{word}…)` is left over"));
            }
        }
        if code.contains(".unwrap()") {
            found.note(format!(
                "{at}: `.unwrap()` outside of tests: say with `expect` why it cannot fail"
            ));
        }
    }
}

/// The folder of this checkout, or of anybody's home, is nothing to commit.
fn local_paths(repo: &Repo, found: &mut TidyFindings) {
    let root = repo.root.display().to_string();
    let homes = ["Users", "root"].map(|folder| format!("/{folder}/"));
    for name in &repo.files {
        let text = repo.text(name);
        for (index, line) in text.lines().enumerate() {
            if line.contains(&root) || homes.iter().any(|home| line.contains(home.as_str())) {
                found.problem(format!("{name}:{}: a path of one machine", index + 1));
            }
        }
    }
}

//! Checks of every source file: its header, its length and its text.

use super::{Findings, Repo};

const MAX_LINES: usize = 1000;
const GOOD_LINES: usize = 400;

/// Headers, lengths, leftovers, and paths of somebody's own machine.
pub fn check(repo: &Repo, found: &mut Findings) {
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
        if !is_test(name) && !name.starts_with("crates/xtask/") {
            leftovers(name, &text, found);
        }
    }
    local_paths(repo, found);
}

fn is_test(name: &str) -> bool {
    name.starts_with("tests/") || name.ends_with("/tests.rs") || name.contains("/tests/")
}

/// Looks at the code before the first `#[cfg(test)]`; comments do not count.
fn leftovers(name: &str, text: &str, found: &mut Findings) {
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
fn local_paths(repo: &Repo, found: &mut Findings) {
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

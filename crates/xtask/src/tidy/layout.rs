//! Check of the files and folders at the top of the repository.

use super::{Repo, TidyFindings};
use std::collections::BTreeSet;

const FOLDERS: &[&str] = &["ack", "crates", "docs", "grammar", "specs", "tests"];
const FILES: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "README.md",
    "LICENSE",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "CHANGELOG.md",
    "SECURITY.md",
    "rustfmt.toml",
];

/// Dot files and folders are what tools force, and pass.
pub fn check(repo: &Repo, found: &mut TidyFindings) {
    let top: BTreeSet<(&str, bool)> = repo
        .files
        .iter()
        .map(|name| {
            name.split_once('/').map_or((name.as_str(), false), |(folder, _)| (folder, true))
        })
        .collect();
    for (name, folder) in top {
        let allowed = if folder { FOLDERS.contains(&name) } else { FILES.contains(&name) };
        if !allowed && !name.starts_with('.') {
            found.problem(format!("`{name}` does not belong at the top of the repository"));
        }
    }
}

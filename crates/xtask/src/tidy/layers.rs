//! Check of the layers: the dependencies in `cargo metadata` against the tables of `docs/architecture.md`.
//!
//! The page is the rule. Under `## Crates` each row names a crate, its job, which of ours it knows, which
//! others, and which it uses in tests only; under `## Dependencies` each row names a dependency of others and
//! its reason. What is used and not written there is a problem, and so is the reverse.

use super::{Repo, TidyFindings};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

const PAGE: &str = "docs/architecture.md";

/// The dependencies of one crate, by kind.
#[derive(Default, PartialEq, Eq)]
struct Layer {
    ours: BTreeSet<String>,
    others: BTreeSet<String>,
    in_tests: BTreeSet<String>,
}

/// Compares `cargo metadata` with the page.
pub fn check(repo: &Repo, found: &mut TidyFindings) -> Result<(), String> {
    let page = repo.text(PAGE);
    let written: BTreeMap<String, Layer> =
        rows(&page, "## Crates").filter_map(|cells| layer_of_row(&cells)).collect();
    let reasons: BTreeSet<String> = rows(&page, "## Dependencies")
        .filter_map(|cells| names(cells.first()?).pop_first())
        .collect();
    let real = metadata(repo)?;
    for (name, layer) in &real {
        match written.get(name) {
            Some(row) => compare(name, layer, row, found),
            None => found.problem(format!("crate `{name}` has no row under `## Crates` in {PAGE}")),
        }
    }
    for name in written.keys().filter(|name| !real.contains_key(*name)) {
        found.problem(format!("{PAGE}: there is no crate `{name}`"));
    }
    let used: BTreeSet<String> =
        real.values().flat_map(|layer| layer.others.union(&layer.in_tests)).cloned().collect();
    let used = used.into_iter().filter(|name| !is_ours(name)).collect();
    both("a reason under `## Dependencies`", "the workspace", &used, &reasons, found);
    Ok(())
}

fn compare(name: &str, real: &Layer, row: &Layer, found: &mut TidyFindings) {
    let whose = format!("the row of `{name}`");
    both(&whose, &format!("`{name}`"), &real.ours, &row.ours, found);
    both(&whose, &format!("`{name}`"), &real.others, &row.others, found);
    both(
        &format!("{whose}, in tests"),
        &format!("tests of `{name}`"),
        &real.in_tests,
        &row.in_tests,
        found,
    );
}

fn both(
    place: &str,
    user: &str,
    used: &BTreeSet<String>,
    written: &BTreeSet<String>,
    found: &mut TidyFindings,
) {
    for name in used.difference(written) {
        found.problem(format!("{PAGE}: {user} uses `{name}`, which is missing from {place}"));
    }
    for name in written.difference(used) {
        found.problem(format!("{PAGE}: `{name}` stands in {place}, and {user} does not use it"));
    }
}

/// The cells of the table rows of one section.
fn rows<'a>(page: &'a str, heading: &'a str) -> impl Iterator<Item = Vec<&'a str>> {
    page.lines()
        .skip_while(move |line| *line != heading)
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
}

fn layer_of_row(cells: &[&str]) -> Option<(String, Layer)> {
    let [name, _, ours, others, in_tests] = cells else { return None };
    let layer = Layer { ours: names(ours), others: names(others), in_tests: names(in_tests) };
    Some((names(name).pop_first()?, layer))
}

/// Returns the names in backticks of a table cell.
fn names(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn is_ours(name: &str) -> bool {
    name == "guardc-cli" || name == "xtask" || name.starts_with("guard-")
}

/// Returns the dependencies of the workspace's crates, by crate.
fn metadata(repo: &Repo) -> Result<BTreeMap<String, Layer>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let args = ["metadata", "--no-deps", "--format-version", "1", "--offline"];
    let output = Command::new(cargo).args(args).current_dir(&repo.root).output();
    let output = output.map_err(|e| format!("cannot run cargo metadata: {e}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    Ok(packages.map(layer_of_package).collect())
}

fn layer_of_package(package: &Value) -> (String, Layer) {
    let mut layer = Layer::default();
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        let name = dependency["name"].as_str().unwrap_or_default().to_owned();
        let group = match dependency["kind"].as_str() {
            Some("dev") => &mut layer.in_tests,
            _ if is_ours(&name) => &mut layer.ours,
            _ => &mut layer.others,
        };
        group.insert(name);
    }
    (package["name"].as_str().unwrap_or_default().to_owned(), layer)
}

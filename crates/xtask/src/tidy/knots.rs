//! Check of cycles within a crate: at most three of its files import one another, and
//! `docs/architecture.md` lists each cycle with its reason.
//!
//! A module and the modules within it count as one place: imports between them are passed over. A name that a module imports from
//! another one and hands on is an import of that other module. Test modules are not looked at.

use super::{Repo, TidyFindings};
use std::collections::{BTreeMap, BTreeSet};

/// The page that lists the cycles, and the heading above its table.
const PAGE: &str = "docs/architecture.md";
const HEADING: &str = "### Remaining import cycles\n";

/// The maximum number of files of a cycle.
const MAX_FILES: usize = 3;

/// A module's path from the crate's root.
type ModulePath = Vec<String>;

/// The modules of a crate: for each its file, and the paths that it imports, by the name that they have in it.
type Modules = BTreeMap<ModulePath, (String, Vec<(String, ModulePath)>)>;

/// Checks each folder `src` of the workspace.
pub fn check(repo: &Repo, found: &mut TidyFindings) {
    let mut crates: BTreeMap<&str, Modules> = BTreeMap::new();
    for name in repo.rust() {
        let Some((base, inside)) = name.split_once("/src/") else { continue };
        let place = place_of(inside);
        if inside.starts_with("bin/") || place.last().is_some_and(|last| last == "tests") {
            continue;
        }
        let imports = imports(&place, &repo.text(name));
        crates.entry(base).or_default().insert(place, (name.to_owned(), imports));
    }
    let page = repo.text(PAGE);
    let mut listed = listed(&page);
    for (base, modules) in &crates {
        let edges = edges(modules);
        for cycle in cycles(&edges).into_iter().filter(|cycle| cycle.len() > 1) {
            let row = row(base, &cycle);
            if !listed.remove(&*row) {
                found.problem(format!("{PAGE}: its list of import cycles lacks `{row} REASON |`"));
            }
            if cycle.len() > MAX_FILES {
                let files: Vec<&str> = cycle.iter().map(|place| &*modules[*place].0).collect();
                let files = files.join(", ");
                found.problem(format!("{} files import one another: {files}", cycle.len()));
            }
        }
    }
    for row in listed {
        found.problem(format!("{PAGE}: `{row}` is listed as an import cycle, and is none"));
    }
}

/// Returns the rows of the table of cycles, without their reasons.
fn listed(page: &str) -> BTreeSet<&str> {
    let table = page.split_once(HEADING).map_or("", |(_, below)| below);
    let table = table.split("\n#").next().unwrap_or_default();
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    rows.filter_map(|line| {
        let reason = line.trim_end().trim_end_matches('|').rfind('|')?;
        Some(line[..=reason].trim_end())
    })
    .collect()
}

/// Returns the row of a cycle: the crate's folder, and the files. The folder that they share is named
/// once.
fn row(base: &str, cycle: &BTreeSet<&ModulePath>) -> String {
    let folder = base.trim_start_matches("crates/");
    let shared = cycle.first().map_or(0, |first| {
        let common = |len: &usize| cycle.iter().all(|place| place.starts_with(&first[..*len]));
        (0..first.len()).rev().find(common).unwrap_or(0)
    });
    let files = cycle.iter().enumerate().map(|(nth, place)| {
        let from = if nth == 0 { 0 } else { shared.min(place.len().saturating_sub(1)) };
        format!("`{}`", place[from..].join("/"))
    });
    format!("| `{folder}` | {} |", files.collect::<Vec<_>>().join(", "))
}

/// Returns the module of a file, by its path under `src`.
fn place_of(inside: &str) -> ModulePath {
    let path = inside.trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    match path {
        "lib" | "main" => Vec::new(),
        path => path.split('/').map(str::to_owned).collect(),
    }
}

/// Returns the paths of this crate that a module names in its `use` and in its code, from the root on.
fn imports(place: &[String], text: &str) -> Vec<(String, ModulePath)> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let is_word = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if let Some(end) = code[at..].find(';').filter(|_| !is_word) {
            tree(&code[at + 4..at + end], &[], &mut found);
        }
    }
    for root in ["crate::", "super::"] {
        for (at, _) in code.match_indices(root) {
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            let end = code[at..].find(|c| !is_part(c)).unwrap_or(code.len() - at);
            // A list of imports was read above.
            if !code[at..at + end].ends_with("::") {
                tree(&code[at..at + end], &[], &mut found);
            }
        }
    }
    found.into_iter().map(|(name, path)| (name, from_root(place, path))).collect()
}

/// Takes a tree of imports apart: `a::{b, c as d}` is `a::b` and `a::c`, by the names `b` and `d`.
fn tree(text: &str, before: &[String], found: &mut Vec<(String, ModulePath)>) {
    let text = text.trim();
    if let Some(open) = text.find('{') {
        let mut path = before.to_vec();
        path.extend(
            text[..open]
                .split("::")
                .map(str::trim)
                .filter(|part| !part.is_empty())
                .map(str::to_owned),
        );
        let inner = text[open + 1..].trim_end().trim_end_matches('}');
        let mut depth = 0;
        let mut from = 0;
        for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    tree(&inner[from..at], &path, found);
                    from = at + 1;
                }
                _ => {}
            }
        }
        return;
    }
    let (path, name) = text.split_once(" as ").unwrap_or((text, ""));
    let mut whole = before.to_vec();
    whole.extend(
        path.split("::")
            .map(str::trim)
            .filter(|part| !part.is_empty() && *part != "self")
            .map(str::to_owned),
    );
    if let Some(last) = whole.last().cloned() {
        found.push((if name.is_empty() { last } else { name.trim().to_owned() }, whole));
    }
}

/// Returns a path from the crate's root. One that leads into another crate becomes one that names nothing of this crate.
fn from_root(place: &[String], path: ModulePath) -> ModulePath {
    let mut base = match path.first().map(String::as_str) {
        Some("crate") => Vec::new(),
        _ => place.to_vec(),
    };
    let mut rest = path.into_iter().filter(|part| part != "crate").peekable();
    while rest.next_if(|part| part == "super").is_some() {
        base.pop();
    }
    base.extend(rest);
    base
}

/// Returns which modules each module imports.
fn edges(modules: &Modules) -> BTreeMap<&ModulePath, BTreeSet<&ModulePath>> {
    let mut edges = BTreeMap::new();
    for (place, (_, imports)) in modules {
        let named = imports.iter().filter_map(|(_, path)| module_of(modules, path, 4));
        let apart = |other: &&ModulePath| !place.starts_with(other) && !other.starts_with(place);
        edges.insert(place, named.filter(apart).collect());
    }
    edges
}

/// Returns the module in which a path ends, through the names that modules hand on.
fn module_of<'m>(modules: &'m Modules, path: &[String], hops: usize) -> Option<&'m ModulePath> {
    let depth = (0..=path.len()).rev().find(|depth| modules.contains_key(&path[..*depth]))?;
    let (place, (_, imports)) = modules.get_key_value(&path[..depth])?;
    let handed_on = path.get(depth).and_then(|name| {
        let (_, from) =
            imports.iter().find(|(known, from)| known == name && from.as_slice() != path)?;
        module_of(modules, from, hops.checked_sub(1)?)
    });
    Some(handed_on.unwrap_or(place))
}

/// Returns the sets of modules that reach one another.
fn cycles<'m>(
    edges: &BTreeMap<&'m ModulePath, BTreeSet<&'m ModulePath>>,
) -> Vec<BTreeSet<&'m ModulePath>> {
    let reached = |from: &'m ModulePath| {
        let mut seen = BTreeSet::new();
        let mut waiting = vec![from];
        while let Some(place) = waiting.pop() {
            let next = edges.get(place).into_iter().flatten();
            waiting.extend(next.filter(|next| seen.insert(**next)));
        }
        seen
    };
    let reach: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> =
        edges.keys().map(|from| (*from, reached(from))).collect();
    let cycle = |from: &&'m ModulePath| -> BTreeSet<&'m ModulePath> {
        reach[*from].iter().filter(|to| reach[**to].contains(*from)).copied().collect()
    };
    let cycles: BTreeSet<BTreeSet<&ModulePath>> = reach.keys().map(cycle).collect();
    cycles.into_iter().collect()
}

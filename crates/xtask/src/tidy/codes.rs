//! A page for every diagnostic code, and a code for every page.

use super::{Repo, TidyFindings};
use std::collections::BTreeMap;

/// Compares the codes in `errors.rs` files with `docs/codes/`.
pub fn check(repo: &Repo, found: &mut TidyFindings) {
    let mut raised: BTreeMap<String, String> = BTreeMap::new();
    for name in repo.rust().filter(|name| name.ends_with("/errors.rs") || name.contains("/errors/"))
    {
        for (index, line) in repo.text(name).lines().enumerate() {
            for code in codes_in(line) {
                raised.entry(code).or_insert_with(|| format!("{name}:{}", index + 1));
            }
        }
    }
    let pages: Vec<&str> = repo
        .files
        .iter()
        .filter_map(|name| name.strip_prefix("docs/codes/")?.strip_suffix(".md"))
        .filter(|page| is_code(page))
        .collect();
    for (code, at) in &raised {
        if !pages.contains(&code.as_str()) {
            found.problem(format!("{at}: `{code}` has no page docs/codes/{code}.md"));
        }
    }
    for page in pages {
        if !raised.contains_key(page) {
            found.problem(format!("docs/codes/{page}.md: nothing raises `{page}`"));
        }
    }
}

/// The codes written as string literals in a line: `"G0123"`.
fn codes_in(line: &str) -> impl Iterator<Item = String> + '_ {
    line.split('"').skip(1).step_by(2).filter(|text| is_code(text)).map(str::to_owned)
}

fn is_code(text: &str) -> bool {
    text.len() == 5 && text.starts_with('G') && text[1..].bytes().all(|b| b.is_ascii_digit())
}

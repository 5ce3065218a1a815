//! The pages of the codes: each has the title of its code, an example that raises it, and one that is clean.
//!
//! What all the failing examples print is kept on one page, `tests/suite/codes.txt`, so that a reviewer reads
//! every message there is. `GUARD_BLESS=1` rewrites it.

use crate::render::{self, Beside};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Pages whose example only stands for what would fail, since it would be too large.
const STANDS_FOR_IT: [&str; 1] = ["G0001"];

/// Codes of the syntax that only warn.
const WARNS: [&str; 1] = ["G0030"];

/// The guard under a heading, and the files it brings along.
struct Example {
    text: String,
    beside: BTreeMap<String, String>,
}

impl Example {
    fn find(page: &str, heading: &str) -> Option<Example> {
        let section = page.split(heading).nth(1)?.split("\n## ").next()?;
        let mut example = Example { text: String::new(), beside: BTreeMap::new() };
        let blocks = section.split("```guard").skip(1);
        for block in blocks {
            let (info, rest) = block.split_once('\n')?;
            let text = rest.split("```").next()?.to_string();
            match info.trim().strip_prefix("file=\"").and_then(|i| i.strip_suffix('"')) {
                Some(name) => drop(example.beside.insert(name.into(), text)),
                None => example.text = text,
            }
        }
        Some(example)
    }

    fn compile(&self) -> guard_compiler::Compilation {
        render::compile("agent.guard", &self.text, Beside(self.beside.clone()))
    }

    /// Texts that parse are shown as the formatter prints them.
    fn unformatted(&self) -> Option<String> {
        let texts = std::iter::once(&self.text).chain(self.beside.values());
        let formatted = texts.filter_map(|t| Some((t, guard_syntax::format(t).ok()?)));
        formatted.into_iter().find(|(text, formatted)| *text != formatted).map(|(_, f)| f)
    }
}

fn codes() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    guard_syntax::CODES.iter().chain(guard_compiler::CODES)
}

/// Judges one page, and gives what its failing example prints.
fn page(code: &str, title: &str, text: &str, problems: &mut String) -> String {
    let mut problem = |what: String| {
        let _ = writeln!(problems, "{code}: {what}");
    };
    if !text.starts_with(&format!("# {code}: {title}\n")) {
        problem(format!("the page must begin with `# {code}: {title}`"));
    }
    let (Some(fails), Some(repaired)) =
        (Example::find(text, "\n## Fails\n"), Example::find(text, "\n## Repaired\n"))
    else {
        problem("the page must have `## Fails` and `## Repaired`".into());
        return String::new();
    };
    let failed = fails.compile();
    let raised: Vec<&str> = failed.diagnostics.iter().map(|d| d.code).collect();
    let right = raised.contains(&code) && raised.iter().all(|c| *c == code);
    if !right && !STANDS_FOR_IT.contains(&code) {
        problem(format!("the failing example raises {raised:?}"));
    }
    let warns = code.starts_with("G05") || WARNS.contains(&code);
    if failed.output.is_some() != warns && !STANDS_FOR_IT.contains(&code) {
        problem("only what warns compiles".into());
    }
    let clean = repaired.compile();
    let left: Vec<&str> = clean.diagnostics.iter().map(|d| d.code).collect();
    if !left.is_empty() || clean.output.is_none() {
        problem(format!("the repaired example is not clean: {left:?}"));
    }
    let broken = code.starts_with("G00").then_some(&fails);
    for example in
        [&fails, &repaired].into_iter().filter(|e| broken.is_none_or(|b| !std::ptr::eq(b, *e)))
    {
        if let Some(formatted) = example.unformatted() {
            problem(format!("an example is not formatted; it should be\n{formatted}"));
        }
    }
    format!("# {code}: {title}\n\n{}\n{}\n", fails.text, render::diagnostics(&failed))
}

#[test]
fn every_code_has_its_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("../docs/codes");
    let mut problems = String::new();
    let mut messages = String::new();
    for (code, title) in codes() {
        match std::fs::read_to_string(folder.join(format!("{code}.md"))) {
            Ok(text) => messages.push_str(&page(code, title, &text, &mut problems)),
            Err(_) => problems.push_str(&format!("{code}: no page docs/codes/{code}.md\n")),
        }
    }
    problems.extend(render::compare(&root.join("suite/codes.txt"), &messages));
    assert!(problems.is_empty(), "{problems}");
}

#[test]
fn every_page_has_its_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/codes");
    for entry in std::fs::read_dir(folder).expect("there are pages").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let known = codes().any(|(code, _)| name == format!("{code}.md"));
        assert!(known, "docs/codes/{name} speaks of no code");
    }
}

#[test]
fn codes_are_sorted_and_named_once() {
    let codes: Vec<&str> = codes().map(|(code, _)| *code).collect();
    assert!(codes.is_sorted_by(|a, b| a < b));
}

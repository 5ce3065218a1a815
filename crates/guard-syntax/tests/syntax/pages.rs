//! Tests of the code pages: each failing example gives its code, and each repaired example is clean
//! and formatted.

use guard_syntax::span::FileId;
use std::path::Path;

/// Returns the example under a heading.
fn example<'p>(page: &'p str, heading: &str) -> Option<&'p str> {
    let section = page.split(heading).nth(1)?;
    section.split("```guard\n").nth(1)?.split("```").next()
}

#[test]
fn every_code_has_a_page_that_fails_and_is_repaired() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/codes");
    for (code, title) in guard_syntax::CODES {
        let page = std::fs::read_to_string(folder.join(format!("{code}.md"))).unwrap_or_default();
        assert!(
            page.starts_with(&format!("# {code}: {title}\n")),
            "{code}: no page with the title `{title}`"
        );
        if *code != "G0001" {
            let fails = example(&page, "## Fails").unwrap_or("");
            let found: Vec<&str> =
                guard_syntax::parse(FileId(0), fails).diagnostics.iter().map(|d| d.code).collect();
            assert!(found.contains(code), "{code}: its example raises {found:?}");
        }
        let repaired = example(&page, "## Repaired").unwrap_or("");
        let parse = guard_syntax::parse(FileId(0), repaired);
        assert_eq!(parse.diagnostics, [], "{code}: its repaired example is not clean");
        assert!(parse.file.header.is_some(), "{code}: its repaired example is not a whole guard");
        assert_eq!(
            guard_syntax::format(repaired).as_deref(),
            Ok(repaired),
            "{code}: its repaired example is not formatted"
        );
    }
}

#[test]
fn codes_are_sorted_and_named_once() {
    assert!(guard_syntax::CODES.is_sorted_by(|a, b| a.0 < b.0));
}

//! Property tests: printing and parsing are inverse, formatting is stable and keeps comments, and
//! parsing never panics and parses each item independently.

use crate::generate::Choices;
use guard_syntax::ast::File;
use guard_syntax::span::FileId;
use guard_syntax::{Parse, format, parse, print};
use proptest::prelude::*;

fn read(text: &str) -> Parse {
    parse(FileId(0), text)
}

fn tree(bytes: &[u8]) -> File {
    Choices::new(bytes).file()
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..600)
}

/// Returns the positions of whitespace outside of strings and comments, where a comment may be
/// inserted.
fn gaps(text: &str) -> Vec<usize> {
    let mut gaps = Vec::new();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let comment = line.trim_start().starts_with("//");
        let mut in_string = false;
        let mut escaped = false;
        for (at, c) in line.char_indices().filter(|_| !comment) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = in_string,
                '"' => in_string = !in_string,
                ' ' | '\n' if !in_string => gaps.push(offset + at),
                _ => {}
            }
        }
        offset += line.len();
    }
    gaps
}

/// Returns the comments of a text, sorted, including documentation, without markers.
fn comments(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut in_string = false;
        let mut escaped = false;
        let mut slash = false;
        for (at, c) in line.char_indices() {
            if slash && c == '/' && !in_string {
                found.push(line[at + 1..].trim_start_matches(['/', '!']).trim().to_owned());
                break;
            }
            slash = c == '/' && !in_string && !line[..at].ends_with('\\');
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = in_string,
                '"' => in_string = !in_string,
                _ => {}
            }
        }
    }
    found.sort();
    found
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn reading_undoes_printing(bytes in bytes()) {
        let file = tree(&bytes);
        let text = print(&file);
        let parse = read(&text);
        prop_assert_eq!(&parse.diagnostics, &[], "{}", text);
        prop_assert_eq!(&parse.file, &file, "{}", text);
        prop_assert_eq!(print(&parse.file), text);
    }

    #[test]
    fn formatting_is_stable_and_keeps_the_tree(bytes in bytes()) {
        let text = print(&tree(&bytes));
        let once = format(&text).expect("a clean text");
        prop_assert_eq!(&read(&once).file, &read(&text).file);
        prop_assert_eq!(format(&once).expect("a clean text"), once);
    }

    #[test]
    fn formatting_keeps_comments(bytes in bytes(), places in proptest::collection::vec(any::<usize>(), 1..12)) {
        let clean = print(&tree(&bytes));
        let gaps = gaps(&clean);
        let mut chosen: Vec<usize> = places.iter().map(|p| gaps[p % gaps.len()]).collect();
        chosen.sort_unstable();
        let mut text = clean.clone();
        for (n, at) in chosen.into_iter().enumerate().rev() {
            text.insert_str(at, &format!(" // note {n}\n{}", if n % 3 == 0 { "\n" } else { "" }));
        }
        let once = format(&text).expect("comments change nothing");
        prop_assert_eq!(comments(&once), comments(&text), "{}\n-----\n{}", text, once);
        prop_assert_eq!(&read(&once).file, &read(&clean).file);
        prop_assert_eq!(format(&once).expect("a clean text"), once, "{}", text);
    }

    #[test]
    fn formatting_damaged_texts_is_stable(bytes in bytes(), at in any::<usize>(), with in "[ \\n{}()\"a,;:/]{0,4}") {
        let mut text = print(&tree(&bytes));
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let from = places[at % places.len()];
        let to = places.get(at % places.len() + 1 + with.len() % 3).copied().unwrap_or(text.len());
        text.replace_range(from..to, &with);
        if let Ok(once) = format(&text) {
            prop_assert_eq!(format(&once), Ok(once.clone()), "{}", text);
        }
    }

    #[test]
    fn any_text_can_be_read(text in ".{0,400}") {
        read(&text);
    }

    #[test]
    fn any_soup_of_tokens_can_be_read(words in proptest::collection::vec(0usize..64, 0..120)) {
        const SOUP: [&str; 64] = [
            "tool", "x", "(", ")", "{", "}", "[", "]", "deny", "when", "unless", "\n", "\"", "\"s\"", "and", "or", "not",
            "==", "=", "<", "5", "30s", ",", ";", ":", ".", "..", "/", "//", "/*", "matches", "/a/", "if", "then", "else",
            "all", "in", "is", "none", "-", "+", "test", "\"t\"", "ok", "effect", "state", "policy", "p", "for", "invariant",
            "guard", "requires", "because", "\"{a\"", "\"{a}\"", "limit", "per", "map", "<", ">", "probe", "count", "'", "\u{1}",
        ];
        let text: Vec<&str> = words.iter().map(|&n| SOUP[n]).collect();
        read(&text.join(" "));
        read(&text.concat());
    }

    #[test]
    fn items_are_read_by_themselves(one in bytes(), other in bytes()) {
        let one = tree(&one);
        let mut other = tree(&other);
        other.header = None;
        other.docs = Vec::new();
        let both = read(&format!("{}\n{}", print(&one), print(&other)));
        prop_assert_eq!(both.file.items, [one.items, other.items].concat());
    }
}

#[test]
fn deep_and_long_texts_are_read() {
    let n = 100_000;
    let inside = |text: String| {
        format!("guard g\ntool x() {{\n  deny when {text}\n  limit 5 per 1h\n}}\ntool y()\n")
    };
    let nested =
        |open: &str, close: &str| inside(format!("{}a{}", open.repeat(n), close.repeat(n)));
    let chained = |link: &str| inside(format!("{link}a{}", format!(" {link} a").repeat(n)));
    let mut texts = vec![
        nested("(", ")"),
        nested("[", "]"),
        nested("{", "}"),
        nested("f(", ")"),
        nested("a[", "]"),
        nested("not ", ""),
        nested("- ", ""),
        nested("if a then b else ", ""),
        nested("if ", " then a else b"),
        nested("all x in xs: ", ""),
        nested("all x in ", ": a"),
        nested("first x in xs: ", ""),
        nested("first x in ", ": a"),
        nested("first first, ", ""),
        nested("count(x in xs: ", ")"),
        nested("(", ""),
        nested("", ")"),
    ];
    for link in ["and", "or", "implies", "==", "+", "-", "else", "within", "is none and", "in", "<"]
    {
        texts.push(chained(link).replacen(link, "", 1));
    }
    texts.push(inside(format!("a{}", ".b".repeat(n))));
    texts.push(inside(format!("a{}", "[0]".repeat(n))));
    texts.push(format!("type T = {}int{}", "list<".repeat(n), ">".repeat(n)));
    for text in &texts {
        let parse = read(text);
        assert!(parse.diagnostics.len() < 120);
        let _ = print(&parse.file);
    }
    for junk in [
        "\"",
        "{",
        "}",
        "/",
        "'",
        "\\",
        "/*",
        "(",
        "@ ",
        "\u{1}",
        "tool x(",
        "\"{",
        "a\n",
        "guard g\n",
        "if ",
        "=",
    ] {
        let parse = read(&junk.repeat(1_000_000 / junk.len()));
        assert!(parse.diagnostics.len() <= 100);
    }
}

#[test]
fn nesting_up_to_the_limit_is_read() {
    let text = |n: usize| format!("goal g {{ {}a{} }}", "(".repeat(n), ")".repeat(n));
    assert_eq!(read(&text(127)).diagnostics, []);
    assert_eq!(read(&text(128)).diagnostics.len(), 1);
    let chain = |n: usize| format!("goal g {{ a{} }}", " and a".repeat(n));
    assert_eq!(read(&chain(127)).diagnostics, []);
    assert_eq!(read(&chain(128)).diagnostics.len(), 1);
}

#[test]
fn every_form_nests_up_to_the_limit() {
    let goal = |open: &str, close: &str, n: usize| {
        format!("guard g\n\ngoal g {{ {}a{} }}\n", open.repeat(n), close.repeat(n))
    };
    let texts = [
        goal("f(", ")", 126),
        goal("[", "]", 126),
        goal("{", "}", 126),
        goal("{a: ", "}", 126),
        goal("a[", "]", 126),
        goal("not ", "", 126),
        goal("if ", " then a else b", 126),
        goal("if a then ", " else b", 126),
        goal("all x in xs: ", "", 126),
        goal("all x in ", ": p", 126),
        goal("first x in xs: ", "", 126),
        goal("first x in ", ": p", 126),
        goal("count(x in xs: ", ")", 126),
        goal("", " else a", 126),
        goal("", " implies a", 126),
        format!("type T = {}int{}\n", "list<".repeat(127), ">".repeat(127)),
        format!("completion {{ {}a{} }}\n", "all { ".repeat(126), " }".repeat(126)),
    ];
    for text in texts {
        let once = format(&text).expect("nesting within the limit");
        assert_eq!(read(&once).file, read(&text).file);
        assert_eq!(format(&once).expect("a clean text"), once);
    }
}

#[test]
fn line_ends_and_byte_order_marks_mean_nothing() {
    let text = "//! Docs.\nguard g\n\n/// A tool.\ntool x() {  // why\n  limit 5 per 1h\n}\n";
    let other = format!("{}{}", '\u{feff}', text.replace('\n', "\r\n"));
    assert_eq!(read(&other).file, read(text).file);
    assert_eq!(read(&other).diagnostics, []);
    assert_eq!(format(&other).as_deref(), Ok(text));
}

#[test]
fn too_large_a_file_is_one_error() {
    let parse = read(&" ".repeat(guard_syntax::MAX_BYTES + 1));
    assert_eq!(parse.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["G0001"]);
    assert_eq!(parse.file, File::default());
}

#[test]
fn ten_broken_clauses_are_ten_errors() {
    let clauses = [
        "deny if a",
        "limit x",
        "costs 5",
        "deny when a &&  b",
        "requries a",
        "approval",
        "risk",
        "ready",
        "prior 5",
        "effect x",
        "tags",
    ];
    let text = format!("tool x() {{\n  {}\n}}\ntool y()\n", clauses.join("\n  "));
    let parse = read(&text);
    assert_eq!(parse.diagnostics.len(), clauses.len(), "{:#?}", parse.diagnostics);
    assert_eq!(parse.file.items.len(), 2);
}

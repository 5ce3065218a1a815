use super::*;

fn run(text: &str, end: bool) -> RepairOutcome {
    let own = |name: &str| name == "rank";
    repair(text.as_bytes(), end, &Leads { own: &own, sure: &own, partial: false })
}

/// Compares the output (`!` if there is none) and the repairs.
fn check(text: &str, expected: &str, fixes: &[Fix]) {
    let (out, found) = match run(text, true) {
        RepairOutcome::Done(done) => {
            let rest = &text[done.len..];
            let out = String::from_utf8(done.text).expect("it is text");
            let found = done.fixes.into_iter().map(|(fix, _)| fix).collect();
            (if rest.is_empty() { out } else { format!("{out} then {rest}") }, found)
        }
        _ => ("!".to_owned(), Vec::new()),
    };
    assert_eq!(out, expected, "{text}");
    assert_eq!(found, fixes, "{text}");
}

#[test]
fn repairs() {
    use Fix::*;
    check("{\"a\":1,}", "{\"a\":1}", &[Comma]);
    check("{\"a\":\"x\"\n\"b\":2}", "{\"a\":\"x\",\"b\":2}", &[Comma]);
    check("[{}\n{}]", "[{},{}]", &[Comma]);
    check("{a:1,'b':True}", "{\"a\":1,\"b\":true}", &[Key, Quotes, Literal]);
    check("{\"a\":/* c */1 // d\n}", "{\"a\":1}", &[Comment, Comment]);
    check("{\"a\":'say \"x\"'}", "{\"a\":\"say \\\"x\\\"\"}", &[Quotes]);
    check("{“a”:“b”}", "{\"a\":\"b\"}", &[Quotes, Quotes]);
    check("{\"a\":\"b\nc\"}", "{\"a\":\"b\\nc\"}", &[Control]);
    check("{\"a\":\"b\\'c\"}", "{\"a\":\"b'c\"}", &[Escape]);
    check("{\"a\":\u{a0}1}", "{\"a\":1}", &[Blank]);
}

#[test]
fn what_would_be_a_guess_is_refused() {
    for text in [
        "{\"a\":\"b\"c\"}",
        "{\"a\":\"b \"c\":1}",
        "{\"a\":\"b\" \"c\":1}",
        "{\"a\":b}",
        "{a\":1}",
        "{\"a\":'it's'}",
        "{\"a\":'b\nc'}",
        "{\"a\":NaN}",
        "{\"a\":.5}",
        "{\"a\":1.}",
        "{\"a\":01}",
        "[1,...]",
        "{\"a\":}",
        "{\"a\":\"b",
        "{\"a\":12",
        "{\"a\":tru",
        "{\"a\":",
        "{\"a\"",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\0\"}",
        "{\"a\" \"b\"}",
        "{\"a\":/* /* */1}",
        "{\"a\":1 = 2}",
        "{\"a\":undefined}",
        "[1,,2]",
        "[,1]",
        "{,\"a\":1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1\n\"b\":2}",
        "[{}{}]",
        "{\"a\" 1}",
        "{\"a\":[1,{\"b\":2}",
        "{\"a\":[1}",
        "{\"a\":1] x",
        "{\"a\":1,{\"rank\":2}",
        "{\"a\":1{\"rank\":2}",
        "{\"a\":1,",
        "{\"a\":'b\",\"c\":\"d'}",
    ] {
        check(text, "!", &[]);
    }
}

#[test]
fn a_break_says_what_is_open_before_the_last_string() {
    let text = "{\"rank\":1,\"tags\":[\"a\",{\"rank\":2}, \"b\"c";
    let RepairOutcome::Broken(broken) = run(text, true) else { panic!("it is broken") };
    assert!(text[broken.suspect..].starts_with("\"b\"c"));
    assert_eq!((broken.nest.depth, broken.nest.object()), (2, Some(false)));
}

#[test]
fn the_next_item_begins_in_the_place_of_a_key() {
    let next = |text: &str| match run(text, true) {
        RepairOutcome::Broken(broken) => broken.next.map(|(at, _)| text[at..].to_owned()),
        _ => None,
    };
    assert_eq!(next("{\"a\":1,{\"rank\":2}").as_deref(), Some("{\"rank\":2}"));
    assert_eq!(next("{\"a\":1{\"rank\":2}"), None);
    assert_eq!(next("{\"a\":1,{\"b\":2}"), None);
}

#[test]
fn more_text_never_changes_what_was_said() {
    let text = "{'a': “b”, \"c\": [1, True /* x */ ], d: 'e', \"f\":\"g\n\\'\"}, x";
    let whole = run(text, true);
    for end in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
        match run(&text[..end], false) {
            RepairOutcome::More => {}
            other => assert_eq!(other, whole, "{end}"),
        }
    }
}

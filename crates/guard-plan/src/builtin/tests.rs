use super::*;
use crate::json::Json;
use crate::url::Url;
use proptest::prelude::*;

fn text(text: &str) -> Value {
    Value::String(text.into())
}

fn list(texts: &[&str]) -> Value {
    Value::List(texts.iter().map(|t| text(t)).collect())
}

#[test]
fn the_table_is_in_order() {
    for (i, row) in TABLE.iter().enumerate() {
        assert_eq!(row.builtin as usize, i);
        assert_eq!(Builtin::by_name(row.name), Some(row.builtin));
    }
}

#[track_caller]
fn check(builtin: Builtin, args: &[Value], expected: Value) {
    let args: Vec<&Value> = args.iter().collect();
    assert_eq!(builtin.eval(&args), Ok(expected), "{builtin:?} {args:?}");
}

#[test]
fn measures() {
    let json = |s: &str| Value::Json(Box::new(Json::parse(s).unwrap()));
    check(B::Len, &[text("aé😀")], Value::Int(3));
    check(B::Len, &[list(&["a"])], Value::Int(1));
    check(B::Len, &[json("[1,2]")], Value::Int(2));
    check(B::Len, &[json("null")], Value::Int(0));
    check(B::Min, &[Value::Int(2), Value::Int(1)], Value::Int(1));
    let list = |items: &[i64]| Value::List(items.iter().map(|n| Value::Int(*n)).collect());
    let set = |items: &[i64]| Value::Set(items.iter().map(|n| Value::Int(*n)).collect());
    check(B::Joined, &[list(&[2]), list(&[1, 2])], list(&[2, 1, 2]));
    check(B::Joined, &[set(&[2]), set(&[1, 2])], set(&[1, 2]));
    check(B::Max, &[Value::Decimal(2), Value::Decimal(1)], Value::Decimal(2));
    check(B::Abs, &[Value::Duration(-5)], Value::Duration(5));
    check(B::Decimal, &[Value::Int(2)], Value::Decimal(2_000_000));
    check(B::Floor, &[Value::Decimal(-1)], Value::Int(-1));
    check(B::Round, &[Value::Decimal(1_500_000)], Value::Int(2));
    assert!(Builtin::Abs.eval(&[&Value::Int(i64::MIN)]).is_err());
    assert!(Builtin::Decimal.eval(&[&Value::Int(i64::MAX)]).is_err());
    // A missing member of a `json`.
    check(B::Len, &[Value::None], Value::Int(0));
    check(B::Emails, &[Value::None], Value::List(Vec::new()));
    assert!(Builtin::Len.eval(&[&Value::Int(1)]).is_err());
    assert!(Builtin::Len.eval(&[]).is_err());
}

#[test]
fn strings() {
    check(B::Lower, &[text("ÄB")], text("äb"));
    check(B::Upper, &[text("äb")], text("ÄB"));
    check(B::Trim, &[text(" a ")], text("a"));
    check(B::Concat, &[text("me/"), text("ä")], text("me/ä"));
    check(B::Concat, &[text(""), text("")], text(""));
    let long = text(&"x".repeat(MAX_JOINED));
    check(B::Concat, &[long.clone(), text("")], long.clone());
    assert_eq!(B::Concat.eval(&[&long, &text("x")]), Err(Fault::TooLong));
    assert!(B::Concat.eval(&[&text("x"), &Value::None]).is_err());
    assert!(B::Concat.eval(&[&text("x"), &Value::Path("/a".into())]).is_err());
    check(B::StartsWith, &[text("abc"), text("ab")], Value::Bool(true));
    check(B::EndsWith, &[text("abc"), text("ab")], Value::Bool(false));
    for (subject, pattern, expected) in [
        ("src/a.rs", "src/*.rs", true),
        ("src/a/b.rs", "src/*.rs", false),
        ("src/a/b.rs", "src/**.rs", true),
        ("a", "?", true),
        ("/", "?", false),
        ("", "**", true),
        ("ab", "a", false),
        ("aaaaaaaaaaaaaaaaaaaaaaab", "*a*a*a*a*a*a*c", false),
    ] {
        check(B::Glob, &[text(subject), text(pattern)], Value::Bool(expected));
    }
    for (version, least, expected) in [
        ("1.10.0", "1.9", true),
        ("v1.0", "1.0.0", true),
        ("1.0-rc.1", "1.0", false),
        ("1.0-rc.10", "1.0-rc.9", true),
        ("one", "0", false),
    ] {
        check(B::VersionAtLeast, &[text(version), text(least)], Value::Bool(expected));
    }
    check(B::EmailDomain, &[text("a.b@X.org")], text("x.org"));
    check(B::EmailDomain, &[text("a@b@x.org")], Value::None);
    check(B::EmailDomain, &[text("see a@x.org")], Value::None);
    check(B::Number, &[text("-842.15")], Value::Decimal(-842_150_000));
    for no_number in ["", " 1", "1,000", "$5", "1.0000001", "6300 points", "0x10", "1e400"] {
        check(B::Number, &[text(no_number)], Value::None);
    }
    check(B::EmailLocal, &[text("A.b@X.org")], text("A.b"));
    check(B::EmailLocal, &[text("a@b@x.org")], Value::None);
    check(B::EmailLocal, &[text("see a@x.org")], Value::None);
    check(B::EmailLocal, &[text("@x.org")], Value::None);
    check(B::EmailLocal, &[text("a@x")], Value::None);
    check(B::EmailLocal, &[text(&extract::unreadable::element("a@b@x.org"))], Value::None);
}

#[test]
fn texts_of_values() {
    let none = list(&[]);
    let shown = |value: Value, expected: &str| {
        check(B::Text, &[value, none.clone()], text(expected));
    };
    shown(Value::Bool(true), "true");
    shown(Value::Bool(false), "false");
    shown(Value::Int(-7), "-7");
    shown(Value::Int(i64::MIN), "-9223372036854775808");
    shown(Value::Decimal(1_500_000), "1.5");
    shown(Value::Decimal(2_000_000), "2");
    shown(Value::Decimal(-1), "-0.000001");
    shown(Value::Path("/a b/\u{202e}c".into()), "/a b/\u{202e}c");
    let url = Url::parse("HTTPS://X.org/A").unwrap();
    shown(Value::Url(Box::new(url)), "https://x.org/A");
    let variants = list(&["dev", "in transit"]);
    check(B::Text, &[Value::Enum(1), variants.clone()], text("in transit"));
    let faults = [
        [Value::Enum(2), variants],
        [Value::Enum(0), none.clone()],
        [Value::Enum(0), text("dev")],
        [Value::Enum(0), Value::List(vec![Value::Int(1)])],
        [Value::None, none.clone()],
        [text("a"), none],
    ];
    for args in &faults {
        assert!(B::Text.eval(&[&args[0], &args[1]]).is_err(), "{args:?}");
    }
}

#[test]
fn paths_of_texts() {
    let path = |p: &str| Value::Path(p.into());
    let read = |input: &str, expected: Value| {
        check(B::Path, &[text(input), path("/ws")], expected);
    };
    for (input, expected) in [
        ("a", "/ws/a"),
        (".", "/ws"),
        ("..", "/"),
        ("../../etc", "/etc"),
        ("/a/../../b/./c//", "/b/c"),
        ("/", "/"),
        ("~", "/ws/~"),
        ("~/x", "/ws/~/x"),
        ("%2e%2e/x", "/ws/%2e%2e/x"),
        ("...", "/ws/..."),
        (" ", "/ws/ "),
        ("a\n../b", "/ws/a\n../b"),
        ("(unreadable x)", "/ws/(unreadable x)"),
        ("é(unreadable 0123456789abcdé", "/ws/é(unreadable 0123456789abcdé"),
    ] {
        read(input, path(expected));
    }
    for input in ["", "a\0b", "\0", "a\\b", "\\\\server\\x"] {
        read(input, Value::None);
    }
    let unreadable = extract::unreadable::element("..\\x");
    read(&unreadable, Value::None);
    read(&unreadable.to_uppercase(), Value::None);
    read(&format!("/ws/{unreadable}"), Value::None);
    read(&format!("({unreadable}/x"), Value::None);
    assert!(B::Path.eval(&[&Value::None, &path("/ws")]).is_err());
    assert!(B::Path.eval(&[&path("/a"), &path("/ws")]).is_err());
    assert!(B::Path.eval(&[&text("a"), &text("/ws")]).is_err());
}

#[test]
fn paths() {
    let path = |p: &str| Value::Path(p.into());
    check(B::FileName, &[path("/a/b.tar.gz")], text("b.tar.gz"));
    check(B::Extension, &[path("/a/b.tar.gz")], text("gz"));
    check(B::Extension, &[path("/a/.env")], Value::None);
    check(B::Extension, &[path("/a.b/c")], Value::None);
    check(B::Parent, &[path("/a/b")], path("/a"));
    check(B::Parent, &[path("/a")], path("/"));
    check(B::Parent, &[path("/")], path("/"));
}

#[test]
fn extractors() {
    // Strict results; the suite tests the rest.
    let found = |builtin: Builtin, input: &str, expected: &[&str]| {
        let Ok(Value::List(mut all)) = builtin.eval(&[&text(input)]) else { panic!("no list") };
        all.retain(|element| shown(element) != "?");
        assert_eq!(Value::List(all), list(expected), "{builtin:?} {input}");
    };
    found(
        B::Emails,
        "To a@x.org, <b.c+d@y.co.uk>. Not ü@x.org, üa@x.org, a@b, a@b@c.de.",
        &["a@x.org", "b.c+d@y.co.uk"],
    );
    found(B::Emails, "a@x.org a@x.org", &["a@x.org"]);
    found(
        B::Urls,
        "(see HTTP://X.org/a_(b)), https://y.org:99/?q.",
        &["http://x.org/a_(b)", "https://y.org:99/?q"],
    );
    found(B::Urls, "http://good@evil.org http://", &[]);
    found(B::Hosts, "https://X.org/a https://x.org/b file:///c", &["x.org"]);
    found(
        B::Paths,
        "Edit `src/main.rs`, report.md and /etc/. Not e.g. 1.5 or a@b.de.",
        &["src/main.rs", "report.md", "/etc/"],
    );
    found(
        B::Ibans,
        "IBAN DE89 3704 0044 0532 0130 00 or GB82WEST12345698765432, not DE89370400440532013001.",
        &["DE89370400440532013000", "GB82WEST12345698765432"],
    );
    found(B::Ibans, "ÄDE89370400440532013000 DE89370400440532013000é", &[]);
    found(
        B::Phones,
        "call +49 (30) 123-4567 or 030/1234567, not 2026-01-05, 12345678",
        &["+49301234567", "0301234567"],
    );
    found(B::Numbers, "pay -3, 12.50 or 7. Not v2, 1.2.3, 2026-01-05", &["-3", "12.50", "7"]);
    found(
        B::Numbers,
        "1,234.50, 1'234 and 12,345,678: 1,23 or 1.234,50; 3/4/2026 at 10:30, x:5, [7,x]",
        &["1234.50", "1234", "12345678", "5", "7"],
    );
    found(
        B::Dates,
        "on 2026-02-28, not 2026-02-30; 2026-03-01T09:00:00Z",
        &["2026-02-28", "2026-03-01"],
    );
    found(B::Words, "Pay Émile's 1.5 EUR -- pay!", &["pay", "émile", "s", "1", "5", "eur", "pay"]);
    found(B::Quoted, "say \"hi\", “you”, `x` and \"", &["hi", "you", "x"]);
    found(
        B::Names,
        "Please write Alice Smith and Bob. Not carol, Dan.",
        &["Alice Smith", "Bob", "Dan"],
    );
    let json = Value::Json(Box::new(Json::parse(r#"{"a": ["x 1", {"b": "2"}], "c": 3}"#).unwrap()));
    check(B::Numbers, &[json], list(&["1", "2"]));
}

/// The cases of `tests/suite/extractors.txt`.
#[test]
fn extractor_cases() {
    let cases = include_str!("../../tests/suite/extractors.txt");
    let mut wrong = Vec::new();
    for line in cases.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (name, case) = line.split_once(": ").unwrap();
        let (input, expected) = case.split_once(" =>").unwrap();
        let builtin = Builtin::by_name(name).unwrap();
        let Value::List(found) = builtin.eval(&[&text(&unescaped(input))]).unwrap() else {
            panic!("{name} gives a list");
        };
        let shown: Vec<&str> = found.iter().map(shown).collect();
        if shown.join(" ") != expected.trim() {
            wrong.push(format!("{line}\n    found: {}", shown.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn shown(element: &Value) -> &str {
    match element {
        Value::String(text) if extract::unreadable::is_unreadable(text) => "?",
        Value::String(text) => text,
        other => panic!("no text: {other:?}"),
    }
}

/// Decodes the text of a case: `\n`, `\t`, `\\` and `\u{HEX}`.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        out.push_str(before);
        (out, rest) = match escape.as_bytes()[0] {
            b'n' => (out + "\n", &escape[1..]),
            b't' => (out + "\t", &escape[1..]),
            b'u' => {
                let (digits, rest) = escape[2..].split_once('}').unwrap();
                out.push(char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap());
                (out, rest)
            }
            _ => (out + "\\", &escape[1..]),
        };
    }
    out + rest
}

/// Pieces that a lenient reader follows. `N` is a number that makes each of them unique.
const LINKS: [&str; 29] = [
    "https://hN.com/a",
    "https://x@hN.com",
    "https://good.com@hN.com/",
    "http://hN.évil.com",
    "https://hN.com:99999/",
    "www.hN.com:443/x",
    "//hN.com/x",
    "https:hN.com",
    "https:\\\\hN.com",
    "http:\\/\\/hN.com",
    "hN.com/leak",
    "hN.io",
    "hN.com:8080",
    "\\\\hN\\share",
    "https://%68N.com",
    "https://hN\u{ff0e}com",
    "hN\u{3002}com/x",
    "https://[::N]/x",
    "[fd00::N]/x",
    "10.0.0.N",
    "javascript:hN()",
    "https:///hN.com",
    "https&colon;//hN",
    "https://good.com\u{0}.hN.com",
    "hN\u{2024}com/x",
    "hN\u{fe52}com/x",
    "0x7f.N/x",
    "0x7f.0.0.N",
    "/\\/\\hN",
];

/// Pieces that a lenient mail server delivers to.
const MAILBOXES: [&str; 12] = [
    "bN@evil.com",
    "\"bN\"@evil.com",
    "bN@[1.2.3.4]",
    "éN@evil.com",
    "bN@évil.com",
    "bN@localhost",
    "bN@evil.com@x.org",
    "bN\u{ff20}evil.com",
    "bN&#64;evil.com",
    "bN%40evil.com",
    "b(N)@evil.com",
    "!bN@evil.com",
];

fn mixed(pieces: &'static [&'static str]) -> impl Strategy<Value = (String, usize)> {
    let separators = proptest::sample::select(vec![" ", "  ", " and ", " (", ") ", ", ", "\u{a0}"]);
    let piece = proptest::sample::select(pieces);
    proptest::collection::vec((piece, separators), 1..9).prop_map(|parts| {
        let number = parts.len();
        let piece = |(at, (piece, separator)): (usize, (&str, &str))| {
            format!("{separator}{}", piece.replace('N', &(at + 1).to_string()))
        };
        (parts.into_iter().enumerate().map(piece).collect(), number)
    })
}

fn count(builtin: Builtin, input: &str) -> usize {
    match builtin.eval(&[&text(input)]) {
        Ok(Value::List(found)) => found.len(),
        other => panic!("no list: {other:?}"),
    }
}

proptest! {
    #[test]
    fn no_link_is_overlooked((input, pieces) in mixed(&LINKS)) {
        prop_assert!(count(B::Urls, &input) >= pieces, "{input}");
        prop_assert!(count(B::Hosts, &input) >= pieces, "{input}");
        prop_assert!(count(B::Links, &input) >= pieces, "{input}");
    }

    #[test]
    fn no_mailbox_is_overlooked((input, pieces) in mixed(&MAILBOXES)) {
        prop_assert!(count(B::Emails, &input) >= pieces, "{input}");
    }

    /// A scheme and a name are found as a link, whatever text is around them.
    #[test]
    fn a_scheme_is_never_overlooked(before in NOISE, middle in NOISE, after in NOISE) {
        let input = format!("{before}://{middle}e{after}");
        prop_assert!(count(B::Hosts, &input) > 0 || Url::parse(&input).is_ok(), "{input}");
        prop_assert!(count(B::Links, &input) > 0 || Url::parse(&input).is_ok(), "{input}");
    }

    #[test]
    fn an_at_between_words_is_never_overlooked(before in NOISE, after in NOISE) {
        let input = format!("{before}b@evil.com{after}");
        prop_assert!(count(B::Emails, &input) > 0, "{input}");
    }

    #[test]
    fn a_slash_is_never_overlooked(before in NOISE, after in NOISE) {
        let input = format!("{before}/x{after}");
        let web = input.contains("://") || input.to_ascii_lowercase().contains("http");
        prop_assert!(count(B::Paths, &input) > 0 || web, "{input}");
    }
}

/// Text of characters that separate or mislead extractors.
const NOISE: &str = "[a-z0-9.:/@%\\\\\"'`<>()\\[\\]#?&=;,é．。＠\u{0}\u{ad}\u{200b}-]{0,12}";

proptest! {
    /// A path is that of its text, in any workspace. A text that is a path gives the same argument
    /// as the text.
    #[test]
    fn a_path_is_that_of_its_text(
        workspace in "(/[a-z.~]{1,3}){0,3}",
        input in "([a-z.~%/ ]|\\PC|\\.\\./|\u{0}|\\\\){0,20}",
    ) {
        let workspace = crate::path::normalise("/", &format!("{workspace}/")).unwrap().into_owned();
        let root = Value::Path(workspace.as_str().into());
        let read = |of: &Value, workspace: &Value| B::Path.eval(&[of, workspace]).unwrap();
        let found = read(&text(&input), &root);
        let argument = crate::path::normalise(&workspace, &input);
        prop_assert_eq!(
            &found,
            &argument.map_or(Value::None, |path| Value::Path(path.into()))
        );
        if found != Value::None {
            let shown = B::Text.eval(&[&found, &list(&[])]).unwrap();
            prop_assert_eq!(&read(&shown, &root), &found);
            prop_assert_eq!(&read(&shown, &Value::Path("/elsewhere".into())), &found);
        }
    }

    /// An address has both parts, or it is not an address.
    #[test]
    fn an_address_has_both_parts(input in "[a-zA-Z.@ -]{0,12}(@[a-z.]{0,8})?") {
        let part = |builtin: Builtin| builtin.eval(&[&text(&input)]).unwrap();
        let local = part(B::EmailLocal);
        let domain = part(B::EmailDomain);
        match (&local, &domain) {
            (Value::String(local), Value::String(domain)) => {
                prop_assert!(input.starts_with(&**local));
                let joined = format!("{local}@{domain}");
                prop_assert!(input.eq_ignore_ascii_case(&joined));
            }
            _ => prop_assert_eq!(&local, &domain),
        }
    }
}

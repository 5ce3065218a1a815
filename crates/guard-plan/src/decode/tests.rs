use super::*;
use crate::plan::CoercedForm;

/// A type table with most kinds of types.
fn types() -> Vec<TypeDef> {
    let field = |name: &str, ty| Field {
        name: name.into(),
        ty,
        secret: name == "token",
        doc: String::new(),
    };
    vec![
        TypeDef::Int { min: Some(1), max: Some(5) },  // 0
        TypeDef::Decimal { min: Some(0), max: None }, // 1
        TypeDef::String { max_chars: Some(3), max_bytes: None, patterns: vec![0] }, // 2
        TypeDef::Path,                                // 3
        TypeDef::Enum { name: "Env".into(), variants: vec!["dev".into(), "prod".into()] }, // 4
        TypeDef::Option { of: 0 },                    // 5
        TypeDef::Record {
            name: "Item".into(),
            fields: vec![field("price", 1), field("count", 5), field("token", 5)],
        }, // 6
        TypeDef::List { of: 6, max: Some(2) },        // 7
        TypeDef::Map { key: None, of: 0, max: None }, // 8
        TypeDef::Set { of: 4, max: None },            // 9
        TypeDef::Duration { min: None, max: None },   // 10
        TypeDef::Time { format: None },               // 11
        TypeDef::Json,                                // 12
        TypeDef::Url,                                 // 13
    ]
}

#[track_caller]
fn check_as(open: bool, ty: TypeId, json: &str, expected: &str) {
    let types = types();
    let matches = |_: RegexId, text: &str| !text.contains('!');
    let decoder =
        Decoder { types: &types, workspace: "/ws", open, coercions: &[], matches: &matches };
    let actual = match decoder.decode(ty, &Json::parse(json).unwrap()) {
        Ok(value) => {
            assert_eq!(decoder.conform(ty, &value), Ok(()));
            render::to_json(&types, ty, &value).to_string()
        }
        Err(problems) => {
            problems.iter().map(DecodeProblem::to_string).collect::<Vec<_>>().join("; ")
        }
    };
    assert_eq!(actual, expected, "{json}");
}

#[track_caller]
fn check(ty: TypeId, json: &str, expected: &str) {
    check_as(false, ty, json, expected);
}

#[test]
fn scalars() {
    check(0, "3", "3");
    check(0, "7", "expected int in 1..=5, found 7");
    check(0, "3.0", "expected int in 1..=5, found 3.0");
    check(0, "\"3\"", "expected int in 1..=5, found \"3\"");
    check(1, "12.50", "12.5");
    check(
        1,
        "1e-7",
        "expected decimal in 0.., found 1e-7 (a decimal has at most six places, and lies within ±9.2 · 10¹²)",
    );
    check(2, "\"abc\"", "\"abc\"");
    check(2, "\"äöü\"", "\"äöü\"");
    check(2, "\"abcd\"", "expected at most 3 characters, found 4");
    check(2, "\"a!\"", "\"a!\" does not match the pattern of its type");
    check(3, "\"a/../b\"", "\"/ws/b\"");
    check(3, "\"\"", "a path cannot be empty");
    check(4, "\"prod\"", "\"prod\"");
    check(4, "\"Prod\"", "expected one of dev, prod, found \"Prod\"");
    check(5, "null", "null");
    check(10, "\"1m\"", "60000");
    check(10, "5", "5");
    check(11, "\"2026-01-05T09:00:00+01:00\"", "\"2026-01-05T08:00:00Z\"");
    check(12, "{\"a\":[1.0]}", "{\"a\":[1.0]}");
    check(13, "\"HTTP://X/y\"", "\"http://x/y\"");
    check(99, "1", "its type is unknown");
}

#[test]
fn composites() {
    check(7, "[{\"price\":1}]", "[{\"price\":1,\"count\":null,\"token\":null}]");
    check(
        7,
        "[{\"price\":1},{\"price\":-1,\"conut\":2}]",
        "`[1].price`: expected decimal in 0.., found -1; `[1].conut`: is not a field; did you mean `count`?",
    );
    check(7, "[{\"price\":1},{\"price\":1},{\"price\":1}]", "expected at most 2 elements, found 3");
    check(7, "[{\"price\":1,\"token\":42}]", "`[0].token`: expected int in 1..=5, found a number");
    check(7, "{}", "expected list<Item> max 2, found an object");
    check(7, "[{}]", "`[0].price`: is missing, expected decimal in 0..");
    check(8, "{\"a\":1,\"b\":9}", "`[\"b\"]`: expected int in 1..=5, found 9");
    check(9, "[\"prod\",\"dev\",\"prod\"]", "[\"dev\",\"prod\"]");
}

#[test]
fn open_records_ignore_what_they_do_not_know() {
    check_as(
        true,
        6,
        "{\"price\":1,\"other\":true}",
        "{\"price\":1,\"count\":null,\"token\":null}",
    );
}

#[test]
fn other_forms() {
    let types = [
        TypeDef::Decimal { min: None, max: Some(2_000_000) }, // 0
        TypeDef::Int { min: Some(1), max: None },             // 1
        TypeDef::Time { format: None },                       // 2
        TypeDef::Time { format: Some("%Y-%m-%d %H:%M".into()) }, // 3
        TypeDef::Enum { name: "E".into(), variants: vec!["a".into(), "rest".into()] }, // 4
        TypeDef::Bool,                                        // 5
        TypeDef::List { of: 0, max: None },                   // 6
        TypeDef::Option { of: 4 },                            // 7
    ];
    let string = TakenForms { from: Some(CoercedForm::String), ..TakenForms::OWN };
    let rounded = TakenForms { rounded: Some(2), ..TakenForms::OWN };
    let whole = TakenForms { rounded: Some(0), ..TakenForms::OWN };
    let zone = TakenForms { timezone: Some(-330), ..TakenForms::OWN };
    let rest = TakenForms { fallback: Some(1), ..TakenForms::OWN };
    let decoder = Decoder {
        types: &types,
        workspace: "/",
        open: true,
        coercions: &[],
        matches: &|_, _| true,
    };
    for (ty, forms, json, expected) in [
        (0, rounded, "1.005", "1"),
        (0, rounded, "1.0150001", "1.02"),
        (0, rounded, "2.004", "2"),
        (0, rounded, "2.006", "expected decimal in ..=2, found 2.01"),
        (0, rounded, "\"1.5\"", "expected decimal in ..=2, found \"1.5\""),
        (0, TakenForms { rounded: Some(1), ..string }, "\"1.25\"", "1.2"),
        (0, string, "\"1.25\"", "1.25"),
        (0, string, "\" 1.25\"", "expected decimal in ..=2, found \" 1.25\""),
        (0, string, "1.25", "1.25"),
        (1, whole, "3.5", "4"),
        (1, whole, "0.5", "expected int in 1.., found 0"),
        (1, whole, "1e30", "expected int in 1.., found 1e30"),
        (2, zone, "\"2026-11-26T12:00:00\"", "\"2026-11-26T17:30:00Z\""),
        (2, zone, "\"2026-11-26T12:00:00+01:00\"", "\"2026-11-26T11:00:00Z\""),
        (
            2,
            TakenForms::OWN,
            "\"2026-11-26T12:00:00\"",
            "expected time (RFC 3339), found \"2026-11-26T12:00:00\"",
        ),
        (3, zone, "\"2026-11-26 12:00\"", "\"2026-11-26 17:30\""),
        (4, rest, "\"new\"", "\"rest\""),
        (4, rest, "\"a\"", "\"a\""),
        (4, rest, "7", "expected one of a, rest, found 7"),
        (5, string, "\"true\"", "true"),
        (5, string, "\"yes\"", "expected bool, found \"yes\""),
        (6, rounded, "[0.125, 1]", "[0.12,1]"),
        (7, rest, "null", "null"),
        (7, rest, "\"new\"", "\"rest\""),
    ] {
        let actual = match decoder.decode_as(ty, &forms, &Json::parse(json).unwrap()) {
            Ok(value) => render::to_json(&types, ty, &value).to_string(),
            Err(problems) => problems[0].to_string(),
        };
        assert_eq!(actual, expected, "{json}");
    }
}

#[test]
fn problems_are_bounded() {
    let types = [TypeDef::Bool, TypeDef::List { of: 0, max: None }];
    let decoder = Decoder {
        types: &types,
        workspace: "/",
        open: false,
        coercions: &[],
        matches: &|_, _| true,
    };
    let json = Json::Array(vec![Json::Null; 1000]);
    assert_eq!(decoder.decode(1, &json).unwrap_err().len(), MAX_PROBLEMS);
}

#[test]
fn renderings_are_short_and_safe() {
    let types = types();
    let text = |s: &str| render::value(&types, 2, &Value::String(s.into()));
    assert_eq!(text("a\n\u{202e}b"), "a\\n\\u{202e}b");
    assert_eq!(text(&"x".repeat(1000)).chars().count(), 201);
    let item = Value::Record(vec![Value::Decimal(1), Value::None, Value::Int(3)]);
    let list = Value::List(vec![item]);
    assert_eq!(
        render::value(&types, 7, &list),
        "[{price: 0.000001, count: none, token: (secret)}]"
    );
    assert_eq!(render::value(&types, 0, &Value::Enum(3)), "#3");
    let redacted = render::to_json_redacted(&types, 7, &list, &mut |_| Json::string("x"));
    assert_eq!(redacted.to_string(), r#"[{"price":0.000001,"count":null,"token":"x"}]"#);
}

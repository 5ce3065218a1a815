use super::Json;

fn check(text: &str, expected: &str) {
    let actual = match Json::parse(text) {
        Ok(json) => json.to_string(),
        Err(error) => format!("error: {error}"),
    };
    assert_eq!(actual, expected, "{text}");
}

#[test]
fn documents() {
    check("null", "null");
    check(" [ 1 , -2.50 , 1e400, {} , [] ] ", "[1,-2.50,1e400,{},[]]");
    check(r#"{"b": true, "a": [false]}"#, r#"{"b":true,"a":[false]}"#);
    check(r#""\u00e9\ud83d\ude00\/\u0000""#, "\"é😀/\\u0000\"");
    check("9223372036854775808", "9223372036854775808");
    check("-0", "-0");
}

#[test]
fn refusals() {
    check("", "error: unexpected end of the text at line 1, column 1");
    check("[1,]", "error: expected a value at line 1, column 4");
    check("[1\n 2]", "error: expected `,` or `]` at line 2, column 2");
    check("01", "error: a number has no leading zeros at line 1, column 2");
    check("NaN", "error: expected a value at line 1, column 1");
    check("1.", "error: unexpected end of the text at line 1, column 3");
    check("nul", "error: expected a value at line 1, column 1");
    check("1 2", "error: unexpected text after the value at line 1, column 3");
    check("\"\u{1}\"", "error: a control character in a string at line 1, column 2");
    check(r#""\ud800""#, "error: a lone surrogate at line 1, column 2");
    check(r#""\ud800\u0041""#, "error: a lone surrogate at line 1, column 2");
    check(r#""\udc00""#, "error: a lone surrogate at line 1, column 2");
    check(r#"{"a":1,"\u0061":2}"#, "error: an object has the same key twice at line 1, column 8");
}

#[test]
fn duplicates_in_large_objects() {
    let members: Vec<_> = (0..40).map(|i| format!("\"k{}\":0", i % 39)).collect();
    let text = format!("{{{}}}", members.join(","));
    check(&text, "error: an object has the same key twice at line 1, column 1");
}

#[test]
fn depth() {
    let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
    assert!(Json::parse(&nested(128)).is_ok());
    check(&nested(129), "error: more than 128 levels of nesting at line 1, column 129");
    assert!(Json::parse(&"[".repeat(1_000_000)).is_err());
}

#[test]
fn invalid_utf8() {
    let error = Json::parse_bytes(b"\"a\xff\"").unwrap_err();
    assert_eq!((error.offset, error.column), (2, 3));
}

#[test]
fn order_of_members_is_irrelevant() {
    let [a, b] = [r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#].map(|text| Json::parse(text).unwrap());
    assert_eq!(a, b);
    assert_ne!(a.to_string(), b.to_string());
    assert_ne!(Json::parse("1.0").unwrap(), Json::Int(1));
}

#[test]
fn serde_keeps_numbers() {
    let json: Json = serde_json::from_str(r#"{"a": [1.50, 2]}"#).unwrap();
    assert_eq!(serde_json::to_string(&json).unwrap(), r#"{"a":[1.50,2]}"#);
}

//! Guards of OpenAPI documents: `tests/suite/openapi`, a document a file, with its guard or the reason why there is none
//! beside it; and laws over documents that were damaged. `GUARD_BLESS=1` rewrites what stands beside.

use crate::cli::difference;
use guard_draft::ApiTools;
use guard_mcp::ToolLock;
use guard_plan::json::Json;
use guard_plan::random::Rng;
use guard_tests::compiled;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn is_pattern(text: &str) -> bool {
    regex::Regex::new(text).is_ok()
}

fn documents() -> Vec<PathBuf> {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/openapi");
    let entries = std::fs::read_dir(suite).expect("the suite is there");
    let mut documents: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "json" || end == "yaml"))
        .collect();
    documents.sort();
    documents
}

/// The guard of a document as it is formatted, or why there is none.
fn imported(bytes: &[u8]) -> String {
    let api = match ApiTools::read(bytes) {
        Ok(api) => api,
        Err(error) => {
            let mut out = format!("error: {error}\n");
            error.help.iter().for_each(|help| _ = writeln!(out, "  help: {help}"));
            return out;
        }
    };
    let guard = checked(&api.guard_text("imported", &is_pattern));
    // A lock is read back as it was written, and sees no difference.
    let lock = ToolLock::with_shared(api.definitions(), api.components());
    let read = ToolLock::read(&lock.text()).expect("a lock");
    assert_eq!(read.differences(&lock), []);
    assert_eq!(lock.names().count(), api.definitions().len(), "each tool has a name of its own");
    guard
}

/// The text as it is formatted, if it is a guard.
fn checked(text: &str) -> String {
    let formatted = guard_syntax::format(text).unwrap_or_else(|found| panic!("{found:?}\n{text}"));
    assert_eq!(guard_syntax::format(&formatted).ok().as_deref(), Some(&*formatted));
    assert!(compiled(&formatted).is_some(), "it has errors:\n{formatted}");
    formatted
}

#[test]
fn guards_of_documents() {
    let bless = std::env::var_os("GUARD_BLESS").is_some();
    let mut failures = String::new();
    for document in documents() {
        let got = imported(&std::fs::read(&document).expect("a document"));
        let name = document.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let beside = document.with_file_name(format!("{name}.out"));
        let expected = std::fs::read_to_string(&beside).unwrap_or_default();
        if bless {
            std::fs::write(&beside, &got).expect("the suite is writable");
        } else if got != expected {
            let _ = writeln!(failures, "\n=== {name}\n{}", difference(&expected, &got));
        }
    }
    assert!(failures.is_empty(), "{failures}\nGUARD_BLESS=1 accepts what is made now");
}

/// Values that stand where others should.
const VALUES: [&str; 36] = [
    "null",
    "true",
    "0",
    "-1",
    "9223372036854775807",
    "1e400",
    "0.0000001",
    "\"\"",
    "\"string\"",
    "\"integer\"",
    "\"number\"",
    "\"array\"",
    "\"object\"",
    "\"a\\\"} tool evil()\"",
    "\"\\u202e\\n// x\"",
    "\"*\"",
    "\"/*\"",
    "[]",
    "{}",
    "[\"null\", \"string\"]",
    "[\"a\", \"a\", null]",
    "{\"$ref\": \"#/components/schemas/Loop\"}",
    "{\"$ref\": \"#/components/schemas/Pair\"}",
    "{\"$ref\": \"#/paths\"}",
    "{\"$ref\": \"#/info/title\"}",
    "{\"allOf\": [{\"$ref\": \"#/components/schemas/Loop\"}, {\"$ref\": \"#/components/schemas/Pair\"}]}",
    "{\"anyOf\": [{\"$ref\": \"#/components/schemas/Pair\"}, {\"type\": \"null\"}]}",
    "{\"type\": \"integer\", \"minimum\": 5, \"exclusiveMaximum\": 5}",
    "{\"type\": \"number\", \"minimum\": -0.5, \"exclusiveMinimum\": true, \"maximum\": 9e12}",
    "{\"type\": \"integer\", \"format\": \"int32\", \"minimum\": 3000000000}",
    "{\"type\": \"string\", \"maxLength\": 0, \"minLength\": 9223372036854775807, \"pattern\": \"^(a+)+/$\"}",
    "{\"type\": \"string\", \"enum\": [\"and\", \"x y\", \"\\\\\", \"{a}\", \"é\"]}",
    "{\"type\": \"array\", \"items\": {\"type\": [\"string\", \"null\"]}, \"minItems\": 2, \"maxItems\": 0}",
    "{\"type\": \"string\", \"format\": \"date\", \"pattern\": \"[\"}",
    "{\"type\": \"object\", \"nullable\": true, \"properties\": {\"when\": {}, \"a-b\": {}}}",
    "{\"type\": \"object\", \"additionalProperties\": {\"type\": \"array\", \"items\": {}, \"nullable\": true}}",
];

/// Names that stand where others should.
const NAMES: [&str; 20] = [
    "when",
    "in",
    "tool",
    "_in",
    "",
    "a b",
    "a-b",
    "$ref",
    "é",
    "properties",
    "type",
    "allOf",
    "enum",
    "200",
    "get",
    "len",
    "1st",
    "x-a",
    "required",
    "nullable",
];

/// Damages one value of a document.
fn damage(json: &mut Json, rng: &mut Rng) {
    let count = match json {
        Json::Array(items) => items.len(),
        Json::Object(members) => members.len(),
        _ => 0,
    };
    // Most damage is deep inside.
    if count > 0 && !rng.chance(15) {
        let at = rng.below(count);
        match json {
            Json::Array(items) => damage(&mut items[at], rng),
            Json::Object(members) => damage(&mut members[at].1, rng),
            _ => {}
        }
        return;
    }
    match (json, rng.below(4)) {
        (Json::Object(members), 0) if count > 0 => _ = members.remove(rng.below(count)),
        (Json::Object(members), 1) if count > 0 => {
            let name = NAMES[rng.below(NAMES.len())];
            if members.iter().all(|(known, _)| **known != *name) {
                members[rng.below(count)].0 = name.into();
            }
        }
        (Json::Array(items), 0) if count > 0 => {
            let copy = items[rng.below(count)].clone();
            items.push(copy);
        }
        (json, _) => *json = Json::parse(VALUES[rng.below(VALUES.len())]).expect("a value"),
    }
}

#[test]
fn damaged_documents_give_guards_or_reasons() {
    let shared = r##"{"Loop": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Loop"}, "pair": {"$ref": "#/components/schemas/Pair"}}},
        "Pair": {"allOf": [{"$ref": "#/components/schemas/Loop"}, {"required": ["next"], "properties": {"next": {"type": "object"}}}]}}"##;
    let sound: Vec<Json> = documents()
        .iter()
        .filter(|path| !path.to_string_lossy().contains("damaged_"))
        .filter_map(|path| Json::parse_bytes(&std::fs::read(path).expect("a document")).ok())
        .collect();
    let mut guards = 0;
    let mut reasons = 0;
    for seed in 0..1_500 {
        let mut rng = Rng::new(seed);
        let mut json = rng.pick(&sound).clone();
        if let Json::Object(members) = &mut json {
            members.retain(|(name, _)| **name != *"components" || !rng.chance(30));
            if members.iter().all(|(name, _)| **name != *"components") {
                let schemas = Json::parse(shared).expect("schemas");
                members
                    .push(("components".into(), Json::Object(vec![("schemas".into(), schemas)])));
            }
        }
        for _ in 0..1 + rng.below(4) {
            damage(&mut json, &mut rng);
        }
        let text = json.to_string();
        let shown = std::panic::catch_unwind(|| imported(text.as_bytes()));
        let got = shown.unwrap_or_else(|_| panic!("seed {seed}: {text}"));
        if got.starts_with("error: ") { reasons += 1 } else { guards += 1 }
    }
    assert!(guards > 400 && reasons > 200, "{guards} guards, {reasons} reasons");
}

#[test]
fn damaged_bytes_give_guards_or_reasons() {
    let sound: Vec<Vec<u8>> =
        documents().iter().map(|path| std::fs::read(path).expect("a document")).collect();
    for seed in 0..3_000 {
        let mut rng = Rng::new(seed);
        let mut bytes = rng.pick(&sound).clone();
        for _ in 0..rng.below(4) {
            let at = rng.below(bytes.len().max(1)).min(bytes.len());
            match rng.below(3) {
                0 => bytes.truncate(at),
                1 if at < bytes.len() => bytes[at] = *rng.pick(b"{}[]\",: \n-&*!|>'#%@\\\x00\xff"),
                _ => {
                    let marks = ["- ", "? ", ": ", "\t", "&a ", "*a "];
                    let mark = marks[rng.below(marks.len())].bytes();
                    bytes.splice(at..at, mark).for_each(drop);
                }
            }
        }
        let shown = std::panic::catch_unwind(|| imported(&bytes));
        assert!(shown.is_ok(), "seed {seed}: {}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn depth_and_references_have_bounds() {
    let reason = |text: String| ApiTools::read(text.as_bytes()).map(|_| ()).unwrap_err().message;
    for open in ["[", "{\"a\":", "- ", "? ", "a: ["] {
        assert!(!reason(open.repeat(100_000)).is_empty());
    }
    // Each schema refers twice to the next: 2^60 records, were each declared where it stands.
    let mut schemas = String::new();
    for at in 0..60 {
        let next = at + 1;
        let _ = write!(
            schemas,
            r##""S{at}": {{"type": "object", "properties": {{"a": {{"$ref": "#/components/schemas/S{next}"}}, "b": {{"$ref": "#/components/schemas/S{next}"}}}}}},"##
        );
    }
    let paths = |last: usize| -> String {
        let path = |at: usize| {
            format!(
                r##""/{at}": {{"get": {{"responses": {{"200": {{"content": {{"application/json": {{"schema": {{"$ref": "#/components/schemas/S{at}"}}}}}}}}}}}}}}"##
            )
        };
        // The innermost first: each guard of the next finds it declared.
        (0..=last).rev().map(path).collect::<Vec<_>>().join(",")
    };
    let text = format!(
        r#"{{"openapi": "3.1.0", "paths": {{{}}}, "components": {{"schemas": {{{schemas} "S60": {{"type": "string"}}}}}}}}"#,
        paths(59)
    );
    let guard = imported(text.as_bytes());
    assert!(guard.contains("nested too deep"), "{guard}");
    // `allOf` of itself twice, and of many.
    let parts = r##"{"$ref": "#/components/schemas/A"},"##.repeat(100);
    let text = format!(
        r##"{{"openapi": "3.1.0", "paths": {{"/": {{"post": {{"requestBody": {{"content": {{"application/json": {{"schema": {{"$ref": "#/components/schemas/A"}}}}}}}}}}}}}},
            "components": {{"schemas": {{"A": {{"allOf": [{parts} {{}}]}}}}}}}}"##
    );
    assert!(imported(text.as_bytes()).contains("any JSON is accepted"));
}

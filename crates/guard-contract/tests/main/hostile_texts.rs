//! Texts that are designed to be expensive, each of about the requested length.

/// A name, and the function that generates the text.
pub type Hostile = (&'static str, fn(usize) -> String);

fn rows(head: &str, row: &str, size: usize) -> String {
    let mut text = String::with_capacity(size + row.len() + head.len());
    text.push_str(head);
    while text.len() < size {
        text.push_str(row);
    }
    text
}

const LIST: &str = "{\"summary\": \"s\", \"recommendations\": [";

/// All hostile texts.
pub const TEXTS: &[Hostile] = &[
    ("prose", |n| rows("", "The quick brown fox. ", n)),
    ("open brackets", |n| rows("", "[", n)),
    ("open brackets in a list", |n| rows(LIST, "[", n)),
    ("open brackets in an item", |n| rows(&format!("{LIST}{{\"tags\": "), "[", n)),
    ("open objects", |n| rows("", "{\"rank\":", n)),
    ("open objects in a list", |n| rows(LIST, "{\"rank\":", n)),
    ("almost-items on lines", |n| rows(LIST, "{\"rank\": 1, \"why\": \"x\n", n)),
    ("almost-items in lists", |n| rows(LIST, "{\"rank\": [,\n", n)),
    ("almost-items alone", |n| rows("", "{\"rank\": [,\n", n)),
    ("items of nothing", |n| rows(LIST, "{\"rank\":1},", n)),
    ("items behind stray braces", |n| rows(LIST, "{\"rank\":1}},", n)),
    ("backslashes", |n| rows(&format!("{LIST}{{\"why\": \""), "\\", n)),
    ("quotes", |n| rows(LIST, "\"", n)),
    ("quotes in an item", |n| rows(&format!("{LIST}{{\"why\": "), "\"", n)),
    ("single quotes", |n| rows(LIST, "{\"rank\":'", n)),
    ("single quotes on lines", |n| rows(LIST, "{\"rank\":'\n", n)),
    ("open comments", |n| rows(LIST, "{\"rank\":/*\n", n)),
    ("open comments alone", |n| rows(LIST, "/* ", n)),
    ("line comments", |n| rows(LIST, "//\n", n)),
    ("commas", |n| rows(LIST, ",", n)),
    ("blanks", |n| rows(LIST, " ", n)),
    ("blanks after a value", |n| rows("{\"summary\": \"s\"", " ", n)),
    ("blanks after a comma", |n| rows("{\"summary\": \"s\",", " ", n)),
    ("blanks after a key", |n| rows("{\"summary\"", " ", n)),
    ("blanks after a brace", |n| rows("{", " ", n)),
    ("blanks after a bracket in an item", |n| rows(&format!("{LIST}{{\"rank\": x}},{{"), " ", n)),
    ("blanks after a scalar in a list", |n| rows(&format!("{LIST}1"), " ", n)),
    ("blanks after a word", |n| rows("x", " ", n)),
    ("blanks after braces", |n| rows("", &format!("{{{}", " ".repeat(200)), n)),
    ("keys", |n| rows("{", "\"k\":1,", n)),
    ("long keys", |n| rows("{", &format!("\"{}\":1,", "k".repeat(300)), n)),
    ("one long key", |n| rows("{\"", "k", n)),
    ("one long string", |n| rows("{\"summary\": \"", "x", n)),
    ("one long item", |n| rows(&format!("{LIST}{{\"why\": \""), "x", n)),
    ("closers", |n| rows(LIST, "]}", n)),
    ("thinking", |n| rows("<think>", "<", n)),
    ("tags", |n| rows("", "</think>", n)),
    ("envelopes", |n| rows("", "{\"summary\":\"s\",\"recommendations\":[]}\n", n)),
    ("open envelopes", |n| rows("", "{\"summary\":\"s\",\"recommendations\":[\n", n)),
    ("lists in envelopes", |n| rows("{", "\"recommendations\":[", n)),
    ("items inside of items", |n| rows(LIST, "{\"tags\":[{\"rank\":1},", n)),
    ("smart quotes", |n| rows(LIST, "{“rank”:“", n)),
    ("one member many times", |n| rows("{\"recommendations\":[],", "\"summary\":\"a\",", n)),
    ("one item with many keys", |n| keys(&format!("{LIST}{{"), n)),
    ("an envelope with many keys", |n| keys("{\"summary\":\"s\",", n)),
];

/// Returns a text of keys that are all different.
fn keys(head: &str, size: usize) -> String {
    let mut text = head.to_owned();
    for key in 0.. {
        if text.len() >= size {
            break;
        }
        text.push_str(&format!("\"k{key}\":1,"));
    }
    text
}

//! The corpus of malformed JSON from the test suites of repair tools, checked by contracts.
//!
//! If a case expects objects with members, the contract's items have those members, all optional
//! and of any type. If it expects another value, its text is the value of a member, because a
//! contract has no other place for it. The result is compared with the expectation of the tools,
//! and the outcomes with `tests/corpus/results.txt`.

use super::build::*;
use guard_contract::Input;
use guard_plan::json::Json;
use guard_plan::plan::TypeDef;
use guard_plan::report::Report;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The outcome of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// The whole expected value was found.
    Same,
    /// Some of the expected items were found, and nothing else.
    Fewer,
    /// Nothing was found; the text is in quarantine or was not recognised.
    Nothing,
    /// An unexpected value was found.
    Other,
}

struct Case {
    id: String,
    tier: String,
    tags: Vec<String>,
    input: String,
    expected: Value,
    items: Option<Vec<Value>>,
    path: Option<String>,
}

fn cases() -> Vec<Case> {
    let text = include_str!("../corpus/malformed_json.json");
    let Ok(Value::Array(cases)) = serde_json::from_str(text) else { panic!("a list of cases") };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let case = |case: &Value| Case {
        id: text(&case["id"]),
        tier: text(&case["tier"]),
        tags: case["tags"].as_array().into_iter().flatten().map(text).collect(),
        input: text(&case["input"]),
        expected: case["expected_value"].clone(),
        items: case["expected_items"].as_array().cloned(),
        path: case["items_path"].as_str().map(str::to_owned),
    };
    cases.iter().map(case).collect()
}

/// Returns the value as `serde_json` represents it: numbers by their size, as in the corpus.
fn plain(value: &Json) -> Value {
    serde_json::from_str(&value.to_string()).expect("it is JSON")
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Returns a contract whose items, in this member, have these members, and whose envelope has those
/// of `envelope`.
fn contract(member: &str, names: &BTreeSet<&String>, envelope: &BTreeSet<&String>) -> Builder {
    let mut b = Builder::new();
    let any = b.ty(TypeDef::Option { of: JSON });
    let item = b.record("Item", names.iter().map(|name| field(name, any)).collect());
    let items = b.ty(TypeDef::List { of: item, max: None });
    let others = envelope.iter().filter(|name| name.as_str() != member);
    let mut fields = vec![field(member, items)];
    fields.extend(others.map(|name| field(name, any)));
    let record = b.record("contract Case", fields);
    let contract = b.contract();
    contract.record = record;
    contract.bounds.depth = 100;
    contract.lists = vec![list(0, member, item, None, None)];
    b
}

fn judge(case: &Case) -> (Report, Outcome) {
    let items = case.items.as_deref().unwrap_or_default();
    let keyed = |value: &Value| value.as_object().is_some_and(|members| !members.is_empty());
    if !items.is_empty() && items.iter().all(keyed) {
        let names =
            items.iter().filter_map(Value::as_object).flat_map(|members| members.keys()).collect();
        let nested = case.path.as_deref().and_then(|path| path.strip_prefix("$."));
        let envelope = match (nested, &case.expected) {
            (Some(_), Value::Object(members)) => members.keys().collect(),
            _ => BTreeSet::new(),
        };
        let builder = contract(nested.unwrap_or("the items"), &names, &envelope);
        let report = check_with(&builder.checker(), case.input.as_bytes(), &Input::none());
        let found: Vec<Value> =
            report.items.values().flatten().map(|item| plain(&item.value)).collect();
        let all = found.len() == items.len() && found.iter().zip(items).all(|(a, b)| same(a, b));
        let outcome = match (all, found.is_empty()) {
            (true, _) => Outcome::Same,
            (_, true) => Outcome::Nothing,
            _ if found.iter().all(|a| items.iter().any(|b| same(a, b))) => Outcome::Fewer,
            _ => Outcome::Other,
        };
        return (report, outcome);
    }
    let mut b = Builder::new();
    let any = b.ty(TypeDef::Option { of: JSON });
    let record = b.record("contract Case", vec![field("value", any)]);
    b.contract().record = record;
    let text = format!("{{\"value\": {}\n}}", case.input);
    let report = check_with(&b.checker(), text.as_bytes(), &Input::none());
    let outcome = match report.envelope.get("value") {
        None => Outcome::Nothing,
        Some(value) if same(&plain(value), &case.expected) => Outcome::Same,
        Some(_) => Outcome::Other,
    };
    (report, outcome)
}

/// The number of cases for each outcome.
type Counts = BTreeMap<Outcome, usize>;

/// Counts the outcomes by tier and by tag.
fn rows() -> BTreeMap<String, Counts> {
    let mut rows: BTreeMap<String, Counts> = BTreeMap::new();
    for case in cases() {
        let (_, outcome) = judge(&case);
        let tags = case.tags.iter().map(|tag| format!("tag {tag}"));
        for row in tags.chain([format!("tier {}", case.tier)]) {
            *rows.entry(row).or_default().entry(outcome).or_default() += 1;
        }
    }
    rows
}

fn of(counts: &Counts) -> [usize; 4] {
    [Outcome::Same, Outcome::Fewer, Outcome::Nothing, Outcome::Other]
        .map(|outcome| counts.get(&outcome).copied().unwrap_or(0))
}

/// Formats the outcomes by tier and by tag, and every case with an unexpected outcome.
fn results() -> String {
    let mut out = String::from("same fewer nothing other\n");
    for (row, counts) in rows() {
        let [a, b, c, d] = of(&counts);
        let _ = writeln!(out, "{a:4} {b:5} {c:7} {d:5}  {row}");
    }
    let mut lines = Vec::new();
    for case in cases() {
        let (_, outcome) = judge(&case);
        if outcome != Outcome::Same {
            lines.push(format!("{} {} {outcome:?}", case.tier, case.id));
        }
    }
    lines.sort_unstable();
    format!("{out}\n{}\n", lines.join("\n"))
}

/// Formats the outcomes as the table of a page.
fn table() -> String {
    let mut out = String::from("| cases | | as expected | some items | nothing | otherwise |\n");
    out.push_str("| --- | --- | --- | --- | --- | --- |\n");
    let rows = rows();
    let tiers = rows.iter().filter(|(row, _)| row.starts_with("tier"));
    for (row, counts) in tiers.chain(rows.iter().filter(|(row, _)| row.starts_with("tag"))) {
        let [same, fewer, nothing, other] = of(counts);
        let all = same + fewer + nothing + other;
        // If nothing is expected, an empty result is correct.
        let (same, nothing) =
            if row.starts_with("tier R-") { (nothing, same) } else { (same, nothing) };
        let rate = 100 * same / all;
        let _ =
            writeln!(out, "| {row} | {all} | {same} ({rate} %) | {fewer} | {nothing} | {other} |");
    }
    out
}

/// Returns the path of a file, given relative to the crate's folder.
fn file(path: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn bless() -> bool {
    std::env::var_os("GUARD_BLESS").is_some()
}

#[test]
fn the_outcomes_are_those_that_are_written_down() {
    let path = file("tests/corpus/results.txt");
    let found = results();
    if bless() {
        std::fs::write(&path, &found).expect("it can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, written, "GUARD_BLESS=1 writes tests/corpus/results.txt");
}

#[test]
fn the_page_has_the_table() {
    let path = file("../../docs/benchmarks.md");
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    let heading = "| cases | | as expected";
    let start = page.find(heading).expect("the page has the table");
    let end = page[start..].find("\n\n").map_or(page.len(), |len| start + len + 1);
    if bless() {
        let again = format!("{}{}{}", &page[..start], table(), &page[end..]);
        std::fs::write(&path, again).expect("it can be written");
    } else {
        assert_eq!(page[start..end], table(), "GUARD_BLESS=1 writes docs/benchmarks.md");
    }
}

#[test]
fn every_difference_from_what_tools_agree_on_is_explained() {
    let page = std::fs::read_to_string(file("tests/corpus/differences.md")).unwrap_or_default();
    let said = page.lines().filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
    let said: BTreeSet<String> = said
        .flat_map(|(ids, _)| ids.split(", "))
        .map(|id| id.trim_matches('`').to_owned())
        .collect();
    let consensus = |case: &Case| case.tier.starts_with("T0-") || case.tier.starts_with("T1-");
    let cases = cases().into_iter().filter(consensus);
    let differ = cases.filter(|case| judge(case).1 != Outcome::Same).map(|case| case.id);
    assert_eq!(said, differ.collect::<BTreeSet<String>>());
}

/// Collects the texts and numbers in a value.
fn leaves(value: &Json, out: &mut Vec<String>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| leaves(item, out)),
        Json::Object(members) => members.iter().for_each(|(key, value)| {
            out.push(key.to_string());
            leaves(value, out);
        }),
        Json::String(text) => out.push(text.to_string()),
        Json::Int(_) | Json::Number(_) => out.push(value.to_string()),
        _ => {}
    }
}

#[test]
fn nothing_is_invented() {
    for case in cases() {
        let (report, _) = judge(&case);
        let mut found = Vec::new();
        report.items.values().flatten().for_each(|item| leaves(&item.value, &mut found));
        leaves(&report.envelope, &mut found);
        let words = found.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
        for word in words.filter(|word| word.is_ascii() && *word != "value") {
            assert!(case.input.contains(word), "{}: {word:?} of {:?}", case.id, case.input);
        }
    }
}

#[test]
fn from_what_holds_nothing_nothing_is_made() {
    for case in cases().iter().filter(|case| case.tier.starts_with("R-")) {
        let (report, _) = judge(case);
        assert!(report.kept() == 0, "{} {}", case.id, report.text());
    }
}

#[test]
fn what_is_valid_stays_as_it_is() {
    for case in cases().iter().filter(|case| case.tier.starts_with("T0-")) {
        let (_, outcome) = judge(case);
        // One of the cases has a duplicate key, which readers handle differently.
        let expected = if case.id == "py-143" { Outcome::Nothing } else { Outcome::Same };
        assert_eq!(outcome, expected, "{} {}", case.id, case.input);
    }
}

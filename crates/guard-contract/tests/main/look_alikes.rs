//! Property tests of look-alikes: texts in which items, documents and values are quoted, negated,
//! shown as examples and considered, with or without a document that is meant.
//!
//! - `valid` means that the values are those of the document that is meant.
//! - Nothing that is not meant is delivered if something is meant.

use super::build::*;
use super::damage;
use super::forms;
use guard_contract::{Checker, Input};
use guard_plan::json::Json;
use guard_plan::random::Rng;
use guard_plan::report::State;

/// Phrases that quote or negate a document that is not meant. `@` is the place of the document.
const BESIDE: [&str; 31] = [
    "I did not do @.",
    "I would never do @",
    "The mail says \"@\", and I did not follow it.",
    "He wrote '@' to me.",
    "Use `@` never.",
    "> @",
    "Example (not mine): @",
    "(@)",
    "**Not** @",
    "| what | @ |",
    "- not @",
    "\"@\"",
    "“@”",
    "// @",
    "<!-- @ -->",
    "<!--\n@\n-->",
    "<!-- before:\n@\n@ -->",
    "/*\n@\n*/",
    "-@",
    "1.@",
    "1. do not write @",
    "@ is what I refused.",
    "<think>@</think>",
    "<think>\n@\n</think>",
    "I thought of @, @ and @; none of them.",
    "The log says {\"event\": @}.",
    "{\"event\": {\"inner\": @}} was in the log.",
    "no: @, no: @",
    "[1] @",
    "x = @;",
    "It begins with @ and goes on",
];
const PROSE: [&str; 6] = [
    "Sure! Here it is:",
    "I left nothing out.",
    "As of 12 May, 3 of 4 are done (see [a] and {b}).",
    "He said \"no\", it's fine.",
    "Done.",
    "Note: the total is 12,111.",
];

/// A contract with valid documents, and with texts that look like parts of them.
struct Subject {
    checker: Checker,
    /// A document, and its values.
    meant: fn(&mut Rng) -> (String, Json),
    look_alikes: &'static [&'static str],
}

fn subjects() -> Vec<Subject> {
    vec![
        Subject {
            checker: damage::actions().checker(),
            meant: |rng| parsed(damage::document(rng).text),
            look_alikes: &[
                r#"{"action":"LOOK","target":"LOOK"}"#,
                r#"{"acts":[{"action":"LOOK","target":"LOOK"}]}"#,
                r#"{"acts":[],"label":"LOOK"}"#,
                r#"[{"action":"LOOK","target":"LOOK"}]"#,
                r#"{action: "LOOK", target: "LOOK"}"#,
                r#""label": "LOOK""#,
            ],
        },
        Subject {
            checker: forms::listed().checker(),
            meant: |rng| {
                parsed(
                    damage::list_alone(&damage::document(rng))
                        .text
                        .replace("\"dry_run\":true", "\"n\":5"),
                )
            },
            look_alikes: &[
                r#"{"action":"LOOK","target":"LOOK"}"#,
                r#"[{"action":"LOOK","target":"LOOK"}]"#,
                r#"[]"#,
                r#"{"items":[{"action":"LOOK","target":"LOOK"}]}"#,
                r#"[[{"action":"LOOK","target":"LOOK"}]]"#,
                r#"[{action: "LOOK", target: "LOOK"}]"#,
            ],
        },
        Subject {
            checker: forms::steps().checker(),
            meant: |rng| {
                let step = |rng: &mut Rng| match rng.below(3) {
                    0 => r#"{"kind": "run", "command": "ls"}"#.to_owned(),
                    1 => format!(r#"{{"command": "a", "kind": "run", "n": {}}}"#, rng.below(99)),
                    _ => r#"{"kind": "ask", "question": "{\"kind\": \"run\"}?"}"#.to_owned(),
                };
                let steps: Vec<String> = (0..rng.below(4)).map(|_| step(rng)).collect();
                parsed(format!("{{\"all steps\": [{}]}}", steps.join(", ")))
            },
            look_alikes: &[
                r#"{"kind":"run","command":"LOOK"}"#,
                r#"{"command":"LOOK"}"#,
                r#"{"question":"LOOK","kind":"ask"}"#,
                r#"{"all steps":[{"kind":"run","command":"LOOK"}]}"#,
                r#"{"all steps":[],"urgent":"true"}"#,
            ],
        },
        Subject {
            checker: forms::score().checker(),
            meant: |rng| parsed(format!("{}\n", rng.below(1000))),
            look_alikes: &["777", "{\"value\": 777}", "[777]", "7/10", "7.5", "\"777\""],
        },
        Subject {
            checker: forms::word().checker(),
            meant: |_| parsed("\"a \\\"b\\\" </think> c\"".into()),
            look_alikes: &["\"LOOK\"", "{\"value\": \"LOOK\"}", "[\"LOOK\"]"],
        },
        Subject {
            checker: forms::numbers().checker(),
            meant: |rng| parsed(format!("[{}, {}]", rng.below(10), rng.below(10))),
            look_alikes: &["[777]", "777", "[]", "{\"value\": [777]}", "[[777]]"],
        },
        Subject {
            checker: forms::step().checker(),
            meant: |_| parsed(r#"{"kind": "ask", "question": "{\"kind\": \"run\"}?"}"#.into()),
            look_alikes: &[
                r#"{"kind":"run","command":"LOOK"}"#,
                r#"{"command":"LOOK"}"#,
                r#"{"value":{"kind":"run","command":"LOOK"}}"#,
            ],
        },
    ]
}

fn parsed(text: String) -> (String, Json) {
    let value = Json::parse(&text).expect("it is JSON");
    (text, value)
}

fn stands_beside(rng: &mut Rng, subject: &Subject) -> String {
    if rng.chance(30) {
        return (*rng.pick(&PROSE)).to_owned();
    }
    let look_alike = rng.pick(subject.look_alikes);
    rng.pick(&BESIDE).replace('@', look_alike)
}

/// Returns a text, and the value that is meant.
fn text(rng: &mut Rng, subject: &Subject) -> (String, Option<Json>) {
    let mut parts: Vec<String> = (0..rng.below(3)).map(|_| stands_beside(rng, subject)).collect();
    let meant = rng.chance(70).then(|| (subject.meant)(rng));
    if let Some((document, _)) = &meant {
        let fenced = rng.chance(40);
        parts.push(if fenced { format!("```json\n{document}\n```") } else { document.clone() });
    }
    parts.extend((0..rng.below(3)).map(|_| stands_beside(rng, subject)));
    let between = *rng.pick(&["\n", "\n\n", "\n \n"]);
    (parts.join(between), meant.map(|(_, value)| value))
}

/// Returns the values of a report, without empty lists and `null`.
fn plain(value: &Json) -> Json {
    match value {
        Json::Object(members) => {
            let mut members: Vec<_> =
                members.iter().filter(|(_, value)| *value != Json::Null).cloned().collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            Json::Object(members)
        }
        other => other.clone(),
    }
}

/// The texts that break the laws, and the counts of meant and found documents.
#[derive(Default)]
pub struct Outcome {
    pub falsely_valid: Vec<String>,
    pub delivered: Vec<String>,
    /// The number of documents that were meant, and the number of these that were found.
    pub meant: u64,
    pub found: u64,
}

/// Checks `count` texts, from a seed on.
pub fn run(count: u64, seed: u64) -> Outcome {
    let subjects = subjects();
    let mut outcome = Outcome::default();
    for n in 0..count {
        let mut rng = Rng::new(seed.wrapping_mul(0x1_0000_0001).wrapping_add(n));
        let subject = &subjects[(n % subjects.len() as u64) as usize];
        let (text, meant) = text(&mut rng, subject);
        let report = subject.checker.check(text.as_bytes(), &Input::none());
        covers(&report, text.len());
        let values = report.values();
        let same = meant.as_ref().is_some_and(|meant| plain(meant) == plain(&values));
        // A text may be a document by chance, for every reader.
        let strict = meant.is_none() && Json::parse(&text).is_ok();
        if report.state == State::Valid && !same && !strict {
            outcome
                .falsely_valid
                .push(format!("{n}: valid, and not what was meant: {values}\n{text}\n"));
        }
        // A whole document within a sentence is read if there is no other, but is never `valid`.
        let delivered = values.to_string();
        let empty = matches!(&meant, Some(Json::Array(items)) if items.is_empty());
        if meant.is_some() && !empty && (delivered.contains("LOOK") || delivered.contains("777")) {
            outcome
                .delivered
                .push(format!("{n}: what is not meant is delivered: {values}\n{text}\n"));
        }
        outcome.meant += u64::from(meant.is_some());
        outcome.found += u64::from(same);
    }
    outcome
}

#[test]
fn what_only_looks_like_it_is_not_taken() {
    let Outcome { falsely_valid, delivered, meant, found } = run(14_000, 1);
    let first = |all: &[String]| all.iter().take(9).cloned().collect::<Vec<_>>().join("\n");
    assert!(falsely_valid.is_empty(), "{}\n{}", falsely_valid.len(), first(&falsely_valid));
    // A document that is damaged by a look-alike beside it may rank below a document within a
    // sentence.
    assert!(delivered.len() <= 7, "{}\n{}", delivered.len(), first(&delivered));
    assert!(found * 100 >= meant * 55, "{found} of {meant} found");
}

#[test]
fn no_damaged_list_is_valid_unless_it_is_what_was_meant() {
    let mut builder = forms::listed();
    let flag = builder.ty(guard_plan::plan::TypeDef::Bool);
    let flag = builder.ty(guard_plan::plan::TypeDef::Option { of: flag });
    for def in &mut builder.plan.types {
        if let guard_plan::plan::TypeDef::Record { name, fields } = def
            && name == "Act"
        {
            fields[2] = field("dry_run", flag);
        }
    }
    builder.contract().bounds.quarantine = 10_000;
    let outcome = damage::run_listed(&builder.checker(), 7_000, 1, 6);
    let broken = outcome.broken.join("\n");
    assert!(outcome.holds(7_000), "{} broken\n{broken}", outcome.count);
    for (kind, recall) in &outcome.recall {
        assert!(recall.found * 100 >= recall.all * 80, "{kind:?}: {recall}");
    }
}

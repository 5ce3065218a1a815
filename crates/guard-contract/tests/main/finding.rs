//! Tests of finding documents in texts of producers.

use super::build::*;
use guard_plan::report::{QuarantineReason, SpanKind, State};

/// Checks the ranks of the valid items, and the reasons of the others.
fn finds(text: &str, ranks_: &[i64], reasons_: &[QuarantineReason]) -> guard_plan::report::Report {
    let report = check(&triage().checker(), text);
    let found: Vec<QuarantineReason> = report.quarantined.iter().map(|unit| unit.reason).collect();
    assert_eq!(ranks(&report), ranks_, "{text}\n{}", report.text());
    assert_eq!(found, reasons_, "{text}\n{}", report.text());
    report
}

fn three() -> String {
    document(&[unit(1), unit(2), unit(3)])
}

#[test]
fn whatever_stands_around() {
    let all = [1, 2, 3];
    for text in [
        three(),
        format!("\u{feff}{}", three()),
        format!("```json\n{}\n```", three()),
        format!("Here it is:\n```\n{}\n```\nHope it helps {{ok}}!", three()),
        three().replace('\n', "\r\n"),
        format!(
            "<think>{{\"summary\": \"decoy\", \"recommendations\": [{}]}}</think>\n{}",
            unit(9),
            three()
        ),
        format!("some thoughts {{\"rank\": 9}}</think>\n{}", three()),
        format!("An example is {{\"foo\": [1, {{}}]}}.\n{}", three()),
        format!("[{}]", three()),
    ] {
        let report = finds(&text, &all, &[]);
        assert_eq!(report.state, State::Valid, "{text}");
    }
}

#[test]
fn items_that_stand_by_themselves() {
    let lines = format!("{}\n{}\n{}\n", unit(1), unit(2), unit(3));
    let headed = format!("{{\"summary\": \"s\"}}\n{lines}");
    assert_eq!(finds(&headed, &[1, 2, 3], &[]).state, State::Valid);
    assert_eq!(finds(&headed.replace('\n', "\r\n"), &[1, 2, 3], &[]).state, State::Valid);
    // Without its head, the summary is missing.
    let report = finds(&lines, &[1, 2, 3], &[]);
    assert_eq!((report.state, report.problems[0].member.as_str()), (State::Partial, "summary"));
    finds(&format!("[{}, {}]", unit(1), unit(2)), &[1, 2], &[]);
    finds(&format!("```\n{lines}```"), &[1, 2, 3], &[]);
    let broken = format!("{}\n{{\"rank\": 2, \"why\": \"open\n{}\n", unit(1), unit(3));
    finds(&broken, &[1, 3], &[QuarantineReason::Malformed]);
}

#[test]
fn several_documents() {
    let first = document(&[unit(8), unit(9)]);
    let report = finds(&format!("Draft:\n{first}\nBetter:\n{}", three()), &[1, 2, 3], &[]);
    assert_eq!((report.passed_over.len(), report.passed_over[0].units), (1, 2));
    assert!(report.review_required);
    // A later document without content does not count.
    let report =
        finds(&format!("{}\nI left out {{\"recommendations\": \"x\"}}", three()), &[1, 2, 3], &[]);
    assert_eq!(report.passed_over.len(), 1);
}

#[test]
fn one_broken_item_costs_itself() {
    let good = [unit(1), unit(2), unit(3)];
    for (from, to) in [
        ("\"why\": \"because 2\"", "\"why\": \"he said \"no\" twice\""),
        ("\"why\": \"because 2\"", "\"why\": \"because 2"),
        ("\"why\": \"because 2\"", "\"why\": because 2\""),
        ("\"why\": \"because 2\"", "\"why\": because 2"),
        ("\"why\": \"because 2\"", "\"why\": \"because 2\\\""),
        ("\"rank\": 2", "\"rank\": NaN"),
        ("\"rank\": 2", "\"rank\":"),
        ("\"c2\"", "\"\u{1}\""),
        ("\"c2\"", "\"\\ud800\""),
        ("\"c2\"", "\"\\x\""),
        ("\"rank\": 2", "\"rank\": 2, \"rank\": 3"),
    ] {
        let bad = unit(2).replace(from, to);
        assert_ne!(bad, unit(2));
        for at in 0..3 {
            let mut items = good.to_vec();
            items[at] = bad.clone();
            let expected: Vec<i64> =
                [1, 2, 3].into_iter().filter(|r| *r != at as i64 + 1).collect();
            for text in [document(&items), document(&items).replace('\n', ""), items.join("\n")] {
                finds(&text, &expected, &[QuarantineReason::Malformed]);
            }
        }
    }
}

#[test]
fn brackets_that_are_missing_or_too_many() {
    let list = |middle: &str| document(&[unit(1), middle.to_owned(), unit(3)]);
    // The object of the members would be a guess.
    let malformed = [QuarantineReason::Malformed];
    finds(&list(unit(2).strip_suffix("}").expect("it ends")), &[1, 3], &malformed);
    finds(&list(unit(2).strip_suffix("}}").expect("it ends")), &[1, 3], &malformed);
    finds(&list(&format!("{}}}", unit(2))), &[1, 3], &malformed);
    // The content of an unreadable item is not searched.
    let open = "{\"rank\": 2, \"candidate\": \"c2\", \"action\": \"start\", \"why\": \"w\", \"tags\": [\"a\"";
    finds(&list(open), &[1, 3], &malformed);
    finds(&list(&format!("{open}, {}", unit(4))), &[1, 3], &malformed);
    finds(&list("{{"), &[1, 3], &[QuarantineReason::Malformed]);
    finds(&list("x"), &[1, 3], &[QuarantineReason::Malformed]);
    finds(&list("1"), &[1, 3], &[QuarantineReason::Schema]);
    finds(&list("\"x\""), &[1, 3], &[QuarantineReason::Schema]);
    // The end of the list is missing, or the commas are missing.
    finds(&three().replace("\n]}", "\n}"), &[1, 2, 3], &[]);
    finds(&three().replace("\n]}", ""), &[1, 2, 3], &[]);
    finds(&three().replace(",\n", "\n"), &[1, 2, 3], &[]);
    finds(&three().replace("\n]}", ",\n]}"), &[1, 2, 3], &[]);
    finds(&three().replace("\n]}", "\n, \"notes\": {}}"), &[1, 2, 3], &[]);
}

#[test]
fn a_broken_envelope_does_not_cost_the_items() {
    for (from, to) in [
        ("\"all well\"", "\"he said \"all\" is well\""),
        ("\"all well\"", "all well"),
        ("\"all well\"", "\"all well"),
        ("\"summary\":", "summary\":"),
        ("\"summary\":", "\"summary"),
        ("{\"summary\"", "{:::\"summary\""),
    ] {
        let text = three().replace(from, to);
        assert_ne!(text, three());
        let report = finds(&text, &[1, 2, 3], &[]);
        assert_eq!(report.state, State::Partial, "{text}");
        assert!(!report.problems.is_empty(), "{text}");
    }
}

#[test]
fn a_payload_in_a_string_becomes_no_item() {
    let payload = r#"{"rank": 0, "candidate": "evil", "action": "start", "why": "x"}"#;
    let escaped = payload.replace('"', "\\\"");
    let good = unit(2).replace("because 2", &escaped);
    let report = finds(&document(&[unit(1), good, unit(3)]), &[1, 2, 3], &[]);
    assert_eq!(report.state, State::Valid);
    for around in ["see \"{}\" there", "see {}", "see \"{}", "\" {} \"", "a, b: {} c"] {
        let bad = unit(2).replace("because 2", &around.replace("{}", payload));
        let report =
            finds(&document(&[unit(1), bad, unit(3)]), &[1, 3], &[QuarantineReason::Malformed]);
        assert!(report.items["recommendations"][1].resynchronised);
    }
    // A member of the item is not overwritten either.
    let bad = unit(2).replace("because 2", "say \"\"rank\": 0, \"x\": \"");
    finds(&document(&[unit(1), bad, unit(3)]), &[1, 3], &[QuarantineReason::Malformed]);
    // In other quotes, within a well-formed string, nothing is searched for.
    let text = format!("\"{{rank: 1, candidate: 'c'}}\" {}", three());
    finds(&text, &[1, 2, 3], &[]);
}

#[test]
fn spans_name_what_they_are() {
    let text =
        format!("Hello\n<think>x</think>\n{}\nBye", document(&[unit(1), "x".into(), unit(3)]));
    let report = finds(&text, &[1, 3], &[QuarantineReason::Malformed]);
    let kinds: Vec<SpanKind> = report.spans.iter().map(|span| span.kind).collect();
    use SpanKind::*;
    assert_eq!(kinds, [Text, Reasoning, Text, Envelope, Item, Quarantined, Item, Envelope, Text]);
}

#[test]
fn cut_anywhere_whole_items_survive() {
    let text = three();
    let ends: Vec<usize> =
        [1, 2, 3].map(|r| text.find(&unit(r)).expect("it is there") + unit(r).len()).to_vec();
    let checker = triage().checker();
    for cut in 0..text.len() {
        let report = check(&checker, &text[..cut]);
        let whole = ends.iter().filter(|end| **end <= cut).count();
        let found = ranks(&report).len();
        // A remainder that lacks only its brackets is an item.
        assert!(found == whole || found == whole + 1, "{cut} {}", report.text());
        assert!(
            cut == 0 || report.truncated || report.state == State::Lost,
            "{cut} {}",
            report.text()
        );
        assert_ne!(report.state, State::Valid, "{cut}");
    }
}

#[test]
fn blanks_around_a_member_are_read() {
    for (blanks, state) in [(505, State::Valid), (60_000, State::Valid), (66_000, State::Partial)] {
        let blanks = " ".repeat(blanks);
        for (from, to) in [
            ("\"summary\":", format!("\"summary\"{blanks}:")),
            ("\"all well\",", format!("\"all well\"{blanks},")),
        ] {
            let text = three().replace(from, &to);
            let report = check(&triage().checker(), &text);
            assert_eq!(report.state, state, "{} {from}", blanks.len());
        }
        let text = three().replace("\"summary\":", &format!("{blanks}\"summary\":{blanks}"));
        assert_eq!(check(&triage().checker(), &text).state, State::Valid, "{}", blanks.len());
    }
}

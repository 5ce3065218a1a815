//! Tests of lists within items, of several lists, and of the memory that is used.

use super::build::*;
use super::hostile_texts;
use guard_contract::Input;
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_plan::report::{Fix, QuarantineReason, Report, State};

/// Returns a contract with sections that contain findings, at most two each, and with notes beside
/// them.
fn sections() -> Builder {
    let mut b = Builder::new();
    let finding = b.record("Finding", vec![field("severity", INT), field("text", STRING)]);
    let findings = b.ty(TypeDef::List { of: finding, max: None });
    let section = b.record("Section", vec![field("name", STRING), field("findings", findings)]);
    let sections = b.ty(TypeDef::List { of: section, max: None });
    let note = b.record("Note", vec![field("note", STRING)]);
    let notes = b.ty(TypeDef::List { of: note, max: None });
    let record = b.record(
        "contract Audit",
        vec![field("title", STRING), field("sections", sections), field("notes", notes)],
    );
    let contract = b.contract();
    contract.name = "Audit".into();
    contract.record = record;
    contract.lists = vec![
        list(2, "notes", note, None, None),
        list(1, "sections", section, None, None),
        ItemList { within: Some(1), ..list(1, "findings", finding, Some(2), Some("severity")) },
    ];
    b
}

fn finding(severity: u32) -> String {
    format!("{{\"severity\": {severity}, \"text\": \"t{severity}\"}}")
}

fn section(name: &str, findings: &[String]) -> String {
    format!("{{\"name\": \"{name}\", \"findings\": [\n    {}]}}", findings.join(",\n    "))
}

fn audit(sections: &[String], notes: &str) -> String {
    format!(
        "{{\"title\": \"t\", \"sections\": [\n  {}\n], \"notes\": [{notes}]}}",
        sections.join(",\n  ")
    )
}

/// Returns the severities that are left, by section.
fn left(report: &Report) -> Vec<(String, Vec<i64>)> {
    let severity = |finding: &Json| match finding.get("severity") {
        Some(Json::Int(severity)) => *severity,
        _ => -1,
    };
    let of = |value: &Json| match value.get("findings") {
        Some(Json::Array(findings)) => findings.iter().map(severity).collect(),
        _ => vec![],
    };
    let name = |value: &Json| value.get("name").and_then(Json::as_str).unwrap_or("").to_owned();
    report.items["sections"].iter().map(|item| (name(&item.value), of(&item.value))).collect()
}

fn lefts(expected: &[(&str, &[i64])]) -> Vec<(String, Vec<i64>)> {
    expected.iter().map(|(name, all)| ((*name).to_owned(), all.to_vec())).collect()
}

#[test]
fn a_unit_within_an_item_costs_itself() {
    let checker = sections().checker();
    let bad = "{\"severity\": \"high\", \"text\": \"x\"}".to_owned();
    let text = audit(
        &[
            section("a", &[finding(1), bad, finding(2)]),
            section("b", &[finding(3), finding(1), finding(2)]),
        ],
        "{\"note\": \"n\"}, {\"note\": 1}",
    );
    let report = check(&checker, &text);
    assert_eq!(left(&report), lefts(&[("a", &[1, 2]), ("b", &[1, 2])]), "{}", report.text());
    let found: Vec<_> = report
        .quarantined
        .iter()
        .map(|unit| (unit.list.as_str(), unit.within, unit.index, unit.reason))
        .collect();
    assert_eq!(
        found,
        [
            ("sections.findings", Some(0), 1, QuarantineReason::Schema),
            ("sections.findings", Some(1), 0, QuarantineReason::OverLimit),
            ("notes", None, 1, QuarantineReason::Schema),
        ]
    );
    for unit in &report.quarantined {
        assert_eq!(&text[unit.at.start as usize..unit.at.end as usize], unit.raw);
    }
}

#[test]
fn a_unit_within_an_item_that_cannot_be_read_costs_itself() {
    let checker = sections().checker();
    for bad in [
        "{\"severity\": 1, \"text\": \"a \"b\" c\"}",
        "{\"severity\": 1, \"text\": \"a}",
        "x",
        "{\"severity\": NaN}",
    ] {
        for place in 0..3 {
            let mut findings = [finding(7), finding(8)].to_vec();
            findings.insert(place, bad.to_owned());
            let text = audit(
                &[
                    section("a", &[finding(1)]),
                    section("b", &findings),
                    section("c", &[finding(2)]),
                ],
                "{\"note\": \"n\"}",
            );
            let report = check(&checker, &text);
            let expected = lefts(&[("a", &[1]), ("b", &[7, 8]), ("c", &[2])]);
            assert_eq!(left(&report), expected, "{text}\n{}", report.text());
            assert_eq!(report.items["notes"].len(), 1, "{text}\n{}", report.text());
            let found: Vec<_> =
                report.quarantined.iter().map(|u| (u.list.as_str(), u.within, u.reason)).collect();
            assert_eq!(
                found,
                [("sections.findings", Some(1), QuarantineReason::Malformed)],
                "{text}"
            );
            assert_eq!(report.state, State::Partial);
        }
    }
}

#[test]
fn an_item_that_cannot_be_read_costs_itself_with_all_in_it() {
    let checker = sections().checker();
    let bad = section("b", &[finding(7)]).replace("\"b\"", "\"b\"c\"");
    let text = audit(&[section("a", &[finding(1)]), bad, section("c", &[finding(2)])], "");
    let report = check(&checker, &text);
    assert_eq!(left(&report), lefts(&[("a", &[1]), ("c", &[2])]), "{text}\n{}", report.text());
    assert_eq!(reasons(&report), [(1, QuarantineReason::Malformed)]);
}

#[test]
fn a_cut_within_an_item_keeps_what_was_whole() {
    let checker = sections().checker();
    let text = audit(&[section("a", &[finding(1)]), section("b", &[finding(2), finding(3)])], "");
    for cut in 0..text.len() {
        let report = check(&checker, &text[..cut]);
        assert_ne!(report.state, State::Valid, "{cut} {}", report.text());
    }
    let cut = text.find("t3").expect("it is there");
    let report = check(&checker, &text[..cut]);
    // An item counts only if its own brace was read.
    assert_eq!(left(&report), lefts(&[("a", &[1])]), "{}", report.text());
    assert!(report.truncated);
}

#[test]
fn items_of_several_lists_stand_by_themselves() {
    let text = format!(
        "{{\"title\": \"t\"}}\n{}\n{{\"note\": \"n\"}}\n{}\n",
        section("a", &[finding(1)]).replace('\n', ""),
        section("b", &[]).replace('\n', "")
    );
    let report = check(&sections().checker(), &text);
    assert_eq!(report.state, State::Valid, "{}", report.text());
    assert_eq!((report.items["sections"].len(), report.items["notes"].len()), (2, 1));
}

#[test]
fn hostile_texts_end() {
    // An algorithm with more than linear time would not end here.
    let mut builder = triage();
    builder.contract().lists[0].max = None;
    for checker in [builder.checker(), sections().checker()] {
        for (name, make) in hostile_texts::TEXTS {
            let text = make(200_000);
            let report = checker.check(text.as_bytes(), &Input::none());
            covers(&report, text.len());
            let mut feed = checker.feed();
            for piece in text.as_bytes().chunks(977) {
                feed.push(piece, &Input::none());
            }
            assert_eq!(feed.finish(&Input::none()), report, "{name}");
        }
    }
}

#[test]
fn what_is_held_does_not_grow_with_the_text() {
    let mut builder = triage();
    builder.contract().bounds.bytes = 4096;
    let checker = builder.checker();
    for (name, make) in hostile_texts::TEXTS {
        let mut feed = checker.feed();
        for piece in make(500_000).as_bytes().chunks(1000) {
            feed.push(piece, &Input::none());
            assert!(feed.held() < 200_000, "{name}: {}", feed.held());
        }
        let report = feed.finish(&Input::none());
        assert!(
            report.kept() <= 7 && report.spans.len() < 25_000,
            "{name}: {}",
            report.spans.len()
        );
    }
}

#[test]
fn an_item_by_itself_that_is_read_by_its_members_begins_no_other_document() {
    let report = check(&sections().checker(), "{name:l\n{\"severity\":");
    assert!(report.passed_over.is_empty(), "{:?}", report.passed_over);
    assert!(report.spans.iter().all(|span| span.at.start < span.at.end), "{:?}", report.spans);
}

#[test]
fn what_is_held_while_a_text_streams_does_not_grow_with_it() {
    let checker = triage().checker();
    let held = |items: usize| {
        let text = document(&(0..items as i64).map(unit).collect::<Vec<_>>());
        assert!(text.len() > 100 * items);
        let counted = allocation_counter::measure(|| {
            let mut feed = checker.feed();
            for piece in text.as_bytes().chunks(1000) {
                feed.push(piece, &Input::none());
            }
            assert_eq!(feed.finish(&Input::none()).kept(), 7);
        });
        counted.bytes_max
    };
    // The first 64 KiB of the text are kept, and the bounded lists of the report.
    let some = held(5_000);
    let many = held(50_000);
    assert!(some < 1 << 20 && many < 1 << 20, "{some} {many}");
}

#[test]
fn an_item_that_waits_for_more_is_still_one() {
    check(&sections().checker(), "{name:\"\"]\n```{\"\":2}{\"\":");
}

#[test]
fn a_key_that_is_no_text_may_still_be_cut() {
    check_with(&sections().checker(), b"{\"\":7\"\x83\"", &Input::none());
}

#[test]
fn a_coercion_has_the_byte_of_its_value() {
    let mut builder = sections();
    let taken = |record, field| {
        let forms = TakenForms { from: Some(CoercedForm::String), ..TakenForms::OWN };
        Coercion { record, field, forms }
    };
    let named = |name: &str| {
        let is = |def: &TypeDef| matches!(def, TypeDef::Record { name: own, .. } if own == name);
        builder.plan.types.iter().position(is).expect("it is there") as TypeId
    };
    let (finding, section, note) = (named("Finding"), named("Section"), named("Note"));
    builder.plan.coercions = vec![taken(finding, 0), taken(section, 0), taken(note, 0)];
    for record in [section, note] {
        if let TypeDef::Record { fields, .. } = &mut builder.plan.types[record as usize] {
            fields[0].ty = INT;
        }
    }
    // The values are all different, so that each is found in the text.
    for text in [
        r#"{"title": "t", "sections": [{"name": "11", "findings": [{"severity": "12", "text": ""}]}], "notes": [{"note": "13"}]}"#,
        r#"{"title": "t", "sections": [{name: "11", "findings": [{"severity": "12", "text": ""}]}], "notes": [{note: '13'}]}"#,
        r#"{"title": "t", "sections": [{name: “11”, "findings": [{severity: "12", "text": ""}, x]}], "notes": [{note: /* x */ “13”}]}"#,
    ] {
        let report = check(&builder.checker(), text);
        let at: Vec<u64> = report
            .repairs
            .iter()
            .filter(|repair| repair.fix == Fix::Coercion)
            .map(|repair| repair.at)
            .collect();
        let expected =
            ["11", "12", "13"].map(|value| text.find(value).expect("it is there") as u64);
        assert_eq!(at, expected, "{text} {}", report.text());
    }
}

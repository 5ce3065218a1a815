//! The stories of the producer trust boundary, each as it happened.

use super::build::*;
use guard_contract::Input;
use guard_plan::report::{QuarantineReason, State};

#[test]
fn a_clean_report_is_valid() {
    let items: Vec<String> = (1..=3).map(unit).collect();
    let report = check(&triage().checker(), &document(&items));
    assert_eq!((report.state, report.truncated), (State::Valid, false), "{}", report.text());
    assert!(!report.review_required);
    assert_eq!(ranks(&report), [1, 2, 3]);
    assert_eq!(report.envelope.to_string(), r#"{"summary":"all well"}"#);
    let report = check_with(&triage().checker(), document(&items).as_bytes(), &Input::none());
    assert_eq!(report.state, State::Partial);
    assert_eq!(report.unchecked, ["recommendations.candidate in known_candidates"]);
}

#[test]
fn seven_items_and_a_cut_tail() {
    let items: Vec<String> = (1..=8).map(unit).collect();
    let text = document(&items);
    let cut = text.find("because 8").expect("it is there") + 5;
    let report = check(&triage().checker(), &text[..cut]);
    assert_eq!((report.state, report.truncated), (State::Partial, true), "{}", report.text());
    assert_eq!(ranks(&report), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(reasons(&report), [(7, QuarantineReason::Truncated)]);
    assert!(report.quarantined[0].raw.starts_with(r#"{"rank": 8"#));
}

#[test]
fn nine_items_keep_the_best_seven() {
    let items: Vec<String> = [5, 9, 1, 8, 2, 7, 3, 6, 4].into_iter().map(unit).collect();
    let report = check(&triage().checker(), &document(&items));
    assert_eq!((report.state, report.truncated), (State::Partial, false));
    assert_eq!(ranks(&report), [5, 1, 2, 7, 3, 6, 4]);
    assert_eq!(
        reasons(&report),
        [(1, QuarantineReason::OverLimit), (3, QuarantineReason::OverLimit)]
    );
}

#[test]
fn an_item_without_its_rank_loses_only_itself() {
    let bad = unit(2).replace("\"rank\": 2, ", "");
    let report = check(&triage().checker(), &document(&[unit(1), bad, unit(3)]));
    assert_eq!(ranks(&report), [1, 3]);
    assert_eq!(reasons(&report), [(1, QuarantineReason::Schema)]);
    assert!(report.quarantined[0].error.contains("`rank`: is missing"), "{}", report.text());
}

#[test]
fn each_bound_has_its_reason() {
    let mut builder = triage();
    let long = unit(1).replace("because 1", &"x".repeat(4001));
    let injected = unit(3).replace("\"c3\"", "\"c3; drop table\"");
    let known = Candidates(Some(&["c1", "c2", "c3", "c4"]));
    let input = Input { known: &known, ..Input::none() };
    let text = document(&[long, unit(2), injected, unit(4)]);
    let report = check_with(&builder.checker(), text.as_bytes(), &input);
    assert_eq!(ranks(&report), [2, 4]);
    assert_eq!(reasons(&report), [(0, QuarantineReason::Bounds), (2, QuarantineReason::Reference)]);
    assert!(report.unchecked.is_empty());

    // The depth is limited even if the type permits any value.
    let deep = builder.record("Deep", vec![field("id", INT), field("data", JSON)]);
    let items = builder.ty(guard_plan::plan::TypeDef::List { of: deep, max: None });
    let record = builder.record("contract Deep", vec![field("found", items)]);
    let contract = builder.contract();
    contract.record = record;
    contract.references.clear();
    contract.lists = vec![list(0, "found", deep, None, None)];
    let nested = |depth: usize| {
        format!("{{\"id\": 1, \"data\": {}{}}}", "[".repeat(depth), "]".repeat(depth))
    };
    let checker = builder.checker();
    for (depth, kept) in [(7, 1), (8, 0), (127, 0), (128, 0), (100_000, 0)] {
        let text = format!("{{\"found\": [{}, {}]}}", nested(depth), nested(2));
        let report = check(&checker, &text);
        assert_eq!(report.kept(), kept + 1, "{depth}: {}", report.text());
        if kept == 0 {
            assert_eq!(reasons(&report), [(0, QuarantineReason::Bounds)], "{depth}");
        }
    }
}

#[test]
fn the_finish_reason_alone_says_that_a_text_was_cut() {
    let checker = triage().checker();
    let text = document(&[unit(1)]);
    for (reason, cut) in
        [("length", true), ("MAX_TOKENS", true), ("stop", false), ("end_turn", false)]
    {
        let input = Input { finish_reason: Some(reason), ..all_known() };
        let report = check_with(&checker, text.as_bytes(), &input);
        assert_eq!(report.truncated, cut, "{reason}");
        assert_eq!(report.state, if cut { State::Partial } else { State::Valid });
    }
    let input = Input { finish_reason: Some("lenght"), ..all_known() };
    let report = check_with(&checker, text.as_bytes(), &input);
    assert_eq!((report.truncated, report.state), (false, State::Partial));
}

#[test]
fn a_chat_answer_gives_its_items() {
    let text = format!(
        "Sure! Here is the triage you asked for:\n\n```json\n{{\n  \"summary\": \"Two things matter.\", // short\n  \"recommendations\": [\n    {},\n    {},\n    {{\"rank\": 3, \"candidate\": \"c3\", \"act",
        unit(1),
        unit(2).replace("}}", "},}")
    );
    let report = check(&triage().checker(), &text);
    assert_eq!((report.state, report.truncated), (State::Partial, true), "{}", report.text());
    assert_eq!(ranks(&report), [1, 2]);
    assert_eq!(reasons(&report), [(2, QuarantineReason::Truncated)]);
}

#[test]
fn nothing_to_find_is_total_loss() {
    for text in [
        "",
        "   ",
        "I am sorry, I cannot do that.",
        "{",
        "[]",
        "```json\n```",
        "{\"x\": 1}",
        "null",
    ] {
        let report = check(&triage().checker(), text);
        assert_eq!(report.state, State::Lost, "{text:?} {}", report.text());
        assert_eq!(report.kept(), 0);
    }
}

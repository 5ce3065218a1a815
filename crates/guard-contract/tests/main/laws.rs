//! Property tests on generated texts.

use super::build::*;
use guard_contract::{Checker, Input};
use guard_plan::decode::Decoder;
use guard_plan::json::Json;
use guard_plan::plan::ItemShape;
use guard_plan::report::{Report, State};
use proptest::prelude::*;

/// Returns the triage report without a limit.
fn unlimited() -> Builder {
    let mut builder = triage();
    let contract = builder.contract();
    (contract.lists[0].max, contract.lists[0].by) = (None, None);
    contract.bounds.quarantine = 1000;
    builder
}

/// Generates pieces of texts of producers.
fn piece() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "'",
        "\\",
        "\n",
        " ",
        "```",
        "```json\n",
        "//",
        "/*",
        "*/",
        "\"rank\"",
        "rank:",
        "\"summary\": \"s\"",
        "{\"summary\": \"s\", \"recommendations\": [",
        "\"recommendations\": [",
        "]}",
        "{\"rank\": 1, ",
        "},\n",
        "}, {\"rank\": 2",
        "<think>",
        "</think>",
        "“",
        "”",
        "True",
        "NaN",
        "12",
        "-0.5e3",
        "\"candidate\": \"c\"",
        "\"action\": \"start\"",
        "\"why\": \"w\"",
        "\"tags\": [",
        "\u{1}",
        "é",
        "\\u00e9",
        "`",
        "\r\n",
        "\\\"",
        "{}",
        "[]",
        "text",
        "<!--",
        "-->",
        "\n- ",
        "\n2. ",
        "...",
        "{\"id\": 1}",
        "{ran",
    ]);
    prop_oneof![
        6 => token.prop_map(String::from),
        3 => (0..9i64).prop_map(unit),
        1 => (0..4i64).prop_map(|n| document(&(0..n).map(unit).collect::<Vec<_>>())),
        1 => ".{0,8}",
    ]
}

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..24).prop_map(|pieces| pieces.concat())
}

/// Checks that every valid item satisfies the contract and is in the text.
fn sound(builder: &Builder, report: &Report, text: &[u8]) {
    let contract = &builder.plan.contracts[0];
    let ItemShape::Type(ty) = contract.lists[0].shape else { panic!("a type") };
    let decoder = Decoder {
        types: &builder.plan.types,
        workspace: "/",
        open: false,
        coercions: &[],
        matches: &|_, _| true,
    };
    for item in report.items.values().flatten() {
        decoder.decode(ty, &item.value).expect("what survives has its type");
        let raw = &text[item.at.start as usize..item.at.end as usize];
        if item.repaired {
            stands(&item.value, &String::from_utf8_lossy(raw));
        } else {
            assert_eq!(Json::parse_bytes(raw).as_ref(), Ok(&item.value));
        }
    }
}

/// Checks that every plain string and number of a value is in a text.
fn stands(value: &Json, text: &str) {
    match value {
        Json::String(string) if string.chars().all(|c| c.is_alphanumeric()) => {
            assert!(text.contains(&**string), "{string} {text}");
        }
        Json::Int(_) | Json::Number(_) => assert!(text.contains(&value.to_string())),
        Json::Array(items) => items.iter().for_each(|item| stands(item, text)),
        Json::Object(members) => members.iter().for_each(|(_, value)| stands(value, text)),
        _ => {}
    }
}

/// Checks a text in these pieces.
fn fed(checker: &Checker, text: &[u8], sizes: &[usize]) -> Report {
    let mut feed = checker.feed();
    let mut at = 0;
    for size in sizes.iter().cycle() {
        if at == text.len() {
            break;
        }
        let end = text.len().min(at + size);
        feed.push(&text[at..end], &Input::none());
        at = end;
    }
    feed.finish(&Input::none())
}

/// One byte is inserted, removed or changed, or a piece is cut out.
#[derive(Debug, Clone)]
enum Damage {
    Delete(usize),
    Insert(usize, char),
    Replace(usize, char),
    Cut(usize, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let byte = || prop::sample::select("{}[]\",:\\'/xz0 \n\u{1}é“".chars().collect::<Vec<_>>());
    prop_oneof![
        any::<usize>().prop_map(Damage::Delete),
        (any::<usize>(), byte()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        (any::<usize>(), byte()).prop_map(|(at, byte)| Damage::Replace(at, byte)),
        (any::<usize>(), any::<usize>()).prop_map(|(a, b)| Damage::Cut(a, b)),
    ]
}

fn damaged(text: &str, damage: &Damage) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let len = chars.len();
    match *damage {
        Damage::Delete(at) => {
            chars.remove(at % len);
        }
        Damage::Insert(at, byte) => chars.insert(at % (len + 1), byte),
        Damage::Replace(at, byte) => chars[at % len] = byte,
        Damage::Cut(a, b) => {
            let a = a % len;
            let b = b % len;
            chars.drain(a.min(b)..a.max(b));
        }
    }
    chars.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn any_text_is_survived_and_pieces_do_not_matter(
        text in soup(),
        sizes in prop::collection::vec(1usize..40, 1..6),
    ) {
        for builder in [triage(), unlimited()] {
            let checker = builder.checker();
            let report = checker.check(text.as_bytes(), &Input::none());
            covers(&report, text.len());
            sound(&builder, &report, text.as_bytes());
            prop_assert_eq!(fed(&checker, text.as_bytes(), &sizes), report, "{}", text);
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0usize..400) {
        let builder = unlimited();
        let mut text = document(&[unit(1), unit(2), unit(3)]).into_bytes();
        let at = at % text.len();
        text.splice(at..at, bytes);
        let report = builder.checker().check(&text, &Input::none());
        covers(&report, text.len());
        sound(&builder, &report, &text);
        prop_assert_eq!(fed(&builder.checker(), &text, &[7]), report);
    }

    #[test]
    fn one_broken_item_costs_no_other_without_a_word(
        count in 1usize..7,
        place in any::<usize>(),
        damages in prop::collection::vec(damage(), 1..3),
        style in 0..4,
    ) {
        let mut items: Vec<String> = (0..count as i64).map(unit).collect();
        let place = place % count;
        for damage in &damages {
            if !items[place].is_empty() {
                items[place] = damaged(&items[place], damage);
            }
        }
        let text = match style {
            0 => document(&items),
            1 => document(&items).replace("\n  ", ""),
            2 => items.join("\n"),
            _ => format!("{{\"recommendations\": [{}], \"summary\": \"s\"}}", items.join(", ")),
        };
        let report = unlimited().checker().check(text.as_bytes(), &Input::none());
        let found = ranks(&report);
        // A broken bracket may also invalidate adjacent items, but always with a report. `damage`
        // measures how many.
        let others = (0..count).filter(|at| *at != place);
        let missing = others.filter(|other| !found.contains(&(*other as i64))).count();
        prop_assert!(missing == 0 || report.state != State::Valid, "{}\n{}", text, report.text());
        // The broken item does not become another item.
        prop_assert!(report.kept() <= count, "{}\n{}", text, report.text());
    }

    #[test]
    fn strict_text_is_never_altered(
        items in prop::collection::vec((0..20i64, any::<bool>(), ".{0,12}", ".{0,6}"), 0..8),
        spaced in any::<bool>(),
    ) {
        let builder = unlimited();
        let string = |text: &str| Json::string(text).to_string();
        let texts: Vec<String> = items.iter().map(|(rank, good, why, extra)| {
            let rest = if *good { String::new() } else { format!(", {}: {}", string(extra), string(why)) };
            format!(
                "{{\"rank\": {rank}, \"candidate\": {}, \"action\": \"start\", \"why\": {}{rest}}}",
                string(extra), string(why)
            )
        }).collect();
        let text = document(&texts);
        let text = if spaced { text.replace(": ", " :\r\n ") } else { text };
        let strict = Json::parse(&text);
        prop_assume!(strict.is_ok());
        let strict = strict.unwrap_or(Json::Null);
        let report = builder.checker().check(text.as_bytes(), &Input::none());
        prop_assert_eq!(report.repairs_count, 0);
        let Some(Json::Array(all)) = strict.get("recommendations") else { panic!("a list") };
        let kept = &report.items["recommendations"];
        for item in kept {
            prop_assert_eq!(&item.value, &all[item.index as usize]);
            prop_assert!(!item.repaired && !item.resynchronised);
        }
        // Each item is delivered with its last byte.
        let mut feed = builder.checker().feed();
        for (at, byte) in text.bytes().enumerate() {
            for item in feed.push(&[byte], &Input::none()) {
                prop_assert_eq!(item.at.end as usize, at + 1);
                prop_assert!(kept.contains(&item));
            }
        }
        let good = items.iter().filter(|(_, good, ..)| *good).count();
        prop_assert_eq!(kept.len(), good, "{}", report.text());
        prop_assert_eq!(kept.len() as u64 + report.quarantined_count, all.len() as u64);
    }
}

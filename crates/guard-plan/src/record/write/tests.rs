//! A property test of the writer: its output is that of `serde_json`, byte for byte.

use super::*;
use crate::plan::{Actor, Severity};
use crate::record::{Delivered, ItemChange, Note, NoteKind};
use crate::verdict::{Code, Decision};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::borrow::Cow;

/// Texts with all characters that a literal escapes, at every position of a word.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z/._ -]{0,40}",
        "\\PC{0,20}",
        vec(
            prop_oneof![
                Just('"'),
                Just('\\'),
                Just('a'),
                Just('é'),
                prop::char::range('\0', '\u{80}')
            ],
            0..40
        )
        .prop_map(|chars| chars.into_iter().collect()),
    ]
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(Json::Int),
        prop_oneof![Just("1.50"), Just("-0"), Just("1e9"), Just("123456789012345678901")]
            .prop_map(|number| Json::parse(number).expect("a number")),
        text().prop_map(|text| Json::string(&text)),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Json::Array),
            vec((text(), inner), 0..4).prop_map(|members| {
                Json::Object(members.into_iter().map(|(name, it)| (name.into(), it)).collect())
            }),
        ]
    })
}

fn decision() -> impl Strategy<Value = Decision> {
    prop_oneof![
        Just(Decision::Allow),
        Just(Decision::Ask),
        Just(Decision::Wait),
        Just(Decision::Deny)
    ]
}

fn reason() -> impl Strategy<Value = Reason> {
    let texts = (text(), text(), text(), option::of(text()));
    let lists = (vec(text(), 0..3), vec((text(), text()), 0..3));
    (prop::sample::select(Code::ALL.to_vec()), decision(), texts, lists).prop_map(
        |(code, decision, (rule, message, help, span), (needs, values))| Reason {
            code,
            decision,
            rule,
            message,
            help,
            span,
            needs,
            values,
        },
    )
}

fn asked() -> impl Strategy<Value = Asked> {
    prop_oneof![
        (text(), option::of(any::<bool>()))
            .prop_map(|(path, answer)| Asked::Exists { path: path.into(), answer }),
        (text(), any::<bool>(), json()).prop_map(|(name, answered, answer)| Asked::Probe {
            name: name.into(),
            answered,
            answer
        }),
        (text(), text(), option::of(any::<bool>())).prop_map(|(path, text, answer)| {
            Asked::Contains { path: path.into(), text: text.into(), answer }
        }),
        option::of(any::<bool>()).prop_map(|answer| Asked::Committed { answer }),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    (text(), json(), json()).prop_map(|(name, before, after)| Change {
        name: name.into(),
        before,
        after,
    })
}

fn note() -> impl Strategy<Value = Note> {
    (text(), text()).prop_map(|(rule, message)| Note { kind: NoteKind::Warning, rule, message })
}

fn feedback() -> impl Strategy<Value = Delivered> {
    (text(), text(), any::<u64>()).prop_map(|(provider, text, judged)| Delivered {
        provider,
        severity: Severity::Caution,
        text,
        judged,
    })
}

fn item() -> impl Strategy<Value = ItemChange> {
    (text(), option::of(text()), vec(text(), 0..2)).prop_map(|(item, transition, reasons)| {
        ItemChange {
            item,
            lifecycle: "todo".into(),
            actor: Actor::Agent,
            by: "c1".into(),
            transition,
            before: None,
            after: "done".into(),
            reasons,
            unanswered: Vec::new(),
            rejections: 0,
        }
    })
}

fn charge() -> impl Strategy<Value = Charge> {
    (text(), text()).prop_map(|(unit, amount)| Charge { unit: unit.into(), amount: amount.into() })
}

fn same<T: Serialize + WritePayload>(payload: &T) {
    let mut written = Vec::new();
    payload.write_payload(&mut written);
    let expected = serde_json::to_vec(payload).expect("plain data");
    assert_eq!(String::from_utf8_lossy(&written), String::from_utf8_lossy(&expected));
}

proptest! {
    #[test]
    fn proposals_are_written_alike(
        (tool, args, unreadable) in (text(), json(), option::of(text())),
        (decision, reasons, shadowed) in (decision(), vec(reason(), 0..3), vec(reason(), 0..2)),
        (asked, served, changes) in (vec(asked(), 0..3), option::of(json()), vec(change(), 0..3)),
        (learned, forgotten, rechecked, halted) in (0..3_u64, any::<u64>(), 0..2_u64, any::<bool>()),
        (charged, items, notes, feedback) in
            (vec(charge(), 0..3), vec(item(), 0..2), vec(note(), 0..2), vec(feedback(), 0..2)),
        sealed in option::of(text()),
    ) {
        same(&Propose {
            tool: tool.into(),
            args: Cow::Owned(args),
            unreadable: unreadable.map(Cow::Owned),
            verdict: Cow::Owned(Verdict { decision, reasons, shadowed }),
            asked: asked.into(),
            served: served.map(Cow::Owned),
            changes: changes.into(),
            learned,
            forgotten,
            halted,
            charged: charged.into(),
            items: items.into(),
            notes: notes.into(),
            feedback: feedback.into(),
            rechecked,
            broken_proof: None,
            sealed,
        });
    }

    #[test]
    fn settlements_are_written_alike(
        (success, result, unreadable) in (any::<bool>(), json(), option::of(text())),
        (changes, learned, notes, halted) in
            (vec(change(), 0..3), any::<u64>(), vec(note(), 0..3), any::<bool>()),
        (asked, forgotten, feedback) in (vec(asked(), 0..3), 0..3_u64, vec(feedback(), 0..3)),
        returned in vec(charge(), 0..3),
        (rechecked, sealed) in (0..3_u64, option::of(text())),
    ) {
        same(&Settle {
            success,
            result: Cow::Owned(result),
            unreadable: unreadable.map(Cow::Owned),
            changes: changes.into(),
            learned,
            notes: notes.into(),
            halted,
            asked: asked.into(),
            forgotten,
            returned: returned.into(),
            feedback: feedback.into(),
            rechecked,
            broken_proof: None,
            sealed,
        });
    }
}

#[test]
fn numbers_and_texts_are_written_alike() {
    for number in [0, 9, 10, 99, 100, 12_345, u64::MAX] {
        let mut out = Vec::new();
        count(number, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
    }
    for place in 0..20 {
        for byte in 0..=127_u8 {
            let mut text = "x".repeat(20);
            text.insert(place, char::from(byte));
            let mut out = Vec::new();
            string(&text, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string(&text).unwrap());
        }
    }
}

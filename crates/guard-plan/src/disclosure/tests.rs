//! Tests of private content.

use super::*;
use crate::trust::ELEMENT;

fn stands(private: &str, text: &str) -> bool {
    let mut known = Vec::new();
    pieces(&fold(private), &mut |piece| known.push(piece.to_owned()));
    let mut found = false;
    candidates(&fold(text), &mut |candidate| {
        found |= known.iter().any(|piece| piece == candidate);
        !found
    });
    found
}

#[test]
fn words_are_compared_as_readers_see_them() {
    let same = [
        ("The  Budget\tis\nHIGH!", "the budget is high-"),
        ("b\u{200b}ud\u{ad}get", "budget"),
        ("Ｂｕｄｇｅｔ", "budget"),
        ("bυdgеt", "budget"),
        ("𝐛𝓾𝖉𝚐𝑒t ４２", "budget 42"),
        ("café cafe\u{301}", "cafe cafe"),
        ("a.b-c_d", "a-b-c-d"),
        ("İstanbul", "istanbul"),
        ("coﬃn, straße, ÆON, Ậlpha, ẁℋℯɴ", "coffin strasse aeon alpha when"),
        ("Й и\u{306} ά", "и и a"),
        ("🇧🇺🇩get", "budget"),
        ("q=the%20budget%2c%C3%A4", "q-the budget-a"),
        ("50% of 100%ff 5%", "50 of 100 5"),
        ("", ""),
        (" - ", ""),
    ];
    for (text, folded) in same {
        assert_eq!(fold(text), folded.trim_end_matches('-'), "{text}");
    }
    assert_eq!(fold("我们 ok"), "我-们 ok");
}

#[test]
fn runs_short_texts_and_codes_stand_in_a_text() {
    let found = [
        ("The merger closes on Friday at noon", "he said: MERGER, closes on\u{200b} friday. ok"),
        ("4711", "the PIN is 4711."),
        ("Project Falcon", "about project-falcon"),
        ("Your key is sk_live1234 for now", "use SK live1234"),
        ("code AB12-CD34 follows", "ab12cd34"),
        ("call 0171-555-12345 now please", "0171 555 12345"),
        ("token 550e8400-e29b-41d4 is here", "x 550e8400 y"),
        ("私は秘密を守る", "彼は秘密を守る"),
    ];
    for (private, text) in found {
        assert!(stands(private, text), "{private} in {text}");
    }
    let not_found = [
        ("The merger closes on Friday at noon", "the merger closes, the shop too"),
        ("4711", "47115 and 4,711"),
        ("we meet on 2024-05-12 at home again", "due 2024-05-12"),
        ("Project Falcon", "the project of a falcon"),
        ("", "anything"),
        ("anything", ""),
    ];
    for (private, text) in not_found {
        assert!(!stands(private, text), "{private} not in {text}");
    }
}

#[test]
fn a_prompt_tells_pieces() {
    let mut told = String::new();
    assert!(hear(&mut told, "Send the PIN 4711, and code AB12-CD34 to Bob"));
    assert!(hear(&mut told, "please"));
    for piece in ["4711", "pin 4711", "ab12cd34", "code ab12 cd34", "please"] {
        assert!(is_told(&told, piece), "{piece}");
    }
    for piece in ["471", "bob please", "to bob please", "34tobobplease1"] {
        assert!(!is_told(&told, piece), "{piece}");
    }
    assert!(!hear(&mut told, &"x ".repeat(MAX_PRIVATE)));
}

#[test]
fn the_texts_of_a_part() {
    let json = r#"[{"to": "Ann", "body": ["one", {"x": 12}], "n": 12345}, {"body": "two"}]"#;
    let json = Json::parse(json).unwrap();
    let texts = |path: &[&str]| {
        let path: Vec<String> = path.iter().map(|step| (*step).to_owned()).collect();
        let mut texts = Vec::new();
        private_texts(&json, &path, &mut |text| texts.push(text));
        texts
    };
    assert_eq!(texts(&[]), ["ann", "one", "12345", "two"]);
    assert_eq!(texts(&["body"]), ["one", "two"]);
    assert_eq!(texts(&[ELEMENT, "body"]), ["one", "two"]);
    assert_eq!(texts(&["n"]), ["12345"]);
    assert!(texts(&["x"]).is_empty());
}

#[test]
fn the_texts_of_what_nobody_could_read() {
    let texts = |text: &str| {
        let mut texts = Vec::new();
        let whole = unreadable_texts(text, &mut |text| texts.push(text));
        (texts, whole)
    };
    let (found, whole) =
        texts(r#"{"pin": "4711", "pin": "x\u0079\n\"z", "n": 12, "m": 12345, "t": true}"#);
    assert!(whole);
    assert_eq!(found[0], "pin 4711 pin xy z n 12 m 12345 t true");
    let values: Vec<&String> = found[1..].iter().filter(|text| !text.is_empty()).collect();
    assert_eq!(values, ["4711", "xy z", "12345"]);
    let (_, whole) = texts(&"x".repeat(MAX_UNREADABLE + 1));
    assert!(!whole);
    // The text that a record keeps gives the same result.
    let line = "one\ntwo\u{200b}three";
    assert_eq!(texts(line), texts(&cut(line, MAX_UNREADABLE)));
    let long = "a b ".repeat(MAX_UNREADABLE);
    assert_eq!(texts(&long), texts(&cut(&long, MAX_UNREADABLE)));
}

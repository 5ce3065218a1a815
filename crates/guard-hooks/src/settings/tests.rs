use super::{install, installed, uninstall};
use crate::Vocabulary;

const COMMAND: &str = "/bin/guardc hook gemini --plan /p";

const TEXTS: &[&str] = &[
    "",
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    "{\n  // a comment\n}\n",
    "{\"a\": 1}",
    "{\n\t\"a\": [1, 2,], // last\n}\n",
    "{\r\n    \"b\": {\"c\": null}\r\n}\r\n",
    "{\n  \"a\": 1 /* one */ // two\n  // three\n}\n",
    "{\n  \"a\": 1, /*/ one\n  two */ /**/\n}\n",
    "{\n  \"a\": 1 /*/, \"hooks\": 2 */\n}\n",
    "{\"hooks\": {}}",
    "{\n  \"hooks\": {\n    \"enabled\": true,\n    \"BeforeTool\": []\n  },\n  \"z\": \"é\"\n}\n",
    "{\n  \"hooks\": {\n    \"BeforeTool\": [\n      {\"matcher\": \"x\", \"hooks\": [{\"type\": \"command\", \"command\": \"other\"}]} // theirs\n    ]\n  }\n}\n",
];

fn gemini() -> &'static Vocabulary {
    Vocabulary::named("gemini").expect("a host")
}

#[test]
fn installing_twice_is_installing_once() {
    for text in TEXTS {
        let first = install(gemini(), text, COMMAND, 30).expect(text);
        assert_eq!(install(gemini(), &first, COMMAND, 30).as_ref(), Ok(&first));
        assert_eq!(
            installed(gemini(), &first).expect(text).len(),
            gemini().registered.len(),
            "{first}"
        );
    }
}

#[test]
fn uninstalling_undoes_installing() {
    for text in TEXTS.iter().filter(|text| !text.is_empty()) {
        let before = uninstall(gemini(), text).expect(text);
        assert_eq!(before, **text, "nothing of ours is there");
        let with = install(gemini(), text, COMMAND, 30).expect(text);
        let without = uninstall(gemini(), &with).expect(&with);
        assert_eq!(installed(gemini(), &without), Ok(Vec::new()), "{without}");
        let plain = |text: &str| super::tree::parse(text).map(|node| node.to_value(text));
        let mut was = plain(text).expect(text);
        let mut is = plain(&without).expect(&without);
        // Empty objects and arrays of hooks are removed with ours.
        for value in [&mut was, &mut is] {
            if let Some(hooks) = value.get_mut("hooks").and_then(|hooks| hooks.as_object_mut()) {
                hooks.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
            }
            if value
                .get("hooks")
                .is_some_and(|hooks| hooks.as_object().is_some_and(|hooks| hooks.is_empty()))
            {
                value.as_object_mut().expect("an object").remove("hooks");
            }
        }
        assert_eq!(was, is, "{without}");
        let comments = |text: &str| text.matches("//").count() + text.matches("/*").count();
        assert_eq!(comments(text), comments(&without), "{without}");
    }
}

#[test]
fn another_command_line_replaces_ours() {
    for text in TEXTS {
        let old = install(gemini(), text, "/old/guardc hook gemini --plan /q", 10).expect(text);
        let new = install(gemini(), &old, COMMAND, 30).expect(text);
        let hooks = installed(gemini(), &new).expect(text);
        assert_eq!(hooks.len(), gemini().registered.len(), "{new}");
        assert!(hooks.iter().all(|hook| hook.command() == COMMAND), "{new}");
    }
}

#[test]
fn what_cannot_be_read_is_refused() {
    for text in [
        "[",
        "{",
        "[]",
        "null",
        "{\"a\": }",
        "{\"a\" 1}",
        "{\"a\": 1} x",
        "{a: 1}",
        "{\"a\": 1, \"a\": 2}",
        "{\"hooks\": []}",
        "{\"hooks\": {\"BeforeTool\": {}}}",
        "/* {",
        "{\"a\": \"x",
        "{'a': 1}",
        "\"\\",
    ] {
        assert!(install(gemini(), text, COMMAND, 30).is_err(), "{text}");
        assert!(uninstall(gemini(), text).is_err(), "{text}");
        assert!(installed(gemini(), text).is_err(), "{text}");
    }
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(50_000), "]".repeat(50_000));
    assert!(install(gemini(), &deep, COMMAND, 30).is_err());
}

#[test]
fn the_layout_of_the_text_is_kept() {
    let text = "{\n    \"theme\": \"dark\", // mine\n    \"list\": [1]\n}\n";
    let with = install(gemini(), text, COMMAND, 30).expect(text);
    assert!(with.starts_with("{\n    \"theme\": \"dark\", // mine\n    \"list\": [1],\n    \"hooks\": {\n        \"SessionStart\": ["), "{with}");
    assert!(with.ends_with("]\n    }\n}\n"), "{with}");
    assert_eq!(uninstall(gemini(), &with).as_deref(), Ok(text));
}

#[test]
fn a_star_does_not_begin_and_end_a_comment() {
    let text = "{\"a\": 1 /*/, \"b\": 2 /**/}";
    let node = super::tree::parse(text).expect(text);
    assert_eq!(node.to_value(text), serde_json::json!({ "a": 1 }));
    assert!(super::tree::parse("{} /*/").is_err(), "the comment has no end");
}

//! Tests that the JSON reader agrees with another one, and never panics.

use guard_plan::json::Json;
use proptest::prelude::*;

/// Texts that look like JSON, most of them malformed.
fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\\u00e9", "\\ud800", "\\", "1", "-",
            "0.5", "e9", "true", "null", " ", "\n", "é", "\u{1}", "00",
        ]),
        0..24,
    )
    .prop_map(|parts| parts.concat())
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        ".*".prop_map(|text| text.into()),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(".{0,3}", inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Json::parse_bytes(&bytes);
    }

    #[test]
    fn what_is_read_here_is_read_elsewhere(text in soup()) {
        let ours = Json::parse(&text);
        let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text);
        if let Ok(json) = &ours {
            prop_assert!(theirs.is_ok(), "{}", text);
            prop_assert_eq!(&Json::parse(&json.to_string()).unwrap(), json);
        }
        // Only our reader refuses lone surrogates and duplicate keys.
        if ours.is_err() && !text.contains("\\u") && !text.contains("\"a\"") {
            prop_assert!(theirs.is_err(), "{} {:?}", text, ours);
        }
    }

    #[test]
    fn values_survive_both_writers(value in value()) {
        let text = value.to_string();
        let json = Json::parse(&text).unwrap();
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&json.to_string()).unwrap(), value.clone());
        prop_assert_eq!(serde_json::to_string(&json).unwrap(), json.to_string());
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(Json::parse(&pretty).unwrap(), json);
    }
}

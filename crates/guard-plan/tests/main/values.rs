//! Tests that values survive the conversion to JSON and back, and that different values have
//! different keys.

use guard_plan::decode::Decoder;
use guard_plan::plan::{Field, TypeDef};
use guard_plan::value::Value;
use guard_plan::{key, render};
use proptest::prelude::*;
use std::slice::from_ref;

fn types() -> Vec<TypeDef> {
    let field = |name: &str, ty| Field { name: name.into(), ty, secret: false, doc: String::new() };
    vec![
        TypeDef::Int { min: None, max: None },
        TypeDef::Decimal { min: None, max: None },
        TypeDef::String { max_chars: None, max_bytes: None, patterns: vec![] },
        TypeDef::Enum { name: "E".into(), variants: vec!["a".into(), "b c".into()] },
        TypeDef::Duration { min: None, max: None },
        TypeDef::Time { format: None },
        TypeDef::Option { of: 1 },
        TypeDef::Set { of: 3, max: None },
        TypeDef::Map { key: None, of: 0, max: None },
        TypeDef::Record {
            name: "R".into(),
            fields: (0..9).map(|ty| field(&format!("f{ty}"), ty)).collect(),
        },
        TypeDef::List { of: 9, max: None },
    ]
}

fn record() -> impl Strategy<Value = Value> {
    let optional = prop_oneof![Just(Value::None), any::<i64>().prop_map(Value::Decimal)];
    let set = prop::collection::btree_set((0..2_u32).prop_map(Value::Enum), 0..3);
    let map = prop::collection::btree_map(".{0,3}", any::<i64>().prop_map(Value::Int), 0..3);
    let time = -62_167_219_200_000..253_402_300_800_000_i64;
    let scalars = (any::<i64>(), any::<i64>(), ".{0,9}", 0..2_u32, any::<i64>(), time);
    (scalars, optional, set, map).prop_map(
        |((int, decimal, text, variant, duration, time), o, s, m)| {
            Value::Record(vec![
                Value::Int(int),
                Value::Decimal(decimal),
                Value::String(text.into()),
                Value::Enum(variant),
                Value::Duration(duration),
                Value::Time(time),
                o,
                Value::Set(s),
                Value::Map(m.into_iter().map(|(key, value)| (key.into(), value)).collect()),
            ])
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn decoding_undoes_encoding(items in prop::collection::vec(record(), 0..4)) {
        let types = types();
        let value = Value::List(items);
        let json = render::to_json(&types, 10, &value);
        let matches = |_, _: &str| true;
        let decoder = Decoder { types: &types, workspace: "/", open: false, coercions: &[], matches: &matches };
        prop_assert_eq!(decoder.decode(10, &json).unwrap(), value.clone());
        prop_assert_eq!(decoder.conform(10, &value), Ok(()));
        prop_assert!(render::value(&types, 10, &value).chars().count() <= render::MAX_CHARS + 1);
    }

    #[test]
    fn keys_tell_values_apart(a in record(), b in record()) {
        prop_assert_eq!(key::encode(from_ref(&a)) == key::encode(from_ref(&b)), a == b);
    }
}

//! Tests of the hints to the producer: the schema and the prompt agree with the check.

use super::build::*;
use guard_contract::{Input, prompt, schema};
use guard_plan::plan::*;
use guard_plan::report::State;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Returns a contract with every type that a schema can express exactly.
fn every_type() -> Builder {
    let mut b = Builder::new();
    b.plan.regexes = vec!["^[a-c]+$".into(), "b".into()];
    let boolean = b.ty(TypeDef::Bool);
    let small = b.ty(TypeDef::Int { min: Some(-2), max: Some(3) });
    let price = b.ty(TypeDef::Decimal { min: Some(0), max: Some(2_500_000) });
    let short = b.ty(TypeDef::String { max_chars: Some(3), max_bytes: None, patterns: vec![] });
    let matched = b.ty(TypeDef::String { max_chars: None, max_bytes: None, patterns: vec![0, 1] });
    let path = b.ty(TypeDef::Path);
    let colour =
        b.ty(TypeDef::Enum { name: "Colour".into(), variants: vec!["red".into(), "a".into()] });
    let few = b.ty(TypeDef::List { of: small, max: Some(2) });
    let set = b.ty(TypeDef::Set { of: boolean, max: None });
    let map = b.ty(TypeDef::Map { key: None, of: small, max: Some(1) });
    let maybe = b.ty(TypeDef::Option { of: short });
    let inner = b.record("Inner", vec![field("x", boolean), field("y", maybe)]);
    let nested = b.ty(TypeDef::Option { of: inner });
    let fields = [
        ("boolean", boolean),
        ("small", small),
        ("price", price),
        ("short", short),
        ("matched", matched),
        ("path", path),
        ("colour", colour),
        ("few", few),
        ("set", set),
        ("map", map),
        ("nested", nested),
    ];
    let item = b.record("Item", fields.map(|(name, ty)| field(name, ty)).to_vec());
    let items = b.ty(TypeDef::List { of: item, max: None });
    let inners = b.ty(TypeDef::List { of: inner, max: None });
    let record = b.record(
        "contract Every",
        vec![
            field("summary", maybe),
            field("count", small),
            field("items", items),
            field("inners", inners),
        ],
    );
    let contract = b.contract();
    contract.record = record;
    contract.doc = "Says everything.".into();
    contract.bounds.string = 5;
    contract.lists =
        vec![list(2, "items", item, Some(2), None), list(3, "inners", inner, None, None)];
    b
}

/// Generates a value that is valid most of the time.
fn member(good: Vec<Value>) -> impl Strategy<Value = Value> {
    let bad = json!([null, true, 4, -3, 2.6, 0.1, "red", "abcd", "abc", "", "a\\b", "abcabc", [], [1, 1, 1], {}, {"a": 1, "b": 1}, {"x": 1}]);
    let Value::Array(bad) = bad else { unreachable!() };
    prop_oneof![30 => prop::sample::select(good), 1 => prop::sample::select(bad)]
}

fn object(members: Vec<(&'static str, Vec<Value>, bool)>) -> impl Strategy<Value = Value> {
    let one = |(name, good, optional): (&'static str, Vec<Value>, bool)| {
        let absent = if optional { 5 } else { 1 };
        prop_oneof![40 => member(good).prop_map(Some), absent => Just(None)]
            .prop_map(move |value| value.map(|value| (name.to_owned(), value)))
    };
    let members: Vec<_> = members.into_iter().map(one).map(Strategy::boxed).collect();
    let strange = prop_oneof![60 => Just(None), 1 => Just(Some(("other".to_owned(), json!(1))))];
    (members, strange).prop_map(|(members, strange)| {
        Value::Object(members.into_iter().flatten().chain(strange).collect())
    })
}

fn inner() -> impl Strategy<Value = Value> {
    object(vec![
        ("x", vec![json!(true)], false),
        ("y", vec![json!(null), json!("abc"), json!("é")], true),
    ])
}

fn item() -> impl Strategy<Value = Value> {
    object(vec![
        ("boolean", vec![json!(true), json!(false)], false),
        ("small", vec![json!(-2), json!(3)], false),
        ("price", vec![json!(0), json!(2.5), json!(1.25)], false),
        ("short", vec![json!("ééé"), json!("")], false),
        ("matched", vec![json!("abc"), json!("b")], false),
        ("path", vec![json!("a/b"), json!("/")], false),
        ("colour", vec![json!("red")], false),
        ("few", vec![json!([]), json!([1, 2])], false),
        ("set", vec![json!([]), json!([true, true])], false),
        ("map", vec![json!({}), json!({"a": 1})], false),
        ("nested", vec![json!(null), json!({"x": true}), json!({"x": false, "y": "a"})], true),
    ])
}

fn document_of() -> impl Strategy<Value = Value> {
    let lists = (prop::collection::vec(item(), 0..3), prop::collection::vec(inner(), 0..3));
    let head = object(vec![
        ("summary", vec![json!("s"), json!(null)], true),
        ("count", vec![json!(1)], false),
    ]);
    (head, lists, 0..30).prop_map(|(mut head, (items, inners), dropped)| {
        head["items"] = items.into();
        if dropped > 0 {
            head["inners"] = inners.into();
        }
        head
    })
}

#[test]
fn the_schema_is_one() {
    for builder in [every_type(), triage()] {
        let schema = schema(&builder.plan, 0, &Default::default());
        jsonschema::meta::validate(&schema).expect("it is a schema");
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
    assert_eq!(schema(&triage().plan, 1, &Default::default()), json!(false));
}

#[test]
fn a_schema_from_elsewhere_means_there_what_it_means_here() {
    let mut builder = triage();
    let text = r##"{"$defs": {"n": {"type": "integer"}}, "type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}}"##;
    builder.contract().lists[0].shape =
        ItemShape::Schema { file: "n.json".into(), text: text.into() };
    let schema = schema(&builder.plan, 0, &Default::default());
    let validator = jsonschema::validator_for(&schema).expect("it compiles");
    let of = |n: Value| json!({"summary": "s", "recommendations": [{"n": n}]});
    assert!(validator.is_valid(&of(json!(1))));
    assert!(!validator.is_valid(&of(json!("1"))));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn schema_and_contract_agree(document in document_of()) {
        let builder = every_type();
        let schema = schema(&builder.plan, 0, &Default::default());
        let validator = jsonschema::validator_for(&schema).expect("it compiles");
        let text = document.to_string();
        let report = builder.checker().check(text.as_bytes(), &Input::none());
        prop_assert_eq!(
            validator.is_valid(&document), report.state == State::Valid,
            "{}\n{}", document, report.text()
        );
    }
}

#[test]
fn the_prompt_says_it_in_words() {
    let text = prompt(&triage().plan, 0, &Default::default());
    for part in [
        "Answer with one JSON object, and nothing before or after it.",
        "- `summary`: text",
        "- `recommendations`: list of items, as below, at most 7",
        "- `notes`: any JSON; may be left out",
        "Each item of `recommendations` is an object with the members:",
        "- `action`: one of `start`, `continue`, `pause`, `close`",
        "An object `Wsjf` has the members:",
        "of more only the 7 with the least `rank` are kept",
        "at most 4000 characters",
        "`recommendations.candidate in known_candidates`: refer only to known values",
        "If uncertain, emit fewer well-formed items rather than more.",
    ] {
        assert!(text.contains(part), "{part}\n\n{text}");
    }
    assert_eq!(prompt(&triage().plan, 1, &Default::default()), "");
}

//! Tests of documents that are read and may not be `valid`, because something may be lost or not
//! meant.

use super::build::*;
use guard_plan::plan::{Field, ItemList, TypeDef};
use guard_plan::report::State;

/// A contract without lists: `{title, a: int?, data: json?}`.
fn plain() -> Builder {
    let mut b = Builder::new();
    let a = b.ty(TypeDef::Option { of: INT });
    let data = b.ty(TypeDef::Option { of: JSON });
    let fields = vec![field("title", STRING), field("a", a), field("data", data)];
    let record = b.record("contract Plain", fields);
    b.contract().record = record;
    b
}

#[test]
fn many_harmless_repairs_hide_no_other() {
    let checker = plain().checker();
    for harmless in ["\u{a0}", "/*x*/"] {
        let many = harmless.repeat(1001);
        for (rest, more) in [("\"a\nb\"", 1), ("\"it\\'s\"", 1), ("\"t\",,", 2)] {
            let report = check(&checker, &format!("{{\"a\":1,{many}\"title\":{rest}}}"));
            assert_eq!(report.state, State::Partial, "{rest}");
            assert_eq!((report.repairs.len(), report.repairs_count), (1000, 1001 + more), "{rest}");
        }
    }
}

#[test]
fn a_text_for_an_unreadable_value_is_refused() {
    let mut b = Builder::new();
    let names = b.ty(TypeDef::Map { key: None, of: INT, max: None });
    let row = b.record("Row", vec![field("note", STRING), field("names", names)]);
    let rows = b.ty(TypeDef::List { of: row, max: None });
    let record = b.record("contract Rows", vec![field("rows", rows)]);
    let contract = b.contract();
    contract.record = record;
    contract.lists = vec![list(0, "rows", row, None, None)];
    let reserved = "(unreadable 0123456789abcdef)";
    for (note, name, state) in
        [("n", "a", State::Valid), (reserved, "a", State::Lost), ("n", reserved, State::Lost)]
    {
        let text = format!("{{\"rows\":[{{\"note\":\"{note}\",\"names\":{{\"{name}\":1}}}}]}}");
        let report = check(&b.checker(), &text);
        assert_eq!(report.state, state, "{text} {}", report.text());
    }
}

#[test]
fn a_comment_with_a_quote_of_any_kind_may_hide_a_member() {
    let checker = plain().checker();
    for (comment, state) in [
        ("it's the owner’s", State::Valid),
        ("'a': 1", State::Partial),
        ("‘a’: 1", State::Partial),
        ("“a”: 1", State::Partial),
        ("„a“: 1", State::Partial),
        ("`a`: 1", State::Partial),
        ("a’: 1", State::Partial),
    ] {
        for text in [
            format!("{{\"title\": \"t\" /* {comment} */}}"),
            format!("{{\"title\": \"t\" // {comment}\n}}"),
        ] {
            let report = check(&checker, &text);
            assert_eq!(report.state, state, "{text} {}", report.text());
        }
    }
}

#[test]
fn no_message_has_a_key_of_a_secret() {
    let mut b = Builder::new();
    let blob = b.ty(TypeDef::Option { of: JSON });
    let secret = Field { secret: true, ..field("blob", blob) };
    let part = b.record("Part", vec![field("n", INT)]);
    let parts = b.ty(TypeDef::List { of: part, max: None });
    let row = b.record("Row", vec![secret.clone(), field("parts", parts)]);
    let rows = b.ty(TypeDef::List { of: row, max: None });
    let inside = b.record("Inside", vec![secret.clone()]);
    let record = b.record("contract", vec![secret, field("inside", inside), field("rows", rows)]);
    let contract = b.contract();
    contract.record = record;
    contract.lists = vec![
        list(2, "rows", row, None, None),
        ItemList { within: Some(0), ..list(1, "parts", part, None, None) },
    ];
    let twice = "{\"KEY\":1,\"KEY\":2}";
    for text in [
        format!("{{\"blob\":{twice}"),
        format!("{{\"inside\":{{\"blob\":{twice}}}"),
        format!("{{\"rows\":[{{\"blob\":{twice},\"parts\":[]}}]"),
        format!("{{\"rows\":[{{\"blob\":{twice},\"parts\":[x]}}]"),
    ] {
        let report = check(&b.checker(), &format!("{text}}}"));
        let problems = report.problems.iter().map(|problem| &problem.error);
        let errors: Vec<_> =
            problems.chain(report.quarantined.iter().map(|unit| &unit.error)).collect();
        assert!(errors.iter().any(|error| error.ends_with("a key occurs twice")), "{errors:?}");
        assert!(errors.iter().all(|error| !error.contains("KEY")), "{errors:?}");
    }
}

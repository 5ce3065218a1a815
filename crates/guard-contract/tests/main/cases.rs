//! The texts of `tests/cases`, one per file. The folder is the contract, the name begins with the
//! expected state, and the report is beside the text.

use super::build::*;
use super::damage::actions;
use super::forms;
use guard_contract::Input;
use guard_plan::plan::{ItemList, TypeDef};
use std::fmt::Write as _;
use std::path::Path;

/// A contract with `recs: {rank, must_not_touch}`, at most one by rank.
fn recs() -> Builder {
    let mut b = Builder::new();
    let names = b.ty(TypeDef::List { of: STRING, max: None });
    let rec = b.record("Rec", vec![field("rank", INT), field("must_not_touch", names)]);
    let recs = b.ty(TypeDef::List { of: rec, max: None });
    let record = b.record("contract Recs", vec![field("recs", recs)]);
    let contract = b.contract();
    contract.name = "Recs".into();
    contract.record = record;
    contract.lists = vec![list(0, "recs", rec, Some(1), Some("rank"))];
    b
}

/// A contract with `groups: {name, subs: {label, n}}`, and a member whose name is not ASCII.
fn groups() -> Builder {
    let mut b = Builder::new();
    let sub = b.record("Sub", vec![field("label", STRING), field("n", INT)]);
    let subs = b.ty(TypeDef::List { of: sub, max: None });
    let group = b.record("Group", vec![field("name", STRING), field("subs", subs)]);
    let groups = b.ty(TypeDef::List { of: group, max: None });
    let size = b.ty(TypeDef::Option { of: INT });
    let record = b.record("contract Groups", vec![field("groups", groups), field("größe", size)]);
    let contract = b.contract();
    contract.name = "Groups".into();
    contract.record = record;
    contract.lists = vec![
        list(0, "groups", group, None, None),
        ItemList { within: Some(0), ..list(1, "subs", sub, None, None) },
    ];
    b
}

/// Formats the part of a report that a case shows.
fn shown(report: &guard_plan::report::Report) -> String {
    let mut out = report.text();
    let _ = writeln!(out, "{}", report.envelope);
    for (list, items) in &report.items {
        for item in items {
            let again = if item.resynchronised { " resynchronised" } else { "" };
            let _ = writeln!(out, "{list}[{}]{again} {}", item.index, item.value);
        }
    }
    out
}

#[test]
fn every_case_has_its_report() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut wrong = Vec::new();
    let contracts = [
        ("actions", actions()),
        ("recs", recs()),
        ("groups", groups()),
        ("steps", forms::steps()),
        ("listed", forms::listed()),
        ("score", forms::score()),
        ("word", forms::word()),
        ("numbers", forms::numbers()),
        ("step", forms::step()),
    ];
    for (folder, builder) in contracts {
        let checker = builder.checker();
        let files = std::fs::read_dir(root.join(folder)).expect("the folder is there");
        let mut files: Vec<_> = files.map(|file| file.expect("it is a file").path()).collect();
        files.sort();
        for path in files.iter().filter(|path| path.extension().is_some_and(|e| e == "txt")) {
            let text = std::fs::read(path).expect("it can be read");
            let report = check_with(&checker, &text, &Input::none());
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let expected = name.split('_').next().unwrap_or_default();
            if report.state.name() != expected {
                let text = String::from_utf8_lossy(&text);
                wrong.push(format!("{folder}/{name}:\n{text}\n{}", shown(&report)));
                continue;
            }
            let output = path.with_extension("out");
            if std::env::var_os("GUARD_BLESS").is_some() {
                std::fs::write(&output, shown(&report)).expect("it can be written");
            } else if std::fs::read_to_string(&output).unwrap_or_default() != shown(&report) {
                wrong.push(format!("{folder}/{name} has another report:\n{}", shown(&report)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} cases\n{}", wrong.len(), wrong.join("\n"));
}

//! The case files: one case per file. The folder decides what is printed.

use crate::outline::{outline, rendered};
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/suite").join(name)
}

/// Runs every case of a folder against the snapshot beside it.
fn run(name: &str, print: impl Fn(&str) -> String) {
    let folder = folder(name);
    let entries = std::fs::read_dir(&folder).expect("the folder of cases");
    let mut cases: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    cases.retain(|path| path.extension().is_some_and(|e| e == "guard"));
    cases.sort();
    assert!(!cases.is_empty(), "no cases in {name}");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _guard = settings.bind_to_scope();
    for case in cases {
        let text = std::fs::read_to_string(&case).expect("a readable case");
        let stem =
            case.file_stem().and_then(|s| s.to_str()).expect("a case with a name").to_owned();
        insta::assert_snapshot!(stem, print(&text));
    }
}

#[test]
fn syntax() {
    run("syntax", outline);
}

#[test]
fn fmt() {
    run("fmt", |text| match guard_syntax::format(text) {
        Ok(formatted) => {
            assert_eq!(
                guard_syntax::format(&formatted).as_deref(),
                Ok(formatted.as_str()),
                "formatting twice"
            );
            formatted
        }
        Err(diagnostics) => diagnostics.iter().map(|d| rendered(text, d)).collect(),
    });
}

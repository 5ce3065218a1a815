//! Laws of `define` and `let`: a guard decides as it does with the expressions written out.
//!
//! A case in `tests/suite/written_out` is a guard, a line, and the same guard with everything written out by hand, under
//! names that cannot be confused. The plans of both differ in what is shown to readers only. The same law holds of random
//! guards, of which the generator writes both texts.

use guard_compiler::{NoFiles, SourceFile, compile};
use guard_plan::encode;
use guard_plan::random::Rng;
use guard_tests::generate;
use serde_json::Value;
use std::path::Path;

/// The members of a plan that readers are shown, and their consequences: the types of shown values and the steps of showing them.
const SHOWN: [&str; 9] =
    ["text", "shows", "label", "steps", "types", "ty", "row", "returns", "name"];

/// The plan of a guard as JSON, without what readers are shown.
fn decided(text: &str) -> Result<String, String> {
    let root = SourceFile { path: "guard.guard".into(), text: text.into() };
    let compilation = compile(root, &mut NoFiles);
    let errors = compilation.diagnostics.iter().filter(|d| d.is_error());
    let errors: Vec<_> = errors.map(|d| (&d.message, d.primary.span)).collect();
    let output = compilation.output.ok_or_else(|| format!("{errors:#?}\n{text}"))?;
    let json = encode::to_json(&output.lowered, &output.sources);
    let mut value: Value = serde_json::from_str(&json).map_err(|why| why.to_string())?;
    strip(&mut value);
    Ok(format!("{:#}", value["plan"]))
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !SHOWN.contains(&name.as_str()));
            members.values_mut().for_each(strip);
            // Rules of a tool are sorted by all that they hold, texts too.
            if let Some(Value::Array(rules)) = members.get_mut("denies") {
                rules.sort_by_key(Value::to_string);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Asserts that two guards decide alike; one that does not compile decides nothing.
fn same(named: &str, written_out: &str) -> Result<bool, String> {
    match (decided(named), decided(written_out)) {
        (Ok(a), Ok(b)) if a == b => Ok(true),
        (Ok(a), Ok(b)) => {
            let lines = a.lines().zip(b.lines());
            let differ: Vec<_> = lines.filter(|(a, b)| a != b).take(12).collect();
            Err(format!("{differ:#?}\n{named}\n// ---- written out\n{written_out}"))
        }
        (Err(_), Err(_)) => Ok(false),
        (Err(why), Ok(_)) => Err(format!("only written out it compiles: {why}")),
        (Ok(_), Err(why)) => Err(format!("written out it does not compile: {why}")),
    }
}

#[test]
fn cases_are_written_out_by_hand() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/written_out");
    let mut cases = 0;
    for entry in std::fs::read_dir(folder).expect("a folder of cases").flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("a readable case");
        let (named, written_out) = text.split_once("// ---- written out\n").expect("two guards");
        assert_eq!(same(named, written_out), Ok(true), "{}", entry.path().display());
        cases += 1;
    }
    assert!(cases > 0);
}

#[test]
fn random_guards_are_written_out() {
    let mut compiled = 0;
    for seed in 0..350 {
        let guard = generate::guard(&mut Rng::new(seed));
        match same(&guard.text(), &guard.written_out) {
            Ok(decided) => compiled += usize::from(decided),
            Err(why) => panic!("seed {seed}: {why}"),
        }
    }
    assert!(compiled > 150, "only {compiled} compile");
}

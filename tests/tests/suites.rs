//! The suites of the compiler's phases: `tests/suite/{names,types,lower,optimize}/*.guard`, one claim a file.
//!
//! The first lines of a case say its claim. Beside it stands what it prints: all diagnostics, or the plan.
//! Files that a case uses lie in the folder `used` of its suite. `GUARD_BLESS=1` rewrites the outputs.

use crate::render::{self, Beside};
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use std::path::{Path, PathBuf};

fn folder(suite: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("suite").join(suite)
}

/// The guards of a folder, sorted: file name and text.
fn guards(folder: &Path) -> Vec<(String, String)> {
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(&path).expect("a readable case"))
    };
    guard_tests::guards_in(folder).into_iter().map(read).collect()
}

/// Compares what every case of a suite prints with what stands beside it.
fn run(suite: &str, print: fn(&guard_compiler::Compilation) -> String) {
    let folder = folder(suite);
    let used = match folder.join("used") {
        used if used.is_dir() => guards(&used),
        _ => Vec::new(),
    };
    let used: Vec<_> =
        used.into_iter().map(|(name, text)| (format!("used/{name}"), text)).collect();
    let cases = guards(&folder);
    assert!(!cases.is_empty(), "no cases in {suite}");
    let mut failures = String::new();
    for (name, text) in cases {
        let compiled = render::compile(&name, &text, Beside(used.iter().cloned().collect()));
        if let Some(output) = &compiled.output
            && let Err(why) = LoadedPlan::check(&output.plan, &output.sources)
        {
            failures.push_str(&format!("{name}: no error, and no kernel loads it: {why}\n"));
        }
        let got = print(&compiled);
        failures.extend(render::compare(&folder.join(&name).with_extension("out"), &got));
    }
    assert!(failures.is_empty(), "{failures}\nGUARD_BLESS=1 accepts what is printed now");
}

#[test]
fn names() {
    run("names", render::diagnostics);
}

/// Cases named `ok_…` are accepted without a word, all others are refused or warned about.
#[test]
fn types() {
    run("types", render::diagnostics);
    for (name, _) in guards(&folder("types")) {
        let out = folder("types").join(&name).with_extension("out");
        let printed = std::fs::read_to_string(out).unwrap_or_default();
        assert_eq!(printed == "no diagnostics\n", name.starts_with("ok_"), "{name}:\n{printed}");
    }
}

#[test]
fn lower() {
    run("lower", |compiled| {
        let Some(output) = &compiled.output else {
            return render::diagnostics(compiled);
        };
        let json = guard_plan::encode::to_json(&output.lowered, &output.sources);
        let document = Json::parse(&json).expect("the plan is JSON");
        let Json::Object(members) = document else { unreachable!("a document is an object") };
        let plan = members.into_iter().find(|(name, _)| &**name == "plan").expect("a plan").1;
        let mut out = String::new();
        write(&plan, 0, &mut out);
        out + "\n"
    });
}

/// The suite of the optimizer: each expression before and after, with the passes that changed it; and the steps of each
/// tool, before and after.
#[test]
fn optimize() {
    run("optimize", |compiled| {
        let Some(output) = &compiled.output else {
            return render::diagnostics(compiled);
        };
        let mut out = String::new();
        for one in &output.sources.rewrites {
            let tool = one.tool.as_deref().unwrap_or("the guard");
            let after = if one.after.is_empty() { "nothing" } else { &one.after };
            let passes = one.passes.join(", ");
            out.push_str(&format!("{tool} ({passes})\n  {}\n  {after}\n", one.before));
        }
        for (before, after) in output.lowered.tools.iter().zip(&output.plan.tools) {
            let name = &after.name;
            let least = after.steps;
            out.push_str(&format!("{name}: {} steps, now {least}\n", before.steps));
        }
        out
    });
}

/// JSON for readers: what says nothing (`null`, `false`, nothing, places) is left out, what fits a line stays
/// on it.
fn write(json: &Json, indent: usize, out: &mut String) {
    let line = flat(json);
    if line.chars().count() + indent <= 110 {
        out.push_str(&line);
        return;
    }
    let pad = " ".repeat(indent + 2);
    match json {
        Json::Array(xs) => {
            out.push('[');
            for x in xs {
                out.push_str(&format!("\n{pad}"));
                write(x, indent + 2, out);
            }
            out.push_str(&format!("\n{}]", " ".repeat(indent)));
        }
        Json::Object(members) => {
            out.push('{');
            for (name, value) in spoken(members) {
                out.push_str(&format!("\n{pad}{name}: "));
                write(value, indent + 2, out);
            }
            out.push_str(&format!("\n{}}}", " ".repeat(indent)));
        }
        _ => out.push_str(&line),
    }
}

fn flat(json: &Json) -> String {
    let joined = |parts: Vec<String>| parts.join(" ");
    match json {
        Json::Null => "null".into(),
        Json::Bool(b) => b.to_string(),
        Json::Int(n) => n.to_string(),
        Json::Number(n) => n.to_string(),
        Json::String(s) => format!("{s:?}"),
        Json::Array(xs) => format!("[{}]", joined(xs.iter().map(flat).collect())),
        Json::Object(members) => {
            let parts = spoken(members).map(|(name, value)| format!("{name}: {}", flat(value)));
            format!("{{{}}}", joined(parts.collect()))
        }
    }
}

/// The members that say something; the only member of an object always does.
fn spoken(members: &[(Box<str>, Json)]) -> impl Iterator<Item = &(Box<str>, Json)> {
    members.iter().filter(|(name, value)| members.len() == 1 || speaks(name, value))
}

fn speaks(name: &str, value: &Json) -> bool {
    let empty = match value {
        Json::Null | Json::Bool(false) => true,
        Json::Array(xs) => xs.is_empty(),
        Json::String(s) => s.is_empty(),
        _ => false,
    };
    !empty && name != "span"
}

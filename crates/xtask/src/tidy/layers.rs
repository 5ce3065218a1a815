//! Who may know whom: the crate table of the architecture, and what each crate may use of others.

use super::{Findings, Repo};
use serde_json::Value;
use std::process::Command;

/// One crate: which of ours it may know, and which of others.
struct Layer {
    name: &'static str,
    ours: &'static [&'static str],
    others: &'static [&'static str],
}

const ALL: &[&str] = &[
    "guard-plan",
    "guard-syntax",
    "guard-compiler",
    "guard-runtime",
    "guard-hosts",
    "guard-ack",
    "guard-lsp",
];

/// The table of `docs/architecture.md`.
const LAYERS: &[Layer] = &[
    Layer {
        name: "guard-plan",
        ours: &[],
        others: &["serde", "serde_json", "postcard", "sha2", "schemars"],
    },
    Layer { name: "guard-syntax", ours: &[], others: &["pest", "pest_derive"] },
    Layer { name: "guard-compiler", ours: &["guard-syntax", "guard-plan"], others: &["regex"] },
    Layer { name: "guard-runtime", ours: &["guard-plan"], others: &["regex", "sha2"] },
    Layer {
        name: "guard-hosts",
        ours: &["guard-runtime", "guard-plan"],
        others: &["serde", "serde_json"],
    },
    Layer { name: "guard-ack", ours: &["guard-plan"], others: &["serde", "serde_json", "toml"] },
    Layer { name: "guard-lsp", ours: &["guard-compiler", "guard-syntax"], others: &["serde_json"] },
    Layer {
        name: "guardc",
        ours: ALL,
        others: &["clap", "clap_complete", "ignore", "miette", "serde", "serde_json", "toml"],
    },
    Layer {
        name: "guard-tests",
        ours: ALL,
        others: &["insta", "jsonschema", "proptest", "serde_json", "toml"],
    },
    Layer { name: "xtask", ours: &[], others: &["serde_json"] },
];

/// What any crate may use in its tests.
const IN_TESTS: &[&str] =
    &["allocation-counter", "divan", "insta", "jsonschema", "proptest", "serde_json"];

/// Compares `cargo metadata` with the table.
pub fn check(repo: &Repo, found: &mut Findings) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let args = ["metadata", "--no-deps", "--format-version", "1", "--offline"];
    let output = Command::new(cargo).args(args).current_dir(&repo.root).output();
    let output = output.map_err(|e| format!("cannot run cargo metadata: {e}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))?;
    for package in metadata["packages"].as_array().into_iter().flatten() {
        one(package, found);
    }
    Ok(())
}

fn one(package: &Value, found: &mut Findings) {
    let name = package["name"].as_str().unwrap_or_default();
    let Some(layer) = LAYERS.iter().find(|layer| layer.name == name) else {
        found.problem(format!(
            "crate `{name}` has no row in the crate table (crates/xtask/src/tidy/layers.rs)"
        ));
        return;
    };
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        let used = dependency["name"].as_str().unwrap_or_default();
        let in_tests = dependency["kind"].as_str() == Some("dev");
        let ours = used == "guardc" || used == "xtask" || used.starts_with("guard-");
        let allowed = if ours {
            layer.ours.contains(&used)
        } else {
            layer.others.contains(&used) || (in_tests && IN_TESTS.contains(&used))
        };
        if !allowed {
            found.problem(format!("crate `{name}` must not know `{used}`"));
        }
    }
}

//! `release FOLDER`: makes what the registries get, without publishing anything.
//!
//! The workflow publishes; this chore makes the same files on one machine, checks that their versions agree, and fails where a
//! registry would refuse them. It knows the tools (`cargo`, `maturin`, `npm`) and none of the registries.

use std::fs;
use std::path::Path;
use std::process::Command;

pub fn run(root: &Path, args: &[String]) -> Result<bool, String> {
    let [folder] = args else {
        return Err("usage: cargo xtask release FOLDER".to_owned());
    };
    let out = root.join(folder);
    fs::create_dir_all(&out).map_err(|error| format!("cannot make {folder}: {error}"))?;
    let version = versions(root)?;
    println!("release {version}: the versions agree");
    crates(root)?;
    source_distribution(root, &out, &version)?;
    bills_of_materials(root, &out)?;
    manual(root, &out)?;
    println!("release {version}: {folder} has what was made; nothing was published");
    Ok(true)
}

/// The version of the workspace. The package for Node and the list of changes have to have the same.
fn versions(root: &Path) -> Result<String, String> {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let node: serde_json::Value =
        serde_json::from_str(&read(root, "crates/guard-node/package.json")?)
            .map_err(|error| format!("package.json: {error}"))?;
    if node["version"] != version.as_str() {
        return Err(format!(
            "the workspace is {version}, crates/guard-node/package.json {}",
            node["version"]
        ));
    }
    if !read(root, "CHANGELOG.md")?.lines().any(|line| line == format!("## {version}")) {
        return Err(format!("CHANGELOG.md has no section `## {version}`"));
    }
    Ok(version)
}

/// Packs all crates that are published. They are built from these packages when they are published.
fn crates(root: &Path) -> Result<(), String> {
    let mut pack = tool(root, "cargo");
    pack.args(["package", "--workspace", "--no-verify", "--allow-dirty", "--locked", "--quiet"]);
    for own in unpublished(root)? {
        pack.args(["--exclude", &own]);
    }
    finish(pack)
}

/// The crates that are for the workspace alone.
fn unpublished(root: &Path) -> Result<Vec<String>, String> {
    let mut list = tool(root, "cargo");
    let listed = list
        .args(["metadata", "--format-version=1", "--no-deps", "--locked"])
        .output()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    let metadata: serde_json::Value = serde_json::from_slice(&listed.stdout)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    Ok(packages
        .filter(|package| package["publish"].as_array().is_some_and(Vec::is_empty))
        .filter_map(|package| package["name"].as_str().map(str::to_owned))
        .collect())
}

/// Packs the sources of the package for Python: they have to have everything that a build without this repository needs.
fn source_distribution(root: &Path, out: &Path, version: &str) -> Result<(), String> {
    let own = root.join("target/python/bin/maturin");
    let mut pack = tool(root, own.to_str().filter(|_| own.exists()).unwrap_or("maturin"));
    pack.current_dir(root.join("crates/guard-python")).args(["sdist", "--out"]).arg(out);
    finish(pack)?;
    let made = out.join(format!("guardc-{version}.tar.gz"));
    if made.exists() { Ok(()) } else { Err(format!("maturin made no {}", made.display())) }
}

/// The bill of materials of the package for Node. A wheel carries its own; that of the command is the workflow's.
fn bills_of_materials(root: &Path, out: &Path) -> Result<(), String> {
    let mut list = tool(root, "npm");
    list.current_dir(root.join("crates/guard-node"));
    let listed = list
        .args([
            "sbom",
            "--sbom-format=cyclonedx",
            "--package-lock-only",
            "--omit=dev",
            "--omit=peer",
        ])
        .output()
        .map_err(|error| format!("cannot run npm: {error}"))?;
    if !listed.status.success() {
        return Err(format!("npm sbom: {}", String::from_utf8_lossy(&listed.stderr).trim()));
    }
    let file = out.join("guardc-node.cyclonedx.json");
    fs::write(&file, listed.stdout)
        .map_err(|error| format!("cannot write {}: {error}", file.display()))
}

/// The manual pages of the command.
fn manual(root: &Path, out: &Path) -> Result<(), String> {
    let mut write = tool(root, "cargo");
    write.args(["run", "--quiet", "--package", "guardc-cli", "--", "man"]).arg(out.join("man"));
    finish(write)
}

fn tool(root: &Path, name: &str) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root);
    command
}

fn finish(mut command: Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed")) }
}

fn read(root: &Path, name: &str) -> Result<String, String> {
    fs::read_to_string(root.join(name)).map_err(|error| format!("cannot read {name}: {error}"))
}

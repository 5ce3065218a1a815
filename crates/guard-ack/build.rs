//! Collects the cases of `ack/cases/` into a table, so that the kit needs no files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("cases");
    println!("cargo:rerun-if-changed=cases");
    println!("cargo:rerun-if-changed=build.rs");
    let mut table = String::from("&[\n");
    for area in entries(&root).iter().filter(|path| path.is_dir()) {
        println!("cargo:rerun-if-changed={}", area.display());
        for file in
            entries(area).iter().filter(|path| path.extension().is_some_and(|e| e == "toml"))
        {
            println!("cargo:rerun-if-changed={}", file.display());
            let stem =
                |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let name = format!("{}/{}", stem(area), stem(file));
            let _ =
                writeln!(table, "    ({name:?}, include_str!({:?})),", file.display().to_string());
        }
    }
    table.push_str("]\n");
    let out = PathBuf::from(std::env::var("OUT_DIR").unwrap_or_default()).join("cases.rs");
    if let Err(error) = std::fs::write(&out, table) {
        println!("cargo:error=cannot write {}: {error}", out.display());
    }
}

/// Returns the paths in a folder, sorted; none if the folder is missing.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

//! Collects the pages of `docs/codes/` into a table, so that `guardc explain CODE` needs no files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let folder =
        PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("codes");
    println!("cargo:rerun-if-changed=codes");
    println!("cargo:rerun-if-changed=build.rs");
    let mut table = String::from("&[\n");
    for (code, page) in pages(&folder) {
        println!("cargo:rerun-if-changed={}", page.display());
        let _ = writeln!(table, "    ({code:?}, include_str!({:?})),", page.display().to_string());
    }
    table.push_str("]\n");
    let out = PathBuf::from(std::env::var("OUT_DIR").unwrap_or_default()).join("codes.rs");
    if let Err(error) = std::fs::write(&out, table) {
        println!("cargo:error=cannot write {}: {error}", out.display());
    }
}

/// Returns the pages with the name of a code, sorted; none if the folder is missing.
fn pages(folder: &Path) -> Vec<(String, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut pages: Vec<(String, PathBuf)> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .filter_map(|path| {
            let code = path.file_stem()?.to_str()?.to_owned();
            let digits = code.strip_prefix('G')?;
            (digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()))
                .then_some((code, path))
        })
        .collect();
    pages.sort();
    pages
}

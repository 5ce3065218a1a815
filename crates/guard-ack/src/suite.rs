//! A suite of cases: the bundled cases, or those of a folder.

use crate::case::{self, Case, CaseProblem};
use guard_plan::hex;
use sha2::{Digest, Sha256};
use std::io;
use std::path::Path;

/// The bundled cases: name and text.
const BUNDLED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/cases.rs"));

/// The version of the bundled cases (`ack/CHANGELOG.md`). Major: a promise has changed; minor:
/// cases were added; patch: a case was corrected.
pub const VERSION: &str = "1.10.0";

/// Returns the names of the bundled cases.
pub fn bundled_names() -> impl Iterator<Item = &'static str> {
    BUNDLED.iter().map(|(name, _)| *name)
}

/// The texts of all cases, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseSuite {
    /// The names, such as `gate/denied_call_does_not_run`, and the texts.
    pub texts: Vec<(String, String)>,
    /// The folder of the files, for messages.
    pub root: String,
}

/// A case that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The name of the case.
    pub name: String,
    /// The path of the file.
    pub file: String,
    /// The problems of the case.
    pub problems: Vec<CaseProblem>,
}

impl CaseSuite {
    /// Returns the bundled cases.
    pub fn bundled() -> CaseSuite {
        let texts = BUNDLED.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        CaseSuite { texts: texts.collect(), root: "ack/cases".into() }
    }

    /// Reads the cases of a folder: `AREA/NAME.toml`.
    ///
    /// # Errors
    ///
    /// Returns an error if a folder or file cannot be read, or is not UTF-8.
    pub fn read(folder: &Path) -> io::Result<CaseSuite> {
        let mut texts = Vec::new();
        for area in std::fs::read_dir(folder)? {
            let area = area?.path();
            if !area.is_dir() {
                continue;
            }
            for file in std::fs::read_dir(&area)? {
                let file = file?.path();
                if file.extension().is_some_and(|end| end == "toml") {
                    let stem = |path: &Path| {
                        path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
                    };
                    let name = format!("{}/{}", stem(&area), stem(&file));
                    texts.push((name, std::fs::read_to_string(&file)?));
                }
            }
        }
        texts.sort();
        Ok(CaseSuite { texts, root: folder.to_string_lossy().into_owned() })
    }

    /// Returns the hash of everything that a verdict depends on.
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        for (name, text) in &self.texts {
            // The lengths keep a name apart from its text.
            for part in [name, text] {
                hasher.update((part.len() as u64).to_be_bytes());
                hasher.update(part.as_bytes());
            }
        }
        format!("sha256:{}", hex::encode(&hasher.finalize()))
    }

    /// Returns every case, for a seed, by tier and name, and the cases that cannot be read.
    pub fn cases(&self, seed: u64) -> (Vec<Case>, Vec<Unreadable>) {
        let mut cases = Vec::new();
        let mut bad = Vec::new();
        for (name, text) in &self.texts {
            match case::parse(name, text, seed) {
                Ok(case) => cases.push(case),
                Err(problems) => {
                    let file = format!("{}/{name}.toml", self.root);
                    bad.push(Unreadable { name: name.clone(), file, problems });
                }
            }
        }
        cases.sort_by(|a, b| (a.tier(), &a.name).cmp(&(b.tier(), &b.name)));
        (cases, bad)
    }
}

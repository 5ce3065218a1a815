//! Compiled plans of the guards of cases, for adapters that load plans: each compiled once, in a
//! temporary folder.

use crate::config::Config;
use crate::project;
use guard_plan::encode;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Plans by the source text of their guard.
#[derive(Default)]
pub struct Plans {
    made: Mutex<Made>,
}

#[derive(Default)]
struct Made {
    folder: Option<PathBuf>,
    /// Maps the source text of a guard to the path of its plan.
    paths: HashMap<String, Option<String>>,
}

impl Plans {
    /// Returns the path of a guard's plan; `None` if it does not compile or cannot be written,
    /// which the adapter then reports.
    pub fn path(&self, source: &str) -> Option<String> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.paths.get(source) {
            return known.clone();
        }
        if made.folder.is_none() {
            let folder =
                std::env::temp_dir().join(format!("guard-ack-plans-{}", std::process::id()));
            std::fs::create_dir(&folder).ok()?;
            made.folder = Some(folder);
        }
        let path =
            made.folder.as_ref().map(|folder| folder.join(format!("{}.plan", made.paths.len())));
        let path = path.and_then(|path| write(source, &path));
        made.paths.insert(source.to_owned(), path.clone());
        path
    }
}

fn write(source: &str, path: &Path) -> Option<String> {
    let compiled = project::compile(Path::new("case.guard"), source.to_owned(), &Config::default());
    let output = compiled.compilation.output?;
    std::fs::write(path, encode::to_bytes(&output.plan, &output.sources)).ok()?;
    path.to_str().map(str::to_owned)
}

impl Drop for Plans {
    fn drop(&mut self) {
        if let Some(folder) = self.made.lock().unwrap_or_else(PoisonError::into_inner).folder.take()
        {
            // A file may still be open; the system removes it later.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

//! Which files are read: those that are named, and those in folders that are named.

use crate::failure::{Failure, reason};
use crate::files;
use std::path::{Path, PathBuf};

/// One thing to read.
#[derive(Debug, Clone)]
pub struct Source {
    /// Where it is; `-` is standard input.
    pub path: PathBuf,
    /// How it is named in reports.
    pub name: String,
    /// How long it is, as far as it is known.
    pub bytes: u64,
}

impl Source {
    /// What it holds, from the beginning.
    pub fn open(&self) -> std::io::Result<Box<dyn std::io::BufRead>> {
        if self.path.as_os_str() == "-" {
            return Ok(Box::new(std::io::BufReader::new(std::io::stdin())));
        }
        let file = std::fs::File::open(&self.path)?;
        Ok(Box::new(std::io::BufReader::with_capacity(1 << 16, file)))
    }

    /// Its name without folder and ending.
    pub fn stem(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if stem == "-" { "stdin".into() } else { stem }
    }
}

/// The files that paths name: files as they are, of folders those below with one of these endings, sorted.
pub fn sources(paths: &[PathBuf], endings: &[&str]) -> Result<Vec<Source>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            if found.iter().any(|one: &Source| one.path == *path) {
                return Err(Failure::new("standard input is given twice"));
            }
            found.push(Source { path: path.clone(), name: "-".into(), bytes: 0 });
            continue;
        }
        let meta = std::fs::metadata(path).map_err(|e| files::unreadable(path, &reason(&e)))?;
        if !meta.is_dir() {
            found.push(Source { path: path.clone(), name: files::display(path), bytes: meta.len() });
            continue;
        }
        let before = found.len();
        walk(path, endings, &mut found)?;
        if found.len() == before {
            let endings: Vec<String> = endings.iter().map(|ending| format!("`.{ending}`")).collect();
            let shown = files::display(path);
            return Err(Failure::new(format!("no {} files in `{shown}`", endings.join(" or "))));
        }
    }
    Ok(found)
}

fn walk(folder: &Path, endings: &[&str], found: &mut Vec<Source>) -> Result<(), Failure> {
    let fail = |error: std::io::Error| {
        Failure::new(format!("cannot read `{}`: {}", files::display(folder), reason(&error)))
    };
    let entries = std::fs::read_dir(folder).map_err(fail)?;
    let mut entries = entries.collect::<Result<Vec<_>, _>>().map_err(fail)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type().map_err(fail)?);
        if kind.is_dir() {
            walk(&path, endings, found)?;
        } else if path.extension().is_some_and(|is| endings.iter().any(|ending| is == *ending)) {
            let bytes = std::fs::metadata(&path).map(|meta| meta.len()).unwrap_or_default();
            found.push(Source { name: files::display(&path), path, bytes });
        }
    }
    Ok(())
}

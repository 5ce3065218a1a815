//! The inputs of a replay: named files, files in named folders, and the sessions of databases.

use crate::commands::trace::sources as stored;
use crate::failure::{Failure, reason};
use crate::files;
use guard_trace::store::{self, Store};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One input.
#[derive(Clone)]
pub struct ReplayInput {
    /// The path; `-` is standard input.
    pub path: PathBuf,
    /// The name in reports.
    pub name: String,
    /// The length in bytes, if known.
    pub bytes: u64,
    /// The session, if it is in a database.
    session: Option<(Arc<dyn Store>, String)>,
}

/// The records of a session in a database, as the text of a trace.
struct Stored<'s> {
    records: store::RecordLines<'s>,
    line: Vec<u8>,
    at: usize,
}

impl Read for Stored<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.line.len() {
            match self.records.next() {
                None => return Ok(0),
                Some(line) => {
                    let line = line.map_err(|error| std::io::Error::other(error.to_string()))?;
                    self.line.clear();
                    self.line.extend_from_slice(line.as_bytes());
                    self.line.push(b'\n');
                    self.at = 0;
                }
            }
        }
        let rest = &self.line[self.at..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}

impl ReplayInput {
    /// Opens the content, from the beginning.
    pub fn open(&self) -> std::io::Result<Box<dyn BufRead + '_>> {
        if let Some((store, session)) = &self.session {
            let records = store.records(session, 0);
            let records = records.map_err(|error| std::io::Error::other(error.to_string()))?;
            return Ok(Box::new(BufReader::new(Stored { records, line: Vec::new(), at: 0 })));
        }
        if self.path.as_os_str() == "-" {
            return Ok(Box::new(BufReader::new(std::io::stdin())));
        }
        let file = std::fs::File::open(&self.path)?;
        Ok(Box::new(BufReader::with_capacity(1 << 16, file)))
    }

    /// Returns the name without folder and extension.
    pub fn stem(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if stem == "-" { "stdin".into() } else { stem }
    }
}

/// Returns the files that paths name: files as given, and the files in folders with one of these
/// extensions, sorted.
pub fn sources(paths: &[PathBuf], endings: &[&str]) -> Result<Vec<ReplayInput>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            if found.iter().any(|input: &ReplayInput| input.path == *path) {
                return Err(Failure::new("standard input is given twice"));
            }
            found.push(ReplayInput {
                path: path.clone(),
                name: "-".into(),
                bytes: 0,
                session: None,
            });
            continue;
        }
        let meta = std::fs::metadata(path).map_err(|e| files::unreadable(path, &reason(&e)))?;
        let fail = |e: std::io::Error| files::unreadable(path, &reason(&e));
        if !meta.is_dir() && stored::is_database(path).map_err(fail)? {
            database(path, meta.len(), &mut found)?;
            continue;
        }
        if !meta.is_dir() {
            let name = files::display(path);
            let bytes = meta.len();
            found.push(ReplayInput { path: path.clone(), name, bytes, session: None });
            continue;
        }
        let before = found.len();
        walk(path, endings, &mut found)?;
        if found.len() == before {
            let endings: Vec<String> =
                endings.iter().map(|ending| format!("`.{ending}`")).collect();
            let shown = files::display(path);
            return Err(Failure::new(format!("no {} files in `{shown}`", endings.join(" or "))));
        }
    }
    Ok(found)
}

fn database(path: &Path, bytes: u64, found: &mut Vec<ReplayInput>) -> Result<(), Failure> {
    let store = stored::open(path, None)?;
    let ids = store.sessions()?;
    // The meter only needs a total; the share of each session is not known without reading it.
    let each = bytes / (ids.len() as u64).max(1);
    found.extend(ids.into_iter().map(|id| ReplayInput {
        path: path.to_owned(),
        name: format!("{}:{id}", files::display(path)),
        bytes: each,
        session: Some((Arc::clone(&store), id)),
    }));
    Ok(())
}

fn walk(folder: &Path, endings: &[&str], found: &mut Vec<ReplayInput>) -> Result<(), Failure> {
    let fail = |error: std::io::Error| {
        Failure::new(format!("cannot read `{}`: {}", files::display(folder), reason(&error)))
    };
    let entries = std::fs::read_dir(folder).map_err(fail)?;
    let mut entries = entries.collect::<Result<Vec<_>, _>>().map_err(fail)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // The type of the entry itself does not follow links, so that a link to a parent folder
        // makes no cycle.
        let kind = entry.file_type().map_err(fail)?;
        // A store's ledger and its requests for approval are no traces.
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if kind.is_dir() {
            walk(&path, endings, found)?;
        } else if path.extension().is_some_and(|is| endings.iter().any(|ending| is == *ending)) {
            let bytes = std::fs::metadata(&path).map(|meta| meta.len()).unwrap_or_default();
            found.push(ReplayInput { name: files::display(&path), path, bytes, session: None });
        }
    }
    Ok(())
}

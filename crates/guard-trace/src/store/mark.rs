//! Marks: how far each chain of a store was acknowledged, in files beside it.
//!
//! A chain that was cut to a prefix, or an older copy of it, is sound by itself. Its mark stays behind,
//! and says that there was more. A mark is written after the record is durable and is not
//! synchronised itself: it is never ahead of what was acknowledged. A chain without a mark is taken
//! as it is.

use super::StoreError;
use super::ledger::LEDGER;
use super::seen::{Seen, has_head};
use super::{Begun, Durability};
use crate::line::Head;
use guard_plan::hex;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// With grouped commits, every so many records have a mark.
const SELDOM: u64 = 16;

/// The marks of a store.
#[derive(Debug)]
pub(super) struct Marks {
    folder: PathBuf,
    suffix: &'static str,
    every: u64,
}

impl Marks {
    /// The marks that lie among the sessions of a folder.
    pub fn among(folder: &Path, durability: Durability) -> Marks {
        Marks { folder: folder.to_owned(), suffix: ".mark", every: every(durability) }
    }

    /// The marks in a folder beside a database.
    pub fn beside(database: &Path, durability: Durability) -> Marks {
        let mut folder = database.as_os_str().to_owned();
        folder.push(".marks");
        Marks { folder: folder.into(), suffix: "", every: every(durability) }
    }

    fn path(&self, chain: &str) -> PathBuf {
        self.folder.join(format!("{chain}{}", self.suffix))
    }

    /// Writes how far a chain has come; not for every record where commits are grouped.
    pub fn write(&self, chain: &str, head: &Head) -> Result<(), StoreError> {
        match head.version.is_multiple_of(self.every) || head.version == 1 {
            true => self.write_now(chain, head),
            false => Ok(()),
        }
    }

    /// Writes how far a chain has come.
    pub fn write_now(&self, chain: &str, head: &Head) -> Result<(), StoreError> {
        let path = self.path(chain);
        let text = format!("{:020} {}\n", head.version, hex::encode(&head.hash));
        let open = || OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = match open() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // The folder of a store is never made anew: it may be the one that was deleted.
                if self.suffix.is_empty() {
                    let _ = fs::create_dir(&self.folder);
                }
                open()
            }
            other => other,
        };
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| StoreError::io(&path, &error))
    }

    /// Returns how far a chain had come.
    pub fn read(&self, chain: &str) -> Result<Option<Head>, StoreError> {
        let path = self.path(chain);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io(&path, &error)),
        };
        let parsed = text.trim_end().split_once(' ').and_then(|(version, hash)| {
            let hash = hex::decode(hash)?;
            Some(Head { first: 0, version: version.parse().ok()?, hash })
        });
        match parsed {
            Some(head) => Ok(Some(head)),
            None => Err(StoreError::Damaged {
                path,
                session: None,
                record: None,
                why: "it is no mark of a store".into(),
            }),
        }
    }

    /// Forgets the mark of a chain.
    pub fn remove(&self, chain: &str) {
        let _ = fs::remove_file(self.path(chain));
    }

    /// Checks that a session has what was acknowledged.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Lost`] if it has not.
    pub fn check(&self, store: &Path, session: &str, begun: &Begun) -> Result<(), StoreError> {
        match self.read(session)? {
            Some(mark) if !has_head(begun, &mark) => Err(behind(store, session, mark.version)),
            _ => Ok(()),
        }
    }

    /// Checks that a chain is no shorter than was acknowledged.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Lost`] if it is.
    pub fn check_length(&self, store: &Path, chain: &str, head: &Head) -> Result<(), StoreError> {
        match self.read(chain)? {
            Some(mark) if is_behind(head, &mark) => Err(behind(store, chain, mark.version)),
            _ => Ok(()),
        }
    }

    /// Takes what a chain is now for what was acknowledged; returns what was lost, if anything.
    pub fn settle(&self, chain: &str, head: &Head) -> Result<Option<String>, StoreError> {
        match self.read(chain) {
            Ok(Some(mark)) if is_behind(head, &mark) => {
                self.write_now(chain, head)?;
                let (there, was) = (head.version, mark.version);
                Ok(Some(format!("{} has {there} records from now on, and had {was}", named(chain))))
            }
            Err(StoreError::Damaged { .. }) => {
                self.write_now(chain, head)?;
                Ok(Some(format!("{} has a new mark", named(chain))))
            }
            other => other.map(|_| None),
        }
    }

    /// Says of chains which are behind their marks.
    pub fn audit<'c>(
        &self,
        chains: impl IntoIterator<Item = (&'c str, Head)>,
    ) -> Result<Vec<String>, StoreError> {
        let mut found = Vec::new();
        for (chain, head) in chains {
            if let Some(mark) = self.read(chain)?.filter(|mark| is_behind(&head, mark)) {
                let (there, was) = (head.version, mark.version);
                found.push(format!(
                    "{} has {there} records, and {was} were acknowledged",
                    named(chain)
                ));
            }
        }
        Ok(found)
    }
}

fn every(durability: Durability) -> u64 {
    match durability {
        Durability::Full => 1,
        Durability::Batch(_) | Durability::Off => SELDOM,
    }
}

/// Returns whether a chain is shorter than its mark, or ends otherwise.
fn is_behind(head: &Head, mark: &Head) -> bool {
    head.version < mark.version || (head.version == mark.version && head.hash != mark.hash)
}

fn named(chain: &str) -> String {
    match chain {
        LEDGER => "the ledger".into(),
        session => format!("session `{session}`"),
    }
}

fn behind(store: &Path, chain: &str, records: u64) -> StoreError {
    let why = format!(
        "does not have all {records} records of {} that were acknowledged: it was cut, or an older copy was put in its \
         place; restore it, or accept what is there with `guardc trace repair --ledger`",
        named(chain)
    );
    StoreError::lost(store, &why)
}

/// What this process has seen, and what was marked before.
pub(super) fn check_both(
    (seen, marks): (&Seen, &Marks),
    path: &Path,
    session: &str,
    begun: &Begun,
) -> Result<(), StoreError> {
    seen.check(path, session, begun)?;
    marks.check(path, session, begun)
}

//! Marks: how far each chain of a store was acknowledged, in files beside it.
//!
//! A chain that was cut to a prefix, or an older copy of it, is sound by itself. Its mark stays behind,
//! and says that there was more. A mark is written after the record is durable and is not
//! synchronised itself: it is never ahead of its chain. Whoever compares reads the mark first: another
//! process may add to the chain and mark it in between. A chain without a mark is taken as it is, and
//! so is one whose mark cannot be read: it was being written when the process or the disk failed.

use super::StoreError;
use super::ledger::LEDGER;
use super::seen::has_head;
use super::{Durability, StoredStart};
use crate::line::Head;
use guard_plan::hex;
use sha2::{Digest, Sha256};
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// With grouped commits, every so many records have a mark.
const SELDOM: u64 = 16;

/// The marks of a store.
#[derive(Debug)]
pub(super) struct ChainMarks {
    folder: PathBuf,
    suffix: &'static str,
    every: u64,
}

impl ChainMarks {
    /// The marks that lie among the sessions of a folder.
    pub fn among(folder: &Path, durability: Durability) -> ChainMarks {
        ChainMarks { folder: folder.to_owned(), suffix: ".mark", every: every(durability) }
    }

    /// The marks in a folder beside a database.
    pub fn beside(database: &Path, durability: Durability) -> ChainMarks {
        let mut folder = database.as_os_str().to_owned();
        folder.push(".marks");
        ChainMarks { folder: folder.into(), suffix: "", every: every(durability) }
    }

    fn path(&self, chain: &str) -> PathBuf {
        self.folder.join(format!("{chain}{}", self.suffix))
    }

    /// Writes how far a chain has come; not for every record where commits are grouped.
    pub fn write(&self, chain: &str, head: &Head) -> Result<(), StoreError> {
        if head.version.is_multiple_of(self.every) || head.version == 1 {
            self.write_now(chain, head)
        } else {
            Ok(())
        }
    }

    /// Writes how far a chain has come.
    pub fn write_now(&self, chain: &str, head: &Head) -> Result<(), StoreError> {
        let path = self.path(chain);
        let text = text_of(head);
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

    /// Returns how far a chain had come; none where nothing says so.
    pub fn read(&self, chain: &str) -> Result<Option<Head>, StoreError> {
        Ok(match self.look(chain)? {
            MarkRead::Read(head) => Some(head),
            MarkRead::None | MarkRead::Unreadable => None,
        })
    }

    fn look(&self, chain: &str) -> Result<MarkRead, StoreError> {
        let path = self.path(chain);
        match fs::read(&path) {
            Ok(bytes) => Ok(parse(&bytes).map_or(MarkRead::Unreadable, MarkRead::Read)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(MarkRead::None),
            Err(error) => Err(StoreError::io(&path, &error)),
        }
    }

    /// Forgets the mark of a chain.
    pub fn remove(&self, chain: &str) {
        let _ = fs::remove_file(self.path(chain));
    }

    /// Takes what a chain is now for what was acknowledged; returns what was lost, if anything.
    pub fn settle(&self, chain: &str, head: &Head) -> Result<Option<String>, StoreError> {
        let there = head.version;
        let said = match self.look(chain)? {
            MarkRead::Read(mark) if is_behind(head, &mark) => {
                let was = mark.version;
                format!("{} has {there} records from now on, and had {was}", named(chain))
            }
            MarkRead::Unreadable => format!("{} has a new mark", named(chain)),
            MarkRead::Read(_) | MarkRead::None => return Ok(None),
        };
        self.write_now(chain, head)?;
        Ok(Some(said))
    }

    /// Says of chains which are behind their marks, and whose marks cannot be read. `head` reads how far
    /// a chain has come; of none nothing is said.
    pub fn audit<'c>(
        &self,
        chains: impl IntoIterator<Item = &'c str>,
        mut head: impl FnMut(&str) -> Result<Option<Head>, StoreError>,
    ) -> Result<Vec<String>, StoreError> {
        let mut found = Vec::new();
        for chain in chains {
            let mark = self.look(chain)?;
            let Some(there) = head(chain)? else { continue };
            match mark {
                MarkRead::Read(mark) if is_behind(&there, &mark) => found.push(format!(
                    "{} has {} records, and {} were acknowledged",
                    named(chain),
                    there.version,
                    mark.version
                )),
                MarkRead::Unreadable => {
                    found.push(format!("the mark of {} cannot be read", named(chain)))
                }
                MarkRead::Read(_) | MarkRead::None => {}
            }
        }
        Ok(found)
    }
}

/// The mark of a chain, as read from its file.
enum MarkRead {
    None,
    Read(Head),
    Unreadable,
}

/// The text of a mark: a version, the hash of its record, and a checksum of both.
fn text_of(head: &Head) -> String {
    let said = format!("{:020} {}", head.version, hex::encode(&head.hash));
    let sum = hex::encode(&Sha256::digest(&said));
    format!("{said} {sum}\n")
}

fn parse(bytes: &[u8]) -> Option<Head> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (version, rest) = text.split_once(' ')?;
    let (hash, _) = rest.split_once(' ')?;
    let head = Head { first: 0, version: version.parse().ok()?, hash: hex::decode(hash)? };
    (text_of(&head) == text).then_some(head)
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

/// Checks that a session has what was acknowledged, by the mark that was read before it.
///
/// # Errors
///
/// Returns [`StoreError::Lost`] if it has not.
pub(super) fn check(
    store: &Path,
    session: &str,
    mark: Option<Head>,
    begun: &StoredStart,
) -> Result<(), StoreError> {
    match mark {
        Some(mark) if !has_head(begun, &mark) => Err(behind(store, session, mark.version)),
        _ => Ok(()),
    }
}

/// Checks that a chain is no shorter than was acknowledged, by the mark that was read before it.
///
/// # Errors
///
/// Returns [`StoreError::Lost`] if it is.
pub(super) fn check_length(
    store: &Path,
    chain: &str,
    mark: Option<Head>,
    head: &Head,
) -> Result<(), StoreError> {
    match mark {
        Some(mark) if is_behind(head, &mark) => Err(behind(store, chain, mark.version)),
        _ => Ok(()),
    }
}

//! Marks: the last acknowledged record of each chain of a store, in files beside it.
//!
//! A chain that was cut to a prefix, or replaced by an older copy, is consistent in itself. Its
//! mark remains and shows that there was more. A mark is written after the record is durable and is
//! not synchronised itself, so it is never ahead of its chain. A comparison must read the mark
//! first, because another process may add to the chain and then update the mark in between. A chain
//! without a mark is accepted, and so is a chain whose mark cannot be read: the mark was being
//! written when the process or the disk failed.

use super::StoreError;
use super::ledger::{LEDGER, LedgerSums};
use super::place::refuse_link;
use super::seen::has_head;
use super::{Durability, StoredStart, check_id};
use crate::line::{Head, LineFields};
use guard_plan::hex;
use sha2::{Digest, Sha256};
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// With grouped commits, the number of records between two marks.
const SELDOM: u64 = 16;

/// The marks of a store.
#[derive(Debug)]
pub(super) struct ChainMarks {
    folder: PathBuf,
    suffix: &'static str,
    every: u64,
}

impl ChainMarks {
    /// Returns the marks that are stored among the sessions of a folder.
    pub fn among(folder: &Path, durability: Durability) -> ChainMarks {
        ChainMarks { folder: folder.to_owned(), suffix: ".mark", every: every(durability) }
    }

    /// Returns the marks in a folder beside a database.
    pub fn beside(database: &Path, durability: Durability) -> ChainMarks {
        let mut folder = database.as_os_str().to_owned();
        folder.push(".marks");
        ChainMarks { folder: folder.into(), suffix: "", every: every(durability) }
    }

    fn path(&self, chain: &str) -> Result<PathBuf, StoreError> {
        // The names in a database are its author's, and could lead outside of the folder.
        if chain != LEDGER {
            check_id(chain)?;
        }
        Ok(self.folder.join(format!("{chain}{}", self.suffix)))
    }

    /// Writes the mark of a chain. With grouped commits, not every record is marked.
    pub fn write(&self, chain: &str, head: &Head) -> Result<(), StoreError> {
        // The first record is always marked, because it shows that the session exists.
        if head.version.is_multiple_of(self.every) || head.version == 1 {
            self.write_now(chain, head)
        } else {
            Ok(())
        }
    }

    /// Writes the mark of a chain.
    pub fn write_now(&self, chain: &str, head: &Head) -> Result<(), StoreError> {
        let path = self.path(chain)?;
        refuse_link(&path)?;
        let text = text_of(head);
        // The file is not truncated first: a mark has a fixed length, and is never seen empty.
        let open = || OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = match open() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // The folder of a store is never created again: it may be the folder that was deleted.
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

    /// Returns the marked head of a chain; `None` if there is no readable mark.
    pub fn read(&self, chain: &str) -> Result<Option<Head>, StoreError> {
        Ok(match self.look(chain)? {
            MarkRead::Read(head) => Some(head),
            MarkRead::None | MarkRead::Unreadable => None,
        })
    }

    fn look(&self, chain: &str) -> Result<MarkRead, StoreError> {
        let path = self.path(chain)?;
        match fs::read(&path) {
            Ok(bytes) => Ok(parse(&bytes).map_or(MarkRead::Unreadable, MarkRead::Read)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(MarkRead::None),
            Err(error) => Err(StoreError::io(&path, &error)),
        }
    }

    /// Removes the mark of a chain.
    pub fn remove(&self, chain: &str) {
        let _ = self.path(chain).map(fs::remove_file);
    }

    /// Accepts the current head of a chain as the acknowledged one. Returns what was lost, if
    /// anything.
    pub fn settle(
        &self,
        chain: &str,
        head: &Head,
        record: impl Fn(&str, u64) -> Result<Option<String>, StoreError>,
    ) -> Result<Option<String>, StoreError> {
        let there = head.version;
        let said = match self.look(chain)? {
            MarkRead::Read(mark) if is_behind(head, &mark) => {
                let was = mark.version;
                format!("{} has {there} records from now on, and had {was}", named(chain))
            }
            MarkRead::Read(mark) if differs(head, &mark, |last| record(chain, last))? => {
                format!("{} has other records from now on", named(chain))
            }
            MarkRead::Unreadable => format!("{} has a new mark", named(chain)),
            MarkRead::Read(_) | MarkRead::None => return Ok(None),
        };
        self.write_now(chain, head)?;
        Ok(Some(said))
    }

    /// Reports the chains that are behind their marks, and the chains whose marks cannot be read.
    /// `head` reads the head of a chain, and `record` one of its records. A chain without a head is
    /// not reported.
    pub fn audit<'c>(
        &self,
        chains: impl IntoIterator<Item = &'c str>,
        mut head: impl FnMut(&str) -> Result<Option<Head>, StoreError>,
        record: impl Fn(&str, u64) -> Result<Option<String>, StoreError>,
    ) -> Result<Vec<String>, StoreError> {
        let mut found = Vec::new();
        for chain in chains {
            if self.path(chain).is_err() {
                found.push(format!("{} has a name that no session can have", named(chain)));
                continue;
            }
            let mark = self.look(chain)?;
            let Some(there) = head(chain)? else { continue };
            match mark {
                MarkRead::Read(mark) if is_behind(&there, &mark) => found.push(format!(
                    "{} has {} records, and {} were acknowledged",
                    named(chain),
                    there.version,
                    mark.version
                )),
                MarkRead::Read(mark) if differs(&there, &mark, |last| record(chain, last))? => {
                    let last = mark.version - 1;
                    found.push(format!(
                        "{} has another record {last} than was acknowledged",
                        named(chain)
                    ));
                }
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

/// Returns the text of a mark: a version, the hash of its record, and a checksum of both.
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

/// Returns true if a chain is shorter than its mark, or has another record at the mark.
fn is_behind(head: &Head, mark: &Head) -> bool {
    head.version < mark.version || (head.version == mark.version && head.hash != mark.hash)
}

/// Returns true if a chain is longer than its mark, and has another record at the mark.
fn differs(
    head: &Head,
    mark: &Head,
    record: impl FnOnce(u64) -> Result<Option<String>, StoreError>,
) -> Result<bool, StoreError> {
    let last = mark.version.saturating_sub(1);
    if head.version <= mark.version {
        return Ok(false);
    }
    let record = record(last)?;
    let record = record.as_deref().and_then(|line| LineFields::read(line.as_bytes()).ok());
    // The record of a compacted chain may be gone; then a later one is read.
    Ok(record.is_some_and(|record| record.seq == last && record.hash != mark.hash))
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

/// Checks that a session has the acknowledged records, by the mark that was read before the
/// session.
///
/// # Errors
///
/// Returns [`StoreError::Lost`] if it does not.
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

/// Checks that the ledger has its acknowledged records, by the mark that was read before the
/// ledger.
///
/// # Errors
///
/// Returns [`StoreError::Lost`] if it does not.
pub(super) fn check_ledger(
    store: &Path,
    mark: Option<Head>,
    ledger: &LedgerSums,
) -> Result<(), StoreError> {
    match mark {
        Some(mark) if is_behind(&ledger.head, &mark) || ledger.differs() => {
            Err(behind(store, LEDGER, mark.version))
        }
        _ => Ok(()),
    }
}

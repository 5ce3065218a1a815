//! Reads and writes within a transaction.

use super::super::ledger::{KnownSession, LedgerSums, time_of};
use super::super::memory::{check_snapshot, no_snapshot};
use super::super::{Commit, Committed, Fit, SessionSnapshot, StoreError, fit};
use super::schema;
use crate::keys::Keys;
use crate::line::{Head, LineFields};
use guard_plan::encode::Hash;
use guard_plan::record::LedgerEntry;
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use std::path::Path;

/// The maximum number of sessions, and of records in one session: row ids have 63 bits.
const MAX_SESSION: i64 = 1 << 31;
const MAX_SEQ: u64 = 1 << 32;

/// A database within a transaction.
pub struct OpenTransaction<'t> {
    pub path: &'t Path,
    pub connection: &'t Connection,
}

/// A session's row.
pub struct SessionRow {
    pub id: i64,
    pub head: Head,
}

/// A stored snapshot, with an unchecked tag.
pub struct StoredSnapshot {
    version: u64,
    head: Vec<u8>,
    tag: Vec<u8>,
    bytes: Vec<u8>,
}

impl StoredSnapshot {
    /// Returns the snapshot, if its tag is valid.
    pub fn trusted(self, session: &str, keys: Option<&Keys>) -> Option<SessionSnapshot> {
        let hash: Hash = self.head.try_into().ok()?;
        let bears = keys?.bears(session, (self.version, &hash), &self.bytes, &self.tag);
        bears.then_some(SessionSnapshot { version: self.version, hash, bytes: self.bytes })
    }
}

impl OpenTransaction<'_> {
    /// Returns the row of a session.
    pub fn session(&self, name: &str) -> Result<Option<SessionRow>, StoreError> {
        let sql = "SELECT id, first, version, head FROM session WHERE name = ?1";
        let row = self.one(sql, params![name], |row| {
            let head: [u8; 32] = row.get(3)?;
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?, head))
        })?;
        let Some((id, first, version, hash)) = row else { return Ok(None) };
        // A database is hostile input: a negative or huge number would overflow the row ids.
        let number = |n: i64| {
            let number = u64::try_from(n).ok().filter(|n| *n <= MAX_SEQ);
            number.ok_or_else(|| {
                self.damaged(name, None, format!("{n} is not the number of a record"))
            })
        };
        let head = Head { first: number(first)?, version: number(version)?, hash };
        Ok(Some(SessionRow { id, head }))
    }

    /// Returns the names of all sessions.
    pub fn sessions(&self) -> Result<Vec<String>, StoreError> {
        let fail = |why| error(self.path, &why);
        let sql =
            "SELECT name FROM session WHERE version > first AND name != '.ledger' ORDER BY name";
        let mut statement = self.connection.prepare_cached(sql).map_err(fail)?;
        let names = statement.query_map([], |row| row.get(0)).map_err(fail)?;
        names.collect::<Result<_, _>>().map_err(fail)
    }

    /// Returns the records of a session from a number on, at most `most`.
    pub fn lines(
        &self,
        session: &SessionRow,
        from: u64,
        most: usize,
    ) -> Result<Vec<String>, StoreError> {
        let fail = |why| error(self.path, &why);
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let sql =
            "SELECT line FROM record WHERE place >= ?1 AND place < ?2 ORDER BY place LIMIT ?3";
        let mut statement = self.connection.prepare_cached(sql).map_err(fail)?;
        let range = params![place(session.id, from), place(session.id + 1, 0), most];
        let lines = statement.query_map(range, |row| row.get(0)).map_err(fail)?;
        lines.collect::<Result<_, _>>().map_err(fail)
    }

    /// Returns the records of a session from a number on, up to a maximum. Each has its number,
    /// because some may be missing.
    pub fn page(
        &self,
        name: &str,
        from: u64,
        most: usize,
    ) -> Result<Vec<(u64, String)>, StoreError> {
        let Some(session) = self.session(name)? else { return Ok(Vec::new()) };
        let fail = |why| error(self.path, &why);
        let sql = "SELECT place & 4294967295, line FROM record WHERE place >= ?1 AND place < ?2
                   ORDER BY place LIMIT ?3";
        let mut statement = self.connection.prepare_cached(sql).map_err(fail)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let range = params![place(session.id, from), place(session.id + 1, 0), most];
        let number = |n: i64| u64::try_from(n).unwrap_or_default();
        let rows = statement.query_map(range, |row| Ok((number(row.get(0)?), row.get(1)?)));
        rows.map_err(fail)?.collect::<Result<_, _>>().map_err(fail)
    }

    /// Returns true if a session has all records of a chain; it may have more.
    pub fn holds(&self, name: &str, head: &Head) -> Result<bool, StoreError> {
        let Some(found) = self.session(name)? else { return Ok(head.is_empty()) };
        let Some(last) = head.version.checked_sub(1).filter(|last| *last >= found.head.first)
        else {
            return Ok(true);
        };
        let sql = "SELECT count(*) FROM record WHERE place >= ?1 AND place < ?2";
        let range = params![place(found.id, found.head.first), place(found.id, head.version)];
        let count = self.one(sql, range, |row| row.get::<_, i64>(0))?;
        let line = self.lines(&found, last, 1)?;
        let line = line.first().and_then(|line| LineFields::read(line.as_bytes()).ok());
        Ok(count == Some(signed(head.version - found.head.first))
            && line.is_some_and(|line| line.seq == last && line.hash == head.hash))
    }

    /// Returns the snapshot of a session.
    pub fn snapshot(&self, session: &SessionRow) -> Result<Option<StoredSnapshot>, StoreError> {
        let sql = "SELECT version, head, tag, bytes FROM snapshot WHERE session = ?1";
        self.one(sql, params![session.id], |row| {
            let version = u64::try_from(row.get::<_, i64>(0)?).unwrap_or(u64::MAX);
            Ok(StoredSnapshot { version, head: row.get(1)?, tag: row.get(2)?, bytes: row.get(3)? })
        })
    }

    /// Writes a commit, or returns the reason for its refusal without writing anything.
    pub fn commit(
        &self,
        name: &str,
        commit: &Commit<'_>,
        keys: Option<&Keys>,
        ledger: &mut LedgerSums,
    ) -> Result<Committed, StoreError> {
        let found = self.session(name)?;
        let before = found.as_ref().map(|found| found.head).unwrap_or_default();
        let head = match fit(&before, commit)? {
            Fit::Yes(head) if head.version >= MAX_SEQ => {
                return Err(StoreError::Misfit("a session has 2³² records at most".into()));
            }
            Fit::Yes(head) => head,
            Fit::Conflict(version) => return Ok(Committed::Conflict { version }),
        };
        if found.is_none() {
            self.expect_new(name, ledger)?;
        }
        // Charges come before the records, because a refusal must leave the session without a row.
        if let Some(over) = self.charge(ledger, name, commit)? {
            return Ok(over);
        }
        let id = match found {
            Some(found) => found.id,
            None => {
                let time = commit.records.first().map_or(0, |record| time_of(record));
                self.say(ledger, time, LedgerEntry::Begun, name)?;
                self.insert(name)?
            }
        };
        let from = head.version - commit.records.len() as u64;
        for (seq, line) in (from..).zip(commit.records) {
            let sql = "INSERT INTO record (place, line) VALUES (?1, ?2)";
            self.run(sql, params![place(id, seq), line])?;
        }
        self.move_head(id, &head)?;
        // A snapshot without a tag could be replaced by anyone who can write to the file.
        if let (Some(bytes), Some(keys)) = (commit.snapshot, keys) {
            let tag = keys.tag(name, (head.version, &head.hash), bytes);
            let sql = "INSERT OR REPLACE INTO snapshot (session, version, head, tag, bytes)
                       VALUES (?1, ?2, ?3, ?4, ?5)";
            self.run(sql, params![id, signed(head.version), head.hash, tag, bytes])?;
        }
        Ok(Committed::Yes(head))
    }

    pub fn insert(&self, name: &str) -> Result<i64, StoreError> {
        let sql = "INSERT INTO session (name, first, version, head) VALUES (?1, 0, 0, ?2)";
        self.run(sql, params![name, [0_u8; 32]])?;
        match self.connection.last_insert_rowid() {
            id if id < MAX_SESSION => Ok(id),
            _ => Err(StoreError::Full(self.path.to_owned())),
        }
    }

    pub fn move_head(&self, id: i64, head: &Head) -> Result<(), StoreError> {
        let sql = "UPDATE session SET first = ?2, version = ?3, head = ?4 WHERE id = ?1";
        self.run(sql, params![id, signed(head.first), signed(head.version), head.hash])
    }

    /// Drops the records that a snapshot record replaces.
    pub fn forget(&self, name: &str, before: u64) -> Result<(), StoreError> {
        let found = self.session(name)?.ok_or_else(|| no_snapshot(before))?;
        let line = self.lines(&found, before, 1)?;
        check_snapshot(line.first().map_or("", String::as_str), before)?;
        let range = params![place(found.id, 0), place(found.id, before)];
        self.run("DELETE FROM record WHERE place >= ?1 AND place < ?2", range)?;
        let stale = params![found.id, signed(before)];
        self.run("DELETE FROM snapshot WHERE session = ?1 AND version <= ?2", stale)?;
        self.move_head(found.id, &Head { first: before, ..found.head })
    }

    /// Returns the number of bytes in use.
    pub fn size(&self) -> Result<u64, StoreError> {
        let sql = "SELECT (pages.page_count - free.freelist_count) * size.page_size
                   FROM pragma_page_count AS pages, pragma_freelist_count AS free, pragma_page_size AS size";
        let size = self.one(sql, params![], |row| row.get::<_, i64>(0))?;
        Ok(size.and_then(|size| u64::try_from(size).ok()).unwrap_or_default())
    }

    /// Drops a session.
    pub fn remove(&self, name: &str, ledger: &mut LedgerSums) -> Result<bool, StoreError> {
        let Some(found) = self.session(name)? else { return Ok(false) };
        self.catch_up(ledger, false)?;
        if ledger.knows(name) == KnownSession::Begun {
            let last = self.lines(&found, found.head.version.saturating_sub(1), 1)?;
            let time = last.first().map_or(0, |record| time_of(record));
            self.say(ledger, time, LedgerEntry::Removed, name)?;
        }
        let range = params![place(found.id, 0), place(found.id + 1, 0)];
        self.run("DELETE FROM record WHERE place >= ?1 AND place < ?2", range)?;
        self.run("DELETE FROM snapshot WHERE session = ?1", params![found.id])?;
        self.run("DELETE FROM session WHERE id = ?1", params![found.id])?;
        Ok(true)
    }

    /// Returns the error for a damaged session.
    pub fn damaged(&self, session: &str, record: Option<u64>, why: String) -> StoreError {
        let session = Some(session.to_owned());
        StoreError::Damaged { path: self.path.to_owned(), session, record, why }
    }

    fn one<T>(
        &self,
        sql: &str,
        params: &[&dyn rusqlite::ToSql],
        read: impl FnOnce(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let fail = |why| error(self.path, &why);
        let mut statement = self.connection.prepare_cached(sql).map_err(fail)?;
        statement.query_row(params, read).optional().map_err(fail)
    }

    pub fn run(&self, sql: &str, params: &[&dyn rusqlite::ToSql]) -> Result<(), StoreError> {
        let fail = |why| error(self.path, &why);
        let mut statement = self.connection.prepare_cached(sql).map_err(fail)?;
        statement.execute(params).map(|_| ()).map_err(fail)
    }
}

/// Returns the row id of a record.
pub fn place(session: i64, seq: u64) -> i64 {
    (session << 32).saturating_add(signed(seq.min(MAX_SEQ)))
}

/// Callers have checked that the number is below 2³².
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts an error of SQLite.
pub fn error(path: &Path, why: &rusqlite::Error) -> StoreError {
    let io = || StoreError::Io(path.to_owned(), why.to_string());
    let damaged = || {
        let why = why.to_string();
        StoreError::Damaged { path: path.to_owned(), session: None, record: None, why }
    };
    match why {
        rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
            code if schema::is_busy(code) => StoreError::Locked(path.to_owned()),
            ErrorCode::DiskFull => StoreError::Full(path.to_owned()),
            ErrorCode::NotADatabase => StoreError::NoStore(path.to_owned()),
            ErrorCode::DatabaseCorrupt | ErrorCode::TypeMismatch => damaged(),
            ErrorCode::CannotOpen if !path.exists() => {
                StoreError::Io(path.to_owned(), "it does not exist".into())
            }
            _ => io(),
        },
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::Utf8Error(..) => damaged(),
        _ => io(),
    }
}

//! An open database: its connection, and its location in the file system.

use super::super::ledger::{LEDGER, LedgerSums};
use super::super::mark::ChainMarks;
use super::super::place::OVERWRITTEN;
use super::super::{Durability, StoreError};
use super::place::DatabaseFiles;
use super::rows::{self, OpenTransaction};
use super::schema;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::{Path, PathBuf};

/// A connection to a database whose files must stay where they are.
#[derive(Debug)]
pub struct Handle {
    path: PathBuf,
    durability: Durability,
    connection: Connection,
    place: DatabaseFiles,
    /// The ledger, as far as this connection has read it.
    ledger: LedgerSums,
    marks: ChainMarks,
}

impl Handle {
    /// Opens a database, or creates it.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is not a Guard database, has another version, or cannot be
    /// used.
    pub fn open(path: &Path, durability: Durability, create: bool) -> Result<Handle, StoreError> {
        let connection = schema::connect(path, durability, create)?;
        // The log and its index exist after the first read.
        rows::OpenTransaction { path, connection: &connection }.sessions()?;
        let place = DatabaseFiles::new(path)?;
        let path = path.to_owned();
        let ledger = LedgerSums::default();
        let marks = ChainMarks::beside(&path, Durability::Full);
        let mut handle = Handle { path, durability, connection, place, ledger, marks };
        if schema::version(&handle.path, &handle.connection)? == schema::FORMER_VERSION {
            handle.writing(&[], |rows, ledger| {
                // Another process may have been faster.
                match schema::version(rows.path, rows.connection)? {
                    schema::FORMER_VERSION => rows.upgrade(ledger),
                    _ => Ok(()),
                }
            })?;
        }
        Ok(handle)
    }

    /// Runs a function in one read transaction.
    ///
    /// # Errors
    ///
    /// Returns the error of the function, or an error if the database cannot be read or is not at
    /// its path.
    pub fn reading<T>(
        &mut self,
        read: impl FnOnce(&OpenTransaction<'_>, &mut LedgerSums) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.place.check()?;
        let fail = |error| rows::error(&self.path, &error);
        let transaction = self.connection.transaction().map_err(fail)?;
        let rows = OpenTransaction { path: &self.path, connection: &transaction };
        let found = read(&rows, &mut self.ledger)?;
        transaction.commit().map_err(fail)?;
        Ok(found)
    }

    /// Runs a function in one write transaction; nothing is changed if it fails. On return the
    /// changes of these sessions are in the database at the path.
    ///
    /// # Errors
    ///
    /// Returns the error of the function, or an error if the database cannot be written or is not
    /// at its path.
    pub fn writing<T>(
        &mut self,
        sessions: &[&str],
        write: impl FnOnce(&OpenTransaction<'_>, &mut LedgerSums) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.place.check()?;
        let known = self.ledger.head.version;
        let done = self.transact(write);
        if done.is_err() {
            // The ledger may contain data that was rolled back.
            self.ledger = LedgerSums::default();
        }
        let done = done?;
        self.place.check()?;
        if self.place.is_unread() {
            self.look_into(sessions)?;
        }
        if self.ledger.head.version > known {
            self.marks.write_now(LEDGER, &self.ledger.head)?;
        }
        Ok(done)
    }

    fn transact<T>(
        &mut self,
        write: impl FnOnce(&OpenTransaction<'_>, &mut LedgerSums) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let fail = |error| rows::error(&self.path, &error);
        // An immediate transaction takes the write lock first; upgrading a read lock could
        // deadlock.
        let begun = Transaction::new(&mut self.connection, TransactionBehavior::Immediate);
        let transaction = begun.map_err(fail)?;
        // If it is dropped without a commit, it is rolled back.
        let rows = OpenTransaction { path: &self.path, connection: &transaction };
        let done = write(&rows, &mut self.ledger)?;
        transaction.commit().map_err(fail)?;
        Ok(done)
    }

    /// Copies the database as it is now.
    ///
    /// # Errors
    ///
    /// Returns an error if the database is not at its path, or the copy cannot be written.
    pub fn copy(&mut self, to: &Path) -> Result<(), StoreError> {
        self.place.check()?;
        let fail = |error| rows::error(&self.path, &error);
        let bad = || StoreError::io(to, &std::io::ErrorKind::InvalidInput.into());
        let to = to.to_str().ok_or_else(bad)?;
        self.connection.execute("VACUUM INTO ?1", [to]).map_err(fail)?;
        self.place.check()
    }

    /// Checks that a new connection, without cached data, finds the same sessions as this one.
    fn look_into(&mut self, sessions: &[&str]) -> Result<(), StoreError> {
        let overwritten = || StoreError::lost(&self.path, OVERWRITTEN);
        let ours = OpenTransaction { path: &self.path, connection: &self.connection };
        let other = match schema::connect(&self.path, self.durability, false) {
            Err(StoreError::NoStore(_) | StoreError::Damaged { .. }) => return Err(overwritten()),
            other => other?,
        };
        let other = OpenTransaction { path: &self.path, connection: &other };
        for session in sessions.iter().chain(&[LEDGER]) {
            let Some(expected) = ours.session(session)? else { continue };
            match other.holds(session, &expected.head) {
                Ok(true) => {}
                Ok(false) | Err(StoreError::NoStore(_) | StoreError::Damaged { .. }) => {
                    return Err(overwritten());
                }
                Err(error) => return Err(error),
            }
        }
        self.place.read();
        Ok(())
    }
}

//! The ledger of a database: its records are stored like those of a session.

use super::super::ledger::{KnownSession, LEDGER, LedgerSums, gone, missing, stranger, time_of};
use super::super::place::CUT;
use super::super::{Commit, Committed, SharedCharge, StoreError};
use super::rows::{OpenTransaction, error};
use crate::line::Head;
use guard_plan::decimal;
use guard_plan::plan::Millis;
use guard_plan::record::LedgerEntry;
use rusqlite::params;

impl OpenTransaction<'_> {
    /// Reads the new entries of the ledger. A database with sessions must have a ledger, unless
    /// `make` is true.
    pub fn catch_up(&self, ledger: &mut LedgerSums, make: bool) -> Result<(), StoreError> {
        let Some(found) = self.session(LEDGER)? else {
            if ledger.head.version > 0 {
                return Err(StoreError::lost(self.path, "has lost its ledger"));
            }
            return if make || self.sessions()?.is_empty() {
                Ok(())
            } else {
                Err(missing(self.path))
            };
        };
        if found.head.version < ledger.head.version {
            return Err(StoreError::lost(self.path, CUT));
        }
        for line in self.lines(&found, ledger.head.version, usize::MAX)? {
            ledger.take(self.path, &line)?;
        }
        if (Head { first: 0, ..found.head }) == ledger.head {
            Ok(())
        } else {
            let why = "its last record is not the one that it names".into();
            Err(self.damaged(LEDGER, None, why))
        }
    }

    /// Appends records to the ledger.
    pub fn append(&self, ledger: &mut LedgerSums, lines: &[String]) -> Result<(), StoreError> {
        let id = match self.session(LEDGER)? {
            Some(found) => found.id,
            None => self.insert(LEDGER)?,
        };
        for line in lines {
            self.put(id, ledger.head.version, line)?;
            ledger.take(self.path, line)?;
        }
        self.move_head(id, &ledger.head)
    }

    /// Refuses a session that the ledger knows and the database does not have.
    pub fn expect_new(&self, name: &str, ledger: &mut LedgerSums) -> Result<(), StoreError> {
        self.catch_up(ledger, false)?;
        match ledger.knows(name) {
            KnownSession::Begun => Err(gone(self.path, name)),
            KnownSession::No | KnownSession::Removed => Ok(()),
        }
    }

    /// Refuses a session that the ledger does not know: its entry is written in one transaction
    /// with the first record.
    pub fn expect_known(&self, name: &str, ledger: &mut LedgerSums) -> Result<(), StoreError> {
        self.catch_up(ledger, false)?;
        match ledger.knows(name) {
            KnownSession::Begun => Ok(()),
            KnownSession::No | KnownSession::Removed => Err(stranger(self.path, name)),
        }
    }

    /// Writes into the ledger that a session exists, or was removed.
    pub fn say(
        &self,
        ledger: &mut LedgerSums,
        time: Millis,
        entry: LedgerEntry,
        name: &str,
    ) -> Result<(), StoreError> {
        let line = ledger.say(time, entry, name);
        self.append(ledger, &[line])
    }

    /// Charges shared budgets. Returns the refusal of a charge, if there is one.
    pub fn charge(
        &self,
        ledger: &mut LedgerSums,
        name: &str,
        commit: &Commit<'_>,
    ) -> Result<Option<Committed>, StoreError> {
        if commit.charges.is_empty() {
            return Ok(None);
        }
        self.catch_up(ledger, false)?;
        let time = commit.records.first().map_or(0, |record| time_of(record));
        match ledger.charge(time, name, commit.version, commit.charges)? {
            Err(over) => Ok(Some(over)),
            Ok(lines) => self.append(ledger, &lines).map(|()| None),
        }
    }

    /// Updates the ledger to the content of the database. Returns the entries that were written.
    pub fn settle_ledger(&self, ledger: &mut LedgerSums) -> Result<Vec<String>, StoreError> {
        self.catch_up(ledger, true)?;
        let there = self.sessions()?;
        let mut said = Vec::new();
        for id in &there {
            if ledger.knows(id) != KnownSession::Begun {
                self.say(ledger, 0, LedgerEntry::Begun, id)?;
                said.push(format!("session `{id}` is now listed in the ledger"));
            }
        }
        for id in ledger.sessions() {
            if !there.contains(&id) {
                self.say(ledger, 0, LedgerEntry::Removed, &id)?;
                said.push(format!("session `{id}` is gone"));
            }
        }
        Ok(said)
    }

    /// Returns the rows that belong to no session, counted by the session that they name.
    pub fn orphans(&self) -> Result<Vec<String>, StoreError> {
        let fail = |why| error(self.path, &why);
        let mut found = Vec::new();
        for (table, sql) in [
            (
                "record",
                "SELECT place >> 32, count(*) FROM record
                 WHERE place >> 32 NOT IN (SELECT id FROM session) GROUP BY 1 ORDER BY 1 LIMIT 50",
            ),
            (
                "snapshot",
                "SELECT session, count(*) FROM snapshot
                 WHERE session NOT IN (SELECT id FROM session) GROUP BY 1 ORDER BY 1 LIMIT 50",
            ),
        ] {
            let mut statement = self.connection.prepare(sql).map_err(fail)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
            let rows: Vec<(i64, i64)> =
                rows.map_err(fail)?.collect::<Result<_, _>>().map_err(fail)?;
            found.extend(rows.iter().map(|(session, count)| {
                let rows = guard_plan::words::count(count, "row");
                format!("{rows} of table `{table}` belong to no session (id {session})")
            }));
        }
        Ok(found)
    }

    /// Upgrades a database of version 1, which had a table of amounts and no ledger.
    pub fn upgrade(&self, ledger: &mut LedgerSums) -> Result<(), StoreError> {
        let fail = |why| error(self.path, &why);
        self.settle_ledger(ledger)?;
        let mut statement =
            self.connection.prepare("SELECT key, amount FROM spent ORDER BY key").map_err(fail)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(fail)?;
        let amounts: Vec<(String, i64)> = rows.collect::<Result<_, _>>().map_err(fail)?;
        for (key, amount) in amounts {
            let charges = [SharedCharge { key: &key, amount, limit: i64::MAX }];
            let commit = Commit { charges: &charges, ..Commit::default() };
            if self.charge(ledger, "", &commit)?.is_some() {
                let why = format!("the sum of `{}` is too large", decimal::format(amount));
                return Err(self.damaged(LEDGER, None, why));
            }
        }
        // The version changes in the same transaction, so that no half-upgraded database exists.
        let sql = "DROP TABLE spent; PRAGMA user_version = 2;";
        self.connection.execute_batch(sql).map_err(fail)
    }

    fn put(&self, id: i64, seq: u64, line: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO record (place, line) VALUES (?1, ?2)";
        self.run(sql, params![super::rows::place(id, seq), line])
    }
}

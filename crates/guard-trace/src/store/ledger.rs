//! The ledger of a store: a separate chain with the existing sessions and the charges to the
//! budgets that they share.
//!
//! Without the ledger, a deleted session could begin anew, with all its spending forgotten. The
//! ledger's records are chained and verified like those of a session, under the name [`LEDGER`],
//! which no session can have.

use super::{Committed, SharedCharge, StoreError, charge_all};
use crate::line::{Head, LineFields};
use guard_plan::decimal;
use guard_plan::plan::Millis;
use guard_plan::record::{self, Chain, Kind, LedgerEntry, Payload, Record};
use guard_plan::time;
use std::collections::BTreeMap;
use std::path::Path;

/// The name of the ledger, in place of a session's name.
pub const LEDGER: &str = ".ledger";

/// The ledger's knowledge of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownSession {
    /// The session is unknown.
    No,
    /// The session exists.
    Begun,
    /// The session was removed.
    Removed,
}

/// The sums of a ledger, up to its head.
#[derive(Debug, Clone, Default)]
pub(super) struct LedgerSums {
    /// The head of the ledger's chain.
    pub head: Head,
    /// The head that a mark names, and whether the chain has passed it with another record.
    marked: Option<(Head, bool)>,
    /// The sessions; false for those that were removed.
    sessions: BTreeMap<String, bool>,
    spent: BTreeMap<String, i64>,
}

impl LedgerSums {
    /// Applies the next record.
    pub fn take(&mut self, path: &Path, line: &str) -> Result<(), StoreError> {
        let damaged = |why: String| StoreError::Damaged {
            path: path.to_owned(),
            session: Some(LEDGER.to_owned()),
            record: Some(self.head.version),
            why,
        };
        let head =
            self.head.follow(line.as_bytes()).map_err(|broken| damaged(broken.to_string()))?;
        let record = Record::parse(line).map_err(&damaged)?;
        let Payload::Ledger(entry) = record.payload else {
            return Err(damaged("it is not a record of a ledger".into()));
        };
        let session = entry.session.into_owned();
        match entry.entry {
            LedgerEntry::Begun => drop(self.sessions.insert(session, true)),
            LedgerEntry::Removed => drop(self.sessions.insert(session, false)),
            LedgerEntry::Charged => {
                let amount = entry.amount.as_deref().and_then(decimal::parse);
                let spent = entry.spent.as_deref().and_then(decimal::parse);
                let (Some(budget), Some(amount), Some(spent)) = (entry.budget, amount, spent)
                else {
                    return Err(damaged("it does not contain the charged amounts".into()));
                };
                let before = self.spent(&budget);
                if amount < 0 || before.checked_add(amount) != Some(spent) {
                    return Err(damaged(format!("its sum of `{budget}` is wrong")));
                }
                self.spent.insert(budget.into_owned(), spent);
            }
        }
        self.head = head;
        if let Some((mark, differs)) = &mut self.marked {
            *differs |= head.version == mark.version && head.hash != mark.hash;
        }
        Ok(())
    }

    /// Compares the next records with a mark.
    pub fn expect(&mut self, mark: Head) {
        if self.head.version < mark.version {
            self.marked = Some((mark, self.differs()));
        }
    }

    /// Accepts records that differ from the mark.
    pub fn accept(&mut self) {
        self.marked = None;
    }

    /// Returns true if the chain has another record than the mark names. The chain may be longer.
    pub fn differs(&self) -> bool {
        self.marked.is_some_and(|(_, differs)| differs)
    }

    /// Returns the ledger's knowledge of a session.
    pub fn knows(&self, session: &str) -> KnownSession {
        match self.sessions.get(session) {
            None => KnownSession::No,
            Some(true) => KnownSession::Begun,
            Some(false) => KnownSession::Removed,
        }
    }

    /// Returns the sessions that exist, sorted.
    pub fn sessions(&self) -> Vec<String> {
        let exist = self.sessions.iter().filter(|(_, exists)| **exists);
        exist.map(|(id, _)| id.clone()).collect()
    }

    /// Returns the amount spent of a budget.
    pub fn spent(&self, key: &str) -> i64 {
        self.spent.get(key).copied().unwrap_or_default()
    }

    /// Returns the record that a session begins to exist, or was removed.
    pub fn say(&self, time: Millis, entry: LedgerEntry, session: &str) -> String {
        let entry = record::Ledger {
            entry,
            session: session.into(),
            record: 0,
            budget: None,
            amount: None,
            spent: None,
        };
        append(&mut self.chain(), time, &entry)
    }

    /// Returns the records of charges, or the refusal of one of them.
    pub fn charge(
        &self,
        time: Millis,
        session: &str,
        record: u64,
        charges: &[SharedCharge<'_>],
    ) -> Result<Result<Vec<String>, Committed>, StoreError> {
        // All charges are checked before the first entry is made, because a commit is taken whole.
        if let Err(over) = charge_all(charges, |key| Ok(self.spent(key)))? {
            return Ok(Err(over));
        }
        let mut chain = self.chain();
        let mut sums = BTreeMap::new();
        let charged = |charge: &SharedCharge<'_>| {
            let sum = sums.entry(charge.key.to_owned()).or_insert_with(|| self.spent(charge.key));
            // The sums were already checked against the limits.
            *sum = sum.saturating_add(charge.amount);
            let entry = record::Ledger {
                entry: LedgerEntry::Charged,
                session: session.into(),
                record,
                budget: Some(charge.key.into()),
                amount: Some(decimal::format(charge.amount).into()),
                spent: Some(decimal::format(*sum).into()),
            };
            append(&mut chain, time, &entry)
        };
        Ok(Ok(charges.iter().map(charged).collect()))
    }

    fn chain(&self) -> Chain {
        Chain::from(self.head.version, self.head.hash)
    }
}

fn append(chain: &mut Chain, time: Millis, entry: &record::Ledger<'_>) -> String {
    String::from_utf8_lossy(chain.append(time, Kind::Ledger, None, entry)).into_owned()
}

/// Returns the time of a record, or 0.
pub(super) fn time_of(record: &str) -> Millis {
    let line = LineFields::read(record.as_bytes()).ok();
    line.and_then(|line| time::parse_rfc3339(line.time)).unwrap_or_default()
}

/// Returns the error for a store with sessions and without a ledger.
pub(super) fn missing(path: &Path) -> StoreError {
    StoreError::lost(
        path,
        "has sessions and no ledger, which says what exists and what is spent: \
         `guardc trace repair --ledger` writes one of what is there",
    )
}

/// Returns the error for a session that is in the ledger but not in the store.
pub(super) fn gone(path: &Path, session: &str) -> StoreError {
    StoreError::lost(path, &format!("has lost session `{session}`, which its ledger lists"))
}

/// Returns the error for a session that is in the store but not in the ledger.
pub(super) fn stranger(path: &Path, session: &str) -> StoreError {
    StoreError::lost(
        path,
        &format!(
            "has session `{session}`, which its ledger does not know: the ledger was cut, or the session was \
             put there by hand (`guardc trace import` brings a session into a store)"
        ),
    )
}

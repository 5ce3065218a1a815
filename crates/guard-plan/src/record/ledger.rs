//! The records of a store's own chain, its ledger: the sessions that exist, and the charges to the
//! budgets that they share.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// An entry of a store's ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ledger<'a> {
    /// The kind of entry.
    pub entry: LedgerEntry,
    /// The session that the entry is about, or that charged.
    pub session: Cow<'a, str>,
    /// The number of records that the session had before.
    pub record: u64,
    /// The shared budget that was charged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Cow<'a, str>>,
    /// The amount, a decimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<Cow<'a, str>>,
    /// The total amount spent of the budget, a decimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Cow<'a, str>>,
}

/// The kind of a ledger's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LedgerEntry {
    /// A session began.
    Begun,
    /// A session was removed.
    Removed,
    /// A shared budget was charged.
    Charged,
}

impl fmt::Display for Ledger<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let session = &self.session;
        match self.entry {
            LedgerEntry::Begun => write!(f, "session `{session}` begins"),
            LedgerEntry::Removed => write!(f, "session `{session}` is removed"),
            LedgerEntry::Charged => write!(
                f,
                "session `{session}` charges {} to `{}`; {} is spent",
                self.amount.as_deref().unwrap_or_default(),
                self.budget.as_deref().unwrap_or_default(),
                self.spent.as_deref().unwrap_or_default()
            ),
        }
    }
}

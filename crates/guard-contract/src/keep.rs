//! The last stage, which limits the number of kept units of a list.

use crate::shape::List;
use guard_plan::json::Json;
use guard_plan::report::{Extent, KeptItem, QuarantineReason};
use guard_plan::value::Value;
use std::collections::BTreeMap;

/// The reason why a unit is refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub reason: QuarantineReason,
    pub error: String,
}

/// The rank of a unit, lowest first. Units without a rank keep the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    /// True if the rank is missing; such units come last.
    pub missing: bool,
    pub value: Option<Value>,
}

/// The kept units of a list so far.
#[derive(Debug)]
pub(crate) struct KeptUnits {
    max: u64,
    by: Option<String>,
    /// The items by rank, and by position among equal ranks.
    kept: BTreeMap<(Rank, u64), KeptItem>,
    /// The first units, if there is no rank.
    first: Vec<KeptItem>,
}

/// An item with its index in the list and its position in the text.
pub(crate) fn item(index: u64, at: (usize, usize), value: Json) -> KeptItem {
    let at = Extent { start: at.0 as u64, end: at.1 as u64 };
    KeptItem { index, at, value, repaired: false, resynchronised: false }
}

impl KeptUnits {
    pub fn new(list: &List) -> KeptUnits {
        let by = list.by.clone().filter(|_| list.max.is_some());
        KeptUnits {
            max: list.max.unwrap_or(u64::MAX),
            by,
            kept: BTreeMap::new(),
            first: Vec::new(),
        }
    }

    /// Returns the number of kept units.
    pub fn len(&self) -> usize {
        self.kept.len() + self.first.len()
    }

    /// Keeps an item unless there are enough higher-ranking ones. Returns the item that is dropped.
    pub fn offer(&mut self, rank: Rank, item: KeptItem) -> Option<KeptItem> {
        if self.by.is_none() {
            if self.first.len() as u64 >= self.max {
                return Some(item);
            }
            self.first.push(item);
            return None;
        }
        self.kept.insert((rank, item.index), item);
        let full = self.kept.len() as u64 > self.max;
        full.then(|| self.kept.pop_last()).flatten().map(|(_, worst)| worst)
    }

    /// Returns true if an item of this rank, after all others, would be kept.
    pub fn takes(&self, rank: &Rank) -> bool {
        match self.kept.last_key_value() {
            _ if (self.len() as u64) < self.max => true,
            Some(((worst, _), _)) => rank < worst,
            None => false,
        }
    }

    /// Returns the reason for a dropped item.
    pub fn over_limit(&self) -> Refusal {
        let max = self.max;
        let error = match &self.by {
            Some(by) => format!("at most {max} are kept, and these are better by `{by}`"),
            None => format!("at most {max} are kept, the first ones"),
        };
        Refusal { reason: QuarantineReason::OverLimit, error }
    }

    /// Returns the kept items, in the order of the text.
    pub fn finish(self) -> Vec<KeptItem> {
        let mut items = self.first;
        items.extend(self.kept.into_values());
        items.sort_by_key(|item| item.index);
        items
    }
}

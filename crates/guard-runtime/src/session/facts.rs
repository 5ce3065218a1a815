//! Tables of learned rows.

use super::counter::MAX_COUNT;
use super::sorted::Keyed;
use guard_plan::key;
use guard_plan::plan::{Fact, TypeDef};
use guard_plan::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The number of rows by key bytes.
type KeyCounts = HashMap<Box<[u8]>, u32>;

/// The rows of one fact. A full table evicts the oldest row, or refuses a new one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FactRows {
    keys: usize,
    max: usize,
    /// True if a full table refuses a new row.
    #[serde(skip)]
    halts: bool,
    /// The rows, by key.
    rows: Keyed<StoredRow>,
    /// The keys, by the sequence number of their row.
    #[serde(skip)]
    order: BTreeMap<u64, Box<[u8]>>,
    arrivals: u64,
    /// The number of rows with the same leading column values, for each number of columns less than
    /// that of the key.
    #[serde(skip)]
    prefixes: Vec<(usize, KeyCounts)>,
}

/// The outcome of adding a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddedRow {
    /// The row was added, and no row was evicted.
    Kept,
    /// The row was added, and the oldest row was evicted.
    Evicted,
    /// The row was refused, because the table is full.
    Refused,
}

/// A row and its source.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredRow {
    number: u64,
    value: Value,
    /// The source: the call id, `prompt N` or `start`; many rows share it.
    by: Arc<str>,
}

impl FactRows {
    pub fn new(fact: &Fact, types: &[TypeDef]) -> FactRows {
        let keys = fact.keys as usize;
        let columns = match types.get(fact.row as usize) {
            Some(TypeDef::Record { fields, .. }) => fields.len(),
            _ => 0,
        };
        FactRows {
            keys,
            max: usize::try_from(fact.max).unwrap_or(usize::MAX),
            halts: fact.halts,
            rows: Keyed::default(),
            order: BTreeMap::new(),
            arrivals: 0,
            prefixes: (0..=columns).filter(|n| *n != keys).map(|n| (n, HashMap::new())).collect(),
        }
    }

    /// Computes the derived data of the rows. Returns true if they are valid rows of a fact.
    pub fn adopt(&mut self, fact: &Fact, types: &[TypeDef], fits: &dyn Fn(&Value) -> bool) -> bool {
        let FactRows { keys, max, halts, prefixes, .. } = FactRows::new(fact, types);
        (self.keys, self.max, self.halts, self.prefixes) = (keys, max, halts, prefixes);
        if self.arrivals > MAX_COUNT {
            return false;
        }
        let rows = std::mem::take(&mut self.rows);
        for (key, row) in rows.iter() {
            let Value::Record(columns) = &row.value else { return false };
            let sound = fits(&row.value)
                && columns.get(..keys).is_some_and(|columns| key::encode(columns) == *key)
                // A number beyond the last arrival would collide with a row that comes later.
                && row.number <= self.arrivals
                && self.order.insert(row.number, key.clone()).is_none();
            if !sound {
                return false;
            }
            self.count(&row.value, true);
        }
        self.rows = rows;
        self.rows.len() <= max
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the row with a key.
    pub fn row(&self, key: &[u8]) -> Option<&Value> {
        self.rows.get(key).map(|row| &row.value)
    }

    /// Returns true if some row begins with these columns.
    pub fn known(&self, columns: usize, key: &[u8]) -> bool {
        if columns == self.keys {
            return self.rows.contains_key(key);
        }
        let prefix = self.prefixes.iter().find(|(count, _)| *count == columns);
        prefix.is_some_and(|(_, rows)| rows.contains_key(key))
    }

    /// Returns the rows from a sequence number on, in order: number, row and source.
    pub fn rows_from(&self, number: u64) -> impl Iterator<Item = (u64, &Value, &str)> {
        let rows = self.order.range(number..).filter_map(|(_, key)| self.rows.get(key));
        rows.map(|row| (row.number, &row.value, &*row.by))
    }

    /// Adds a row, or replaces the row with its key in place.
    pub fn add(&mut self, row: Vec<Value>, by: &Arc<str>) -> AddedRow {
        let bytes = key::encode(row.get(..self.keys).unwrap_or(&row));
        let is_full = self.rows.len() >= self.max;
        let halts = self.halts && !guard_proof::mutant!("a full fact forgets");
        if halts && is_full && !self.rows.contains_key(&bytes) {
            return AddedRow::Refused;
        }
        let row = Value::Record(row);
        self.count(&row, true);
        if let Some(known) = self.rows.get_mut(&bytes) {
            known.by = Arc::clone(by);
            let old = std::mem::replace(&mut known.value, row);
            self.count(&old, false);
            return AddedRow::Kept;
        }
        let mut added = AddedRow::Kept;
        if is_full
            && let Some((_, oldest)) = self.order.pop_first()
            && let Some(old) = self.rows.remove(&oldest)
        {
            self.count(&old.value, false);
            added = AddedRow::Evicted;
        }
        self.arrivals += 1;
        self.order.insert(self.arrivals, bytes.clone());
        let row = StoredRow { number: self.arrivals, value: row, by: Arc::clone(by) };
        self.rows.insert(bytes, row);
        added
    }

    fn count(&mut self, row: &Value, more: bool) {
        let Value::Record(columns) = row else { return };
        for (count, prefixes) in &mut self.prefixes {
            let bytes = key::encode(columns.get(..*count).unwrap_or(columns));
            if more {
                *prefixes.entry(bytes).or_default() += 1;
            } else if let Some(rows) = prefixes.get_mut(&bytes) {
                *rows -= 1;
                if *rows == 0 {
                    prefixes.remove(&bytes);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use guard_plan::plan::Field;

    #[test]
    fn rows_are_replaced_and_evicted() {
        let fact = Fact { name: "f".into(), row: 0, keys: 1, max: 2, halts: false };
        let column =
            |name: &str| Field { name: name.into(), ty: 0, secret: false, doc: String::new() };
        let fields = vec![column("a"), column("b")];
        let mut table = FactRows::new(&fact, &[TypeDef::Record { name: "F".into(), fields }]);
        let int = Value::Int;
        let known =
            |table: &FactRows, values: &[Value]| table.known(values.len(), &key::encode(values));
        let start: Arc<str> = "start".into();
        let call: Arc<str> = "c1".into();
        table.add(vec![int(1), int(10)], &start);
        table.add(vec![int(2), int(20)], &start);
        assert_eq!(table.add(vec![int(1), int(11)], &call), AddedRow::Kept);
        let taught: Vec<_> = table.rows_from(1).map(|(number, _, by)| (number, by)).collect();
        assert_eq!(taught, [(1, "c1"), (2, "start")]);
        assert!(known(&table, &[int(1)]) && known(&table, &[int(1), int(11)]));
        assert!(!known(&table, &[int(1), int(10)]));
        assert_eq!(table.add(vec![int(3), int(30)], &call), AddedRow::Evicted);
        assert_eq!(table.len(), 2);
        // Replacing a row does not change its age.
        assert!(!known(&table, &[int(1)]) && !known(&table, &[int(1), int(11)]));
        assert!(known(&table, &[int(2)]) && known(&table, &[int(3)]));
    }
}

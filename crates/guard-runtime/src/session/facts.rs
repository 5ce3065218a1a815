//! Tables of learned rows.

use guard_plan::key;
use guard_plan::plan::{Fact, TypeDef};
use guard_plan::value::Value;
use std::collections::{BTreeMap, HashMap};

/// How many rows there are by some bytes.
type Counts = HashMap<Box<[u8]>, u32>;

/// The rows of one fact; the oldest goes first when it is full.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    keys: usize,
    max: usize,
    /// By key: the row and the number it came in as.
    rows: HashMap<Box<[u8]>, (u64, Value)>,
    /// Keys by the number their row came in as.
    order: BTreeMap<u64, Box<[u8]>>,
    arrivals: u64,
    /// How many rows begin with some columns, for each number of columns but that of the key.
    prefixes: Vec<(usize, Counts)>,
}

impl Table {
    pub fn new(fact: &Fact, types: &[TypeDef]) -> Table {
        let keys = fact.keys as usize;
        let columns = match types.get(fact.row as usize) {
            Some(TypeDef::Record { fields, .. }) => fields.len(),
            _ => 0,
        };
        Table {
            keys,
            max: usize::try_from(fact.max).unwrap_or(usize::MAX),
            rows: HashMap::new(),
            order: BTreeMap::new(),
            arrivals: 0,
            prefixes: (0..=columns).filter(|n| *n != keys).map(|n| (n, HashMap::new())).collect(),
        }
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The row with a key.
    pub fn row(&self, key: &[u8]) -> Option<&Value> {
        self.rows.get(key).map(|(_, row)| row)
    }

    /// Whether some row begins with these columns.
    pub fn known(&self, columns: usize, key: &[u8]) -> bool {
        if columns == self.keys {
            return self.rows.contains_key(key);
        }
        let prefix = self.prefixes.iter().find(|(count, _)| *count == columns);
        prefix.is_some_and(|(_, rows)| rows.contains_key(key))
    }

    /// Adds a row, or replaces the one with its key in place.
    pub fn add(&mut self, row: Vec<Value>) {
        let bytes = key::of(row.get(..self.keys).unwrap_or(&row));
        let row = Value::Record(row);
        self.count(&row, true);
        if let Some((_, old)) = self.rows.get_mut(&bytes) {
            let old = std::mem::replace(old, row);
            self.count(&old, false);
            return;
        }
        if self.rows.len() >= self.max
            && let Some((_, oldest)) = self.order.pop_first()
            && let Some((_, old)) = self.rows.remove(&oldest)
        {
            self.count(&old, false);
        }
        self.arrivals += 1;
        self.order.insert(self.arrivals, bytes.clone());
        self.rows.insert(bytes, (self.arrivals, row));
    }

    fn count(&mut self, row: &Value, more: bool) {
        let Value::Record(columns) = row else { return };
        for (count, prefixes) in &mut self.prefixes {
            let bytes = key::of(columns.get(..*count).unwrap_or(columns));
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
        let fact = Fact { name: "f".into(), row: 0, keys: 1, max: 2 };
        let column = |name: &str| Field { name: name.into(), ty: 0, secret: false };
        let fields = vec![column("a"), column("b")];
        let mut table = Table::new(&fact, &[TypeDef::Record { name: "F".into(), fields }]);
        let int = Value::Int;
        let known = |table: &Table, values: &[Value]| table.known(values.len(), &key::of(values));
        table.add(vec![int(1), int(10)]);
        table.add(vec![int(2), int(20)]);
        table.add(vec![int(1), int(11)]);
        assert!(known(&table, &[int(1)]) && known(&table, &[int(1), int(11)]));
        assert!(!known(&table, &[int(1), int(10)]));
        table.add(vec![int(3), int(30)]);
        assert_eq!(table.len(), 2);
        // Replacing a row did not make it younger.
        assert!(!known(&table, &[int(1)]) && !known(&table, &[int(1), int(11)]));
        assert!(known(&table, &[int(2)]) && known(&table, &[int(3)]));
    }
}

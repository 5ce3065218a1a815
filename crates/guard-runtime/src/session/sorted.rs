//! Hash maps that are serialized in the order of their keys, so that the same memory gives the same
//! bytes.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::{Deref, DerefMut};

/// A map by key bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound(serialize = "V: Serialize", deserialize = "V: Deserialize<'de>"))]
pub(crate) struct Keyed<V>(#[serde(with = "crate::session::sorted")] HashMap<Box<[u8]>, V>);

impl<V> Default for Keyed<V> {
    fn default() -> Self {
        Keyed(HashMap::new())
    }
}

impl<V> Deref for Keyed<V> {
    type Target = HashMap<Box<[u8]>, V>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<V> DerefMut for Keyed<V> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// Serializes a map as its entries, sorted.
pub(crate) fn serialize<K: Ord + Serialize, V: Serialize, S: Serializer>(
    map: &HashMap<K, V>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut entries: Vec<(&K, &V)> = map.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    serializer.collect_seq(entries)
}

/// Deserializes entries. Of a repeated key, the last entry is kept.
pub(crate) fn deserialize<'de, K, V, D>(deserializer: D) -> Result<HashMap<K, V>, D::Error>
where
    K: Deserialize<'de> + Eq + Hash,
    V: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Ok(Vec::<(K, V)>::deserialize(deserializer)?.into_iter().collect())
}

//! Dispatch from the name of a tool to its id, by a perfect hash.
//!
//! Each name is hashed to a bucket, and each bucket has a seed that gives its names distinct slots.
//! A look-up is one hash and one comparison, for any number of tools. Only the plan's author
//! chooses the names. A plan with colliding names is slower but still correct.

use guard_plan::plan::ToolId;
use std::collections::HashMap;

/// A name and its tool; `None` if the slot is empty.
type Slot = Option<(Box<str>, ToolId)>;

/// The number of seeds tried for a bucket.
const SEEDS: u32 = 4096;
/// An odd number without pattern (the golden ratio).
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// Tools by name.
#[derive(Debug, Default)]
pub(crate) struct Dispatch {
    seeds: Box<[u32]>,
    slots: Box<[Slot]>,
    /// The names for which no seed was found.
    rest: HashMap<Box<str>, ToolId>,
}

impl Dispatch {
    /// Builds the table. Of equal names, the first is kept.
    pub fn new<'n>(names: impl Iterator<Item = (&'n str, ToolId)>) -> Dispatch {
        let mut unique: HashMap<&str, ToolId> = HashMap::new();
        let mut order = Vec::new();
        for (name, id) in names {
            unique.entry(name).or_insert_with(|| {
                order.push((name, id));
                id
            });
        }
        let mut dispatch = Dispatch {
            seeds: vec![0; order.len() / 2 + 1].into(),
            slots: vec![None; (order.len() * 3 / 2).next_power_of_two()].into(),
            rest: HashMap::new(),
        };
        let mut buckets = vec![Vec::new(); dispatch.seeds.len()];
        for (name, id) in order {
            buckets[dispatch.bucket(hash(name))].push((name, id));
        }
        // The fullest buckets are placed first, while the most slots are free.
        let mut order: Vec<usize> = (0..buckets.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(buckets[*at].len()));
        for at in order {
            dispatch.place(at, &buckets[at]);
        }
        dispatch
    }

    fn place(&mut self, bucket: usize, names: &[(&str, ToolId)]) {
        for seed in 0..SEEDS {
            let mut slots: Vec<usize> =
                names.iter().map(|(name, _)| self.slot(hash(name), seed)).collect();
            let free = slots.iter().all(|slot| self.slots[*slot].is_none());
            let placed = slots.clone();
            slots.sort_unstable();
            if free && slots.windows(2).all(|pair| pair[0] != pair[1]) {
                for (slot, (name, id)) in placed.into_iter().zip(names) {
                    self.slots[slot] = Some(((*name).into(), *id));
                }
                self.seeds[bucket] = seed;
                return;
            }
        }
        // Two names with the same 64-bit hash collide under every seed.
        self.rest.extend(names.iter().map(|(name, id)| (Box::from(*name), *id)));
    }

    fn bucket(&self, hash: u64) -> usize {
        // The slot mixes all bits with the seed, so the names of one bucket spread over the table.
        (((hash >> 32) * self.seeds.len() as u64) >> 32) as usize
    }

    fn slot(&self, hash: u64, seed: u32) -> usize {
        let mixed = (hash ^ u64::from(seed)).wrapping_mul(MIX);
        (mixed >> 32) as usize & (self.slots.len() - 1)
    }

    /// The tool with a name.
    pub fn find(&self, name: &str) -> Option<ToolId> {
        let hash = hash(name);
        let slot = self.slot(hash, self.seeds[self.bucket(hash)]);
        match &self.slots[slot] {
            // An unknown name also leads to a slot, so only the comparison decides.
            Some((known, id)) if **known == *name => Some(*id),
            _ if self.rest.is_empty() => None,
            _ => self.rest.get(name).copied(),
        }
    }
}

/// Hashes eight bytes at a time.
fn hash(name: &str) -> u64 {
    // The length is part of the hash, because the last word is padded with zeros.
    let mut hash = (name.len() as u64).wrapping_mul(MIX);
    let mut take = |word: u64| {
        let mixed = (hash ^ word).wrapping_mul(MIX);
        hash = mixed ^ (mixed >> 32);
    };
    let mut chunks = name.as_bytes().chunks_exact(8);
    for chunk in &mut chunks {
        take(u64::from_le_bytes(chunk.try_into().unwrap_or_default()));
    }
    let mut last = [0; 8];
    let rest = chunks.remainder();
    last[..rest.len()].copy_from_slice(rest);
    take(u64::from_le_bytes(last));
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_and_no_other() {
        for count in [0, 1, 2, 3, 10, 100, 5_000] {
            let names: Vec<String> = (0..count).map(|n| format!("tool_{n}")).collect();
            let dispatch = Dispatch::new(names.iter().map(String::as_str).zip(0..));
            for (id, name) in (0..).zip(&names) {
                assert_eq!(dispatch.find(name), Some(id));
                assert_eq!(dispatch.find(&format!("{name}x")), None);
            }
            assert_eq!(dispatch.find(""), None);
            assert!(dispatch.rest.is_empty(), "{count}");
        }
    }

    #[test]
    fn the_first_of_equal_names_counts() {
        let dispatch = Dispatch::new([("a", 3), ("b", 1), ("a", 2)].into_iter());
        assert_eq!(dispatch.find("a"), Some(3));
    }
}

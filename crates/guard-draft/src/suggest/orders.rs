//! Order of calls: the tools that had succeeded before each call of a tool in the same session, by any call or by one
//! with the same value.

use guard_plan::json::Json;
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashSet};

/// A tool, one of its parameters and a value, as a hash.
pub(super) type CallKey = [u8; 16];

/// The tools that had succeeded before every call so far.
#[derive(Debug, Default)]
pub(super) struct OrdersSeen {
    /// The tools; `None` before the first call.
    before: Option<BTreeSet<usize>>,
    /// The tools that succeeded with the same value of a parameter of this name.
    same: BTreeSet<(usize, Box<str>)>,
}

impl OrdersSeen {
    /// Adds a call with these arguments, before which these tools had succeeded in its session, with these keys.
    pub fn see(
        &mut self,
        members: &[(Box<str>, Json)],
        succeeded: &BTreeSet<usize>,
        keys: &HashSet<CallKey>,
    ) {
        let held = |tool: usize, name: &str| {
            let value = members.iter().find(|(member, _)| **member == *name);
            value.is_some_and(|(_, value)| {
                is_key(value) && keys.contains(&key_of(tool, name, value))
            })
        };
        match &mut self.before {
            None => {
                let pairs = succeeded
                    .iter()
                    .flat_map(|tool| members.iter().map(move |(name, _)| (*tool, name.clone())));
                self.same = pairs.filter(|(tool, name)| held(*tool, name)).collect();
                self.before = Some(succeeded.clone());
            }
            Some(before) => {
                before.retain(|tool| succeeded.contains(tool));
                self.same.retain(|(tool, name)| held(*tool, name));
            }
        }
    }

    /// Returns the tools that had succeeded before every call, ascending.
    pub fn before(&self) -> impl Iterator<Item = usize> + '_ {
        self.before.iter().flatten().copied()
    }

    /// Returns the parameters for which this tool had succeeded with the same value before every
    /// call.
    pub fn same(&self, tool: usize) -> impl Iterator<Item = &str> {
        self.same.iter().filter(move |(known, _)| *known == tool).map(|(_, name)| &**name)
    }
}

/// Returns true if a value can be the key of a requirement.
pub(super) fn is_key(value: &Json) -> bool {
    matches!(value, Json::String(_) | Json::Int(_))
}

/// Returns the key of a tool's call with this value of a parameter.
pub(super) fn key_of(tool: usize, name: &str, value: &Json) -> CallKey {
    let mut hash = Sha256::new();
    hash.update((tool as u64).to_le_bytes());
    hash.update((name.len() as u64).to_le_bytes());
    hash.update(name.as_bytes());
    hash.update(value.to_string().as_bytes());
    let digest = hash.finalize();
    let mut key = CallKey::default();
    key.copy_from_slice(&digest[..16]);
    key
}

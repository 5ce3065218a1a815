//! The origins of values (semantics §8): digests only, up to a maximum number.

use super::sorted;
use guard_plan::origin::{MAX_SEEN, Origin};
use guard_plan::record::{Note, NoteKind};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The first half of a SHA-256.
pub(crate) type Short = [u8; 16];

/// Returns a text's digest, so that every remembered text has the same small size.
pub(crate) fn short(text: &str) -> Short {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    let mut short = Short::default();
    short.copy_from_slice(&digest[..16]);
    short
}

/// The values a session has seen, by digest.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Origins {
    #[serde(with = "sorted")]
    seen: HashMap<Short, Origin>,
    full: bool,
}

impl Origins {
    /// Returns the number of known values, and whether the table accepts more.
    pub fn size(&self) -> (usize, bool) {
        (self.seen.len(), self.full)
    }

    /// Records values; returns a note the first time that the table is full.
    pub fn noting(&mut self, see: impl FnOnce(&mut Origins)) -> Option<Note> {
        if self.full {
            return None;
        }
        see(self);
        self.full.then(|| Note {
            kind: NoteKind::Warning,
            rule: "origin".into(),
            message: format!(
                "the origins of {MAX_SEEN} values are remembered; what comes from now on has an unknown one"
            ),
        })
    }

    /// Records a value, unless it is known or the table is full.
    pub fn see(&mut self, text: &str, origin: Origin) {
        if self.full || text.is_empty() {
            return;
        }
        let digest = short(text);
        if self.seen.len() < MAX_SEEN {
            self.seen.entry(digest).or_insert(origin);
        } else if !self.seen.contains_key(&digest) {
            self.full = true;
        }
    }

    /// Returns the origin where a value was first seen.
    pub fn of(&self, text: &str) -> Origin {
        self.seen.get(&short(text)).copied().unwrap_or(Origin::Unknown)
    }
}

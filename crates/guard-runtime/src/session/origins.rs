//! Where values were first seen (semantics §8): digests only, the first so many.

use super::sorted;
use guard_plan::origin::{MAX_SEEN, Origin};
use guard_plan::record::{Note, NoteKind};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The first half of a SHA-256.
pub(crate) type Short = [u8; 16];

/// A text by its digest, so that what is remembered of it is small whatever it is.
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
    /// How many values it knows, and whether it takes more.
    pub fn size(&self) -> (usize, bool) {
        (self.seen.len(), self.full)
    }

    /// Sees something; says so once when no more is remembered.
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

    /// Takes a value, unless it is known or there is no room.
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

    /// Where a value was first seen.
    pub fn of(&self, text: &str) -> Origin {
        self.seen.get(&short(text)).copied().unwrap_or(Origin::Unknown)
    }
}

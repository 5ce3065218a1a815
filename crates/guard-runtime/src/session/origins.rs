//! The origins of values (semantics §8): digests only, up to a maximum number.

use super::sorted;
use guard_plan::builtin::is_unreadable;
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
    seen: HashMap<Short, SeenIn>,
    full: bool,
}

/// The origins of a value: the first one, and all of them as bits.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct SeenIn {
    first: Origin,
    all: u8,
}

/// The origins that a value can be seen in.
const ORIGINS: [Origin; 3] = [Origin::Prompt, Origin::Trusted, Origin::Untrusted];

fn bit(origin: Origin) -> u8 {
    1 << origin as u8
}

impl Origins {
    /// Returns the number of known values, and whether the table accepts more.
    pub fn size(&self) -> (usize, bool) {
        (self.seen.len(), self.full)
    }

    /// Records values. Returns a note when the table becomes full.
    pub fn noting(&mut self, see: impl FnOnce(&mut Origins)) -> Option<Note> {
        let was_full = self.full;
        see(self);
        (self.full && !was_full).then(|| Note {
            kind: NoteKind::Warning,
            rule: "origin".into(),
            message: format!(
                "the origins of {MAX_SEEN} values are remembered; later values have an unknown origin"
            ),
        })
    }

    /// Records where a value is seen. A full table accepts no new value, but still updates known
    /// ones.
    pub fn see(&mut self, text: &str, origin: Origin) {
        // A text that only an extractor produces was not seen anywhere.
        if text.is_empty() || is_unreadable(text) {
            return;
        }
        let digest = short(text);
        if let Some(places) = self.seen.get_mut(&digest) {
            places.all |= bit(origin);
        } else if self.seen.len() < MAX_SEEN && !self.full {
            self.seen.insert(digest, SeenIn { first: origin, all: bit(origin) });
        } else {
            self.full = true;
        }
    }

    /// Returns the origin where a value was first seen.
    pub fn origin(&self, text: &str) -> Origin {
        self.seen.get(&short(text)).map_or(Origin::Unknown, |places| places.first)
    }

    /// Returns all origins where a value was seen; none if the value is not known.
    pub fn all(&self, text: &str) -> impl Iterator<Item = Origin> + use<> {
        let all = self.seen.get(&short(text)).map_or(0, |places| places.all);
        ORIGINS.into_iter().filter(move |origin| all & bit(*origin) != 0)
    }
}

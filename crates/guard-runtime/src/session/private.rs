//! The private content that a session has read (semantics §8): digests of its pieces, and their
//! readers.

use super::origins::{Short, short};
use super::sorted;
use guard_plan::builtin::is_unreadable;
use guard_plan::disclosure::{self, MAX_PRIVATE};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};

/// The pieces of private texts, and the prompts, whose content is not secret.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct PrivateIndex {
    /// For each piece, the disclosures of the texts that contain it.
    #[serde(with = "sorted")]
    pieces: HashMap<Short, Vec<u32>>,
    /// The known texts. Each counts once for a disclosure.
    texts: BTreeSet<Short>,
    disclosures: Vec<Disclosure>,
    /// The indexes of the disclosures. Those of a restored session are added at the first search.
    #[serde(skip)]
    places: HashMap<Disclosure, usize>,
    /// The total length of the texts and of the names of readers, in bytes.
    bytes: usize,
    /// True if a text did not fit: from then on, no reader is known to be permitted to read
    /// anything.
    full: bool,
    /// The words of the prompts.
    told: String,
}

/// A part of a tool's result that was private, with its readers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Disclosure {
    /// The part as a guard writes it, and the tool.
    pub part: Box<str>,
    pub tool: Box<str>,
    pub readers: BTreeSet<Box<str>>,
    /// True if the readers are a secret, so that no reason names them.
    pub secret: bool,
}

/// The reason why a text may not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leak<'s> {
    /// The text contains private content of this disclosure.
    Content(&'s Disclosure),
    /// More private content was read than the session keeps.
    Full,
}

impl PrivateIndex {
    /// Returns true if the index is consistent. An index that no rule needs is empty.
    pub fn is_sound(&self, is_asked: bool) -> bool {
        let known = |at: &u32| (*at as usize) < self.disclosures.len();
        let empty = self.pieces.is_empty() && self.disclosures.is_empty() && self.told.is_empty();
        (is_asked || empty)
            && self.bytes <= MAX_PRIVATE
            && self.told.len() <= MAX_PRIVATE
            && self.pieces.values().flatten().all(known)
    }

    /// Returns the number of stored bytes, and true if more was read than can be stored.
    pub fn size(&self) -> (usize, bool) {
        (self.bytes, self.full)
    }

    /// Remembers a prompt of the user. Returns false if it does not fit.
    pub fn hear(&mut self, prompt: &str) -> bool {
        disclosure::hear(&mut self.told, prompt)
    }

    /// Closes the index, because private content was read that cannot be stored. Returns true the
    /// first time.
    pub fn close(&mut self) -> bool {
        !std::mem::replace(&mut self.full, true)
    }

    /// Remembers folded texts as private. Returns true when they first exceed the limit.
    pub fn disclose(&mut self, disclosure: &Disclosure, texts: &[String]) -> bool {
        let was_full = self.full;
        let mut at = self.place(disclosure);
        for text in texts.iter().filter(|text| !text.is_empty()) {
            if self.full {
                break;
            }
            at = self.add(disclosure, at, text);
        }
        self.full && !was_full
    }

    /// Returns the index of a known disclosure.
    fn place(&mut self, disclosure: &Disclosure) -> Option<usize> {
        for at in self.places.len()..self.disclosures.len() {
            self.places.insert(self.disclosures[at].clone(), at);
        }
        self.places.get(disclosure).copied()
    }

    /// Adds a text of a disclosure. Returns the index of the disclosure, if it is then known.
    fn add(&mut self, disclosure: &Disclosure, at: Option<usize>, text: &str) -> Option<usize> {
        let place = at.unwrap_or(self.disclosures.len());
        // The disclosure is part of the digest, because the same text may have other readers
        // elsewhere.
        let digest = short(&format!("{place} {text}"));
        if self.texts.contains(&digest) {
            return at;
        }
        let readers: usize = match at {
            Some(_) => 0,
            None => disclosure.readers.iter().map(|reader| reader.len()).sum(),
        };
        let bytes = self.bytes + readers + text.len();
        let Some(number) = u32::try_from(place).ok().filter(|_| bytes <= MAX_PRIVATE) else {
            self.full = true;
            return at;
        };
        self.bytes = bytes;
        if at.is_none() {
            self.disclosures.push(disclosure.clone());
        }
        self.texts.insert(digest);
        disclosure::pieces(text, &mut |piece| {
            let disclosures = self.pieces.entry(short(piece)).or_default();
            if !disclosures.contains(&number) {
                disclosures.push(number);
            }
        });
        Some(place)
    }

    /// Returns the reason why not all of these readers may read a folded text; `None` if they may.
    /// A reader without a visible name counts as nobody.
    pub fn leak(&self, readers: &[&str], text: &str) -> Option<Leak<'_>> {
        // A text without words discloses nothing, even if the session is full.
        disclosure::words(text).next()?;
        if self.full {
            return Some(Leak::Full);
        }
        let nobody = readers.iter().any(|reader| reader.is_empty() || is_unreadable(reader));
        let readers = if nobody { &[] } else { readers };
        let forbids = |at: &&u32| {
            let allowed = &self.disclosures[**at as usize].readers;
            readers.is_empty() || !readers.iter().all(|reader| allowed.contains(*reader))
        };
        let mut leak = None;
        disclosure::candidates(text, &mut |piece| {
            let found = self.pieces.get(&short(piece)).and_then(|all| all.iter().find(forbids));
            leak = found.filter(|_| !disclosure::is_told(&self.told, piece)).copied();
            leak.is_none()
        });
        leak.map(|at| Leak::Content(&self.disclosures[at as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use guard_plan::disclosure::fold;

    fn readers(readers: &[&str]) -> Disclosure {
        let readers = readers.iter().map(|reader| Box::from(*reader)).collect();
        Disclosure { part: "result".into(), tool: "read".into(), readers, secret: false }
    }

    fn allows(index: &PrivateIndex, readers: &[&str], text: &str) -> bool {
        index.leak(readers, &fold(text)).is_none()
    }

    #[test]
    fn a_full_index_knows_no_readers() {
        let mut index = PrivateIndex::default();
        let half = fold(&"word ".repeat(MAX_PRIVATE / 10));
        assert!(!index.disclose(&readers(&["a"]), std::slice::from_ref(&half)));
        // The same text counts once.
        assert!(!index.disclose(&readers(&["a"]), &[half.clone(), half]));
        assert!(allows(&index, &["a"], "word word word word"));
        let other = fold(&"other ".repeat(MAX_PRIVATE / 10));
        assert!(index.disclose(&readers(&["a"]), std::slice::from_ref(&other)));
        assert!(!index.disclose(&readers(&["a"]), &[other]));
        assert!(!allows(&index, &["a"], "anything"));
        assert!(allows(&index, &["b"], " - "));
        assert_eq!(index.leak(&["a"], "anything"), Some(Leak::Full));
        assert!(index.is_sound(true) && !index.is_sound(false));
    }

    #[test]
    fn every_disclosure_must_permit_all_readers() {
        let mut index = PrivateIndex::default();
        let text = [fold("we sell the company")];
        index.disclose(&readers(&["a", "b"]), &text);
        index.disclose(&readers(&["b", "c"]), &text);
        assert!(allows(&index, &["b"], "We sell the company!"));
        for readers in [&["a"][..], &["c"], &["a", "b"], &["b", ""], &[], &["B"]] {
            assert!(!allows(&index, readers, "We sell the company!"), "{readers:?}");
        }
        assert!(index.hear("yes, we sell the company"));
        assert!(allows(&index, &[], "We sell the company!"));
    }

    #[test]
    fn an_index_reads_back() {
        let mut index = PrivateIndex::default();
        index.disclose(&readers(&["a"]), &[fold("PIN 4711")]);
        let bytes = postcard::to_allocvec(&index).unwrap();
        let again: PrivateIndex = postcard::from_bytes(&bytes).unwrap();
        assert!(again.is_sound(true) && !allows(&again, &["b"], "pin 4711"));
        assert_eq!(postcard::to_allocvec(&again).unwrap(), bytes);
    }
}

//! A meter that several threads add to.

use crate::meter;
use crate::term::Term;
use std::sync::atomic::{AtomicU64, Ordering};

/// How far work over bytes has come.
pub struct Meter {
    shown: meter::Meter,
    done: AtomicU64,
}

impl Meter {
    /// Work over so many bytes; none where nobody knows how many.
    pub fn new(term: &Term, verb: &'static str, total: u64) -> Meter {
        Meter { shown: meter::Meter::new(term, verb, total), done: AtomicU64::new(0) }
    }

    /// So many bytes more are done.
    pub fn add(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.shown.show(done);
    }
}

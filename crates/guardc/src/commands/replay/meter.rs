//! A progress meter that several threads update.

use crate::meter;
use crate::term::Console;
use std::sync::atomic::{AtomicU64, Ordering};

/// The progress of work, in bytes.
pub struct ReplayMeter {
    shown: meter::Meter,
    done: AtomicU64,
}

impl ReplayMeter {
    /// Returns a meter for a total; zero if it is unknown.
    pub fn new(term: &Console, verb: &'static str, total: u64) -> ReplayMeter {
        ReplayMeter { shown: meter::Meter::new(term, verb, total), done: AtomicU64::new(0) }
    }

    /// Adds processed bytes.
    pub fn add(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.shown.show(done);
    }
}

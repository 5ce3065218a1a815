//! The progress of long work over bytes: rate and remaining time, on a terminal only.

use crate::term::Console;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A progress report on standard error; silent in the first second and without a terminal.
pub struct Meter {
    verb: &'static str,
    total: u64,
    active: bool,
    started: Instant,
    shown: Mutex<Option<Instant>>,
}

impl Meter {
    /// Returns a meter for a total in bytes; zero if it is unknown.
    pub fn new(term: &Console, verb: &'static str, total: u64) -> Meter {
        let shown = Mutex::new(None);
        Meter { verb, total, active: term.err_tty, started: Instant::now(), shown }
    }

    /// Follows a byte count that other threads update, until they signal the end.
    pub fn follow(&self, bytes: &AtomicU64, ended: &AtomicBool) {
        while !ended.load(Ordering::Acquire) {
            std::thread::park_timeout(Duration::from_millis(250));
            self.show(bytes.load(Ordering::Relaxed));
        }
    }

    /// Sets the progress.
    pub fn show(&self, done: u64) {
        if !self.active || self.started.elapsed() < Duration::from_secs(1) {
            return;
        }
        // Another thread is already showing the progress.
        let Ok(mut shown) = self.shown.try_lock() else { return };
        if shown.is_none_or(|last| last.elapsed() >= Duration::from_millis(200)) {
            *shown = Some(Instant::now());
            let line = line(self.verb, done, self.total, self.started.elapsed());
            let _ = write!(std::io::stderr(), "\r\u{1b}[K{line}");
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if self.shown.get_mut().is_ok_and(|shown| shown.is_some()) {
            let _ = write!(std::io::stderr(), "\r\u{1b}[K");
        }
    }
}

fn line(verb: &str, done: u64, total: u64, elapsed: Duration) -> String {
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let rate = megabytes(done) / elapsed.as_secs_f64().max(1e-3);
    if total < done || total == 0 {
        return format!("{verb} {:.0} MB, {rate:.0} MB/s", megabytes(done));
    }
    let percent = done * 100 / total;
    let left = megabytes(total - done) / rate.max(1e-6);
    let left = match left as u64 {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    };
    format!("{verb} {percent} % of {:.0} MB, {rate:.0} MB/s, {left} left", megabytes(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_time_left() {
        let check = |done, total, seconds, expected: &str| {
            assert_eq!(line("reading", done, total, Duration::from_secs(seconds)), expected);
        };
        check(50_000_000, 200_000_000, 5, "reading 25 % of 200 MB, 10 MB/s, 15 s left");
        check(10_000_000, 2_000_000_000, 1, "reading 0 % of 2000 MB, 10 MB/s, 4 min left");
        check(10_000_000, 0, 1, "reading 10 MB, 10 MB/s");
    }
}

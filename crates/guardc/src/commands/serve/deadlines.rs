//! The time limits of requests. A request that waits longer is answered with an error. If it has
//! already begun, it continues to run and is recorded.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const WAITING: u8 = 0;
const BEGUN: u8 = 1;
const ANSWERED: u8 = 2;

/// The answer of one request, which is sent only once.
#[derive(Default)]
pub struct PendingAnswer(AtomicU8);

impl PendingAnswer {
    /// Begins the request. Returns false if it was already answered, and must not run.
    pub fn begin(&self) -> bool {
        // Exactly one thread changes the state from waiting, so a request that has timed out never
        // begins.
        self.0.compare_exchange(WAITING, BEGUN, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Takes the right to answer. Returns whether the request has begun; `None` if another thread
    /// has the right.
    pub fn answer(&self) -> Option<bool> {
        // One operation reads and takes: a request that begins in between would be reported as one
        // that never runs.
        match self.0.swap(ANSWERED, Ordering::AcqRel) {
            ANSWERED => None,
            state => Some(state == BEGUN),
        }
    }
}

/// The callback for a request that took too long. The argument is true if the request had begun.
type TimeoutCallback = Box<dyn FnOnce(bool) + Send>;

/// The pending requests with a time limit.
#[derive(Default)]
pub struct Deadlines {
    due: Mutex<Due>,
    changed: Condvar,
}

#[derive(Default)]
struct Due {
    number: u64,
    requests: BTreeMap<(Instant, u64), (Arc<PendingAnswer>, TimeoutCallback)>,
}

impl Deadlines {
    /// Starts the thread that checks the limits, which lives as long as the process.
    pub fn start() -> Arc<Deadlines> {
        let deadlines = Arc::new(Deadlines::default());
        let ours = Arc::clone(&deadlines);
        std::thread::spawn(move || ours.run());
        deadlines
    }

    fn due(&self) -> MutexGuard<'_, Due> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches a request.
    pub fn add(&self, time: Duration, turn: Arc<PendingAnswer>, late: TimeoutCallback) {
        let mut due = self.due();
        due.number += 1;
        // The number separates requests that end at the same instant.
        let key = (Instant::now() + time, due.number);
        due.requests.insert(key, (turn, late));
        drop(due);
        self.changed.notify_one();
    }

    fn run(&self) {
        let mut due = self.due();
        loop {
            let now = Instant::now();
            let Some((at, _)) = due.requests.keys().next().copied() else {
                due = self.changed.wait(due).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if at > now {
                let woken = self.changed.wait_timeout(due, at - now);
                due = woken.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            let Some((_, (turn, late))) = due.requests.pop_first() else { continue };
            // The callback writes to a pipe that may block, and workers add requests under this
            // lock.
            drop(due);
            if let Some(begun) = turn.answer() {
                late(begun);
            }
            due = self.due();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn each_request_is_answered_once() {
        let watch = Deadlines::start();
        let (say, said) = mpsc::channel();
        let turns: Vec<Arc<PendingAnswer>> = (0..3).map(|_| Arc::default()).collect();
        for (number, turn) in turns.iter().enumerate() {
            let say = say.clone();
            let late = Box::new(move |begun| say.send((number, begun)).expect("somebody listens"));
            watch.add(Duration::from_millis(30), Arc::clone(turn), late);
        }
        // One request is answered in time, one is in progress, and one waits.
        assert!(turns[0].begin() && turns[0].answer() == Some(true) && turns[1].begin());
        let late: Vec<(usize, bool)> = said.iter().take(2).collect();
        assert_eq!(late, [(1, true), (2, false)]);
        assert!(turns[1].answer().is_none() && !turns[2].begin());
    }
}

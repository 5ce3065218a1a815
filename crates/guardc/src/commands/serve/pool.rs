//! Workers: requests of one session run in their order, and those of different sessions run in
//! parallel.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// The number of waiting requests per worker above which no further line is read.
const WAITING_PER_WORKER: usize = 4;

/// A request that is ready to run.
pub type Job = Box<dyn FnOnce() + Send>;

/// Threads that run requests. They are started when they are needed.
pub struct Pool {
    shared: Arc<PoolShared>,
    most: usize,
    threads: Vec<JoinHandle<()>>,
}

struct PoolShared {
    /// Called after a request has panicked: its session may be half changed.
    panicked: fn(),
    state: Mutex<PoolState>,
    /// Notifies that a queue has a request, or that there will be no more.
    work: Condvar,
    /// Notifies that a request has ended.
    room: Condvar,
}

#[derive(Default)]
struct PoolState {
    /// The requests of each session that has running or waiting ones.
    queues: HashMap<String, VecDeque<Job>>,
    /// The sessions with a request that no worker runs.
    ready: VecDeque<String>,
    /// The number of requests that run or wait.
    pending: usize,
    idle: usize,
    closed: bool,
}

impl PoolShared {
    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs requests until there are no more.
    fn work(&self) {
        let mut state = self.state();
        loop {
            let Some(session) = state.ready.pop_front() else {
                if state.closed {
                    return;
                }
                state.idle += 1;
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                continue;
            };
            // The queue stays in the map while its request runs, which keeps the session out of
            // `ready`.
            let job = state.queues.get_mut(&session).and_then(VecDeque::pop_front);
            drop(state);
            if let Some(job) = job
                && catch_unwind(AssertUnwindSafe(job)).is_err()
            {
                (self.panicked)();
            }
            state = self.state();
            state.pending -= 1;
            if state.queues.get(&session).is_some_and(|queue| !queue.is_empty()) {
                state.ready.push_back(session)
            } else {
                drop(state.queues.remove(&session))
            }
            self.room.notify_all();
        }
    }
}

impl Pool {
    /// Creates a pool with a maximum number of workers. `panicked` is called after a request has
    /// panicked, and decides whether the process goes on.
    pub fn new(most: usize, panicked: fn()) -> Pool {
        let shared = PoolShared {
            panicked,
            state: Mutex::default(),
            work: Condvar::new(),
            room: Condvar::new(),
        };
        Pool { shared: Arc::new(shared), most, threads: Vec::new() }
    }

    /// Runs a request after those of the same session. Waits while too many requests are waiting.
    ///
    /// # Errors
    ///
    /// Returns an error if no worker can be started.
    pub fn submit(&mut self, session: String, job: Job) -> std::io::Result<()> {
        let mut state = self.shared.state();
        // The reader of the input waits here, so that a client cannot queue requests without bound.
        while state.pending >= self.most * WAITING_PER_WORKER {
            state = self.shared.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.pending += 1;
        match state.queues.get_mut(&session) {
            Some(queue) => queue.push_back(job),
            None => {
                state.queues.insert(session.clone(), VecDeque::from([job]));
                state.ready.push_back(session);
            }
        }
        // An idle worker may have been woken for another request already, so the numbers are
        // compared.
        let more = state.idle < state.ready.len() && self.threads.len() < self.most;
        drop(state);
        if more {
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name("guard-worker".into());
            match thread.spawn(move || shared.work()) {
                Ok(thread) => self.threads.push(thread),
                Err(error) if self.threads.is_empty() => return Err(error),
                // The running workers are sufficient.
                Err(_) => {}
            }
        }
        self.shared.work.notify_one();
        Ok(())
    }

    /// Waits until every request has run.
    pub fn finish(self) {
        self.shared.state().closed = true;
        self.shared.work.notify_all();
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    #[test]
    fn requests_of_a_session_run_in_order_and_hold_up_no_other() {
        let mut pool = Pool::new(4, || {});
        let (release, held) = mpsc::channel::<()>();
        let (say, said) = mpsc::channel();
        pool.submit("slow".into(), Box::new(move || held.recv().expect("it is released")))
            .expect("a worker");
        for n in 0..20 {
            for session in ["slow", "a", "b"] {
                if session == "slow" && n > 3 {
                    continue;
                }
                let say = say.clone();
                let job = Box::new(move || say.send((session, n)).expect("somebody listens"));
                pool.submit(session.into(), job).expect("a worker");
            }
        }
        let quick: Vec<(&str, i32)> = said.iter().take(40).collect();
        assert!(quick.iter().all(|(session, _)| *session != "slow"));
        for session in ["a", "b"] {
            let order = quick.iter().filter(|(of, _)| *of == session).map(|(_, n)| *n);
            assert!(order.eq(0..20), "{session}");
        }
        release.send(()).expect("it waits");
        pool.finish();
        drop(say);
        assert!(said.iter().eq((0..4).map(|n| ("slow", n))));
    }

    #[test]
    fn a_request_that_panics_is_noticed_and_holds_up_no_other() {
        static PANICS: AtomicUsize = AtomicUsize::new(0);
        let mut pool = Pool::new(1, || _ = PANICS.fetch_add(1, Ordering::Relaxed));
        let (say, said) = mpsc::channel();
        // More than may wait: each must leave its place to the next.
        for n in 0..3 * WAITING_PER_WORKER {
            let say = say.clone();
            let job = Box::new(move || {
                say.send(n).expect("somebody listens");
                std::panic::resume_unwind(Box::new("a defect"));
            });
            pool.submit("a".into(), job).expect("a worker");
        }
        pool.finish();
        drop(say);
        assert!(said.iter().eq(0..3 * WAITING_PER_WORKER));
        assert_eq!(PANICS.load(Ordering::Relaxed), 3 * WAITING_PER_WORKER);
    }
}

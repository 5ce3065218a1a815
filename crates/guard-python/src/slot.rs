//! An open session of the engine behind its lock. No lock is held while Python code runs, and a panic of the engine breaks the session.

use crate::errors;
use crate::process::Home;
use guard_sdk::{Session, SessionError};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// The state of a locked session.
enum SessionSlot {
    Open(Box<Session>),
    Closed,
    /// The engine panicked in the middle of an event.
    Broken,
}

/// The reason why an event was not taken.
enum EventFailure {
    Closed,
    Broken,
    Session(SessionError),
    Panic(Box<dyn std::any::Any + Send>),
}

impl From<SessionError> for EventFailure {
    fn from(error: SessionError) -> EventFailure {
        EventFailure::Session(error)
    }
}

impl EventFailure {
    fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            EventFailure::Closed => errors::Closed::new_err("the session is closed"),
            EventFailure::Broken => errors::Broken::new_err(
                "the engine failed in an earlier event: open the session again",
            ),
            EventFailure::Session(error) => errors::of_session(py, &error),
            EventFailure::Panic(panic) => errors::of_panic(&*panic),
        }
    }
}

/// A session of this process, shared by its threads.
pub struct LockedSession {
    slot: Mutex<SessionSlot>,
    home: Home,
    /// Events may wait for files, processes or a disk: the interpreter's lock is given up for each.
    waits: bool,
}

impl Drop for LockedSession {
    fn drop(&mut self) {
        if self.home.is_left() {
            // Closing it here would release locks and files of the parent process.
            let slot = self.slot.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(std::mem::replace(slot, SessionSlot::Closed));
        }
    }
}

impl LockedSession {
    /// Shares an open session. With `waits`, its events may wait for files, processes or a disk.
    pub fn new(session: Session, waits: bool) -> LockedSession {
        let slot = Mutex::new(SessionSlot::Open(Box::new(session)));
        LockedSession { slot, home: Home::here(), waits }
    }

    /// The lock is never poisoned by an event: panics are caught while it is held.
    fn lock(&self) -> MutexGuard<'_, SessionSlot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses the session of the parent process.
    pub fn expect_here(&self) -> PyResult<()> {
        self.home.expect("session")
    }

    /// Runs something with the session, under its lock. After a panic the session takes nothing more.
    pub fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Session) -> Result<T, SessionError> + Send,
    ) -> PyResult<T> {
        self.expect_here()?;
        if !self.waits {
            match self.slot.try_lock() {
                Ok(mut slot) => {
                    return step(&mut slot, work).map_err(|failure| failure.raise(py));
                }
                Err(TryLockError::Poisoned(_)) => return Err(EventFailure::Broken.raise(py)),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        let done = py.detach(|| step(&mut self.lock(), work));
        done.map_err(|failure| failure.raise(py))
    }

    /// Drops an open session, which gives its locks back. Every later event raises `Closed`.
    pub fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.expect_here()?;
        let slot = py.detach(|| {
            let mut slot = self.lock();
            match *slot {
                SessionSlot::Open(_) => Some(std::mem::replace(&mut *slot, SessionSlot::Closed)),
                SessionSlot::Closed | SessionSlot::Broken => None,
            }
        });
        py.detach(|| drop(slot));
        Ok(())
    }

    /// Returns true if the session takes no more events.
    pub fn is_closed(&self, py: Python<'_>) -> bool {
        py.detach(|| !matches!(*self.lock(), SessionSlot::Open(_)))
    }
}

fn step<T>(
    slot: &mut SessionSlot,
    work: impl FnOnce(&mut Session) -> Result<T, SessionError>,
) -> Result<T, EventFailure> {
    let session = match slot {
        SessionSlot::Open(session) => session,
        SessionSlot::Closed => return Err(EventFailure::Closed),
        SessionSlot::Broken => return Err(EventFailure::Broken),
    };
    match catch_unwind(AssertUnwindSafe(|| work(session))) {
        Ok(done) => Ok(done?),
        Err(panic) => {
            *slot = SessionSlot::Broken;
            Err(EventFailure::Panic(panic))
        }
    }
}

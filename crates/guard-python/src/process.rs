//! The process that an object belongs to. Sessions and stores hold locks and files that a forked process must not use.

use crate::errors;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of forks between the first process and this one.
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// The generation of the process in which an object was made.
#[derive(Debug, Clone, Copy)]
pub struct Home(u64);

impl Home {
    /// The running process.
    pub fn here() -> Home {
        Home(GENERATION.load(Ordering::Relaxed))
    }

    /// Returns true if the running process is a fork of the object's.
    pub fn is_left(self) -> bool {
        self.0 != GENERATION.load(Ordering::Relaxed)
    }

    /// Refuses an object of the parent process.
    pub fn expect(self, what: &str) -> PyResult<()> {
        if self.is_left() {
            Err(errors::Forked::new_err(format!(
                "the {what} belongs to the parent process: open it again after a fork"
            )))
        } else {
            Ok(())
        }
    }
}

/// Notes that this process is a fork; `os.register_at_fork` calls it in the child.
#[pyfunction]
#[pyo3(name = "_forked")]
pub fn forked() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

//! The commands that run now, so that none outlives a process that is ended from outside.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The leaders of their process groups.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn running() -> MutexGuard<'static, BTreeSet<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a command that leads its process group. It is known as soon as it runs.
pub(crate) fn begin(process: &mut Command) -> io::Result<Child> {
    let mut running = running();
    let child = process.spawn()?;
    running.insert(child.id());
    Ok(child)
}

/// Its group has been killed. Said before the leader is reaped: then the number may be somebody else's.
pub(crate) fn end(child: &Child) {
    running().remove(&child.id());
}

/// Kills all commands that run, each with its process group, for a process that is about to end: none begins
/// afterwards. Who is killed by a signal that cannot be caught leaves its commands behind.
pub fn end_commands() {
    let running = running();
    #[cfg(unix)]
    for leader in running.iter().filter_map(|id| i32::try_from(*id).ok()) {
        use rustix::process::{Pid, Signal, kill_process_group};
        if let Some(group) = Pid::from_raw(leader) {
            // It may have ended just now.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
    // Whoever would begin one more, or reap one of these, waits for the end of the process.
    std::mem::forget(running);
}

//! The running commands, so that none outlives this process when it is ended from outside.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The leaders of their process groups.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn running() -> MutexGuard<'static, BTreeSet<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a command as the leader of its process group, and registers it at once.
pub(crate) fn begin(process: &mut Command) -> io::Result<Child> {
    let mut running = running();
    let child = process.spawn()?;
    running.insert(child.id());
    Ok(child)
}

/// Removes a command whose group has been killed. Called before the leader is reaped, since its id
/// may then be reused.
pub(crate) fn end(child: &Child) {
    running().remove(&child.id());
}

/// Kills all running commands, each with its process group, before this process ends: no command
/// begins afterwards. If this process is killed by a signal that cannot be caught, its commands
/// keep running.
pub fn end_commands() {
    let running = running();
    #[cfg(unix)]
    for leader in running.iter().filter_map(|id| i32::try_from(*id).ok()) {
        use rustix::process::{Pid, Signal, kill_process_group};
        if let Some(group) = Pid::from_raw(leader) {
            // The group may have ended just now.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
    // The lock is never released: a thread that would begin or reap a command waits for the end of
    // the process.
    std::mem::forget(running);
}

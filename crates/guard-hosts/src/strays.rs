//! Processes that left the process group of their command.
//!
//! On Linux two traces lead to them: the chain of parents, as long as these live, and the pipes of
//! the command, as long as they are held open. A process that has closed both pipes and whose parent
//! has ended is not found: finding it would take a process that adopts orphans, or a control group,
//! and both belong to the host. On other systems nothing is found.

use std::process::Child;

/// The traces of one command.
#[derive(Debug, Default)]
pub(crate) struct Strays {
    #[cfg(target_os = "linux")]
    leader: i32,
    /// The pipes that the command writes to, as the system names them: `pipe:[123]`.
    #[cfg(target_os = "linux")]
    pipes: Vec<std::path::PathBuf>,
}

#[cfg(not(target_os = "linux"))]
impl Strays {
    pub fn of(_: &Child) -> Strays {
        Strays::default()
    }

    #[cfg(unix)]
    pub fn kill(&self) {}
}

#[cfg(target_os = "linux")]
impl Strays {
    /// Returns the traces of a command that has just been started.
    pub fn of(child: &Child) -> Strays {
        use std::os::fd::AsRawFd;
        let outputs = [
            child.stdout.as_ref().map(AsRawFd::as_raw_fd),
            child.stderr.as_ref().map(AsRawFd::as_raw_fd),
        ];
        let name = |fd| std::fs::read_link(format!("/proc/self/fd/{fd}")).ok();
        let pipes = outputs.into_iter().flatten().filter_map(name).collect();
        Strays { leader: i32::try_from(child.id()).unwrap_or(0), pipes }
    }

    /// Kills what is found, until nothing more is.
    pub fn kill(&self) {
        use rustix::process::{Pid, Signal, kill_process};
        // What is killed may have started others just before.
        for _ in 0..10 {
            let found = self.found();
            if found.is_empty() {
                return;
            }
            for pid in found.into_iter().filter_map(Pid::from_raw) {
                // It may have ended just now.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }

    /// Returns the living processes that descend from the command or hold its pipes, without the
    /// leader.
    fn found(&self) -> Vec<i32> {
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let all: Vec<Process> = Process::all().filter(|one| one.pid != own).collect();
        let mut descendants = vec![self.leader];
        let mut at = 0;
        while at < descendants.len() {
            let parent = descendants[at];
            let children = all.iter().filter(|one| one.parent == parent && one.pid != parent);
            let children: Vec<i32> = children.map(|one| one.pid).collect();
            descendants.extend(
                children.into_iter().filter(|pid| !descendants.contains(pid)).collect::<Vec<_>>(),
            );
            at += 1;
        }
        let stray = |one: &&Process| descendants.contains(&one.pid) || one.holds(&self.pipes);
        let strays = all.iter().filter(|one| one.lives && one.pid != self.leader).filter(stray);
        strays.map(|one| one.pid).collect()
    }
}

/// A process of this system.
#[cfg(target_os = "linux")]
struct Process {
    pid: i32,
    parent: i32,
    /// False if it has ended, and waits to be reaped.
    lives: bool,
}

#[cfg(target_os = "linux")]
impl Process {
    /// The processes that this process can see.
    fn all() -> impl Iterator<Item = Process> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| Process::read(entry.file_name().to_str()?.parse().ok()?))
    }

    fn read(pid: i32) -> Option<Process> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may hold anything, parentheses too.
        let mut rest = stat[stat.rfind(')')? + 1..].split_whitespace();
        let lives = !matches!(rest.next()?, "Z" | "X");
        Some(Process { pid, parent: rest.next()?.parse().ok()?, lives })
    }

    /// Returns whether it holds one of the pipes open as a stream.
    fn holds(&self, pipes: &[std::path::PathBuf]) -> bool {
        let held = |fd: i32| std::fs::read_link(format!("/proc/{}/fd/{fd}", self.pid)).ok();
        (0..3).filter_map(held).any(|name| pipes.contains(&name))
    }
}

//! Processes that left the process group of their command.
//!
//! On Linux three traces lead to them: the chain of parents, as long as these live; the pipes of the
//! command, as long as they are held open; and a mark in the environment that every process inherits.
//! A process that has lost its parent, closed both pipes and cleared its environment is not found:
//! finding it would take a process that adopts orphans, or a control group, and both belong to the
//! host. On other systems nothing is found.

use std::process::{Child, Command};

/// The variable that marks the processes of one command.
#[cfg(target_os = "linux")]
const MARK: &str = "GUARD_COMMAND";

/// The traces of one command.
#[derive(Debug, Default)]
pub(crate) struct Strays {
    #[cfg(target_os = "linux")]
    leader: i32,
    /// The pipes that the command writes to, as the system names them: `pipe:[123]`.
    #[cfg(target_os = "linux")]
    pipes: Vec<std::path::PathBuf>,
    /// `GUARD_COMMAND=…`, as it stands in the environment of the command.
    #[cfg(target_os = "linux")]
    mark: Vec<u8>,
}

#[cfg(not(target_os = "linux"))]
impl Strays {
    pub fn mark(_: &mut Command) -> Strays {
        Strays::default()
    }

    pub fn follow(&mut self, _: &Child) {}

    #[cfg(unix)]
    pub fn kill(&self) {}
}

#[cfg(target_os = "linux")]
impl Strays {
    /// Marks the environment of a command that is to be started.
    pub fn mark(command: &mut Command) -> Strays {
        use std::sync::atomic::{AtomicU64, Ordering};
        static COMMANDS: AtomicU64 = AtomicU64::new(0);
        let number = COMMANDS.fetch_add(1, Ordering::Relaxed);
        let value = format!("{}.{number}", std::process::id());
        command.env(MARK, &value);
        Strays { mark: format!("{MARK}={value}").into_bytes(), ..Strays::default() }
    }

    /// Notes the other traces of the command once it has been started.
    pub fn follow(&mut self, child: &Child) {
        use std::os::fd::AsRawFd;
        let outputs = [
            child.stdout.as_ref().map(AsRawFd::as_raw_fd),
            child.stderr.as_ref().map(AsRawFd::as_raw_fd),
        ];
        let name = |fd| std::fs::read_link(format!("/proc/self/fd/{fd}")).ok();
        self.pipes = outputs.into_iter().flatten().filter_map(name).collect();
        self.leader = i32::try_from(child.id()).unwrap_or(0);
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

    /// Returns the living processes that descend from the command, hold its pipes or have its mark,
    /// without the leader.
    fn found(&self) -> Vec<i32> {
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let all: Vec<SystemProcess> =
            SystemProcess::all().filter(|process| process.pid != own).collect();
        let mut descendants = vec![self.leader];
        let mut at = 0;
        while at < descendants.len() {
            let parent = descendants[at];
            let children =
                all.iter().filter(|process| process.parent == parent && process.pid != parent);
            let children: Vec<i32> = children.map(|process| process.pid).collect();
            descendants.extend(
                children.into_iter().filter(|pid| !descendants.contains(pid)).collect::<Vec<_>>(),
            );
            at += 1;
        }
        let stray = |process: &&SystemProcess| {
            descendants.contains(&process.pid)
                || process.holds(&self.pipes)
                || process.has(&self.mark)
        };
        let strays =
            all.iter().filter(|process| process.lives && process.pid != self.leader).filter(stray);
        strays.map(|process| process.pid).collect()
    }
}

/// A process of this system.
#[cfg(target_os = "linux")]
struct SystemProcess {
    pid: i32,
    parent: i32,
    /// False if it has ended, and waits to be reaped.
    lives: bool,
}

#[cfg(target_os = "linux")]
impl SystemProcess {
    /// The processes that this process can see.
    fn all() -> impl Iterator<Item = SystemProcess> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| SystemProcess::read(entry.file_name().to_str()?.parse().ok()?))
    }

    fn read(pid: i32) -> Option<SystemProcess> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may hold anything, parentheses too.
        let mut rest = stat[stat.rfind(')')? + 1..].split_whitespace();
        let lives = !matches!(rest.next()?, "Z" | "X");
        Some(SystemProcess { pid, parent: rest.next()?.parse().ok()?, lives })
    }

    /// Returns true if it holds one of the pipes open as a stream.
    fn holds(&self, pipes: &[std::path::PathBuf]) -> bool {
        let held = |fd: i32| std::fs::read_link(format!("/proc/{}/fd/{fd}", self.pid)).ok();
        (0..3).filter_map(held).any(|name| pipes.contains(&name))
    }
    /// Returns true if a variable of its environment is this one.
    fn has(&self, mark: &[u8]) -> bool {
        let environment = std::fs::read(format!("/proc/{}/environ", self.pid)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark)
    }
}

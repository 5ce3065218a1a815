//! A program that runs beside this process: with its process group, which never outlives this process.

use crate::running;
use std::io::{self, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The interval between checks whether a program has ended.
const POLL: Duration = Duration::from_millis(5);

/// A running program, the leader of its process group.
#[derive(Debug)]
pub struct Background {
    child: Child,
    /// A shell that ends the group when its input ends before a line: when this process was killed.
    watcher: Option<Child>,
    ended: bool,
}

impl Background {
    /// Starts a program with pipes for standard input and output. Standard error is this process's.
    ///
    /// # Errors
    ///
    /// Returns an error if the program cannot be started or has no pipes.
    pub fn start(command: &mut Command) -> io::Result<(Background, ChildStdin, ChildStdout)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut child = running::begin(command)?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take();
        let watcher = watch(child.id());
        let background = Background { child, watcher, ended: false };
        match (stdin, stdout) {
            (Some(stdin), Some(stdout)) => Ok((background, stdin, stdout)),
            _ => Err(io::Error::other("it has no pipes")),
        }
    }

    /// Returns true if a process of the group is ended even when this process is killed.
    pub fn is_watched(&self) -> bool {
        self.watcher.is_some()
    }

    /// Waits for the program to end, up to a limit. Its process group is ended with it.
    pub fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + limit;
        loop {
            if self.has_ended() {
                return self.reap();
            }
            if Instant::now() >= until {
                return None;
            }
            std::thread::sleep(POLL);
        }
    }

    /// Asks the process group to end, and kills it after a time.
    pub fn stop(&mut self, grace: Duration) {
        if self.ended {
            return;
        }
        self.signal(false);
        if self.wait(grace).is_none() {
            self.signal(true);
            // A killed program ends; what does not is not ours to wait for.
            let _ = self.wait(Duration::from_secs(5));
        }
    }

    /// Ends what is left of the group, and only then gives the leader's id back to the system.
    fn reap(&mut self) -> Option<ExitStatus> {
        self.signal(true);
        if let Some(mut watcher) = self.watcher.take() {
            let told = watcher.stdin.take().map(|mut stdin| stdin.write_all(b"ended\n"));
            if told.is_none_or(|told| told.is_err()) {
                let _ = watcher.kill();
            }
            let _ = watcher.wait();
        }
        running::end(&self.child);
        self.ended = true;
        self.child.wait().ok()
    }

    /// Returns true if the program has ended; it is not reaped, so that its group's id stays its own.
    #[cfg(unix)]
    fn has_ended(&self) -> bool {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        match pid.map(|pid| waitid(WaitId::Pid(pid), options)) {
            Some(Ok(status)) => status.is_some(),
            Some(Err(error)) => error != rustix::io::Errno::INTR,
            None => true,
        }
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    #[cfg(unix)]
    fn signal(&mut self, kills: bool) {
        use rustix::process::{Pid, Signal, kill_process_group};
        let signal = if kills { Signal::KILL } else { Signal::TERM };
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // An empty group is not an error.
            let _ = kill_process_group(group, signal);
        }
    }

    #[cfg(not(unix))]
    fn signal(&mut self, _: bool) {
        let _ = self.child.kill();
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop(Duration::ZERO);
    }
}

/// Starts a shell that kills a process group when this process is gone.
#[cfg(unix)]
fn watch(group: u32) -> Option<Child> {
    use std::os::unix::process::CommandExt;
    let script = "read -r line || kill -s KILL -- \"-$1\"";
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", script, "guard-watch", &group.to_string()]);
    // A group of its own: a signal to ours would end it too early.
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    shell.spawn().ok()
}

#[cfg(not(unix))]
fn watch(_: u32) -> Option<Child> {
    None
}

//! A child process that leads its process group, and is killed together with all processes that it
//! has started.

use super::lines::{self, NextLine};
use crate::adapter::{AdapterTrouble, TroubleKind};
use crate::workspace::Workspace;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An environment variable of all processes that a child starts, by which they are found even
/// outside of the group.
const MARK: &str = "GUARD_ACK_CHILD";
/// The maximum number of lines that wait for a child that does not read.
const WAITING: usize = 64;
/// The interval between checks that a silent child is still alive.
const LOOK: Duration = Duration::from_millis(50);
/// The number of checks that determine whether a silent child sleeps.
const LOOKS: usize = 5;
/// The time that a child has to end after its input is closed.
const GRACE: Duration = Duration::from_millis(300);

static STARTED: AtomicU64 = AtomicU64::new(0);

/// A child.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    mark: String,
    /// The child's input; `None` once it is closed.
    told: Option<SyncSender<Vec<u8>>>,
    lines: Receiver<NextLine>,
    stderr: Arc<Mutex<Vec<u8>>>,
    /// The child's folder for its own files; removed after the child.
    _folder: Workspace,
}

impl Child {
    /// Starts a command with a folder for its own files.
    ///
    /// # Errors
    ///
    /// Returns an error if the process cannot be started.
    pub fn start(
        argv: &[String],
        env: &[(String, String)],
        folder: Workspace,
    ) -> Result<Child, AdapterTrouble> {
        let trouble = |message: String| AdapterTrouble::new(TroubleKind::Start, message);
        let (binary, arguments) =
            argv.split_first().ok_or_else(|| trouble("there is no command".into()))?;
        let mark = format!("{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let mut command = Command::new(binary);
        command.args(arguments).envs(env.iter().map(|(name, value)| (name, value)));
        command.env(MARK, &mark).env("TMPDIR", folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command
            .spawn()
            .map_err(|error| trouble(format!("cannot start `{binary}`: {error}")))?;
        let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(mut input), Some(output), Some(errors)) = pipes else {
            return Err(trouble(format!("`{binary}` has no pipes")));
        };
        let (told, hears) = sync_channel::<Vec<u8>>(WAITING);
        // A pipe that is full blocks this thread, and the kit keeps its time limits.
        std::thread::spawn(move || {
            while let Ok(line) = hears.recv() {
                if std::io::Write::write_all(&mut input, &line).is_err() {
                    return;
                }
            }
        });
        Ok(Child {
            process,
            mark,
            told: Some(told),
            lines: lines::follow(output),
            stderr: lines::tail(errors),
            _folder: folder,
        })
    }

    /// Sends a line to the child, without waiting until it is read.
    ///
    /// # Errors
    ///
    /// Returns an error if the child does not read its input.
    pub fn say(&mut self, line: Vec<u8>) -> Result<(), AdapterTrouble> {
        let told = self.told.as_ref().is_some_and(|told| told.try_send(line).is_ok());
        if told {
            return Ok(());
        }
        Err(match self.ended() {
            Some(how) => AdapterTrouble::new(TroubleKind::Crash, format!("it ended ({how})")),
            None => AdapterTrouble::new(TroubleKind::Hang, "it does not read its input"),
        })
    }

    /// Returns the next line of the child; `None` after this time of silence. A child that has
    /// ended sends no more lines, although a process that it started may keep its output open.
    pub fn hear(&mut self, wait: Duration) -> Option<NextLine> {
        let until = Instant::now() + wait;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left.min(LOOK)) {
                Ok(line) => return Some(line),
                Err(RecvTimeoutError::Disconnected) => return Some(NextLine::End),
                Err(RecvTimeoutError::Timeout) if self.ended().is_some() => {
                    // The last lines may have arrived between the time-out and the check.
                    return Some(self.lines.try_recv().unwrap_or(NextLine::End));
                }
                Err(RecvTimeoutError::Timeout) if left <= LOOK => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Returns true if all threads of the child's processes sleep for a while. Returns false if the
    /// system does not show them.
    pub fn is_asleep(&mut self) -> bool {
        (0..LOOKS).all(|_| {
            std::thread::sleep(LOOK);
            let ids = marked(&self.mark);
            !ids.is_empty() && ids.into_iter().all(is_process_asleep)
        })
    }

    /// Returns the end of the child's standard error.
    pub fn stderr(&self) -> String {
        let bytes = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).trim_end().to_owned()
    }

    /// Discards the content of its standard error so far.
    pub fn forget_stderr(&self) {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Describes the way in which the child ended, after its output is closed.
    pub fn how_it_ended(&mut self) -> String {
        match self.wait(GRACE) {
            Some(how) => format!("it ended ({how})"),
            None => "it closed its standard output".into(),
        }
    }

    /// Closes the child's input, and checks that it ends by itself.
    ///
    /// # Errors
    ///
    /// Returns the way in which it ended, if it did not end in time or with exit status 0, or left
    /// a process running.
    pub fn end(&mut self, patience: Duration) -> Result<(), String> {
        self.told = None;
        let limit = format!("{} s after the end of its input", patience.as_secs_f32());
        match self.wait(patience) {
            None => return Err(format!("it had not ended {limit}")),
            Some(how) if how != "exit status 0" => return Err(format!("it ended with {how}")),
            Some(_) => {}
        }
        // A process that the child has started may need a moment to end.
        let until = Instant::now() + patience;
        loop {
            let left = marked(&self.mark);
            if left.is_empty() {
                return Ok(());
            }
            if Instant::now() >= until {
                let left: Vec<String> = left.into_iter().map(command_of).collect();
                return Err(format!(
                    "{limit} these processes were still running: {}",
                    left.join(", ")
                ));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Returns the way in which it ended, if it ends within some time.
    fn wait(&mut self, grace: Duration) -> Option<String> {
        let until = Instant::now() + grace;
        loop {
            let ended = self.ended();
            if ended.is_some() || Instant::now() >= until {
                return ended;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns the way in which it ended. The process is inspected, not reaped: its group id stays
    /// reserved until the group is killed.
    #[cfg(unix)]
    fn ended(&mut self) -> Option<String> {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let status = waitid(WaitId::Pid(self.pid()?), options).ok()??;
        match (status.exit_status(), status.terminating_signal()) {
            (Some(status), _) => Some(format!("exit status {status}")),
            (None, Some(signal)) => Some(format!("signal {signal}")),
            (None, None) => Some("unknown exit".into()),
        }
    }

    #[cfg(not(unix))]
    fn ended(&mut self) -> Option<String> {
        self.process.try_wait().ok().flatten().map(|status| status.to_string())
    }

    #[cfg(unix)]
    fn pid(&self) -> Option<rustix::process::Pid> {
        i32::try_from(self.process.id()).ok().and_then(rustix::process::Pid::from_raw)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // A child that reads its input to the end may clean up, but only for a short time.
        self.told = None;
        self.wait(GRACE);
        #[cfg(unix)]
        {
            if let Some(group) = self.pid() {
                // The group may be empty by now.
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            end_marked(&self.mark);
        }
        // The child is reaped last, because its group id may be used again after that.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Kills the processes that have left the group, found by the mark in their environment. If the
/// system does not show environments, only the group is killed.
#[cfg(unix)]
fn end_marked(mark: &str) {
    use rustix::process::{Pid, Signal, kill_process};
    for pid in marked(mark).into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Returns the ids of the running processes with a mark in their environment; none if the system does not show environments.
fn marked(mark: &str) -> Vec<i32> {
    let wanted = format!("{MARK}={mark}");
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let is_marked = |id: &i32| {
        // The environment of a process that has ended is empty.
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(is_marked).collect()
}

/// Returns true if no thread of a process runs or waits to run.
fn is_process_asleep(id: i32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let is_asleep = |thread: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // The name before the state may contain any characters.
        let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
        !matches!(state, Some('R' | 'D'))
    };
    threads.into_iter().all(is_asleep)
}

/// Returns the command line of a process.
fn command_of(id: i32) -> String {
    let words = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&words).trim_end_matches('\0').replace('\0', " ");
    format!("`{line}` (process {id})")
}

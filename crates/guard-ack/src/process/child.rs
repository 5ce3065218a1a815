//! A child process that leads its process group, and is ended with all it has started.

use super::lines::{self, Line};
use crate::adapter::{Kind, Trouble};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Stands in the environment of everything a child starts, so that it is found even where it left the group.
const MARK: &str = "GUARD_ACK_CHILD";
/// How many lines wait for a child that does not read.
const WAITING: usize = 64;
/// How long a child that has closed its output has for ending.
const GRACE: Duration = Duration::from_millis(200);

static STARTED: AtomicU64 = AtomicU64::new(0);

/// A child.
pub struct Child {
    process: std::process::Child,
    mark: String,
    told: SyncSender<Vec<u8>>,
    lines: Receiver<Line>,
    stderr: Arc<Mutex<Vec<u8>>>,
}

impl Child {
    /// Starts a command.
    pub fn start(argv: &[String]) -> Result<Child, Trouble> {
        let trouble = |message: String| Trouble::new(Kind::Start, message);
        let (binary, arguments) =
            argv.split_first().ok_or_else(|| trouble("there is no command".into()))?;
        let mark = format!("{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let mut command = Command::new(binary);
        command.args(arguments).env(MARK, &mark);
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
        std::thread::spawn(move || {
            while let Ok(line) = hears.recv() {
                if std::io::Write::write_all(&mut input, &line).is_err() {
                    return;
                }
            }
        });
        Ok(Child { process, mark, told, lines: lines::follow(output), stderr: lines::tail(errors) })
    }

    /// Tells it a line, without waiting until it reads it.
    pub fn say(&mut self, line: Vec<u8>) -> Result<(), Trouble> {
        self.told.try_send(line).map_err(|_| match self.process.try_wait() {
            Ok(Some(_)) => Trouble::new(Kind::Crash, self.how_it_ended()),
            _ => Trouble::new(Kind::Hang, "it does not read what it is told"),
        })
    }

    /// Its next line; none where it is silent for so long.
    pub fn hear(&mut self, wait: Duration) -> Option<Line> {
        match self.lines.recv_timeout(wait) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Line::End),
        }
    }

    /// The end of what it wrote for people.
    pub fn stderr(&self) -> String {
        let bytes = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).trim_end().to_owned()
    }

    /// In words, once it says nothing more.
    pub fn how_it_ended(&mut self) -> String {
        let until = Instant::now() + GRACE;
        loop {
            match self.process.try_wait() {
                Ok(Some(status)) => return format!("it ended ({status})"),
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
                _ => return "it closed its standard output".into(),
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process_group};
            if let Some(group) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) {
                // It may have ended by itself. It is not reaped yet, so the number is still its own.
                let _ = kill_process_group(group, Signal::KILL);
            }
            end_marked(&self.mark);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Ends what has left the group: whoever still carries the mark in its environment. Where the system does not say, only
/// the group is ended.
#[cfg(unix)]
fn end_marked(mark: &str) {
    use rustix::process::{Pid, Signal, kill_process};
    let wanted = format!("{MARK}={mark}");
    let Ok(entries) = std::fs::read_dir("/proc") else { return };
    let numbers =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    for number in numbers {
        let environment = std::fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
        let marked = environment.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes());
        if let Some(pid) = Pid::from_raw(number).filter(|_| marked) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

//! Commands: exactly the words in the plan, without a shell, bounded in time and output, killed
//! with their whole process group (semantics §12).

use crate::running;
use crate::strays::Strays;
use guard_plan::plan::Command;
use guard_plan::record::{Ran, RunEnd};
use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The length of the kept end of an output, in bytes, while the command runs.
const TAIL: usize = 8 << 10;
/// The length of the kept beginning of standard output, in bytes.
const HEAD: usize = 64 << 10;
/// The time to wait for pending output after a command has ended. A process that has left the group
/// may hold the pipe open forever.
const GRACE: Duration = Duration::from_millis(200);

/// Runs a command to its end in a directory. Its environment holds only the variables named by the
/// plan, with their values in this process, and on Linux `GUARD_COMMAND`, which marks its processes;
/// its standard input is empty. A binary without `/` is
/// looked up in this process's `PATH`.
///
/// Processes that leave the process group are killed too, as far as they can be found (see
/// `strays`); the output of others is not awaited.
pub fn run(command: &Command, directory: &Path) -> Ran {
    run_with(command, directory, &[], HEAD)
}

/// Runs a command with more variables, and keeps this much of the beginning of its standard output.
pub(crate) fn run_with(
    command: &Command,
    directory: &Path,
    variables: &[(&str, &str)],
    head: usize,
) -> Ran {
    let not_started = |why: String| Ran {
        ended: RunEnd::NotStarted(why),
        output: String::new(),
        stdout: String::new(),
    };
    let Some((binary, arguments)) = command.argv.split_first() else {
        return not_started("there is nothing to run".into());
    };
    let Some(binary) = find(binary, directory) else {
        return not_started(format!("there is no `{binary}` here"));
    };
    let mut process = std::process::Command::new(binary);
    process.args(arguments).current_dir(directory).env_clear();
    for name in &command.env {
        if let Some(value) = std::env::var_os(name) {
            process.env(name, value);
        }
    }
    process.envs(variables.iter().copied());
    process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut process, 0);
    let mut strays = Strays::mark(&mut process);
    let mut child = match running::begin(&mut process) {
        Ok(child) => child,
        Err(error) => return not_started(error.to_string()),
    };
    strays.follow(&child);
    let (read, done) = channel();
    let stdout = child.stdout.take().map(|pipe| PipeOutput::follow(pipe, head, read.clone()));
    let stderr = child.stderr.take().map(|pipe| PipeOutput::follow(pipe, 0, read));
    let within = Duration::from_millis(u64::try_from(command.within).unwrap_or(0));
    let ended = wait(&mut child, within, &strays);
    drain(&done);
    let text = |output: Option<Arc<Mutex<PipeOutput>>>| match output {
        Some(output) => output.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        None => PipeOutput::default(),
    };
    let stdout = text(stdout);
    let stderr = text(stderr);
    let mut tail: Vec<u8> = stdout.tail.into();
    tail.extend(stderr.tail);
    Ran {
        ended,
        output: String::from_utf8_lossy(&tail).into_owned(),
        stdout: String::from_utf8_lossy(&stdout.head).into_owned(),
    }
}

/// Returns the binary to run: a path as given, relative to the directory; a name looked up in
/// `PATH`, whose empty and relative entries are skipped.
fn find(binary: &str, directory: &Path) -> Option<PathBuf> {
    if binary.contains('/') {
        return Some(directory.join(binary));
    }
    let path = std::env::var_os("PATH")?;
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(binary)).find(|file| is_executable(file))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// The output of a pipe: its beginning and its end.
#[derive(Debug, Clone, Default)]
struct PipeOutput {
    head: Vec<u8>,
    /// The maximum length of the beginning.
    most: usize,
    tail: VecDeque<u8>,
}

impl PipeOutput {
    /// Reads a pipe to its end on its own thread.
    fn follow(
        mut pipe: impl Read + Send + 'static,
        most: usize,
        done: Sender<()>,
    ) -> Arc<Mutex<PipeOutput>> {
        let output = Arc::new(Mutex::new(PipeOutput { most, ..PipeOutput::default() }));
        let shared = Arc::clone(&output);
        std::thread::spawn(move || {
            let mut buffer = [0; 8 << 10];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                shared.lock().unwrap_or_else(PoisonError::into_inner).take(&buffer[..count]);
            }
            // The receiver may be gone.
            let _ = done.send(());
        });
        output
    }

    fn take(&mut self, bytes: &[u8]) {
        let room = self.most.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.tail.extend(bytes);
        let over = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..over);
    }
}

/// Waits until both pipes are read to their ends, up to a limit.
fn drain(done: &Receiver<()>) {
    for _ in 0..2 {
        if done.recv_timeout(GRACE).is_err() {
            return;
        }
    }
}

/// Waits for the end of a command, and always kills its whole group: processes left behind, and
/// processes over the time limit.
#[cfg(unix)]
fn wait(child: &mut Child, within: Duration, strays: &Strays) -> RunEnd {
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (ended, end) = channel();
    std::thread::spawn(move || {
        // The process is inspected, not reaped: its group id stays reserved until the group is
        // killed.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let gone = pid.is_some_and(|pid| {
            std::iter::repeat_with(|| waitid(WaitId::Pid(pid), options))
                .find(|waited| !matches!(waited, Err(rustix::io::Errno::INTR)))
                .is_some_and(|waited| waited.is_ok())
        });
        let _ = ended.send(gone);
    });
    let in_time = !matches!(end.recv_timeout(within), Err(RecvTimeoutError::Timeout));
    // Descendants are found before their parents are killed, and lose them.
    strays.kill();
    if let Some(pid) = pid {
        // An empty group is not an error.
        let _ = kill_process_group(pid, Signal::KILL);
    }
    strays.kill();
    running::end(child);
    match child.wait() {
        Ok(status) if in_time => how(status),
        Ok(_) => RunEnd::TimedOut,
        Err(error) => RunEnd::NotStarted(error.to_string()),
    }
}

#[cfg(unix)]
fn how(status: ExitStatus) -> RunEnd {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => RunEnd::Exited(code),
        (None, signal) => RunEnd::Signalled(signal.unwrap_or(0)),
    }
}

#[cfg(not(unix))]
fn wait(child: &mut Child, within: Duration, _: &Strays) -> RunEnd {
    running::end(child);
    let start = std::time::Instant::now();
    let mut nap = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return how(status),
            Ok(None) if start.elapsed() >= within => {
                let _ = child.kill();
                let _ = child.wait();
                return RunEnd::TimedOut;
            }
            Ok(None) => {
                std::thread::sleep(nap);
                nap = (nap * 2).min(Duration::from_millis(50));
            }
            Err(error) => return RunEnd::NotStarted(error.to_string()),
        }
    }
}

#[cfg(not(unix))]
fn how(status: ExitStatus) -> RunEnd {
    RunEnd::Exited(status.code().unwrap_or(-1))
}

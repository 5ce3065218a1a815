//! Ends by signal: what a guard runs ends with the process that runs it.

#![cfg(unix)]

use crate::cli::build_guardc;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

/// The command and its child hold the pipe open: its end is theirs.
const GUARD: &str = r#"guard held
probe up {
  command "sh" "-c" "exec 3>held.pipe; echo begun >&3; sleep 1000 & sleep 1000" env "PATH"
  timeout 10m
}
tool act() { ready when probe up }
"#;

/// Returns true if this process ignores a signal. It inherits that from its parent, such as `nohup` or a shell in the
/// background, and so do the processes that it starts.
fn is_ignored(number: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}

#[test]
fn commands_end_with_us() {
    let guardc = build_guardc();
    for (signal, number) in [("-INT", 2), ("-TERM", 15), ("-HUP", 1)] {
        if is_ignored(number) {
            continue;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("held{signal}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("held.guard"), GUARD).expect("a guard");
        let made = Command::new("mkfifo").arg(folder.join("held.pipe")).status();
        assert!(made.expect("mkfifo is there").success());
        let mut drive = Command::new(&guardc)
            .args(["drive", "held.guard", "--workspace", "."])
            .current_dir(&folder)
            .stdout(Stdio::null())
            .spawn()
            .expect("guardc is there");
        let id = drive.id().to_string();
        let path = folder.join("held.pipe");
        // Should it end before its command begins, nobody else would ever open the pipe.
        let ended = std::thread::spawn(move || {
            let status = drive.wait().expect("guardc ends");
            drop(File::options().read(true).write(true).open(path));
            status
        });
        let mut pipe = BufReader::new(File::open(folder.join("held.pipe")).expect("the pipe"));
        let mut line = String::new();
        pipe.read_line(&mut line).expect("the command begins");
        assert_eq!(line, "begun\n");
        let sent = Command::new("kill").args([signal, &id]).status();
        assert!(sent.expect("kill is there").success());
        assert_eq!(pipe.read_to_string(&mut line).expect("the command ends"), 0, "{signal}");
        let status = ended.join().expect("the watch ends");
        assert_eq!(status.code(), None, "it ended by the signal");
    }
}

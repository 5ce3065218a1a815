//! Bounded lines from a pipe: a process that sends too much has to wait, or is no longer read.

use crate::protocol::MAX_LINE;
pub use guard_plan::lines::NextLine;
use guard_plan::lines::read_line;
use std::io::{BufReader, Read};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// The length of the kept end of standard error, in bytes.
const TAIL: usize = 8 << 10;

/// Reads the lines of a pipe on a separate thread. At most two lines are held.
pub fn follow(pipe: impl Read + Send + 'static) -> Receiver<NextLine> {
    let (send, lines) = sync_channel(1);
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        loop {
            let next = match read_line(&mut pipe, MAX_LINE).unwrap_or(NextLine::End) {
                NextLine::Whole(line) | NextLine::Open(line) if line.trim_ascii().is_empty() => {
                    continue;
                }
                next => next,
            };
            let last = matches!(next, NextLine::TooLong | NextLine::End);
            // The receiver may be gone.
            if send.send(next).is_err() || last {
                return;
            }
        }
    });
    lines
}

/// Keeps the end of a pipe's output, read on a separate thread.
pub fn tail(mut pipe: impl Read + Send + 'static) -> Arc<Mutex<Vec<u8>>> {
    let tail = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&tail);
    std::thread::spawn(move || {
        let mut buffer = [0; 4 << 10];
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&buffer[..count]);
            let over = kept.len().saturating_sub(TAIL);
            kept.drain(..over);
        }
    });
    tail
}

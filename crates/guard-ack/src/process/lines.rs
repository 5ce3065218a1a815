//! Lines from a pipe, bounded: a process that sends too much has to wait, or is no longer read.

use crate::protocol::MAX_LINE;
use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// The length of the kept end of standard error, in bytes.
const TAIL: usize = 8 << 10;

/// The next line, or the reason why there is none.
pub enum Line {
    /// A line without its line break.
    Text(Vec<u8>),
    /// A line that is too long; nothing is read after it.
    TooLong,
    /// The output is closed.
    End,
}

/// Reads the lines of a pipe on a separate thread. At most two lines are held.
pub fn follow(pipe: impl Read + Send + 'static) -> Receiver<Line> {
    let (send, lines) = sync_channel(1);
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        loop {
            let mut line = Vec::new();
            let read = pipe.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line);
            let next = match read {
                Ok(0) | Err(_) => Line::End,
                Ok(_) if line.len() > MAX_LINE => Line::TooLong,
                Ok(_) => {
                    if line.last() == Some(&b'\n') {
                        line.pop();
                    }
                    if line.iter().all(u8::is_ascii_whitespace) {
                        continue;
                    }
                    Line::Text(line)
                }
            };
            let last = !matches!(next, Line::Text(_));
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

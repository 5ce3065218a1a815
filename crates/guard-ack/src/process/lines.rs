//! Lines from a pipe, bounded: a process that says too much has to wait, or is not heard any more.

use crate::protocol::MAX_LINE;
use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// How much of standard error is kept.
const TAIL: usize = 8 << 10;

/// What came of reading on.
pub enum Line {
    /// A line without its end.
    Text(Vec<u8>),
    /// A line that is too long; nothing is heard after it.
    TooLong,
    /// There is no more.
    End,
}

/// The lines of a pipe, read on a thread of its own. No more than two are held.
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
            // Nobody may be listening any more.
            if send.send(next).is_err() || last {
                return;
            }
        }
    });
    lines
}

/// The end of what a pipe says, read on a thread of its own without end.
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

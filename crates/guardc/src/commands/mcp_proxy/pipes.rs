//! The pipes of the proxy: bounded reading of lines, and writing of whole lines.

use guard_mcp::{IdScanner, MAX_LINE};
use guard_plan::lines::{LineEnd, read_line_into, rest_of_line};
use std::io::{self, BufRead, ErrorKind, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// The next line of a side.
pub enum PipeLine {
    /// A line with its line feed, or the last one without.
    Whole(Vec<u8>),
    /// A line that is too long, with the data that was found in it.
    TooLong(IdScanner),
    /// The side has closed its pipe.
    End,
}

/// Reads the next line. Of a line that is too long, at most the limit is kept.
///
/// # Errors
///
/// The errors of the reader. An interrupted read is retried.
pub fn read_line(reader: &mut impl BufRead) -> io::Result<PipeLine> {
    let mut line = Vec::new();
    Ok(match read_line_into(reader, MAX_LINE, &mut line)? {
        LineEnd::Feed => {
            line.push(b'\n');
            PipeLine::Whole(line)
        }
        LineEnd::Open => PipeLine::Whole(line),
        LineEnd::TooLong => {
            // The request's id is still needed, because its client waits for an answer.
            let mut scanner = IdScanner::default();
            scanner.feed(&line);
            rest_of_line(reader, |piece| scanner.feed(piece))?;
            PipeLine::TooLong(scanner)
        }
        LineEnd::End => PipeLine::End,
    })
}

/// The output to one side. The thread that reads from the other side writes directly, so that a
/// side that does not read blocks only the other side. All other threads leave their lines to the
/// outlet's own thread.
#[derive(Clone)]
pub struct Outlet {
    pipe: Arc<Mutex<Option<Box<dyn Write + Send>>>>,
    queue: Sender<QueuedLine>,
}

/// A line for the outlet's thread, or a mark that reports when all lines before it are written.
enum QueuedLine {
    Line(Vec<u8>),
    Mark(Sender<()>),
}

impl Outlet {
    /// Creates an outlet with its thread. `broken` is called when the pipe cannot be written.
    pub fn new(pipe: Box<dyn Write + Send>, broken: impl Fn() + Send + 'static) -> Outlet {
        let (queue, lines) = channel();
        let outlet = Outlet { pipe: Arc::new(Mutex::new(Some(pipe))), queue };
        let writer = Arc::clone(&outlet.pipe);
        std::thread::spawn(move || write_queued(&lines, &writer, &broken));
        outlet
    }

    /// Writes a line immediately.
    ///
    /// # Errors
    ///
    /// The errors of the pipe; [`ErrorKind::BrokenPipe`] if it is closed.
    pub fn write(&self, line: &[u8]) -> io::Result<()> {
        write(&self.pipe, line)
    }

    /// Leaves a line to the outlet's thread.
    pub fn queue(&self, line: Vec<u8>) {
        // The thread ends with the process.
        let _ = self.queue.send(QueuedLine::Line(line));
    }

    /// Returns a receiver that is notified when everything queued so far is written.
    pub fn mark(&self) -> Receiver<()> {
        let (told, written) = channel();
        let _ = self.queue.send(QueuedLine::Mark(told));
        written
    }

    /// Closes the pipe, unless a write to it is in progress.
    pub fn close(&self) {
        // A write that blocks keeps the lock for ever, and closing must not block with it.
        if let Ok(mut pipe) = self.pipe.try_lock() {
            *pipe = None;
        }
    }
}

fn write_queued(
    lines: &Receiver<QueuedLine>,
    pipe: &Mutex<Option<Box<dyn Write + Send>>>,
    broken: &dyn Fn(),
) {
    while let Ok(queued) = lines.recv() {
        match queued {
            QueuedLine::Line(line) => {
                if write(pipe, &line).is_err() {
                    broken();
                }
            }
            QueuedLine::Mark(told) => _ = told.send(()),
        }
    }
}

fn write(pipe: &Mutex<Option<Box<dyn Write + Send>>>, line: &[u8]) -> io::Result<()> {
    let mut pipe = pipe.lock().unwrap_or_else(PoisonError::into_inner);
    let pipe = pipe.as_mut().ok_or(ErrorKind::BrokenPipe)?;
    pipe.write_all(line)?;
    pipe.flush()
}

#[cfg(test)]
mod tests {
    use super::{MAX_LINE, PipeLine, read_line};
    use std::io::Cursor;

    #[test]
    fn long_lines_are_bounded() {
        let mut input = br#"{"id": 7, "method": ""#.to_vec();
        input.resize(MAX_LINE + 9, b'x');
        input.extend_from_slice(b"\", \"a\": {\"id\": 8}}\nnext");
        let mut reader = Cursor::new(input);
        let Ok(PipeLine::TooLong(scanner)) = read_line(&mut reader) else { panic!("too long") };
        assert_eq!(scanner.id().unwrap().to_string(), "7");
        assert!(matches!(read_line(&mut reader), Ok(PipeLine::Whole(line)) if line == b"next"));
        assert!(matches!(read_line(&mut reader), Ok(PipeLine::End)));
    }
}

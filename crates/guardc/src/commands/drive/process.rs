//! A program that receives and answers lines, with a time limit for both.

use crate::failure::{Failure, reason};
use guard_plan::lines::{NextLine, read_line};
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// A running program, which is killed with this process.
pub struct Process {
    /// The output.
    pub reader: TimedReader,
    /// The input.
    pub writer: TimedWriter,
}

impl Process {
    /// Starts a command: words separated by spaces, no shell.
    ///
    /// # Errors
    ///
    /// Returns an error if the program cannot be started.
    pub fn start(command: &str, patience: Duration) -> Result<Process, Failure> {
        let mut words = command.split_whitespace();
        let Some(binary) = words.next() else {
            return Err(Failure::new("a command has at least one word"));
        };
        let mut process = Command::new(binary);
        process.args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = process.spawn().map_err(|error| {
            Failure::new(format!("cannot start `{binary}`: {}", reason(&error)))
        })?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::new(format!("`{binary}` has no pipes")));
        };
        let turn =
            Rc::new(AnswerLimit { patience, until: Cell::new(None), late: Cell::new(false) });
        let writer = TimedWriter::new(input, Rc::clone(&turn));
        Ok(Process { reader: TimedReader::new(child, output, turn), writer })
    }
}

/// The time limit for the answer to the last line. After a timeout no more output is read, because
/// it could belong to an earlier question.
struct AnswerLimit {
    patience: Duration,
    until: Cell<Option<Instant>>,
    late: Cell<bool>,
}

impl AnswerLimit {
    fn begin(&self) {
        self.until.set(Instant::now().checked_add(self.patience));
    }

    /// Returns the remaining time.
    fn left(&self) -> Duration {
        match self.until.get() {
            Some(until) => until.saturating_duration_since(Instant::now()),
            None => self.patience,
        }
    }

    fn listens(&self) -> io::Result<()> {
        if self.late.get() {
            Err(io::Error::other("an earlier answer came too late"))
        } else {
            Ok(())
        }
    }
}

/// A writer that sends a line at each flush, without waiting until it is read: the time limit of
/// the answer already runs.
pub struct TimedWriter {
    lines: SyncSender<Vec<u8>>,
    line: Vec<u8>,
    turn: Rc<AnswerLimit>,
}

impl TimedWriter {
    fn new(mut input: ChildStdin, turn: Rc<AnswerLimit>) -> TimedWriter {
        // One line may wait: a program that leaves a second one unread does not take part in the
        // protocol.
        let (lines, told) = sync_channel::<Vec<u8>>(1);
        std::thread::spawn(move || {
            while let Ok(line) = told.recv() {
                if input.write_all(&line).is_err() {
                    return;
                }
            }
        });
        TimedWriter { lines, line: Vec::new(), turn }
    }
}

impl Write for TimedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.turn.listens()?;
        self.line.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.turn.begin();
        let line = std::mem::take(&mut self.line);
        // The program answered without reading the earlier lines, or it has ended.
        self.lines.try_send(line).map_err(|_| io::Error::other("it does not read its input"))
    }
}

/// The output of a program, read with a time limit.
pub struct TimedReader {
    child: Child,
    pieces: Receiver<Vec<u8>>,
    piece: Vec<u8>,
    used: usize,
    turn: Rc<AnswerLimit>,
}

impl TimedReader {
    fn new(child: Child, output: ChildStdout, turn: Rc<AnswerLimit>) -> TimedReader {
        // The channel is bounded, so that a program that sends too much has to wait.
        let (send, pieces) = sync_channel(4);
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Ok(bytes @ [_, ..]) = output.fill_buf() {
                let piece = bytes.to_vec();
                output.consume(piece.len());
                if send.send(piece).is_err() {
                    return;
                }
            }
        });
        TimedReader { child, pieces, piece: Vec::new(), used: 0, turn }
    }

    /// Returns the next line, up to a maximum length; `None` at the end of the output. After a line
    /// that is too long no more output is read, because the rest would be mistaken for the next
    /// answer.
    ///
    /// # Errors
    ///
    /// Returns an error after a timeout or a line that is too long.
    pub fn line(&mut self, most: usize) -> io::Result<Option<Vec<u8>>> {
        match read_line(self, most)? {
            NextLine::Whole(line) | NextLine::Open(line) => Ok(Some(line)),
            NextLine::End => Ok(None),
            NextLine::TooLong => {
                self.turn.late.set(true);
                Err(io::Error::other(format!("its answer is longer than {most} bytes")))
            }
        }
    }
}

impl Read for TimedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for TimedReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.turn.listens()?;
        if self.used == self.piece.len() {
            let left = self.turn.left();
            // Output without pauses also has a time limit.
            let next = if left.is_zero() {
                Err(RecvTimeoutError::Timeout)
            } else {
                self.pieces.recv_timeout(left)
            };
            match next {
                Ok(piece) => (self.piece, self.used) = (piece, 0),
                Err(RecvTimeoutError::Timeout) => {
                    self.turn.late.set(true);
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(RecvTimeoutError::Disconnected) => (self.piece, self.used) = (Vec::new(), 0),
            }
        }
        Ok(&self.piece[self.used..])
    }

    fn consume(&mut self, count: usize) {
        self.used += count;
    }
}

impl Drop for TimedReader {
    fn drop(&mut self) {
        // The program may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! A program that answers line by line, within a time limit.

use crate::failure::{Failure, reason};
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// A started program; it ends with us.
pub struct Process {
    /// What it says.
    pub reader: Patient,
    /// Where it is spoken to.
    pub writer: ChildStdin,
}

impl Process {
    /// Starts a command: words parted by blanks, no shell.
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
        let (Some(writer), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::new(format!("`{binary}` has no pipes")));
        };
        Ok(Process { reader: Patient::new(child, output, patience), writer })
    }
}

/// The output of a program, waited for only so long. Who was too late once is not heard again: an answer could
/// belong to the question before.
pub struct Patient {
    child: Child,
    pieces: Receiver<Vec<u8>>,
    piece: Vec<u8>,
    used: usize,
    patience: Duration,
    late: bool,
}

impl Patient {
    fn new(child: Child, output: ChildStdout, patience: Duration) -> Patient {
        // Bounded: a program that floods us has to wait.
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
        Patient { child, pieces, piece: Vec::new(), used: 0, patience, late: false }
    }
}

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Patient {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.used == self.piece.len() {
            if self.late {
                return Err(io::Error::other("it was too late before"));
            }
            match self.pieces.recv_timeout(self.patience) {
                Ok(piece) => (self.piece, self.used) = (piece, 0),
                Err(RecvTimeoutError::Timeout) => {
                    self.late = true;
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

impl Drop for Patient {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

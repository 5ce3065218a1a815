//! Reasoners without a model: one that follows a list, and one that exchanges JSON lines.

use super::choice::MAX_REPLY_BYTES;
use super::doors::{Reasoner, Reply, Situation};
use guard_plan::json;
use std::collections::VecDeque;
use std::io::{self, BufRead, Read, Write};

/// Gives one reply after another; after the last, it stops.
#[derive(Debug, Clone, Default)]
pub struct Scripted {
    replies: VecDeque<Reply>,
}

impl Scripted {
    /// Returns a reasoner with these replies.
    pub fn new(replies: impl IntoIterator<Item = impl Into<String>>) -> Scripted {
        let replies = replies.into_iter().map(|text| Reply::Text(text.into()));
        Scripted { replies: replies.collect() }
    }

    /// Returns a reasoner with these typed replies.
    pub fn replying(replies: impl IntoIterator<Item = Reply>) -> Scripted {
        Scripted { replies: replies.into_iter().collect() }
    }
}

impl Reasoner for Scripted {
    fn choose(&mut self, _: &Situation<'_>) -> Reply {
        let end = || Reply::Text(r#"{"stop": true, "reasoning": "the script is over"}"#.into());
        self.replies.pop_front().unwrap_or_else(end)
    }
}

/// Writes one line for each situation,
/// `{"advice": {…}, "text": "…", "last": "…", "feedback": "…"}`, and reads one line. The creator of
/// the pipes chooses the peer and its time limit.
#[derive(Debug)]
pub struct JsonLines<R, W> {
    reader: R,
    writer: W,
}

impl<R: BufRead, W: Write> JsonLines<R, W> {
    /// Returns a reasoner over these pipes.
    pub fn new(reader: R, writer: W) -> Self {
        JsonLines { reader, writer }
    }

    fn write(&mut self, situation: &Situation<'_>) -> io::Result<()> {
        let mut line = format!("{{\"advice\":{},\"text\":", situation.advice.to_json());
        json::write_string(situation.text, &mut line);
        line.push_str(",\"last\":");
        match situation.last {
            Some(last) => json::write_string(last, &mut line),
            None => line.push_str("null"),
        }
        line.push_str(",\"feedback\":");
        json::write_string(situation.feedback, &mut line);
        line.push_str("}\n");
        self.writer.write_all(line.as_bytes())?;
        self.writer.flush()
    }

    /// Reads the next line without its line break. A line that is too long is skipped.
    fn read(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let most = MAX_REPLY_BYTES as u64 + 2;
        (&mut self.reader).take(most).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        if line.pop_if(|byte| *byte == b'\n').is_none() && line.len() > MAX_REPLY_BYTES {
            self.skip_line()?;
        }
        Ok(Some(line))
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let buffer = self.reader.fill_buf()?;
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(buffer.len(), |at| at + 1);
            self.reader.consume(used);
            if end.is_some() || used == 0 {
                return Ok(());
            }
        }
    }
}

impl<R: BufRead, W: Write> Reasoner for JsonLines<R, W> {
    fn choose(&mut self, situation: &Situation<'_>) -> Reply {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Reply::TimedOut,
            _ => Reply::Failed(format!("the reasoner cannot be spoken to: {error}")),
        };
        if let Err(error) = self.write(situation) {
            return failed(error);
        }
        match self.read() {
            Ok(Some(line)) => match String::from_utf8(line) {
                Ok(text) => Reply::Text(text),
                Err(_) => Reply::Failed("the reply is not UTF-8".into()),
            },
            Ok(None) => Reply::Failed("the reasoner has gone".into()),
            Err(error) => failed(error),
        }
    }
}

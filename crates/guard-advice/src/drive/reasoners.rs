//! Reasoners without a model: one that follows a list, and one that exchanges lines of JSON.

use super::choice::MAX_REPLY_BYTES;
use super::io::{Reasoner, Reply, Situation};
use guard_plan::json;
use guard_plan::lines::{NextLine, read_line, skip_line};
use std::collections::VecDeque;
use std::io::{self, BufRead, Write};

/// A reasoner that gives one reply after another, and stops after the last.
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
}

impl<R: BufRead, W: Write> Reasoner for JsonLines<R, W> {
    fn choose(&mut self, situation: &Situation<'_>) -> Reply {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Reply::TimedOut,
            _ => Reply::Failed(format!("cannot communicate with the reasoner: {error}")),
        };
        if let Err(error) = self.write(situation) {
            return failed(error);
        }
        match read_line(&mut self.reader, MAX_REPLY_BYTES) {
            Ok(NextLine::Whole(line) | NextLine::Open(line)) => match String::from_utf8(line) {
                Ok(text) => Reply::Text(text),
                Err(_) => Reply::Failed("the reply is not UTF-8".into()),
            },
            // The rest would be taken for the reply to the next situation.
            Ok(NextLine::TooLong) => match skip_line(&mut self.reader) {
                Ok(()) => {
                    Reply::Failed(format!("the reply is longer than {MAX_REPLY_BYTES} bytes"))
                }
                Err(error) => failed(error),
            },
            Ok(NextLine::End) => Reply::Failed("the reasoner has ended".into()),
            Err(error) => failed(error),
        }
    }
}

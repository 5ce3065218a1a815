//! A text that comes in pieces.

use crate::checker::Input;
use crate::engine::{Engine, Turn, Window};
use crate::judge::Judge;
use crate::lex;
use crate::outcome;
use crate::shape::Prepared;
use guard_plan::report::{Item, KEPT_TEXT, RawText, Report};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// How much may wait before it is only looked at again when it has doubled, in bytes.
const SOON: usize = 64;

/// The text's beginning, length and hash.
#[derive(Default)]
pub(crate) struct Text {
    start: Vec<u8>,
    length: u64,
    hash: Sha256,
}

impl Text {
    pub fn take(&mut self, bytes: &[u8]) {
        let room = KEPT_TEXT - self.start.len();
        self.start.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.length += bytes.len() as u64;
        self.hash.update(bytes);
    }

    pub fn finish(self) -> RawText {
        RawText {
            length: self.length,
            sha256: guard_plan::hex::encode(&self.hash.finalize()),
            start: String::from_utf8_lossy(&self.start).into_owned(),
        }
    }
}

/// Whether a value that has begun has ended, as brackets and strings tell: so that it need not be read again with
/// every piece.
#[derive(Default)]
struct Waiting {
    /// Where it begins.
    at: usize,
    /// How far it is looked at.
    to: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// It seemed to have ended before.
    tried: bool,
    /// When there is so much text it is tried again.
    again: usize,
}

impl Waiting {
    /// Looks at what has come; whether the value seems to have ended.
    fn ended(&mut self, bytes: &[u8], base: usize) -> bool {
        let mut i = self.to - base;
        let mut ended = false;
        while i < bytes.len() {
            if std::mem::take(&mut self.escaped) {
                i += 1;
                continue;
            }
            if self.in_string {
                i = lex::plain(bytes, i);
                match bytes.get(i) {
                    None => break,
                    Some(b'\\') => self.escaped = true,
                    Some(b'"') => {
                        self.in_string = false;
                        ended |= self.depth == 0;
                    }
                    Some(_) => {}
                }
            } else {
                match bytes[i] {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => {
                        self.depth = self.depth.saturating_sub(1);
                        ended |= self.depth == 0;
                    }
                    _ => {}
                }
            }
            i += 1;
        }
        self.to = base + bytes.len();
        ended
    }
}

/// A text that comes in pieces: the same report as of the whole, wherever it is cut into pieces.
///
/// What is held of the text is one unit, at most as long as the contract's `bytes`.
pub struct Feed {
    prepared: Arc<Prepared>,
    engine: Engine,
    buffer: Vec<u8>,
    /// The place of the buffer in the text.
    base: usize,
    waiting: Waiting,
    text: Text,
}

impl Feed {
    pub(crate) fn new(prepared: Arc<Prepared>) -> Feed {
        let mut engine = Engine::new(prepared.clone());
        engine.emit = true;
        Feed {
            engine,
            prepared,
            buffer: Vec::new(),
            base: 0,
            waiting: Waiting::default(),
            text: Text::default(),
        }
    }

    /// How much of the text is held, in bytes.
    pub fn held(&self) -> usize {
        self.buffer.len()
    }

    /// Takes a piece of the text, and gives the items of the document's lists that are complete with it and survive.
    ///
    /// An item that is given may still be driven out by better ones where `max` says so, and another document may turn
    /// out to be the answer: the report has the last word.
    pub fn push(&mut self, bytes: &[u8], input: &Input<'_>) -> Vec<Item> {
        self.text.take(bytes);
        self.buffer.extend_from_slice(bytes);
        if self.worth_it() {
            self.run(false, input);
        }
        std::mem::take(&mut self.engine.out)
    }

    /// The text has ended: the report of all of it.
    pub fn finish(mut self, input: &Input<'_>) -> Report {
        self.run(true, input);
        outcome::report(&self.prepared, self.engine.finish(), input, self.text)
    }

    /// Whether what has come may let reading go on.
    fn worth_it(&mut self) -> bool {
        let waiting = &mut self.waiting;
        let stop = self.base + self.buffer.len();
        let ended = waiting.to >= self.base && waiting.ended(&self.buffer, self.base);
        let first = ended && !waiting.tried;
        waiting.tried |= ended;
        first || stop >= waiting.again
    }

    fn run(&mut self, end: bool, input: &Input<'_>) {
        let w = Window { bytes: &self.buffer, base: self.base, end };
        self.engine.run(&Turn { w, judge: Judge { prepared: &self.prepared, input } });
        let hold = self.engine.hold();
        // Moved only when that is worth it: what is moved is less than what goes.
        if hold - self.base > self.buffer.len() / 2 {
            self.buffer.drain(..hold - self.base);
            self.base = hold;
        }
        let (at, stop) = (self.engine.waits_at(), self.base + self.buffer.len());
        let waits = stop.saturating_sub(at);
        let again = match self.engine.in_unit() && waits >= SOON {
            true => at + 2 * waits,
            false => stop + 1,
        };
        if at != self.waiting.at || self.waiting.to < at {
            self.waiting = Waiting { at, to: at.max(self.base), ..Waiting::default() };
            self.waiting.ended(&self.buffer, self.base);
            self.waiting.tried = false;
        }
        self.waiting.again = again;
    }
}

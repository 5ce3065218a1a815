//! A text that arrives in pieces.

use crate::engine::{ContractEngine, StepInput, TextWindow};
use crate::input::Input;
use crate::judge::UnitJudge;
use crate::lex;
use crate::lines::LineBreaks;
use crate::outcome;
use crate::shape::PreparedContract;
use crate::single_value;
use crate::unwrap::Unwrap;
use guard_plan::plan::Root;
use guard_plan::report::{KEPT_TEXT, KeptItem, RawText, Report};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The amount of waiting text, in bytes, above which it is examined again only after it has
/// doubled.
const SOON: usize = 64;

/// The text's beginning, length, hash and lines.
#[derive(Default)]
pub(crate) struct TextSummary {
    start: Vec<u8>,
    length: u64,
    hash: Sha256,
    lines: LineBreaks,
}

impl TextSummary {
    pub fn take(&mut self, bytes: &[u8]) {
        let room = KEPT_TEXT - self.start.len();
        self.start.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.length += bytes.len() as u64;
        self.hash.update(bytes);
        self.lines.take(bytes);
    }

    pub fn finish(self) -> (RawText, LineBreaks) {
        let text = RawText {
            length: self.length,
            sha256: guard_plan::hex::encode(&self.hash.finalize()),
            start: String::from_utf8_lossy(&self.start).into_owned(),
        };
        (text, self.lines)
    }
}

/// A tracker of brackets and strings that determines whether a value has ended, so that the value
/// is not parsed again with every piece.
#[derive(Default)]
struct BracketTracker {
    /// The start of the value.
    at: usize,
    /// The position examined so far.
    to: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// True if the value appeared complete before.
    tried: bool,
    /// The amount of text at which the value is parsed again.
    again: usize,
}

impl BracketTracker {
    /// Examines the new text. Returns true if the value appears complete.
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

/// A text that arrives in pieces. The report is the same as for the whole text, however the text is
/// split.
///
/// At most one unit of the text is held in memory, up to the contract's `bytes`.
pub struct Feed {
    prepared: Arc<PreparedContract>,
    engine: ContractEngine,
    unwrap: Unwrap,
    buffer: Vec<u8>,
    /// The offset of the buffer in the text.
    base: usize,
    waiting: BracketTracker,
    text: TextSummary,
    /// True if the text of a contract of one value is longer than the part that is read.
    over: bool,
}

impl Feed {
    pub(crate) fn new(prepared: Arc<PreparedContract>) -> Feed {
        let mut engine = ContractEngine::new(prepared.clone());
        engine.emit = true;
        Feed {
            engine,
            prepared,
            unwrap: Unwrap::default(),
            buffer: Vec::new(),
            base: 0,
            waiting: BracketTracker::default(),
            text: TextSummary::default(),
            over: false,
        }
    }

    /// Returns the amount of text that is held, in bytes.
    pub fn held(&self) -> usize {
        self.buffer.len()
    }

    /// Accepts a piece of the text, and returns the valid items of the document's lists that it
    /// completes.
    ///
    /// A returned item may still be replaced by higher-ranking ones if `max` limits the list, and
    /// another document may turn out to be the answer: only the report is final.
    pub fn push(&mut self, bytes: &[u8], input: &Input<'_>) -> Vec<KeptItem> {
        self.text.take(bytes);
        if self.prepared.contract.root == Root::Value {
            let room = self.prepared.whole_cap() - self.buffer.len();
            self.over |= bytes.len() > room;
            self.buffer.extend_from_slice(&bytes[..bytes.len().min(room)]);
            return Vec::new();
        }
        self.unwrap.push(bytes, false, &mut self.buffer);
        if self.worth_it() {
            self.run(false, input);
        }
        let mut items = std::mem::take(&mut self.engine.out);
        let length = self.text.length;
        items.iter_mut().for_each(|item| self.unwrap.locate(&mut item.at, length));
        items
    }

    /// Ends the text and returns its report.
    pub fn finish(mut self, input: &Input<'_>) -> Report {
        if self.prepared.contract.root == Root::Value {
            let mut read = single_value::read(&self.prepared, &self.buffer, self.over, input);
            let (text, lines) = self.text.finish();
            read.length = text.length as usize;
            let mut report = outcome::report(&self.prepared, read, input, text);
            lines.place(&mut report);
            return report;
        }
        self.unwrap.push(&[], true, &mut self.buffer);
        self.run(true, input);
        let length = self.base + self.buffer.len();
        let mut read = self.engine.finish(length);
        read.cut |= self.unwrap.cut();
        let (text, lines) = self.text.finish();
        let mut report = outcome::report(&self.prepared, read, input, text);
        self.unwrap.relocate(&mut report);
        lines.place(&mut report);
        report
    }

    /// Returns true if the new text may let reading continue.
    fn worth_it(&mut self) -> bool {
        let waiting = &mut self.waiting;
        let stop = self.base + self.buffer.len();
        let ended = waiting.to >= self.base && waiting.ended(&self.buffer, self.base);
        let first = ended && !waiting.tried;
        waiting.tried |= ended;
        first || stop >= waiting.again
    }

    fn run(&mut self, end: bool, input: &Input<'_>) {
        let w = TextWindow { bytes: &self.buffer, base: self.base, end };
        self.engine.run(&StepInput { w, judge: UnitJudge { prepared: &self.prepared, input } });
        let hold = self.engine.hold();
        // The buffer is moved only if the removed part is larger than the moved one.
        if hold - self.base > self.buffer.len() / 2 {
            self.buffer.drain(..hold - self.base);
            self.base = hold;
        }
        let at = self.engine.waits_at();
        let stop = self.base + self.buffer.len();
        let waits = stop.saturating_sub(at);
        let again = if self.engine.in_unit() && waits >= SOON { at + 2 * waits } else { stop + 1 };
        if at != self.waiting.at || self.waiting.to < at {
            self.waiting =
                BracketTracker { at, to: at.max(self.base), ..BracketTracker::default() };
            self.waiting.ended(&self.buffer, self.base);
            self.waiting.tried = false;
        }
        self.waiting.again = again;
    }
}

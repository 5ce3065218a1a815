//! A document that is written as one JSON string: its text, and the position of each part in the
//! original text.
//!
//! The first characters decide, so that a text in pieces is read like the whole text.

use crate::lex;
use guard_plan::report::{self, Extent, Problem, QuarantineReason, Report};

/// The maximum length of the beginning that is examined, in bytes.
const BEGINNING: usize = 256;

/// The byte between the string and other text after it. No token and no gap of JSON has it, so an
/// open document does not continue there.
pub(crate) const SEAM: u8 = 1;

/// The words before a position, which is at the end of its message.
const AT_BYTE: &str = "at byte ";

/// The findings about a text so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum UnwrapState {
    #[default]
    Unknown,
    /// The text is read without decoding.
    Plain,
    /// Within the string.
    Inside,
    /// After the string.
    Behind,
    /// After the beginning of other text behind the string.
    Beyond,
}

/// A decoder of a text that is one JSON string, in pieces.
#[derive(Debug, Default)]
pub(crate) struct Unwrap {
    state: UnwrapState,
    /// The part that cannot be decided yet.
    held: Vec<u8>,
    /// The number of bytes of the text read so far.
    read: usize,
    written: usize,
    /// The position where the string is not JSON: an unknown escape, or a raw control character.
    damaged: Option<usize>,
    /// The positions at which the difference between the two offsets changes: the offset in the
    /// document, and in the text.
    steps: Vec<(usize, usize)>,
}

impl Unwrap {
    /// Returns true if a text is certainly read without decoding.
    pub fn plain(text: &[u8]) -> bool {
        begins(text, true) != Some(true)
    }

    /// Decodes a piece of the text.
    pub fn push(&mut self, piece: &[u8], end: bool, out: &mut Vec<u8>) {
        if self.state == UnwrapState::Plain {
            return out.extend_from_slice(piece);
        }
        self.held.extend_from_slice(piece);
        if self.state == UnwrapState::Unknown {
            match begins(&self.held, end) {
                None => return,
                Some(false) => {
                    self.state = UnwrapState::Plain;
                    return out.append(&mut self.held);
                }
                Some(true) => {
                    let quote = self.held.iter().position(|b| *b == b'"').unwrap_or(0);
                    self.held.drain(..=quote);
                    self.read = quote + 1;
                    self.state = UnwrapState::Inside;
                    self.step();
                }
            }
        }
        let held = std::mem::take(&mut self.held);
        let rest = self.decode(&held, end, out);
        self.held = held[rest..].to_vec();
    }

    fn step(&mut self) {
        self.steps.push((self.written, self.read));
    }

    fn copy(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(bytes);
        self.read += bytes.len();
        self.written += bytes.len();
    }

    /// Decodes some bytes. Returns the number of bytes that were decoded.
    fn decode(&mut self, bytes: &[u8], end: bool, out: &mut Vec<u8>) -> usize {
        let mut at = 0;
        while self.state == UnwrapState::Inside && at < bytes.len() {
            let to = lex::plain(bytes, at);
            self.copy(&bytes[at..to], out);
            at = to;
            match bytes.get(at) {
                None => {}
                Some(b'"') => {
                    self.state = UnwrapState::Behind;
                    self.read += 1;
                    at += 1;
                    self.step();
                }
                Some(b'\\') => match lex::escape(bytes, at) {
                    Ok((character, to)) => {
                        let mut buffer = [0; 4];
                        let decoded = character.encode_utf8(&mut buffer).as_bytes();
                        out.extend_from_slice(decoded);
                        self.written += decoded.len();
                        self.read += to - at;
                        at = to;
                        self.step();
                    }
                    Err(lex::LexStop::More) if !end => return at,
                    Err(_) => {
                        self.damaged.get_or_insert(self.read);
                        self.copy(&bytes[at..=at], out);
                        at += 1;
                    }
                },
                Some(_) => {
                    self.damaged.get_or_insert(self.read);
                    self.copy(&bytes[at..=at], out);
                    at += 1;
                }
            }
        }
        if self.state == UnwrapState::Behind {
            let next = lex::all_blanks(bytes, at);
            self.copy(&bytes[at..next], out);
            at = next;
            if at < bytes.len() {
                self.state = UnwrapState::Beyond;
                out.push(SEAM);
                self.written += 1;
                self.step();
            }
        }
        self.copy(&bytes[at..], out);
        bytes.len()
    }

    /// Returns the offset in the text for an offset in the document, where a part begins or ends.
    fn outer(&self, at: u64, length: u64) -> u64 {
        let step = self.steps.partition_point(|step| step.0 as u64 <= at);
        match step.checked_sub(1).and_then(|step| self.steps.get(step)) {
            None => at,
            Some(_) if at >= self.written as u64 => length,
            Some(step) => (at - step.0 as u64) + step.1 as u64,
        }
    }

    pub fn locate(&self, at: &mut Extent, length: u64) {
        if !self.steps.is_empty() {
            (at.start, at.end) = (self.outer(at.start, length), self.outer(at.end, length));
        }
    }

    /// Converts the positions in a report from the document to the text.
    pub fn relocate(&self, report: &mut Report) {
        if self.steps.is_empty() {
            return;
        }
        let length = report.text.length;
        let errors = report.problems.iter_mut().map(|problem| (problem.reason, &mut problem.error));
        let units = report.quarantined.iter_mut().map(|unit| (unit.reason, &mut unit.error));
        for (reason, error) in errors.chain(units) {
            if matches!(reason, QuarantineReason::Malformed | QuarantineReason::Truncated) {
                self.relocate_error(error, length);
            }
        }
        if let Some(at) = self.damaged {
            let error = format!("the string around the document is not JSON, at byte {at}");
            report.problems.push(Problem {
                member: String::new(),
                reason: QuarantineReason::Malformed,
                error,
            });
            report.review_required = true;
            if report.state == report::State::Valid {
                report.state = report::State::Partial;
            }
        }
        let at = report.items.values_mut().flatten().map(|item| &mut item.at);
        let at = at.chain(report.quarantined.iter_mut().map(|unit| &mut unit.at));
        let at = at.chain(report.passed_over.iter_mut().map(|passed| &mut passed.at));
        at.chain(report.spans.iter_mut().map(|span| &mut span.at))
            .for_each(|at| self.locate(at, length));
        report.repairs.iter_mut().for_each(|repair| repair.at = self.outer(repair.at, length));
        // The seam is not in the text.
        report.spans.retain(|span| span.at.start < span.at.end);
        // The quotes belong to the adjacent parts.
        if let Some(span) = report.spans.first_mut() {
            span.at.start = 0;
        }
        if let Some(span) = report.spans.last_mut() {
            span.at.end = length;
        }
    }

    /// Converts the position at the end of a message.
    fn relocate_error(&self, error: &mut String, length: u64) {
        let Some((head, at)) = error.rsplit_once(AT_BYTE) else { return };
        if let Ok(at) = at.parse() {
            *error = format!("{head}{AT_BYTE}{}", self.outer(at, length));
        }
    }

    /// Returns true if the string does not end.
    pub fn cut(&self) -> bool {
        self.state == UnwrapState::Inside
    }
}

/// Returns true if a text begins as a JSON string that contains an object with a key, or an array
/// of such objects; `None` if that is not known yet.
fn begins(text: &[u8], end: bool) -> Option<bool> {
    let mut quote = false;
    let mut bracket = false;
    let mut at = 0;
    while let Some(byte) = text.get(at).copied() {
        if at > BEGINNING {
            return Some(false);
        }
        match (byte, text.get(at + 1)) {
            (b' ' | b'\n' | b'\r' | b'\t', _) => {}
            (b'"', _) if !quote => quote = true,
            (b'{' | b'[', _) if quote => bracket = true,
            (b'\\', None) if !end => return None,
            (b'\\', Some(b'n' | b'r' | b't')) if quote => at += 1,
            (b'\\', Some(b'"')) if bracket => return Some(true),
            _ => return Some(false),
        }
        at += 1;
    }
    end.then_some(false)
}

//! Skipping of a unit that is too large to be parsed, by matching brackets and strings.

use super::search::{Gone, HEAD};
use super::{ContractEngine, Phase, StepInput};
use crate::keep::Refusal;
use crate::lex;

/// A skipped unit.
#[derive(Debug)]
pub(super) struct Skip {
    start: usize,
    /// The unit; `None` for a member.
    gone: Option<Gone>,
    back: Box<Phase>,
    head: Vec<u8>,
    /// The position reached.
    pos: usize,
    depth: usize,
    in_string: bool,
}

impl Skip {
    pub fn new(start: usize, gone: Option<Gone>, back: Phase) -> Skip {
        let back = Box::new(back);
        Skip { start, gone, back, head: Vec::new(), pos: start, depth: 0, in_string: false }
    }

    /// Returns the first offset that must stay available.
    pub fn hold(&self, at: usize) -> usize {
        if self.head.is_empty() { at } else { self.pos }
    }

    /// Continues. Returns the end of the unit, if known.
    fn go(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut i = 0;
        while i < bytes.len() {
            if self.in_string {
                i = lex::plain(bytes, i);
                match bytes.get(i) {
                    None => break,
                    Some(b'\\') if i + 1 == bytes.len() => break,
                    Some(b'\\') => i += 2,
                    Some(byte) => {
                        self.in_string = *byte != b'"';
                        i += 1;
                    }
                }
                if !self.in_string && self.depth == 0 {
                    return Some(self.pos + i);
                }
                continue;
            }
            match bytes[i] {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth <= 1 => {
                    return Some(self.pos + i + usize::from(self.depth == 1));
                }
                b'}' | b']' => self.depth -= 1,
                b',' if self.depth == 0 => return Some(self.pos + i),
                _ => {}
            }
            i += 1;
        }
        self.pos += i;
        None
    }
}

impl ContractEngine {
    pub(super) fn skip(&mut self, t: &StepInput<'_>) -> bool {
        let Phase::Skip(skip) = &mut self.phase else { return false };
        if skip.head.is_empty() {
            // A unit that is too large is longer than its snippet, or is the rest of the text.
            let head = t.w.from(skip.start);
            if head.len() < HEAD && !t.w.end {
                return false;
            }
            skip.head = head[..head.len().min(HEAD)].to_vec();
        }
        let end = skip.go(t.w.from(skip.pos));
        self.at = end.unwrap_or(skip.pos);
        if end.is_none() && !t.w.end {
            return false;
        }
        let end = end.unwrap_or(t.w.stop());
        let Phase::Skip(skip) = std::mem::replace(&mut self.phase, Phase::Top) else {
            return false;
        };
        self.phase = *skip.back;
        self.at = end;
        if let Some(Gone { list, index, start, reason, error }) = skip.gone {
            let head = &skip.head[..skip.head.len().min(end - start)];
            self.quarantine(list, index, Refusal { reason, error }, head, (start, end));
        }
        if matches!(self.phase, Phase::Top) {
            self.draft.truncated |= end == t.w.stop() && t.w.end && skip.depth > 0;
        }
        true
    }
}

//! A document that is one value: the whole text, apart from whitespace, reasoning and one fence
//! around it.
//!
//! A value has no name by which it could be recognised in prose, so the text may contain nothing
//! else.

use crate::draft::Draft;
use crate::engine::{Finished, TAGS};
use crate::input::Input;
use crate::judge::UnitJudge;
use crate::keep::Refusal;
use crate::marks::Marks;
use crate::outcome;
use crate::repair::{Leads, RepairOutcome, place, repair};
use crate::shape::PreparedContract;
use crate::tape::Tape;
use guard_plan::report::{Fix, QuarantineReason, SpanKind};
use std::ops::Range;

/// The number of bytes of a text that are read in addition to its longest value, for the prose
/// around it.
const AROUND: usize = 64 << 10;

/// The position of a value in the text, and the reason why it may not be meant.
struct FoundValue {
    at: Range<usize>,
    doubt: Option<&'static str>,
}

/// A value that was read.
struct ReadValue {
    /// The value as JSON, on the tape.
    text: Vec<u8>,
    len: usize,
    fixes: Vec<(Fix, usize)>,
    strict: bool,
    /// The positions of its scalars, if it is repaired.
    places: Vec<(usize, usize)>,
}

impl PreparedContract {
    /// Returns the number of bytes that are read of a text whose document is one value.
    pub fn whole_cap(&self) -> usize {
        let bytes = usize::try_from(self.contract.bounds.bytes).unwrap_or(usize::MAX);
        bytes.saturating_add(AROUND)
    }
}

/// Reads a whole text. `over` is true if the text continues.
pub(crate) fn read(p: &PreparedContract, text: &[u8], over: bool, input: &Input<'_>) -> Finished {
    let mut draft = Draft::new(p);
    let mut marks = Marks::default();
    let thought = reasoning(text);
    if thought > 0 {
        marks.cover(0, thought, SpanKind::Reasoning);
    }
    let mut tape = Tape::default();
    let found = locate(text, thought);
    let found = found.map(|found| (value(text, found.at.clone(), &mut tape), found));
    let mut cut = thought == text.len() && thought > 0;
    match found {
        _ if over => refused(
            &mut draft,
            QuarantineReason::Bounds,
            "the text is longer than the contract allows",
        ),
        None => refused(&mut draft, QuarantineReason::Malformed, "the text is not one JSON value"),
        Some((Err(true), _)) => {
            cut = true;
            refused(&mut draft, QuarantineReason::Truncated, "the text ends within its value");
        }
        Some((Err(false), _)) => {
            refused(&mut draft, QuarantineReason::Malformed, "the text is not one JSON value");
        }
        Some((Ok(value), found)) => {
            let start = found.at.start;
            marks.set(start, SpanKind::Envelope);
            marks.set(start + value.len, SpanKind::Text);
            draft.takes(start, start + value.len);
            take(p, &mut draft, (&tape, start, &value), input);
            let ended = input.finish_reason.and_then(outcome::finish) == Some(false);
            let number = matches!(value.text.first(), Some(b'-' | b'0'..=b'9'));
            if number && !ended && start + value.len == text.len() {
                draft
                    .doubt
                    .get_or_insert((start, "the number may have lost digits: nothing follows it"));
            }
            if !value.strict && value.text.first() == Some(&b'"') && value.text.contains(&b'\\') {
                draft.doubt.get_or_insert((start, "it is unclear which quotes delimit it"));
            }
            if let Some(why) = found.doubt {
                draft.doubt.get_or_insert((start, why));
            }
        }
    }
    (draft.envelope, draft.seen[0]) = (true, true);
    let length = text.len();
    Finished {
        draft: Some(draft),
        passed: vec![],
        marks,
        cut,
        leftover: None,
        prose: false,
        length,
    }
}

fn refused(draft: &mut Draft, reason: QuarantineReason, error: &str) {
    draft.problem("", reason, error);
}

/// Judges a value.
fn take(
    p: &PreparedContract,
    draft: &mut Draft,
    (tape, start, value): (&Tape, usize, &ReadValue),
    input: &Input<'_>,
) {
    let most = p.contract.bounds.bytes;
    let long = value.len as u64 > most;
    let judged = if long {
        let error = format!("it is longer than {most} bytes");
        Err(Refusal { reason: QuarantineReason::Bounds, error })
    } else {
        UnitJudge { prepared: p, input }.member(0, tape, &value.text)
    };
    value.fixes.iter().for_each(|(fix, at)| draft.fix(*fix, start + at));
    match judged {
        Ok((json, coerced)) => {
            let at = |spot| if value.strict { spot } else { place(&value.places, spot) };
            coerced.into_iter().for_each(|spot| draft.fix(Fix::Coercion, start + at(spot)));
            draft.members[0] = Some(json);
        }
        Err(Refusal { reason, error }) => draft.problem("", reason, error),
    }
}

/// Returns the end of the reasoning before the value.
fn reasoning(text: &[u8]) -> usize {
    let is = |at: usize, tag: &str| {
        text.get(at..at + tag.len()).is_some_and(|b| b.eq_ignore_ascii_case(tag.as_bytes()))
    };
    let find = |from: usize, tag: &str| (from..text.len()).find(|at| is(*at, tag));
    let mut end = 0;
    loop {
        let at = end + blanks(&text[end..]);
        match TAGS.iter().find(|tag| is(at, tag.0)) {
            Some(tag) => match find(at, tag.1) {
                Some(close) => end = close + tag.1.len(),
                None => return text.len(),
            },
            None => break,
        }
    }
    // A text that begins as a value contains no closing tag outside of its strings.
    let first = text.get(end + blanks(&text[end..]));
    if matches!(first, Some(b'"' | b'{' | b'[')) {
        return end;
    }
    let closes = |at: &usize| TAGS.iter().any(|tag| is(*at, tag.1));
    // A tag in a fence belongs to the value.
    let fences = |at: usize| {
        let lines = text[..at].split(|b| *b == b'\n');
        lines.filter(|line| line.trim_ascii_start().starts_with(b"```")).count()
    };
    match (end..text.len()).rev().find(closes).filter(|at| fences(*at) % 2 == 0) {
        // The opening tag is there, so the text before it is prose.
        Some(at) if (end..at).any(|at| TAGS.iter().any(|tag| is(at, tag.0))) => end,
        Some(at) => at + TAGS.iter().find(|tag| is(at, tag.1)).map_or(0, |tag| tag.1.len()),
        None => end,
    }
}

/// Returns the length of the whitespace, and of a byte order mark, at the beginning.
fn blanks(bytes: &[u8]) -> usize {
    let mark = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let rest = &bytes[mark..];
    mark + rest.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(rest.len())
}

/// Finds the value: all of the text from here on, or the content of its only fence.
fn locate(text: &[u8], from: usize) -> Option<FoundValue> {
    let blank = |range: Range<usize>| text[range].iter().all(u8::is_ascii_whitespace);
    let mut fences: Vec<Range<usize>> = Vec::new();
    let mut at = from;
    while at < text.len() {
        let end =
            text[at..].iter().position(|b| *b == b'\n').map_or(text.len(), |len| at + len + 1);
        if text[at..end].trim_ascii_start().starts_with(b"```") {
            fences.push(at..end);
        }
        at = end;
    }
    let trimmed = |range: Range<usize>, doubt| {
        let start = range.start + blanks(&text[range.clone()]);
        (start < range.end).then_some(FoundValue { at: start..range.end, doubt })
    };
    match &fences[..] {
        [] => trimmed(from..text.len(), None),
        [open] => trimmed(open.end..text.len(), Some("its fence is not closed")),
        [open, close] => {
            let alone = blank(from..open.start) && blank(close.end..text.len());
            let doubt = (!alone).then_some("there is prose besides the value");
            trimmed(open.end..close.start, doubt)
        }
        _ => None,
    }
}

/// Reads the value that is all of this part of the text. The error is true if the text ends within
/// the value.
fn value(text: &[u8], at: Range<usize>, tape: &mut Tape) -> Result<ReadValue, bool> {
    let ends = at.end == text.len();
    // The byte after a number shows that it has ended.
    let mut bytes = text[at].to_vec();
    bytes.push(b'\n');
    let blank = |len: usize| bytes[len..].iter().all(u8::is_ascii_whitespace);
    if let Ok(len) = tape.read(&bytes)
        && blank(len)
    {
        let text = bytes[..len].to_vec();
        let (fixes, places) = (Vec::new(), Vec::new());
        return Ok(ReadValue { text, len, fixes, strict: true, places });
    }
    let none = |_: &str| false;
    match repair(&bytes, true, &Leads { own: &none, sure: &none, partial: false }) {
        RepairOutcome::Done(done) if blank(done.len) && !done.cut && !done.hides => {
            match tape.read(&done.text) {
                Ok(len) if len == done.text.len() => Ok(ReadValue {
                    text: done.text,
                    len: done.len,
                    fixes: done.fixes,
                    strict: false,
                    places: done.places,
                }),
                _ => Err(false),
            }
        }
        RepairOutcome::Broken(broken) => Err(broken.cut && ends),
        _ => Err(false),
    }
}

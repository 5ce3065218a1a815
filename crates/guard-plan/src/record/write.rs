//! A direct writer of payloads as text, so that the record of a call costs little more than its
//! hash.
//!
//! The output is byte for byte that of `serde_json` for the same value, which a property test
//! checks. Rare parts are written by `serde_json`.

use super::{
    Answers, Approve, Asked, Change, Charge, ContractJudgement, Item, Ledger, Open, Prompt,
    Propose, Resume, Revoke, Settle, Snapshot, Stop, Upgrade, Usage,
};
use crate::json::Json;
use crate::verdict::{Reason, Verdict};
use serde::Serialize;

/// A payload that a record can have.
pub trait WritePayload {
    /// Appends the text of the payload.
    fn write_payload(&self, out: &mut Vec<u8>);
}

macro_rules! by_serde {
    ($($payload:ty),*) => {
        $(impl WritePayload for $payload {
            fn write_payload(&self, out: &mut Vec<u8>) {
                rare(self, out);
            }
        })*
    };
}

by_serde!(
    Open<'_>,
    Approve<'_>,
    Revoke<'_>,
    Usage<'_>,
    Resume<'_>,
    Prompt<'_>,
    Stop<'_>,
    Item<'_>,
    Answers<'_>,
    ContractJudgement<'_>,
    Snapshot<'_>,
    Upgrade<'_>,
    Ledger<'_>,
    str
);

impl<T: WritePayload + ?Sized> WritePayload for &T {
    fn write_payload(&self, out: &mut Vec<u8>) {
        (**self).write_payload(out);
    }
}

impl<T: WritePayload + ?Sized> WritePayload for Box<T> {
    fn write_payload(&self, out: &mut Vec<u8>) {
        (**self).write_payload(out);
    }
}

/// Appends a value that is too rare to have its own writer.
fn rare(value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    // INVARIANT: writing to memory does not fail, and all keys of a payload are strings.
    serde_json::to_writer(out, value).expect("a payload is plain data");
}

impl WritePayload for Propose<'_> {
    fn write_payload(&self, out: &mut Vec<u8>) {
        put(out, "{\"tool\":");
        string(&self.tool, out);
        put(out, ",\"args\":");
        json(&self.args, out);
        some_text(out, ",\"unreadable\":", self.unreadable.as_deref());
        put(out, ",\"verdict\":");
        verdict(&self.verdict, out);
        put(out, ",\"asked\":");
        list(&self.asked, out, asked);
        if let Some(served) = &self.served {
            put(out, ",\"served\":");
            json(served, out);
        }
        some_list(out, ",\"changes\":", &self.changes, change);
        some_count(out, ",\"learned\":", self.learned);
        some_count(out, ",\"forgotten\":", self.forgotten);
        if self.halted {
            put(out, ",\"halted\":true");
        }
        some_list(out, ",\"charged\":", &self.charged, charge);
        some_list(out, ",\"items\":", &self.items, rare);
        some_list(out, ",\"notes\":", &self.notes, rare);
        some_list(out, ",\"feedback\":", &self.feedback, rare);
        ending(out, self.rechecked, self.broken_proof.as_ref(), self.sealed.as_deref());
    }
}

impl WritePayload for Settle<'_> {
    fn write_payload(&self, out: &mut Vec<u8>) {
        put(out, "{\"success\":");
        put(out, truth(self.success));
        put(out, ",\"result\":");
        json(&self.result, out);
        some_text(out, ",\"unreadable\":", self.unreadable.as_deref());
        put(out, ",\"changes\":");
        list(&self.changes, out, change);
        put(out, ",\"learned\":");
        count(self.learned, out);
        put(out, ",\"notes\":");
        list(&self.notes, out, rare);
        put(out, ",\"halted\":");
        put(out, truth(self.halted));
        put(out, ",\"asked\":");
        list(&self.asked, out, asked);
        some_count(out, ",\"forgotten\":", self.forgotten);
        some_list(out, ",\"returned\":", &self.returned, charge);
        some_list(out, ",\"feedback\":", &self.feedback, rare);
        ending(out, self.rechecked, self.broken_proof.as_ref(), self.sealed.as_deref());
    }
}

fn verdict(verdict: &Verdict, out: &mut Vec<u8>) {
    put(out, "{\"decision\":\"");
    put(out, verdict.decision.as_str());
    put(out, "\",\"reasons\":");
    list(&verdict.reasons, out, reason);
    put(out, ",\"shadowed\":");
    list(&verdict.shadowed, out, reason);
    out.push(b'}');
}

fn reason(reason: &Reason, out: &mut Vec<u8>) {
    put(out, "{\"code\":\"");
    put(out, reason.code.as_str());
    put(out, "\",\"decision\":\"");
    put(out, reason.decision.as_str());
    put(out, "\",\"rule\":");
    string(&reason.rule, out);
    put(out, ",\"message\":");
    string(&reason.message, out);
    put(out, ",\"help\":");
    string(&reason.help, out);
    put(out, ",\"span\":");
    match &reason.span {
        Some(span) => string(span, out),
        None => put(out, "null"),
    }
    put(out, ",\"needs\":");
    list(&reason.needs, out, |need, out| string(need, out));
    put(out, ",\"values\":");
    list(&reason.values, out, |(label, value), out| {
        out.push(b'[');
        string(label, out);
        out.push(b',');
        string(value, out);
        out.push(b']');
    });
    out.push(b'}');
}

fn asked(asked: &Asked, out: &mut Vec<u8>) {
    match asked {
        Asked::Exists { path, answer } => {
            put(out, "{\"exists\":{\"path\":");
            string(path, out);
            put(out, ",\"answer\":");
            put(out, answer.map_or("null", truth));
            put(out, "}}");
        }
        Asked::Probe { name, answered, answer } => {
            put(out, "{\"probe\":{\"name\":");
            string(name, out);
            put(out, ",\"answered\":");
            put(out, truth(*answered));
            put(out, ",\"answer\":");
            json(answer, out);
            put(out, "}}");
        }
        other => rare(other, out),
    }
}

fn change(change: &Change, out: &mut Vec<u8>) {
    put(out, "{\"name\":");
    string(&change.name, out);
    put(out, ",\"before\":");
    json(&change.before, out);
    put(out, ",\"after\":");
    json(&change.after, out);
    out.push(b'}');
}

fn charge(charge: &Charge, out: &mut Vec<u8>) {
    put(out, "{\"unit\":");
    string(&charge.unit, out);
    put(out, ",\"amount\":");
    string(&charge.amount, out);
    out.push(b'}');
}

fn truth(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

pub(super) fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

fn list<T>(items: &[T], out: &mut Vec<u8>, write: impl Fn(&T, &mut Vec<u8>)) {
    out.push(b'[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}

/// Appends the last members of a proposal or a settlement.
fn ending(
    out: &mut Vec<u8>,
    rechecked: u64,
    broken: Option<&impl Serialize>,
    sealed: Option<&str>,
) {
    some_count(out, ",\"rechecked\":", rechecked);
    if let Some(broken) = broken {
        put(out, ",\"broken_proof\":");
        rare(broken, out);
    }
    some_text(out, ",\"sealed\":", sealed);
    out.push(b'}');
}

fn some_list<T>(out: &mut Vec<u8>, name: &str, items: &[T], write: impl Fn(&T, &mut Vec<u8>)) {
    if !items.is_empty() {
        put(out, name);
        list(items, out, write);
    }
}

fn some_text(out: &mut Vec<u8>, name: &str, text: Option<&str>) {
    if let Some(text) = text {
        put(out, name);
        string(text, out);
    }
}

fn some_count(out: &mut Vec<u8>, name: &str, number: u64) {
    if number > 0 {
        put(out, name);
        count(number, out);
    }
}

/// Appends a number.
pub(super) fn count(number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn json(json: &Json, out: &mut Vec<u8>) {
    match json {
        Json::Null => put(out, "null"),
        Json::Bool(value) => put(out, truth(*value)),
        Json::Int(number) => {
            if *number < 0 {
                out.push(b'-');
            }
            count(number.unsigned_abs(), out);
        }
        Json::Number(text) => put(out, text),
        Json::String(text) => string(text, out),
        Json::Array(items) => list(items, out, json_of),
        Json::Object(members) => {
            out.push(b'{');
            for (at, (name, value)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                string(name, out);
                out.push(b':');
                json_of(value, out);
            }
            out.push(b'}');
        }
    }
}

fn json_of(value: &Json, out: &mut Vec<u8>) {
    json(value, out);
}

/// Appends a string literal.
pub(super) fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = special(rest) {
        out.extend_from_slice(&rest[..at]);
        escape(rest[at], out);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

fn escape(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0C => b'f',
        other => {
            put(out, "\\u00");
            out.push(DIGITS[usize::from(other >> 4)]);
            return out.push(DIGITS[usize::from(other & 15)]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Returns the index of the first byte that a literal escapes. Eight bytes are processed together.
fn special(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let mut words = bytes.chunks_exact(8);
    let mut at = 0;
    for word in &mut words {
        let word = u64::from_ne_bytes(word.try_into().unwrap_or_default());
        // The high bit of a byte is set if it is below a bound, or zero, and its own high bit is
        // not set.
        let zero = |word: u64| word.wrapping_sub(ONES) & !word;
        let below = word.wrapping_sub(ONES * 0x20) & !word;
        let found =
            below | zero(word ^ (ONES * u64::from(b'"'))) | zero(word ^ (ONES * u64::from(b'\\')));
        if found & HIGH != 0 {
            break;
        }
        at += 8;
    }
    let is_special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    bytes[at..].iter().position(is_special).map(|place| at + place)
}

#[cfg(test)]
mod tests;

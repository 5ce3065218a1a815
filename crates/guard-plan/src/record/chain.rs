//! The hash chain: writing and verification.

use super::write::{count, put, string};
use super::{Kind, Record, WritePayload};
use crate::encode::Hash;
use crate::hex;
use crate::plan::Millis;
use crate::time::write_rfc3339;
use sha2::{Digest, Sha256};
use std::fmt;

/// The text before the hash of a line.
const HASH: &str = ",\"hash\":\"";

/// The number of hexadecimal digits of a hash.
const DIGITS: usize = 64;

/// Writes records, each chained to the previous one, into one reused buffer.
#[derive(Debug, Clone)]
pub struct Chain {
    seq: u64,
    prev: Hash,
    line: Vec<u8>,
    text: String,
}

impl Default for Chain {
    fn default() -> Self {
        Chain::from(0, [0; 32])
    }
}

impl Chain {
    /// Continues after a record, given the next sequence number and the hash of the last record.
    pub fn from(seq: u64, prev: Hash) -> Chain {
        Chain { seq, prev, line: Vec::new(), text: String::new() }
    }

    /// Returns the number of the next record.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns the hash of the last record.
    pub fn hash(&self) -> &Hash {
        &self.prev
    }

    /// Writes one record. The returned line has no line break.
    pub fn append(
        &mut self,
        time: Millis,
        kind: Kind,
        call: Option<&str>,
        payload: &(impl WritePayload + ?Sized),
    ) -> &[u8] {
        let line = &mut self.line;
        let text = &mut self.text;
        line.clear();
        put(line, "{\"seq\":");
        count(self.seq, line);
        put(line, ",\"time\":\"");
        text.clear();
        write_rfc3339(time, text);
        put(line, text);
        put(line, "\",\"kind\":\"");
        put(line, kind.word());
        line.push(b'"');
        if let Some(call) = call {
            put(line, ",\"call\":");
            string(call, line);
        }
        put(line, ",\"payload\":");
        payload.write_payload(line);
        put(line, ",\"prev\":\"");
        line.extend_from_slice(&hex::digits(&self.prev));
        line.push(b'"');
        self.prev = Sha256::digest(&line).into();
        put(line, HASH);
        line.extend_from_slice(&hex::digits(&self.prev));
        put(line, "\"}");
        self.seq = self.seq.saturating_add(1);
        &self.line
    }
}

/// The result of verifying an intact trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The number of records.
    pub records: u64,
    /// The hash of the last record.
    pub hash: Hash,
}

/// The first break of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainError {
    /// The line, from 1.
    pub line: u64,
    /// The problem.
    pub message: String,
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ChainError {}

/// Verifies a whole trace, given its lines without line breaks.
///
/// # Errors
///
/// Returns the first break.
pub fn verify_chain<'l>(lines: impl IntoIterator<Item = &'l str>) -> Result<Verified, ChainError> {
    let mut verified = Verified { records: 0, hash: [0; 32] };
    for line in lines {
        let fail = |message: String| ChainError { line: verified.records + 1, message };
        verified.hash = verify(line, verified.records, &verified.hash).map_err(fail)?;
        verified.records += 1;
    }
    Ok(verified)
}

/// Returns the hash of a line, after checking that it follows the one with hash `prev`.
fn verify(line: &str, seq: u64, prev: &Hash) -> Result<Hash, String> {
    let end = || line.len().checked_sub(HASH.len() + DIGITS + 2);
    let (body, tail) = end().and_then(|at| line.split_at_checked(at)).ok_or("it is cut")?;
    if !tail.starts_with(HASH) || !tail.ends_with("\"}") {
        return Err("it does not end with its hash".into());
    }
    // The hash comes before the parser, so that any changed byte is reported as a change.
    let hash: Hash = Sha256::digest(body.as_bytes()).into();
    if tail[HASH.len()..HASH.len() + DIGITS] != hex::encode(&hash) {
        return Err("it was changed: the hash does not match".into());
    }
    let record = Record::parse(line)?;
    if record.prev != hex::encode(prev) {
        return Err("it does not follow the record before it".into());
    }
    if record.seq != seq {
        return Err(format!("it has the number {}, not {seq}", record.seq));
    }
    Ok(hash)
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::*;
    use crate::json::Json;
    use crate::verdict::Verdict;
    use std::borrow::Cow;

    fn trace() -> Vec<String> {
        let mut chain = Chain::default();
        let resume = |by: &'static str| Resume { role: "boss".into(), by: by.into() };
        let args = Json::parse(r#"{"n": 1.50}"#).unwrap();
        let decision = crate::verdict::Decision::Allow;
        let verdict = Verdict { decision, reasons: vec![], shadowed: vec![] };
        let asked = vec![Asked::Probe { name: "p".into(), answered: true, answer: Json::Null }];
        let propose = Propose {
            asked: asked.into(),
            ..Propose::plain("a".into(), Cow::Borrowed(&args), Cow::Owned(verdict))
        };
        let mut lines = Vec::new();
        let mut keep = |line: &[u8]| lines.push(String::from_utf8(line.to_vec()).unwrap());
        keep(chain.append(0, Kind::Resume, None, &resume("ann")));
        keep(chain.append(1, Kind::Propose, Some("c\"1"), &propose));
        keep(chain.append(2, Kind::Resume, None, &resume("bob")));
        lines
    }

    fn check(lines: &[String], expected: &str) {
        let actual = match verify_chain(lines.iter().map(String::as_str)) {
            Ok(verified) => format!("{} records", verified.records),
            Err(error) => error.to_string(),
        };
        assert_eq!(actual, expected);
    }

    #[test]
    fn breaks_are_found_and_located() {
        let lines = trace();
        check(&lines, "3 records");
        let changed = lines[1].replace("1.50", "1.51");
        let changed = [lines[0].clone(), changed, lines[2].clone()];
        check(&changed, "line 2: it was changed: the hash does not match");
        let removed = [lines[0].clone(), lines[2].clone()];
        check(&removed, "line 2: it does not follow the record before it");
        let swapped = [lines[1].clone(), lines[0].clone()];
        check(&swapped, "line 1: it does not follow the record before it");
        check(&[lines[0][..20].into()], "line 1: it is cut");
        check(&[lines[0].replace("hash", "hush")], "line 1: it does not end with its hash");
    }

    #[test]
    fn records_are_read_back() {
        let record = Record::parse(&trace()[1]).unwrap();
        assert_eq!((record.seq, record.kind()), (1, Kind::Propose));
        assert_eq!(record.call.as_deref(), Some("c\"1"));
        let Payload::Propose(propose) = record.payload else { panic!("{record:?}") };
        assert_eq!(propose.args.to_string(), r#"{"n":1.50}"#);
    }
}

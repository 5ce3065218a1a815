//! The check of the trace of a run. The hash chain is recomputed, not trusted.

use super::RunJudge;
use guard_plan::hex;
use guard_plan::record::{Payload, Record, verify_chain};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The length of the end of a record: `,"prev":"…","hash":"…"}` with two hashes of 64 digits.
const TAIL: usize = 9 + 64 + 1 + 9 + 64 + 2;

/// Checks the trace, if the case has expectations of it.
pub fn judge(bench: &mut RunJudge) {
    let Some(expected) = &bench.run.expect.trace else { return };
    let trace = bench.seen.end.as_ref().and_then(|end| end.trace.as_deref());
    let Some(trace) = trace.filter(|trace| !trace.is_empty()) else {
        bench.own(None, "a trace is handed over", "there is none");
        return;
    };
    if let Err(error) = verify_chain(trace.iter().map(String::as_str)) {
        bench.breaks("KEEP-1", None, "the chain of the trace holds", error.to_string());
        return;
    }
    let records: Vec<Record> = trace.iter().filter_map(|line| Record::parse(line).ok()).collect();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for record in &records {
        let kind = serde_json::to_value(record.kind()).unwrap_or_default();
        *kinds.entry(kind.as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    for (kind, wanted) in &expected.kinds {
        let found = kinds.get(kind).copied().unwrap_or(0);
        if found != *wanted {
            bench.own(
                None,
                format!("the trace has {wanted} records `{kind}`"),
                format!("it has {found}"),
            );
        }
    }
    if let Some(wanted) = &expected.decisions {
        let found = decisions(&records);
        if *wanted != found {
            bench.own(
                None,
                format!("the verdicts on record are {}", wanted.join(", ")),
                format!("they are {}", found.join(", ")),
            );
        }
    }
    for text in &expected.has.0 {
        if !trace.iter().any(|line| line.contains(text.as_str())) {
            bench.own(None, format!("the trace contains {text:?}"), "it does not");
        }
    }
    for text in &expected.lacks.0 {
        if let Some(line) = trace.iter().position(|line| line.contains(text.as_str())) {
            bench.own(
                None,
                format!("the trace does not contain {text:?}"),
                format!("it does, in record {line}"),
            );
        }
    }
}

fn decisions(records: &[Record]) -> Vec<String> {
    let decisions = records.iter().filter_map(|record| match &record.payload {
        Payload::Propose(propose) => serde_json::to_value(propose.verdict.decision).ok(),
        _ => None,
    });
    decisions.map(|word| word.as_str().unwrap_or_default().to_owned()).collect()
}

/// Returns the trace with the decision of one record reversed and the hash chain recomputed; `None`
/// if that record has no decision.
pub fn tampered(trace: &[String], at: u64) -> Option<Vec<String>> {
    let mut trace = trace.to_vec();
    let line = trace.get_mut(usize::try_from(at).ok()?)?;
    let (body, tail) = line.split_at_checked(line.len().checked_sub(TAIL)?)?;
    *line = format!("{}{tail}", turned(body)?);
    Some(rechained(trace))
}

/// Returns records with their numbers and their hash chain recomputed: a trace that was changed by
/// an attacker who knows the format.
pub fn rechained(records: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut prev = "0".repeat(64);
    let numbered = (0_u64..).zip(records).map(|(number, line)| {
        let body = &line[..line.len().saturating_sub(TAIL)];
        let seq = Record::parse(&line).map_or(number, |record| record.seq);
        // The record's own number comes first, so its other members keep theirs.
        let body = body.replacen(&format!("\"seq\":{seq},"), &format!("\"seq\":{number},"), 1);
        let head = format!("{body},\"prev\":\"{prev}\"");
        prev = hex::encode(&Sha256::digest(head.as_bytes()));
        format!("{head},\"hash\":\"{prev}\"}}")
    });
    numbered.collect()
}

/// Reverses the first decision in a record, which is its verdict.
fn turned(body: &str) -> Option<String> {
    let deny = "\"decision\":\"deny\"";
    let allow = "\"decision\":\"allow\"";
    match (body.find(deny), body.find(allow)) {
        (Some(at), other) if other.is_none_or(|other| at < other) => {
            Some(body.replacen(deny, allow, 1))
        }
        (_, Some(_)) => Some(body.replacen(allow, deny, 1)),
        _ => None,
    }
}

//! Tests that every change of a trace is found, at the position of the change.

use crate::lines;
use guard_plan::record::Chain;
use guard_trace::checkpoint::{Checkpoint, CheckpointEntry, CheckpointError, InclusionProof};
use guard_trace::line::LineFields;
use guard_trace::sign::SigningKey;
use guard_trace::store::{Commit, Committed, MemoryStore, SessionSnapshot, Store};
use guard_trace::verify::{self, Against, VerifiedTrace, Watch};

const RECORDS: usize = 40;

fn trace() -> Vec<String> {
    let mut chain = Chain::default();
    (0..RECORDS).map(|n| lines::resume(&mut chain, &format!("ann {n}"))).collect()
}

fn bytes(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

fn verified(bytes: &[u8], against: &Against) -> VerifiedTrace {
    let one = verify::reader(&mut &bytes[..], against, 1, &Watch::default()).unwrap();
    let two = verify::reader(&mut &bytes[..], against, 3, &Watch::default()).unwrap();
    assert_eq!(one, two, "threads find the same");
    one
}

/// Returns the findings as text: `line 3: record 2 was changed: its hash is another`.
fn findings(verified: &VerifiedTrace) -> Vec<String> {
    let word = |line: Option<u64>| line.map_or("end".into(), |line| format!("line {line}"));
    verified.findings.iter().map(|it| format!("{}: {it}", word(it.line))).collect()
}

fn check(lines: &[String], expected: &[&str]) {
    let found = findings(&verified(&bytes(lines), &Against::default()));
    assert_eq!(found, expected);
}

/// Returns the trace after an edit.
fn with(edit: impl FnOnce(&mut Vec<String>)) -> Vec<String> {
    let mut lines = trace();
    edit(&mut lines);
    lines
}

/// Returns a replacement for a record, by an attacker who can compute hashes.
fn forged(lines: &[String], at: usize) -> String {
    let before = LineFields::read(lines[at - 1].as_bytes()).unwrap();
    lines::after(at as u64, before.hash, &["mallory"]).remove(0)
}

fn entry() -> CheckpointEntry {
    let against = Against { tree: true, session: Some("s1".into()), ..Against::default() };
    verified(&bytes(&trace()), &against).entry.unwrap()
}

#[test]
fn nothing_is_found_where_nothing_was_done() {
    check(&trace(), &[]);
    check(&[], &["end: there is no record, and every session begins with one"]);
    let sound = verified(&bytes(&trace()), &Against::default());
    assert_eq!((sound.records, sound.head.version), (RECORDS as u64, RECORDS as u64));
    assert_eq!(sound.bytes, bytes(&trace()).len() as u64);
    assert!(sound.is_sound());
}

/// A line beyond every limit is reported as such, although reading ends there.
#[test]
fn a_line_that_is_too_long() {
    let mut long = bytes(&trace()[..2]);
    long.resize(long.len() + (66 << 20), b'x');
    long.push(b'\n');
    long.extend(bytes(&trace()[2..]));
    let found = findings(&verified(&long, &Against::default()));
    assert_eq!(found, ["line 3: the line is longer than 64 MiB; the text after it was not read"]);
}

#[test]
fn changes() {
    let changed = with(|lines| lines[7] = lines[7].replace("ann 7", "ann 8"));
    check(&changed, &["line 8: record 7 was changed: the hash does not match"]);
    let changed = with(|lines| lines[39] = lines[39].replace("boss", "bosh"));
    check(&changed, &["line 40: record 39 was changed: the hash does not match"]);
    let two = with(|lines| {
        lines[0] = lines[0].replace("ann", "amy");
        lines[20] = lines[20].replace("ann", "amy");
    });
    check(
        &two,
        &[
            "line 1: record 0 was changed: the hash does not match",
            "line 21: record 20 was changed: the hash does not match",
        ],
    );
}

#[test]
fn changes_that_are_hashed_again() {
    let replaced = with(|lines| lines[7] = forged(lines, 7));
    check(&replaced, &["line 9: record 7 was replaced: record 8 follows another one"]);
    // Only a checkpoint detects an attacker who also recomputes all following hashes.
    let mut forked = trace();
    let before = LineFields::read(forked[29].as_bytes()).unwrap().hash;
    forked.truncate(30);
    forked.extend(lines::after(30, before, &["eve"; 10]));
    check(&forked, &[]);
    let against = Against { entry: Some(entry()), ..Against::default() };
    assert_eq!(
        findings(&verified(&bytes(&forked), &against)),
        ["line 40: record 39 differs from the one in the checkpoint"]
    );
}

#[test]
fn removals() {
    let one = with(|lines| drop(lines.remove(12)));
    check(&one, &["line 13: record 12 is missing before this line"]);
    let some = with(|lines| drop(lines.drain(5..9)));
    check(&some, &["line 6: records 5 to 8 are missing before this line"]);
    let first = with(|lines| drop(lines.remove(0)));
    check(&first, &["line 1: the trace begins with record 1, which is not a snapshot"]);
    let after_a_change = with(|lines| {
        lines[4] = lines[4].replace("ann", "amy");
        lines.remove(5);
    });
    check(
        &after_a_change,
        &[
            "line 5: record 4 was changed: the hash does not match",
            "line 6: record 5 is missing before this line",
        ],
    );
}

#[test]
fn insertions() {
    let again = with(|lines| lines.insert(9, lines[8].clone()));
    check(&again, &["line 10: record 8 appears twice: one was inserted"]);
    let old = with(|lines| lines.insert(9, lines[2].clone()));
    check(&old, &["line 10: record 2 does not belong here: it was moved or inserted"]);
    let forged_one = with(|lines| lines.insert(9, forged(lines, 9)));
    check(&forged_one, &["line 11: record 9 appears twice: one was inserted"]);
    let foreign = lines::after(55, [3; 32], &["eve", "eve"]);
    let one = with(|lines| lines.insert(9, foreign[0].clone()));
    check(&one, &["line 10: record 55 does not belong here: it was moved or inserted"]);
    let two = with(|lines| drop(lines.splice(9..9, foreign.clone())));
    check(&two, &["line 10: record 55 does not belong here: it was moved or inserted"]);
    let same_number = lines::after(9, [3; 32], &["eve"]).remove(0);
    let one = with(|lines| lines.insert(9, same_number));
    check(&one, &["line 10: record 9 does not belong here: it was moved or inserted"]);
    let junk = with(|lines| lines.insert(9, "junk".into()));
    check(&junk, &["line 10: the line is cut, or no record of a trace"]);
}

#[test]
fn reorderings() {
    let neighbours = with(|lines| lines.swap(6, 7));
    check(
        &neighbours,
        &[
            "line 7: record 6 is missing before this line",
            "line 8: record 6 does not belong here: it was moved or inserted",
        ],
    );
    let far = with(|lines| {
        let line = lines.remove(6);
        lines.insert(30, line);
    });
    check(
        &far,
        &[
            "line 7: record 6 is missing before this line",
            "line 31: record 6 does not belong here: it was moved or inserted",
        ],
    );
}

#[test]
fn cuts() {
    let all = bytes(&trace());
    let torn = verified(&all[..all.len() - 20], &Against::default());
    assert_eq!(findings(&torn), ["line 40: the last line is cut: it has no end"]);
    let whole = verified(&all[..all.len() - 1], &Against::default());
    assert_eq!(findings(&whole), ["line 40: the last line is cut: it has no end"]);
    let middle = with(|lines| lines[10].truncate(50));
    check(&middle, &["line 11: the line is cut, or no record of a trace"]);
    let joined = with(|lines| {
        let next = lines.remove(11);
        lines[10].push_str(&next);
    });
    let found = findings(&verified(&bytes(&joined), &Against::default()));
    assert!(found[0].starts_with("line 11: "), "{found:?}");
}

#[test]
fn cut_tails_are_found_by_checkpoints() {
    let against = Against { entry: Some(entry()), ..Against::default() };
    assert!(verified(&bytes(&trace()), &against).is_sound());
    let longer = with(|lines| {
        let last = LineFields::read(lines[39].as_bytes()).unwrap().hash;
        lines.extend(lines::after(40, last, &["bob"]));
    });
    assert!(verified(&bytes(&longer), &against).is_sound());
    for left in [0, 1, 39] {
        let cut = with(|lines| lines.truncate(left));
        let found = findings(&verified(&bytes(&cut), &against));
        assert_eq!(found, ["end: the trace was cut: the checkpoint contains record 39"]);
    }
    let root = CheckpointEntry { root: entry().head, ..entry() };
    let against = Against { entry: Some(root), ..Against::default() };
    assert_eq!(
        findings(&verified(&bytes(&trace()), &against)),
        ["line 40: the checkpoint has another root for the records up to 39"]
    );
}

#[test]
fn replaced_files_are_found_by_signed_checkpoints() {
    let key = SigningKey::new([1; 32]);
    let signed = Checkpoint::new(vec![entry()], Some(&key)).unwrap();
    let text = serde_json::to_string(&signed).unwrap();
    let read = Checkpoint::parse(&text).unwrap();
    assert_eq!(read.signed_by(&key.public()), Ok(()));
    let other = SigningKey::new([2; 32]).public();
    assert!(matches!(read.signed_by(&other), Err(CheckpointError::Stranger(_))));
    // An attacker who replaces the file and the checkpoint cannot sign.
    let mine = Checkpoint::new(vec![entry()], Some(&SigningKey::new([2; 32]))).unwrap();
    assert!(matches!(mine.signed_by(&key.public()), Err(CheckpointError::Stranger(_))));
    let none = Checkpoint::new(vec![entry()], None).unwrap();
    assert_eq!(none.signed_by(&key.public()), Err(CheckpointError::Unsigned));
    for (from, to) in [("\"records\":40", "\"records\":39"), ("\"s1\"", "\"s2\"")] {
        assert_eq!(Checkpoint::parse(&text.replace(from, to)), Err(CheckpointError::Root));
    }
    let key_of_another = text.replace(&key.public().to_string(), &other.to_string());
    assert_eq!(Checkpoint::parse(&key_of_another), Err(CheckpointError::Signature));
}

#[test]
fn single_records_are_proved() {
    let key = SigningKey::new([1; 32]);
    let others = ["s0", "s2"].map(|session| CheckpointEntry { session: session.into(), ..entry() });
    let sessions = [&others[..], &[entry()]].concat();
    let checkpoint = Checkpoint::new(sessions, Some(&key)).unwrap();
    let lines = trace();
    let hashes = || lines.iter().map(|line| LineFields::read(line.as_bytes()).unwrap().hash);
    for (seq, line) in lines.iter().enumerate() {
        let proof = checkpoint.prove("s1", line, hashes()).unwrap();
        let text = serde_json::to_string(&proof).unwrap();
        let read = InclusionProof::parse(&text).unwrap();
        assert_eq!((&read, read.seq()), (&proof, Some(seq as u64)));
        assert_eq!(read.signed_by(&key.public()), Ok(()));
        assert_eq!(read.belongs(&checkpoint), Ok(()));
        assert!(text.len() < 4000, "it stays short");
    }
    assert!(checkpoint.prove("s1", &forged(&lines, 7), hashes()).is_err());
    assert!(checkpoint.prove("s9", &lines[0], hashes()).is_err());
    assert!(checkpoint.prove("s1", &lines[0], hashes().skip(1)).is_err());
    let proof = checkpoint.prove("s1", &lines[7], hashes()).unwrap();
    let lies = [
        InclusionProof { record: lines[8].clone(), ..proof.clone() },
        InclusionProof { record: forged(&lines, 7), ..proof.clone() },
        InclusionProof { index: 0, ..proof.clone() },
        InclusionProof { sessions: 4, ..proof.clone() },
        InclusionProof { path: proof.path[1..].to_vec(), ..proof.clone() },
        InclusionProof { anchor: vec![], ..proof.clone() },
        InclusionProof { root: proof.entry.root.clone(), ..proof.clone() },
        InclusionProof { entry: others[0].clone(), ..proof.clone() },
        InclusionProof { version: 2, ..proof.clone() },
    ];
    for (n, lie) in lies.iter().enumerate() {
        assert!(InclusionProof::parse(&serde_json::to_string(lie).unwrap()).is_err(), "lie {n}");
    }
}

#[test]
fn compacted_traces_verify() {
    let mut chain = Chain::default();
    let mut all: Vec<String> = (0..5).map(|n| lines::resume(&mut chain, &n.to_string())).collect();
    let seen = |lines: &[String]| {
        let against = Against { tree: true, session: Some("s".into()), ..Against::default() };
        verified(&bytes(lines), &against).entry
    };
    let [early, before] = [seen(&all[..3]), seen(&all)];
    all.push(lines::snapshot(&mut chain));
    all.push(lines::resume(&mut chain, "after"));
    let late = seen(&all);
    let rest = &all[5..];
    let held = |entry: Option<CheckpointEntry>| {
        findings(&verified(&bytes(rest), &Against { entry, ..Against::default() }))
    };
    assert_eq!(held(None), [""; 0]);
    assert_eq!(held(before.clone()), [""; 0]);
    assert_eq!(held(late), [""; 0]);
    assert_eq!(
        held(early.clone()),
        [
            "line 1: the checkpoint ends with record 2, which a snapshot has replaced: nothing can be compared"
        ]
    );
    let wrong = before.map(|entry| CheckpointEntry { head: early.unwrap().head, ..entry });
    assert_eq!(held(wrong), ["line 1: record 4 differs from the one in the checkpoint"]);
    let mut gone = rest.to_vec();
    gone.remove(0);
    check(&gone, &["line 1: the trace begins with record 6, which is not a snapshot"]);
}

#[test]
fn traces_of_other_sessions_and_wrong_snapshots() {
    let mut chain = Chain::from(3, [4; 32]);
    let named = [lines::snapshot(&mut chain)];
    let against = |id: &str| Against { session: Some(id.into()), ..Against::default() };
    assert!(verified(&bytes(&named), &against("s")).is_sound());
    assert_eq!(
        findings(&verified(&bytes(&named), &against("t"))),
        ["line 1: it belongs to another session, `s`"]
    );
    let head = |at: usize| LineFields::read(trace()[at].as_bytes()).unwrap().hash;
    let snapshot = |version, hash, distrusted| Against {
        snapshot: Some(SessionSnapshot { version, hash, bytes: vec![] }),
        distrusted,
        ..Against::default()
    };
    let found = |against| findings(&verified(&bytes(&trace()), &against));
    assert_eq!(found(snapshot(5, head(4), false)), [""; 0]);
    assert_eq!(found(snapshot(5, head(5), false)), ["line 5: the stored snapshot was changed"]);
    assert_eq!(found(snapshot(99, head(5), false)), ["end: the stored snapshot was changed"]);
    let distrusted = Against { distrusted: true, ..Against::default() };
    assert_eq!(found(distrusted), ["end: the stored snapshot was changed"]);
}

#[test]
fn stores_are_verified() {
    let store = MemoryStore::new();
    let lines = trace();
    let records: Vec<&str> = lines.iter().map(String::as_str).collect();
    let commit = Commit { records: &records, ..Commit::default() };
    assert!(matches!(store.commit("s1", &commit).unwrap(), Committed::Yes(_)));
    let against = Against { entry: Some(entry()), ..Against::default() };
    let found = verify::stored(&store, "s1", &against, 2, &Watch::default()).unwrap();
    assert!(found.is_sound(), "{found:?}");
    assert_eq!(found.records, RECORDS as u64);
    let nothing = verify::stored(&store, "s2", &against, 2, &Watch::default()).unwrap();
    assert_eq!(findings(&nothing), ["end: the trace was cut: the checkpoint contains record 39"]);
}

#[test]
fn many_findings_take_no_more_room() {
    let lines: Vec<String> = (0..1000).map(|_| "junk".to_owned()).collect();
    let found = verified(&bytes(&lines), &Against::default());
    assert_eq!((found.findings.len(), found.more), (verify::MAX_FINDINGS, 950));
}

/// Every change of one bit is found in the changed record, or in its neighbour.
#[test]
fn every_bit_counts() {
    let all = bytes(&trace()[..4]);
    let mut line = 1;
    for at in 0..all.len() {
        for bit in 0..8 {
            let mut other = all.clone();
            other[at] ^= 1 << bit;
            let found = verified_quickly(&other);
            let first = found.findings.first().unwrap_or_else(|| panic!("byte {at}, bit {bit}"));
            let there = first.line.unwrap_or(line);
            assert!(there >= line && there <= line + 1, "byte {at}, bit {bit}: {first:?}");
        }
        line += u64::from(all[at] == b'\n');
    }
}

fn verified_quickly(bytes: &[u8]) -> VerifiedTrace {
    verify::reader(&mut &bytes[..], &Against::default(), 1, &Watch::default()).unwrap()
}

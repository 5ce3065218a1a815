//! Tests with killed processes, many processes, and failing disks: no acknowledged record is lost,
//! every store opens, and every chain verifies.
//!
//! `GUARD_KILLS=1000` increases the number of kills; `GUARD_FAULTS=1` tries every point at which a
//! disk can fail.

use crate::child::{Acks, Heard, Kind, command};
use crate::lines;
use guard_plan::random::Rng;
use guard_trace::line::LineFields;
use guard_trace::store::{Commit, Committed, Durability, SqliteStore, Store, StoreError};
use guard_trace::verify::{self, Against, Watch};
use std::path::Path;
use std::process::{Command, Stdio};

/// Checks that a store opens, holds the acknowledged records, and verifies. Returns the number of its records.
fn holds(kind: Kind, folder: &Path, acks: &Acks) -> u64 {
    let store = kind.open(folder).unwrap();
    for (id, (version, hash)) in acks {
        let record = store.records(id, version - 1).unwrap().next();
        let record = record.unwrap_or_else(|| panic!("record {version} of {id} is lost")).unwrap();
        let line = LineFields::read(record.as_bytes()).unwrap();
        assert_eq!((line.seq + 1, &guard_plan::hex::encode(&line.hash)), (*version, hash));
    }
    let mut records = 0;
    for id in store.sessions().unwrap() {
        let (snapshot, distrusted) = store.snapshot(&id).unwrap();
        // A folder's snapshot is written after its records, so it may be missing, but it is never
        // wrong.
        let against = Against { snapshot, distrusted, ..Against::default() };
        let found = verify::stored(&*store, &id, &against, 1, &Watch::default()).unwrap();
        assert!(found.is_sound(), "{kind:?} {id}: {found:?}");
        assert_eq!(store.begin(&id).unwrap().head, found.head);
        records += found.records;
    }
    records
}

fn often(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|often| often.parse().ok()).unwrap_or(usual)
}

fn killed(kind: Kind, seed: u64) {
    let kills = often("GUARD_KILLS", 12);
    let folder = tempfile::tempdir().unwrap();
    let mut random = Rng::new(seed);
    let mut acks = Acks::new();
    let mut records = 0;
    for _ in 0..kills {
        let mut child = command("write", kind, folder.path(), "-", 8).spawn().unwrap();
        let mut heard = Heard::new(&mut child);
        heard.listen(random.below(120) as u64);
        child.kill().unwrap();
        // The output that is still in the pipe was acknowledged, too.
        heard.listen(u64::MAX);
        child.wait().unwrap();
        acks.extend(heard.acks);
        records = holds(kind, folder.path(), &acks);
    }
    let known: u64 = acks.values().map(|(version, _)| version).sum();
    println!("{kind:?}: {kills} kills, {known} records acknowledged, {records} kept");
    assert!(records >= known && acks.len() == 8);
}

#[test]
fn killed_with_a_folder() {
    killed(Kind::Folder, 1);
}

#[test]
fn killed_with_a_database() {
    killed(Kind::Full, 2);
}

#[test]
fn killed_with_a_database_in_batches() {
    killed(Kind::Batch, 3);
}

#[test]
fn killed_with_a_database_that_is_not_synchronised() {
    killed(Kind::Off, 4);
}

/// Runs thirty processes at once. Returns the final version of each session.
fn thirty(kind: Kind, count: u64, id: impl Fn(usize) -> String) -> (tempfile::TempDir, Acks) {
    let folder = tempfile::tempdir().unwrap();
    let start = |n| command("contend", kind, folder.path(), &id(n), count).spawn().unwrap();
    let mut children: Vec<_> = (0..30).map(start).collect();
    let mut acks = Acks::new();
    for child in &mut children {
        let mut heard = Heard::new(child);
        heard.listen(u64::MAX);
        assert!(child.wait().unwrap().success(), "{:?}", heard.said);
        for (id, ack) in heard.acks {
            let last = acks.entry(id).or_insert_with(|| ack.clone());
            if ack.0 > last.0 {
                *last = ack;
            }
        }
    }
    holds(kind, folder.path(), &acks);
    (folder, acks)
}

#[test]
fn thirty_processes_on_one_session() {
    let (_folder, acks) = thirty(Kind::Full, 4, |_| "s".into());
    assert_eq!(acks["s"].0, 120, "nothing is lost, nothing merged");
}

#[test]
fn thirty_processes_on_thirty_sessions() {
    for kind in [Kind::Folder, Kind::Full, Kind::Batch] {
        let (_folder, acks) = thirty(kind, 3, |n| format!("s{n}"));
        assert_eq!(acks.len(), 30);
        assert!(acks.values().all(|(version, _)| *version == 3));
    }
}

/// Returns the library that simulates a failing disk; none if it cannot be built.
#[cfg(target_os = "linux")]
fn failing_disk(folder: &Path) -> std::path::PathBuf {
    let library = folder.join("faults.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/main/faults.c");
    let mut build = Command::new("cc");
    build.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl");
    assert!(build.status().unwrap().success(), "the C compiler that builds SQLite builds this too");
    library
}

#[test]
#[cfg(target_os = "linux")]
fn disks_fail() {
    let tools = tempfile::tempdir().unwrap();
    let library = failing_disk(tools.path());
    let (step, most) = if often("GUARD_FAULTS", 0) > 0 { (1, 150) } else { (11, 60) };
    for kind in Kind::DURABLE {
        let mut failures = std::collections::BTreeMap::<String, u64>::new();
        for fault in ["full", "write", "short", "sync"] {
            for at in (1..most).step_by(step) {
                for said in fails(kind, &library, fault, at) {
                    let word = said.split(['(', ' ', '{']).take(2).collect::<Vec<_>>().join(" ");
                    *failures.entry(word).or_default() += 1;
                }
            }
        }
        println!("{kind:?}: {failures:?}");
        assert!(failures.keys().any(|word| word.starts_with("failed")), "{failures:?}");
        assert!(!failures.contains_key("nothing failed"), "{failures:?}");
    }
}

/// Runs a process whose disk fails at one point, and returns its output. Afterwards the disk works
/// again.
#[cfg(target_os = "linux")]
fn fails(kind: Kind, library: &Path, fault: &str, at: usize) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command("fail", kind, folder.path(), "s", 0);
    child.env("LD_PRELOAD", library).env("FAULT_KIND", fault).env("FAULT_AT", at.to_string());
    child.env("FAULT_UNDER", folder.path().canonicalize().unwrap()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let mut heard = Heard::new(&mut child);
    heard.listen(u64::MAX);
    let output = child.wait_with_output().unwrap();
    let told = format!("{kind:?} {fault} {at}: {:?}", heard.said);
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    let said = |word: &str| heard.said.iter().any(|line| line.starts_with(word));
    assert!(!said("failed") || said("readable"), "{told}");
    if kind == Kind::Folder && !folder.path().join("s.jsonl").exists() {
        return heard.said;
    }
    holds(kind, folder.path(), &heard.acks);
    heard.said.into_iter().filter(|line| !line.is_empty() && !line.contains("test")).collect()
}

fn filled(folder: &Path, records: usize) -> Vec<String> {
    let store = Kind::Off.open(folder).unwrap();
    let names: Vec<String> = (0..records).map(|n| format!("somebody number {n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let all = lines::first(&names);
    let records: Vec<&str> = all.iter().map(String::as_str).collect();
    let commit = Commit { records: &records, snapshot: Some(b"remembered"), ..Commit::default() };
    assert!(matches!(store.commit("s", &commit).unwrap(), Committed::Yes(_)));
    all
}

/// A flipped bit is detected if it changes a record, and causes no panic anywhere.
#[test]
fn bits_flip_in_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let all = filled(folder.path(), 200);
    let path = folder.path().join("traces.db");
    let good = std::fs::read(&path).unwrap();
    assert!(!folder.path().join("traces.db-wal").exists(), "all of it is in one file");
    let mut random = Rng::new(5);
    let mut unopened = 0;
    let mut found = 0;
    let mut harmless = 0;
    for _ in 0..often("GUARD_FLIPS", 300) {
        let at = random.below(good.len());
        let mut bad = good.clone();
        bad[at] ^= 1 << random.below(8);
        std::fs::write(&path, &bad).unwrap();
        match looked_at(&path, &all) {
            Err(
                StoreError::Damaged { .. } | StoreError::NoStore(_) | StoreError::Version { .. },
            ) => {
                unopened += 1;
            }
            Err(StoreError::Io(..) | StoreError::Locked(_)) => unopened += 1,
            Err(other) => panic!("byte {at}: {other}"),
            Ok(true) => harmless += 1,
            Ok(false) => found += 1,
        }
        for beside in ["traces.db-wal", "traces.db-shm"] {
            let _ = std::fs::remove_file(folder.path().join(beside));
        }
    }
    println!("{unopened} not opened, {found} found, {harmless} harmless");
    assert!(unopened > 0 && found > 0);
}

/// Returns true if the store is unchanged. Checks that verification reports any change.
fn looked_at(path: &Path, all: &[String]) -> Result<bool, StoreError> {
    let keys = Some(guard_trace::Keys::new([7; 32]));
    let store = SqliteStore::open_existing(path, Durability::Full, keys)?;
    let ids = store.sessions()?;
    let read: Vec<String> = store.records("s", 0)?.collect::<Result<_, _>>()?;
    let (snapshot, distrusted) = store.snapshot("s")?;
    let remembered = snapshot.as_ref().map(|it| it.bytes.clone());
    let same = ids == ["s"] && read == all && remembered.as_deref() == Some(b"remembered");
    let entry = {
        let text: Vec<u8> = all.iter().flat_map(|it| [it.as_bytes(), b"\n"].concat()).collect();
        let against = Against { tree: true, session: Some("s".into()), ..Against::default() };
        verify::reader(&mut &text[..], &against, 1, &Watch::default()).unwrap().entry
    };
    let against = Against { snapshot, distrusted, entry, ..Against::default() };
    let verified = verify::stored(&store, "s", &against, 1, &Watch::default())?;
    assert!(same || !verified.is_sound() || ids != ["s"] || remembered.is_none(), "{verified:?}");
    Ok(same && verified.is_sound())
}

#[test]
fn stores_of_other_versions_and_other_files() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), 3);
    let path = folder.path().join("traces.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 9).unwrap();
    drop(connection);
    let open = |path: &Path| SqliteStore::open(path, Durability::Full, None).map(|_| ());
    let error = open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Version { found: 9, .. }), "{error:?}");
    assert!(
        error.to_string().ends_with("is a store of version 9; this Guard reads version 2"),
        "{error}"
    );
    let other = folder.path().join("other.db");
    let connection = rusqlite::Connection::open(&other).unwrap();
    connection.execute_batch("CREATE TABLE t (x)").unwrap();
    drop(connection);
    assert!(matches!(open(&other), Err(StoreError::NoStore(_))));
    let text = folder.path().join("text.db");
    std::fs::write(&text, "no database, but long enough to be taken for one\n".repeat(20)).unwrap();
    assert!(matches!(open(&text), Err(StoreError::NoStore(_))));
    let missing = folder.path().join("missing.db");
    let error = SqliteStore::open_existing(&missing, Durability::Full, None).map(|_| ());
    assert!(matches!(error, Err(StoreError::Io(..))), "{error:?}");
    assert!(!missing.exists(), "nothing is made");
}

#[test]
fn snapshots_that_were_changed_are_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let all = filled(folder.path(), 3);
    let path = folder.path().join("traces.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("UPDATE snapshot SET bytes = x'00'", []).unwrap();
    drop(connection);
    let begun = Kind::Full.open(folder.path()).unwrap().begin("s").unwrap();
    assert!(begun.distrusted && begun.snapshot.is_none());
    assert_eq!(begun.records, all, "the session is taken up from its records");
    let keys = Some(guard_trace::Keys::new([8; 32]));
    let other = SqliteStore::open(&path, Durability::Full, keys).unwrap();
    assert!(other.begin("s").unwrap().distrusted, "another key");
}

#[test]
fn torn_tails_are_cut_and_damage_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let all = lines::first(&["ann", "bob"]);
    let torn = format!("{}\n{}", all[0], &all[1][..30]);
    let store = Kind::Folder.open(folder.path()).unwrap();
    store.begin("other").unwrap();
    std::fs::write(&path, &torn).unwrap();
    assert_eq!(store.begin("s").unwrap().records, all[..1]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{}\n", all[0]));
    store.release("s");
    std::fs::write(&path, format!("{}\n{}\n", all[0], all[1].replace("bob", "bop"))).unwrap();
    match store.begin("s") {
        Err(StoreError::Damaged { record: Some(1), why, .. }) => {
            assert_eq!(why, "it was changed: the hash does not match");
        }
        other => panic!("{other:?}"),
    }
}

/// Verification finds tampering with the rows of a database, as it does in a file.
#[test]
fn rows_are_tampered_with() {
    let check = |sql: &str, expected: &str| {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path(), 600);
        let path = folder.path().join("traces.db");
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch(sql).unwrap();
        drop(connection);
        let store = Kind::Full.open(folder.path()).unwrap();
        let (snapshot, distrusted) = store.snapshot("s").unwrap();
        let against = Against { snapshot, distrusted, ..Against::default() };
        let found = verify::stored(&*store, "s", &against, 2, &Watch::default()).unwrap();
        let found: Vec<String> = found.findings.iter().map(ToString::to_string).collect();
        assert_eq!(found.join("; "), expected, "{sql}");
    };
    // The first session is the ledger.
    let row = |n: u64| (2_u64 << 32) + n;
    check("", "");
    check(
        &format!("DELETE FROM record WHERE place = {}", row(300)),
        "record 300 is missing before this line",
    );
    check(
        &format!("DELETE FROM record WHERE place = {}", row(599)),
        "the stored snapshot was changed; the store names record 599 as the last one, but it is not",
    );
    check(
        &format!(
            "UPDATE record SET line = replace(line, 'number', 'umber') WHERE place = {}",
            row(7)
        ),
        "record 7 was changed: the hash does not match",
    );
    check(
        &format!(
            "INSERT INTO record SELECT {}, line FROM record WHERE place = {}",
            row(600),
            row(7)
        ),
        "the store names record 599 as the last one, but it is not",
    );
    check(
        "UPDATE session SET version = 500",
        "the stored snapshot was changed; the store names record 499 as the last one, but it is not",
    );
    check("UPDATE snapshot SET version = 20", "the stored snapshot was changed");
}

//! Tests of changes between runs: a mark reveals a chain that was cut to a prefix, or replaced by
//! an older copy.

use crate::child::Kind;
use crate::lines;
use guard_trace::store::{Commit, Committed, SharedCharge, Store, StoreError};
use std::fs;
use std::path::{Path, PathBuf};

const KINDS: [Kind; 4] = [Kind::Folder, Kind::Full, Kind::Batch, Kind::Off];

const RECORDS: u64 = 5;

/// Commits the next record of a session, with a charge.
fn commit(store: &dyn Store, session: &str) -> Result<Committed, StoreError> {
    let head = store.begin(session)?.head;
    let next = lines::after(head.version, head.hash, &["ann"]);
    let charges = [SharedCharge { key: "team", amount: 1, limit: 100 }];
    let records = &[&*next[0]];
    let commit = Commit { version: head.version, records, snapshot: None, charges: &charges };
    store.commit(session, &commit)
}

/// Returns the files that contain the records, without marks and key.
fn files(folder: &Path) -> Vec<PathBuf> {
    let is_of_records = |path: &PathBuf| {
        path.extension().is_some_and(|it| it == "jsonl" || it == "db" || it == "db-wal")
    };
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    all.filter(is_of_records).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in files(from) {
        fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
    }
}

/// Restores an older state of the store.
fn roll_back(folder: &Path, older: &Path) {
    for file in files(folder) {
        fs::remove_file(file).unwrap();
    }
    let _ = fs::remove_file(folder.join("traces.db-shm"));
    copy(older, folder);
}

fn is_lost<T: std::fmt::Debug>(what: Result<T, StoreError>, place: &str) {
    assert!(matches!(what, Err(StoreError::Lost { .. })), "{place}: {what:?}");
}

#[test]
fn an_older_copy_is_noticed_at_every_step() {
    for kind in KINDS {
        for steps in 1..RECORDS {
            let temporary = tempfile::tempdir().unwrap();
            let folder = temporary.path().join("store");
            let older = temporary.path().join("older");
            fs::create_dir(&folder).unwrap();
            for step in 0..RECORDS {
                // Each step is a separate run. A clean exit writes the mark, whatever the
                // durability.
                let store = kind.open(&folder).unwrap();
                assert!(matches!(commit(&*store, "s1"), Ok(Committed::Yes(_))));
                store.release("s1");
                drop(store);
                if step + 1 == steps {
                    copy(&folder, &older);
                }
            }
            roll_back(&folder, &older);
            let place = format!("{kind:?}, back to {steps} of {RECORDS}");
            let store = kind.open(&folder).unwrap();
            is_lost(commit(&*store, "s1"), &place);
            // A new session would get back the money that the others have spent.
            is_lost(commit(&*store, "s2"), &place);
            let found = store.audit().unwrap();
            let said = found.iter().any(|it| it.contains(&format!("{RECORDS} were acknowledged")));
            assert!(said, "{place}: {found:?}");
            // A person accepts the current state.
            store.settle_ledger().unwrap();
            assert!(matches!(commit(&*store, "s1"), Ok(Committed::Yes(_))), "{place}");
            assert!(store.audit().unwrap().is_empty(), "{place}");
        }
    }
}

#[test]
fn a_file_that_was_cut_to_a_prefix_is_noticed() {
    for kept in 1..RECORDS {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        let store = Kind::Folder.open(folder).unwrap();
        for _ in 0..RECORDS {
            assert!(matches!(commit(&*store, "s1"), Ok(Committed::Yes(_))));
        }
        // The process is killed, and writes no more marks.
        std::mem::forget(store);
        let path = folder.join("s1.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().take(kept as usize).collect();
        let other = tempfile::tempdir().unwrap();
        for file in fs::read_dir(folder).unwrap() {
            let file = file.unwrap().path();
            fs::copy(&file, other.path().join(file.file_name().unwrap())).unwrap();
        }
        fs::write(other.path().join("s1.jsonl"), lines.join("\n") + "\n").unwrap();
        let store = Kind::Folder.open(other.path()).unwrap();
        is_lost(commit(&*store, "s1"), &format!("{kept} of {RECORDS} are left"));
    }
}

#[test]
fn a_store_without_marks_is_taken_as_it_is() {
    for kind in KINDS {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join("store");
        fs::create_dir(&folder).unwrap();
        let store = kind.open(&folder).unwrap();
        assert!(matches!(commit(&*store, "s1"), Ok(Committed::Yes(_))));
        store.release("s1");
        drop(store);
        let elsewhere = temporary.path().join("elsewhere");
        copy(&folder, &elsewhere);
        let store = kind.open(&elsewhere).unwrap();
        assert!(matches!(commit(&*store, "s1"), Ok(Committed::Yes(_))), "{kind:?}");
    }
}

#[test]
fn a_removed_session_may_begin_anew() {
    for kind in KINDS {
        let temporary = tempfile::tempdir().unwrap();
        let store = kind.open(temporary.path()).unwrap();
        for _ in 0..RECORDS {
            assert!(matches!(commit(&*store, "s1"), Ok(Committed::Yes(_))));
        }
        store.release("s1");
        assert!(store.remove("s1").unwrap());
        assert!(matches!(commit(&*store, "s1"), Ok(Committed::Yes(_))), "{kind:?}");
    }
}

#[test]
fn a_longer_copy_of_another_history_is_noticed() {
    for kind in KINDS {
        let temporary = tempfile::tempdir().unwrap();
        let [folder, other] = ["store", "other"].map(|name| temporary.path().join(name));
        // The other history has other sessions, and more of everything.
        for (place, session, steps) in [(&folder, "s1", 2), (&other, "s0", 3), (&other, "s1", 4)] {
            fs::create_dir_all(place).unwrap();
            let store = kind.open(place).unwrap();
            for _ in 0..steps {
                assert!(matches!(commit(&*store, session), Ok(Committed::Yes(_))));
            }
            store.release(session);
        }
        roll_back(&folder, &other);
        let place = format!("{kind:?}");
        let store = kind.open(&folder).unwrap();
        is_lost(commit(&*store, "s2"), &place);
        let found = store.audit().unwrap();
        assert!(!found.is_empty(), "{place}");
        let said = store.settle_ledger().unwrap();
        assert!(said.iter().any(|line| line.contains("from now on")), "{place}: {said:?}");
        drop(store);
        let store = kind.open(&folder).unwrap();
        assert_eq!(store.audit().unwrap(), [""; 0], "{place}");
        assert!(matches!(commit(&*store, "s2"), Ok(Committed::Yes(_))), "{place}");
    }
}

#[cfg(unix)]
#[test]
fn no_mark_is_written_through_a_link() {
    for kind in KINDS {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join("store");
        fs::create_dir(&folder).unwrap();
        let store = kind.open(&folder).unwrap();
        let marks =
            if kind == Kind::Folder { folder.clone() } else { folder.join("traces.db.marks") };
        fs::create_dir_all(&marks).unwrap();
        let target = temporary.path().join("target");
        fs::write(&target, "of somebody else").unwrap();
        for name in ["s1", "s1.mark"] {
            std::os::unix::fs::symlink(&target, marks.join(name)).unwrap();
        }
        let done = commit(&*store, "s1");
        assert!(done.is_err(), "{kind:?}: {done:?}");
        assert_eq!(fs::read_to_string(&target).unwrap(), "of somebody else", "{kind:?}");
    }
}

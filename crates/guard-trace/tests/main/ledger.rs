//! Tests of the ledger: a deleted session does not begin anew, and spent money stays spent.

use crate::child::Kind;
use crate::lines;
use guard_trace::line::Head;
use guard_trace::store::{
    self, Commit, Committed, Durability, LEDGER, SharedCharge, Store, StoreError,
};
use guard_trace::verify::{self, Against, Watch};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};

const KINDS: [Kind; 4] = [Kind::Folder, Kind::Full, Kind::Batch, Kind::Off];

/// Commits a record of a session, with a charge.
fn commit(store: &dyn Store, session: &str, amount: i64) -> Result<Committed, StoreError> {
    let head = store.begin(session)?.head;
    let next = lines::after(head.version, head.hash, &["ann"]);
    let charges = [SharedCharge { key: "team", amount, limit: 100 }];
    let charges = if amount > 0 { &charges[..] } else { &[] };
    let records = &[&*next[0]];
    store.commit(session, &Commit { version: head.version, records, snapshot: None, charges })
}

/// Makes a store with two sessions of three records each, in which 60 of 100 are spent.
fn made(kind: Kind) -> (tempfile::TempDir, PathBuf) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    fs::create_dir(&folder).unwrap();
    let store = kind.open(&folder).unwrap();
    for session in ["s1", "s2"] {
        for amount in [10, 20, 0] {
            assert!(matches!(commit(&*store, session, amount), Ok(Committed::Yes(_))));
        }
        store.release(session);
    }
    (temporary, folder)
}

fn sql(folder: &Path, statements: &str) {
    let connection = Connection::open(folder.join("traces.db")).unwrap();
    connection.execute_batch(statements).unwrap();
}

const OF_LEDGER: &str = "place >> 32 = (SELECT id FROM session WHERE name = '.ledger')";

/// Returns true if a session cannot begin, and nothing can be spent.
fn refuses(kind: Kind, folder: &Path, session: &str) {
    let store = kind.open(folder).unwrap();
    let refused = commit(&*store, session, 1);
    assert!(matches!(refused, Err(StoreError::Lost { .. })), "{kind:?}: {refused:?}");
}

#[test]
fn a_deleted_session_does_not_begin_anew() {
    for kind in KINDS {
        let (_temporary, folder) = made(kind);
        match kind {
            Kind::Folder => fs::remove_file(folder.join("s1.jsonl")).unwrap(),
            _ => sql(&folder, "DELETE FROM session WHERE name = 's1'"),
        }
        refuses(kind, &folder, "s1");
        let store = kind.open(&folder).unwrap();
        assert_eq!(store.known().unwrap().unwrap(), ["s1", "s2"]);
        assert_eq!(store.sessions().unwrap(), ["s2"]);
        // A person confirms that the session may be missing.
        assert_eq!(store.settle_ledger().unwrap(), ["session `s1` is gone"]);
        assert!(matches!(commit(&*store, "s1", 1), Ok(Committed::Yes(_))));
        assert_eq!(store.spent("team").unwrap(), 61);
    }
}

#[test]
fn an_emptied_session_does_not_begin_anew() {
    let (_temporary, folder) = made(Kind::Folder);
    fs::write(folder.join("s1.jsonl"), "").unwrap();
    refuses(Kind::Folder, &folder, "s1");
}

#[test]
fn a_deleted_ledger_gives_no_money_back() {
    for kind in KINDS {
        let (_temporary, folder) = made(kind);
        match kind {
            Kind::Folder => fs::remove_file(folder.join(".ledger.jsonl")).unwrap(),
            _ => sql(&folder, "DELETE FROM session WHERE name = '.ledger'"),
        }
        if kind == Kind::Folder {
            refuses(kind, &folder, "s1");
        }
        refuses(kind, &folder, "s3");
        let store = kind.open(&folder).unwrap();
        assert!(store.spent("team").is_err(), "{kind:?}");
    }
}

#[test]
fn a_cut_ledger_is_noticed() {
    let (_temporary, folder) = made(Kind::Folder);
    let path = folder.join(".ledger.jsonl");
    let ledger = fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> = ledger.lines().take(2).collect();
    fs::write(&path, kept.join("\n") + "\n").unwrap();
    refuses(Kind::Folder, &folder, "s2");
    for kind in [Kind::Full, Kind::Batch] {
        let (_temporary, folder) = made(kind);
        sql(&folder, &format!("DELETE FROM record WHERE {OF_LEDGER} AND place & 4294967295 > 1"));
        let store = kind.open(&folder).unwrap();
        assert!(matches!(store.spent("team"), Err(StoreError::Damaged { .. })));
        assert!(commit(&*store, "s1", 1).is_err() && commit(&*store, "s3", 0).is_err());
    }
}

#[test]
fn a_ledger_that_goes_while_it_is_open_is_noticed() {
    for kind in KINDS {
        let (_temporary, folder) = made(kind);
        let store = kind.open(&folder).unwrap();
        assert_eq!(store.spent("team").unwrap(), 60);
        match kind {
            Kind::Folder => fs::remove_file(folder.join(".ledger.jsonl")).unwrap(),
            _ => sql(
                &folder,
                &format!(
                    "DELETE FROM record WHERE {OF_LEDGER}; DELETE FROM session WHERE name = '.ledger'"
                ),
            ),
        }
        for session in ["s2", "s3"] {
            assert!(commit(&*store, session, 1).is_err(), "{kind:?} {session}");
        }
        assert!(store.spent("team").is_err(), "{kind:?}");
    }
}

#[test]
fn a_changed_amount_is_noticed() {
    for kind in KINDS {
        let (_temporary, folder) = made(kind);
        match kind {
            Kind::Folder => {
                let path = folder.join(".ledger.jsonl");
                let ledger = fs::read_to_string(&path).unwrap();
                fs::write(&path, ledger.replace("0.00002\"", "0.00001\"")).unwrap();
            }
            _ => sql(
                &folder,
                &format!(
                    "UPDATE record SET line = replace(line, '0.00002\"', '0.00001\"') WHERE {OF_LEDGER}"
                ),
            ),
        }
        let store = kind.open(&folder).unwrap();
        assert!(matches!(store.spent("team"), Err(StoreError::Damaged { .. })), "{kind:?}");
        assert!(commit(&*store, "s1", 1).is_err(), "{kind:?}");
    }
}

#[test]
fn the_ledger_is_verified_like_a_session() {
    for kind in KINDS {
        let (_temporary, folder) = made(kind);
        let store = kind.open(&folder).unwrap();
        let against = Against { tree: true, session: Some(LEDGER.into()), ..Against::default() };
        let found = verify::stored(&*store, LEDGER, &against, 1, &Watch::default()).unwrap();
        assert!(found.is_sound() && found.records == 6, "{kind:?} {found:?}");
        assert_eq!(found.entry.unwrap().session, LEDGER);
        assert!(store.commit(LEDGER, &Commit::default()).is_err(), "nobody writes to it");
        assert!(store.begin(LEDGER).is_err());
        assert!(matches!(store.remove(LEDGER), Err(StoreError::BadSession(_))));
    }
}

#[test]
fn a_removed_session_may_begin_again() {
    for kind in KINDS {
        let (_temporary, folder) = made(kind);
        let store = kind.open(&folder).unwrap();
        assert!(store.remove("s1").unwrap());
        drop(store);
        let store = kind.open(&folder).unwrap();
        assert_eq!(store.begin("s1").unwrap().head, Head::default());
        assert!(matches!(commit(&*store, "s1", 1), Ok(Committed::Yes(_))), "{kind:?}");
        assert_eq!(store.spent("team").unwrap(), 61, "what it has spent stays spent");
    }
}

#[test]
fn a_session_that_was_put_there_by_hand_is_refused() {
    let (_temporary, folder) = made(Kind::Folder);
    fs::copy(folder.join("s1.jsonl"), folder.join("s9.jsonl")).unwrap();
    refuses(Kind::Folder, &folder, "s9");
    let store = Kind::Folder.open(&folder).unwrap();
    assert_eq!(store.settle_ledger().unwrap(), ["session `s9` is now listed in the ledger"]);
    assert!(matches!(commit(&*store, "s9", 1), Ok(Committed::Yes(_))));
}

/// The process ended after the first record of a session, before it wrote to the ledger.
#[test]
fn a_session_whose_process_ended_at_once_goes_on() {
    let (_temporary, folder) = made(Kind::Folder);
    fs::write(folder.join("s9.jsonl"), lines::first(&["ann"])[0].clone() + "\n").unwrap();
    let store = Kind::Folder.open(&folder).unwrap();
    assert!(matches!(commit(&*store, "s9", 1), Ok(Committed::Yes(_))));
    assert_eq!(store.known().unwrap().unwrap(), ["s1", "s2", "s9"]);
}

#[test]
fn amounts_of_earlier_versions_are_taken_over() {
    let (_temporary, folder) = made(Kind::Full);
    sql(
        &folder,
        &format!(
            "DELETE FROM record WHERE {OF_LEDGER}; DELETE FROM session WHERE name = '.ledger';
             CREATE TABLE spent (key TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT;
             INSERT INTO spent VALUES ('team', 60); PRAGMA user_version = 1;"
        ),
    );
    let store = Kind::Full.open(&folder).unwrap();
    assert_eq!(store.spent("team").unwrap(), 60);
    assert!(matches!(commit(&*store, "s1", 41), Ok(Committed::OverBudget { .. })));

    let (_temporary, folder) = made(Kind::Folder);
    fs::remove_file(folder.join(".ledger.jsonl")).unwrap();
    fs::write(folder.join(".budgets"), r#"{"team":60}"#).unwrap();
    refuses(Kind::Folder, &folder, "s3");
    let store = Kind::Folder.open(&folder).unwrap();
    assert_eq!(store.settle_ledger().unwrap().len(), 3);
    assert_eq!(store.spent("team").unwrap(), 60);
}

#[test]
fn a_copy_of_a_store_in_use_is_sound_and_loses_no_charge() {
    for kind in KINDS {
        let (temporary, folder) = made(kind);
        let store = kind.open(&folder).unwrap();
        let copy = temporary.path().join("copy");
        fs::create_dir(&copy).unwrap();
        let to = match kind {
            Kind::Folder => copy.join("store"),
            _ => copy.join("traces.db"),
        };
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for n in 0..30 {
                    let refused = commit(&*store, &format!("n{n}"), 1);
                    assert!(matches!(refused, Ok(Committed::Yes(_))), "{kind:?} {refused:?}");
                }
            });
            store.backup(&to).unwrap();
            writer.join().unwrap();
        });
        assert!(store.backup(&to).is_err(), "nothing is overwritten");
        let copied = match kind {
            Kind::Folder => kind.open(&to).unwrap(),
            _ => kind.open(&copy).unwrap(),
        };
        assert_eq!(copied.audit().unwrap(), Vec::<String>::new(), "{kind:?}");
        let new = copied.sessions().unwrap().len() as i64 - 2;
        assert!(copied.spent("team").unwrap() >= 60 + new, "{kind:?}");
        assert!(matches!(commit(&*copied, "s1", 1), Ok(Committed::Yes(_))), "{kind:?}");
    }
}

#[test]
fn a_database_that_is_gone_is_not_made_anew_beside_its_key() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("traces.db");
    let open = || store::open(&path, Durability::Full, None).map(|(store, _)| store);
    let store = open().unwrap();
    assert!(matches!(commit(&*store, "s1", 0), Ok(Committed::Yes(_))));
    drop(store);
    assert_eq!(open().unwrap().sessions().unwrap(), ["s1"]);
    for name in ["traces.db", "traces.db-wal", "traces.db-shm"] {
        let _ = fs::remove_file(temporary.path().join(name));
    }
    assert!(matches!(open().err(), Some(StoreError::Lost { .. })));
    fs::write(&path, "").unwrap();
    assert!(matches!(open().err(), Some(StoreError::Lost { .. })));
    fs::remove_file(temporary.path().join("traces.db.key")).unwrap();
    let refused = commit(&*open().unwrap(), "s1", 0);
    assert!(matches!(refused, Err(StoreError::Lost { .. })), "its marks are there: {refused:?}");
    fs::remove_dir_all(temporary.path().join("traces.db.marks")).unwrap();
    assert!(matches!(commit(&*open().unwrap(), "s1", 0), Ok(Committed::Yes(_))));
}

#[test]
fn two_that_make_a_store_at_once_both_have_it() {
    for name in ["traces.db", "traces"] {
        for _ in 0..20 {
            let temporary = tempfile::tempdir().unwrap();
            let path = temporary.path().join(name);
            std::thread::scope(|scope| {
                for n in 0..4 {
                    let path = &path;
                    scope.spawn(move || {
                        let (store, _) = store::open(path, Durability::Full, None).unwrap();
                        let done = commit(&*store, &format!("s{n}"), 0);
                        assert!(matches!(done, Ok(Committed::Yes(_))), "{done:?}");
                    });
                }
            });
        }
    }
}

//! A test suite for every store. Each claim is one function over a store, which it may open any
//! number of times.

use crate::lines;
use guard_plan::record::Chain;
use guard_trace::Keys;
use guard_trace::line::Head;
use guard_trace::store::{
    Commit, Committed, Durability, FolderStore, MemoryStore, SharedCharge, SqliteStore, Store,
    StoreError, StoredStart,
};
use std::time::Duration;

/// A function that opens the store under test; it opens the same store every time.
type Open<'o> = &'o dyn Fn() -> Box<dyn Store>;

/// The number of openers that may use one session at a time.
#[derive(Clone, Copy, PartialEq)]
enum Sharing {
    Shared,
    Exclusive,
}

/// A claim, and its name.
type Claim = (&'static str, fn(Open, Sharing));

const CLAIMS: &[Claim] = &[
    ("an unknown session is empty", an_unknown_session_is_empty),
    ("what is committed is there", what_is_committed_is_there),
    ("several records are one commit", several_records_are_one_commit),
    ("what does not follow is refused", what_does_not_follow_is_refused),
    ("conflicts are told and not merged", conflicts_are_told_and_not_merged),
    ("snapshots save reading", snapshots_save_reading),
    ("budgets are shared", budgets_are_shared),
    ("ids of sessions are plain", ids_of_sessions_are_plain),
    ("sessions are listed", sessions_are_listed),
    ("long traces are read in pieces", long_traces_are_read_in_pieces),
    ("a snapshot record stands for those before", a_snapshot_record_stands_for_those_before),
    ("a trace may begin with a snapshot", a_trace_may_begin_with_a_snapshot),
    ("sessions are removed", sessions_are_removed),
    ("threads commit at once", threads_commit_at_once),
];

/// A function that opens a new store, and the folder of that store.
type Made = (Box<dyn Fn() -> Box<dyn Store>>, Option<tempfile::TempDir>);

fn run(make: &dyn Fn() -> Made, sharing: Sharing) {
    for (name, claim) in CLAIMS {
        println!("{name}");
        let (open, _folder) = make();
        claim(&*open, sharing);
    }
}

#[test]
fn memory() {
    run(
        &|| {
            let store = MemoryStore::new();
            (Box::new(move || Box::new(store.clone()) as Box<dyn Store>), None)
        },
        Sharing::Shared,
    );
}

fn keys() -> Option<Keys> {
    Some(Keys::new([7; 32]))
}

fn folder(durability: Durability) {
    run(
        &|| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().to_owned();
            let open = move || {
                Box::new(FolderStore::open(&path, durability, keys()).unwrap()) as Box<dyn Store>
            };
            (Box::new(open), Some(folder))
        },
        Sharing::Exclusive,
    );
}

fn sqlite(durability: Durability) {
    run(
        &|| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("traces.db");
            let open = move || {
                Box::new(SqliteStore::open(&path, durability, keys()).unwrap()) as Box<dyn Store>
            };
            (Box::new(open), Some(folder))
        },
        Sharing::Shared,
    );
}

#[test]
fn folder_full() {
    folder(Durability::Full);
}

#[test]
fn folder_off() {
    folder(Durability::Off);
}

#[test]
fn sqlite_full() {
    sqlite(Durability::Full);
}

#[test]
fn sqlite_batch() {
    sqlite(Durability::Batch(Duration::from_millis(2)));
}

#[test]
fn sqlite_off() {
    sqlite(Durability::Off);
}

fn commit(store: &dyn Store, session: &str, version: u64, records: &[String]) -> Committed {
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    store.commit(session, &Commit { version, records: &records, ..Commit::default() }).unwrap()
}

fn head(committed: &Committed) -> Head {
    match committed {
        Committed::Yes(head) => *head,
        other => panic!("{other:?}"),
    }
}

/// Opens the store again, so that no data comes from memory.
fn again(open: Open, session: &str) -> StoredStart {
    let store = open();
    let begun = store.begin(session).unwrap();
    store.release(session);
    begun
}

fn an_unknown_session_is_empty(open: Open, _: Sharing) {
    let store = open();
    assert_eq!(store.begin("s1").unwrap(), StoredStart::default());
    assert_eq!(store.head("s1").unwrap(), None);
    assert_eq!(store.head("s2").unwrap(), None);
    assert_eq!(store.sessions().unwrap(), Vec::<String>::new());
    assert_eq!(store.records("s2", 0).unwrap().count(), 0);
    assert_eq!(store.spent("usd").unwrap(), 0);
}

fn what_is_committed_is_there(open: Open, _: Sharing) {
    let store = open();
    store.begin("s1").unwrap();
    let mut all = Vec::new();
    for n in 0..5 {
        let before = store.head("s1").unwrap().unwrap_or_default();
        assert_eq!(before.version, n);
        let next = lines::after(n, before.hash, &["ann"]);
        let head = head(&commit(&*store, "s1", n, &next));
        assert_eq!((head.first, head.version), (0, n + 1));
        assert_eq!(store.head("s1").unwrap(), Some(head));
        all.extend(next);
    }
    let last = store.head("s1").unwrap().unwrap();
    drop(store);
    let begun = again(open, "s1");
    assert_eq!(begun.records, all);
    assert_eq!((begun.head, begun.snapshot, begun.distrusted), (last, None, false));
    let store = open();
    let from = |n| store.records("s1", n).unwrap().map(Result::unwrap).collect::<Vec<_>>();
    assert_eq!(from(0), all);
    assert_eq!(from(3), all[3..]);
    assert_eq!(from(9), Vec::<String>::new());
}

fn several_records_are_one_commit(open: Open, _: Sharing) {
    let store = open();
    store.begin("s1").unwrap();
    let all = lines::first(&["ann", "bob", "cy"]);
    assert_eq!(head(&commit(&*store, "s1", 0, &all)).version, 3);
    let nothing = commit(&*store, "s1", 3, &[]);
    assert_eq!(head(&nothing).version, 3);
    drop(store);
    assert_eq!(again(open, "s1").records, all);
}

fn what_does_not_follow_is_refused(open: Open, _: Sharing) {
    let store = open();
    store.begin("s1").unwrap();
    let all = lines::first(&["ann", "bob", "cy"]);
    commit(&*store, "s1", 0, &all[..1]);
    let refused = |records: &[&str]| {
        let commit = Commit { version: 1, records, ..Commit::default() };
        match store.commit("s1", &commit) {
            Err(StoreError::Misfit(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    let other = lines::first(&["eve", "mal"]);
    assert!(refused(&[&all[2]]).contains("does not follow"));
    assert!(refused(&[&other[1]]).contains("does not follow"));
    assert!(refused(&[&all[0]]).contains("does not follow"));
    assert!(refused(&[&all[1].replace("bob", "bot")]).contains("changed"));
    assert!(refused(&["{}"]).contains("cut"));
    assert!(refused(&[&format!("{}\n", all[1])]).contains("more than a line"));
    assert!(refused(&[&all[1], &all[1]]).contains("record 2"), "whole or not at all");
    assert_eq!(store.head("s1").unwrap().unwrap().version, 1);
    // None of these was a write failure, so the session continues.
    assert_eq!(head(&commit(&*store, "s1", 1, &all[1..])).version, 3);
    drop(store);
    assert_eq!(again(open, "s1").records, all);
}

fn conflicts_are_told_and_not_merged(open: Open, sharing: Sharing) {
    let one = open();
    let two = open();
    one.begin("s1").unwrap();
    let all = lines::first(&["ann", "bob"]);
    commit(&*one, "s1", 0, &all[..1]);
    assert_eq!(commit(&*one, "s1", 0, &all[..1]), Committed::Conflict { version: 1 });
    match (two.begin("s1"), sharing) {
        (Ok(begun), Sharing::Shared) => assert_eq!(begun.head.version, 1),
        (Err(StoreError::Locked(_)), Sharing::Exclusive) => {
            one.release("s1");
            assert_eq!(two.begin("s1").unwrap().head.version, 1);
        }
        (other, _) => panic!("{other:?}"),
    }
    let theirs = lines::after(1, head_of(&*two), &["cy"]);
    commit(&*two, "s1", 1, &theirs);
    two.release("s1");
    one.begin("s1").unwrap();
    assert_eq!(commit(&*one, "s1", 1, &all[1..]), Committed::Conflict { version: 2 });
    assert_eq!(one.begin("s1").unwrap().records[1], theirs[0]);
}

fn head_of(store: &dyn Store) -> [u8; 32] {
    store.head("s1").unwrap().unwrap().hash
}

fn snapshots_save_reading(open: Open, _: Sharing) {
    let store = open();
    store.begin("s1").unwrap();
    let all = lines::first(&["ann", "bob", "cy", "dan"]);
    let keep = |version, records: &[String], snapshot: Option<&[u8]>| {
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        let commit = Commit { version, records: &records, snapshot, charges: &[] };
        head(&store.commit("s1", &commit).unwrap())
    };
    keep(0, &all[..1], Some(b"one"));
    keep(1, &all[1..3], Some(b"three"));
    let last = keep(3, &all[3..], None);
    store.release("s1");
    let begun = again(open, "s1");
    let snapshot = begun.snapshot.unwrap();
    assert_eq!((snapshot.version, &snapshot.bytes[..]), (3, &b"three"[..]));
    assert_eq!((begun.records, begun.head), (all[3..].to_vec(), last));
    assert!(!begun.distrusted);
    // A commit may contain only a snapshot, and be the last one.
    let store = open();
    store.begin("s1").unwrap();
    let commit = Commit { version: 4, snapshot: Some(b"four"), ..Commit::default() };
    assert_eq!(head(&store.commit("s1", &commit).unwrap()), last);
    store.release("s1");
    let begun = again(open, "s1");
    assert_eq!((begun.snapshot.unwrap().version, begun.records.len()), (4, 0));
    assert_eq!(begun.head, last);
}

fn budgets_are_shared(open: Open, _: Sharing) {
    let store = open();
    let all = lines::first(&["ann", "bob"]);
    let spend = |session: &str, version, record: &String, charges: &[SharedCharge]| {
        store.begin(session).unwrap();
        let commit = Commit { version, records: &[record], snapshot: None, charges };
        store.commit(session, &commit)
    };
    let usd = |amount| SharedCharge { key: "usd", amount, limit: 10 };
    let eur = |amount| SharedCharge { key: "eur", amount, limit: 5 };
    assert!(matches!(spend("s1", 0, &all[0], &[usd(6)]).unwrap(), Committed::Yes(_)));
    let over = Committed::OverBudget { key: "usd".into(), spent: 6 };
    assert_eq!(spend("s2", 0, &all[0], &[eur(1), usd(5)]).unwrap(), over);
    assert_eq!((store.spent("usd").unwrap(), store.spent("eur").unwrap()), (6, 0));
    assert_eq!(store.head("s2").unwrap(), None, "nothing is kept");
    assert!(matches!(spend("s2", 0, &all[0], &[usd(3), usd(1)]).unwrap(), Committed::Yes(_)));
    let over = Committed::OverBudget { key: "eur".into(), spent: 3 };
    assert_eq!(spend("s2", 1, &all[1], &[eur(3), eur(3)]).unwrap(), over);
    let conflict = spend("s2", 0, &all[1], &[eur(1)]).unwrap();
    assert_eq!(conflict, Committed::Conflict { version: 1 });
    assert_eq!((store.spent("usd").unwrap(), store.spent("eur").unwrap()), (10, 0));
    assert!(matches!(spend("s2", 1, &all[1], &[usd(-1)]), Err(StoreError::Misfit(_))));
    let huge = SharedCharge { key: "usd", amount: i64::MAX, limit: i64::MAX };
    let over = Committed::OverBudget { key: "usd".into(), spent: 10 };
    assert_eq!(spend("s2", 1, &all[1], &[huge]).unwrap(), over);
    store.release("s1");
    store.release("s2");
    assert_eq!(open().spent("usd").unwrap(), 10);
}

fn ids_of_sessions_are_plain(open: Open, _: Sharing) {
    let store = open();
    let long = "x".repeat(129);
    for id in ["", ".", "..", "a/b", "a\\b", ".hidden", "a b", "ä", "a\0", long.as_str()] {
        assert!(matches!(store.begin(id), Err(StoreError::BadSession(_))), "{id:?}");
        let commit = store.commit(id, &Commit::default());
        assert!(matches!(commit, Err(StoreError::BadSession(_))), "{id:?}");
    }
    for id in ["a", "A.b_c-9", "x".repeat(128).as_str()] {
        store.begin(id).unwrap();
    }
}

fn sessions_are_listed(open: Open, _: Sharing) {
    let store = open();
    for id in ["b", "a", "c"] {
        store.begin(id).unwrap();
        commit(&*store, id, 0, &lines::first(&["ann"]));
    }
    store.begin("empty").unwrap();
    assert_eq!(store.sessions().unwrap(), ["a", "b", "c"]);
}

fn long_traces_are_read_in_pieces(open: Open, _: Sharing) {
    let store = open();
    store.begin("s1").unwrap();
    let mut chain = Chain::default();
    let all: Vec<String> = (0..700).map(|n| lines::resume(&mut chain, &n.to_string())).collect();
    commit(&*store, "s1", 0, &all);
    let read: Vec<String> = store.records("s1", 0).unwrap().map(Result::unwrap).collect();
    assert_eq!(read, all);
    let read: Vec<String> = store.records("s1", 511).unwrap().map(Result::unwrap).collect();
    assert_eq!(read, all[511..]);
}

fn a_snapshot_record_stands_for_those_before(open: Open, _: Sharing) {
    let store = open();
    store.begin("s1").unwrap();
    let mut chain = Chain::default();
    let mut all: Vec<String> = (0..3).map(|n| lines::resume(&mut chain, &n.to_string())).collect();
    all.push(lines::snapshot(&mut chain));
    all.push(lines::resume(&mut chain, "after"));
    let first = Commit { version: 0, records: &[&all[0]], snapshot: Some(b"old"), charges: &[] };
    head(&store.commit("s1", &first).unwrap());
    let last = head(&commit(&*store, "s1", 1, &all[1..]));
    for wrong in [0, 1, 4, 5, 99] {
        assert!(matches!(store.forget("s1", wrong), Err(StoreError::Misfit(_))), "{wrong}");
    }
    assert!(matches!(store.forget("s2", 0), Err(StoreError::Misfit(_))));
    store.forget("s1", 3).unwrap();
    let expected = Head { first: 3, ..last };
    assert_eq!(store.head("s1").unwrap(), Some(expected));
    store.forget("s1", 3).unwrap();
    let more = lines::after(5, last.hash, &["more"]);
    assert_eq!(head(&commit(&*store, "s1", 5, &more)).first, 3);
    all.extend(more);
    store.release("s1");
    let begun = again(open, "s1");
    assert_eq!((begun.head.first, begun.head.version), (3, 6));
    assert_eq!(begun.records, all[3..]);
    assert_eq!((begun.snapshot, begun.distrusted), (None, false));
    let store = open();
    let read: Vec<String> = store.records("s1", 0).unwrap().map(Result::unwrap).collect();
    assert_eq!(read, all[3..]);
}

fn a_trace_may_begin_with_a_snapshot(open: Open, _: Sharing) {
    let store = open();
    store.begin("s1").unwrap();
    let mut chain = Chain::from(7, [9; 32]);
    let all = [lines::snapshot(&mut chain), lines::resume(&mut chain, "ann")];
    assert!(matches!(
        store.commit("s1", &Commit { records: &[&all[1]], ..Commit::default() }),
        Err(StoreError::Misfit(_))
    ));
    let kept = head(&commit(&*store, "s1", 0, &all));
    assert_eq!((kept.first, kept.version), (7, 9));
    store.release("s1");
    let begun = again(open, "s1");
    assert_eq!((begun.head, begun.records), (kept, all.to_vec()));
}

fn sessions_are_removed(open: Open, _: Sharing) {
    let store = open();
    store.begin("s1").unwrap();
    let all = lines::first(&["ann", "bob"]);
    let first = Commit { version: 0, records: &[&all[0]], snapshot: Some(b"old"), charges: &[] };
    head(&store.commit("s1", &first).unwrap());
    assert!(store.remove("s1").unwrap());
    assert!(!store.remove("s1").unwrap());
    assert!(!store.remove("s2").unwrap());
    assert_eq!(store.begin("s1").unwrap(), StoredStart::default());
    assert_eq!(head(&commit(&*store, "s1", 0, &all)).version, 2);
    store.release("s1");
    assert_eq!(again(open, "s1").records, all);
}

fn threads_commit_at_once(open: Open, _: Sharing) {
    const EACH: u64 = 20;
    let store = open();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let store = &*store;
            scope.spawn(move || {
                let id = format!("s{n}");
                let mut head = store.begin(&id).unwrap().head;
                for round in 0..EACH {
                    let next = lines::after(head.version, head.hash, &[&round.to_string()]);
                    head = self::head(&commit(store, &id, round, &next));
                }
                store.release(&id);
            });
        }
    });
    for n in 0..8 {
        assert_eq!(again(open, &format!("s{n}")).records.len() as u64, EACH);
    }
}

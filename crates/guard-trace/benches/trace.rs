//! Benchmarks of writing and checking traces, compared with their lower bounds: SHA-256 over the
//! same bytes, and fsync.
//!
//! `cargo bench -p guard-trace` first prints the ratios, each measured in one run, and then the
//! parts one by one.

use divan::{Bencher, black_box};
use guard_plan::json::Json;
use guard_plan::record::{Asked, Chain, Change, Kind, Propose, Settle};
use guard_plan::verdict::{Decision, Verdict};
use guard_trace::Keys;
use guard_trace::store::{
    Commit, Committed, Durability, FolderStore, MemoryStore, SharedCharge, SqliteStore, Store,
};
use guard_trace::verify::{self, Against, Watch};
use rusqlite::Connection;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

fn main() {
    if std::env::args().all(|arg| arg != "--list" && arg != "--test") {
        ratios();
    }
    divan::main();
}

/// The parts of a call's records: its arguments, verdict, probe answers, result and changes.
struct Call {
    args: Json,
    verdict: Verdict,
    asked: Vec<Asked>,
    result: Json,
    changes: Vec<Change>,
}

fn call() -> Call {
    let args = r#"{"path":"/workspace/src/main.rs","content":"fn main() {\n    println!(\"hello\");\n}\n","mode":420}"#;
    let result = r#"{"written":46,"sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}"#;
    let change = |name: &str, before, after| Change {
        name: name.into(),
        before: Json::Int(before),
        after: Json::Int(after),
    };
    Call {
        args: Json::parse(args).expect("it is JSON"),
        verdict: Verdict { decision: Decision::Allow, reasons: vec![], shadowed: vec![] },
        asked: vec![Asked::Exists { path: "/workspace/src/main.rs".into(), answer: Some(true) }],
        result: Json::parse(result).expect("it is JSON"),
        changes: vec![change("written", 41, 42), change("bytes", 1804, 1850)],
    }
}

/// Writes a proposal and its settlement, and passes each line to `each`.
fn pair(chain: &mut Chain, call: &Call, n: u64, each: &mut dyn FnMut(&[u8])) {
    let id = format!("call_{n}");
    let (args, verdict) = (Cow::Borrowed(&call.args), Cow::Borrowed(&call.verdict));
    let asked = Cow::Borrowed(&call.asked[..]);
    let propose = Propose { asked, ..Propose::plain("write_file".into(), args, verdict) };
    let at = 1_767_000_000_000 + i64::try_from(n).unwrap_or_default();
    each(chain.append(at, Kind::Propose, Some(&id), &propose));
    let changes = Cow::Borrowed(&call.changes[..]);
    let settle = Settle { changes, ..Settle::plain(true, Cow::Borrowed(&call.result)) };
    each(chain.append(at + 1, Kind::Settle, Some(&id), &settle));
}

/// Returns the lines of `calls` calls.
fn lines(calls: u64) -> Vec<String> {
    let mut chain = Chain::default();
    let call = call();
    let mut lines = Vec::new();
    for n in 0..calls {
        pair(&mut chain, &call, n, &mut |line| {
            lines.push(String::from_utf8(line.to_vec()).expect("it is text"));
        });
    }
    lines
}

fn timed(mut work: impl FnMut()) -> Duration {
    let best = (0..7).map(|_| {
        let begun = Instant::now();
        work();
        begun.elapsed()
    });
    best.min().unwrap_or_default()
}

fn ratios() {
    const CALLS: u64 = 20_000;
    let lines = lines(CALLS);
    let bytes: usize = lines.iter().map(String::len).sum();
    let call = call();
    let sha =
        timed(|| lines.iter().for_each(|line| _ = black_box(Sha256::digest(line.as_bytes()))));
    let encode = timed(|| {
        let mut chain = Chain::default();
        (0..CALLS).for_each(|n| pair(&mut chain, &call, n, &mut |line| _ = black_box(line)));
    });
    let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64();
    let rate = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    println!("{} records of {} bytes", lines.len(), bytes / lines.len());
    println!("SHA-256 alone                 {:>7.0} MB/s", rate(sha));
    println!(
        "encode and chain              {:>7.0} MB/s, {:.2} × SHA-256",
        rate(encode),
        ratio(encode, sha)
    );
    let text: Vec<u8> = lines.iter().flat_map(|it| [it.as_bytes(), b"\n"].concat()).collect();
    for threads in [1, std::thread::available_parallelism().map_or(1, usize::from)] {
        let verify = timed(|| {
            let found =
                verify::reader(&mut &text[..], &Against::default(), threads, &Watch::default());
            assert!(found.is_ok_and(|it| it.is_sound()));
        });
        println!(
            "verify, {threads} threads             {:>7.0} MB/s, {:.2} × SHA-256 ÷ threads",
            rate(verify),
            ratio(verify, sha) * threads as f64
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    durable(folder.path(), &lines);
    batched(folder.path());
}

/// Measures one session with separate commits, compared with appending to a file and synchronising
/// it.
fn durable(folder: &Path, lines: &[String]) {
    const COMMITS: usize = 300;
    let mut file = File::create(folder.join("bare")).expect("a file");
    let begun = Instant::now();
    for line in &lines[..COMMITS] {
        file.write_all(line.as_bytes()).and_then(|()| file.sync_data()).expect("it is written");
    }
    let bare = begun.elapsed();
    println!("append and fdatasync          {:>7.0} µs a record", micros(bare, COMMITS));
    let sqlite = SqliteStore::open(&folder.join("full.db"), Durability::Full, None);
    let files = FolderStore::open(&folder.join("full"), Durability::Full, None);
    let sqlite: Box<dyn Store> = Box::new(sqlite.expect("a store"));
    let files: Box<dyn Store> = Box::new(files.expect("a store"));
    for (name, store) in [("database, full", sqlite), ("folder, full", files)] {
        store.begin("s").expect("it begins");
        let begun = Instant::now();
        one_by_one(&*store, "s", &lines[..COMMITS], 1);
        let took = begun.elapsed();
        let ratio = took.as_secs_f64() / bare.as_secs_f64();
        println!("{name:<29} {:>7.0} µs a commit, {ratio:.2} × fdatasync", micros(took, COMMITS));
    }
    hook(folder, lines);
}

fn micros(time: Duration, times: usize) -> f64 {
    time.as_secs_f64() * 1e6 / times as f64
}

/// Measures a process that lives for one event: it opens the store, appends one record and exits.
fn hook(folder: &Path, lines: &[String]) {
    const TIMES: usize = 200;
    let path = folder.join("hook.db");
    let mut each: Vec<Duration> = (0..TIMES)
        .map(|n| {
            let begun = Instant::now();
            let keys = Some(Keys::new([7; 32]));
            let store = SqliteStore::open(&path, Durability::Full, keys).expect("a store");
            let head = store.begin("s").expect("it begins").head;
            let records = [lines[n].as_str()];
            let commit = Commit {
                version: head.version,
                records: &records,
                snapshot: Some(&[0; 4000]),
                charges: &[],
            };
            assert!(matches!(store.commit("s", &commit), Ok(Committed::Yes(_))));
            drop(store);
            begun.elapsed()
        })
        .collect();
    each.sort();
    println!(
        "open, begin, commit, close    {:>7.0} µs at the median, {:.0} µs at 95 %",
        micros(each[TIMES / 2], 1),
        micros(each[TIMES * 95 / 100], 1)
    );
}

fn one_by_one(store: &dyn Store, session: &str, lines: &[String], at_once: usize) {
    let mut version = 0;
    for some in lines.chunks(at_once) {
        let records: Vec<&str> = some.iter().map(String::as_str).collect();
        let commit = Commit { version, records: &records, ..Commit::default() };
        let done = store.commit(session, &commit).expect("it is written");
        assert!(matches!(done, Committed::Yes(_)), "{done:?}");
        version += records.len() as u64;
    }
}

/// Measures sixty-four sessions, each of which waits for its own commits. A commit contains one
/// call: its proposal and its settlement.
fn batched(folder: &Path) {
    const SESSIONS: usize = 64;
    let lines = lines(1000);
    for at_once in [1, 2] {
        let path = folder.join(format!("batch{at_once}.db"));
        let window = Durability::Batch(Duration::from_millis(5));
        let store = SqliteStore::open(&path, window, None).expect("a store");
        let ids: Vec<String> = (0..SESSIONS).map(|n| format!("s{n}")).collect();
        ids.iter().for_each(|id| _ = store.begin(id).expect("it begins"));
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for id in &ids {
                let store = &store;
                let lines = &lines;
                scope.spawn(move || {
                    one_by_one(store, id, lines, at_once);
                    store.release(id);
                });
            }
        });
        let rate = (SESSIONS * lines.len()) as f64 / begun.elapsed().as_secs_f64();
        let bare = bare(&folder.join(format!("bare{at_once}.db")), &lines, SESSIONS, at_once);
        println!(
            "database, batch, 64 sessions  {rate:>7.0} records/s, {at_once} a commit, {:.2} × bare SQLite ({bare:.0} records/s)",
            bare / rate
        );
    }
}

/// Measures the same transactions without our code: the records of all sessions in one, and the
/// head of each. Returns records per second.
fn bare(path: &Path, lines: &[String], sessions: usize, at_once: usize) -> f64 {
    let mut connection = Connection::open(path).expect("a database");
    connection.pragma_update(None, "journal_mode", "WAL").expect("a log");
    connection.pragma_update(None, "synchronous", "FULL").expect("a level");
    connection.pragma_update(None, "wal_autocheckpoint", 8000).expect("a length");
    let tables = "CREATE TABLE session (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, head BLOB NOT NULL) STRICT;
                  CREATE TABLE record (place INTEGER PRIMARY KEY, line TEXT NOT NULL) STRICT;";
    connection.execute_batch(tables).expect("tables");
    for id in 0..sessions {
        let row = (id as i64, 0_i64, [0_u8; 32]);
        connection.execute("INSERT INTO session VALUES (?1, ?2, ?3)", row).expect("a row");
    }
    let begun = Instant::now();
    for (first, some) in lines.chunks(at_once).enumerate().map(|(at, some)| (at * at_once, some)) {
        let transaction = connection.transaction().expect("a transaction");
        for id in 0..sessions as i64 {
            for (seq, line) in (first as i64..).zip(some) {
                let sql = "INSERT INTO record VALUES (?1, ?2)";
                let mut insert = transaction.prepare_cached(sql).expect("a statement");
                insert.execute((id << 32 | seq, line)).expect("a row");
            }
            let sql = "UPDATE session SET version = ?2, head = ?3 WHERE id = ?1";
            let mut update = transaction.prepare_cached(sql).expect("a statement");
            update.execute((id, (first + at_once) as i64, [7_u8; 32])).expect("a row");
        }
        transaction.commit().expect("it is on disk");
    }
    (sessions * lines.len()) as f64 / begun.elapsed().as_secs_f64()
}

#[divan::bench]
fn sha256(bencher: Bencher) {
    let lines = lines(1);
    bencher.bench(|| Sha256::digest(black_box(lines[0].as_bytes())));
}

#[divan::bench]
fn encode_and_chain(bencher: Bencher) {
    let mut chain = Chain::default();
    let call = call();
    bencher.bench_local(|| pair(&mut chain, &call, 7, &mut |line| _ = black_box(line)));
}

#[divan::bench]
fn follow(bencher: Bencher) {
    let lines = lines(1);
    let head = guard_trace::line::Head::default();
    bencher.bench(|| head.follow(black_box(lines[0].as_bytes())));
}

#[divan::bench]
fn memory_commit_with_a_charge(bencher: Bencher) {
    let store = MemoryStore::new();
    let mut chain = Chain::default();
    let call = call();
    let mut version = 0;
    bencher.bench_local(|| {
        pair(&mut chain, &call, version, &mut |line| {
            let record = std::str::from_utf8(line).expect("it is text");
            let charges = [SharedCharge { key: "usd", amount: 1, limit: i64::MAX }];
            let records = [record];
            let commit = Commit { version, records: &records, snapshot: None, charges: &charges };
            assert!(matches!(store.commit("s", &commit), Ok(Committed::Yes(_))));
            version += 1;
        });
    });
}

//! Processes that use a store: this test binary, started again with its task in an environment
//! variable.

use crate::lines;
use guard_trace::Keys;
use guard_trace::line::Head;
use guard_trace::store::{
    Commit, Committed, Durability, FolderStore, SqliteStore, Store, StoreError,
};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The environment variable that holds a child process's task.
const TASK: &str = "GUARD_TEST_TASK";

/// The number of commits after which the test is considered broken.
const MOST: u64 = 1_000_000;

/// The kind of a store, with its durability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Folder,
    Full,
    Batch,
    Off,
}

impl Kind {
    pub const DURABLE: [Kind; 3] = [Kind::Folder, Kind::Full, Kind::Batch];

    fn name(self) -> &'static str {
        match self {
            Kind::Folder => "folder",
            Kind::Full => "full",
            Kind::Batch => "batch",
            Kind::Off => "off",
        }
    }

    fn parse(name: &str) -> Kind {
        match name {
            "folder" => Kind::Folder,
            "full" => Kind::Full,
            "batch" => Kind::Batch,
            _ => Kind::Off,
        }
    }

    pub fn open(self, folder: &Path) -> Result<Box<dyn Store>, StoreError> {
        let keys = Some(Keys::new([7; 32]));
        let path = folder.join("traces.db");
        let batch = Durability::Batch(Duration::from_millis(1));
        Ok(match self {
            Kind::Folder => Box::new(FolderStore::open(folder, Durability::Full, keys)?),
            Kind::Full => Box::new(SqliteStore::open(&path, Durability::Full, keys)?),
            Kind::Batch => Box::new(SqliteStore::open(&path, batch, keys)?),
            Kind::Off => Box::new(SqliteStore::open(&path, Durability::Off, keys)?),
        })
    }
}

/// Returns a command that runs this binary again, as a process with a task.
pub fn command(task: &str, kind: Kind, folder: &Path, session: &str, count: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child::process", "--nocapture", "--test-threads=1"]);
    let task = format!("{task}|{}|{}|{session}|{count}", kind.name(), folder.display());
    command.env(TASK, task).stdout(Stdio::piped());
    command
}

/// The main function of a process that [`command`] starts; not a test.
#[test]
fn process() {
    let Ok(task) = std::env::var(TASK) else { return };
    let words: Vec<&str> = task.split('|').collect();
    let [task, kind, folder, session, count] = words[..] else { panic!("{task}") };
    let kind = Kind::parse(kind);
    let folder = Path::new(folder);
    let count = count.parse().unwrap();
    // The previous output of the harness has no line break.
    say("");
    match task {
        "write" => write_forever(kind, folder, count),
        "contend" => contend(kind, folder, session, count),
        "verify" => say(&crate::big::verified(count)),
        "fail" => until_it_fails(kind, folder, session),
        other => panic!("{other}"),
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush()).unwrap();
}

fn acknowledged(session: &str, head: &Head) {
    say(&format!("ack {session} {} {}", head.version, guard_plan::hex::encode(&head.hash)));
}

/// Starts a thread for each session. Each of them commits until the process is killed.
fn write_forever(kind: Kind, folder: &Path, sessions: u64) {
    let store = kind.open(folder).unwrap();
    std::thread::scope(|scope| {
        for n in 0..sessions {
            let store = &*store;
            scope.spawn(move || {
                let id = format!("s{n}");
                let mut head = store.begin(&id).unwrap().head;
                for round in 0..MOST {
                    let names = ["one", "two"];
                    let next =
                        lines::after(head.version, head.hash, &names[..1 + round as usize % 2]);
                    let records: Vec<&str> = next.iter().map(String::as_str).collect();
                    let snapshot = (round % 5 == 0).then_some(&b"what is remembered"[..]);
                    let commit =
                        Commit { version: head.version, records: &records, snapshot, charges: &[] };
                    head = match store.commit(&id, &commit).unwrap() {
                        Committed::Yes(head) => head,
                        other => panic!("{other:?}"),
                    };
                    acknowledged(&id, &head);
                }
            });
        }
    });
}

/// Commits `count` times to a session that others use, too.
fn contend(kind: Kind, folder: &Path, session: &str, count: u64) {
    let store = kind.open(folder).unwrap();
    let mut head = store.begin(session).unwrap().head;
    for _ in 0..count {
        for _ in 0..MOST {
            let next = lines::after(head.version, head.hash, &["one"]);
            let commit =
                Commit { version: head.version, records: &[&next[0]], ..Commit::default() };
            match store.commit(session, &commit).unwrap() {
                Committed::Yes(next) => {
                    head = next;
                    acknowledged(session, &head);
                    break;
                }
                Committed::Conflict { version } => {
                    assert!(version > head.version, "others were first");
                    head = store.begin(session).unwrap().head;
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Commits until the disk fails, and reports the failure.
fn until_it_fails(kind: Kind, folder: &Path, session: &str) {
    let store = match kind.open(folder) {
        Ok(store) => store,
        Err(error) => return say(&format!("unopened {error:?}")),
    };
    let mut head = match store.begin(session) {
        Ok(begun) => begun.head,
        Err(error) => return say(&format!("unbegun {error:?}")),
    };
    for _ in 0..2000 {
        let next = lines::after(head.version, head.hash, &["one"]);
        let commit = Commit { version: head.version, records: &[&next[0]], ..Commit::default() };
        match store.commit(session, &commit) {
            Ok(Committed::Yes(next)) => {
                head = next;
                acknowledged(session, &head);
            }
            Ok(other) => panic!("{other:?}"),
            Err(error) => {
                say(&format!("failed {error:?}"));
                let again = store.commit(session, &commit);
                assert!(matches!(again, Err(StoreError::Refused(_))), "{again:?}");
                // The process that failed can still read the acknowledged records.
                let read: Vec<_> = store.records(session, 0).unwrap().collect();
                assert!(read.len() as u64 >= head.version, "{} of {}", read.len(), head.version);
                assert!(read.iter().all(Result::is_ok));
                return say("readable");
            }
        }
    }
    say("nothing failed");
}

/// The last acknowledged version of each session, with its hash.
pub type Acks = BTreeMap<String, (u64, String)>;

/// A reader of a process's output, until it ends or has acknowledged enough commits.
pub struct Heard {
    out: BufReader<std::process::ChildStdout>,
    pub acks: Acks,
    pub said: Vec<String>,
}

impl Heard {
    pub fn new(child: &mut Child) -> Heard {
        let out = BufReader::new(child.stdout.take().unwrap());
        Heard { out, acks: Acks::new(), said: Vec::new() }
    }

    /// Reads until `acks` commits were acknowledged, or to the end.
    pub fn listen(&mut self, acks: u64) {
        let mut heard = 0;
        let mut line = Vec::new();
        while heard < acks {
            line.clear();
            if self.out.read_until(b'\n', &mut line).unwrap() == 0 {
                return;
            }
            let text = String::from_utf8_lossy(&line);
            let words: Vec<&str> = text.split_whitespace().collect();
            match words[..] {
                ["ack", id, version, hash] => {
                    heard += 1;
                    self.acks.insert(id.to_owned(), (version.parse().unwrap(), hash.to_owned()));
                }
                _ => self.said.push(text.trim().to_owned()),
            }
        }
    }
}

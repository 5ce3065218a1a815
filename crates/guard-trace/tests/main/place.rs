//! Tests of the file at the path: whatever is done to an open store, no commit is acknowledged that
//! a later reader of the path does not find.

use crate::child::Kind;
use crate::lines;
use guard_trace::line::Head;
use guard_trace::store::{Commit, Committed, Store, StoreError};
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

/// The number of commits before and after the damage.
const STEPS: u64 = 4;

/// The damage to a file of an open store.
#[derive(Debug, Clone, Copy)]
enum Harm {
    Delete,
    MoveAway,
    /// The file is replaced by a copy from before the last commit.
    ReplaceByOlder,
    /// The file is replaced by a copy of its own content.
    ReplaceByCopy,
    ReplaceByNothing,
    Empty,
    CutHalf,
    CutLastByte,
    /// The file is cut off, and filled again to the same length.
    Overwrite,
    /// The file is moved away, and replaced by a link to it.
    Link,
    MoveFolder,
    DeleteFolder,
}

const HARMS: [Harm; 12] = [
    Harm::Delete,
    Harm::MoveAway,
    Harm::ReplaceByOlder,
    Harm::ReplaceByCopy,
    Harm::ReplaceByNothing,
    Harm::Empty,
    Harm::CutHalf,
    Harm::CutLastByte,
    Harm::Overwrite,
    Harm::Link,
    Harm::MoveFolder,
    Harm::DeleteFolder,
];

impl Harm {
    /// Applies the damage to a file. `older` is a copy of an earlier state.
    fn apply(self, file: &Path, older: &Path) {
        let cut = |to: &dyn Fn(u64) -> u64| {
            let open = OpenOptions::new().write(true).open(file).unwrap();
            open.set_len(to(open.metadata().unwrap().len())).unwrap();
        };
        let folder = file.parent().unwrap();
        match self {
            Harm::Delete => fs::remove_file(file).unwrap(),
            Harm::MoveAway => fs::rename(file, file.with_extension("away")).unwrap(),
            Harm::ReplaceByOlder => fs::rename(older, file).unwrap(),
            Harm::ReplaceByCopy => {
                let copy = file.with_extension("copy");
                fs::copy(file, &copy).unwrap();
                fs::rename(&copy, file).unwrap();
            }
            Harm::ReplaceByNothing => {
                let empty = file.with_extension("empty");
                fs::write(&empty, "").unwrap();
                fs::rename(&empty, file).unwrap();
            }
            Harm::Empty => cut(&|_| 0),
            Harm::CutHalf => cut(&|len| len / 2),
            Harm::CutLastByte => cut(&|len| len.saturating_sub(1)),
            Harm::Overwrite => {
                let len = fs::metadata(file).unwrap().len();
                fs::write(file, vec![b'x'; usize::try_from(len).unwrap()]).unwrap();
            }
            Harm::Link => {
                let away = file.with_extension("away");
                fs::rename(file, &away).unwrap();
                #[cfg(unix)]
                std::os::unix::fs::symlink(away, file).unwrap();
            }
            Harm::MoveFolder => fs::rename(folder, folder.with_extension("away")).unwrap(),
            Harm::DeleteFolder => fs::remove_dir_all(folder).unwrap(),
        }
    }
}

/// Returns the files of an open store that another process may access.
fn files(kind: Kind, folder: &Path) -> Vec<PathBuf> {
    let names: &[&str] = match kind {
        Kind::Folder => &["s.jsonl"],
        _ => &["traces.db", "traces.db-wal", "traces.db-shm"],
    };
    names.iter().map(|name| folder.join(name)).filter(|file| file.exists()).collect()
}

/// Commits the next record; `None` if the store refuses it.
fn step(store: &dyn Store, records: &mut Vec<String>, head: Head) -> Option<Head> {
    let next = lines::after(head.version, head.hash, &["ann"]);
    let commit = Commit { version: head.version, records: &[&next[0]], ..Commit::default() };
    match store.commit("s", &commit) {
        Ok(Committed::Yes(head)) => {
            records.extend(next);
            Some(head)
        }
        Ok(other) => panic!("{other:?}"),
        Err(_) => None,
    }
}

/// Returns the records that a later reader finds at the path.
fn later(kind: Kind, folder: &Path) -> Result<Vec<String>, StoreError> {
    kind.open(folder)?.records("s", 0)?.collect()
}

/// Damages one file after some commits. Returns true if the store detected it.
fn harmed(kind: Kind, harm: Harm, steps: u64, which: usize) -> Option<bool> {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    fs::create_dir(&folder).unwrap();
    let store = kind.open(&folder).unwrap();
    let mut head = store.begin("s").unwrap().head;
    let mut acknowledged = Vec::new();
    let older = temporary.path().join("older");
    for _ in 0..steps {
        if let Some(file) = files(kind, &folder).get(which) {
            fs::copy(file, &older).unwrap();
        }
        head = step(&*store, &mut acknowledged, head).expect("nobody has done any harm yet");
    }
    let file = files(kind, &folder).get(which)?.clone();
    // The system ends every process whose mapped file is cut off, including this one.
    let mapped = file.extension().is_some_and(|ending| ending == "db-shm");
    if mapped && matches!(harm, Harm::Empty | Harm::CutHalf) {
        return None;
    }
    if matches!(harm, Harm::ReplaceByOlder) && !older.exists() {
        return None;
    }
    harm.apply(&file, &older);
    let place = format!("{kind:?}, {harm:?} of {} after {steps}", file.display());
    let mut noticed = false;
    for _ in 0..STEPS {
        match step(&*store, &mut acknowledged, head) {
            Some(next) => {
                head = next;
                let found = later(kind, &folder).unwrap_or_else(|error| panic!("{place}: {error}"));
                assert_eq!(found, acknowledged, "{place}: acknowledged and not on record");
            }
            None => noticed = true,
        }
    }
    // When the same process resumes the session, it is complete, or there is an error.
    store.release("s");
    if let Ok(begun) = store.begin("s") {
        // A record that was not acknowledged may exist.
        assert!(begun.head.version >= acknowledged.len() as u64, "{place}: it begins anew");
    }
    Some(noticed)
}

fn law(kind: Kind) {
    let mut noticed = 0;
    for harm in HARMS {
        for steps in 0..STEPS {
            for which in 0..3 {
                noticed += u32::from(harmed(kind, harm, steps, which) == Some(true));
            }
        }
    }
    assert!(noticed > 0, "no harm was noticed");
}

#[test]
fn a_folder_reaches_its_file() {
    law(Kind::Folder);
}

#[test]
fn a_database_reaches_its_file() {
    law(Kind::Full);
}

#[test]
fn a_database_in_batches_reaches_its_file() {
    law(Kind::Batch);
}

#[test]
fn a_database_that_is_not_synchronised_reaches_its_file() {
    law(Kind::Off);
}

/// A session whose file is a link is refused, and the target of the link is not changed.
#[cfg(unix)]
#[test]
fn a_folder_writes_through_no_link() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    fs::create_dir(&folder).unwrap();
    let outside = temporary.path().join("outside");
    for text in [None, Some(""), Some("precious"), Some("precious\n")] {
        let _ = fs::remove_file(&outside);
        if let Some(text) = text {
            fs::write(&outside, text).unwrap();
        }
        for name in ["s.jsonl", ".ledger.jsonl"] {
            let link = folder.join(name);
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(&outside, &link).unwrap();
            let written = Kind::Folder.open(&folder).is_ok_and(|store| {
                let head = store.begin("s").map(|begun| begun.head);
                head.is_ok_and(|head| step(&*store, &mut Vec::new(), head).is_some())
            });
            assert!(!written, "{name} was written through a link to {text:?}");
            assert_eq!(fs::read_to_string(&outside).ok().as_deref(), text, "{name}");
            fs::remove_file(&link).unwrap();
            let _ = fs::remove_file(folder.join("s.jsonl"));
            let _ = fs::remove_file(folder.join(".ledger.jsonl"));
        }
    }
}

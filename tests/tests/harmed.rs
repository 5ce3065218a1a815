//! The law of kept records: whatever somebody does to the store of a running sidecar, or between two runs of it, no call is
//! allowed that is not on record at the store's path afterwards.

use crate::cli::build_guardc;
use crate::sidecar::Sidecar;
use guard_trace::store::{Durability, open_existing};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Command;

const GUARD: &str = "guard g\nbudget money = 5\ntool pay() { costs 1 money }";

/// The damage to the file of the records.
#[derive(Debug, Clone, Copy)]
enum Harm {
    Delete,
    /// Another file takes its place: a copy of what it was when the session began.
    Replace,
    CutHalf,
    /// The sidecar ends, an older copy of the records takes their place, and another sidecar starts.
    RollBack,
    /// The same, with the file cut to its first half; a last line that is cut is one that was never acknowledged.
    CutBetween,
}

const HARMS: [Harm; 5] =
    [Harm::Delete, Harm::Replace, Harm::CutHalf, Harm::RollBack, Harm::CutBetween];

/// The calls before the harm and after it.
const STEPS: usize = 4;

fn start(guardc: &Path, store: &Path) -> Sidecar {
    let mut command = Command::new(guardc);
    let mut sidecar =
        Sidecar::start(command.args(["serve", "--workers", "1", "--journal"]).arg(store));
    sidecar.ask("session.open", json!({ "source": GUARD, "session": "s1" }));
    sidecar
}

fn pay(sidecar: &mut Sidecar, call: &str) -> bool {
    let params = json!({ "session": "s1", "call": call, "tool": "pay" });
    sidecar.ask("call.propose", params)["verdict"] == "allow"
}

fn file(store: &Path) -> PathBuf {
    if store.extension().is_some() { store.to_owned() } else { store.join("s1.jsonl") }
}

fn cut(file: &Path) {
    let open = OpenOptions::new().write(true).open(file).expect("a file");
    let length = open.metadata().expect("its length").len();
    open.set_len(length / 2).expect("it is cut");
}

/// The log of a database holds what is not in it yet; nobody has it open.
fn forget_log(store: &Path) {
    for suffix in ["-wal", "-shm"] {
        let mut path = store.as_os_str().to_owned();
        path.push(suffix);
        let _ = fs::remove_file(PathBuf::from(path));
    }
}

/// The calls that are allowed on record at the path.
fn on_record(store: &Path) -> Vec<String> {
    let Ok(opened) = open_existing(store, Durability::Full, None) else { return Vec::new() };
    let Ok(records) = opened.records("s1", 0) else { return Vec::new() };
    let records = records.filter_map(Result::ok);
    let allowed = records.filter_map(|line| {
        let record: Value = serde_json::from_str(&line).ok()?;
        let allows = record["payload"]["verdict"]["decision"] == "allow";
        allows.then(|| record["call"].as_str().unwrap_or_default().to_owned())
    });
    allowed.collect()
}

fn harmed(guardc: &Path, name: &str, harm: Harm, steps: usize) -> usize {
    let temporary = tempfile::tempdir().expect("a folder");
    let store = temporary.path().join(name);
    let older = temporary.path().join("older");
    let place = format!("{harm:?} of {name} after {steps}");
    let mut sidecar = start(guardc, &store);
    let file = file(&store);
    fs::copy(&file, &older).expect("a copy");
    let mut allowed = Vec::new();
    for step in 0..steps {
        let call = format!("before{step}");
        assert!(pay(&mut sidecar, &call), "{place}: {call}");
        allowed.push(call);
    }
    match harm {
        Harm::Delete => fs::remove_file(&file).expect("it was there"),
        Harm::Replace => fs::rename(&older, &file).expect("it is replaced"),
        Harm::CutHalf => cut(&file),
        Harm::RollBack | Harm::CutBetween => {
            drop(sidecar);
            forget_log(&store);
            match harm {
                Harm::RollBack => _ = fs::copy(&older, &file).expect("it is replaced"),
                _ => cut(&file),
            }
            sidecar = start(guardc, &store);
        }
    }
    let mut refused = 0;
    let mut later = Vec::new();
    for step in 0..STEPS {
        let call = format!("after{step}");
        if pay(&mut sidecar, &call) {
            later.push(call)
        } else {
            refused += 1
        }
        let kept = on_record(&store);
        let lost: Vec<&String> = later.iter().filter(|call| !kept.contains(call)).collect();
        assert!(lost.is_empty(), "{place}: allowed and not on record: {lost:?}");
    }
    // Something that was allowed before is gone; then nothing more may be allowed: its money would be spent twice.
    let kept = on_record(&store);
    let gone = allowed.iter().any(|call| !kept.contains(call));
    assert!(!gone || later.is_empty(), "{place}: {later:?} allowed, although {allowed:?} are gone");
    refused
}

#[test]
fn nothing_is_allowed_that_is_not_on_record() {
    let guardc = build_guardc();
    for name in ["traces", "traces.db"] {
        for harm in HARMS {
            let mut refused = 0;
            for steps in 0..=STEPS {
                refused += harmed(&guardc, name, harm, steps);
            }
            assert!(refused > 0, "{harm:?} of {name} was never noticed");
        }
    }
}

#[test]
fn a_file_of_a_store_is_not_sound_without_the_records_of_its_mark() {
    let guardc = build_guardc();
    let temporary = tempfile::tempdir().expect("a folder");
    let mut sidecar = start(&guardc, temporary.path());
    (0..STEPS).for_each(|at| assert!(pay(&mut sidecar, &format!("c{at}"))));
    drop(sidecar);
    let file = file(temporary.path());
    let verify = || {
        let output = Command::new(&guardc).args(["trace", "verify"]).arg(&file).output();
        let output = output.expect("guardc runs");
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert!(verify().0, "{}", verify().1);
    let text = fs::read_to_string(&file).expect("records");
    let kept: Vec<&str> = text.lines().take(3).collect();
    fs::write(&file, kept.join("\n") + "\n").expect("it is written");
    let (sound, said) = verify();
    assert!(!sound && said.contains("were acknowledged"), "{said}");
}

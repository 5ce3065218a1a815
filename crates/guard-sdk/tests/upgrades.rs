//! Sessions that continue under another guard. Each file of `tests/upgrades` is one case.
//!
//! A case has the old guard, the new guard, the events, and the expected output (`GUARD_BLESS=1`
//! writes it). After each case the trace must verify, its session must resume in the same state,
//! from the store and from the lines alone, and a replay with both plans must reproduce every
//! record.

use guard_plan::record::{Payload, Record, verify_chain};
use guard_sdk::{Guard, Json, Recorded, Session, SessionError, Storage};
use guard_trace::replay::{Judge, Options, Replay};
use std::fmt::Write as _;
use std::path::Path;

const PARTS: [&str; 3] = ["=== new\n", "=== events\n", "=== said\n"];

/// The instant at which every case begins: 2026-01-05T09:00:00Z. Each event is one second after the
/// one before.
const START: i64 = 1_767_603_600_000;

struct Case<'c> {
    old: Guard,
    new: Guard,
    events: &'c str,
}

fn read(text: &str) -> (Case<'_>, &str) {
    let (old, rest) = text.split_once(PARTS[0]).expect("a new guard");
    let (new, rest) = rest.split_once(PARTS[1]).expect("events");
    let (events, said) = rest.split_once(PARTS[2]).unwrap_or((rest, ""));
    let guard = |text: &str| Guard::compile("case.guard", text).expect("the guard compiles");
    (Case { old: guard(old), new: guard(new), events }, said)
}

fn verdict(recorded: &Recorded<guard_sdk::Proposed>) -> String {
    if recorded.verdict.is_allowed() {
        "allow".into()
    } else {
        format!("{} {}", recorded.verdict.decision.as_str(), recorded.verdict.message())
    }
}

fn upgraded(upgrade: Result<guard_sdk::SessionUpgrade, SessionError>) -> String {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(error) => return format!("{}: {error}", error.code()),
    };
    let list = |what: &str, all: &[String]| match all {
        [] => String::new(),
        all => format!("; {what} {}", all.join(", ")),
    };
    let what = if upgrade.record.is_some() { "continues" } else { "no other plan" };
    format!("{what}{}{}", list("begins anew:", &upgrade.anew), list("forgotten:", &upgrade.dropped))
}

/// The words of an event. The last one may contain whitespace.
fn words(line: &str, most: usize) -> Vec<&str> {
    line.splitn(most, ' ').collect()
}

fn play(case: &Case<'_>, storage: &Storage) -> String {
    let open = |guard: &Guard| guard.session("s1").storage(storage).at(START).open();
    let mut session = open(&case.old).expect("it opens");
    let mut said = String::new();
    for (event, at) in case.events.lines().zip(1..) {
        let now = START + 1000 * at;
        let first = event.split(' ').next().unwrap_or_default();
        let _ = writeln!(said, "> {event}");
        let answer = match first {
            "reopen" => {
                let guard = if event == "reopen old" { &case.old } else { &case.new };
                drop(session);
                match open(guard) {
                    Ok(opened) => {
                        session = opened;
                        "opened".into()
                    }
                    Err(error) => {
                        // The next event finds the session as it was.
                        session = open(if event == "reopen old" { &case.new } else { &case.old })
                            .expect("it opens");
                        format!("{}: {error}", error.code())
                    }
                }
            }
            _ => event_of(&mut session, case, event, now)
                .unwrap_or_else(|error| format!("{}: {error}", error.code())),
        };
        let answer = answer.replace(&case.old.plan_hash(), "the old one");
        let _ = writeln!(said, "{}", answer.replace(&case.new.plan_hash(), "the new one"));
    }
    check(case, &session);
    said
}

fn event_of(
    session: &mut Session,
    case: &Case<'_>,
    event: &str,
    now: i64,
) -> Result<String, SessionError> {
    let json = |text: &str| Json::parse(text).expect("it is JSON");
    let session = session.at(now);
    Ok(match words(event, 4)[..] {
        ["propose", call, tool, args] => verdict(&session.propose(call, tool, args)?),
        ["settle", call] => settled(&session.settle(call, Ok(None))?),
        ["fail", call] => settled(&session.settle(call, Err(()))?),
        ["settle", call, ..] => settled(&session.settle_text(call, words(event, 3)[2])?),
        ["approve", tool, role, args] => {
            session.approve(tool, &json(args), role, "ida", None)?;
            "approved".into()
        }
        ["prompt", ..] => format!("{} learned", session.prompt(words(event, 2)[1])?.learned),
        ["usage", unit, amount] => {
            session.usage(unit, amount.parse::<i64>().expect("a number") * 1_000_000)?;
            "charged".into()
        }
        ["upgrade"] => upgraded(session.upgrade(&case.new)),
        ["upgrade", "back"] => upgraded(session.upgrade(&case.old)),
        ["force"] => upgraded(session.upgrade_forced(&case.new, "ida", Some("the sale"))),
        ["force", "nobody"] => upgraded(session.upgrade_forced(&case.new, " ", None)),
        ["state"] => session.state_json().to_string(),
        _ => panic!("`{event}` is not an event"),
    })
}

fn settled(settled: &Recorded<guard_sdk::Settled>) -> String {
    let notes = settled.notes.iter().map(|note| note.message.as_str());
    let notes = notes.collect::<Vec<_>>().join("; ");
    format!("settled{}{notes}", if notes.is_empty() { "" } else { ": " })
}

/// Checks the properties that must hold after every case.
fn check(case: &Case<'_>, session: &Session) {
    let lines = session.records().expect("records");
    verify_chain(lines.iter().map(String::as_str)).expect("the chain is whole");
    let again = session.guard().session("s1").trace(&lines).at(START);
    // Without the store's key, secrets cannot be read.
    if !session.guard().kernel().has_secrets() && !case.old.kernel().has_secrets() {
        let again = again.open().expect("it comes up from its lines");
        assert_eq!(again.state_json(), session.state_json());
        let old = judge(&case.old);
        let new = judge(&case.new);
        replay(&old, &new, &lines);
    }
}

fn judge(guard: &Guard) -> Judge {
    Judge::new(guard.kernel().loaded().clone()).expect("a judge")
}

fn replay(old: &Judge, new: &Judge, lines: &[String]) {
    let options = Options { keys: None, keep: 9, marks: 0, foreign: false };
    let record = |line: &str| Record::parse(line).expect("a record");
    let first = Some(lines[0].as_bytes());
    let mut replay = Replay::begin(old, options, record(&lines[0]), first).expect("it begins");
    for line in &lines[1..] {
        let record = record(line);
        let bytes = Some(line.as_bytes());
        match &record.payload {
            Payload::Upgrade(upgrade) => {
                let to = [old, new].into_iter().find(|judge| judge.hash() == upgrade.snapshot.plan);
                replay.upgrade(to.expect("one of both"), record, bytes).expect("it goes on");
            }
            _ => replay.record(record, bytes).expect("its own record"),
        }
    }
    let replayed = replay.end();
    assert_eq!(replayed.recorded.records, 0, "{:?}", replayed.differences);
    assert!(replayed.exact);
}

#[test]
fn every_case_says_what_it_said() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/upgrades");
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .expect("cases")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let bless = std::env::var_os("GUARD_BLESS").is_some();
    let mut wrong = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a case");
        let (case, expected) = read(&text);
        let mut all = Vec::new();
        for store in ["traces", "traces.db"] {
            let temporary = tempfile::tempdir().expect("a folder");
            let storage = Storage::open(&temporary.path().join(store)).expect("a store");
            all.push(play(&case, &storage));
        }
        assert_eq!(all[0], all[1], "{}: both stores say the same", path.display());
        if bless {
            let (case, _) = text.split_once(PARTS[2]).unwrap_or((&text, ""));
            std::fs::write(&path, format!("{case}{}{}", PARTS[2], all[0])).expect("it is written");
        } else if all[0] != expected {
            wrong.push(format!("{}\nexpected:\n{expected}\nfound:\n{}", path.display(), all[0]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! Agreement of two checks: a trace that `session.open` refuses is also refused by a replay with
//! the trace's own plan, for the same reason.

use guard_plan::json::Json;
use guard_plan::record::{
    Answers, Approve, Chain, Kind, Payload, Record, Resume, Settle, Usage, WritePayload,
};
use guard_plan::verdict::Decision;
use guard_sdk::Guard;
use guard_trace::replay::{Judge, Options, Replay, ReplayError, Replayed};
use std::borrow::Cow;

const GUARD: &str = "guard demo\n\
    budget usd = 10\n\
    budget tokens = 100 host\n\
    probe ready { returns bool host }\n\
    tool check()\n\
    tool pay(amount: decimal in 0..=9) {\n  requires check\n  costs amount usd\n  approval boss\n}\n";

fn guard() -> Guard {
    Guard::compile("demo.guard", GUARD).expect("the guard compiles")
}

/// A session with a few honest records.
fn honest(guard: &Guard) -> Vec<String> {
    let mut session = guard.session("s1").at(1_767_000_000_000).open().expect("a session");
    session.at(1_767_000_001_000).propose("c1", "check", "{}").expect("a verdict");
    session.at(1_767_000_002_000).settle("c1", Ok(None)).expect("settled");
    session.records().expect("records")
}

/// The trace with one more record, with a correct hash.
fn forged(
    lines: &[String],
    kind: Kind,
    call: Option<&str>,
    payload: &impl WritePayload,
) -> Vec<String> {
    let last = Record::parse(lines.last().expect("a record")).expect("a record");
    let hash = guard_plan::hex::decode(&last.hash).expect("a hash");
    let mut chain = Chain::from(last.seq + 1, hash);
    let line = chain.append(1_767_000_003_000, kind, call, payload).to_vec();
    let mut lines = lines.to_vec();
    lines.push(String::from_utf8(line).expect("text"));
    lines
}

/// Replays a trace with its own plan.
fn replay(guard: &Guard, lines: &[String]) -> Result<Replayed, ReplayError> {
    let judge = Judge::new(guard.kernel().loaded().clone()).expect("a kernel");
    let options = Options { keys: None, keep: 10, marks: 10, foreign: false };
    let mut records = lines.iter().map(|line| (Record::parse(line).expect("a record"), line));
    let (first, line) = records.next().expect("a record");
    let mut replay = Replay::begin(&judge, options, first, Some(line.as_bytes()))?;
    for (record, line) in records {
        replay.record(record, Some(line.as_bytes()))?;
    }
    Ok(replay.end())
}

/// The replay's objection to a trace; none if the replay accepts it.
fn replayed(guard: &Guard, lines: &[String]) -> Option<String> {
    match replay(guard, lines) {
        Ok(end) => (end.recorded.records > 0).then(|| "it differs".to_owned()),
        Err(error) => Some(error.to_string()),
    }
}

fn check(name: &str, lines: &[String], expected: &str) {
    let guard = guard();
    let opened = guard.session("s1").trace(lines).open().err().map(|error| error.to_string());
    assert_eq!(opened.as_deref(), Some(expected), "{name}: session.open");
    assert_eq!(replayed(&guard, lines).as_deref(), Some(expected), "{name}: replay");
}

#[test]
fn forged_records_are_refused_by_both() {
    let honest = honest(&guard());
    let empty = Json::Object(Vec::new());
    let approve = |tool: &'static str| Approve {
        tool: tool.into(),
        args: Cow::Borrowed(&empty),
        role: "boss".into(),
        by: "eve".into(),
        expires: None,
        sealed: None,
    };
    let event = "record 3 holds an event that the session cannot accept:";
    check(
        "an approval of an undeclared tool",
        &forged(&honest, Kind::Approve, None, &approve("sudo")),
        &format!("{event} the guard declares no tool `sudo`"),
    );
    check(
        "an approval of a call that cannot be",
        &forged(&honest, Kind::Approve, None, &approve("pay")),
        &format!(
            "{event} the arguments are not valid; `amount`: is missing, expected decimal in 0..=9"
        ),
    );
    check(
        "a resumption of nothing",
        &forged(&honest, Kind::Resume, None, &Resume { role: "boss".into(), by: "eve".into() }),
        &format!("{event} the session is not halted"),
    );
    let usage = |unit: &'static str, amount: &'static str| Usage {
        unit: unit.into(),
        amount: amount.into(),
    };
    check(
        "a negative amount",
        &forged(&honest, Kind::Usage, None, &usage("tokens", "-5")),
        &format!("{event} an amount is negative"),
    );
    check(
        "usage that calls are charged",
        &forged(&honest, Kind::Usage, None, &usage("usd", "5")),
        &format!("{event} `usd` is not charged by the host"),
    );
    let settle = Settle::plain(true, Cow::Owned(Json::Null));
    check(
        "the end of a call that nobody made",
        &forged(&honest, Kind::Settle, Some("c9"), &settle),
        &format!("{event} no call `c9` is in flight"),
    );
}

/// Both accept valid records, and both refuse records that differ.
#[test]
fn both_agree_on_other_records() {
    let guard = guard();
    let honest = honest(&guard);
    assert_eq!(replayed(&guard, &honest), None);
    let answers = Answers {
        answers: Cow::Owned(Json::parse(r#"{"ready":true}"#).expect("JSON")),
        sealed: None,
    };
    let usage = |amount: &'static str| Usage { unit: "tokens".into(), amount: amount.into() };
    let resume = Resume { role: "boss".into(), by: "eve".into() };
    let mut fine = forged(&honest, Kind::Answers, None, &answers);
    fine = forged(&fine, Kind::Usage, None, &usage("5"));
    for lines in [
        fine.clone(),
        forged(&fine, Kind::Usage, None, &usage("5.0")),
        forged(&fine, Kind::Answers, Some("c1"), &answers),
        forged(&fine, Kind::Resume, None, &resume),
        honest[..2].to_vec(),
    ] {
        let opened = guard.session("s1").trace(&lines).open().err().map(|error| error.to_string());
        let replayed = replayed(&guard, &lines);
        assert_eq!(
            opened.is_some(),
            replayed.is_some(),
            "{opened:?} {replayed:?} {:?}",
            lines.last()
        );
    }
}

/// A changed verdict is reported at its position, although the end of its call could not follow it.
#[test]
fn a_changed_verdict_is_located() {
    let guard = guard();
    let mut chain = Chain::default();
    let mut lines = Vec::new();
    for line in honest(&guard) {
        let record = Record::parse(&line).expect("a record");
        let time = guard_plan::time::parse_rfc3339(&record.time).expect("a time");
        let kind = record.kind();
        let call = record.call.as_deref();
        let line = match record.payload {
            Payload::Open(open) => chain.append(time, kind, call, &open).to_vec(),
            Payload::Propose(mut then) => {
                then.verdict.to_mut().decision = Decision::Deny;
                chain.append(time, kind, call, &then).to_vec()
            }
            Payload::Settle(then) => chain.append(time, kind, call, &then).to_vec(),
            _ => panic!("no other records were written"),
        };
        lines.push(String::from_utf8(line).expect("text"));
    }
    assert!(guard.session("s1").trace(&lines).open().is_err());
    let end = replay(&guard, &lines).expect("a report");
    let differences: Vec<_> =
        end.differences.iter().map(|it| (it.seq, it.then.as_str(), it.now.as_str())).collect();
    assert_eq!(differences, [(1, "deny", "allow")]);
    assert_eq!(end.recorded.skipped, 1);
}

//! Benchmarks of replaying recorded sessions: by the recorded plan and by a stricter one, from parsed records and from
//! lines that are checked and parsed. Figures are of one core, in calls.

use divan::counter::ItemsCount;
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_plan::record::Record;
use guard_runtime::{Ending, Event, Kernel, NoWorld, Proposal, Recorder, Salt, Settlement};
use guard_tests::compiled;
use guard_trace::reading::Records;
use guard_trace::replay::{Judge, Options, Replay, Replayed};
use std::sync::Arc;

fn main() {
    divan::main();
}

const GUARD: &str = "guard refunds
budget money = 20000000.00
tool verify_customer(code: string matches /^[0-9]{6}$/)
tool refund(order: string max 30, amount: decimal in 0.01..=500) {
  requires verify_customer
  costs amount money
  limit 1000000 per session
  deny when amount > 450 because \"too much\"
";

/// Calls of the session.
const CALLS: usize = 2_000;

fn loaded(more: &str) -> LoadedPlan {
    let output = compiled(&format!("{GUARD}{more}}}\n")).expect("the guard compiles");
    LoadedPlan::from_plan(output.plan, output.sources).expect("the plan loads")
}

/// A session of refunds, one in ten of them denied.
fn session() -> Vec<String> {
    let kernel = Kernel::new(loaded("")).expect("a kernel");
    let mut session = kernel.open("s", 0, "/workspace").expect("a session");
    let mut recorder = Recorder::new(Arc::new(Salt::new(b"salt")));
    let text = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
    let mut lines = vec![text(recorder.open(&kernel, &session, None))];
    for number in 0..CALLS {
        let call = format!("c{number}");
        let now = number as i64 * 1000;
        let (tool, args) = match number {
            0 => ("verify_customer", "{\"code\":\"123456\"}".to_owned()),
            _ => (
                "refund",
                format!("{{\"order\":\"A{number}\",\"amount\":{}.50}}", number * 7 % 500),
            ),
        };
        let args = Json::parse(&args).expect("JSON");
        let result = Json::parse("{\"ok\":true,\"id\":\"r-1\"}").expect("JSON");
        let propose = Event::Propose(Proposal { call: &call, tool, args: (&args).into(), now });
        let ending = Ending::Success(Some(&result));
        let settle = Event::Settle(Settlement { call: &call, ending, now: now + 500 });
        for event in [propose, settle] {
            let Ok(outcome) = kernel.step(&mut session, &event, &mut NoWorld) else { continue };
            lines.push(text(recorder.event(&kernel, &session, &event, &outcome)));
        }
    }
    lines
}

fn options() -> Options<'static> {
    Options { keys: None, keep: 10, marks: 0, foreign: false }
}

fn read(lines: &[String]) -> Vec<Record> {
    lines.iter().map(|line| Record::parse(line).expect("a record")).collect()
}

fn decide(judge: &Judge, records: Vec<Record>) -> Replayed {
    let mut records = records.into_iter();
    let first = records.next().expect("a first record");
    let mut replay = Replay::begin(judge, options(), first, None).expect("it opens");
    records.for_each(|record| replay.record(record, None).expect("it is taken"));
    replay.end()
}

/// The plan that was recorded, or one that refuses more.
fn judge(stricter: bool) -> Judge {
    let more = if stricter { "deny when amount > 400 because \"too much\"\n" } else { "" };
    Judge::new(loaded(more)).expect("a judge")
}

#[divan::bench(args = [false, true])]
fn decided_again(bencher: divan::Bencher, stricter: bool) {
    let judge = judge(stricter);
    let lines = session();
    let bencher = bencher.counter(ItemsCount::new(CALLS));
    bencher.with_inputs(|| read(&lines)).bench_values(|records| decide(&judge, records));
}

#[divan::bench(args = [false, true])]
fn from_lines(bencher: divan::Bencher, stricter: bool) {
    let judge = judge(stricter);
    let lines = session();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    bencher.counter(ItemsCount::new(CALLS)).bench(|| {
        let mut records = Records::new(text.as_bytes());
        let mut replay = None;
        while let Some(entry) = records.next_record().expect("a record") {
            let record = entry.record;
            let line = Some(entry.line);
            match &mut replay {
                None => {
                    replay = Some(Replay::begin(&judge, options(), record, line).expect("it opens"))
                }
                Some(replay) => replay.record(record, line).expect("it is taken"),
            }
        }
        replay.map(Replay::end)
    });
}

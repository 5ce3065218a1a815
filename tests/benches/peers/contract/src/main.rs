//! A report of 10 MB, clean and malformed: ours beside `serde_json` with `jsonschema`, and beside repair crates.
//!
//! Prints Markdown. Each row is the median and the fastest of several runs, all in one process; what a way makes of the
//! text stands beside its time: how many of the items, and whether one is not as the producer wrote it.

use guard_contract::{Checker, Input, schema};
use guard_plan::json::Json;
use serde_json::Value;
use std::collections::HashSet;
use std::hint::black_box;
use std::time::Instant;

#[path = "../../../../../crates/guard-contract/benches/texts/mod.rs"]
#[allow(missing_docs)]
mod texts;

/// The number of runs of each measurement.
const RUNS: usize = 7;

/// The items that something makes of a text.
type Items = Vec<Value>;

fn main() {
    let plan = texts::plan();
    let checker = Checker::new(&plan, 0).expect("it can be made ready");
    let validator = jsonschema::validator_for(&schema(&plan, 0)).expect("it compiles");
    let ours = |text: &str| checker.check(text.as_bytes(), &Input::none());
    let theirs = |text: &str| {
        let value: Value = serde_json::from_str(text).ok()?;
        black_box(validator.is_valid(&value));
        Some(value)
    };
    let good: HashSet<String> =
        items(theirs(&texts::clean())).iter().map(Value::to_string).collect();
    println!("| text | how | median | fastest | items | of them not written so |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let row = |text: &str, how: &str, time: (f64, f64), items: Items| {
        let strange = items.iter().filter(|item| !good.contains(&item.to_string())).count();
        let median = time.0 * 1e3;
        let fastest = time.1 * 1e3;
        println!(
            "| {text} | {how} | {median:.1} ms | {fastest:.1} ms | {} | {strange} |",
            items.len()
        );
    };
    let ways = |name: &str, text: &str| {
        row(name, "ours", time(|| ours(text)), kept(ours(text)));
        let repair = || {
            let repaired = jsonrepair::repair_to_string(text, &jsonrepair::Options::default());
            repaired.ok().and_then(|text| theirs(&text))
        };
        row(name, "`jsonrepair`, `serde_json`, `jsonschema`", time(repair), items(repair()));
    };
    let clean = texts::clean();
    row("clean", "ours", time(|| ours(&clean)), kept(ours(&clean)));
    let both = time(|| theirs(&clean));
    row("clean", "`serde_json` to a value, `jsonschema`", both, items(theirs(&clean)));
    let alone = time(|| serde_json::from_str::<Value>(&clean));
    row("clean", "`serde_json` to a value", alone, items(theirs(&clean)));
    ways("a comma too many in 2 %", &texts::repairable());
    ways("a quote too many in 2 %", &texts::damaged());
    ways("cut", &texts::cut());
    growth();
    streaming(&checker, &clean);
}

/// Another repair crate, on the beginnings of the cut text: how its time grows.
fn growth() {
    println!("\n| the beginning of the text | `llm_json` | `jsonrepair` |\n| --- | --- | --- |");
    let text = texts::clean();
    for size in [10_000, 100_000, 1_000_000] {
        let part = &text[..size];
        let began = Instant::now();
        let _ = black_box(llm_json::repair_json(part, &llm_json::RepairOptions::default()));
        let one = began.elapsed().as_secs_f64() * 1e9 / size as f64;
        let began = Instant::now();
        let _ = black_box(jsonrepair::repair_to_string(part, &jsonrepair::Options::default()));
        let other = began.elapsed().as_secs_f64() * 1e9 / size as f64;
        println!("| {size} bytes | {one:.0} ns a byte | {other:.0} ns a byte |");
    }
}

/// Measures the peak memory while a text streams, without the text itself, for two numbers of kept items.
fn streaming(checker: &Checker, text: &str) {
    println!("\n| streaming, in pieces of 4 KiB | held at most |\n| --- | --- |");
    let mut few = texts::plan();
    few.contracts[0].lists[0].max = Some(7);
    let few = Checker::new(&few, 0).expect("it can be made ready");
    for (name, checker) in [("every item is kept", checker), ("seven are kept", &few)] {
        let held = allocation_counter::measure(|| {
            let mut feed = checker.feed();
            for piece in text.as_bytes().chunks(4096) {
                drop(feed.push(piece, &Input::none()));
            }
            drop(black_box(feed.finish(&Input::none())));
        });
        let length = text.len() as f64;
        let most = held.bytes_max as f64;
        println!("| {name}, of {:.1} MB | {:.2} MB |", length / 1e6, most / 1e6);
    }
    let whole =
        allocation_counter::measure(|| drop(black_box(serde_json::from_str::<Value>(text))));
    println!(
        "| `serde_json` to a value, of the whole text | {:.2} MB |",
        whole.bytes_max as f64 / 1e6
    );
}

fn kept(report: guard_plan::report::Report) -> Items {
    let items = report.items.into_values().flatten();
    items.map(|item| plain(&item.value)).collect()
}

fn plain(value: &Json) -> Value {
    serde_json::from_str(&value.to_string()).expect("it is JSON")
}

fn items(document: Option<Value>) -> Items {
    let list = document.as_ref().and_then(|value| value["recommendations"].as_array());
    list.cloned().unwrap_or_default()
}

/// Median and fastest, in seconds; what is made is dropped outside of the time.
fn time<T>(mut run: impl FnMut() -> T) -> (f64, f64) {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let began = Instant::now();
            let made = black_box(run());
            let took = began.elapsed().as_secs_f64();
            drop(made);
            took
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[RUNS / 2], times[0])
}

//! A report of 10 MB, clean and damaged, beside `serde_json` parsing it to a value and `jsonschema` validating that.

use divan::{Bencher, black_box, counter::BytesCount};
use guard_contract::{Checker, Input, schema};
use guard_plan::plan::Plan;

#[path = "../tests/main/build.rs"]
#[allow(dead_code, missing_docs)]
mod build;

fn main() {
    divan::main();
}

const SIZE: usize = 10_000_000;

/// The triage report without a limit.
fn plan() -> Plan {
    let mut builder = build::triage();
    let list = &mut builder.contract().lists[0];
    (list.max, list.by) = (None, None);
    builder.plan
}

/// As models write: pretty, with some text in each item.
fn items() -> Vec<String> {
    let item = |rank: usize| {
        format!(
            "{{\n      \"rank\": {rank},\n      \"candidate\": \"workstream-{rank}\",\n      \"action\": \"start\",\n      \
             \"why\": \"It unblocks the \\\"billing\\\" work, which three others wait for; nothing else is ready.\",\n      \
             \"wsjf\": {{\"value\": {}, \"size\": 2}},\n      \"tags\": [\"revenue\", \"q3\"]\n    }}",
            rank % 9 + 1
        )
    };
    let count = SIZE / item(10_000).len();
    (0..count).map(item).collect()
}

fn clean() -> String {
    build::document(&items())
}

/// One item in fifty has a quote too many.
fn damaged() -> String {
    let mut items = items();
    for item in items.iter_mut().step_by(50) {
        *item = item.replace("nothing else", "nothing \"else");
    }
    build::document(&items)
}

/// One item in fifty has a comma too many.
fn repairable() -> String {
    let mut items = items();
    for item in items.iter_mut().step_by(50) {
        *item = item.replace("\"q3\"]", "\"q3\",]");
    }
    build::document(&items)
}

fn cut() -> String {
    let mut text = clean();
    text.truncate(text.len() - 150);
    text
}

fn ours(bencher: Bencher, text: String) {
    let checker = Checker::new(&plan(), 0).expect("it can be made ready");
    let check = || checker.check(black_box(text.as_bytes()), &Input::none());
    bencher.counter(BytesCount::of_str(&text)).bench(check);
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn ours_clean(bencher: Bencher) {
    ours(bencher, clean());
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn ours_damaged(bencher: Bencher) {
    ours(bencher, damaged());
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn ours_repairable(bencher: Bencher) {
    ours(bencher, repairable());
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn ours_cut(bencher: Bencher) {
    ours(bencher, cut());
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn ours_fed_in_pieces_of_4_kib(bencher: Bencher) {
    let checker = Checker::new(&plan(), 0).expect("it can be made ready");
    let text = clean();
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let mut feed = checker.feed();
        for piece in black_box(text.as_bytes()).chunks(4096) {
            black_box(feed.push(piece, &Input::none()));
        }
        feed.finish(&Input::none())
    });
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn serde_json_and_jsonschema(bencher: Bencher) {
    let validator = jsonschema::validator_for(&schema(&plan(), 0)).expect("it compiles");
    let text = clean();
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let value: serde_json::Value = serde_json::from_str(black_box(&text)).expect("it is JSON");
        assert!(validator.is_valid(&value));
        value
    });
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn serde_json_alone(bencher: Bencher) {
    let text = clean();
    let parse = || serde_json::from_str::<serde_json::Value>(black_box(&text));
    bencher.counter(BytesCount::of_str(&text)).bench(parse);
}

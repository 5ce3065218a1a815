//! A benchmark of a report of 10 MB, clean and damaged, compared with `serde_json` parsing it to a
//! value and `jsonschema` validating that value.

use divan::{Bencher, black_box, counter::BytesCount};
use guard_contract::{Checker, Input, schema};
use texts::{clean, cut, damaged, plan, repairable};

#[allow(missing_docs)]
mod texts;

fn main() {
    divan::main();
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
    let validator =
        jsonschema::validator_for(&schema(&plan(), 0, &Default::default())).expect("it compiles");
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

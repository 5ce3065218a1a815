//! A benchmark of our JSON reader against `serde_json`, which preserves less.

use divan::{Bencher, black_box, counter::BytesCount};
use guard_plan::json::Json;

fn main() {
    divan::main();
}

/// Returns a JSON text of `rows` rows, in the shape of typical tool arguments and results.
fn text(rows: usize) -> String {
    let row = r#"{"id": "c0ffee-42", "name": "A name with \"quotes\"", "price": 12.50, "count": 3,
        "tags": ["a", "b"], "body": "some longer text, as bodies are: nothing special in it at all"}"#;
    format!("{{\"rows\": [{}], \"next\": null}}", vec![row; rows].join(","))
}

#[divan::bench(args = [1, 1000])]
fn ours(bencher: Bencher, rows: usize) {
    let text = text(rows);
    bencher.counter(BytesCount::of_str(&text)).bench(|| Json::parse(black_box(&text)));
}

#[divan::bench(args = [1, 1000])]
fn serde_json(bencher: Bencher, rows: usize) {
    let text = text(rows);
    let parse = || serde_json::from_str::<serde_json::Value>(black_box(&text));
    bencher.counter(BytesCount::of_str(&text)).bench(parse);
}

//! A measurement of the time for hostile texts of growing length: the table of
//! `docs/benchmarks.md`.
//!
//! The argument is the maximum length in bytes; the default is 100,000,000.

use guard_contract::{Checker, Input};
use std::time::Instant;

#[path = "../tests/main/build.rs"]
#[allow(dead_code, missing_docs)]
mod build;
#[path = "../tests/main/hostile_texts.rs"]
mod hostile_texts;

fn main() {
    let most = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(100_000_000);
    let mut builder = build::triage();
    let list = &mut builder.contract().lists[0];
    (list.max, list.by) = (None, None);
    let checker = Checker::new(&builder.plan, 0).expect("it can be made ready");
    for (name, make) in hostile_texts::TEXTS {
        let mut size = 1000;
        print!("{name:32}");
        while size <= most {
            let text = make(size);
            let start = Instant::now();
            let report = checker.check(text.as_bytes(), &Input::none());
            let took = start.elapsed().as_secs_f64();
            print!(" {:9.2}", took * 1e9 / text.len() as f64);
            assert_eq!(report.text.length, text.len() as u64);
            size *= 10;
        }
        println!(" ns a byte");
    }
}

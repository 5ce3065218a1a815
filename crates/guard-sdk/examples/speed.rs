//! The time of one call, proposed and settled, in an in-memory session: the median in nanoseconds.
//!
//! Run with `cargo run --release -p guard-sdk --example speed`.
//! `crates/guard-python/benches/speed.py` compares it with Python and the sidecar.

use guard_sdk::{Guard, Json};
use std::error::Error;
use std::time::Instant;

const ROUNDS: usize = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    let guard = Guard::compile(
        "speed.guard",
        "guard speed\ntool refund(order: string, amount: decimal in 0.01..=500)",
    )?;
    let mut session = guard.session("s").open()?;
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let args = Json::Object(vec![
            ("order".into(), Json::string("A1")),
            ("amount".into(), Json::Int(20)),
        ]);
        session.propose("c", "refund", &args)?;
        session.settle("c", Ok(None))?;
        times.push(begun.elapsed().as_nanos());
    }
    times.sort_unstable();
    println!("{}", times[ROUNDS / 2]);
    Ok(())
}

//! Looks for sessions that contradict a *no* of `diff`, in the pairs of the cases and in edits of their guards.
//!
//! `cargo run -p guard-tests --bin disproofs -- ROUNDS` tries so many edits of each. It fails if there is one.

use guard_tests::disproofs::{case, compare, pairs};
use std::process::ExitCode;

fn main() -> ExitCode {
    let rounds = std::env::args().nth(1).map_or(1, |text| text.parse().expect("a number"));
    let pairs = pairs();
    let mut asked = 0;
    let mut broken = 0;
    for n in 0.. {
        let Some(pair) = case(&pairs, n, rounds) else { break };
        match compare(&pair) {
            Ok(times) => asked += times,
            Err(why) => {
                broken += 1;
                println!("case {n}: {why}\n");
            }
        }
    }
    println!("{asked} comparisons, {broken} contradicted");
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

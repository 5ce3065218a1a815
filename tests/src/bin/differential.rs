//! Plays as many random sessions as asked and compares kernel and reference evaluator.
//!
//! `differential SESSIONS [SEED]`; a disagreement is printed, reduced, with the seed that gives it again.

use guard_tests::differential::run;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let sessions = args.next().map_or(Ok(100_000), |n| n.parse::<u64>());
    let seed = args.next().map_or(Ok(1), |n| n.parse::<u64>());
    let (Ok(sessions), Ok(seed)) = (sessions, seed) else {
        eprintln!("usage: differential [SESSIONS] [SEED]");
        return ExitCode::from(2);
    };
    match run(seed, sessions) {
        Ok(coverage) => {
            print!("{coverage}");
            ExitCode::SUCCESS
        }
        Err(divergence) => {
            println!("{divergence}");
            ExitCode::FAILURE
        }
    }
}

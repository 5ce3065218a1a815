//! The cost of checking proved invariants again: nanoseconds for a call that is proposed and settled, without re-checks, at the
//! default rate and on every call, in guards of one and of twelve proved invariants. `recheck [CALLS]`.

use guard_plan::json::Json;
use guard_runtime::{Ending, Kernel, NoWorld, Proposal, SessionState, Settlement};
use guard_tests::compiled;
use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::Instant;

/// The number of repetitions of each measurement. The fastest one counts.
const ROUNDS: usize = 7;

fn main() {
    let calls = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(100_000);
    for invariants in [1, 12] {
        let kernel = kernel(invariants);
        println!("{invariants} proved: {} claims", kernel.plan().proofs.len());
        for (name, every) in [("off", 0), ("1/256", 256), ("1/16", 16), ("1/1", 1)] {
            let nanos = (0..ROUNDS).map(|_| round(&kernel, every, calls)).fold(f64::MAX, f64::min);
            println!("  {name:>5}  {nanos:.1} ns a call");
        }
    }
}

/// A guard whose invariants are all proved.
fn kernel(invariants: usize) -> Kernel {
    let mut text = String::from("guard measured\n\nstate {\n");
    (0..invariants).for_each(|at| text.push_str(&format!("  v{at}: int in 0..=100 = 100\n")));
    text.push_str("}\n\n");
    (0..invariants).for_each(|at| text.push_str(&format!("invariant i{at} {{ v{at} >= 3 }}\n")));
    text.push_str("\ntool work(x: int in 3..=100) {\n");
    (0..invariants).for_each(|at| text.push_str(&format!("  effect v{at} = x\n")));
    text.push_str("}\n");
    let output = compiled(&text).expect("a guard");
    guard_tests::kernel(&output.plan, &output).expect("a kernel")
}

fn round(kernel: &Kernel, every: u32, calls: u32) -> f64 {
    let mut session = kernel.open("measured", 0, "/").expect("a session");
    kernel.set_recheck(&mut session, NonZeroU32::new(every));
    let args = Json::parse("{\"x\": 7}").expect("JSON");
    let begun = Instant::now();
    for _ in 0..calls {
        call(kernel, &mut session, &args);
    }
    begun.elapsed().as_nanos() as f64 / f64::from(calls)
}

fn call(kernel: &Kernel, session: &mut SessionState, args: &Json) {
    let proposal = Proposal { call: "c", tool: "work", args: args.into(), now: 0 };
    let proposed = kernel.propose(session, &proposal, &mut NoWorld).expect("an answer");
    assert!(black_box(proposed).verdict.is_allowed());
    let settlement = Settlement { call: "c", ending: Ending::Success(None), now: 0 };
    black_box(kernel.settle(session, &settlement, &mut NoWorld)).expect("settled");
}

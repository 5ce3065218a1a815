//! The property tests of damaged documents, for a given number of generated documents.
//!
//! Run `damage [DOCUMENTS] [SEED] [SHOWN]`. It prints how many undamaged items were found, and the
//! violations.

#[path = "../tests/main/build.rs"]
#[allow(dead_code, missing_docs)]
mod build;
#[path = "../tests/main/damage.rs"]
#[allow(dead_code, missing_docs)]
mod damage;
#[path = "../tests/main/forms.rs"]
#[allow(dead_code, missing_docs)]
mod forms;
#[path = "../tests/main/look_alikes.rs"]
#[allow(dead_code, missing_docs)]
mod look_alikes;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arg = |at: usize, or: u64| {
        std::env::args().nth(at).and_then(|arg| arg.parse().ok()).unwrap_or(or)
    };
    let count = arg(1, 100_000);
    let outcome = damage::run(count, arg(2, 1), arg(3, 5) as usize);
    for (kind, recall) in &outcome.recall {
        println!("{kind:?}: {recall}");
    }
    for broken in &outcome.broken {
        println!("{broken}");
    }
    let broken = outcome.count;
    let valid = outcome.falsely_valid;
    println!("{broken} of {count} documents break a law, {valid} of them are valid");
    let alike = look_alikes::run(count, arg(2, 1));
    alike
        .falsely_valid
        .iter()
        .chain(&alike.delivered)
        .take(arg(3, 5) as usize)
        .for_each(|value| println!("{value}"));
    println!(
        "look-alikes: {} of {count} texts are falsely valid, {} deliver what is not meant; {} of {} documents found",
        alike.falsely_valid.len(),
        alike.delivered.len(),
        alike.found,
        alike.meant,
    );
    if outcome.holds(count) && alike.falsely_valid.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

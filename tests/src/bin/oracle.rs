//! The prover beside z3, on the same questions: what is proved must be unsatisfiable there.
//!
//! `oracle Z3 [GUARDS]`: prints how many goals both decide alike, and how many z3 proves that the prover leaves open. Fails if
//! something is proved that z3 refutes, and if z3 cannot be run: an oracle that is not there is no oracle.

use guard_compiler::CompilerOutput;
use guard_compiler::verify::smt::{OpenGoal, PROLOGUE, open_goals};
use guard_plan::plan::Claim;
use guard_plan::random::Rng;
use guard_tests::{compiled, small, solve, walks};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(z3) = args.next() else {
        eprintln!("usage: oracle Z3 [GUARDS]");
        return ExitCode::from(2);
    };
    let guards = args.next().and_then(|n| n.parse().ok()).unwrap_or(500);
    let mut tally = OracleTally::default();
    for seed in 0..guards {
        let rng = &mut Rng::new(seed);
        let text = if seed % 2 == 0 { walks::source(rng) } else { small::source(rng) };
        let Some(output) = compiled(&text) else { continue };
        if let Err(why) = compare(&z3, &output, &mut tally) {
            println!("seed {seed}: {why}\n{text}");
            return ExitCode::FAILURE;
        }
    }
    println!(
        "{} goals: {} proved by both, {} open in both, {} proved by z3 alone, {} that z3 does not decide",
        tally.both + tally.open + tally.missed + tally.unknown,
        tally.both,
        tally.open,
        tally.missed,
        tally.unknown
    );
    if tally.both == 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[derive(Default)]
struct OracleTally {
    both: usize,
    open: usize,
    missed: usize,
    unknown: usize,
}

fn compare(z3: &str, output: &CompilerOutput, tally: &mut OracleTally) -> Result<(), String> {
    let plan = &output.plan;
    // Which invariants may be assumed depends on what is proved of observations, and which bounds on what is proved of
    // settlements: those proofs stay.
    let mut unproved = plan.clone();
    let stays = |claim: &Claim| matches!(claim, Claim::Observed { .. } | Claim::Bounded { .. });
    unproved.proofs.retain(|proof| stays(&proof.claim));
    let goals = open_goals(&unproved);
    if goals.is_empty() {
        return Ok(());
    }
    let answers = ask(z3, &goals)?;
    for (goal, answer) in goals.iter().zip(answers) {
        // Of a tool that can never be called everything holds: that it cannot be is what was proved.
        let impossible = output.verification.impossible.iter().any(|call| call.tool == goal.tool);
        let proved = impossible || plan.proofs.iter().any(|proof| proof.claim == goal.claim);
        match (answer.as_str(), proved) {
            ("unsat", true) => tally.both += 1,
            ("unsat", false) => tally.missed += 1,
            ("sat", false) => tally.open += 1,
            ("sat", true) => return Err(format!("`{}` is proved, and z3 refutes it", goal.text)),
            _ => tally.unknown += 1,
        }
    }
    Ok(())
}

/// One answer a goal.
fn ask(z3: &str, goals: &[OpenGoal]) -> Result<Vec<String>, String> {
    let mut script = String::from(PROLOGUE);
    for goal in goals {
        script.push_str(&format!("(push 1)\n{}(check-sat)\n(pop 1)\n", goal.assertions()));
    }
    solve(&format!("{z3} -in -smt2 -t:5000"), &script, goals.len())
}

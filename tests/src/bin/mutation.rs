//! Deliberate bugs in obligations, prover, certificates and passes, each of which some law must find.
//!
//! Prints one line a bug: where it is, which law killed it, after how many cases. Fails if one survives, or if a law fails
//! without any.

use guard_proof::mutant;
use guard_tests::claims::{LAWS, first_failure};
use std::process::ExitCode;

/// Every bug: its name, and where it is.
const BUGS: &[(&str, &str)] = &[
    ("a type ends one earlier", "guard_proof::value"),
    ("an enum lacks a variant", "guard_proof::value"),
    ("cuts round the wrong way", "guard_proof::linear"),
    ("only the first effect counts", "guard_proof::effects"),
    ("effects read what others wrote", "guard_proof::effects"),
    ("nothing is observed", "guard_proof::effects"),
    ("`+=` subtracts", "guard_proof::effects"),
    ("an option fits anything", "guard_proof::effects"),
    ("a collection is never full", "guard_proof::effects"),
    ("a longer list is as long", "guard_proof::collections"),
    ("what is put in is never new", "guard_proof::collections"),
    ("what is taken out was there", "guard_proof::collections"),
    ("what is put in is not there", "guard_proof::collections"),
    ("a list loses all equal elements", "guard_proof::collections"),
    ("what is taken out stays", "guard_proof::collections"),
    ("an entry keeps its value", "guard_proof::collections"),
    ("a new entry is like the old ones", "guard_proof::collections"),
    ("a sum forgets the last element", "guard_proof::collections"),
    ("products are positive", "guard_proof::arith"),
    ("rounding is ignored", "guard_proof::arith"),
    ("a quotient is rounded down", "guard_proof::arith"),
    ("a remainder is positive", "guard_proof::arith"),
    ("the least is the greatest", "guard_proof::arith"),
    ("`implies` is `or`", "guard_proof::eval"),
    ("an `if` has one branch", "guard_proof::eval"),
    ("the right side never faults", "guard_proof::eval"),
    ("what is missing compares", "guard_proof::eval"),
    ("less is at most", "guard_proof::formula"),
    ("equal is at most", "guard_proof::formula"),
    ("a range begins one later", "guard_proof::formula"),
    ("if and only if goes one way", "guard_proof::formula"),
    ("a negation keeps its edge", "guard_proof::formula"),
    ("a monitor is assumed", "guard_proof::lib"),
    ("an invariant in shadow is assumed", "guard_proof::lib"),
    ("what is observed is assumed", "guard_proof::lib"),
    ("all texts are one", "guard_proof::encoder"),
    ("a choice takes the other", "guard_proof::encoder"),
    ("overflow is ignored", "guard_proof::encoder"),
    ("overflow begins one later", "guard_proof::encoder"),
    ("the greatest value has the other sign", "guard_proof::certificate"),
    ("an unfinished proof is one", "guard_proof::certificate"),
    ("zero is absurd", "guard_proof::certificate"),
    ("one case is enough", "guard_proof::certificate"),
    ("a type proves itself", "guard_proof::system"),
    ("a deny in shadow is given", "guard_proof::system"),
    ("a deny is not negated", "guard_proof::system"),
    ("invariants are given afterwards", "guard_proof::system"),
    ("invariants never fault", "guard_proof::system"),
    ("later parts need nothing", "guard_proof::system"),
    ("a frame forgets the second variable", "guard_proof::frame"),
    ("a needed hypothesis is dropped", "guard_compiler::verify::prover"),
    ("the prover splits two cases", "guard_compiler::verify::prover"),
    ("multipliers are swapped", "guard_compiler::verify::prover"),
    ("rows are counted from one", "guard_compiler::verify::prover"),
    ("`false and x` is x", "guard_compiler::optimize::fold"),
    ("folding loses a fault", "guard_compiler::optimize::fold"),
    ("nothing holds of nothing", "guard_compiler::optimize::fold"),
    ("order forgets faults", "guard_compiler::optimize::order"),
    ("a deny that always fires is dropped", "guard_compiler::optimize::drop"),
    ("not less is greater", "guard_compiler::optimize::simplify"),
    ("`x == false` is x", "guard_compiler::optimize::simplify"),
];

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|_| {}));
    let only = std::env::args().nth(1);
    mutant::set("");
    for (law, case) in LAWS {
        if let Some((n, why)) = first_failure(*case) {
            println!("without any bug, `{law}` fails at {n}: {why}");
            return ExitCode::FAILURE;
        }
    }
    let mut survivors = 0;
    println!("| bug | where | killed by | case |\n| --- | --- | --- | --- |");
    for (bug, place) in BUGS.iter().filter(|(bug, _)| only.as_deref().is_none_or(|one| one == *bug))
    {
        mutant::set(bug);
        let killed = LAWS.iter().find_map(|(law, case)| Some((law, first_failure(*case)?.0)));
        mutant::set("");
        match killed {
            Some((law, n)) => println!("| {bug} | `{place}` | {law} | {n} |"),
            None => {
                survivors += 1;
                println!("| {bug} | `{place}` | **survives** | |");
            }
        }
    }
    println!("\n{} bugs, {survivors} survive", BUGS.len());
    if survivors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

//! Claims put to solvers by an encoder of its own: `opinion GUARDS SOLVER...`.
//!
//! Each SOLVER is a command line that reads SMT-LIB 2 on its standard input, in one word: `"z3 -in -smt2 -t:2000"`. Asked are random guards and those
//! below `specs`. A claim that a solver refutes ends it with 1; so does a solver that cannot be run, and one that is never asked.

use guard_compiler::verify::{Width, verify_at};
use guard_compiler::{CompilerOutput, Loader, SourceFile, compile};
use guard_plan::random::Rng;
use guard_tests::opinion::questions;
use guard_tests::{compiled, guards_in, small, solve, steps};
use std::path::Path;
use std::process::ExitCode;

/// Files as they are on the disk.
struct Nearby;

impl Loader for Nearby {
    fn load(&mut self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }
}

#[derive(Default, Debug)]
struct OpinionTally {
    guards: usize,
    claims: usize,
    unsaid: usize,
    agreed: usize,
    undecided: usize,
    /// Of what is not claimed: shown to be false, by a state.
    refuted: usize,
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let guards: Option<u64> = args.next().and_then(|n| n.parse().ok());
    let solvers: Vec<String> = args.collect();
    let (Some(guards), false) = (guards, solvers.is_empty()) else {
        eprintln!("usage: opinion GUARDS SOLVER...");
        return ExitCode::from(2);
    };
    let mut tally = OpinionTally::default();
    for seed in 0..guards {
        let rng = &mut Rng::new(seed);
        let text = if seed % 8 == 0 { small::source(rng) } else { steps::grammar::source(rng) };
        let Some(output) = compiled(&text) else { continue };
        if let Err(why) = ask_all(&output, &solvers, &mut tally) {
            println!("seed {seed}: {why}\n{text}");
            return ExitCode::FAILURE;
        }
    }
    for path in bundled() {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let root = SourceFile { path: path.display().to_string(), text };
        let Some(output) = compile(root, &mut Nearby).output else { continue };
        if let Err(why) = ask_all(&output, &solvers, &mut tally) {
            println!("{}: {why}", path.display());
            return ExitCode::FAILURE;
        }
    }
    println!("{tally:?}");
    if tally.agreed == 0 || tally.refuted == 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The bundled guards.
fn bundled() -> Vec<std::path::PathBuf> {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs");
    ["examples", "seeds"].iter().flat_map(|folder| guards_in(&specs.join(folder))).collect()
}

fn ask_all(
    output: &CompilerOutput,
    solvers: &[String],
    tally: &mut OpinionTally,
) -> Result<(), String> {
    tally.guards += 1;
    // Bounds of sessions are not told to this encoder, so it is asked only about what one step alone proves.
    let said = verify_at(&output.lowered, Width::REAL);
    for tool in 0..output.lowered.tools.len() as u32 {
        let Some(asked) = questions(output, &said, tool) else { continue };
        tally.unsaid += asked.unsaid;
        tally.claims += asked.unsaid + asked.claims.iter().filter(|(_, proved)| *proved).count();
        if asked.claims.is_empty() {
            continue;
        }
        for solver in solvers {
            let answers = solve(solver, &asked.script, asked.claims.len())?;
            for ((claim, proved), answer) in asked.claims.iter().zip(answers) {
                match answer.as_str() {
                    "sat" if !proved => tally.refuted += 1,
                    _ if !proved => {}
                    "unsat" => tally.agreed += 1,
                    "sat" => return Err(format!("{solver} refutes {claim}\n{}", asked.script)),
                    _ => tally.undecided += 1,
                }
            }
        }
    }
    Ok(())
}

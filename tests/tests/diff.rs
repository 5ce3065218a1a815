//! Tests of the answers of `diff`: a *no* against random sessions, a *yes* by its witness.

use crate::proofs::seeds;
use guard_compiler::CompilerOutput;
use guard_compiler::diff::{Answer, WitnessLimits, diff};
use guard_plan::random::Rng;
use guard_tests::compiled;
use guard_tests::differential::first_difference;
use guard_tests::edits::edited;
use guard_tests::generate::{events, guard};

/// Pairs of guards; `GUARD_SEEDS` times as many where it is set.
const PAIRS: u64 = 30;
/// Sessions of each pair.
const SESSIONS: usize = 12;
/// Events of each session.
const EVENTS: usize = 30;

#[test]
fn answers_hold() {
    let mut rng = Rng::new(405);
    let mut pairs = 0;
    let mut proofs = 0;
    let mut witnesses = 0;
    let mut open = 0;
    let mut differences = 0;
    // Few pairs differ in what a short search finds: it goes on until one does.
    let wanted = seeds(PAIRS);
    while pairs < wanted || (witnesses.min(differences) == 0 && pairs < 10 * wanted) {
        let drawn = guard(&mut rng);
        let Some(old) = compiled(&drawn.text()) else { continue };
        let text = edited(&drawn.text(), &mut rng);
        let Some(new) = compiled(&text) else { continue };
        // One of the two comes first.
        let (old, new, texts) = if rng.chance(50) {
            (old, new, (drawn.text(), text))
        } else {
            (new, old, (text, drawn.text()))
        };
        pairs += 1;
        let limits = WitnessLimits { states: 6, calls: 24, climbs: 24, ..WitnessLimits::default() };
        let found = diff(&old.program, &new.program, &limits, &|| false);
        for answer in found.answers(true).chain(found.answers(false)) {
            match answer {
                Answer::No => proofs += 1,
                Answer::Unknown { .. } => open += 1,
                Answer::Yes(witness) => {
                    assert!(witness.replays(&old.program, &new.program), "{witness:?}");
                    witnesses += 1;
                }
            }
        }
        for _ in 0..SESSIONS {
            let events = events(&mut rng, &drawn, EVENTS);
            let Some((tool, looser)) = first_difference(&old.program, &new.program, &events) else {
                continue;
            };
            differences += 1;
            let of = found.tools.iter().find(|t| t.tool == tool || known(&old, &tool, &t.tool));
            let Some(of) = of else { continue };
            let answer = if looser { &of.looser } else { &of.tighter };
            assert!(
                !matches!(answer, Answer::No),
                "{tool} is {}: {:?}\n{}\n--- and ---\n{}\n{events:?}",
                if looser { "looser" } else { "tighter" },
                of.changes,
                texts.0,
                texts.1
            );
        }
    }
    println!("{proofs} proofs, {witnesses} witnesses, {open} open, {differences} sessions differ");
    assert!(proofs > 0 && witnesses > 0 && differences > 0);
}

/// Returns true if a proposed name is that of the tool.
fn known(output: &CompilerOutput, name: &str, wire: &str) -> bool {
    output.program.tools.iter().any(|tool| tool.name == name && tool.wire_name == wire)
}

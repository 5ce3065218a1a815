//! Pairs of guards of which `diff` may say *no* wrongly, and the search that contradicts it.
//!
//! The pairs are those that cases compare, most of which showed a hole once, and guards of cases with an edit.

use crate::edits::edited;
use crate::{compiled, guards_below};
use guard_compiler::diff::{WitnessLimits, disproofs};
use guard_compiler::explore::events_of;
use guard_plan::random::Rng;
use std::path::Path;

/// The limits of the search for one pair.
const STATES: usize = 12;
const CALLS: usize = 120;
const CLIMBS: usize = 240;

/// The texts of the pairs that the cases of the command line compare, by path.
pub fn pairs() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/cli");
    let mut pairs = Vec::new();
    for file in guards_below(&root) {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        for line in text.lines().filter_map(|line| line.strip_prefix("// RUN: guardc diff ")) {
            let mut words = line.split(' ').filter(|word| *word == "%" || word.ends_with(".guard"));
            let read = |word: &str| match word {
                "%" => Some(text.clone()),
                path => std::fs::read_to_string(root.join(path)).ok(),
            };
            let old = words.next().and_then(read);
            pairs.extend(old.zip(words.next().and_then(read)));
        }
    }
    pairs
}

/// Case `n`: a pair as it stands, and after all of them a guard of a pair beside itself with an edit. None after so many
/// `rounds` of edits.
pub fn case(pairs: &[(String, String)], n: u64, rounds: u64) -> Option<(String, String)> {
    let round = n / pairs.len() as u64;
    let at = n as usize % pairs.len();
    let (old, new) = &pairs[at];
    match round {
        0 => Some((old.clone(), new.clone())),
        round if round > rounds => None,
        round => {
            let rng = &mut Rng::new(n);
            let text = if round.is_multiple_of(2) { old } else { new };
            Some((text.clone(), edited(text, rng)))
        }
    }
}

/// Compares two guards in both directions; how many times `diff` was asked, or a session that contradicts it.
///
/// # Errors
///
/// A session contradicts a *no*.
pub fn compare((old, new): &(String, String)) -> Result<usize, String> {
    let (Some(old_guard), Some(new_guard)) = (compiled(old), compiled(new)) else { return Ok(0) };
    let tests = [&old_guard.scenarios[..], &new_guard.scenarios[..]].concat();
    let seeds = events_of(&tests, &[&old_guard.program, &new_guard.program]);
    let limits = WitnessLimits {
        states: STATES,
        calls: CALLS,
        climbs: CLIMBS,
        seeds,
        ..WitnessLimits::default()
    };
    for (a, b) in [(&old_guard, &new_guard), (&new_guard, &old_guard)] {
        let found = disproofs(&a.program, &b.program, &limits, &|| false);
        if let Some((tool, witness)) = found.first() {
            return Err(format!("`{tool}`: {witness:?}\n{old}\n--- and ---\n{new}"));
        }
    }
    Ok(2)
}

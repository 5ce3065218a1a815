//! The report of a run, for people and programs: text, JSON, JUnit, Markdown, HTML, a badge.

pub mod badge;
pub mod diff;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod scoreboard;
pub mod text;
mod traceback;

use crate::clause::{self, TIERS};
use crate::run::{Outcome, Report, Verdict};

/// The counts of one tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tier {
    /// The number, from 1.
    pub number: u8,
    /// Its name.
    pub name: &'static str,
    /// The number of judged or skipped cases.
    pub total: usize,
    /// The number of passed cases.
    pub passed: usize,
    /// The number of failed cases.
    pub failed: usize,
    /// The number of errored cases.
    pub errored: usize,
    /// The number of skipped cases.
    pub skipped: usize,
}

/// Returns the counts of each tier that has cases.
pub fn tiers(report: &Report) -> Vec<Tier> {
    let mut tiers: Vec<Tier> =
        (1..).zip(TIERS).map(|(number, name)| Tier { number, name, ..Tier::default() }).collect();
    for outcome in &report.outcomes {
        let Some(tier) = tiers.get_mut(usize::from(outcome.tier).wrapping_sub(1)) else { continue };
        tier.total += 1;
        match outcome.verdict {
            Verdict::Passed => tier.passed += 1,
            Verdict::Failed(_) => tier.failed += 1,
            Verdict::Errored(_) => tier.errored += 1,
            Verdict::Skipped(_) => tier.skipped += 1,
        }
    }
    tiers.retain(|tier| tier.total > 0);
    tiers
}

/// `41 passed, 2 failed, 1 errored, 3 skipped`.
pub fn counts(report: &Report) -> String {
    let words = ["passed", "failed", "errored", "skipped"].map(|word| (report.count(word), word));
    let words = words.iter().filter(|(count, word)| *count > 0 || *word == "passed");
    words.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

/// Returns the findings of an outcome as lines: promise, expected, observed.
fn findings(outcome: &Outcome) -> Vec<(String, String, String)> {
    match &outcome.verdict {
        Verdict::Failed(broken) => broken
            .iter()
            .map(|one| {
                let promise = clause::find(&one.clause).map_or("", |clause| clause.promise);
                let at = if one.at.is_empty() { String::new() } else { format!(" ({})", one.at) };
                (
                    format!("{}: {promise}{at}", one.clause),
                    one.expected.clone(),
                    one.observed.clone(),
                )
            })
            .collect(),
        Verdict::Errored(trouble) => {
            vec![("the adapter could not be judged".into(), String::new(), trouble.to_string())]
        }
        Verdict::Skipped(_) | Verdict::Passed => Vec::new(),
    }
}

/// Returns the command that runs one case again.
pub fn rerun(report: &Report, outcome: &Outcome, command: &str) -> String {
    let (name, seed) = (&outcome.name, report.seed);
    // Generated cases are generated again: their number is the last part of the name.
    let number = name.contains("/generated_").then(|| name.rsplit('_').next()).flatten();
    let generate = number.map(|number| format!(" --generate {number}")).unwrap_or_default();
    format!("guardc ack run{generate} --case {name} --seed {seed} -- {command}")
}

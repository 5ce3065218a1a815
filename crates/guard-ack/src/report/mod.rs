//! The report of a run, for people and programs: text, JSON, JUnit, Markdown, HTML, a badge.

pub mod badge;
mod causes;
pub mod diff;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod scoreboard;
pub mod text;
mod traceback;

use crate::clause::{self, TIERS};
use crate::run::{AckReport, CaseOutcome, CaseVerdict};

/// The counts of one tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tier {
    /// The number, from 1.
    pub number: u8,
    /// The name.
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
pub fn tiers(report: &AckReport) -> Vec<Tier> {
    let mut tiers: Vec<Tier> =
        (1..).zip(TIERS).map(|(number, name)| Tier { number, name, ..Tier::default() }).collect();
    for outcome in &report.outcomes {
        // The tier 0 of an unknown clause wraps to an index that does not exist.
        let Some(tier) = tiers.get_mut(usize::from(outcome.tier).wrapping_sub(1)) else { continue };
        tier.total += 1;
        match outcome.verdict {
            CaseVerdict::Passed => tier.passed += 1,
            CaseVerdict::Failed(_) => tier.failed += 1,
            CaseVerdict::Errored(_) => tier.errored += 1,
            CaseVerdict::Skipped(_) => tier.skipped += 1,
        }
    }
    tiers.retain(|tier| tier.total > 0);
    tiers
}

/// The conformance of an adapter, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conformance {
    /// Every case of every tier passed.
    Full,
    /// Every judged case passed, but a part of the suite was not judged.
    Partial,
    /// There are findings.
    Failed,
    /// Nothing was judged.
    NotJudged,
}

/// Returns the conformance of an adapter, with its sentence. A part of the suite never counts as
/// the whole suite.
pub fn standing(report: &AckReport) -> (Conformance, String) {
    let findings = report.outcomes.iter().filter(|outcome| outcome.is_finding()).count();
    let findings = findings + report.unreadable.len();
    let passed = report.count("passed");
    let judged = tiers(report);
    // Generated cases can make a tier larger than in the bundled suite.
    let is_whole = |tier: &&Tier| tier.passed == size(report, tier).max(tier.total);
    let whole: Vec<&str> = judged.iter().filter(is_whole).map(|tier| tier.name).collect();
    let all = TIERS.len();
    let is_all = whole.len() == all && report.not_played == 0 && !report.version.is_empty();
    match (findings, passed) {
        (1, _) => (Conformance::Failed, "does not conform: 1 finding".into()),
        (2.., _) => (Conformance::Failed, format!("does not conform: {findings} findings")),
        (0, 0) => (Conformance::NotJudged, "nothing judged".into()),
        (0, _) if is_all => {
            (Conformance::Full, format!("conforms: all {all} tiers, {passed} cases"))
        }
        (0, _) => {
            let names = if whole.is_empty() { "none".into() } else { whole.join(", ") };
            let count = whole.len();
            (Conformance::Partial, format!("in part: {count} of {all} tiers whole ({names})"))
        }
    }
}

/// Returns the number of cases in a tier of the report's suite. For other versions of the suite
/// than this one, the number is not known.
fn size(report: &AckReport, tier: &Tier) -> usize {
    if report.version != crate::suite::VERSION {
        return 0;
    }
    let names = crate::suite::bundled_names();
    names.filter(|name| name.split('/').next() == Some(tier.name)).count()
}

/// Formats the counts: `41 passed, 2 failed, 1 errored, 3 skipped`.
pub fn counts(report: &AckReport) -> String {
    let words = ["passed", "failed", "errored", "skipped"].map(|word| (report.count(word), word));
    let words = words.iter().filter(|(count, word)| *count > 0 || *word == "passed");
    words.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

/// Returns the findings of an outcome as lines: promise, expected, observed.
fn findings(outcome: &CaseOutcome) -> Vec<(String, String, String)> {
    match &outcome.verdict {
        CaseVerdict::Failed(broken) => broken
            .iter()
            .map(|broken| {
                let promise = clause::find(&broken.clause).map_or("", |clause| clause.promise);
                let at =
                    if broken.at.is_empty() { String::new() } else { format!(" ({})", broken.at) };
                (
                    format!("{}: {promise}{at}", broken.clause),
                    broken.expected.clone(),
                    broken.observed.clone(),
                )
            })
            .collect(),
        CaseVerdict::Errored(trouble) => {
            vec![("the adapter could not be judged".into(), String::new(), trouble.to_string())]
        }
        CaseVerdict::Skipped(_) | CaseVerdict::Passed => Vec::new(),
    }
}

/// Returns the command that runs one case again.
pub fn rerun(report: &AckReport, outcome: &CaseOutcome, command: &str) -> String {
    let name = &outcome.name;
    let seed = report.seed;
    // Generated cases are generated again; their number is the last part of the name.
    let number = name.contains("/generated_").then(|| name.rsplit('_').next()).flatten();
    let generate = number.map(|number| format!(" --generate {number}")).unwrap_or_default();
    format!("guardc ack run{generate} --case {name} --seed {seed} -- {command}")
}

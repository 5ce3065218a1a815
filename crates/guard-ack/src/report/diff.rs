//! The difference of two reports of the same adapter, case by case.

use crate::run::{AckReport, CaseOutcome};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The difference of two reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportDiff {
    /// The changes as text.
    pub text: String,
    /// True if a case passed before, and now fails, errs, is skipped or is gone.
    pub is_worse: bool,
}

/// Compares two reports.
pub fn diff(old: &AckReport, new: &AckReport) -> ReportDiff {
    let by_name = |report: &AckReport| -> BTreeMap<String, &'static str> {
        let word = |outcome: &CaseOutcome| (outcome.name.clone(), outcome.verdict.word());
        report.outcomes.iter().map(word).collect()
    };
    let before = by_name(old);
    let after = by_name(new);
    let mut worse = vec![];
    let mut better = vec![];
    let mut other = vec![];
    let mut added = vec![];
    for (name, was) in &before {
        let is = after.get(name).copied().unwrap_or("gone");
        let line = format!("{name}: {was} -> {is}");
        match (*was, is) {
            (was, is) if was == is => {}
            ("passed", _) => worse.push(line),
            (_, "passed") => better.push(line),
            _ => other.push(line),
        }
    }
    for (name, is) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        added.push(format!("{name}: {is}"));
    }
    let mut text = String::new();
    if old.suite != new.suite {
        let version = |report: &AckReport| match report.version.as_str() {
            "" => "of another folder".to_owned(),
            version => version.to_owned(),
        };
        let _ = writeln!(text, "suites: {} -> {}", version(old), version(new));
    }
    if old.seed != new.seed {
        let _ = writeln!(text, "seeds: {} -> {}", old.seed, new.seed);
    }
    let is_worse = !worse.is_empty();
    for (title, lines) in
        [("worse", worse), ("better", better), ("otherwise", other), ("new cases", added)]
    {
        if !lines.is_empty() {
            let _ = writeln!(text, "{title}: {}", lines.len());
            lines.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        }
    }
    if text.is_empty() {
        text.push_str("no difference\n");
    }
    ReportDiff { text, is_worse }
}

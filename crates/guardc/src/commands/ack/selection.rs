//! Selection of the cases that `guardc ack run` plays and `guardc ack list` lists.

use super::report;
use crate::failure::Failure;
use crate::near;
use guard_ack::CaseSuite;
use guard_ack::case::Case;
use guard_ack::clause::{self, AckClause};
use std::path::PathBuf;

/// The selection of cases. Each option narrows it.
#[derive(Debug, clap::Args)]
pub struct Selection {
    /// Only cases whose name fits; `*` is any text; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub case: Vec<String>,
    /// Leave out cases whose name fits; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// Only cases that judge this clause, such as `GATE-5`; may be given several times
    #[arg(long, value_name = "CLAUSE")]
    pub clause: Vec<String>,
    /// Only cases with this tag, area or needed capability; may be given several times
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Only cases that did not pass in this JSON report
    #[arg(long, value_name = "REPORT")]
    pub failed_from: Option<PathBuf>,
    /// Only the N-th of M parts of the cases, as `N/M`
    #[arg(long, value_name = "N/M", value_parser = shard)]
    pub shard: Option<Shard>,
    /// Only cases of the tiers from 1 to this one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=6))]
    pub tier: Option<u8>,
}

/// One part of the cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// The number of the part, from 1.
    pub part: usize,
    /// The number of parts.
    pub parts: usize,
}

/// Parses `N/M`.
fn shard(text: &str) -> Result<Shard, String> {
    let parsed = text.split_once('/').and_then(|(part, parts)| {
        Some(Shard { part: part.parse().ok()?, parts: parts.parse().ok()? })
    });
    let shard = parsed.filter(|shard| (1..=shard.parts).contains(&shard.part));
    shard.ok_or_else(|| "a shard is `N/M`, such as `1/4`, with N from 1 to M".into())
}

impl Selection {
    /// Returns true if anything is selected or excluded.
    pub fn is_given(&self) -> bool {
        let words = [&self.case, &self.exclude, &self.clause, &self.tag];
        words.iter().any(|words| !words.is_empty())
            || self.tier.is_some()
            || self.shard.is_some()
            || self.failed_from.is_some()
    }

    /// Returns true if a case of this name may be selected.
    pub fn is_named(&self, name: &str) -> bool {
        let fits = |globs: &[String]| globs.iter().any(|glob| guard_ack::matches(glob, name));
        (self.case.is_empty() || fits(&self.case)) && !fits(&self.exclude)
    }

    /// Keeps only the selected cases.
    pub fn select(&self, cases: &mut Vec<Case>) -> Result<(), Failure> {
        for id in &self.clause {
            // A misspelt clause or tag would select nothing of it, and the run would look as if it
            // had passed.
            clause_named(id)?;
        }
        for tag in &self.tag {
            if !cases.iter().any(|case| case.has_tag(tag)) {
                let tags = cases.iter().flat_map(|case| case.tags.iter().chain(&case.needs));
                let near = near::nearest(tag, tags.map(String::as_str));
                let failure = Failure::new(format!("no case has the tag `{tag}`"));
                return Err(failure.maybe_help(near.map(|near| format!("did you mean `{near}`?"))));
            }
        }
        let failed: Option<Vec<String>> = match &self.failed_from {
            None => None,
            Some(path) => {
                let (earlier, _) = report::read_report(path)?;
                let failed = earlier.outcomes.iter().filter(|outcome| outcome.is_finding());
                Some(failed.map(|outcome| outcome.name.clone()).collect())
            }
        };
        cases.retain(|case| {
            self.is_named(&case.name)
                && self.tier.is_none_or(|tier| case.tier() <= tier)
                && (self.clause.is_empty() || self.clause.contains(&case.clause))
                && (self.tag.is_empty() || self.tag.iter().any(|tag| case.has_tag(tag)))
                && failed.as_ref().is_none_or(|failed| failed.contains(&case.name))
        });
        if let Some(Shard { part, parts }) = self.shard {
            // Neighbours are of one area, so dealing them out in turn gives each part some of every
            // area.
            let mut number = 0;
            cases.retain(|_| {
                number += 1;
                (number - 1) % parts == part - 1
            });
        }
        Ok(())
    }

    /// Returns the failure of a selection that selects no case of the suite.
    pub fn leaves_nothing(&self, suite: &CaseSuite, purpose: &str) -> Failure {
        let near = suite.texts.iter().map(|(name, _)| name.as_str());
        let near = self.case.first().and_then(|glob| near::nearest(glob, near));
        let failure = Failure::new(format!("no case is left to {purpose}"));
        failure.maybe_help(near.map(|near| format!("did you mean `{near}`?")))
    }
}

/// Returns the clause with this number.
pub fn clause_named(id: &str) -> Result<&'static AckClause, Failure> {
    clause::find(id).ok_or_else(|| {
        let near = near::nearest(id, clause::all().iter().map(|clause| clause.id));
        let failure = Failure::new(format!("there is no clause `{id}`"));
        failure.maybe_help(near.map(|near| format!("did you mean `{near}`?")))
    })
}

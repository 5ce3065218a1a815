//! Runs cases in parallel, and puts their outcomes in the order of the cases.

use crate::adapter::{Contestant, Trouble};
use crate::case::Case;
use crate::judge::Broken;
use crate::observed::Observed;
use crate::play::{Compile, Played, play};
use crate::protocol::Declared;
use crate::suite::{Suite, Unreadable};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The options of a run.
#[derive(Clone)]
pub struct Options<'o> {
    /// The seed of names, paths and amounts.
    pub seed: u64,
    /// The number of parallel cases; at least one.
    pub jobs: usize,
    /// Cases that are known to fail: globs over their names.
    pub known_failing: Vec<String>,
    /// Compiles guards, for adapters that take plans.
    pub compile: Compile<'o>,
    /// Called after each case, with the number of finished cases and the total.
    pub progress: &'o (dyn Fn(usize, usize) + Sync),
}

/// The outcome of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Its name.
    pub name: String,
    /// Its clause.
    pub clause: String,
    /// Its claim.
    pub claim: String,
    /// Its tier.
    pub tier: u8,
    /// Its verdict.
    pub verdict: Verdict,
    /// True if it is listed as known to fail.
    pub known: bool,
    /// Every message, unless it passed.
    pub log: Vec<String>,
}

/// The verdict on a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Every promise was kept.
    Passed,
    /// Promises were broken.
    Failed(Vec<Broken>),
    /// The adapter could not be judged.
    Errored(Trouble),
    /// The adapter does not declare this capability.
    Skipped(String),
}

impl Verdict {
    /// Returns its name.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed(_) => "failed",
            Verdict::Errored(_) => "errored",
            Verdict::Skipped(_) => "skipped",
        }
    }
}

/// The report of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The judged adapter.
    pub adapter: Declared,
    /// The hash of all cases.
    pub suite: String,
    /// The seed.
    pub seed: u64,
    /// The outcomes, in the order of the cases.
    pub outcomes: Vec<Outcome>,
    /// Cases that could not be read.
    pub unreadable: Vec<Unreadable>,
}

impl Report {
    /// Returns whether there are no findings: no unexpected failure or error, no case that passed
    /// although it is listed as known to fail, and no unreadable case.
    pub fn is_fine(&self) -> bool {
        self.unreadable.is_empty() && !self.outcomes.iter().any(Outcome::is_finding)
    }

    /// Returns the number of cases with this verdict.
    pub fn count(&self, word: &str) -> usize {
        self.outcomes.iter().filter(|one| one.verdict.word() == word).count()
    }
}

impl Outcome {
    /// Returns whether this outcome is a finding.
    pub fn is_finding(&self) -> bool {
        match self.verdict {
            Verdict::Passed => self.known,
            Verdict::Failed(_) | Verdict::Errored(_) => !self.known,
            Verdict::Skipped(_) => false,
        }
    }
}

/// Runs cases against a contestant.
pub fn run(
    suite: &Suite,
    cases: &[Case],
    bad: Vec<Unreadable>,
    contestant: &dyn Contestant,
    options: &Options,
) -> Report {
    let hash = suite.hash();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let slots: Vec<Mutex<Option<(Played, Observed)>>> =
        cases.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, cases.len().max(1)) {
            scope.spawn(|| {
                while let Some(at) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < cases.len())
                {
                    let played = play(&cases[at], contestant, &hash, options.seed, options.compile);
                    if let Ok(mut slot) = slots[at].lock() {
                        *slot = Some(played);
                    }
                    (options.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, cases.len());
                }
            });
        }
    });
    let mut adapter = Declared::default();
    let played = slots.into_iter().map(|slot| slot.into_inner().ok().flatten());
    let outcomes = cases.iter().zip(played).filter_map(|(case, played)| {
        let (played, seen) = played?;
        if adapter.name.is_empty() {
            adapter = seen.declared.clone();
        }
        Some(outcome(case, played, seen, options))
    });
    let outcomes = outcomes.collect();
    Report { adapter, suite: hash, seed: options.seed, outcomes, unreadable: bad }
}

fn outcome(case: &Case, played: Played, seen: Observed, options: &Options) -> Outcome {
    let verdict = match played {
        Played::Judged(broken) if broken.is_empty() => Verdict::Passed,
        Played::Judged(broken) => Verdict::Failed(broken),
        Played::Errored(trouble) => Verdict::Errored(trouble),
        Played::Skipped(missing) => Verdict::Skipped(missing),
    };
    Outcome {
        name: case.name.clone(),
        clause: case.clause.clone(),
        claim: case.claim.clone(),
        tier: case.tier(),
        known: options.known_failing.iter().any(|glob| matches(glob, &case.name)),
        log: if verdict == Verdict::Passed { Vec::new() } else { seen.log },
        verdict,
    }
}

/// Returns whether a name matches a glob; `*` is any text.
pub fn matches(glob: &str, name: &str) -> bool {
    match glob.split_once('*') {
        None => glob == name,
        Some((head, rest)) => name.strip_prefix(head).is_some_and(|tail| {
            (0..=tail.len()).any(|at| tail.get(at..).is_some_and(|tail| matches(rest, tail)))
        }),
    }
}

/// Parses the globs of a list of cases that are known to fail: one per line, `#` begins a comment.
pub fn known_failing(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

//! The parallel execution of cases, with their outcomes in the order of the cases.

use crate::adapter::{AdapterTrouble, Contestant, TroubleKind};
use crate::case::Case;
use crate::judge::BrokenPromise;
use crate::observed::Observed;
use crate::play::{Compile, Played, Repeated, play};
use crate::protocol::Declared;
use crate::suite::{CaseSuite, Unreadable};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// The maximum number of errored cases that are played again separately.
const AGAIN: usize = 10;

/// The number of cases after which an adapter counts as silent.
const SILENT: usize = 3;

/// The options of a run.
#[derive(Clone)]
pub struct RunOptions<'o> {
    /// The seed of names, paths and amounts.
    pub seed: u64,
    /// The number of parallel cases; at least one.
    pub jobs: usize,
    /// Cases that are known to fail: globs over their names.
    pub known_failing: Vec<String>,
    /// Compiles guards, for adapters that take plans.
    pub compile: Compile<'o>,
    /// Starts no further case after a finding.
    pub is_fail_fast: bool,
    /// Called after each case, with the number of finished cases and the total.
    pub progress: &'o (dyn Fn(usize, usize) + Sync),
}

/// The outcome of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseOutcome {
    /// The name.
    pub name: String,
    /// The clause.
    pub clause: String,
    /// The claim.
    pub claim: String,
    /// The tier of the clause.
    pub tier: u8,
    /// The verdict.
    pub verdict: CaseVerdict,
    /// True if it is listed as known to fail.
    pub known: bool,
    /// A typical mistake of adapters that fail the case.
    pub hint: Option<String>,
    /// The duration, in milliseconds.
    pub took: u64,
    /// The reason why a run of the case did not end, although a broken promise is named for it: the
    /// adapter was silent, or ended.
    pub trouble: Option<AdapterTrouble>,
    /// True if the case passed only when it was played again separately, after the adapter could
    /// not be judged.
    pub is_flaky: bool,
    /// Every message, unless the case passed.
    pub log: Vec<String>,
}

/// The verdict on a case.
#[derive(Debug, Clone, PartialEq)]
pub enum CaseVerdict {
    /// Every promise was kept.
    Passed,
    /// Promises were broken.
    Failed(Vec<BrokenPromise>),
    /// The adapter could not be judged.
    Errored(AdapterTrouble),
    /// The adapter does not declare this capability.
    Skipped(String),
}

impl CaseVerdict {
    /// Returns the name.
    pub fn word(&self) -> &'static str {
        match self {
            CaseVerdict::Passed => "passed",
            CaseVerdict::Failed(_) => "failed",
            CaseVerdict::Errored(_) => "errored",
            CaseVerdict::Skipped(_) => "skipped",
        }
    }
}

/// The report of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct AckReport {
    /// The judged adapter.
    pub adapter: Declared,
    /// The hash of all cases.
    pub suite: String,
    /// The version of the bundled cases; empty for other cases.
    pub version: String,
    /// The seed.
    pub seed: u64,
    /// The time of the whole run, in milliseconds.
    pub took: u64,
    /// The number of selected cases that were not played, after the first finding.
    pub not_played: usize,
    /// The outcomes, in the order of the cases.
    pub outcomes: Vec<CaseOutcome>,
    /// The cases that could not be read.
    pub unreadable: Vec<Unreadable>,
}

impl AckReport {
    /// Returns true if there are no findings: no unexpected failure or error, no case that passed
    /// although it is listed as known to fail, and no unreadable case.
    pub fn is_fine(&self) -> bool {
        let findings = self.outcomes.iter().any(CaseOutcome::is_finding);
        self.unreadable.is_empty() && !findings && !self.is_nothing_judged()
    }

    /// Returns true if every case was skipped, so that nothing was shown.
    pub fn is_nothing_judged(&self) -> bool {
        self.count("skipped") == self.outcomes.len()
    }

    /// Returns the number of cases with this verdict.
    pub fn count(&self, word: &str) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.verdict.word() == word).count()
    }
}

impl CaseOutcome {
    /// Returns the reason why the case did not run to its end.
    pub fn trouble(&self) -> Option<&AdapterTrouble> {
        match &self.verdict {
            CaseVerdict::Errored(trouble) => Some(trouble),
            _ => self.trouble.as_ref(),
        }
    }

    /// Returns true if this outcome is a finding.
    pub fn is_finding(&self) -> bool {
        match self.verdict {
            CaseVerdict::Passed => self.known,
            CaseVerdict::Failed(_) | CaseVerdict::Errored(_) => !self.known,
            CaseVerdict::Skipped(_) => false,
        }
    }
}

/// Runs cases against a contestant.
pub fn run(
    suite: &CaseSuite,
    cases: &[Case],
    bad: Vec<Unreadable>,
    contestant: &dyn Contestant,
    options: &RunOptions,
) -> AckReport {
    let begun = Instant::now();
    let hash = suite.hash();
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let silent = AtomicUsize::new(0);
    let slots: Vec<Mutex<Option<(CaseOutcome, bool)>>> =
        cases.iter().map(|_| Mutex::new(None)).collect();
    let adapter = Mutex::new(Declared::default());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, cases.len().max(1)) {
            scope.spawn(|| {
                while !stopped.load(Ordering::Relaxed)
                    && let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let is_known_silent = silent.load(Ordering::Relaxed) >= SILENT;
                    let repeated = Repeated { contestant, is_alone: false, is_known_silent };
                    let (outcome, declared, is_sure) = judged(case, &repeated, &hash, options);
                    silent.fetch_add(
                        usize::from(is_sure && outcome.trouble().is_some()),
                        Ordering::Relaxed,
                    );
                    if options.is_fail_fast && outcome.is_finding() {
                        stopped.store(true, Ordering::Relaxed);
                    }
                    if let Ok(mut adapter) = adapter.lock()
                        && adapter.name.is_empty()
                    {
                        *adapter = declared;
                    }
                    let at = cases.iter().position(|known| std::ptr::eq(known, case));
                    if let Some(Ok(mut slot)) = at.map(|at| slots[at].lock()) {
                        *slot = Some((outcome, is_sure));
                    }
                    (options.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, cases.len());
                }
            });
        }
    });
    let mut judged: Vec<(CaseOutcome, bool)> =
        slots.into_iter().filter_map(|slot| slot.into_inner().ok().flatten()).collect();
    again_alone(&mut judged, cases, contestant, &hash, options);
    let outcomes: Vec<CaseOutcome> = judged.into_iter().map(|(outcome, _)| outcome).collect();
    let is_bundled = *suite == CaseSuite::bundled();
    AckReport {
        adapter: adapter.into_inner().unwrap_or_default(),
        suite: hash,
        version: if is_bundled { crate::suite::VERSION.into() } else { String::new() },
        seed: options.seed,
        took: millis(begun),
        not_played: cases.len() - outcomes.len(),
        outcomes,
        unreadable: bad,
    }
}

fn millis(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Plays a case. A case that does not pass in a process that has played others is played again in
/// its own process: a different result is caused by state that earlier cases left. Also returns
/// whether that is certain, because a busy machine can be ruled out as the reason.
fn judged(
    case: &Case,
    contestant: &Repeated,
    hash: &str,
    options: &RunOptions,
) -> (CaseOutcome, Declared, bool) {
    let begun = Instant::now();
    let (mut played, mut seen) = play(case, contestant, hash, options.seed, options.compile);
    let passed = |played: &Played| matches!(played, Played::Judged(broken) if broken.is_empty());
    let is_finding = !passed(&played) && !matches!(played, Played::Skipped(_));
    let mut is_flaky = false;
    let is_silent = is_trouble(&played, &seen) && seen.is_asleep;
    // An adapter that is known to be silent would only be silent again.
    if is_finding && seen.is_process_used && !(is_silent && contestant.is_known_silent) {
        let contestant = contestant.contestant;
        let alone = Repeated { contestant, is_alone: true, is_known_silent: is_silent };
        let (again, seen_again) = play(case, &alone, hash, options.seed, options.compile);
        let is_end = is_ended(&played, &seen);
        match (&mut played, passed(&again)) {
            (Played::Judged(broken), true) if is_end => broken.insert(0, left_behind()),
            (Played::Errored(trouble), true) if is_end => {
                seen.trouble = Some(trouble.clone());
                played = Played::Judged(vec![left_behind()]);
            }
            (_, passed) => {
                is_flaky = passed;
                (played, seen) = (again, seen_again);
            }
        }
    }
    let declared = seen.declared.clone();
    let is_sure = is_ended(&played, &seen);
    let mut outcome = outcome(case, played, seen, millis(begun), options);
    outcome.is_flaky = is_flaky;
    (outcome, declared, is_sure)
}

/// Returns true if a case ran to its end, or the adapter was silent while all its processes slept.
fn is_ended(played: &Played, seen: &Observed) -> bool {
    !is_trouble(played, seen) || seen.is_asleep
}

fn is_trouble(played: &Played, seen: &Observed) -> bool {
    matches!(played, Played::Errored(_)) || seen.trouble.is_some()
}

fn left_behind() -> BrokenPromise {
    BrokenPromise {
        clause: "LOOP-7".into(),
        at: String::new(),
        expected: "after `reset` the process is as it was at its start".into(),
        observed:
            "the case passes in a process of its own, and fails in one that has served other cases"
                .into(),
    }
}

/// Plays the few cases again in which the adapter was silent or ended, one after another, because
/// the machine may have been busy.
fn again_alone(
    judged: &mut [(CaseOutcome, bool)],
    cases: &[Case],
    contestant: &dyn Contestant,
    hash: &str,
    options: &RunOptions,
) {
    let is_errored = |outcome: &CaseOutcome| {
        outcome
            .trouble()
            .is_some_and(|trouble| matches!(trouble.kind, TroubleKind::Hang | TroubleKind::Crash))
    };
    let is_unsure = |(outcome, is_sure): &(CaseOutcome, bool)| !is_sure && is_errored(outcome);
    // Each of these cases may take the whole time limit again.
    if judged.iter().filter(|outcome| is_unsure(outcome)).count() > AGAIN {
        return;
    }
    let alone = Repeated { contestant, is_alone: true, is_known_silent: false };
    for (outcome, is_sure) in judged {
        if *is_sure || !is_errored(outcome) {
            continue;
        }
        let Some(case) = cases.iter().find(|case| case.name == outcome.name) else { continue };
        let (played, seen) = play(case, &alone, hash, options.seed, options.compile);
        if matches!(played, Played::Judged(_)) && seen.trouble.is_none() {
            *outcome = self::outcome(case, played, seen, outcome.took, options);
            outcome.is_flaky = true;
        }
    }
}

fn outcome(
    case: &Case,
    played: Played,
    seen: Observed,
    took: u64,
    options: &RunOptions,
) -> CaseOutcome {
    let verdict = match played {
        Played::Judged(broken) if broken.is_empty() => CaseVerdict::Passed,
        Played::Judged(broken) => CaseVerdict::Failed(broken),
        Played::Errored(trouble) => CaseVerdict::Errored(trouble),
        Played::Skipped(missing) => CaseVerdict::Skipped(missing),
    };
    CaseOutcome {
        name: case.name.clone(),
        clause: case.clause.clone(),
        claim: case.claim.clone(),
        tier: case.tier(),
        known: options.known_failing.iter().any(|glob| matches(glob, &case.name)),
        // A typical mistake for one promise would be misleading if another promise is broken.
        hint: case.hint.clone().filter(|_| match &verdict {
            CaseVerdict::Failed(broken) => {
                broken.iter().any(|promise| promise.clause == case.clause)
            }
            _ => true,
        }),
        took,
        is_flaky: false,
        trouble: seen.trouble,
        log: if verdict == CaseVerdict::Passed { Vec::new() } else { seen.log },
        verdict,
    }
}

/// Returns true if a name matches a glob; `*` is any text.
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

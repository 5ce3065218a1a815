//! Snapshots of each case's plan, decisions and records, one per case:
//! `ack/snapshots/AREA/CLAIM.snap`.
//!
//! A new case needs no change here. Bless with `INSTA_UPDATE=always`.

use super::undrawn::Undrawn;
use super::{SEED, told};
use guard_ack::case::{Case, CaseStep, RunFile};
use guard_ack::{CaseSuite, Observed, Played, play};
use guard_adapters::{AdapterShape, Mock};
use guard_plan::record::Record;
use guard_plan::verdict::Decision;
use guard_sdk::GuardCache;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A call, its decision, and the decision as text.
pub type Decided = (String, Decision, String);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ack/snapshots")
}

/// Plays a case with one shape of adapter and returns the observations; `None` if the shape does
/// not declare the required capabilities.
pub fn seen(
    suite: &CaseSuite,
    case: &Case,
    shape: AdapterShape,
    guards: &GuardCache,
) -> Option<Observed> {
    let mock = Mock { shape, fault: None, guards };
    let (played, seen) = play(case, &mock, &suite.hash(), SEED, &|_| None);
    match played {
        Played::Judged(broken) if broken.is_empty() => Some(seen),
        Played::Skipped(_) => None,
        other => panic!("{} under {}: {other:?}", case.name, shape.name()),
    }
}

/// Returns the records that each run added to its session's trace.
pub fn added(case: &Case, seen: &Observed) -> Vec<Vec<Record>> {
    let mut before: BTreeMap<&str, &[String]> = BTreeMap::new();
    let runs = case.run.iter().zip(&seen.runs).map(|(run, seen)| {
        let trace = seen.end.as_ref().and_then(|end| end.trace.as_deref()).unwrap_or_default();
        let known = before.insert(&run.session, trace).unwrap_or_default();
        let same = known.iter().zip(trace).take_while(|(a, b)| a == b).count();
        trace[same..].iter().map(|line| Record::parse(line).expect("a record")).collect()
    });
    runs.collect()
}

pub fn decided(runs: &[Vec<Record>], undrawn: &Undrawn) -> Vec<Vec<Decided>> {
    let one = |record: &Record| {
        let (call, decision, text) = told::decision(record)?;
        Some((undrawn.text(&call), decision, undrawn.text(&text)))
    };
    runs.iter().map(|records| records.iter().filter_map(one).collect()).collect()
}

/// Returns the decisions without differences that depend only on the order of events.
fn settled(decided: &[Vec<Decided>]) -> Vec<BTreeSet<String>> {
    let one = |run: &Vec<Decided>| {
        let firm = run.iter().filter(|(_, decision, _)| *decision != Decision::Wait);
        firm.map(|(call, _, text)| format!("{call} {text}")).collect()
    };
    decided.iter().map(one).collect()
}

fn step(step: &CaseStep) -> String {
    match step {
        CaseStep::Snapshot { session, name } => format!("snapshot {name} of {session}"),
        CaseStep::Restore { session, name } => format!("restore {session} from {name}"),
        CaseStep::Reset { session } => format!("reset {session}"),
        CaseStep::Restart {} => "another process".into(),
        CaseStep::Wait { takes } => format!("wait {takes}"),
    }
}

fn listed(out: &mut String, decided: &[Decided]) {
    for (call, _, text) in decided {
        let _ = writeln!(out, "    {call}: {text}");
    }
}

fn head(case: &Case, at: usize, run: &RunFile) -> String {
    let mut out = String::new();
    if case.run.len() > 1 {
        let _ = writeln!(out, "\nrun {}, session {}", at + 1, run.session);
        run.before.iter().for_each(|it| out.push_str(&format!("  {}\n", step(it))));
    } else {
        out.push('\n');
    }
    out
}

/// Formats a case: its guard's plan, its decisions, its records, and the decisions of other shapes
/// where they differ.
fn snapshot(suite: &CaseSuite, case: &Case, guards: &GuardCache) -> String {
    let kernel = guards.compile("case.guard", &*case.guard);
    let plan = kernel.map_or("  none\n".to_owned(), |kernel| told::plan(kernel.plan()));
    let mut out = format!("{}: {}\n\nplan\n{plan}", case.clause, case.claim);
    let hooks = seen(suite, case, AdapterShape::Hooks, guards).expect("hooks declare everything");
    let runs = added(case, &hooks);
    let undrawn = Undrawn::new(suite, case, &hooks, SEED);
    let ours = decided(&runs, &undrawn);
    for (at, run) in case.run.iter().enumerate() {
        out.push_str(&head(case, at, run));
        out.push_str("  decisions\n");
        listed(&mut out, &ours[at]);
        out.push_str("  trace\n");
        runs[at].iter().for_each(|it| out.push_str(&format!("    {}\n", told::record(it))));
        out.push_str(&told::end(&hooks.runs[at]));
        let report = hooks.runs.get(at).and_then(|it| it.end.as_ref()?.report.as_ref());
        report.iter().for_each(|it| out.push_str(&told::report(it)));
    }
    out = undrawn.text(&out);
    for shape in AdapterShape::ALL.into_iter().filter(|shape| *shape != AdapterShape::Hooks) {
        let Some(theirs) = seen(suite, case, shape, guards) else { continue };
        let undrawn = Undrawn::new(suite, case, &theirs, SEED);
        let theirs = decided(&added(case, &theirs), &undrawn);
        if theirs != ours {
            let _ = writeln!(out, "\n{} decides", shape.name());
            theirs.iter().for_each(|run| listed(&mut out, run));
        }
        assert_eq!(settled(&theirs), settled(&ours), "{} under {}", case.name, shape.name());
    }
    out
}

#[test]
fn each_case_reads_as_it_did() {
    let suite = CaseSuite::bundled();
    let guards = GuardCache::new(1000);
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for case in suite.cases(SEED).0 {
        let (area, claim) = case.name.split_once('/').expect("an area and a claim");
        settings.set_snapshot_path(folder().join(area));
        settings.bind(|| insta::assert_snapshot!(claim, snapshot(&suite, &case, &guards)));
    }
}

#[test]
fn no_snapshot_is_without_its_case() {
    let suite = CaseSuite::bundled();
    let known: BTreeSet<&str> = suite.texts.iter().map(|(name, _)| name.as_str()).collect();
    for area in std::fs::read_dir(folder()).expect("the snapshots").flatten() {
        for file in std::fs::read_dir(area.path()).expect("an area").flatten() {
            let path = file.path();
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let name = format!("{}/{stem}", area.file_name().to_string_lossy());
            assert!(known.contains(name.as_str()), "{name} has no case: remove {}", path.display());
        }
    }
}

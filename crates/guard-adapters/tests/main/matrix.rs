//! The matrix of cases and faults: which case detects which fault, and the promise that it reports.

use super::{SEED, judged};
use guard_ack::{CaseOutcome, CaseSuite, CaseVerdict, clause};
use guard_adapters::{AdapterFault, AdapterShape, Mock};
use guard_sdk::GuardCache;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Failed cases, each with the clauses that were reported as broken.
type Kills = BTreeMap<String, BTreeSet<String>>;

fn kills(outcomes: &[CaseOutcome]) -> Kills {
    let failed = outcomes.iter().filter_map(|one| match &one.verdict {
        CaseVerdict::Failed(broken) => {
            Some((one.name.clone(), broken.iter().map(|it| it.clause.clone()).collect()))
        }
        _ => None,
    });
    failed.collect()
}

#[test]
fn every_fault_is_found_for_its_own_reason_and_every_case_finds_one() {
    let guards = GuardCache::new(1000);
    let mut matrix = String::new();
    let mut alive = Vec::new();
    let mut idle = BTreeSet::new();
    let mut catching: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let suite = CaseSuite::bundled();
    let cases = suite.cases(SEED).0;
    let claims: BTreeMap<&str, &str> =
        cases.iter().map(|case| (case.name.as_str(), case.clause.as_str())).collect();
    idle.extend(cases.iter().map(|case| case.name.clone()));
    for fault in AdapterFault::all() {
        let mock = Mock { shape: AdapterShape::Hooks, fault: Some(fault), guards: &guards };
        let report = judged(&mock, SEED);
        let kills = kills(&report.outcomes);
        let own = kills.iter().filter(|(_, clauses)| clauses.contains(fault.clause()));
        let own: Vec<&str> = own.map(|(case, _)| case.as_str()).collect();
        for (case, clauses) in &kills {
            clauses.iter().for_each(|clause| {
                catching.entry(clause.clone()).or_default().insert(case.clone());
            });
        }
        // No promise depends on a single case.
        if own.len() < 2 {
            let seen: BTreeSet<&String> = kills.values().flatten().collect();
            alive.push(format!("{} ({}): {seen:?}", fault.name(), fault.clause()));
        }
        let clause = fault.clause();
        let name = fault.name();
        let _ = writeln!(
            matrix,
            "{clause:<9} {name:<22} {:>3} cases, {:>3} by its clause: {}",
            kills.len(),
            own.len(),
            own.first().unwrap_or(&"none")
        );
        let of_their_own = kills.iter().filter(|(case, clauses)| {
            claims.get(case.as_str()).is_some_and(|it| clauses.contains(*it))
        });
        of_their_own.for_each(|(case, _)| {
            idle.remove(case);
        });
    }
    let few = clause::all().iter().map(|it| (it.id, catching.get(it.id).map_or(0, BTreeSet::len)));
    let few: Vec<(&str, usize)> = few.filter(|(_, cases)| *cases < 2).collect();
    assert!(few.is_empty(), "clauses that fewer than two cases would catch: {few:?}");
    assert!(alive.is_empty(), "{} faults live:\n{}", alive.len(), alive.join("\n"));
    assert!(idle.is_empty(), "cases that find no fault for their own clause: {idle:#?}");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ack/matrix.txt");
    if std::env::var_os("GUARD_BLESS").is_some() {
        std::fs::write(path, &matrix).unwrap();
    }
    let known = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(
        matrix, known,
        "the kill matrix is another: look at it, and bless it with GUARD_BLESS=1"
    );
}

//! Tests that the page of external faults names existing clauses and cases, and each source once.

use guard_ack::{CaseSuite, clause};
use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../../../ack/faults.md");
/// The minimum number of faults that cases find.
const FOUND: usize = 60;

fn rows() -> Vec<Vec<&'static str>> {
    let lines = PAGE.lines().filter(|line| line.starts_with("| ")).skip(2);
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_fault_names_a_clause_and_cases_that_exist() {
    let suite = CaseSuite::bundled();
    let known: BTreeSet<&str> = suite.texts.iter().map(|(name, _)| name.as_str()).collect();
    let mut found = 0;
    for row in rows() {
        let [fault, _, broken, by] = row[..] else { panic!("{row:?} has not four columns") };
        assert_eq!(quoted(broken).len(), 1, "{fault}");
        assert!(clause::find(quoted(broken)[0]).is_some(), "{fault}: there is no clause {broken}");
        if by.strip_prefix("not caught: ").is_some_and(|why| !why.is_empty()) {
            continue;
        }
        let cases = quoted(by);
        assert!(cases.len() > 1, "{fault}: fewer than two cases find it");
        for case in cases {
            assert!(known.contains(case), "{fault}: there is no case {case}");
        }
        found += 1;
    }
    assert!(found >= FOUND, "{found} faults are found");
}

#[test]
fn every_source_is_a_thread_and_stands_once() {
    let mut seen = BTreeSet::new();
    for row in rows() {
        let (project, number) = row[1].split_once('#').unwrap_or_default();
        let is_thread = project.split('/').count() == 2 && number.parse::<u32>().is_ok();
        assert!(is_thread, "{} is not a thread", row[1]);
        assert!(seen.insert(row[1]), "{} stands twice", row[1]);
    }
}

//! Tests of generated scenarios: faultless adapters follow the decisions of the reference
//! evaluator, and the scenarios alone detect most faults.

use guard_ack::case::{self, Case};
use guard_ack::{AckReport, CaseSuite, Contestant, RunOptions, run};
use guard_adapters::{AdapterFault, AdapterShape, GeneratedCase, Mock};
use guard_sdk::GuardCache;
use std::sync::LazyLock;

const SEED: u64 = 20_260_105;
const COUNT: u64 = 300;

/// The scenarios, drawn once for all tests.
static GENERATED: LazyLock<Vec<GeneratedCase>> = LazyLock::new(|| GeneratedCase::all(SEED, COUNT));

fn suite(generated: &[GeneratedCase]) -> CaseSuite {
    let texts = generated.iter().map(|one| (one.name.clone(), one.text.clone()));
    CaseSuite { texts: texts.collect(), root: "generated".into() }
}

fn judged(suite: &CaseSuite, cases: &[Case], contestant: &dyn Contestant) -> AckReport {
    let options = RunOptions {
        seed: SEED,
        jobs: 2,
        known_failing: Vec::new(),
        is_fail_fast: false,
        compile: &|_| None,
        progress: &|_, _| {},
    };
    run(suite, cases, Vec::new(), contestant, &options)
}

#[test]
fn the_faultless_do_what_the_reference_decides() {
    let generated = &*GENERATED;
    assert!(generated.len() as u64 >= COUNT * 95 / 100, "{} could be made", generated.len());
    let suite = suite(generated);
    let (cases, bad) = suite.cases(SEED);
    assert_eq!(bad, []);
    let guards = GuardCache::new(1000);
    for shape in AdapterShape::ALL {
        let report = judged(&suite, &cases, &Mock { shape, fault: None, guards: &guards });
        assert!(report.is_fine(), "{}", guard_ack::report::text::text(&report, shape.name()));
        assert!(report.count("passed") as u64 > COUNT / 4, "{} plays too few", shape.name());
    }
}

#[test]
fn most_faults_are_found_by_generated_scenarios_alone() {
    let suite = suite(&GENERATED);
    let (cases, _) = suite.cases(SEED);
    let guards = GuardCache::new(1000);
    let tier =
        |fault: &AdapterFault| guard_ack::clause::find(fault.clause()).map_or(0, |it| it.tier);
    let drawn = |fault: &AdapterFault| (1..=4).contains(&tier(fault)) && !fault.is_of_frameworks();
    let faults: Vec<AdapterFault> = AdapterFault::all().filter(drawn).collect();
    let found = |fault: AdapterFault| {
        let mock = Mock { shape: AdapterShape::Hooks, fault: Some(fault), guards: &guards };
        cases.chunks(20).any(|some| !judged(&suite, some, &mock).is_fine())
    };
    let missed: Vec<&str> =
        faults.iter().filter(|fault| !found(**fault)).map(|fault| fault.name()).collect();
    let all = faults.len();
    let found = faults.len() - missed.len();
    println!("{found} of {all} faults found by {COUNT} scenarios; not {}", missed.join(", "));
    assert!(found * 100 >= all * 75, "only {found} of {all}: {missed:?} are missed");
}

#[test]
fn the_same_seed_is_the_same_scenario_and_another_is_another() {
    for number in 1..=20 {
        assert_eq!(GeneratedCase::draw(1, number), GeneratedCase::draw(1, number));
        assert_ne!(GeneratedCase::draw(1, number), GeneratedCase::draw(2, number));
    }
}

#[test]
fn what_fails_is_made_small_and_is_a_case() {
    let guards = GuardCache::new(1000);
    let mock = Mock {
        shape: AdapterShape::Hooks,
        fault: AdapterFault::named("audit-only"),
        guards: &guards,
    };
    let suite = suite(&GENERATED[..20]);
    let (cases, _) = suite.cases(SEED);
    let report = judged(&suite, &cases, &mock);
    let failed = report.outcomes.iter().find(|one| one.is_finding()).expect("one is found");
    let whole = GENERATED.iter().find(|one| one.name == failed.name);
    let whole = whole.expect("it was generated");
    let small = whole.clone().shrunk(&mock, SEED);
    assert!(small.text.len() < whole.text.len(), "{}", small.text);
    let case = case::parse(&small.name, &small.text, SEED).expect("it is a case");
    assert_eq!(case.calls().count(), 1, "{}", small.text);
    let report = judged(&suite, &[case], &mock);
    assert!(!report.is_fine(), "{}", small.text);
}

#[test]
fn making_small_ends_though_stops_are_added_again() {
    let guards = GuardCache::new(1000);
    let mock = Mock {
        shape: AdapterShape::Hooks,
        fault: AdapterFault::named("blocks-once"),
        guards: &guards,
    };
    let suite = suite(&GENERATED);
    let (cases, _) = suite.cases(SEED);
    let report = judged(&suite, &cases, &mock);
    let failed = report.outcomes.iter().find(|one| one.is_finding()).expect("one is found");
    let whole = GENERATED.iter().find(|one| one.name == failed.name).expect("it was generated");
    let small = whole.clone().shrunk(&mock, SEED);
    assert!(small.text.len() < whole.text.len(), "{}", small.text);
}

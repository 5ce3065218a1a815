//! Tests of the kit with our own adapters: the faultless ones pass, adapters without a guard fail,
//! and every fault is found.

use guard_ack::{AckReport, CaseSuite, Contestant, RunOptions, run};
use guard_adapters::{AdapterShape, Mock, Null};
use guard_sdk::GuardCache;

mod generated;
mod laws;
mod matrix;
mod snapshots;
mod told;
mod undrawn;

const SEED: u64 = 20_260_105;

fn judged(contestant: &dyn Contestant, seed: u64) -> AckReport {
    let suite = CaseSuite::bundled();
    let (cases, bad) = suite.cases(seed);
    let options = RunOptions {
        seed,
        jobs: 2,
        known_failing: Vec::new(),
        compile: &|_| None,
        is_fail_fast: false,
        progress: &|_, _| {},
    };
    run(&suite, &cases, bad, contestant, &options)
}

#[test]
fn the_faultless_pass_whatever_the_seed() {
    let guards = GuardCache::new(1000);
    for shape in AdapterShape::ALL {
        for seed in [SEED, 1, 2] {
            let report = judged(&Mock { shape, fault: None, guards: &guards }, seed);
            assert!(report.is_fine(), "{}", guard_ack::report::text::text(&report, shape.name()));
        }
    }
}

#[test]
fn every_case_is_failed_by_whoever_asks_no_guard() {
    for null in Null::ALL {
        let report = judged(&null, SEED);
        let passed = report.outcomes.iter().filter(|one| one.verdict.word() != "failed");
        let passed: Vec<&str> = passed.map(|one| one.name.as_str()).collect();
        assert!(passed.is_empty(), "{null:?} passes {passed:?}");
    }
}

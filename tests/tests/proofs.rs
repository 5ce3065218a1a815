//! Laws of proofs: what is proved is so.

use guard_compiler::verify::{Width, verify_at};
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_plan::random::Rng;
use guard_runtime::{Ending, Kernel, NoWorld, Proposal, SessionState, Settlement};
use guard_tests::bounded;
use guard_tests::claimed;
use guard_tests::claims::{LAWS, first_failure};
use guard_tests::compiled;
use guard_tests::small::{self, SmallCounts};
use guard_tests::steps;
use guard_tests::walks;
use guard_tests::written;
use std::collections::BTreeSet;

/// At four bits, in every state and with every argument.
#[test]
fn what_is_proved_of_small_guards_is_so() {
    let mut tried = SmallCounts::default();
    let mut guards = 0;
    for seed in 0..seeds(400) {
        let text = small::source(&mut Rng::new(seed));
        let Some(output) = compiled(&text) else { continue };
        guards += 1;
        if let Err(why) = small::try_all(&output, &mut tried) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    println!("{guards} guards: {tried:?}");
    assert!(tried.given * 10 > tried.proved, "hardly any proof needs anything: {tried:?}");
    assert!(tried.proved * 5 > tried.checked, "hardly anything is proved: {tried:?}");
    assert!(tried.impossible > 0, "nothing is impossible: {tried:?}");
}

/// In sessions with calls in flight, failures and time that passes.
#[test]
fn what_is_proved_of_properties_is_so() {
    let mut tried = claimed::PropertyCounts::default();
    let mut guards = 0;
    for seed in 0..seeds(1_500) {
        let rng = &mut Rng::new(seed);
        let guard = claimed::source(rng);
        let Some(output) = compiled(&guard.text) else { continue };
        guards += 1;
        if let Err(why) = claimed::try_guard(&guard, &output, rng, 60, &mut tried) {
            panic!("seed {seed}: {why}\n{}", guard.text);
        }
    }
    println!("{guards} guards: {tried:?}");
    // The others follow at sight, by the parts of conditions and the values of comparisons.
    assert!(tried.reasoned * 6 > tried.proved, "hardly anything is reasoned: {tried:?}");
    assert!(tried.broken * 4 > tried.open, "hardly anything that is open is broken: {tried:?}");
}

/// Returns the number of seeds to try: `GUARD_SEEDS` times as many where it is set.
pub fn seeds(usual: u64) -> u64 {
    let times = std::env::var("GUARD_SEEDS").ok().and_then(|times| times.parse::<u64>().ok());
    usual * times.unwrap_or(1)
}

/// In sessions with calls in flight beside each other, failures, and results that do not decode.
#[test]
fn what_bounds_prove_is_so() {
    let mut tried = bounded::BoundCounts::default();
    for seed in 0..seeds(600) {
        let rng = &mut Rng::new(seed);
        let text = bounded::grammar::source(rng);
        let Some(output) = compiled(&text) else { continue };
        if let Err(why) = bounded::try_guard(&output, rng, 40, &mut tried) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    println!("{tried:?}");
    assert!(tried.claims * 2 > tried.guards, "bounds prove hardly anything: {tried:?}");
    assert!(tried.fired * 2 > tried.open, "hardly anything that is open is broken: {tried:?}");
    for measure in ["state", "size", "counted", "spent", "called"] {
        assert!(tried.measures.contains_key(measure), "no bound measures {measure}: {tried:?}");
    }
}

/// In random states and at their edges, with the checks switched on.
#[test]
fn what_is_proved_is_never_broken() {
    let mut tried = walks::WalkCounts::default();
    let mut guards = 0;
    for seed in 0..seeds(150) {
        let rng = &mut Rng::new(seed);
        let text = walks::source(rng);
        let Some(output) = compiled(&text) else { continue };
        guards += 1;
        if let Err(why) = walks::walk(&output, rng, 30, &mut tried) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    println!("{guards} guards: {tried:?}");
    assert!(tried.refused > 0 && tried.observed > 0, "hardly anything happens: {tried:?}");
    assert!(tried.held * 4 > tried.feasible, "hardly anything is claimed: {tried:?}");
}

/// One step from arbitrary states; every rule of the encoder takes part in some proof.
#[test]
fn what_is_proved_holds_after_a_step_from_any_state() {
    let mut tried = steps::StepCounts::default();
    for seed in 0..seeds(2_500) {
        let rng = &mut Rng::new(seed);
        let text = steps::grammar::source(rng);
        let Some(output) = compiled(&text) else { continue };
        if let Err(why) = steps::try_guard(&output, rng, 80, &mut tried) {
            panic!("seed {seed}: {why}\n{text}");
        }
    }
    println!("{tried:#?}");
    assert!(tried.met * 2 > tried.claims, "few claims are met by a call: {tried:?}");
    for given in ["bound", "limit", "Costs", "requires", "success", "Growth"] {
        assert!(tried.rests_on.contains_key(given), "no proof rests on {given}: {tried:?}");
    }
    for rule in guard_proof::ProofRule::ALL {
        let name = format!("Meaning({rule:?})");
        assert!(
            tried.rests_on.contains_key(&name),
            "no proof rests on {name}: {:?}",
            tried.rests_on
        );
    }
}

/// Certificates spoiled, expected and not to be had; optimized expressions. The laws over many guards have tests of their own.
#[test]
fn claims_are_kept() {
    let own = [
        "bounds, in sessions",
        "one step from arbitrary states",
        "four bits, everything",
        "edges, checks on",
        "kernel, plans and reference agree",
    ];
    for (law, case) in LAWS.iter().filter(|(law, _)| !own.contains(law)) {
        assert_eq!(first_failure(*case), None, "{law}");
    }
}

/// The guards that are written down as nearly proved: a call breaks each of them, so a proof of it would be a false one.
#[test]
fn what_is_nearly_kept_is_broken() {
    let broken = |text: &str| {
        let output = compiled(&format!("guard nearly\n{text}")).expect("a guard");
        (0..40).any(|seed| steps::breaks(&output, &mut Rng::new(seed), 2_000))
    };
    let nearly = written::cases(written::NEARLY_KEPT);
    let kept: Vec<&str> = nearly.filter(|(_, text)| !broken(text)).map(|(what, _)| what).collect();
    assert!(kept.is_empty(), "nothing breaks {kept:#?}");
}

/// Bounds of a plan speak of its own counts: a session that does not keep them is not taken up.
#[test]
fn a_session_that_breaks_a_bound_does_not_go_on_under_another_plan() {
    let guard = |tool: &str| {
        let text = format!(
            "guard counted\n\nstate {{\n  n: int = 0\n}}\n\ninvariant i {{ n <= 3 }}\n\n{tool}"
        );
        let output = compiled(&text).expect("a guard");
        assert!(output.verification.pairs[0].status.is_proved(), "{text}");
        assert!(!output.verification.bounds.is_empty(), "{text}");
        let loaded = LoadedPlan::from_plan(output.plan.clone(), output.sources.clone());
        Kernel::new(loaded.expect("a plan")).expect("a kernel")
    };
    let own = guard("tool t() {\n  limit 3 per session\n  effect n += 1\n}\n");
    let anew = guard("tool t() { effect n += 1 }\n\npolicy p for t { limit 3 per session }\n");
    let three = guard("tool t() {\n  limit 1 per session\n  effect n += 3\n}\n");
    let one = guard("tool t() {\n  limit 1 per session\n  effect n += 1\n}\n");
    let args = Json::parse("{}").expect("JSON");
    let call = |kernel: &Kernel, session: &mut SessionState, call: &str, settles: bool| {
        let proposal = Proposal { call, tool: "t", args: (&args).into(), now: 0 };
        let proposed = kernel.propose(session, &proposal, &mut NoWorld).expect("an event");
        assert!(proposed.verdict.is_allowed(), "{:?}", proposed.verdict);
        if settles {
            let settlement = Settlement { call, ending: Ending::Success(None), now: 0 };
            kernel.settle(session, &settlement, &mut NoWorld).expect("an event");
        }
    };
    // The counter of another owner begins anew, and the variable comes over.
    let mut session = own.open("s", 0, "/").expect("a session");
    assert!(own.upgrade(&session, &anew, 0).is_ok(), "nothing was counted yet");
    call(&own, &mut session, "1", true);
    assert!(own.upgrade(&session, &own, 0).is_ok(), "the plan is the same");
    let refused = own.upgrade(&session, &anew, 0).expect_err("the bound is broken");
    assert!(refused.to_string().contains("which its proofs rely on"), "{refused}");
    // What a call in flight will write was decided by the other plan.
    let mut session = three.open("s", 0, "/").expect("a session");
    call(&three, &mut session, "1", false);
    assert!(three.upgrade(&session, &three, 0).is_ok(), "the plan is the same");
    let refused = three.upgrade(&session, &one, 0).expect_err("the call will break the bound");
    assert!(refused.to_string().contains("which its proofs rely on"), "{refused}");
}

/// The step law found this one at seed 1087899: a summand that was no number to the encoder was taken for 0 or 1.
#[test]
fn an_unknown_summand_has_no_range() {
    let output = compiled(
        "guard stepped\n\nstate {\n  lb: list<int in -5..=5> max 4 = []\n  lc: list<int> max 3 = []\n}\n\n\
         invariant i0 { sum(r1, u1 in lc: (lb[r1] else 2)) <= 3 }\n\ntool t1() {\n  effect lb = [len(lb)]\n}\n",
    )
    .expect("a guard");
    // By one step alone: bounds of the session may prove it.
    let said = verify_at(&output.lowered, Width::REAL);
    assert!(!said.pairs[0].status.is_proved(), "{:?}", said.pairs);
}

/// `3 in l` and `l[3] is some` were one variable of a list from which an element was removed.
#[test]
fn an_index_is_no_element() {
    let output = compiled(
        "guard stepped\n\nstate {\n  l: list<int> max 5 = []\n}\n\n\
         invariant i0 { 3 in l implies l[3] is some }\n\ntool t1(x: int) {\n  effect remove x from l\n}\n",
    )
    .expect("a guard");
    // By one step alone: bounds of the session may prove it.
    let said = verify_at(&output.lowered, Width::REAL);
    assert!(!said.pairs[0].status.is_proved(), "{:?}", said.pairs);
}

/// Names decide in which order a plan stands, and nothing else.
#[test]
fn names_prove_nothing() {
    const NAMES: [(&str, &str); 6] = [
        ("tool t0", "tool z9"),
        ("tool t1", "tool a9"),
        ("invariant i0", "invariant q3"),
        ("invariant i1", "invariant q2"),
        ("invariant i2", "invariant q1"),
        ("invariant i3", "invariant q0"),
    ];
    let mut compared = 0;
    for seed in 0..seeds(60) {
        let text = walks::source(&mut Rng::new(seed));
        let renamed = NAMES.iter().fold(text.clone(), |text, (from, to)| text.replace(from, to));
        let (Some(one), Some(other)) = (compiled(&text), compiled(&renamed)) else {
            continue;
        };
        let back = |name: &str| {
            let of = |full: &str| full.rsplit(' ').next().unwrap_or_default().to_string();
            let known = NAMES.iter().find(|(_, to)| of(to) == name);
            known.map_or(name.to_string(), |(from, _)| of(from))
        };
        let proved = |output: &guard_compiler::CompilerOutput| -> BTreeSet<(String, String, bool)> {
            let plan = &output.plan;
            let pairs = output.verification.pairs.iter();
            pairs
                .map(|pair| {
                    let tool = back(&plan.tools[pair.tool as usize].name);
                    let invariant = back(&plan.invariants[pair.invariant as usize].rule.owner);
                    (tool, invariant, pair.status.is_proved())
                })
                .collect()
        };
        assert_eq!(proved(&one), proved(&other), "seed {seed}\n{text}");
        compared += 1;
    }
    assert!(compared > 20, "only {compared} guards were compared");
}

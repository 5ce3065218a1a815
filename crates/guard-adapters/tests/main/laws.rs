//! Property tests over all cases, for any guard.

use super::SEED;
use super::snapshots::{added, decided, seen};
use super::undrawn::Undrawn;
use guard_ack::case::{Case, CaseStep};
use guard_ack::protocol::{Declared, Hello, LoopEnd, ReplayAnswer, ReplayRequest, Restore, Run};
use guard_ack::{Adapter, AdapterTrouble, AdapterWorld, CaseSuite, Contestant, Observed, play};
use guard_adapters::{AdapterShape, Mock};
use guard_sdk::GuardCache;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::LazyLock;

static GUARDS: LazyLock<GuardCache> = LazyLock::new(|| GuardCache::new(2000));

static MOCKS: LazyLock<Vec<Mock<'static>>> = LazyLock::new(|| {
    AdapterShape::ALL
        .into_iter()
        .map(|shape| Mock { shape, fault: None, guards: &GUARDS })
        .collect()
});

fn executed(seen: &Observed) -> BTreeSet<String> {
    let runs = seen.runs.iter().flat_map(|run| &run.executed);
    runs.map(|one| one.id.clone().unwrap_or_else(|| one.call.tool.clone())).collect()
}

/// The calls that run because an earlier call no longer runs. A call is judged by the calls before
/// it: the earlier call would have aged its requirement, halted the session, emptied the budget, or
/// broken the invariant. No other call may run.
const MADE_ROOM: &[&str] = &[
    "gate/requirement_since_a_change without edit: ship2",
    "gate/settlement_that_fails_is_not_lost without open: wipe",
    "gate/undeclared_tool_under_default_allow without known: three",
    "effects/age_of_a_failure_counts_from_its_end without test: early",
    "effects/broken_observation_halts without look: pay",
    "effects/end_of_a_long_list_reaches_the_guard without list: close",
    "effects/halt_until_resumed without insert: halted",
    "effects/invariant_over_a_collection without deploy: pull",
    "effects/long_report_that_ends_badly_is_seen without test: ship",
    "effects/ten_tenths_are_one without ask: over",
];

#[test]
fn one_more_deny_never_enlarges_what_is_executed() {
    let suite = CaseSuite::bundled();
    let mut more = Vec::new();
    for case in suite.cases(SEED).0 {
        // Some cases have a guard that cannot be parsed.
        let Ok(kernel) = GUARDS.compile("case.guard", &*case.guard) else { continue };
        let before =
            seen(&suite, &case, AdapterShape::Hooks, &GUARDS).expect("hooks declare everything");
        let undrawn = Undrawn::new(&suite, &case, &before, SEED);
        for tool in &kernel.plan().tools {
            let mut stricter = case.clone();
            stricter.guard.push_str(&format!(
                "\npolicy one_more for {} {{ deny when 1 == 1 because \"no\" }}\n",
                tool.name
            ));
            GUARDS.compile("case.guard", &*stricter.guard).expect("a stricter guard");
            let mock = Mock { shape: AdapterShape::Hooks, fault: None, guards: &GUARDS };
            let (_, after) = play(&stricter, &mock, &suite.hash(), SEED, &|_| None);
            let of_it = after
                .runs
                .iter()
                .flat_map(|run| &run.executed)
                .any(|one| one.call.tool == tool.wire_name);
            assert!(!of_it, "{}: `{}` runs although it is denied", case.name, tool.name);
            let gained: Vec<String> =
                executed(&after).difference(&executed(&before)).cloned().collect();
            if !gained.is_empty() {
                more.push(format!(
                    "{} without {}: {}",
                    case.name,
                    undrawn.text(&tool.name),
                    gained.join(" ")
                ));
            }
        }
    }
    assert_eq!(more, MADE_ROOM, "{more:#?}");
}

thread_local! {
    /// The adapter that several cases share.
    static SHARED: RefCell<Option<Box<dyn Adapter>>> = const { RefCell::new(None) };
    /// The case that is played between two runs of another case, with its observations.
    static GUEST: RefCell<Option<(Case, Option<Observed>)>> = const { RefCell::new(None) };
}

/// A contestant that starts nothing: all cases get the shared adapter.
struct Sharing<'s>(&'s CaseSuite);

struct Handle<'s>(&'s CaseSuite);

impl Contestant for Sharing<'_> {
    fn start(&self) -> Result<Box<dyn Adapter + '_>, AdapterTrouble> {
        Ok(Box::new(Handle(self.0)))
    }
}

fn shared<T>(ask: impl FnOnce(&mut dyn Adapter) -> T) -> T {
    SHARED.with_borrow_mut(|adapter| ask(&mut **adapter.as_mut().expect("an adapter")))
}

impl Adapter for Handle<'_> {
    fn hello(&mut self, hello: &Hello) -> Result<Declared, AdapterTrouble> {
        shared(|it| it.hello(hello))
    }

    fn run(&mut self, run: &Run, world: &mut dyn AdapterWorld) -> Result<LoopEnd, AdapterTrouble> {
        let end = shared(|it| it.run(run, world));
        // The guest is played after the first run, and is not a host itself.
        match GUEST.take() {
            Some((case, None)) => {
                let (_, seen) = play(&case, &Sharing(self.0), &self.0.hash(), SEED, &|_| None);
                GUEST.set(Some((case, Some(seen))));
            }
            been => GUEST.set(been),
        }
        end
    }

    fn snapshot(&mut self, session: &str) -> Result<Value, AdapterTrouble> {
        shared(|it| it.snapshot(session))
    }

    fn restore(&mut self, restore: &Restore) -> Result<(), AdapterTrouble> {
        shared(|it| it.restore(restore))
    }

    fn reset(&mut self, session: Option<&str>) -> Result<(), AdapterTrouble> {
        shared(|it| it.reset(session))
    }

    fn replay(&mut self, replay: &ReplayRequest) -> Result<ReplayAnswer, AdapterTrouble> {
        shared(|it| it.replay(replay))
    }
}

/// Returns the decisions, the runs and the shown messages, as text in the words of the case.
fn told(suite: &CaseSuite, case: &Case, seen: &Observed) -> String {
    let undrawn = Undrawn::new(suite, case, seen, SEED);
    let shown: Vec<_> = seen.runs.iter().map(|run| (&run.shown, &run.approvals)).collect();
    let decided = decided(&added(case, seen), &undrawn);
    undrawn.text(&format!("{decided:?}\n{:?}\n{shown:?}", executed(seen)))
}

#[test]
fn two_cases_in_one_adapter_give_what_they_give_separately() {
    let suite = CaseSuite::bundled();
    let mut cases = suite.cases(SEED).0;
    // If an adapter is ended, its shared process ends, too.
    let ends = |it: &CaseStep| matches!(it, CaseStep::Restart {});
    cases.retain(|case| !case.run.iter().flat_map(|run| &run.before).any(ends));
    for mock in &*MOCKS {
        let alone =
            |case: &Case| Some(told(&suite, case, &seen(&suite, case, mock.shape, &GUARDS)?));
        let alone: Vec<Option<String>> = cases.iter().map(alone).collect();
        for (at, host) in cases.iter().enumerate() {
            let next = (at + 1) % cases.len();
            let (Some(expected), Some(of_guest)) = (&alone[at], &alone[next]) else { continue };
            SHARED.set(Some(mock.start().expect("a mock")));
            GUEST.set(Some((cases[next].clone(), None)));
            let (_, seen) = play(host, &Sharing(&suite), &suite.hash(), SEED, &|_| None);
            let Some((guest, Some(visited))) = GUEST.take() else { panic!("no guest came") };
            assert_eq!(&told(&suite, host, &seen), expected, "{} beside {}", host.name, guest.name);
            assert_eq!(
                &told(&suite, &guest, &visited),
                of_guest,
                "{} within {}",
                guest.name,
                host.name
            );
        }
    }
}

//! Laws of replay: the same plan reproduces everything; a plan that only refuses more never first allows more.

use guard_plan::LoadedPlan;
use guard_plan::replayed::{Aspect, View};
use guard_runtime::Kernel;
use guard_tests::{compiled, differential, generate, rng::Rng};
use guard_trace::Keys;
use guard_trace::reading::Records;
use guard_trace::replay::{Judge, Options, Replay, Replayed};

/// Events of one session.
const EVENTS: usize = 30;
/// Sessions of one guard.
const SESSIONS: usize = 4;

fn loaded(text: &str) -> Option<LoadedPlan> {
    let output = compiled(text)?;
    Some(LoadedPlan::from_plan(output.plan, output.sources).expect("what compiles loads"))
}

fn replayed(judge: &Judge, keys: Option<&Keys>, lines: &[String]) -> Replayed {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut records = Records::new(text.as_bytes());
    let options = Options { keys, keep: 100, marks: 0, foreign: false };
    let mut replay = None;
    while let Some(entry) = records.next_record().expect("a record") {
        assert!(entry.flaw.is_none(), "{:?}", entry.flaw);
        match &mut replay {
            None => {
                let begun = Replay::begin(judge, options, entry.record, Some(entry.line));
                replay = Some(begun.expect("the session opens"));
            }
            Some(replay) => {
                replay.record(entry.record, Some(entry.line)).expect("the event is taken");
            }
        }
    }
    replay.expect("a trace has records").end()
}

/// Sessions of drawn guards, each with the text of its guard.
fn sessions(
    seeds: std::ops::Range<u64>,
    mut each: impl FnMut(&generate::Generated, &Judge, &[String]),
) {
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let guard = generate::guard(&mut rng);
        let text = guard.text();
        let (Some(first), Some(second)) = (loaded(&text), loaded(&text)) else { continue };
        let kernel = Kernel::new(first).expect("a kernel");
        let judge = Judge::new(second).expect("a judge");
        for _ in 0..SESSIONS {
            let events = generate::events(&mut rng, &guard, EVENTS);
            if let Some(lines) = differential::recorded(&kernel, &events) {
                each(&guard, &judge, &lines);
            }
        }
    }
}

#[test]
fn the_same_plan_reproduces_everything() {
    let keys = Keys::new([7; 32]);
    let (mut total, mut blind) = (View::default(), View::default());
    sessions(0..400, |guard, judge, lines| {
        let with = replayed(judge, Some(&keys), lines);
        let shown = || format!("{:#?}\n{}\n{}", with.differences, guard.text(), lines.join("\n"));
        assert!(with.own && with.recorded.is_same(), "{}", shown());
        assert_eq!(with.recorded, with.strict, "{}", shown());
        assert_eq!((with.recorded.skipped, with.recorded.untaken), (0, 0), "{}", shown());
        assert_eq!(with.records as usize, lines.len());
        total.add(&with.recorded);
        // Without the key nothing is claimed that is not so.
        let without = replayed(judge, None, lines);
        let claimed = without.recorded.changed() + without.recorded.records;
        assert_eq!(
            claimed,
            0,
            "{:#?}\n{}\n{}",
            without.differences,
            guard.text(),
            lines.join("\n")
        );
        blind.add(&without.recorded);
    });
    assert!(total.calls > 2_000, "{total:?}");
    assert!(blind.unsaid.secrets > 50, "{blind:?}");
    assert!(blind.same > total.same / 2, "{blind:?}");
}

/// A rule that refuses more may free what comes later, but what differs first in a session is a refusal.
#[test]
fn what_only_refuses_more_first_refuses_more() {
    let keys = Keys::new([7; 32]);
    let mut refused = 0;
    sessions(0..250, |guard, _, lines| {
        let text = guard.text();
        let Some(tool) = guard.tools.first() else { return };
        for more in [
            format!("policy stricter for * {{ deny when calls({}) >= 1 }}", tool.name),
            format!("policy stricter for {} {{ limit 1 per session }}", tool.name),
        ] {
            let Some(plan) = loaded(&format!("{text}\n{more}\n")) else { continue };
            let judge = Judge::new(plan).expect("a judge");
            let said = replayed(&judge, Some(&keys), lines);
            let first =
                said.differences.iter().find(|one| one.strict && one.aspect == Aspect::Decision);
            let Some(first) = first else { continue };
            refused += 1;
            let looser = first.then == "deny" || first.now == "allow";
            assert!(!looser, "{first:#?}\n{text}\n{more}\n{}", lines.join("\n"));
        }
    });
    assert!(refused > 60, "{refused}");
}

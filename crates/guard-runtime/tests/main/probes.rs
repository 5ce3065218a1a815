//! Tests of probes: they are asked when due, and their answers are used only if they have the right
//! type.

use super::build::*;
use super::live::*;
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_plan::record::{Asked, RunEnd};
use guard_runtime::*;

/// A plan with `work`, which is ready when the probe `up` answers true.
fn guarded(probe: Probe) -> Plan {
    let mut plan = plan_of(&["ready.txt"]);
    plan.commands.push(command("check it"));
    plan.probes.push(probe);
    let mut work = tool("work", &[]);
    work.ready.push(Ready { rule: rule("work"), probe: 0 });
    plan.tools.push(work);
    plan
}

fn up() -> Probe {
    probe("up", BOOL)
}

fn answer(live: &mut Live, is: bool) {
    live.world.probes.insert("up".into(), Json::Bool(is));
}

#[test]
fn failed_attempts_wait_longer_and_longer() {
    let backoff = Some(Backoff { factor: 2_500_000, up_to: 4_000 });
    let mut live = Live::new(guarded(Probe { backoff, within: Some(20_000), ..up() }));
    let says = |wait: &str| {
        format!(
            "deny; not_ready: `work` is not ready: the probe `up` returned false \
             (the probe is asked again in {wait}; try then)"
        )
    };
    answer(&mut live, false);
    live.check("work", &says("1 second"));
    answer(&mut live, true);
    // No probe is asked before it is due, not even when the clock goes backwards.
    live.now = 999;
    live.check("work", &says("1 millisecond"));
    live.now = -5;
    live.check("work", &says("1 millisecond"));
    assert_eq!(live.world.asked, 1);
    assert_eq!(live.session.next_attempt(&live.kernel, "up"), Some(ProbeTurn::At(1_000)));
    answer(&mut live, false);
    live.now = 1_000;
    live.check("work", &says("2 seconds 500 milliseconds"));
    live.now = 3_500;
    live.check("work", &says("4 seconds"));
    live.now = 7_500;
    live.check("work", &says("4 seconds"));
    live.now = 11_500;
    answer(&mut live, true);
    live.check("work", "allow");
    // An answer other than false starts a new series.
    answer(&mut live, false);
    live.now = 12_000;
    live.check("work", &says("1 second"));
    live.now = 30_000;
    // The window ends with an attempt.
    live.check("work", &says("2 seconds"));
    live.now = 32_000;
    live.check(
        "work",
        &says("2 seconds 500 milliseconds").replace(
            "the probe is asked again in 2 seconds 500 milliseconds; try then",
            "it was not ready within 20 seconds, and the probe is not asked again",
        ),
    );
}

#[test]
fn a_probe_is_given_up() {
    let mut live = Live::new(guarded(Probe { within: Some(5_000), ..up() }));
    answer(&mut live, false);
    live.check(
        "work",
        "deny; not_ready: `work` is not ready: the probe `up` returned false (try again later)",
    );
    let given_up = "deny; not_ready: `work` is not ready: the probe `up` returned false \
                    (it was not ready within 5 seconds, and the probe is not asked again)";
    live.now = 5_000;
    live.check("work", given_up);
    answer(&mut live, true);
    live.now = 6_000;
    live.check("work", given_up);
    assert_eq!(live.session.next_attempt(&live.kernel, "up"), Some(ProbeTurn::Never));
}

#[test]
fn answers_are_used_again() {
    let mut live = Live::new(guarded(Probe { every: Some(1_000), ..up() }));
    answer(&mut live, true);
    live.check("work", "allow");
    answer(&mut live, false);
    live.now = 999;
    live.check("work", "allow");
    assert_eq!(live.world.asked, 1);
    live.now = 1_000;
    live.check(
        "work",
        "deny; not_ready: `work` is not ready: the probe `up` returned false \
         (the probe is asked again in 1 second; try then)",
    );
}

#[test]
fn looking_keeps_nothing() {
    let mut live = Live::new(guarded(Probe { every: Some(1_000), ..up() }));
    answer(&mut live, true);
    let args = Json::Object(vec![]);
    let proposal = Proposal { call: "c", tool: "work", args: (&args).into(), now: 0 };
    live.kernel.check(&live.session, &proposal, &mut live.world);
    let asks = expr([Node::Probe(0)]);
    live.kernel.evaluate(&live.session, &asks, 0, &mut live.world).unwrap();
    assert_eq!(live.world.asked, 2);
    assert_eq!(live.session.next_attempt(&live.kernel, "up"), Some(ProbeTurn::Now));
}

#[test]
fn nonsense_is_no_answer() {
    let mut live = Live::new(guarded(up()));
    live.check(
        "work",
        "deny; evaluation_error: a rule cannot be evaluated: the probe `up` gives no answer",
    );
    live.world.probes.insert("up".into(), Json::string("maybe"));
    live.check(
        "work",
        "deny; evaluation_error: a rule cannot be evaluated: the probe `up` answers something \
         else: expected bool, found \"maybe\"",
    );
}

#[test]
fn commands_and_files_answer() {
    let mut live = Live::new(guarded(Probe { asks: ProbeAsks::File(0), ..up() }));
    let no =
        "deny; not_ready: `work` is not ready: the probe `up` returned false (try again later)";
    live.check("work", no);
    live.file("ready.txt", "");
    live.check("work", "allow");

    let mut live = Live::new(guarded(Probe { asks: ProbeAsks::Command(0), ..up() }));
    let mut ends = |ended, expected: &str| {
        live.world.runs.insert("check it".into(), ran(ended, "noise"));
        live.check("work", expected);
    };
    ends(RunEnd::Exited(0), "allow");
    ends(RunEnd::Exited(3), no);
    let silent =
        "deny; evaluation_error: a rule cannot be evaluated: the probe `up` gives no answer";
    ends(RunEnd::TimedOut, silent);
    ends(RunEnd::Signalled(6), silent);
    let Asked::Run { answer, .. } = &live.propose("c", "work").asked[0] else { panic!() };
    // A bool needs no output, so none is kept.
    assert_eq!(answer.as_ref().unwrap().stdout, "");
}

#[test]
fn output_is_decoded() {
    let mut plan = guarded(Probe { returns: INT, asks: ProbeAsks::Command(0), ..up() });
    plan.tools[0].ready.clear();
    let mut live = Live::new(plan);
    let value = |live: &mut Live, printed: &str| {
        live.world.runs.insert("check it".into(), ran(RunEnd::Exited(0), printed));
        let probe = expr([Node::Probe(0)]);
        let value = live.kernel.evaluate(&live.session, &probe, 0, &mut live.world);
        value.map_or_else(|fault| fault.to_string(), |value| format!("{value:?}"))
    };
    assert_eq!(value(&mut live, " 42\n"), "Int(42)");
    let odd = value(&mut live, "forty-two");
    assert!(odd.starts_with("the probe `up` answers something else: "), "{odd}");
    assert_eq!(
        value(&mut live, &"1".repeat(70_000)),
        "the probe `up` answers something else: more than 65536 bytes"
    );
}

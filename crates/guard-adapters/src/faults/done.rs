//! Faults in stops (`DONE`), items (`ITEM`) and outputs (`EDGE`).

use super::effects::{forgets, restart};
use super::{Spec, faults, instead};
use crate::duties::{Duties, Faithful};
use crate::engine::WorkspaceFiles;
use crate::harness::{AdapterResult, Gate, Harness};
use guard_ack::protocol::{LoopEnd, LoopEndKind, ModelMessage, ModelTurn, Role};
use guard_plan::record::StopDecision;
use guard_plan::verdict::Decision;
use guard_runtime::Verify;
use guard_sdk::{Event, Stopped};
use serde_json::json;

pub(super) const TABLE: &[Spec] = faults! {
    "stops-blocked" "DONE-1" "stops although it was blocked" => stops(|_, stopped| {
        stopped.decision = StopDecision::Allow;
    });
    "hides-missing" "DONE-2" "does not show what is missing" => instead::may_stop(|_, stopped| {
        stopped.decision == StopDecision::Allow
    });
    "repeats-missing" "DONE-2" "shows what is missing each turn from then on" => Box::new(RepeatsMissing(None));
    "blocks-first" "DONE-3" "blocks the first stop, whatever the guard says" => stops(|blocked, stopped| {
        if !blocked {
            hold(stopped);
        }
    });
    "blocks-once" "DONE-4" "lets the second stop pass" => stops(|blocked, stopped| {
        if blocked {
            stopped.decision = StopDecision::Allow;
        }
    });
    "stop-is-kept" "DONE-4" "remembers the answer to the first stop" => {
        let mut first = None;
        instead::stop(move |harness, turn| {
            let stopped = Faithful.stop(harness, turn)?;
            Ok(first.get_or_insert(stopped).clone())
        })
    };
    "held-at-deadline" "DONE-5" "holds up a stop although the deadline has passed" => stops(|_, stopped| {
        if stopped.bypassed.as_deref() == Some("deadline") {
            hold(stopped);
        }
    });
    "held-at-budget" "DONE-6" "holds up a stop although a budget is exhausted" => stops(|_, stopped| {
        if stopped.bypassed.as_deref().is_some_and(|why| why != "deadline" && why != "halted") {
            hold(stopped);
        }
    });
    "generic-missing" "DONE-7" "says only that something is missing" => stops(|_, stopped| {
        if stopped.decision == StopDecision::Block {
            hold(stopped);
        }
    });
    "always-stopped" "DONE-9" "says of each end that the model stopped" => ends(|_, end| end.ended = LoopEndKind::Stopped);
    "blocked-output" "DONE-10" "hands over the first output, though its stop was blocked" => ends(|harness, end| {
        let output = |message: &&ModelMessage| message.role == Role::Assistant && message.calls.is_empty();
        if let Some(first) = harness.messages.iter().find(output).filter(|_| end.output.is_some()) {
            end.output = Some(first.text.clone());
        }
    });
    "assumes-files" "DONE-11" "treats files as existing when that is unknown" => instead::files(|workspace| {
        WorkspaceFiles::looking(workspace, Box::new(|host, path, ask| ask(host, path).or(Some(true))))
    });
    "runs-served" "ITEM-1" "runs calls that the guard has served" => super::gate::runs_where(|proposed| {
        proposed.served.is_some()
    });
    "served-in-silence" "ITEM-1" "does not show what the guard served" => instead::obey(|harness, call, proposed| {
        match (proposed.verdict.decision, &proposed.served) {
            (Decision::Allow, Some(_)) => Ok(Gate::Served(String::new())),
            _ => Faithful.obey(harness, call, proposed),
        }
    });
    "agent-verifies" "ITEM-2" "verifies items when the agent calls for them" => instead::obey(
        |harness, call, proposed| {
            for change in &proposed.items {
                let now = Faithful.now(harness);
                // Some states have no verification.
                let _ = Faithful.report(harness, &Event::Verify(Verify { item: &change.item, now }));
            }
            Faithful.obey(harness, call, proposed)
        },
    );
    "nobody-verifies" "ITEM-4" "does not pass on that the harness verified or moved an item" => forgets(|event| {
        matches!(event, Event::Verify(_) | Event::Move(_))
    });
    "no-report" "EDGE-1" "hands over no report" => instead::judge(|_, _| Ok(None));
    "finish-reason-dropped" "EDGE-2" "judges the output without why it ended" => instead::judge(|harness, turn| {
        Faithful.judge(harness, &ModelTurn { finish_reason: String::new(), ..turn.clone() })
    });
    "all-or-nothing" "EDGE-3" "drops all items when one is bad" => instead::judge(|harness, turn| {
        let report = Faithful.judge(harness, turn)?;
        Ok(report.map(|report| {
            if report["state"] == "valid" {
                report
            } else {
                json!({ "state": "total_loss", "lists": [] })
            }
        }))
    });
    "judges-afresh" "EDGE-4" "judges the output in a new session" => instead::judge(|harness, turn| {
        restart(harness)?;
        Faithful.judge(harness, turn)
    });
};

/// Blocks a stop without a reason.
fn hold(stopped: &mut Stopped) {
    stopped.decision = StopDecision::Block;
    stopped.message = "something is missing".into();
}

/// Returns an adapter that changes the answer to a stop; `change` receives true if a stop was
/// blocked before.
fn stops(change: fn(bool, &mut Stopped)) -> Box<dyn Duties> {
    let mut blocked = false;
    instead::stop(move |harness, turn| {
        let mut stopped = Faithful.stop(harness, turn)?;
        change(blocked, &mut stopped);
        blocked |= stopped.decision == StopDecision::Block;
        Ok(stopped)
    })
}

/// Returns an adapter that changes the result of a run.
pub(super) fn ends(change: fn(&Harness, &mut LoopEnd)) -> Box<dyn Duties> {
    instead::end(move |harness, turn, stopped| {
        let mut end = Faithful.end(harness, turn, stopped)?;
        change(harness, &mut end);
        Ok(end)
    })
}

/// An adapter that repeatedly shows the failed checks of a stop.
struct RepeatsMissing(Option<String>);

impl Duties for RepeatsMissing {
    fn may_stop(&mut self, harness: &mut Harness, stopped: &Stopped) -> bool {
        let allowed = Faithful.may_stop(harness, stopped);
        self.0 = (!allowed).then(|| stopped.message.clone());
        allowed
    }

    fn ask_model(&mut self, harness: &mut Harness) -> AdapterResult<Option<ModelTurn>> {
        if let Some(missing) = &self.0 {
            harness.say(Role::User, missing);
        }
        Faithful.ask_model(harness)
    }
}

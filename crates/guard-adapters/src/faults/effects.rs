//! Faults after a tool has run, in reports to the guard other than calls, and in calls that
//! overlap.

use super::gate::{ignores, runs_where};
use super::{Spec, faults, instead};
use crate::duties::{Duties, Faithful};
use crate::engine::{Engine, WorkspaceFiles, instant};
use crate::harness::{AdapterResult, Gate, Harness, joined, text_of};
use guard_ack::protocol::{Done, ModelCall, ModelTurn, Role, Run};
use guard_plan::verdict::{Code, Decision};
use guard_runtime::{Proposal, Settlement};
use guard_sdk::{Event, Outcome};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const TABLE: &[Spec] = faults! {
    "never-settles" "EFFECT-1" "never settles a call" => instead::settlement(|_, _, _| Ok(String::new()));
    "invariant-is-advice" "EFFECT-3" "takes a broken invariant for advice" => ignores(Code::Invariant);
    "no-results" "EFFECT-4" "settles calls without their results" => instead::settlement(|harness, call, done| {
        Faithful.settlement(harness, call, &Done { result: Value::Null, ..done.clone() })
    });
    "halt-is-ignored" "EFFECT-5" "continues in a halted session" => ignores(Code::Halted);
    "nobody-resumes" "EFFECT-5" "does not pass on that somebody resumed the session" => forgets(|event| {
        matches!(event, Event::Resume(_))
    });
    "asks-twice" "EFFECT-6" "puts each call to the guard twice" => instead::report(|harness, event| {
        if let Event::Propose(proposal) = event {
            let first = format!("{}-0", proposal.call);
            let _ = Faithful.report(harness, &Event::Propose(Proposal { call: &first, ..*proposal }));
        }
        Faithful.report(harness, event)
    });
    "budget-is-advice" "EFFECT-7" "takes an exhausted budget for advice" => ignores(Code::Budget);
    "forgets-usage" "EFFECT-8" "reports no usage" => instead::usage(|_, _| Ok(()));
    "usage-late" "EFFECT-8" "reports usage a turn late" => {
        let mut late = BTreeMap::new();
        instead::usage(move |harness, used| {
            Faithful.usage(harness, &std::mem::replace(&mut late, used.clone()))
        })
    };
    "frozen-clock" "EFFECT-9" "tells the guard the time of the beginning" => instead::now(|harness| {
        instant(&harness.run.now)
    });
    "fresh-turns" "EFFECT-10" "begins a new session each turn" => instead::ask_model(|harness| {
        let turn = Faithful.ask_model(harness)?;
        restart(harness)?;
        Ok(turn)
    });
    "keeps-results" "EFFECT-11" "answers the same call from memory" => Box::new(KeepsResults::default());
    "ignores-prompt" "EFFECT-12" "does not tell the guard what the user says" => forgets(|event| {
        matches!(event, Event::Prompt(_))
    });
    "ignores-data" "EFFECT-12" "does not hand over what the session begins with" => instead::open(|sessions, run| {
        Faithful.open(sessions, &Run { data: None, ..run.clone() })
    });
    "shadow-blocks" "EFFECT-13" "lets rules in shadow block" => instead::obey(|harness, call, proposed| {
        match (proposed.verdict.decision, proposed.verdict.shadowed.first()) {
            (Decision::Allow, Some(reason)) => Ok(Gate::Refused(reason.message.clone())),
            _ => Faithful.obey(harness, call, proposed),
        }
    });
    "shadow-shown" "EFFECT-13" "shows what rules in shadow say" => instead::obey(|harness, call, proposed| {
        proposed.verdict.shadowed.iter().for_each(|reason| harness.say(Role::User, &reason.message));
        Faithful.obey(harness, call, proposed)
    });
    "shows-withheld" "EFFECT-16" "shows results as they came, whatever the guard makes of them" => {
        instead::settlement(|harness, call, done| {
            let feedback = Faithful.settlement(harness, call, done)?;
            harness.shown = None;
            Ok(feedback)
        })
    };
    "shows-both" "EFFECT-16" "shows results as they came behind what the guard makes of them" => {
        instead::settlement(|harness, call, done| {
            let feedback = Faithful.settlement(harness, call, done)?;
            harness.shown = harness.shown.take().map(|shown| joined(&shown, &text_of(&done.result)));
            Ok(feedback)
        })
    };
    "transform-is-advice" "EFFECT-17" "runs a call as the model made it where the guard wants other arguments" => {
        ignores(Code::Transform)
    };
    "serial" "PAR-1" "runs the calls of a turn one after the other" => instead::call(|harness, call| {
        let gate = Faithful.call(harness, call)?;
        match Faithful.finished(harness).filter(|_| gate == Gate::Run) {
            Some((_, done)) => Ok(Gate::Served(Faithful.settle(harness, call, &done)?.0)),
            None => Ok(gate),
        }
    });
    "wait-is-allow" "PAR-2" "runs a call that should wait" => runs_where(|proposed| {
        proposed.verdict.decision == Decision::Wait
    });
    "wait-is-deny" "PAR-3" "treats *wait* as *deny* for good" => instead::obey(|harness, call, proposed| {
        Ok(match Faithful.obey(harness, call, proposed)? {
            Gate::Wait(why) => Gate::Refused(why),
            gate => gate,
        })
    });
    "wait-is-shown" "PAR-4" "answers a call that waits, and again when it has run" => instead::gate(|harness, call| {
        let gate = Faithful.gate(harness, call)?;
        if let Gate::Wait(why) = &gate {
            harness.answer(call, why);
        }
        Ok(gate)
    });
    "swaps-answers" "PAR-5" "gives the answers of parallel calls in the order in which they end" => {
        instead::conversation(|harness| {
            let mut messages = harness.messages.clone();
            let spoke = messages.iter().rposition(|message| message.role == Role::Assistant);
            let new = messages.iter_mut().skip(spoke.unwrap_or(0));
            let mut answers: Vec<_> = new.filter(|message| message.role == Role::Tool).collect();
            if let [first, .., last] = &mut answers[..] {
                std::mem::swap(&mut first.text, &mut last.text);
            }
            messages
        })
    };
    "waited-runs" "PAR-7" "runs what has waited without asking again" => {
        let mut waited = BTreeSet::new();
        instead::gate(move |harness, call| {
            if waited.contains(&call.call) {
                return Ok(Gate::Run);
            }
            let gate = Faithful.gate(harness, call)?;
            waited.extend(matches!(gate, Gate::Wait(_)).then(|| call.call.clone()));
            Ok(gate)
        })
    };
    "renames-calls" "ITEM-3" "tells the guard ids of its own" => {
        let mut renamed: Vec<String> = Vec::new();
        let mut rename = move |call: &str| {
            let known = renamed.iter().position(|known| known == call);
            format!("call-{}", known.unwrap_or_else(|| { renamed.push(call.to_owned()); renamed.len() - 1 }))
        };
        instead::report(move |harness, event| match event {
            Event::Propose(proposal) => {
                let call = &rename(proposal.call);
                Faithful.report(harness, &Event::Propose(Proposal { call, ..*proposal }))
            }
            Event::Settle(settlement) => {
                let call = &rename(settlement.call);
                Faithful.report(harness, &Event::Settle(Settlement { call, ..*settlement }))
            }
            _ => Faithful.report(harness, event),
        })
    };
};

/// Returns an adapter that does not report some events.
pub(super) fn forgets(forgotten: fn(&Event) -> bool) -> Box<dyn Duties> {
    instead::report(move |harness, event| {
        if forgotten(event) { Ok(Outcome::Taken) } else { Faithful.report(harness, event) }
    })
}

/// Restarts the session in the middle of its run.
pub(super) fn restart(harness: &mut Harness) -> AdapterResult<()> {
    let guard = harness.engine.session.guard();
    let files = WorkspaceFiles::new(harness.run.workspace.as_deref())?;
    *harness.engine = Engine::open(guard, &Run { data: None, ..harness.run.clone() }, files)?;
    Ok(())
}

/// An adapter that settles the calls of a turn only when those of the next turn are proposed.
#[derive(Default)]
pub(super) struct SettlesLate {
    unsettled: Vec<(ModelCall, Done)>,
    due: Vec<(ModelCall, Done)>,
}

impl Duties for SettlesLate {
    fn settlement(
        &mut self,
        _: &mut Harness,
        call: &ModelCall,
        done: &Done,
    ) -> AdapterResult<String> {
        self.unsettled.push((call.clone(), done.clone()));
        Ok(String::new())
    }

    fn ask_model(&mut self, harness: &mut Harness) -> AdapterResult<Option<ModelTurn>> {
        for (call, done) in std::mem::replace(&mut self.due, std::mem::take(&mut self.unsettled)) {
            let feedback = Faithful.settlement(harness, &call, &done)?;
            if !feedback.is_empty() {
                harness.say(Role::User, &feedback);
            }
        }
        Faithful.ask_model(harness)
    }
}

/// An adapter that answers a repeated call from memory.
#[derive(Default)]
struct KeepsResults(Vec<(ModelCall, String)>);

impl Duties for KeepsResults {
    fn gate(&mut self, harness: &mut Harness, call: &ModelCall) -> AdapterResult<Gate> {
        let same = |known: &ModelCall| known.tool == call.tool && known.args == call.args;
        match self.0.iter().find(|(known, _)| same(known)) {
            Some((_, text)) => Ok(Gate::Served(text.clone())),
            None => Faithful.gate(harness, call),
        }
    }

    fn settlement(
        &mut self,
        harness: &mut Harness,
        call: &ModelCall,
        done: &Done,
    ) -> AdapterResult<String> {
        self.0.push((call.clone(), text_of(&done.result)));
        Faithful.settlement(harness, call, done)
    }
}

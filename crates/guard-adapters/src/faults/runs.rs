//! Faults between runs and in parallel runs: streams, parallel sessions, a guard that answers
//! again, approvals that come later, tools that run elsewhere.

use super::{Spec, faults, instead};
use crate::duties::{Duties, Faithful, OpenSessions};
use crate::engine::{Engine, trouble};
use crate::harness::{AdapterResult, Gate, Harness, text_of};
use guard_ack::protocol::{
    ApprovalAnswer, Done, Elsewhere, HostEvent, ModelCall, ModelMessage, ModelTurn, Run,
};
use guard_plan::plan::ProbeAsks;
use guard_sdk::{Event, Outcome, SessionError};
use serde_json::Value;
use std::cell::RefCell;

pub(super) const TABLE: &[Spec] = faults! {
    "error-on-success" "LOOP-9" "shows each result as an error" => instead::settle(|harness, call, done| {
        let (text, feedback) = Faithful.settle(harness, call, done)?;
        let text = if text.starts_with("error: ") { text } else { format!("error: {text}") };
        Ok((text, feedback))
    });
    "failure-unmarked" "LOOP-9" "shows what a failed tool gave like a result" => instead::settle(|harness, call, done| {
        let (_, feedback) = Faithful.settle(harness, call, done)?;
        Ok((text_of(&done.result), feedback))
    });
    "merges-by-order" "LOOP-10" "adds streamed pieces to the call that began last" => instead::assemble(|mut turn| {
        let mut last = 0;
        for piece in &mut turn.pieces {
            last = piece.at.filter(|_| piece.call.is_some()).unwrap_or(last);
            piece.at = piece.at.map(|_| last);
        }
        Faithful.assemble(turn)
    });
    "text-ends-turn" "LOOP-10" "takes a turn that streams text first for an answer" => instead::assemble(|turn| {
        let turn = Faithful.assemble(turn);
        match turn.say {
            Some(_) => ModelTurn { calls: Vec::new(), ..turn },
            None => turn,
        }
    });
    "first-piece-only" "LOOP-10" "reads the first streamed piece of arguments only" => instead::assemble(|mut turn| {
        let mut seen: Vec<usize> = Vec::new();
        turn.pieces.retain(|piece| match (piece.at, &piece.args) {
            (Some(at), Some(_)) if seen.contains(&at) => false,
            (Some(at), Some(_)) => {
                seen.push(at);
                true
            }
            _ => true,
        });
        Faithful.assemble(turn)
    });
    "settles-in-latest" "LOOP-11" "settles in the session that began last" => Box::new(Latest { is_settling: true });
    "shows-latest" "LOOP-11" "shows the conversation of the session that began last" => Box::new(Latest {
        is_settling: false,
    });
    "down-for-good" "GATE-23" "refuses everything once the guard had an error" => Box::new(AfterOutage::default());
    "afresh-after-outage" "GATE-23" "begins a new session once the guard had an error" => Box::new(AfterOutage {
        is_afresh: true,
        ..AfterOutage::default()
    });
    "usage-errors-ignored" "GATE-22" "continues when usage cannot be reported" => instead::usage(|harness, used| {
        let _ = Faithful.usage(harness, used);
        Ok(())
    });
    "prompt-errors-ignored" "GATE-22" "continues when the user's words cannot be reported" => instead::report(
        |harness, event| match (Faithful.report(harness, event), event) {
            (Err(_), Event::Prompt(_)) => Ok(Outcome::Taken),
            (reported, _) => reported,
        },
    );
    "settle-errors-ignored" "GATE-22" "continues when a call cannot be settled" => instead::settlement(
        |harness, call, done| Ok(Faithful.settlement(harness, call, done).unwrap_or_default()),
    );
    "stop-errors-ignored" "GATE-22" "ends as stopped when the guard cannot be asked for the stop" => {
        Box::new(StopFailsOpen)
    };
    "unanswered-probe-ends" "EFFECT-15" "ends the run where nobody answers a probe" => instead::report(|harness, event| {
        let guard = harness.engine.session.guard().clone();
        let mut probes = guard.plan().probes.iter().filter(|probe| matches!(probe.asks, ProbeAsks::Host));
        if probes.any(|probe| harness.world.probe(&probe.name).is_none()) {
            Err(SessionError::Contended)
        } else {
            Faithful.report(harness, event)
        }
    });
    "later-is-yes" "ASK-8" "takes an approval that comes later for granted" => instead::approval(|harness, request| {
        let approval = Faithful.approval(harness, request);
        ApprovalAnswer { granted: approval.granted || approval.later, ..approval }
    });
    "later-is-lost" "ASK-8" "does not report an approval that comes later" => instead::host_event(|harness, event| {
        match event {
            HostEvent::Approve { .. } => Ok(()),
            _ => Faithful.host_event(harness, event),
        }
    });
    "revoked-stays" "ASK-9" "does not report that an approval is taken back" => instead::host_event(|harness, event| {
        match event {
            HostEvent::Revoke { .. } => Ok(()),
            _ => Faithful.host_event(harness, event),
        }
    });
    "role-does-not-matter" "ASK-10" "reports an approval by anybody in the role that the guard asks" => instead::host_event(
        |harness, event| match event {
            HostEvent::Approve { tool, args, by, .. } => asked_role(harness, tool).map_or(Ok(()), |role| {
                let tool = tool.clone();
                let args = args.clone();
                let by = by.clone();
                Faithful.host_event(harness, &HostEvent::Approve { tool, args, role, by })
            }),
            _ => Faithful.host_event(harness, event),
        },
    );
    "later-is-kept" "ASK-8" "lets an approval that comes later hold for good" => Box::new(KeepsLater::default());
    "provider-unsaid" "NATIVE-3" "does not name tools that the provider runs" => unsaid(Elsewhere::Provider);
    "output-unsaid" "NATIVE-3" "does not name tools that carry the output" => unsaid(Elsewhere::Output);
    "all-unguarded" "NATIVE-3" "names all tools as unguarded" => instead::unguarded(|harness| {
        harness.run.tools.iter().map(|tool| tool.name.clone()).collect()
    });
    "fails-at-exit" "LOOP-12" "ends with an error when its input has ended" => instead::exit(
        || Err("it ended with exit status 1".into()),
    );
    "refuses-in-silence" "NATIVE-3" "ends with an error where a tool cannot be guarded, and does not name it" => {
        instead::call(|harness, call| {
            if harness.run.tools.iter().any(|tool| tool.elsewhere.is_some()) {
                Err(trouble("a tool of this run cannot be guarded"))
            } else {
                Faithful.call(harness, call)
            }
        })
    };
    "reset-is-everything" "KEEP-11" "forgets all sessions when it is to forget one" => instead::reset(
        |sessions, _| sessions.open.clear(),
    );
};

fn unsaid(elsewhere: Elsewhere) -> Box<dyn Duties> {
    instead::unguarded(move |harness| {
        let tools = harness.run.tools.iter();
        let said = tools.filter(|tool| tool.elsewhere.is_some_and(|place| place != elsewhere));
        said.map(|tool| tool.name.clone()).collect()
    })
}

thread_local! {
    /// The session that started its run most recently, with its conversation.
    static LATEST: RefCell<(String, Vec<ModelMessage>)> = const { RefCell::new((String::new(), Vec::new())) };
}

/// An adapter that mistakes the most recently started session for the current one.
struct Latest {
    is_settling: bool,
}

fn is_latest(harness: &Harness) -> bool {
    LATEST.with_borrow(|latest| latest.0 == harness.run.session)
}

impl Duties for Latest {
    fn begin(&mut self, harness: &mut Harness) -> AdapterResult<()> {
        LATEST.set((harness.run.session.clone(), Vec::new()));
        Faithful.begin(harness)
    }

    fn conversation(&mut self, harness: &Harness) -> Vec<ModelMessage> {
        if is_latest(harness) {
            LATEST.with_borrow_mut(|latest| latest.1.clone_from(&harness.messages));
        }
        if self.is_settling {
            Faithful.conversation(harness)
        } else {
            LATEST.with_borrow(|latest| latest.1.clone())
        }
    }

    fn settlement(
        &mut self,
        harness: &mut Harness,
        call: &ModelCall,
        done: &Done,
    ) -> AdapterResult<String> {
        if self.is_settling && !is_latest(harness) {
            Ok(String::new())
        } else {
            Faithful.settlement(harness, call, done)
        }
    }
}

/// An adapter that treats a session differently after the guard had an error in it.
#[derive(Default)]
struct AfterOutage {
    is_afresh: bool,
    failed: Vec<String>,
}

impl Duties for AfterOutage {
    fn gate(&mut self, harness: &mut Harness, call: &ModelCall) -> AdapterResult<Gate> {
        let session = &harness.run.session;
        if !self.is_afresh && self.failed.contains(session) {
            return Ok(Gate::Refused("the guard is down".into()));
        }
        let gate = Faithful.gate(harness, call);
        self.failed.extend(gate.is_err().then(|| harness.run.session.clone()));
        gate
    }

    fn open(&mut self, sessions: &mut OpenSessions, run: &Run) -> AdapterResult<Engine> {
        if self.is_afresh && self.failed.contains(&run.session) {
            sessions.open.remove(&run.session);
        }
        Faithful.open(sessions, run)
    }
}

/// An adapter that ends the loop as stopped if the guard cannot be asked.
struct StopFailsOpen;

impl Duties for StopFailsOpen {
    fn stop(
        &mut self,
        harness: &mut Harness,
        turn: &ModelTurn,
    ) -> AdapterResult<guard_sdk::Stopped> {
        Faithful.stop(harness, turn).or_else(|_| {
            // The error is over, because no further questions are counted.
            let now = Faithful.now(harness);
            let stop = guard_runtime::StopAttempt { reason: None, now };
            let event = guard_sdk::Event::Stop(stop);
            match harness.engine.apply(&event, harness.world).map_err(trouble)? {
                guard_sdk::Outcome::Stopped(stopped) => Ok(stopped),
                _ => Err(trouble("no answer to a stop")),
            }
        })
    }
}

/// Returns the role that the guard asks first for calls of a tool.
fn asked_role(harness: &Harness, tool: &str) -> Option<String> {
    let plan = harness.engine.session.guard().plan();
    let tool = plan.tools.iter().find(|known| known.wire_name == tool)?;
    Some(tool.approvals.first()?.role.to_string())
}

/// An adapter that, after a later approval of a call, runs it without asking from then on.
#[derive(Default)]
struct KeepsLater(Vec<(String, Value)>);

impl Duties for KeepsLater {
    fn host_event(&mut self, harness: &mut Harness, event: &HostEvent) -> AdapterResult<()> {
        if let HostEvent::Approve { tool, args, .. } = event {
            self.0.push((tool.clone(), args.clone()));
        }
        Faithful.host_event(harness, event)
    }

    fn gate(&mut self, harness: &mut Harness, call: &ModelCall) -> AdapterResult<Gate> {
        if self.0.contains(&(call.tool.clone(), call.args.clone())) {
            Ok(Gate::Run)
        } else {
            Faithful.gate(harness, call)
        }
    }
}

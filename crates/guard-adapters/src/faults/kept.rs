//! Faults in traces, snapshots, sessions and replay.

use super::{Spec, faults, instead};
use crate::duties::{Duties, Faithful, OpenSessions};
use crate::engine::{Engine, compiled, trouble};
use crate::harness::{AdapterResult, Harness};
use guard_ack::protocol::{LoopEnd, ModelCall, ReplayAnswer, Restore};
use guard_ack::rechained;
use guard_plan::record::{Payload, Record};
use guard_plan::verdict::Decision;
use guard_runtime::replay;
use serde_json::{Value, json};

pub(super) const TABLE: &[Spec] = faults! {
    "no-trace" "KEEP-1" "hands over no trace" => super::done::ends(|_, end| end.trace = None);
    "trace-with-gaps" "KEEP-1" "leaves a record out of the trace" => super::done::ends(|_, end| {
        if let Some(trace) = end.trace.as_mut().filter(|trace| trace.len() > 2) {
            trace.remove(1);
        }
    });
    "no-denials-on-record" "KEEP-2" "records what was allowed only" => super::done::ends(|_, end| {
        keep_records(end, |_, payload| {
            !matches!(payload, Payload::Propose(propose) if propose.verdict.decision == Decision::Deny)
        });
    });
    "secrets-on-record" "KEEP-3" "writes arguments into the trace as they are" => super::done::ends(|harness, end| {
        let calls: Vec<&ModelCall> = harness.messages.iter().flat_map(|message| &message.calls).collect();
        let trace = end.trace.take().unwrap_or_default();
        let clear = trace.iter().map(|line| with_arguments(line, &calls));
        end.trace = Some(rechained(clear));
    });
    "new-trace" "KEEP-4" "begins a new trace in each run" => {
        let mut before = 0;
        instead::end(move |harness, turn, stopped| {
            let mut end = Faithful.end(harness, turn, stopped)?;
            let records = end.trace.as_ref().map_or(0, Vec::len);
            let skipped = 1..std::mem::replace(&mut before, records);
            keep_records(&mut end, |number, _| !skipped.contains(&number));
            Ok(end)
        })
    };
    "restores-nothing" "KEEP-5" "restores a new session" => restores(|_| false);
    "restore-is-nothing" "KEEP-6" "keeps what happened after the snapshot" => instead::restore(|_, _| Ok(()));
    "snapshot-in-memory" "KEEP-7" "keeps snapshots in its own memory" => Box::new(SnapshotInMemory(Vec::new()));
    "restore-runs-again" "KEEP-8" "runs restored calls again" => Box::new(RestoreRunsAgain(Vec::new()));
    "restores-no-approvals" "KEEP-9" "does not restore what was approved and spent" => restores(|payload| {
        !matches!(payload, Payload::Approve(_) | Payload::Usage(_))
    });
    "restores-no-cadence" "KEEP-10" "restores neither calls nor what counts for feedback" => restores(|payload| {
        !matches!(payload, Payload::Propose(_) | Payload::Settle(_))
    });
    "reset-is-nothing" "KEEP-11" "does not forget a session that is reset" => instead::reset(|_, _| ());
    "one-session" "KEEP-12" "keeps one session for all" => Box::new(OneSession);
    "new-sessions" "KEEP-13" "begins a new session in each run" => instead::open(|sessions, run| {
        sessions.open.remove(&run.session);
        Faithful.open(sessions, run)
    });
    "replay-refuses" "REPLAY-1" "says of each trace that it comes out otherwise" => instead::replay(|_, _| {
        Ok(ReplayAnswer { agrees: false, at: Some(0) })
    });
    "replay-agrees" "REPLAY-2" "says of each trace that it comes out the same" => instead::replay(|_, _| {
        Ok(ReplayAnswer { agrees: true, at: None })
    });
};

/// Removes records from a trace, and recomputes its hash chain.
fn keep_records(end: &mut LoopEnd, keep: impl Fn(usize, &Payload) -> bool) {
    let Some(trace) = end.trace.take() else { return };
    let kept = trace.iter().enumerate().filter(|(number, line)| {
        Record::parse(line).is_ok_and(|record| keep(*number, &record.payload))
    });
    end.trace = Some(rechained(kept.map(|(_, line)| line.clone())));
}

/// Returns a record with the arguments of its call as the model wrote them.
fn with_arguments(line: &str, calls: &[&ModelCall]) -> String {
    let Ok(record) = Record::parse(line) else { return line.to_owned() };
    let Payload::Propose(propose) = &record.payload else { return line.to_owned() };
    let call = calls.iter().find(|call| record.call.as_deref() == Some(&*call.call));
    let clear = call.map_or_else(|| propose.args.to_string(), |call| call.args.to_string());
    line.replacen(&propose.args.to_string(), &clear, 1)
}

/// Returns an adapter that restores a session from some of its records. Records that are then not
/// reproduced are omitted.
fn restores(kept: fn(&Payload) -> bool) -> Box<dyn Duties> {
    instead::restore(move |sessions, restore| {
        let trace = records(restore)?;
        let guard = compiled(sessions.guards, &restore.source)?;
        let files = Faithful.files(restore.workspace.as_deref())?;
        let first = trace.get(..1).unwrap_or_default();
        let mut engine = Engine::resume(&guard, first, files).map_err(trouble)?;
        for record in trace.iter().skip(1).filter_map(|line| Record::parse(line).ok()) {
            if let Some(event) = replay::event(&record).filter(|_| kept(&record.payload)) {
                let _ = engine.session.apply(&event);
            }
        }
        sessions.open.insert(restore.session.clone(), engine);
        Ok(())
    })
}

fn records(restore: &Restore) -> AdapterResult<Vec<String>> {
    serde_json::from_value(restore.snapshot["trace"].clone()).map_err(trouble)
}

/// An adapter that returns the number of a snapshot instead of the snapshot.
struct SnapshotInMemory(Vec<Value>);

impl Duties for SnapshotInMemory {
    fn snapshot(&mut self, engine: &Engine) -> AdapterResult<Value> {
        self.0.push(Faithful.snapshot(engine)?);
        Ok(json!({ "number": self.0.len() - 1 }))
    }

    fn restore(&mut self, sessions: &mut OpenSessions, restore: &Restore) -> AdapterResult<()> {
        let number = restore.snapshot["number"].as_u64().and_then(|at| usize::try_from(at).ok());
        let Some(snapshot) = number.and_then(|at| self.0.get(at)).cloned() else { return Ok(()) };
        Faithful.restore(sessions, &Restore { snapshot, ..restore.clone() })
    }
}

/// An adapter that runs the calls of the restored trace again.
struct RestoreRunsAgain(Vec<ModelCall>);

impl Duties for RestoreRunsAgain {
    fn restore(&mut self, sessions: &mut OpenSessions, restore: &Restore) -> AdapterResult<()> {
        let trace = records(restore)?;
        let calls = trace.iter().filter_map(|line| {
            let record = Record::parse(line).ok()?;
            let Payload::Propose(propose) = record.payload else { return None };
            let args = serde_json::from_str(&propose.args.to_string()).ok()?;
            let call = ModelCall { call: record.call?, tool: propose.tool.into_owned(), args };
            (propose.verdict.decision == Decision::Allow).then_some(call)
        });
        self.0 = calls.collect();
        Faithful.restore(sessions, restore)
    }

    fn begin(&mut self, harness: &mut Harness) -> AdapterResult<()> {
        for call in self.0.drain(..) {
            Faithful.start(harness, &call);
            let _ = Faithful.finished(harness);
        }
        Faithful.begin(harness)
    }
}

struct OneSession;

impl Duties for OneSession {
    fn key(&self, _: &str) -> String {
        String::new()
    }
}

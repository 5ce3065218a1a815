//! One session driven by a client.

use super::lasting::Keeping;
use super::rpc::Error;
use crate::failure::reason;
use crate::near;
use guard_hosts::Host;
use guard_plan::encode::hash_text;
use guard_plan::json::Json;
use guard_plan::plan::{Probe, ProbeAsks};
use guard_plan::record::{Delivered, rendered};
use guard_plan::time;
use guard_plan::verdict::{Reason, Verdict};
use guard_runtime::{
    Approve, Arguments, Ending, Event, Kernel, Move, Outcome, Prompt, Proposal, Recorder, Resume,
    Session, Settlement, StepError, Stop, Usage, Verify,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The workspace of a session that names none.
const NOWHERE: &str = "/workspace";

/// The default validity of an approval, in milliseconds.
const AN_HOUR: i64 = 3_600_000;

/// A session and the state needed to continue it.
pub struct Live {
    pub(super) kernel: Kernel,
    pub(super) session: Session,
    pub(super) world: Host,
    pub(super) recorder: Recorder,
    pub(super) keeping: Keeping,
    /// The requested workspace.
    pub(super) root: String,
    pub(super) restored: bool,
}

/// The parameters of opening a session.
pub struct Opening<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its start time.
    pub now: i64,
    /// The person on whose behalf the agent acts.
    pub actor: Option<&'a str>,
    /// Its workspace.
    pub workspace: Option<&'a Path>,
    /// The opening data that its guard may learn from.
    pub data: Option<&'a Json>,
}

/// Returns the time of the machine's clock.
pub fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.ok().and_then(|d| i64::try_from(d.as_millis()).ok()).unwrap_or(0)
}

pub(super) type Answer = Result<String, Error>;

impl Live {
    /// Opens a session, or resumes it at the end of its trace.
    pub fn open(kernel: Kernel, keeping: Keeping, opening: &Opening) -> Result<Live, Error> {
        let root = match opening.workspace {
            Some(path) => absolute(path)?,
            None => NOWHERE.to_owned(),
        };
        let world = Host::new(opening.workspace).map_err(|error| {
            let why = format!("cannot use the workspace: {}", reason(&error));
            Error::failed("bad_workspace", why)
        })?;
        let session = kernel.open_with(opening.id, opening.now, &root, opening.data);
        let (session, recorder) = (session.map_err(step)?, keeping.recorder());
        let mut live = Live { kernel, session, world, recorder, keeping, root, restored: false };
        live.begin(opening)?;
        Ok(live)
    }

    /// Returns the answer to `session.open`.
    pub fn opened(&self) -> String {
        let plan = self.kernel.plan();
        let host = |probe: &&Probe| matches!(probe.asks, ProbeAsks::Host);
        let tools: Vec<Value> = plan
            .tools
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.wire_name,
                    "guard_name": tool.name,
                    "title": tool.title,
                    "description": tool.doc,
                    "risk": guard_plan::words::risk(tool.risk),
                    "irreversible": tool.irreversible,
                })
            })
            .collect();
        json!({
            "session": self.session.id(),
            "guard": plan.guard,
            "plan_hash": self.kernel.loaded().hash_text(),
            "tools": tools,
            "contracts": plan.contracts.iter().map(|one| &one.name).collect::<Vec<_>>(),
            "probes": plan.probes.iter().filter(host).map(|one| &one.name).collect::<Vec<_>>(),
            "restored": self.restored,
            "in_flight": self.session.in_flight(),
        })
        .to_string()
    }

    /// Decides a call. Arguments that our parser rejects (a duplicate key, too deep) are invalid
    /// arguments.
    pub fn propose(&mut self, now: i64, call: &str, tool: &str, text: &str) -> Answer {
        let read = Json::parse(text).map_err(|error| error.to_string());
        let args = match &read {
            Ok(args) => Arguments::Read(args),
            Err(error) => Arguments::Unreadable { text, error },
        };
        let outcome = self.take(&Event::Propose(Proposal { call, tool, args, now }))?;
        let Outcome::Proposed(proposed) = outcome else { return Err(unexpected()) };
        let mut answer = json!({
            "verdict": proposed.verdict.decision,
            "reasons": proposed.verdict.reasons,
            "shadowed": proposed.verdict.shadowed,
            "message": message(&proposed.verdict),
            "feedback": feedback(&proposed.feedback),
            "rendered": rendered(&proposed.feedback),
        });
        if let Some(served) = &proposed.served {
            answer["served"] = json!({ "result": served });
        }
        Ok(answer.to_string())
    }

    /// Settles a call that was allowed.
    pub fn settle(&mut self, now: i64, call: &str, success: bool, result: Option<Json>) -> Answer {
        let ending = if success { Ending::Success(result.as_ref()) } else { Ending::Failure };
        let Outcome::Settled(settled) =
            self.take(&Event::Settle(Settlement { call, ending, now }))?
        else {
            return Err(unexpected());
        };
        let halted =
            self.session.halted().map(|halt| json!({ "rule": halt.rule, "message": halt.message }));
        let answer = json!({
            "feedback": feedback(&settled.feedback),
            "rendered": rendered(&settled.feedback),
            "halted": halted,
            "notes": settled.notes,
        });
        Ok(answer.to_string())
    }

    /// Records an approval.
    pub fn approve(&mut self, approve: &Approve) -> Answer {
        self.take(&Event::Approve(*approve))?;
        let Approve { tool, role, by, expires, .. } = *approve;
        let expires = expires.unwrap_or(self.session.now().saturating_add(AN_HOUR));
        let expires = time::format_rfc3339(expires);
        let approval = json!({ "tool": tool, "role": role, "by": by, "expires": expires });
        Ok(json!({ "approval": approval }).to_string())
    }

    /// Records usage that the host reports.
    pub fn usage(&mut self, now: i64, unit: &str, amount: i64) -> Answer {
        self.take(&Event::Usage(Usage { unit, amount, now }))?;
        Ok("{}".into())
    }

    /// Ends a halt.
    pub fn resume(&mut self, now: i64, role: &str, by: &str) -> Answer {
        self.take(&Event::Resume(Resume { role, by, now }))?;
        Ok("{}".into())
    }

    /// Sets the answers of the host's probes; changes nothing if one of them is not in the guard.
    pub fn answers(&mut self, probes: Vec<(Box<str>, Json)>) -> Result<(), Error> {
        let names = || self.kernel.plan().probes.iter().map(|probe| probe.name.as_str());
        if let Some((name, _)) = probes.iter().find(|(name, _)| !names().any(|one| *one == **name))
        {
            let near = near::did_you_mean(name, names());
            let near = near.map(|near| format!("; {near}")).unwrap_or_default();
            return Err(Error::params(format!("the guard declares no probe `{name}`{near}")));
        }
        let known = |(name, json): &(Box<str>, Json)| self.world.probes.get(&**name) == Some(json);
        if !probes.iter().all(known) {
            let answers = Json::Object(probes);
            self.note(|live| {
                live.recorder.answers(&live.kernel, &live.session, &answers).to_vec()
            })?;
            let Json::Object(probes) = answers else { return Ok(()) };
            self.world.probes.extend(probes.into_iter().map(|(name, json)| (name.into(), json)));
        }
        Ok(())
    }

    /// Processes a user message.
    pub fn prompt(&mut self, now: i64, text: &str) -> Answer {
        let Outcome::Prompted(learned) = self.take(&Event::Prompt(Prompt { text, now }))? else {
            return Err(unexpected());
        };
        let (notes, forgotten) = (learned.notes, learned.forgotten);
        let answer = json!({ "learned": learned.learned, "forgotten": forgotten, "notes": notes });
        Ok(answer.to_string())
    }

    /// Decides a stop of the agent.
    pub fn stop(&mut self, now: i64, reason: Option<&str>) -> Answer {
        let Outcome::Stopped(stopped) = self.take(&Event::Stop(Stop { reason, now }))? else {
            return Err(unexpected());
        };
        let answer = json!({
            "decision": stopped.decision,
            "bypassed": stopped.bypassed,
            "incomplete": stopped.incomplete,
            "missing": stopped.missing,
            "message": stopped.message,
            "notes": stopped.notes,
        });
        Ok(answer.to_string())
    }

    /// Judges the criteria of an item.
    pub fn verify(&mut self, now: i64, item: &str) -> Answer {
        self.moved(&Event::Verify(Verify { item, now }))
    }

    /// Moves an item.
    pub fn move_item(&mut self, by: &Move) -> Answer {
        self.moved(&Event::Move(*by))
    }

    fn moved(&mut self, event: &Event) -> Answer {
        let Outcome::Item(moved) = self.take(event)? else { return Err(unexpected()) };
        let item = self.session.item(&self.kernel, &moved.change.item);
        Ok(json!({ "change": moved.change, "item": item }).to_string())
    }

    /// Returns the last answer; other processes may use the session from here on.
    pub fn closed(&self) -> String {
        self.release();
        let hash = hash_text(self.recorder.hash());
        json!({ "session": self.session.id(), "records": self.recorder.seq(), "hash": hash })
            .to_string()
    }
}

pub(super) fn unexpected() -> Error {
    Error::failed("internal", "an event came to something else")
}

/// Formats feedback for the protocol.
fn feedback(delivered: &[Delivered]) -> Vec<Value> {
    let one = |it: &Delivered| json!({ "provider": it.provider, "severity": it.severity, "text": it.text });
    delivered.iter().map(one).collect()
}

/// Returns a workspace as an absolute path. Links are kept: paths are compared as written.
fn absolute(path: &Path) -> Result<String, Error> {
    let bad = |why: &str| {
        Error::failed("bad_workspace", format!("the workspace `{}` {why}", path.display()))
    };
    let absolute: PathBuf = std::path::absolute(path).map_err(|_| bad("is no path"))?;
    if !absolute.is_dir() {
        return Err(bad("is no directory"));
    }
    absolute.to_str().map(str::to_owned).ok_or_else(|| bad("is not UTF-8"))
}

pub(super) fn step(error: StepError) -> Error {
    let code = match &error {
        StepError::Workspace(_) => "bad_workspace",
        StepError::InitialState(..) => "bad_plan",
        StepError::CallInFlight(_) => "call_in_flight",
        StepError::NoSuchCall(_) => "no_such_call",
        StepError::UnknownTool(_) => "unknown_tool",
        StepError::InvalidArguments(_) => "invalid_arguments",
        StepError::NotHostCharged(_) => "not_host_charged",
        StepError::NegativeAmount(_) => "negative_amount",
        StepError::NotHalted => "not_halted",
        StepError::UnknownItem(_) => "no_such_item",
        StepError::NoTransition(_) => "no_transition",
    };
    Error::failed(code, error.to_string())
}

/// Formats the verdict for the agent: a line for each reason, with its help.
fn message(verdict: &Verdict) -> String {
    let line = |reason: &Reason| match reason.help.as_str() {
        "" => reason.message.clone(),
        help => format!("{} ({help})", reason.message),
    };
    verdict.reasons.iter().map(line).collect::<Vec<_>>().join("\n")
}

//! One session that somebody else drives.

use super::rpc::Error;
use guard_plan::json::{Json, JsonError};
use guard_plan::verdict::{Code, Decision, Reason, Verdict};
use guard_plan::{LoadedPlan, time};
use guard_runtime::{
    Approve, Ending, Kernel, Note, NoteKind, Proposal, Resume, Session, Settlement, StepError,
    Usage, World,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Where a session works that names no workspace.
const NOWHERE: &str = "/workspace";

/// How long an approval is good for that does not say.
const AN_HOUR: i64 = 3_600_000;

/// A session with what it needs to go on.
pub struct Live {
    kernel: Kernel,
    session: Session,
    world: Disk,
    records: Vec<String>,
}

/// The real file system, where a workspace was given; else nobody knows.
struct Disk {
    given: bool,
}

impl World for Disk {
    fn exists(&mut self, path: &str) -> Option<bool> {
        use std::io::ErrorKind::{NotADirectory, NotFound};
        if !self.given {
            return None;
        }
        match std::fs::metadata(path) {
            Ok(_) => Some(true),
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Some(false),
            Err(_) => None,
        }
    }

    fn probe(&mut self, _: &str) -> Option<Json> {
        None
    }
}

/// Our own clock.
pub fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.ok().and_then(|d| i64::try_from(d.as_millis()).ok()).unwrap_or(0)
}

type Answer = Result<String, Error>;

impl Live {
    /// Begins a session.
    pub fn open(
        plan: &LoadedPlan,
        id: &str,
        now: i64,
        workspace: Option<&Path>,
    ) -> Result<Live, Error> {
        let root = match workspace {
            Some(path) => real(path)?,
            None => NOWHERE.to_owned(),
        };
        let kernel =
            Kernel::new(plan.clone()).map_err(|e| Error::failed("bad_plan", e.to_string()))?;
        let session = kernel.open(id, now, &root).map_err(step)?;
        let mut live = Live {
            kernel,
            session,
            world: Disk { given: workspace.is_some() },
            records: Vec::new(),
        };
        live.record(
            json!({ "kind": "open", "session": id, "plan": plan.hash_text(), "workspace": root }),
        );
        Ok(live)
    }

    /// The answer to `session.open`.
    pub fn opened(&self) -> String {
        let plan = self.kernel.plan();
        let tools: Vec<Value> = plan
            .tools
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.wire_name,
                    "guard_name": tool.name,
                    "title": tool.title,
                    "description": tool.doc,
                    "risk": crate::words::risk(tool.risk),
                    "irreversible": tool.irreversible,
                })
            })
            .collect();
        json!({
            "session": self.session.id(),
            "guard": plan.guard,
            "plan_hash": self.kernel.loaded().hash_text(),
            "tools": tools,
            "contracts": [],
            "restored": false,
        })
        .to_string()
    }

    /// Decides a call. Arguments that are no JSON for us (a key twice, too deep) are invalid arguments.
    pub fn propose(
        &mut self,
        now: i64,
        call: &str,
        tool: &str,
        args: Result<Json, JsonError>,
    ) -> Answer {
        let verdict = match args {
            Ok(args) => {
                let proposal = Proposal { call, tool, args: &args, now };
                let decided = self.kernel.propose(&mut self.session, &proposal, &mut self.world);
                decided.map_err(step)?.verdict
            }
            Err(error) => self.malformed(now, call, tool, &error)?,
        };
        let answer = json!({
            "verdict": verdict.decision,
            "reasons": verdict.reasons,
            "shadowed": verdict.shadowed,
            "message": message(&verdict),
        });
        self.record(json!({
            "kind": "propose", "call": call, "tool": tool,
            "verdict": answer["verdict"], "reasons": answer["reasons"], "shadowed": answer["shadowed"],
        }));
        Ok(answer.to_string())
    }

    /// Settles a call that was allowed.
    pub fn settle(&mut self, now: i64, call: &str, success: bool, result: Option<Json>) -> Answer {
        let ending = if success { Ending::Success(result.as_ref()) } else { Ending::Failure };
        let settlement = Settlement { call, ending, now };
        let settled =
            self.kernel.settle(&mut self.session, &settlement, &mut self.world).map_err(step)?;
        let halted = self.halted();
        let notes: Vec<Value> = settled.notes.iter().map(note).collect();
        self.record(json!({
            "kind": "settle", "call": call, "success": success, "halted": halted, "notes": notes,
        }));
        Ok(json!({ "feedback": [], "rendered": "", "halted": halted, "notes": notes }).to_string())
    }

    /// Records an approval.
    pub fn approve(&mut self, approve: &Approve) -> Answer {
        self.kernel.approve(&mut self.session, approve).map_err(step)?;
        let Approve { tool, role, by, expires, .. } = *approve;
        let expires = expires.unwrap_or(self.session.now().saturating_add(AN_HOUR));
        let expires = time::format_rfc3339(expires);
        let approval = json!({ "tool": tool, "role": role, "by": by, "expires": expires });
        self.record(json!({ "kind": "approve", "tool": tool, "role": role, "by": by }));
        Ok(json!({ "approval": approval }).to_string())
    }

    /// The host reports use.
    pub fn usage(&mut self, now: i64, unit: &str, amount: i64) -> Answer {
        self.kernel.usage(&mut self.session, &Usage { unit, amount, now }).map_err(step)?;
        let amount = guard_plan::decimal::format(amount);
        self.record(json!({ "kind": "usage", "unit": unit, "amount": amount }));
        Ok("{}".into())
    }

    /// Ends a halt.
    pub fn resume(&mut self, now: i64, role: &str, by: &str) -> Answer {
        self.kernel.resume(&mut self.session, &Resume { role, by, now }).map_err(step)?;
        self.record(json!({ "kind": "resume", "role": role, "by": by }));
        Ok("{}".into())
    }

    /// What the session remembers.
    pub fn state(&self) -> String {
        let mut out = String::new();
        self.session.state_json(&self.kernel).write(&mut out);
        out
    }

    /// What has happened.
    pub fn trace(&self) -> String {
        format!("{{\"records\":[{}]}}", self.records.join(","))
    }

    /// The last word.
    pub fn closed(&mut self) -> String {
        self.record(json!({ "kind": "close" }));
        json!({ "session": self.session.id(), "records": self.records.len() }).to_string()
    }

    /// The verdict on arguments that cannot be read: what comes before arguments is still said first.
    fn malformed(
        &mut self,
        now: i64,
        call: &str,
        tool: &str,
        error: &JsonError,
    ) -> Result<Verdict, Error> {
        if self.session.in_flight().contains(&call) {
            return Err(step(StepError::CallInFlight(call.to_owned())));
        }
        let proposal = Proposal { call, tool, args: &Json::Null, now };
        let verdict = self.kernel.check(&self.session, &proposal, &mut self.world).verdict;
        let earlier = |reason: &Reason| matches!(reason.code, Code::Halted | Code::UnknownTool);
        if verdict.reasons.iter().any(earlier) {
            return Ok(verdict);
        }
        let reason = Reason {
            code: Code::InvalidArguments,
            decision: Decision::Deny,
            rule: tool.to_owned(),
            message: format!("the arguments cannot be read: {error}"),
            help: String::new(),
            span: None,
            needs: Vec::new(),
            values: Vec::new(),
        };
        Ok(Verdict { decision: Decision::Deny, reasons: vec![reason], shadowed: Vec::new() })
    }

    fn halted(&self) -> Value {
        match self.session.halted() {
            Some(halt) => json!({ "rule": halt.rule, "message": halt.message }),
            None => Value::Null,
        }
    }

    /// Arguments and results are not kept: they may hold secrets.
    fn record(&mut self, mut record: Value) {
        record["seq"] = (self.records.len() + 1).into();
        record["time"] = time::format_rfc3339(self.session.now()).into();
        self.records.push(record.to_string());
    }
}

/// A workspace as an absolute path with its links resolved, as the paths of calls will be compared with it.
fn real(path: &Path) -> Result<String, Error> {
    let bad = |why: &str| {
        Error::failed("bad_workspace", format!("the workspace `{}` {why}", path.display()))
    };
    let absolute: PathBuf = std::path::absolute(path).map_err(|_| bad("is no path"))?;
    if !absolute.is_dir() {
        return Err(bad("is no directory"));
    }
    absolute.to_str().map(str::to_owned).ok_or_else(|| bad("is not UTF-8"))
}

fn step(error: StepError) -> Error {
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
    };
    Error::failed(code, error.to_string())
}

fn note(note: &Note) -> Value {
    let kind = match note.kind {
        NoteKind::Shadow => "shadow",
        NoteKind::Warning => "warning",
        NoteKind::Undecoded => "undecoded",
        NoteKind::Halt => "halt",
    };
    json!({ "kind": kind, "rule": note.rule, "message": note.message })
}

/// The verdict as the agent should read it: a line for each reason, with what helps.
fn message(verdict: &Verdict) -> String {
    let line = |reason: &Reason| match reason.help.as_str() {
        "" => reason.message.clone(),
        help => format!("{} ({help})", reason.message),
    };
    verdict.reasons.iter().map(line).collect::<Vec<_>>().join("\n")
}

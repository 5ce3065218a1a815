//! One session that somebody else drives.

use super::journal::{self, Journal};
use super::replay::{self, Then};
use super::rpc::Error;
use guard_plan::encode::hash_text;
use guard_plan::json::{Json, JsonError};
use guard_plan::record::{self, Payload, Record, verify_chain};
use guard_plan::verdict::{Code, Decision, Reason, Verdict};
use guard_plan::{LoadedPlan, time};
use guard_runtime::{
    Approve, Ending, Event, Kernel, Outcome, Proposal, Recorder, Resume, Session, Settlement,
    StepError, Usage, World,
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
    recorder: Recorder,
    journal: Option<Journal>,
    restored: bool,
    records: Vec<String>,
}

/// What opens a session.
pub struct Opening<'a> {
    /// Its guard.
    pub plan: &'a LoadedPlan,
    /// Its id.
    pub id: &'a str,
    /// When it begins.
    pub now: i64,
    /// Where it works.
    pub workspace: Option<&'a Path>,
    /// Where its journal is kept.
    pub journal: Option<&'a Path>,
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
    /// Begins a session, or takes it up where its journal ends.
    pub fn open(opening: &Opening) -> Result<Live, Error> {
        let root = match opening.workspace {
            Some(path) => absolute(path)?,
            None => NOWHERE.to_owned(),
        };
        let kernel = Kernel::new(opening.plan.clone())
            .map_err(|e| Error::failed("bad_plan", e.to_string()))?;
        let mut live = Live {
            session: kernel.open(opening.id, opening.now, &root).map_err(step)?,
            kernel,
            world: Disk { given: opening.workspace.is_some() },
            recorder: Recorder::new(&salt()),
            journal: None,
            restored: false,
            records: Vec::new(),
        };
        let mut lines = Vec::new();
        if let Some(dir) = opening.journal {
            let (journal, kept) = Journal::open(&journal::path(dir, opening.id)?)?;
            live.journal = Some(journal);
            lines = kept;
        }
        if lines.is_empty() {
            let first = live.recorder.open(&live.kernel, &live.session).to_vec();
            live.keep(&first)?;
        } else {
            live.restore(lines)?;
        }
        Ok(live)
    }

    /// Gives the kernel what it was given before; every record must come out as it was.
    fn restore(&mut self, lines: Vec<String>) -> Result<(), Error> {
        if journal::has_secrets(self.kernel.plan()) {
            let message = "the journal of a guard with secrets holds their hashes only, and cannot be taken up";
            return Err(Error::failed("journal_secrets", message));
        }
        verify_chain(lines.iter().map(String::as_str)).map_err(|error| {
            Error::failed("journal_damaged", format!("the journal is broken: {error}"))
        })?;
        for (index, line) in lines.iter().enumerate() {
            let record = Record::parse(line).map_err(|_| diverged(index))?;
            let again = match &record.payload {
                Payload::Open(open) => self.reopen(open, &record.time)?,
                _ => self.again(&record).ok_or_else(|| diverged(index))?,
            };
            if again != line.as_bytes() {
                return Err(diverged(index));
            }
        }
        self.records = lines;
        self.restored = true;
        Ok(())
    }

    fn reopen(&mut self, open: &record::Open, time: &str) -> Result<Vec<u8>, Error> {
        if open.plan != self.kernel.loaded().hash_text() {
            let message = format!("the journal is of another plan, {}", open.plan);
            return Err(Error::failed("journal_mismatch", message));
        }
        let start = time::parse_rfc3339(time).ok_or_else(|| diverged(0))?;
        self.session = self.kernel.open(&open.session, start, &open.workspace).map_err(step)?;
        Ok(self.recorder.open(&self.kernel, &self.session).to_vec())
    }

    fn again(&mut self, record: &Record) -> Option<Vec<u8>> {
        let event = replay::event(record)?;
        let outcome = self.kernel.step(&mut self.session, &event, &mut Then(record)).ok()?;
        Some(self.recorder.event(&self.kernel, &self.session, &event, &outcome).to_vec())
    }

    /// Takes an event: the kernel first, then the journal, then the caller.
    fn take(&mut self, event: &Event) -> Result<Outcome, Error> {
        if let Some(journal) = &self.journal {
            journal.whole()?;
        }
        let outcome = self.kernel.step(&mut self.session, event, &mut self.world).map_err(step)?;
        let record = self.recorder.event(&self.kernel, &self.session, event, &outcome).to_vec();
        self.keep(&record)?;
        Ok(outcome)
    }

    fn keep(&mut self, record: &[u8]) -> Result<(), Error> {
        if let Some(journal) = &mut self.journal {
            journal.append(record)?;
        }
        self.records.push(String::from_utf8_lossy(record).into_owned());
        Ok(())
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
            "contracts": [],
            "restored": self.restored,
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
                match self.take(&Event::Propose(Proposal { call, tool, args: &args, now }))? {
                    Outcome::Proposed(proposed) => proposed.verdict,
                    _ => return Err(Error::failed("internal", "a proposal was not decided")),
                }
            }
            Err(error) => self.malformed(now, call, tool, &error)?,
        };
        let answer = json!({
            "verdict": verdict.decision,
            "reasons": verdict.reasons,
            "shadowed": verdict.shadowed,
            "message": message(&verdict),
        });
        Ok(answer.to_string())
    }

    /// Settles a call that was allowed.
    pub fn settle(&mut self, now: i64, call: &str, success: bool, result: Option<Json>) -> Answer {
        let ending = if success { Ending::Success(result.as_ref()) } else { Ending::Failure };
        let notes = match self.take(&Event::Settle(Settlement { call, ending, now }))? {
            Outcome::Settled(settled) => settled.notes,
            _ => Vec::new(),
        };
        let halted =
            self.session.halted().map(|halt| json!({ "rule": halt.rule, "message": halt.message }));
        Ok(json!({ "feedback": [], "rendered": "", "halted": halted, "notes": notes }).to_string())
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

    /// The host reports use.
    pub fn usage(&mut self, now: i64, unit: &str, amount: i64) -> Answer {
        self.take(&Event::Usage(Usage { unit, amount, now }))?;
        Ok("{}".into())
    }

    /// Ends a halt.
    pub fn resume(&mut self, now: i64, role: &str, by: &str) -> Answer {
        self.take(&Event::Resume(Resume { role, by, now }))?;
        Ok("{}".into())
    }

    /// What the session remembers.
    pub fn state(&self) -> String {
        let mut out = String::new();
        self.session.state_json(&self.kernel).write(&mut out);
        out
    }

    /// What has happened, and the hash of the last record.
    pub fn trace(&self) -> String {
        let hash = hash_text(self.recorder.hash());
        format!("{{\"records\":[{}],\"hash\":\"{hash}\"}}", self.records.join(","))
    }

    /// The last word.
    pub fn closed(&self) -> String {
        let hash = hash_text(self.recorder.hash());
        json!({ "session": self.session.id(), "records": self.records.len(), "hash": hash })
            .to_string()
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
}

/// A workspace as an absolute path. Its links stay: paths are compared as they are written.
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

fn diverged(index: usize) -> Error {
    let message = format!("line {} of the journal is not what this plan decides", index + 1);
    Error::failed("journal_damaged", message)
}

/// What nobody can guess, for the hashes of secrets: the keys of the standard library's hash maps are random.
fn salt() -> Vec<u8> {
    use std::hash::{BuildHasher, RandomState};
    (0..4).flat_map(|n: u64| RandomState::new().hash_one(n).to_le_bytes()).collect()
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
        StepError::UnknownItem(_) => "unknown_item",
        StepError::NoTransition(_) => "no_transition",
    };
    Error::failed(code, error.to_string())
}

/// The verdict as the agent should read it: a line for each reason, with what helps.
fn message(verdict: &Verdict) -> String {
    let line = |reason: &Reason| match reason.help.as_str() {
        "" => reason.message.clone(),
        help => format!("{} ({help})", reason.message),
    };
    verdict.reasons.iter().map(line).collect::<Vec<_>>().join("\n")
}

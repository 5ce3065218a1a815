//! Calls that wait for a person: asked in one process, granted or refused in another.
//!
//! The requests of a session stand in a file beside its store, `.approvals/SESSION.jsonl`, an entry a line. A grant is for
//! exactly one call: the same session, tool and arguments. It does nothing by itself. When the agent makes the call
//! again, [`Session::propose_with`] takes the grant, records the approval in the session and decides.
//!
//! Each line carries a tag of the store's key over itself and the line before. Whoever can write the store's folder and
//! read its key can approve: keep both from the agent where that matters.

mod file;
mod request;

pub use request::{Answered, Granted, PendingApproval, RequestState};

use crate::recorded::Recorded;
use crate::session::Session;
use crate::{Code, Decision, Proposed, Reason, SessionError};
use file::{RequestEntry, RequestEvent, RequestFile};
use guard_plan::json::Json;
use guard_plan::plan::Millis;
use guard_plan::record::{Payload, Record};
use guard_plan::{hex, time};
use guard_runtime::{Secrets, World};
use guard_trace::Keys;
use std::fmt;
use std::path::{Path, PathBuf};

/// The validity of a grant for one call, in milliseconds.
const ONE_HOUR: Millis = 3_600_000;

/// The validity of an approval that is recorded directly before its call, in milliseconds.
const MOMENT: Millis = 60_000;

/// The length of a request's id, in hexadecimal digits.
const ID_DIGITS: usize = 12;

/// The role of an approval that the guard asks of no role in particular.
const ANY_ROLE: &str = "operator";

/// The requests for approval beside a store.
#[derive(Debug, Clone)]
pub struct ApprovalLog {
    folder: PathBuf,
    keys: Keys,
}

/// The extent of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantExtent {
    /// One call, within an hour.
    Once,
    /// Any number of identical calls, for so many milliseconds.
    For(Millis),
}

/// The reason why a request or an answer was not taken.
#[derive(Debug)]
pub enum ApprovalError {
    /// The store is not on disk, so nobody else could answer.
    NoFolder,
    /// A file cannot be used; which, and the reason.
    Io(PathBuf, String),
    /// A file was changed by somebody else than Guard; which, and the line.
    Damaged(PathBuf, usize),
    /// There is no such request.
    Unknown(String),
    /// Several requests begin like this.
    Ambiguous(String, Vec<String>),
    /// The answer names nobody.
    Nobody,
    /// Who asked may not grant; the name.
    Asker(String),
    /// The request needs another role; those it needs.
    Role(Vec<String>),
    /// There is nothing to revoke.
    NotGranted(String),
    /// A refusal gives a reason.
    NoReason,
}

impl fmt::Display for ApprovalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ApprovalError::NoFolder => f.write_str("approvals need a store on disk"),
            ApprovalError::Io(path, why) => write!(f, "cannot use `{}`: {why}", path.display()),
            ApprovalError::Damaged(path, line) => {
                write!(f, "`{}` was changed: line {line} has another tag", path.display())
            }
            ApprovalError::Unknown(id) => write!(f, "there is no request `{id}`"),
            ApprovalError::Ambiguous(id, ids) => {
                write!(f, "several requests begin with `{id}`: {}", ids.join(", "))
            }
            ApprovalError::Nobody => f.write_str("an answer names a person"),
            ApprovalError::Asker(name) => {
                write!(f, "`{name}` asked for this approval and may not answer the request")
            }
            ApprovalError::Role(roles) => {
                write!(f, "name the role in which you answer: {}", roles.join(", "))
            }
            ApprovalError::NotGranted(id) => {
                write!(f, "the request `{id}` has no grant that could be revoked")
            }
            ApprovalError::NoReason => f.write_str("a refusal gives a reason for the agent"),
        }
    }
}

impl std::error::Error for ApprovalError {}

/// A decided call, and the request that it left if it waits for a person.
#[derive(Debug)]
pub struct ProposedCall {
    /// The decision, on record.
    pub proposed: Recorded<Proposed>,
    /// The request, where all that is missing is an approval.
    pub request: Option<PendingApproval>,
}

impl ApprovalLog {
    /// The requests beside a store at a path.
    pub(crate) fn beside(store: &Path, keys: Keys) -> ApprovalLog {
        let folder = match store.is_dir() {
            true => store.join(".approvals"),
            false => {
                let mut name = store.as_os_str().to_owned();
                name.push(".approvals");
                name.into()
            }
        };
        ApprovalLog { folder, keys }
    }

    /// The id of the request for a call in a session. It tells nothing about the arguments to whoever has no key.
    pub fn request_id(&self, session: &str, tool: &str, args: &Json) -> String {
        let mut call = format!("approval\0{tool}\0");
        args.sorted().write(&mut call);
        let mark = self.keys.session(session).mark(call.as_bytes());
        hex::encode(&mark)[..ID_DIGITS].to_owned()
    }

    fn file(&self, session: &str) -> RequestFile {
        RequestFile::new(self.folder.join(format!("{session}.jsonl")), self.keys.session(session))
    }

    /// All requests, of one session or of all, oldest first.
    ///
    /// # Errors
    ///
    /// [`ApprovalError::Io`] and [`ApprovalError::Damaged`].
    pub fn requests(&self, session: Option<&str>) -> Result<Vec<PendingApproval>, ApprovalError> {
        let sessions = match session {
            Some(session) => vec![session.to_owned()],
            None => self.sessions()?,
        };
        let mut requests = Vec::new();
        for session in sessions {
            requests.extend(request::fold(&session, &self.file(&session).read()?));
        }
        requests.sort_by(|a, b| (a.asked_at, &a.id).cmp(&(b.asked_at, &b.id)));
        Ok(requests)
    }

    fn sessions(&self) -> Result<Vec<String>, ApprovalError> {
        let fail =
            |error: std::io::Error| ApprovalError::Io(self.folder.clone(), error.to_string());
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(fail(error)),
        };
        let mut sessions = Vec::new();
        for entry in entries {
            let name = entry.map_err(fail)?.file_name();
            let session = name.to_str().and_then(|name| name.strip_suffix(".jsonl"));
            sessions.extend(session.map(str::to_owned));
        }
        Ok(sessions)
    }

    /// The request whose id begins with a text.
    ///
    /// # Errors
    ///
    /// [`ApprovalError::Unknown`], [`ApprovalError::Ambiguous`], or as [`ApprovalLog::requests`].
    pub fn find(&self, id: &str) -> Result<PendingApproval, ApprovalError> {
        let mut found = self.requests(None)?;
        found.retain(|request| request.id.starts_with(id) && !id.is_empty());
        match found.len() {
            0 => Err(ApprovalError::Unknown(id.to_owned())),
            1 => Ok(found.remove(0)),
            _ => {
                let ids = found.into_iter().map(|request| request.id).collect();
                Err(ApprovalError::Ambiguous(id.to_owned(), ids))
            }
        }
    }

    /// Grants a request in a role, which may be left out where only one is asked.
    ///
    /// # Errors
    ///
    /// Returns an error if the request is not known, nobody is named, the asker answers, or the role is another; as
    /// [`ApprovalLog::requests`].
    pub fn grant(
        &self,
        id: &str,
        by: &str,
        role: Option<&str>,
        extent: GrantExtent,
        now: Millis,
    ) -> Result<PendingApproval, ApprovalError> {
        let request = self.find(id)?;
        answerable(&request, by)?;
        let role = match (role, &request.roles[..]) {
            (None, [only]) => only.clone(),
            (Some(role), roles) if roles.iter().any(|known| known == role) => role.to_owned(),
            (_, roles) => return Err(ApprovalError::Role(roles.to_vec())),
        };
        let (once, until) = match extent {
            GrantExtent::Once => (true, now.saturating_add(ONE_HOUR)),
            GrantExtent::For(span) => (false, now.saturating_add(span)),
        };
        let kind = RequestEvent::Grant { by: by.trim().to_owned(), role, once, until };
        self.answer(&request, kind, now)
    }

    /// Refuses a request, with a reason that the agent reads when it makes the call again.
    ///
    /// # Errors
    ///
    /// As [`ApprovalLog::grant`]; [`ApprovalError::NoReason`].
    pub fn reject(
        &self,
        id: &str,
        by: &str,
        reason: &str,
        now: Millis,
    ) -> Result<PendingApproval, ApprovalError> {
        let request = self.find(id)?;
        answerable(&request, by)?;
        if reason.trim().is_empty() {
            return Err(ApprovalError::NoReason);
        }
        let kind =
            RequestEvent::Reject { by: by.trim().to_owned(), reason: reason.trim().to_owned() };
        self.answer(&request, kind, now)
    }

    /// Takes all grants of a request back, as far as they are not used up.
    ///
    /// # Errors
    ///
    /// As [`ApprovalLog::grant`]; [`ApprovalError::NotGranted`].
    pub fn revoke(
        &self,
        id: &str,
        by: &str,
        now: Millis,
    ) -> Result<PendingApproval, ApprovalError> {
        let request = self.find(id)?;
        answerable(&request, by)?;
        if request.live(now).next().is_none() {
            return Err(ApprovalError::NotGranted(request.id));
        }
        self.answer(&request, RequestEvent::Revoke { by: by.trim().to_owned() }, now)
    }

    fn answer(
        &self,
        request: &PendingApproval,
        kind: RequestEvent,
        now: Millis,
    ) -> Result<PendingApproval, ApprovalError> {
        let mut file = self.file(&request.session).open()?;
        file.append(RequestEntry { id: request.id.clone(), at: now, kind })?;
        let requests = request::fold(&request.session, file.entries());
        let answered = requests.into_iter().find(|known| known.id == request.id);
        answered.ok_or_else(|| ApprovalError::Unknown(request.id.clone()))
    }
}

/// Refuses an answer by nobody, or by who asked.
fn answerable(request: &PendingApproval, by: &str) -> Result<(), ApprovalError> {
    let by = by.trim();
    if by.is_empty() {
        return Err(ApprovalError::Nobody);
    }
    match &request.actor {
        Some(actor) if actor.trim().eq_ignore_ascii_case(by) => {
            Err(ApprovalError::Asker(actor.clone()))
        }
        _ => Ok(()),
    }
}

/// Returns true if an approval is all that a call lacks.
fn asks(proposed: &Proposed) -> bool {
    let lacks = |reason: &Reason| matches!(reason.code, Code::Approval | Code::Gated);
    let verdict = &proposed.verdict;
    verdict.decision != Decision::Allow && verdict.reasons.iter().all(lacks)
}

/// The roles that a call waits for.
fn roles(proposed: &Proposed) -> Vec<String> {
    let needs = proposed.verdict.reasons.iter().flat_map(|reason| reason.needs.iter().cloned());
    let mut roles: Vec<String> = needs.collect();
    if roles.is_empty() {
        roles.push(ANY_ROLE.to_owned());
    }
    roles.sort();
    roles.dedup();
    roles
}

impl<W: World> Session<W> {
    /// Decides a call as [`Session::propose`] does. If all it lacks is an approval, and people have granted it, the
    /// approval is recorded first; a grant for one call is then used up. If nobody has, the call waits among the requests.
    ///
    /// # Errors
    ///
    /// As [`Session::propose`]; [`SessionError::Approvals`] where the requests cannot be read or written.
    pub fn propose_with(
        &mut self,
        call: &str,
        tool: &str,
        args: &str,
        approvals: &ApprovalLog,
    ) -> Result<ProposedCall, SessionError> {
        let Ok(json) = Json::parse(args) else {
            return Ok(ProposedCall { proposed: self.propose(call, tool, args)?, request: None });
        };
        if !self.can_ask(tool) {
            return Ok(ProposedCall { proposed: self.propose(call, tool, args)?, request: None });
        }
        let id = approvals.request_id(self.id(), tool, &json);
        let now = self.next_time.unwrap_or_else(crate::session::system_time);
        let preview = self.at(now).preview(tool, &json);
        let mut file = approvals.file(self.id()).open()?;
        if asks(&preview) {
            let known = request::fold(self.id(), file.entries());
            let known = known.into_iter().find(|request| request.id == id);
            let grants = known.map(|request| self.usable(&request, &roles(&preview), now));
            if let Some(grants) = grants.flatten() {
                // The grant is used up before the call is decided: a crash loses a grant, and never uses it twice.
                let numbers = grants.iter().map(|(number, _)| *number).collect();
                let kind = RequestEvent::Used { call: call.to_owned(), grants: numbers };
                file.append(RequestEntry { id: id.clone(), at: now, kind })?;
                for (_, grant) in grants {
                    let expires = Some(now.saturating_add(MOMENT));
                    self.at(now).approve(tool, &json, &grant.role, &grant.by, expires)?;
                }
            }
        }
        let proposed = self.at(now).propose(call, tool, args)?;
        let request = match asks(&proposed) {
            true => Some(self.request(&mut file, id, call, &proposed, now)?),
            false => None,
        };
        Ok(ProposedCall { proposed, request })
    }

    /// Returns true if some call of a tool may need an approval: no other tool pays for the look into the requests.
    fn can_ask(&self, tool: &str) -> bool {
        let plan = self.guard.plan();
        let tool = plan.tools.iter().find(|known| known.wire_name == tool);
        tool.is_some_and(|tool| {
            let mut limits = tool.limits.iter().filter_map(|it| plan.limits.get(it.limit as usize));
            !tool.approvals.is_empty()
                || tool.irreversible
                || tool.served.is_some()
                || limits.any(|limit| limit.ask.is_some())
        })
    }

    /// A live grant for each role, no older than the guard accepts.
    fn usable(
        &self,
        request: &PendingApproval,
        roles: &[String],
        now: Millis,
    ) -> Option<Vec<(usize, Granted)>> {
        let plan = self.guard.plan();
        let tool = plan.tools.iter().find(|tool| tool.wire_name == request.tool)?;
        let fresh = |grant: &Granted| {
            let mut rules = tool.approvals.iter().filter(|rule| rule.role == grant.role);
            rules.all(|rule| rule.within.is_none_or(|age| now.saturating_sub(grant.at) <= age))
        };
        let grant = |role: &String| {
            let mut live = request.live(now).filter(|(_, grant)| grant.role == *role);
            live.find(|(_, grant)| fresh(grant)).map(|(number, grant)| (number, grant.clone()))
        };
        roles.iter().map(grant).collect()
    }

    fn request(
        &self,
        file: &mut file::OpenFile,
        id: String,
        call: &str,
        proposed: &Recorded<Proposed>,
        now: Millis,
    ) -> Result<PendingApproval, SessionError> {
        // Secrets stand as marks in the record, and so they do here.
        let shown = match Record::parse(proposed.record()).map(|record| record.payload) {
            Ok(Payload::Propose(propose)) => (propose.tool.into_owned(), propose.args.to_string()),
            _ => (String::new(), String::new()),
        };
        let ask = RequestEvent::Ask {
            tool: shown.0,
            args: shown.1,
            roles: roles(proposed),
            reasons: proposed.verdict.reasons.clone(),
            call: call.to_owned(),
            actor: self.actor.clone(),
        };
        let waits = request::fold(self.id(), file.entries());
        let waits = waits.iter().find(|known| known.id == id);
        // The same request again is not a new one, unless the guard asks for something else or the answers are used up.
        let stands = |known: &PendingApproval| {
            known.roles == roles(proposed) && known.waiting(now) != RequestState::Over
        };
        if !waits.is_some_and(stands) {
            file.append(RequestEntry { id: id.clone(), at: now, kind: ask })?;
        }
        let requests = request::fold(self.id(), file.entries());
        let request = requests.into_iter().find(|known| known.id == id);
        request.ok_or_else(|| ApprovalError::Unknown(id).into())
    }
}

/// An instant as people read it.
pub fn instant(at: Millis) -> String {
    time::format_rfc3339(at)
}

#[cfg(test)]
mod tests;

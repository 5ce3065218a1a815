//! Calls that wait for a person's approval: requested in one process, granted or refused in
//! another.
//!
//! The requests of a session are in a file beside its store, `.approvals/SESSION.jsonl`, with one
//! entry per line. A grant is for exactly one call: the same session, tool and arguments. The grant
//! alone does nothing. When the agent makes the call again,
//! [`Session::propose_with`](crate::Session::propose_with) takes the grant, records the approval in
//! the session and decides.
//!
//! Each line has a tag, computed with the store's key over the line and the line before. A process
//! that can write the store's folder and read its key can approve calls. A process that can only
//! write the folder cannot add an answer, but it can cut off the last ones. A grant for one call
//! that the session has on record as used is not used again, but a revoked grant then counts again.
//! Where that matters, give the agent access to neither.

mod file;
mod propose;
mod request;

pub use crate::error::ApprovalError;
pub use request::{Answered, Granted, PendingApproval, RequestState};

use crate::recorded::Recorded;
use crate::{Code, Decision, Proposed, Reason};
use file::{RequestEntry, RequestEvent, RequestFile};
use guard_plan::json::Json;
use guard_plan::plan::Millis;
use guard_plan::{hex, time};
use guard_runtime::{DEFAULT_APPROVAL, Secrets};
use guard_trace::Keys;
use guard_trace::store::check_id;
use std::path::{Path, PathBuf};

/// The validity in milliseconds of an approval that is recorded directly before its call.
const MOMENT: Millis = 60_000;

/// The length of a request's id, in hexadecimal digits.
const ID_DIGITS: usize = 12;

/// The role of an approval where the guard does not require a particular role.
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
    /// One call, within one hour.
    Once,
    /// Any number of identical calls, for this many milliseconds.
    For(Millis),
}

/// A decided call, with its request if the call waits for a person.
#[derive(Debug)]
pub struct ProposedCall {
    /// The decision, which is recorded.
    pub proposed: Recorded<Proposed>,
    /// The request, if an approval is all that the call lacks.
    pub request: Option<PendingApproval>,
}

impl ApprovalLog {
    /// Returns the requests of the store at this path.
    pub(crate) fn beside(store: &Path, keys: Keys) -> ApprovalLog {
        let folder = if store.is_dir() {
            store.join(".approvals")
        } else {
            let mut name = store.as_os_str().to_owned();
            name.push(".approvals");
            name.into()
        };
        ApprovalLog { folder, keys }
    }

    /// The id of the request for a call in a session. Without the key, the id tells nothing about
    /// the arguments.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # use guard_sdk::approvals::GrantExtent;
    /// # let source = "guard demo\ntool pay(amount: int) { approval boss }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let storage = guard_sdk::Storage::open(&folder.path().join("sessions"))?;
    /// # let approvals = storage.approvals()?;
    /// # let mut session = guard.session("s1").storage(&storage).actor("agent").at(0).open()?;
    /// let call = r#"{"amount": 5}"#;
    /// let asked = session.at(1_000).propose_with("1", "pay", call, &approvals)?;
    /// let request = asked.request.expect("a person must approve it");
    ///
    /// let args = guard_sdk::Json::parse(call).unwrap();
    /// assert_eq!(approvals.request_id("s1", "pay", &args), request.id);
    /// assert_ne!(approvals.request_id("s2", "pay", &args), request.id);
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn request_id(&self, session: &str, tool: &str, args: &Json) -> String {
        let mut call = format!("approval\0{tool}\0");
        args.sorted().write(&mut call);
        let mark = self.keys.session(session).mark(call.as_bytes());
        hex::encode(&mark)[..ID_DIGITS].to_owned()
    }

    /// Returns the file of a session's requests. A session that is in no store may have a name that
    /// leads outside of the folder.
    fn file(&self, session: &str) -> Result<RequestFile, ApprovalError> {
        check_id(session)
            .map_err(|error| ApprovalError::Io(self.folder.clone(), error.to_string()))?;
        let path = self.folder.join(format!("{session}.jsonl"));
        Ok(RequestFile::new(path, self.keys.session(session)))
    }

    /// Returns the requests of one session, or of all sessions, oldest first.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # use guard_sdk::approvals::GrantExtent;
    /// # let source = "guard demo\ntool pay(amount: int) { approval boss }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let storage = guard_sdk::Storage::open(&folder.path().join("sessions"))?;
    /// # let approvals = storage.approvals()?;
    /// # let mut session = guard.session("s1").storage(&storage).actor("agent").at(0).open()?;
    /// let call = r#"{"amount": 5}"#;
    /// let asked = session.at(1_000).propose_with("1", "pay", call, &approvals)?;
    /// let request = asked.request.expect("a person must approve it");
    ///
    /// let waiting = approvals.requests(Some("s1"))?;
    /// assert_eq!(waiting.len(), 1);
    /// assert_eq!((waiting[0].tool.as_str(), &waiting[0].roles[..]), ("pay", &["boss".to_owned()][..]));
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
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
            requests.extend(request::fold(&session, &self.file(&session)?.read()?));
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

    /// Returns the request whose id begins with `id`.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # use guard_sdk::approvals::GrantExtent;
    /// # let source = "guard demo\ntool pay(amount: int) { approval boss }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let storage = guard_sdk::Storage::open(&folder.path().join("sessions"))?;
    /// # let approvals = storage.approvals()?;
    /// # let mut session = guard.session("s1").storage(&storage).actor("agent").at(0).open()?;
    /// let call = r#"{"amount": 5}"#;
    /// let asked = session.at(1_000).propose_with("1", "pay", call, &approvals)?;
    /// let request = asked.request.expect("a person must approve it");
    ///
    /// assert_eq!(approvals.find(&request.id[..6])?.args, r#"{"amount":5}"#);
    /// assert!(approvals.find("").is_err());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ApprovalError::Unknown`], [`ApprovalError::Ambiguous`], or the errors of
    /// [`ApprovalLog::requests`].
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

    /// Grants a request in a role. The role may be omitted if the request needs only one.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # use guard_sdk::approvals::GrantExtent;
    /// # let source = "guard demo\ntool pay(amount: int) { approval boss }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let storage = guard_sdk::Storage::open(&folder.path().join("sessions"))?;
    /// # let approvals = storage.approvals()?;
    /// # let mut session = guard.session("s1").storage(&storage).actor("agent").at(0).open()?;
    /// let call = r#"{"amount": 5}"#;
    /// let asked = session.at(1_000).propose_with("1", "pay", call, &approvals)?;
    /// let request = asked.request.expect("a person must approve it");
    ///
    /// // Whoever asked cannot answer.
    /// assert!(approvals.grant(&request.id, "agent", None, GrantExtent::Once, 2_000).is_err());
    /// approvals.grant(&request.id, "kim", Some("boss"), GrantExtent::For(60_000), 2_000)?;
    /// for (call_id, at) in [("2", 3_000), ("3", 4_000)] {
    ///     let again = session.at(at).propose_with(call_id, "pay", call, &approvals)?;
    ///     assert!(again.proposed.verdict.is_allowed());
    /// }
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the request is unknown, `by` is empty, the answerer is the asker, or the
    /// role is not one that the request needs; also the errors of [`ApprovalLog::requests`].
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
            GrantExtent::Once => (true, now.saturating_add(DEFAULT_APPROVAL)),
            GrantExtent::For(span) => (false, now.saturating_add(span)),
        };
        let kind = RequestEvent::Grant { by: by.trim().to_owned(), role, once, until };
        self.answer(&request, kind, now)
    }

    /// Refuses a request. The agent reads the reason when it makes the call again.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # use guard_sdk::approvals::GrantExtent;
    /// # let source = "guard demo\ntool pay(amount: int) { approval boss }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let storage = guard_sdk::Storage::open(&folder.path().join("sessions"))?;
    /// # let approvals = storage.approvals()?;
    /// # let mut session = guard.session("s1").storage(&storage).actor("agent").at(0).open()?;
    /// let call = r#"{"amount": 5}"#;
    /// let asked = session.at(1_000).propose_with("1", "pay", call, &approvals)?;
    /// let request = asked.request.expect("a person must approve it");
    ///
    /// use guard_sdk::approvals::RequestState;
    /// let answered = approvals.reject(&request.id, "kim", "the invoice is missing", 2_000)?;
    /// assert_eq!(answered.waiting(2_000), RequestState::Refused);
    /// assert!(!session.at(3_000).propose_with("2", "pay", call, &approvals)?.proposed.verdict.is_allowed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`ApprovalLog::grant`]; [`ApprovalError::NoReason`].
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

    /// Revokes all grants of a request that are not used up.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # use guard_sdk::approvals::GrantExtent;
    /// # let source = "guard demo\ntool pay(amount: int) { approval boss }";
    /// # let guard = guard_sdk::Guard::compile("demo.guard", source)?;
    /// # let storage = guard_sdk::Storage::open(&folder.path().join("sessions"))?;
    /// # let approvals = storage.approvals()?;
    /// # let mut session = guard.session("s1").storage(&storage).actor("agent").at(0).open()?;
    /// let call = r#"{"amount": 5}"#;
    /// let asked = session.at(1_000).propose_with("1", "pay", call, &approvals)?;
    /// let request = asked.request.expect("a person must approve it");
    ///
    /// approvals.grant(&request.id, "kim", None, GrantExtent::Once, 2_000)?;
    /// approvals.revoke(&request.id, "kim", 3_000)?;
    /// let again = session.at(4_000).propose_with("2", "pay", call, &approvals)?;
    /// assert!(!again.proposed.verdict.is_allowed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`ApprovalLog::grant`]; [`ApprovalError::NotGranted`].
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
        let mut file = self.file(&request.session)?.open()?;
        file.append(RequestEntry { id: request.id.clone(), at: now, kind })?;
        let requests = request::fold(&request.session, file.entries());
        let answered = requests.into_iter().find(|known| known.id == request.id);
        answered.ok_or_else(|| ApprovalError::Unknown(request.id.clone()))
    }
}

/// Refuses an answer without a name, or by the person who asked.
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

/// Returns true if an approval is all that the call lacks.
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

/// Formats an instant for people.
///
/// ```
/// assert_eq!(guard_sdk::approvals::instant(0), "1970-01-01T00:00:00Z");
/// ```
pub fn instant(at: Millis) -> String {
    time::format_rfc3339(at)
}

#[cfg(test)]
mod tests;

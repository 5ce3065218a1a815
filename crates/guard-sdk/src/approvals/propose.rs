//! Proposals that ask people: a grant is recorded as an approval, and a call without a grant leaves
//! a request.

use super::file::{self, RequestEntry, RequestEvent};
use super::request::{self, Granted, PendingApproval, RequestState};
use super::{ApprovalError, ApprovalLog, MOMENT, ProposedCall, asks, roles};

use crate::arguments::read;
use crate::recorded::Recorded;
use crate::session::Session;
use crate::{Proposed, SessionError};
use guard_plan::json::Json;
use guard_plan::plan::Millis;
use guard_plan::record::{Payload, Record};
use guard_plan::time::parse_rfc3339;
use guard_runtime::World;

/// An approval that the session has on record.
struct RecordedApproval {
    at: Millis,
    by: String,
    role: String,
}

/// Returns true if the session has used a grant for one call, although the requests do not show it:
/// somebody has cut off their last lines.
fn is_spent(
    request: &PendingApproval,
    grant: &Granted,
    recorded: &[RecordedApproval],
    now: Millis,
) -> bool {
    let is_alike = |by: &str, role: &str| by == grant.by && role == grant.role;
    let alike = || request.grants.iter().filter(|other| is_alike(&other.by, &other.role));
    let Some(first) = alike().map(|other| other.at).min() else { return false };
    let uses = recorded.iter().filter(|used| used.at >= first && is_alike(&used.by, &used.role));
    let listed: usize = alike().map(|other| other.used as usize).sum();
    let unlisted = uses.count().saturating_sub(listed);
    let live = alike().filter(|other| other.is_live(now)).count();
    grant.once && unlisted >= live
}

impl<W: World> Session<W> {
    /// Decides a call as [`Session::propose`] does. If the call lacks only an approval, and people
    /// have granted it, the approval is recorded first, and a grant for one call is then used up.
    /// If nobody has granted it, the call is added to the requests.
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
    /// // A person answers, in this process or in another one.
    /// approvals.grant(&request.id, "kim", None, GrantExtent::Once, 2_000)?;
    /// let again = session.at(3_000).propose_with("2", "pay", call, &approvals)?;
    /// assert!(again.proposed.verdict.is_allowed());
    /// // The grant was for one call.
    /// assert!(session.at(4_000).propose_with("3", "pay", call, &approvals)?.request.is_some());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Session::propose`]; [`SessionError::Approvals`] if the requests cannot be
    /// read or written.
    pub fn propose_with(
        &mut self,
        call: &str,
        tool: &str,
        args: &str,
        approvals: &ApprovalLog,
    ) -> Result<ProposedCall, SessionError> {
        let Ok(json) = read(args) else {
            return Ok(ProposedCall { proposed: self.propose(call, tool, args)?, request: None });
        };
        if !self.can_ask(tool) {
            return Ok(ProposedCall { proposed: self.propose(call, tool, args)?, request: None });
        }
        let id = approvals.request_id(self.id(), tool, &json);
        let now = self.next_time.unwrap_or_else(crate::clock::system_time);
        let preview = self.at(now).preview(tool, &json);
        let mut file = approvals.file(self.id())?.open()?;
        if asks(&preview) {
            let known = request::fold(self.id(), file.entries());
            let known = known.into_iter().find(|request| request.id == id);
            let grants = match known {
                Some(request) => self.usable(&request, &roles(&preview), now)?,
                None => None,
            };
            if let Some(grants) = grants {
                // The grant is used up before the call is decided: a crash can lose a grant, but
                // never use it twice.
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
        let request = if asks(&proposed) {
            Some(self.request(&mut file, id, call, &proposed, now)?)
        } else {
            None
        };
        Ok(ProposedCall { proposed, request })
    }

    /// Returns true if some call of the tool may need an approval. The requests are not read for
    /// other tools.
    fn can_ask(&self, tool: &str) -> bool {
        let plan = self.guard.plan();
        plan.called(tool).is_some_and(|tool| {
            let mut limits =
                tool.limits.iter().filter_map(|limit| plan.limits.get(limit.limit as usize));
            !tool.approvals.is_empty()
                || tool.irreversible
                || tool.served.is_some()
                || limits.any(|limit| limit.ask.is_some())
        })
    }

    /// Returns a live grant for each role, no older than the guard accepts.
    fn usable(
        &self,
        request: &PendingApproval,
        roles: &[String],
        now: Millis,
    ) -> Result<Option<Vec<(usize, Granted)>>, SessionError> {
        let plan = self.guard.plan();
        let Some(tool) = plan.called(&request.tool) else { return Ok(None) };
        let recorded = if request.live(now).any(|(_, grant)| grant.once) {
            self.approvals_by_grants(request)?
        } else {
            Vec::new()
        };
        let fresh = |grant: &Granted| {
            let mut rules = tool.approvals.iter().filter(|rule| rule.role == grant.role);
            rules.all(|rule| rule.within.is_none_or(|age| now.saturating_sub(grant.at) <= age))
        };
        let grant = |role: &String| {
            let mut live = request.live(now).filter(|(_, grant)| grant.role == *role);
            live.find(|(_, grant)| fresh(grant) && !is_spent(request, grant, &recorded, now))
                .map(|(number, grant)| (number, grant.clone()))
        };
        Ok(roles.iter().map(grant).collect())
    }

    /// Returns the approvals of the call that grants have put on record.
    fn approvals_by_grants(
        &self,
        request: &PendingApproval,
    ) -> Result<Vec<RecordedApproval>, SessionError> {
        let args = Json::parse(&request.args).map(|args| args.sorted()).ok();
        let mut approvals = Vec::new();
        for line in self.records()? {
            let Ok(record) = Record::parse(&line) else { continue };
            let Payload::Approve(approve) = record.payload else { continue };
            let expires = approve.expires.as_deref().and_then(parse_rfc3339);
            let (Some(at), Some(expires)) = (parse_rfc3339(&record.time), expires) else {
                continue;
            };
            let is_same_call = *approve.tool == request.tool && Some(approve.args.sorted()) == args;
            if is_same_call && expires <= at.saturating_add(MOMENT) {
                let (by, role) = (approve.by.into_owned(), approve.role.into_owned());
                approvals.push(RecordedApproval { at, by, role });
            }
        }
        Ok(approvals)
    }

    fn request(
        &self,
        file: &mut file::OpenFile,
        id: String,
        call: &str,
        proposed: &Recorded<Proposed>,
        now: Millis,
    ) -> Result<PendingApproval, SessionError> {
        // Secrets are marks in the record, so the request shows the same marks.
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
        // An identical request is not added again, unless the guard requires something else or the
        // answers are used up.
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

//! A request, with all answers to it.

use super::file::{RequestEntry, RequestEvent};
use crate::Reason;
use guard_plan::plan::Millis;

/// A call that waits, or has waited, for a person.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingApproval {
    /// The id. The same call of the same session has the same id.
    pub id: String,
    /// The session.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The arguments as JSON text, with marks in place of secrets.
    pub args: String,
    /// The roles that must approve.
    pub roles: Vec<String>,
    /// The reasons of the verdict.
    pub reasons: Vec<Reason>,
    /// The id of the call that asked most recently.
    pub call: String,
    /// The person or system for whom the agent acts.
    pub actor: Option<String>,
    /// The time of the first request, in milliseconds since 1970.
    pub asked_at: Millis,
    /// The grants, oldest first.
    pub grants: Vec<Granted>,
    /// The refusal that is in force.
    pub rejected: Option<Answered>,
    /// True if nobody has granted the request since it was last asked.
    pub open: bool,
}

/// A grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// The person who granted it.
    pub by: String,
    /// The role of that person.
    pub role: String,
    /// The time of the grant.
    pub at: Millis,
    /// The time at which the grant expires.
    pub until: Millis,
    /// True if the grant is for one call.
    pub once: bool,
    /// The number of calls that have used it.
    pub used: u32,
    /// The person who revoked it.
    pub revoked: Option<String>,
}

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The person who refused.
    pub by: String,
    /// The reason, which the agent reads.
    pub reason: String,
    /// The time of the refusal.
    pub at: Millis,
}

/// The state of a request: the next step that it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestState {
    /// It waits for a person's answer.
    Answer,
    /// It waits for the agent, which may make the call.
    Call,
    /// It was refused, and waits for nothing.
    Refused,
    /// The grants of the request are used up, expired or revoked. It waits for nothing.
    Over,
}

impl Granted {
    /// Returns true if a call can use the grant.
    pub fn is_live(&self, now: Millis) -> bool {
        self.revoked.is_none()
            && now < self.until
            && now >= self.at
            && !(self.once && self.used > 0)
    }
}

impl PendingApproval {
    /// Returns the grants that a call can use, with their indexes. A refusal ends all grants before
    /// it.
    pub fn live(&self, now: Millis) -> impl Iterator<Item = (usize, &Granted)> {
        self.grants.iter().enumerate().filter(move |(_, grant)| grant.is_live(now))
    }

    /// Returns the state of the request at `now`.
    pub fn waiting(&self, now: Millis) -> RequestState {
        let granted = |role: &String| self.live(now).any(|(_, grant)| grant.role == *role);
        match () {
            () if self.rejected.is_some() => RequestState::Refused,
            () if self.roles.iter().all(granted) => RequestState::Call,
            () if self.open || self.live(now).next().is_some() => RequestState::Answer,
            () => RequestState::Over,
        }
    }
}

/// Returns the requests that the entries of a session describe, oldest first.
pub(super) fn fold(session: &str, entries: &[RequestEntry]) -> Vec<PendingApproval> {
    let mut requests: Vec<PendingApproval> = Vec::new();
    for entry in entries {
        let known = requests.iter().position(|request| request.id == entry.id);
        match (&entry.kind, known) {
            (RequestEvent::Ask { tool, args, roles, reasons, call, actor }, known) => {
                let request = PendingApproval {
                    id: entry.id.clone(),
                    session: session.to_owned(),
                    tool: tool.clone(),
                    args: args.clone(),
                    roles: roles.clone(),
                    reasons: reasons.clone(),
                    call: call.clone(),
                    actor: actor.clone(),
                    asked_at: entry.at,
                    grants: Vec::new(),
                    rejected: None,
                    open: true,
                };
                match known {
                    // The request was repeated: the earlier answers stay.
                    Some(at) => {
                        let before = std::mem::replace(&mut requests[at], request);
                        let now = &mut requests[at];
                        (now.grants, now.rejected) = (before.grants, before.rejected);
                        now.asked_at = before.asked_at;
                    }
                    None => requests.push(request),
                }
            }
            (kind, Some(at)) => answer(&mut requests[at], kind, entry.at),
            (_, None) => {}
        }
    }
    requests
}

fn answer(request: &mut PendingApproval, kind: &RequestEvent, at: Millis) {
    match kind {
        RequestEvent::Ask { .. } => {}
        RequestEvent::Grant { by, role, once, until } => {
            (request.rejected, request.open) = (None, false);
            let by = by.clone();
            let role = role.clone();
            let until = *until;
            let once = *once;
            request.grants.push(Granted { by, role, at, until, once, used: 0, revoked: None });
        }
        RequestEvent::Reject { by, reason } => {
            revoke(request, by);
            request.rejected = Some(Answered { by: by.clone(), reason: reason.clone(), at });
        }
        RequestEvent::Revoke { by } => revoke(request, by),
        RequestEvent::Used { grants, .. } => {
            for number in grants {
                request.grants.get_mut(*number).into_iter().for_each(|grant| grant.used += 1);
            }
        }
    }
}

fn revoke(request: &mut PendingApproval, by: &str) {
    let standing = request.grants.iter_mut().filter(|grant| grant.revoked.is_none());
    standing.for_each(|grant| grant.revoked = Some(by.to_owned()));
}

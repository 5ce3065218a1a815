//! A request, with all that was answered to it.

use super::file::{RequestEntry, RequestEvent};
use crate::Reason;
use guard_plan::plan::Millis;

/// A call that waits, or waited, for a person.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingApproval {
    /// The id: the same for the same call of the same session.
    pub id: String,
    /// The session.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The arguments, JSON text; secrets are marks.
    pub args: String,
    /// The roles that must approve.
    pub roles: Vec<String>,
    /// The reasons of the verdict.
    pub reasons: Vec<Reason>,
    /// The id of the call that asked last.
    pub call: String,
    /// On whose behalf the agent acts.
    pub actor: Option<String>,
    /// The time of the first request.
    pub asked_at: Millis,
    /// The grants, oldest first.
    pub grants: Vec<Granted>,
    /// The refusal that stands.
    pub rejected: Option<Answered>,
    /// True if nobody has granted it since it was asked last.
    pub open: bool,
}

/// A grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// Who gave it.
    pub by: String,
    /// In which role.
    pub role: String,
    /// When.
    pub at: Millis,
    /// The time from which it is gone.
    pub until: Millis,
    /// It is for one call.
    pub once: bool,
    /// How many calls have used it.
    pub used: u32,
    /// Who took it back.
    pub revoked: Option<String>,
}

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// Who refused.
    pub by: String,
    /// The reason, for the agent.
    pub reason: String,
    /// When.
    pub at: Millis,
}

/// The state of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestState {
    /// A person's answer.
    Answer,
    /// The agent, which may make the call.
    Call,
    /// Nothing: it was refused.
    Refused,
    /// Nothing: its grants are used up, expired or revoked.
    Over,
}

impl Granted {
    /// Returns true if a call can use it.
    pub fn is_live(&self, now: Millis) -> bool {
        self.revoked.is_none()
            && now < self.until
            && now >= self.at
            && !(self.once && self.used > 0)
    }
}

impl PendingApproval {
    /// The grants that a call can use, with their numbers. A refusal ends all before it.
    pub fn live(&self, now: Millis) -> impl Iterator<Item = (usize, &Granted)> {
        self.grants.iter().enumerate().filter(move |(_, grant)| grant.is_live(now))
    }

    /// Returns its state now.
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

/// The requests that a session's entries make, oldest first.
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
                    // Asked again: what people have answered stays.
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

//! The guards of a sidecar: the selection of a session's guard, reloading, and the continuation of
//! open sessions under another guard.

use super::answers::RpcAnswer;
use super::params::instant;
use super::requests::{self, Chosen, Force};
use super::rpc::RpcError;
use super::server::{Server, lock};
use guard_sdk::{Guard, Session};
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, RwLock};

/// The guard of sessions that do not name one.
pub struct DefaultGuard {
    /// The path of the guard.
    path: Option<PathBuf>,
    guard: RwLock<Option<Guard>>,
    /// A lock that permits one reload at a time, so that the reload that begins last takes effect.
    turn: Mutex<()>,
}

impl DefaultGuard {
    /// Creates the guard at a path, if one is given. It is not loaded yet.
    pub fn new(path: Option<PathBuf>) -> DefaultGuard {
        DefaultGuard { path, guard: RwLock::default(), turn: Mutex::default() }
    }

    fn guard(&self) -> Option<Guard> {
        self.guard.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The data about a session that are available without its lock.
#[derive(Clone)]
pub struct SessionSummary {
    guard: String,
    plan_hash: String,
}

impl SessionSummary {
    pub fn new(session: &Session) -> SessionSummary {
        let guard = session.guard();
        SessionSummary { guard: guard.name().to_owned(), plan_hash: guard.plan_hash() }
    }
}

impl Server {
    /// Returns the guard that a request names, or that of the sidecar.
    pub(super) fn guard(&self, chosen: &Chosen) -> Result<Guard, RpcError> {
        let guard = match (&chosen.plan, &chosen.source) {
            (Some(path), None) => self.guards.load(path)?,
            (None, Some(source)) => self.guards.compile("source.guard", source)?,
            (None, None) => match self.default.guard() {
                Some(guard) => guard,
                None => {
                    let message = "give either `plan`, a path, or `source`, a text: the sidecar has no guard of its own (`--plan`)";
                    return Err(RpcError::failed("no_plan", message));
                }
            },
            _ => return Err(RpcError::params("give either `plan`, a path, or `source`, a text")),
        };
        let Some(every) = self.options.shadow else { return Ok(guard) };
        let full = chosen.full.as_ref().map(|full| self.guards.load(full)).transpose()?;
        let full = full.map(|full| full.kernel().loaded().clone());
        Ok(guard.watched(every, full)?)
    }

    /// Loads the sidecar's guard again. After an error, the previous guard stays.
    pub(super) fn reload(&self) -> RpcAnswer {
        let default = &self.default;
        let Some(path) = &default.path else {
            let message = "the sidecar has no plan of its own: start it with `--plan`";
            return Err(RpcError::failed("no_plan", message));
        };
        let _turn = lock(&default.turn);
        let guard = self.guards.load(path)?;
        let previous = default.guard().map(|guard| guard.plan_hash());
        let hash = guard.plan_hash();
        let name = guard.name().to_owned();
        *default.guard.write().unwrap_or_else(PoisonError::into_inner) = Some(guard);
        let sessions = self.about();
        let others = sessions.iter().filter(|(_, about, _)| about.plan_hash != hash).count();
        Ok(json!({
            "guard": name,
            "plan_hash": hash,
            "changed": previous.as_ref() != Some(&hash),
            "previous": previous,
            "sessions": { "on_this_plan": sessions.len() - others, "on_others": others },
        })
        .to_string())
    }

    /// Continues an open session under another guard.
    pub(super) fn upgrade(&self, request: requests::UpgradeRequest) -> RpcAnswer {
        let now = instant(request.now)?;
        let guard = self.guard(&request.chosen)?;
        let answer = self.with(&request.session, None, |session| {
            let session = session.at(now);
            let upgrade = match &request.force {
                None => session.upgrade(&guard)?,
                Some(Force { by, reason }) => {
                    session.upgrade_forced(&guard, by, reason.as_deref())?
                }
            };
            Ok((SessionSummary::new(session), upgrade))
        });
        let (about, upgrade) = answer?;
        let answer = json!({
            "session": request.session,
            "guard": about.guard,
            "plan_hash": about.plan_hash,
            "previous": upgrade.from,
            "changed": upgrade.record.is_some(),
            "anew": upgrade.anew,
            "dropped": upgrade.dropped,
        });
        if let Some(open) = lock(&self.sessions).get(&request.session) {
            *lock(&open.about) = about;
        }
        Ok(answer.to_string())
    }

    /// Lists the open sessions. A session that is busy at the moment is not asked.
    pub(super) fn list(&self) -> RpcAnswer {
        let told = |(id, about, in_flight): (String, SessionSummary, Option<usize>)| {
            json!({
                "session": id,
                "guard": about.guard,
                "plan_hash": about.plan_hash,
                "in_flight": in_flight,
            })
        };
        let sessions: Vec<_> = self.about().into_iter().map(told).collect();
        Ok(json!({ "sessions": sessions }).to_string())
    }

    /// Returns the open sessions by id, with the number of their calls in flight if they can be
    /// asked now.
    fn about(&self) -> Vec<(String, SessionSummary, Option<usize>)> {
        let sessions: Vec<_> =
            // The list is copied, so that the lock of all sessions is not held while single ones
            // are asked.
            lock(&self.sessions).iter().map(|(id, open)| (id.clone(), open.clone())).collect();
        let summary = |(id, open): (String, std::sync::Arc<super::server::OpenSession>)| {
            // Waiting for a busy session would delay the whole list until its probe or command
            // ends.
            let in_flight = open.session.try_lock().ok().map(|session| session.in_flight().len());
            let about = lock(&open.about).clone();
            (id, about, in_flight)
        };
        let mut all: Vec<_> = sessions.into_iter().map(summary).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }
}

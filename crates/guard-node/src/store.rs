//! Stores: where sessions and requests for approval are kept.

use crate::reply::{ReplyFailure, caught, json_text, text};
use guard_plan::json::Json;
use guard_sdk::approvals::{
    ApprovalError, ApprovalLog, GrantExtent, PendingApproval, RequestState,
};
use guard_sdk::{Durability, SessionError, Storage, system_time};
use napi_derive::napi;
use std::path::PathBuf;
use std::time::Duration;

/// The engine's part of a store; use `Store`.
#[napi]
pub struct NodeStore {
    storage: Storage,
}

impl NodeStore {
    /// The store.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    fn requests_do<T: serde::Serialize>(
        &self,
        work: impl FnOnce(&ApprovalLog) -> Result<T, ApprovalError>,
    ) -> String {
        text(caught(|| json_text(&work(&self.storage.approvals()?)?)))
    }
}

fn state(request: &PendingApproval) -> &'static str {
    match request.waiting(system_time()) {
        RequestState::Answer => "open",
        RequestState::Call => "granted",
        RequestState::Refused => "refused",
        RequestState::Over => "over",
    }
}

fn shown(request: &PendingApproval) -> serde_json::Value {
    let args = Json::parse(&request.args).unwrap_or_else(|_| Json::string(&request.args));
    serde_json::json!({
        "id": request.id,
        "session": request.session,
        "tool": request.tool,
        "args": args,
        "roles": request.roles,
        "call": request.call,
        "actor": request.actor,
        "askedAt": guard_sdk::approvals::instant(request.asked_at),
        "state": state(request),
    })
}

#[napi]
impl NodeStore {
    /// Opens a store, or creates it.
    #[napi(factory)]
    pub fn open(path: String, durability: String, key: Option<String>) -> napi::Result<NodeStore> {
        let opened = caught(|| {
            let durability = match durability.as_str() {
                "full" => Durability::Full,
                "batch" => Durability::Batch(Duration::from_millis(2)),
                "off" => Durability::Off,
                _ => {
                    let why = "`durability` is \"full\", \"batch\" or \"off\"";
                    return Err(ReplyFailure::argument(why));
                }
            };
            let path = PathBuf::from(path);
            let key = key.map(PathBuf::from);
            let opened = Storage::open_with(&path, durability, key.as_deref());
            Ok(NodeStore { storage: opened.map_err(SessionError::from)? })
        });
        opened.map_err(|failure| failure.thrown())
    }

    /// Returns true if it has a session with this id.
    #[napi]
    pub fn contains(&self, session: String) -> String {
        text(caught(|| json_text(&self.storage.contains(&session).map_err(SessionError::from)?)))
    }

    /// The requests for approval, of one session or of all.
    #[napi]
    pub fn requests(&self, session: Option<String>) -> String {
        self.requests_do(|log| {
            let requests = log.requests(session.as_deref())?;
            Ok(requests.iter().map(shown).collect::<Vec<_>>())
        })
    }

    /// Grants a request.
    #[napi]
    pub fn grant(
        &self,
        request: String,
        by: String,
        role: Option<String>,
        seconds: Option<u32>,
    ) -> String {
        let extent = match seconds {
            Some(seconds) => GrantExtent::For(i64::from(seconds) * 1000),
            None => GrantExtent::Once,
        };
        self.requests_do(|log| {
            Ok(shown(&log.grant(&request, &by, role.as_deref(), extent, system_time())?))
        })
    }

    /// Refuses a request.
    #[napi]
    pub fn reject(&self, request: String, by: String, reason: String) -> String {
        self.requests_do(|log| Ok(shown(&log.reject(&request, &by, &reason, system_time())?)))
    }

    /// Takes the grants of a request back.
    #[napi]
    pub fn revoke(&self, request: String, by: String) -> String {
        self.requests_do(|log| Ok(shown(&log.revoke(&request, &by, system_time())?)))
    }
}

//! The parameters of the sidecar's methods; `docs/reference/sidecar.schema.json` defines them.

use guard_plan::report::Report;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

#[derive(Deserialize)]
pub struct OpenRequest {
    #[serde(flatten)]
    pub chosen: Chosen,
    pub session: Option<String>,
    pub journal: Option<String>,
    pub actor: Option<String>,
    pub shared: Option<BTreeMap<String, SharedService>>,
    pub now: Option<String>,
    pub workspace: Option<String>,
    pub data: Option<Box<RawValue>>,
}

/// The guard of a session; by default that of the sidecar.
#[derive(Deserialize)]
pub struct Chosen {
    pub plan: Option<String>,
    pub full: Option<String>,
    pub source: Option<String>,
}

#[derive(Deserialize)]
pub struct UpgradeRequest {
    pub session: String,
    #[serde(flatten)]
    pub chosen: Chosen,
    pub force: Option<Force>,
    pub now: Option<String>,
}

/// The person who moves a session to a guard that may allow more.
#[derive(Deserialize)]
pub struct Force {
    #[serde(default)]
    pub by: String,
    pub reason: Option<String>,
}

/// A budget that sessions of one store share.
#[derive(Deserialize)]
pub struct SharedService {
    pub budget: String,
    pub limit: Box<RawValue>,
}

/// The answers of the host for its probes, valid from this request on.
pub type Probes = Option<Box<RawValue>>;

#[derive(Deserialize)]
pub struct ProposeRequest {
    pub session: String,
    pub call: String,
    pub tool: String,
    pub args: Option<Box<RawValue>>,
    pub now: Option<String>,
    pub probes: Probes,
}

#[derive(Deserialize)]
pub struct SettleRequest {
    pub session: String,
    pub call: String,
    pub outcome: String,
    pub result: Option<Box<RawValue>>,
    pub now: Option<String>,
    pub probes: Probes,
}

#[derive(Deserialize)]
pub struct PromptRequest {
    pub session: String,
    pub text: String,
    pub now: Option<String>,
}

#[derive(Deserialize)]
pub struct StopRequest {
    pub session: String,
    pub reason: Option<String>,
    pub now: Option<String>,
    pub probes: Probes,
}

#[derive(Deserialize)]
pub struct AdviseRequest {
    pub session: String,
    pub now: Option<String>,
    pub probes: Probes,
}

#[derive(Deserialize)]
pub struct FactsRequest {
    pub session: String,
    pub fact: String,
    pub from: Option<u64>,
    pub limit: Option<usize>,
}

#[derive(Deserialize)]
pub struct ItemRequest {
    pub session: String,
    pub item: String,
    pub now: Option<String>,
    pub probes: Probes,
}

#[derive(Deserialize)]
pub struct MoveRequest {
    pub session: String,
    pub item: String,
    pub transition: String,
    pub by: Option<String>,
    pub reason: Option<String>,
    pub now: Option<String>,
}

#[derive(Deserialize)]
pub struct ItemsRequest {
    pub session: String,
    pub lifecycle: String,
    pub state: Option<String>,
    pub after: Option<String>,
}

#[derive(Deserialize)]
pub struct ApproveRequest {
    pub session: String,
    pub tool: String,
    pub args: Option<Box<RawValue>>,
    pub role: String,
    pub by: Option<String>,
    pub expires: Option<String>,
    pub now: Option<String>,
}

#[derive(Deserialize)]
pub struct RevokeApproval {
    pub session: String,
    pub tool: String,
    pub args: Option<Box<RawValue>>,
    pub role: String,
    pub by: Option<String>,
    pub now: Option<String>,
}

#[derive(Deserialize)]
pub struct UsageRequest {
    pub session: String,
    pub unit: String,
    pub amount: Box<RawValue>,
    pub now: Option<String>,
}

#[derive(Deserialize)]
pub struct ResumeRequest {
    pub session: String,
    pub role: String,
    pub by: Option<String>,
    pub now: Option<String>,
}

#[derive(Deserialize)]
pub struct Named {
    pub session: String,
}

#[derive(Deserialize)]
pub struct CheckRequest {
    pub session: Option<String>,
    pub plan: Option<String>,
    pub contract: String,
    pub text: String,
    pub finish_reason: Option<String>,
    pub known: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
pub struct PushRequest {
    pub feed: String,
    pub text: String,
}

#[derive(Deserialize)]
pub struct FinishRequest {
    pub feed: String,
    pub finish_reason: Option<String>,
}

#[derive(Deserialize)]
pub struct ReaskRequest {
    pub session: Option<String>,
    pub plan: Option<String>,
    pub contract: String,
    pub known: Option<Box<RawValue>>,
    pub report: Report,
}

#[derive(Deserialize)]
pub struct ContractRequest {
    pub session: Option<String>,
    pub plan: Option<String>,
    pub contract: String,
    pub known: Option<Box<RawValue>>,
    pub profile: Option<String>,
}

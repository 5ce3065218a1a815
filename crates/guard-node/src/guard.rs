//! Guards: compiled once, shared by the sessions of a thread.

use crate::contract::NodeContract;
use crate::reply::{ReplyFailure, caught, json_text, text};
use guard_plan::encode;
use guard_plan::plan::{Probe, ProbeAsks};
use guard_plan::words;
use guard_sdk::{Guard, GuardError};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

/// The engine's part of a guard; use `Guard`.
#[napi]
pub struct NodeGuard {
    guard: Guard,
}

impl NodeGuard {
    /// The guard.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }
}

fn ready(load: impl FnOnce() -> Result<Guard, GuardError>) -> napi::Result<NodeGuard> {
    match caught(|| load().map_err(|error| ReplyFailure::from(&error))) {
        Ok(guard) => Ok(NodeGuard { guard }),
        Err(failure) => Err(failure.thrown()),
    }
}

#[napi]
impl NodeGuard {
    /// Loads a guard or a plan from a file.
    #[napi(factory)]
    pub fn load(path: String) -> napi::Result<NodeGuard> {
        ready(|| Guard::from_file(path))
    }

    /// Compiles a text.
    #[napi(factory)]
    pub fn compile(path: String, source: String) -> napi::Result<NodeGuard> {
        ready(|| Guard::compile(path, source))
    }

    /// Loads the bytes of a plan.
    #[napi(factory)]
    pub fn from_plan(plan: Buffer) -> napi::Result<NodeGuard> {
        ready(|| Guard::from_plan_bytes(&plan))
    }

    /// The name that the guard gives itself.
    #[napi(getter)]
    pub fn name(&self) -> String {
        self.guard.name().to_owned()
    }

    /// The content hash of the plan.
    #[napi(getter)]
    pub fn plan_hash(&self) -> String {
        self.guard.plan_hash()
    }

    /// The compiled plan.
    #[napi]
    pub fn plan_bytes(&self) -> Buffer {
        let loaded = self.guard.kernel().loaded();
        encode::to_bytes(loaded.plan(), loaded.sources()).into()
    }

    /// The declared tools, contracts and probes.
    #[napi]
    pub fn declared(&self) -> String {
        let plan = self.guard.plan();
        let tools = plan.tools.iter().map(|tool| {
            serde_json::json!({
                "name": tool.wire_name,
                "guardName": tool.name,
                "title": tool.title,
                "description": tool.doc,
                "risk": words::risk(tool.highest_risk()),
                "irreversible": tool.irreversible,
                "served": tool.is_served(),
            })
        });
        let asks_host = |probe: &&Probe| matches!(probe.asks, ProbeAsks::Host);
        text(json_text(&serde_json::json!({
            "tools": tools.collect::<Vec<_>>(),
            "contracts": plan.contracts.iter().map(|contract| &contract.name).collect::<Vec<_>>(),
            "probes": plan.probes.iter().filter(asks_host).map(|probe| &probe.name).collect::<Vec<_>>(),
        })))
    }

    /// Instructions for an agent.
    #[napi]
    pub fn guide(&self) -> String {
        self.guard.guide()
    }

    /// The contract with this name.
    #[napi]
    pub fn contract(&self, name: String) -> napi::Result<NodeContract> {
        let contract =
            caught(|| self.guard.contract(&name).map_err(|error| ReplyFailure::from(&error)));
        let contract = contract.map_err(|failure| failure.thrown())?;
        Ok(NodeContract::new(self.guard.clone(), contract))
    }
}

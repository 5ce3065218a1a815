//! Guards: compiled once, shared by the sessions of a thread.

use crate::contract::EngineContract;
use crate::reply::{Failure, caught, json_text, text};
use guard_plan::encode;
use guard_plan::plan::{Probe, ProbeAsks};
use guard_plan::words;
use guard_sdk::{Guard, GuardError};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

/// The engine's part of a guard; use `Guard`.
#[napi]
pub struct EngineGuard {
    guard: Guard,
}

impl EngineGuard {
    /// The guard.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }
}

fn ready(load: impl FnOnce() -> Result<Guard, GuardError>) -> napi::Result<EngineGuard> {
    match caught(|| load().map_err(|error| Failure::from(&error))) {
        Ok(guard) => Ok(EngineGuard { guard }),
        Err(failure) => Err(failure.thrown()),
    }
}

#[napi]
impl EngineGuard {
    /// Loads a guard or a plan from a file.
    #[napi(factory)]
    pub fn load(path: String) -> napi::Result<EngineGuard> {
        ready(|| Guard::from_file(path))
    }

    /// Compiles a text.
    #[napi(factory)]
    pub fn compile(path: String, source: String) -> napi::Result<EngineGuard> {
        ready(|| Guard::compile(path, source))
    }

    /// Loads the bytes of a plan.
    #[napi(factory)]
    pub fn from_plan(plan: Buffer) -> napi::Result<EngineGuard> {
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
                "risk": words::risk(tool.risk),
                "irreversible": tool.irreversible,
                "served": tool.served.is_some(),
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
    pub fn contract(&self, name: String) -> napi::Result<EngineContract> {
        let contract = caught(|| self.guard.contract(&name).map_err(|error| Failure::from(&error)));
        let contract = contract.map_err(|failure| failure.thrown())?;
        Ok(EngineContract::new(self.guard.clone(), contract))
    }
}

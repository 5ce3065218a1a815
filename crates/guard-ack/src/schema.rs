//! The JSON Schema of the protocol.

use crate::protocol::{
    ApprovalAnswer, ApprovalRequest, Declared, Done, Hello, LoopEnd, ModelCall, ModelRequest,
    ModelTurn, Now, OfSession, ProbeAnswer, ProbeRead, ReplayAnswer, ReplayRequest, Reset, Restore,
    Run, SnapshotAnswer,
};
use serde_json::Value;

/// All messages by their methods, with requests and answers, for the schema.
#[derive(schemars::JsonSchema)]
#[schemars(rename = "ackp/1")]
#[allow(dead_code, missing_docs, reason = "only its schema is of use")]
struct Messages {
    hello: (Hello, Declared),
    run: (Run, LoopEnd),
    snapshot: (OfSession, SnapshotAnswer),
    restore: Restore,
    reset: Reset,
    replay: (ReplayRequest, ReplayAnswer),
    #[schemars(rename = "model.next")]
    model_next: (ModelRequest, ModelTurn),
    #[schemars(rename = "tool.execute")]
    tool_execute: (ModelCall, Done),
    #[schemars(rename = "clock.now")]
    clock_now: Now,
    #[schemars(rename = "approval.request")]
    approval_request: (ApprovalRequest, ApprovalAnswer),
    #[schemars(rename = "probe.read")]
    probe_read: (ProbeRead, ProbeAnswer),
}

/// Returns the JSON Schema of all messages: for each method the parameters and, if there is one,
/// the result.
pub fn schema() -> Value {
    schemars::schema_for!(Messages).to_value()
}

//! The JSON Schema of the protocol.

use crate::protocol::{
    Approval, ApprovalRequest, Ask, Call, Declared, Done, End, Hello, Now, OfSession, ProbeAnswer,
    ProbeRead, Replay, Replayed, Reset, Restore, Run, Snapshot, Turn,
};
use serde_json::Value;

/// Every message by its method: what is asked, and the answer. For the schema.
#[derive(schemars::JsonSchema)]
#[schemars(rename = "ackp/1")]
#[allow(dead_code, missing_docs, reason = "only its schema is of use")]
struct Messages {
    hello: (Hello, Declared),
    run: (Run, End),
    snapshot: (OfSession, Snapshot),
    restore: Restore,
    reset: Reset,
    replay: (Replay, Replayed),
    #[schemars(rename = "model.next")]
    model_next: (Ask, Turn),
    #[schemars(rename = "tool.execute")]
    tool_execute: (Call, Done),
    #[schemars(rename = "clock.now")]
    clock_now: Now,
    #[schemars(rename = "approval.request")]
    approval_request: (ApprovalRequest, Approval),
    #[schemars(rename = "probe.read")]
    probe_read: (ProbeRead, ProbeAnswer),
}

/// The JSON Schema of all messages: by method the parameters and, where there is one, the result.
pub fn schema() -> Value {
    schemars::schema_for!(Messages).to_value()
}

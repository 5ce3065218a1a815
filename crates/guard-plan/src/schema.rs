//! The JSON Schemas of all types that cross a process.

use crate::{advice, drive, encode, record, replayed, report, verdict};
use schemars::{JsonSchema, schema_for};
use serde_json::Value;

/// Returns each schema with its name, in a fixed order.
pub fn schemas() -> Vec<(&'static str, Value)> {
    fn of<T: JsonSchema>() -> Value {
        schema_for!(T).to_value()
    }
    vec![
        ("plan", of::<encode::Document>()),
        ("verdict", of::<verdict::Verdict>()),
        ("advice", of::<advice::Advice>()),
        ("drive-report", of::<drive::DriveReport>()),
        ("record-open", of::<record::Open<'static>>()),
        ("record-propose", of::<record::Propose<'static>>()),
        ("record-settle", of::<record::Settle<'static>>()),
        ("record-approve", of::<record::Approve<'static>>()),
        ("record-revoke", of::<record::Revoke<'static>>()),
        ("record-usage", of::<record::Usage<'static>>()),
        ("record-resume", of::<record::Resume<'static>>()),
        ("record-prompt", of::<record::Prompt<'static>>()),
        ("record-stop", of::<record::Stop<'static>>()),
        ("record-item", of::<record::Item<'static>>()),
        ("record-answers", of::<record::Answers<'static>>()),
        ("record-contract", of::<record::Judged<'static>>()),
        ("record-snapshot", of::<record::Snapshot<'static>>()),
        ("record-upgrade", of::<record::Upgrade<'static>>()),
        ("record-ledger", of::<record::Ledger<'static>>()),
        ("replay-report", of::<replayed::ReplayReport>()),
        ("report", of::<report::Report>()),
    ]
}

#[cfg(test)]
mod tests {
    #[test]
    fn schemas_are_objects() {
        for (name, schema) in super::schemas() {
            assert!(schema.get("$schema").is_some(), "{name}");
        }
    }
}

//! The JSON Schemas of all types that cross a process.

use crate::{advice, drive, encode, record, replayed, report, verdict};
use schemars::{JsonSchema, schema_for};
use serde_json::Value;

/// Returns each schema with its name, in a fixed order.
pub fn schemas() -> Vec<(&'static str, Value)> {
    fn schema<T: JsonSchema>() -> Value {
        schema_for!(T).to_value()
    }
    vec![
        ("plan", schema::<encode::Document>()),
        ("verdict", schema::<verdict::Verdict>()),
        ("advice", schema::<advice::Advice>()),
        ("drive-report", schema::<drive::DriveReport>()),
        ("record-open", schema::<record::Open<'static>>()),
        ("record-propose", schema::<record::Propose<'static>>()),
        ("record-settle", schema::<record::Settle<'static>>()),
        ("record-approve", schema::<record::Approve<'static>>()),
        ("record-revoke", schema::<record::Revoke<'static>>()),
        ("record-usage", schema::<record::Usage<'static>>()),
        ("record-resume", schema::<record::Resume<'static>>()),
        ("record-prompt", schema::<record::Prompt<'static>>()),
        ("record-stop", schema::<record::Stop<'static>>()),
        ("record-item", schema::<record::Item<'static>>()),
        ("record-answers", schema::<record::Answers<'static>>()),
        ("record-contract", schema::<record::Judged<'static>>()),
        ("record-snapshot", schema::<record::Snapshot<'static>>()),
        ("record-upgrade", schema::<record::Upgrade<'static>>()),
        ("record-ledger", schema::<record::Ledger<'static>>()),
        ("replay-report", schema::<replayed::ReplayReport>()),
        ("report", schema::<report::Report>()),
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

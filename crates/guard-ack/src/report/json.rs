//! The report for programs.

use super::{findings, rerun, tiers};
use crate::run::{Report, Verdict};
use serde_json::{Value, json};

/// Everything, in the order of the cases; the last member says that the report is whole.
pub fn json(report: &Report, command: &str) -> Value {
    let cases = report.outcomes.iter().map(|one| {
        let broken: Vec<Value> = match &one.verdict {
            Verdict::Failed(broken) => broken
                .iter()
                .map(|it| json!({ "clause": it.clause, "at": it.at, "expected": it.expected, "observed": it.observed }))
                .collect(),
            _ => Vec::new(),
        };
        let trouble = match &one.verdict {
            Verdict::Errored(trouble) => json!({ "kind": trouble.kind.word(), "message": trouble.message }),
            _ => Value::Null,
        };
        let skipped = match &one.verdict {
            Verdict::Skipped(missing) => json!(missing),
            _ => Value::Null,
        };
        json!({
            "case": one.name, "tier": one.tier, "clause": one.clause, "claim": one.claim,
            "outcome": one.verdict.word(), "known_failing": one.known, "broken": broken,
            "error": trouble, "not_declared": skipped,
            "log": if findings(one).is_empty() { json!([]) } else { json!(one.log) },
            "again": rerun(report, one, command),
        })
    });
    let unreadable = report.unreadable.iter().flat_map(|one| {
        one.problems.iter().map(|it| json!({ "file": one.file, "line": it.line, "message": it.message, "help": it.help }))
    });
    let tiers = tiers(report);
    let tiers = tiers.iter().map(|it| {
        json!({
            "tier": it.number, "name": it.name, "total": it.total, "passed": it.passed,
            "failed": it.failed, "errored": it.errored, "skipped": it.skipped,
        })
    });
    json!({
        "report": "guard-ack/1",
        "adapter": report.adapter,
        "suite": report.suite,
        "seed": report.seed,
        "tiers": tiers.collect::<Vec<_>>(),
        "cases": cases.collect::<Vec<_>>(),
        "unreadable": unreadable.collect::<Vec<_>>(),
        "closing": {
            "cases": report.outcomes.len(), "passed": report.count("passed"), "failed": report.count("failed"),
            "errored": report.count("errored"), "skipped": report.count("skipped"), "fine": report.is_fine(),
        },
    })
}

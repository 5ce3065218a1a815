//! The report for programs.

use super::{findings, rerun, tiers};
use crate::adapter::{AdapterTrouble, TroubleKind};
use crate::case::CaseProblem;
use crate::judge::BrokenPromise;
use crate::run::{AckReport, CaseOutcome, CaseVerdict};
use crate::suite::Unreadable;
use serde_json::{Value, json};

/// Returns the whole report, in the order of the cases; the last member marks the report as
/// complete.
pub fn json(report: &AckReport, command: &str) -> Value {
    let cases = report.outcomes.iter().map(|one| {
        let broken: Vec<Value> = match &one.verdict {
            CaseVerdict::Failed(broken) => broken
                .iter()
                .map(|it| json!({ "clause": it.clause, "at": it.at, "expected": it.expected, "observed": it.observed }))
                .collect(),
            _ => Vec::new(),
        };
        let trouble = one.trouble().map_or(Value::Null, |it| {
            json!({ "kind": it.kind.word(), "message": it.message })
        });
        let skipped = match &one.verdict {
            CaseVerdict::Skipped(missing) => json!(missing),
            _ => Value::Null,
        };
        json!({
            "case": one.name, "tier": one.tier, "clause": one.clause, "claim": one.claim,
            "outcome": one.verdict.word(), "known_failing": one.known, "broken": broken,
            "error": trouble, "not_declared": skipped,
            "log": if findings(one).is_empty() { json!([]) } else { json!(one.log) },
            "again": rerun(report, one, command), "hint": one.hint,
            "milliseconds": one.took, "passed_only_alone": one.is_flaky,
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
        "suite_version": report.version,
        "seed": report.seed,
        "milliseconds": report.took,
        "not_played": report.not_played,
        "command": command,
        "tiers": tiers.collect::<Vec<_>>(),
        "cases": cases.collect::<Vec<_>>(),
        "unreadable": unreadable.collect::<Vec<_>>(),
        "closing": {
            "cases": report.outcomes.len(), "passed": report.count("passed"), "failed": report.count("failed"),
            "errored": report.count("errored"), "skipped": report.count("skipped"), "fine": report.is_fine(),
        },
    })
}

/// Parses a report that was written by [`json()`], and its command.
///
/// # Errors
///
/// Returns an error if the text is not a complete report.
pub fn read(text: &str) -> Result<(AckReport, String), String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if value["report"] != "guard-ack/1" {
        return Err("it does not begin as one".into());
    }
    let cases = value["cases"].as_array().ok_or("it has no cases")?;
    if value["closing"]["cases"].as_u64() != Some(cases.len() as u64) {
        return Err("it is not whole: its closing line is missing or counts other cases".into());
    }
    let outcomes = cases.iter().map(outcome).collect::<Option<Vec<_>>>();
    let unreadable = value["unreadable"].as_array().into_iter().flatten().map(|one| Unreadable {
        name: string(&one["file"]),
        file: string(&one["file"]),
        problems: vec![CaseProblem {
            line: one["line"].as_u64().and_then(|line| usize::try_from(line).ok()).unwrap_or(0),
            message: string(&one["message"]),
            help: one["help"].as_str().map(str::to_owned),
        }],
    });
    let report = AckReport {
        adapter: serde_json::from_value(value["adapter"].clone())
            .map_err(|error| error.to_string())?,
        suite: string(&value["suite"]),
        version: string(&value["suite_version"]),
        took: value["milliseconds"].as_u64().unwrap_or(0),
        not_played: value["not_played"]
            .as_u64()
            .and_then(|it| usize::try_from(it).ok())
            .unwrap_or(0),
        seed: value["seed"].as_u64().ok_or("it has no seed")?,
        outcomes: outcomes.ok_or("a case in it cannot be read")?,
        unreadable: unreadable.collect(),
    };
    Ok((report, string(&value["command"])))
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn outcome(one: &Value) -> Option<CaseOutcome> {
    let broken = one["broken"].as_array()?.iter().map(|it| BrokenPromise {
        clause: string(&it["clause"]),
        at: string(&it["at"]),
        expected: string(&it["expected"]),
        observed: string(&it["observed"]),
    });
    let kind = one["error"]["kind"].as_str().and_then(TroubleKind::of);
    let trouble = kind.map(|kind| AdapterTrouble::new(kind, string(&one["error"]["message"])));
    let verdict = match one["outcome"].as_str()? {
        "passed" => CaseVerdict::Passed,
        "failed" => CaseVerdict::Failed(broken.collect()),
        "skipped" => CaseVerdict::Skipped(string(&one["not_declared"])),
        "errored" => CaseVerdict::Errored(trouble.clone()?),
        _ => return None,
    };
    Some(CaseOutcome {
        name: string(&one["case"]),
        clause: string(&one["clause"]),
        claim: string(&one["claim"]),
        tier: u8::try_from(one["tier"].as_u64()?).ok()?,
        trouble: trouble.filter(|_| matches!(verdict, CaseVerdict::Failed(_))),
        verdict,
        known: one["known_failing"].as_bool()?,
        hint: one["hint"].as_str().map(str::to_owned),
        took: one["milliseconds"].as_u64().unwrap_or(0),
        is_flaky: one["passed_only_alone"].as_bool().unwrap_or(false),
        log: one["log"].as_array()?.iter().map(string).collect(),
    })
}

//! The report for programs.

use super::{findings, rerun, tiers};
use crate::adapter::{AdapterTrouble, TroubleKind};
use crate::case::CaseProblem;
use crate::judge::BrokenPromise;
use crate::run::{AckReport, CaseOutcome, CaseVerdict};
use crate::suite::Unreadable;
use serde::Deserialize as _;
use serde_json::{Value, json};

/// Returns the whole report, in the order of the cases; the last member marks the report as
/// complete.
pub fn json(report: &AckReport, command: &str) -> Value {
    let cases = report.outcomes.iter().map(|outcome| {
        let broken = match &outcome.verdict {
            CaseVerdict::Failed(broken) => json!(broken),
            _ => json!([]),
        };
        let trouble = outcome.trouble().map_or(Value::Null, |trouble| {
            json!({ "kind": trouble.kind.word(), "message": trouble.message })
        });
        let skipped = match &outcome.verdict {
            CaseVerdict::Skipped(missing) => json!(missing),
            _ => Value::Null,
        };
        json!({
            "case": outcome.name, "tier": outcome.tier, "clause": outcome.clause, "claim": outcome.claim,
            "outcome": outcome.verdict.word(), "known_failing": outcome.known, "broken": broken,
            "error": trouble, "not_declared": skipped,
            "log": if findings(outcome).is_empty() { json!([]) } else { json!(outcome.log) },
            "again": rerun(report, outcome, command), "hint": outcome.hint,
            "milliseconds": outcome.took, "passed_only_alone": outcome.is_flaky,
        })
    });
    let unreadable = report.unreadable.iter().flat_map(|file| {
        file.problems.iter().map(|problem| json!({ "file": file.file, "line": problem.line, "message": problem.message, "help": problem.help }))
    });
    let tiers = tiers(report);
    let tiers = tiers.iter().map(|tier| {
        json!({
            "tier": tier.number, "name": tier.name, "total": tier.total, "passed": tier.passed,
            "failed": tier.failed, "errored": tier.errored, "skipped": tier.skipped,
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
    let unreadable = value["unreadable"].as_array().into_iter().flatten().map(|file| Unreadable {
        name: string(&file["file"]),
        file: string(&file["file"]),
        problems: vec![CaseProblem {
            line: file["line"].as_u64().and_then(|line| usize::try_from(line).ok()).unwrap_or(0),
            message: string(&file["message"]),
            help: file["help"].as_str().map(str::to_owned),
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
            .and_then(|count| usize::try_from(count).ok())
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

fn outcome(json: &Value) -> Option<CaseOutcome> {
    let broken = json["broken"].as_array()?.iter().map(|promise| BrokenPromise {
        clause: string(&promise["clause"]),
        at: string(&promise["at"]),
        expected: string(&promise["expected"]),
        observed: string(&promise["observed"]),
    });
    let kind = TroubleKind::deserialize(&json["error"]["kind"]).ok();
    let trouble = kind.map(|kind| AdapterTrouble::new(kind, string(&json["error"]["message"])));
    let verdict = match json["outcome"].as_str()? {
        "passed" => CaseVerdict::Passed,
        "failed" => CaseVerdict::Failed(broken.collect()),
        "skipped" => CaseVerdict::Skipped(string(&json["not_declared"])),
        "errored" => CaseVerdict::Errored(trouble.clone()?),
        _ => return None,
    };
    Some(CaseOutcome {
        name: string(&json["case"]),
        clause: string(&json["clause"]),
        claim: string(&json["claim"]),
        tier: u8::try_from(json["tier"].as_u64()?).ok()?,
        trouble: trouble.filter(|_| matches!(verdict, CaseVerdict::Failed(_))),
        verdict,
        known: json["known_failing"].as_bool()?,
        hint: json["hint"].as_str().map(str::to_owned),
        took: json["milliseconds"].as_u64().unwrap_or(0),
        is_flaky: json["passed_only_alone"].as_bool().unwrap_or(false),
        log: json["log"].as_array()?.iter().map(string).collect(),
    })
}

//! Results as one JSON object.

use super::{Results, ShownRule, TestedGuard, coverage};
use crate::commands::test::runner::TestResult;
use serde_json::{Value, json};

/// Formats `{suites, summary}`, pretty-printed.
pub fn render(results: &Results) -> String {
    let (ran, failed) = results.counts();
    let (seen, all) = results.sides();
    let object = json!({
        "suites": results.suites.iter().map(suite).collect::<Vec<_>>(),
        "summary": {
            "tests": ran,
            "passed": ran - failed,
            "failed": failed,
            "broken_guards": results.broken,
            "coverage": { "seen": seen, "sides": all, "percent": coverage::percent((seen, all)) },
        },
    });
    format!("{object:#}\n")
}

fn suite(suite: &TestedGuard) -> Value {
    json!({
        "file": suite.file,
        "guard": suite.guard,
        "tests": suite.ran.iter().map(test).collect::<Vec<_>>(),
        "rules": suite.rules.iter().map(rule).collect::<Vec<_>>(),
    })
}

fn test(ran: &TestResult) -> Value {
    let failure = ran.failure.as_ref().map(|failed| {
        json!({
            "at": failed.at,
            "step": failed.step,
            "beginning": failed.beginning,
            "expected": failed.expected,
            "got": failed.got,
            "reasons": failed.reasons,
            "values": failed.shows.iter().map(|(label, value)| json!({ "label": label, "value": value })).collect::<Vec<_>>(),
            "notes": failed.notes,
        })
    });
    json!({ "title": ran.title, "at": ran.at, "passed": ran.failure.is_none(), "steps": ran.steps, "failure": failure })
}

fn rule(shown: &ShownRule) -> Value {
    let refused = shown.rule.kind.two_sided().then_some(shown.rule.refused);
    json!({
        "kind": shown.rule.kind.word(),
        "at": shown.at,
        "text": shown.text,
        "passed": shown.rule.passed,
        "refused": refused,
    })
}

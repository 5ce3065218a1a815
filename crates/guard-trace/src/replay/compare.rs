//! Comparison of recorded and new verdicts.

use guard_plan::record::{Delivered, StopDecision};
use guard_plan::verdict::{Code, Reason, Verdict};

/// Returns true if two reasons are equal. The position of the rule is ignored.
pub(super) fn same_reason(a: &Reason, b: &Reason) -> bool {
    (a.code, a.decision) == (b.code, b.decision)
        && (&a.rule, &a.message, &a.help) == (&b.rule, &b.message, &b.help)
        && (&a.needs, &a.values) == (&b.needs, &b.values)
}

/// Returns true if two verdicts give the same reasons.
pub(super) fn same_reasons(a: &Verdict, b: &Verdict) -> bool {
    a.reasons.len() == b.reasons.len()
        && a.reasons.iter().zip(&b.reasons).all(|(a, b)| same_reason(a, b))
}

/// Returns the reasons that decide one of two verdicts and are not given for the other.
pub(super) fn deciding<'v>(verdict: &'v Verdict, beside: &Verdict) -> Vec<&'v Reason> {
    let new = |reason: &&Reason| {
        let rule = |other: &Reason| (other.code, &other.rule) == (reason.code, &reason.rule);
        reason.decision == verdict.decision && !beside.reasons.iter().any(rule)
    };
    let mut found: Vec<&Reason> = verdict.reasons.iter().filter(new).collect();
    // An evaluation error, perhaps from a missing answer, is irrelevant if another reason decides.
    if found.iter().any(|reason| reason.code != Code::EvaluationError) {
        found.retain(|reason| reason.code != Code::EvaluationError);
    }
    if found.is_empty() {
        found.extend(verdict.reasons.iter().find(|reason| reason.decision == verdict.decision));
    }
    found
}

/// Returns true if the agent received the same feedback.
pub(super) fn same_feedback(a: &[Delivered], b: &[Delivered]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.text == b.text)
}

/// Returns a word for a stop decision.
pub(super) fn mark_of(decision: StopDecision, incomplete: bool) -> &'static str {
    match (decision, incomplete) {
        (StopDecision::Block, _) => "block",
        (StopDecision::Allow, true) => "incomplete",
        (StopDecision::Allow, false) => "allow",
    }
}

/// Lists the members in which two records differ; those of the payload individually.
pub(super) fn parts(a: &[u8], b: &[u8]) -> String {
    let read = |line| serde_json::from_slice::<serde_json::Value>(line).unwrap_or_default();
    let mut a = read(a);
    let mut b = read(b);
    let mut differing = Vec::new();
    let pa = a["payload"].take();
    let pb = b["payload"].take();
    for (a, b) in [(&pa, &pb), (&a, &b)] {
        let empty = serde_json::Map::new();
        let a = a.as_object().unwrap_or(&empty);
        let b = b.as_object().unwrap_or(&empty);
        let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
        let other = |name: &&String| a.get(*name) != b.get(*name) && *name != "hash";
        differing.extend(names.filter(other).map(|name| format!("`{name}`")));
    }
    if differing.is_empty() { "the way it is written".into() } else { differing.join(", ") }
}

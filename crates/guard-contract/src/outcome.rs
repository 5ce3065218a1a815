//! The report on a text.

use crate::draft::Draft;
use crate::engine::Finished;
use crate::input::Input;
use crate::shape::PreparedContract;
use guard_plan::json::Json;
use guard_plan::plan::{Allowed, Root};
use guard_plan::report::{QuarantineReason, RawText, Report, State};
use std::collections::BTreeMap;

/// The finish reasons of a text that ended by itself.
const ENDED: [&str; 14] = [
    "stop",
    "end_turn",
    "stop_sequence",
    "stop_token",
    "tool_use",
    "tool_calls",
    "tool_call",
    "function_call",
    "eos",
    "eos_token",
    "complete",
    "completed",
    "done",
    "finished",
];

/// The finish reasons of a text that was cut off.
const CUT: [&str; 21] = [
    "length",
    "max_tokens",
    "max_output_tokens",
    "max_completion_tokens",
    "model_length",
    "token_limit",
    "model_context_window_exceeded",
    "incomplete",
    "content_filter",
    "content_filtered",
    "guardrail_intervened",
    "safety",
    "recitation",
    "refusal",
    "pause_turn",
    "error",
    "timeout",
    "cancelled",
    "canceled",
    "aborted",
    "interrupted",
];

/// Every finish reason that is known.
pub fn finish_reasons() -> impl Iterator<Item = &'static str> {
    ENDED.into_iter().chain(CUT)
}

/// Returns true if a finish reason means that the text was cut off; `None` if the reason is
/// unknown. A text with an unknown finish reason is never `valid`.
pub fn finish(reason: &str) -> Option<bool> {
    let is = |known: &&str| known.eq_ignore_ascii_case(reason.trim());
    let cut = CUT.iter().any(&is);
    let ended = ENDED.iter().any(is);
    (cut || ended).then_some(cut)
}

/// Returns true if a finish reason means that the text was cut off.
fn says_cut(reason: Option<&str>) -> bool {
    reason.and_then(finish).unwrap_or(false)
}

/// Builds the report.
pub(crate) fn report(
    p: &PreparedContract,
    read: Finished,
    input: &Input<'_>,
    text: RawText,
) -> Report {
    let Finished { draft, passed, marks, cut, leftover, prose, length } = read;
    let found = draft.is_some();
    let mut draft = draft.unwrap_or_else(|| {
        let mut draft = Draft::new(p);
        draft.finish(p);
        draft
    });
    let truncated = draft.truncated || cut || says_cut(input.finish_reason);
    let kept = draft.kept();
    let total = draft.total();
    let held = draft.members.iter().any(Option::is_some);
    let nothing = kept == 0 && (total > 0 || (!held && !draft.problems.is_empty()));
    let alone = match (draft.framed && total > 0, p.contract.root) {
        (true, Root::Items) => Some("items without their list"),
        (true, _) if prose => Some("items without an envelope are mixed with prose"),
        (false, _) if prose && draft.loose => {
            Some("items outside of their list are mixed with other text")
        }
        _ => None,
    };
    let alone = alone.map(|why| (draft.start, why));
    let left = leftover.map(|at| (at, "text outside of the document seems to belong to it"));
    // Missing brackets at the end of a cut text add no information.
    let doubt = draft.doubt.filter(|(at, _)| !truncated || *at < length);
    if let Some((at, why)) = left.or(doubt).or(alone).filter(|_| found) {
        draft.problem("", QuarantineReason::Malformed, format!("{why}, at byte {at}"));
    }
    if let Some(reason) = input.finish_reason.filter(|reason| finish(reason).is_none()) {
        let reason = guard_plan::render::cut(reason, 60);
        draft.problem("", QuarantineReason::Truncated, format!("unknown finish reason `{reason}`"));
    }
    let unchecked = unchecked(p, input);
    let lossless = draft.quarantined_count == 0
        && draft.problems.is_empty()
        && !truncated
        && passed.is_empty()
        && unchecked.is_empty();
    let state = match (found, nothing, lossless) {
        (false, ..) | (_, true, _) => State::Lost,
        (_, _, true) => State::Valid,
        _ => State::Partial,
    };
    draft.quarantined.sort_by(|a, b| (a.at, &a.list, a.index).cmp(&(b.at, &b.list, b.index)));
    draft.repairs.listed.sort();
    let members = p.fields.iter().zip(std::mem::take(&mut draft.members));
    let envelope =
        members.filter_map(|(field, value)| Some((field.name.as_str().into(), value?))).collect();
    let lists = draft.lists.into_iter().enumerate();
    let items: BTreeMap<_, _> = lists
        .filter(|(at, _)| p.lists[*at].within.is_none())
        .map(|(at, keep)| (p.lists[at].name.clone(), keep.finish()))
        .collect();
    Report {
        contract: p.contract.name.clone(),
        root: p.contract.root,
        state,
        review_required: state != State::Valid
            || draft.repairs.count > 0
            || draft.resynchronised
            || !passed.is_empty(),
        truncated,
        envelope: Json::Object(envelope),
        problems: draft.problems,
        items,
        quarantined: draft.quarantined,
        quarantined_count: draft.quarantined_count,
        repairs: draft.repairs.listed,
        repairs_count: draft.repairs.count,
        unchecked,
        passed_over: passed,
        spans: marks.spans(length),
        text,
    }
}

/// Returns the references for which the host provides no list.
fn unchecked(p: &PreparedContract, input: &Input<'_>) -> Vec<String> {
    let given = p.contract.references.iter().filter(|reference| match &reference.allowed {
        Allowed::Given(name) => input.known.given(name, &Json::Null).is_none(),
        _ => false,
    });
    given.map(|reference| reference.text.clone()).collect()
}

//! The report on a text.

use crate::checker::Input;
use crate::draft::Draft;
use crate::engine::Finished;
use crate::feed::Text;
use crate::shape::Prepared;
use guard_plan::json::Json;
use guard_plan::plan::Allowed;
use guard_plan::report::{Report, State};
use std::collections::BTreeMap;

/// The finish reasons of a cut text.
const CUT: [&str; 6] = [
    "length",
    "max_tokens",
    "max_output_tokens",
    "model_length",
    "token_limit",
    "model_context_window_exceeded",
];

/// Returns whether a finish reason means that the text was cut.
fn says_cut(reason: Option<&str>) -> bool {
    reason.is_some_and(|reason| CUT.iter().any(|cut| cut.eq_ignore_ascii_case(reason.trim())))
}

/// The report.
pub(crate) fn report(p: &Prepared, read: Finished, input: &Input<'_>, text: Text) -> Report {
    let Finished { draft, passed, marks, cut } = read;
    let text = text.finish();
    let found = draft.is_some();
    let mut draft = draft.unwrap_or_else(|| {
        let mut draft = Draft::new(p);
        draft.finish(p);
        draft
    });
    let truncated = draft.truncated || cut || says_cut(input.finish_reason);
    let (kept, total) = (draft.kept(), draft.total());
    let held = draft.members.iter().any(Option::is_some);
    let nothing = kept == 0 && (total > 0 || (!held && !draft.problems.is_empty()));
    let elsewhere = passed.iter().any(|passed| passed.units > 0);
    let lossless =
        draft.quarantined_count == 0 && draft.problems.is_empty() && !truncated && !elsewhere;
    let state = match (found, nothing, lossless) {
        (false, ..) | (_, true, _) => State::Lost,
        (_, _, true) => State::Valid,
        _ => State::Partial,
    };
    draft.quarantined.sort_by(|a, b| (a.at, &a.list, a.index).cmp(&(b.at, &b.list, b.index)));
    draft.repairs.sort();
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
        state,
        review_required: state != State::Valid
            || draft.repairs_count > 0
            || draft.resynchronised
            || !passed.is_empty(),
        truncated,
        envelope: Json::Object(envelope),
        problems: draft.problems,
        items,
        quarantined: draft.quarantined,
        quarantined_count: draft.quarantined_count,
        repairs: draft.repairs,
        repairs_count: draft.repairs_count,
        unchecked: unchecked(p, input),
        passed_over: passed,
        spans: marks.spans(text.length as usize),
        text,
    }
}

/// Returns the references for which the host provides no list.
fn unchecked(p: &Prepared, input: &Input<'_>) -> Vec<String> {
    let given = p.contract.references.iter().filter(|reference| match &reference.allowed {
        Allowed::Given(name) => input.known.given(name, &Json::Null).is_none(),
        _ => false,
    });
    given.map(|reference| reference.text.clone()).collect()
}

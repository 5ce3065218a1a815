//! The parts of a result that are trusted under a condition (semantics §8).

use super::after::AfterCall;
use super::part;
use crate::compiled::CompiledPlan;
use crate::compiled::prepare;
use crate::outcome::Settled;
use crate::session::SessionState;
use guard_plan::json::Json;
use guard_plan::origin::Vouched;
use guard_plan::record::NoteKind;
use guard_plan::trust::{Level, Stain};
use guard_plan::value::Fault;

/// Returns true if the condition of an endorsement reads nothing untrusted.
pub(super) fn counts(endorsement: &prepare::Vouching, stains: &[Stain]) -> bool {
    guard_proof::mutant!("a text may vouch for itself")
        || endorsement.reading.level(stains) != Some(Level::Untrusted)
}

/// Returns the parts of a result that the endorsements of a tool vouch for, if a rule asks about
/// origins.
pub(super) fn vouched<'j>(
    compiled: &CompiledPlan,
    session: &SessionState,
    after: &AfterCall<'_>,
    raw: &'j Json,
    settled: &mut Settled,
) -> Vouched<'j> {
    let mut vouched = Vouched::default();
    let call = after.call;
    if !compiled.plan().origins {
        return vouched;
    }
    for (endorsement, ready) in call.tool.endorsements.iter().zip(&call.ready.endorsements) {
        let part = &endorsement.part;
        if !counts(ready, &session.stains) {
            let message = format!("`{part}` is not trusted: its condition reads untrusted values");
            settled.note(NoteKind::Warning, &endorsement.rule.owner, message);
            continue;
        }
        let mut fault: Option<Fault> = None;
        let walked = after.read(compiled, session, |cx| {
            part::each(cx, part, &ready.ranges, raw, &mut |element| {
                let holds = ready.when.as_ref().map_or(Ok(true), |when| {
                    cx.eval_in(when, element.scope).and_then(|holds| holds.truth())
                });
                match holds {
                    Ok(holds) if holds || guard_proof::mutant!("no condition endorses") => {
                        vouched.add(element.json, element.rest, endorsement.extractor);
                    }
                    Ok(_) => {}
                    Err(found) => _ = fault.get_or_insert(found),
                }
            })
        });
        if let Some(fault) = fault.or(walked.err()) {
            let message = format!("`{part}` is not trusted as a whole: {fault}");
            settled.note(NoteKind::Warning, &endorsement.rule.owner, message);
        }
    }
    vouched
}

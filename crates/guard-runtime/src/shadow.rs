//! `shadow 1/N`: on every Nth decision the plan as lowered decides beside the optimized one.
//!
//! Both read the same session and get the same answers. If they differ in verdict, reasons, or
//! changes, the call is denied with a separate code, and the session stays on the full plan
//! (semantics §16). The watched decisions depend only on their numbers, so a replay watches the
//! same ones.

use crate::compiled::CompiledPlan;
use crate::decide;
use crate::error::KernelError;
use crate::eval::context::{Context, DecisionResources};
use crate::event::Proposal;
use crate::outcome::Settled;
use crate::session::SessionState;
use crate::session::flight::{InFlight, PendingWrites};

use crate::world::WorldQuestions;
use guard_plan::plan::{LimitId, Plan, UnitId, VarId};
use guard_plan::record::{Note, NoteKind};
use guard_plan::value::Value;
use guard_plan::verdict::{self, Code, Verdict};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// The full plan beside the optimized one.
#[derive(Debug)]
pub(crate) struct Shadow {
    pub full: CompiledPlan,
    every: NonZeroU32,
}

/// The changes that a call would make.
#[derive(PartialEq)]
struct Changes {
    state: BTreeMap<VarId, Value>,
    charges: BTreeMap<UnitId, i64>,
    returned: BTreeMap<UnitId, i64>,
    counted: Vec<(LimitId, Option<Vec<u8>>)>,
    approvals: Vec<usize>,
    keys: Vec<Vec<u8>>,
}

impl Shadow {
    /// Returns a shadow: the full plan decides beside the optimized one on every `every`th
    /// decision.
    pub fn new(
        full: CompiledPlan,
        optimized: &CompiledPlan,
        every: NonZeroU32,
    ) -> Result<Shadow, KernelError> {
        match differs(full.plan(), optimized.plan()) {
            Some(difference) => Err(KernelError::Shadow(difference)),
            None => Ok(Shadow { full, every }),
        }
    }

    /// Returns true if an event with this number is watched.
    fn watches(&self, number: u64) -> bool {
        number.is_multiple_of(self.every.get().into())
    }
}

/// Decides a call, twice if it is watched. After a mismatch the session stays on the full plan.
pub(crate) fn decide_watched(
    compiled: &CompiledPlan,
    shadow: Option<&Shadow>,
    session: &mut SessionState,
    proposal: &Proposal<'_>,
    answers: &dyn WorldQuestions,
    flight: &mut InFlight,
) -> Verdict {
    session.decisions += 1;
    let verdict = decide::decide(compiled, session, proposal, answers, flight);
    let watching = shadow.filter(|shadow| shadow.watches(session.decisions));
    let Some(shadow) = watching else { return verdict };
    let mut other = InFlight::default();
    let mut full = decide::decide(&shadow.full, session, proposal, answers, &mut other);
    let same = verdict == full && changes(session, &flight.draft) == changes(session, &other.draft);
    if same {
        return verdict;
    }
    session.full = true;
    // Where the guard is in shadow the call goes on, with the writes of the full plan.
    *flight = other;
    let decision = DecisionResources::default();
    let context = Context::new(compiled, session, &decision, answers);
    let message = "the optimized plan and the full plan decide this call differently".into();
    let mut reason = context.reason_at(Code::PlanMismatch, proposal.tool, None, message);
    reason.help = "from here on the session stays on the full plan: call again".into();
    if shadow.full.plan().shadow {
        full.shadowed.push(reason);
        return full;
    }
    // The full plan takes over with the next event, so the call is refused and made again (§16).
    Verdict { decision: verdict::Decision::Deny, reasons: vec![reason], shadowed: full.shadowed }
}

/// Watches a settlement and fills in its outcome. If the plans differ, the outcome of the full plan
/// is used and the difference is noted.
pub(crate) fn settle_watched(
    compiled: &CompiledPlan,
    shadow: Option<&Shadow>,
    session: &mut SessionState,
    settled: &mut Settled,
    settle: impl Fn(&CompiledPlan, &mut SessionState, &mut Settled),
) {
    let watching = shadow.filter(|shadow| shadow.watches(session.settlements + 1));
    let Some(shadow) = watching else { return settle(compiled, session, settled) };
    let mut other = session.clone();
    settle(compiled, session, settled);
    let mut full = Settled::default();
    settle(&shadow.full, &mut other, &mut full);
    let same = *settled == full
        && session.state == other.state
        && session.changes == other.changes
        && session.monitors == other.monitors
        && session.halted == other.halted;
    if same {
        return;
    }
    other.full = true;
    *session = other;
    let message = "the optimized plan and the full plan settle this call differently";
    full.notes.push(Note {
        kind: NoteKind::Mismatch,
        rule: "plan".into(),
        message: message.into(),
    });
    *settled = full;
}

/// Returns the changes that an allowed call would make, independent of the way they were drafted.
fn changes(session: &SessionState, draft: &PendingWrites) -> Changes {
    let mut draft = draft.clone();
    let mut state: BTreeMap<VarId, Value> = draft.writes.iter().cloned().collect();
    for at in 0..draft.parts.len() {
        let var = draft.parts[at].var;
        let mut whole = session.state[var as usize].clone();
        draft.write_part(at, &mut whole);
        state.insert(var, whole);
    }
    let counted = draft
        .counted
        .iter()
        .map(|(limit, span)| (*limit, span.map(|span| draft.key(span).to_vec())));
    Changes {
        state,
        charges: draft.charges.iter().copied().collect(),
        returned: draft.returned.iter().copied().collect(),
        counted: counted.collect(),
        approvals: draft.approvals.clone(),
        keys: draft.keys.iter().map(|span| draft.key(*span).to_vec()).collect(),
    }
}

/// Returns the difference that prevents two plans from sharing a session; `None` if they have the
/// same memories under the same numbers.
fn differs(full: &Plan, optimized: &Plan) -> Option<String> {
    let tools = full.tools.len() == optimized.tools.len()
        && full.tools.iter().zip(&optimized.tools).all(|(a, b)| {
            (&a.name, &a.wire_name, &a.indexes, &a.windows)
                == (&b.name, &b.wire_name, &b.indexes, &b.windows)
                && a.params.len() == b.params.len()
                && (a.keeps_args, a.keeps_result) == (b.keeps_args, b.keeps_result)
        });
    let same = [
        ("guard", full.guard == optimized.guard && full.shadow == optimized.shadow),
        ("tools", tools),
        ("state", full.state == optimized.state),
        ("units", full.units == optimized.units),
        ("limits", full.limits == optimized.limits),
        ("paths", full.paths == optimized.paths),
        ("memories", full.indexes == optimized.indexes && full.windows == optimized.windows),
        ("monitors", full.monitors.len() == optimized.monitors.len()),
        (
            "facts",
            full.facts == optimized.facts
                && full.origins == optimized.origins
                && full.mentions == optimized.mentions
                && full.confidential == optimized.confidential,
        ),
        ("probes", full.probes == optimized.probes),
        ("lifecycles", full.lifecycles == optimized.lifecycles),
        ("feedback", full.feedback.len() == optimized.feedback.len()),
    ];
    same.iter().find(|(_, same)| !same).map(|(what, _)| (*what).to_owned())
}

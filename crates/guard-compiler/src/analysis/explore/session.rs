//! Sessions that exploration gives out: what happened, what was said of it, and how to play it again.
//!
//! A session is data. Nothing that searched for it is needed to replay it.

use crate::analysis::reference::{Ask, Outline, ReferenceSession};
use crate::hir::{ExprKind, Program};
use guard_plan::json::Json;
use guard_plan::verdict::Decision;
use std::collections::BTreeSet;

/// A day, in milliseconds.
const DAY: i64 = 86_400_000;

/// The start of every explored session: Monday, 2026-01-05, nine o'clock UTC, as in `test` blocks. In milliseconds
/// since 1970.
pub const START: i64 = 1_767_603_600_000;
/// Returns the start of the explored sessions of guards, in milliseconds since 1970: [`START`], or a day before the earliest
/// time that they compare with `now`. Time only passes, so later ones are reached by waiting.
pub(crate) fn start_of<'p>(programs: impl IntoIterator<Item = &'p Program>) -> i64 {
    let named = programs.into_iter().flat_map(named_times);
    named.map(|time| time - DAY).fold(START, i64::min)
}

/// The times that a guard compares with `now`.
pub(super) fn named_times(program: &Program) -> BTreeSet<i64> {
    let mut named = BTreeSet::new();
    super::rules::each_condition(program, &mut |root| {
        root.walk(&mut |e| {
            if !matches!(e.kind, ExprKind::Compare(..)) {
                return;
            }
            let mut reads = false;
            let mut times = Vec::new();
            e.walk(&mut |part| match &part.kind {
                ExprKind::Now => reads = true,
                ExprKind::Time(time) => times.push(*time),
                _ => {}
            });
            named.extend(times.into_iter().filter(|_| reads));
        });
    });
    named
}

/// The workspace of every explored session.
pub const WORKSPACE: &str = "/workspace";

/// A session from its beginning.
#[derive(Debug, Clone, PartialEq)]
pub struct ExploredSession {
    /// When it begins, in milliseconds since 1970.
    pub start: i64,
    /// What the host gives at the start.
    pub data: Option<Json>,
    /// What happens, in order.
    pub steps: Vec<SessionStep>,
}

/// Something that happens, in a world that answers so.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionStep {
    /// What the world says if it is asked; it is asked nothing else.
    pub world: Vec<(Ask, Json)>,
    /// What happens.
    pub act: Act,
    /// What was said of it.
    pub said: StepReply,
    /// The variables it changed: name, before and after as text.
    pub changes: Vec<(String, String, String)>,
}

/// An event of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// A call is proposed; allowed, it goes on so.
    Call {
        /// Its id.
        id: String,
        /// The tool's wire name.
        tool: String,
        /// The arguments.
        args: Json,
        /// What becomes of it where it is allowed.
        then: ExploredEnding,
    },
    /// A call in flight settles.
    Settle(String, ExploredEnding),
    /// Somebody approves exactly this call.
    Approve {
        /// The tool's wire name.
        tool: String,
        /// The arguments.
        args: Json,
        /// By whom.
        role: String,
    },
    /// So many milliseconds pass.
    Wait(i64),
    /// The user speaks.
    Prompt(String),
    /// The host reports use of a unit, in units of 10⁻⁶.
    Usage(String, i64),
    /// A halt ends.
    Resume,
    /// The harness looks at the criteria of an item.
    Verify(String),
    /// The harness moves an item by a transition.
    Move(String, String),
    /// The agent would stop.
    Stop,
}

/// The ending of an allowed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExploredEnding {
    /// It succeeds, with this result.
    Succeeds(Option<Json>),
    /// It succeeds, and nobody can read its result.
    Unreadable,
    /// It fails.
    Fails,
    /// It stays in flight.
    Flies,
}

/// The guard's reply to a step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepReply {
    /// Of a proposal: the decision; of a stop: allow or deny.
    pub decision: Option<Decision>,
    /// The reasons in effect.
    pub reasons: Vec<Outline>,
    /// Reasons of rules in shadow.
    pub shadowed: Vec<Outline>,
    /// What a stop lacks; what an event noted: `halt`, `warning`, each with its rule.
    pub notes: Vec<String>,
    /// Who gave feedback.
    pub feedback: Vec<String>,
}

impl ExploredSession {
    /// Returns the number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns true if the session has no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Plays it again from the start; whether everything is said of it that it says itself.
    pub fn replays(&self, program: &Program) -> bool {
        let opened = ReferenceSession::open(program, self.start, WORKSPACE, self.data.as_ref());
        opened.is_ok_and(|session| self.replays_in(session))
    }

    /// The same where a session of the guard is at hand.
    pub(crate) fn replays_like(&self, other: &ReferenceSession<'_>) -> bool {
        let opened = other.open_another(self.start, self.data.as_ref());
        opened.is_ok_and(|session| self.replays_in(session))
    }

    fn replays_in(&self, mut session: ReferenceSession<'_>) -> bool {
        self.steps.iter().all(|step| perform(&mut session, step) == Some(step.said.clone()))
    }

    /// The session with the variables that each step changes, where it replays under the guard of another session.
    pub(crate) fn with_changes(mut self, other: &ReferenceSession<'_>) -> ExploredSession {
        let opened = other.open_another(self.start, self.data.as_ref());
        let Ok(mut session) = opened else { return self };
        for step in &mut self.steps {
            let before = session.committed();
            if perform(&mut session, step).is_none() {
                break;
            }
            step.changes = session.changes_since(&before);
        }
        self
    }

    /// The last thing that was said of a call or a stop.
    pub fn verdict(&self) -> Option<&StepReply> {
        self.steps.last().map(|step| &step.said)
    }
}

/// Returns the id of the call that is the event at this place.
pub(crate) fn call_id(at: usize) -> String {
    format!("call-{}", at + 1)
}

/// Does a step; none where it cannot be done.
pub(crate) fn perform(session: &mut ReferenceSession, step: &SessionStep) -> Option<StepReply> {
    act(session, &step.act, &|ask| answered(&step.world, ask))
}

/// The answer to a question among those that are known.
pub(crate) fn answered(world: &[(Ask, Json)], ask: &Ask) -> Option<Json> {
    world.iter().find(|(known, _)| known == ask).map(|(_, answer)| answer.clone())
}

/// Lets something happen in a world.
pub(crate) fn act(
    session: &mut ReferenceSession,
    act: &Act,
    world: &dyn Fn(&Ask) -> Option<Json>,
) -> Option<StepReply> {
    let now = session.clock_at().0;
    let mut said = StepReply::default();
    match act {
        Act::Call { id, tool, args, then } => return call(session, id, (tool, args, then), world),
        Act::Settle(id, then) => said.settle(session, id, then, world)?,
        Act::Approve { tool, args, role } => session.approve(tool, args, role, None, now).ok()?,
        Act::Wait(millis) => session.wait_until(now.saturating_add(*millis)),
        Act::Prompt(text) => said.hear(&session.prompt(text, now, world).ok()?),
        Act::Usage(unit, amount) => session.usage(unit, *amount, now).ok()?,
        Act::Resume => session.resume(now).ok()?,
        Act::Verify(item) => {
            let change = session.verify(item, now, world).ok()?;
            said.notes.push(format!("{} is {}", change.item, change.after));
        }
        Act::Move(item, transition) => {
            let change = session.move_item(item, transition, "harness", None, now).ok()?;
            said.notes.push(format!("{} is {}", change.item, change.after));
        }
        Act::Stop => {
            let stop = session.stop(now, world);
            said.decision = Some(if stop.allowed { Decision::Allow } else { Decision::Deny });
            said.notes.extend(stop.bypassed.iter().map(|why| format!("bypassed: {why}")));
            said.notes.extend(stop.missing.iter().map(|lacks| lacks.text.clone()));
            if stop.incomplete {
                said.notes.push("incomplete".into());
            }
        }
    }
    Some(said)
}

/// Proposes a call under this id, and settles it so where it is allowed.
pub(crate) fn call(
    session: &mut ReferenceSession,
    id: &str,
    (tool, args, then): (&str, &Json, &ExploredEnding),
    world: &dyn Fn(&Ask) -> Option<Json>,
) -> Option<StepReply> {
    let now = session.clock_at().0;
    let judged = session.propose(id, tool, args, now, world).ok()?;
    let mut said = StepReply { decision: Some(judged.decision), ..StepReply::default() };
    (said.reasons, said.shadowed) = (judged.reasons, judged.shadowed);
    said.hear(&judged.outcome);
    // The kernel answers a served call itself: such a call has settled by now.
    if judged.decision == Decision::Allow && judged.outcome.served.is_none() {
        said.settle(session, id, then, world)?;
    }
    Some(said)
}

impl StepReply {
    fn hear(&mut self, outcome: &crate::analysis::reference::EventEffects) {
        let note = |(kind, rule): &(guard_plan::record::NoteKind, String)| {
            format!("{}: {rule}", format!("{kind:?}").to_lowercase())
        };
        self.notes.extend(outcome.notes.iter().map(note));
        self.feedback.extend(outcome.feedback.iter().map(|f| f.provider.clone()));
        self.notes.extend(outcome.items.iter().map(|c| format!("{} is {}", c.item, c.after)));
    }

    fn settle(
        &mut self,
        session: &mut ReferenceSession,
        id: &str,
        then: &ExploredEnding,
        world: &dyn Fn(&Ask) -> Option<Json>,
    ) -> Option<()> {
        let now = session.clock_at().0;
        let (success, result) = match then {
            ExploredEnding::Succeeds(result) => (true, result.as_ref()),
            ExploredEnding::Fails => (false, None),
            ExploredEnding::Unreadable => (true, None),
            ExploredEnding::Flies => return Some(()),
        };
        let outcome = match then {
            ExploredEnding::Unreadable => session.settle_unreadable(id, "", now, world),
            _ => session.settle(id, success, result, now, world),
        };
        let outcome = outcome.ok()?;
        self.hear(&outcome);
        Some(())
    }
}

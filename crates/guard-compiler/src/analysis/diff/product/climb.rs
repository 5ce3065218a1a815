//! Climbing towards a call that differs: few rules of the lenient guard refuse it, and some of the other do.

use super::comparison::{ChangeDirection, JudgedCall, rank};
use super::known::PairSessions;
use super::{Product, Witness};
use crate::analysis::explore::climb::{
    Climber, PlayedSession, Ratings, Score, SessionDraft, distance, remove_entry, values_of,
};
use crate::analysis::explore::search::step;
use crate::analysis::explore::session::{
    Act, ExploredEnding, ExploredSession, StepReply, WORKSPACE, act, call_id,
};
use crate::analysis::explore::world::Oracle;
use crate::analysis::reference::ReferenceSession;
use crate::analysis::reference::distance::RULE;
use guard_plan::json::Json;

/// Most entries that are left out of a witness on trial.
const MOST_ENTRIES: usize = 200;

impl<'s, 'p> Product<'s, 'p> {
    /// Looks for what is still missing.
    pub(super) fn climb(&mut self, known: &mut PairSessions<'s, 'p>) {
        if self.done() {
            return;
        }
        let tools = self.tools(known);
        let (mut climber, mut drafts) = known.begin(&tools);
        drafts.extend(self.seeds.iter().flat_map(|acts| climber.prefixes(acts)));
        for way in [ChangeDirection::Looser, ChangeDirection::Tighter] {
            if self.missing(way) && !(self.stop)() {
                let before = climber.judged;
                self.climb_towards(way, &mut climber, drafts.clone());
                self.climbed = self.climbed.max(climber.judged - before);
            }
        }
        self.judged += climber.judged;
    }

    fn climb_towards(
        &mut self,
        way: ChangeDirection,
        climber: &mut Climber<'_, 'p>,
        drafts: Vec<SessionDraft>,
    ) {
        let old = self.old;
        let new = self.new;
        let wire = self.wire;
        let stop = self.stop;
        climber.climb(drafts, self.climbs, stop, &mut |played, args, verdicts, oracle| {
            let known = |side: &super::Side| side.tool(wire).is_some();
            let judged = |at: usize, side: &super::Side<'p>| match &verdicts[at] {
                Some(verdict) => JudgedCall::Said(Box::new(verdict.said.clone())),
                None => JudgedCall::Unread(!side.program.default_allow || known(side)),
            };
            let before = judged(0, old);
            let after = judged(1, new);
            let changed = ChangeDirection::between(before.rank(), after.rank());
            let wanted = changed.is_some_and(|changed| changed == way || self.missing(changed));
            if wanted && self.keep(played, args, oracle) && changed == Some(way) {
                return Score::Found;
            }
            Score::Distance(apart(verdicts, way))
        });
    }

    /// Keeps the session as a witness, without what it does not need; false where it does not replay.
    fn keep(&mut self, played: &PlayedSession<'p>, args: &Json, oracle: &Oracle<'p>) -> bool {
        let mut session = played.session();
        let what = Act::Call {
            id: call_id(session.len()),
            tool: self.wire.to_string(),
            args: args.clone(),
            then: ExploredEnding::Flies,
        };
        let mut before = played.states[0].clone();
        let Some(done) = step(&mut before, what, &oracle.again()) else { return false };
        session.steps.push(done);
        let Some(witness) = self.replayed(&session, oracle) else { return false };
        let witness = self.shortened(witness, oracle);
        let way = direction(&witness);
        self.found[way as usize] = Some(witness);
        true
    }
}

/// The direction in which the last verdict of a witness changed.
fn direction(witness: &Witness) -> ChangeDirection {
    let rank_of = |said: &StepReply| rank(said.decision, &said.reasons);
    let old = witness.session.verdict().map_or(2, rank_of);
    ChangeDirection::between(old, rank_of(&witness.new)).unwrap_or(ChangeDirection::Tighter)
}

/// Returns an estimate of the distance between a call and a difference of the verdicts: that of the lenient guard from
/// allowing it, and that of the other from refusing it by more rules.
fn apart(verdicts: &Ratings, way: ChangeDirection) -> u32 {
    let unmet = |at: usize| verdicts[at].as_ref().map_or(99, |verdict| verdict.said.unmet);
    let (strict, lenient) = match way {
        ChangeDirection::Looser => (0, 1),
        ChangeDirection::Tighter => (1, 0),
    };
    let parts = verdicts[strict].as_ref().and_then(|verdict| verdict.to_refusal);
    let to_refusal = if unmet(strict) > unmet(lenient) {
        0
    } else {
        parts.map_or(RULE / 2, |parts| (2 * parts).min(RULE / 2))
    };
    distance(&verdicts[lenient]) + to_refusal
}

impl<'s, 'p> Product<'s, 'p> {
    /// Plays a session on both guards anew, with what each says now; a witness if only the last step differs.
    fn replayed(&self, session: &ExploredSession, oracle: &Oracle<'p>) -> Option<Witness> {
        let open = |program| {
            ReferenceSession::open(program, session.start, WORKSPACE, session.data.as_ref())
        };
        let mut before = open(self.old.program).ok()?;
        let mut after = open(self.new.program).ok()?;
        let mut played = ExploredSession { steps: Vec::new(), ..session.clone() };
        let count = session.steps.len();
        for (at, old) in session.steps.iter().enumerate() {
            let world = if at + 1 == count {
                oracle.again()
            } else {
                Oracle::told(self.new.program, &self.new.answers, &old.world)
            };
            let mut done = step(&mut before, old.act.clone(), &world)?;
            let said = act(&mut after, &old.act, &|ask| world.answer(ask))?;
            done.world = world.answers();
            let same = done.said.decision == said.decision;
            played.steps.push(done);
            if at + 1 == count {
                let witness = Witness { session: played, new: said };
                return (!same && self.accepts(&witness)).then_some(witness);
            }
            if !same {
                return None;
            }
        }
        None
    }

    /// The witness without the steps that it does not need, and without the entries of lists and maps that they do not need.
    fn shortened(&self, mut witness: Witness, oracle: &Oracle<'p>) -> Witness {
        let way = direction(&witness);
        // From the end: an earlier step may be needed only by a later one that goes first.
        let mut at = witness.session.steps.len().saturating_sub(1);
        while at > 0 {
            at -= 1;
            let mut less = witness.session.clone();
            less.steps.remove(at);
            let Some(shorter) = self.replayed(&less, oracle) else { continue };
            if direction(&shorter) == way {
                witness = shorter;
            }
        }
        let mut entry = 0;
        let mut tried = 0;
        while tried < MOST_ENTRIES {
            let mut less = witness.session.clone();
            let mut left = entry;
            let acts = less.steps.iter_mut().map(|step| &mut step.act);
            if !acts.flat_map(values_of).any(|value| remove_entry(value, &mut left)) {
                break;
            }
            tried += 1;
            match self.replayed(&less, oracle) {
                Some(smaller) if direction(&smaller) == way => witness = smaller,
                _ => entry += 1,
            }
        }
        witness
    }
}

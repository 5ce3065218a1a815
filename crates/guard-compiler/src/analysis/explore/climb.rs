//! A search that climbs: whole sessions are drawn at random and changed a little at a time, and what brings a call
//! nearer to what is looked for is kept.
//!
//! Breadth first, a call that ten rules speak of is out of reach: each rule wants several values to agree. Here each
//! rule that is met counts. What is found replays; what is not found proves nothing. The numbers come from a seed, so the
//! same guard has the same answers everywhere.

mod change;
mod focus;
mod known;
mod played;
mod reshape;

pub(crate) use focus::Focus;
pub(crate) use known::KnownCalls;
use played::PlayedTrail;
pub(crate) use played::{PlayedGuard, PlayedSession, Players};
pub(crate) use reshape::{remove_entry, values_of};

use super::inputs::read;
use super::session::{Act, ExploredEnding};
use super::values::draw::Constants;
use super::world::Oracle;
use crate::analysis::reference::distance::RULE;
use crate::analysis::reference::{Judgement, ReferenceSession};
use crate::hir::ToolId;
use guard_plan::json::Json;
use guard_plan::random::Rng;
use guard_syntax::span::Span;
use std::rc::Rc;

/// Most things that happen before the call that is looked at.
const MOST_ACTS: usize = 28;
/// So many changes that bring nothing, and another session is drawn.
const PATIENCE: usize = 250;
/// The distance of a call that a guard cannot read.
const UNREAD: u32 = 100 * RULE;

/// The seed of a name: its FNV-1a hash.
fn seed(name: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// The score of a call: its distance from the goal, or the goal itself.
pub(crate) enum Score {
    Distance(u32),
    Found,
}

/// A guard's judgement of a call, and the distance of the call from being allowed.
pub(crate) struct Rating {
    pub said: Judgement,
    pub distance: u32,
    /// The parts that are in the way of the guard refusing the call by the deny that is aimed at; none of a call that it
    /// refuses, and where none is.
    pub to_refusal: Option<u32>,
}

/// The verdicts of the guards on a call; none of a guard that cannot read it.
pub(crate) type Ratings = Vec<Option<Rating>>;

/// The distance of a call that a guard says this of.
pub(crate) fn distance(verdict: &Option<Rating>) -> u32 {
    verdict.as_ref().map_or(UNREAD, |verdict| verdict.distance)
}

/// A session that is worked on, and the arguments of the call at its end.
#[derive(Clone, PartialEq)]
pub(crate) struct SessionDraft {
    pub acts: Vec<Rc<Act>>,
    pub last: Json,
    /// What the guards ask of the world is answered as the agent would have it.
    pub kind: bool,
}

/// The judge of a call at the end of a session.
pub(crate) type Scorer<'a, 'p> =
    &'a mut dyn FnMut(&PlayedSession<'p>, &Json, &Ratings, &Oracle<'p>) -> Score;

/// The outcome of a draft.
enum DraftOutcome<'p> {
    Found,
    /// The guards disagree before its end.
    Impossible,
    Stands(PlayedDraft<'p>),
}

/// A draft that was played, and what was seen of the call at its end.
#[derive(Clone)]
struct PlayedDraft<'p> {
    draft: SessionDraft,
    played: Rc<PlayedSession<'p>>,
    distance: u32,
    /// The clauses that refuse the call; where none does, those by which a guard may.
    open: Vec<Span>,
}

impl PlayedDraft<'_> {
    /// No rule is in the way, so that what else happens is all that can make a difference.
    fn free(&self) -> bool {
        self.distance < RULE
    }
}

/// Takes the values of the members of another object that have the same name.
pub(crate) fn take_members(json: &mut Json, from: &Json) {
    if let (Json::Object(members), Json::Object(known)) = (json, from) {
        for (name, value) in members {
            if let Some((_, known)) = known.iter().find(|(known, _)| known == name) {
                *value = known.clone();
            }
        }
    }
}

/// The search for one tool.
pub(crate) struct Climber<'s, 'p> {
    players: Players<'s, 'p>,
    wire: &'s str,
    /// The tools whose calls may matter.
    tools: Vec<String>,
    constants: Constants,
    rng: Rng,
    /// What is changed more often than the rest.
    pub focus: Focus,
    /// Of each guard, the denies by which it may refuse what another one allows. One at a time is aimed at.
    pub stakes: Vec<Vec<Span>>,
    aim: usize,
    /// Calls judged so far.
    pub judged: usize,
}

impl<'s, 'p> Climber<'s, 'p> {
    /// A search for calls of `wire`.
    pub fn new(players: Players<'s, 'p>, wire: &'s str, tools: Vec<String>, salt: usize) -> Self {
        let last = &players.guards[players.guards.len() - 1];
        let constants = Constants::new(last.program);
        let rng = Rng::new(seed(wire) ^ salt as u64);
        let focus = Focus::default();
        let stakes = vec![Vec::new(); players.guards.len()];
        Climber { players, wire, tools, constants, rng, focus, stakes, aim: 0, judged: 0 }
    }

    /// Climbs until something is found, or so many calls are judged: from these drafts, the nearest first, then from
    /// drawn ones and these again.
    pub fn climb(
        &mut self,
        drafts: Vec<SessionDraft>,
        most: usize,
        stop: &dyn Fn() -> bool,
        score: Scorer<'_, 'p>,
    ) -> bool {
        let until = self.judged + most;
        let mut given: Vec<PlayedDraft<'p>> = Vec::new();
        // Beginnings of one session follow each other: what they share is played once, in either world.
        let mut trails = [self.players.trail(), self.players.trail()];
        for draft in drafts {
            if self.judged >= until || stop() {
                return false;
            }
            let trail = &mut trails[usize::from(draft.kind)];
            self.players.follow(trail, &draft.acts, draft.kind);
            match self.try_after(trail, draft, score) {
                DraftOutcome::Found => return true,
                DraftOutcome::Stands(hold) => given.push(hold),
                DraftOutcome::Impossible => {}
            }
        }
        given.sort_by_key(|hold| hold.distance);
        let mut next = 0;
        while self.judged < until && !stop() {
            // Each given draft is climbed from once, before chance decides.
            let hold = if next < given.len() {
                given[next].clone()
            } else if !given.is_empty() && self.rng.chance(50) {
                self.rng.pick(&given).clone()
            } else {
                let Some(draft) = self.draft() else { return false };
                match self.try_draft(draft, score) {
                    DraftOutcome::Found => return true,
                    DraftOutcome::Stands(hold) => hold,
                    DraftOutcome::Impossible => continue,
                }
            };
            next += 1;
            self.aim += 1;
            let SessionDraft { last, kind, .. } = hold.draft;
            let found = match self.rate(hold.played, last, kind, score) {
                DraftOutcome::Found => true,
                DraftOutcome::Stands(hold) => self.climb_from(hold, until, score),
                DraftOutcome::Impossible => false,
            };
            if found {
                return true;
            }
        }
        false
    }

    /// Climbs until a change has brought nothing for too long.
    fn climb_from(
        &mut self,
        mut best: PlayedDraft<'p>,
        until: usize,
        score: Scorer<'_, 'p>,
    ) -> bool {
        let mut idle = 0;
        let mut cluttered = true;
        let mut trail = self.players.trail();
        let kind = best.draft.kind;
        while idle < PATIENCE && self.judged < until {
            if cluttered && !best.free() {
                // Fewer events are played faster, and a change of one of them is likelier to matter.
                let mut at = best.draft.acts.len();
                self.players.follow(&mut trail, &best.draft.acts, kind);
                while at > 0 {
                    // What stands before a removed event has been played, so at least one event is
                    // left here.
                    at = (at - 1).min(best.draft.acts.len() - 1);
                    let mut less = best.draft.clone();
                    // What the user says matters to calls that are still to come.
                    if let Act::Prompt(_) = *less.acts.remove(at) {
                        continue;
                    }
                    match self.try_after(&trail, less, score) {
                        DraftOutcome::Found => return true,
                        DraftOutcome::Stands(next) if next.distance <= best.distance => best = next,
                        _ => {}
                    }
                }
            }
            let changed = self.changed(&best.draft, &best.open, best.free());
            let last = changed.last;
            let trial = match changed.acts {
                None => self.rate(best.played.clone(), last, kind, score),
                Some(acts) => {
                    self.players.follow(&mut trail, &best.draft.acts, kind);
                    self.try_after(&trail, SessionDraft { acts, last, kind }, score)
                }
            };
            cluttered = false;
            idle += 1;
            match trial {
                DraftOutcome::Found => return true,
                DraftOutcome::Stands(next) if next.distance <= best.distance => {
                    // A longer session that is no nearer costs more to play, so it is taken seldom.
                    let longer = next.draft.acts.len() > best.draft.acts.len();
                    let level = next.distance == best.distance;
                    if longer && level && !best.free() && !self.rng.chance(25) {
                        continue;
                    }
                    cluttered = next.distance < best.distance;
                    if cluttered {
                        idle = 0;
                    }
                    best = next;
                }
                _ => {}
            }
        }
        false
    }

    fn try_draft(&mut self, draft: SessionDraft, score: Scorer<'_, 'p>) -> DraftOutcome<'p> {
        let played = self.players.play(&draft.acts, draft.kind);
        self.try_played(played, draft, score)
    }

    fn try_after(
        &mut self,
        trail: &PlayedTrail<'p>,
        draft: SessionDraft,
        score: Scorer<'_, 'p>,
    ) -> DraftOutcome<'p> {
        let played = self.players.play_after(trail, &draft.acts, draft.kind);
        self.try_played(played, draft, score)
    }

    fn try_played(
        &mut self,
        played: Option<PlayedSession<'p>>,
        draft: SessionDraft,
        score: Scorer<'_, 'p>,
    ) -> DraftOutcome<'p> {
        match played {
            Some(played) => self.rate(Rc::new(played), draft.last, draft.kind, score),
            None => {
                self.judged += 1;
                DraftOutcome::Impossible
            }
        }
    }

    /// Looks at a call after a session.
    fn rate(
        &mut self,
        played: Rc<PlayedSession<'p>>,
        last: Json,
        kind: bool,
        score: Scorer<'_, 'p>,
    ) -> DraftOutcome<'p> {
        self.judged += 1;
        let oracle = self.players.oracle(kind);
        let world = |ask: &_| oracle.answer(ask);
        type GuardPlayer<'a, 's, 'p> =
            ((&'a PlayedGuard<'s, 'p>, &'a ReferenceSession<'p>), Option<Span>);
        let verdict = |((player, session), aim): GuardPlayer<'_, 's, 'p>| {
            let tool = player.tool(self.wire)?;
            let values = read(player.program, session, tool, &last)?;
            let said = session.consider(tool, &values, &world);
            let distance = session.distance(tool, &values, &said, &world);
            let to_refusal = aim
                .filter(|_| said.unmet == 0)
                .and_then(|deny| session.parts_to_refusal(tool, &values, deny, &world));
            Some(Rating { said, distance, to_refusal })
        };
        let aims =
            self.stakes.iter().map(|stakes| stakes.get(self.aim % stakes.len().max(1)).copied());
        let aims: Vec<Option<Span>> = aims.collect();
        let guards = self.players.guards.iter().zip(&played.states);
        let verdicts: Ratings = guards.zip(aims.iter().copied()).map(verdict).collect();
        match score(&played, &last, &verdicts, &oracle) {
            Score::Found => DraftOutcome::Found,
            Score::Distance(distance) => {
                let fired = verdicts.iter().flatten().flat_map(|verdict| &verdict.said.fired);
                let mut open: Vec<Span> = fired.map(|(_, span)| *span).collect();
                if open.is_empty() {
                    open = aims.into_iter().flatten().collect();
                }
                // What the guards refuse brings nothing, and would be tried again at every change.
                let draft = SessionDraft { acts: played.acts(), last, kind };
                DraftOutcome::Stands(PlayedDraft { draft, played, distance, open })
            }
        }
    }

    /// A session from nothing: what the user says, and calls that may matter.
    fn draft(&mut self) -> Option<SessionDraft> {
        let mut acts = vec![Rc::new(Act::Prompt(self.constants.said()))];
        let mut tools: Vec<String> =
            self.tools.iter().filter(|tool| **tool != self.wire).cloned().collect();
        for _ in 0..2 {
            for at in (1..tools.len()).rev() {
                let other = self.rng.below(at + 1);
                tools.swap(at, other);
            }
            for tool in &tools {
                acts.extend(self.call(tool).map(Rc::new));
            }
        }
        acts.truncate(MOST_ACTS);
        let last = (0..20).find_map(|_| self.args(self.wire))?;
        Some(SessionDraft { acts, last, kind: self.rng.chance(75) })
    }

    /// Every beginning of a session that is given, the longest first, with a call that it goes on with or with a drawn one.
    pub fn prefixes(&mut self, acts: &[Act]) -> Vec<SessionDraft> {
        let shared: Vec<Rc<Act>> = acts.iter().cloned().map(Rc::new).collect();
        let mut drafts = Vec::new();
        for count in (0..=acts.len()).rev() {
            let next = acts[count..].iter().find_map(|what| match what {
                Act::Call { tool, args, .. } if tool == self.wire => Some(args.clone()),
                _ => None,
            });
            let drawn = next.or_else(|| self.args(self.wire));
            let kind = self.rng.chance(75);
            drafts.extend(drawn.map(|last| SessionDraft {
                acts: shared[..count].to_vec(),
                last,
                kind,
            }));
        }
        drafts
    }

    fn player_of(&mut self, wire: &str) -> Option<(usize, ToolId)> {
        let count = self.players.guards.len();
        let first = self.rng.below(count);
        (0..count)
            .map(|at| (first + at) % count)
            .find_map(|at| self.players.guards[at].tool(wire).map(|tool| (at, tool)))
    }

    /// Another session, with a call at its end that has what it can of the other's last arguments, by name.
    pub fn like(&mut self, other: &SessionDraft) -> Option<SessionDraft> {
        let mut last = self.args(self.wire)?;
        take_members(&mut last, &other.last);
        Some(SessionDraft { last, ..other.clone() })
    }

    fn args(&mut self, wire: &str) -> Option<Json> {
        let (at, tool) = self.player_of(wire)?;
        let Players { guards, fresh } = &self.players;
        guards[at].inputs.draw_call(tool, &fresh[at], &self.constants, &mut self.rng)
    }

    fn result(&mut self, wire: &str) -> Option<Json> {
        let (at, tool) = self.player_of(wire)?;
        let Players { guards, fresh } = &self.players;
        guards[at].inputs.draw_result(tool, &fresh[at], &self.constants, &mut self.rng)
    }

    fn call(&mut self, wire: &str) -> Option<Act> {
        let args = self.args(wire)?;
        let then = if self.rng.chance(6) {
            ExploredEnding::Fails
        } else {
            ExploredEnding::Succeeds(self.result(wire))
        };
        Some(Act::Call { id: String::new(), tool: wire.to_string(), args, then })
    }
}

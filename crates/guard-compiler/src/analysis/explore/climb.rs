//! A search that climbs: whole sessions are drawn at random and changed a little at a time, and what brings a call
//! nearer to what is looked for is kept.
//!
//! Breadth first, a call that ten rules speak of is out of reach: each rule wants several values to agree. Here each
//! rule that is met counts. What is found replays; what is not found proves nothing. The numbers come from a seed, so the
//! same guard has the same answers everywhere.

use super::inputs::{Inputs, read};
use super::search::{roles, step};
use super::session::{Act, START, Session, Step, Then, WORKSPACE, act};
use super::values::draw::Constants;
use super::world::Oracle;
use crate::analysis::reference::{Judgement, Reference};
use crate::hir::{Program, ToolId};
use guard_plan::json::Json;
use guard_plan::random::Rng;
use guard_plan::verdict::Code;
use std::rc::Rc;

/// Most things that happen before the call that is looked at.
const MOST_ACTS: usize = 28;
/// So many changes that bring nothing, and another session is drawn.
const PATIENCE: usize = 250;

/// The seed of a name: its FNV-1a hash.
fn seed(name: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// A guard that the same sessions are played on.
#[derive(Clone, Copy)]
pub(crate) struct PlayedGuard<'s, 'p> {
    pub program: &'p Program,
    pub inputs: &'s Inputs<'p>,
}

/// Sessions of all guards that had the same events and the same verdicts, and how they came about.
#[derive(Clone)]
pub(crate) struct PlayedSession<'p> {
    pub states: Vec<Reference<'p>>,
    steps: Vec<Rc<Step>>,
}

impl PlayedSession<'_> {
    /// The session that was played.
    pub fn session(&self) -> Session {
        let steps = self.steps.iter().map(|step| Step::clone(step)).collect();
        Session { start: START, data: None, steps }
    }
}

/// The score of a call: its distance from the goal, or the goal itself.
pub(crate) enum Score {
    Distance(u32),
    Found,
}

/// The judgements of the guards on a call; none of a guard that cannot read it.
pub(crate) type Verdicts = Vec<Option<Judgement>>;

/// A session that is worked on, and the arguments of the call at its end.
#[derive(Clone)]
struct Draft {
    acts: Vec<Act>,
    last: Json,
}

/// The search for one tool.
pub(crate) struct Climber<'s, 'p> {
    players: Vec<PlayedGuard<'s, 'p>>,
    wire: &'s str,
    /// The tools whose calls may matter.
    tools: Vec<String>,
    constants: Constants,
    fresh: Vec<Reference<'p>>,
    rng: Rng,
    /// Calls judged so far.
    pub judged: usize,
}

impl<'s, 'p> Climber<'s, 'p> {
    /// A search for calls of `wire`; none where no session can begin.
    pub fn new(
        players: Vec<PlayedGuard<'s, 'p>>,
        wire: &'s str,
        tools: Vec<String>,
    ) -> Option<Self> {
        let open =
            |p: &PlayedGuard<'s, 'p>| Reference::open(p.program, START, WORKSPACE, None).ok();
        let fresh = players.iter().map(open).collect::<Option<Vec<_>>>()?;
        let constants = Constants::of(players.last()?.program);
        let rng = Rng::new(seed(wire));
        Some(Climber { players, wire, tools, constants, fresh, rng, judged: 0 })
    }

    /// Climbs until something is found, or so many calls are judged. `seeds` are sessions to begin with.
    pub fn climb(
        &mut self,
        seeds: &[Vec<Act>],
        most: usize,
        stop: &dyn Fn() -> bool,
        score: &mut dyn FnMut(&PlayedSession<'p>, &Json, &Verdicts, &Oracle<'p>) -> Score,
    ) -> bool {
        let until = self.judged + most;
        let mut seeds: Vec<Draft> = seeds.iter().flat_map(|acts| self.prefixes(acts)).collect();
        seeds.reverse();
        while self.judged < until && !stop() {
            let Some(mut best) = seeds.pop().or_else(|| self.draft()) else { return false };
            let kind = self.rng.chance(75);
            let Some(mut base) = self.play(&best.acts, kind) else {
                self.judged += 1;
                continue;
            };
            // What the guards refuse is tried again at every change, and brings nothing.
            best.acts = base.steps.iter().map(|step| step.act.clone()).collect();
            best.acts.retain(|what| !matches!(what, Act::Approve { .. }));
            let Some(mut distance) = self.weigh(&base, &best.last, kind, score) else {
                return true;
            };
            let mut idle = 0;
            while idle < PATIENCE && self.judged < until {
                let (next, same) = self.changed(&best);
                let played = if same { None } else { self.play(&next.acts, kind) };
                if !same && played.is_none() {
                    (self.judged, idle) = (self.judged + 1, idle + 1);
                    continue;
                }
                let at = played.as_ref().unwrap_or(&base);
                let Some(now) = self.weigh(at, &next.last, kind, score) else { return true };
                idle = if now < distance { 0 } else { idle + 1 };
                if now <= distance {
                    (best, distance) = (next, now);
                    base = played.unwrap_or(base);
                }
            }
        }
        false
    }

    /// The distance of a call after a session; none where it is what is looked for.
    fn weigh(
        &mut self,
        played: &PlayedSession<'p>,
        args: &Json,
        kind: bool,
        score: &mut dyn FnMut(&PlayedSession<'p>, &Json, &Verdicts, &Oracle<'p>) -> Score,
    ) -> Option<u32> {
        self.judged += 1;
        let oracle = self.oracle(kind);
        let verdicts: Verdicts = self.judge(played, self.wire, args, &oracle);
        match score(played, args, &verdicts, &oracle) {
            Score::Distance(distance) => Some(distance),
            Score::Found => None,
        }
    }

    fn oracle(&self, kind: bool) -> Oracle<'p> {
        // A climber has at least one player.
        let last = self.players[self.players.len() - 1];
        Oracle::new(last.program, &[], kind)
    }

    fn judge(
        &self,
        played: &PlayedSession<'p>,
        wire: &str,
        args: &Json,
        oracle: &Oracle<'p>,
    ) -> Verdicts {
        let judge = |(player, session): (&PlayedGuard<'s, 'p>, &Reference<'p>)| {
            let tool = tool_of(player.program, wire)?;
            let values = read(player.program, session, tool, args)?;
            Some(session.consider(tool, &values, &|ask| oracle.answer(ask)))
        };
        self.players.iter().zip(&played.states).map(judge).collect()
    }

    /// Plays what all guards let happen; the rest is left out. None where they begin to disagree.
    fn play(&self, acts: &[Act], kind: bool) -> Option<PlayedSession<'p>> {
        let mut played = PlayedSession { states: self.fresh.clone(), steps: Vec::new() };
        for what in acts {
            self.advance(&mut played, what, kind)?;
        }
        Some(played)
    }

    /// Lets one thing happen, with the approvals that it needs; none where the guards disagree.
    fn advance(&self, played: &mut PlayedSession<'p>, what: &Act, kind: bool) -> Option<()> {
        let Act::Call { tool, args, then, .. } = what else {
            return self.both(played, what.clone(), kind);
        };
        let verdicts = self.judge(played, tool, args, &self.oracle(kind));
        let mut approvals: Option<Vec<String>> = None;
        for verdict in &verdicts {
            let Some(verdict) = verdict else { return Some(()) };
            let given = |code: &Code| matches!(code, Code::Approval | Code::Gated);
            if !verdict.reasons.iter().all(|(code, ..)| given(code)) {
                return Some(());
            }
            let wanted = if verdict.reasons.is_empty() { Vec::new() } else { roles(verdict) };
            if approvals.as_ref().is_some_and(|known| *known != wanted) {
                return Some(());
            }
            approvals = Some(wanted);
        }
        for role in approvals.unwrap_or_default() {
            let (tool, args) = (tool.clone(), args.clone());
            self.both(played, Act::Approve { tool, args, role }, kind)?;
        }
        let id = format!("call-{}", played.steps.len() + 1);
        let call = Act::Call { id, tool: tool.clone(), args: args.clone(), then: then.clone() };
        self.both(played, call, kind)
    }

    /// Lets the same happen in all guards; none where they do not say the same of it.
    fn both(&self, played: &mut PlayedSession<'p>, what: Act, kind: bool) -> Option<()> {
        let oracle = self.oracle(kind);
        let (first, others) = played.states.split_first_mut()?;
        let mut done = step(first, what.clone(), &oracle)?;
        for other in others {
            let said = act(other, &what, &|ask| oracle.answer(ask))?;
            if said.decision != done.said.decision {
                return None;
            }
        }
        done.world = oracle.answers();
        played.steps.push(Rc::new(done));
        Some(())
    }

    /// A session from nothing: what the user says, and calls that may matter.
    fn draft(&mut self) -> Option<Draft> {
        let mut acts = vec![Act::Prompt(self.constants.said())];
        let mut tools: Vec<String> =
            self.tools.iter().filter(|tool| **tool != self.wire).cloned().collect();
        for _ in 0..2 {
            for at in (1..tools.len()).rev() {
                let other = self.rng.below(at + 1);
                tools.swap(at, other);
            }
            for tool in &tools {
                acts.extend(self.call(tool));
            }
        }
        acts.truncate(MOST_ACTS);
        let last = (0..20).find_map(|_| self.args(self.wire))?;
        Some(Draft { acts, last })
    }

    /// Every beginning of a session that is given, with a call that it goes on with or with a drawn one.
    fn prefixes(&mut self, acts: &[Act]) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for count in (0..=acts.len()).rev() {
            let next = acts[count..].iter().find_map(|what| match what {
                Act::Call { tool, args, .. } if tool == self.wire => Some(args.clone()),
                _ => None,
            });
            let drawn = next.or_else(|| self.args(self.wire));
            drafts.extend(drawn.map(|last| Draft { acts: acts[..count].to_vec(), last }));
        }
        drafts
    }

    fn player_of(&mut self, wire: &str) -> Option<(usize, ToolId)> {
        let first = self.rng.below(self.players.len());
        let count = self.players.len();
        (0..count)
            .map(|at| (first + at) % count)
            .find_map(|at| tool_of(self.players[at].program, wire).map(|tool| (at, tool)))
    }

    fn args(&mut self, wire: &str) -> Option<Json> {
        let (at, tool) = self.player_of(wire)?;
        self.players[at].inputs.draw_call(tool, &self.fresh[at], &self.constants, &mut self.rng)
    }

    fn result(&mut self, wire: &str) -> Option<Json> {
        let (at, tool) = self.player_of(wire)?;
        self.players[at].inputs.draw_result(tool, &self.fresh[at], &self.constants, &mut self.rng)
    }

    fn call(&mut self, wire: &str) -> Option<Act> {
        let args = self.args(wire)?;
        let then = match self.rng.chance(6) {
            true => Then::Fails,
            false => Then::Succeeds(self.result(wire)),
        };
        Some(Act::Call { id: String::new(), tool: wire.to_string(), args, then })
    }

    /// The draft with something else in it; and whether only its last call is another.
    fn changed(&mut self, draft: &Draft) -> (Draft, bool) {
        let mut next = draft.clone();
        if self.rng.chance(50) || self.tools.is_empty() {
            for _ in 0..=self.rng.below(2) {
                if let Some(drawn) = self.args(self.wire) {
                    next.last = spliced(&next.last, drawn, &mut self.rng);
                }
            }
            return (next, true);
        }
        let at = self.rng.below(next.acts.len().max(1));
        match self.rng.below(12) {
            0 if !next.acts.is_empty() => drop(next.acts.remove(at)),
            1 | 2 if next.acts.len() < MOST_ACTS => {
                let wire = self.rng.pick(&self.tools).clone();
                if let Some(call) = self.call(&wire) {
                    let at = self.rng.below(next.acts.len() + 1);
                    next.acts.insert(at, call);
                }
            }
            3 => {
                // The same call as at the end, before it.
                let then = Then::Succeeds(self.result(self.wire));
                let (tool, args) = (self.wire.to_string(), next.last.clone());
                next.acts.push(Act::Call { id: String::new(), tool, args, then });
            }
            4 => next.acts.push(Act::Wait(1 + self.constants.span(&mut self.rng))),
            _ => self.change_act(&mut next.acts, at),
        }
        (next, false)
    }

    /// Other arguments, or another result, of one call.
    fn change_act(&mut self, acts: &mut [Act], at: usize) {
        let Some(Act::Call { tool, args, then, .. }) = acts.get(at).cloned() else { return };
        let (mut new_args, mut new_then) = (args.clone(), then.clone());
        match (self.rng.below(3), &then) {
            (0, _) => {
                if let Some(drawn) = self.args(&tool) {
                    new_args = spliced(&args, drawn, &mut self.rng);
                }
            }
            (_, Then::Succeeds(Some(result))) => {
                if let Some(drawn) = self.result(&tool) {
                    new_then = Then::Succeeds(Some(spliced(result, drawn, &mut self.rng)));
                }
            }
            _ => new_then = Then::Succeeds(self.result(&tool)),
        }
        acts[at] = Act::Call { id: String::new(), tool, args: new_args, then: new_then };
    }
}

/// The first with a part of the second in it.
fn spliced(old: &Json, new: Json, rng: &mut Rng) -> Json {
    if rng.chance(15) {
        return new;
    }
    match (old, new) {
        (Json::Object(before), Json::Object(after)) if !before.is_empty() && !after.is_empty() => {
            let mut members = before.clone();
            let (name, value) = after[rng.below(after.len())].clone();
            match members.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = spliced(known, value, rng),
                None => members.push((name, value)),
            }
            Json::Object(members)
        }
        (Json::Array(before), Json::Array(after)) if !before.is_empty() && !after.is_empty() => {
            let mut items = before.clone();
            let at = rng.below(items.len());
            let value = after[rng.below(after.len())].clone();
            match rng.below(6) {
                0 => items.push(value),
                1 => drop(items.remove(at)),
                _ => items[at] = spliced(&items[at], value, rng),
            }
            Json::Array(items)
        }
        (_, new) => new,
    }
}

fn tool_of(program: &Program, wire: &str) -> Option<ToolId> {
    program.tools.iter().position(|tool| tool.wire_name == wire)
}

//! Sessions that a search for a difference begins with: in which both guards allow a call of a tool, and after which they
//! remember different things.
//!
//! A difference is seldom far from a call that both guards allow: a rule less, a call before it, the same once more.

use super::Side;
use super::edited::{EditedClauses, clauses};
use crate::analysis::explore::climb::{
    Climber, Focus, KnownCalls, PlayedGuard, PlayedSession, Players, Score, SessionDraft, distance,
    take_members,
};
use crate::analysis::explore::session::{Act, ExploredEnding};
use crate::analysis::explore::slice::tools_for;
use crate::analysis::reference::ReferenceSession;
use crate::hir::{ClauseKind, Program};
use guard_plan::json::Json;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Most calls that are judged for the session of one tool, in rounds.
const ROUNDS: [usize; 6] = [250, 500, 1_000, 2_000, 4_000, 8_000];
/// Most calls that are judged for a session after which the guards remember different things.
const MOST_FOR_ONE: usize = 400;
/// Most calls that are judged for many such sessions.
const MOST_FOR_MANY: usize = 2_000;
/// Most sessions of that kind.
const MANY: usize = 16;
/// Most results of a call that are tried there.
const RESULTS: usize = 6;
/// Most of them that another call has returned.
const SEEN: usize = 2;

/// Sessions of both guards.
pub(in super::super) struct PairSessions<'s, 'p> {
    sides: [&'s Side<'p>; 2],
    stop: &'s dyn Fn() -> bool,
    players: Players<'s, 'p>,
    known: KnownCalls<'s, 'p>,
    edited: EditedClauses<'p>,
    /// The tools after whose calls the guards may remember different things.
    pub writers: BTreeSet<String>,
    /// The tools whose results may halt a session under one of the guards only, and those that may matter to them.
    pub halters: BTreeSet<String>,
    /// The members that the clauses of one of the guards only read.
    focus: Focus,
    /// Those of the writers whose calls may add up.
    adders: BTreeSet<String>,
}

impl<'s, 'p> PairSessions<'s, 'p> {
    /// Of two guards, found by judging so many calls at most; none where no session of them can begin.
    pub fn new(sides: [&'s Side<'p>; 2], left: usize, stop: &'s dyn Fn() -> bool) -> Option<Self> {
        let guard =
            |side: &'s Side<'p>| PlayedGuard { program: side.program, inputs: &side.inputs };
        let players = Players::new(sides.map(guard).into())?;
        let differing = |kinds| -> BTreeSet<String> {
            let [old, new] = sides.map(|side| clauses(side.program, kinds));
            old.symmetric_difference(&new).map(|(wire, _)| wire.clone()).collect()
        };
        let mut writers = differing(writes);
        writers.retain(|wire| sides.iter().all(|side| side.tool(wire).is_some()));
        let slice = |wire: &String| tools_for(sides.map(|side| side.program).into_iter(), wire);
        let halters = differing(halts).iter().flat_map(slice).collect();
        let known = KnownCalls::new(players.clone(), left, stop);
        let adders = differing(adds);
        let edited = EditedClauses::new(sides.map(|side| side.program));
        let focus = Focus::new(edited.members());
        Some(PairSessions { sides, stop, players, known, edited, writers, halters, focus, adders })
    }

    /// A session in which both guards allow a call of the first of these tools, with that call.
    pub fn called(&mut self, tools: &[String]) -> Option<PlayedSession<'p>> {
        self.known.find(tools, Some(&tools[0]), &ROUNDS, &[]);
        let draft = self.known.get(&tools[0])?;
        let mut played = self.players.play(&draft.acts, draft.kind)?;
        let before = played.steps.len();
        let side = self.sides[0];
        let wire = &tools[0];
        let results = side.inputs.results(side.tool(wire)?, &played.states[0]);
        let tool = wire.clone();
        let args = draft.last.clone();
        let then = ExploredEnding::Succeeds(results.into_iter().next().flatten());
        let call = Rc::new(Act::Call { id: String::new(), tool, args, then });
        self.players.advance(&mut played, &call, draft.kind)?;
        (played.steps.len() > before).then_some(played)
    }

    /// A search for calls of the first of these tools, and what it may begin with: a session in which both guards allow the
    /// call, the same twice, and sessions after which the guards remember different things.
    pub fn begin<'w>(&mut self, tools: &'w [String]) -> (Climber<'w, 'p>, Vec<SessionDraft>)
    where
        's: 'w,
    {
        let called = self.called(tools);
        let mut climber = self.known.climber(tools, 0);
        climber.focus.clone_from(&self.focus);
        climber.stakes = self.edited.denies_at_stake(&tools[0]).into();
        let mut drafts: Vec<SessionDraft> = Vec::new();
        let own = self.known.get(&tools[0]).cloned();
        if let (Some(called), Some(own)) = (called, &own) {
            // The call once more, and all that led to it before it.
            let acts = [called.acts(), own.acts.clone()].concat();
            drafts.push(SessionDraft { acts, ..own.clone() });
        }
        let writers: Vec<&String> =
            tools.iter().filter(|wire| self.writers.contains(*wire)).collect();
        for writer in writers {
            self.known.find(tools, Some(writer), &ROUNDS, &[]);
            let from = own.as_ref().or_else(|| self.known.get(writer)).cloned();
            let Some(from) = from else { continue };
            for acts in self.differing_from(writer, &from) {
                let mut last = from.last.clone();
                if let Some(Act::Call { args, .. }) = acts.last().map(|act| &**act) {
                    take_members(&mut last, args);
                }
                drafts.extend(climber.like(&SessionDraft { acts: acts.clone(), last, ..from }));
                drafts.extend(climber.like(&SessionDraft { acts, ..from.clone() }));
            }
        }
        drafts.extend(own);
        (climber, drafts)
    }

    /// Sessions in which a call of `writer`, the last event, lets the guards remember different things: one that goes on
    /// from this one, and one of its own.
    fn differing_from(&mut self, writer: &str, from: &SessionDraft) -> Vec<Vec<Rc<Act>>> {
        let own = self.known.get(writer).filter(|own| *own != from).cloned();
        let drafts = [Some(from.clone()), own].into_iter().flatten();
        drafts
            .flat_map(|draft| self.differing_sessions(writer, &draft, (1, MOST_FOR_ONE)))
            .collect()
    }

    /// Sessions of the second kind of the first of these tools, with other things remembered after each. None where what it
    /// writes does not add up: once more, it would write the same.
    pub fn differing_alone(&mut self, tools: &[String]) -> Vec<PlayedSession<'p>> {
        let wire = &tools[0];
        let adds = self.adders.contains(wire);
        let own = self.known.get(wire).filter(|_| adds).cloned();
        let found = own.map(|own| self.differing_sessions(wire, &own, (MANY, MOST_FOR_MANY)));
        let acts = found.unwrap_or_default();
        acts.iter().filter_map(|acts| self.players.play(acts, true)).collect()
    }

    /// So many such sessions at most, found by judging so many calls at most.
    fn differing_sessions(
        &mut self,
        writer: &str,
        from: &SessionDraft,
        (count, most): (usize, usize),
    ) -> Vec<Vec<Rc<Act>>> {
        let sides = self.sides;
        let players = &self.players;
        let slice = self.known.slice(writer);
        let mut climber = self.known.climber(&slice, 0);
        climber.focus.clone_from(&self.focus);
        let drafts = climber.like(from).into_iter().collect();
        let mut found: BTreeMap<String, Vec<Rc<Act>>> = BTreeMap::new();
        let most = most.min(self.known.left);
        climber.climb(drafts, most, self.stop, &mut |played, last, verdicts, _| {
            let open: u32 = verdicts.iter().map(distance).sum();
            if open > 0 {
                return Score::Distance(1 + open);
            }
            if let Some((memory, acts)) =
                remembered_otherwise(sides, players, played, (writer, last))
            {
                found.entry(memory).or_insert(acts);
            }
            if found.len() >= count { Score::Found } else { Score::Distance(1) }
        });
        self.known.left = self.known.left.saturating_sub(climber.judged);
        found.into_values().collect()
    }
}

/// The session with a call at its end, if after one of its results the guards remember different things, and what they remember.
fn remembered_otherwise(
    [old, new]: [&Side; 2],
    players: &Players<'_, '_>,
    played: &PlayedSession<'_>,
    (wire, args): (&str, &Json),
) -> Option<(String, Vec<Rc<Act>>)> {
    let results = old.inputs.results(old.tool(wire)?, &played.states[0]);
    // A result that was seen before changes little else.
    let seen = seen_results(old, played, wire).into_iter().map(Some);
    seen.chain(results).take(RESULTS).find_map(|result| {
        let tool = wire.to_string();
        let args = args.clone();
        let then = ExploredEnding::Succeeds(result);
        let call = Rc::new(Act::Call { id: String::new(), tool, args, then });
        let mut after_it = played.clone();
        players.advance(&mut after_it, &call, true)?;
        let [before, after] = &after_it.states[..] else { return None };
        let before = memory(before, old.program);
        let after = memory(after, new.program);
        let others = before.iter().filter(|(name, value)| after.get(*name) != Some(value));
        let others: Vec<_> = others.map(|(name, value)| format!("{name}: {value}")).collect();
        (before != after).then(|| (others.join(", "), after_it.acts()))
    })
}

/// The last results in a session of other tools that return the same as this one.
fn seen_results(side: &Side, played: &PlayedSession<'_>, wire: &str) -> Vec<Json> {
    let returns = |wire: &str| side.tool(wire).and_then(|t| side.program.tools[t].returns.as_ref());
    let seen = played.steps.iter().rev().filter_map(|step| match &*step.act {
        Act::Call { tool, then: ExploredEnding::Succeeds(Some(result)), .. }
            if returns(wire).is_some_and(|own| returns(tool) == Some(own)) =>
        {
            Some(result.clone())
        }
        _ => None,
    });
    seen.take(SEEN).collect()
}

/// The variables, facts and spending that a session remembers, by name.
fn memory(session: &ReferenceSession, program: &Program) -> BTreeMap<String, String> {
    let vars = session.state().map(|(name, value)| (name.to_string(), format!("{value:?}")));
    let rows = |at: usize| session.rows_of(at).map(|row| format!("{row:?}")).collect::<Vec<_>>();
    let facts =
        program.facts.iter().enumerate().map(|(at, f)| (f.name.clone(), rows(at).join(" ")));
    let spent = session.spent().map(|(unit, amount)| (format!("spent {unit}"), amount.to_string()));
    vars.chain(facts).chain(spent).collect()
}

fn writes(kind: &ClauseKind) -> bool {
    use ClauseKind::{Costs, Effect, Learn, Observe};
    matches!(kind, Effect { .. } | Observe { .. } | Learn(_) | Costs { .. })
}

fn adds(kind: &ClauseKind) -> bool {
    matches!(kind, ClauseKind::Effect { .. } | ClauseKind::Costs { .. })
}

fn halts(kind: &ClauseKind) -> bool {
    matches!(kind, ClauseKind::Observe { .. } | ClauseKind::Reconcile { .. } | ClauseKind::Learn(_))
}

//! Sessions that a search for a difference begins with: in which both guards allow a call of a tool, and after which they
//! remember different things.
//!
//! A difference is seldom far from a call that both guards allow: a rule less, a call before it, the same once more.

use super::Side;
use crate::analysis::diff::canon::Canon;
use crate::analysis::explore::climb::{
    Climber, Focus, KnownCalls, PlayedGuard, PlayedSession, Players, Score, SessionDraft, distance,
    take_members,
};
use crate::analysis::explore::session::{Act, Then};
use crate::analysis::explore::slice::{exprs_of, tools_for};
use crate::analysis::reference::Reference;
use crate::hir::{ClauseKind, ExprKind, Program, Tool, Type};
use guard_plan::json::Json;
use std::collections::{BTreeMap, BTreeSet};

/// Most calls that are judged for the session of one tool, in rounds.
const ROUNDS: [usize; 5] = [250, 500, 1_000, 2_000, 4_000];
/// Most calls that are judged for a session after which the guards remember different things.
const MOST_APART: usize = 400;
/// The same, where the call goes on again and again from there.
const MOST_PARTED: usize = 2_000;
/// Most sessions of that kind.
const PARTED: usize = 16;
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
    pub fn of(sides: [&'s Side<'p>; 2], left: usize, stop: &'s dyn Fn() -> bool) -> Option<Self> {
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
        let focus = Focus::new(read_otherwise(sides.map(|side| side.program)));
        Some(PairSessions { sides, stop, players, known, writers, halters, focus, adders })
    }

    /// A session in which both guards allow a call of the first of these tools, with that call.
    pub fn called(&mut self, tools: &[String]) -> Option<PlayedSession<'p>> {
        self.known.find(tools, Some(&tools[0]), &ROUNDS, &[]);
        let draft = self.known.get(&tools[0])?;
        let mut played = self.players.play(&draft.acts, draft.kind)?;
        let before = played.steps.len();
        let (side, wire) = (self.sides[0], &tools[0]);
        let results = side.inputs.results(side.tool(wire)?, &played.states[0]);
        let (tool, args) = (wire.clone(), draft.last.clone());
        let then = Then::Succeeds(results.into_iter().next().flatten());
        let call = Act::Call { id: String::new(), tool, args, then };
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
            for acts in self.apart(writer, &from) {
                let mut last = from.last.clone();
                if let Some(Act::Call { args, .. }) = acts.last() {
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
    fn apart(&mut self, writer: &str, from: &SessionDraft) -> Vec<Vec<Act>> {
        let own = self.known.get(writer).filter(|own| *own != from).cloned();
        let drafts = [Some(from.clone()), own].into_iter().flatten();
        drafts.flat_map(|draft| self.parted(writer, &draft, (1, MOST_APART))).collect()
    }

    /// Sessions of the second kind of the first of these tools, with other things remembered after each. None where what it
    /// writes does not add up: once more, it would write the same.
    pub fn apart_alone(&mut self, tools: &[String]) -> Vec<PlayedSession<'p>> {
        let wire = &tools[0];
        let adds = self.adders.contains(wire);
        let own = self.known.get(wire).filter(|_| adds).cloned();
        let parted = own.map(|own| self.parted(wire, &own, (PARTED, MOST_PARTED)));
        let acts = parted.unwrap_or_default();
        acts.iter().filter_map(|acts| self.players.play(acts, true)).collect()
    }

    /// So many such sessions at most, found by judging so many calls at most.
    fn parted(
        &mut self,
        writer: &str,
        from: &SessionDraft,
        (count, most): (usize, usize),
    ) -> Vec<Vec<Act>> {
        let (sides, players) = (self.sides, &self.players);
        let slice = self.known.slice(writer);
        let mut climber = self.known.climber(&slice, 0);
        climber.focus.clone_from(&self.focus);
        let drafts = climber.like(from).into_iter().collect();
        let mut found: BTreeMap<String, Vec<Act>> = BTreeMap::new();
        let most = most.min(self.known.left);
        climber.climb(drafts, most, self.stop, &mut |played, last, verdicts, _| {
            let open: u32 = verdicts.iter().map(distance).sum();
            if open > 0 {
                return Score::Distance(1 + open);
            }
            if let Some((memory, acts)) = parting(sides, players, played, (writer, last)) {
                found.entry(memory).or_insert(acts);
            }
            if found.len() >= count { Score::Found } else { Score::Distance(1) }
        });
        self.known.left = self.known.left.saturating_sub(climber.judged);
        found.into_values().collect()
    }
}

/// The session with a call at its end, if after one of its results the guards remember different things, and what they remember.
fn parting(
    [old, new]: [&Side; 2],
    players: &Players<'_, '_>,
    played: &PlayedSession<'_>,
    (wire, args): (&str, &Json),
) -> Option<(String, Vec<Act>)> {
    let results = old.inputs.results(old.tool(wire)?, &played.states[0]);
    // A result that was seen before changes little else.
    let seen = seen_results(old, played, wire).into_iter().map(Some);
    seen.chain(results).take(RESULTS).find_map(|result| {
        let (tool, args, then) = (wire.to_string(), args.clone(), Then::Succeeds(result));
        let call = Act::Call { id: String::new(), tool, args, then };
        let mut parted = played.clone();
        players.advance(&mut parted, &call, true)?;
        let [before, after] = &parted.states[..] else { return None };
        let (before, after) = (memory(before, old.program), memory(after, new.program));
        let apart = before.iter().filter(|(name, value)| after.get(*name) != Some(value));
        let apart: Vec<_> = apart.map(|(name, value)| format!("{name}: {value}")).collect();
        (before != after).then(|| (apart.join(", "), parted.acts()))
    })
}

/// The last results in a session of other tools that return the same as this one.
fn seen_results(side: &Side, played: &PlayedSession<'_>, wire: &str) -> Vec<Json> {
    let returns = |wire: &str| side.tool(wire).and_then(|t| side.program.tools[t].returns.as_ref());
    let seen = played.steps.iter().rev().filter_map(|step| match &step.act {
        Act::Call { tool, then: Then::Succeeds(Some(result)), .. }
            if returns(wire).is_some_and(|own| returns(tool) == Some(own)) =>
        {
            Some(result.clone())
        }
        _ => None,
    });
    seen.take(SEEN).collect()
}

/// The variables, facts and spending that a session remembers, by name.
fn memory(session: &Reference, program: &Program) -> BTreeMap<String, String> {
    let vars = session.state().map(|(name, value)| (name.to_string(), format!("{value:?}")));
    let rows = |at: usize| session.rows_of(at).map(|row| format!("{row:?}")).collect::<Vec<_>>();
    let facts =
        program.facts.iter().enumerate().map(|(at, f)| (f.name.clone(), rows(at).join(" ")));
    let spent = session.spent().map(|(unit, amount)| (format!("spent {unit}"), amount.to_string()));
    vars.chain(facts).chain(spent).collect()
}

/// The clauses of these kinds as they compare, and the handling of results that are not read, with the tool by wire name.
fn clauses(program: &Program, kinds: fn(&ClauseKind) -> bool) -> BTreeSet<(String, String)> {
    let of = |tool: &Tool| {
        let clauses = Canon(program).clauses(tool).into_iter();
        let texts = clauses.filter(|(clause, _)| kinds(&clause.kind)).map(|(_, text)| text);
        let texts = texts.chain([format!("{:?}", tool.undecoded)]);
        texts.map(|text| (tool.wire_name.clone(), text)).collect::<Vec<_>>()
    };
    program.tools.iter().flat_map(of).collect()
}

/// The members of arguments and results that the clauses of one guard only are about, by name.
fn read_otherwise(programs: [&Program; 2]) -> BTreeSet<String> {
    let [old, new] = programs.map(|program| clauses(program, |_| true));
    let mut names = BTreeSet::new();
    for (program, other) in programs.into_iter().zip([new, old]) {
        let mut vars = BTreeSet::new();
        let mut each = |tool: &Tool, kind: &ClauseKind, vars: &mut BTreeSet<usize>| {
            exprs_of(kind, &mut |e| {
                e.walk(&mut |e| match &e.kind {
                    ExprKind::Param(at) => _ = names.insert(tool.params[*at as usize].name.clone()),
                    ExprKind::State(var) => _ = vars.insert(*var),
                    ExprKind::Field(of, at) => {
                        if let Type::Record(id) = of.ty.required() {
                            names.insert(program.records[*id].fields[*at as usize].wire.clone());
                        }
                    }
                    _ => {}
                });
            });
        };
        for tool in &program.tools {
            for (clause, text) in Canon(program).clauses(tool) {
                if !other.contains(&(tool.wire_name.clone(), text)) {
                    each(tool, &clause.kind, &mut vars);
                }
            }
        }
        // What they read of the session, results have told.
        for tool in &program.tools {
            for clause in &tool.clauses {
                if let ClauseKind::Observe { target, .. } = &clause.kind
                    && vars.contains(&target.var)
                {
                    each(tool, &clause.kind, &mut BTreeSet::new());
                }
            }
        }
    }
    names
}

fn writes(kind: &ClauseKind) -> bool {
    use ClauseKind::{Costs, Effect, Learn, Observe};
    matches!(kind, Effect { .. } | Observe { .. } | Learn(_) | Costs { .. })
}

fn adds(kind: &ClauseKind) -> bool {
    matches!(kind, ClauseKind::Effect { .. } | ClauseKind::Costs { .. })
}

fn halts(kind: &ClauseKind) -> bool {
    matches!(kind, ClauseKind::Observe { .. } | ClauseKind::Reconcile { .. })
}

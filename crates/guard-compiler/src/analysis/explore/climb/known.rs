//! Sessions in which all guards allow a call of a tool, found one tool after another.
//!
//! A session of one tool is most of the way to a call of the next: what both depend on has happened in it.

use super::{Climber, Players, Score, SessionDraft, distance};
use crate::analysis::explore::session::Act;
use crate::analysis::explore::slice::tools_for;
use std::collections::BTreeMap;

/// The sessions that are known, and the search for more.
pub(crate) struct KnownCalls<'s, 'p> {
    players: Players<'s, 'p>,
    stop: &'s dyn Fn() -> bool,
    /// How many calls may still be judged.
    pub left: usize,
    /// By wire name: a session in which all guards allow the call at its end, missing approvals aside.
    found: BTreeMap<String, SessionDraft>,
    /// The rounds that a tool had without one being found.
    tried: BTreeMap<String, usize>,
}

impl<'s, 'p> KnownCalls<'s, 'p> {
    /// None known yet. At most `left` calls are judged.
    pub fn new(players: Players<'s, 'p>, left: usize, stop: &'s dyn Fn() -> bool) -> Self {
        KnownCalls { players, stop, left, found: BTreeMap::new(), tried: BTreeMap::new() }
    }

    /// The session of a tool, if it is known.
    pub fn get(&self, wire: &str) -> Option<&SessionDraft> {
        self.found.get(wire)
    }

    /// Adds sessions that were found otherwise.
    pub fn extend(&mut self, found: impl IntoIterator<Item = (String, SessionDraft)>) {
        self.found.extend(found);
    }

    /// The tools that may matter to this one, by wire name; it comes first.
    pub fn slice(&self, wire: &str) -> Vec<String> {
        tools_for(self.players.guards.iter().map(|guard| guard.program), wire)
    }

    /// A search for calls of the first of these tools. Another `salt` begins it elsewhere.
    pub fn climber<'w>(&self, slice: &'w [String], salt: usize) -> Climber<'w, 'p>
    where
        's: 'w,
    {
        Climber::new(self.players.clone(), &slice[0], slice.to_vec(), salt)
    }

    /// Looks for the sessions of these tools in rounds, with so many calls judged of each tool in each. A round begins with
    /// what those before have found. Tools that depend on little come first, since others go on from them. `seeds` are
    /// sessions to begin with. The search ends where the session of `until` is known.
    pub fn find(
        &mut self,
        tools: &[String],
        until: Option<&str>,
        rounds: &[usize],
        seeds: &[Vec<Act>],
    ) {
        let wanted = tools.iter().filter(|wire| self.get(wire).is_none());
        let mut wanted: Vec<Vec<String>> = wanted.map(|wire| self.slice(wire)).collect();
        wanted.sort_by_key(|slice| (slice.len(), slice[0].clone()));
        for (round, most) in rounds.iter().enumerate() {
            for slice in &wanted {
                let wire = &slice[0];
                if until.is_some_and(|until| self.get(until).is_some()) {
                    return;
                }
                let tried = self.tried.get(wire).is_some_and(|tried| *tried > round);
                if self.get(wire).is_none() && !tried && !(self.stop)() {
                    self.tried.insert(wire.clone(), round + 1);
                    self.look_for(slice, (round, *most), seeds);
                }
            }
        }
    }

    /// Looks for a session in which all guards allow a call of the first of these tools.
    fn look_for(&mut self, slice: &[String], (round, most): (usize, usize), seeds: &[Vec<Act>]) {
        let mut climber = self.climber(slice, round);
        // Every other round begins with drawn sessions: the known ones may lead nowhere.
        let known = slice.iter().filter(|_| round % 2 == 1).filter_map(|wire| self.get(wire));
        let mut drafts: Vec<SessionDraft> = known.filter_map(|draft| climber.like(draft)).collect();
        drafts.extend(seeds.iter().flat_map(|acts| climber.prefixes(acts)));
        let mut found = None;
        climber.climb(
            drafts,
            most.min(self.left),
            self.stop,
            &mut |played, last, verdicts, oracle| match verdicts.iter().map(distance).sum() {
                0 => {
                    found = Some(SessionDraft {
                        acts: played.acts(),
                        last: last.clone(),
                        kind: oracle.kind,
                    });
                    Score::Found
                }
                open => Score::Distance(open),
            },
        );
        self.left = self.left.saturating_sub(climber.judged);
        self.found.extend(found.map(|draft| (slice[0].clone(), draft)));
    }
}

//! The states that may follow a state: after a call, in every world that matters to it, or after another event.

use super::super::inputs::{read, written};
use super::super::session::{Act, ExploredEnding, SessionStep, call_id};
use super::super::world::Oracle;
use super::{Search, SearchGoal, roles, step};
use crate::analysis::reference::{Judgement, ReferenceSession};
use crate::hir::{ToolId, Transition};
use guard_plan::plan::Actor;
use guard_plan::value::Value;
use guard_plan::verdict::{Code, Decision};

/// Most other worlds that one call is tried in.
const MOST_WORLDS: usize = 6;

/// A call to be tried.
#[derive(Clone)]
pub(crate) struct Trial {
    pub tool: ToolId,
    pub args: Vec<Value>,
}

impl<'s, 'p> Search<'s, 'p> {
    pub(super) fn expand(&mut self, at: usize) {
        for tool in self.slice.tools.clone() {
            let inputs = if self.is_aim(tool) { self.wide } else { self.inputs };
            let mut calls = inputs.calls(tool, &self.nodes[at].session);
            // What was allowed before is worth trying again.
            let known = self.allowed_args(tool).filter(|known| !calls.contains(known));
            calls.extend(known);
            for args in calls {
                if self.is_spent() {
                    // No other state may be left to find that out.
                    self.cut = true;
                    return;
                }
                self.call(at, &Trial { tool, args });
            }
        }
        let acts = self.events(at);
        for what in acts {
            self.happens(at, what);
        }
    }

    /// The arguments with which a tool was allowed, in the session that is known.
    fn allowed_args(&self, tool: ToolId) -> Option<Vec<Value>> {
        let step = self.found.tools[tool].as_ref()?.steps.last()?;
        let Act::Call { args, .. } = &step.act else { return None };
        read(self.program, &self.nodes.first()?.session, tool, args)
    }

    /// Returns the events that may happen besides calls.
    fn events(&self, at: usize) -> Vec<Act> {
        let session = &self.nodes[at].session;
        let mut acts = Vec::new();
        if session.halted() {
            acts.push(Act::Resume);
        }
        acts.extend(self.inputs.prompts(session).into_iter().map(Act::Prompt));
        for (id, lifecycle) in self.program.lifecycles.iter().enumerate() {
            for (item, (state, _)) in session.item_states(id).enumerate() {
                let name = format!("{}-{}", lifecycle.name, item + 1);
                let harness =
                    |t: &&Transition| t.actor == Actor::Harness && t.from.contains(&state);
                let steps: Vec<_> = lifecycle.transitions.iter().filter(harness).collect();
                if steps.iter().any(|t| t.criteria == Some(true)) {
                    acts.push(Act::Verify(name.clone()));
                }
                let by_hand = steps.iter().filter(|t| t.criteria.is_none());
                acts.extend(by_hand.map(|t| Act::Move(name.clone(), t.name.clone())));
            }
        }
        acts.extend(self.inputs.waits(self.questions, session).into_iter().map(Act::Wait));
        acts
    }

    fn happens(&mut self, at: usize, what: Act) {
        let base = Oracle::new(self.program, self.answers, true);
        let mut worlds = vec![base];
        let mut next = 0;
        while next < worlds.len() {
            let mut session = self.nodes[at].session.clone();
            let before: Vec<Vec<(usize, u64)>> = self.items(&session);
            let done = step(&mut session, what.clone(), &worlds[next]);
            self.cut |= branch(&mut worlds, next);
            next += 1;
            let Some(done) = done else { continue };
            self.moved(at, &before, &session, &done);
            self.follow(at, session, vec![done]);
        }
    }

    pub(super) fn items(&self, session: &ReferenceSession) -> Vec<Vec<(usize, u64)>> {
        (0..self.program.lifecycles.len()).map(|id| session.item_states(id).collect()).collect()
    }

    /// Tries a call in the worlds that matter to it.
    fn call(&mut self, at: usize, trial: &Trial) {
        let base = Oracle::new(self.program, self.answers, false);
        let mut worlds = vec![base];
        let mut next = 0;
        while next < worlds.len() {
            let oracle = &worlds[next];
            let judged = self.consider(at, trial, oracle);
            self.cut |= branch(&mut worlds, next);
            let oracle = worlds[next].again();
            next += 1;
            self.note(at, trial, &judged, &oracle);
            match judged.decision {
                Decision::Allow => self.allowed(at, trial, Vec::new(), &oracle),
                Decision::Ask | Decision::Deny if is_approvable(&judged) => {
                    let roles = roles(&judged);
                    self.allowed(at, trial, roles, &oracle);
                }
                _ if lacks_approval(&judged) => self.note_approved(at, trial, &judged, &oracle),
                _ => {}
            }
        }
    }

    pub fn consider(&mut self, at: usize, trial: &Trial, oracle: &Oracle) -> Judgement {
        self.judged += 1;
        self.nodes[at].session.consider(trial.tool, &trial.args, &|ask| oracle.answer(ask))
    }

    pub fn proposal(&self, at: usize, trial: &Trial, then: ExploredEnding) -> Act {
        let session = &self.nodes[at].session;
        Act::Call {
            id: call_id(session.past().count()),
            tool: self.program.tools[trial.tool].wire_name.clone(),
            args: written(self.program, session, trial.tool, &trial.args),
            then,
        }
    }

    /// A call that is allowed, once these roles have approved it: its outcomes.
    fn allowed(&mut self, at: usize, trial: &Trial, roles: Vec<String>, oracle: &Oracle) {
        let mut ends: Vec<ExploredEnding> = Vec::new();
        let served = self.program.tools[trial.tool].is_served();
        for result in self.inputs.results(trial.tool, &self.nodes[at].session) {
            ends.push(ExploredEnding::Succeeds(result));
        }
        if self.questions.failures.contains(&trial.tool) && !served {
            ends.push(ExploredEnding::Fails);
        }
        // Where everything is tried, what is merely asked after is tried unread, too.
        let unread = self.inputs.whole && self.questions.unread.contains(&trial.tool);
        if unread || self.questions.clears.contains(&trial.tool) {
            ends.push(ExploredEnding::Unreadable);
        }
        for end in ends {
            let mut session = self.nodes[at].session.clone();
            let what = self.proposal(at, trial, end.clone());
            let mut steps = Vec::new();
            for role in &roles {
                let Act::Call { tool, args, .. } = &what else { continue };
                let tool = tool.clone();
                let args = args.clone();
                let role = role.clone();
                let approval = Act::Approve { tool, args, role };
                steps.extend(step(&mut session, approval, &oracle.again()));
            }
            let approved = (session, steps);
            let mut worlds = vec![oracle.again()];
            let mut next = 0;
            while next < worlds.len() {
                let (mut session, mut steps) = approved.clone();
                let done = step(&mut session, what.clone(), &worlds[next]);
                self.cut |= !worlds[next].is_simple();
                if next == 0 {
                    let asked = oracle.answers().len();
                    let more = worlds[0].others_after(asked);
                    worlds.extend(more.into_iter().take(MOST_WORLDS));
                }
                next += 1;
                let Some(done) = done else { continue };
                if done.said.decision != Some(Decision::Allow) {
                    continue;
                }
                steps.push(done);
                self.heard(at, &steps);
                self.taken(at, trial, &steps);
                self.follow(at, session, steps);
            }
        }
    }

    fn follow(&mut self, at: usize, session: ReferenceSession<'p>, steps: Vec<SessionStep>) {
        if let Some(next) = self.admit(session, Some(at), steps, (0, None))
            && !self.nodes[at].next.contains(&next)
        {
            self.nodes[at].next.push(next);
        }
    }

    /// Returns true if the search aims at a call of this tool. Such a call is tried with every input.
    fn is_aim(&self, tool: ToolId) -> bool {
        match self.goal {
            Some(SearchGoal::Tool(aim)) => aim == tool,
            Some(SearchGoal::Rule(rule)) => {
                let span = self.rules[rule].span;
                self.program.tools[tool].clauses.iter().any(|clause| clause.rule.span == span)
            }
            _ => false,
        }
    }
}

/// Adds the worlds that differ from the first, once it was run in. Whether there are others that are left out.
pub(super) fn branch(worlds: &mut Vec<Oracle>, ran: usize) -> bool {
    if ran > 0 {
        return worlds[ran].is_asked_more(&worlds[0]);
    }
    let others = worlds[0].others();
    let left_out = !worlds[0].is_simple();
    if !others.is_empty() {
        let reversed = worlds[0].reversed();
        worlds.extend(others.into_iter().take(MOST_WORLDS));
        worlds.push(reversed);
    }
    left_out
}

/// Returns true if only approvals are missing.
fn is_approvable(judged: &Judgement) -> bool {
    judged.reasons.iter().all(|(code, ..)| matches!(code, Code::Approval | Code::Gated))
}

/// Returns true if an approval is missing, possibly among other things.
fn lacks_approval(judged: &Judgement) -> bool {
    judged.reasons.iter().any(|(code, ..)| matches!(code, Code::Approval | Code::Gated))
}

//! Observations during a search: goals and stops in a state, rules that fire, tools that are allowed.

use super::super::rules::{self, RuleKind};
use super::super::session::{Act, ExploredEnding, SessionStep};
use super::super::world::Oracle;
use super::successors::{Trial, branch};
use super::{Search, longer};
use crate::analysis::reference::{Judgement, ReferenceSession};
use crate::hir::{ServedOp, Trigger};
use guard_plan::value::Value;
use guard_plan::verdict::{Code, Decision};
use guard_syntax::span::Span;

impl<'s, 'p> Search<'s, 'p> {
    /// Records what a state itself reaches: goals, and a stop that is allowed.
    pub(super) fn look(&mut self, at: usize) {
        for goal in 0..self.program.goals.len() {
            if longer(&self.found.goals[goal], self.nodes[at].depth) && self.reached(goal, at) {
                self.found.goals[goal] = Some(self.path(at));
            }
        }
        if self.program.completion.is_none() {
            return;
        }
        let mut worlds = vec![Oracle::new(self.program, self.answers, true)];
        let mut next = 0;
        while next < worlds.len() {
            let step = self.step_in(at, Act::Stop, &worlds[next]);
            self.cut |= branch(&mut worlds, next);
            next += 1;
            let Some(step) = step else { continue };
            self.stopped(at, step);
        }
    }

    pub(super) fn stopped(&mut self, at: usize, step: SessionStep) {
        let notes = &step.said.notes;
        if notes.is_empty() {
            self.nodes[at].completes = true;
            if longer(&self.found.completion, self.nodes[at].depth + 1) {
                self.found.completion = Some(self.with(at, vec![step]));
            }
            return;
        }
        for rule in 0..self.rules.len() {
            let goal = &self.rules[rule];
            let lacks = goal.kind == RuleKind::Check && notes.contains(&goal.text);
            let blocks = lacks && step.said.decision == Some(Decision::Deny);
            if blocks && longer(&self.found.rules[rule], self.nodes[at].depth + 1) {
                self.found.rules[rule] = Some(self.with(at, vec![step.clone()]));
            }
        }
    }

    pub(super) fn reached(&self, goal: usize, at: usize) -> bool {
        let session = &self.nodes[at].session;
        let oracle = Oracle::new(self.program, self.answers, true);
        let holds = |e| session.closed(e, &|ask| oracle.answer(ask)) == Ok(Value::Bool(true));
        self.program.goals[goal].conditions.iter().all(|(_, e)| holds(e))
    }

    /// The transitions that the harness has made.
    pub(super) fn moved(
        &mut self,
        at: usize,
        before: &[Vec<(usize, u64)>],
        after: &ReferenceSession,
        done: &SessionStep,
    ) {
        for (id, items) in self.items(after).into_iter().enumerate() {
            let lifecycle = &self.program.lifecycles[id];
            for ((from, _), (to, _)) in before[id].iter().zip(&items) {
                let made = |t: &&crate::hir::Transition| {
                    let named = match &done.act {
                        Act::Move(_, name) => t.name == *name,
                        Act::Verify(_) => t.criteria.is_some(),
                        _ => false,
                    };
                    named && t.to == *to && t.from.contains(from) && from != to
                };
                for step in lifecycle.transitions.iter().filter(made) {
                    self.transition(step.span, at, std::slice::from_ref(done));
                }
            }
        }
    }

    fn rule(&self, kind: RuleKind, span: Span) -> Option<usize> {
        self.rules.iter().position(|rule| rule.kind == kind && rule.span == span)
    }

    fn transition(&mut self, span: Span, at: usize, steps: &[SessionStep]) {
        let length = self.nodes[at].depth + steps.len();
        let rule = self.rule(RuleKind::Transition, span);
        if let Some(rule) = rule.filter(|rule| longer(&self.found.rules[*rule], length)) {
            self.found.rules[rule] = Some(self.with(at, steps.to_vec()));
        }
    }

    /// Keeps the session in which a rule speaks for the first time.
    pub(super) fn note(&mut self, at: usize, trial: &Trial, judged: &Judgement, oracle: &Oracle) {
        let new = self.new_rules(judged, self.nodes[at].depth + 1);
        let denied = judged.decision == Decision::Deny && self.waits_for_denial();
        if new.is_empty() && !denied {
            return;
        }
        let what = self.proposal(at, trial, ExploredEnding::Flies);
        let Some(done) = self.step_in(at, what, &oracle.again()) else { return };
        for rule in new {
            self.found.rules[rule] = Some(self.with(at, vec![done.clone()]));
        }
        self.heard(at, &[done]);
    }

    /// The same of a call that lacks approvals among other things, once it has them: what refuses it then refuses it alone.
    pub(super) fn note_approved(
        &mut self,
        at: usize,
        trial: &Trial,
        judged: &Judgement,
        oracle: &Oracle,
    ) {
        let what = self.proposal(at, trial, ExploredEnding::Flies);
        let Act::Call { tool, args, .. } = &what else { return };
        let mut session = self.nodes[at].session.clone();
        let mut steps = Vec::new();
        for role in super::roles(judged) {
            let approval = Act::Approve { tool: tool.clone(), args: args.clone(), role };
            steps.extend(super::step(&mut session, approval, &oracle.again()));
        }
        let again = oracle.again();
        self.judged += 1;
        let judged = session.consider(trial.tool, &trial.args, &|ask| again.answer(ask));
        let new = self.new_rules(&judged, self.nodes[at].depth + steps.len() + 1);
        if new.is_empty() {
            return;
        }
        let Some(done) = super::step(&mut session, what, &oracle.again()) else { return };
        steps.push(done);
        for rule in new {
            self.found.rules[rule] = Some(self.with(at, steps.clone()));
        }
    }

    /// The rules that a judgement shows, of which no session as short is known.
    fn new_rules(&self, judged: &Judgement, length: usize) -> Vec<usize> {
        let reasons = judged.all_reasons();
        // An invariant is what refuses a call only where nothing else does.
        let named = |owner: &String| self.program.invariants.iter().any(|i| i.rule.owner == *owner);
        let alone = judged.reasons.iter().all(|(code, owner, ..)| match code {
            Code::Invariant => true,
            Code::EvaluationError => named(owner),
            _ => false,
        });
        let counts = |rule: &usize| {
            alone || !matches!(self.rules[*rule].kind, RuleKind::Invariant | RuleKind::Monitor)
        };
        let new = |rule: &usize| counts(rule) && longer(&self.found.rules[*rule], length);
        let places = self.places.get_or_init(|| rules::Places::new(self.rules));
        places.fired(self.rules, &reasons, &judged.fired).into_iter().filter(new).collect()
    }

    /// Returns true if a provider with a trigger on denials has not spoken yet.
    pub(super) fn waits_for_denial(&self) -> bool {
        self.program.feedback.iter().any(|provider| {
            let mut triggers = provider.triggers.iter();
            let rule = self.rule(RuleKind::Feedback, provider.span);
            triggers.any(|trigger| matches!(trigger, Trigger::Denied(_)))
                && rule.is_some_and(|rule| self.found.rules[rule].is_none())
        })
    }

    /// Feedback that was given, and halts.
    pub(super) fn heard(&mut self, at: usize, steps: &[SessionStep]) {
        let Some(last) = steps.last() else { return };
        for rule in 0..self.rules.len() {
            let goal = &self.rules[rule];
            if !longer(&self.found.rules[rule], self.nodes[at].depth + steps.len()) {
                continue;
            }
            let speaks =
                goal.kind == RuleKind::Feedback && last.said.feedback.contains(&goal.owner);
            let halts = goal.kind == RuleKind::Reconcile
                && last.said.notes.iter().any(|note| {
                    *note == format!("halt: {}", goal.owner)
                        || *note == format!("shadow: {}", goal.owner)
                });
            if speaks || halts {
                self.found.rules[rule] = Some(self.with(at, steps.to_vec()));
            }
        }
    }

    /// A call has been allowed.
    pub(super) fn taken(&mut self, at: usize, trial: &Trial, steps: &[SessionStep]) {
        let length = self.nodes[at].depth + steps.len();
        if longer(&self.found.tools[trial.tool], length) {
            self.found.tools[trial.tool] = Some(self.with(at, steps.to_vec()));
        }
        let served = self.program.tools[trial.tool].served;
        if let Some(crate::hir::Served { lifecycle, op: ServedOp::Move(step) }) = served {
            let span = self.program.lifecycles[lifecycle].transitions[step as usize].span;
            self.transition(span, at, steps);
        }
    }

    /// A state from which nothing that was looked at may still complete; only where everything was.
    pub fn deadlock(&self) -> Option<usize> {
        if self.cut || self.program.completion.is_none() {
            return None;
        }
        let mut can: Vec<bool> =
            self.nodes.iter().map(|n| n.completes || n.session.halted()).collect();
        let mut changed = true;
        while changed {
            changed = false;
            // A state mostly leads to later ones, so this order needs the fewest rounds.
            for at in (0..self.nodes.len()).rev() {
                let may = can[at] || self.nodes[at].next.iter().any(|next| can[*next]);
                changed |= may != can[at];
                can[at] = may;
            }
        }
        (0..self.nodes.len()).filter(|at| !can[*at]).min_by_key(|at| (self.nodes[*at].depth, *at))
    }
}

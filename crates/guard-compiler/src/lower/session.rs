//! The session-wide items: sources, lifecycles, feedback, completion, attests, goals.

use super::{Lowering, lessons};
use crate::hir::{self, ExprKind};
use guard_plan::plan::{self, CheckKind, Touch};

impl Lowering<'_> {
    pub(super) fn probe(&self, probe: &hir::Probe) -> plan::Probe {
        plan::Probe {
            name: probe.name.clone(),
            returns: self.tables.ty(&probe.returns),
            forms: Some(probe.forms).filter(|forms| !forms.is_own()),
            asks: match &probe.asks {
                hir::ProbeAsks::Host => plan::ProbeAsks::Host,
                hir::ProbeAsks::Command(command) => {
                    plan::ProbeAsks::Command(self.tables.command(command))
                }
                hir::ProbeAsks::File(path) => plan::ProbeAsks::File(self.tables.path(path)),
            },
            every: probe.every,
            backoff: probe.backoff.clone(),
            timeout: probe.timeout,
            within: probe.within,
        }
    }

    pub(super) fn sources(&self) -> Vec<plan::Source> {
        let program = self.program;
        let mut sources: Vec<plan::Source> = Vec::new();
        for source in &program.sources {
            let lessons = source.learns.iter().map(|(rule, learn)| (rule, learn));
            let mut learns = Vec::new();
            for at in lessons::order(program, None, lessons) {
                let (rule, learn) = &source.learns[at];
                let rule = self.rule(rule);
                learns.push(self.learn(rule, learn));
            }
            sources.push(plan::Source { kind: source.kind, learns });
        }
        // A session is opened before it has a prompt.
        sources.sort_by_key(|source| source.kind != plan::SourceKind::Start);
        sources
    }

    pub(super) fn lifecycle(&self, lifecycle: &hir::Lifecycle) -> plan::Lifecycle {
        let states = self.tables.states(lifecycle);
        let numbers = |places: &[usize]| {
            let mut numbers: Vec<u32> = places.iter().map(|at| states.id(*at)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        let transitions = self.tables.transitions(lifecycle).lowered(|at| {
            let transition = &lifecycle.transitions[at];
            plan::Transition {
                name: transition.name.clone(),
                span: self.span(transition.span),
                actor: transition.actor,
                from: numbers(&transition.from),
                to: states.id(transition.to),
                evidence: transition.evidence,
                criteria: transition.criteria,
            }
        });
        let mut criteria = lifecycle.criteria.clone();
        criteria.sort_unstable();
        criteria.dedup();
        plan::Lifecycle {
            name: lifecycle.name.clone(),
            doc: lifecycle.doc.clone(),
            span: self.span(lifecycle.span),
            fields: lifecycle.fields.iter().map(|field| self.field(field)).collect(),
            states: states.lowered(|at| lifecycle.states[at].clone()),
            initial: states.id(lifecycle.initial),
            finals: numbers(&lifecycle.finals),
            transitions,
            criteria,
            escalate: lifecycle.escalate.clone(),
        }
    }

    /// Returns the action of the kernel for a tool that it serves.
    pub(super) fn served(&self, served: hir::Served) -> plan::Served {
        let lifecycle = &self.program.lifecycles[served.lifecycle];
        let op = match served.op {
            hir::ServedOp::Move(at) => {
                hir::ServedOp::Move(self.tables.transitions(lifecycle).id(at as usize))
            }
            other => other,
        };
        plan::Served { lifecycle: self.tables.lifecycles.id(served.lifecycle), op }
    }

    pub(super) fn feedback(&self, feedback: &hir::Feedback) -> plan::Feedback {
        let span = self.span(feedback.span);
        let mut triggers: Vec<plan::Trigger> =
            feedback.triggers.iter().map(|trigger| self.trigger(trigger)).collect();
        triggers.sort_by_cached_key(|trigger| format!("{trigger:?}"));
        let block = |block: &hir::Block| plan::Block {
            severity: block.severity,
            when: self.optional(&block.when),
            message: self.message(&block.message, &[]),
            notes: block
                .notes
                .iter()
                .map(|(suggest, text)| plan::Line {
                    suggest: *suggest,
                    text: self.message(text, &[]),
                })
                .collect(),
        };
        let blocks = feedback.blocks.iter().map(block).collect();
        plan::Feedback { name: feedback.name.clone(), span, triggers, blocks }
    }

    fn trigger(&self, trigger: &hir::Trigger) -> plan::Trigger {
        match trigger {
            hir::Trigger::Calls(n) => plan::Trigger::Calls(*n),
            hir::Trigger::Every(every) => plan::Trigger::Every(*every),
            hir::Trigger::Created(path) => plan::Trigger::Created(self.tables.path(path)),
            hir::Trigger::Denied(tools) => plan::Trigger::Denied(tools.as_ref().map(|tools| {
                let mut ids: Vec<u32> = tools.iter().map(|t| self.tables.tools.id(*t)).collect();
                ids.sort_unstable();
                ids.dedup();
                ids
            })),
            hir::Trigger::Becomes(condition) => plan::Trigger::Becomes {
                condition: self.expr(condition),
                reads: self.reads(condition),
            },
        }
    }

    /// Returns the events that can change a condition; `None` if time or the world can change it.
    fn reads(&self, condition: &hir::Expr) -> Option<Vec<Touch>> {
        let tables = &self.tables;
        let history = |tool: &usize| Touch::History(tables.tools.id(*tool));
        let mut reads: Vec<Touch> = Vec::new();
        let mut settled = true;
        condition.walk(&mut |e| match &e.kind {
            ExprKind::State(var) => reads.push(Touch::State(tables.state.id(*var))),
            ExprKind::Row(fact, _) | ExprKind::Known(fact, _) | ExprKind::Rows(fact) => {
                reads.push(Touch::Fact(tables.facts.id(*fact)));
            }
            ExprKind::Called { tool, since, within: None, .. }
            | ExprKind::Failed { tool, since, within: None } => {
                reads.push(history(tool));
                reads.extend(since.as_ref().map(history));
            }
            ExprKind::Calls { tool, recent: None, .. }
            | ExprKind::LastArg(tool, _)
            | ExprKind::LastResult(tool) => reads.push(history(tool)),
            ExprKind::Called { .. }
            | ExprKind::Failed { .. }
            | ExprKind::Calls { .. }
            | ExprKind::Now
            | ExprKind::Elapsed
            | ExprKind::Said
            | ExprKind::Clock(_)
            | ExprKind::RemainingTime
            | ExprKind::Remaining(_)
            | ExprKind::Spent(_)
            | ExprKind::Temporal(..)
            | ExprKind::Exists(_)
            | ExprKind::Probe(_)
            | ExprKind::Origin(_)
            | ExprKind::Seen(_)
            | ExprKind::MayRead(..) => settled = false,
            _ => {}
        });
        reads.sort_unstable();
        reads.dedup();
        settled.then_some(reads)
    }

    pub(super) fn completion(&self, completion: &hir::Completion) -> plan::Completion {
        let span = self.span(completion.span);
        let mut checks = Vec::new();
        let children = completion.checks.iter().map(|check| self.check(check, &mut checks));
        let kind = CheckKind::All(children.collect());
        checks.push(plan::Check { kind, text: "all".into(), span });
        plan::Completion { span, at_most: completion.at_most, checks: plan::Checks(checks) }
    }

    pub(super) fn attest(&self, attest: &hir::Attest) -> plan::Attest {
        let span = self.span(attest.span);
        let mut dimensions: Vec<plan::Dimension> = Vec::new();
        for (name, check) in &attest.dimensions {
            let mut checks = Vec::new();
            self.check(check, &mut checks);
            dimensions.push(plan::Dimension { name: name.clone(), checks: plan::Checks(checks) });
        }
        dimensions.sort_by(|a, b| a.name.cmp(&b.name));
        plan::Attest { name: attest.name.clone(), span, dimensions }
    }

    /// Appends a check after its children, and returns its position.
    fn check(&self, check: &hir::Check, out: &mut Vec<plan::Check>) -> u32 {
        let span = self.span(check.span);
        let kind = match &check.kind {
            hir::CheckKind::File(path) => CheckKind::File(self.tables.path(path)),
            hir::CheckKind::Contains(path, text) => {
                CheckKind::Contains(self.tables.path(path), text.clone())
            }
            hir::CheckKind::Conforms(path, contract) => {
                CheckKind::Conforms(self.tables.path(path), self.tables.contracts.id(*contract))
            }
            hir::CheckKind::Command(command, exits) => {
                CheckKind::Command(self.tables.command(command), *exits)
            }
            hir::CheckKind::Committed => CheckKind::Committed,
            hir::CheckKind::Every(lifecycle, state) => {
                let states = self.tables.states(&self.program.lifecycles[*lifecycle]);
                CheckKind::Every(self.tables.lifecycles.id(*lifecycle), states.id(*state))
            }
            hir::CheckKind::Attest(attest) => CheckKind::Attest(self.tables.attests.id(*attest)),
            hir::CheckKind::All(checks) => {
                CheckKind::All(checks.iter().map(|check| self.check(check, out)).collect())
            }
            hir::CheckKind::Any(checks) => {
                CheckKind::Any(checks.iter().map(|check| self.check(check, out)).collect())
            }
            hir::CheckKind::Condition(condition) => CheckKind::Condition(self.expr(condition)),
            hir::CheckKind::Score(score) => CheckKind::Score(self.expr(score)),
        };
        out.push(plan::Check { kind, text: check.text.clone(), span });
        (out.len() - 1) as u32
    }

    pub(super) fn goal(&self, goal: &hir::Goal) -> plan::Goal {
        let conditions = goal.conditions.iter().map(|(text, e)| (text.clone(), self.expr(e)));
        let mut conditions: Vec<(String, plan::Expr)> = conditions.collect();
        conditions.sort_by(|a, b| a.0.cmp(&b.0));
        let span = self.span(goal.span);
        plan::Goal { name: goal.name.clone(), doc: goal.doc.clone(), span, conditions }
    }
}

/// Visits every span of the parts lowered here, in the order of their numbers.
pub(super) fn spans(plan: &mut plan::Plan) -> impl Iterator<Item = &mut plan::SpanId> {
    let sources = plan.sources.iter_mut().flat_map(|s| &mut s.learns).map(|l| &mut l.rule.span);
    let lifecycles = plan.lifecycles.iter_mut().flat_map(|lifecycle| {
        std::iter::once(&mut lifecycle.span)
            .chain(lifecycle.transitions.iter_mut().map(|t| &mut t.span))
    });
    let feedback = plan.feedback.iter_mut().map(|f| &mut f.span);
    let attests = plan.attests.iter_mut().flat_map(|attest| {
        let checks = attest.dimensions.iter_mut().flat_map(|d| &mut d.checks.0);
        std::iter::once(&mut attest.span).chain(checks.map(|check| &mut check.span))
    });
    let completion = plan.completion.iter_mut().flat_map(|completion| {
        let checks = completion.checks.0.iter_mut().map(|check| &mut check.span);
        std::iter::once(&mut completion.span).chain(checks)
    });
    let goals = plan.goals.iter_mut().map(|goal| &mut goal.span);
    let contracts = plan.contracts.iter_mut().flat_map(|contract| {
        let references = contract.references.iter_mut().map(|reference| &mut reference.span);
        std::iter::once(&mut contract.span).chain(references)
    });
    let first = sources.chain(lifecycles).chain(feedback).chain(attests);
    first.chain(completion).chain(goals).chain(contracts)
}

//! The structure of the session-wide parts of a plan: probes, sources, lifecycles, feedback,
//! completion, goals.

use super::expression::ExpressionScope;
use super::{PlanChecker, ValidationResult, ascending, ensure, in_range, unique};
use crate::plan::*;
use crate::value::DECIMAL_ONE;

/// The maximum number of checks of a completion or of a dimension.
const MAX_CHECKS: usize = 10_000;
/// The maximum nesting depth of checks.
const MAX_CHECK_DEPTH: u32 = 64;
/// The maximum number of words of a command.
const MAX_WORDS: usize = 1000;

impl PlanChecker<'_> {
    pub(super) fn session(&mut self) -> ValidationResult {
        let plan = self.plan;
        ascending(plan.lifecycles.iter().map(|lifecycle| &lifecycle.name), "lifecycles")?;
        ascending(plan.feedback.iter().map(|provider| &provider.name), "providers of feedback")?;
        ascending(plan.attests.iter().map(|attest| &attest.name), "attests")?;
        ascending(plan.goals.iter().map(|goal| &goal.name), "goals")?;
        for (id, command) in plan.commands.iter().enumerate() {
            command_line(command).map_err(|why| format!("command {id}: {why}"))?;
        }
        for probe in &plan.probes {
            self.probe(probe).map_err(|why| format!("probe `{}`: {why}", probe.name))?;
        }
        for source in &plan.sources {
            let prompt = source.kind == SourceKind::Prompt;
            let scope =
                ExpressionScope { text: prompt, result: !prompt, ..ExpressionScope::COMMITTED };
            source.learns.iter().try_for_each(|learn| {
                self.learn(&scope, learn).map_err(|why| format!("a source: {why}"))
            })?;
        }
        for lifecycle in &plan.lifecycles {
            self.lifecycle(lifecycle)
                .map_err(|why| format!("lifecycle `{}`: {why}", lifecycle.name))?;
        }
        for feedback in &plan.feedback {
            self.feedback(feedback)
                .map_err(|why| format!("feedback `{}`: {why}", feedback.name))?;
        }
        self.ends()
    }

    /// Checks the goals and the completion of a session.
    fn ends(&mut self) -> ValidationResult {
        let plan = self.plan;
        for attest in &plan.attests {
            let within = |why: String| format!("attest `{}`: {why}", attest.name);
            ensure(!attest.dimensions.is_empty(), || within("it has no dimensions".into()))?;
            ascending(attest.dimensions.iter().map(|dimension| &dimension.name), "its dimensions")
                .map_err(within)?;
            for dimension in &attest.dimensions {
                self.checks(&dimension.checks, true).map_err(within)?;
            }
        }
        if let Some(completion) = &plan.completion {
            self.checks(&completion.checks, false).map_err(|why| format!("completion: {why}"))?;
        }
        for goal in &plan.goals {
            for (_, condition) in &goal.conditions {
                self.expression(&ExpressionScope::COMMITTED, condition)
                    .map_err(|why| format!("goal `{}`: {why}", goal.name))?;
            }
        }
        Ok(())
    }

    fn probe(&mut self, probe: &Probe) -> ValidationResult {
        self.ty(probe.returns)?;
        match probe.asks {
            ProbeAsks::Host => {}
            ProbeAsks::Command(id) => in_range(id, self.plan.commands.len(), "command")?,
            ProbeAsks::File(id) => in_range(id, self.plan.paths.len(), "path")?,
        }
        let positive = |span: Option<Millis>| span.is_none_or(|span| span > 0);
        let spans = positive(probe.every) && positive(probe.within) && probe.timeout > 0;
        ensure(spans, || "a duration that is not positive".into())?;
        let sound = |backoff: &Backoff| backoff.factor >= DECIMAL_ONE && backoff.up_to > 0;
        ensure(probe.backoff.as_ref().is_none_or(sound), || "its back-off".into())
    }

    fn lifecycle(&mut self, lifecycle: &Lifecycle) -> ValidationResult {
        let states = lifecycle.states.len();
        unique(lifecycle.states.iter().map(String::as_str), "state")?;
        in_range(lifecycle.initial, states, "state")?;
        ascending(lifecycle.finals.iter(), "its final states")?;
        lifecycle.finals.iter().try_for_each(|state| in_range(*state, states, "state"))?;
        unique(lifecycle.fields.iter().map(|field| &*field.name), "field")?;
        lifecycle.fields.iter().try_for_each(|field| self.ty(field.ty))?;
        ascending(lifecycle.criteria.iter(), "its criteria")?;
        unique(lifecycle.transitions.iter().map(|transition| &*transition.name), "transition")?;
        for transition in &lifecycle.transitions {
            transition_of(lifecycle, transition)
                .map_err(|why| format!("transition `{}`: {why}", transition.name))?;
        }
        let after = lifecycle.escalate.as_ref().is_none_or(|escalate| escalate.after > 0);
        ensure(after, || "it escalates after no rejections".into())
    }

    fn feedback(&mut self, feedback: &Feedback) -> ValidationResult {
        ensure(!feedback.blocks.is_empty(), || "it has no blocks".into())?;
        feedback.triggers.iter().try_for_each(|trigger| self.trigger(trigger))?;
        for block in &feedback.blocks {
            self.optional(&ExpressionScope::COMMITTED, &block.when)?;
            self.message(&block.message)?;
            block.notes.iter().try_for_each(|line| self.message(&line.text))?;
        }
        Ok(())
    }

    fn message(&mut self, message: &Message) -> ValidationResult {
        for show in message.values() {
            self.ty(show.ty)?;
            self.expression(&ExpressionScope::COMMITTED, &show.expr)?;
        }
        Ok(())
    }

    fn trigger(&mut self, trigger: &Trigger) -> ValidationResult {
        match trigger {
            Trigger::Calls(count) => ensure(*count > 0, || "every 0 calls".into()),
            Trigger::Every(span) => ensure(*span > 0, || "a duration that is not positive".into()),
            Trigger::Created(path) => in_range(*path, self.plan.paths.len(), "path"),
            Trigger::Denied(None) => Ok(()),
            Trigger::Denied(Some(tools)) => {
                ascending(tools.iter(), "its tools")?;
                tools.iter().try_for_each(|tool| self.tool_id(*tool))
            }
            Trigger::Becomes { condition, reads } => {
                self.touches(reads.as_deref().unwrap_or_default(), "what it reads")?;
                self.expression(&ExpressionScope::COMMITTED, condition)
            }
        }
    }

    /// Checks a tree of checks, each of which is used once. Only dimensions of an attest may use
    /// scores.
    fn checks(&mut self, checks: &Checks, scores: bool) -> ValidationResult {
        let all = &checks.0;
        ensure(!all.is_empty(), || "it has no checks".into())?;
        ensure(all.len() <= MAX_CHECKS, || format!("more than {MAX_CHECKS} checks"))?;
        let mut used = vec![false; all.len()];
        let mut depths: Vec<u32> = Vec::with_capacity(all.len());
        for (id, check) in all.iter().enumerate() {
            let mut depth = 1;
            let children: &[u32] = match &check.kind {
                CheckKind::All(children) | CheckKind::Any(children) => {
                    ensure(!children.is_empty(), || format!("check {id}: it holds none"))?;
                    children
                }
                _ => &[],
            };
            for child in children {
                let child = *child as usize;
                ensure(child < id && !used[child], || format!("check {id}: its children"))?;
                used[child] = true;
                depth = depth.max(depths[child] + 1);
            }
            ensure(depth <= MAX_CHECK_DEPTH, || format!("check {id}: nests too deep"))?;
            depths.push(depth);
            self.check(&check.kind, scores).map_err(|why| format!("check {id}: {why}"))?;
        }
        let unused = used.iter().filter(|used| !**used).count();
        ensure(unused == 1 && !used[all.len() - 1], || "checks that are not used".into())
    }

    fn check(&mut self, kind: &CheckKind, scores: bool) -> ValidationResult {
        let plan = self.plan;
        match kind {
            CheckKind::File(path) | CheckKind::Contains(path, _) => {
                in_range(*path, plan.paths.len(), "path")
            }
            CheckKind::Conforms(path, contract) => {
                in_range(*path, plan.paths.len(), "path")?;
                in_range(*contract, plan.contracts.len(), "contract")
            }
            CheckKind::Command(id, _) => in_range(*id, plan.commands.len(), "command"),
            CheckKind::Every(id, state) => {
                in_range(*id, plan.lifecycles.len(), "lifecycle")?;
                in_range(*state, plan.lifecycles[*id as usize].states.len(), "state")
            }
            // A nested attest could contain itself.
            CheckKind::Attest(_) if scores => Err("an attest in an attest".into()),
            CheckKind::Attest(id) => in_range(*id, plan.attests.len(), "attest"),
            CheckKind::Condition(condition) => {
                self.expression(&ExpressionScope::COMMITTED, condition)
            }
            CheckKind::Score(score) => {
                ensure(scores, || "a score outside of an attest".into())?;
                self.expression(&ExpressionScope::COMMITTED, score)
            }
            CheckKind::Committed | CheckKind::All(_) | CheckKind::Any(_) => Ok(()),
        }
    }
}

fn command_line(command: &Command) -> ValidationResult {
    let named = command.argv.first().is_some_and(|binary| !binary.is_empty());
    ensure(named, || "it names no binary".into())?;
    ensure(command.argv.len() <= MAX_WORDS, || format!("more than {MAX_WORDS} words"))?;
    let mut words = command.argv.iter().chain(&command.env);
    ensure(!words.any(|word| word.contains('\0')), || "a word with NUL".into())?;
    ascending(command.env.iter(), "its variables")?;
    let named = |name: &String| !name.is_empty() && !name.contains('=');
    ensure(command.env.iter().all(named), || "a variable that is none".into())?;
    ensure(command.within > 0, || "it has no time".into())
}

fn transition_of(lifecycle: &Lifecycle, transition: &Transition) -> ValidationResult {
    let states = lifecycle.states.len();
    ensure(!transition.from.is_empty(), || "it begins nowhere".into())?;
    ascending(transition.from.iter(), "its states")?;
    transition.from.iter().try_for_each(|state| in_range(*state, states, "state"))?;
    in_range(transition.to, states, "state")?;
    let harness = transition.actor == Actor::Harness;
    ensure(!(harness && transition.evidence), || "evidence of the harness".into())?;
    let criteria = transition.criteria.is_none() || harness && !lifecycle.criteria.is_empty();
    ensure(criteria, || "criteria of nobody".into())
}

//! The structure of a tool: its rules, what its settlement does, and what the kernel keeps of its
//! calls.

use super::expression::{self, ExpressionScope};
use super::{
    MAX_STEPS, MAX_TYPE_DEPTH, PlanChecker, ValidationResult, ascending, ensure, in_range, unique,
};
use crate::builtin::Builtin;
use crate::plan::*;

impl PlanChecker<'_> {
    pub(super) fn tool(&mut self, tool: &Tool) -> ValidationResult {
        ensure(tool.steps <= MAX_STEPS, || format!("{} steps, at most {MAX_STEPS}", tool.steps))?;
        unique(tool.params.iter().map(|param| &*param.name), "parameter")?;
        tool.params.iter().try_for_each(|param| self.ty(param.ty))?;
        tool.returns.map_or(Ok(()), |ty| self.ty(ty))?;
        ascending(tool.trust.parts.iter().map(|(path, _)| path), "what it trusts")?;
        let before = ExpressionScope { params: tool.params.len(), ..ExpressionScope::COMMITTED };
        let after = ExpressionScope { result: true, ..before };
        self.requirements(&before, tool)?;
        for deny in &tool.denies {
            self.expression(&before, &deny.condition)?;
            self.explanation(&before, &deny.because, &deny.shows)?;
            if let Some(replacement) = &deny.replacement {
                in_range(replacement.param, tool.params.len(), "parameter")?;
                self.explanation(&before, &None, std::slice::from_ref(&replacement.value))?;
            }
        }
        for used in &tool.limits {
            in_range(used.limit, self.plan.limits.len(), "limit")?;
            let keyed = self.plan.limits[used.limit as usize].keyed;
            ensure(keyed == used.by.is_some(), || "a limit and its key do not fit".into())?;
            self.optional(&before, &used.by)?;
            used.by_type.map_or(Ok(()), |ty| self.ty(ty))?;
        }
        for cost in &tool.costs {
            in_range(cost.unit, self.plan.units.len(), "unit")?;
            self.expression(&before, &cost.amount)?;
        }
        for effect in &tool.effects {
            let slots = self.ranges(&before, &effect.ranges)?;
            let bound = ExpressionScope { bound: &slots, ..before };
            self.optional(&bound, &effect.when)?;
            self.target(&bound, &effect.target)?;
            let deletes = effect.op == EffectOp::Delete;
            ensure(deletes == effect.value.is_none(), || "an effect's operand".into())?;
            self.optional(&bound, &effect.value)?;
        }
        for risk in &tool.risks {
            self.expression(&before, &risk.when)?;
        }
        for believed in tool.prior.iter().flat_map(|prior| [&prior.alpha, &prior.beta]) {
            self.expression(&ExpressionScope::COMMITTED, believed)?;
        }
        for approval in &tool.approvals {
            self.optional(&before, &approval.when)?;
            self.explanation(&before, &approval.because, &approval.shows)?;
        }
        for ready in &tool.ready {
            in_range(ready.probe, self.plan.probes.len(), "probe")?;
        }
        self.settlement(&after, tool)?;
        self.bookkeeping(tool)
    }

    fn requirements(&mut self, scope: &ExpressionScope<'_>, tool: &Tool) -> ValidationResult {
        for requires in &tool.requires {
            ensure(!requires.any_of.is_empty(), || "a requirement without alternatives".into())?;
            self.optional(scope, &requires.when)?;
            for requirement in &requires.any_of {
                self.tool_id(requirement.tool)?;
                requirement.since.map_or(Ok(()), |tool| self.tool_id(tool))?;
                let Some(key) = &requirement.key else {
                    continue;
                };
                expression::key(self.plan, key.index, requirement.tool, key.values.len())?;
                key.values.iter().try_for_each(|value| self.expression(scope, value))?;
            }
        }
        Ok(())
    }

    fn settlement(&mut self, scope: &ExpressionScope<'_>, tool: &Tool) -> ValidationResult {
        for observe in &tool.observes {
            self.target(scope, &observe.target)?;
            self.ty(observe.ty)?;
            self.expression(scope, &observe.value)?;
        }
        tool.learns.iter().try_for_each(|learn| self.learn(scope, learn))?;
        for transform in &tool.transforms {
            ensure(transform.path.len() <= MAX_TYPE_DEPTH as usize, || {
                "a path is too deep".into()
            })?;
            self.expression(scope, &transform.value)?;
            self.ty(transform.ty)?;
            self.optional(scope, &transform.when)?;
        }
        for private in &tool.privates {
            let slots = self.part(scope, &private.part)?;
            let bound = ExpressionScope { bound: &slots, ..*scope };
            self.optional(&bound, &private.to)?;
            self.optional(&bound, &private.when)?;
        }
        for endorsement in &tool.endorsements {
            let slots = self.part(scope, &endorsement.part)?;
            self.optional(&ExpressionScope { bound: &slots, ..*scope }, &endorsement.when)?;
            let extracts = endorsement.extractor.is_none_or(Builtin::is_extractor);
            ensure(extracts, || "a function that extracts nothing".into())?;
        }
        tool.reconciles.iter().try_for_each(|rule| {
            self.expression(scope, &rule.condition)?;
            self.explanation(scope, &rule.because, &rule.shows)
        })
    }

    /// Checks a part of a result, and returns the slots that it binds.
    fn part(&mut self, scope: &ExpressionScope<'_>, part: &ResultPart) -> Result<Vec<u32>, String> {
        ensure(part.path.len() <= MAX_TYPE_DEPTH as usize, || "a path is too deep".into())?;
        let lists = part.steps().0.len();
        ensure(lists == part.ranges.len(), || "a part of elements that its path lacks".into())?;
        self.ranges(scope, &part.ranges)
    }

    /// Checks ranges, and returns the slots that they bind.
    fn ranges(
        &mut self,
        scope: &ExpressionScope<'_>,
        ranges: &[Range],
    ) -> Result<Vec<u32>, String> {
        ensure(ranges.len() <= MAX_RANGES, || "the collections of a clause".into())?;
        let mut slots: Vec<u32> = Vec::new();
        for range in ranges {
            self.expression(&ExpressionScope { bound: &slots, ..*scope }, &range.over)?;
            let count = range.binders.len();
            ensure((1..=2).contains(&count), || "the names a clause binds".into())?;
            slots.extend(&range.binders);
        }
        Ok(slots)
    }

    pub(super) fn learn(&mut self, scope: &ExpressionScope<'_>, learn: &Learn) -> ValidationResult {
        in_range(learn.fact, self.plan.facts.len(), "fact")?;
        let slots = self.ranges(scope, &learn.ranges)?;
        let bound = ExpressionScope { bound: &slots, ..*scope };
        self.optional(&bound, &learn.when)?;
        let fact = &self.plan.facts[learn.fact as usize];
        let columns = match &self.plan.types[fact.row as usize] {
            TypeDef::Record { fields, .. } => fields.len(),
            _ => 0,
        };
        ensure(columns == learn.row.len(), || "a lesson of another width".into())?;
        learn.row.iter().try_for_each(|value| self.expression(&bound, value))
    }

    /// Checks that touches exist and are sorted.
    pub(super) fn touches(&self, touches: &[Touch], what: &str) -> ValidationResult {
        ascending(touches.iter(), what)?;
        touches.iter().try_for_each(|touch| match *touch {
            Touch::State(var) => in_range(var, self.plan.state.len(), "variable"),
            Touch::Fact(fact) => in_range(fact, self.plan.facts.len(), "fact"),
            Touch::History(tool) => self.tool_id(tool),
        })
    }

    /// Checks that the stored history of a tool's calls is exactly what rules may read.
    fn bookkeeping(&mut self, tool: &Tool) -> ValidationResult {
        let plan = self.plan;
        let own =
            |id: ToolId| plan.tools.get(id as usize).is_some_and(|other| other.name == tool.name);
        let indexes =
            (0..).zip(&plan.indexes).filter(|(_, index)| own(index.tool)).map(|(id, _)| id);
        ensure(indexes.eq(tool.indexes.iter().copied()), || "its memories".into())?;
        let windows =
            (0..).zip(&plan.windows).filter(|(_, window)| own(window.tool)).map(|(id, _)| id);
        ensure(windows.eq(tool.windows.iter().copied()), || "its windows".into())?;
        for frame in [&tool.frame, &tool.observe_frame] {
            ascending(frame.iter(), "its invariants")?;
            let count = plan.invariants.len();
            frame.iter().try_for_each(|id| in_range(*id, count, "invariant"))?;
        }
        for touched in [&tool.touches, &tool.writes] {
            self.touches(touched, "what it touches")?;
        }
        Ok(())
    }
}

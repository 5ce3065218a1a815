//! Visits the expressions of a plan.

use guard_plan::plan::*;

type Visit<'v> = &'v mut dyn FnMut(Option<ToolId>, &mut Expr);

/// Visits every expression that is evaluated for a decision, with the tool whose parameters it
/// reads. Expressions that only messages show, initial values, goals and completion stay as
/// written.
pub(super) fn deciding(plan: &mut Plan, visit: Visit<'_>) {
    for (id, tool) in (0..).zip(&mut plan.tools) {
        self::tool(tool, &mut |expr| visit(Some(id), expr));
    }
    for invariant in &mut plan.invariants {
        visit(None, &mut invariant.condition);
    }
    for monitor in &mut plan.monitors {
        visit(None, &mut monitor.of);
        monitor.trigger.iter_mut().for_each(|expr| visit(None, expr));
    }
    for learn in plan.sources.iter_mut().flat_map(|source| &mut source.learns) {
        self::learn(learn, &mut |expr| visit(None, expr));
    }
    for provider in &mut plan.feedback {
        for trigger in &mut provider.triggers {
            if let Trigger::Becomes { condition, .. } = trigger {
                visit(None, condition);
            }
        }
        provider.blocks.iter_mut().filter_map(|block| block.when.as_mut()).for_each(|when| {
            visit(None, when);
        });
    }
}

fn tool(tool: &mut Tool, visit: &mut dyn FnMut(&mut Expr)) {
    for requires in &mut tool.requires {
        requires.when.iter_mut().for_each(&mut *visit);
        let keys = requires.any_of.iter_mut().filter_map(|one| one.key.as_mut());
        keys.flat_map(|key| &mut key.values).for_each(&mut *visit);
    }
    tool.denies.iter_mut().for_each(|deny| visit(&mut deny.condition));
    tool.limits.iter_mut().filter_map(|used| used.by.as_mut()).for_each(&mut *visit);
    tool.costs.iter_mut().for_each(|cost| visit(&mut cost.amount));
    for effect in &mut tool.effects {
        target(&mut effect.target, visit);
        effect.value.iter_mut().for_each(&mut *visit);
    }
    tool.approvals.iter_mut().filter_map(|one| one.when.as_mut()).for_each(&mut *visit);
    for observe in &mut tool.observes {
        target(&mut observe.target, visit);
        visit(&mut observe.value);
    }
    tool.learns.iter_mut().for_each(|one| learn(one, visit));
    tool.reconciles.iter_mut().for_each(|one| visit(&mut one.condition));
}

fn target(target: &mut Target, visit: &mut dyn FnMut(&mut Expr)) {
    for step in &mut target.path {
        if let Step::Index(key) = step {
            visit(key);
        }
    }
}

fn learn(learn: &mut Learn, visit: &mut dyn FnMut(&mut Expr)) {
    learn.over.iter_mut().for_each(&mut *visit);
    learn.when.iter_mut().for_each(&mut *visit);
    learn.row.iter_mut().for_each(visit);
}

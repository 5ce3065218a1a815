//! Visits the expressions of a plan.

use guard_plan::plan::*;

type Visit<'v> = &'v mut dyn FnMut(Option<ToolId>, Use, &mut Expr);

/// The use of an expression's value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It decides: nothing but the value counts.
    Decides,
    /// It is written into state, or taught: what it reads counts as well, for trust (semantics §8).
    Kept,
}

/// Visits every expression that is evaluated for a decision, with the tool whose parameters it
/// reads. Expressions that only messages show, initial values, goals and completion stay as
/// written.
pub(super) fn deciding(plan: &mut Plan, visit: Visit<'_>) {
    for (id, tool) in (0..).zip(&mut plan.tools) {
        self::tool(tool, &mut |kept, expr| visit(Some(id), kept, expr));
    }
    for invariant in &mut plan.invariants {
        visit(None, Use::Decides, &mut invariant.condition);
    }
    for monitor in &mut plan.monitors {
        visit(None, Use::Decides, &mut monitor.of);
        monitor.trigger.iter_mut().for_each(|expr| visit(None, Use::Decides, expr));
    }
    for learn in plan.sources.iter_mut().flat_map(|source| &mut source.learns) {
        self::learn(learn, &mut |expr| visit(None, Use::Kept, expr));
    }
    for provider in &mut plan.feedback {
        for trigger in &mut provider.triggers {
            if let Trigger::Becomes { condition, .. } = trigger {
                visit(None, Use::Decides, condition);
            }
        }
        provider.blocks.iter_mut().filter_map(|block| block.when.as_mut()).for_each(|when| {
            visit(None, Use::Decides, when);
        });
    }
}

fn tool(tool: &mut Tool, visit: &mut dyn FnMut(Use, &mut Expr)) {
    let mut decides = |expr: &mut Expr| visit(Use::Decides, expr);
    for requires in &mut tool.requires {
        requires.when.iter_mut().for_each(&mut decides);
        let keys = requires.any_of.iter_mut().filter_map(|one| one.key.as_mut());
        keys.flat_map(|key| &mut key.values).for_each(&mut decides);
    }
    tool.denies.iter_mut().for_each(|deny| decides(&mut deny.condition));
    tool.limits.iter_mut().filter_map(|used| used.by.as_mut()).for_each(&mut decides);
    tool.costs.iter_mut().for_each(|cost| decides(&mut cost.amount));
    tool.approvals.iter_mut().filter_map(|one| one.when.as_mut()).for_each(&mut decides);
    tool.reconciles.iter_mut().for_each(|one| decides(&mut one.condition));
    let mut kept = |expr: &mut Expr| visit(Use::Kept, expr);
    for effect in &mut tool.effects {
        target(&mut effect.target, &mut kept);
        effect.value.iter_mut().for_each(&mut kept);
    }
    for observe in &mut tool.observes {
        target(&mut observe.target, &mut kept);
        kept(&mut observe.value);
    }
    tool.learns.iter_mut().for_each(|one| learn(one, &mut kept));
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

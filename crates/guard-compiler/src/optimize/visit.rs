//! Visits the expressions of a plan.

use guard_plan::plan::*;

type Visit<'v> = &'v mut dyn FnMut(Option<ToolId>, &mut Expr);

/// Visits every expression for which only the value matters, with the tool whose parameters it
/// reads. Expressions that are written into state or taught are not visited: for them, the reads
/// matter as well, for trust (semantics §8). Initial values, goals, completion, and expressions
/// that only messages show are not visited either.
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
    for provider in &mut plan.feedback {
        for trigger in &mut provider.triggers {
            if let Trigger::Becomes { condition, .. } = trigger {
                visit(None, condition);
            }
        }
        provider
            .blocks
            .iter_mut()
            .filter_map(|block| block.when.as_mut())
            .for_each(|when| visit(None, when));
    }
}

fn tool(tool: &mut Tool, visit: &mut dyn FnMut(&mut Expr)) {
    for requires in &mut tool.requires {
        requires.when.iter_mut().for_each(&mut *visit);
        let keys = requires.any_of.iter_mut().filter_map(|requirement| requirement.key.as_mut());
        keys.flat_map(|key| &mut key.values).for_each(&mut *visit);
    }
    tool.denies.iter_mut().for_each(|deny| visit(&mut deny.condition));
    tool.limits.iter_mut().filter_map(|used| used.by.as_mut()).for_each(&mut *visit);
    tool.costs.iter_mut().for_each(|cost| visit(&mut cost.amount));
    tool.risks.iter_mut().for_each(|risk| visit(&mut risk.when));
    tool.prior.iter_mut().for_each(|prior| {
        visit(&mut prior.alpha);
        visit(&mut prior.beta);
    });
    tool.approvals.iter_mut().filter_map(|approval| approval.when.as_mut()).for_each(&mut *visit);
    tool.reconciles.iter_mut().for_each(|reconcile| visit(&mut reconcile.condition));
}

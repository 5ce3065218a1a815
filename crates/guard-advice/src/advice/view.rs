//! The parts of advice besides the actions: goals, state, budgets, history. Bounded, without
//! secrets.

use super::AdviceScene;
use super::goals::Goals;
use guard_plan::advice::{Action, Advice, BudgetView, DeadlineView, Decimal, Recent, Shown};
use guard_plan::json::Json;
use guard_plan::plan::{StateVar, Tool, ToolId, UnitId, VarId};
use guard_plan::value::Value;
use guard_plan::{decimal, render};
use guard_runtime::LastSettlement;
use std::cmp::Reverse;

/// The maximum number of state variables shown.
const MAX_STATE: usize = 50;
/// The maximum number of tools whose history is shown.
const MAX_RECENT: usize = 10;

/// Builds the advice from its ordered actions.
pub(super) fn advice(scene: &AdviceScene<'_>, goals: &Goals<'_>, actions: Vec<Action>) -> Advice {
    let plan = scene.plan;
    let total = plan.deadline;
    Advice {
        guard: plan.guard.clone(),
        halted: scene.session.halted().map(|halt| halt.message.clone()),
        goals: goals.views(),
        progress: goals.overall().map(Decimal),
        state: state(scene, goals),
        state_more: plan.state.len().saturating_sub(MAX_STATE) as u64,
        budgets: budgets(scene),
        deadline: total.map(|total| DeadlineView {
            total,
            remaining: scene.session.start().saturating_add(total).saturating_sub(scene.now).max(0),
        }),
        recent: recent(scene),
        actions,
    }
}

/// Returns the variables that goals read, then the others by name.
fn state(scene: &AdviceScene<'_>, goals: &Goals<'_>) -> Vec<Shown> {
    let plan = scene.plan;
    let mut vars = goals.reads();
    let mut others: Vec<VarId> =
        (0..plan.state.len() as u32).filter(|var| vars.binary_search(var).is_err()).collect();
    let name = |var: &VarId| &plan.state[*var as usize].name;
    vars.sort_by_key(name);
    others.sort_by_key(name);
    vars.extend(others);
    let shown = |var: VarId| {
        let StateVar { name, ty, .. } = &plan.state[var as usize];
        let value = match scene.session.value(var).unwrap_or(&Value::None) {
            Value::None => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Int(number) => Json::Int(*number),
            Value::Decimal(units) => Json::number(&decimal::format(*units)).unwrap_or(Json::Null),
            value => Json::String(render::value(&plan.types, *ty, value).into()),
        };
        Shown { name: name.clone(), value }
    };
    vars.into_iter().take(MAX_STATE).map(shown).collect()
}

fn budgets(scene: &AdviceScene<'_>) -> Vec<BudgetView> {
    let mut views: Vec<BudgetView> = (0..)
        .zip(&scene.plan.units)
        .filter_map(|(id, unit): (UnitId, _)| {
            Some(BudgetView {
                unit: unit.name.clone(),
                budget: Decimal(unit.budget?),
                spent: Decimal(scene.session.spent(id)?),
                remaining: Decimal(scene.remaining(id)?),
            })
        })
        .collect();
    views.sort_by(|a, b| a.unit.cmp(&b.unit));
    views
}

/// Returns the tools that were settled last.
fn recent(scene: &AdviceScene<'_>) -> Vec<Recent> {
    let tools = (0..).zip(&scene.plan.tools);
    let mut settled: Vec<(LastSettlement, ToolId, &Tool)> = tools
        .filter_map(|(id, tool)| Some((scene.session.last_settlement(id)?, id, tool)))
        .collect();
    settled.sort_by_key(|(last, ..)| Reverse(last.number));
    let view = |(last, id, tool): (LastSettlement, ToolId, &Tool)| {
        let (succeeded, failed) = scene.session.outcomes(id).unwrap_or_default();
        Recent {
            tool: tool.name.clone(),
            succeeded,
            failed,
            success: last.success,
            ago: scene.now.saturating_sub(last.time).max(0),
        }
    };
    settled.into_iter().take(MAX_RECENT).map(view).collect()
}

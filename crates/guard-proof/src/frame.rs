//! Frames: the invariants that a tool can break, computed from the plan's expressions alone.

use guard_plan::plan::{Effect, Expr, InvariantId, Node, Plan, Target, Tool, Touch, VarId};

/// Returns the state variables that an expression reads, each once, ascending.
pub fn variables(expr: &Expr) -> Vec<VarId> {
    let vars = expr.0.iter().filter_map(|node| match node {
        Node::State(var) => Some(*var),
        _ => None,
    });
    sorted(vars)
}

/// Returns true if an expression's value depends only on the state and is the same in every
/// workspace. A literal path is not pure, because it denotes another path in each workspace.
pub fn is_pure(expr: &Expr) -> bool {
    let beside = |node: &Node| {
        matches!(node, Node::Param(_) | Node::Result | Node::Text)
            || matches!(node, Node::Path(_) | Node::Workspace)
    };
    !expr.0.iter().any(|node| beside(node) || node.asks())
}

/// Returns true if the variables of an expression have the same first values in every session.
pub fn begins_alike(plan: &Plan, expr: &Expr) -> bool {
    variables(expr).iter().all(|var| is_pure(&plan.state[*var as usize].init))
}

/// Returns the invariants that the effects of a tool can break, ascending.
pub fn effects(plan: &Plan, tool: &Tool) -> Vec<InvariantId> {
    breakable(plan, tool.effects.iter().map(|effect| &effect.target))
}

/// Returns the invariants that the observations of a tool can break, ascending.
pub fn observations(plan: &Plan, tool: &Tool) -> Vec<InvariantId> {
    breakable(plan, tool.observes.iter().map(|observe| &observe.target))
}

fn breakable<'p>(plan: &'p Plan, targets: impl Iterator<Item = &'p Target>) -> Vec<InvariantId> {
    let most = if mutant!("a frame forgets the second variable") { 1 } else { usize::MAX };
    let written = sorted(targets.map(|target| target.var).take(most));
    let reads = |expr: &Expr| {
        expr.0
            .iter()
            .any(|node| matches!(node, Node::State(var) if written.binary_search(var).is_ok()))
    };
    let invariants = (0..).zip(&plan.invariants);
    invariants.filter(|(_, invariant)| reads(&invariant.condition)).map(|(id, _)| id).collect()
}

/// Returns the variables that the conditions, costs and effects of a tool read or write.
pub fn reads(tool: &Tool) -> Vec<VarId> {
    let mut read = Vec::new();
    let mut collect = |expr: &Expr| read.extend(variables(expr));
    tool.denies.iter().for_each(|deny| collect(&deny.condition));
    tool.costs.iter().for_each(|cost| collect(&cost.amount));
    tool.effects.iter().flat_map(Effect::exprs).for_each(collect);
    read.extend(tool.effects.iter().map(|effect| effect.target.var));
    sorted(read.into_iter())
}

/// Checks that the plan's own frames and touches cover the needs of its expressions. Then no other
/// call writes a variable that a decision reads before the call settles.
pub(crate) fn holds(plan: &Plan, tool: &Tool) -> Result<(), String> {
    let within = |mine: &[InvariantId], declared: &[InvariantId]| {
        mine.iter().all(|id| declared.binary_search(id).is_ok())
    };
    let after_effects = effects(plan, tool);
    let after_observations = observations(plan, tool);
    if !within(&after_effects, &tool.frame) || !within(&after_observations, &tool.observe_frame) {
        return Err(format!("tool `{}`: its frame leaves out an invariant", tool.name));
    }
    let framed = after_effects.iter().chain(&after_observations);
    let mut touched: Vec<VarId> =
        framed.flat_map(|id| variables(&plan.invariants[*id as usize].condition)).collect();
    let written: Vec<VarId> = tool
        .effects
        .iter()
        .map(|effect| effect.target.var)
        .chain(tool.observes.iter().map(|observe| observe.target.var))
        .collect();
    touched.extend(&written);
    let declared = |touches: &[Touch], vars: &[VarId]| {
        vars.iter().all(|var| touches.binary_search(&Touch::State(*var)).is_ok())
    };
    if !declared(&tool.touches, &touched) || !declared(&tool.writes, &written) {
        return Err(format!("tool `{}`: its touches leave out a variable", tool.name));
    }
    Ok(())
}

fn sorted(vars: impl Iterator<Item = VarId>) -> Vec<VarId> {
    let mut vars: Vec<VarId> = vars.collect();
    vars.sort_unstable();
    vars.dedup();
    vars
}

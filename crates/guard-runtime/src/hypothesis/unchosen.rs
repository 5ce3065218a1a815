//! A tool reduced to the rules that do not depend on its arguments, to judge a call whose arguments
//! are not chosen.
//!
//! Every remaining rule gives the same result for all arguments. So a call that these rules refuse
//! is refused with any arguments, while a call that they allow may still be refused.

use crate::compiled::{CompiledPlan, prepare};
use guard_plan::plan::{
    Expr, LimitScope, Message, Node, Part, Requires, Show, Tool, ToolId, UnitId, VarId,
};

/// The reduced tool, and the parts that depend on the arguments.
pub(super) struct Unchosen {
    pub tool: Tool,
    pub ready: prepare::PreparedTool,
    /// The variables that the call writes with unknown values.
    pub unknown: Vec<VarId>,
    /// The units that the call costs more of than the reduced tool charges.
    pub units: Vec<UnitId>,
}

impl Unchosen {
    pub fn new(compiled: &CompiledPlan, id: ToolId) -> Unchosen {
        let plan = compiled.plan();
        let mut tool = plan.tools[id as usize].clone();
        tool.requires.retain(|requires| !requirement_reads_argument(requires));
        tool.denies.retain(|deny| !reads_argument(&deny.condition));
        for deny in &mut tool.denies {
            deny.because = deny.because.take().map(without_arguments);
            deny.shows.retain(|show| !reads_argument(&show.expr));
        }
        tool.limits.retain(|used| {
            let scope = plan.limits[used.limit as usize].scope;
            scope != LimitScope::Identical && !used.by.as_ref().is_some_and(reads_argument)
        });
        let mut units: Vec<UnitId> = Vec::new();
        units.extend(
            tool.costs.iter().filter(|cost| reads_argument(&cost.amount)).map(|cost| cost.unit),
        );
        tool.costs.retain(|cost| !reads_argument(&cost.amount));
        let chosen = tool.effects.iter().filter(|effect| effect.exprs().any(reads_argument));
        let unknown: Vec<VarId> = chosen.map(|effect| effect.target.var).collect();
        // The other effects on such a variable go, too: together they would write an unknown value.
        tool.effects.retain(|effect| !unknown.contains(&effect.target.var));
        let known = |id: &u32| {
            let reads = &plan.invariants[*id as usize].reads;
            !reads.iter().any(|var| unknown.contains(var))
        };
        tool.frame.retain(known);
        tool.risks.retain(|risk| !reads_argument(&risk.when));
        tool.approvals.retain(|approval| !approval.when.as_ref().is_some_and(reads_argument));
        for approval in &mut tool.approvals {
            approval.because = approval.because.take().map(without_arguments);
            approval.shows.retain(|show| !reads_argument(&show.expr));
        }
        let ready = prepare::PreparedTool::new(&tool, plan);
        Unchosen { tool, ready, unknown, units }
    }
}

/// Returns true if an expression reads an argument.
fn reads_argument(expr: &Expr) -> bool {
    expr.0.iter().any(|node| matches!(node, Node::Param(_)))
}

fn requirement_reads_argument(requires: &Requires) -> bool {
    let key = |values: &[Expr]| values.iter().any(reads_argument);
    let keyed = requires
        .any_of
        .iter()
        .flat_map(|requirement| &requirement.key)
        .any(|success_key| key(&success_key.values));
    keyed || requires.when.as_ref().is_some_and(reads_argument)
}

/// Returns a message with the names of arguments in place of their values.
fn without_arguments(message: Message) -> Message {
    let part = |part: Part| match part {
        Part::Value(Show { label, expr, .. }) if reads_argument(&expr) => Part::Text(label),
        part => part,
    };
    Message { parts: message.parts.into_iter().map(part).collect() }
}

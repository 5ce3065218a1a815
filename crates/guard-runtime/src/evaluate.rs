//! Evaluation of one expression over a session, for external readers: tests, tools, contracts.

use crate::compiled::CompiledPlan;
use crate::compiled::expr::CompiledExpr;
use crate::eval::context::{Context, DecisionResources};
use crate::session::SessionState;
use crate::world::{World, WorldAnswers};
use guard_plan::LoadError;
use guard_plan::plan::{Expr, Millis};
use guard_plan::value::{Fault, Value};

/// Evaluates an expression without arguments. It changes nothing, and works in a halted session.
///
/// # Errors
///
/// Returns the fault of the expression.
pub(crate) fn evaluate(
    compiled: &CompiledPlan,
    session: &SessionState,
    expr: &Expr,
    now: Millis,
    world: &mut dyn World,
) -> Result<Value, Fault> {
    // An expression of another plan may hold indexes that this plan does not have.
    compiled.loaded().admits(expr).map_err(foreign)?;
    let decision = DecisionResources::default();
    let answers = WorldAnswers::new(world);
    let context = Context::new(compiled, session, &decision, &answers);
    Context { now: session.now.max(now), ..context }.eval_shown(&CompiledExpr::new(expr))
}

/// Returns the fault of an expression that refers to an entity that the plan does not have.
pub(crate) fn foreign(error: LoadError) -> Fault {
    match error {
        LoadError::Invalid(why) => Fault::Decode(format!("not an expression of this plan: {why}")),
        other => Fault::Decode(other.to_string()),
    }
}

//! Beliefs: Beta distributions, from a prior and the outcomes of a tool's calls.

use super::AdviceScene;
use super::expression::is_constant;
use super::fixed::{self, ONE};
use guard_plan::advice::{Belief, Decimal};
use guard_plan::decimal;
use guard_plan::plan::{Expr, Prior, Risk, Tool, ToolId};
use guard_plan::value::Value;

/// The maximum of each parameter, one million. Beyond it, an outcome changes none of the six
/// decimal places.
const MAX: i64 = 1_000_000 * ONE;
/// The sum of successes and failures of a default prior.
const PRIOR_SUM: i64 = 3 * ONE;
/// The minimum number of successes of a default prior.
const LEAST_ALPHA: i64 = 300_000;
/// The assumed cost of a call whose cost is unknown, as a fraction of the budget.
const UNKNOWN_COST: i64 = ONE / 4;

/// Returns the belief in the success of a tool.
pub(super) fn read(scene: &AdviceScene<'_>, id: ToolId) -> Belief {
    let tool = &scene.plan.tools[id as usize];
    let declared = match &tool.prior {
        Some(prior) => declared_prior(scene, prior),
        None => None,
    };
    let (alpha, beta) = declared.unwrap_or_else(|| default_prior(scene, id));
    let (successes, failures) = scene.session.outcomes(id).unwrap_or_default();
    let with = |prior: i64, count: u64| {
        let count = i64::try_from(count).unwrap_or(i64::MAX).saturating_mul(ONE);
        prior.saturating_add(count).clamp(1, MAX)
    };
    let alpha = with(alpha, successes);
    let beta = with(beta, failures);
    let mean = Decimal(fixed::part(alpha, alpha + beta));
    Belief { alpha: Decimal(alpha), beta: Decimal(beta), mean }
}

/// Returns the parameters that a guard declares; `None` if one cannot be evaluated now.
fn declared_prior(scene: &AdviceScene<'_>, prior: &Prior) -> Option<(i64, i64)> {
    let parameter = |e: &Expr| match scene.plain(e)? {
        Value::Decimal(units) => Some(units.clamp(1, MAX)),
        _ => None,
    };
    Some((parameter(&prior.alpha)?, parameter(&prior.beta)?))
}

/// Returns the default prior: α = max(0.3, 2 − 2·danger), α + β = 3.
fn default_prior(scene: &AdviceScene<'_>, id: ToolId) -> (i64, i64) {
    let declared = match scene.risk(id, None) {
        Risk::Low => 0,
        Risk::Medium => 500_000,
        Risk::High => 700_000,
        Risk::Critical => 850_000,
    };
    let tool = &scene.plan.tools[id as usize];
    let danger = declared.max(expected_cost(scene, tool));
    let alpha = (2 * ONE - 2 * danger).max(LEAST_ALPHA);
    (alpha, PRIOR_SUM - alpha)
}

/// Returns the largest declared cost of the tool, as a fraction of a whole budget.
fn expected_cost(scene: &AdviceScene<'_>, tool: &Tool) -> i64 {
    let plan = scene.plan;
    let mut sums = vec![0_i64; plan.units.len()];
    for cost in &tool.costs {
        let Some(budget) = plan.units[cost.unit as usize].budget.filter(|_| !cost.rule.shadow)
        else {
            continue;
        };
        let constant = is_constant(&cost.amount).then(|| scene.plain(&cost.amount)).flatten();
        let part = match constant {
            Some(Value::Decimal(amount)) => fixed::part(amount, budget),
            _ => UNKNOWN_COST,
        };
        let sum = &mut sums[cost.unit as usize];
        // Both summands are at most one, so the sum cannot overflow.
        *sum = (*sum + part).min(ONE);
    }
    sums.into_iter().max().unwrap_or(0)
}

/// Returns the expected fraction of a gain that comes only with success.
pub(super) fn expected(belief: &Belief, part: i64) -> i64 {
    let alpha = i128::from(belief.alpha.0);
    let beta = i128::from(belief.beta.0);
    fixed::quotient(alpha * i128::from(part), (alpha + beta) * i128::from(ONE))
}

/// Returns the expected reduction of the variance by one more outcome, relative to the reduction by
/// the first outcome of an unknown tool, Beta(1, 1): `36·αβ / (n²(n + 1)²)`, n = α + β, at most 1.
pub(super) fn info(belief: &Belief) -> i64 {
    const TWELVE: i128 = 1_000_000_000_000;
    let alpha = i128::from(belief.alpha.0);
    let beta = i128::from(belief.beta.0);
    let n = alpha + beta;
    // INVARIANT: both are at most 10¹², so no product exceeds 10³⁷.
    let spread = alpha * beta * TWELVE / (n * n);
    let after = n + i128::from(ONE);
    let shrink = spread * 36 * TWELVE / (after * after);
    let shrink = i64::try_from(shrink.min(TWELVE)).unwrap_or(i64::MAX);
    // Reduces twelve decimal places to six.
    decimal::divide(shrink, ONE * ONE).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn information() {
        let check = |alpha: i64, beta: i64, expected| {
            let alpha = Decimal(alpha);
            let beta = Decimal(beta);
            assert_eq!(info(&Belief { alpha, beta, mean: Decimal(0) }), expected);
        };
        check(ONE, ONE, ONE);
        check(2 * ONE, ONE, 500_000);
        check(3 * ONE, ONE, 270_000);
        check(600_000, 2_400_000, 360_000);
        check(1, 1, ONE);
        check(MAX, MAX, 0);
        check(1, MAX, 0);
    }
}

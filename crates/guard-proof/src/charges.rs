//! Costs of a call, and the facts that its admission implies about budgets.

use crate::bodies::written;
use crate::encoder::{Encoder, EncoderEnv};
use crate::formula::Formula;
use crate::linear::Linear;
use crate::terms::Op;
use crate::value::{Encoded, Sort, SymbolicValue, TooMuch};
use guard_plan::plan::{Node, Tool};
use guard_plan::value::DECIMAL_ONE;

/// Returns the facts about a call that passed the budget of a unit: no cost is negative, and the
/// amount spent plus the costs is within the budget.
pub(crate) fn affordable<'p>(
    encoder: &mut Encoder<'p>,
    tool: &'p Tool,
    unit: u32,
    env: &EncoderEnv<'p>,
) -> Encoded<Vec<Formula>> {
    let mut known = Vec::new();
    let mut total = Some(Linear::default());
    let shadowed = mutant!("a cost in shadow is charged");
    let enforced = |shadow: bool| !shadow || shadowed;
    for cost in tool.costs.iter().filter(|cost| cost.unit == unit && enforced(cost.rule.shadow)) {
        let amount = encoder.eval(&cost.amount, env)?;
        let (there, value) = encoder.split(amount.value);
        total = match value {
            SymbolicValue::Number(Sort::Decimal, amount) => {
                let positive = Formula::le(&Linear::default(), &amount).ok_or(TooMuch)?;
                known.push(there.and(positive));
                total.and_then(|total| total.plus(1, &amount))
            }
            _ => None,
        };
    }
    let declared = &encoder.plan.units[unit as usize];
    if known.is_empty() || declared.host_charged {
        return Ok(known);
    }
    if let (Some(budget), Some(total)) = (declared.budget, total) {
        let budget = i128::from(budget) - i128::from(mutant!("a budget is one less"));
        let term = encoder.terms.intern(Op::Node(written(&Node::Spent(unit))), Vec::new());
        let (spent, _) = encoder.new_var(term, encoder.any());
        let sum = spent.plus(1, &total).ok_or(TooMuch)?;
        known.push(Formula::le(&sum, &Linear::constant(budget)).ok_or(TooMuch)?);
        known.push(Formula::le(&Linear::default(), &spent).ok_or(TooMuch)?);
    }
    Ok(known)
}

/// Returns the amount of a unit that a call of the tool is charged; `None` if it is unknown. A call
/// costs one of `calls` unless the guard declares another cost.
pub(crate) fn charged<'p>(
    encoder: &mut Encoder<'p>,
    tool: &'p Tool,
    unit: u32,
    env: &EncoderEnv<'p>,
) -> Encoded<Option<Linear>> {
    let is_calls = encoder.plan.units.get(unit as usize).is_some_and(|unit| unit.name == "calls");
    let in_shadow = mutant!("a cost in shadow bounds");
    let mut costs = tool.costs.iter().filter(|cost| cost.unit == unit);
    let is_said = costs.clone().any(|cost| !cost.rule.shadow);
    let base = if is_calls && !is_said { DECIMAL_ONE } else { 0 };
    costs.try_fold(Some(Linear::constant(base.into())), |total, cost| {
        if cost.rule.shadow && !in_shadow {
            return Ok(total);
        }
        let amount = encoder.eval(&cost.amount, env)?;
        let (_, value) = encoder.split(amount.value);
        Ok(match value {
            SymbolicValue::Number(Sort::Decimal, amount) => {
                total.map(|total| total.plus(1, &amount).ok_or(TooMuch)).transpose()?
            }
            _ => None,
        })
    })
}

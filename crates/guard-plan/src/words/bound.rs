//! Bounds of a session as text: `given_back <= spent(refunds)`, `called(test) implies tested`.

use crate::decimal;
use crate::plan::{Plan, SessionBound, SessionMeasure, TypeDef};

/// Formats a bound.
pub fn bound(plan: &Plan, bound: &SessionBound) -> String {
    if let Some(text) = implication(plan, bound) {
        return text;
    }
    let in_decimals = bound.terms.iter().any(|(_, measure)| is_decimal(plan, *measure));
    let factor = |factor: u64, measure: SessionMeasure| {
        let as_decimal = in_decimals && !is_decimal(plan, measure);
        match i64::try_from(factor) {
            Ok(factor) if as_decimal => decimal::format(factor),
            _ => factor.to_string(),
        }
    };
    let constant = |constant: u64| match i64::try_from(constant) {
        Ok(constant) if in_decimals => decimal::format(constant),
        _ => constant.to_string(),
    };
    let side = |positive: bool| {
        let terms = bound.terms.iter().filter(|(factor, _)| (*factor > 0) == positive);
        let mut words: Vec<String> = terms
            .map(|(times, measure)| {
                let times = factor(times.unsigned_abs(), *measure);
                let measure = name(plan, *measure);
                if times == "1" { measure } else { format!("{times} * {measure}") }
            })
            .collect();
        if bound.constant != 0 && (bound.constant > 0) == positive {
            words.push(constant(bound.constant.unsigned_abs()));
        }
        if words.is_empty() { "0".to_owned() } else { words.join(" + ") }
    };
    if bound.terms.iter().all(|(factor, _)| *factor < 0) {
        // A single lower bound is easier to read with its variable first.
        format!("{} >= {}", side(false), side(true))
    } else {
        format!("{} <= {}", side(true), side(false))
    }
}

fn implication(plan: &Plan, bound: &SessionBound) -> Option<String> {
    let [(a, measure), (b, other)] = bound.terms[..] else { return None };
    let (called, flag, factor) = match (measure, other) {
        (SessionMeasure::Called(_), SessionMeasure::State(var)) if a == 1 => (measure, var, b),
        (SessionMeasure::State(var), SessionMeasure::Called(_)) if b == 1 => (other, var, a),
        _ => return None,
    };
    let declared = plan.state.get(flag as usize)?;
    let is_bool = matches!(plan.types.get(declared.ty as usize), Some(TypeDef::Bool));
    let not = match (factor, bound.constant) {
        (-1, 0) => "",
        (1, -1) => "not ",
        _ => return None,
    };
    is_bool.then(|| format!("{} implies {not}{}", name(plan, called), declared.name))
}

fn is_decimal(plan: &Plan, measure: SessionMeasure) -> bool {
    match measure {
        SessionMeasure::State(var) => {
            let ty = plan.state.get(var as usize).map(|declared| declared.ty as usize);
            matches!(ty.and_then(|ty| plan.types.get(ty)), Some(TypeDef::Decimal { .. }))
        }
        SessionMeasure::Spent(_) => true,
        _ => false,
    }
}

fn name(plan: &Plan, measure: SessionMeasure) -> String {
    let var = |var: u32| plan.state.get(var as usize).map_or("?", |var| &var.name);
    match measure {
        SessionMeasure::State(id) => var(id).to_owned(),
        SessionMeasure::Size(id) => format!("len({})", var(id)),
        SessionMeasure::Spent(id) => {
            let unit = plan.units.get(id as usize).map_or("?", |unit| &unit.name);
            format!("spent({unit})")
        }
        SessionMeasure::Called(id) => {
            let tool = plan.tools.get(id as usize).map_or("?", |tool| &tool.name);
            format!("called({tool})")
        }
        SessionMeasure::Counted(id) => match plan.limits.get(id as usize) {
            Some(limit) => {
                format!("calls({}, limit {} per session)", limit.rule.owner, limit.count)
            }
            None => "calls(?)".to_owned(),
        },
    }
}

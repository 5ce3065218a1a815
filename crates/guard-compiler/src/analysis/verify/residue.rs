//! Residues of a verification, in the words of the guard: parts of invariants that must be checked, and conditions on a
//! call that would make the check unnecessary.

use guard_plan::decimal;
use guard_plan::plan::{Claim, EffectOp, Expr, Plan, Step, ToolId, TypeDef};
use guard_plan::words;
use guard_proof::formula::Formula;
use guard_proof::linear::{Linear, Var};
use guard_proof::{Op, Sort, System, parts};

/// The part of an invariant that a claim is about, as its author wrote it, roughly.
pub(super) fn part_text(plan: &Plan, claim: &Claim) -> String {
    match claim {
        Claim::Preserved { invariant, part, .. } => {
            let invariant = &plan.invariants[*invariant as usize];
            let all = parts(&invariant.condition);
            match all.get(*part as usize) {
                Some(_) if all.len() == 1 => invariant.text.clone(),
                Some(id) => {
                    // Children precede parents: what stands up to a node holds all of it.
                    let part = Expr(invariant.condition.0[..=*id as usize].to_vec());
                    words::expr(&words::Shows { plan, tool: None, ranges: &[] }, &part)
                }
                None => invariant.text.clone(),
            }
        }
        Claim::Observed { invariant, .. } => plan.invariants[*invariant as usize].text.clone(),
        Claim::Refined { var, .. } => format!("{} within its type", plan.state[*var as usize].name),
        Claim::Bounded { bound, .. } => words::bound(plan, bound),
    }
}

/// A condition over the state before and the arguments under which a goal holds, as one would write it; none where
/// that takes more than inequalities between things that have names.
pub(super) fn needs(plan: &Plan, system: &System, claim: &Claim, goal: &Formula) -> Option<String> {
    match goal {
        Formula::AtMost(linear) => comparison(plan, claim.tool(), system, linear)
            .or_else(|| room(plan, system, claim, linear)),
        Formula::And(parts) if parts.parts.len() <= 4 => {
            // What the types say already need not be asked for.
            let open = parts.parts.iter().filter(|part| !by_types(system, part));
            let open = open.map(|part| needs(plan, system, claim, part));
            Some(open.collect::<Option<Vec<_>>>()?.join(" and ")).filter(|text| !text.is_empty())
        }
        _ => None,
    }
}

/// Room for what a call may add to a collection, where the goal is that the collection is not too large afterwards.
fn room(plan: &Plan, system: &System, claim: &Claim, linear: &Linear) -> Option<String> {
    let Claim::Refined { tool, var } = claim else { return None };
    let variable = &plan.state[*var as usize];
    let (TypeDef::List { max, .. } | TypeDef::Set { max, .. } | TypeDef::Map { max, .. }) =
        plan.types.get(variable.ty as usize)?
    else {
        return None;
    };
    let max = (*max)?;
    // `size - max ≤ 0`, where the size is that after the call: all else is said of elements, not of sizes.
    let [(size, 1)] = linear.terms[..] else { return None };
    let effects = plan.tools[*tool as usize].effects.iter();
    let writes = effects.filter(|effect| effect.target.var == *var && !effect.rule.shadow);
    let writes: Vec<_> = writes.collect();
    // A list is longer by what is appended; whether a set or a map grows is open, and its size a variable of its own.
    let bounds = [-i128::from(max), writes.len() as i128 - i128::from(max)];
    let is_bound = bounds.contains(&linear.constant) && system.sort(size) != Some(Sort::Decimal);
    let all_add = writes.iter().all(|effect| {
        effect.ranges.is_empty()
            && matches!(
                (&effect.target.path[..], effect.op),
                ([], EffectOp::Append | EffectOp::Insert) | ([Step::Index(_)], EffectOp::Set)
            )
    });
    let room = max.checked_sub(writes.len() as u64)?;
    (is_bound && all_add).then(|| format!("len({}) <= {room}", variable.name))
}

/// Returns true if an inequality follows from the ranges of its variables alone.
fn by_types(system: &System, part: &Formula) -> bool {
    let Formula::AtMost(linear) = part else { return false };
    let greatest = linear.greatest(|var| system.vars[var as usize].range());
    greatest.is_some_and(|greatest| greatest <= 0)
}

/// `linear ≤ 0` with its positive terms on the left and the others on the right.
fn comparison(plan: &Plan, tool: ToolId, system: &System, linear: &Linear) -> Option<String> {
    if linear.terms.len() > 4 {
        return None;
    }
    let mut sorts = linear.terms.iter().map(|(var, _)| system.sort(*var));
    let sort = sorts.next()??;
    if !sorts.all(|other| other == Some(sort)) || !sort.is_number() {
        return flag(plan, tool, system, linear);
    }
    let number = |number: i128| -> Option<String> {
        let number = i64::try_from(number).ok()?;
        Some(match sort {
            Sort::Decimal => decimal::format(number),
            Sort::Duration => format!("{number}ms"),
            Sort::Int => number.to_string(),
            _ => return None,
        })
    };
    let side = |positive: bool| -> Option<String> {
        let mut words = Vec::new();
        for (var, factor) in linear.terms.iter().filter(|(_, factor)| (*factor > 0) == positive) {
            let name = name(plan, tool, system, *var)?;
            words.push(match factor.abs() {
                1 => name,
                times => format!("{times} * {name}"),
            });
        }
        let constant = if positive { linear.constant } else { -linear.constant };
        if constant > 0 {
            words.push(number(constant)?);
        }
        Some(if words.is_empty() { number(0)? } else { words.join(" + ") })
    };
    let left = side(true)?;
    let right = side(false)?;
    // A lone bound from below reads better with its variable first.
    if linear.terms.iter().all(|(_, factor)| *factor < 0) {
        Some(format!("{right} >= {left}"))
    } else {
        Some(format!("{left} <= {right}"))
    }
}

/// A truth value by itself.
fn flag(plan: &Plan, tool: ToolId, system: &System, linear: &Linear) -> Option<String> {
    let [(var, factor)] = linear.terms[..] else { return None };
    let variable = &system.vars[var as usize];
    if (variable.least, variable.greatest) != (Some(0), Some(1)) {
        return None;
    }
    let name = name(plan, tool, system, var)?;
    Some(if factor < 0 { name } else { format!("not ({name})") })
}

/// Returns the term of a variable as text; `None` if it cannot be written in a guard.
fn name(plan: &Plan, tool: ToolId, system: &System, var: Var) -> Option<String> {
    let params: Vec<String> =
        plan.tools[tool as usize].params.iter().map(|param| param.name.clone()).collect();
    term(plan, &params, system, system.vars[var as usize].term)
}

fn term(plan: &Plan, params: &[String], system: &System, id: u32) -> Option<String> {
    let term_of = |id: &u32| term(plan, params, system, *id);
    let term = system.terms.get(id);
    Some(match (&term.op, &term.args[..]) {
        (Op::State(var), []) => plan.state[*var as usize].name.clone(),
        (Op::Param(at), []) => params.get(*at as usize)?.clone(),
        (Op::Text(text), []) => format!("\"{text}\""),
        (Op::Len, [collection]) => format!("len({})", term_of(collection)?),
        (Op::Has, [collection, element]) => {
            format!("{} in {}", term_of(element)?, term_of(collection)?)
        }
        (Op::Inner, [inner]) => term_of(inner)?,
        (Op::IsSome, [inner]) => format!("{} is some", term_of(inner)?),
        _ => return None,
    })
}

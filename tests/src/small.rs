//! Guards over integers of four bits: small enough to try everything, with an evaluator of their own.
//!
//! What is proved of them at that width is looked at in every state and with every argument. The evaluator shares no
//! code with the prover, the kernel or the reference; it knows ints, bools and nothing else.

use guard_compiler::CompilerOutput;
use guard_compiler::hir::{ClauseKind, Expr, ExprKind, Program, Tool, Type};
use guard_compiler::verify::{Basis, ObligationStatus, Verification, Width, verify_at};
use guard_plan::builtin::Builtin;
use guard_plan::plan::{ArithOp, CompareOp, EffectOp};
use guard_plan::random::Rng;
use std::fmt::Write as _;

/// Their width.
pub const BITS: Width = Width(4);

/// A value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Small {
    /// An int.
    Int(i64),
    /// A bool.
    Bool(bool),
}

/// A random guard: two ints, a bool, a few invariants and tools.
pub fn source(rng: &mut Rng) -> String {
    let mut out = String::from("guard small\n\nstate {\n");
    let x = rng.below(8);
    let y = rng.below(8);
    let _ = writeln!(out, "  x: int = {x}\n  y: int = {y}\n  b: bool = {}\n}}\n", rng.chance(50));
    let vars = ["x", "y"];
    for at in 0..1 + rng.below(3) {
        let _ = writeln!(out, "invariant i{at} {{ {} }}", condition(rng, &vars, &["b"], 2));
    }
    for at in 0..2 {
        let _ = writeln!(out, "\ntool t{at}(n: int, f: bool) {{");
        let vars = ["x", "y", "n"];
        for _ in 0..rng.below(3) {
            let word = if rng.below(2) == 0 { "when" } else { "unless" };
            let _ = writeln!(out, "  deny {word} {}", condition(rng, &vars, &["b", "f"], 2));
        }
        let targets = [("x", true), ("y", rng.below(2) == 0)];
        for (target, _) in targets.iter().filter(|(_, written)| *written) {
            let op = ["=", "+=", "-=", "*="][rng.below(4)];
            let _ = writeln!(out, "  effect {target} {op} {}", number(rng, &vars, &["b", "f"], 2));
        }
        if rng.below(2) == 0 {
            let _ = writeln!(out, "  effect b = {}", condition(rng, &vars, &["b", "f"], 1));
        }
        out.push_str("}\n");
    }
    out
}

fn number(rng: &mut Rng, vars: &[&str], flags: &[&str], depth: usize) -> String {
    let deeper = |rng: &mut Rng| number(rng, vars, flags, depth - 1);
    match rng.below(if depth == 0 { 2 } else { 9 }) {
        0 => (rng.below(7) as i64 - 2).to_string(),
        1 | 2 => vars[rng.below(vars.len())].to_string(),
        3 => format!("({} + {})", deeper(rng), deeper(rng)),
        4 => format!("({} - {})", deeper(rng), deeper(rng)),
        5 => format!("{} * {}", deeper(rng), 1 + rng.below(3)),
        6 => {
            let op = ["/", "%"][rng.below(2)];
            format!("({} {op} {})", deeper(rng), 2 + rng.below(2))
        }
        7 => {
            let name = ["min", "max"][rng.below(2)];
            format!("{name}({}, {})", deeper(rng), deeper(rng))
        }
        _ => {
            let condition = condition(rng, vars, flags, 0);
            format!("(if {condition} then {} else {})", deeper(rng), deeper(rng))
        }
    }
}

fn condition(rng: &mut Rng, vars: &[&str], flags: &[&str], depth: usize) -> String {
    let deeper = |rng: &mut Rng| condition(rng, vars, flags, depth - 1);
    match rng.below(if depth == 0 { 3 } else { 7 }) {
        0 => flags[rng.below(flags.len())].to_string(),
        1 | 2 => {
            let op = ["==", "!=", "<", "<=", ">", ">="][rng.below(6)];
            format!("{} {op} {}", number(rng, vars, flags, depth), number(rng, vars, flags, 0))
        }
        3 => format!("not ({})", deeper(rng)),
        4 => format!("({} and {})", deeper(rng), deeper(rng)),
        5 => format!("({} or {})", deeper(rng), deeper(rng)),
        _ => format!("({} implies {})", deeper(rng), deeper(rng)),
    }
}

/// Evaluates an expression; `None` is a fault. A value that the small integers cannot hold is a fault too.
fn eval(e: &Expr, state: &[Small], args: &[Small]) -> Option<Small> {
    let of = |e: &Expr| eval(e, state, args);
    let int = |e: &Expr| match of(e)? {
        Small::Int(number) => Some(number),
        Small::Bool(_) => None,
    };
    let truth = |e: &Expr| match of(e)? {
        Small::Bool(truth) => Some(truth),
        Small::Int(_) => None,
    };
    let fits = |number: i64| {
        let number = i128::from(number);
        let fits = BITS.least() <= number && number <= BITS.greatest();
        fits.then_some(Small::Int(number as i64))
    };
    Some(match &e.kind {
        ExprKind::Bool(truth) => Small::Bool(*truth),
        ExprKind::Int(number) => Small::Int(*number),
        ExprKind::State(var) => state[*var],
        ExprKind::Param(at) => args[*at as usize],
        ExprKind::Not(a) => Small::Bool(!truth(a)?),
        ExprKind::Neg(a) => fits(-int(a)?)?,
        ExprKind::And(a, b) => Small::Bool(truth(a)? && truth(b)?),
        ExprKind::Or(a, b) => Small::Bool(truth(a)? || truth(b)?),
        ExprKind::Implies(a, b) => Small::Bool(!truth(a)? || truth(b)?),
        ExprKind::If(condition, a, b) => of(if truth(condition)? { a } else { b })?,
        ExprKind::Compare(op, a, b) => match (of(a)?, of(b)?) {
            (Small::Bool(a), Small::Bool(b)) => Small::Bool((a == b) == (*op == CompareOp::Eq)),
            (Small::Int(a), Small::Int(b)) => Small::Bool(match op {
                CompareOp::Eq => a == b,
                CompareOp::Ne => a != b,
                CompareOp::Lt => a < b,
                CompareOp::Le => a <= b,
                CompareOp::Gt => a > b,
                CompareOp::Ge => a >= b,
            }),
            _ => return None,
        },
        ExprKind::Arith(op, a, b) => fits(arith(*op, int(a)?, int(b)?)?)?,
        ExprKind::Call(Builtin::Min, args) => Small::Int(int(&args[0])?.min(int(&args[1])?)),
        ExprKind::Call(Builtin::Max, args) => Small::Int(int(&args[0])?.max(int(&args[1])?)),
        _ => return None,
    })
}

fn arith(op: ArithOp, a: i64, b: i64) -> Option<i64> {
    Some(match op {
        ArithOp::Add => a + b,
        ArithOp::Sub => a - b,
        ArithOp::Mul => a * b,
        ArithOp::Div => a.checked_div(b)?,
        ArithOp::Rem => a.checked_rem(b)?,
    })
}

/// The state after a call that nothing refuses but its effects' invariants; none where something does.
fn step(tool: &Tool, state: &[Small], args: &[Small]) -> Option<Vec<Small>> {
    let mut after = state.to_vec();
    for clause in &tool.clauses {
        match &clause.kind {
            ClauseKind::Deny { condition, .. } => {
                if eval(condition, state, args)? != Small::Bool(false) {
                    return None;
                }
            }
            ClauseKind::Effect { ranges, .. } if !ranges.is_empty() => return None,
            ClauseKind::Effect { target, op, value, .. } => {
                let value = eval(value.as_ref()?, state, args)?;
                let old = after[target.var];
                let (op, (Small::Int(old), Small::Int(new))) = (op, (old, value)) else {
                    after[target.var] = value;
                    continue;
                };
                let number = match op {
                    EffectOp::Set => new,
                    EffectOp::Add => old + new,
                    EffectOp::Subtract => old - new,
                    EffectOp::Multiply => old * new,
                    _ => return None,
                };
                let wide = i128::from(number);
                if wide < BITS.least() || wide > BITS.greatest() {
                    return None;
                }
                after[target.var] = Small::Int(number);
            }
            _ => return None,
        }
    }
    Some(after)
}

/// The counts of what was tried: claims, and the calls that they were checked against.
#[derive(Debug, Default, Clone, Copy)]
pub struct SmallCounts {
    /// Pairs of tool and invariant that were proved.
    pub proved: usize,
    /// Pairs that were not.
    pub checked: usize,
    /// Tools of which no call is possible.
    pub impossible: usize,
    /// Calls that were made.
    pub calls: usize,
    /// Proofs that rest on an invariant or a deny.
    pub given: usize,
}

/// Tries everything that was said of a guard; the error is the first thing that is not so.
pub fn try_all(output: &CompilerOutput, tried: &mut SmallCounts) -> Result<(), String> {
    // Not of the optimized plan: what was folded there was calculated in 64 bits.
    try_claims(output, &verify_at(&output.lowered, BITS), tried)
}

fn try_claims(
    output: &CompilerOutput,
    said: &Verification,
    tried: &mut SmallCounts,
) -> Result<(), String> {
    let program = &output.program;
    let tools = || (0u32..).zip(&output.lowered.tools);
    for (id, tool) in tools() {
        let Some(tool) = program.tools.iter().find(|known| known.name == tool.name) else {
            continue;
        };
        let impossible = said.impossible.iter().any(|call| call.tool == id);
        tried.impossible += usize::from(impossible);
        let mut claims: Vec<&Expr> = Vec::new();
        for pair in said.pairs.iter().filter(|pair| pair.tool == id) {
            match &pair.status {
                ObligationStatus::Proved(by) => {
                    let name = &output.lowered.invariants[pair.invariant as usize].rule.owner;
                    let declared =
                        program.invariants.iter().find(|known| known.rule.owner == *name);
                    claims.extend(declared.map(|declared| &declared.condition));
                    tried.proved += 1;
                    let given =
                        |basis: &Basis| matches!(basis, Basis::Deny(_) | Basis::Invariant(_));
                    tried.given += usize::from(by.iter().any(given));
                }
                _ => tried.checked += 1,
            }
        }
        if claims.is_empty() && !impossible {
            continue;
        }
        every_state(program, &mut |state| {
            let holds = |e: &Expr, state: &[Small]| eval(e, state, &[]) == Some(Small::Bool(true));
            if !program.invariants.iter().all(|invariant| holds(&invariant.condition, state)) {
                return Ok(());
            }
            every_args(tool, &mut |args| {
                let Some(after) = step(tool, state, args) else { return Ok(()) };
                tried.calls += 1;
                if impossible {
                    return Err(format!("`{}` can be called: {state:?} {args:?}", tool.name));
                }
                if claims.iter().all(|claim| holds(claim, &after)) {
                    Ok(())
                } else {
                    Err(format!(
                        "`{}` breaks what is proved: {state:?} {args:?} → {after:?}",
                        tool.name
                    ))
                }
            })
        })?;
    }
    Ok(())
}

type VisitValues<'v> = &'v mut dyn FnMut(&[Small]) -> Result<(), String>;

fn every_state(program: &Program, visit: VisitValues<'_>) -> Result<(), String> {
    let types: Vec<&Type> = program.state.iter().map(|var| &var.ty).collect();
    every(&types, &mut Vec::new(), visit)
}

fn every_args(tool: &Tool, visit: VisitValues<'_>) -> Result<(), String> {
    let types: Vec<&Type> = tool.params.iter().map(|param| &param.ty).collect();
    every(&types, &mut Vec::new(), visit)
}

fn every(types: &[&Type], chosen: &mut Vec<Small>, visit: VisitValues<'_>) -> Result<(), String> {
    let Some(ty) = types.get(chosen.len()) else { return visit(chosen) };
    let values: Vec<Small> = match ty {
        Type::Bool => vec![Small::Bool(false), Small::Bool(true)],
        _ => (BITS.least()..=BITS.greatest()).map(|n| Small::Int(n as i64)).collect(),
    };
    for value in values {
        chosen.push(value);
        every(types, chosen, visit)?;
        chosen.pop();
    }
    Ok(())
}

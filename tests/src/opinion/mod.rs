//! A second opinion: obligations as SMT-LIB 2, from the checked program and the page of its semantics, sharing no code with the
//! prover or its encoder.
//!
//! Collections are unrolled to a few elements, so that a model is a state, and no quantifier is left: what a solver calls satisfiable is
//! a claim that is false. Unsatisfiable means true of states of that size. Of what is not said here there is no opinion.

mod effects;
mod exprs;
mod values;

use crate::steps::split_program;
use exprs::SmtEnv;
use guard_compiler::CompilerOutput;
use guard_compiler::hir::{ClauseKind, Program, Tool};
use guard_compiler::verify::Verification;
use guard_plan::plan::{Claim, Plan};
use guard_proof::assumable;
use std::collections::BTreeSet;
use values::{SmtVal, and, not, or};

/// Elements of a collection in a state.
const ELEMENTS: usize = 2;

/// A script under construction: definitions and assertions.
#[derive(Default)]
pub(crate) struct Script {
    text: String,
    next: usize,
}

impl Script {
    /// A name for a term, so that none is written out twice.
    pub fn define(&mut self, sort: &str, term: String) -> String {
        if !term.starts_with('(') {
            return term;
        }
        let name = self.name();
        self.text.push_str(&format!("(define-fun {name} () {sort} {term})\n"));
        name
    }

    /// A constant of which nothing is known.
    pub fn declare(&mut self, sort: &str) -> String {
        let name = self.name();
        self.text.push_str(&format!("(declare-const {name} {sort})\n"));
        name
    }

    /// Takes a condition as given.
    pub fn assert(&mut self, condition: &str) {
        self.text.push_str(&format!("(assert {condition})\n"));
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("t{}", self.next)
    }
}

/// The questions about one tool: one script, and the claims whose negations it asks for, in order.
pub struct SolverQuestions {
    /// The script, with one answer for each claim.
    pub script: String,
    /// The claims in words, and whether each was proved: of the others some must be refuted, or nothing is asked here.
    pub claims: Vec<(String, bool)>,
    /// Claims about which nothing can be said.
    pub unsaid: usize,
}

/// The questions about what was said of a tool; none where nothing was claimed.
pub fn questions(
    output: &CompilerOutput,
    said: &Verification,
    tool: u32,
) -> Option<SolverQuestions> {
    let plan = &output.lowered;
    let proofs = || said.proofs.iter().filter(|proof| proof.claim.tool() == tool);
    let impossible = said.impossible.iter().any(|call| call.tool == tool);
    let count = proofs().count() + usize::from(impossible);
    if count == 0 {
        return None;
    }
    let unsaid = |unsaid| SolverQuestions { script: String::new(), claims: Vec::new(), unsaid };
    let program = split_program(&output.program);
    let name = &plan.tools[tool as usize].name;
    let Some(declared) = program.tools.iter().find(|known| known.name == *name) else {
        return Some(unsaid(count));
    };
    let mut script = Script::default();
    let assumed = assumable(plan, &said.proofs);
    let given = CallGivens { plan, program: &program, assumed: &assumed };
    let Some(before) = given.before(declared, &mut script) else { return Some(unsaid(count)) };
    let mut questions = unsaid(0);
    let mut goals: Vec<((String, bool), String)> = Vec::new();
    if impossible {
        goals.push(((format!("`{name}` can never be called"), true), "true".into()));
    }
    for proof in proofs() {
        match given.broken(&proof.claim, &before, &mut script) {
            Some(goal) => goals.push(((format!("`{name}`: {:?}", proof.claim), true), goal)),
            None => questions.unsaid += 1,
        }
    }
    for pair in said.pairs.iter().filter(|pair| pair.tool == tool) {
        let claim = Claim::Preserved { tool, invariant: pair.invariant, part: 0 };
        if proofs().all(|proof| proof.claim != claim)
            && let Some(goal) = given.broken(&claim, &before, &mut script)
        {
            goals.push(((format!("`{name}`: {claim:?}"), false), goal));
        }
    }
    questions.script = format!("(set-logic ALL)\n{}", script.text);
    for (claim, goal) in goals {
        questions.script.push_str(&format!("(push 1)\n(assert {goal})\n(check-sat)\n(pop 1)\n"));
        questions.claims.push(claim);
    }
    Some(questions)
}

/// The givens of a call: the plan, the program and the assumed invariants.
struct CallGivens<'g> {
    plan: &'g Plan,
    program: &'g Program,
    assumed: &'g [bool],
}

/// The state after a call that nothing refused.
struct StateAfterCall {
    state: Vec<SmtVal>,
    /// Of each written variable whether it is within its type; none where that cannot be said.
    typed: Vec<(usize, Option<String>)>,
}

impl CallGivens<'_> {
    /// Asserts what a call passes that no stage before the effects refuses; the state after it. None where something cannot be
    /// said: then there is no opinion.
    fn before(&self, tool: &Tool, script: &mut Script) -> Option<StateAfterCall> {
        let program = self.program;
        let mut state = Vec::new();
        for var in &program.state {
            state.push(script.any(program, &var.ty, ELEMENTS)?);
        }
        let mut args = Vec::new();
        for param in &tool.params {
            args.push(script.any(program, &param.ty, ELEMENTS)?);
        }
        let mut spent = Vec::new();
        for _ in &program.units {
            let amount = script.declare("Int");
            // Amounts are decimals: what exceeds their range counts as the largest of them.
            script.assert(&format!("(and (<= 0 {amount}) (<= {amount} {}))", i64::MAX));
            spent.push(amount);
        }
        let assumed: BTreeSet<&str> = (0..)
            .zip(self.assumed)
            .filter(|(_, assumed)| **assumed)
            .map(|(id, _): (usize, _)| self.plan.invariants[id].rule.owner.as_str())
            .collect();
        let env = SmtEnv { state: &state, args: &args, spent: &spent, locals: Vec::new() };
        for part in &program.invariants {
            let whole = part.rule.owner.rsplit_once('/').map_or("", |(whole, _)| whole);
            if assumed.contains(whole) {
                let (truth, ok) = script.condition(&part.condition, &env)?;
                script.assert(&and(&[truth, ok]));
            }
        }
        let mut totals = vec![Vec::new(); program.units.len()];
        for clause in tool.clauses.iter().filter(|clause| !clause.rule.shadow) {
            match &clause.kind {
                ClauseKind::Deny { condition, .. } => {
                    let (truth, ok) = script.condition(condition, &env)?;
                    script.assert(&and(&[not(&truth), ok]));
                }
                ClauseKind::Costs { unit, amount, .. } => {
                    let (amount, ok) = script.number(amount, &env)?;
                    script.assert(&and(&[format!("(>= {amount} 0)"), ok]));
                    totals[*unit].push(amount);
                }
                _ => {}
            }
        }
        for ((unit, amounts), total) in program.units.iter().zip(&totals).zip(&spent) {
            if let (Some(budget), false, false) =
                (unit.budget, amounts.is_empty(), unit.host_charged)
            {
                let sum = format!("(+ {total} {})", amounts.join(" "));
                script.assert(&format!("(<= {sum} {budget})"));
            }
        }
        let (after, ok) = script.effects(tool, &env)?;
        script.assert(&ok);
        let written: BTreeSet<usize> = tool
            .clauses
            .iter()
            .filter(|clause| !clause.rule.shadow)
            .filter_map(|clause| match &clause.kind {
                ClauseKind::Effect { target, .. } => Some(target.var),
                _ => None,
            })
            .collect();
        let mut typed = Vec::new();
        for var in written {
            typed.push((var, script.fits(program, &program.state[var].ty, &after[var])));
        }
        Some(StateAfterCall { state: after, typed })
    }

    /// The condition under which a claim is broken.
    fn broken(&self, claim: &Claim, after: &StateAfterCall, script: &mut Script) -> Option<String> {
        match *claim {
            Claim::Refined { var, .. } => {
                let name = &self.plan.state[var as usize].name;
                let at = self.program.state.iter().position(|var| var.name == *name)?;
                let (_, fits) = after.typed.iter().find(|(var, _)| *var == at)?;
                Some(not(fits.as_ref()?))
            }
            Claim::Preserved { invariant, part, .. } => {
                let owner = &self.plan.invariants[invariant as usize].rule.owner;
                let spent: Vec<String> =
                    self.program.units.iter().map(|_| script.declare("Int")).collect();
                let state = &after.state[..];
                let locals = Vec::new();
                let env = SmtEnv { state, args: &[], spent: &spent, locals };
                let mut needed = Vec::new();
                for (_, fits) in &after.typed {
                    needed.push(fits.clone()?);
                }
                for at in 0..=part {
                    let name = format!("{owner}/{at}");
                    let declared =
                        self.program.invariants.iter().find(|known| known.rule.owner == name)?;
                    if reads_beside_state(&declared.condition) {
                        return None;
                    }
                    let (truth, ok) = script.condition(&declared.condition, &env)?;
                    let holds = and(&[truth, ok]);
                    needed.push(if at == part { not(&holds) } else { holds });
                }
                Some(and(&needed))
            }
            Claim::Observed { .. } | Claim::Bounded { .. } => None,
        }
    }
}

/// Returns true if a condition asks for spent or remaining amounts. This model does not express that the call itself
/// charges nothing before it is settled.
fn reads_beside_state(condition: &guard_compiler::hir::Expr) -> bool {
    use guard_compiler::hir::ExprKind;
    condition.any(&mut |e| matches!(e.kind, ExprKind::Spent(_) | ExprKind::Remaining(_)))
}

/// Two alternatives, for the modules beside.
pub(crate) fn either(a: &str, b: &str) -> String {
    or(&[a.to_string(), b.to_string()])
}

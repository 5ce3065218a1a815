//! Export of open problems to external solvers: SMT-LIB 2 out, and the use of a solver's answer.
//!
//! A solver's answer is never trusted. A positive answer counts if the embedded prover, which is told the relevant
//! hypotheses, finds a certificate. A negative answer counts if the solver's model replays on the reference evaluator.
//! Another module starts solvers and reads their output.

use super::prover::{Effort, ProverAnswer, certify};
use super::residue;
use crate::analysis::reference::ReferenceSession;
use crate::hir::Program;
use guard_plan::json::Json;
use guard_plan::plan::{Claim, Plan, Proof, ToolId, TypeDef};
use guard_plan::render;
use guard_plan::value::Value;
use guard_plan::verdict::{Code, Decision};
use guard_proof::formula::Formula;
use guard_proof::linear::{Linear, Var};
use guard_proof::{Op, ProofProblem, Sort, System, Width, assumable, bounds};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::rc::Rc;

/// The prover's effort after a solver has selected the hypotheses.
const LONG: Effort = Effort { combinations: 2_000_000, cases: 20_000 };

/// Options that every script begins with.
pub const PROLOGUE: &str = "(set-option :produce-models true)\n(set-option :produce-unsat-cores true)\n(set-logic QF_LIA)\n";

/// A goal that is not proved.
pub struct OpenGoal {
    /// The tool.
    pub tool: ToolId,
    /// What is to be proved.
    pub claim: Claim,
    /// The claim in words.
    pub text: String,
    problem: ProofProblem,
    system: Rc<System>,
}

/// All goals of invariants that are open in a plan, whose own proofs may be assumed.
pub fn open_goals(plan: &Plan) -> Vec<OpenGoal> {
    let assumed = assumable(plan, &plan.proofs);
    let bounds = bounds::claimed(&plan.proofs);
    let mut open = Vec::new();
    if plan.shadow {
        return open;
    }
    for tool in 0..plan.tools.len() as ToolId {
        let system = System::with_bounds(plan, tool, &assumed, &bounds, Width::REAL);
        let system = Rc::new(system);
        for goal in &system.goals {
            let Claim::Preserved { invariant, .. } = goal.claim else { continue };
            let declared = &plan.invariants[invariant as usize];
            if plan.claims(&goal.claim) || declared.monitor || declared.rule.shadow {
                continue;
            }
            let Some(problem) = system.problem(goal) else { continue };
            let text = residue::part_text(plan, &goal.claim);
            open.push(OpenGoal {
                tool,
                claim: goal.claim.clone(),
                text,
                problem,
                system: system.clone(),
            });
        }
    }
    open
}

impl OpenGoal {
    /// The question whether the goal can fail, as assertions: hypotheses are named `h0`, `h1`, ….
    pub fn assertions(&self) -> String {
        let mut out = String::new();
        for var in self.vars() {
            let variable = &self.problem.vars[var as usize];
            let _ = writeln!(out, "(declare-const v{var} Int)");
            if let Some(least) = variable.least {
                let _ = writeln!(out, "(assert (<= {} v{var}))", integer(least));
            }
            if let Some(greatest) = variable.greatest {
                let _ = writeln!(out, "(assert (<= v{var} {}))", integer(greatest));
            }
        }
        for (at, hypothesis) in self.problem.hypotheses.iter().enumerate() {
            if *hypothesis != Formula::True {
                let _ = writeln!(out, "(assert (! {} :named h{at}))", condition(hypothesis));
            }
        }
        let _ = writeln!(out, "(assert {})", condition(&self.problem.negated_goal));
        out
    }

    /// The variables of the question.
    pub fn vars(&self) -> BTreeSet<Var> {
        let mut vars = BTreeSet::new();
        self.problem.negated_goal.vars(&mut |var| _ = vars.insert(var));
        self.problem
            .hypotheses
            .iter()
            .for_each(|hypothesis| hypothesis.vars(&mut |var| _ = vars.insert(var)));
        vars
    }

    /// The proof that the embedded prover finds from these hypotheses alone, with more effort than usual.
    pub fn proof(&self, uses: &[u32]) -> Option<Proof> {
        match certify(&self.problem, uses, LONG) {
            ProverAnswer::Proved(certificate) => {
                Some(Proof { claim: self.claim.clone(), certificate })
            }
            ProverAnswer::Open | ProverAnswer::Exhausted => None,
        }
    }

    /// A model as a state and a call, where it replays: in that state all that is given holds, and the call is refused
    /// for the invariant alone.
    pub fn counterexample(
        &self,
        program: &Program,
        plan: &Plan,
        value: &dyn Fn(Var) -> Option<i128>,
    ) -> Option<String> {
        let Claim::Preserved { invariant, .. } = self.claim else { return None };
        let tool = &plan.tools[self.tool as usize];
        let number = |op: Op| {
            let var = (0..).zip(self.problem.vars.iter()).find(|(_, variable)| {
                let term = self.system.terms.get(variable.term);
                term.op == op && term.args.is_empty()
            })?;
            Some((self.system.sort(var.0), value(var.0)?))
        };
        let mut session = ReferenceSession::open(program, 0, "/", None).ok()?;
        let mut shown = Vec::new();
        for (at, declared) in (0..).zip(&plan.state) {
            let Some((sort, number)) = number(Op::State(at)) else { continue };
            let value = scalar(&plan.types[declared.ty as usize], sort, number)?;
            let text = render::to_json(&plan.types, declared.ty, &value).to_string();
            shown.push(format!("{} = {text}", declared.name));
            session.place(&declared.name, value);
        }
        let mut args = Vec::new();
        for (at, param) in (0..).zip(&tool.params) {
            let def = &plan.types[param.ty as usize];
            let value = match number(Op::Param(at)) {
                Some((sort, number)) => scalar(def, sort, number)?,
                None => any(def)?,
            };
            args.push((param.name.as_str().into(), render::to_json(&plan.types, param.ty, &value)));
        }
        let args = Json::Object(args);
        // A session can only be in a state in which every invariant holds.
        if !session.broken_initially().is_empty() {
            return None;
        }
        let judged = session.clone().propose("model", &tool.wire_name, &args, 0, &|_| None).ok()?;
        let name = &plan.invariants[invariant as usize].rule.owner;
        // What must have happened before, and what the world must say, is not part of the question.
        let beside = |code: &Code| {
            matches!(code, Code::Requires | Code::Approval | Code::Gated | Code::NotReady)
        };
        let is_this = |code: &Code, rule: &String| *code == Code::Invariant && rule == name;
        let breaks = judged.decision == Decision::Deny
            && judged.reasons.iter().any(|(code, rule, ..)| is_this(code, rule))
            && judged.reasons.iter().all(|(code, rule, ..)| is_this(code, rule) || beside(code));
        let state = if shown.is_empty() { "any state".into() } else { shown.join(", ") };
        breaks.then(|| format!("with {state}, `{}` called with {args}", tool.name))
    }
}

/// A number as the value it stands for; none where it stands for something that has no number.
fn scalar(def: &TypeDef, sort: Option<Sort>, number: i128) -> Option<Value> {
    let number = i64::try_from(number).ok()?;
    Some(match (def, sort) {
        (TypeDef::Bool, _) => Value::Bool(number == 1),
        (_, Some(Sort::Int)) => Value::Int(number),
        (_, Some(Sort::Decimal)) => Value::Decimal(number),
        (_, Some(Sort::Duration)) => Value::Duration(number),
        (_, Some(Sort::Enum)) => Value::Enum(u32::try_from(number).ok()?),
        _ => return None,
    })
}

/// Some value of a type, for an argument that does not matter.
fn any(def: &TypeDef) -> Option<Value> {
    Some(match def {
        TypeDef::Bool => Value::Bool(false),
        TypeDef::Int { min, max } => Value::Int(nearest(*min, *max)),
        TypeDef::Decimal { min, max } => Value::Decimal(nearest(*min, *max)),
        TypeDef::Duration { min, max } => Value::Duration(nearest(*min, *max)),
        TypeDef::Enum { .. } => Value::Enum(0),
        TypeDef::String { .. } | TypeDef::Command => Value::String("".into()),
        TypeDef::Option { .. } => Value::None,
        TypeDef::List { .. } => Value::List(Vec::new()),
        TypeDef::Set { .. } => Value::Set(Default::default()),
        TypeDef::Map { .. } => Value::Map(Default::default()),
        _ => return None,
    })
}

/// The number between two bounds that is nearest to 0.
fn nearest(min: Option<i64>, max: Option<i64>) -> i64 {
    0.max(min.unwrap_or(i64::MIN)).min(max.unwrap_or(i64::MAX))
}

fn integer(number: i128) -> String {
    if number < 0 { format!("(- {})", number.unsigned_abs()) } else { number.to_string() }
}

fn condition(formula: &Formula) -> String {
    let joined = |word: &str, parts: &[Formula]| {
        let parts: Vec<String> = parts.iter().map(condition).collect();
        format!("({word} {})", parts.join(" "))
    };
    match formula {
        Formula::True => "true".into(),
        Formula::False => "false".into(),
        Formula::AtMost(linear) => format!("(<= {} 0)", sum(linear)),
        Formula::And(parts) => joined("and", &parts.parts),
        Formula::Or(parts) => joined("or", &parts.parts),
    }
}

fn sum(linear: &Linear) -> String {
    let mut out = format!("(+ {}", integer(linear.constant));
    for (var, factor) in &linear.terms {
        let _ = match factor {
            1 => write!(out, " v{var}"),
            _ => write!(out, " (* {} v{var})", integer(*factor)),
        };
    }
    out.push(')');
    out
}

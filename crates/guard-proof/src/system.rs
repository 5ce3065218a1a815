//! The obligations of one tool: what holds when a call of it is allowed, what its effects and observations do, and
//! what must hold afterwards (semantics §15).

use crate::encoder::{Encoder, Env};
use crate::formula::Formula;
use crate::frame;
use crate::linear::{Linear, Var};
use crate::problem::{Problem, Variable};
use crate::terms::{Op, Terms};
use crate::value::{Outcome, Sort, Value, Width};
use guard_plan::plan::{Claim, Expr, InvariantId, Node, NodeId, Plan, Tool, ToolId, VarId};
use std::collections::HashMap;
use std::rc::Rc;

/// Most invariants that are given in one problem.
const MOST_INVARIANTS: usize = 64;

/// Why something is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// The call was not refused by this `deny` of the tool.
    Deny(usize),
    /// The call was not refused for what it costs.
    Costs,
    /// The invariant holds before.
    Invariant(InvariantId),
    /// No effect faults.
    Effects,
    /// The variable is within its type afterwards.
    Refined(VarId),
    /// It is so by what the terms mean.
    Meaning,
}

/// Something to be proved.
#[derive(Debug, Clone)]
pub struct Goal {
    /// What, as the plan says it.
    pub claim: Claim,
    /// What must hold.
    pub formula: Formula,
}

/// The obligations of one tool.
pub struct System {
    /// The variables' terms.
    pub terms: Terms,
    /// The variables.
    pub vars: Rc<[Variable]>,
    /// Why the hypotheses of the same number are given.
    pub given: Vec<Given>,
    /// What is to be proved, in the order of the claims.
    pub goals: Vec<Goal>,
    hypotheses: Rc<[Formula]>,
    /// The hypotheses without the refinements that are goals themselves.
    unrefined: Rc<[Formula]>,
    /// The sorts of variables of which it is known.
    sorts: HashMap<Var, Sort>,
}

impl System {
    /// What the effects of a call of the tool must preserve. Given are what every call passes that no stage before the
    /// effects refuses, and the invariants that hold in every committed state.
    pub fn of_effects(plan: &Plan, id: ToolId, assumable: &[bool], width: Width) -> System {
        let tool = &plan.tools[id as usize];
        let mut builder = Builder::new(plan, tool, None, width);
        builder.conditions(tool);
        let mut read = frame::reads(tool);
        let framed = frame::effects(plan, tool);
        framed
            .iter()
            .for_each(|id| read.extend(frame::variables(&plan.invariants[*id as usize].condition)));
        builder.invariants(assumable, &framed, &read);
        let before = builder.env.clone();
        let (after, sound) = builder.encoder.simulate(tool, &before);
        builder.give(Given::Effects, sound);
        let mut goals = Vec::new();
        for invariant in framed {
            builder.preserved(invariant, &after, &mut |part, formula| {
                let claim = Claim::Preserved { tool: id, invariant, part };
                goals.push(Goal { claim, formula });
            });
        }
        let mut written: Vec<VarId> = after.written.iter().map(|(var, _)| *var).collect();
        written.sort_unstable();
        for var in written {
            let value = builder.encoder.state(var, &after);
            let fits = builder.encoder.fits(plan.state[var as usize].ty, &value);
            goals.push(Goal { claim: Claim::Refined { tool: id, var }, formula: fits.clone() });
            builder.give(Given::Refined(var), fits);
        }
        builder.finish(goals)
    }

    /// What the observations of a settled call must preserve, whichever of them are written. Given are the invariants
    /// that hold in every committed state, and nothing of the call: what it was allowed for may no longer be so.
    pub fn of_observations(plan: &Plan, id: ToolId, assumable: &[bool], width: Width) -> System {
        let tool = &plan.tools[id as usize];
        let mut builder = Builder::new(plan, tool, tool.returns, width);
        let framed = frame::observations(plan, tool);
        let mut read: Vec<VarId> = tool.observes.iter().map(|observe| observe.target.var).collect();
        framed
            .iter()
            .for_each(|id| read.extend(frame::variables(&plan.invariants[*id as usize].condition)));
        builder.invariants(assumable, &framed, &read);
        let before = builder.env.clone();
        let after = builder.encoder.observe(tool, &before);
        let mut goals = Vec::new();
        for invariant in framed {
            let mut whole = Formula::True;
            builder.preserved(invariant, &after, &mut |_, part| {
                whole = std::mem::replace(&mut whole, Formula::True).and(part);
            });
            goals.push(Goal { claim: Claim::Observed { tool: id, invariant }, formula: whole });
        }
        builder.finish(goals)
    }

    /// The problem of one goal.
    pub fn problem(&self, goal: &Goal) -> Option<Problem> {
        let negated_goal = goal.formula.negated()?;
        let hypotheses = match goal.claim {
            Claim::Refined { .. } if !mutant!("a type proves itself") => self.unrefined.clone(),
            _ => self.hypotheses.clone(),
        };
        Some(Problem { vars: self.vars.clone(), hypotheses, negated_goal })
    }

    /// The problem of whether what is given can be at all: a certificate for it shows that it cannot.
    pub fn vacuity(&self) -> Problem {
        Problem {
            vars: self.vars.clone(),
            hypotheses: self.unrefined.clone(),
            negated_goal: Formula::True,
        }
    }

    /// What kind of thing a variable's numbers stand for, where that is known.
    pub fn sort(&self, var: Var) -> Option<Sort> {
        self.sorts.get(&var).copied()
    }
}

/// The operands of the outermost `and`s of a condition, in order.
pub fn parts(condition: &Expr) -> Vec<NodeId> {
    fn walk(condition: &Expr, id: NodeId, parts: &mut Vec<NodeId>) {
        match condition.0[id as usize] {
            Node::And(a, b) => {
                walk(condition, a, parts);
                walk(condition, b, parts);
            }
            _ => parts.push(id),
        }
    }
    let mut parts_of = Vec::new();
    walk(condition, (condition.0.len() - 1) as NodeId, &mut parts_of);
    parts_of
}

struct Builder<'p> {
    encoder: Encoder<'p>,
    env: Env<'p>,
    hypotheses: Vec<(Given, Formula)>,
}

impl<'p> Builder<'p> {
    fn new(plan: &'p Plan, tool: &'p Tool, returns: Option<u32>, width: Width) -> Self {
        let env = Env {
            params: &tool.params,
            returns,
            written: Rc::default(),
            locals: Rc::default(),
            depth: 0,
        };
        Builder { encoder: Encoder::new(plan, width), env, hypotheses: Vec::new() }
    }

    fn give(&mut self, given: Given, formula: Formula) {
        self.hypotheses.push((given, formula));
    }

    /// What the stages before the effects let pass.
    fn conditions(&mut self, tool: &'p Tool) {
        let env = self.env.clone();
        for (at, deny) in tool
            .denies
            .iter()
            .enumerate()
            .filter(|(_, deny)| !deny.rule.shadow || mutant!("a deny in shadow is given"))
        {
            let (refused, sound) = self.encoder.condition(&deny.condition, &env);
            let passed = match mutant!("a deny is not negated") {
                true => refused.and(sound),
                false => self.encoder.not(&refused).and(sound),
            };
            self.give(Given::Deny(at), passed);
        }
        let plan = self.encoder.plan;
        for (unit, declared) in (0..).zip(&plan.units) {
            let costs = tool.costs.iter().filter(|cost| cost.unit == unit && !cost.rule.shadow);
            let mut total = Some(Linear::default());
            let mut any = false;
            for cost in costs {
                any = true;
                let amount = self.encoder.eval(&cost.amount, &env);
                let (there, value) = self.encoder.split(amount.value);
                total = match value {
                    Value::Number(Sort::Decimal, amount) => {
                        let known = Formula::le(&Linear::default(), &amount);
                        let known = known.unwrap_or(Formula::True);
                        self.give(Given::Costs, there.and(known));
                        total.and_then(|total| total.plus(1, &amount))
                    }
                    _ => None,
                };
            }
            if !any || declared.host_charged {
                continue;
            }
            if let (Some(budget), Some(total)) = (declared.budget, total) {
                let (least, greatest) = self.encoder.any();
                let spent = self
                    .encoder
                    .terms
                    .intern(Op::Other(format!("{:?}", Node::Spent(unit))), Vec::new());
                let spent = Linear::var(self.encoder.var(spent, least, greatest));
                let within = spent
                    .plus(1, &total)
                    .and_then(|sum| Formula::le(&sum, &Linear::constant(budget.into())));
                let never_negative = Formula::le(&Linear::default(), &spent);
                self.give(Given::Costs, Formula::all(within.into_iter().chain(never_negative)));
            }
        }
    }

    /// The invariants that hold before: those of the frame first, then others that read what the tool reads.
    fn invariants(&mut self, assumable: &[bool], framed: &[InvariantId], read: &[VarId]) {
        let mut env = self.env.clone();
        if mutant!("invariants are given afterwards")
            && let Some(tool) =
                self.encoder.plan.tools.iter().find(|one| std::ptr::eq(&one.params[..], env.params))
        {
            env = self.encoder.simulate(tool, &env).0;
        }
        let plan = self.encoder.plan;
        let beside = (0..).zip(&plan.invariants).filter(|(id, invariant)| {
            let vars = frame::variables(&invariant.condition);
            !framed.contains(id) && vars.iter().any(|var| read.contains(var))
        });
        let ids = framed.iter().copied().chain(beside.map(|(id, _)| id));
        let ids: Vec<InvariantId> =
            ids.filter(|id| assumable[*id as usize]).take(MOST_INVARIANTS).collect();
        for id in ids {
            let (truth, sound) =
                self.encoder.condition(&plan.invariants[id as usize].condition, &env);
            self.give(Given::Invariant(id), truth.and(sound));
        }
    }

    /// The parts of an invariant, each where those before it hold.
    fn preserved(
        &mut self,
        invariant: InvariantId,
        after: &Env<'p>,
        each: &mut dyn FnMut(u32, Formula),
    ) {
        let condition = &self.encoder.plan.invariants[invariant as usize].condition;
        let mut before = Formula::True;
        for (part, id) in (0..).zip(parts(condition)) {
            let outcome: Outcome = self.encoder.node(condition, id, after);
            let (truth, sound) = self.encoder.truth(outcome);
            let skipped = self.encoder.not(&before);
            let sound = if mutant!("invariants never fault") { Formula::True } else { sound };
            each(part, skipped.or(truth.clone().and(sound)));
            before = if mutant!("later parts need nothing") {
                Formula::False
            } else {
                before.and(truth)
            };
        }
    }

    fn finish(mut self, goals: Vec<Goal>) -> System {
        let facts = std::mem::take(&mut self.encoder.facts);
        self.hypotheses.extend(facts.into_iter().map(|fact| (Given::Meaning, fact)));
        let given = self.hypotheses.iter().map(|(given, _)| *given).collect();
        let all = self.hypotheses.iter().map(|(_, formula)| formula.clone());
        let unrefined = self.hypotheses.iter().map(|(given, formula)| match given {
            Given::Refined(_) => Formula::True,
            _ => formula.clone(),
        });
        System {
            hypotheses: all.collect(),
            unrefined: unrefined.collect(),
            given,
            goals,
            vars: self.encoder.vars.iter().cloned().collect(),
            sorts: std::mem::take(&mut self.encoder.sorts),
            terms: self.encoder.terms,
        }
    }
}

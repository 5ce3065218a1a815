//! The proof obligations of one tool: what holds when a call of it is allowed, the changes by its
//! effects and observations, and what must hold afterwards (semantics §15).

use crate::charges::affordable;
use crate::encoder::{Encoder, EncoderEnv};
use crate::formula::Formula;
use crate::frame;
use crate::linear::Var;
use crate::problem::{ProofProblem, Variable};
use crate::rules::ProofRule;
use crate::terms::TermTable;
use crate::value::{Sort, Width};
use guard_plan::plan::{
    Claim, Expr, InvariantId, LimitId, Node, NodeId, Plan, SessionBound, Tool, ToolId, VarId,
};
use std::collections::HashMap;
use std::rc::Rc;

/// The maximum number of invariants that are given in one problem.
const MOST_INVARIANTS: usize = 64;

/// The source of a given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// The call was not refused by this `deny` of the tool.
    Deny(usize),
    /// The call was not refused because of its cost.
    Costs,
    /// The invariant holds before the call.
    Invariant(InvariantId),
    /// No effect causes a fault.
    Effects,
    /// The variable is within its type after the call.
    Refined(VarId),
    /// This `requires` of the tool is met.
    Requires(usize),
    /// The count of a session's limit has not reached its bound.
    Limit(LimitId),
    /// The variable has its initial value until a call of a tool that writes it succeeds.
    Unwritten(VarId),
    /// The bound with this number holds.
    Bound(u32),
    /// Counts of a session only grow.
    Growth,
    /// An answer of history that is true only if the tool has succeeded.
    Success(ToolId),
    /// A fact that follows from the meaning of the terms, by this rule.
    Meaning(ProofRule),
}

/// A goal to be proved.
#[derive(Debug, Clone)]
pub struct ProofGoal {
    /// The claim, as in the plan.
    pub claim: Claim,
    /// The formula of the claim; none if it exceeds the limits of the encoding, so that it is never
    /// proved.
    pub formula: Option<Formula>,
}

/// The obligations of one tool.
pub struct System {
    /// The terms of the variables.
    pub terms: TermTable,
    /// The variables.
    pub vars: Rc<[Variable]>,
    /// The sources of the hypotheses, by the same index.
    pub given: Vec<Given>,
    /// The goals, in the order of the claims.
    pub goals: Vec<ProofGoal>,
    hypotheses: Rc<[Formula]>,
    /// The hypotheses without the refinements that are goals themselves.
    unrefined: Rc<[Formula]>,
    /// The sorts of the variables, where they are known.
    sorts: HashMap<Var, Sort>,
}

impl System {
    /// Returns the system of what the effects of a call must preserve. The givens are the
    /// conditions of every call that passes the stages before the effects, and the invariants and
    /// bounds that hold in every committed state. Bounds are given together with what the
    /// settlement of a call must preserve of them. Hypotheses and variables that exist without
    /// bounds keep their numbers.
    pub fn with_bounds(
        plan: &Plan,
        id: ToolId,
        assumable: &[bool],
        bounds: &[SessionBound],
        width: Width,
    ) -> System {
        let tool = &plan.tools[id as usize];
        let mut builder = SystemBuilder::new(plan, tool, None, width);
        builder.conditions(tool);
        let mut read = frame::reads(tool);
        let framed = frame::effects(plan, tool);
        framed
            .iter()
            .for_each(|id| read.extend(frame::variables(&plan.invariants[*id as usize].condition)));
        builder.invariants(assumable, &framed, &read);
        let before = builder.env.clone();
        let after = builder.encoder.clause(|encoder| encoder.simulate(tool, &before));
        let mut goals = Vec::new();
        if let Some((_, sound)) = &after {
            builder.give(Given::Effects, sound.clone());
        }
        let after = after.map(|(after, _)| after);
        for invariant in framed {
            for (part, formula) in builder.preserved(invariant, after.as_ref()) {
                goals.push(ProofGoal {
                    claim: Claim::Preserved { tool: id, invariant, part },
                    formula,
                });
            }
        }
        let mut written: Vec<VarId> = tool
            .effects
            .iter()
            .filter(|effect| !effect.rule.shadow)
            .map(|effect| effect.target.var)
            .collect();
        written.sort_unstable();
        written.dedup();
        for var in written {
            let formula = after.as_ref().and_then(|after| {
                let value = builder.encoder.state(var, after);
                builder.encoder.clause(|encoder| encoder.fits(plan.state[var as usize].ty, &value))
            });
            if let Some(fits) = &formula {
                builder.give(Given::Refined(var), fits.clone());
            }
            goals.push(ProofGoal { claim: Claim::Refined { tool: id, var }, formula });
        }
        goals.extend(builder.bounds((id, tool), bounds, after.as_ref()));
        builder.finish(goals)
    }

    /// Returns the system of what the observations of a settled call must preserve, for any subset
    /// of them that is written. The givens are the invariants that hold in every committed state.
    /// Nothing about the call is given, because the conditions under which it was allowed may no
    /// longer hold.
    pub fn of_observations(plan: &Plan, id: ToolId, assumable: &[bool], width: Width) -> System {
        let tool = &plan.tools[id as usize];
        let mut builder = SystemBuilder::new(plan, tool, tool.returns, width);
        let framed = frame::observations(plan, tool);
        let mut read: Vec<VarId> = tool.observes.iter().map(|observe| observe.target.var).collect();
        framed
            .iter()
            .for_each(|id| read.extend(frame::variables(&plan.invariants[*id as usize].condition)));
        builder.invariants(assumable, &framed, &read);
        let before = builder.env.clone();
        let states = builder.encoder.clause(|encoder| encoder.observe(tool, &before));
        let mut goals = Vec::new();
        for invariant in framed {
            let formula = states.as_ref().and_then(|states| {
                states.iter().try_fold(Formula::True, |all, state| {
                    let parts = builder.preserved(invariant, Some(&state.after)).into_iter();
                    let parts: Vec<Formula> = parts.map(|(_, part)| part).collect::<Option<_>>()?;
                    Some(all.and(state.when.implies(Formula::all(parts))?))
                })
            });
            goals.push(ProofGoal { claim: Claim::Observed { tool: id, invariant }, formula });
        }
        builder.finish(goals)
    }

    /// Returns the problem of one goal; `None` if it exceeds the limits of the encoding.
    pub fn problem(&self, goal: &ProofGoal) -> Option<ProofProblem> {
        let negated_goal = if mutant!("the goal is not negated") {
            goal.formula.clone()?
        } else {
            goal.formula.as_ref()?.negated()?
        };
        let hypotheses = match goal.claim {
            Claim::Refined { .. } if !mutant!("a type proves itself") => self.unrefined.clone(),
            _ => self.hypotheses.clone(),
        };
        Some(ProofProblem { vars: self.vars.clone(), hypotheses, negated_goal })
    }

    /// Returns the problem whether the negation of a goal is consistent with the givens.
    pub(crate) fn problem_of(&self, negated_goal: Formula) -> ProofProblem {
        ProofProblem { vars: self.vars.clone(), hypotheses: self.hypotheses.clone(), negated_goal }
    }

    /// Returns the problem whether the givens are consistent. A certificate for it shows that they
    /// are not.
    pub fn vacuity(&self) -> ProofProblem {
        ProofProblem {
            vars: self.vars.clone(),
            hypotheses: self.unrefined.clone(),
            negated_goal: Formula::True,
        }
    }

    /// Returns the sort of a variable's numbers; `None` if it is not known.
    pub fn sort(&self, var: Var) -> Option<Sort> {
        self.sorts.get(&var).copied()
    }
}

/// Returns the operands of the outermost `and`s of a condition, in order.
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

pub(crate) struct SystemBuilder<'p> {
    pub(crate) encoder: Encoder<'p>,
    pub(crate) env: EncoderEnv<'p>,
    hypotheses: Vec<(Given, Formula)>,
}

impl<'p> SystemBuilder<'p> {
    pub(crate) fn new(plan: &'p Plan, tool: &'p Tool, returns: Option<u32>, width: Width) -> Self {
        let env = EncoderEnv {
            params: &tool.params,
            returns,
            written: Rc::default(),
            locals: Rc::default(),
        };
        SystemBuilder { encoder: Encoder::new(plan, width), env, hypotheses: Vec::new() }
    }

    fn give(&mut self, given: Given, formula: Formula) {
        self.hypotheses.push((given, formula));
    }

    pub(crate) fn give_all(&mut self, given: Option<(Given, Formula)>) {
        self.hypotheses.extend(given);
    }

    /// Adds the conditions that a call meets when it passes the stages before the effects.
    pub(crate) fn conditions(&mut self, tool: &'p Tool) {
        let env = self.env.clone();
        for (at, deny) in tool.denies.iter().enumerate() {
            if deny.rule.shadow && !mutant!("a deny in shadow is given") {
                continue;
            }
            let passed = self.encoder.clause(|encoder| {
                let (refused, sound) = encoder.condition(&deny.condition, &env)?;
                if mutant!("a deny is not negated") {
                    Ok(refused.and(sound))
                } else {
                    Ok(encoder.not(&refused)?.and(sound))
                }
            });
            self.hypotheses.extend(passed.map(|passed| (Given::Deny(at), passed)));
        }
        for unit in 0..self.encoder.plan.units.len() as u32 {
            let within = self.encoder.clause(|encoder| affordable(encoder, tool, unit, &env));
            let within = within.into_iter().flatten();
            self.hypotheses.extend(within.map(|within| (Given::Costs, within)));
        }
    }

    /// Adds the invariants that hold before the call: those of the frame first, then others that
    /// read variables of the tool.
    pub(crate) fn invariants(
        &mut self,
        assumable: &[bool],
        framed: &[InvariantId],
        read: &[VarId],
    ) {
        let mut env = self.env.clone();
        if mutant!("invariants are given afterwards")
            && let Some(tool) = self
                .encoder
                .plan
                .tools
                .iter()
                .find(|tool| std::ptr::eq(&tool.params[..], env.params))
        {
            env = self.encoder.simulate(tool, &env).map_or(env, |(after, _)| after);
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
            let condition = &plan.invariants[id as usize].condition;
            let holds = self.encoder.clause(|encoder| encoder.condition(condition, &env));
            let holds = holds.map(|(truth, sound)| (Given::Invariant(id), truth.and(sound)));
            self.hypotheses.extend(holds);
        }
    }

    /// Returns the parts of an invariant, each under the condition that those before it hold;
    /// `None` for parts that exceed the limits.
    fn preserved(
        &mut self,
        invariant: InvariantId,
        after: Option<&EncoderEnv<'p>>,
    ) -> Vec<(u32, Option<Formula>)> {
        let condition = &self.encoder.plan.invariants[invariant as usize].condition;
        let mut before = Some(Formula::True);
        let mut formulas = Vec::new();
        for (part, id) in (0..).zip(parts(condition)) {
            let this = after.and_then(|after| {
                self.encoder.clause(|encoder| {
                    let outcome = encoder.node(condition, id, after)?;
                    Ok(encoder.truth(outcome))
                })
            });
            let formula =
                before.as_ref().zip(this.as_ref()).and_then(|(before, (truth, sound))| {
                    let sound = if mutant!("invariants never fault") {
                        Formula::True
                    } else {
                        sound.clone()
                    };
                    Some(before.negated()?.or(truth.clone().and(sound)))
                });
            formulas.push((part, formula));
            before = if mutant!("later parts need nothing") {
                Some(Formula::False)
            } else {
                before.zip(this).map(|(before, (truth, _))| before.and(truth))
            };
        }
        formulas
    }

    /// Moves the known facts about the variables to the hypotheses.
    pub(crate) fn give_facts(&mut self) {
        let facts = std::mem::take(&mut self.encoder.facts);
        self.hypotheses.extend(facts.into_iter().map(|(rule, fact)| (Given::Meaning(rule), fact)));
    }

    pub(crate) fn finish(mut self, goals: Vec<ProofGoal>) -> System {
        self.give_facts();
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

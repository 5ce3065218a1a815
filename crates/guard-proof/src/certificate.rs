//! The checker of certificates. It is small, so that it can be reviewed. If it accepts a
//! certificate, the claim is true; the search for certificates need not be trusted.

use crate::formula::{Formula, Operands};
use crate::linear::Linear;
use crate::problem::ProofProblem;
use guard_plan::plan::{Certificate, ProofStep, Row};
use std::rc::Rc;

/// The maximum number of nested cases in a certificate.
const MOST_NESTED: u32 = 500;

/// The facts that hold in a branch of a refutation.
#[derive(Clone, Default)]
pub struct BranchContext {
    /// Inequalities of the form `… ≤ 0`, in the order of their introduction.
    pub rows: Vec<Linear>,
    /// Disjunctions, in the order of their introduction.
    pub alternatives: Vec<Rc<Operands>>,
    /// True if the facts contain a contradiction.
    pub absurd: bool,
}

impl BranchContext {
    /// Returns the initial facts: the negated goal, and the hypotheses that a certificate uses. Returns `None` if a
    /// hypothesis does not exist.
    pub fn new(problem: &ProofProblem, uses: &[u32]) -> Option<BranchContext> {
        let mut context = BranchContext::default();
        context.assume(&problem.negated_goal);
        for index in uses {
            context.assume(problem.hypotheses.get(*index as usize)?);
        }
        Some(context)
    }

    /// Adds a condition as given.
    pub fn assume(&mut self, formula: &Formula) {
        match formula {
            Formula::True => {}
            Formula::False => self.absurd = true,
            Formula::AtMost(linear) => self.rows.push(linear.clone()),
            Formula::And(parts) => parts.parts.iter().for_each(|part| self.assume(part)),
            Formula::Or(parts) => self.alternatives.push(parts.clone()),
        }
    }

    /// Returns the sum of multiples of rows, tightened.
    pub fn sum(&self, problem: &ProofProblem, summands: &[(u64, Row)]) -> Option<Linear> {
        let mut sum = Linear::default();
        for (factor, row) in summands {
            let bound = |var: u32| problem.vars.get(var as usize);
            let row = match row {
                Row::Known(index) => self.rows.get(*index as usize)?.clone(),
                Row::Least(var) => {
                    Linear { terms: vec![(*var, -1)], constant: bound(*var)?.least? }
                }
                Row::Greatest(var) => {
                    let greatest = bound(*var)?.greatest?;
                    let constant = if mutant!("the greatest value has the other sign") {
                        greatest
                    } else {
                        -greatest
                    };
                    Linear { terms: vec![(*var, 1)], constant }
                }
            };
            sum = sum.plus(i128::from(*factor), &row)?;
        }
        Some(sum.tightened())
    }
}

/// Returns true if a certificate shows that a problem's goal follows from its hypotheses.
pub fn proves(problem: &ProofProblem, certificate: &Certificate) -> bool {
    let mut steps = certificate.steps.iter();
    BranchContext::new(problem, &certificate.uses).is_some_and(|mut context| {
        refutes(problem, &mut context, &mut steps, 0) && steps.next().is_none()
    })
}

fn refutes<'c>(
    problem: &ProofProblem,
    context: &mut BranchContext,
    steps: &mut impl Iterator<Item = &'c ProofStep>,
    nested: u32,
) -> bool {
    if nested > MOST_NESTED {
        return false;
    }
    while !context.absurd {
        match steps.next() {
            None => return mutant!("an unfinished proof is one"),
            Some(ProofStep::Sum(summands)) => {
                let Some(sum) = context.sum(problem, summands) else { return false };
                let least = i128::from(!mutant!("zero is absurd"));
                context.absurd = sum.as_constant().is_some_and(|constant| constant >= least);
                context.rows.push(sum);
            }
            Some(ProofStep::Split(index)) => {
                let Some(parts) = context.alternatives.get(*index as usize).cloned() else {
                    return false;
                };
                let most = if mutant!("one case is enough") { 1 } else { usize::MAX };
                // A copy of the facts for each case would make the work quadratic.
                let known = (context.rows.len(), context.alternatives.len());
                return parts.parts.iter().take(most).all(|part| {
                    context.assume(part);
                    let is_refuted = refutes(problem, context, steps, nested + 1);
                    context.rows.truncate(known.0);
                    context.alternatives.truncate(known.1);
                    context.absurd = false;
                    is_refuted
                });
            }
        }
    }
    true
}

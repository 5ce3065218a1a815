//! The interval of each variable that rows imply, and the formulas that it decides.

use guard_proof::ProofProblem;
use guard_proof::formula::Formula;
use guard_proof::linear::{Linear, Var, VarRange};

/// Most passes over the rows.
const MOST_PASSES: usize = 4;

/// The bounds of each variable that follow from the rows.
pub(super) struct VariableBounds {
    least: Vec<Option<i128>>,
    greatest: Vec<Option<i128>>,
    /// True if no values satisfy the rows.
    pub absurd: bool,
}

impl VariableBounds {
    pub(super) fn from_rows(problem: &ProofProblem, rows: &[Linear]) -> VariableBounds {
        let least = problem.vars.iter().map(|var| var.least).collect();
        let greatest = problem.vars.iter().map(|var| var.greatest).collect();
        let mut bounds = VariableBounds { least, greatest, absurd: false };
        // Two rows can narrow the variables of one another in endless small steps.
        for _ in 0..MOST_PASSES {
            let changed = rows.iter().filter(|row| bounds.narrow(row)).count();
            if changed == 0 || bounds.absurd {
                break;
            }
        }
        bounds
    }

    /// Draws from `row ≤ 0` what it says of each of its variables.
    fn narrow(&mut self, row: &Linear) -> bool {
        let mut changed = false;
        if let Some(least) = self.least_of(row)
            && least > 0
        {
            self.absurd = true;
        }
        for (var, factor) in &row.terms {
            let without = row.plus(-factor, &Linear::var(*var));
            let rest = without.and_then(|without| self.least_of(&without));
            // factor · var ≤ -rest; a rest that cannot be negated says nothing.
            let Some(bound) = rest.and_then(i128::checked_neg) else { continue };
            let at = *var as usize;
            if *factor > 0 {
                let limit = bound.div_euclid(*factor);
                if self.greatest[at].is_none_or(|known| limit < known) {
                    self.greatest[at] = Some(limit);
                    changed = true;
                }
            } else {
                let Some(limit) = bound.div_euclid(-*factor).checked_neg() else { continue };
                if self.least[at].is_none_or(|known| limit > known) {
                    self.least[at] = Some(limit);
                    changed = true;
                }
            }
            self.absurd |=
                self.least[at].zip(self.greatest[at]).is_some_and(|(least, most)| least > most);
        }
        changed
    }

    fn range(&self, var: Var) -> VarRange {
        (self.least[var as usize], self.greatest[var as usize])
    }

    fn least_of(&self, row: &Linear) -> Option<i128> {
        row.least(|var| self.range(var))
    }

    pub(super) fn refutes(&self, formula: &Formula) -> bool {
        match formula {
            Formula::True => false,
            Formula::False => true,
            Formula::AtMost(row) => self.least_of(row).is_some_and(|least| least > 0),
            Formula::And(parts) => parts.parts.iter().any(|part| self.refutes(part)),
            Formula::Or(parts) => parts.parts.iter().all(|part| self.refutes(part)),
        }
    }

    pub(super) fn entails(&self, formula: &Formula) -> bool {
        match formula {
            Formula::True => true,
            Formula::False => false,
            Formula::AtMost(row) => {
                row.greatest(|var| self.range(var)).is_some_and(|greatest| greatest <= 0)
            }
            Formula::And(parts) => parts.parts.iter().all(|part| self.entails(part)),
            Formula::Or(parts) => parts.parts.iter().any(|part| self.entails(part)),
        }
    }
}

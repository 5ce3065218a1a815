//! Proof problems over integers.

use crate::formula::Formula;
use crate::linear::VarRange;
use crate::terms::TermId;
use std::rc::Rc;

/// A variable: its term, and its range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The term that the variable stands for.
    pub term: TermId,
    /// The minimum, if there is one.
    pub least: Option<i128>,
    /// The maximum, if there is one.
    pub greatest: Option<i128>,
}

impl Variable {
    /// Returns the minimum and the maximum.
    pub fn range(&self) -> VarRange {
        (self.least, self.greatest)
    }
}

/// A proof problem: does the goal follow from the hypotheses, for all integers in the variables'
/// ranges?
#[derive(Debug, Clone)]
pub struct ProofProblem {
    /// The variables, by number.
    pub vars: Rc<[Variable]>,
    /// The givens.
    pub hypotheses: Rc<[Formula]>,
    /// The negation of the goal.
    pub negated_goal: Formula,
}

//! Proof problems over integers.

use crate::formula::Formula;
use crate::linear::VarRange;
use crate::terms::TermId;
use std::rc::Rc;

/// A variable: what it stands for, and its range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// What it stands for.
    pub term: TermId,
    /// Its least value, if there is one.
    pub least: Option<i128>,
    /// Its greatest value, if there is one.
    pub greatest: Option<i128>,
}

impl Variable {
    /// Its least and greatest values.
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
    /// What is given.
    pub hypotheses: Rc<[Formula]>,
    /// The opposite of what is to be shown.
    pub negated_goal: Formula,
}

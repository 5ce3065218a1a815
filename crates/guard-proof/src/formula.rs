//! Conditions over integers: inequalities, joined by `and` and `or`. Negations are rewritten, so
//! that no negation is left.

use crate::linear::{Linear, Var};
use std::rc::Rc;

/// The maximum number of inequalities in a joined condition.
const MOST_ATOMS: u32 = 4_096;

/// A condition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Formula {
    /// Always true.
    True,
    /// Never true.
    False,
    /// The sum is at most 0. The sum is tightened.
    AtMost(Linear),
    /// All of these conditions.
    And(Rc<Operands>),
    /// At least one of these conditions.
    Or(Rc<Operands>),
}

/// The operands of a connective, and the number of inequalities in them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Operands {
    /// The operands. There are at least two, and none of them is the same connective or a constant.
    pub parts: Vec<Formula>,
    atoms: u32,
}

impl Formula {
    /// Returns `linear ≤ 0`; `None` if it cannot be expressed with numbers of this size.
    pub fn at_most(linear: Option<Linear>) -> Option<Formula> {
        let linear = linear?.tightened();
        Some(match linear.as_constant() {
            Some(constant) => Formula::constant(constant <= 0),
            None => Formula::AtMost(linear),
        })
    }

    /// Returns `a ≤ b`.
    pub fn le(a: &Linear, b: &Linear) -> Option<Formula> {
        Formula::at_most(a.minus(b))
    }

    /// Returns `a < b`.
    pub fn lt(a: &Linear, b: &Linear) -> Option<Formula> {
        let strictly = i128::from(!mutant!("less is at most"));
        Formula::at_most(a.minus(b)?.offset(strictly))
    }

    /// Returns `a = b`.
    pub fn eq(a: &Linear, b: &Linear) -> Option<Formula> {
        if mutant!("equal is at most") {
            return Formula::le(a, b);
        }
        Some(Formula::le(a, b)?.and(Formula::le(b, a)?))
    }

    /// Returns `least ≤ linear ≤ greatest`.
    pub fn between(linear: &Linear, least: i128, greatest: i128) -> Option<Formula> {
        let least = least + i128::from(mutant!("a range begins one later"));
        let lower = Formula::le(&Linear::constant(least), linear)?;
        Some(lower.and(Formula::le(linear, &Linear::constant(greatest))?))
    }

    /// Returns a constant condition.
    pub fn constant(truth: bool) -> Formula {
        if truth { Formula::True } else { Formula::False }
    }

    /// Returns the condition that a variable with the values 0 and 1 is 1.
    pub fn flag(var: Var) -> Formula {
        Formula::AtMost(Linear { terms: vec![(var, -1)], constant: 1 })
    }

    /// Returns the conjunction of both.
    pub fn and(self, other: Formula) -> Formula {
        Formula::all([self, other])
    }

    /// Returns the disjunction of both.
    pub fn or(self, other: Formula) -> Formula {
        Formula::any([self, other])
    }

    /// Returns the conjunction of all parts.
    pub fn all(parts: impl IntoIterator<Item = Formula>) -> Formula {
        Formula::join(parts, true)
    }

    /// Returns the disjunction of all parts.
    pub fn any(parts: impl IntoIterator<Item = Formula>) -> Formula {
        Formula::join(parts, false)
    }

    fn join(parts: impl IntoIterator<Item = Formula>, all: bool) -> Formula {
        let mut joined: Vec<Formula> = Vec::new();
        for part in parts {
            match part {
                Formula::True | Formula::False if (part == Formula::True) == all => {}
                Formula::True | Formula::False => return part,
                Formula::And(inner) if all => joined.extend(inner.parts.iter().cloned()),
                Formula::Or(inner) if !all => joined.extend(inner.parts.iter().cloned()),
                part => joined.push(part),
            }
        }
        if joined.len() <= 16 {
            let mut kept: Vec<Formula> = Vec::with_capacity(joined.len());
            joined.into_iter().for_each(|part| {
                if !kept.contains(&part) {
                    kept.push(part);
                }
            });
            joined = kept;
        }
        if joined.len() <= 1 {
            return joined.pop().unwrap_or(Formula::constant(all));
        }
        let atoms = joined.iter().fold(0, |sum: u32, part| sum.saturating_add(part.atoms()));
        let parts = Rc::new(Operands { parts: joined, atoms });
        if all { Formula::And(parts) } else { Formula::Or(parts) }
    }

    /// Returns the equivalence; `None` if it would be too large.
    pub fn iff(&self, other: &Formula) -> Option<Formula> {
        if self == other {
            return Some(Formula::True);
        }
        let a = self.negated()?;
        let b = other.negated()?;
        if mutant!("if and only if goes one way") {
            return Some(a.or(other.clone()));
        }
        Some(a.clone().or(other.clone()).and(self.clone().or(b)))
    }

    /// Returns the implication of the other condition; `None` if it would be too large.
    pub fn implies(&self, other: Formula) -> Option<Formula> {
        Some(self.negated()?.or(other))
    }

    /// Returns the negation; `None` if it cannot be expressed.
    pub fn negated(&self) -> Option<Formula> {
        Some(match self {
            Formula::True => Formula::False,
            Formula::False => Formula::True,
            Formula::AtMost(linear) => {
                let strictly = i128::from(!mutant!("a negation keeps its edge"));
                Formula::at_most(linear.times(-1)?.offset(strictly))?
            }
            Formula::And(parts) | Formula::Or(parts) if parts.atoms > MOST_ATOMS => return None,
            Formula::And(parts) => {
                Formula::any(parts.parts.iter().map(Formula::negated).collect::<Option<Vec<_>>>()?)
            }
            Formula::Or(parts) => {
                Formula::all(parts.parts.iter().map(Formula::negated).collect::<Option<Vec<_>>>()?)
            }
        })
    }

    /// Returns the number of inequalities in the formula.
    pub fn atoms(&self) -> u32 {
        match self {
            Formula::True | Formula::False => 0,
            Formula::AtMost(_) => 1,
            Formula::And(parts) | Formula::Or(parts) => parts.atoms,
        }
    }

    /// Visits the variables, including repeated ones.
    pub fn vars(&self, visit: &mut dyn FnMut(Var)) {
        match self {
            Formula::True | Formula::False => {}
            Formula::AtMost(linear) => linear.terms.iter().for_each(|(var, _)| visit(*var)),
            Formula::And(parts) | Formula::Or(parts) => {
                parts.parts.iter().for_each(|part| part.vars(visit));
            }
        }
    }
}

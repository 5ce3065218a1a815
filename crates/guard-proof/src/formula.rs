//! Conditions over integers: inequalities, joined by `and` and `or`. What is negated is rewritten, so that no
//! negation is left.

use crate::linear::{Linear, Var};
use std::rc::Rc;

/// Larger ones are not joined further.
const MOST_ATOMS: u32 = 4_096;

/// A condition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Formula {
    /// Always true.
    True,
    /// Never true.
    False,
    /// The sum is at most 0; tight.
    AtMost(Linear),
    /// All of these.
    And(Rc<Parts>),
    /// One of these.
    Or(Rc<Parts>),
}

/// Operands, and how many inequalities there are in them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Parts {
    /// At least two, none of them the same connective or a constant.
    pub parts: Vec<Formula>,
    atoms: u32,
}

impl Formula {
    /// `linear ≤ 0`; none where it cannot be said in numbers of this size.
    pub fn at_most(linear: Option<Linear>) -> Option<Formula> {
        let linear = linear?.tightened();
        Some(match linear.as_constant() {
            Some(constant) => Formula::constant(constant <= 0),
            None => Formula::AtMost(linear),
        })
    }

    /// `a ≤ b`.
    pub fn le(a: &Linear, b: &Linear) -> Option<Formula> {
        Formula::at_most(a.minus(b))
    }

    /// `a < b`.
    pub fn lt(a: &Linear, b: &Linear) -> Option<Formula> {
        let strictly = i128::from(!mutant!("less is at most"));
        Formula::at_most(a.minus(b)?.offset(strictly))
    }

    /// `a = b`.
    pub fn eq(a: &Linear, b: &Linear) -> Option<Formula> {
        if mutant!("equal is at most") {
            return Formula::le(a, b);
        }
        Some(Formula::le(a, b)?.and(Formula::le(b, a)?))
    }

    /// `least ≤ linear ≤ greatest`.
    pub fn between(linear: &Linear, least: i128, greatest: i128) -> Option<Formula> {
        let least = least + i128::from(mutant!("a range begins one later"));
        let lower = Formula::le(&Linear::constant(least), linear)?;
        Some(lower.and(Formula::le(linear, &Linear::constant(greatest))?))
    }

    /// A constant condition.
    pub fn constant(truth: bool) -> Formula {
        if truth { Formula::True } else { Formula::False }
    }

    /// The condition that a variable of 0 and 1 is 1.
    pub fn flag(var: Var) -> Formula {
        Formula::AtMost(Linear { terms: vec![(var, -1)], constant: 1 })
    }

    /// Both.
    pub fn and(self, other: Formula) -> Formula {
        Formula::all([self, other])
    }

    /// Either.
    pub fn or(self, other: Formula) -> Formula {
        Formula::any([self, other])
    }

    /// All of these.
    pub fn all(parts: impl IntoIterator<Item = Formula>) -> Formula {
        Formula::join(parts, true)
    }

    /// One of these.
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
        let parts = Rc::new(Parts { parts: joined, atoms });
        if all { Formula::And(parts) } else { Formula::Or(parts) }
    }

    /// If and only if; none where it would be too large.
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

    /// `self` implies the other; none where it would be too large.
    pub fn implies(&self, other: Formula) -> Option<Formula> {
        Some(self.negated()?.or(other))
    }

    /// The opposite; none where that cannot be said.
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

    /// Visits its variables, repeated ones too.
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

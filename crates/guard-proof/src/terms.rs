//! What variables stand for: terms over the state before a call and its arguments, each once.
//!
//! Two expressions that are the same term have the same value; nothing is said of two that are not.

use crate::formula::Formula;
use crate::linear::Linear;
use guard_plan::plan::VarId;
use std::collections::HashMap;

/// A term, by number.
pub type TermId = u32;

/// What a term is made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Term {
    /// Its operator.
    pub op: Op,
    /// Its operands.
    pub args: Vec<TermId>,
}

/// The operators of terms.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Op {
    /// A state variable before the call.
    State(VarId),
    /// An argument.
    Param(u32),
    /// The result of the call.
    Result,
    /// Any element of what a quantifier ranges over, by how many are around it.
    Bound(u32),
    /// A text, path or url as written.
    Text(String),
    /// A sum.
    Linear(Linear),
    /// A condition.
    Formula(Formula),
    /// A field of a record.
    Field(u32),
    /// What is in a collection at a key or index; where there is none, anything.
    At,
    /// Whether an element is in a list or set, or a map has a key.
    Has,
    /// How many elements there are.
    Len,
    /// A value where there is one; where there is none, anything.
    Inner,
    /// Whether an option has a value.
    IsSome,
    /// The value that the first of two branches has where the condition holds.
    Choice,
    /// A collection with a change.
    Changed(&'static str),
    /// Several values in one.
    Tuple,
    /// A quotient, rounded.
    Quotient,
    /// A product.
    Product,
    /// A quantifier over a collection: its body is a term over the bound element.
    Quantified(&'static str),
    /// The value of something that is not looked into, by its operator.
    Other(String),
    /// Whether evaluating something that is not looked into is without fault.
    Sound,
}

/// All terms of a problem, each once.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    terms: Vec<Term>,
    numbers: HashMap<Term, TermId>,
}

impl Terms {
    /// The number of a term.
    pub fn intern(&mut self, op: Op, args: Vec<TermId>) -> TermId {
        let term = Term { op, args };
        if let Some(id) = self.numbers.get(&term) {
            return *id;
        }
        let id = self.terms.len() as TermId;
        self.terms.push(term.clone());
        self.numbers.insert(term, id);
        id
    }

    /// The term of a number.
    pub fn get(&self, id: TermId) -> &Term {
        &self.terms[id as usize]
    }

    /// Whether it speaks of the bound element of a quantifier.
    pub fn is_bound(&self, id: TermId) -> bool {
        let term = self.get(id);
        matches!(term.op, Op::Bound(_)) || term.args.iter().any(|arg| self.is_bound(*arg))
    }
}

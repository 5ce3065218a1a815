//! Terms, which the variables stand for: expressions over the state before a call and over its arguments, each interned
//! once.
//!
//! A term is typed and known by its whole structure: operator, sort, operands. Two expressions that are the same term have
//! the same value; nothing is said of two that are not.

use crate::formula::Formula;
use crate::linear::Linear;
use crate::value::Sort;
use guard_plan::plan::{ArithOp, QuantifierOp, SessionMeasure, TypeId, VarId};
use std::collections::HashMap;

/// The counts of a session at a proposal, or at the settlement of the same call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Moment {
    /// When the call is proposed.
    Proposal,
    /// When it settles.
    Settlement,
}

/// A term, by number.
pub type TermId = u32;

/// A term: its operator and its operands.
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
    /// A number of the session at a moment of the call.
    Measure(SessionMeasure, Moment),
    /// Something of which nothing is known, not even that something else is the same.
    Fresh(u32),
    /// A text as written.
    Text(String),
    /// A sum, of this sort.
    Number(Sort, Linear),
    /// A condition.
    Truth(Formula),
    /// A field of a record.
    Field(u32),
    /// What is in a collection at a key or index; where there is none, anything.
    At,
    /// Whether an element is in a list or set, or a map has a key.
    Has,
    /// Whether a changed list has an index: an index is no element, though both may be the same number.
    HasIndex,
    /// How many elements there are.
    Len,
    /// A value where there is one; where there is none, anything.
    Inner,
    /// Whether an option has a value.
    IsSome,
    /// An option, by whether there is a value and which.
    Optional,
    /// The value that the first of two branches has where the condition holds.
    Choice,
    /// A collection with a change, or written out.
    Changed(&'static str),
    /// Several values in one.
    Tuple,
    /// A product, of this sort.
    Product(Sort),
    /// The quotient by a constant, rounded half to even.
    Rounded(i128),
    /// The quotient by a constant, toward zero.
    Truncated(i128),
    /// The quotient by a constant, downwards.
    Floored(i128),
    /// An operation on two sorts that is not looked into.
    Arith(ArithOp, Sort, Sort),
    /// A quantifier: what it ranges over and its body as written.
    Quantified(QuantifierOp),
    /// The element at which a quantifier fails, if it does.
    Witness,
    /// A bound variable of a body as written, counted from the outermost quantifier of that body.
    Bound(u32),
    /// A node as written, without its operands; by its text.
    Node(String),
    /// A value decoded as a type.
    Decoded(TypeId),
    /// Whether a value is within the refinements of a type, where that is not looked into.
    Fits(TypeId),
    /// Whether two values are the same one, where that is not looked into.
    Same,
    /// Whether a value that is not looked into is true.
    IsTrue,
    /// Whether evaluating something that is not looked into is without fault.
    Sound,
}

/// All terms of a problem, each once.
#[derive(Debug, Clone, Default)]
pub struct TermTable {
    terms: Vec<Term>,
    numbers: HashMap<Term, TermId>,
}

impl TermTable {
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

    /// A term that is shared with nothing.
    pub fn fresh(&mut self) -> TermId {
        let next = if mutant!("what is unknown is always the same") { 0 } else { self.terms.len() };
        self.intern(Op::Fresh(next as u32), Vec::new())
    }

    /// The term of a number.
    pub fn get(&self, id: TermId) -> &Term {
        &self.terms[id as usize]
    }
}

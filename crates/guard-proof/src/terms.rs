//! Terms, which the variables stand for: expressions over the state before a call and over its
//! arguments. Each term is interned once.
//!
//! A term is typed and identified by its whole structure: operator, sort, operands. Two expressions
//! with the same term have the same value. Nothing is known about two expressions with different
//! terms.

use crate::formula::Formula;
use crate::linear::Linear;
use crate::value::Sort;
use guard_plan::plan::{ArithOp, QuantifierOp, SessionMeasure, TypeId, VarId};
use std::collections::HashMap;

/// A moment of a call at which the counts of a session are read: its proposal or its settlement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Moment {
    /// The proposal of the call.
    Proposal,
    /// The settlement of the call.
    Settlement,
}

/// The number of a term.
pub type TermId = u32;

/// A term: its operator and its operands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Term {
    /// The operator.
    pub op: Op,
    /// The operands.
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
    /// A measure of the session at a moment of the call.
    Measure(SessionMeasure, Moment),
    /// A value about which nothing is known, not even that another value is equal.
    Fresh(u32),
    /// A literal text.
    Text(String),
    /// A sum of this sort.
    Number(Sort, Linear),
    /// A condition.
    Truth(Formula),
    /// A field of a record.
    Field(u32),
    /// The value in a collection at a key or index; unspecified if there is none.
    At,
    /// True if an element is in a list or set, or a map has a key.
    Has,
    /// True if a changed list has an index. An index is not an element, although both may be the
    /// same number.
    HasIndex,
    /// The number of elements.
    Len,
    /// The value of an option; unspecified if there is none.
    Inner,
    /// True if an option has a value.
    IsSome,
    /// An option, from the condition that the value is present and the value.
    Optional,
    /// The value of a choice: the first branch if the condition holds, otherwise the second.
    Choice,
    /// A collection with a change, or a literal collection.
    Changed(&'static str),
    /// Several values as one.
    Tuple,
    /// A product of this sort.
    Product(Sort),
    /// The quotient by a constant, rounded half to even.
    Rounded(i128),
    /// The quotient by a constant, rounded toward zero.
    Truncated(i128),
    /// The quotient by a constant, rounded down.
    Floored(i128),
    /// An operation on two sorts that is not interpreted.
    Arith(ArithOp, Sort, Sort),
    /// A quantifier, by the collection that it ranges over and the text of its body.
    Quantified(QuantifierOp),
    /// The element at which a quantifier fails, if it fails.
    Witness,
    /// A bound variable in the text of a body, counted from the outermost quantifier of that body.
    Bound(u32),
    /// A node without its operands, by its text.
    Node(String),
    /// A value decoded as a type.
    Decoded(TypeId),
    /// True if a value satisfies the refinements of a type, where that is not interpreted.
    Fits(TypeId),
    /// True if two values are equal, where that is not interpreted.
    Same,
    /// True if a value that is not interpreted is true.
    IsTrue,
    /// True if the evaluation of something that is not interpreted is without fault.
    Sound,
}

/// The terms of a problem, each once.
#[derive(Debug, Clone, Default)]
pub struct TermTable {
    terms: Vec<Term>,
    numbers: HashMap<Term, TermId>,
}

impl TermTable {
    /// Returns the number of a term.
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

    /// Returns a new term that is shared with nothing.
    pub fn fresh(&mut self) -> TermId {
        let next = if mutant!("what is unknown is always the same") { 0 } else { self.terms.len() };
        self.intern(Op::Fresh(next as u32), Vec::new())
    }

    /// Returns the term with a number.
    pub fn get(&self, id: TermId) -> &Term {
        &self.terms[id as usize]
    }
}

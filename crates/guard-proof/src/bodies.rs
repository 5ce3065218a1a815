//! Quantifiers at their position, and the terms of their bodies. The text of a body is a term, so
//! that two bodies with equal texts over equal values are the same function of the bound variables.

use crate::encoder::{Closure, Encoder, EncoderEnv};
use crate::terms::{Op, TermId};
use crate::value::{CollectionKind, Encoded, Sort, SymbolicOutcome, SymbolicValue};
use guard_plan::plan::{Expr, Node, NodeId, QuantifierOp};
use std::rc::Rc;

impl<'p> Encoder<'p> {
    pub(crate) fn quantifier(
        &mut self,
        expr: &'p Expr,
        (op, over, binders, body): (QuantifierOp, &'p [NodeId], &'p [u32], NodeId),
        env: &EncoderEnv<'p>,
    ) -> Encoded<SymbolicOutcome> {
        let (values, sound) = self.all_of(expr, over, env)?;
        // Nothing is known of the found element, not even that two of them are equal.
        if op == QuantifierOp::First {
            let outcome = self.unknown();
            return Ok(SymbolicOutcome { sound: sound.and(outcome.sound), ..outcome });
        }
        let text = self.written_body(expr, body, binders, env)?;
        if let [value] = &values[..]
            && let SymbolicValue::Collection(collection) = self.open(value.clone())
        {
            let by_key = binders.len() == 1 && collection.kind() == CollectionKind::Map;
            let closure = Closure { op, expr, body, binders, by_key, env: env.clone(), text };
            let outcome = self.quantified(&collection, &closure)?;
            return Ok(SymbolicOutcome { sound: sound.and(outcome.sound), ..outcome });
        }
        // For lists that are iterated together, `json`, or a value that may be missing, equal
        // bodies over equal values have equal results.
        let mut terms: Vec<TermId> = values.iter().map(|value| self.term(value)).collect();
        terms.push(text);
        let term = self.terms.intern(Op::Quantified(op), terms);
        let value = match sum_sort(op) {
            None => SymbolicValue::Bool(self.flag_of(term)),
            Some(sort) => self.number(sort, term, self.any()),
        };
        Ok(SymbolicOutcome { value, sound: sound.and(self.flag(Op::Sound, vec![term])) })
    }

    /// Returns the body of a quantifier as the term of its text: bound variables by their position,
    /// everything else that it reads by its term at the position of the quantifier. Equal terms are
    /// equal functions of the bound variables.
    fn written_body(
        &mut self,
        expr: &'p Expr,
        body: NodeId,
        binders: &[u32],
        env: &EncoderEnv<'p>,
    ) -> Encoded<TermId> {
        let count = if mutant!("bound names do not count") { 0 } else { binders.len() };
        let mut bound: Vec<u32> = binders.to_vec();
        let body = self.written(expr, body, &mut bound, env)?;
        Ok(self.terms.intern(Op::Node(format!("body of {count}")), vec![body]))
    }

    fn written(
        &mut self,
        expr: &'p Expr,
        id: NodeId,
        bound: &mut Vec<u32>,
        env: &EncoderEnv<'p>,
    ) -> Encoded<TermId> {
        self.step()?;
        let node = &expr.0[id as usize];
        let mut children = Vec::new();
        match node {
            Node::Local(slot) => {
                if let Some(place) = bound.iter().rposition(|known| known == slot) {
                    let place = if mutant!("all bound names are one") { 0 } else { place };
                    return Ok(self.terms.intern(Op::Bound(place as u32), Vec::new()));
                }
                let outer = env.locals.iter().rev().find(|(known, _)| known == slot);
                return Ok(match outer {
                    Some((_, value)) => self.term(&value.clone()),
                    None => self.terms.fresh(),
                });
            }
            Node::State(var) => {
                let env = if mutant!("a body reads the state before") {
                    &EncoderEnv { written: Rc::default(), ..env.clone() }
                } else {
                    env
                };
                let value = self.state(*var, env);
                return Ok(self.term(&value));
            }
            Node::Quantified { over, binders, body, .. } => {
                for id in over {
                    children.push(self.written(expr, *id, bound, env)?);
                }
                bound.extend(binders);
                children.push(self.written(expr, *body, bound, env)?);
                bound.truncate(bound.len() - binders.len());
            }
            node => {
                let mut ids = Vec::new();
                node.for_each_child(&mut |child| ids.push(child));
                for id in ids {
                    children.push(self.written(expr, id, bound, env)?);
                }
            }
        }
        let text = if mutant!("all bodies are one") { "node".into() } else { written(node) };
        Ok(self.terms.intern(Op::Node(text), children))
    }
}

/// Returns the sort of the summands of a quantifier; `None` if it is true or false.
pub(crate) fn sum_sort(op: QuantifierOp) -> Option<Sort> {
    match op {
        // An element is not a sum, and no caller asks for it.
        QuantifierOp::All | QuantifierOp::Any | QuantifierOp::First => None,
        QuantifierOp::SumDecimal => Some(Sort::Decimal),
        QuantifierOp::SumDuration => Some(Sort::Duration),
        QuantifierOp::Count | QuantifierOp::SumInt => Some(Sort::Int),
    }
}

/// Returns a node as written, without its operands and without the numbers of its bound variables.
pub(crate) fn written(node: &Node) -> String {
    let mut node = node.clone();
    node.for_each_child_mut(&mut |child| *child = 0);
    if let Node::Quantified { binders, .. } = &mut node {
        binders.fill(0);
    }
    format!("{node:?}")
}

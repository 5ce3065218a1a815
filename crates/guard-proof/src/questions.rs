//! Functions, and questions about texts, history, time, budgets and the world (semantics §1). Each
//! question is one variable, so that the same question has the same answer within a decision. Only
//! the range of the answer is known.

use crate::bodies::written;
use crate::encoder::{Encoder, EncoderEnv};
use crate::eval::constant;
use crate::formula::Formula;
use crate::terms::{Op, TermId};
use crate::value::{Encoded, Sort, SymbolicOutcome, SymbolicValue};
use guard_plan::builtin::Builtin;
use guard_plan::plan::{ClockPart, Expr, Node, NodeId, UrlPart};

impl<'p> Encoder<'p> {
    pub(crate) fn call(
        &mut self,
        builtin: Builtin,
        expr: &'p Expr,
        ids: &[NodeId],
        env: &EncoderEnv<'p>,
    ) -> Encoded<SymbolicOutcome> {
        let (values, sound) = self.all_of(expr, ids, env)?;
        let values: Vec<SymbolicValue> = values.into_iter().map(|value| self.open(value)).collect();
        let outcome = match self.numeric(builtin, &values)? {
            Some(outcome) => outcome,
            None => self.textual(builtin, &values)?,
        };
        Ok(SymbolicOutcome { sound: sound.and(outcome.sound), ..outcome })
    }

    fn textual(&mut self, builtin: Builtin, values: &[SymbolicValue]) -> Encoded<SymbolicOutcome> {
        use Builtin::{
            EndsWith, Glob, Len, Lower, Mentions, MentionsCode, MentionsDate, MentionsNumber,
            StartsWith, Text, Trim, Upper, VersionAtLeast,
        };
        let terms: Vec<TermId> = values.iter().map(|value| self.term(value)).collect();
        let texts =
            values.iter().all(|value| matches!(value, SymbolicValue::Number(Sort::Text, _)));
        let name = if mutant!("all functions are one") {
            "function".to_string()
        } else {
            format!("{builtin:?}")
        };
        Ok(match (builtin, values) {
            (Len, [SymbolicValue::Collection(collection)]) => {
                SymbolicOutcome::sound(SymbolicValue::Number(Sort::Int, self.len(collection)?))
            }
            (Len, [SymbolicValue::Number(Sort::Text, text)]) => {
                let known = text.as_constant().and_then(|text| self.text_of(text));
                if let Some(known) = known {
                    return Ok(constant(Sort::Int, known.chars().count() as i64));
                }
                let most = match (&text.terms[..], text.constant) {
                    ([(var, 1)], 0) => self.text_types.get(var).and_then(|ty| self.most_chars(*ty)),
                    _ => None,
                };
                let most = most.unwrap_or(i64::MAX as u64);
                let most = most - u64::from(mutant!("a text is shorter"));
                let len = self.terms.intern(Op::Len, terms);
                SymbolicOutcome::sound(self.number(Sort::Int, len, (Some(0), Some(most.into()))))
            }
            (Lower | Upper | Trim, _) if texts => self.named(Sort::Text, name, terms),
            // Numbers of two sorts may be the same term but two texts.
            (Text, [operand, _]) => {
                let kind = match operand {
                    SymbolicValue::Number(sort, _) => format!("{sort:?}"),
                    _ => String::new(),
                };
                self.named(Sort::Text, format!("{name} {kind}"), terms)
            }
            (
                StartsWith | EndsWith | Glob | VersionAtLeast | Mentions | MentionsCode
                | MentionsDate,
                _,
            ) if texts => {
                SymbolicOutcome::sound(SymbolicValue::Bool(self.flag(Op::Node(name), terms)))
            }
            // Its number is a decimal: one term is one number.
            (
                MentionsNumber,
                [SymbolicValue::Number(Sort::Decimal, _), SymbolicValue::Number(Sort::Text, _)],
            ) => SymbolicOutcome::sound(SymbolicValue::Bool(self.flag(Op::Node(name), terms))),
            _ => {
                let outcome = self.applied(Op::Node(name), terms);
                if !builtin.row().gives.is_optional() {
                    return Ok(outcome);
                }
                let term = self.term(&outcome.value);
                SymbolicOutcome { value: self.perhaps(term, None), ..outcome }
            }
        })
    }

    fn most_chars(&self, ty: u32) -> Option<u64> {
        match self.plan.types.get(ty as usize) {
            Some(guard_plan::plan::TypeDef::String { max_chars, .. }) => *max_chars,
            _ => None,
        }
    }

    /// Returns a text, path or URL of which only the name is known, and which is always present.
    pub(crate) fn named(&mut self, sort: Sort, name: String, args: Vec<TermId>) -> SymbolicOutcome {
        let term = self.terms.intern(Op::Node(name), args);
        SymbolicOutcome::sound(self.number(sort, term, (None, None)))
    }

    /// Encodes a question about the text of a value, history, time, budgets or the world. Its answer is one variable:
    /// the same question has the same answer within a decision.
    pub(crate) fn asked(
        &mut self,
        expr: &'p Expr,
        node: &'p Node,
        env: &EncoderEnv<'p>,
    ) -> Encoded<SymbolicOutcome> {
        let mut children = Vec::new();
        node.for_each_child(&mut |child| children.push(child));
        let (values, sound) = self.all_of(expr, &children, env)?;
        let terms: Vec<TermId> = values.iter().map(|value| self.term(value)).collect();
        let term = self.terms.intern(Op::Node(written(node)), terms.clone());
        self.remember(node, &terms, term);
        let any = self.any();
        let counted = (Some(0), any.1);
        let value = match node {
            Node::UrlPart(_, part) => return Ok(self.url_part(values, *part, sound)),
            Node::Matches(..) | Node::Within(..) => {
                return Ok(self.text_relation(node, values, sound));
            }
            Node::Known(fact, keys) if self.is_key(*fact, keys) => {
                // A row is known exactly if it is present.
                let of_row = if mutant!("a known row has any key") { Vec::new() } else { terms };
                let row = Op::Node(written(&Node::Row(*fact, keys.clone())));
                let row = self.terms.intern(row, of_row);
                SymbolicValue::Bool(self.flag(Op::IsSome, vec![row]))
            }
            Node::Known(..)
            | Node::Called { .. }
            | Node::Failed { .. }
            | Node::Temporal(_)
            | Node::Exists(_)
            | Node::MayRead(..) => SymbolicValue::Bool(self.flag_of(term)),
            Node::Said => self.number(Sort::Text, term, (None, None)),
            Node::Now => self.number(Sort::Time, term, any),
            Node::Elapsed | Node::RemainingTime => self.number(Sort::Duration, term, counted),
            Node::Remaining(_) | Node::Spent(_) => self.number(Sort::Decimal, term, any),
            Node::Calls { .. } => self.number(Sort::Int, term, counted),
            Node::Clock(ClockPart::Weekday) => self.number(Sort::Enum, term, (Some(0), Some(6))),
            Node::Clock(_) => self.number(Sort::Int, term, any),
            Node::Origin(_) => self.number(Sort::Enum, term, (Some(0), Some(3))),
            Node::Row(fact, _) => {
                let row = self.plan.facts.get(*fact as usize).map(|fact| fact.row);
                self.perhaps(term, row)
            }
            Node::LastArg(tool, at) => {
                let tool = self.plan.tools.get(*tool as usize);
                let param = tool.and_then(|tool| tool.params.get(*at as usize));
                self.perhaps(term, param.map(|param| param.ty))
            }
            Node::LastResult(tool) => {
                let returns = self.plan.tools.get(*tool as usize).and_then(|tool| tool.returns);
                self.perhaps(term, returns)
            }
            Node::Member(..) => self.perhaps(term, None),
            // The answer of a probe, or a key that was not found, may be missing.
            _ => self.perhaps(term, None),
        };
        let known = self.flag(Op::Sound, vec![term]);
        Ok(SymbolicOutcome { value, sound: sound.and(known) })
    }

    /// Returns true if the values are the key of a fact: there is at most one such row, the one that an index reads.
    fn is_key(&self, fact: u32, values: &[u32]) -> bool {
        self.plan.facts.get(fact as usize).is_some_and(|fact| fact.keys as usize == values.len())
    }

    /// Returns an option of which only the type is known.
    pub(crate) fn perhaps(&mut self, term: TermId, ty: Option<u32>) -> SymbolicValue {
        let there = self.flag(Op::IsSome, vec![term]);
        let inner = self.terms.intern(Op::Inner, vec![term]);
        let inner = ty.map_or(SymbolicValue::Opaque(inner), |ty| SymbolicValue::Typed(ty, inner));
        self.optional(there, inner)
    }

    fn url_part(
        &mut self,
        values: Vec<SymbolicValue>,
        part: UrlPart,
        sound: Formula,
    ) -> SymbolicOutcome {
        let value = values.into_iter().next().unwrap_or_else(|| self.none());
        let (there, url) = self.split(value);
        let term = self.term(&url);
        let name = format!("{part:?} of a url");
        let outcome = match (&url, part) {
            (SymbolicValue::Number(Sort::Url, _), UrlPart::Port) => {
                let term = self.terms.intern(Op::Node(name), vec![term]);
                SymbolicOutcome::sound(self.number(Sort::Int, term, (Some(0), Some(65_535))))
            }
            (SymbolicValue::Number(Sort::Url, _), _) => self.named(Sort::Text, name, vec![term]),
            _ => self.unknown(),
        };
        SymbolicOutcome {
            value: self.optional(there, outcome.value),
            sound: sound.and(outcome.sound),
        }
    }

    /// Encodes `matches` and `within`, which are false for a missing value.
    fn text_relation(
        &mut self,
        node: &Node,
        values: Vec<SymbolicValue>,
        sound: Formula,
    ) -> SymbolicOutcome {
        let mut there = Formula::True;
        let mut terms = Vec::new();
        let mut fit = true;
        for value in values {
            let (some, value) = self.split(value);
            there = there.and(some);
            terms.push(self.term(&value));
            fit &= match (node, value) {
                (Node::Within(..), SymbolicValue::Number(sort, _)) => sort == Sort::Path,
                (_, SymbolicValue::Number(sort, _)) => matches!(sort, Sort::Text | Sort::Path),
                _ => false,
            };
        }
        let outcome = if fit {
            SymbolicOutcome::sound(SymbolicValue::Bool(self.flag(Op::Node(written(node)), terms)))
        } else {
            self.unknown()
        };
        let (truth, known) = self.truth(outcome);
        SymbolicOutcome { value: SymbolicValue::Bool(there.and(truth)), sound: sound.and(known) }
    }
}

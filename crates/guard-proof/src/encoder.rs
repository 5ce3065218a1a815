//! The state of an encoding: terms, variables, the facts about them, and the basic constructions.
//!
//! An expression that is not interpreted becomes a separate variable about which nothing is known.
//! So a problem may be too weak to prove a true statement, but never strong enough to prove a false
//! one. An encoding that exceeds its limits is an error, and is dropped.

use crate::formula::Formula;
use crate::history::HistoryTerm;
use crate::linear::{Linear, Var, VarRange};
use crate::problem::Variable;
use crate::rules::ProofRule;
use crate::terms::{Op, TermId, TermTable};
use crate::value::{
    Collection, CollectionKind, Encoded, Sort, SymbolicOutcome, SymbolicValue, TooMuch, Width,
    number_of,
};
use guard_plan::plan::{Expr, Field, NodeId, Plan, QuantifierOp, TypeDef, TypeId, VarId};
use std::collections::HashMap;
use std::rc::Rc;

/// The maximum number of steps of the encoding of one clause.
const MOST_STEPS: u32 = 20_000;
/// The maximum number of steps of the encoding of one tool.
const MOST_IN_ALL: u32 = 400_000;
/// The maximum number of elements of a collection that are compared with one another.
const MOST_ELEMENTS: usize = 12;

/// The environment of an expression: the names that it may read.
#[derive(Clone)]
pub(crate) struct EncoderEnv<'p> {
    /// The parameters of the call.
    pub params: &'p [Field],
    /// The type of the result, if the expression may read one.
    pub returns: Option<TypeId>,
    /// The variables that have changed since the call began, with their values.
    pub written: Rc<Vec<(VarId, SymbolicValue)>>,
    /// The bound variables, the innermost last.
    pub locals: Rc<Vec<(u32, SymbolicValue)>>,
}

/// The body of a quantifier at its position.
#[derive(Clone)]
pub(crate) struct Closure<'p> {
    pub op: QuantifierOp,
    pub expr: &'p Expr,
    pub body: NodeId,
    pub binders: &'p [u32],
    /// True if the only bound name is the key.
    pub by_key: bool,
    pub env: EncoderEnv<'p>,
    /// The term of the body's text at its position: equal terms are equal functions of the bound
    /// names.
    pub text: TermId,
}

/// An element of a collection: its presence, its key or index if that is known, and its value.
#[derive(Clone)]
pub(crate) struct SymbolicElement {
    pub there: Formula,
    pub key: Option<SymbolicValue>,
    pub value: SymbolicValue,
}

/// A quantifier over a collection, with the condition that its body is without fault and true for
/// every element.
#[derive(Clone)]
pub(crate) struct Universal<'p> {
    pub holds: Formula,
    pub closure: Closure<'p>,
}

/// The questions that were asked about a collection which is known only by its term.
#[derive(Default, Clone)]
pub(crate) struct AskedAbout<'p> {
    /// The elements, by the terms that they were requested for, and true if that term is a key or
    /// index.
    pub met: Vec<(TermId, bool)>,
    pub elements: Vec<SymbolicElement>,
    pub universal: Vec<Universal<'p>>,
}

/// An encoding under construction.
pub(crate) struct Encoder<'p> {
    pub plan: &'p Plan,
    pub width: Width,
    pub terms: TermTable,
    pub vars: Vec<Variable>,
    numbers: HashMap<TermId, Var>,
    texts: HashMap<String, i128>,
    /// The sorts of the variables, where they are known.
    pub sorts: HashMap<Var, Sort>,
    /// The types of texts, where they are known.
    pub text_types: HashMap<Var, TypeId>,
    /// The facts about the variables that follow from their terms.
    pub facts: Vec<(ProofRule, Formula)>,
    pub asked: HashMap<TermId, AskedAbout<'p>>,
    /// The questions about the history.
    pub history: Vec<HistoryTerm>,
    /// The number of bodies that are being evaluated over any element. Such elements are not
    /// compared with others.
    pub generic: u32,
    steps: u32,
    in_all: u32,
}

impl<'p> Encoder<'p> {
    pub fn new(plan: &'p Plan, width: Width) -> Self {
        Encoder {
            plan,
            width,
            terms: TermTable::default(),
            vars: Vec::new(),
            numbers: HashMap::new(),
            texts: HashMap::new(),
            sorts: HashMap::new(),
            text_types: HashMap::new(),
            facts: Vec::new(),
            asked: HashMap::new(),
            history: Vec::new(),
            generic: 0,
            steps: MOST_STEPS,
            in_all: MOST_IN_ALL,
        }
    }

    /// Encodes one clause, with the limit of steps for one clause.
    pub fn clause<T>(&mut self, encode: impl FnOnce(&mut Self) -> Encoded<T>) -> Option<T> {
        if !mutant!("too much is a value") {
            self.steps = MOST_STEPS;
        }
        self.generic = 0;
        encode(self).ok()
    }

    /// Counts one step.
    pub fn step(&mut self) -> Encoded<()> {
        if self.is_exhausted() && mutant!("too much is a value") {
            return Ok(());
        }
        self.in_all = self.in_all.checked_sub(1).ok_or(TooMuch)?;
        self.steps = self.steps.checked_sub(1).ok_or(TooMuch)?;
        Ok(())
    }

    /// Returns true if no encoding steps are left.
    pub fn is_exhausted(&self) -> bool {
        self.steps == 0 || self.in_all == 0
    }

    /// States a fact by a rule.
    pub fn know(&mut self, rule: ProofRule, fact: Formula) -> Encoded<()> {
        self.step()?;
        if fact != Formula::True {
            self.facts.push((rule, fact));
        }
        Ok(())
    }

    /// Returns the variable of a term. The term determines its range.
    pub fn var(&mut self, term: TermId, (least, greatest): VarRange) -> Var {
        if let Some(var) = self.numbers.get(&term) {
            return *var;
        }
        let var = self.vars.len() as Var;
        self.vars.push(Variable { term, least, greatest });
        self.numbers.insert(term, var);
        var
    }

    /// Returns the variable of a term, and true if the variable is new: the facts that follow from
    /// its term must then still be stated.
    pub fn new_var(&mut self, term: TermId, range: VarRange) -> (Linear, bool) {
        let known = self.vars.len();
        let var = self.var(term, range);
        (Linear::var(var), self.vars.len() > known)
    }

    /// Returns the condition that the term of this operator is true.
    pub fn flag(&mut self, op: Op, args: Vec<TermId>) -> Formula {
        let term = self.terms.intern(op, args);
        self.flag_of(term)
    }

    /// Returns the condition that a term is true.
    pub fn flag_of(&mut self, term: TermId) -> Formula {
        Formula::flag(self.var(term, (Some(0), Some(1))))
    }

    /// Returns a new condition about which nothing is known.
    pub fn fresh_flag(&mut self) -> Formula {
        let term = self.terms.fresh();
        self.flag_of(term)
    }

    /// Returns the range of all integers.
    pub fn any(&self) -> VarRange {
        (Some(self.width.least()), Some(self.width.greatest()))
    }

    /// Returns a number of which only the range is known.
    pub fn number(&mut self, sort: Sort, term: TermId, range: VarRange) -> SymbolicValue {
        let var = self.var(term, range);
        self.sorts.insert(var, sort);
        SymbolicValue::Number(sort, Linear::var(var))
    }

    /// Returns an outcome about which nothing is known: the value may be missing, and the
    /// evaluation may fault.
    pub fn unknown(&mut self) -> SymbolicOutcome {
        let term = self.terms.fresh();
        let value = if mutant!("what is unknown is there") {
            SymbolicValue::Opaque(term)
        } else {
            self.perhaps(term, None)
        };
        SymbolicOutcome { value, sound: self.flag(Op::Sound, vec![term]) }
    }

    /// Returns the outcome of an operator that is not interpreted. Equal operands give equal outcomes, and the operator
    /// may fault.
    pub fn applied(&mut self, op: Op, args: Vec<TermId>) -> SymbolicOutcome {
        let args = if mutant!("operands of the unknown are dropped") { Vec::new() } else { args };
        let term = self.terms.intern(op, args);
        SymbolicOutcome {
            value: SymbolicValue::Opaque(term),
            sound: self.flag(Op::Sound, vec![term]),
        }
    }

    /// Returns a literal text. Different texts are different numbers.
    pub fn text(&mut self, text: &str) -> SymbolicValue {
        let next = self.texts.len() as i128;
        let next = if mutant!("all texts are one") { 0 } else { next };
        let number = *self.texts.entry(text.to_string()).or_insert(next);
        SymbolicValue::Number(Sort::Text, Linear::constant(number))
    }

    /// Returns the text that a constant stands for.
    pub fn text_of(&self, number: i128) -> Option<&str> {
        self.texts.iter().find(|(_, known)| **known == number).map(|(text, _)| text.as_str())
    }

    /// Returns the negation.
    pub fn not(&self, formula: &Formula) -> Encoded<Formula> {
        formula.negated().ok_or(TooMuch)
    }

    /// Returns the structure of a value of a type about which nothing else is known.
    pub fn open(&mut self, value: SymbolicValue) -> SymbolicValue {
        let SymbolicValue::Typed(ty, term) = value else { return value };
        let plan = self.plan;
        let Some(def) = plan.types.get(ty as usize) else { return SymbolicValue::Opaque(term) };
        if let Some((sort, least, greatest)) = number_of(def, self.width) {
            let value = self.number(sort, term, (least, greatest));
            if let (Sort::Text, SymbolicValue::Number(_, text)) = (sort, &value) {
                self.text_types.entry(text.terms[0].0).or_insert(ty);
            }
            return value;
        }
        let base = |kind, element: &TypeId, max: &Option<u64>| {
            SymbolicValue::Collection(Rc::new(Collection::Base {
                term,
                kind,
                of: *element,
                max: *max,
            }))
        };
        match def {
            TypeDef::Bool => SymbolicValue::Bool(self.flag_of(term)),
            TypeDef::Option { of } => {
                let some = if mutant!("an option has a value") {
                    Formula::True
                } else {
                    self.flag(Op::IsSome, vec![term])
                };
                let inner = self.terms.intern(Op::Inner, vec![term]);
                self.optional(some, SymbolicValue::Typed(*of, inner))
            }
            TypeDef::Record { fields, .. } => {
                let field = |(at, field): (u32, &Field)| {
                    let at = if mutant!("a record has one field") { 0 } else { at };
                    SymbolicValue::Typed(field.ty, self.terms.intern(Op::Field(at), vec![term]))
                };
                SymbolicValue::Record((0..).zip(fields).map(field).collect())
            }
            TypeDef::List { of, max } => base(CollectionKind::List, of, max),
            TypeDef::Set { of, max } => base(CollectionKind::Set, of, max),
            TypeDef::Map { of, max, .. } => base(CollectionKind::Map, of, max),
            _ => SymbolicValue::Opaque(term),
        }
    }

    /// Returns a value as an option: the condition that it is present, and the value.
    pub fn split(&mut self, value: SymbolicValue) -> (Formula, SymbolicValue) {
        match self.open(value) {
            SymbolicValue::Option(some, value) => (some, *value),
            value => (Formula::True, value),
        }
    }

    /// Returns a value that is present if the condition holds.
    pub fn optional(&mut self, some: Formula, value: SymbolicValue) -> SymbolicValue {
        match self.open(value) {
            SymbolicValue::Option(inner, value) => SymbolicValue::Option(some.and(inner), value),
            value if some == Formula::True => value,
            value => SymbolicValue::Option(some, Box::new(value)),
        }
    }

    /// Returns the missing option.
    pub fn none(&mut self) -> SymbolicValue {
        let term = self.terms.intern(Op::Node("None".into()), Vec::new());
        SymbolicValue::Option(Formula::False, Box::new(SymbolicValue::Opaque(term)))
    }

    /// Returns the term of a condition.
    pub fn term_of(&mut self, formula: &Formula) -> TermId {
        self.terms.intern(Op::Truth(formula.clone()), Vec::new())
    }

    /// Returns the term of a number of this sort.
    pub fn term_of_number(&mut self, sort: Sort, linear: &Linear) -> TermId {
        if let (Sort::Text, Some(text)) = (sort, linear.as_constant())
            && let Some(text) = self.text_of(text).map(str::to_string)
        {
            return self.terms.intern(Op::Text(text), Vec::new());
        }
        if let ([(var, 1)], 0) = (&linear.terms[..], linear.constant)
            && self.sorts.get(var) == Some(&sort)
        {
            return self.vars[*var as usize].term;
        }
        let sort = if mutant!("numbers of all sorts are one") { Sort::Int } else { sort };
        self.terms.intern(Op::Number(sort, linear.clone()), Vec::new())
    }

    /// Returns the term of a value.
    pub fn term(&mut self, value: &SymbolicValue) -> TermId {
        match value {
            SymbolicValue::Typed(_, term) | SymbolicValue::Opaque(term) => *term,
            SymbolicValue::Number(sort, linear) => self.term_of_number(*sort, linear),
            SymbolicValue::Bool(formula) => self.term_of(formula),
            SymbolicValue::Option(some, value) => {
                let args = vec![self.term_of(some), self.term(value)];
                self.terms.intern(Op::Optional, args)
            }
            SymbolicValue::Record(fields) => {
                let fields = fields.iter().map(|field| self.term(field)).collect();
                self.terms.intern(Op::Tuple, fields)
            }
            SymbolicValue::Collection(collection) => self.term_of_collection(collection),
        }
    }

    fn term_of_collection(&mut self, collection: &Collection) -> TermId {
        let (name, of, parts): (&'static str, Option<&Rc<Collection>>, Vec<&SymbolicValue>) =
            match collection {
                Collection::Base { term, .. } => return *term,
                Collection::Literal(CollectionKind::Set, items) => {
                    ("set", None, items.iter().collect())
                }
                Collection::Literal(_, items) => ("list", None, items.iter().collect()),
                Collection::Entries(entries) => {
                    ("map", None, entries.iter().flat_map(|(key, value)| [key, value]).collect())
                }
                Collection::Append(base, item) => ("append", Some(base), vec![item]),
                Collection::Insert(base, item) => ("insert", Some(base), vec![item]),
                Collection::Remove(base, item) => ("remove", Some(base), vec![item]),
                Collection::Put(base, key, value) => ("put", Some(base), vec![key, value]),
                Collection::Replace(base, at, value) => ("replace", Some(base), vec![at, value]),
                Collection::Drop(base, key) => ("drop", Some(base), vec![key]),
            };
        let name = if mutant!("all changes are one") { "changed" } else { name };
        let mut args: Vec<TermId> =
            of.map(|base| self.term_of_collection(base)).into_iter().collect();
        if mutant!("a changed collection is the old one")
            && let [base] = args[..]
        {
            return base;
        }
        args.extend(parts.into_iter().map(|part| self.term(part)).collect::<Vec<_>>());
        self.terms.intern(Op::Changed(name), args)
    }

    /// Returns the range of a sum, from the ranges of its variables.
    pub fn range(&self, linear: &Linear) -> VarRange {
        let range = |var: Var| self.vars[var as usize].range();
        (linear.least(range), linear.greatest(range))
    }

    /// Encodes that a number fits the integer width. The formula is constant if the number's range decides it.
    pub fn fits_width(&self, linear: &Linear) -> Encoded<Formula> {
        let least = self.width.least();
        let greatest = self.width.greatest();
        if mutant!("overflow is ignored") {
            return Ok(Formula::True);
        }
        if mutant!("nothing is too small") {
            return Formula::le(linear, &Linear::constant(greatest)).ok_or(TooMuch);
        }
        let greatest = greatest + i128::from(mutant!("overflow begins one later"));
        if let (Some(low), Some(high)) = self.range(linear)
            && least <= low
            && high <= greatest
        {
            return Ok(Formula::True);
        }
        Formula::between(linear, least, greatest).ok_or(TooMuch)
    }

    /// Returns true if one more element may be compared with `count` others.
    pub fn is_few(count: usize) -> bool {
        count < MOST_ELEMENTS
    }
}

//! The state of an encoding: terms, variables, what is known of them; and the small constructions everything else
//! is made of.
//!
//! Whatever is not understood becomes a variable of its own, of which nothing is known: so a problem may be too weak
//! to prove what is true, but never strong enough to prove what is not.

use crate::formula::Formula;
use crate::linear::{Linear, Range, Var};
use crate::problem::Variable;
use crate::terms::{Op, TermId, Terms};
use crate::value::{Collection, Kind, Outcome, Sort, Value, Width, number_of};
use guard_plan::plan::{Expr, Field, NodeId, Plan, QuantifierOp, TypeDef, TypeId, VarId};
use std::collections::HashMap;
use std::rc::Rc;

/// Most steps of the encoding of one tool.
const MOST_STEPS: u32 = 200_000;
/// Elements of one collection beyond these are not compared with one another.
const MOST_ELEMENTS: usize = 12;

/// Where an expression stands: what it may read.
#[derive(Clone)]
pub(crate) struct Env<'p> {
    /// The parameters of the call.
    pub params: &'p [Field],
    /// The type of the result, where there is one to read.
    pub returns: Option<TypeId>,
    /// The variables that are not as they were before the call.
    pub written: Rc<Vec<(VarId, Value)>>,
    /// Bound variables, the innermost last.
    pub locals: Rc<Vec<(u32, Value)>>,
    /// How many quantifiers are around.
    pub depth: u32,
}

/// The body of a quantifier where it stands.
#[derive(Clone)]
pub(crate) struct Closure<'p> {
    pub op: QuantifierOp,
    pub expr: &'p Expr,
    pub body: NodeId,
    pub binders: &'p [u32],
    /// The one bound name is the key.
    pub by_key: bool,
    pub env: Env<'p>,
}

/// What was asked of a collection of which only the term is known.
#[derive(Default, Clone)]
pub(crate) struct Asked<'p> {
    /// Elements: whether they are there, key or index, value.
    pub elements: Vec<(Formula, Option<Value>, Value)>,
    /// Conditions that, where they hold, make the body true of every element.
    pub universal: Vec<(Formula, Closure<'p>)>,
}

/// An encoding in the making.
pub(crate) struct Encoder<'p> {
    pub plan: &'p Plan,
    pub width: Width,
    pub terms: Terms,
    pub vars: Vec<Variable>,
    numbers: HashMap<TermId, Var>,
    texts: HashMap<String, i128>,
    /// The sorts of variables of which it is known.
    pub sorts: HashMap<Var, Sort>,
    /// The types of texts of which the type is known.
    pub text_types: HashMap<Var, TypeId>,
    /// What is true of the variables by what they stand for.
    pub facts: Vec<Formula>,
    pub asked: HashMap<TermId, Asked<'p>>,
    steps: u32,
}

impl<'p> Encoder<'p> {
    pub fn new(plan: &'p Plan, width: Width) -> Self {
        Encoder {
            plan,
            width,
            terms: Terms::default(),
            vars: Vec::new(),
            numbers: HashMap::new(),
            texts: HashMap::new(),
            sorts: HashMap::new(),
            text_types: HashMap::new(),
            facts: Vec::new(),
            asked: HashMap::new(),
            steps: MOST_STEPS,
        }
    }

    /// Takes a step; false where too many were taken.
    pub fn step(&mut self) -> bool {
        self.steps = self.steps.saturating_sub(1);
        self.steps > 0
    }

    /// Keeps what is known, where it can be said.
    pub fn know(&mut self, fact: Option<Formula>) {
        match fact {
            None | Some(Formula::True) => {}
            Some(fact) if self.step() => self.facts.push(fact),
            Some(_) => {}
        }
    }

    /// The variable that stands for a term; a range that is known already stays.
    pub fn var(&mut self, term: TermId, least: Option<i128>, greatest: Option<i128>) -> Var {
        if let Some(var) = self.numbers.get(&term) {
            return *var;
        }
        let var = self.vars.len() as Var;
        self.vars.push(Variable { term, least, greatest });
        self.numbers.insert(term, var);
        var
    }

    /// The condition that a term is true.
    pub fn flag(&mut self, op: Op, args: Vec<TermId>) -> Formula {
        let term = self.terms.intern(op, args);
        self.flag_of(term)
    }

    /// The condition that a term is true.
    pub fn flag_of(&mut self, term: TermId) -> Formula {
        Formula::flag(self.var(term, Some(0), Some(1)))
    }

    /// The range of all integers.
    pub fn any(&self) -> Range {
        (Some(self.width.least()), Some(self.width.greatest()))
    }

    /// A number of which only the range is known.
    pub fn number(&mut self, sort: Sort, term: TermId, range: Range) -> Value {
        let var = self.var(term, range.0, range.1);
        self.sorts.insert(var, sort);
        Value::Number(sort, Linear::var(var))
    }

    /// Something that is not looked into, and may fault.
    pub fn opaque(&mut self, name: impl Into<String>, args: Vec<TermId>) -> Outcome {
        let term = self.terms.intern(Op::Other(name.into()), args);
        Outcome { value: Value::Opaque(term), sound: self.flag(Op::Sound, vec![term]) }
    }

    /// A text as written: texts that differ are numbers that differ.
    pub fn text(&mut self, text: &str) -> Value {
        let next = self.texts.len() as i128;
        let next = if mutant!("all texts are one") { 0 } else { next };
        let number = *self.texts.entry(text.to_string()).or_insert(next);
        Value::Number(Sort::Text, Linear::constant(number))
    }

    /// The text that a constant stands for.
    pub fn text_of(&self, number: i128) -> Option<&str> {
        self.texts.iter().find(|(_, known)| **known == number).map(|(text, _)| text.as_str())
    }

    /// The opposite; where that is too large to say, a condition of which nothing is known.
    pub fn not(&mut self, formula: &Formula) -> Formula {
        match formula.negated() {
            Some(negated) => negated,
            None => {
                let term = self.terms.intern(Op::Formula(formula.clone()), Vec::new());
                self.flag(Op::Other("not".into()), vec![term])
            }
        }
    }

    /// A condition, or where it cannot be said one of which nothing is known.
    pub fn said(&mut self, formula: Option<Formula>, name: &str, args: Vec<TermId>) -> Formula {
        match formula {
            Some(formula) => formula,
            None => self.flag(Op::Other(name.into()), args),
        }
    }

    /// A value of a type, of which nothing else is known.
    pub fn open(&mut self, value: Value) -> Value {
        let Value::Typed(ty, term) = value else { return value };
        let plan = self.plan;
        let Some(def) = plan.types.get(ty as usize) else { return Value::Opaque(term) };
        if let Some((sort, least, greatest)) = number_of(def, self.width) {
            let var = self.var(term, least, greatest);
            self.sorts.insert(var, sort);
            if sort == Sort::Text {
                self.text_types.entry(var).or_insert(ty);
            }
            return Value::Number(sort, Linear::var(var));
        }
        let base = |kind, of: &TypeId, max: &Option<u64>| {
            Value::Collection(Rc::new(Collection::Base { term, kind, of: *of, max: *max }))
        };
        match def {
            TypeDef::Bool => Value::Bool(self.flag_of(term)),
            TypeDef::Option { of } => {
                let some = self.flag(Op::IsSome, vec![term]);
                let inner = self.terms.intern(Op::Inner, vec![term]);
                Value::Option(some, Box::new(self.open(Value::Typed(*of, inner))))
            }
            TypeDef::Record { fields, .. } => {
                let field = |(at, field): (u32, &Field)| {
                    Value::Typed(field.ty, self.terms.intern(Op::Field(at), vec![term]))
                };
                Value::Record((0..).zip(fields).map(field).collect())
            }
            TypeDef::List { of, max } => base(Kind::List, of, max),
            TypeDef::Set { of, max } => base(Kind::Set, of, max),
            TypeDef::Map { of, max } => base(Kind::Map, of, max),
            _ => Value::Opaque(term),
        }
    }

    /// A value as option: whether there is one, and which.
    pub fn split(&mut self, value: Value) -> (Formula, Value) {
        match self.open(value) {
            Value::Option(some, value) => (some, *value),
            value => (Formula::True, value),
        }
    }

    /// A value that is there where the condition holds.
    pub fn optional(&mut self, some: Formula, value: Value) -> Value {
        match self.open(value) {
            Value::Option(inner, value) => Value::Option(some.and(inner), value),
            value if some == Formula::True => value,
            value => Value::Option(some, Box::new(value)),
        }
    }

    /// The missing option.
    pub fn none(&mut self) -> Value {
        let term = self.terms.intern(Op::Other("none".into()), Vec::new());
        Value::Option(Formula::False, Box::new(Value::Opaque(term)))
    }

    /// The term of a value.
    pub fn term(&mut self, value: &Value) -> TermId {
        match value {
            Value::Typed(_, term) | Value::Opaque(term) => *term,
            Value::Number(sort, linear) => {
                if let (Sort::Text, Some(text)) = (*sort, linear.as_constant())
                    && let Some(text) = self.text_of(text).map(str::to_string)
                {
                    return self.terms.intern(Op::Text(text), Vec::new());
                }
                if let ([(var, 1)], 0) = (&linear.terms[..], linear.constant) {
                    return self.vars[*var as usize].term;
                }
                self.terms.intern(Op::Linear(linear.clone()), Vec::new())
            }
            Value::Bool(formula) => self.terms.intern(Op::Formula(formula.clone()), Vec::new()),
            Value::Option(some, value) => {
                let some = self.terms.intern(Op::Formula(some.clone()), Vec::new());
                let value = self.term(value);
                self.terms.intern(Op::IsSome, vec![some, value])
            }
            Value::Record(fields) => {
                let fields = fields.iter().map(|field| self.term(field)).collect();
                self.terms.intern(Op::Tuple, fields)
            }
            Value::Collection(collection) => self.term_of_collection(collection),
        }
    }

    fn term_of_collection(&mut self, collection: &Collection) -> TermId {
        let (name, of, parts): (&'static str, Option<&Rc<Collection>>, Vec<&Value>) =
            match collection {
                Collection::Base { term, .. } => return *term,
                Collection::Literal(Kind::Set, items) => ("set", None, items.iter().collect()),
                Collection::Literal(_, items) => ("list", None, items.iter().collect()),
                Collection::Entries(entries) => {
                    ("map", None, entries.iter().flat_map(|(key, value)| [key, value]).collect())
                }
                Collection::Append(of, item) => ("append", Some(of), vec![item]),
                Collection::Insert(of, item) => ("insert", Some(of), vec![item]),
                Collection::Remove(of, item) => ("remove", Some(of), vec![item]),
                Collection::Put(of, key, value) => ("put", Some(of), vec![key, value]),
                Collection::Replace(of, at, value) => ("replace", Some(of), vec![at, value]),
                Collection::Drop(of, key) => ("drop", Some(of), vec![key]),
            };
        let mut args: Vec<TermId> = of.map(|of| self.term_of_collection(of)).into_iter().collect();
        args.extend(parts.into_iter().map(|part| self.term(part)).collect::<Vec<_>>());
        self.terms.intern(Op::Changed(name), args)
    }

    /// The first value where the condition holds, the second elsewhere.
    pub fn choose(&mut self, condition: &Formula, a: Value, b: Value) -> Value {
        match condition {
            Formula::True => return a,
            Formula::False => return b,
            _ => {}
        }
        let (a, b) = (self.open(a), self.open(b));
        match (a, b) {
            (Value::Number(sort, a), Value::Number(other, b)) if sort == other => {
                Value::Number(sort, self.choose_number(condition, a, b))
            }
            (Value::Bool(a), Value::Bool(b)) => {
                let otherwise = self.not(condition).and(b);
                Value::Bool(condition.clone().and(a).or(otherwise))
            }
            (Value::Record(a), Value::Record(b)) if a.len() == b.len() => {
                let fields = a.into_iter().zip(b);
                Value::Record(fields.map(|(a, b)| self.choose(condition, a, b)).collect())
            }
            (a @ Value::Option(..), b) | (a, b @ Value::Option(..)) => {
                let ((has_a, a), (has_b, b)) = (self.split(a), self.split(b));
                let otherwise = self.not(condition).and(has_b.clone());
                let some = condition.clone().and(has_a.clone()).or(otherwise);
                // Where one is never there, the other is what there is.
                let value = match (has_a, has_b) {
                    (Formula::False, _) => b,
                    (_, Formula::False) => a,
                    _ => self.choose(condition, a, b),
                };
                self.optional(some, value)
            }
            (a, b) => {
                let (a, b) = (self.term(&a), self.term(&b));
                let condition = self.terms.intern(Op::Formula(condition.clone()), Vec::new());
                Value::Opaque(self.terms.intern(Op::Choice, vec![condition, a, b]))
            }
        }
    }

    /// The same of numbers, with what defines the choice.
    pub fn choose_number(&mut self, condition: &Formula, a: Linear, b: Linear) -> Linear {
        match condition {
            Formula::True => return a,
            Formula::False => return b,
            _ if a == b => return a,
            _ => {}
        }
        let args = [Op::Formula(condition.clone()), Op::Linear(a.clone()), Op::Linear(b.clone())];
        let args = args.map(|op| self.terms.intern(op, Vec::new())).to_vec();
        let term = self.terms.intern(Op::Choice, args);
        let (range_a, range_b) = (self.range(&a), self.range(&b));
        let least = range_a.0.zip(range_b.0).map(|(a, b)| a.min(b));
        let greatest = range_a.1.zip(range_b.1).map(|(a, b)| a.max(b));
        let known = self.vars.len();
        let chosen = self.var(term, least, greatest);
        let (a, b) = if mutant!("a choice takes the other") { (b, a) } else { (a, b) };
        let chosen_number = Linear::var(chosen);
        if chosen as usize == known {
            let otherwise = self.not(condition);
            let first = Formula::eq(&chosen_number, &a).map(|same| condition.clone().and(same));
            let second = Formula::eq(&chosen_number, &b).map(|same| otherwise.and(same));
            self.know(first.zip(second).map(|(first, second)| first.or(second)));
        }
        chosen_number
    }

    /// The range of a sum, by those of its variables.
    pub fn range(&self, linear: &Linear) -> Range {
        let of = |var: Var| self.vars[var as usize].range();
        (linear.least(of), linear.greatest(of))
    }

    /// Whether a number fits the integers; decided at once where its range says so.
    pub fn fits_width(&mut self, linear: &Linear) -> Formula {
        let (least, greatest) = (self.width.least(), self.width.greatest());
        if mutant!("overflow is ignored") {
            return Formula::True;
        }
        let greatest = greatest + i128::from(mutant!("overflow begins one later"));
        if let (Some(low), Some(high)) = self.range(linear)
            && least <= low
            && high <= greatest
        {
            return Formula::True;
        }
        let term = self.terms.intern(Op::Linear(linear.clone()), Vec::new());
        let between = Formula::between(linear, least, greatest);
        self.said(between, "fits", vec![term])
    }

    /// Whether an element may be compared with those asked before.
    pub fn is_few(count: usize) -> bool {
        count < MOST_ELEMENTS
    }
}

//! Scope of an expression: the names that it may use, and the values that are established there.

use super::lets::Lets;
use crate::hir::{Field, MapKey, Type};
use crate::names::Names;
use guard_plan::plan::SourceKind;
use guard_syntax::ast;
use std::rc::Rc;

/// The place of an expression. It determines the questions that the expression may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExprPlace {
    /// A condition or value of a clause, judged when a call is proposed.
    Rule,
    /// `observe`, `learn`, `reconcile`: judged when a call settles, may read `result`.
    Settle,
    /// An invariant or the operand of a temporal operator: state only.
    State,
    /// An initial value.
    Initial,
    /// The expression of a define, judged by itself: it may ask whatever some use may ask.
    Define,
    /// Feedback, completion, goals, attests, scenarios: no call to speak of.
    Session,
    /// A `source`: reads `text`, or `data`.
    Source(SourceKind),
}

impl ExprPlace {
    /// In words, for messages.
    pub fn name(self) -> &'static str {
        match self {
            ExprPlace::Rule => "a rule",
            ExprPlace::Settle => "a clause about the result",
            ExprPlace::State => "an invariant or temporal operator, which speak of state only",
            ExprPlace::Initial => "an initial value",
            ExprPlace::Define => "a define",
            ExprPlace::Session => "a condition outside a tool",
            ExprPlace::Source(_) => "a source",
        }
    }

    /// State variables may be read.
    pub fn reads_state(self) -> bool {
        !matches!(self, ExprPlace::Initial | ExprPlace::Source(_))
    }

    /// History, time, budgets and the world may be asked.
    pub fn asks(self) -> bool {
        matches!(self, ExprPlace::Rule | ExprPlace::Settle | ExprPlace::Session | ExprPlace::Define)
    }
}

/// The treatment of a missing value in a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingMeaning {
    /// A missing value has no meaning here: it must be excluded.
    Strict,
    /// Whatever the comparison then says is fine.
    Any,
    /// Fine if the condition then has this truth value, which holds the call back.
    Refuses(bool),
}

impl MissingMeaning {
    /// Returns true if a comparison may have the value `lifted` when its operand is missing.
    pub fn accepts(self, lifted: bool) -> bool {
        match self {
            MissingMeaning::Strict => false,
            MissingMeaning::Any => true,
            MissingMeaning::Refuses(truth) => truth == lifted,
        }
    }

    /// Inside of an operand whose value says neither yes nor no to the call by itself: `(o > 5) == false`.
    pub fn inside(self) -> MissingMeaning {
        match self {
            MissingMeaning::Any => MissingMeaning::Any,
            MissingMeaning::Strict | MissingMeaning::Refuses(_) => MissingMeaning::Strict,
        }
    }

    /// Under a negation.
    pub fn negated(self) -> MissingMeaning {
        match self {
            MissingMeaning::Refuses(truth) => MissingMeaning::Refuses(!truth),
            other => other,
        }
    }
}

/// A bound variable.
#[derive(Debug, Clone)]
pub(crate) struct Local {
    pub name: String,
    pub ty: Type,
    pub slot: u32,
    /// What its text is the key of.
    pub key: MapKey,
    /// `each(item_ids)`: what it stands for in keys of flow typing.
    pub symbol: Option<String>,
}

/// An argument of a define: the expression that a parameter stands for, and where it was written.
#[derive(Clone)]
pub(crate) struct GivenArgument<'s> {
    /// The parameter.
    pub name: String,
    /// The define, and the position of the parameter.
    pub of: (usize, usize),
    pub value: Rc<ast::Expr>,
    pub scope: Rc<Scope<'s>>,
}

/// The surroundings of an expression.
#[derive(Clone)]
pub(crate) struct Scope<'s> {
    pub names: &'s Names<'s>,
    pub place: ExprPlace,
    pub params: &'s [Field],
    /// Parameters of the tool that cannot be read here, though they can around it.
    pub outer: &'s [Field],
    pub result: Option<Type>,
    /// The name under which the agent calls the tool in whose clauses this stands.
    pub tool: Option<Rc<str>>,
    pub locals: Vec<Local>,
    pub missing: MissingMeaning,
    /// Keys of expressions that have a value here because of conditions around them.
    pub established: Vec<String>,
    /// Keys that the tool's other clauses establish, each with the clause that does.
    pub by_clauses: Rc<Vec<(usize, String)>>,
    /// Those of them that hold after the effects of the tool, too.
    pub after_effects: Rc<Vec<(usize, String)>>,
    /// And those that hold after its observations.
    pub after_observations: Rc<Vec<(usize, String)>>,
    /// The clause this expression belongs to; it establishes nothing for itself.
    pub clause: usize,
    /// `json` may stand where a typed value is wanted: it is decoded when the call settles.
    pub decodes: bool,
    /// The arguments of the define whose expression this is.
    pub given: Rc<Vec<GivenArgument<'s>>>,
    /// The names that the tool or policy gives.
    pub lets: Rc<Lets<'s>>,
    /// The parameters of the tool around a define, whose names mean something else in here.
    pub around: Option<&'s [Field]>,
    /// The slots that expressions around a define or an argument have bound.
    base: u32,
}

impl<'s> Scope<'s> {
    /// A scope without locals where nothing is established.
    pub fn new(
        names: &'s Names<'s>,
        place: ExprPlace,
        params: &'s [Field],
        missing: MissingMeaning,
    ) -> Self {
        Scope {
            names,
            place,
            params,
            outer: &[],
            result: None,
            tool: None,
            locals: Vec::new(),
            missing,
            established: Vec::new(),
            by_clauses: Rc::default(),
            after_effects: Rc::default(),
            after_observations: Rc::default(),
            clause: usize::MAX,
            decodes: false,
            given: Rc::default(),
            lets: Rc::default(),
            around: None,
            base: 0,
        }
    }

    /// Returns the scope of a define's expression that is used here. Nothing that can be read here is visible there
    /// but the arguments; what is established and what a missing value means hold there, too.
    pub fn of_define(&self, given: Vec<GivenArgument<'s>>) -> Scope<'s> {
        let mut inner = Scope::new(self.names, self.place, &[], self.missing);
        inner.around = Some(self.around.unwrap_or(match self.params {
            [] => self.outer,
            params => params,
        }));
        inner.given = Rc::new(given);
        inner.base = self.depth();
        inner.established = self.established.clone();
        inner.by_clauses = self.by_clauses.clone();
        inner.clause = self.clause;
        inner
    }

    /// Returns the scope of an argument whose parameter is read here.
    pub fn of_argument(&self, given: &GivenArgument<'s>) -> Scope<'s> {
        let mut inner = given.scope.as_ref().clone();
        if inner.place != self.place {
            // Inside of a temporal operator: state only.
            inner.place = self.place;
            inner.result = None;
            inner.locals.clear();
            inner.outer = if inner.params.is_empty() { inner.outer } else { inner.params };
            inner.params = &[];
        }
        inner.missing = self.missing;
        inner.established = self.established.clone();
        inner.decodes = false;
        // A slot that is in use here must not be bound again there.
        inner.base = self.depth() - inner.locals.len() as u32;
        inner
    }

    /// Returns the scope of the expression of a `let` that is read here: bound variables are not visible there.
    pub fn of_let(&self, name: &str) -> Scope<'s> {
        let mut inner = self.clone();
        inner.lets = self.lets.around(name);
        inner.base = self.depth();
        inner.locals.clear();
        inner
    }

    /// Returns the scope of an operand of a temporal operator that stands here: it speaks of state only.
    pub fn of_states(&self) -> Scope<'s> {
        let mut inner = self.clone();
        inner.place = ExprPlace::State;
        inner.outer = if self.params.is_empty() { self.outer } else { self.params };
        inner.params = &[];
        inner.result = None;
        // It is an expression of its own, with slots of its own.
        inner.base = 0;
        inner.locals.clear();
        inner.established.clear();
        inner.by_clauses = Rc::default();
        inner.decodes = false;
        inner
    }

    /// Returns true if `e` is the name of an argument, a `let` or a define.
    pub fn stands_for_another(&self, e: &ast::Expr) -> bool {
        match &e.kind {
            ast::ExprKind::Name(name) => {
                self.given(name).is_some()
                    || self.let_value(name).is_some()
                    || self.define(name, false).is_some()
            }
            ast::ExprKind::Call(name, _) => self.define(&name.node, true).is_some(),
            _ => false,
        }
    }

    /// The number of slots in use.
    fn depth(&self) -> u32 {
        self.base + self.locals.len() as u32
    }

    /// Returns true in the expression of a define and in an argument of one, whose size was measured around it.
    pub fn is_written_out(&self) -> bool {
        self.around.is_some()
    }

    /// The argument that this name stands for.
    pub fn given(&self, name: &str) -> Option<&GivenArgument<'s>> {
        match self.local(name) {
            Some(_) => None,
            None => self.given.iter().find(|given| given.name == name),
        }
    }

    /// The expression of the `let` of this name.
    pub fn let_value(&self, name: &str) -> Option<&'s ast::Expr> {
        if self.local(name).is_some() || self.param(name).is_some() {
            None
        } else {
            self.lets.value(name)
        }
    }

    /// The constant of this name, or with `call` the define.
    pub fn define(&self, name: &str, call: bool) -> Option<usize> {
        if !call && self.is_bound(name) {
            return None;
        }
        self.names.defines.get(name)
    }

    /// Returns true if a bare name is bound here: as a variable of a quantifier, a parameter or a `let`.
    pub fn is_bound(&self, name: &str) -> bool {
        self.local(name).is_some()
            || self.param(name).is_some()
            || self.given.iter().any(|given| given.name == name)
            || self.lets.value(name).is_some()
    }

    /// Returns true if the expression with this key has a value here.
    pub fn establishes(&self, key: &str) -> bool {
        self.established.iter().any(|k| k == key)
            || self.by_clauses.iter().any(|(clause, k)| *clause != self.clause && k == key)
    }

    /// The parameter of this name.
    pub fn param(&self, name: &str) -> Option<usize> {
        self.params.iter().position(|p| p.name == name)
    }

    /// The innermost bound variable of this name.
    pub fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|l| l.name == name)
    }

    /// Binds a variable and gives its slot. Of two elements of one collection only the first has its symbol: what is said
    /// of one is not said of the other.
    pub fn bind(&mut self, name: &str, ty: Type, symbol: Option<String>) -> u32 {
        let slot = self.depth();
        let symbol = symbol.filter(|symbol| {
            !self.locals.iter().any(|local| local.symbol.as_ref() == Some(symbol))
        });
        let name = name.to_string();
        let key = MapKey::Text;
        self.locals.push(Local { name, ty, slot, key, symbol });
        slot
    }
}

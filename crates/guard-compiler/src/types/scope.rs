//! The scope of an expression: the names that it may use, and the values that are established in
//! it.

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
    /// `observe`, `learn` and `reconcile`: judged when a call settles, and may read `result`.
    Settle,
    /// An invariant or the operand of a temporal operator: may read only state.
    State,
    /// An initial value.
    Initial,
    /// The expression of a define, checked separately: it may ask everything that any of its uses
    /// may ask.
    Define,
    /// Feedback, completion, goals, attests and scenarios: there is no call.
    Session,
    /// A `source`: may read `text`, or `data`.
    Source(SourceKind),
}

impl ExprPlace {
    /// Returns the name in words, for messages.
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

    /// Returns true if state variables may be read.
    pub fn reads_state(self) -> bool {
        !matches!(self, ExprPlace::Initial | ExprPlace::Source(_))
    }

    /// Returns true if history, time, budgets and the world may be asked.
    pub fn asks(self) -> bool {
        matches!(self, ExprPlace::Rule | ExprPlace::Settle | ExprPlace::Session | ExprPlace::Define)
    }
}

/// The treatment of a missing value in a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingMeaning {
    /// A missing value has no meaning here and must be excluded.
    Strict,
    /// Any result of the comparison is allowed.
    Any,
    /// Allowed if the condition then has this truth value, which holds the call back.
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

    /// Returns the meaning inside an operand whose value alone does not decide about the call: `(o
    /// > 5) == false`.
    pub fn inside(self) -> MissingMeaning {
        match self {
            MissingMeaning::Any => MissingMeaning::Any,
            MissingMeaning::Strict | MissingMeaning::Refuses(_) => MissingMeaning::Strict,
        }
    }

    /// Returns the meaning under a negation.
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
    /// The type of the key that its text represents.
    pub key: MapKey,
    /// `each(item_ids)`: the text that represents it in keys of flow typing.
    pub symbol: Option<String>,
}

/// An argument of a define: the expression that replaces a parameter, and the scope where it was
/// written.
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
    /// Parameters of the tool that cannot be read here, although they can be read around it.
    pub outer: &'s [Field],
    pub result: Option<Type>,
    /// The wire name of the tool whose clause contains the expression.
    pub tool: Option<Rc<str>>,
    pub locals: Vec<Local>,
    pub missing: MissingMeaning,
    /// The keys of expressions that have a value here because of conditions around them.
    pub established: Vec<String>,
    /// The keys that the tool's other clauses establish, each with its clause.
    pub by_clauses: Rc<Vec<(usize, String)>>,
    /// Those of them that also hold after the effects of the tool.
    pub after_effects: Rc<Vec<(usize, String)>>,
    /// Those of them that also hold after the observations of the tool.
    pub after_observations: Rc<Vec<(usize, String)>>,
    /// The clause that contains this expression. It establishes nothing for itself.
    pub clause: usize,
    /// True if a `json` value is allowed where a typed value is required: it is decoded when the
    /// call settles.
    pub decodes: bool,
    /// The arguments of the define that the expression belongs to.
    pub given: Rc<Vec<GivenArgument<'s>>>,
    /// The names that the tool or policy declares.
    pub lets: Rc<Lets<'s>>,
    /// The parameters of the tool around a define. Their names have another meaning in here.
    pub around: Option<&'s [Field]>,
    /// The number of slots that expressions around a define or an argument have bound.
    base: u32,
}

impl<'s> Scope<'s> {
    /// Returns a scope without locals in which nothing is established.
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

    /// Returns the scope of the expression of a define that is used here. Of everything that can be
    /// read here, only the arguments are visible there. Established values and the meaning of a
    /// missing value are the same there.
    pub fn of_define(&self, given: Vec<GivenArgument<'s>>) -> Scope<'s> {
        let mut inner = Scope::new(self.names, self.place, &[], self.missing);
        // Inside a temporal operator, the parameters of the tool are the outer ones.
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
            // Inside a temporal operator: only state.
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

    /// Returns the scope of the expression of a `let` that is read here. Bound variables are not
    /// visible there.
    pub fn of_let(&self, name: &str) -> Scope<'s> {
        let mut inner = self.clone();
        inner.lets = self.lets.around(name);
        inner.base = self.depth();
        inner.locals.clear();
        inner
    }

    /// Returns the scope of an operand of a temporal operator here. The operand may read only
    /// state.
    pub fn of_states(&self) -> Scope<'s> {
        let mut inner = self.clone();
        inner.place = ExprPlace::State;
        inner.outer = if self.params.is_empty() { self.outer } else { self.params };
        inner.params = &[];
        inner.result = None;
        // It is a separate expression with its own slots.
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

    /// Returns the number of slots in use.
    fn depth(&self) -> u32 {
        self.base + self.locals.len() as u32
    }

    /// Returns true in the expression of a define and in an argument of a define. Their size was
    /// measured at the use.
    pub fn is_written_out(&self) -> bool {
        self.around.is_some()
    }

    /// Returns the argument that replaces this name.
    pub fn given(&self, name: &str) -> Option<&GivenArgument<'s>> {
        match self.local(name) {
            // A bound variable hides the parameter.
            Some(_) => None,
            None => self.given.iter().find(|given| given.name == name),
        }
    }

    /// Returns the expression of the `let` of this name.
    pub fn let_value(&self, name: &str) -> Option<&'s ast::Expr> {
        if self.local(name).is_some() || self.param(name).is_some() {
            None
        } else {
            self.lets.value(name)
        }
    }

    /// Returns the constant of this name, or with `call` the define.
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

    /// Returns the parameter of this name.
    pub fn param(&self, name: &str) -> Option<usize> {
        self.params.iter().position(|p| p.name == name)
    }

    /// Returns the innermost bound variable of this name.
    pub fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|l| l.name == name)
    }

    /// Binds a variable and returns its slot. Of two elements of one collection, only the first
    /// gets the symbol, because knowledge about one element does not apply to the other.
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

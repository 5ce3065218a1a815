//! What an expression may speak of where it stands, and what is established there.

use crate::hir::{Field, Type};
use guard_plan::plan::SourceKind;
use std::rc::Rc;

/// Where an expression stands; decides what it may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A condition or value of a clause, judged when a call is proposed.
    Rule,
    /// `observe`, `learn`, `reconcile`: judged when a call settles, may read `result`.
    Settle,
    /// An invariant or the operand of a temporal operator: state only.
    State,
    /// An initial value.
    Initial,
    /// Feedback, completion, goals, attests, scenarios: no call to speak of.
    Session,
    /// A `source`: reads `text`, or `data`.
    Source(SourceKind),
}

impl Place {
    /// In words, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Place::Rule => "a rule",
            Place::Settle => "a clause about the result",
            Place::State => "an invariant or temporal operator, which speak of state only",
            Place::Initial => "an initial value",
            Place::Session => "a condition outside a tool",
            Place::Source(_) => "a source",
        }
    }

    /// State variables may be read.
    pub fn reads_state(self) -> bool {
        !matches!(self, Place::Initial | Place::Source(_))
    }

    /// History, time, budgets and the world may be asked.
    pub fn asks(self) -> bool {
        matches!(self, Place::Rule | Place::Settle | Place::Session)
    }
}

/// What becomes of a condition when a value in it is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// A missing value has no meaning here: it must be excluded.
    Strict,
    /// Whatever the comparison then says is fine.
    Any,
    /// Fine if the condition then has this truth value, which holds the call back.
    Refuses(bool),
}

impl Missing {
    /// Whether a comparison that says `lifted` about a missing value is fine.
    pub fn accepts(self, lifted: bool) -> bool {
        match self {
            Missing::Strict => false,
            Missing::Any => true,
            Missing::Refuses(truth) => truth == lifted,
        }
    }

    /// Inside of an operand whose value says neither yes nor no to the call by itself: `(o > 5) == false`.
    pub fn inside(self) -> Missing {
        match self {
            Missing::Any => Missing::Any,
            Missing::Strict | Missing::Refuses(_) => Missing::Strict,
        }
    }

    /// Under a negation.
    pub fn negated(self) -> Missing {
        match self {
            Missing::Refuses(truth) => Missing::Refuses(!truth),
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
    /// `each(item_ids)`: what it stands for in keys of flow typing.
    pub symbol: Option<String>,
}

/// The surroundings of an expression.
#[derive(Debug, Clone)]
pub(crate) struct Scope<'s> {
    pub place: Place,
    pub params: &'s [Field],
    /// Parameters of the tool that cannot be read here, though they can around it.
    pub outer: &'s [Field],
    pub result: Option<Type>,
    pub locals: Vec<Local>,
    pub missing: Missing,
    /// Keys of expressions that have a value here because of conditions around them.
    pub established: Vec<String>,
    /// Keys that the tool's other clauses establish, each with the clause that does.
    pub by_clauses: Rc<Vec<(usize, String)>>,
    /// The clause this expression belongs to; it establishes nothing for itself.
    pub clause: usize,
    /// `json` may stand where a typed value is wanted: it is decoded when the call settles.
    pub decodes: bool,
}

impl<'s> Scope<'s> {
    /// A scope without locals where nothing is established.
    pub fn new(place: Place, params: &'s [Field], missing: Missing) -> Self {
        Scope {
            place,
            params,
            outer: &[],
            result: None,
            locals: Vec::new(),
            missing,
            established: Vec::new(),
            by_clauses: Rc::default(),
            clause: usize::MAX,
            decodes: false,
        }
    }

    /// Whether the expression with this key has a value here.
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

    /// Binds a variable and gives its slot.
    pub fn bind(&mut self, name: &str, ty: Type, symbol: Option<String>) -> u32 {
        let slot = self.locals.len() as u32;
        self.locals.push(Local { name: name.to_string(), ty, slot, symbol });
        slot
    }
}

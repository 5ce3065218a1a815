//! Classes of places that exchange values: parameters, variables, parts of results and facts.
//!
//! Two places that are compared, assigned, or used as each other's key are of one class; what one of them is compared
//! with may matter for all. Flow is followed without order, so classes are too large rather than too small.

mod builtins;
mod flow;

use super::sample::Samples;
use crate::analysis::reference::ReferenceSession;
use crate::hir::{Expr, ExprKind as K, ProbeId, Program, RecordId, ToolId, Type, VarId};
use guard_plan::value::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// Somewhere a value may be.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum ValuePlace {
    Param(ToolId, u32),
    State(VarId),
    Field(RecordId, u32),
    Result(ToolId),
    Probe(ProbeId),
    Prompt,
    Data,
    /// Elements of a collection, or entries of a map.
    Elem(usize),
    Key(usize),
    Member(usize, String),
    Url(usize, UrlKind),
    /// What an extractor finds in a text.
    Found(usize, String),
    Length(usize),
    Domain(usize),
    /// What stands before the `@` of an address.
    Local(usize),
    /// A list of constants that is ranged over.
    Constants(usize),
}

/// A part of a url.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum UrlKind {
    Scheme,
    Host,
    Other,
}

/// A value or pattern that the values of a class are compared with.
#[derive(Debug, Clone)]
pub(crate) enum Hint<'p> {
    /// This constant.
    Is(Value),
    Begins(String),
    Ends(String),
    Holds(String),
    Globs(String),
    Matches(Arc<str>),
    /// Below this path; below the workspace.
    Below(String),
    /// What this gives, which depends on the session alone.
    Gives(&'p Expr),
    /// Added to (or taken from) a variable.
    Moves(VarId, i64),
    /// Paid in a unit.
    Pays(usize),
}

/// The properties of a class.
#[derive(Debug, Default)]
pub(crate) struct Class<'p> {
    /// Something reads it.
    pub used: bool,
    /// It is more than compared with constants.
    pub opaque: bool,
    pub hints: Vec<Hint<'p>>,
    pub members: Vec<usize>,
    /// A type that is not `json`, where a member has one.
    pub ty: Option<Type>,
}

impl Class<'_> {
    /// Returns true if something reads it, or does more with it.
    pub fn is_read(&self) -> bool {
        self.used || self.opaque
    }
}

/// The places of a guard and their classes.
pub(crate) struct Classes<'p> {
    program: &'p Program,
    nodes: HashMap<ValuePlace, usize>,
    pub places: Vec<ValuePlace>,
    parent: Vec<usize>,
    used: Vec<bool>,
    opaque: Vec<bool>,
    hints: Vec<Vec<Hint<'p>>>,
    /// By representative, when all is read.
    classes: HashMap<usize, Class<'p>>,
    /// By parent's class, its parts.
    parts: HashMap<usize, Vec<usize>>,
    /// The texts of the patterns of its types.
    pub samples: Samples,
}

/// The context of an expression: the session that computes constants, the tool, its result and the bound variables.
struct ClassContext<'r, 'p> {
    session: &'r ReferenceSession<'p>,
    tool: Option<ToolId>,
    result: Option<usize>,
    locals: HashMap<u32, usize>,
}

impl<'r, 'p> ClassContext<'r, 'p> {
    fn new(session: &'r ReferenceSession<'p>, tool: Option<ToolId>, result: Option<usize>) -> Self {
        ClassContext { session, tool, result, locals: HashMap::new() }
    }
}

impl<'p> Classes<'p> {
    /// The classes of a guard; constants are computed in `session`, a fresh one.
    pub fn new(program: &'p Program, session: &ReferenceSession<'p>) -> Self {
        let mut classes = Classes {
            program,
            nodes: HashMap::new(),
            places: Vec::new(),
            parent: Vec::new(),
            used: Vec::new(),
            opaque: Vec::new(),
            hints: Vec::new(),
            classes: HashMap::new(),
            parts: HashMap::new(),
            samples: Samples::default(),
        };
        classes.read(session);
        classes.finish();
        classes
    }

    /// The class of a place; none where nothing mentions it.
    pub fn class(&self, place: &ValuePlace) -> Option<&Class<'p>> {
        self.classes.get(&self.root(*self.nodes.get(place)?))
    }

    /// Returns true if something reads the values of a place, or does more with them.
    pub fn is_read(&self, place: &ValuePlace) -> bool {
        self.class(place).is_some_and(Class::is_read)
    }

    /// The part of a node that is such.
    pub fn part(&self, node: Option<usize>, is_such: fn(&ValuePlace) -> bool) -> Option<usize> {
        let parts = node.map_or(&[][..], |node| self.parts(node));
        parts.iter().copied().find(|part| is_such(&self.places[*part]))
    }

    /// The class of a node.
    pub fn class_of(&self, node: usize) -> Option<&Class<'p>> {
        self.classes.get(&self.root(node))
    }

    /// The declared types of the places of a class.
    pub fn types_of(&self, class: &Class) -> Vec<Type> {
        class.members.iter().filter_map(|node| self.type_of(*node)).collect()
    }

    /// The node of a place.
    pub fn find(&self, place: &ValuePlace) -> Option<usize> {
        self.nodes.get(place).copied()
    }

    /// The parts of a node's class: elements, keys, members and the like.
    pub fn parts(&self, node: usize) -> &[usize] {
        self.parts.get(&self.root(node)).map_or(&[], Vec::as_slice)
    }

    fn root(&self, mut node: usize) -> usize {
        while self.parent[node] != node {
            node = self.parent[node];
        }
        node
    }

    fn node(&mut self, place: ValuePlace) -> usize {
        if let Some(known) = self.nodes.get(&place) {
            return *known;
        }
        let node = self.places.len();
        self.nodes.insert(place.clone(), node);
        self.places.push(place);
        self.parent.push(node);
        self.used.push(false);
        self.opaque.push(false);
        self.hints.push(Vec::new());
        node
    }

    fn read_node(&mut self, place: ValuePlace) -> Option<usize> {
        let node = self.node(place);
        self.used[node] = true;
        Some(node)
    }

    fn unite(&mut self, a: usize, b: usize) {
        let a = self.root(a);
        let b = self.root(b);
        self.parent[a.max(b)] = a.min(b);
    }

    /// Two places exchange values.
    fn link(&mut self, a: Option<usize>, b: Option<usize>) {
        if let (Some(a), Some(b)) = (a, b) {
            (self.opaque[a], self.opaque[b]) = (true, true);
            self.unite(a, b);
        }
    }

    fn hint(&mut self, node: Option<usize>, hint: Hint<'p>) {
        if let Some(node) = node {
            self.hints[node].push(hint);
        }
    }

    fn mark_opaque(&mut self, node: Option<usize>) {
        if let Some(node) = node {
            self.opaque[node] = true;
        }
    }

    /// Unites what is equal by structure, and gathers what is known.
    fn finish(&mut self) {
        loop {
            let mut seen: HashMap<(usize, ValuePlace), usize> = HashMap::new();
            let mut united = false;
            for node in 0..self.places.len() {
                let Some((base, blank)) = part_of(&self.places[node]) else { continue };
                let key = (self.root(base), blank);
                let known = *seen.entry(key).or_insert(node);
                if self.root(known) != self.root(node) {
                    self.unite(known, node);
                    united = true;
                }
            }
            if !united {
                break;
            }
        }
        for node in 0..self.places.len() {
            let root = self.root(node);
            let ty = self.type_of(node);
            let class = self.classes.entry(root).or_default();
            class.used |= self.used[node];
            class.opaque |= self.opaque[node];
            class.hints.append(&mut self.hints[node].clone());
            class.members.push(node);
            if class.ty.is_none() {
                class.ty = ty.filter(|ty| *ty.required() != Type::Json);
            }
        }
        for node in 0..self.places.len() {
            if let Some((of, _)) = part_of(&self.places[node]) {
                let root = self.root(of);
                self.parts.entry(root).or_default().push(node);
            }
        }
    }

    /// The declared type of a node.
    pub fn type_of(&self, node: usize) -> Option<Type> {
        let program = self.program;
        Some(match &self.places[node] {
            ValuePlace::Param(tool, at) => program.tools[*tool].params[*at as usize].ty.clone(),
            ValuePlace::State(var) => program.state[*var].ty.clone(),
            ValuePlace::Field(record, at) => {
                program.records[*record].fields[*at as usize].ty.clone()
            }
            ValuePlace::Result(tool) => program.tools[*tool].returns.clone()?,
            ValuePlace::Probe(probe) => program.probes[*probe].returns.clone(),
            ValuePlace::Elem(of) => match self.type_of(*of)?.required() {
                Type::List(element, _) | Type::Set(element, _) | Type::Map(_, element, _) => {
                    (**element).clone()
                }
                _ => return None,
            },
            ValuePlace::Key(_)
            | ValuePlace::Domain(_)
            | ValuePlace::Local(_)
            | ValuePlace::Url(..) => Type::string(),
            ValuePlace::Length(_) => Type::int(),
            _ => return None,
        })
    }
}

/// Returns the parent of a place, and the place with its parent left out.
fn part_of(place: &ValuePlace) -> Option<(usize, ValuePlace)> {
    Some(match place {
        ValuePlace::Elem(base) => (*base, ValuePlace::Elem(0)),
        ValuePlace::Key(base) => (*base, ValuePlace::Key(0)),
        ValuePlace::Member(base, name) => (*base, ValuePlace::Member(0, name.clone())),
        ValuePlace::Url(base, kind) => (*base, ValuePlace::Url(0, *kind)),
        ValuePlace::Found(base, what) => (*base, ValuePlace::Found(0, what.clone())),
        ValuePlace::Length(base) => (*base, ValuePlace::Length(0)),
        ValuePlace::Domain(base) => (*base, ValuePlace::Domain(0)),
        ValuePlace::Local(base) => (*base, ValuePlace::Local(0)),
        _ => return None,
    })
}

/// Visits the elements of a collection, or the value itself.
pub(crate) fn each_element(value: &Value, visit: &mut dyn FnMut(&Value)) {
    match value {
        Value::List(items) => items.iter().for_each(visit),
        Value::Set(items) => items.iter().for_each(visit),
        Value::Map(entries) => entries.values().for_each(visit),
        other => visit(other),
    }
}

/// Returns true if an expression consists of literals alone.
pub(crate) fn is_constant(e: &Expr) -> bool {
    let leaf = matches!(
        &e.kind,
        K::None
            | K::Bool(_)
            | K::Int(_)
            | K::Decimal(_)
            | K::String(_)
            | K::Path(_)
            | K::Duration(_)
            | K::Time(_)
            | K::Enum(_)
            | K::Url(_)
            | K::Workspace
            | K::List(_)
            | K::Set(_)
            | K::Map(_)
            | K::Record(_)
            | K::Neg(_)
            | K::Arith(..)
            | K::Call(..)
    );
    leaf && e.children().into_iter().all(is_constant)
}

/// Returns true if an expression depends on the session alone and not on a call.
pub(crate) fn is_closed(e: &Expr) -> bool {
    !e.any(&mut |part| {
        matches!(
            part.kind,
            K::Param(_) | K::Local(_) | K::Result | K::Text | K::Probe(_) | K::Exists(_) | K::Error
        )
    })
}

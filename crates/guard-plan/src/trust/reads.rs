//! The walk over the expressions of a clause that collects what they read, as far as trust depends
//! on it.

use super::paths::{ELEMENT, Path};
use super::places::{EndorsedPlace, ReadPlace, ResultCall};
use super::{EndorsementNeed, Level, Reading};
use crate::builtin::Builtin;
use crate::plan::{Expr, Node, NodeId, Plan, Range, Tool, Trust, TypeDef, VarId};
use crate::typing::{element, required};

/// The reads of one clause, while its expressions are followed.
pub(super) struct Reads<'p> {
    plan: &'p Plan,
    tool: &'p Tool,
    bound: Vec<(u32, ReadPlace)>,
    pub endorsed: Vec<EndorsedPlace>,
    parts: bool,
    reading: Reading,
}

impl<'p> Reads<'p> {
    pub fn new(plan: &'p Plan, tool: &'p Tool) -> Reads<'p> {
        let bound = Vec::new();
        let endorsed = Vec::new();
        Reads { plan, tool, bound, endorsed, parts: false, reading: Reading::default() }
    }

    pub fn done(mut self) -> Reading {
        let read = &mut self.reading;
        // A variable without untrusted content counts like a literal.
        read.quiet = !self.parts && read.worst.is_none();
        self.reading
    }

    /// Binds the names of ranges, and returns the part that each of them ranges over; `None` if it
    /// is not a part.
    pub fn bind(&mut self, ranges: &[Range]) -> Vec<Option<ReadPlace>> {
        let mut places = Vec::with_capacity(ranges.len());
        for Range { over, binders } in ranges {
            let place = self.place(over, last(over));
            if let Some(place) = &place {
                let element = self.element(place.clone());
                let bound = |slot: &u32| {
                    let mut own = ReadPlace { picked: false, ..element.clone() };
                    own.within.push((*slot, own.path.len()));
                    (*slot, own)
                };
                self.bound.extend(binders.iter().map(bound));
            }
            places.push(place);
        }
        places
    }

    pub fn root(&mut self, expr: &Expr) {
        if !expr.0.is_empty() {
            self.visit(expr, last(expr));
        }
    }

    pub fn mark(&mut self, level: Level) {
        self.reading.worst = self.reading.worst.max(Some(level));
    }

    fn visit(&mut self, expr: &Expr, node: NodeId) {
        if let Some(place) = self.place(expr, node) {
            self.part(&place, None);
            return self.keys(expr, node);
        }
        let Some(found) = expr.0.get(node as usize) else { return };
        if let Node::Call(builtin, args) = found
            && let [text] = args[..]
            && let Some(place) = self.place(expr, text)
        {
            self.part(&place, Some(*builtin));
            return self.keys(expr, text);
        }
        match found {
            Node::Called { key: Some(_), .. } => {
                self.mark(Level::Chosen);
                self.children(expr, found);
            }
            Node::Param(_)
            | Node::LastArg(..)
            | Node::Spent(_)
            | Node::Remaining(_)
            | Node::Calls { .. } => {
                self.mark(Level::Chosen);
            }
            // The writer of a private text controls the answer.
            Node::MayRead(..) => {
                self.mark(Level::Untrusted);
                self.children(expr, found);
            }
            Node::State(var) => self.reading.vars.push(*var),
            Node::Temporal(monitor) => {
                let plan = self.plan;
                if let Some(monitor) = plan.monitors.get(*monitor as usize) {
                    self.root(&monitor.of);
                    monitor.trigger.iter().for_each(|trigger| self.root(trigger));
                }
            }
            _ => match variable(expr, node) {
                Some(var) => {
                    self.reading.vars.push(var);
                    self.keys(expr, node);
                }
                None => self.children(expr, found),
            },
        }
    }

    fn children(&mut self, expr: &Expr, node: &Node) {
        node.for_each_child(&mut |child| self.visit(expr, child));
    }

    /// Reads a part, or the strings that a function extracts from it.
    fn part(&mut self, place: &ReadPlace, by: Option<Builtin>) {
        let covering = self.covering(place, by);
        self.read(place.root, covering, |trust| trust.vouches_for(&place.path));
    }

    /// Reads the elements of a range of a lesson.
    pub fn range(&mut self, nth: usize, place: &ReadPlace) {
        // Elements for which no endorsement holds teach nothing.
        let binds = |need: &EndorsementNeed| {
            let own = |endorsed: &&EndorsedPlace| endorsed.need == *need;
            self.endorsed.iter().find(own).is_some_and(|endorsed| endorsed.ranges.contains(&nth))
        };
        if !self.reading.needs.iter().any(|needs| needs.iter().all(binds)) {
            let covering = self.covering(place, None);
            self.read(place.root, covering, |trust| trust.vouches_for_range(&place.path));
        }
    }

    /// Returns the endorsements that cover a part.
    fn covering(&self, place: &ReadPlace, by: Option<Builtin>) -> Vec<EndorsementNeed> {
        let covers = |endorsed: &&EndorsedPlace| endorsed.covers(&self.tool.trust, place, by);
        self.endorsed.iter().filter(covers).map(|endorsed| endorsed.need.clone()).collect()
    }

    fn read(
        &mut self,
        root: ResultCall,
        endorsed: Vec<EndorsementNeed>,
        vouches: impl Fn(&Trust) -> bool,
    ) {
        self.parts = true;
        let trust = match root {
            ResultCall::Result => Some(&self.tool.trust),
            ResultCall::Last(last) => self.plan.tools.get(last as usize).map(|tool| &tool.trust),
        };
        let is_trusted = trust.is_some_and(vouches);
        if !is_trusted && endorsed.is_empty() {
            return self.mark(Level::Untrusted);
        }
        self.reading.vouched |= root == ResultCall::Result;
        if !is_trusted && !self.reading.needs.contains(&endorsed) {
            self.reading.needs.push(endorsed);
        }
    }

    /// Reads the keys by which a part is reached.
    pub fn keys(&mut self, expr: &Expr, node: NodeId) {
        if let Some(Node::Index(_, key)) = expr.0.get(node as usize) {
            self.visit(expr, *key);
        }
        if let Some(base) = inner(expr, node) {
            self.keys(expr, base);
        }
    }

    /// Returns the part of a result that a node reads; `None` if it reads none.
    fn place(&self, expr: &Expr, node: NodeId) -> Option<ReadPlace> {
        let path = Path::new();
        let within = Vec::new();
        let picked = false;
        let whole = |root, ty| ReadPlace { root, path, ty, within, picked };
        match expr.0.get(node as usize)? {
            Node::Result => Some(whole(ResultCall::Result, self.tool.returns)),
            Node::LastResult(last) => {
                let returns = self.plan.tools.get(*last as usize)?.returns;
                Some(whole(ResultCall::Last(*last), returns))
            }
            Node::Local(slot) => {
                self.bound.iter().find(|(bound, _)| bound == slot).map(|(_, place)| place.clone())
            }
            Node::Member(object, name) => {
                let mut place = self.place(expr, *object)?;
                place.path.push(name.clone());
                Some(ReadPlace { ty: None, ..place })
            }
            Node::Field(record, at) => {
                let mut place = self.place(expr, *record)?;
                match required(self.plan, place.ty?)? {
                    TypeDef::Record { fields, .. } => {
                        let field = fields.get(*at as usize)?;
                        place.path.push(field.name.clone());
                        Some(ReadPlace { ty: Some(field.ty), ..place })
                    }
                    _ => None,
                }
            }
            Node::Index(collection, _) => {
                let place = self.element(self.place(expr, *collection)?);
                Some(ReadPlace { picked: true, ..place })
            }
            Node::Unwrap(operand) => self.place(expr, *operand),
            _ => None,
        }
    }

    /// Returns an element of a part.
    fn element(&self, mut place: ReadPlace) -> ReadPlace {
        let is_json = |ty| matches!(required(self.plan, ty), Some(TypeDef::Json));
        let json = place.ty.is_none_or(is_json);
        if json {
            place.path.push(ELEMENT.into());
        }
        place.ty = place.ty.filter(|_| !json).and_then(|ty| element(self.plan, ty));
        place
    }
}

/// Returns the operand of a member, field, index or unwrap: the node that contains this node.
fn inner(expr: &Expr, node: NodeId) -> Option<NodeId> {
    match expr.0.get(node as usize)? {
        Node::Member(object, _)
        | Node::Field(object, _)
        | Node::Index(object, _)
        | Node::Unwrap(object) => Some(*object),
        _ => None,
    }
}

/// Returns the variable in which a value is reached by an index.
fn variable(expr: &Expr, node: NodeId) -> Option<VarId> {
    let base = inner(expr, node)?;
    match (expr.0.get(node as usize)?, expr.0.get(base as usize)?) {
        (Node::Index(..), Node::State(var)) => Some(*var),
        _ => variable(expr, base),
    }
}

/// Returns the root of an expression.
pub(super) fn last(expr: &Expr) -> NodeId {
    NodeId::try_from(expr.0.len().saturating_sub(1)).unwrap_or_default()
}

//! Trust in a plan: the untrusted data that its expressions read.
//!
//! The compiler lets only trusted input teach facts. A kernel also tracks trust at run time
//! (semantics §8), so that neither a plan from elsewhere nor an error of the compiler can launder
//! untrusted data. This module determines what a clause reads. The session tracks what variables
//! contain.

use crate::builtin::Builtin;
use crate::plan::{
    Effect, Endorsement, Expr, Learn, Node, NodeId, Observe, Plan, Range, Tool, ToolId, Trust,
    TypeDef, TypeId, VarId,
};
use crate::typing::{element, required};
use serde::{Deserialize, Serialize};

/// A path into a result: member names, and [`ELEMENT`] for an element where only `json` is known.
type Path = Vec<String>;

/// The path step for an element of a value that may be a list or an object. No member has this
/// name.
pub const ELEMENT: &str = "[*]";

/// A level of distrust, in ascending order. Trusted content has no level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Level {
    /// The agent chose the content. A result that is read together with it vouches for it.
    Chosen,
    /// Nothing vouches for the content.
    Untrusted,
}

/// The least trusted content that a variable has held so far, in its values or its keys; `None` if
/// all of it was trusted.
pub type Stain = Option<Level>;

/// The reads of an expression or a clause, as far as they matter for trust.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// The least trusted content that is read, apart from variables.
    worst: Option<Level>,
    /// True if it reads a trusted part of the call's own result.
    vouched: bool,
    /// True if it reads nothing that has a trust level.
    quiet: bool,
    /// The variables that are read. The presence of an entry depends on the party that chose the
    /// keys.
    vars: Vec<VarId>,
    /// For each read that only endorsements vouch for: those endorsements. A row is taught if one
    /// of them holds.
    pub needs: Vec<Vec<EndorsementNeed>>,
}

/// An endorsement that a lesson may depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndorsementNeed {
    /// The position of the endorsement in its tool.
    pub endorsement: usize,
    /// The slots of the endorsement, each with the slot of the lesson that binds the same element.
    pub slots: Vec<(u32, u32)>,
}

impl Reading {
    /// Returns the level of distrust of the value, given the stains of the variables; `None` if the value is trusted.
    pub fn level(&self, stains: &[Stain]) -> Option<Level> {
        let of_var = |var: &VarId| stains.get(*var as usize).copied().flatten();
        self.vars.iter().map(of_var).fold(self.worst, Option::max)
    }

    /// Returns true if the `learn` clause may teach its facts. Nothing that it reads may be
    /// untrusted, and content that the agent chose needs a trusted part of the result beside it.
    pub fn may_teach(&self, tool: &Tool, stains: &[Stain]) -> bool {
        match self.level(stains) {
            Some(Level::Untrusted) => false,
            Some(Level::Chosen) => self.vouched,
            None => tool.trust.whole || !self.quiet,
        }
    }
}

/// Returns the reads of an effect: its value, the keys of its target, and its ranges and condition.
/// A value that depends on the earlier state counts as the agent's choice, because the agent
/// chooses how often and when the effect is applied.
pub fn of_effect(plan: &Plan, tool: &Tool, effect: &Effect) -> Reading {
    let mut reads = Reads::new(plan, tool);
    reads.bind(&effect.ranges);
    effect.exprs().for_each(|expr| reads.root(expr));
    let over = effect.ranges.iter().map(|range| &range.over);
    let mut decides = over.chain(&effect.when).chain(&effect.value);
    if effect.op.accumulates() || decides.any(reads_state) {
        reads.mark(Level::Chosen);
    }
    reads.done()
}

/// Returns the reads of an observation, as [`of_effect`] does.
pub fn of_observation(plan: &Plan, tool: &Tool, observe: &Observe) -> Reading {
    let mut reads = Reads::new(plan, tool);
    observe.target.keys().chain([&observe.value]).for_each(|expr| reads.root(expr));
    if reads_state(&observe.value) {
        reads.mark(Level::Chosen);
    }
    reads.done()
}

/// Returns true if an expression reads the state. A temporal operator reads earlier states.
fn reads_state(expr: &Expr) -> bool {
    expr.0.iter().any(|node| matches!(node, Node::State(_) | Node::Temporal(_)))
}

/// Returns the reads of a `learn` clause.
pub fn of_learn(plan: &Plan, tool: &Tool, learn: &Learn) -> Reading {
    let mut reads = Reads::new(plan, tool);
    let places = reads.bind(&learn.ranges);
    reads.endorsed = endorsed(tool, learn, &places);
    learn.when.iter().chain(&learn.row).for_each(|expr| reads.root(expr));
    for (range, place) in learn.ranges.iter().zip(&places) {
        match place {
            Some(_) => reads.keys(&range.over, last(&range.over)),
            None => reads.root(&range.over),
        }
    }
    // The number of elements matters, whatever is read of them.
    let places = places.iter().enumerate();
    places.for_each(|(nth, place)| place.iter().for_each(|place| reads.range(nth, place)));
    reads.done()
}

/// Returns the reads of the condition of an endorsement. The condition decides about parts, so none
/// of the parts that it reads may be untrusted.
pub fn of_endorsement(plan: &Plan, tool: &Tool, endorsement: &Endorsement) -> Reading {
    let mut reads = Reads::new(plan, tool);
    reads.bind(&endorsement.part.ranges);
    endorsement.when.iter().for_each(|expr| reads.root(expr));
    reads.done()
}

/// The call to whose result a part belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResultCall {
    /// The call itself.
    Result,
    /// The last successful call of a tool.
    Last(ToolId),
}

/// A part of a result.
#[derive(Debug, Clone)]
struct ReadPlace {
    root: ResultCall,
    path: Path,
    /// The type of the part, if one is declared.
    ty: Option<TypeId>,
    /// The elements that contain the part, from the outermost: the slot of each, and the length of
    /// the path to it.
    within: Vec<(u32, usize)>,
    /// True if an index selects the part from a list or map.
    picked: bool,
}

impl ReadPlace {
    /// Returns the slot of the innermost element that contains the part.
    fn base(&self) -> Option<u32> {
        self.within.last().map(|(slot, _)| *slot)
    }

    /// Returns the members on the path from an element, or from the result; `None` if the part is
    /// not in that element.
    fn members_from(&self, base: Option<u32>) -> Option<impl Iterator<Item = &String>> {
        let from = match base {
            None => 0,
            Some(base) => self.within.iter().find(|(slot, _)| *slot == base)?.1,
        };
        Some(members(&self.path[from..]))
    }
}

/// Returns the members on a path. Lists on the path are not counted.
fn members(path: &[String]) -> impl Iterator<Item = &String> {
    path.iter().filter(|step| *step != ELEMENT)
}

/// An endorsed part, as a lesson reaches it.
struct EndorsedPlace {
    /// The slot of its element; `None` if it is a part of the whole result.
    base: Option<u32>,
    /// The members on the path from there.
    members: Path,
    extractor: Option<Builtin>,
    /// The number of members on the path from the result.
    depth: usize,
    /// The ranges of the lesson that bind its elements.
    ranges: Vec<usize>,
    need: EndorsementNeed,
}

impl EndorsedPlace {
    /// Returns true if the endorsement vouches for a part, or for the strings that a function
    /// extracts from it.
    fn covers(&self, trust: &Trust, place: &ReadPlace, by: Option<Builtin>) -> bool {
        place.root == ResultCall::Result
            && !trust.denies_within(self.depth, &place.path)
            && self.extractor.is_none_or(|extractor| Some(extractor) == by)
            && place.members_from(self.base).is_some_and(|mut members| {
                self.members.iter().all(|own| members.next() == Some(own))
            })
    }
}

/// Returns the endorsements of a tool whose elements the lesson also binds.
fn endorsed(tool: &Tool, learn: &Learn, places: &[Option<ReadPlace>]) -> Vec<EndorsedPlace> {
    let reached = |(at, endorsement): (usize, &Endorsement)| {
        let (lists, rest) = endorsement.part.steps();
        let mut base = None;
        let mut ranges = Vec::new();
        let mut slots = Vec::new();
        for (own, list) in endorsement.part.ranges.iter().zip(lists) {
            let binds = |place: &ReadPlace| {
                place.root == ResultCall::Result
                    && !place.picked
                    && place.base() == base
                    && place.members_from(base).is_some_and(|own| own.eq(members(list)))
            };
            let nth = places.iter().position(|place| place.as_ref().is_some_and(binds))?;
            let theirs = &learn.ranges[nth].binders;
            // The element is the last name, and the name before it is its index.
            if own.binders.len() > theirs.len() {
                return None;
            }
            slots.extend(own.binders.iter().rev().copied().zip(theirs.iter().rev().copied()));
            base = theirs.last().copied();
            ranges.push(nth);
        }
        let members = members(rest).cloned().collect();
        let extractor = endorsement.extractor;
        let depth = self::members(&endorsement.part.path).count();
        let need = EndorsementNeed { endorsement: at, slots };
        Some(EndorsedPlace { base, members, extractor, depth, ranges, need })
    };
    tool.endorsements.iter().enumerate().filter_map(reached).collect()
}

struct Reads<'p> {
    plan: &'p Plan,
    tool: &'p Tool,
    bound: Vec<(u32, ReadPlace)>,
    endorsed: Vec<EndorsedPlace>,
    parts: bool,
    reading: Reading,
}

impl<'p> Reads<'p> {
    fn new(plan: &'p Plan, tool: &'p Tool) -> Reads<'p> {
        let bound = Vec::new();
        let endorsed = Vec::new();
        Reads { plan, tool, bound, endorsed, parts: false, reading: Reading::default() }
    }

    fn done(mut self) -> Reading {
        let read = &mut self.reading;
        // A variable without untrusted content counts like a literal.
        read.quiet = !self.parts && read.worst.is_none();
        self.reading
    }

    /// Binds the names of ranges, and returns the part that each of them ranges over; `None` if it
    /// is not a part.
    fn bind(&mut self, ranges: &[Range]) -> Vec<Option<ReadPlace>> {
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

    fn root(&mut self, expr: &Expr) {
        if !expr.0.is_empty() {
            self.visit(expr, last(expr));
        }
    }

    fn mark(&mut self, level: Level) {
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
    fn range(&mut self, nth: usize, place: &ReadPlace) {
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
    fn keys(&mut self, expr: &Expr, node: NodeId) {
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

/// Returns the root of an expression.
fn last(expr: &Expr) -> NodeId {
    NodeId::try_from(expr.0.len().saturating_sub(1)).unwrap_or_default()
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

impl Trust {
    /// Returns true if everything at and below a path is trusted, for all elements ([`ELEMENT`]) on
    /// the path.
    pub fn vouches_for(&self, path: &[String]) -> bool {
        let members: Path = path.iter().filter(|step| *step != ELEMENT).cloned().collect();
        let around = self.parts.iter().filter(|(part, _)| members.starts_with(part));
        let nearest = around.max_by_key(|(part, _)| part.len());
        let other = |part: &Path| !members.starts_with(part) && meets(part, path);
        nearest.map_or(self.whole, |(_, trusted)| *trusted)
            && self.parts.iter().all(|(part, trusted)| *trusted || !other(part))
    }

    /// Returns true if something at or below a path is untrusted by a rule of more than `depth`
    /// members. The longest path decides.
    pub fn denies_within(&self, depth: usize, path: &[String]) -> bool {
        let denies =
            |(part, trusted): &(Path, bool)| !trusted && part.len() > depth && meets(part, path);
        self.parts.iter().any(denies)
    }

    /// Returns true if the set of elements at a path is trusted. The content of the elements may be
    /// untrusted.
    pub fn vouches_for_range(&self, path: &[String]) -> bool {
        // An element may be any member.
        if path.iter().any(|step| step == ELEMENT) {
            return self.vouches_for(path);
        }
        let around = self.parts.iter().filter(|(part, _)| path.starts_with(part));
        around.max_by_key(|(part, _)| part.len()).map_or(self.whole, |(_, trusted)| *trusted)
    }
}

/// Returns true if one path may lie within the other. An element stands for a member of an object
/// or an element of a list.
fn meets(part: &[String], path: &[String]) -> bool {
    match (part, path) {
        ([], _) | (_, []) => true,
        ([_, inner @ ..], [step, rest @ ..]) if step == ELEMENT => {
            meets(inner, rest) || meets(part, rest)
        }
        ([first, inner @ ..], [step, rest @ ..]) => first == step && meets(inner, rest),
    }
}

//! Trust in a plan: what its expressions read that nobody vouches for.
//!
//! The compiler lets nothing teach that is not trusted. A kernel follows trust at run time as well (semantics
//! §8), so that a plan from elsewhere, or an error of the compiler, launders nothing. This says what a
//! clause reads; what variables hold is the session's.

use crate::plan::{
    EffectOp, Expr, Learn, Node, NodeId, Plan, Step, Target, Tool, ToolId, Trust, TypeDef, TypeId,
    VarId,
};
use crate::typing::{element, required};
use serde::{Deserialize, Serialize};

/// The way down into a result, by member, and by element where only `json` is known.
type Path = Vec<String>;

/// An element of something that may be a list or an object; no member has this name.
pub const ELEMENT: &str = "[*]";

/// A level of distrust, in ascending order. Trusted content has no level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Level {
    /// The agent chose it; a result that is read beside it vouches for it.
    Chosen,
    /// Nobody vouches for it.
    Untrusted,
}

/// The least trusted content that a variable has held so far, in its values or its keys; `None`: all was trusted.
pub type Stain = Option<Level>;

/// The reads of an expression or a clause, as far as trust depends on them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// The worst of what it reads beside variables.
    worst: Option<Level>,
    /// It reads a trusted part of the call's own result.
    vouched: bool,
    /// It reads nothing that trust is about.
    quiet: bool,
    /// The variables it reads: an entry is there, or not, by whoever chose the keys.
    vars: Vec<VarId>,
}

impl Reading {
    /// Returns the level of distrust of the value, given the stains of the variables; `None` if the value is trusted.
    pub fn level(&self, stains: &[Stain]) -> Option<Level> {
        let of_var = |var: &VarId| stains.get(*var as usize).copied().flatten();
        self.vars.iter().map(of_var).fold(self.worst, Option::max)
    }

    /// Returns true if the `learn` clause may teach its facts. Nothing that it reads may be untrusted, and what the
    /// agent chose must stand beside a trusted part of the result.
    pub fn may_teach(&self, tool: &Tool, stains: &[Stain]) -> bool {
        match self.level(stains) {
            Some(Level::Untrusted) => false,
            Some(Level::Chosen) => self.vouched,
            None => tool.trust.whole || !self.quiet,
        }
    }
}

/// Reads what an effect (`op`) or an observation writes: its value and the keys of its target. Whatever it makes of the
/// state before it is the agent's choice: the agent chooses how often, and when.
pub fn of_written(
    plan: &Plan,
    tool: &Tool,
    op: Option<EffectOp>,
    target: &Target,
    value: Option<&Expr>,
) -> Reading {
    let mut reads = Reads::new(plan, tool);
    value.into_iter().for_each(|value| reads.root(value));
    // A temporal operator reads the state as it was.
    let is_state = |node: &Node| matches!(node, Node::State(_) | Node::Temporal(_));
    let reads_state = |value: &Expr| value.0.iter().any(is_state);
    if op.is_some_and(EffectOp::accumulates) || value.is_some_and(reads_state) {
        reads.mark(Level::Chosen);
    }
    for step in &target.path {
        if let Step::Index(key) = step {
            reads.root(key);
        }
    }
    reads.done()
}

/// Returns the reads of a `learn` clause.
pub fn of_learn(plan: &Plan, tool: &Tool, learn: &Learn) -> Reading {
    let mut reads = Reads::new(plan, tool);
    for crate::plan::Range { over, binders } in &learn.ranges {
        let root = NodeId::try_from(over.0.len().saturating_sub(1)).unwrap_or_default();
        match reads.place(over, root) {
            Some(place) => {
                // How many elements there are counts, whatever is read of them.
                reads.range(place.0, &place.1);
                reads.keys(over, root);
                let element = reads.element(place);
                reads.bound.extend(binders.iter().map(|slot| (*slot, element.clone())));
            }
            None => reads.root(over),
        }
    }
    learn.when.iter().chain(&learn.row).for_each(|expr| reads.root(expr));
    reads.done()
}

/// The call whose result a part belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Root {
    /// The call's own.
    Result,
    /// The last success of a tool.
    Last(ToolId),
}

/// A part of a result, and its type where one is declared.
type Place = (Root, Path, Option<TypeId>);

struct Reads<'p> {
    plan: &'p Plan,
    tool: &'p Tool,
    bound: Vec<(u32, Place)>,
    parts: bool,
    reading: Reading,
}

impl<'p> Reads<'p> {
    fn new(plan: &'p Plan, tool: &'p Tool) -> Reads<'p> {
        Reads { plan, tool, bound: Vec::new(), parts: false, reading: Reading::default() }
    }

    fn done(mut self) -> Reading {
        let read = &mut self.reading;
        // A variable that holds nothing to distrust says as little as a literal.
        read.quiet = !self.parts && read.worst.is_none();
        self.reading
    }

    fn root(&mut self, expr: &Expr) {
        if let Some(last) = expr.0.len().checked_sub(1) {
            self.visit(expr, NodeId::try_from(last).unwrap_or_default());
        }
    }

    fn mark(&mut self, level: Level) {
        self.reading.worst = self.reading.worst.max(Some(level));
    }

    fn visit(&mut self, expr: &Expr, node: NodeId) {
        if let Some((root, path, _)) = self.place(expr, node) {
            self.part(root, &path);
            return self.keys(expr, node);
        }
        let Some(found) = expr.0.get(node as usize) else { return };
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
            // Whoever writes a private text chooses the answer.
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

    fn part(&mut self, root: Root, path: &[String]) {
        self.read(root, |trust| trust.vouches_for(path));
    }

    fn range(&mut self, root: Root, path: &[String]) {
        self.read(root, |trust| trust.vouches_for_range(path));
    }

    fn read(&mut self, root: Root, vouches: impl Fn(&Trust) -> bool) {
        self.parts = true;
        let trust = match root {
            Root::Result => Some(&self.tool.trust),
            Root::Last(last) => self.plan.tools.get(last as usize).map(|tool| &tool.trust),
        };
        match trust.is_some_and(vouches) {
            true => self.reading.vouched |= root == Root::Result,
            false => self.mark(Level::Untrusted),
        }
    }

    /// The keys by which a part is reached are read, too.
    fn keys(&mut self, expr: &Expr, node: NodeId) {
        if let Some(Node::Index(_, key)) = expr.0.get(node as usize) {
            self.visit(expr, *key);
        }
        if let Some(of) = inner(expr, node) {
            self.keys(expr, of);
        }
    }

    /// Returns the part of a result that a node reads; `None` if it reads none.
    fn place(&self, expr: &Expr, node: NodeId) -> Option<Place> {
        match expr.0.get(node as usize)? {
            Node::Result => Some((Root::Result, Path::new(), self.tool.returns)),
            Node::LastResult(last) => {
                let returns = self.plan.tools.get(*last as usize)?.returns;
                Some((Root::Last(*last), Path::new(), returns))
            }
            Node::Local(slot) => {
                self.bound.iter().find(|(bound, _)| bound == slot).map(|(_, place)| place.clone())
            }
            Node::Member(of, name) => {
                let (root, mut path, _) = self.place(expr, *of)?;
                path.push(name.clone());
                Some((root, path, None))
            }
            Node::Field(of, at) => {
                let (root, mut path, ty) = self.place(expr, *of)?;
                match required(self.plan, ty?)? {
                    TypeDef::Record { fields, .. } => {
                        let field = fields.get(*at as usize)?;
                        path.push(field.name.clone());
                        Some((root, path, Some(field.ty)))
                    }
                    _ => None,
                }
            }
            Node::Index(of, _) => Some(self.element(self.place(expr, *of)?)),
            Node::Unwrap(of) => self.place(expr, *of),
            _ => None,
        }
    }

    /// An element of a part.
    fn element(&self, (root, mut path, ty): Place) -> Place {
        let json = ty.is_none_or(|ty| matches!(required(self.plan, ty), Some(TypeDef::Json)));
        if json {
            path.push(ELEMENT.into());
        }
        (root, path, ty.filter(|_| !json).and_then(|ty| element(self.plan, ty)))
    }
}

/// Returns the node that a node is a part of: its operand, for a member, field, index or unwrap.
fn inner(expr: &Expr, node: NodeId) -> Option<NodeId> {
    match expr.0.get(node as usize)? {
        Node::Member(of, _) | Node::Field(of, _) | Node::Index(of, _) | Node::Unwrap(of) => {
            Some(*of)
        }
        _ => None,
    }
}

/// The variable that a value is reached in by an index.
fn variable(expr: &Expr, node: NodeId) -> Option<VarId> {
    let of = inner(expr, node)?;
    match (expr.0.get(node as usize)?, expr.0.get(of as usize)?) {
        (Node::Index(..), Node::State(var)) => Some(*var),
        _ => variable(expr, of),
    }
}

impl Trust {
    /// True if everything at and below a path is trusted, whatever the elements ([`ELEMENT`]) on the way are.
    pub fn vouches_for(&self, path: &[String]) -> bool {
        let members: Path = path.iter().filter(|step| *step != ELEMENT).cloned().collect();
        let around = self.parts.iter().filter(|(part, _)| members.starts_with(part));
        let nearest = around.max_by_key(|(part, _)| part.len());
        let other = |part: &Path| !members.starts_with(part) && meets(part, path);
        nearest.map_or(self.whole, |(_, trusted)| *trusted)
            && self.parts.iter().all(|(part, trusted)| *trusted || !other(part))
    }

    /// True if it is trusted which elements there are at a path; what lies in them may be untrusted.
    pub fn vouches_for_range(&self, path: &[String]) -> bool {
        // An element may be any member.
        if path.iter().any(|step| step == ELEMENT) {
            return self.vouches_for(path);
        }
        let around = self.parts.iter().filter(|(part, _)| path.starts_with(part));
        around.max_by_key(|(part, _)| part.len()).map_or(self.whole, |(_, trusted)| *trusted)
    }
}

/// True if one may lie within the other: an element is a member of an object as well as one of a list.
fn meets(part: &[String], path: &[String]) -> bool {
    match (part, path) {
        ([], _) | (_, []) => true,
        ([_, inner @ ..], [step, rest @ ..]) if step == ELEMENT => {
            meets(inner, rest) || meets(part, rest)
        }
        ([first, inner @ ..], [step, rest @ ..]) => first == step && meets(inner, rest),
    }
}

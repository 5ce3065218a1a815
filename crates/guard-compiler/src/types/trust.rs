//! Trust: whose word a result is, part by part, and that only what is trusted teaches.
//!
//! Trust is a flow through the whole program: what a `learn` reads is trusted if everything it is made of is.
//! Variables carry what was written into them, history what was called, and arguments are the agent's own words.

use super::Checker;
use crate::errors;
use crate::hir::{self, Expr, ExprKind, Trust, Type};
use guard_syntax::ast::{self, ClauseKind};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;
use std::collections::{HashMap, HashSet};

/// The way down into a result, by member, and by element where only `json` is known.
type Path = Vec<String>;

/// An element of something that may be a list or an object; no member has this name.
const ELEMENT: &str = "[*]";

impl Checker<'_, '_> {
    /// What the clauses of a tool say of its result: untrusted where they say nothing.
    pub(super) fn trust(&mut self, clauses: &[ast::Clause]) -> Trust {
        let mut said: HashMap<Path, Span> = HashMap::new();
        let mut trust = Trust { whole: false, parts: Vec::new() };
        for clause in clauses {
            let (path, trusted) = match &clause.kind {
                ClauseKind::Trusted(path) => (path, true),
                ClauseKind::Untrusted(path) => (path, false),
                _ => continue,
            };
            let path: Path = path.iter().map(|name| name.node.clone()).collect();
            if let Some(first) = said.insert(path.clone(), clause.span.0) {
                let what = "whether the result is trusted";
                self.report(errors::said_twice(what, clause.span.0, first));
            } else if path.is_empty() {
                trust.whole = trusted;
            } else {
                trust.parts.push((path, trusted));
            }
        }
        trust.parts.sort();
        trust
    }

    /// Reports every `learn` that reads something nobody vouches for, wherever it has been in between.
    pub(super) fn trust_flow(&mut self) {
        let flow = Flow::of(&self.program);
        let mut found: Vec<Diagnostic> = Vec::new();
        for (at, tool) in self.program.tools.iter().enumerate() {
            for clause in &tool.clauses {
                let hir::ClauseKind::Learn(learn) = &clause.kind else { continue };
                if let Some(cause) = flow.doubt(at, learn) {
                    found.push(self.untrusted(at, clause.rule.span, cause));
                }
            }
        }
        // A clause of a policy is found for each of its tools.
        let mut said = HashSet::new();
        for diagnostic in found {
            if said.insert((diagnostic.primary.span, diagnostic.message.clone())) {
                self.report(diagnostic);
            }
        }
    }

    fn untrusted(&self, at: hir::ToolId, span: Span, cause: Cause) -> Diagnostic {
        let tool = &self.program.tools[at];
        match cause {
            Cause::Result => {
                let partly = tool.trust.whole || !tool.trust.parts.is_empty();
                errors::untrusted_learn(span, &tool.name, tool.span, partly)
            }
            Cause::State(var, writer) => {
                let name = &self.program.state[var].name;
                errors::learn_of_untrusted(span, &format!("the variable `{name}`"), writer)
            }
            Cause::LastResult(last) => {
                let last = &self.program.tools[last];
                let what = format!("the result of the last `{}`", last.name);
                errors::learn_of_untrusted(span, &what, last.span)
            }
            Cause::LastArgument(last) => {
                let last = &self.program.tools[last];
                errors::learn_of_argument(span, &format!("the last `{}`", last.name))
            }
            Cause::Argument => errors::learn_of_argument(span, &format!("`{}`", tool.name)),
        }
    }
}

/// Why something is not trusted.
#[derive(Debug, Clone, Copy)]
enum Cause {
    /// A part of the tool's own result.
    Result,
    /// A variable, with the clause that writes what is not trusted.
    State(hir::VarId, Span),
    LastResult(hir::ToolId),
    LastArgument(hir::ToolId),
    /// An argument of the call itself: the agent chooses it.
    Argument,
}

/// What is written into variables, followed through the whole program.
struct Flow<'p> {
    program: &'p hir::Program,
    /// For each variable a clause that writes a value nobody vouches for.
    values: Vec<Option<Span>>,
    /// The same for its keys.
    keys: Vec<Option<Span>>,
}

impl<'p> Flow<'p> {
    fn of(program: &'p hir::Program) -> Flow<'p> {
        let none = vec![None; program.state.len()];
        let mut flow = Flow { program, values: none.clone(), keys: none };
        // Each round follows one more variable on the way.
        for _ in 0..=program.state.len() {
            if !flow.spread() {
                break;
            }
        }
        flow
    }

    /// Marks what clauses write; false where nothing new was found.
    fn spread(&mut self) -> bool {
        let mut changed = false;
        for (at, tool) in self.program.tools.iter().enumerate() {
            for clause in tool.clauses.iter().filter(|clause| !clause.rule.shadow) {
                let (target, value) = match &clause.kind {
                    hir::ClauseKind::Effect { target, value: Some(value), .. } => (target, value),
                    hir::ClauseKind::Observe { target, value, .. } => (target, value),
                    _ => continue,
                };
                let doubtful = |e: &Expr| self.reads(at, [e]).first_cause(true).is_some();
                let keys = target.path.iter().any(|step| match step {
                    hir::Step::Index(key) => doubtful(key),
                    hir::Step::Field(_) => false,
                });
                let value = doubtful(value);
                for (marked, place) in [(value, &mut self.values), (keys, &mut self.keys)] {
                    if marked && place[target.var].is_none() {
                        place[target.var] = Some(clause.rule.span);
                        changed = true;
                    }
                }
            }
        }
        changed
    }

    fn reads<'e>(&self, at: hir::ToolId, exprs: impl IntoIterator<Item = &'e Expr>) -> Reads<'_> {
        let mut reads = Reads { flow: self, at, bound: HashMap::new(), paths: Vec::new(), causes: Vec::new() };
        exprs.into_iter().for_each(|e| reads.visit(e));
        reads
    }

    /// Why a lesson may teach what nobody vouches for; none where it does not.
    fn doubt(&self, at: hir::ToolId, learn: &hir::Learn) -> Option<Cause> {
        let mut reads = self.reads(at, []);
        if let Some(over) = &learn.over {
            match reads.path(over) {
                Some((of, mut path)) => {
                    path.extend(element(over));
                    for slot in &learn.binders {
                        reads.bound.insert(*slot, (of, path.clone()));
                    }
                }
                None => reads.visit(over),
            }
        }
        learn.when.iter().chain(&learn.row).for_each(|e| reads.visit(e));
        // The tool's result vouches for arguments beside it. Alone they are the agent's own words.
        let vouched = reads.paths.iter().any(|(of, _)| *of == Root::Result);
        let quiet = reads.paths.is_empty() && reads.causes.is_empty();
        if quiet && !self.program.tools[at].trust.whole {
            return Some(Cause::Result);
        }
        reads.first_cause(!vouched)
    }
}

/// Whether everything at and below a path is trusted, whatever the elements on the way are.
fn trusts(trust: &Trust, path: &[String]) -> bool {
    let members: Path = path.iter().filter(|step| *step != ELEMENT).cloned().collect();
    let around = trust.parts.iter().filter(|(part, _)| members.starts_with(part));
    let nearest = around.max_by_key(|(part, _)| part.len());
    let other = |part: &Path| !members.starts_with(part) && meets(part, path);
    nearest.map_or(trust.whole, |(_, trusted)| *trusted)
        && trust.parts.iter().all(|(part, trusted)| *trusted || !other(part))
}

/// Whether one may lie within the other: an element is a member of an object as well as one of a list.
fn meets(part: &[String], path: &[String]) -> bool {
    match (part, path) {
        ([], _) | (_, []) => true,
        ([_, inner @ ..], [step, rest @ ..]) if step == ELEMENT => {
            meets(inner, rest) || meets(part, rest)
        }
        ([first, inner @ ..], [step, rest @ ..]) => first == step && meets(inner, rest),
    }
}

/// Whose result a part belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Root {
    /// The call's own.
    Result,
    /// The last success of a tool.
    Last(hir::ToolId),
}

/// What expressions read.
struct Reads<'f> {
    flow: &'f Flow<'f>,
    /// The tool whose clause it is.
    at: hir::ToolId,
    /// Bound variables that stand for elements of a part.
    bound: HashMap<u32, (Root, Path)>,
    /// The parts of results.
    paths: Vec<(Root, Path)>,
    /// What else is not trusted.
    causes: Vec<Cause>,
}

impl Reads<'_> {
    /// The first thing that is not trusted; arguments of the call itself only if `arguments`.
    fn first_cause(&self, arguments: bool) -> Option<Cause> {
        let tools = &self.flow.program.tools;
        let of_path = self.paths.iter().find_map(|(root, path)| match root {
            Root::Result => (!trusts(&tools[self.at].trust, path)).then_some(Cause::Result),
            Root::Last(last) => {
                (!trusts(&tools[*last].trust, path)).then_some(Cause::LastResult(*last))
            }
        });
        let mut causes = self.causes.iter().copied();
        of_path.or_else(|| causes.find(|cause| arguments || !matches!(cause, Cause::Argument)))
    }

    fn visit(&mut self, e: &Expr) {
        if let Some(path) = self.path(e) {
            self.paths.push(path);
            return self.keys(e);
        }
        match &e.kind {
            ExprKind::Param(_) => self.causes.push(Cause::Argument),
            ExprKind::LastArg(last, _) => self.causes.push(Cause::LastArgument(*last)),
            ExprKind::State(var) => self.variable(*var, true),
            _ => match variable(e) {
                Some(var) => {
                    self.variable(var, false);
                    self.keys(e);
                }
                None => e.children().into_iter().for_each(|child| self.visit(child)),
            },
        }
    }

    /// Reads a variable: as a whole, with its keys, or values of it.
    fn variable(&mut self, var: hir::VarId, whole: bool) {
        let keys = self.flow.keys[var].filter(|_| whole);
        self.causes.extend(self.flow.values[var].or(keys).map(|span| Cause::State(var, span)));
    }

    /// The keys by which a part is reached are read, too.
    fn keys(&mut self, e: &Expr) {
        if let ExprKind::Index(_, key) = &e.kind {
            self.visit(key);
        }
        if let Some(of) = inner(e) {
            self.keys(of);
        }
    }

    /// Which part of a result this is, if it is one.
    fn path(&self, e: &Expr) -> Option<(Root, Path)> {
        match &e.kind {
            ExprKind::Result => Some((Root::Result, Path::new())),
            ExprKind::LastResult(last) => Some((Root::Last(*last), Path::new())),
            ExprKind::Local(slot) => self.bound.get(slot).cloned(),
            _ => {
                let of = inner(e)?;
                let (root, mut path) = self.path(of)?;
                path.extend(self.step(e, of));
                Some((root, path))
            }
        }
    }

    fn step(&self, e: &Expr, of: &Expr) -> Option<String> {
        match (&e.kind, of.ty.required()) {
            (ExprKind::Member(_, name), _) => Some(name.clone()),
            (ExprKind::Field(_, at), Type::Record(id)) => {
                let field = self.flow.program.records[*id].fields.get(*at as usize)?;
                Some(field.name.clone())
            }
            (ExprKind::Index(..), _) => element(of),
            _ => None,
        }
    }
}

/// The variable that a value is reached in by an index.
fn variable(e: &Expr) -> Option<hir::VarId> {
    let of = inner(e)?;
    match (&e.kind, &of.kind) {
        (ExprKind::Index(..), ExprKind::State(var)) => Some(*var),
        _ => variable(of),
    }
}

/// The step to an element of something.
fn element(of: &Expr) -> Option<String> {
    (*of.ty.required() == Type::Json).then(|| ELEMENT.to_owned())
}

/// What an expression is a part of.
fn inner(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::Member(of, _)
        | ExprKind::Field(of, _)
        | ExprKind::Index(of, _)
        | ExprKind::Unwrap(of, _) => Some(of),
        _ => None,
    }
}

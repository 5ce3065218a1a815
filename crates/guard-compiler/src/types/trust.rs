//! Trust: whose word a result is, part by part, and that only what is trusted teaches.

use super::Checker;
use crate::errors;
use crate::hir::{self, Expr, ExprKind, Trust, Type};
use guard_syntax::ast::{self, ClauseKind};
use guard_syntax::span::Span;
use std::collections::HashMap;

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

    /// Reports what a `learn` reads of a result that nobody vouches for.
    pub(super) fn only_trusted(&mut self, at: hir::ToolId, learn: &hir::Learn, span: Span) {
        let mut reads = Reads { program: &self.program, bound: HashMap::new(), paths: Vec::new() };
        if let Some(over) = &learn.over {
            match reads.path(over) {
                Some(mut path) => {
                    path.extend(element(over));
                    for slot in &learn.binders {
                        reads.bound.insert(*slot, path.clone());
                    }
                }
                None => reads.visit(over),
            }
        }
        learn.when.iter().chain(&learn.row).for_each(|e| reads.visit(e));
        let trust = &self.signatures[at].trust;
        if reads.paths.is_empty() {
            // The agent chooses the arguments: only a tool that is trusted altogether vouches for them.
            reads.paths.push(Path::new());
        }
        if reads.paths.iter().all(|path| trusts(trust, path)) {
            return;
        }
        let signature = &self.signatures[at];
        let partly = trust.whole || !trust.parts.is_empty();
        let d = errors::untrusted_learn(span, &signature.name, signature.span, partly);
        self.report(d);
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

/// What expressions read of a result.
struct Reads<'p> {
    program: &'p hir::Program,
    /// Bound variables that stand for elements of a part.
    bound: HashMap<u32, Path>,
    paths: Vec<Path>,
}

impl Reads<'_> {
    fn visit(&mut self, e: &Expr) {
        match self.path(e) {
            Some(path) => {
                self.paths.push(path);
                self.keys(e);
            }
            None => e.children().into_iter().for_each(|child| self.visit(child)),
        }
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

    /// Which part of the result this is, if it is one.
    fn path(&self, e: &Expr) -> Option<Path> {
        match &e.kind {
            ExprKind::Result => Some(Path::new()),
            ExprKind::Local(slot) => self.bound.get(slot).cloned(),
            _ => {
                let of = inner(e)?;
                let mut path = self.path(of)?;
                path.extend(self.step(e, of));
                Some(path)
            }
        }
    }

    fn step(&self, e: &Expr, of: &Expr) -> Option<String> {
        match (&e.kind, of.ty.required()) {
            (ExprKind::Member(_, name), _) => Some(name.clone()),
            (ExprKind::Field(_, at), Type::Record(id)) => {
                let field = self.program.records[*id].fields.get(*at as usize)?;
                Some(field.name.clone())
            }
            (ExprKind::Index(..), _) => element(of),
            _ => None,
        }
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

//! The reads of expressions: the parts of results that they read, and everything else that they
//! depend on.

use super::parts::{Endorsed, PartRoot, Reliance, TrustedPart};
use super::{Cause, Flow, MemberPath};
use crate::hir::{self, Expr, ExprKind, Type};
use guard_plan::builtin::Builtin;
use guard_plan::trust::ELEMENT;
use std::collections::HashMap;

/// The reads of expressions.
pub(super) struct TrustReads<'f> {
    pub flow: &'f Flow<'f>,
    /// The tool whose clause contains the expression.
    pub at: hir::ToolId,
    /// The bound variables that are elements of a part.
    pub bound: HashMap<u32, TrustedPart>,
    /// The endorsements that apply.
    pub endorsed: Vec<Endorsed>,
    /// The parts of results, each with the function that is the only one to read it.
    pub parts: Vec<(TrustedPart, Option<Builtin>)>,
    /// The parts of results whose elements are counted, each with the number of its range.
    pub ranges: Vec<(usize, TrustedPart)>,
    /// The other causes of distrust.
    pub causes: Vec<Cause>,
}

impl TrustReads<'_> {
    /// Binds the names of ranges, and returns the part that each range iterates over.
    pub(super) fn bind(&mut self, ranges: &[hir::Range]) -> Vec<Option<TrustedPart>> {
        let mut parts = Vec::new();
        for hir::Range { over, binders } in ranges {
            let part = self.part(over);
            if let Some(TrustedPart { root, mut path, elements, .. }) = part.clone() {
                path.extend(element(over));
                for slot in binders {
                    let mut elements = elements.clone();
                    elements.push((*slot, path.len()));
                    let bound = TrustedPart { root, path: path.clone(), elements, picked: false };
                    self.bound.insert(*slot, bound);
                }
            }
            parts.push(part);
        }
        parts
    }

    /// Returns the untrusted reads, and for each of the others the endorsements that may cover it.
    pub(super) fn judged(self) -> (Vec<Cause>, Vec<Vec<Reliance>>) {
        let tools = &self.flow.program.tools;
        let trust = |root| match root {
            PartRoot::Result => &tools[self.at].trust,
            PartRoot::Last(last) => &tools[last].trust,
        };
        let own = trust(PartRoot::Result);
        let covering = |part: &TrustedPart, by| -> Vec<&Endorsed> {
            self.endorsed.iter().filter(|endorsed| endorsed.covers(own, part, by)).collect()
        };
        let mut doubtful: Vec<(&TrustedPart, Vec<&Endorsed>)> = Vec::new();
        for (part, by) in &self.parts {
            if !trust(part.root).vouches_for(&part.path) {
                doubtful.push((part, covering(part, *by)));
            }
        }
        for (nth, part) in &self.ranges {
            // Elements that no endorsement covers teach nothing.
            let binds = |(_, by): &(&TrustedPart, Vec<&Endorsed>)| {
                !by.is_empty() && by.iter().all(|endorsed| endorsed.ranges.contains(nth))
            };
            if !trust(part.root).vouches_for_range(&part.path) && !doubtful.iter().any(binds) {
                doubtful.push((part, covering(part, None)));
            }
        }
        let mut causes = Vec::new();
        let mut reliances = Vec::new();
        for (part, by) in doubtful {
            match (by.is_empty(), part.root) {
                (false, _) => {
                    reliances.push(by.iter().map(|endorsed| endorsed.reliance.clone()).collect())
                }
                (true, PartRoot::Result) => causes.push(Cause::Result),
                (true, PartRoot::Last(last)) => causes.push(Cause::LastResult(last)),
            }
        }
        causes.extend(self.causes);
        (causes, reliances)
    }

    /// Reads a condition that must hold. Someone who can only invalidate the results of a tool
    /// cannot fake a success of the tool.
    pub(super) fn condition(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                self.condition(a);
                self.condition(b);
            }
            ExprKind::Called { tool, key, .. } => self.called(*tool, key),
            _ => self.visit(e),
        }
    }

    fn called(&mut self, tool: hir::ToolId, key: &[(u32, Expr)]) {
        if !key.is_empty() {
            self.causes.push(Cause::LastArgument(tool));
            key.iter().for_each(|(_, value)| self.visit(value));
        }
    }

    /// Reads the success of a tool, or data about its last success.
    fn success(&mut self, tool: hir::ToolId) {
        if self.flow.may_be_spoiled(tool) {
            self.causes.push(Cause::Success(tool));
        }
    }

    pub(super) fn visit(&mut self, e: &Expr) {
        if let Some(part) = self.part(e) {
            self.parts.push((part, None));
            return self.keys(e);
        }
        if let ExprKind::Call(builtin, args) = &e.kind
            && let [text] = &args[..]
            && let Some(part) = self.part(text)
        {
            self.parts.push((part, Some(*builtin)));
            return self.keys(text);
        }
        match &e.kind {
            ExprKind::Param(_) => self.causes.push(Cause::Argument),
            ExprKind::LastArg(last, _) => {
                self.causes.push(Cause::LastArgument(*last));
                self.success(*last);
            }
            ExprKind::Failed { since: Some(since), .. } => self.success(*since),
            ExprKind::Spent(unit) | ExprKind::Remaining(unit) => {
                self.causes.push(Cause::Budget(*unit));
            }
            ExprKind::Calls { tool, .. } => self.causes.push(Cause::Calls(*tool)),
            ExprKind::Called { tool, key, .. } => {
                self.called(*tool, key);
                self.success(*tool);
            }
            ExprKind::MayRead(who, text) => {
                self.causes.push(Cause::Private);
                self.visit(who);
                self.visit(text);
            }
            ExprKind::State(var) => self.variable(*var),
            _ => match variable(e) {
                Some(var) => {
                    self.variable(var);
                    self.keys(e);
                }
                None => e.children().into_iter().for_each(|child| self.visit(child)),
            },
        }
    }

    /// Reads a variable or a part of it. The author of the keys decides which entries are present.
    pub(super) fn variable(&mut self, var: hir::VarId) {
        self.causes
            .extend(self.flow.stains[var].map(|(level, span)| Cause::State(var, span, level)));
    }

    /// Reads the keys by which a part is accessed.
    pub(super) fn keys(&mut self, e: &Expr) {
        if let ExprKind::Index(_, key) = &e.kind {
            self.visit(key);
        }
        if let Some(base) = inner(e) {
            self.keys(base);
        }
    }

    /// Returns the part of a result that an expression reads; `None` if it reads none.
    pub(super) fn part(&self, e: &Expr) -> Option<TrustedPart> {
        let whole = |root| TrustedPart {
            root,
            path: MemberPath::new(),
            elements: Vec::new(),
            picked: false,
        };
        match &e.kind {
            ExprKind::Result => Some(whole(PartRoot::Result)),
            ExprKind::LastResult(last) => Some(whole(PartRoot::Last(*last))),
            ExprKind::Local(slot) => self.bound.get(slot).cloned(),
            _ => {
                let base = inner(e)?;
                let mut part = self.part(base)?;
                part.path.extend(self.step(e, base));
                part.picked |= matches!(e.kind, ExprKind::Index(..));
                Some(part)
            }
        }
    }

    pub(super) fn step(&self, e: &Expr, base: &Expr) -> Option<String> {
        match (&e.kind, base.ty.required()) {
            (ExprKind::Member(_, name), _) => Some(name.clone()),
            (ExprKind::Field(_, at), Type::Record(id)) => {
                let field = self.flow.program.records[*id].fields.get(*at as usize)?;
                Some(field.name.clone())
            }
            (ExprKind::Index(..), _) => element(base),
            _ => None,
        }
    }
}

/// Returns the variable that contains a value that is accessed by an index.
pub(super) fn variable(e: &Expr) -> Option<hir::VarId> {
    let base = inner(e)?;
    match (&e.kind, &base.kind) {
        (ExprKind::Index(..), ExprKind::State(var)) => Some(*var),
        _ => variable(base),
    }
}

/// Returns the step to an element of a collection.
pub(super) fn element(collection: &Expr) -> Option<String> {
    (*collection.ty.required() == Type::Json).then(|| ELEMENT.to_owned())
}

/// Returns the expression that an expression is a part of: its operand, for a member, field, index or unwrap.
pub(in crate::types) fn inner(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::Member(object, _)
        | ExprKind::Field(object, _)
        | ExprKind::Index(object, _)
        | ExprKind::Unwrap(object, _) => Some(object),
        _ => None,
    }
}

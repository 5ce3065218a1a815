//! `transform`: the value that an argument must have, and the result that the agent reads.
//!
//! A transform of an argument is a `deny` that names the value. It refuses any other value, so it
//! allows nothing that the guard would refuse without it.

use super::TypeChecker;
use super::governs::{Governing, shortened};
use super::narrow;
use super::scope::{ExprPlace, MissingMeaning, Scope};
use super::text::text;
use super::typed::typed;
use crate::errors;
use crate::hir::{self, Clause, ClauseKind, Expr, ExprKind, RuleMeta, ToolId, Type};
use guard_plan::plan::CompareOp;
use guard_syntax::ast::{self, Ident};

/// The name of the result.
const RESULT: &str = "result";

/// The parts of a `transform` clause that both kinds have.
pub(super) struct CheckedTransform<'a> {
    pub target: &'a Ident,
    pub path: &'a [Ident],
    pub value: &'a ast::Expr,
    pub guard: Option<&'a ast::ClauseCondition>,
}

impl TypeChecker<'_, '_> {
    pub(super) fn transform(
        &mut self,
        at: ToolId,
        transform: &CheckedTransform,
        because: Option<&ast::Template>,
        rule: RuleMeta,
        tool: &mut hir::Tool,
        scope: &mut Scope,
    ) {
        let kind = match scope.param(&transform.target.node) {
            Some(param) => self.of_argument(param, transform, because, scope),
            None if transform.target.node == RESULT => {
                if let Some(because) = because {
                    self.report(errors::because_of_result(because.span));
                }
                self.of_result(at, transform, scope)
            }
            None => return self.no_parameter(transform.target, scope),
        };
        tool.clauses.extend(kind.map(|kind| Clause { rule, kind }));
    }

    fn no_parameter(&mut self, name: &Ident, scope: &Scope) {
        // A `let` of a tool is not an argument of a call.
        let given = scope.lets.names().any(|given| given == name.node);
        let speaking = self.policy.as_ref().filter(|_| !given);
        let missing = speaking.and_then(|s| s.missing_parameter(&name.node, name.span));
        let missing = missing.map(errors::of_transform);
        let known = scope.params.iter().map(|param| param.name.as_str()).chain([RESULT]);
        let unknown = || errors::unknown_name(&name.node, name.span, known, false);
        let diagnostic = missing.unwrap_or_else(unknown);
        self.report(diagnostic);
    }

    fn of_argument(
        &mut self,
        param: usize,
        transform: &CheckedTransform,
        because: Option<&ast::Template>,
        scope: &mut Scope,
    ) -> Option<ClauseKind> {
        if let Some(step) = transform.path.first() {
            self.report(errors::transform_of_part(step.span, &transform.target.node));
            return None;
        }
        let (when, value) =
            self.conditioned(transform, Some(&scope.params[param].ty.clone()), scope);
        if value.ty.is_option() && *value.ty.required() != Type::Never {
            self.mismatch(transform.value.span, "a value, or `none`", &value.ty);
            return None;
        }
        let span = transform.target.span;
        let argument = typed(ExprKind::Param(param as u32), scope.params[param].ty.clone(), span);
        let differs = match &value.kind {
            ExprKind::None => ExprKind::IsSome(Box::new(argument)),
            _ => ExprKind::Compare(CompareOp::Ne, Box::new(argument), Box::new(value.clone())),
        };
        let differs = typed(differs, Type::Bool, span);
        let condition = match when {
            Some(when) => typed(ExprKind::And(Box::new(when), Box::new(differs)), Type::Bool, span),
            None => differs,
        };
        let because = because.map(|b| self.message(b, scope));
        let text = self.text_of(transform, scope);
        let said = transform.guard.map(|guard| self.condition_text(guard, scope));
        let param = param as u32;
        let said = said.unwrap_or_default();
        let replacement = Some(hir::Replacement { param, value, text: said });
        Some(ClauseKind::Deny { condition, text, because, replacement })
    }

    /// Returns the condition of the deny as an author would write it.
    fn text_of(&mut self, transform: &CheckedTransform, scope: &Scope) -> String {
        let differs = format!("{} != {}", transform.target.node, text(transform.value));
        shortened(match transform.guard {
            None => format!("when {differs}"),
            Some(guard) => {
                let shown = self.shown(&guard.condition, scope);
                if guard.unless {
                    format!("when {differs} and not ({shown})")
                } else {
                    format!("when {differs} and {shown}")
                }
            }
        })
    }

    fn of_result(
        &mut self,
        at: ToolId,
        transform: &CheckedTransform,
        outer: &Scope,
    ) -> Option<ClauseKind> {
        let mut scope = outer.clone();
        scope.place = ExprPlace::Settle;
        let returns = self.signatures[at].returns.clone();
        scope.result = Some(returns.clone().unwrap_or(Type::Json));
        let (path, wanted) = match &returns {
            Some(ty) => self.part_of_result(ty, transform.path)?,
            None => (transform.path.iter().map(|name| name.node.clone()).collect(), None),
        };
        let (when, value) = self.conditioned(transform, wanted.as_ref(), &mut scope);
        Some(ClauseKind::Transform { path, value, when })
    }

    /// Returns the condition and the value of a transform. What the condition establishes also
    /// holds for the value.
    fn conditioned(
        &mut self,
        transform: &CheckedTransform,
        wanted: Option<&Type>,
        scope: &mut Scope,
    ) -> (Option<Expr>, Expr) {
        let when = transform.guard.map(|guard| self.guard(guard, scope));
        let established = scope.established.len();
        if let Some(guard) = transform.guard {
            let mut keys = Vec::new();
            narrow::implied(&guard.condition, !guard.unless, scope, &mut keys);
            scope.established.append(&mut keys);
        }
        let outer = std::mem::replace(&mut scope.missing, MissingMeaning::Strict);
        let value = match wanted {
            Some(wanted) => self.value(transform.value, wanted, scope),
            None => self.expr(transform.value, None, scope),
        };
        scope.missing = outer;
        scope.established.truncate(established);
        (when, value)
    }

    /// Returns the wire names on the path to a part of a result, through the elements of lists and
    /// sets, and the type of the part; no type within `json`.
    fn part_of_result(
        &mut self,
        returns: &Type,
        path: &[Ident],
    ) -> Option<(Vec<String>, Option<Type>)> {
        let mut names = Vec::new();
        let mut ty = returns.clone();
        for name in path {
            let (wire, inner) = self.part_within(&ty, name)?;
            names.push(wire);
            ty = inner;
        }
        Some((names, Some(ty).filter(|ty| *ty != Type::Json)))
    }

    /// Reports arguments and parts of a result that two transforms change.
    pub(super) fn transformed_once(&mut self, tool: &hir::Tool, clauses: &[Governing]) {
        let mut seen: Vec<(&Ident, &[Ident])> = Vec::new();
        for governing in clauses {
            let ast::ClauseKind::Transform { target, path, .. } = &governing.clause.kind else {
                continue;
            };
            let overlaps = |(other, other_path): &&(&Ident, &[Ident])| {
                other.node == target.node
                    // Two paths overlap if they agree on their common length: one part then
                    // contains the other.
                    && path.iter().zip(other_path.iter()).all(|(a, b)| a.node == b.node)
            };
            if let Some((first, _)) = seen.iter().find(overlaps) {
                let second = target.span;
                let first = first.span;
                self.report(errors::transformed_twice(&target.node, second, first, &tool.name));
            }
            seen.push((target, path));
        }
    }
}

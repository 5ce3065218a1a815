//! Clauses that describe a tool rather than refuse its calls: risk, prior, tags, name, and what follows a result
//! that does not decode.

use super::TypeChecker;
use super::governs::Governing;
use super::scope::Scope;
use super::text::text;
use crate::errors;
use crate::hir::{self, Clause, ClauseKind, Expr, ExprKind, RuleMeta, Type};
use guard_plan::plan::{Risk, Undecoded};
use guard_syntax::ast;
use guard_syntax::span::Span;

/// The levels of risk, by keyword.
const RISKS: [(&str, Risk); 4] = [
    ("low", Risk::Low),
    ("medium", Risk::Medium),
    ("high", Risk::High),
    ("critical", Risk::Critical),
];

/// The treatments of observed variables if a result does not decode, by keyword.
const REACTIONS: [(&str, Undecoded); 3] =
    [("clear", Undecoded::Clear), ("keep", Undecoded::Keep), ("halt", Undecoded::Halt)];

impl<'a> TypeChecker<'a, '_> {
    /// Types the risk of a tool, and the prior of its success.
    pub(super) fn nature(
        &mut self,
        governing: Governing<'a>,
        rule: RuleMeta,
        tool: &mut hir::Tool,
        scope: &mut Scope,
    ) {
        use ast::ClauseKind as C;
        let clause = governing.clause;
        if governing.shadow() {
            self.report(errors::shadow_description(clause.span.0));
        }
        let kind = match &clause.kind {
            C::Risk { level, guard } => {
                let Some(level) = self.choice("risk", level, &RISKS) else { return };
                let Some(guard) = guard else {
                    return tool.risk = tool.risk.max(level);
                };
                let when = self.guard(guard, scope);
                let text = self.condition_text(guard, scope);
                ClauseKind::Risk { level, when, text }
            }
            C::Prior { alpha, beta } => {
                if let Some(policy) = governing.policy {
                    return self.report(errors::tool_only(
                        "prior",
                        clause.span.0,
                        &policy.name.node,
                    ));
                }
                ClauseKind::Prior {
                    alpha: self.belief(alpha, scope),
                    beta: self.belief(beta, scope),
                }
            }
            _ => return,
        };
        tool.clauses.push(Clause { rule, kind });
    }

    /// Types a parameter of a prior: a decimal above 0 that reads only state.
    fn belief(&mut self, e: &ast::Expr, scope: &mut Scope) -> Expr {
        let value = self.value(e, &Type::decimal(), scope);
        if let Type::Decimal(_, Some(high)) = value.ty
            && high <= 0
        {
            self.report(errors::literal(e.span, &text(e), "must be positive"));
        }
        let mut asked: Vec<(Span, String)> = Vec::new();
        value.walk(&mut |part| {
            let what = match &part.kind {
                ExprKind::Param(at) => format!("`{}`", scope.params[*at as usize].name),
                ExprKind::Probe(_) => "a probe".into(),
                ExprKind::Exists(_) => "a file".into(),
                _ => return,
            };
            asked.push((part.span, what));
        });
        for (span, name) in asked {
            let help =
                "a prior is evaluated before any call: it may read state, history and budgets";
            self.report(errors::wrong_place(span, &name, "a prior", help));
        }
        value
    }

    /// Checks clauses that describe a tool rather than govern it.
    pub(super) fn description(&mut self, governing: Governing<'a>, tool: &mut hir::Tool) {
        use ast::ClauseKind as C;
        let clause = governing.clause;
        if governing.shadow() {
            self.report(errors::shadow_description(clause.span.0));
        }
        let what = match &clause.kind {
            C::Irreversible => {
                tool.irreversible = true;
                return;
            }
            C::Tags(tags) => {
                tool.tags.extend(tags.iter().map(|t| t.node.clone()));
                "tags"
            }
            C::Name(title) => {
                tool.title = Some(title.node.clone());
                "name"
            }
            C::Undecoded(word) => {
                let reaction = self.choice("reaction", word, &REACTIONS);
                tool.undecoded = reaction.unwrap_or(tool.undecoded);
                "undecoded"
            }
            // It is part of the signature.
            _ => return,
        };
        if let Some(policy) = governing.policy {
            self.report(errors::tool_only(what, clause.span.0, &policy.name.node));
        }
    }
}

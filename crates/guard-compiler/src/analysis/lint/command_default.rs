//! A rule that reads `certain` or `literal` of a command only under a condition.
//!
//! Such a rule takes the place of the denial that every command has by default, and lets pass what its condition leaves out.

use super::Lint;
use crate::errors;
use crate::hir::{ClauseKind, Expr, ExprKind as K, Program, Type};
use crate::types::{field_of, reads_field};
use guard_plan::builtin::Builtin;
use guard_plan::plan::{CompareOp, QuantifierOp};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;

pub(super) fn check(lint: &Lint, found: &mut Vec<Diagnostic>) {
    let program = lint.program;
    for tool in &program.tools {
        for (param, field) in (0..).zip(&tool.params) {
            if *field.ty.required() != Type::Command {
                continue;
            }
            for flag in ["certain", "literal"] {
                let unreadable = UnreadableFlag { program, param, flag };
                let enforced = tool.clauses.iter().filter(|clause| !clause.rule.shadow);
                let mut rules: Vec<(Span, bool)> = Vec::new();
                for clause in enforced {
                    let (ClauseKind::Deny { condition, .. }
                    | ClauseKind::Approval { when: Some(condition), .. }) = &clause.kind
                    else {
                        continue;
                    };
                    if reads_field(program, condition, param, flag) {
                        let decides = unreadable.truth(condition) == Some(true);
                        rules.push((clause.rule.span, decides));
                    }
                }
                if let Some((span, _)) = rules.first()
                    && !rules.iter().any(|(_, decides)| *decides)
                {
                    found.push(errors::command_default(*span, flag, &field.name));
                }
            }
        }
    }
}

/// Returns the body of a count of commands.
fn counts_commands(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        K::Quantified { op: QuantifierOp::Count, over, body, .. } => {
            over.iter().all(is_commands).then_some(body)
        }
        _ => None,
    }
}

fn is_commands(e: &Expr) -> bool {
    matches!(e.kind, K::Call(Builtin::Commands, _))
}

/// A command of which one field is false for some simple command.
struct UnreadableFlag<'p> {
    program: &'p Program,
    /// The parameter.
    param: u32,
    flag: &'static str,
}

impl UnreadableFlag<'_> {
    fn is_param(&self, e: &Expr) -> bool {
        match &e.kind {
            K::Param(at) => *at == self.param,
            K::Unwrap(operand, _) => self.is_param(operand),
            _ => false,
        }
    }

    fn is_flag(&self, e: &Expr) -> bool {
        self.field(e) == Some(self.flag)
    }

    fn field(&self, e: &Expr) -> Option<&str> {
        field_of(self.program, e)
    }

    /// Returns the value of a condition for a command that no rule names, if the field decides it.
    fn truth(&self, e: &Expr) -> Option<bool> {
        match &e.kind {
            K::Bool(value) => Some(*value),
            K::Field(..) if self.is_flag(e) => Some(false),
            K::Field(..) if matches!(self.field(e), Some("certain" | "literal")) => Some(true),
            K::Compare(op @ (CompareOp::Eq | CompareOp::Ne), a, b) if a.ty == Type::Bool => {
                Some((self.truth(a)? == self.truth(b)?) == (*op == CompareOp::Eq))
            }
            K::Compare(op, a, b) if counts_commands(a).is_some() => {
                let (Some(body), K::Int(n)) = (counts_commands(a), &b.kind) else { return None };
                // There is one such command, or there are more.
                let always = op.holds(1.cmp(n)) && op.holds(i64::MAX.cmp(n));
                (self.truth(body) == Some(true) && always && *n <= 1).then_some(true)
            }
            K::Compare(CompareOp::Ne, a, _) if self.field(a).is_some() => Some(true),
            K::Compare(_, a, _) | K::In(a, _) | K::Matches(a, _) if self.field(a).is_some() => {
                Some(false)
            }
            K::Call(Builtin::StartsWith | Builtin::EndsWith, args)
                if self.field(&args[0]).is_some() =>
            {
                Some(false)
            }
            K::IsSome(operand) if self.is_param(operand) => Some(true),
            K::Not(a) => Some(!self.truth(a)?),
            K::And(a, b) => match (self.truth(a), self.truth(b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (a, b) => a.and(b),
            },
            K::Or(a, b) => match (self.truth(a), self.truth(b)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (a, b) => a.and(b),
            },
            K::Implies(a, b) => match (self.truth(a), self.truth(b)) {
                (Some(false), _) | (_, Some(true)) => Some(true),
                (a, b) => a.and(b),
            },
            K::Quantified {
                op: op @ (QuantifierOp::Any | QuantifierOp::All), over, body, ..
            } => {
                let is_all = *op == QuantifierOp::All;
                match &over[..] {
                    [only] if is_commands(only) => {
                        self.truth(body).filter(|holds| *holds != is_all)
                    }
                    // A command may write, remove and name nothing.
                    [only] if self.field(only).is_some() => Some(is_all),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

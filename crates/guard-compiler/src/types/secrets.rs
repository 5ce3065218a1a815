//! Secrets stay in places that are marked as secret: an expression that reads a secret may only be
//! written to a marked place.
//!
//! State is shown in verdicts, feedback and traces. Only a field marked `secret` is hidden there.
//! Truth values are allowed, because a guard may have to say if a secret is correct.

use super::TypeChecker;
use crate::errors;
use crate::hir::{
    ClauseKind, Expr, ExprKind, Field, Learn, Program, Range, Replacement, Step, Target, Type,
};
use crate::lower::{clause_exprs, each_expr, is_secret};
use guard_syntax::span::Span;

impl TypeChecker<'_, '_> {
    /// Checks everything that is written from arguments and results.
    pub(super) fn secrets(&mut self) {
        let mut leaks = Vec::new();
        for tool in &self.program.tools {
            for clause in &tool.clauses {
                leaks.extend(leaks_of(&self.program, &tool.params, &clause.kind));
            }
        }
        for (_, learn) in self.program.sources.iter().flat_map(|source| &source.learns) {
            leaks.extend(taught(&self.program, &[], learn));
        }
        for tool in &self.program.tools {
            for clause in &tool.clauses {
                clause_exprs(&clause.kind, &mut |e| {
                    asked(&self.program, &tool.params, e, &mut leaks)
                });
            }
        }
        each_expr(&self.program, &mut |e| asked(&self.program, &[], e, &mut leaks));
        leaks.sort();
        leaks.dedup();
        for span in leaks {
            self.report(errors::secret_leaves(span));
        }
    }
}

fn leaks_of(program: &Program, params: &[Field], clause: &ClauseKind) -> Vec<Span> {
    let (target, value, ranges, when) = match clause {
        ClauseKind::Effect { target, value, ranges, when, .. } => {
            (target, value.as_ref(), &ranges[..], when.as_ref())
        }
        ClauseKind::Observe { target, value, .. } => (target, Some(value), &[][..], None),
        ClauseKind::Learn(learn) => return taught(program, params, learn),
        ClauseKind::Deny { replacement: Some(Replacement { param, value, .. }), .. } => {
            let hidden = params.get(*param as usize).is_some_and(|param| param.secret);
            return (!hidden && leaks(program, params, value))
                .then_some(value.span)
                .into_iter()
                .collect();
        }
        ClauseKind::Transform { value, .. } if leaks(program, params, value) => {
            return vec![value.span];
        }
        // The spent and the remaining amounts are shown.
        ClauseKind::Costs { amount, .. } if is_secret(program, amount, params) => {
            return vec![amount.span];
        }
        _ => return Vec::new(),
    };
    let keys = target.path.iter().filter_map(|step| match step {
        Step::Index(key) => Some(key),
        Step::Field(_) => None,
    });
    let hidden = is_hidden(program, target);
    let value = value.filter(|_| !hidden);
    let bound = secret_elements(program, params, ranges);
    let leaks = |e: &&Expr| leaks(program, params, e) || is_of_secret(e, &bound);
    let mut found: Vec<Span> = keys.chain(value).filter(leaks).map(|e| e.span).collect();
    if !hidden {
        found.extend(chosen_by_secrets(program, params, ranges, when));
    }
    found
}

/// Finds the files with a secret path that a question asks for. The question is recorded, and it is
/// part of the message if nobody answers.
fn asked(program: &Program, params: &[Field], root: &Expr, leaks: &mut Vec<Span>) {
    root.walk(&mut |part| {
        let ExprKind::Exists(path) = &part.kind else { return };
        let bound = path.any(&mut |part| matches!(part.kind, ExprKind::Local(_)));
        if is_secret(program, path, params) || (bound && is_secret(program, root, params)) {
            leaks.push(path.span);
        }
    });
}

/// Finds the secrets that select the elements, or the number of elements, for an action: these show
/// more than one bit.
fn chosen_by_secrets(
    program: &Program,
    params: &[Field],
    ranges: &[Range],
    when: Option<&Expr>,
) -> Vec<Span> {
    let bound = secret_elements(program, params, ranges);
    let decides = |e: &&Expr| is_secret(program, e, params) || reads_local(e, &bound);
    let over = ranges.iter().map(|range| &range.over);
    over.chain(when.filter(|_| !ranges.is_empty())).filter(decides).map(|e| e.span).collect()
}

fn taught(program: &Program, params: &[Field], learn: &Learn) -> Vec<Span> {
    let columns = &program.records[program.facts[learn.fact].row].fields;
    let plain = learn.row.iter().zip(columns).filter(|(_, column)| !column.secret);
    let bound = secret_elements(program, params, &learn.ranges);
    let shown = plain
        .map(|(value, _)| value)
        .filter(|e| leaks(program, params, e) || is_of_secret(e, &bound))
        .map(|e| e.span);
    let hidden = columns.iter().all(|column| column.secret);
    let chosen = if hidden {
        Vec::new()
    } else {
        chosen_by_secrets(program, params, &learn.ranges, learn.when.as_ref())
    };
    shown.chain(chosen).collect()
}

/// Returns the variables that ranges bind to elements of secret collections.
fn secret_elements(program: &Program, params: &[Field], ranges: &[Range]) -> Vec<u32> {
    let mut bound: Vec<u32> = Vec::new();
    for range in ranges {
        if is_secret(program, &range.over, params) || reads_local(&range.over, &bound) {
            bound.extend(&range.binders);
        }
    }
    bound
}

/// Returns true if an expression shows more of a secret element than one bit.
fn is_of_secret(e: &Expr, bound: &[u32]) -> bool {
    *e.ty.required() != Type::Bool && reads_local(e, bound)
}

/// Returns true if an expression reads one of these bound names.
pub(super) fn reads_local(e: &Expr, slots: &[u32]) -> bool {
    e.any(&mut |part| matches!(&part.kind, ExprKind::Local(slot) if slots.contains(slot)))
}

fn leaks(program: &Program, params: &[Field], e: &Expr) -> bool {
    *e.ty.required() != Type::Bool && is_secret(program, e, params)
}

/// Returns true if a target is a field marked `secret`, or lies inside one.
fn is_hidden(program: &Program, target: &Target) -> bool {
    let mut ty = &program.state[target.var].ty;
    for step in &target.path {
        ty = match (step, ty.required()) {
            (Step::Field(at), Type::Record(record)) => {
                let field = &program.records[*record].fields[*at as usize];
                if field.secret {
                    return true;
                }
                &field.ty
            }
            (Step::Index(_), Type::List(element, _) | Type::Map(_, element, _)) => element,
            _ => return false,
        };
    }
    false
}

//! Visits to everything of a program of one kind: types, requirements, expressions.

use crate::hir::{self, ClauseKind, Expr, Program, Type};

/// Visits every type that values are decoded to.
pub(super) fn each_type(program: &Program, visit: &mut dyn FnMut(&Type)) {
    // A built-in enum is in the plan only if something has its type.
    for (at, _) in program.enums.iter().enumerate().skip(hir::BUILTIN_ENUMS) {
        visit(&Type::Enum(at));
    }
    for (at, record) in program.records.iter().enumerate() {
        record.fields.iter().for_each(|f| visit(&f.ty));
        visit(&Type::Record(at));
    }
    program.state.iter().for_each(|v| visit(&v.ty));
    program.probes.iter().for_each(|p| visit(&p.returns));
    for list in program.contracts.iter().flat_map(|c| &c.lists) {
        if let hir::ItemShape::Type(ty) = &list.shape {
            visit(ty);
        }
    }
    for tool in &program.tools {
        tool.params.iter().for_each(|p| visit(&p.ty));
        tool.returns.iter().for_each(&mut *visit);
        for clause in &tool.clauses {
            if let ClauseKind::Observe { ty, .. } = &clause.kind {
                visit(ty);
            }
        }
    }
}

pub(super) fn each_requirement<'p>(
    program: &'p Program,
    visit: &mut dyn FnMut(&'p hir::Requirement),
) {
    for clause in program.tools.iter().flat_map(|t| &t.clauses) {
        if let ClauseKind::Requires { any_of, .. } = &clause.kind {
            any_of.iter().for_each(&mut *visit);
        }
    }
}

/// Visits the root of every expression of the program.
pub(crate) fn each_expr<'p>(program: &'p Program, visit: &mut dyn FnMut(&'p Expr)) {
    program.state.iter().for_each(|v| visit(&v.init));
    for invariant in &program.invariants {
        visit(&invariant.condition);
        message_exprs(invariant.because.as_ref(), visit);
    }
    for clause in program.tools.iter().flat_map(|t| &t.clauses) {
        clause_exprs(&clause.kind, visit);
    }
    program
        .sources
        .iter()
        .flat_map(|s| &s.learns)
        .for_each(|(_, l)| l.exprs().for_each(&mut *visit));
    for feedback in &program.feedback {
        for trigger in &feedback.triggers {
            if let hir::Trigger::Becomes(condition) = trigger {
                visit(condition);
            }
        }
        for block in &feedback.blocks {
            block.when.iter().for_each(&mut *visit);
            let notes = block.notes.iter().map(|(_, text)| text);
            notes.chain([&block.message]).for_each(|m| message_exprs(Some(m), visit));
        }
    }
    program.each_check(&mut |check| check.expr().into_iter().for_each(&mut *visit));
    program.goals.iter().flat_map(|g| &g.conditions).for_each(|(_, e)| visit(e));
    for reference in program.contracts.iter().flat_map(|c| &c.references) {
        if let hir::Allowed::Values(values) = &reference.allowed {
            visit(values);
        }
    }
}

fn message_exprs<'p>(message: Option<&'p hir::Message>, visit: &mut dyn FnMut(&'p Expr)) {
    for part in message.into_iter().flat_map(|m| &m.parts) {
        if let hir::Part::Value(_, e) = part {
            visit(e);
        }
    }
}

/// Visits the root of every expression of a clause.
pub(crate) fn clause_exprs<'p>(clause: &'p ClauseKind, visit: &mut dyn FnMut(&'p Expr)) {
    match clause {
        ClauseKind::Requires { any_of, when } => {
            any_of.iter().flat_map(|r| &r.key).for_each(|(_, e)| visit(e));
            when.iter().for_each(visit);
        }
        ClauseKind::Deny { condition, because, replacement, .. } => {
            visit(condition);
            message_exprs(because.as_ref(), visit);
            replacement.iter().for_each(|replacement| visit(&replacement.value));
        }
        ClauseKind::Limit { by, .. } => by.iter().for_each(visit),
        ClauseKind::Costs { amount, .. } => visit(amount),
        ClauseKind::Risk { when, .. } => visit(when),
        ClauseKind::Prior { alpha, beta } => [alpha, beta].into_iter().for_each(visit),
        ClauseKind::Approval { when, because, .. } => {
            when.iter().for_each(&mut *visit);
            message_exprs(because.as_ref(), visit);
        }
        ClauseKind::Ready(_) => {}
        ClauseKind::Effect { ranges, when, target, value, .. } => {
            ranges.iter().map(|range| &range.over).chain(when).for_each(&mut *visit);
            target_exprs(target, visit);
            value.iter().for_each(visit);
        }
        ClauseKind::Observe { target, value, .. } => {
            target_exprs(target, visit);
            visit(value);
        }
        ClauseKind::Learn(learn) => learn.exprs().for_each(visit),
        ClauseKind::Reconcile { condition, because, .. } => {
            visit(condition);
            message_exprs(because.as_ref(), visit);
        }
        ClauseKind::Transform { value, when, .. } => {
            visit(value);
            when.iter().for_each(visit);
        }
        ClauseKind::Private { part, to, when } => {
            part.ranges.iter().map(|range| &range.over).chain(to).chain(when).for_each(visit);
        }
        ClauseKind::Endorse { part, when, .. } => {
            part.ranges.iter().map(|range| &range.over).chain(when).for_each(visit);
        }
    }
}

fn target_exprs<'p>(target: &'p hir::Target, visit: &mut dyn FnMut(&'p Expr)) {
    for step in &target.path {
        if let hir::Step::Index(at) = step {
            visit(at);
        }
    }
}

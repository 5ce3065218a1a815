//! Lessons: what each says, and the order in which those of one event teach.
//!
//! The same lessons in another order are the same guard, so they teach in the order of what they say. The plan lists
//! them in it, and the reference evaluator asks for it.

use super::collect::Tables;
use super::expr;
use crate::hir;
use guard_plan::plan::{self, FactId};

/// What a lesson says: its fact, the collections it iterates over, its condition and its row.
type Said = (FactId, Vec<plan::Range>, Option<plan::Expr>, Vec<plan::Expr>);

/// Sorts the lessons of one tool or source; equal ones stand in the order of their rules.
pub(super) fn sort(lessons: &mut [plan::Learn]) {
    lessons.sort_by_cached_key(|learn| {
        let said = (learn.fact, &learn.ranges, &learn.when, &learn.row);
        (format!("{said:?}"), format!("{:?}", learn.rule))
    });
}

/// Returns the order in which the lessons of one tool or source teach, by position.
pub(crate) fn order(tables: &Tables, lessons: &[&hir::Learn]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lessons.len()).collect();
    order.sort_by_cached_key(|at| format!("{:?}", said(tables, lessons[*at])));
    order
}

/// Returns what a lesson says.
pub(super) fn said(tables: &Tables, learn: &hir::Learn) -> Said {
    let expr = |e: &hir::Expr| expr::flatten(tables, e);
    (
        tables.facts.of(learn.fact),
        ranges(tables, &learn.ranges),
        learn.when.as_ref().map(expr),
        learn.row.iter().map(expr).collect(),
    )
}

/// Returns the collections to iterate over, from the outermost.
pub(super) fn ranges(tables: &Tables, ranges: &[hir::Range]) -> Vec<plan::Range> {
    let range = |range: &hir::Range| plan::Range {
        over: expr::flatten(tables, &range.over),
        binders: range.binders.clone(),
    };
    ranges.iter().map(range).collect()
}

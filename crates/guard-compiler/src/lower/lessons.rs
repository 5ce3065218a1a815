//! The order in which the lessons of one tool or source teach.
//!
//! The same lessons in another order are the same guard, and no other declaration changes them. So
//! they teach in the order of their content. The plan lists them in this order, and the reference
//! evaluator also uses it.

use crate::hir::canon::Canon;
use crate::hir::{Learn, Program, RuleMeta, Tool};

/// Returns the order in which lessons teach, by position. Equal lessons are in the order of their
/// rules.
pub(crate) fn order<'l>(
    program: &Program,
    tool: Option<&Tool>,
    lessons: impl Iterator<Item = (&'l RuleMeta, &'l Learn)>,
) -> Vec<usize> {
    let key = |(rule, learn): (&RuleMeta, &Learn)| {
        (Canon(program).learn(tool, learn), rule.owner.clone(), rule.doc.clone(), rule.shadow)
    };
    let keys: Vec<_> = lessons.map(key).collect();
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|at| &keys[*at]);
    order
}

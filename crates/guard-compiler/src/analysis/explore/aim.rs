//! Aimed search: each goal that the full search has not found is searched alone, with the tools that can matter to it
//! and with the plainest values first.

use super::ExplorationLimits;
use super::inputs::Inputs;
use super::rules::RuleKind;
use super::search::{Search, SearchGoal, steps_of};
use super::slice::Slice;
use crate::hir::Expr;
use std::collections::BTreeSet;

/// Looks for each thing that was not found.
pub(crate) fn at_the_rest<'s, 'p>(
    search: &mut Search<'s, 'p>,
    widths: &'s [Inputs<'p>],
    limits: &ExplorationLimits,
) {
    let program = search.program;
    let mut aims: Vec<(SearchGoal, Slice)> = Vec::new();
    for tool in 0..program.tools.len() {
        aims.push((SearchGoal::Tool(tool), Slice::of_tool(program, tool)));
    }
    for (goal, declared) in program.goals.iter().enumerate() {
        let slice = Slice::of_exprs(program, declared.conditions.iter().map(|(_, e)| e));
        aims.push((SearchGoal::Named(goal), slice));
    }
    if program.completion.is_some() {
        let mut exprs: Vec<&Expr> = Vec::new();
        program.each_check(&mut |check| exprs.extend(check.expr()));
        aims.push((SearchGoal::Completion, Slice::of_exprs(program, exprs.into_iter())));
    }
    for (at, rule) in search.rules.iter().enumerate() {
        if let Some(slice) = Slice::of_rule(program, rule) {
            aims.push((SearchGoal::Rule(at), slice));
        }
        if rule.kind == RuleKind::Transition {
            let mut slice = Slice::default();
            slice.served(program);
            aims.push((SearchGoal::Rule(at), slice));
        }
    }
    let few = ExplorationLimits { calls: limits.calls / 2, ..limits.clone() };
    let most = search.judged.saturating_add(limits.calls.saturating_mul(4));
    let until = search.fresh.steps().saturating_add(steps_of(limits.calls.saturating_mul(4)));
    // The same slice again finds nothing new.
    let mut tried: BTreeSet<(usize, SearchGoal, Slice)> = BTreeSet::new();
    for (width, inputs) in widths.iter().enumerate() {
        for (goal, slice) in &aims {
            let known = found(search, *goal);
            // The search of everything has been here: it had all tools and the widest values.
            let whole = slice.tools.len() == program.tools.len() && width + 1 == widths.len();
            let key =
                (width, if width == 0 { *goal } else { SearchGoal::Completion }, slice.clone());
            let spent = search.judged > most || search.fresh.steps() > until;
            if known || whole || spent || search.stopped_early() {
                continue;
            }
            if tried.contains(&key) {
                continue;
            }
            search.run(inputs, slice.clone(), Some(*goal), &few);
            if !found(search, *goal) {
                tried.insert(key);
            }
        }
    }
}

fn found(search: &Search, goal: SearchGoal) -> bool {
    match goal {
        SearchGoal::Tool(tool) => search.found.tools[tool].is_some(),
        SearchGoal::Rule(rule) => search.found.rules[rule].is_some(),
        SearchGoal::Named(goal) => search.found.goals[goal].is_some(),
        SearchGoal::Completion => search.found.completion.is_some(),
    }
}

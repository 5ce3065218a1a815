//! Memory that a session under the old guard would begin anew under the new one.

use super::proof::{HistoryView, counter};
use crate::analysis::explore::limit_text;
use crate::hir::canon::Canon;
use crate::hir::{ClauseKind, Program};
use crate::lower::Tables;
use std::collections::BTreeMap;

/// State, limits, histories and facts that only the new guard has, in words, sorted.
pub(super) fn anew(old: &Program, new: &Program) -> Vec<String> {
    let mut anew = Vec::new();
    for var in &new.state {
        let known = old.state.iter().find(|known| known.name == var.name);
        let ty = |p: &Program, v: &crate::hir::StateVar| Canon(p).ty(&crate::lower::plain(&v.ty));
        match known {
            None => anew.push(format!("the variable `{}` begins with its initial value", var.name)),
            Some(known) if ty(old, known) != ty(new, var) => {
                anew.push(format!(
                    "the variable `{}` has a different type and begins with its initial value",
                    var.name
                ));
            }
            Some(_) => {}
        }
    }
    for (at, fact) in new.facts.iter().enumerate() {
        let known = old.facts.iter().position(|known| known.name == fact.name);
        if known.map(|at| Canon(old).columns(at)) != Some(Canon(new).columns(at)) {
            anew.push(format!("the fact `{}` is empty", fact.name));
        }
    }
    for unit in &new.units {
        if unit.budget.is_some() && !old.units.iter().any(|known| known.name == unit.name) {
            anew.push(format!("nothing is spent of `{}`", unit.name));
        }
    }
    for lifecycle in &new.lifecycles {
        if !old.lifecycles.iter().any(|known| known.name == lifecycle.name) {
            anew.push(format!("there is no {} yet", lifecycle.name));
        }
    }
    let before = counters(old, new);
    let after = counters(new, old);
    for (text, words) in after {
        if !before.contains_key(&text) {
            anew.push(format!("{words} has counted nothing"));
        }
    }
    let before = memories(old);
    let after = memories(new);
    anew.extend(after.into_iter().filter(|memory| !before.contains(memory)));
    anew.sort();
    anew.dedup();
    anew
}

/// Counters by all that they count, and in words.
fn counters(program: &Program, beside: &Program) -> BTreeMap<String, String> {
    let mut counters = BTreeMap::new();
    let view = HistoryView { program, beside, never: Default::default() };
    for tool in &program.tools {
        for clause in &tool.clauses {
            if let ClauseKind::Limit { limit, .. } = &clause.kind {
                let words = format!("`{}` of {}", limit_text(program, *limit), clause.rule.owner);
                let ask = &program.limits[*limit].ask;
                let counter = format!("{} {ask:?}", counter(&view, tool, *limit, clause));
                counters.entry(counter).or_insert(words);
            }
        }
    }
    counters
}

/// Returns the memories of calls beyond their number, as sentences.
fn memories(program: &Program) -> Vec<String> {
    let tables = Tables::collect(program);
    let name = |sorted: u32| program.tools[tables.tools.order[sorted as usize]].wire_name.as_str();
    let mut memories = Vec::new();
    for index in &tables.indexes {
        let params = &program.tools[tables.tools.order[index.tool as usize]].params;
        let key: Vec<&str> =
            index.params.iter().map(|p| params[*p as usize].name.as_str()).collect();
        let tool = name(index.tool);
        memories.push(format!("no call of `{tool}` is remembered by {}", key.join(", ")));
    }
    for window in &tables.windows {
        let tool = name(window.tool);
        memories.push(format!("the times of `{tool}`'s calls are not remembered"));
    }
    for tool in &tables.keeps_args {
        let tool = &program.tools[*tool].wire_name;
        memories.push(format!("the last arguments of `{tool}` are not remembered"));
    }
    for tool in &tables.keeps_result {
        let tool = &program.tools[*tool].wire_name;
        memories.push(format!("the last result of `{tool}` is not remembered"));
    }
    let canon = Canon(program);
    crate::lower::each_expr(program, &mut |root| {
        root.walk(&mut |e| {
            if let crate::hir::ExprKind::Temporal(..) = e.kind {
                memories
                    .push(format!("the earlier values of `{}` are not known", canon.expr(None, e)));
            }
        });
    });
    if tables.origins {
        memories.push("no value has been seen".into());
    }
    memories
}

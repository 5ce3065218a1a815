//! State, budgets, invariants and facts.

use super::page::{Page, link};
use super::{Doc, tools};
use crate::term::count;
use guard_plan::decimal;
use guard_plan::plan::{SourceKind, Tool, TypeDef, VarId};
use guard_plan::words::rules::{because, code};
use guard_plan::words::{self, Shows};

/// Describes the variables, with the tools that write and read them.
pub(super) fn state(doc: Doc) -> String {
    let plan = doc.plan;
    let shows = Shows { plan, tool: None, ranges: &[] };
    let rows = (0..).zip(&plan.state).map(|(id, var)| {
        let ty = code(&words::ty(plan, var.ty));
        let init = code(&words::typed(&shows, &var.init, Some(var.ty)));
        let kept = plan.invariants.iter().filter(|invariant| invariant.reads.contains(&id));
        let kept = kept.map(|i| link(&code(&i.rule.owner), &format!("invariant-{}", i.rule.owner)));
        let kept = kept.collect::<Vec<_>>().join(", ");
        [code(&var.name), ty, init, named(doc, |tool| writes(tool, id)), kept]
    });
    let mut page = Page::default();
    page.table(["variable", "type", "begins as", "written by", "in invariants"], rows.collect());
    page.out
}

fn writes(tool: &Tool, var: VarId) -> bool {
    tool.effects.iter().any(|effect| effect.target.var == var)
        || tool.observes.iter().any(|observe| observe.target.var == var)
}

/// Returns links to the tools with a property.
fn named(doc: Doc, is: impl Fn(&Tool) -> bool) -> String {
    let tools = doc.plan.tools.iter().filter(|tool| is(tool));
    tools.map(|tool| tools::link_to(&tool.name)).collect::<Vec<_>>().join(", ")
}

/// Describes the budgets, and the tools that spend them.
pub(super) fn budgets(doc: Doc) -> String {
    let mut page = Page::default();
    if let Some(deadline) = doc.plan.deadline {
        let deadline = words::duration(deadline);
        page.block(format!("Every call is denied once the session is {deadline} old."));
    }
    let rows = (0..).zip(&doc.plan.units).filter_map(|(id, unit)| {
        let charged = named(doc, |tool| tool.costs.iter().any(|cost| cost.unit == id));
        let charged = match (unit.host_charged, unit.name.as_str()) {
            (true, _) => "reports of the host".into(),
            (false, "calls") if charged.is_empty() => "every allowed call: 1".into(),
            _ => charged,
        };
        let budget = unit.budget.map_or_else(|| "only counted".into(), decimal::format);
        let said = unit.budget.is_some() || !unit.host_charged && unit.name != "calls";
        said.then(|| [code(&unit.name), budget, charged, doc.at(unit.span)])
    });
    page.table(["unit", "budget", "charged by", "at"], rows.collect());
    page.out
}

/// Describes the invariants, and the calls that can violate them.
pub(super) fn invariants(doc: Doc) -> String {
    let mut page = Page::default();
    for (id, invariant) in (0..).zip(&doc.plan.invariants) {
        let name = &invariant.rule.owner;
        page.heading(3, &format!("invariant-{name}"), &code(name));
        page.doc(&invariant.rule.doc);
        page.block(format!("{}{}", code(&invariant.text), because(&invariant.because)));
        let mode = match (invariant.monitor, invariant.rule.shadow) {
            (true, _) => "Reported only.",
            (false, true) => "In shadow.",
            (false, false) => "A call that would break it is denied.",
        };
        let breaks = named(doc, |t| t.frame.contains(&id) || t.observe_frame.contains(&id));
        let checked = if breaks.is_empty() {
            "No call can break it.".into()
        } else {
            format!("Checked for {breaks}; other calls cannot break it.")
        };
        page.block(format!("{mode} {checked} {}", doc.at(invariant.rule.span)).trim_end());
    }
    page.out
}

/// Describes the facts: their columns and sources.
pub(super) fn facts(doc: Doc) -> String {
    let plan = doc.plan;
    let mut page = Page::default();
    for (id, fact) in (0..).zip(&plan.facts) {
        page.heading(3, &format!("fact-{}", fact.name), &code(&fact.name));
        let columns = match plan.types.get(fact.row as usize) {
            Some(TypeDef::Record { fields, .. }) => fields.as_slice(),
            _ => &[],
        };
        let rows = (0..).zip(columns).map(|(at, field)| {
            let key = if at < fact.keys { "yes" } else { "" };
            [code(&field.name), code(&words::ty(plan, field.ty)), key.into()]
        });
        page.table(["column", "type", "key"], rows.collect());
        let mut from: Vec<String> = plan
            .sources
            .iter()
            .filter(|source| source.learns.iter().any(|learn| learn.fact == id))
            .map(|source| match source.kind {
                SourceKind::Start => "what the session is opened with".into(),
                SourceKind::Prompt => "the user's prompts".into(),
            })
            .collect();
        let tools = named(doc, |tool| tool.learns.iter().any(|learn| learn.fact == id));
        from.extend((!tools.is_empty()).then_some(tools));
        let from = if from.is_empty() { "nothing".into() } else { from.join(", ") };
        let rows = count(fact.max as usize, "row");
        let full = if fact.halts { "one more halts the session" } else { "the oldest go first" };
        page.block(format!("Holds at most {rows}, {full}. Filled by {from}."));
    }
    page.out
}

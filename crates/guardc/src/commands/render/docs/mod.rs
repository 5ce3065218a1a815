//! A guard as a reference for people: all rules with their owners and positions, with links.

mod page;
mod policies;
mod session;
mod state;
mod tools;
mod types;

use crate::commands::check::thousands;
use guard_plan::LoadedPlan;
use guard_plan::plan::{Plan, SpanId};
use guard_plan::{decimal, words};
use page::{Page, link};

/// The inputs of a section: the plan, and the positions of its rules.
#[derive(Clone, Copy)]
struct Doc<'a> {
    plan: &'a Plan,
    loaded: &'a LoadedPlan,
}

impl Doc<'_> {
    /// Returns `web_deploy.guard:12:3`; empty if the plan has no position.
    fn at(&self, span: SpanId) -> String {
        self.loaded.span_text(span).map(|place| words::rules::code(&place)).unwrap_or_default()
    }
}

/// A section: its anchor, its title and its content; omitted if the content is empty.
type Section = (&'static str, &'static str, String);

/// Returns the whole reference.
pub fn docs(loaded: &LoadedPlan) -> String {
    let doc = Doc { plan: loaded.plan(), loaded };
    let sections: [Section; 13] = [
        ("tools", "Tools", tools::tools(doc)),
        ("policies", "Policies", policies::policies(doc)),
        ("state", "State", state::state(doc)),
        ("budgets", "Budgets", state::budgets(doc)),
        ("invariants", "Invariants", state::invariants(doc)),
        ("facts", "Facts and their sources", state::facts(doc)),
        ("probes", "Probes", session::probes(doc)),
        ("lifecycles", "Lifecycles", session::lifecycles(doc)),
        ("feedback", "Feedback", session::feedback(doc)),
        ("completion", "Completion", session::completion(doc)),
        ("attests", "Attests", session::attests(doc)),
        ("goals", "Goals", session::goals(doc)),
        ("types", "Types", types::types(doc)),
    ];
    let mut page = Page::default();
    page.block(format!("# {}", doc.plan.guard));
    overview(doc, &loaded.hash_text(), &mut page);
    let said = || sections.iter().filter(|(_, _, text)| !text.is_empty());
    page.block("## Contents");
    for (anchor, title, _) in said() {
        page.item(0, link(title, anchor));
        if *anchor == "tools" {
            let links = doc.plan.tools.iter().map(|t| tools::link_to(&t.name));
            page.item(1, links.collect::<Vec<_>>().join(", "));
        }
    }
    for (anchor, title, text) in said() {
        page.heading(2, anchor, title);
        page.raw(text.trim_end());
    }
    page.out
}

fn overview(doc: Doc, hash: &str, page: &mut Page) {
    let plan = doc.plan;
    let mut rows = vec![["Plan".to_owned(), format!("`{hash}`")]];
    rows.push(["Edition".into(), plan.edition.to_string()]);
    if plan.shadow {
        rows.push(["In shadow".into(), "nothing is refused; what would be is recorded".into()]);
    }
    let others = if plan.default_allow { "allowed" } else { "denied" };
    rows.push(["Undeclared tools".into(), others.into()]);
    if let Some(deadline) = plan.deadline {
        rows.push(["Deadline".into(), words::duration(deadline)]);
    }
    for unit in &plan.units {
        if let Some(budget) = unit.budget {
            let amount = format!("{} {}", decimal::format(budget), unit.name);
            rows.push(["Budget".into(), link(&amount, "budgets")]);
        }
    }
    let steps = plan.tools.iter().map(|tool| tool.steps).max().unwrap_or(0);
    rows.push(["Tools".into(), plan.tools.len().to_string()]);
    rows.push(["Most steps of a decision".into(), thousands(steps)]);
    page.table(["", ""], rows);
}

//! Policies, each with its tools and rules.

use super::page::Page;
use super::{Doc, tools};
use guard_plan::words::rules::{self, PhraseSubject, code};
use std::collections::{BTreeMap, BTreeSet};

/// Lists the policies. They are collected from the tools, because a plan does not store policies.
pub(super) fn policies(doc: Doc) -> String {
    // The rules of each policy in the kernel's order, each with its position and tools.
    type PolicyRules = BTreeMap<(PhraseSubject, String), (String, BTreeSet<String>)>;
    let mut found: BTreeMap<&str, PolicyRules> = BTreeMap::new();
    for tool in &doc.plan.tools {
        let all = [rules::before(doc.plan, tool), rules::after(doc.plan, tool)].concat();
        for said in &all {
            let invariant =
                matches!(said.about, PhraseSubject::Keeps | PhraseSubject::ObserveKeeps);
            let Some(rule) = said.rule.filter(|r| !invariant && r.owner != tool.name) else {
                continue;
            };
            let key = (said.about, tools::sentence(doc.plan, said));
            let rules = found.entry(&rule.owner).or_default();
            let place = || (doc.at(rule.span), BTreeSet::new());
            rules.entry(key).or_insert_with(place).1.insert(tools::link_to(&tool.name));
        }
    }
    let mut page = Page::default();
    for (owner, rules) in found {
        page.heading(3, &format!("policy-{owner}"), &code(owner));
        let rows = rules.into_iter().map(|((_, text), (at, tools))| {
            [text, tools.into_iter().collect::<Vec<_>>().join(", "), at]
        });
        page.table(["rule", "for", "at"], rows.collect());
    }
    page.out
}

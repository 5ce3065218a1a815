//! Tools with their rules, and the rules on several tools.

use super::{MarkdownPage, listed, paragraph};
use guard_plan::plan::{Field, Plan, Risk, Tool};
use guard_plan::words;
use guard_plan::words::rules::{self, PhraseSubject, RulePhrase, code};
use std::collections::{BTreeMap, BTreeSet};

/// A rule that a policy applies to several tools with the same text.
type Common<'a> = (&'a str, PhraseSubject, String);

/// Describes the tools that the kernel does not serve. Tools of lifecycles are described with their
/// items.
pub(super) fn tools(plan: &Plan, page: &mut MarkdownPage) {
    let common = common(plan);
    page.block("## Tools");
    for tool in plan.tools.iter().filter(|tool| tool.served.is_none()) {
        heading(tool, page);
        let doc = paragraph(&tool.doc);
        if !doc.is_empty() {
            page.block(doc);
        }
        parameters(plan, &tool.params, page);
        let rules = own(plan, tool, &common);
        if !rules.is_empty() {
            page.lead("Rules:");
            rules.iter().for_each(|rule| page.item(rule));
        }
    }
}

fn heading(tool: &Tool, page: &mut MarkdownPage) {
    let mut text = format!("### `{}`", tool.wire_name);
    if let Some(title) = &tool.title {
        text.push_str(&format!(": {}", words::line(title)));
    }
    if tool.name != tool.wire_name {
        text.push_str(&format!(" (`{}` in rules)", tool.name));
    }
    page.block(text);
}

fn parameters(plan: &Plan, params: &[Field], page: &mut MarkdownPage) {
    if params.is_empty() {
        page.block("Takes no arguments.");
        return;
    }
    page.lead("Arguments:");
    for field in params {
        page.item(parameter(plan, field));
    }
}

/// Formats a parameter: `` `count`: whole number from 1 to 5 ``.
pub(super) fn parameter(plan: &Plan, field: &Field) -> String {
    let secret = if field.secret { "; secret, never shown or recorded in the clear" } else { "" };
    let inner = words::open(plan, field.ty);
    let missing = if inner == field.ty { "" } else { "; may be left out" };
    let kind = words::plain(plan, inner);
    let doc = words::further(&field.doc);
    format!("`{}`: {kind}{missing}{secret}{doc}", field.name)
}

/// Returns the rules of one tool that are not common to several, each a phrase.
pub(super) fn own(
    plan: &Plan,
    tool: &Tool,
    common: &BTreeMap<Common, BTreeSet<u32>>,
) -> Vec<String> {
    let mut out = Vec::new();
    out.extend(nature(tool));
    let said: Vec<RulePhrase> = said(plan, tool)
        .into_iter()
        .filter(|said| key(tool, said).is_none_or(|key| !common.contains_key(&key)))
        .collect();
    let texts = |about: PhraseSubject| -> Vec<String> {
        said.iter().filter(|s| s.about == about).map(|s| with_policy(tool, s)).collect()
    };
    let requires = texts(PhraseSubject::Requires);
    if !requires.is_empty() {
        out.push(format!("must have succeeded before: {}", requires.join("; ")));
    }
    let costs = texts(PhraseSubject::Cost);
    if !costs.is_empty() {
        out.push(format!("costs {}", listed(&costs, "and")));
    }
    let single = [
        PhraseSubject::Deny,
        PhraseSubject::Transform,
        PhraseSubject::Limit,
        PhraseSubject::Approval,
        PhraseSubject::Gate,
        PhraseSubject::Ready,
        PhraseSubject::Reconcile,
        PhraseSubject::Private,
    ];
    out.extend(
        single.iter().flat_map(|about| texts(*about).into_iter().map(|text| phrase(*about, &text))),
    );
    out.extend(changes(&texts(PhraseSubject::Effect), &said));
    let sets = [texts(PhraseSubject::Observe), texts(PhraseSubject::ObserveWarn)].concat();
    out.extend(sets.iter().map(|text| phrase(PhraseSubject::Observe, text)));
    let teaches: BTreeSet<String> = texts(PhraseSubject::Learn).into_iter().collect();
    if !teaches.is_empty() {
        let teaches: Vec<String> = teaches.into_iter().collect();
        out.push(format!("its result teaches the guard {}", listed(&teaches, "and")));
    }
    out
}

fn nature(tool: &Tool) -> Option<String> {
    let plain = (tool.risk >= Risk::High).then(|| format!("{} risk", words::risk(tool.risk)));
    let some = tool.risks.iter().filter(|some| some.level > tool.risk && some.level >= Risk::High);
    let some = some.map(|some| format!("{} risk {}", words::risk(some.level), code(&some.text)));
    let risk = plain.into_iter().chain(some);
    let irreversible = tool.irreversible.then(|| "cannot be undone".to_owned());
    let said: Vec<String> = risk.chain(irreversible).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// Describes the changes to the state, and the invariants that they can violate.
fn changes(effects: &[String], said: &[RulePhrase]) -> Option<String> {
    if effects.is_empty() {
        return None;
    }
    let kept = said.iter().filter(|s| s.about == PhraseSubject::Keeps);
    let kept: Vec<String> =
        kept.filter_map(|s| s.rule).map(|rule| format!("`{}`", rule.owner)).collect();
    let keeps = if kept.is_empty() {
        String::new()
    } else {
        format!("; must keep {}", listed(&kept, "and"))
    };
    Some(format!("changes {}{keeps}", effects.join(", ")))
}

/// Returns a phrase, with the policy's name if a policy applies it to this tool alone.
fn with_policy(tool: &Tool, said: &RulePhrase) -> String {
    match said.rule {
        Some(rule) if rule.owner != tool.name => format!("{} (`{}`)", said.text, rule.owner),
        _ => said.text.clone(),
    }
}

fn phrase(about: PhraseSubject, text: &str) -> String {
    match about {
        PhraseSubject::Requires => format!("must have succeeded before: {text}"),
        PhraseSubject::Deny => format!("denied {text}"),
        PhraseSubject::Limit => format!("at most {text}"),
        PhraseSubject::Cost => format!("costs {text}"),
        PhraseSubject::Effect => format!("changes {text}"),
        PhraseSubject::Approval => format!("needs the approval of {text}"),
        PhraseSubject::Gate => text.to_string(),
        PhraseSubject::Ready => format!("only when the probe {text} answers true"),
        PhraseSubject::Learn => format!("its result teaches the guard {text}"),
        PhraseSubject::Reconcile => {
            format!("afterwards {text} must hold; otherwise the session halts")
        }
        PhraseSubject::Observe | PhraseSubject::ObserveWarn => format!("its result sets {text}"),
        PhraseSubject::Transform => format!("must be called with {text}"),
        PhraseSubject::Private => format!("private {text}"),
        PhraseSubject::Endorsed => format!("trusted {text}"),
        PhraseSubject::Shown
        | PhraseSubject::Result
        | PhraseSubject::Keeps
        | PhraseSubject::ObserveKeeps => text.into(),
    }
}

/// Returns the rules on a tool that matter to its callers.
fn said<'a>(plan: &'a Plan, tool: &'a Tool) -> Vec<RulePhrase<'a>> {
    let monitored = |said: &RulePhrase| {
        said.about == PhraseSubject::Keeps
            && plan.invariants.iter().any(|i| i.monitor && Some(&i.rule) == said.rule)
    };
    let mut all = rules::before(plan, tool);
    all.extend(rules::after(plan, tool));
    all.retain(|said| !said.rule.is_some_and(|rule| rule.shadow) && !monitored(said));
    all
}

/// Returns the key that identifies a rule of a policy.
fn key<'a>(tool: &Tool, said: &RulePhrase<'a>) -> Option<Common<'a>> {
    let rule = said.rule.filter(|rule| rule.owner != tool.name)?;
    let spoken = !matches!(
        said.about,
        PhraseSubject::Keeps | PhraseSubject::ObserveKeeps | PhraseSubject::Result
    );
    spoken.then(|| (rule.owner.as_str(), said.about, said.text.clone()))
}

/// Returns the common rules with their tools, at least two.
pub(super) fn common(plan: &Plan) -> BTreeMap<Common<'_>, BTreeSet<u32>> {
    let mut found: BTreeMap<Common, BTreeSet<u32>> = BTreeMap::new();
    for (id, tool) in (0..).zip(&plan.tools) {
        for key in said(plan, tool).iter().filter_map(|said| key(tool, said)) {
            found.entry(key).or_default().insert(id);
        }
    }
    found.retain(|_, tools| tools.len() > 1);
    found
}

/// Describes the rules of policies, each once for all its tools.
pub(super) fn shared(plan: &Plan, page: &mut MarkdownPage) {
    let mut sets: BTreeMap<(String, BTreeSet<u32>), Vec<String>> = BTreeMap::new();
    for ((owner, about, text), tools) in common(plan) {
        let together = about == PhraseSubject::Limit && !counts_apart(&text);
        let together = if together { ", all of them together" } else { "" };
        let said = format!("{}{together}", phrase(about, &text));
        sets.entry((owner.to_owned(), tools)).or_default().push(said);
    }
    if sets.is_empty() {
        return;
    }
    page.block("## Rules for several tools");
    for ((owner, tools), said) in sets {
        page.lead(format!("`{owner}`, for {}:", set(plan, &tools)));
        said.iter().for_each(|said| page.item(said));
    }
}

/// Returns true for a limit on identical calls, which counts each tool separately (semantics §3.6).
fn counts_apart(text: &str) -> bool {
    text.contains("with the same arguments")
}

/// Returns the names of a set of tools, or its exceptions if they are shorter.
fn set(plan: &Plan, tools: &BTreeSet<u32>) -> String {
    let name = |tool: &Tool| format!("`{}`", tool.wire_name);
    let missing: Vec<String> = (0..)
        .zip(&plan.tools)
        .filter(|(id, _)| !tools.contains(id))
        .map(|(_, tool)| name(tool))
        .collect();
    if missing.is_empty() {
        return "every tool".into();
    }
    if missing.len() * 2 < tools.len() {
        return format!("every tool but {}", listed(&missing, "and"));
    }
    let names: Vec<String> =
        tools.iter().filter_map(|id| plan.tools.get(*id as usize)).map(name).collect();
    listed(&names, "and")
}

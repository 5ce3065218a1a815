//! Each tool with all rules that govern it.

use super::page::{Page, link, linked};
use super::{Doc, types};
use crate::commands::check::thousands;
use guard_plan::plan::{Field, Plan, Tool};
use guard_plan::words::rules::{self, PhraseSubject, RulePhrase, code};
use guard_plan::words::{self, session};

/// Describes all tools, by name.
pub(super) fn tools(doc: Doc) -> String {
    let mut page = Page::default();
    for tool in &doc.plan.tools {
        page.heading(3, &format!("tool-{}", tool.name), &code(&tool.name));
        if let Some(title) = &tool.title {
            page.block(format!("**{}**", words::line(title)));
        }
        page.doc(&tool.doc);
        page.block(nature(doc, tool));
        parameters(doc, &tool.params, &mut page);
        rules_of(doc, tool, "Before a call", rules::before(doc.plan, tool), &mut page);
        rules_of(doc, tool, "After it", rules::after(doc.plan, tool), &mut page);
        waits(doc.plan, tool, &mut page);
    }
    page.out
}

/// Returns a tool's name as a link to its section.
pub(super) fn link_to(name: &str) -> String {
    link(&code(name), &format!("tool-{name}"))
}

/// Describes risk, names, tags, position and decision cost in one line.
fn nature(doc: Doc, tool: &Tool) -> String {
    let mut said = vec![format!("Risk {}", words::risk(tool.risk))];
    said.extend(tool.risks.iter().map(|r| format!("{} {}", words::risk(r.level), code(&r.text))));
    if tool.irreversible {
        said.push("irreversible".into());
    }
    if tool.wire_name != tool.name {
        said.push(format!("called {} by its host", code(&tool.wire_name)));
    }
    if !tool.tags.is_empty() {
        let tags: Vec<String> = tool.tags.iter().map(|tag| code(tag)).collect();
        said.push(format!("tags {}", tags.join(", ")));
    }
    let items = tool.served.as_ref().and_then(|s| doc.plan.lifecycles.get(s.lifecycle as usize));
    if let Some(items) = items {
        let lifecycle = link(&code(&items.name), &format!("lifecycle-{}", items.name));
        said.push(format!("served by the kernel for {lifecycle}"));
    }
    said.push(format!("at most {} a call", words::count(thousands(tool.steps), "step")));
    said.push(doc.at(tool.span));
    said.retain(|part| !part.is_empty());
    said.join(" · ")
}

fn parameters(doc: Doc, params: &[Field], page: &mut Page) {
    let rows = params.iter().map(|field| types::row(doc.plan, field)).collect();
    page.table(["parameter", "type", "is"], rows);
}

fn rules_of(doc: Doc, tool: &Tool, title: &str, said: Vec<RulePhrase>, page: &mut Page) {
    let rows = said.iter().map(|said| {
        let policy = said.rule.filter(|rule| !is_invariant(said) && rule.owner != tool.name);
        let who = policy.map(|rule| link(&code(&rule.owner), &format!("policy-{}", rule.owner)));
        let at = said.rule.map(|rule| doc.at(rule.span)).unwrap_or_default();
        [sentence(doc.plan, said), who.unwrap_or_default(), at]
    });
    page.table([title, "policy", "at"], rows.collect());
}

fn is_invariant(said: &RulePhrase) -> bool {
    matches!(said.about, PhraseSubject::Keeps | PhraseSubject::ObserveKeeps)
}

fn waits(plan: &Plan, tool: &Tool, page: &mut Page) {
    let waits = (0..).zip(&plan.tools).filter(|(id, other)| tool.waits_for(*id, other));
    let names: Vec<String> = waits.map(|(_, other)| link_to(&other.name)).collect();
    if !names.is_empty() {
        page.block(format!("Waits while a call of {} is in flight.", names.join(", ")));
    }
}

/// Formats a phrase as a sentence, with links, its documentation, and its effect.
pub(super) fn sentence(plan: &Plan, said: &RulePhrase) -> String {
    let text = &said.text;
    let mut out = match said.about {
        PhraseSubject::Requires => format!("requires {}", to_tools(plan, text)),
        PhraseSubject::Deny => format!("denied {text}"),
        PhraseSubject::Limit => format!("at most {text}"),
        PhraseSubject::Cost => format!("costs {text}"),
        PhraseSubject::Effect => format!("does {text}"),
        PhraseSubject::Keeps => format!("keeps {}", to_owner(said, text)),
        PhraseSubject::Approval => format!("asks {text}"),
        PhraseSubject::Gate => text.clone(),
        PhraseSubject::Ready => format!("waits for the probe {}", to(text, "probe")),
        PhraseSubject::Result => format!("returns {text}"),
        PhraseSubject::Observe => format!(
            "observes {text}; a value that does not fit, or breaks an invariant, halts the session"
        ),
        PhraseSubject::ObserveWarn => format!(
            "observes {text}; a value that does not fit, or breaks an invariant, is a warning"
        ),
        PhraseSubject::ObserveKeeps => format!("{} must still hold", to_owner(said, text)),
        PhraseSubject::Learn => format!("teaches {}", to(text, "fact")),
        PhraseSubject::Reconcile => format!("expects {text}, or halts"),
        PhraseSubject::Transform => format!("must be called with {text}"),
        PhraseSubject::Shown => format!("shows the agent {text}"),
        PhraseSubject::Private => format!("private {text}"),
        PhraseSubject::Endorsed => format!("trusted {text}"),
    };
    let Some(rule) = said.rule else {
        return out;
    };
    if rule.shadow {
        out.push_str(" (in shadow)");
    }
    if !is_invariant(said) && !rule.doc.trim().is_empty() {
        out.push_str(&format!(" — {}", words::line(&rule.doc)));
    }
    out
}

/// Turns a text that is a name in backticks into a link.
fn to(text: &str, kind: &str) -> String {
    linked(text, kind, text.trim_matches('`'))
}

fn to_owner(said: &RulePhrase, text: &str) -> String {
    said.rule.map_or_else(|| text.into(), |rule| linked(text, "invariant", &rule.owner))
}

/// Turns every tool at the beginning of a requirement into a link.
fn to_tools(plan: &Plan, text: &str) -> String {
    let alternatives = text.split(" or `");
    let linked = alternatives.enumerate().map(|(n, part)| {
        let whole = if n == 0 { part.to_owned() } else { format!("`{part}") };
        let name = whole.split('`').nth(1).unwrap_or_default().to_owned();
        let known = plan.tools.iter().any(|tool| tool.name == name);
        if known { super::page::linked(&whole, "tool", &name) } else { whole }
    });
    linked.collect::<Vec<_>>().join(" or ")
}

/// Describes the action of a lifecycle's tool.
pub(super) fn serves(plan: &Plan, tool: &Tool) -> String {
    use guard_plan::plan::ServedOp;
    let Some(served) = &tool.served else {
        return String::new();
    };
    let Some(items) = plan.lifecycles.get(served.lifecycle as usize) else {
        return String::new();
    };
    match served.op {
        ServedOp::Create => {
            format!("makes an item in {}", code(session::state_name(items, items.initial)))
        }
        ServedOp::List => "lists items".into(),
        ServedOp::Move(at) => {
            let transition = items.transitions.get(at as usize);
            transition.map(|t| session::moves(items, t)).unwrap_or_default()
        }
    }
}

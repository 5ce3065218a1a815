//! The session-wide parts: probes, lifecycles, feedback, completion, attests, goals.

use super::page::Page;
use super::{Doc, tools, types};
use guard_plan::decimal;
use guard_plan::plan::{CheckKind, Checks, Lifecycle, Probe};
use guard_plan::words::rules::code;
use guard_plan::words::{self, session};

/// Describes the probes.
pub(super) fn probes(doc: Doc) -> String {
    let mut page = Page::default();
    for (id, probe) in (0..).zip(&doc.plan.probes) {
        page.heading(3, &format!("probe-{}", probe.name), &code(&probe.name));
        page.block(format!(
            "Answers {}, asked of {}.",
            code(&words::ty(doc.plan, probe.returns)),
            session::asks(doc.plan, probe)
        ));
        manners(probe).into_iter().for_each(|line| page.item(0, line));
        let waiting = doc.plan.tools.iter().filter(|t| t.ready.iter().any(|r| r.probe == id));
        let waiting: Vec<String> = waiting.map(|t| tools::link_to(&t.name)).collect();
        if !waiting.is_empty() {
            page.item(0, format!("waited for by {}", waiting.join(", ")));
        }
    }
    page.out
}

fn manners(probe: &Probe) -> Vec<String> {
    let mut out = vec![format!("one question takes at most {}", words::duration(probe.timeout))];
    let every = probe.every.map(|d| format!("an answer is good for {}", words::duration(d)));
    let backoff = probe.backoff.as_ref().map(|backoff| {
        let factor = decimal::format(backoff.factor);
        let most = words::duration(backoff.up_to);
        format!("after a failed attempt it waits 1s, then {factor} times as long each time, at most {most}")
    });
    let within =
        probe.within.map(|d| format!("given up after {} of failed attempts", words::duration(d)));
    out.extend([every, backoff, within].into_iter().flatten());
    out
}

/// Describes the items, their states and their transitions.
pub(super) fn lifecycles(doc: Doc) -> String {
    let mut page = Page::default();
    for (id, items) in (0..).zip(&doc.plan.lifecycles) {
        page.heading(3, &format!("lifecycle-{}", items.name), &code(&items.name));
        page.doc(&items.doc);
        page.block(doc.at(items.span));
        let fields = items.fields.iter().map(|field| types::row(doc.plan, field));
        page.table(["field", "type", "is"], fields.collect());
        states(items, &mut page);
        transitions(doc, items, &mut page);
        let served = doc.plan.tools.iter();
        let served = served.filter(|t| t.served.as_ref().is_some_and(|s| s.lifecycle == id));
        let rows = served.map(|t| [tools::link_to(&t.name), tools::serves(doc.plan, t)]);
        page.table(["tool", "does"], rows.collect());
        if let Some(escalate) = &items.escalate {
            let role = &escalate.role;
            let after = escalate.after;
            page.block(format!(
                "After {after} rejections of an item, {role} is asked about each step."
            ));
        }
        if !items.criteria.is_empty() {
            let kinds = items.criteria.iter().map(|kind| session::criterion(*kind));
            page.block(format!("Criteria: {}.", kinds.collect::<Vec<_>>().join("; ")));
        }
    }
    page.out
}

fn states(items: &Lifecycle, page: &mut Page) {
    let rows = (0..).zip(&items.states).map(|(at, name)| {
        let kind = match (at == items.initial, items.finals.contains(&at)) {
            (true, true) => "initial, final",
            (true, false) => "initial",
            (false, true) => "final",
            (false, false) => "",
        };
        let leaves = items.transitions.iter().filter(|t| t.from.contains(&at));
        let leaves = leaves
            .map(|t| format!("{} → {}", code(&t.name), code(session::state_name(items, t.to))));
        [code(name), kind.into(), leaves.collect::<Vec<_>>().join(", ")]
    });
    page.table(["state", "", "leads to"], rows.collect());
}

fn transitions(doc: Doc, items: &Lifecycle, page: &mut Page) {
    let rows = items.transitions.iter().map(|transition| {
        [
            code(&transition.name),
            session::actor(transition.actor).into(),
            session::moves(items, transition),
            session::condition(transition).into(),
            doc.at(transition.span),
        ]
    });
    page.table(["transition", "by", "moves", "", "at"], rows.collect());
}

/// Describes the providers: their triggers and messages.
pub(super) fn feedback(doc: Doc) -> String {
    let mut page = Page::default();
    for provider in &doc.plan.feedback {
        page.heading(3, &format!("feedback-{}", provider.name), &code(&provider.name));
        let triggers = provider.triggers.iter().map(|t| session::trigger(doc.plan, t));
        let triggers = triggers.collect::<Vec<_>>().join(", or ");
        page.block(format!("Speaks {triggers}. {}", doc.at(provider.span)).trim_end());
        for block in &provider.blocks {
            page.item(0, session::block(doc.plan, block));
        }
    }
    page.out
}

/// Describes the conditions of a stop.
pub(super) fn completion(doc: Doc) -> String {
    let mut page = Page::default();
    let Some(completion) = &doc.plan.completion else {
        return page.out;
    };
    page.block(format!(
        "What must hold before the agent may stop, judged in this order. After {} blocked stops the next one is \
         allowed, and marked incomplete. {}",
        completion.at_most,
        doc.at(completion.span)
    ));
    checks(doc, &completion.checks, 0, &mut page);
    page.out
}

fn checks(doc: Doc, checks: &Checks, depth: usize, page: &mut Page) {
    for (below, text) in session::checks(doc.plan, checks) {
        page.item(depth + below, text);
    }
    // The environment of a command is always shown.
    for check in &checks.0 {
        let CheckKind::Command(id, _) = check.kind else {
            continue;
        };
        let Some(command) = doc.plan.commands.get(id as usize) else {
            continue;
        };
        let env = if command.env.is_empty() { "nothing".into() } else { command.env.join(", ") };
        let within = words::duration(command.within);
        let words = code(&session::command(command));
        page.item(
            depth,
            format!("{words} runs for at most {within}, with {env} of the environment"),
        );
    }
}

/// Describes the dimensions, none of which may be zero.
pub(super) fn attests(doc: Doc) -> String {
    let mut page = Page::default();
    for attest in &doc.plan.attests {
        page.heading(3, &format!("attest-{}", attest.name), &code(&attest.name));
        let at = doc.at(attest.span);
        page.block(format!("Holds if every dimension is above zero. {at}").trim_end());
        for dimension in &attest.dimensions {
            page.item(0, code(&dimension.name));
            checks(doc, &dimension.checks, 1, &mut page);
        }
    }
    page.out
}

/// Describes the goals.
pub(super) fn goals(doc: Doc) -> String {
    let mut page = Page::default();
    for goal in &doc.plan.goals {
        page.heading(3, &format!("goal-{}", goal.name), &code(&goal.name));
        page.doc(&goal.doc);
        page.block(doc.at(goal.span));
        goal.conditions.iter().for_each(|(text, _)| page.item(0, code(text)));
    }
    page.out
}

//! A plan and a record as text, with a few lines each, without data that changes with the version.

use guard_ack::RunSeen;
use guard_plan::decimal;
use guard_plan::plan::{Plan, Tool};
use guard_plan::record::{
    Asked, Charge, Delivered, ItemChange, Note, Payload, Propose, Record, Settle, Stop,
    StopDecision,
};
use guard_plan::verdict::{Decision, Verdict};
use guard_plan::words::rules::{self, PhraseSubject, RulePhrase};
use guard_plan::words::{self, session};
use std::fmt::Write as _;

/// The maximum number of characters of arguments and results that are shown.
const SHOWN: usize = 120;

/// Returns a plan as text, one line for each declaration.
pub fn plan(plan: &Plan) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        let _ = writeln!(out, "  {text}");
    };
    if plan.shadow {
        line("the guard is in shadow".into());
    }
    if plan.default_allow {
        line("undeclared tools are allowed".into());
    }
    plan.deadline.iter().for_each(|it| line(format!("deadline {}", words::duration(*it))));
    for unit in &plan.units {
        let host = if unit.host_charged { ", charged by the host" } else { "" };
        unit.budget.iter().for_each(|it| {
            line(format!("budget {} {}{host}", decimal::format(*it), unit.name));
        });
    }
    for invariant in &plan.invariants {
        let mode = if invariant.monitor { " (reported only)" } else { "" };
        line(format!("invariant {}: {}{mode}", invariant.rule.owner, invariant.text));
    }
    for probe in &plan.probes {
        line(format!("probe {}, answered by {}", probe.name, session::asks(plan, probe)));
    }
    for items in &plan.lifecycles {
        line(format!("lifecycle {}", items.name));
        for it in &items.transitions {
            line(format!(
                "  {} {}: {}",
                session::actor(it.actor),
                it.name,
                session::step(items, it)
            ));
        }
    }
    for tool in plan.tools.iter() {
        self::tool(plan, tool).into_iter().for_each(&mut line);
    }
    for provider in &plan.feedback {
        let triggers = provider.triggers.iter().map(|it| session::trigger(plan, it));
        line(format!("feedback {} {}", provider.name, triggers.collect::<Vec<_>>().join(", or ")));
        provider.blocks.iter().for_each(|it| line(format!("  {}", session::block(plan, it))));
    }
    if let Some(completion) = &plan.completion {
        line(format!("completion, at most {} blocks", completion.at_most));
        for (depth, text) in session::checks(plan, &completion.checks) {
            line(format!("  {}{text}", "  ".repeat(depth)));
        }
    }
    plan.contracts.iter().for_each(|it| line(format!("contract {}", it.name)));
    out
}

fn tool(plan: &Plan, tool: &Tool) -> Vec<String> {
    let wire = if tool.wire_name == tool.name {
        String::new()
    } else {
        format!(", called {}", tool.wire_name)
    };
    let mut out =
        vec![format!("tool {}({}){wire}", tool.name, words::parameters(plan, &tool.params))];
    let said = rules::before(plan, tool).into_iter().chain(rules::after(plan, tool));
    out.extend(said.map(|said| format!("  {}", rule(&said, &tool.name))));
    out
}

fn rule(said: &RulePhrase, tool: &str) -> String {
    let word = match said.about {
        PhraseSubject::Requires => "requires",
        PhraseSubject::Deny => "denied",
        PhraseSubject::Limit => "at most",
        PhraseSubject::Cost => "costs",
        PhraseSubject::Effect => "effect",
        PhraseSubject::Keeps | PhraseSubject::ObserveKeeps => "keeps",
        PhraseSubject::Approval => "approved by",
        PhraseSubject::Gate => "gate:",
        PhraseSubject::Ready => "ready by",
        PhraseSubject::Result => "returns",
        PhraseSubject::Observe | PhraseSubject::ObserveWarn => "observes",
        PhraseSubject::Learn => "teaches",
        PhraseSubject::Reconcile => "expects",
        PhraseSubject::Transform => "with",
        PhraseSubject::Shown => "shows",
        PhraseSubject::Private => "private",
        PhraseSubject::Endorsed => "trusted",
    };
    let invariant = matches!(said.about, PhraseSubject::Keeps | PhraseSubject::ObserveKeeps);
    let owner =
        said.rule.map(|rule| rule.owner.as_str()).filter(|owner| !invariant && *owner != tool);
    let owner = owner.map(|owner| format!(" [{owner}]")).unwrap_or_default();
    let shadow = if said.rule.is_some_and(|rule| rule.shadow) { " (in shadow)" } else { "" };
    format!("{word} {}{owner}{shadow}", said.text)
}

/// Returns the call that a record decides, with the decision; `None` for other records.
pub fn decision(record: &Record) -> Option<(String, Decision, String)> {
    match &record.payload {
        Payload::Propose(it) => {
            let call = record.call.clone().unwrap_or_default();
            Some((call, it.verdict.decision, verdict(&it.verdict)))
        }
        Payload::Stop(it) => {
            let decision =
                if it.decision == StopDecision::Allow { Decision::Allow } else { Decision::Deny };
            Some(("stop".into(), decision, stop(it)))
        }
        _ => None,
    }
}

fn verdict(verdict: &Verdict) -> String {
    let mut out = verdict.decision.as_str().to_owned();
    for reason in &verdict.reasons {
        let _ = write!(out, "\n      {}: {}", reason.code.as_str(), reason.message);
        if !reason.help.is_empty() {
            let _ = write!(out, " ({})", reason.help);
        }
    }
    for reason in &verdict.shadowed {
        let _ = write!(out, "\n      in shadow, {}: {}", reason.code.as_str(), reason.message);
    }
    out
}

fn stop(stop: &Stop) -> String {
    let mut out = if stop.decision == StopDecision::Allow { "allow" } else { "block" }.to_owned();
    stop.bypassed.iter().for_each(|why| out.push_str(&format!(", not looked at for {why}")));
    if stop.incomplete {
        out.push_str(", incomplete");
    }
    stop.missing.iter().for_each(|it| out.push_str(&format!("\n      {}", it.message)));
    out
}

/// Formats a record on one line.
pub fn record(record: &Record) -> String {
    let call = record.call.as_ref().map(|call| format!(" {call}")).unwrap_or_default();
    let what = match &record.payload {
        Payload::Open(it) => noted(
            if it.data.is_some() {
                format!("with data{}", learned(it.learned))
            } else {
                String::new()
            },
            &it.notes,
        ),
        Payload::Propose(it) => propose(it),
        Payload::Settle(it) => settle(it),
        Payload::Approve(it) => {
            format!("{} {} as {} by {}", it.tool, short(&it.args.to_string()), it.role, it.by)
        }
        Payload::Revoke(it) => {
            format!("{} {} as {} by {}", it.tool, short(&it.args.to_string()), it.role, it.by)
        }
        Payload::Usage(it) => format!("{} {}", it.amount, it.unit),
        Payload::Resume(it) => format!("as {} by {}", it.role, it.by),
        Payload::Prompt(it) => noted(format!("{:?}{}", it.text, learned(it.learned)), &it.notes),
        Payload::Stop(it) => {
            format!("{}{}", stop(it).lines().next().unwrap_or_default(), asked(&it.asked))
        }
        Payload::Item(it) => {
            format!("{}{}", items(std::slice::from_ref(&*it.change)), asked(&it.asked))
        }
        Payload::Answers(_) => "of probes".into(),
        Payload::Upgrade(it) => format!("to {}", it.snapshot.guard),
        Payload::Contract(_) | Payload::Snapshot(_) | Payload::Ledger(_) => String::new(),
    };
    let time = record.time.get(11..).unwrap_or_default().trim_end_matches('Z');
    format!("{} {time} {}{call} {what}", record.seq, record.kind().word()).trim_end().to_owned()
}

fn propose(propose: &Propose) -> String {
    let mut out = format!(
        "{} {} -> {}",
        propose.tool,
        short(&propose.args.to_string()),
        propose.verdict.decision.as_str()
    );
    out.push_str(&charged(&propose.charged));
    propose
        .served
        .iter()
        .for_each(|result| out.push_str(&format!(", served {}", short(&result.to_string()))));
    if !propose.items.is_empty() {
        let _ = write!(out, ", {}", items(&propose.items));
    }
    out.push_str(&asked(&propose.asked));
    out.push_str(&spoken(&propose.feedback));
    noted(out, &propose.notes)
}

fn settle(settle: &Settle) -> String {
    let mut out = if settle.success { "success" } else { "failure" }.to_owned();
    for change in settle.changes.iter() {
        let _ = write!(out, ", {}: {} -> {}", change.name, change.before, change.after);
    }
    out.push_str(&learned(settle.learned));
    if settle.halted {
        out.push_str(", halted");
    }
    out.push_str(&asked(&settle.asked));
    out.push_str(&spoken(&settle.feedback));
    noted(out, &settle.notes)
}

fn learned(rows: u64) -> String {
    match rows {
        0 => String::new(),
        1 => ", 1 row learned".into(),
        rows => format!(", {rows} rows learned"),
    }
}

fn charged(charges: &[Charge]) -> String {
    // Every call costs one of `calls`.
    charges
        .iter()
        .filter(|it| &*it.unit != "calls")
        .map(|it| format!(", {} {}", it.amount, it.unit))
        .collect()
}

fn spoken(feedback: &[Delivered]) -> String {
    let one = |it: &Delivered| {
        let text = it.text.lines().nth(1).unwrap_or_default();
        format!(", {} from {}: {text:?}", session::severity(it.severity), it.provider)
    };
    feedback.iter().map(one).collect()
}

fn items(changes: &[ItemChange]) -> String {
    let one = |it: &ItemChange| {
        let why: String = it.reasons.iter().map(|why| format!(", {why}")).collect();
        format!("{} is {}{why}", it.item, it.after)
    };
    changes.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn asked(questions: &[Asked]) -> String {
    let said =
        |answer: Option<bool>| answer.map_or("nobody knows", |it| if it { "yes" } else { "no" });
    let one = |it: &Asked| match it {
        Asked::Exists { path, answer } => format!(", {path} exists: {}", said(*answer)),
        Asked::Probe { name, answer, .. } => format!(", probe {name}: {answer}"),
        Asked::File { path, answer } => format!(", {path} is a file: {}", said(*answer)),
        Asked::Contains { path, text, answer } => {
            format!(", {path} contains {text:?}: {}", said(*answer))
        }
        Asked::Text { path, .. } => format!(", reads {path}"),
        Asked::Sha256 { path, .. } => format!(", hashes {path}"),
        Asked::Run { command, answer } => {
            let ended = answer.as_ref().map_or("nobody can".into(), |it| format!("{:?}", it.ended));
            format!(", runs `{}`: {ended}", command.join(" "))
        }
        Asked::Committed { answer } => format!(", all is committed: {}", said(*answer)),
    };
    questions.iter().map(one).collect()
}

fn noted(mut text: String, notes: &[Note]) -> String {
    notes.iter().for_each(|it| text.push_str(&format!(", noted: {}", it.message)));
    text
}

/// Formats a text, truncated if it is long. Marks of secrets are replaced, because they differ
/// between sessions.
fn short(text: &str) -> String {
    let mut parts = text.split("secret:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("secret:…");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    match out.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &out[..at]),
        None => out,
    }
}

/// Formats a contract's report as a short text.
pub fn report(report: &serde_json::Value) -> String {
    let mut out = format!("  report {}", report["state"].as_str().unwrap_or_default());
    for mark in ["truncated", "review_required"] {
        if report[mark] == true {
            let _ = write!(out, ", {}", mark.replace('_', " "));
        }
    }
    out.push('\n');
    for lost in report["quarantined"].as_array().into_iter().flatten() {
        let index = &lost["index"];
        let reason = lost["reason"].as_str().unwrap_or_default();
        let _ =
            writeln!(out, "    {index} {reason}: {}", lost["error"].as_str().unwrap_or_default());
    }
    out
}

/// Returns the calls that ran in a run and the way it ended, as one line.
pub fn end(run: &RunSeen) -> String {
    let ran: Vec<&str> = run.executed.iter().filter_map(|one| one.id.as_deref()).collect();
    let ran = if ran.is_empty() { "nothing".into() } else { ran.join(", ") };
    let ended = run.end.as_ref().map(|end| format!("{:?}", end.ended).to_lowercase());
    format!("  ran {ran}; ended {}\n", ended.unwrap_or_default())
}

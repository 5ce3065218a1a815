//! The session-wide parts of a plan as text: checks, triggers, probes, transitions.

use super::rules::code;
use super::{Shows, duration, expr, line, template};
use crate::plan::{
    Actor, Block, CheckKind, Checks, Command, CriterionKind, Lifecycle, Plan, Probe, ProbeAsks,
    Severity, Transition, Trigger,
};

/// A check with its indentation level.
pub type Indented = (usize, String);

/// Formats checks as the lines of a nested list, in the order of evaluation.
pub fn checks(plan: &Plan, checks: &Checks) -> Vec<Indented> {
    let mut out = Vec::new();
    let Some(root) = checks.0.len().checked_sub(1) else {
        return out;
    };
    // A list of checks implies a root of `all`.
    let mut todo: Vec<(usize, usize)> = match &checks.0[root].kind {
        CheckKind::All(parts) => parts.iter().rev().map(|p| (*p as usize, 0)).collect(),
        _ => vec![(root, 0)],
    };
    // Children precede parents and are used once, so the loop terminates.
    while let Some((at, depth)) = todo.pop() {
        let Some(check) = checks.0.get(at) else {
            continue;
        };
        let below = match &check.kind {
            CheckKind::All(parts) | CheckKind::Any(parts) => parts.as_slice(),
            _ => &[],
        };
        out.push((depth, self::check(plan, &check.kind, &check.text)));
        todo.extend(below.iter().rev().map(|p| (*p as usize, depth + 1)));
    }
    out
}

/// Formats one check, without the checks below it.
fn check(plan: &Plan, kind: &CheckKind, text: &str) -> String {
    let path = |id: &u32| code(plan.paths.get(*id as usize).map_or("?", String::as_str));
    match kind {
        CheckKind::File(file) => format!("the file {} exists", path(file)),
        CheckKind::Contains(file, part) => {
            format!("the file {} contains {}", path(file), code(part))
        }
        CheckKind::Conforms(file, contract) => {
            let contract = plan.contracts.get(*contract as usize).map_or("?", |c| c.name.as_str());
            format!("the file {} conforms to {}", path(file), code(contract))
        }
        CheckKind::Command(id, exit) => {
            let words = plan.commands.get(*id as usize).map(command).unwrap_or_default();
            format!("the command {} exits with {exit}", code(&words))
        }
        CheckKind::Committed => "everything is committed in git".into(),
        CheckKind::Every(id, state) => match plan.lifecycles.get(*id as usize) {
            Some(items) => format!("every `{}` is `{}`", items.name, state_name(items, *state)),
            None => text.into(),
        },
        CheckKind::Attest(id) => {
            let name = plan.attests.get(*id as usize).map_or("?", |a| a.name.as_str());
            format!("the attest `{name}` holds: no dimension of it is zero")
        }
        CheckKind::All(_) => "all of:".into(),
        CheckKind::Any(_) => "any of:".into(),
        CheckKind::Condition(_) => format!("{} holds", code(text)),
        CheckKind::Score(_) => format!("{} is above 0", code(text)),
    }
}

/// Formats a command's words in shell notation.
pub fn command(command: &Command) -> String {
    let word = |word: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
        if !word.is_empty() && word.chars().all(plain) { word.clone() } else { format!("{word:?}") }
    };
    command.argv.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Formats a trigger of a provider: `every 30s`.
pub fn trigger(plan: &Plan, trigger: &Trigger) -> String {
    let tool = |id: &u32| plan.tools.get(*id as usize).map_or("?", |t| t.name.as_str());
    match trigger {
        Trigger::Calls(1) => "after every call".into(),
        Trigger::Calls(n) => format!("every {n} calls"),
        Trigger::Every(d) => format!("every {}", duration(*d)),
        Trigger::Created(path) => {
            let path = plan.paths.get(*path as usize).map_or("?", String::as_str);
            format!("once {} exists", code(path))
        }
        Trigger::Denied(None) => "when a call is denied".into(),
        Trigger::Denied(Some(tools)) => {
            let names: Vec<String> = tools.iter().map(|t| code(tool(t))).collect();
            format!("when a call of {} is denied", names.join(" or "))
        }
        Trigger::Becomes { condition, .. } => {
            format!(
                "when {} becomes true",
                code(&expr(&Shows { plan, tool: None, ranges: &[] }, condition))
            )
        }
    }
}

/// Formats a block of a provider: its condition, its message, and the lines under it.
pub fn block(plan: &Plan, block: &Block) -> String {
    let shows = Shows { plan, tool: None, ranges: &[] };
    let when = match &block.when {
        Some(condition) => format!(" when {}", code(&expr(&shows, condition))),
        None => String::new(),
    };
    let mut out =
        format!("{}{when}: {}", severity(block.severity), line(&template(&block.message)));
    for note in &block.notes {
        let mark = if note.suggest { "->" } else { "*" };
        out.push_str(&format!(" {mark} {}", line(&template(&note.text))));
    }
    out
}

/// Formats a severity: `info`, `caution`, `warning`.
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Caution => "caution",
        Severity::Warning => "warning",
    }
}

/// Describes the source of a probe's answer.
pub fn asks(plan: &Plan, probe: &Probe) -> String {
    match probe.asks {
        ProbeAsks::Host => "the host".into(),
        ProbeAsks::Command(id) => {
            let words = plan.commands.get(id as usize).map(command).unwrap_or_default();
            format!("the command {}", code(&words))
        }
        ProbeAsks::File(id) => {
            let path = plan.paths.get(id as usize).map_or("?", String::as_str);
            format!("whether {} exists", code(path))
        }
    }
}

/// Formats a party: `agent`, `harness`.
pub fn actor(actor: Actor) -> &'static str {
    match actor {
        Actor::Agent => "agent",
        Actor::Harness => "harness",
    }
}

/// Returns the name of a state.
pub fn state_name(items: &Lifecycle, state: u32) -> &str {
    items.states.get(state as usize).map_or("?", String::as_str)
}

/// Formats the states of a transition: `` `pending` or `in_progress` → `claimed` ``.
pub fn moves(items: &Lifecycle, transition: &Transition) -> String {
    let from: Vec<String> = transition.from.iter().map(|s| code(state_name(items, *s))).collect();
    format!("{} → {}", from.join(" or "), code(state_name(items, transition.to)))
}

/// Formats a transition as a sentence: its states and its conditions.
pub fn step(items: &Lifecycle, transition: &Transition) -> String {
    let comma = if transition.evidence { "," } else { "" };
    let text = format!("{}{comma} {}", moves(items, transition), condition(transition));
    text.trim_end().to_owned()
}

/// Describes the conditions of a transition other than its state; empty if there are none.
pub fn condition(transition: &Transition) -> &'static str {
    match (transition.evidence, transition.criteria) {
        (true, _) => "requires evidence",
        (false, Some(true)) => "when the criteria pass",
        (false, Some(false)) => "when the criteria fail",
        (false, None) => "",
    }
}

/// Describes a kind of criterion.
pub fn criterion(kind: CriterionKind) -> &'static str {
    match kind {
        CriterionKind::File => "a file exists",
        CriterionKind::FileContains => "a file contains a text",
        CriterionKind::Command => "a command of the guard exits with 0",
        CriterionKind::GitCommit => "nothing is uncommitted in git",
        CriterionKind::Probe => "a probe answers `true`",
    }
}

//! The rules of a guard that may fire, each once, wherever it is instantiated.

use crate::analysis::reference::Outline;
use crate::hir::{Check, CheckKind, ClauseKind, Expr, LimitId, Program, ToolId, Trigger};
use guard_plan::plan::LimitScope;
use guard_plan::time::describe_duration;
use guard_plan::verdict::Code;
use guard_proof::mutant;
use guard_syntax::span::Span;
use std::collections::{HashMap, HashSet};

/// The kind of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is the construct of the same name")]
pub enum RuleKind {
    Requires,
    Deny,
    Limit,
    Budget,
    Deadline,
    Gate,
    Approval,
    Ready,
    Invariant,
    Monitor,
    Refinement,
    Reconcile,
    Feedback,
    Check,
    Transition,
}

/// A rule that may fire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What it is.
    pub kind: RuleKind,
    /// The tool, policy, invariant, unit, provider or lifecycle it belongs to.
    pub owner: String,
    /// In words, short.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// Every rule of a guard, in the order of its places.
pub(crate) fn all(program: &Program) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    let mut add = |kind, owner: &str, text: String, span| {
        rules.push(Rule { kind, owner: owner.to_string(), text, span });
    };
    for tool in &program.tools {
        for clause in &tool.clauses {
            if let Some((kind, text)) = worded(program, &clause.kind) {
                add(kind, &clause.rule.owner, text, clause.rule.span);
            }
        }
        if tool.may_be_gated() {
            let text = "an explicit authorisation".to_string();
            add(RuleKind::Gate, &tool.name, text, tool.span);
        }
    }
    for unit in program.units.iter().filter(|unit| unit.budget.is_some()) {
        add(RuleKind::Budget, &unit.name, format!("budget {}", unit.name), unit.span);
    }
    if let Some(deadline) = program.deadline {
        let text = format!("deadline {}", describe_duration(deadline));
        add(RuleKind::Deadline, "deadline", text, Span::default());
    }
    for invariant in &program.invariants {
        let kind = if invariant.monitor { RuleKind::Monitor } else { RuleKind::Invariant };
        add(kind, &invariant.rule.owner, invariant.text.clone(), invariant.rule.span);
    }
    for provider in &program.feedback {
        let text = format!("feedback {}", provider.name);
        add(RuleKind::Feedback, &provider.name, text, provider.span);
    }
    for lifecycle in &program.lifecycles {
        for step in &lifecycle.transitions {
            add(RuleKind::Transition, &lifecycle.name, step.name.clone(), step.span);
        }
    }
    if let Some(completion) = &program.completion {
        let mut checks = Vec::new();
        each_alone(&completion.checks, &mut checks);
        for check in checks {
            add(RuleKind::Check, "completion", check.text.clone(), check.span);
        }
    }
    rules.sort_by(|a, b| (a.span, a.kind, &a.owner).cmp(&(b.span, b.kind, &b.owner)));
    // A policy's clause stands in each of its tools, so it is here once for each.
    rules.dedup();
    rules
}

fn worded(program: &Program, clause: &ClauseKind) -> Option<(RuleKind, String)> {
    Some(match clause {
        ClauseKind::Requires { any_of, .. } => {
            let names: Vec<&str> =
                any_of.iter().map(|r| program.tools[r.tool].name.as_str()).collect();
            (RuleKind::Requires, format!("requires {}", names.join(" or ")))
        }
        ClauseKind::Deny { text, .. } => (RuleKind::Deny, format!("deny {text}")),
        ClauseKind::Limit { limit, .. } => (RuleKind::Limit, limit_text(program, *limit)),
        ClauseKind::Approval { role, .. } => (RuleKind::Approval, format!("approval {role}")),
        ClauseKind::Ready(probe) => {
            (RuleKind::Ready, format!("ready when probe {}", program.probes[*probe].name))
        }
        ClauseKind::Reconcile { text, .. } => (RuleKind::Reconcile, format!("reconcile {text}")),
        _ => return None,
    })
}

/// A limit in words.
pub(crate) fn limit_text(program: &Program, limit: LimitId) -> String {
    let limit = &program.limits[limit];
    let by = if limit.keyed { " by its key" } else { "" };
    let success = if limit.success { " success" } else { "" };
    let count = format!("{}{success}", limit.count);
    let ask = limit.ask.as_ref().map_or(String::new(), |role| format!(" else ask {role}"));
    match limit.scope {
        LimitScope::Window(d) => {
            format!("limit {count} per {}{by}{ask}", describe_duration(d))
        }
        LimitScope::Session => format!("limit {count} per session{by}{ask}"),
        LimitScope::InFlight => format!("limit {count} in flight{by}"),
        LimitScope::Identical => format!("limit {count} identical{ask}"),
    }
}

/// Returns true if a rule is behind the judgement of a proposal.
pub(crate) fn fires(
    rule: &Rule,
    reasons: &[Outline],
    is_place: impl Fn((Code, Span)) -> bool,
) -> bool {
    use RuleKind as R;
    let placed = |code: Code| is_place((code, rule.span));
    // A condition that cannot be evaluated refuses too.
    let faulted = || placed(Code::EvaluationError) && !mutant!("a rule that faults is silent");
    let named = |code: Code| {
        reasons.iter().any(|(known, owner, ..)| *known == code && *owner == rule.owner)
    };
    match rule.kind {
        R::Requires => placed(Code::Requires) || faulted(),
        R::Deny => placed(Code::Denied) || placed(Code::Transform) || faulted(),
        // Over a limit somebody may be asked.
        R::Limit => placed(Code::Limit) || placed(Code::Approval) || faulted(),
        R::Approval => placed(Code::Approval) || faulted(),
        R::Ready => placed(Code::NotReady),
        R::Invariant | R::Monitor => placed(Code::Invariant) || faulted(),
        R::Budget => named(Code::Budget),
        R::Deadline => named(Code::Deadline),
        R::Gate => named(Code::Gated),
        _ => false,
    }
}

/// The rules of a guard by place, so that a verdict leads to its rules whatever their number.
pub(crate) struct Places {
    placed: HashMap<Span, Vec<usize>>,
    /// The rules that reasons name.
    named: Vec<usize>,
}

impl Places {
    pub fn new(rules: &[Rule]) -> Places {
        use RuleKind as R;
        let mut places = Places { placed: HashMap::new(), named: Vec::new() };
        for (at, rule) in rules.iter().enumerate() {
            match rule.kind {
                R::Budget | R::Deadline | R::Gate => places.named.push(at),
                _ => places.placed.entry(rule.span).or_default().push(at),
            }
        }
        places
    }

    /// The rules behind what was said of a proposal, ascending.
    pub fn fired(
        &self,
        rules: &[Rule],
        reasons: &[Outline],
        places: &[(Code, Span)],
    ) -> Vec<usize> {
        let known: HashSet<(Code, Span)> = places.iter().copied().collect();
        let spans: HashSet<Span> = places.iter().map(|(_, span)| *span).collect();
        let placed = spans.iter().filter_map(|span| self.placed.get(span)).flatten();
        let behind = |at: &&usize| fires(&rules[**at], reasons, |place| known.contains(&place));
        let mut found: Vec<usize> = placed.chain(&self.named).filter(behind).copied().collect();
        found.sort_unstable();
        found
    }
}

/// Returns the number of judged events after which a provider speaks again, and the time after which it does, in
/// milliseconds; `None` without such a trigger.
pub(crate) fn cadence(triggers: &[Trigger]) -> (Option<u32>, Option<i64>) {
    let calls = triggers.iter().filter_map(|t| match t {
        Trigger::Calls(n) => Some(*n),
        _ => None,
    });
    let every = triggers.iter().filter_map(|t| match t {
        Trigger::Every(millis) => Some(*millis),
        _ => None,
    });
    (calls.min(), every.min())
}

/// Every expression that decides or changes something, roots only. Messages and advice decide nothing.
pub(crate) fn each_condition<'p>(program: &'p Program, visit: &mut dyn FnMut(&'p Expr)) {
    for clause in program.tools.iter().flat_map(|tool| &tool.clauses) {
        match &clause.kind {
            ClauseKind::Deny { condition, .. } => visit(condition),
            ClauseKind::Prior { .. } => {}
            kind => crate::lower::clause_exprs(kind, visit),
        }
    }
    program.invariants.iter().for_each(|i| visit(&i.condition));
    program.goals.iter().flat_map(|g| &g.conditions).for_each(|(_, e)| visit(e));
    let learns = program.sources.iter().flat_map(|s| &s.learns).map(|(_, learn)| learn);
    for learn in learns {
        learn.exprs().for_each(&mut *visit);
    }
    program.each_check(&mut |check| check.expr().into_iter().for_each(&mut *visit));
}

/// Collects the checks that a blocked stop names: those of `all` one by one.
fn each_alone<'p>(checks: &'p [Check], out: &mut Vec<&'p Check>) {
    for check in checks {
        match &check.kind {
            CheckKind::All(inner) => each_alone(inner, out),
            _ => out.push(check),
        }
    }
}

/// The tools that are held to a rule at this place.
pub(super) fn holders(program: &Program, rule: &Rule) -> Vec<ToolId> {
    let held =
        |tool: &ToolId| program.tools[*tool].clauses.iter().any(|c| c.rule.span == rule.span);
    (0..program.tools.len()).filter(held).collect()
}

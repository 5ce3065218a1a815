//! The checks on a call of a tool, in the kernel's order.

use crate::commands::check::thousands;
use crate::commands::verify::bases;
use crate::term::Style;
use guard_compiler::verify::{ObligationStatus, Verification};
use guard_plan::decimal;
use guard_plan::encode;
use guard_plan::plan::{Plan, Rewrite, Tool};
use guard_plan::words;
use guard_plan::words::rules::{self, PhraseSubject, RulePhrase};

/// Describes the guard as a whole: name, hash, budgets, deadline.
pub fn overview(plan: &Plan, hash: &str, style: Style) -> String {
    let mut out = format!("{} {}\n", style.bold("guard"), style.bold(&plan.guard));
    let mut line = |label: &str, text: String| out.push_str(&format!("  {label:<11} {text}\n"));
    line("plan", hash.to_owned());
    if plan.shadow {
        line("in shadow", "nothing is refused; what would be is recorded".into());
    }
    if plan.default_allow {
        line("undeclared", "tools the guard does not declare are allowed".into());
    }
    if let Some(deadline) = plan.deadline {
        line("deadline", words::duration(deadline));
    }
    for unit in &plan.units {
        if let Some(budget) = unit.budget {
            let charged = if unit.host_charged { ", charged by the host" } else { "" };
            line("budget", format!("{} {}{charged}", decimal::format(budget), unit.name));
        }
    }
    for invariant in &plan.invariants {
        let mode = if invariant.monitor {
            " (reported only)"
        } else if invariant.rule.shadow {
            " (in shadow)"
        } else {
            ""
        };
        line("invariant", format!("{}: {}{mode}", invariant.rule.owner, invariant.text));
    }
    out
}

/// Explains one tool: the checks before a call, and the rules after it.
pub fn explain(
    plan: &Plan,
    tool: &Tool,
    rewrites: &[Rewrite],
    verification: &Verification,
    style: Style,
) -> String {
    let parameters = words::parameters(plan, &tool.params);
    let mut out = format!("\n{}({parameters})\n", style.bold(&words::tool_name(tool)));
    for line in tool.doc.lines() {
        out.push_str(&format!("  {}\n", style.dim(line.trim())));
    }
    let mut list = RuleList { out: String::new(), tool, number: 0 };
    before(plan, &mut list);
    out.push_str(&list.out);
    let mut list = RuleList { out: String::new(), tool, number: 0 };
    rules::after(plan, tool).iter().for_each(|said| list.rule(said));
    if !list.out.is_empty() {
        out.push_str("  then, when it has run\n");
        out.push_str(&list.out);
    }
    let proved = proved(plan, tool, verification);
    if !proved.is_empty() {
        out.push_str("  proved, so not looked at while nothing refuses the call\n");
        proved.iter().for_each(|fact| out.push_str(&format!("    - {fact}\n")));
    }
    let mine: Vec<&Rewrite> =
        rewrites.iter().filter(|rewrite| rewrite.tool.as_ref() == Some(&tool.name)).collect();
    if !mine.is_empty() {
        out.push_str("  optimized\n");
        mine.iter().for_each(|rewrite| out.push_str(&format!("    - {}\n", rewritten(rewrite))));
    }
    let steps = format!(
        "at most {} a call, {} bytes of the plan",
        words::count(thousands(tool.steps), "step"),
        thousands(encode::size(tool) as u64),
    );
    out.push_str(&format!("  {}\n", style.dim(&steps)));
    out
}

/// Lists the checks that the plan omits for a tool because they are proved, with the bases of the
/// proofs.
fn proved(plan: &Plan, tool: &Tool, verification: &Verification) -> Vec<String> {
    let is_mine = |id: u32| plan.tools[id as usize].name == tool.name;
    let mut lines = Vec::new();
    for pair in verification.pairs.iter().filter(|pair| is_mine(pair.tool)) {
        let name = rules::code(&plan.invariants[pair.invariant as usize].rule.owner);
        match &pair.status {
            ObligationStatus::Proved(by) => lines.push(format!("keeps {name}, by {}", bases(by))),
            ObligationStatus::Simplified(by, left) => {
                let left: Vec<String> =
                    left.iter().map(|residue| rules::code(&residue.text)).collect();
                let by = bases(by);
                let left = left.join(" and ");
                lines.push(format!("keeps {name}, by {by}, but for {left}, which is looked at"));
            }
            ObligationStatus::Checked(_) | ObligationStatus::Vacuous => {}
        }
    }
    for refinement in verification.refinements.iter().filter(|refinement| is_mine(refinement.tool))
    {
        if let ObligationStatus::Proved(by) = &refinement.status {
            let name = rules::code(&plan.state[refinement.var as usize].name);
            lines.push(format!("leaves {name} in its type, by {}", bases(by)));
        }
    }
    lines
}

/// Lists the optimizations outside of tools: invariants and conditions of feedback.
pub fn elsewhere(rewrites: &[Rewrite]) -> String {
    let others = rewrites.iter().filter(|rewrite| rewrite.tool.is_none());
    others.map(|rewrite| format!("  {:<11} {}\n", "optimized", rewritten(rewrite))).collect()
}

fn rewritten(rewrite: &Rewrite) -> String {
    let before = rules::code(&rewrite.before);
    if rewrite.after.is_empty() {
        return format!("{before} was dropped: it never refuses a call");
    }
    let why: Vec<&str> = rewrite
        .passes
        .iter()
        .map(|pass| match pass.as_str() {
            "simplify" => "in fewer steps",
            "fold" => "worked out beforehand",
            "order" => "the cheapest first",
            "merge" => "patterns asked at once",
            other => other,
        })
        .collect();
    format!("{before} is decided as {}: {}", rules::code(&rewrite.after), why.join(", "))
}

/// A numbered list of rules.
struct RuleList<'a> {
    out: String,
    tool: &'a Tool,
    number: usize,
}

impl RuleList<'_> {
    fn say(&mut self, text: &str) {
        self.number += 1;
        self.out.push_str(&format!("  {:>3}. {text}\n", self.number));
    }

    /// Adds a rule, with its policy if any, and its effect.
    fn rule(&mut self, said: &RulePhrase) {
        let invariant = matches!(said.about, PhraseSubject::Keeps | PhraseSubject::ObserveKeeps);
        let owner = said.rule.map(|rule| rule.owner.as_str());
        let policy = owner.filter(|owner| !invariant && *owner != self.tool.name);
        let policy = policy.map(|owner| format!(" [{owner}]")).unwrap_or_default();
        let shadow = if said.rule.is_some_and(|rule| rule.shadow) { " (in shadow)" } else { "" };
        self.say(&format!("{}{policy}{shadow}", sentence(said)));
    }
}

/// Formats a phrase as a sentence.
pub(super) fn sentence(said: &RulePhrase) -> String {
    let text = &said.text;
    match said.about {
        PhraseSubject::Requires => format!("requires {text}"),
        PhraseSubject::Deny => format!("denied {text}"),
        PhraseSubject::Limit => format!("at most {text}"),
        PhraseSubject::Cost => format!("costs {text}, which the budget must cover"),
        PhraseSubject::Effect => format!("would do {text}, within the variable's range"),
        PhraseSubject::Keeps => format!("keeps {text}"),
        PhraseSubject::Approval => format!("approved by {text}"),
        PhraseSubject::Ready => format!("probe {text} answers true"),
        PhraseSubject::Result => format!("its result is read as {text}"),
        PhraseSubject::ObserveKeeps => format!("{text} must still hold"),
        PhraseSubject::Learn => format!("teaches {text}"),
        PhraseSubject::Reconcile => format!("expects {text}, or halts"),
        PhraseSubject::Observe => {
            format!(
                "{text} is observed; a value that does not fit, or breaks an invariant, halts the session"
            )
        }
        PhraseSubject::ObserveWarn => format!(
            "{text} is observed; a value that does not fit, or breaks an invariant, is a warning"
        ),
        PhraseSubject::Transform => format!("must be called with {text}"),
        PhraseSubject::Shown => format!("shows the agent {text}"),
        PhraseSubject::Private => format!("private {text}"),
        PhraseSubject::Endorsed => format!("trusted {text}"),
        PhraseSubject::Gate => text.clone(),
    }
}

/// Lists arguments, requirements, denies, limits, budgets, deadline, effects, approvals, probes,
/// conflicts.
fn before(plan: &Plan, list: &mut RuleList) {
    let tool = list.tool;
    list.say(if tool.params.is_empty() {
        "takes no arguments"
    } else {
        "every argument is present, of its type, and none is unknown"
    });
    let said = rules::before(plan, tool);
    // Limits of the whole guard come between costs and effects, and proved rules after the
    // invariants.
    let spent = said.iter().position(|s| s.about > PhraseSubject::Cost).unwrap_or(said.len());
    let kept = said.iter().position(|s| s.about > PhraseSubject::Keeps).unwrap_or(said.len());
    said[..spent].iter().for_each(|said| list.rule(said));
    session(plan, list);
    said[spent..kept].iter().for_each(|said| list.rule(said));
    unbroken(plan, list);
    said[kept..].iter().for_each(|said| list.rule(said));
    let waits = |(id, other): &(u32, &Tool)| tool.waits_for(*id, other);
    let names: Vec<String> =
        (0..).zip(&plan.tools).filter(waits).map(|(_, t)| format!("`{}`", t.name)).collect();
    if !names.is_empty() {
        list.say(&format!("waits while a call of {} is in flight", names.join(", ")));
    }
}

fn session(plan: &Plan, list: &mut RuleList) {
    if let Some(calls) = plan.units.iter().find(|u| u.name == "calls").and_then(|u| u.budget) {
        list.say(&format!("is one of {} calls", decimal::format(calls)));
    }
    if let Some(deadline) = plan.deadline {
        list.say(&format!("begins within {} of the session's start", words::duration(deadline)));
    }
}

fn unbroken(plan: &Plan, list: &mut RuleList) {
    let kept = plan.invariants.len() - list.tool.frame.len();
    if kept > 0 && !list.tool.effects.is_empty() {
        let what = words::count(kept, "other invariant");
        list.say(&format!("{what} cannot be broken by this call, and nothing checks again"));
    }
}

//! What is checked on a call of a tool, in the kernel's order.

use crate::commands::check::thousands;
use crate::term::Style;
use crate::words::{self, Shows};
use guard_plan::decimal;
use guard_plan::plan::{Plan, RuleMeta, Tool};

/// The guard as a whole: name, hash, budgets, deadline.
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

/// One tool: what stands before a call, and what follows it.
pub fn explain(plan: &Plan, tool: &Tool, style: Style) -> String {
    let shows = Shows { plan, tool: Some(tool) };
    let parameters = words::parameters(plan, &tool.params);
    let mut out = format!("\n{}({parameters})\n", style.bold(&words::tool_name(tool)));
    for line in tool.doc.lines() {
        out.push_str(&format!("  {}\n", style.dim(line.trim())));
    }
    let mut list = List { out: String::new(), tool, number: 0 };
    before(&shows, &mut list);
    out.push_str(&list.out);
    let mut list = List { out: String::new(), tool, number: 0 };
    after(&shows, &mut list);
    if !list.out.is_empty() {
        out.push_str("  then, when it has run\n");
        out.push_str(&list.out);
    }
    let steps = format!(
        "at most {} step{} a call",
        thousands(tool.steps),
        if tool.steps == 1 { "" } else { "s" }
    );
    out.push_str(&format!("  {}\n", style.dim(&steps)));
    out
}

/// A numbered list of rules.
struct List<'a> {
    out: String,
    tool: &'a Tool,
    number: usize,
}

impl List<'_> {
    fn say(&mut self, text: &str) {
        self.number += 1;
        self.out.push_str(&format!("  {:>3}. {text}\n", self.number));
    }

    /// A rule, with its policy where one says it, and whether it bites.
    fn rule(&mut self, rule: &RuleMeta, text: &str) {
        let owner =
            if rule.owner == self.tool.name { String::new() } else { format!(" [{}]", rule.owner) };
        let shadow = if rule.shadow { " (in shadow)" } else { "" };
        self.say(&format!("{text}{owner}{shadow}"));
    }
}

fn when(shows: &Shows, condition: &Option<guard_plan::plan::Expr>) -> String {
    condition.as_ref().map(|c| format!(", when {}", words::expr(shows, c))).unwrap_or_default()
}

/// Arguments, requirements, denies, limits, budgets, deadline, effects, approvals, probes, conflicts.
fn before(shows: &Shows, list: &mut List) {
    let (plan, tool) = (shows.plan, list.tool);
    list.say(if tool.params.is_empty() {
        "takes no arguments"
    } else {
        "every argument is present, of its type, and none is unknown"
    });
    for clause in &tool.requires {
        let text =
            format!("requires {}{}", words::requires(shows, clause), when(shows, &clause.when));
        list.rule(&clause.rule, &text);
    }
    for deny in &tool.denies {
        let because = deny.because.as_ref().map(|m| format!(": \"{}\"", words::template(shows, m)));
        list.rule(&deny.rule, &format!("denied {}{}", deny.text, because.unwrap_or_default()));
    }
    for used in &tool.limits {
        let Some(limit) = plan.limits.get(used.limit as usize) else {
            continue;
        };
        let by = used.by.as_ref().map(|by| format!(", for each {}", words::expr(shows, by)));
        let text =
            format!("at most {}{}", words::limit(limit.count, limit.scope), by.unwrap_or_default());
        list.rule(&limit.rule, &text);
    }
    for cost in &tool.costs {
        let unit = plan.units.get(cost.unit as usize).map_or("?", |u| u.name.as_str());
        list.rule(
            &cost.rule,
            &format!(
                "costs {} {unit}, which the budget must cover",
                words::expr(shows, &cost.amount)
            ),
        );
    }
    if let Some(calls) = plan.units.iter().find(|u| u.name == "calls").and_then(|u| u.budget) {
        list.say(&format!("is one of {} calls", decimal::format(calls)));
    }
    if let Some(deadline) = plan.deadline {
        list.say(&format!("begins within {} of the session's start", words::duration(deadline)));
    }
    effects(shows, list);
    for approval in &tool.approvals {
        let within = approval.within.map(|d| format!(", not older than {}", words::duration(d)));
        let text = format!("approved by {}{}", approval.role, within.unwrap_or_default());
        list.rule(&approval.rule, &format!("{text}{}", when(shows, &approval.when)));
    }
    if tool.irreversible && tool.risk == guard_plan::plan::Risk::Critical {
        list.say("irreversible and critical: somebody must have approved exactly this call");
    }
    for ready in &tool.ready {
        let probe = plan.probes.get(ready.probe as usize).map_or("?", |p| p.name.as_str());
        list.rule(&ready.rule, &format!("probe `{probe}` answers true"));
    }
    let waits = |(id, other): &(u32, &guard_plan::plan::Tool)| tool.waits_for(*id, other);
    let names: Vec<String> =
        (0..).zip(&plan.tools).filter(waits).map(|(_, t)| format!("`{}`", t.name)).collect();
    if !names.is_empty() {
        list.say(&format!("waits while a call of {} is in flight", names.join(", ")));
    }
}

fn effects(shows: &Shows, list: &mut List) {
    for effect in &list.tool.effects {
        let text = words::effect(shows, effect.op, &effect.target, effect.value.as_ref());
        list.rule(&effect.rule, &format!("would do `{text}`, within the variable's range"));
    }
    for id in &list.tool.frame {
        let Some(invariant) = shows.plan.invariants.get(*id as usize) else {
            continue;
        };
        let verb = if invariant.monitor { "reported unless" } else { "keeps" };
        let text = format!("{verb} `{}`: {}", invariant.rule.owner, invariant.text);
        list.rule(&RuleMeta { owner: list.tool.name.clone(), ..invariant.rule.clone() }, &text);
    }
    let kept = shows.plan.invariants.len() - list.tool.frame.len();
    if kept > 0 && !list.tool.effects.is_empty() {
        let what =
            if kept == 1 { "1 other invariant".into() } else { format!("{kept} other invariants") };
        list.say(&format!("{what} cannot be broken by this call, and nothing checks again"));
    }
}

fn after(shows: &Shows, list: &mut List) {
    let (plan, tool) = (shows.plan, list.tool);
    if let Some(returns) = tool.returns {
        let trusted = if tool.trust.whole { "trusted" } else { "untrusted" };
        list.say(&format!("its result is read as {}, {trusted}", words::ty(plan, returns)));
    }
    for observe in &tool.observes {
        let value = words::expr(shows, &observe.value);
        let broken = if observe.warn { "warns" } else { "halts" };
        let text = format!(
            "`{} = {value}` is observed; what breaks {broken}",
            words::target(shows, &observe.target)
        );
        list.rule(&observe.rule, &text);
    }
    for id in &tool.observe_frame {
        let Some(invariant) = plan.invariants.get(*id as usize) else {
            continue;
        };
        list.say(&format!("`{}` must still hold: {}", invariant.rule.owner, invariant.text));
    }
    for learn in &tool.learns {
        let fact = plan.facts.get(learn.fact as usize).map_or("?", |f| f.name.as_str());
        list.rule(&learn.rule, &format!("teaches `{fact}`"));
    }
    for reconcile in &tool.reconciles {
        list.rule(&reconcile.rule, &format!("expects {}, or halts", reconcile.text));
    }
}

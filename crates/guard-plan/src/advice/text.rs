//! Advice as text for a reasoner.
//!
//! The numbers are those of the advice, in full. Session data is escaped and truncated, so that no
//! value can imitate a heading.

use super::{Action, Advice, BudgetView, Decimal, Param, Recent};
use crate::json;
use crate::{render, time};
use std::fmt::Write as _;

/// The maximum number of actions in the text; the least valuable ones are omitted.
pub const MAX_ACTIONS: usize = 50;
/// The maximum length of documentation or a title, in characters.
const MAX_WORDS: usize = 200;
/// The maximum length of the arguments, in characters.
const MAX_ARGS: usize = 1_000;

/// The instructions for the reasoner's answer.
const ANSWER: &str = "Choose an action. Return one JSON object and nothing else:\n\
    {\"action\": \"...\", \"args\": {...}, \"reasoning\": \"...\"}\n\
    or, to end the session:\n\
    {\"stop\": true, \"reasoning\": \"...\"}\n";

impl Action {
    /// Returns the text of the status.
    pub fn text(&self) -> String {
        let mut out = String::new();
        action_to(self, &mut out);
        out
    }
}

impl Advice {
    /// Formats the advice as a text that supports a decision.
    pub fn text(&self) -> String {
        let mut out = String::new();
        if let Some(why) = &self.halted {
            let _ = writeln!(out, "HALTED: {}", render::cut(why, MAX_WORDS));
        }
        self.goals_to(&mut out);
        self.state_to(&mut out);
        if let Some(progress) = self.progress {
            let _ = writeln!(out, "PROGRESS: {}", percent(progress));
        }
        self.budgets.iter().for_each(|budget| budget_to(budget, &mut out));
        if let Some(deadline) = &self.deadline {
            let total = time::describe_duration(deadline.total);
            let left = time::describe_duration(deadline.remaining);
            let _ = writeln!(out, "TIME: {left} remaining of {total}");
        }
        if !self.recent.is_empty() {
            out.push_str("RECENT:\n");
            self.recent.iter().for_each(|recent| recent_to(recent, &mut out));
        }
        out.push_str("\nAVAILABLE ACTIONS (ranked by computed value):\n\n");
        for action in self.actions.iter().take(MAX_ACTIONS) {
            action_to(action, &mut out);
        }
        let more = self.actions.len().saturating_sub(MAX_ACTIONS);
        if more > 0 {
            let _ = writeln!(out, "({more} more, of less value)\n");
        }
        out.push_str(ANSWER);
        out
    }

    fn goals_to(&self, out: &mut String) {
        for goal in &self.goals {
            let words = render::cut(first_line(&goal.doc), MAX_WORDS);
            let words = if words.is_empty() { &goal.name } else { &words };
            let _ = writeln!(out, "GOAL: {words} ({})", percent(goal.progress));
            for (condition, holds) in &goal.conditions {
                let mark = if *holds { 'x' } else { ' ' };
                let _ = writeln!(out, "  [{mark}] {}", render::cut(condition, MAX_WORDS));
            }
        }
    }

    fn state_to(&self, out: &mut String) {
        if self.state.is_empty() {
            return;
        }
        out.push_str("STATE: {");
        for (i, shown) in self.state.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            json::write_string(&shown.name, out);
            out.push_str(": ");
            shown.value.write(out);
        }
        out.push('}');
        if self.state_more > 0 {
            let _ = write!(out, " and {} more", self.state_more);
        }
        out.push('\n');
    }
}

fn budget_to(budget: &BudgetView, out: &mut String) {
    let BudgetView { unit, budget, spent, remaining } = budget;
    let used = crate::decimal::divide(spent.0, budget.0).map(|used| percent(Decimal(used)));
    // A budget of 0 is used up from the beginning.
    let used = used.unwrap_or_else(|| "100%".into());
    let _ = writeln!(out, "BUDGET: {remaining} {unit} remaining of {budget} ({used} used)");
}

fn recent_to(recent: &Recent, out: &mut String) {
    let Recent { tool, succeeded, failed, success, ago } = recent;
    let ended = if *success { "succeeded" } else { "failed" };
    let ago = time::describe_duration(*ago);
    let _ = writeln!(out, "  {tool} {ended} {ago} ago (succeeded {succeeded}, failed {failed})");
}

fn action_to(action: &Action, out: &mut String) {
    let Action { tool, title, status, terms, belief, .. } = action;
    let title = render::cut(first_line(title.as_deref().unwrap_or(tool)), MAX_WORDS);
    let _ = write!(out, "### [{}] {title} (id={tool})", status.as_str());
    for (i, need) in action.needs.iter().enumerate() {
        let lead = if i == 0 { " — needs: " } else { "; " };
        let _ = write!(out, "{lead}{}", render::cut(&need.text, 2 * MAX_WORDS));
    }
    out.push('\n');
    if !action.params.is_empty() {
        arguments_to(action, out);
    }
    let irreversible = if action.irreversible { ", irreversible" } else { "" };
    let _ = writeln!(out, "  Cost: {} | Risk: {}{irreversible}", cost(action), risk(action));
    let _ = writeln!(
        out,
        "  Value: {} (progress={}, info={}, cost_ratio={}, risk={}, opportunity={})",
        action.value, terms.progress, terms.info, terms.cost_ratio, terms.risk, terms.opportunity
    );
    let alpha = belief.alpha;
    let beta = belief.beta;
    let _ = writeln!(out, "  Beliefs: Beta({alpha},{beta}) → {} success\n", percent(belief.mean));
}

fn arguments_to(action: &Action, out: &mut String) {
    match &action.args {
        Some(args) => {
            let _ = writeln!(out, "  Arguments: {}", render::cut(&args.to_string(), MAX_ARGS));
        }
        None => {
            let param = |param: &Param| format!("{}: {}", param.name, param.ty);
            let params: Vec<_> = action.params.iter().map(param).collect();
            let params = render::cut(&params.join(", "), MAX_ARGS);
            let _ = writeln!(out, "  Arguments are yours to choose: {params}");
        }
    }
}

/// Describes the cost of an action besides the call itself.
fn cost(action: &Action) -> String {
    let prices = action.cost.iter().filter(|price| price.unit != "calls" || price.at_least);
    let prices = prices.map(|price| {
        let at_least = if price.at_least { "at least " } else { "" };
        format!("{at_least}{} {}", price.amount, price.unit)
    });
    let prices: Vec<_> = prices.collect();
    if prices.is_empty() { "none".into() } else { prices.join(", ") }
}

fn risk(action: &Action) -> &'static str {
    use crate::plan::Risk;
    match action.risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
        Risk::Critical => "critical",
    }
}

/// Formats a fraction as an exact percentage.
fn percent(part: Decimal) -> String {
    format!("{}%", crate::decimal::format(part.0.saturating_mul(100)))
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}

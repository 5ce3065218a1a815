//! The rules on a tool, clause by clause in the kernel's order, with their owners.
//!
//! Every text is a phrase. Explanations, references and guides embed it in their own sentences.

pub use super::code;
use super::expr::local;
use super::{Shows, assigned, duration, effect, expr, limit, requires, target, template, ty};
use crate::decimal;
use crate::plan::{Expr, Message, Plan, Range, RuleMeta, Tool};

/// The subject of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PhraseSubject {
    /// A `requires` clause.
    Requires,
    /// A `deny` clause.
    Deny,
    /// A limit.
    Limit,
    /// A cost.
    Cost,
    /// An effect, simulated before the call.
    Effect,
    /// An invariant that the effects can break.
    Keeps,
    /// An approval.
    Approval,
    /// The gate of tools that are irreversible and critical.
    Gate,
    /// A probe that must answer `true`.
    Ready,
    /// The type of the result, and its trust level.
    Result,
    /// An observation that halts the session if it violates a rule.
    Observe,
    /// An observation that is only reported if it violates a rule.
    ObserveWarn,
    /// An invariant that the observations can break.
    ObserveKeeps,
    /// A fact that the result teaches.
    Learn,
    /// A reconciliation.
    Reconcile,
    /// The value that an argument must have.
    Transform,
    /// The value of a part of the result as the agent reads it.
    Shown,
    /// A part of the result that only its readers may read.
    Private,
    /// A part of the result that is trusted under a condition.
    Endorsed,
}

/// One phrase about a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulePhrase<'a> {
    /// The subject of the phrase.
    pub about: PhraseSubject,
    /// The rule and its owner; `None` for the guard as a whole.
    pub rule: Option<&'a RuleMeta>,
    /// The phrase, with expressions and names in backticks.
    pub text: String,
}

/// Formats a reason: `: "why"`, or nothing.
pub fn because(message: &Option<Message>) -> String {
    let said = message.as_ref().map(|m| format!(": \"{}\"", super::line(&template(m))));
    said.unwrap_or_default()
}

/// Returns the rules checked before a call, in the kernel's order.
pub fn before<'a>(plan: &'a Plan, tool: &'a Tool) -> Vec<RulePhrase<'a>> {
    let shows = Shows { plan, tool: Some(tool), ranges: &[] };
    let mut out = Vec::new();
    let mut say = |about, rule, text| out.push(RulePhrase { about, rule, text });
    for clause in &tool.requires {
        let text = format!("{}{}", requires(&shows, clause), when(&shows, &clause.when));
        say(PhraseSubject::Requires, Some(&clause.rule), text);
    }
    for deny in &tool.denies {
        if let Some(replacement) = &deny.replacement {
            let value = code(&format!(
                "{} = {}",
                replacement.value.label,
                expr(&shows, &replacement.value.expr)
            ));
            let when = match replacement.text.split_once(' ') {
                Some((word, condition)) => format!(", {word} {}", code(condition)),
                None => String::new(),
            };
            let text = format!("{value}{when}{}", because(&deny.because));
            say(PhraseSubject::Transform, Some(&deny.rule), text);
            continue;
        }
        let (word, condition) = deny.text.split_once(' ').unwrap_or(("when", &deny.text));
        let text = format!("{word} {}{}", code(condition), because(&deny.because));
        say(PhraseSubject::Deny, Some(&deny.rule), text);
    }
    for used in &tool.limits {
        let Some(counter) = plan.limits.get(used.limit as usize) else {
            continue;
        };
        let by = used.by.as_ref().map(|by| format!(", for each {}", code(&expr(&shows, by))));
        let ask = counter.ask.as_ref().map(|role| format!("; more with the approval of {role}"));
        let text =
            format!("{}{}{}", limit(counter), by.unwrap_or_default(), ask.unwrap_or_default());
        say(PhraseSubject::Limit, Some(&counter.rule), text);
    }
    for cost in &tool.costs {
        let unit = plan.units.get(cost.unit as usize).map_or("?", |u| u.name.as_str());
        let amount = match cost.amount.0.as_slice() {
            [crate::plan::Node::Decimal(n)] => decimal::format(*n),
            _ => code(&expr(&shows, &cost.amount)),
        };
        let returned = if cost.returned { " (returned on failure)" } else { "" };
        say(PhraseSubject::Cost, Some(&cost.rule), format!("{amount} {unit}{returned}"));
    }
    for one in &tool.effects {
        let shows = Shows { ranges: &one.ranges, ..shows };
        let done = code(&effect(&shows, one.op, &one.target, one.value.as_ref()));
        let text = format!("{done}{}{}", each(&shows), when(&shows, &one.when));
        say(PhraseSubject::Effect, Some(&one.rule), text);
    }
    out.extend(keeps(plan, PhraseSubject::Keeps, &tool.frame));
    out.extend(permits(&shows, tool));
    out
}

/// Returns the invariants of a frame.
fn keeps<'a>(plan: &'a Plan, about: PhraseSubject, frame: &[u32]) -> Vec<RulePhrase<'a>> {
    let invariants = frame.iter().filter_map(|id| plan.invariants.get(*id as usize));
    let said = invariants.map(|invariant| {
        let mode = if invariant.monitor { " (reported only)" } else { "" };
        let text = format!("{}: {}{mode}", code(&invariant.rule.owner), code(&invariant.text));
        RulePhrase { about, rule: Some(&invariant.rule), text }
    });
    said.collect()
}

/// Returns approvals, the gate and probes.
fn permits<'a>(shows: &Shows<'a>, tool: &'a Tool) -> Vec<RulePhrase<'a>> {
    let mut out = Vec::new();
    for approval in &tool.approvals {
        let within = approval.within.map(|d| format!(", not older than {}", duration(d)));
        let text = format!("{}{}", approval.role, within.unwrap_or_default());
        let why = because(&approval.because);
        let text = format!("{text}{}{why}", when(shows, &approval.when));
        out.push(RulePhrase { about: PhraseSubject::Approval, rule: Some(&approval.rule), text });
    }
    let gate = "irreversible and critical: a person must have approved exactly this call";
    if tool.is_gated() {
        out.push(RulePhrase { about: PhraseSubject::Gate, rule: None, text: gate.into() });
    }
    for risk in tool.gates() {
        let when = code(&risk.text);
        let text = format!(
            "irreversible, and critical {when}: a person must have approved exactly this call"
        );
        out.push(RulePhrase { about: PhraseSubject::Gate, rule: Some(&risk.rule), text });
    }
    for ready in &tool.ready {
        let probe = shows.plan.probes.get(ready.probe as usize).map_or("?", |p| p.name.as_str());
        out.push(RulePhrase {
            about: PhraseSubject::Ready,
            rule: Some(&ready.rule),
            text: code(probe),
        });
    }
    out
}

/// Describes the unconditional trust in a result: "trusted, but untrusted in" its parts.
fn trust(tool: &Tool) -> String {
    let word = |trusted: bool| if trusted { "trusted" } else { "untrusted" };
    let mut text = word(tool.trust.whole).to_owned();
    for trusted in [!tool.trust.whole, tool.trust.whole] {
        let parts = tool.trust.parts.iter().filter(|(_, part)| *part == trusted);
        let parts: Vec<String> = parts.map(|(path, _)| code(&path.join("."))).collect();
        if !parts.is_empty() {
            text += &format!(", but {} in {}", word(trusted), parts.join(", "));
        }
    }
    text
}

/// Returns the rules applied after a successful call.
pub fn after<'a>(plan: &'a Plan, tool: &'a Tool) -> Vec<RulePhrase<'a>> {
    let shows = Shows { plan, tool: Some(tool), ranges: &[] };
    let mut out = Vec::new();
    let read = match tool.returns {
        Some(returns) => Some(code(&ty(plan, returns))),
        None if tool.trust.whole || !tool.trust.parts.is_empty() => Some("it comes".to_owned()),
        None => None,
    };
    if let Some(read) = read {
        let text = format!("{read}, {}", trust(tool));
        out.push(RulePhrase { about: PhraseSubject::Result, rule: None, text });
    }
    for observe in &tool.observes {
        let value = assigned(&shows, &observe.target, &observe.value);
        let about = if observe.warn { PhraseSubject::ObserveWarn } else { PhraseSubject::Observe };
        let text = code(&format!("{} = {value}", target(&shows, &observe.target)));
        out.push(RulePhrase { about, rule: Some(&observe.rule), text });
    }
    out.extend(keeps(plan, PhraseSubject::ObserveKeeps, &tool.observe_frame));
    for learn in &tool.learns {
        let Some(fact) = plan.facts.get(learn.fact as usize) else { continue };
        let full = if fact.halts {
            format!(", and halts the session if it has {} already", fact.max)
        } else {
            String::new()
        };
        let text = format!("{}{full}", code(&fact.name));
        out.push(RulePhrase { about: PhraseSubject::Learn, rule: Some(&learn.rule), text });
    }
    for reconcile in &tool.reconciles {
        let text = format!("{}{}", code(&reconcile.text), because(&reconcile.because));
        out.push(RulePhrase { about: PhraseSubject::Reconcile, rule: Some(&reconcile.rule), text });
    }
    for transform in &tool.transforms {
        let path: String = transform.path.iter().map(|name| format!(".{name}")).collect();
        let value = code(&format!("result{path} = {}", expr(&shows, &transform.value)));
        let text = format!("{value}{}", when(&shows, &transform.when));
        out.push(RulePhrase { about: PhraseSubject::Shown, rule: Some(&transform.rule), text });
    }
    for private in &tool.privates {
        let shows = Shows { ranges: &private.part.ranges, ..shows };
        let readers = match &private.to {
            Some(to) => code(&expr(&shows, to)),
            None => "nobody".into(),
        };
        let part = code(&private.part.to_string());
        let each = each(&shows);
        let text = format!("{part} to {readers}{each}{}", when(&shows, &private.when));
        out.push(RulePhrase { about: PhraseSubject::Private, rule: Some(&private.rule), text });
    }
    for endorsement in &tool.endorsements {
        let part = endorsement.part.to_string();
        let part = match endorsement.extractor {
            Some(extractor) => format!("{}({part})", extractor.row().name),
            None => part,
        };
        let shows = Shows { ranges: &endorsement.part.ranges, ..shows };
        let each = each(&shows);
        let text = format!("{}{each}{}", code(&part), when(&shows, &endorsement.when));
        out.push(RulePhrase {
            about: PhraseSubject::Endorsed,
            rule: Some(&endorsement.rule),
            text,
        });
    }
    out
}

/// Describes the elements by which a part is distinguished.
fn each(shows: &Shows) -> String {
    let range = |range: &Range| {
        let names: Vec<String> = range.binders.iter().map(|slot| local(*slot)).collect();
        format!(", for {} in {}", names.join(", "), code(&expr(shows, &range.over)))
    };
    shows.ranges.iter().map(range).collect()
}

fn when(shows: &Shows, condition: &Option<Expr>) -> String {
    condition.as_ref().map(|c| format!(", when {}", code(&expr(shows, c)))).unwrap_or_default()
}

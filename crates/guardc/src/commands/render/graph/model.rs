//! The content of the diagram, independent of its format: boxes and arrows with short texts.

use super::machine::{Machine, machines};
use guard_plan::decimal;
use guard_plan::plan::{Node, Plan, Requirement, Requires, Risk, Tool, ToolId};
use guard_plan::words::rules::{PhraseSubject, before};
use guard_plan::words::{self, Shows, duration};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum length of a box name, of a line under it, and of an arrow's label, in characters.
const NAME: usize = 32;
const LINE: usize = 34;
const LABEL: usize = 28;

/// A whole diagram.
#[derive(Debug)]
pub struct Picture {
    /// The guard's name.
    pub name: String,
    /// The summary, one sentence.
    pub summary: String,
    /// Tools, and junctions of alternatives.
    pub shapes: Vec<BoxShape>,
    /// The requirements.
    pub arrows: Vec<Arrow>,
    /// The titles of the lanes, from the top.
    pub lanes: Vec<String>,
    /// The lifecycles.
    pub machines: Vec<Machine>,
}

/// A box.
#[derive(Debug)]
pub struct BoxShape {
    /// The risk of its tool; `None` for a junction of alternatives.
    pub tool: Option<Risk>,
    /// The name.
    pub name: String,
    /// The gates.
    pub lines: Vec<String>,
    /// The lane.
    pub lane: usize,
    /// The tooltip.
    pub tip: String,
}

/// An arrow from a required tool.
#[derive(Debug)]
pub struct Arrow {
    /// The box where the arrow starts.
    pub from: usize,
    /// The box where the arrow ends.
    pub to: usize,
    /// The call and its maximum age.
    pub label: String,
    /// True if required only under a condition.
    pub conditional: bool,
    /// The tooltip.
    pub tip: String,
}

/// Returns the diagram of a plan. Rules in shadow are omitted, since they refuse no call.
pub fn picture(plan: &Plan) -> Picture {
    let needed: BTreeSet<ToolId> =
        plan.tools.iter().flat_map(needs).map(|requirement| requirement.tool).collect();
    // A tool that the kernel serves is drawn with its lifecycle, unless it requires other tools or
    // they require it.
    let drawn = |(id, tool): &(ToolId, &Tool)| {
        !tool.is_served() || needed.contains(id) || needs(tool).next().is_some()
    };
    let tools: Vec<(ToolId, &Tool)> = (0..).zip(&plan.tools).filter(drawn).collect();
    let place: BTreeMap<ToolId, usize> = tools.iter().map(|(id, _)| *id).zip(0..).collect();
    let titles: BTreeSet<String> = tools.iter().map(|(_, tool)| lane_of(plan, tool)).collect();
    let titles: Vec<String> = titles.into_iter().collect();
    let lane = |tool: &Tool| titles.iter().position(|t| *t == lane_of(plan, tool)).unwrap_or(0);
    let shapes = tools.iter().map(|(_, tool)| shape(plan, tool, lane(tool))).collect();
    let mut out = Picture {
        name: plan.guard.clone(),
        summary: String::new(),
        shapes,
        arrows: Vec::new(),
        lanes: titles,
        machines: machines(plan),
    };
    for (to, (_, tool)) in tools.iter().enumerate() {
        for clause in enforced(tool) {
            arrows(plan, tool, clause, to, &place, &mut out);
        }
    }
    merge(&mut out);
    arrange(&mut out);
    out.summary = summary(&out, tools.len());
    out
}

fn enforced(tool: &Tool) -> impl Iterator<Item = &Requires> {
    tool.requires.iter().filter(|clause| !clause.rule.shadow)
}

fn needs(tool: &Tool) -> impl Iterator<Item = &Requirement> {
    enforced(tool).flat_map(|clause| &clause.any_of)
}

fn lane_of(plan: &Plan, tool: &Tool) -> String {
    let items = tool.served.as_ref().and_then(|s| plan.lifecycles.get(s.lifecycle as usize));
    let items = items.map(|items| items.name.clone());
    items.or_else(|| tool.tags.first().cloned()).unwrap_or_default()
}

fn summary(picture: &Picture, tools: usize) -> String {
    let counted = |n: usize, what: &str| crate::term::count(n, what);
    let mut out =
        format!("{} and {}", counted(tools, "tool"), counted(picture.arrows.len(), "dependency"));
    if picture.arrows.len() != 1 {
        out = out.replace("dependencys", "dependencies");
    }
    if !picture.machines.is_empty() {
        out.push_str(&format!(", {}", counted(picture.machines.len(), "lifecycle")));
    }
    out
}

fn shape(plan: &Plan, tool: &Tool, lane: usize) -> BoxShape {
    let mut tip = tool.wire_name.clone();
    let doc = words::line(&tool.doc);
    if !doc.is_empty() {
        tip.push_str(&format!(": {doc}"));
    }
    for said in before(plan, tool).iter().filter(|s| !s.rule.is_some_and(|rule| rule.shadow)) {
        tip.push_str(&format!("\n{} {}", frame(said.about), said.text));
    }
    let lines = wrapped(&gates(plan, tool));
    BoxShape { tool: Some(tool.highest_risk()), name: cut(&tool.name, NAME), lines, lane, tip }
}

fn frame(about: PhraseSubject) -> &'static str {
    match about {
        PhraseSubject::Requires => "requires",
        PhraseSubject::Deny => "denied",
        PhraseSubject::Limit => "at most",
        PhraseSubject::Cost => "costs",
        PhraseSubject::Effect => "does",
        PhraseSubject::Approval => "approval of",
        PhraseSubject::Ready => "ready when probe",
        PhraseSubject::Gate => "gated:",
        _ => "keeps",
    }
}

/// Lists briefly the rules before a call of a tool, except required calls.
fn gates(plan: &Plan, tool: &Tool) -> Vec<String> {
    let mut out = Vec::new();
    for approval in tool.approvals.iter().filter(|a| !a.rule.shadow) {
        let ask = if approval.when.is_some() { "may ask" } else { "asks" };
        out.push(format!("{ask} {}", approval.role));
    }
    let limits = tool.limits.iter().filter_map(|used| plan.limits.get(used.limit as usize));
    for role in limits.filter(|l| !l.rule.shadow).filter_map(|limit| limit.ask.as_ref()) {
        let asks = format!("may ask {role}");
        if !out.contains(&asks) {
            out.push(asks);
        }
    }
    if tool.may_be_gated() {
        out.push("gated".into());
    } else if tool.irreversible {
        out.push("irreversible".into());
    }
    for ready in tool.ready.iter().filter(|r| !r.rule.shadow) {
        let probe = plan.probes.get(ready.probe as usize).map_or("?", |p| p.name.as_str());
        out.push(format!("probe {probe}"));
    }
    let denies = tool.denies.iter().filter(|d| !d.rule.shadow).count();
    if denies > 0 {
        out.push(format!("{denies} {}", if denies == 1 { "deny" } else { "denies" }));
    }
    let shadow = |id: u32| plan.limits.get(id as usize).is_none_or(|limit| limit.rule.shadow);
    let limits = tool.limits.iter().filter(|used| !shadow(used.limit)).count();
    if limits > 0 {
        out.push(crate::term::count(limits, "limit"));
    }
    for cost in tool.costs.iter().filter(|c| !c.rule.shadow) {
        let unit = plan.units.get(cost.unit as usize).map_or("?", |u| u.name.as_str());
        out.push(match cost.amount.0.as_slice() {
            [Node::Decimal(amount)] => format!("{} {unit}", decimal::format(*amount)),
            _ => format!("costs {unit}"),
        });
    }
    let mut seen = BTreeSet::new();
    out.retain(|gate| seen.insert(gate.clone()));
    out
}

/// Joins phrases to lines of limited width.
fn wrapped(phrases: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for phrase in phrases {
        let phrase = cut(phrase, LINE);
        match lines.last_mut() {
            Some(line) if line.chars().count() + phrase.chars().count() + 3 <= LINE => {
                line.push_str(&format!(" · {phrase}"));
            }
            _ => lines.push(phrase),
        }
    }
    lines
}

/// Returns the arrows of one clause; alternatives meet before the tool.
fn arrows(
    plan: &Plan,
    tool: &Tool,
    clause: &Requires,
    tool_at: usize,
    place: &BTreeMap<ToolId, usize>,
    out: &mut Picture,
) {
    let shows = Shows { plan, tool: Some(tool), ranges: &[] };
    let condition = clause.when.as_ref().map(|when| words::expr(&shows, when));
    let tip = |text: String| match &condition {
        Some(when) => format!("`{}` requires {text}, when `{when}`", tool.name),
        None => format!("`{}` requires {text}", tool.name),
    };
    let when = condition.as_ref().map(|when| format!("if {when}"));
    let mut to = tool_at;
    if clause.any_of.len() > 1 {
        let lane = out.shapes[tool_at].lane;
        let whole = tip(words::requires(&shows, clause));
        to = out.shapes.len();
        let from = to;
        let conditional = when.is_some();
        let label = join(when.iter().cloned());
        out.shapes.push(BoxShape {
            tool: None,
            name: "or".into(),
            lines: Vec::new(),
            lane,
            tip: whole.clone(),
        });
        out.arrows.push(Arrow { from, to: tool_at, label, conditional, tip: whole });
    }
    let when = when.filter(|_| to == tool_at);
    for requirement in &clause.any_of {
        let Some(from) = place.get(&requirement.tool).copied() else {
            continue;
        };
        let label = join(which(&shows, requirement).into_iter().chain(when.clone()));
        let tip = tip(words::requirement(&shows, requirement));
        out.arrows.push(Arrow { from, to, label, conditional: condition.is_some(), tip });
    }
}

/// Describes the required call of the other tool, and its maximum age.
fn which(shows: &Shows, requirement: &Requirement) -> Vec<String> {
    let plan = shows.plan;
    let mut out = Vec::new();
    if let Some(key) = &requirement.key {
        let params = plan.indexes.get(key.index as usize).map_or(&[][..], |index| &index.params);
        let tool = plan.tools.get(requirement.tool as usize);
        for (param, value) in params.iter().zip(&key.values) {
            let param = tool.and_then(|tool| tool.params.get(*param as usize));
            let name = param.map_or("?", |param| &param.name);
            let value = words::typed(shows, value, param.map(|param| param.ty));
            out.push(if value == name {
                format!("same {name}")
            } else {
                format!("{name} = {value}")
            });
        }
    }
    if requirement.latest {
        out.push("latest".into());
    }
    if let Some(since) = requirement.since {
        let name = plan.tools.get(since as usize).map_or("?", |t| t.name.as_str());
        out.push(format!("since {name}"));
    }
    out.extend(requirement.within.map(|within| format!("within {}", duration(within))));
    out
}

fn join(parts: impl IntoIterator<Item = String>) -> String {
    cut(&parts.into_iter().collect::<Vec<_>>().join(", "), LABEL)
}

/// Merges all arrows between two boxes into one.
fn merge(picture: &mut Picture) {
    let mut merged: BTreeMap<(usize, usize), Arrow> = BTreeMap::new();
    for arrow in picture.arrows.drain(..) {
        let Some(known) = merged.get_mut(&(arrow.from, arrow.to)) else {
            merged.insert((arrow.from, arrow.to), arrow);
            continue;
        };
        let alternatives = picture.shapes[arrow.to].tool.is_none();
        let parts = [known.label.as_str(), arrow.label.as_str()];
        let parts: Vec<&str> = parts.into_iter().filter(|label| !label.is_empty()).collect();
        let label = cut(&parts.join(if alternatives { " or " } else { ", " }), LABEL);
        known.label = label;
        // One unconditional requirement makes the whole arrow one that always holds.
        known.conditional &= arrow.conditional;
        known.tip.push_str(&format!("\n{}", arrow.tip));
    }
    picture.arrows.extend(merged.into_values());
}

/// Orders the lanes so that those with many arrows between them are near: swaps neighbours while
/// that improves the order.
fn arrange(picture: &mut Picture) {
    let pairs: Vec<(usize, usize)> = picture
        .arrows
        .iter()
        .map(|a| (picture.shapes[a.from].lane, picture.shapes[a.to].lane))
        .collect();
    let mut rank: Vec<usize> = (0..picture.lanes.len()).collect();
    let far =
        |rank: &[usize]| pairs.iter().map(|(a, b)| rank[*a].abs_diff(rank[*b])).sum::<usize>();
    let mut least = far(&rank);
    for _ in 0..picture.lanes.len() {
        for at in 1..picture.lanes.len() {
            let swapped: Vec<usize> = rank
                .iter()
                .map(|r| {
                    if *r == at {
                        at - 1
                    } else if *r + 1 == at {
                        at
                    } else {
                        *r
                    }
                })
                .collect();
            let length = far(&swapped);
            // Only strict progress is kept, so that equal orders leave the lanes where they were.
            if length < least {
                (rank, least) = (swapped, length);
            }
        }
    }
    let mut titles = picture.lanes.clone();
    for (title, rank) in picture.lanes.iter().zip(&rank) {
        titles[*rank].clone_from(title);
    }
    picture.lanes = titles;
    picture.shapes.iter_mut().for_each(|shape| shape.lane = rank[shape.lane]);
}

/// Truncates a text to a number of characters.
pub fn cut(text: &str, most: usize) -> String {
    let text = words::line(text);
    match text.char_indices().nth(most) {
        None => text,
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

//! Expressions as text in which names replace indexes, so that expressions of two plans can be
//! compared. Equal texts have the same meaning if the named entities are the same.

use guard_plan::plan::{CheckKind, Checks, Expr, Node, Plan, Probe, ProbeAsks, TypeDef, TypeId};
use std::fmt::Write;

/// Formats a monitor with the monitors that it refers to.
pub(super) fn monitor(plan: &Plan, at: usize) -> String {
    let Some(monitor) = plan.monitors.get(at) else { return String::new() };
    let operand = expr(plan, None, &monitor.of);
    let trigger = monitor.trigger.as_ref().map(|trigger| expr(plan, None, trigger));
    format!("{:?} {operand} {trigger:?}", monitor.op)
}

/// Returns the completion conditions as text, with the names of what they read; empty if there are none.
pub fn completion(plan: &Plan) -> String {
    let Some(completion) = &plan.completion else { return String::new() };
    format!("{} {}", completion.at_most, checks(plan, &completion.checks))
}

fn checks(plan: &Plan, checks: &Checks) -> String {
    let check_text = |kind: &CheckKind| match kind {
        CheckKind::File(path) => format!("file {:?}", plan.paths.get(*path as usize)),
        CheckKind::Contains(path, text) => {
            format!("{text:?} in {:?}", plan.paths.get(*path as usize))
        }
        CheckKind::Conforms(path, contract) => {
            // Types are numbers in the text, so a guard that declares other types counts as
            // different.
            let contract = plan.contracts.get(*contract as usize);
            format!("{:?} conforms {contract:?} {:?}", plan.paths.get(*path as usize), plan.types)
        }
        CheckKind::Command(command, status) => {
            format!("{:?} ends with {status}", plan.commands.get(*command as usize))
        }
        CheckKind::Committed => "committed".into(),
        CheckKind::Every(lifecycle, state) => {
            let lifecycle = plan.lifecycles.get(*lifecycle as usize);
            let state = lifecycle.and_then(|lifecycle| lifecycle.states.get(*state as usize));
            format!("every {:?} {state:?}", lifecycle.map(|lifecycle| &lifecycle.name))
        }
        CheckKind::Attest(attest) => {
            let dimensions = plan.attests.get(*attest as usize).map(|attest| &attest.dimensions);
            let dimensions = dimensions.into_iter().flatten();
            let all = dimensions.map(|dimension| {
                format!("{} {}", dimension.name, self::checks(plan, &dimension.checks))
            });
            format!("attest {}", all.collect::<Vec<_>>().join(", "))
        }
        CheckKind::Condition(e) => format!("if {}", expr(plan, None, e)),
        CheckKind::Score(e) => format!("score {}", expr(plan, None, e)),
        // The numbers of checks in the same list.
        all @ (CheckKind::All(_) | CheckKind::Any(_)) => format!("{all:?}"),
    };
    let all: Vec<String> = checks.0.iter().map(|check| check_text(&check.kind)).collect();
    format!("{all:?}")
}

/// Formats the question of a probe.
pub(super) fn asks(plan: &Plan, probe: &Probe) -> String {
    match probe.asks {
        ProbeAsks::Host => "host".into(),
        ProbeAsks::Command(id) => format!("{:?}", plan.commands.get(id as usize)),
        ProbeAsks::File(id) => format!("file {:?}", plan.paths.get(id as usize)),
    }
}

/// Formats an expression of a tool, or of the guard.
pub(super) fn expr(plan: &Plan, tool: Option<u32>, expr: &Expr) -> String {
    let mut out = String::new();
    for node in &expr.0 {
        let _ = write!(out, "{};", named(plan, tool, node));
    }
    out
}

fn named(plan: &Plan, tool: Option<u32>, node: &Node) -> String {
    let tool_name = |id: u32| plan.tools.get(id as usize).map(|tool| tool.wire_name.as_str());
    let since = |since: &Option<u32>| since.map(tool_name);
    match node {
        Node::Path(id) => format!("path {:?}", plan.paths.get(*id as usize)),
        Node::Param(at) => {
            let tool = tool.and_then(|id| plan.tools.get(id as usize));
            let param = tool.and_then(|tool| tool.params.get(*at as usize));
            let ty = param.map(|param| form(plan, param.ty));
            format!("param {:?} {ty:?}", param.map(|param| &param.name))
        }
        Node::State(id) => {
            let var = plan.state.get(*id as usize);
            format!("state {:?}", var.map(|var| (&var.name, form(plan, var.ty))))
        }
        Node::Remaining(id) => format!("remaining {:?}", unit(plan, *id)),
        Node::Spent(id) => format!("spent {:?}", unit(plan, *id)),
        Node::Row(id, key) => format!("row {:?} {key:?}", fact(plan, *id)),
        Node::Rows(id) => format!("rows {:?}", fact(plan, *id)),
        Node::Known(id, key) => format!("known {:?} {key:?}", fact(plan, *id)),
        Node::Matches(operand, id) => {
            format!("matches {operand} {:?}", plan.regexes.get(*id as usize))
        }
        Node::Called { tool, key, since: from, within } => {
            let key = key
                .as_ref()
                .map(|(id, key)| (plan.indexes.get(*id as usize).map(|index| &index.params), key));
            format!("called {:?} {key:?} {:?} {within:?}", tool_name(*tool), since(from))
        }
        Node::Failed { tool, since: from, within } => {
            format!("failed {:?} {:?} {within:?}", tool_name(*tool), since(from))
        }
        Node::Calls { tool, failures, window } => {
            let size =
                window.and_then(|id| plan.windows.get(id as usize)).map(|window| window.size);
            format!("calls {:?} {failures} {size:?}", tool_name(*tool))
        }
        Node::LastArg(tool, at) => format!("last argument {:?} {at}", tool_name(*tool)),
        Node::LastResult(tool) => format!("last result {:?}", tool_name(*tool)),
        Node::Temporal(id) => format!("({})", monitor(plan, *id as usize)),
        Node::Probe(id) => {
            format!("probe {:?}", plan.probes.get(*id as usize).map(|probe| &probe.name))
        }
        // All other nodes contain only values, and numbers of nodes of this expression.
        other => format!("{other:?}"),
    }
}

/// Returns the form of a type's values, as text.
pub(super) fn form(plan: &Plan, ty: TypeId) -> String {
    match plan.types.get(ty as usize) {
        Some(TypeDef::Option { of }) => format!("option {}", form(plan, *of)),
        Some(TypeDef::List { of, .. }) => format!("list {}", form(plan, *of)),
        Some(TypeDef::Set { of, .. }) => format!("set {}", form(plan, *of)),
        Some(TypeDef::Map { key, of, .. }) => {
            let key = key.map_or(String::new(), |key| format!("by {} ", form(plan, key)));
            format!("map {key}{}", form(plan, *of))
        }
        Some(TypeDef::Record { fields, .. }) => {
            let field =
                |field: &guard_plan::plan::Field| (field.name.clone(), form(plan, field.ty));
            format!("record {:?}", fields.iter().map(field).collect::<Vec<_>>())
        }
        Some(TypeDef::Enum { variants, .. }) => format!("enum {variants:?}"),
        Some(plain) => format!("{:?}", std::mem::discriminant(plain)),
        None => String::new(),
    }
}

fn unit(plan: &Plan, id: u32) -> Option<&str> {
    plan.units.get(id as usize).map(|unit| unit.name.as_str())
}

fn fact(plan: &Plan, id: u32) -> Option<&str> {
    plan.facts.get(id as usize).map(|fact| fact.name.as_str())
}

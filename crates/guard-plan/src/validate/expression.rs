//! The structure of one expression.

use super::{ValidationResult, ensure, in_range};
use crate::plan::*;
use crate::url::Url;

/// The maximum number of nodes in one expression.
const MAX_EXPR_NODES: usize = 1 << 16;
/// The maximum nesting depth.
const MAX_DEPTH: u32 = 256;

/// The data that an expression may refer to.
#[derive(Clone, Copy)]
pub(super) struct ExpressionScope<'s> {
    /// The number of parameters.
    pub params: usize,
    /// True if the expression may read state, history and time.
    pub state: bool,
    /// True if the expression may read files and probes.
    pub world: bool,
    /// True if the expression may read the call's result.
    pub result: bool,
    /// True if the expression may read the text of a prompt.
    pub text: bool,
    /// The number of monitors that the expression may read: only those before the current one.
    pub monitors: Option<usize>,
    /// The slots bound from outside.
    pub bound: &'s [u32],
}

impl ExpressionScope<'static> {
    /// The scope of constants.
    pub const CONSTANT: ExpressionScope<'static> = ExpressionScope {
        params: 0,
        state: false,
        world: false,
        result: false,
        text: false,
        monitors: None,
        bound: &[],
    };

    /// The scope of everything except parameters and a result.
    pub const COMMITTED: ExpressionScope<'static> =
        ExpressionScope { state: true, world: true, ..ExpressionScope::CONSTANT };
}

/// Checks one expression.
pub(super) fn expression(
    plan: &Plan,
    scope: &ExpressionScope<'_>,
    expr: &Expr,
) -> ValidationResult {
    let nodes = &expr.0;
    ensure(!nodes.is_empty(), || "an empty expression".into())?;
    ensure(nodes.len() <= MAX_EXPR_NODES, || "an expression of too many nodes".into())?;
    let mut parents: Vec<Option<u32>> = vec![None; nodes.len()];
    let mut depths: Vec<u32> = Vec::with_capacity(nodes.len());
    for (id, node) in nodes.iter().enumerate() {
        let mut depth = 1;
        let mut sound = true;
        node.for_each_child(&mut |child| {
            let child = child as usize;
            if child >= id || parents[child].is_some() {
                sound = false;
                return;
            }
            parents[child] = Some(id as u32);
            depth = depth.max(depths[child] + 1);
        });
        ensure(sound, || format!("node {id}: its children"))?;
        ensure(depth <= MAX_DEPTH, || format!("node {id}: nests too deep"))?;
        depths.push(depth);
        references(plan, scope, node).map_err(|why| format!("node {id}: {why}"))?;
    }
    let roots = parents.iter().filter(|parent| parent.is_none()).count();
    ensure(roots == 1, || "an expression with unused nodes".into())?;
    for (id, node) in nodes.iter().enumerate() {
        if let Node::Local(slot) = node {
            let known = scope.bound.contains(slot) || is_bound(nodes, &parents, id, *slot);
            ensure(known, || format!("node {id}: slot {slot} is not bound"))?;
        }
    }
    Ok(())
}

/// Returns true if a quantifier around the node binds the slot in its body.
fn is_bound(nodes: &[Node], parents: &[Option<u32>], id: usize, slot: u32) -> bool {
    let mut child = id;
    while let Some(parent) = parents[child] {
        let parent = parent as usize;
        if let Node::Quantified { binders, body, .. } = &nodes[parent]
            && *body as usize == child
            && binders.contains(&slot)
        {
            return true;
        }
        child = parent;
    }
    false
}

/// Checks that a key has as many values as the memory, which belongs to the tool.
pub(super) fn key(plan: &Plan, index: IndexId, tool: ToolId, values: usize) -> ValidationResult {
    in_range(index, plan.indexes.len(), "memory")?;
    let index = &plan.indexes[index as usize];
    let fits = index.tool == tool && index.params.len() == values;
    ensure(fits, || "a key that is not of its memory".into())
}

/// Checks that the entities to which a node refers exist and are in scope.
fn references(plan: &Plan, scope: &ExpressionScope<'_>, node: &Node) -> ValidationResult {
    if needs_state(node) {
        ensure(scope.state, || "more than a constant".into())?;
    }
    let tool = |id: ToolId| in_range(id, plan.tools.len(), "tool");
    let some_tool = |id: Option<ToolId>| id.map_or(Ok(()), tool);
    match node {
        Node::Path(id) => in_range(*id, plan.paths.len(), "path"),
        Node::Url(text) => Url::parse(text).map(drop).map_err(|error| error.to_string()),
        Node::Map(entries) => super::unique(entries.iter().map(|(key, _)| &**key), "key"),
        Node::ToKey(_, ty) | Node::FromKey(_, ty) => {
            in_range(*ty, plan.types.len(), "type")?;
            ensure(super::is_key(plan, *ty), || "a type that is not a key of a map".into())
        }
        Node::Param(id) => in_range(*id, scope.params, "parameter"),
        Node::State(id) => in_range(*id, plan.state.len(), "variable"),
        Node::Result => ensure(scope.result, || "a result where there is none".into()),
        Node::Text => ensure(scope.text, || "a prompt where there is none".into()),
        Node::Said => ensure(plan.mentions, || "prompts that are not remembered".into()),
        Node::Origin(_) | Node::Seen(_) => {
            ensure(plan.origins, || "an origin that is not remembered".into())
        }
        Node::MayRead(..) => {
            ensure(plan.confidential, || "private content that is not remembered".into())
        }
        Node::Remaining(id) => {
            in_range(*id, plan.units.len(), "unit")?;
            let budget = plan.units[*id as usize].budget.is_some();
            ensure(budget, || "what is left of a unit without a budget".into())
        }
        Node::Spent(id) => in_range(*id, plan.units.len(), "unit"),
        Node::Rows(id) => in_range(*id, plan.facts.len(), "fact"),
        Node::Row(id, keys) | Node::Known(id, keys) => {
            in_range(*id, plan.facts.len(), "fact")?;
            let fact = &plan.facts[*id as usize];
            let columns = match &plan.types[fact.row as usize] {
                TypeDef::Record { fields, .. } => fields.len(),
                _ => 0,
            };
            let row = matches!(node, Node::Row(..));
            let fits = if row { keys.len() == fact.keys as usize } else { keys.len() <= columns };
            ensure(fits, || "a fact's columns".into())
        }
        Node::Matches(_, id) => in_range(*id, plan.regexes.len(), "regular expression"),
        Node::Quantified { op, over, binders, .. } => {
            let fits = match over.len() {
                0 => false,
                1 => (1..=2).contains(&binders.len()),
                // Several lists that are iterated together have no single element.
                _ if *op == QuantifierOp::First => false,
                count => binders.len() == count,
            };
            ensure(fits, || "the names a quantifier binds".into())
        }
        Node::Call(builtin, arguments) => {
            let takes = builtin.row().takes.len();
            ensure(arguments.len() == takes, || format!("`{}` takes {takes}", builtin.row().name))
        }
        Node::Called { tool: id, key: asked, since, .. } => {
            tool(*id)?;
            some_tool(*since)?;
            asked.as_ref().map_or(Ok(()), |(index, values)| key(plan, *index, *id, values.len()))
        }
        Node::Failed { tool: id, since, .. } => tool(*id).and_then(|()| some_tool(*since)),
        Node::Calls { tool: id, failures, window } => {
            tool(*id)?;
            let Some(window) = window else { return Ok(()) };
            in_range(*window, plan.windows.len(), "window")?;
            let window = &plan.windows[*window as usize];
            let fits = window.tool == *id && window.failures == *failures;
            ensure(fits, || "a window of another tool".into())
        }
        Node::LastArg(id, param) => {
            tool(*id)?;
            let tool = &plan.tools[*id as usize];
            ensure(tool.keeps_args, || "arguments that are not kept".into())?;
            in_range(*param, tool.params.len(), "parameter")
        }
        Node::LastResult(id) => {
            tool(*id)?;
            let keeps = plan.tools[*id as usize].keeps_result;
            ensure(keeps, || "a result that is not kept".into())
        }
        Node::Temporal(id) => {
            in_range(*id, scope.monitors.unwrap_or(plan.monitors.len()), "monitor")
        }
        Node::Exists(_) => ensure(scope.world, || "the world where it cannot be asked".into()),
        Node::Probe(id) => {
            ensure(scope.world, || "the world where it cannot be asked".into())?;
            in_range(*id, plan.probes.len(), "probe")
        }
        _ => Ok(()),
    }
}

/// Returns true if a node reads state, history, time or the world.
fn needs_state(node: &Node) -> bool {
    matches!(node, Node::State(_)) || node.asks()
}

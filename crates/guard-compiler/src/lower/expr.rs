//! Expressions: from trees to arrays of nodes in which children precede parents.

use super::collect::Tables;
use crate::hir::{Expr, ExprKind, Field, Program};
use guard_plan::plan::{self, Monitor, Node, NodeId, TemporalOp};

/// Returns the expression as nodes; the root is the last.
pub(crate) fn flatten(tables: &Tables, e: &Expr) -> plan::Expr {
    let mut nodes = Vec::new();
    push(tables, e, &mut nodes);
    plan::Expr(nodes)
}

/// Returns the monitor of a temporal operator.
pub(crate) fn monitor(
    tables: &Tables,
    op: TemporalOp,
    operand: &Expr,
    trigger: Option<&Expr>,
) -> Monitor {
    Monitor { op, of: flatten(tables, operand), trigger: trigger.map(|t| flatten(tables, t)) }
}

fn push(t: &Tables, e: &Expr, nodes: &mut Vec<Node>) -> NodeId {
    let node = node(t, e, nodes);
    nodes.push(node);
    (nodes.len() - 1) as NodeId
}

fn node(t: &Tables, e: &Expr, out: &mut Vec<Node>) -> Node {
    use ExprKind as K;
    let all = |xs: &[Expr], out: &mut Vec<Node>| -> Vec<NodeId> {
        xs.iter().map(|x| push(t, x, out)).collect()
    };
    match &e.kind {
        // Programs with reported errors are not lowered.
        K::None | K::Error => Node::None,
        K::Bool(b) => Node::Bool(*b),
        K::Int(v) => Node::Int(*v),
        K::Decimal(v) => Node::Decimal(*v),
        K::String(s) => Node::String(s.clone()),
        K::Path(p) => Node::Path(t.path(p)),
        K::Duration(ms) => Node::Duration(*ms),
        K::Time(ms) => Node::Time(*ms),
        K::Enum(at) => Node::Enum(*at),
        K::Url(u) => Node::Url(u.clone()),
        K::List(xs) => Node::List(all(xs, out)),
        K::Set(xs) => Node::Set(all(xs, out)),
        K::Record(xs) => Node::Record(all(xs, out)),
        K::Map(entries) => {
            Node::Map(entries.iter().map(|(k, v)| (k.clone(), push(t, v, out))).collect())
        }
        K::Param(at) => Node::Param(*at),
        K::State(var) => Node::State(t.state.id(*var)),
        K::Local(slot) => Node::Local(*slot),
        K::Result => Node::Result,
        K::Workspace => Node::Workspace,
        K::Text => Node::Text,
        K::Now => Node::Now,
        K::Elapsed => Node::Elapsed,
        K::Said => Node::Said,
        K::Clock(part) => Node::Clock(*part),
        K::RemainingTime => Node::RemainingTime,
        K::Remaining(unit) => Node::Remaining(t.units.id(*unit)),
        K::Spent(unit) => Node::Spent(t.units.id(*unit)),
        K::Field(record, at) => Node::Field(push(t, record, out), *at),
        K::Member(object, name) => Node::Member(push(t, object, out), name.clone()),
        K::UrlPart(url, part) => Node::UrlPart(push(t, url, out), *part),
        K::Index(collection, at) => Node::Index(push(t, collection, out), push(t, at, out)),
        K::ToKey(operand, key) => Node::ToKey(push(t, operand, out), t.ty(&key.ty())),
        K::FromKey(operand, key) => Node::FromKey(push(t, operand, out), t.ty(&key.ty())),
        K::Row(fact, key) => Node::Row(t.facts.id(*fact), all(key, out)),
        K::Rows(fact) => Node::Rows(t.facts.id(*fact)),
        K::Known(fact, key) => Node::Known(t.facts.id(*fact), all(key, out)),
        K::Not(operand) => Node::Not(push(t, operand, out)),
        K::Neg(operand) => Node::Neg(push(t, operand, out)),
        K::And(a, b) => Node::And(push(t, a, out), push(t, b, out)),
        K::Or(a, b) => Node::Or(push(t, a, out), push(t, b, out)),
        K::Implies(a, b) => Node::Implies(push(t, a, out), push(t, b, out)),
        K::Compare(op, a, b) => Node::Compare(*op, push(t, a, out), push(t, b, out)),
        K::Arith(op, a, b) => Node::Arith(*op, push(t, a, out), push(t, b, out)),
        K::In(a, b) => Node::In(push(t, a, out), push(t, b, out)),
        K::Within(a, b) => Node::Within(push(t, a, out), push(t, b, out)),
        K::Matches(operand, pattern) => Node::Matches(push(t, operand, out), t.regex(pattern)),
        K::IsSome(operand) => Node::IsSome(push(t, operand, out)),
        K::Else(a, b) => Node::Else(push(t, a, out), push(t, b, out)),
        K::Unwrap(operand, _) => Node::Unwrap(push(t, operand, out)),
        K::If(c, a, b) => Node::If(push(t, c, out), push(t, a, out), push(t, b, out)),
        K::Quantified { op, over, binders, body } => {
            let over = all(over, out);
            Node::Quantified { op: *op, over, binders: binders.clone(), body: push(t, body, out) }
        }
        K::Call(builtin, args) => Node::Call(*builtin, all(args, out)),
        K::Called { tool, key, since, within } => {
            let index = (!key.is_empty()).then(|| t.index(*tool, key));
            let values: Vec<NodeId> = key.iter().map(|(_, e)| push(t, e, out)).collect();
            Node::Called {
                tool: t.tools.id(*tool),
                key: index.map(|index| (index, values)),
                since: since.map(|s| t.tools.id(s)),
                within: *within,
            }
        }
        K::Failed { tool, since, within } => Node::Failed {
            tool: t.tools.id(*tool),
            since: since.map(|s| t.tools.id(s)),
            within: *within,
        },
        K::Calls { tool, failures, recent } => Node::Calls {
            tool: t.tools.id(*tool),
            failures: *failures,
            window: recent.map(|size| t.window(*tool, *failures, size)),
        },
        K::LastArg(tool, at) => Node::LastArg(t.tools.id(*tool), *at),
        K::LastResult(tool) => Node::LastResult(t.tools.id(*tool)),
        K::Temporal(op, operand, trigger) => {
            Node::Temporal(t.monitor(&monitor(t, *op, operand, trigger.as_deref())))
        }
        K::Exists(path) => Node::Exists(push(t, path, out)),
        K::Probe(probe) => Node::Probe(t.probes.id(*probe)),
        K::Origin(operand) => Node::Origin(push(t, operand, out)),
        K::Seen(operand) => Node::Seen(push(t, operand, out)),
        K::MayRead(who, text) => {
            let who = push(t, who, out);
            Node::MayRead(who, push(t, text, out))
        }
    }
}

/// Returns true if the expression reads a value marked `secret`.
pub(crate) fn is_secret(program: &Program, e: &Expr, params: &[Field]) -> bool {
    e.any(&mut |part| match &part.kind {
        ExprKind::Param(at) => params.get(*at as usize).is_some_and(|p| p.secret),
        ExprKind::LastArg(tool, at) => program.tools[*tool].params[*at as usize].secret,
        ExprKind::Field(record, at) => match record.ty.required() {
            crate::hir::Type::Record(id) => program.records[*id].fields[*at as usize].secret,
            _ => false,
        },
        _ => false,
    })
}

/// Returns the outermost readable places of an expression: parameters, variables, their parts,
/// clocks and budgets.
pub(crate) fn places(e: &Expr) -> Vec<&Expr> {
    let mut found = Vec::new();
    add_places(e, &mut found);
    found
}

fn add_places<'e>(e: &'e Expr, found: &mut Vec<&'e Expr>) {
    if is_place(e) {
        found.push(e);
        return;
    }
    // A place with a bound variable varies from element to element.
    if let ExprKind::Quantified { over, .. } = &e.kind {
        over.iter().for_each(|o| add_places(o, found));
        return;
    }
    e.children().into_iter().for_each(|child| add_places(child, found));
}

fn is_place(e: &Expr) -> bool {
    if is_named_value(e) {
        return true;
    }
    match &e.kind {
        ExprKind::Param(_) | ExprKind::State(_) | ExprKind::Clock(_) | ExprKind::Elapsed => true,
        ExprKind::RemainingTime | ExprKind::Remaining(_) | ExprKind::Spent(_) => true,
        ExprKind::Field(record, _) | ExprKind::UrlPart(record, _) | ExprKind::Unwrap(record, _) => {
            is_place(record)
        }
        ExprKind::ToKey(operand, _) => is_place(operand),
        ExprKind::Index(collection, at) => {
            is_place(collection) && (is_place(at) || matches!(at.kind, ExprKind::String(_)))
        }
        ExprKind::Row(_, key) => key.iter().all(is_place),
        ExprKind::Calls { .. } | ExprKind::Result => true,
        _ => false,
    }
}

/// Returns true if the author has a name for a value that varies. For a named test, its operands
/// are shown instead.
fn is_named_value(e: &Expr) -> bool {
    if e.name.is_none() || *e.ty.required() == crate::hir::Type::Bool {
        return false;
    }
    e.any(&mut |part| match &part.kind {
        ExprKind::Called { .. } | ExprKind::Failed { .. } | ExprKind::Exists(_) => true,
        ExprKind::Now | ExprKind::Probe(_) | ExprKind::Origin(_) => true,
        ExprKind::Seen(_) | ExprKind::MayRead(..) => true,
        ExprKind::LastArg(..) | ExprKind::LastResult(_) | ExprKind::Row(..) => true,
        ExprKind::Known(..) | ExprKind::Rows(_) => true,
        _ => part.name.is_none() && is_place(part),
    })
}

/// Formats a place in the author's notation.
pub(crate) fn label(program: &Program, e: &Expr, params: &[Field]) -> String {
    let inner = |e: &Expr| label(program, e, params);
    if let Some(name) = &e.name {
        return name.to_string();
    }
    match &e.kind {
        ExprKind::Param(at) => params.get(*at as usize).map(|p| p.name.clone()).unwrap_or_default(),
        ExprKind::State(var) => program.state[*var].name.clone(),
        ExprKind::Clock(part) => format!("clock.{}", format!("{part:?}").to_lowercase()),
        ExprKind::Elapsed => "elapsed".into(),
        ExprKind::Result => "result".into(),
        ExprKind::RemainingTime => "remaining(deadline)".into(),
        ExprKind::Remaining(unit) => format!("remaining({})", program.units[*unit].name),
        ExprKind::Spent(unit) => format!("spent({})", program.units[*unit].name),
        ExprKind::Field(record, at) => match record.ty.required() {
            crate::hir::Type::Record(id) => {
                format!("{}.{}", inner(record), program.records[*id].fields[*at as usize].name)
            }
            _ => inner(record),
        },
        ExprKind::UrlPart(url, part) => {
            format!("{}.{}", inner(url), format!("{part:?}").to_lowercase())
        }
        ExprKind::Unwrap(operand, _) | ExprKind::ToKey(operand, _) => inner(operand),
        ExprKind::Index(collection, at) => {
            let key = match (collection.ty.required(), &at.kind) {
                // A key that is not a string is written as the key, not as its text.
                (crate::hir::Type::Map(key, ..), ExprKind::String(text))
                    if *key != crate::hir::MapKey::Text =>
                {
                    text.clone()
                }
                _ => inner(at),
            };
            format!("{}[{key}]", inner(collection))
        }
        ExprKind::Row(fact, key) => {
            let keys: Vec<String> = key.iter().map(inner).collect();
            format!("{}[{}]", program.facts[*fact].name, keys.join(", "))
        }
        ExprKind::Calls { tool, failures, .. } => {
            format!(
                "{}({})",
                if *failures { "failures" } else { "calls" },
                program.tools[*tool].name
            )
        }
        ExprKind::String(text) => format!("{text:?}"),
        _ => "…".into(),
    }
}

//! Costs: the worst-case number of steps of deciding each tool's calls.
//!
//! A step is the evaluation of one node. A quantifier takes its body as often as its collection may have
//! elements; what is no parameter, variable or literal counts with the default bound.

use guard_plan::plan::{
    Expr, Message, Node, Part, Plan, Show, Step, Target, Tool, TypeDef, TypeId,
};

/// The bound a guard is held to.
pub(crate) const MAX_STEPS: u64 = 10_000_000;

/// Elements of a collection whose bound is not known here.
const UNKNOWN_ELEMENTS: u64 = 10_000;

/// Fills in the step bound of every tool.
pub(crate) fn fill(plan: &mut Plan) {
    for at in 0..plan.tools.len() {
        plan.tools[at].steps = decision(plan, &plan.tools[at]);
    }
}

fn decision(plan: &Plan, tool: &Tool) -> u64 {
    let cost = |e: &Expr| steps(plan, tool, e);
    let optional = |e: &Option<Expr>| e.as_ref().map_or(0, cost);
    let shows = |shows: &[Show]| shows.iter().map(|s| cost(&s.expr)).fold(0, u64::saturating_add);
    let message = |m: &Option<Message>| {
        let parts = m.iter().flat_map(|m| &m.parts);
        parts
            .map(|p| if let Part::Value(s) = p { cost(&s.expr) } else { 1 })
            .fold(0, u64::saturating_add)
    };
    let target = |t: &Target| {
        t.path
            .iter()
            .map(|s| if let Step::Index(e) = s { cost(e) } else { 1 })
            .fold(1, u64::saturating_add)
    };
    let mut total: u64 = tool.params.len() as u64 + tool.limits.len() as u64 + 1;
    let mut add = |n: u64| total = total.saturating_add(n);
    for r in &tool.requires {
        add(optional(&r.when));
        r.any_of
            .iter()
            .for_each(|a| add(a.key.iter().flat_map(|k| &k.values).map(cost).sum::<u64>() + 1));
    }
    tool.denies.iter().for_each(|d| {
        add(cost(&d.condition).saturating_add(message(&d.because)).saturating_add(shows(&d.shows)))
    });
    tool.limits.iter().for_each(|l| add(optional(&l.by)));
    tool.costs.iter().for_each(|c| add(cost(&c.amount)));
    tool.effects.iter().for_each(|e| add(target(&e.target).saturating_add(optional(&e.value))));
    for invariant in tool.frame.iter().map(|i| &plan.invariants[*i as usize]) {
        add(cost(&invariant.condition).saturating_add(shows(&invariant.shows)));
    }
    tool.approvals.iter().for_each(|a| add(1 + optional(&a.when)));
    add(tool.ready.len() as u64 + tool.touches.len() as u64);
    total
}

fn steps(plan: &Plan, tool: &Tool, e: &Expr) -> u64 {
    let mut costs: Vec<u64> = Vec::with_capacity(e.0.len());
    for node in &e.0 {
        let mut total: u64 = 1;
        match node {
            Node::Quantified { over, body, .. } => {
                let elements = over.iter().map(|o| elements(plan, tool, e, *o)).max().unwrap_or(0);
                let walked = elements.saturating_mul(costs[*body as usize].saturating_add(1));
                total = over
                    .iter()
                    .map(|o| costs[*o as usize])
                    .fold(total.saturating_add(walked), u64::saturating_add);
            }
            other => other
                .for_each_child(&mut |child| total = total.saturating_add(costs[child as usize])),
        }
        costs.push(total);
    }
    costs.last().copied().unwrap_or(0)
}

/// How many elements the collection at a node may have.
fn elements(plan: &Plan, tool: &Tool, e: &Expr, node: u32) -> u64 {
    match &e.0[node as usize] {
        Node::List(xs) | Node::Set(xs) => xs.len() as u64,
        Node::Map(entries) => entries.len() as u64,
        Node::Unwrap(of) => elements(plan, tool, e, *of),
        Node::Else(a, b) | Node::If(_, a, b) => {
            elements(plan, tool, e, *a).max(elements(plan, tool, e, *b))
        }
        Node::None => 0,
        _ => bound(plan, type_of(plan, tool, e, node, DEPTH)),
    }
}

/// How far the types of nodes are followed: bound variables lead to collections, these to other variables.
const DEPTH: u32 = 64;

/// The type of a node that reads a place; none where it computes something.
fn type_of(plan: &Plan, tool: &Tool, e: &Expr, node: u32, depth: u32) -> Option<TypeId> {
    let inner = |node: u32| type_of(plan, tool, e, node, depth.checked_sub(1)?);
    let params = |at: u32, tool: &Tool| tool.params.get(at as usize).map(|param| param.ty);
    match e.0.get(node as usize)? {
        Node::Param(at) => params(*at, tool),
        Node::State(var) => plan.state.get(*var as usize).map(|var| var.ty),
        Node::LastArg(last, at) => params(*at, plan.tools.get(*last as usize)?),
        Node::LastResult(last) => plan.tools.get(*last as usize)?.returns,
        Node::Row(fact, _) => plan.facts.get(*fact as usize).map(|fact| fact.row),
        Node::Probe(probe) => plan.probes.get(*probe as usize).map(|probe| probe.returns),
        Node::Unwrap(of) | Node::Else(of, _) | Node::If(_, of, _) => inner(*of),
        Node::Field(of, at) => match required(plan, inner(*of)?)? {
            TypeDef::Record { fields, .. } => fields.get(*at as usize).map(|field| field.ty),
            _ => None,
        },
        Node::Index(of, _) => element(plan, inner(*of)?),
        Node::Local(slot) => {
            let (over, at, names) = binding(e, node, *slot)?;
            let ty = inner(over)?;
            match required(plan, ty)? {
                // The first of two names is an index or a key, and so is the only name of a map's entries.
                TypeDef::Map { .. } if names == 1 || at == 0 => None,
                TypeDef::List { .. } if names == 2 && at == 0 => None,
                _ => element(plan, ty),
            }
        }
        _ => None,
    }
}

/// The collection that the bound variable at a node ranges over, its place among the names, and how many names
/// there are.
fn binding(e: &Expr, node: u32, slot: u32) -> Option<(u32, usize, usize)> {
    // Parents come after their children; siblings may use one slot again.
    let mut inner = node;
    for (parent, candidate) in e.0.iter().enumerate().skip(node as usize + 1) {
        let mut leads = false;
        candidate.for_each_child(&mut |child| leads |= child == inner);
        if !leads {
            continue;
        }
        if let Node::Quantified { over, binders, body, .. } = candidate
            && *body == inner
            && let Some(at) = binders.iter().position(|bound| *bound == slot)
        {
            // Lists in step bind one name each.
            return match over.as_slice() {
                [only] => Some((*only, at, binders.len())),
                several => Some((*several.get(at)?, 0, 1)),
            };
        }
        inner = u32::try_from(parent).ok()?;
    }
    None
}

fn required(plan: &Plan, ty: TypeId) -> Option<&TypeDef> {
    match plan.types.get(ty as usize)? {
        TypeDef::Option { of } => plan.types.get(*of as usize),
        def => Some(def),
    }
}

fn element(plan: &Plan, ty: TypeId) -> Option<TypeId> {
    match required(plan, ty)? {
        TypeDef::List { of, .. } | TypeDef::Set { of, .. } | TypeDef::Map { of, .. } => Some(*of),
        _ => None,
    }
}

fn bound(plan: &Plan, ty: Option<TypeId>) -> u64 {
    match ty.and_then(|ty| required(plan, ty)) {
        Some(TypeDef::List { max, .. } | TypeDef::Set { max, .. } | TypeDef::Map { max, .. }) => {
            max.unwrap_or(UNKNOWN_ELEMENTS)
        }
        _ => UNKNOWN_ELEMENTS,
    }
}

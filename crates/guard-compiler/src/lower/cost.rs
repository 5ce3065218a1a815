//! Costs: the worst-case number of steps to decide a call of each tool.
//!
//! A step is the evaluation of one node. A quantifier evaluates its body once for each possible
//! element of its collection. A collection that is not a parameter, variable or literal counts with
//! the default bound.

use guard_plan::builtin::{Builtin, MAX_COMMANDS, ReturnKind};
use guard_plan::plan::{
    Effect, EffectOp, Expr, Message, Node, Part, Plan, RuleMeta, Show, Step, Target, Tool, TypeDef,
    TypeId,
};
use guard_plan::typing::{required, type_of};
use guard_plan::words::{self, Shows};

/// The maximum number of steps of a guard.
pub(crate) const MAX_STEPS: u64 = 10_000_000;

/// The assumed number of elements of a collection with an unknown bound.
const UNKNOWN_ELEMENTS: u64 = 10_000;

/// Fills in the step bound of every tool.
pub(crate) fn fill(plan: &mut Plan) {
    for at in 0..plan.tools.len() {
        plan.tools[at].steps = decision(plan, &plan.tools[at]);
    }
}

/// A rule whose condition takes most of the steps of a tool.
pub(crate) struct CostliestRule<'p> {
    pub rule: &'p RuleMeta,
    pub steps: u64,
    /// The collections that it walks, from the outermost one to the innermost one, as text, each
    /// with the maximum number of its elements.
    pub walks: Vec<(String, u64)>,
}

/// Returns the rule of a tool whose condition takes most of the steps; none if none does.
pub(crate) fn costliest<'p>(plan: &'p Plan, tool: &'p Tool) -> Option<CostliestRule<'p>> {
    let denies = tool.denies.iter().map(|deny| (&deny.rule, &deny.condition));
    let invariants = tool.frame.iter().map(|at| &plan.invariants[*at as usize]);
    let invariants = invariants.map(|invariant| (&invariant.rule, &invariant.condition));
    let rules = denies.chain(invariants);
    let costs = rules.map(|(rule, condition)| (rule, condition, steps(plan, tool, condition)));
    let (rule, condition, steps) = costs.max_by_key(|(.., steps)| *steps)?;
    let is_most = steps > tool.steps / 2;
    is_most.then(|| CostliestRule { rule, steps, walks: walks(plan, tool, condition) })
}

/// Returns the collections on the way to the costliest innermost part of an expression.
fn walks(plan: &Plan, tool: &Tool, e: &Expr) -> Vec<(String, u64)> {
    let costs = node_costs(plan, tool, e);
    let shows = Shows { plan, tool: Some(tool), ranges: &[] };
    let mut walks = Vec::new();
    let mut at = e.0.len().checked_sub(1);
    while let Some(node) = at {
        let mut dearest = None;
        e.0[node].for_each_child(&mut |child| {
            let cost = costs[child as usize];
            dearest = dearest.max(Some((cost, child as usize)));
        });
        if let Node::Quantified { over, body, .. } = &e.0[node] {
            let longest = over.iter().map(|over| (elements(plan, tool, e, *over), *over));
            let walked = longest.max().filter(|(most, over)| {
                most.saturating_mul(costs[*body as usize]) >= costs[*over as usize]
            });
            // Otherwise, the collection itself takes the most.
            if let Some((most, over)) = walked {
                walks.push((words::node(&shows, e, over), most));
                dearest = Some((0, *body as usize));
            }
        }
        at = dearest.map(|(_, child)| child);
    }
    walks
}

fn decision(plan: &Plan, tool: &Tool) -> u64 {
    let cost = |e: &Expr| steps(plan, tool, e);
    let optional = |e: &Option<Expr>| e.as_ref().map_or(0, cost);
    let shows = |shows: &[Show]| total(shows.iter().map(|s| cost(&s.expr)));
    let message = |m: &Option<Message>| {
        let parts = m.iter().flat_map(|m| &m.parts);
        total(parts.map(|p| if let Part::Value(s) = p { cost(&s.expr) } else { 1 }))
    };
    let target = |t: &Target| {
        let path = t.path.iter().map(|s| if let Step::Index(e) = s { cost(e) } else { 1 });
        total(path).saturating_add(1)
    };
    let mut sum: u64 = tool.params.len() as u64 + tool.limits.len() as u64 + 1;
    let mut add = |n: u64| sum = sum.saturating_add(n);
    for r in &tool.requires {
        add(optional(&r.when));
        r.any_of.iter().for_each(|a| {
            add(1);
            add(total(a.key.iter().flat_map(|k| &k.values).map(cost)));
        });
    }
    tool.denies.iter().for_each(|d| {
        add(cost(&d.condition).saturating_add(message(&d.because)).saturating_add(shows(&d.shows)));
        d.replacement.iter().for_each(|replacement| add(cost(&replacement.value.expr)));
    });
    tool.limits.iter().for_each(|l| add(optional(&l.by)));
    tool.costs.iter().for_each(|c| add(cost(&c.amount)));
    tool.effects.iter().for_each(|e| {
        let once = target(&e.target).saturating_add(optional(&e.value));
        let once = once.saturating_add(searched(plan, e));
        let inner = once.saturating_add(optional(&e.when));
        // The inner collections are walked once for each element of the outer ones.
        add(e.ranges.iter().rev().fold(inner, |inner, range| {
            let root = (range.over.0.len() as u32).saturating_sub(1);
            let walked =
                elements(plan, tool, &range.over, root).saturating_mul(inner.saturating_add(1));
            walked.saturating_add(cost(&range.over))
        }))
    });
    for invariant in tool.frame.iter().map(|i| &plan.invariants[*i as usize]) {
        add(cost(&invariant.condition).saturating_add(shows(&invariant.shows)));
    }
    tool.gates().for_each(|gate| add(cost(&gate.when)));
    tool.approvals.iter().for_each(|a| {
        add(1);
        add(message(&a.because).saturating_add(shows(&a.shows)));
        add(optional(&a.when));
    });
    add(tool.ready.len() as u64 + tool.touches.len() as u64);
    sum
}

/// Returns a sum. A cost that does not fit is the maximum, which exceeds every bound; a sum that
/// wrapped around would not.
fn total(costs: impl Iterator<Item = u64>) -> u64 {
    costs.fold(0, u64::saturating_add)
}

/// Returns the number of elements that a `remove` from a list examines.
fn searched(plan: &Plan, effect: &Effect) -> u64 {
    if effect.op != EffectOp::Remove {
        return 0;
    }
    let mut ty = plan.state.get(effect.target.var as usize).map(|var| var.ty);
    for step in &effect.target.path {
        ty = match (step, ty.and_then(|ty| required(plan, ty))) {
            (Step::Field(at), Some(TypeDef::Record { fields, .. })) => {
                fields.get(*at as usize).map(|field| field.ty)
            }
            (Step::Index(_), Some(TypeDef::List { of, .. } | TypeDef::Map { of, .. })) => Some(*of),
            _ => None,
        };
    }
    match ty.and_then(|ty| required(plan, ty)) {
        Some(TypeDef::List { max, .. }) => max.unwrap_or(UNKNOWN_ELEMENTS),
        _ => 0,
    }
}

fn steps(plan: &Plan, tool: &Tool, e: &Expr) -> u64 {
    node_costs(plan, tool, e).last().copied().unwrap_or(0)
}

/// Returns the steps of each node with those below it.
fn node_costs(plan: &Plan, tool: &Tool, e: &Expr) -> Vec<u64> {
    let mut costs: Vec<u64> = Vec::with_capacity(e.0.len());
    for node in &e.0 {
        let mut sum: u64 = 1;
        match node {
            Node::Quantified { over, body, .. } => {
                let elements = over.iter().map(|o| elements(plan, tool, e, *o)).max().unwrap_or(0);
                let walked = elements.saturating_mul(costs[*body as usize].saturating_add(1));
                let collections = total(over.iter().map(|o| costs[*o as usize]));
                sum = sum.saturating_add(walked).saturating_add(collections);
            }
            other => {
                other.for_each_child(&mut |child| sum = sum.saturating_add(costs[child as usize]))
            }
        }
        costs.push(sum);
    }
    costs
}

/// Returns the maximum number of elements of the collection at a node.
fn elements(plan: &Plan, tool: &Tool, e: &Expr, node: u32) -> u64 {
    match &e.0[node as usize] {
        Node::List(xs) | Node::Set(xs) => xs.len() as u64,
        Node::Map(entries) => entries.len() as u64,
        Node::Rows(fact) => plan.facts.get(*fact as usize).map_or(0, |fact| fact.max),
        Node::Unwrap(operand) => elements(plan, tool, e, *operand),
        Node::Else(a, b) | Node::If(_, a, b) => {
            elements(plan, tool, e, *a).max(elements(plan, tool, e, *b))
        }
        Node::None => 0,
        Node::Call(Builtin::Commands, _) => MAX_COMMANDS as u64,
        Node::Call(builtin, args) if builtin.row().gives == ReturnKind::Strings => {
            let text = args.first().and_then(|text| characters(plan, tool, e, *text));
            text.map_or(UNKNOWN_ELEMENTS, |most| pieces(*builtin, most).min(UNKNOWN_ELEMENTS))
        }
        // An entry of a constant table.
        Node::Index(table, _) => match &e.0[*table as usize] {
            Node::Map(entries) => {
                let each = entries.iter().map(|(_, value)| elements(plan, tool, e, *value));
                each.max().unwrap_or(0)
            }
            _ => bound(plan, type_at(plan, tool, e, node)),
        },
        Node::Call(Builtin::Joined, lists) => {
            total(lists.iter().map(|list| elements(plan, tool, e, *list)))
        }
        _ => bound(plan, type_at(plan, tool, e, node)),
    }
}

/// Returns the type of a node, if all branches on the way to it have one type.
fn type_at(plan: &Plan, tool: &Tool, e: &Expr, node: u32) -> Option<TypeId> {
    let ty = |node: u32| type_of(plan, &tool.params, e, node);
    ty(node).filter(|_| agrees(e, node, &ty))
}

/// Returns true if the branches of every `if` and `else` that a value comes from have one type. An empty branch has every type.
fn agrees(e: &Expr, node: u32, ty: &dyn Fn(u32) -> Option<TypeId>) -> bool {
    let is_empty = |node: u32| match &e.0[node as usize] {
        Node::None => true,
        Node::List(items) | Node::Set(items) => items.is_empty(),
        Node::Map(entries) => entries.is_empty(),
        _ => false,
    };
    match &e.0[node as usize] {
        Node::Else(a, b) | Node::If(_, a, b) => {
            let branch = |node: u32| agrees(e, node, ty);
            branch(*a) && (is_empty(*b) || (ty(*a) == ty(*b) && branch(*b)))
        }
        Node::Unwrap(of) | Node::Field(of, _) | Node::Index(of, _) => agrees(e, *of, ty),
        Node::Quantified { over, .. } => over.iter().all(|over| agrees(e, *over, ty)),
        Node::Local(slot) => e.0.iter().all(|binder| match binder {
            Node::Quantified { over, binders, .. } if binders.contains(slot) => {
                over.iter().all(|over| agrees(e, *over, ty))
            }
            _ => true,
        }),
        _ => true,
    }
}

/// Returns the most pieces that a builtin makes of a text with so many characters. What extractors find has a mark between.
fn pieces(builtin: Builtin, characters: u64) -> u64 {
    match builtin {
        Builtin::Split => characters.saturating_add(1),
        _ => characters / 2 + 1,
    }
}

/// Returns the most characters of the text at a node, if its type or the text itself says so.
fn characters(plan: &Plan, tool: &Tool, e: &Expr, node: u32) -> Option<u64> {
    match &e.0[node as usize] {
        Node::String(text) => Some(text.chars().count() as u64),
        Node::Else(a, b) | Node::If(_, a, b) => {
            let (a, b) = (characters(plan, tool, e, *a)?, characters(plan, tool, e, *b)?);
            Some(a.max(b))
        }
        _ => match required(plan, type_at(plan, tool, e, node)?)? {
            TypeDef::String { max_chars, max_bytes, .. } => {
                // A character has at least one byte, so the smaller bound holds for characters.
                let fewer = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
                fewer(*max_chars, *max_bytes)
            }
            _ => None,
        },
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

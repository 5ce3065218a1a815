//! The expressions of a plan made ready to run: constant collections are built once.
//!
//! Mirrors the plan rule by rule; names, texts and numbers stay there.

use guard_plan::decode::{holds_secrets, is_secret};
use guard_plan::plan;
use guard_plan::plan::{Claim, Expr, InvariantId, Node, Plan, ToolId, VarId};
use guard_plan::url::Url;
use guard_plan::value::Value;

/// One step of a prepared expression.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    /// A value known in advance.
    Const(Value),
    /// Something to evaluate.
    Node(Node),
}

/// An expression ready to run; the last step is the root.
#[derive(Debug, Clone)]
pub(crate) struct Prepared(Box<[Op]>);

impl Prepared {
    pub fn new(expr: &Expr) -> Prepared {
        let mut ops: Vec<Op> = Vec::with_capacity(expr.0.len());
        for node in &expr.0 {
            let op = constant(&ops, node).map_or_else(|| Op::Node(node.clone()), Op::Const);
            ops.push(op);
        }
        Prepared(ops.into_boxed_slice())
    }

    pub fn optional(expr: &Option<Expr>) -> Option<Prepared> {
        expr.as_ref().map(Prepared::new)
    }

    /// The step with an index; the loader has checked that there is one.
    pub fn op(&self, id: u32) -> &Op {
        &self.0[id as usize]
    }

    /// All steps, children first.
    pub fn ops(&self) -> &[Op] {
        &self.0
    }

    /// The index of the root.
    pub fn root(&self) -> u32 {
        (self.0.len() - 1) as u32
    }
}

/// The value of a node that depends on nothing.
fn constant(ops: &[Op], node: &Node) -> Option<Value> {
    let child = |id: &u32| literal(&ops[*id as usize]);
    let all = |ids: &[u32]| ids.iter().map(child).collect::<Option<Vec<_>>>();
    match node {
        Node::Url(text) => Url::parse(text).ok().map(|url| Value::Url(Box::new(url))),
        Node::List(ids) => all(ids).map(Value::List),
        Node::Set(ids) => all(ids).map(|items| Value::Set(items.into_iter().collect())),
        Node::Record(ids) => all(ids).map(Value::Record),
        Node::Map(entries) => entries
            .iter()
            .map(|(key, id)| Some((key.as_str().into(), child(id)?)))
            .collect::<Option<_>>()
            .map(Value::Map),
        _ => None,
    }
}

fn literal(op: &Op) -> Option<Value> {
    Some(match op {
        Op::Const(value) => value.clone(),
        Op::Node(Node::None) => Value::None,
        Op::Node(Node::Bool(value)) => Value::Bool(*value),
        Op::Node(Node::Int(number)) => Value::Int(*number),
        Op::Node(Node::Decimal(units)) => Value::Decimal(*units),
        Op::Node(Node::String(text)) => Value::String(text.as_str().into()),
        Op::Node(Node::Duration(millis)) => Value::Duration(*millis),
        Op::Node(Node::Time(at)) => Value::Time(*at),
        Op::Node(Node::Enum(index)) => Value::Enum(*index),
        Op::Node(_) => return None,
    })
}

/// The expressions of a tool.
#[derive(Debug)]
pub(crate) struct Tool {
    pub requires: Box<[Requires]>,
    pub denies: Box<[Prepared]>,
    pub limits: Box<[Option<Prepared>]>,
    pub costs: Box<[Prepared]>,
    pub effects: Box<[Effect]>,
    pub approvals: Box<[Option<Prepared>]>,
    pub observes: Box<[(Target, Prepared)]>,
    pub learns: Box<[Learn]>,
    pub reconciles: Box<[Prepared]>,
    /// Irreversible and critical.
    pub gated: bool,
    /// The arguments are asked for after the call.
    pub retains_args: bool,
    /// The result is asked for after the call.
    pub reads_result: bool,
    /// Its parameters or result hold secrets.
    pub secrets: bool,
    /// Some effects are in shadow.
    pub shadow_effects: bool,
    /// What needs no check, where nothing has refused the call so far.
    pub proven: Proven,
    /// Of a served tool with criteria or evidence: where what they say stands in their record, in the order of
    /// the names in `served`.
    pub says: Box<[usize]>,
}

/// `when`, and the keys of the alternatives.
#[derive(Debug)]
pub(crate) struct Requires {
    pub when: Option<Prepared>,
    pub keys: Box<[Option<Box<[Prepared]>>]>,
}

/// A target and the operand.
#[derive(Debug)]
pub(crate) struct Effect {
    pub target: Target,
    pub value: Option<Prepared>,
}

/// The key expressions of a target's path; none for its fields.
pub(crate) type Target = Box<[Option<Prepared>]>;

/// The expressions of a lesson.
#[derive(Debug)]
pub(crate) struct Learn {
    pub over: Option<Prepared>,
    pub when: Option<Prepared>,
    pub row: Box<[Prepared]>,
}

impl Learn {
    pub fn new(learn: &plan::Learn) -> Learn {
        Learn {
            over: Prepared::optional(&learn.over),
            when: Prepared::optional(&learn.when),
            row: all(&learn.row, Prepared::new),
        }
    }
}

fn all<'p, T: 'p, U>(items: &'p [T], prepare: impl Fn(&'p T) -> U) -> Box<[U]> {
    items.iter().map(prepare).collect()
}

fn target(target: &plan::Target) -> Target {
    all(&target.path, |step| match step {
        plan::Step::Field(_) => None,
        plan::Step::Index(key) => Some(Prepared::new(key)),
    })
}

impl Tool {
    pub fn new(tool: &plan::Tool, types: &[plan::TypeDef]) -> Tool {
        let later =
            !(tool.observes.is_empty() && tool.learns.is_empty() && tool.reconciles.is_empty());
        Tool {
            requires: all(&tool.requires, |requires| Requires {
                when: Prepared::optional(&requires.when),
                keys: all(&requires.any_of, |alternative| {
                    alternative.key.as_ref().map(|key| all(&key.values, Prepared::new))
                }),
            }),
            denies: all(&tool.denies, |deny| Prepared::new(&deny.condition)),
            limits: all(&tool.limits, |used| Prepared::optional(&used.by)),
            costs: all(&tool.costs, |cost| Prepared::new(&cost.amount)),
            effects: all(&tool.effects, |effect| Effect {
                target: target(&effect.target),
                value: Prepared::optional(&effect.value),
            }),
            approvals: all(&tool.approvals, |approval| Prepared::optional(&approval.when)),
            observes: all(&tool.observes, |observe| {
                (target(&observe.target), Prepared::new(&observe.value))
            }),
            learns: all(&tool.learns, Learn::new),
            reconciles: all(&tool.reconciles, |rule| Prepared::new(&rule.condition)),
            gated: tool.irreversible && tool.risk == plan::Risk::Critical,
            retains_args: later || tool.keeps_args,
            reads_result: later || tool.keeps_result || !tool.observe_frame.is_empty(),
            secrets: tool.params.iter().any(|param| is_secret(types, param))
                || tool.returns.is_some_and(|ty| holds_secrets(types, ty)),
            shadow_effects: tool.effects.iter().any(|effect| effect.rule.shadow),
            proven: Proven::default(),
            says: if tool.served.is_some() { says(tool, types) } else { Box::default() },
        }
    }
}

/// What is proved of a tool, its certificates checked (semantics §15).
#[derive(Debug, Default)]
pub(crate) struct Proven {
    /// Invariants of which parts are proved, ascending: what is left of each.
    pub preserved: Box<[(InvariantId, Box<[Prepared]>)]>,
    /// Variables that its effects leave in their types, ascending.
    pub refined: Box<[VarId]>,
    /// Invariants that its observations keep, ascending.
    pub observed: Box<[InvariantId]>,
}

impl Proven {
    /// What the plan proves of a tool.
    pub fn new(plan: &Plan, id: ToolId) -> Proven {
        let claims = || plan.proofs.iter().map(|proof| proof.claim);
        let mut invariants: Vec<InvariantId> = claims()
            .filter_map(|claim| match claim {
                Claim::Preserved { tool, invariant, .. } if tool == id => Some(invariant),
                _ => None,
            })
            .collect();
        invariants.dedup();
        let left = |invariant: InvariantId| {
            let condition = &plan.invariants[invariant as usize].condition;
            let parts = (0..).zip(guard_proof::parts(condition)).filter(|(part, _)| {
                let claim = Claim::Preserved { tool: id, invariant, part: *part };
                claims().all(|known| known != claim)
            });
            // Children precede parents: what stands up to a node holds all of it.
            parts.map(|(_, root)| Prepared::new(&Expr(condition.0[..=root as usize].to_vec()))).collect()
        };
        Proven {
            preserved: invariants.into_iter().map(|id| (id, left(id))).collect(),
            refined: claims()
                .filter_map(|claim| match claim {
                    Claim::Refined { tool, var } if tool == id => Some(var),
                    _ => None,
                })
                .collect(),
            observed: claims()
                .filter_map(|claim| match claim {
                    Claim::Observed { tool, invariant } if tool == id => Some(invariant),
                    _ => None,
                })
                .collect(),
        }
    }

    /// What is left to check of an invariant; none where that is all of it.
    pub fn left(&self, invariant: InvariantId) -> Option<&[Prepared]> {
        let at = self.preserved.binary_search_by_key(&invariant, |(id, _)| *id).ok()?;
        Some(&self.preserved[at].1)
    }
}

/// What a criterion says, each an option.
const CRITERION: [&str; 5] = ["file", "contains", "command", "git_commit", "probe"];
/// What a piece of evidence says, each an option.
const EVIDENCE: [&str; 3] = ["call", "file", "sha256"];

/// Where the fields of criteria or evidence stand, which are the last parameter where there are any.
fn says(tool: &plan::Tool, types: &[plan::TypeDef]) -> Box<[usize]> {
    let def = |ty: plan::TypeId| types.get(ty as usize);
    let Some(last) = tool.params.last() else { return Box::default() };
    let Some(plan::TypeDef::List { of, .. }) = def(last.ty) else { return Box::default() };
    let Some(plan::TypeDef::Record { fields, .. }) = def(*of) else { return Box::default() };
    let names: &[&str] = if last.name == "evidence" { &EVIDENCE } else { &CRITERION };
    let place = |name: &&str| fields.iter().position(|field| field.name == **name);
    names.iter().filter_map(place).collect()
}

//! The prepared rules of a tool. The types mirror the plan rule by rule; names, texts and numbers
//! stay in the plan.

use super::expr::CompiledExpr;
use super::proven::Proven;
use super::screens::{self, Screen};
use guard_plan::decode::{holds_secrets, is_secret};
use guard_plan::plan;
use guard_plan::plan::{Expr, Node, Plan, VarId};
use guard_plan::trust::{self, Reading};
use std::collections::BTreeMap;

/// The expressions of a tool.
#[derive(Debug)]
pub(crate) struct PreparedTool {
    pub requires: Box<[PreparedRequires]>,
    /// For each deny, true if it asks a probe.
    pub asks: Box<[bool]>,
    /// The unconditional requirements: bits of the tools that must have succeeded, grouped in
    /// words.
    pub needs: Box<[(u32, u64)]>,
    /// The other requirements, by position.
    pub conditional: Box<[u32]>,
    pub denies: Box<[CompiledExpr]>,
    /// The denies that no screen covers, by position.
    pub unscreened: Box<[u32]>,
    pub screens: Box<[Screen]>,
    pub limits: Box<[Option<CompiledExpr>]>,
    pub costs: Box<[CompiledExpr]>,
    pub effects: Box<[PreparedEffect]>,
    pub approvals: Box<[Option<CompiledExpr>]>,
    pub observes: Box<[(PreparedTarget, CompiledExpr)]>,
    pub learns: Box<[PreparedLesson]>,
    /// The reads of its clauses, for trust.
    pub readings: Readings,
    pub reconciles: Box<[CompiledExpr]>,
    /// The condition and the value of each transform of the result.
    pub transforms: Box<[(Option<CompiledExpr>, CompiledExpr)]>,
    /// The readers and the condition of each private part of the result.
    pub privates: Box<[Private]>,
    pub endorsements: Box<[Vouching]>,
    /// The conditions under which a call is irreversible and critical.
    pub gates: Box<[CompiledExpr]>,
    /// For each parameter, true if a rule reads it after the call; empty if none is read.
    pub retains: Box<[bool]>,
    /// True if a rule reads the result after the call.
    pub reads_result: bool,
    /// True if the parameters or the result contain secrets.
    pub secrets: bool,
    /// True if some effects are in shadow mode.
    pub shadow_effects: bool,
    /// The proved facts, which need no check if nothing has refused the call so far.
    pub proven: Proven,
    /// For a served tool with criteria or evidence: the indexes of their fields in the record, in
    /// the order of the names in `served`.
    pub says: Box<[usize]>,
}

/// The `when` condition and the keys of the alternatives.
#[derive(Debug)]
pub(crate) struct PreparedRequires {
    pub when: Option<CompiledExpr>,
    pub keys: Box<[Option<Box<[CompiledExpr]>>]>,
}

/// The expressions of an effect.
#[derive(Debug)]
pub(crate) struct PreparedEffect {
    /// True if only the written part must be checked: no other effect writes the variable, and no
    /// invariant of the frame reads it.
    pub part: bool,
    /// True if another effect also writes the variable. It must write another part of it, or the
    /// call is refused.
    pub shared: bool,
    pub ranges: Box<[CompiledExpr]>,
    pub when: Option<CompiledExpr>,
    pub target: PreparedTarget,
    pub value: Option<CompiledExpr>,
}

/// The key expressions of a target's path; `None` for a field.
pub(crate) type PreparedTarget = Box<[Option<CompiledExpr>]>;

/// The expressions of a private part.
#[derive(Debug)]
pub(crate) struct Private {
    pub ranges: Box<[CompiledExpr]>,
    pub to: Option<CompiledExpr>,
    pub when: Option<CompiledExpr>,
}

/// The expressions of a part that is trusted under a condition, and what the condition reads.
#[derive(Debug)]
pub(crate) struct Vouching {
    pub ranges: Box<[CompiledExpr]>,
    pub when: Option<CompiledExpr>,
    pub reading: Reading,
}

/// The expressions of a lesson.
#[derive(Debug)]
pub(crate) struct PreparedLesson {
    pub ranges: Box<[CompiledExpr]>,
    pub when: Option<CompiledExpr>,
    pub row: Box<[CompiledExpr]>,
}

impl PreparedLesson {
    pub fn new(learn: &plan::Learn) -> PreparedLesson {
        PreparedLesson {
            ranges: ranges(&learn.ranges),
            when: CompiledExpr::optional(&learn.when),
            row: all(&learn.row, CompiledExpr::new),
        }
    }
}

fn ranges(ranges: &[plan::Range]) -> Box<[CompiledExpr]> {
    all(ranges, |range| CompiledExpr::new(&range.over))
}

fn all<'p, T: 'p, U>(items: &'p [T], prepare: impl Fn(&'p T) -> U) -> Box<[U]> {
    items.iter().map(prepare).collect()
}

fn target(target: &plan::Target) -> PreparedTarget {
    all(&target.path, |step| match step {
        plan::Step::Field(_) => None,
        plan::Step::Index(key) => Some(CompiledExpr::new(key)),
    })
}

impl PreparedTool {
    pub fn new(tool: &plan::Tool, plan: &plan::Plan) -> PreparedTool {
        let types = &plan.types;
        let later = !(tool.observes.is_empty()
            && tool.learns.is_empty()
            && tool.reconciles.is_empty()
            && tool.transforms.is_empty()
            && (tool.endorsements.is_empty() || !plan.origins)
            && (tool.privates.is_empty() || !plan.confidential));
        let (needs, conditional) = needs(tool);
        let (unscreened, screens) = screens::split(tool, &plan.regexes);
        let shadow_effects = tool.effects.iter().any(|effect| effect.rule.shadow);
        PreparedTool {
            needs,
            conditional,
            unscreened,
            screens,
            requires: all(&tool.requires, |requires| PreparedRequires {
                when: CompiledExpr::optional(&requires.when),
                keys: all(&requires.any_of, |alternative| {
                    alternative.key.as_ref().map(|key| all(&key.values, CompiledExpr::new))
                }),
            }),
            denies: all(&tool.denies, |deny| CompiledExpr::new(&deny.condition)),
            asks: all(&tool.denies, |deny| {
                deny.condition.0.iter().any(|node| matches!(node, Node::Probe(_)))
            }),
            limits: all(&tool.limits, |used| CompiledExpr::optional(&used.by)),
            costs: all(&tool.costs, |cost| CompiledExpr::new(&cost.amount)),
            effects: all(&tool.effects, |effect| PreparedEffect {
                part: !plan.shadow && !shadow_effects && is_part(plan, tool, effect),
                shared: is_shared(tool, effect),
                ranges: ranges(&effect.ranges),
                when: CompiledExpr::optional(&effect.when),
                target: target(&effect.target),
                value: CompiledExpr::optional(&effect.value),
            }),
            approvals: all(&tool.approvals, |approval| CompiledExpr::optional(&approval.when)),
            observes: all(&tool.observes, |observe| {
                (target(&observe.target), CompiledExpr::new(&observe.value))
            }),
            learns: all(&tool.learns, PreparedLesson::new),
            readings: Readings::new(plan, tool),
            reconciles: all(&tool.reconciles, |rule| CompiledExpr::new(&rule.condition)),
            transforms: all(&tool.transforms, |rule| {
                (CompiledExpr::optional(&rule.when), CompiledExpr::new(&rule.value))
            }),
            privates: all(&tool.privates, |private| Private {
                ranges: ranges(&private.part.ranges),
                to: CompiledExpr::optional(&private.to),
                when: CompiledExpr::optional(&private.when),
            }),
            endorsements: all(&tool.endorsements, |endorsement| Vouching {
                ranges: ranges(&endorsement.part.ranges),
                when: CompiledExpr::optional(&endorsement.when),
                reading: trust::of_endorsement(plan, tool, endorsement),
            }),
            gates: tool.gates().map(|gate| CompiledExpr::new(&gate.when)).collect(),
            retains: retains(tool),
            reads_result: later || tool.keeps_result || !tool.observe_frame.is_empty(),
            secrets: tool.params.iter().any(|param| is_secret(types, param))
                || tool.returns.is_some_and(|ty| holds_secrets(types, ty)),
            shadow_effects,
            proven: Proven::default(),
            says: if tool.served.is_some() { says(tool, types) } else { Box::default() },
        }
    }
}

/// The reads of a tool's clauses, as far as trust depends on them (semantics §8).
#[derive(Debug)]
pub(crate) struct Readings {
    /// The variable and the reads of each effect and observation that counts.
    pub effects: Box<[(VarId, Reading)]>,
    pub observes: Box<[(VarId, Reading)]>,
    pub learns: Box<[Reading]>,
}

impl Readings {
    fn new(plan: &Plan, tool: &plan::Tool) -> Readings {
        let effects = tool.effects.iter().filter(|effect| !effect.rule.shadow);
        let effects =
            effects.map(|effect| (effect.target.var, trust::of_effect(plan, tool, effect)));
        let observes = tool.observes.iter().filter(|observe| !observe.rule.shadow);
        let observes = observes
            .map(|observe| (observe.target.var, trust::of_observation(plan, tool, observe)));
        Readings {
            effects: effects.collect(),
            observes: observes.collect(),
            learns: tool.learns.iter().map(|learn| trust::of_learn(plan, tool, learn)).collect(),
        }
    }
}

/// Sets of tools as words of bits, each with its index.
type Words = Box<[(u32, u64)]>;

/// Splits the requirements: bits for those that only require tools to have succeeded, and the
/// positions of the others.
fn needs(tool: &plan::Tool) -> (Words, Box<[u32]>) {
    let mut words = BTreeMap::new();
    let mut others = Vec::new();
    for (place, requires) in (0..).zip(&tool.requires) {
        match requires.any_of.as_slice() {
            [plan::Requirement { latest: false, tool, key: None, since: None, within: None }]
                if requires.when.is_none() =>
            {
                *words.entry(tool / 64).or_insert(0_u64) |= 1 << (tool % 64);
            }
            _ => others.push(place),
        }
    }
    (words.into_iter().collect(), others.into())
}

/// Returns true if another effect writes the variable of this one.
fn is_shared(tool: &plan::Tool, effect: &plan::Effect) -> bool {
    let var = effect.target.var;
    tool.effects.iter().any(|other| other.target.var == var && !std::ptr::eq(other, effect))
}

/// Returns true if an effect can be simulated on only the part of the variable that it writes.
fn is_part(plan: &plan::Plan, tool: &plan::Tool, effect: &plan::Effect) -> bool {
    let var = effect.target.var;
    let reads = |id: &u32| {
        let invariant = plan.invariants.get(*id as usize);
        invariant.is_none_or(|invariant| invariant.condition.0.contains(&Node::State(var)))
    };
    !is_shared(tool, effect)
        && effect.ranges.is_empty()
        && !effect.target.path.is_empty()
        && !tool.frame.iter().any(reads)
}

/// Returns true if observations may break the invariant, and every such observation only warns.
pub(crate) fn is_tolerated(plan: &Plan, invariant: &plan::Invariant) -> bool {
    let observes = plan.tools.iter().flat_map(|tool| &tool.observes);
    let writes = |observe: &&plan::Observe| {
        !observe.rule.shadow && invariant.reads.contains(&observe.target.var)
    };
    let mut observes = observes.filter(writes).peekable();
    observes.peek().is_some() && observes.all(|observe| observe.warn)
}

/// Returns, for each parameter, true if it is read after the call: by an observation, a lesson, a
/// reconciliation, a transform or a private part of the result, or a later rule.
fn retains(tool: &plan::Tool) -> Box<[bool]> {
    let mut read = vec![tool.keeps_args; tool.params.len()];
    let mut look = |expr: &Expr| {
        for node in &expr.0 {
            if let Node::Param(param) = node
                && let Some(read) = read.get_mut(*param as usize)
            {
                *read = true;
            }
        }
    };
    for observe in &tool.observes {
        look(&observe.value);
        for step in &observe.target.path {
            if let plan::Step::Index(key) = step {
                look(key);
            }
        }
    }
    for learn in &tool.learns {
        learn.exprs().for_each(&mut look);
    }
    for reconcile in &tool.reconciles {
        look(&reconcile.condition);
        let said = reconcile.because.iter().flat_map(plan::Message::values);
        said.for_each(|show| look(&show.expr));
    }
    for transform in &tool.transforms {
        look(&transform.value);
        transform.when.iter().for_each(&mut look);
    }
    for private in &tool.privates {
        private.part.ranges.iter().for_each(|range| look(&range.over));
        private.to.iter().chain(&private.when).for_each(&mut look);
    }
    for endorsement in &tool.endorsements {
        endorsement.part.ranges.iter().for_each(|range| look(&range.over));
        endorsement.when.iter().for_each(&mut look);
    }
    if read.contains(&true) { read.into() } else { Box::default() }
}

/// The fields of a criterion, each an option.
const CRITERION: [&str; 5] = ["file", "contains", "command", "git_commit", "probe"];
/// The fields of a piece of evidence, each an option.
const EVIDENCE: [&str; 3] = ["call", "file", "sha256"];

/// Returns the indexes of the fields of criteria or evidence, which are the last parameter if the
/// tool has any.
fn says(tool: &plan::Tool, types: &[plan::TypeDef]) -> Box<[usize]> {
    let def = |ty: plan::TypeId| types.get(ty as usize);
    let Some(last) = tool.params.last() else { return Box::default() };
    let Some(plan::TypeDef::List { of, .. }) = def(last.ty) else { return Box::default() };
    let Some(plan::TypeDef::Record { fields, .. }) = def(*of) else { return Box::default() };
    let names: &[&str] = if last.name == "evidence" { &EVIDENCE } else { &CRITERION };
    let place = |name: &&str| fields.iter().position(|field| field.name == **name);
    names.iter().filter_map(place).collect()
}

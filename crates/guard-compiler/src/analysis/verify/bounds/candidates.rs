//! Bounds that may hold, from what a guard says: its constants, its limits and budgets, what it requires.

use super::BoundSearch;
use guard_plan::plan::{
    Expr, Node, Plan, SessionBound, SessionMeasure, Tool, ToolId, TypeDef, TypeId, VarId,
};
use guard_plan::value::DECIMAL_ONE;
use guard_proof::bounds::is_founded;
use std::collections::BTreeSet;

/// Most variables that bounds are looked for.
const MOST_VARIABLES: usize = 12;
/// Most constants that are tried as the growth by one call, or as the end of an interval.
const MOST_CONSTANTS: usize = 12;
/// Most candidates in all.
const MOST_CANDIDATES: usize = 64;

/// Something that the bounds of a plan may measure, with its value at first and the ends of its type.
#[derive(Debug, Clone, Copy)]
struct Measured {
    measure: SessionMeasure,
    var: VarId,
    first: i64,
    least: Option<i64>,
    greatest: Option<i64>,
    kind: GrowthKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GrowthKind {
    Bool,
    Int,
    Decimal,
    Size,
}

/// A count that grows with the calls of a tool, and by how much a variable grows with it: `scale · growth ≤ factor ·
/// count`.
#[derive(Debug, Clone, Copy)]
struct GrowthSource {
    count: Option<SessionMeasure>,
    scale: i64,
    factor: i64,
}

pub(super) struct Candidates<'s, 'p> {
    search: &'s BoundSearch<'p>,
    plan: &'p Plan,
    found: Vec<SessionBound>,
}

impl<'s, 'p> Candidates<'s, 'p> {
    /// Makes the candidates for these variables, each once.
    pub fn collect(search: &'s BoundSearch<'p>, wanted: &BTreeSet<VarId>) -> Vec<SessionBound> {
        let plan = search.plan;
        let mut candidates = Candidates { search, plan, found: Vec::new() };
        let measured: Vec<Measured> =
            wanted.iter().filter_map(|var| measured(plan, *var)).take(MOST_VARIABLES).collect();
        for measured_var in &measured {
            candidates.growth(measured_var);
            candidates.interval(measured_var);
            candidates.after_success(measured_var);
        }
        candidates.relations(&measured);
        let mut known = BTreeSet::new();
        candidates.found.retain(|bound| known.insert(bound.clone()));
        candidates.found.truncate(MOST_CANDIDATES);
        candidates.found
    }

    fn push(&mut self, terms: Vec<(i64, SessionMeasure)>, constant: Option<i64>) {
        self.found.extend(bound(terms, constant));
    }

    /// A variable that is its first value and grows, or falls, with what limits and budgets count.
    fn growth(&mut self, measured: &Measured) {
        if measured.kind == GrowthKind::Bool {
            return;
        }
        for sign in [1, -1] {
            for budgets_first in [false, true] {
                let writers = writers(self.plan, measured.var);
                let sources: Option<Vec<GrowthSource>> =
                    writers.map(|tool| self.source(measured, sign, tool, budgets_first)).collect();
                if let Some(sources) = sources {
                    self.found.extend(combined(measured, sign, &sources));
                }
            }
        }
    }

    /// The least growth by one call of a tool, of what can be counted.
    fn source(
        &self,
        measured: &Measured,
        sign: i64,
        tool: ToolId,
        budgets_first: bool,
    ) -> Option<GrowthSource> {
        let grows = |source: &GrowthSource| {
            combined(measured, sign, std::slice::from_ref(source)).is_some_and(|bound| {
                is_founded(self.plan, &bound)
                    && self.search.is_kept_by(tool, &bound, std::slice::from_ref(&bound))
            })
        };
        let still = GrowthSource { count: None, scale: 1, factor: 0 };
        if grows(&still) {
            return Some(still);
        }
        let declared = &self.plan.tools[tool as usize];
        let limits = self.limits(declared, measured.kind);
        let budgets = self.budgets(declared, measured.kind);
        let all: Vec<GrowthSource> = if budgets_first {
            budgets.into_iter().chain(limits).collect()
        } else {
            limits.into_iter().chain(budgets).collect()
        };
        all.into_iter().find(grows)
    }

    fn limits(&self, tool: &Tool, kind: GrowthKind) -> Vec<GrowthSource> {
        // Whether a bound may measure a limit is for the checker to say. The lowest limit of a tool says most.
        let mut limits: Vec<u32> = tool.limits.iter().map(|at| at.limit).collect();
        limits.sort_by_key(|id| self.plan.limits[*id as usize].count);
        let constants = growths(self.plan, tool, kind);
        let sources = limits.into_iter().take(3).flat_map(|limit| {
            let count = Some(SessionMeasure::Counted(limit));
            constants.iter().map(move |factor| GrowthSource { count, scale: 1, factor: *factor })
        });
        sources.collect()
    }

    fn budgets(&self, tool: &Tool, kind: GrowthKind) -> Vec<GrowthSource> {
        let mut sources = Vec::new();
        for (id, unit) in (0..).zip(&self.plan.units) {
            if unit.budget.is_none() || unit.host_charged {
                continue;
            }
            let costs = || tool.costs.iter().filter(|cost| cost.unit == id && !cost.rule.shadow);
            if unit.name != "calls" && costs().next().is_none() {
                continue;
            }
            let count = Some(SessionMeasure::Spent(id));
            // What every call costs, where that is said.
            let cost = match costs().count() {
                0 => Some(DECIMAL_ONE),
                _ => costs().filter_map(|cost| literal(&cost.amount)).max(),
            };
            for factor in growths(self.plan, tool, kind) {
                let cost = cost.filter(|cost| *cost > 0);
                sources.extend(cost.map(|scale| GrowthSource { count, scale, factor }));
            }
            // What a call costs, as it varies. Last, since it says less of calls that cost more than they add.
            let scale = if kind == GrowthKind::Decimal { 1 } else { DECIMAL_ONE };
            sources.push(GrowthSource { count, scale, factor: 1 });
        }
        sources
    }

    /// A variable that stays on one side of a constant.
    fn interval(&mut self, measured: &Measured) {
        if measured.kind == GrowthKind::Bool {
            self.push(vec![(1, measured.measure)], Some(-measured.first));
            self.push(vec![(-1, measured.measure)], Some(measured.first));
            return;
        }
        let all = constants(self.plan, measured.var, measured.kind);
        let above = all.iter().filter(|end| **end >= measured.first).take(MOST_CONSTANTS);
        for end in above {
            self.found.extend(bound(vec![(1, measured.measure)], end.checked_neg()));
        }
        let below = all.iter().rev().filter(|end| **end <= measured.first).take(MOST_CONSTANTS);
        for end in below {
            self.found.extend(bound(vec![(-1, measured.measure)], Some(*end)));
        }
    }

    /// Values of a variable once a tool has succeeded.
    fn after_success(&mut self, measured: &Measured) {
        for tool in required(self.plan) {
            let called = SessionMeasure::Called(tool);
            if measured.kind == GrowthKind::Bool {
                self.push(vec![(-1, measured.measure), (1, called)], Some(0));
                self.push(vec![(1, measured.measure), (1, called)], Some(-1));
                self.push(vec![(1, measured.measure), (-1, called)], Some(0));
                continue;
            }
            let writes = writers(self.plan, measured.var).any(|writer| writer == tool);
            if !writes {
                continue;
            }
            for end in growths(self.plan, &self.plan.tools[tool as usize], measured.kind) {
                if let Some(more) = measured.least.and_then(|least| end.checked_sub(least)) {
                    self.push(vec![(-1, measured.measure), (more, called)], measured.least);
                }
                if let Some(less) = measured.greatest.and_then(|greatest| greatest.checked_sub(end))
                {
                    let constant = measured.greatest.and_then(i64::checked_neg);
                    self.push(vec![(1, measured.measure), (less, called)], constant);
                }
            }
        }
    }

    /// Two variables of a kind, of which one is never above the other; two flags of which one excludes the other.
    fn relations(&mut self, measured: &[Measured]) {
        for a in measured {
            for b in measured.iter().filter(|b| b.var != a.var && is_comparable(a.kind, b.kind)) {
                self.push(vec![(1, a.measure), (-1, b.measure)], Some(0));
                if a.kind == GrowthKind::Bool && a.var < b.var {
                    self.push(vec![(1, a.measure), (1, b.measure)], Some(-1));
                }
            }
        }
        let (sums, _) = measured.split_at(measured.len().min(6));
        for a in sums.iter().filter(|a| a.kind != GrowthKind::Bool) {
            for b in sums.iter().filter(|b| a.var < b.var && is_comparable(a.kind, b.kind)) {
                let sum = a.first.checked_add(b.first);
                self.push(vec![(1, a.measure), (1, b.measure)], sum.and_then(i64::checked_neg));
                self.push(vec![(-1, a.measure), (-1, b.measure)], sum);
            }
        }
    }
}

/// Returns that these variables have their first values, and that no call succeeded which some rule asks for: more than
/// any candidates for these variables say together. The calls are said beside the variables, since the prover takes what
/// shares a variable with its goal.
pub(super) fn beginning(plan: &Plan, wanted: &BTreeSet<VarId>) -> Vec<SessionBound> {
    let required = required(plan);
    let mut found = Vec::new();
    for measured_var in wanted.iter().filter_map(|var| measured(plan, *var)) {
        let Some(opposite) = measured_var.first.checked_neg() else { continue };
        for (sign, constant) in [(1, opposite), (-1, measured_var.first)] {
            let value = (sign, measured_var.measure);
            found.extend(bound(vec![value], Some(constant)));
            let calls = required.iter().map(|tool| (1, SessionMeasure::Called(*tool)));
            found.extend(calls.filter_map(|call| bound(vec![value, call], Some(constant))));
        }
    }
    found
}

fn is_comparable(a: GrowthKind, b: GrowthKind) -> bool {
    let kind = |kind| if kind == GrowthKind::Size { GrowthKind::Int } else { kind };
    kind(a) == kind(b)
}

fn bound(mut terms: Vec<(i64, SessionMeasure)>, constant: Option<i64>) -> Option<SessionBound> {
    terms.retain(|(factor, _)| *factor != 0);
    terms.sort_by_key(|(_, measure)| *measure);
    Some(SessionBound { terms, constant: constant? })
}

/// `sign · (x - first) ≤ Σ factor · count`, with all scales the same.
fn combined(measured: &Measured, sign: i64, sources: &[GrowthSource]) -> Option<SessionBound> {
    let scale = sources
        .iter()
        .try_fold(1i64, |all, source| (all / gcd(all, source.scale)).checked_mul(source.scale))?;
    let mut terms = vec![(sign.checked_mul(scale)?, measured.measure)];
    for source in sources {
        let Some(count) = source.count else { continue };
        let factor = source.factor.checked_mul(scale / source.scale)?;
        match terms.iter_mut().find(|(_, known)| *known == count) {
            Some((known, _)) => *known = (*known).min(-factor),
            None => terms.push((-factor, count)),
        }
    }
    let shared = terms.iter().fold(0, |all, (factor, _)| gcd(all, factor.unsigned_abs() as i64));
    let constant = sign.checked_mul(scale)?.checked_mul(measured.first)?.checked_neg()?;
    let shared = gcd(shared, constant.checked_abs()?).max(1);
    let terms = terms.into_iter().map(|(factor, measure)| (factor / shared, measure)).collect();
    bound(terms, Some(constant / shared))
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The tools that write a variable.
fn writers(plan: &Plan, var: VarId) -> impl Iterator<Item = ToolId> {
    let writes = move |tool: &Tool| tool.effects.iter().any(|effect| effect.target.var == var);
    (0..).zip(&plan.tools).filter(move |(_, tool)| writes(tool)).map(|(id, _)| id)
}

/// The tools whose success some rule asks for.
fn required(plan: &Plan) -> BTreeSet<ToolId> {
    let mut required = BTreeSet::new();
    for tool in &plan.tools {
        let alternatives = tool.requires.iter().flat_map(|rule| &rule.any_of);
        required.extend(alternatives.map(|alternative| alternative.tool));
        for deny in &tool.denies {
            required.extend(deny.condition.0.iter().filter_map(|node| match node {
                Node::Called { tool, .. } => Some(*tool),
                _ => None,
            }));
        }
    }
    required
}

fn measured(plan: &Plan, var: VarId) -> Option<Measured> {
    let declared = &plan.state[var as usize];
    let ends = |min: &Option<i64>, max: &Option<i64>| (*min, *max);
    let (kind, (least, greatest)) = match plan.types.get(declared.ty as usize)? {
        TypeDef::Bool => (GrowthKind::Bool, (Some(0), Some(1))),
        TypeDef::Int { min, max } => (GrowthKind::Int, ends(min, max)),
        TypeDef::Decimal { min, max } => (GrowthKind::Decimal, ends(min, max)),
        TypeDef::List { .. } | TypeDef::Set { .. } | TypeDef::Map { .. } => {
            (GrowthKind::Size, (Some(0), None))
        }
        _ => return None,
    };
    let first = match (kind, declared.init.0.last()?) {
        (GrowthKind::Bool, Node::Bool(first)) => i64::from(*first),
        (GrowthKind::Int, Node::Int(first)) | (GrowthKind::Decimal, Node::Decimal(first)) => *first,
        (GrowthKind::Size, Node::List(items) | Node::Set(items)) => items.len() as i64,
        (GrowthKind::Size, Node::Map(entries)) => entries.len() as i64,
        _ => return None,
    };
    let measure = match kind {
        GrowthKind::Size => SessionMeasure::Size(var),
        _ => SessionMeasure::State(var),
    };
    Some(Measured { measure, var, first, least, greatest, kind })
}

fn literal(expr: &Expr) -> Option<i64> {
    match expr.0[..] {
        [Node::Int(number) | Node::Decimal(number)] => Some(number),
        _ => None,
    }
}

/// Growths of a variable by one call of a tool: the constants that the tool says, from the least on.
fn growths(plan: &Plan, tool: &Tool, kind: GrowthKind) -> Vec<i64> {
    let mut all = BTreeSet::new();
    of_tool(plan, tool, kind, &mut all);
    if kind == GrowthKind::Size {
        all.extend(1..=tool.effects.len() as i64);
    }
    let sizes: BTreeSet<i64> =
        all.into_iter().filter_map(i64::checked_abs).filter(|size| *size > 0).collect();
    sizes.into_iter().take(MOST_CONSTANTS).collect()
}

/// The constants that the tools which write a variable say, and the invariants that read it.
fn constants(plan: &Plan, var: VarId, kind: GrowthKind) -> Vec<i64> {
    let mut all = BTreeSet::new();
    for tool in writers(plan, var) {
        of_tool(plan, &plan.tools[tool as usize], kind, &mut all);
    }
    for invariant in &plan.invariants {
        if guard_proof::frame::variables(&invariant.condition).contains(&var) {
            of_expr(&invariant.condition, kind, &mut all);
        }
    }
    let unit = if kind == GrowthKind::Decimal { DECIMAL_ONE } else { 1 };
    all.extend([0, unit]);
    all.into_iter().collect()
}

fn of_tool(plan: &Plan, tool: &Tool, kind: GrowthKind, all: &mut BTreeSet<i64>) {
    tool.denies.iter().for_each(|deny| of_expr(&deny.condition, kind, all));
    let values = tool.effects.iter().filter_map(|effect| effect.value.as_ref());
    values.for_each(|value| of_expr(value, kind, all));
    tool.params.iter().for_each(|param| of_type(plan, param.ty, kind, all));
}

fn of_type(plan: &Plan, ty: TypeId, kind: GrowthKind, all: &mut BTreeSet<i64>) {
    let ends = match (plan.types.get(ty as usize), kind) {
        (Some(TypeDef::Int { min, max }), GrowthKind::Int)
        | (Some(TypeDef::Decimal { min, max }), GrowthKind::Decimal) => [*min, *max],
        _ => return,
    };
    all.extend(ends.into_iter().flatten());
}

fn of_expr(expr: &Expr, kind: GrowthKind, all: &mut BTreeSet<i64>) {
    all.extend(expr.0.iter().filter_map(|node| match (node, kind) {
        (Node::Int(number), GrowthKind::Int | GrowthKind::Size)
        | (Node::Decimal(number), GrowthKind::Decimal) => Some(*number),
        _ => None,
    }));
}

//! The structure of a plan: the conditions under which a kernel can run it without further checks.
//!
//! Every index is in range, every expression is a bounded tree, and every memory that a rule reads
//! is kept. Types of expressions are not checked here: evaluation is total, and a type mismatch is
//! a fault.

mod contract;
mod expression;
mod lifecycle_tools;
mod session;
mod tool;

use crate::plan::*;
use expression::{ExpressionScope, expression};

/// The maximum number of expression nodes in a plan.
const MAX_NODES: usize = 1 << 20;
/// The maximum nesting depth of types.
const MAX_TYPE_DEPTH: u32 = 64;
/// The maximum worst-case number of steps of one decision.
pub const MAX_STEPS: u64 = 10_000_000;

type ValidationResult = Result<(), String>;

/// Checks a plan and its sources. The error names the position and the problem.
pub(crate) fn plan(plan: &Plan, sources: &Sources) -> ValidationResult {
    let spans = sources.spans.iter().all(|span| (span.file as usize) < sources.files.len());
    ensure(spans, || "a span is in no file".into())?;
    types(plan)?;
    coercions(plan)?;
    let mut checker = PlanChecker { plan, nodes: 0 };
    checker.tables()?;
    for tool in &plan.tools {
        checker.tool(tool).map_err(|why| format!("tool `{}`: {why}", tool.name))?;
        lifecycle_tools::tool(plan, tool).map_err(|why| format!("tool `{}`: {why}", tool.name))?;
    }
    checker.contracts()?;
    checker.session()
}

/// Checks an expression that is not part of the plan.
pub(crate) fn beside(plan: &Plan, expr: &Expr) -> ValidationResult {
    expression(plan, &ExpressionScope::COMMITTED, expr)
}

/// Checks an expression that is not part of the plan and may read the arguments of a tool.
pub(crate) fn beside_call(plan: &Plan, tool: ToolId, expr: &Expr) -> ValidationResult {
    let params = plan.tools.get(tool as usize).map_or(0, |tool| tool.params.len());
    expression(plan, &ExpressionScope { params, ..ExpressionScope::COMMITTED }, expr)
}

fn ensure(holds: bool, why: impl FnOnce() -> String) -> ValidationResult {
    if holds { Ok(()) } else { Err(why()) }
}

fn in_range(index: u32, count: usize, what: &str) -> ValidationResult {
    ensure((index as usize) < count, || format!("{what} {index} of {count}"))
}

/// Checks that items are strictly ascending, and therefore distinct.
fn ascending<T: PartialOrd>(mut items: impl Iterator<Item = T>, what: &str) -> ValidationResult {
    let Some(mut last) = items.next() else {
        return Ok(());
    };
    for item in items {
        ensure(last < item, || format!("{what} are not in order"))?;
        last = item;
    }
    Ok(())
}

fn unique<'a>(names: impl Iterator<Item = &'a str>, what: &str) -> ValidationResult {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        ensure(seen.insert(name), || format!("{what} `{name}` is there twice"))?;
    }
    Ok(())
}

fn types(plan: &Plan) -> ValidationResult {
    let mut depths: Vec<u32> = Vec::with_capacity(plan.types.len());
    for (id, def) in plan.types.iter().enumerate() {
        // A type refers only to types before it, so no type contains itself.
        let depth = type_def(plan, def, &depths).map_err(|why| format!("type {id}: {why}"))?;
        ensure(depth <= MAX_TYPE_DEPTH, || format!("type {id}: nests too deep"))?;
        depths.push(depth);
    }
    Ok(())
}

fn coercions(plan: &Plan) -> ValidationResult {
    ascending(
        plan.coercions.iter().map(|coercion| (coercion.record, coercion.field)),
        "other forms",
    )?;
    plan.coercions.iter().try_for_each(|coercion| {
        in_range(coercion.record, plan.types.len(), "type")?;
        let TypeDef::Record { fields, .. } = &plan.types[coercion.record as usize] else {
            return Err(format!("type {} is not a record, and has other forms", coercion.record));
        };
        in_range(coercion.field, fields.len(), "field")
    })
}

/// Returns the depth of a type, given the depths of the earlier types.
fn type_def(plan: &Plan, def: &TypeDef, depths: &[u32]) -> Result<u32, String> {
    let depth_of =
        |ty: TypeId| in_range(ty, depths.len(), "refers to type").map(|()| depths[ty as usize] + 1);
    let ordered = |min: &Option<i64>, max: &Option<i64>| {
        let empty = min.zip(*max).is_some_and(|(min, max)| min > max);
        ensure(!empty, || "its range is empty".into()).map(|()| 1)
    };
    match def {
        TypeDef::Int { min, max }
        | TypeDef::Decimal { min, max }
        | TypeDef::Duration { min, max } => ordered(min, max),
        TypeDef::String { patterns, .. } => {
            for pattern in patterns {
                in_range(*pattern, plan.regexes.len(), "regular expression")?;
            }
            Ok(1)
        }
        TypeDef::Time { format: Some(format) } => {
            ensure(crate::time::valid_format(format), || "its format is none".into()).map(|()| 1)
        }
        TypeDef::Enum { variants, .. } => {
            ensure(!variants.is_empty(), || "it has no variants".into())?;
            unique(variants.iter().map(String::as_str), "variant").map(|()| 1)
        }
        TypeDef::Record { fields, .. } => {
            unique(fields.iter().map(|field| &*field.name), "field")?;
            fields.iter().try_fold(1, |depth, field| Ok(depth.max(depth_of(field.ty)?)))
        }
        TypeDef::Union { tag, cases, .. } => {
            ensure(!cases.is_empty(), || "it has no cases".into())?;
            unique(cases.iter().map(|case| &*case.tag), "case")?;
            cases.iter().try_fold(1, |depth, case| {
                let inner = depth_of(case.ty)?;
                let TypeDef::Record { fields, .. } = &plan.types[case.ty as usize] else {
                    return Err(format!("its case `{}` is not a record", case.tag));
                };
                let clear = fields.iter().all(|field| field.name != *tag);
                ensure(clear, || format!("a member of the case `{}` is the tag", case.tag))?;
                Ok(depth.max(inner))
            })
        }
        TypeDef::Option { of } => {
            let depth = depth_of(*of)?;
            // The none of the inner option could not be told from that of the outer one.
            let nested = matches!(plan.types[*of as usize], TypeDef::Option { .. });
            ensure(!nested, || "an option of an option".into()).map(|()| depth)
        }
        TypeDef::Map { key: Some(key), of, .. } => {
            depth_of(*key)?;
            ensure(is_key(plan, *key), || "its keys are not keys of a map".into())?;
            depth_of(*of)
        }
        TypeDef::List { of, .. } | TypeDef::Set { of, .. } | TypeDef::Map { of, .. } => {
            depth_of(*of)
        }
        TypeDef::Bool
        | TypeDef::Path
        | TypeDef::Url
        | TypeDef::Command
        | TypeDef::Json
        | TypeDef::Time { .. } => Ok(1),
    }
}

/// Returns true if values of a type are keys of a map, other than strings.
fn is_key(plan: &Plan, ty: TypeId) -> bool {
    let int = TypeDef::Int { min: None, max: None };
    match plan.types.get(ty as usize) {
        Some(TypeDef::Bool | TypeDef::Enum { .. }) => true,
        def => def == Some(&int),
    }
}

/// The plan under check, and the number of nodes seen.
struct PlanChecker<'p> {
    plan: &'p Plan,
    nodes: usize,
}

impl<'p> PlanChecker<'p> {
    fn expression(&mut self, scope: &ExpressionScope<'_>, expr: &Expr) -> ValidationResult {
        self.nodes += expr.0.len();
        ensure(self.nodes <= MAX_NODES, || format!("more than {MAX_NODES} expression nodes"))?;
        expression(self.plan, scope, expr)
    }

    fn optional(&mut self, scope: &ExpressionScope<'_>, expr: &Option<Expr>) -> ValidationResult {
        expr.as_ref().map_or(Ok(()), |expr| self.expression(scope, expr))
    }

    fn ty(&self, ty: TypeId) -> ValidationResult {
        in_range(ty, self.plan.types.len(), "type")
    }

    fn tool_id(&self, tool: ToolId) -> ValidationResult {
        in_range(tool, self.plan.tools.len(), "tool")
    }

    fn tables(&mut self) -> ValidationResult {
        let plan = self.plan;
        ascending(plan.state.iter().map(|var| &var.name), "state variables")?;
        ascending(plan.units.iter().map(|unit| &unit.name), "units")?;
        ascending(plan.facts.iter().map(|fact| &fact.name), "facts")?;
        ascending(plan.probes.iter().map(|probe| &probe.name), "probes")?;
        ascending(plan.tools.iter().map(|tool| &tool.name), "tools")?;
        ascending(plan.invariants.iter().map(|inv| &inv.rule.owner), "invariants")?;
        unique(plan.tools.iter().map(|tool| &*tool.wire_name), "wire name")?;
        let calls = plan.units.iter().any(|unit| unit.name == "calls" && !unit.host_charged);
        ensure(calls, || "there is no unit `calls`".into())?;
        let negative = |unit: &Unit| unit.budget.is_some_and(|budget| budget < 0);
        ensure(!plan.units.iter().any(negative), || "a budget is negative".into())?;
        ensure(plan.deadline.is_none_or(|deadline| deadline >= 0), || {
            "the deadline is negative".into()
        })?;
        for path in &plan.paths {
            let normal = crate::path::normalise("/", path);
            normal.map_err(|error| format!("path {path:?}: {error}"))?;
        }
        for var in &plan.state {
            self.ty(var.ty)?;
            self.expression(&ExpressionScope::CONSTANT, &var.init)
                .map_err(|why| format!("state `{}`: {why}", var.name))?;
        }
        for limit in &plan.limits {
            let positive = !matches!(limit.scope, LimitScope::Window(span) if span <= 0);
            ensure(positive, || "a limit has no window".into())?;
            // A call in flight has no outcome yet.
            let flying = limit.success && limit.scope == LimitScope::InFlight;
            ensure(!flying, || "a limit counts successes in flight".into())?;
            let waits = limit.ask.is_some() && limit.scope == LimitScope::InFlight;
            ensure(!waits, || "a limit in flight asks for an approval".into())?;
        }
        self.memories()?;
        self.invariants()?;
        self.monitors()
    }

    fn memories(&mut self) -> ValidationResult {
        for index in &self.plan.indexes {
            self.tool_id(index.tool)?;
            let params = self.plan.tools[index.tool as usize].params.len();
            ascending(index.params.iter(), "the parameters of a memory")?;
            index.params.iter().try_for_each(|param| in_range(*param, params, "parameter"))?;
        }
        for window in &self.plan.windows {
            self.tool_id(window.tool)?;
            let fits = match window.size {
                WindowSize::Within(age) => age >= 0,
                WindowSize::Last(count) => (1..=MAX_LAST_CALLS).contains(&count),
            };
            ensure(fits, || "the size of a window".into())?;
        }
        for fact in &self.plan.facts {
            self.ty(fact.row)?;
            let TypeDef::Record { fields, .. } = &self.plan.types[fact.row as usize] else {
                return Err(format!("fact `{}`: its rows are not records", fact.name));
            };
            let keys = (1..=fields.len()).contains(&(fact.keys as usize));
            let rows = (1..=MAX_ROWS).contains(&fact.max);
            ensure(keys && rows, || format!("fact `{}`: its keys or size", fact.name))?;
        }
        Ok(())
    }

    fn invariants(&mut self) -> ValidationResult {
        for invariant in &self.plan.invariants {
            let vars = self.plan.state.len();
            let result = ascending(invariant.reads.iter(), "its variables")
                .and_then(|()| {
                    invariant.reads.iter().try_for_each(|var| in_range(*var, vars, "variable"))
                })
                .and_then(|()| self.expression(&ExpressionScope::COMMITTED, &invariant.condition))
                .and_then(|()| {
                    self.explanation(
                        &ExpressionScope::COMMITTED,
                        &invariant.because,
                        &invariant.shows,
                    )
                });
            result.map_err(|why| format!("invariant `{}`: {why}", invariant.rule.owner))?;
        }
        Ok(())
    }

    fn monitors(&mut self) -> ValidationResult {
        for (id, monitor) in self.plan.monitors.iter().enumerate() {
            let scope =
                ExpressionScope { world: false, monitors: Some(id), ..ExpressionScope::COMMITTED };
            self.expression(&scope, &monitor.of)
                .and_then(|()| self.optional(&scope, &monitor.trigger))
                .map_err(|why| format!("monitor {id}: {why}"))?;
            let since = monitor.op == TemporalOp::Since;
            ensure(since == monitor.trigger.is_some(), || format!("monitor {id}: its operands"))?;
        }
        Ok(())
    }

    fn explanation(
        &mut self,
        scope: &ExpressionScope<'_>,
        because: &Option<Message>,
        shows: &[Show],
    ) -> ValidationResult {
        for show in because.iter().flat_map(Message::values).chain(shows) {
            self.ty(show.ty)?;
            self.expression(scope, &show.expr)?;
        }
        Ok(())
    }

    fn target(&mut self, scope: &ExpressionScope<'_>, target: &Target) -> ValidationResult {
        in_range(target.var, self.plan.state.len(), "variable")?;
        ensure(target.path.len() <= MAX_TYPE_DEPTH as usize, || "a target is too deep".into())?;
        for step in &target.path {
            if let Step::Index(key) = step {
                self.expression(scope, key)?;
            }
        }
        Ok(())
    }
}

//! The structure of a plan: the conditions under which a kernel can run it without further checks.
//!
//! Every index is in range, every expression is a bounded tree, and every memory that a rule reads
//! is kept. Types of expressions are not checked here: evaluation is total, and a type mismatch is
//! a fault.

mod contract;
mod expression;
mod lifecycle_tools;
mod session;

use crate::builtin::Builtin;
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

    fn tool(&mut self, tool: &Tool) -> ValidationResult {
        ensure(tool.steps <= MAX_STEPS, || format!("{} steps, at most {MAX_STEPS}", tool.steps))?;
        unique(tool.params.iter().map(|param| &*param.name), "parameter")?;
        tool.params.iter().try_for_each(|param| self.ty(param.ty))?;
        tool.returns.map_or(Ok(()), |ty| self.ty(ty))?;
        ascending(tool.trust.parts.iter().map(|(path, _)| path), "what it trusts")?;
        let before = ExpressionScope { params: tool.params.len(), ..ExpressionScope::COMMITTED };
        let after = ExpressionScope { result: true, ..before };
        self.requirements(&before, tool)?;
        for deny in &tool.denies {
            self.expression(&before, &deny.condition)?;
            self.explanation(&before, &deny.because, &deny.shows)?;
            if let Some(replacement) = &deny.replacement {
                in_range(replacement.param, tool.params.len(), "parameter")?;
                self.explanation(&before, &None, std::slice::from_ref(&replacement.value))?;
            }
        }
        for used in &tool.limits {
            in_range(used.limit, self.plan.limits.len(), "limit")?;
            let keyed = self.plan.limits[used.limit as usize].keyed;
            ensure(keyed == used.by.is_some(), || "a limit and its key do not fit".into())?;
            self.optional(&before, &used.by)?;
            used.by_type.map_or(Ok(()), |ty| self.ty(ty))?;
        }
        for cost in &tool.costs {
            in_range(cost.unit, self.plan.units.len(), "unit")?;
            self.expression(&before, &cost.amount)?;
        }
        for effect in &tool.effects {
            let slots = self.ranges(&before, &effect.ranges)?;
            let bound = ExpressionScope { bound: &slots, ..before };
            self.optional(&bound, &effect.when)?;
            self.target(&bound, &effect.target)?;
            let deletes = effect.op == EffectOp::Delete;
            ensure(deletes == effect.value.is_none(), || "an effect's operand".into())?;
            self.optional(&bound, &effect.value)?;
        }
        for risk in &tool.risks {
            self.expression(&before, &risk.when)?;
        }
        for believed in tool.prior.iter().flat_map(|prior| [&prior.alpha, &prior.beta]) {
            self.expression(&ExpressionScope::COMMITTED, believed)?;
        }
        for approval in &tool.approvals {
            self.optional(&before, &approval.when)?;
            self.explanation(&before, &approval.because, &approval.shows)?;
        }
        for ready in &tool.ready {
            in_range(ready.probe, self.plan.probes.len(), "probe")?;
        }
        self.settlement(&after, tool)?;
        self.bookkeeping(tool)
    }

    fn requirements(&mut self, scope: &ExpressionScope<'_>, tool: &Tool) -> ValidationResult {
        for requires in &tool.requires {
            ensure(!requires.any_of.is_empty(), || "a requirement without alternatives".into())?;
            self.optional(scope, &requires.when)?;
            for requirement in &requires.any_of {
                self.tool_id(requirement.tool)?;
                requirement.since.map_or(Ok(()), |tool| self.tool_id(tool))?;
                let Some(key) = &requirement.key else {
                    continue;
                };
                expression::key(self.plan, key.index, requirement.tool, key.values.len())?;
                key.values.iter().try_for_each(|value| self.expression(scope, value))?;
            }
        }
        Ok(())
    }

    fn settlement(&mut self, scope: &ExpressionScope<'_>, tool: &Tool) -> ValidationResult {
        for observe in &tool.observes {
            self.target(scope, &observe.target)?;
            self.ty(observe.ty)?;
            self.expression(scope, &observe.value)?;
        }
        tool.learns.iter().try_for_each(|learn| self.learn(scope, learn))?;
        for transform in &tool.transforms {
            ensure(transform.path.len() <= MAX_TYPE_DEPTH as usize, || {
                "a path is too deep".into()
            })?;
            self.expression(scope, &transform.value)?;
            self.ty(transform.ty)?;
            self.optional(scope, &transform.when)?;
        }
        for private in &tool.privates {
            let slots = self.part(scope, &private.part)?;
            let bound = ExpressionScope { bound: &slots, ..*scope };
            self.optional(&bound, &private.to)?;
            self.optional(&bound, &private.when)?;
        }
        for endorsement in &tool.endorsements {
            let slots = self.part(scope, &endorsement.part)?;
            self.optional(&ExpressionScope { bound: &slots, ..*scope }, &endorsement.when)?;
            let extracts = endorsement.extractor.is_none_or(Builtin::is_extractor);
            ensure(extracts, || "a function that extracts nothing".into())?;
        }
        tool.reconciles.iter().try_for_each(|rule| {
            self.expression(scope, &rule.condition)?;
            self.explanation(scope, &rule.because, &rule.shows)
        })
    }

    /// Checks a part of a result, and returns the slots that it binds.
    fn part(&mut self, scope: &ExpressionScope<'_>, part: &ResultPart) -> Result<Vec<u32>, String> {
        ensure(part.path.len() <= MAX_TYPE_DEPTH as usize, || "a path is too deep".into())?;
        let lists = part.steps().0.len();
        ensure(lists == part.ranges.len(), || "a part of elements that its path lacks".into())?;
        self.ranges(scope, &part.ranges)
    }

    /// Checks ranges, and returns the slots that they bind.
    fn ranges(
        &mut self,
        scope: &ExpressionScope<'_>,
        ranges: &[Range],
    ) -> Result<Vec<u32>, String> {
        ensure(ranges.len() <= MAX_RANGES, || "the collections of a clause".into())?;
        let mut slots: Vec<u32> = Vec::new();
        for range in ranges {
            self.expression(&ExpressionScope { bound: &slots, ..*scope }, &range.over)?;
            let count = range.binders.len();
            ensure((1..=2).contains(&count), || "the names a clause binds".into())?;
            slots.extend(&range.binders);
        }
        Ok(slots)
    }

    fn learn(&mut self, scope: &ExpressionScope<'_>, learn: &Learn) -> ValidationResult {
        in_range(learn.fact, self.plan.facts.len(), "fact")?;
        let slots = self.ranges(scope, &learn.ranges)?;
        let bound = ExpressionScope { bound: &slots, ..*scope };
        self.optional(&bound, &learn.when)?;
        let fact = &self.plan.facts[learn.fact as usize];
        let columns = match &self.plan.types[fact.row as usize] {
            TypeDef::Record { fields, .. } => fields.len(),
            _ => 0,
        };
        ensure(columns == learn.row.len(), || "a lesson of another width".into())?;
        learn.row.iter().try_for_each(|value| self.expression(&bound, value))
    }

    /// Checks that touches exist and are sorted.
    fn touches(&self, touches: &[Touch], what: &str) -> ValidationResult {
        ascending(touches.iter(), what)?;
        touches.iter().try_for_each(|touch| match *touch {
            Touch::State(var) => in_range(var, self.plan.state.len(), "variable"),
            Touch::Fact(fact) => in_range(fact, self.plan.facts.len(), "fact"),
            Touch::History(tool) => self.tool_id(tool),
        })
    }

    /// Checks that the stored history of a tool's calls is exactly what rules may read.
    fn bookkeeping(&mut self, tool: &Tool) -> ValidationResult {
        let plan = self.plan;
        let own =
            |id: ToolId| plan.tools.get(id as usize).is_some_and(|other| other.name == tool.name);
        let indexes =
            (0..).zip(&plan.indexes).filter(|(_, index)| own(index.tool)).map(|(id, _)| id);
        ensure(indexes.eq(tool.indexes.iter().copied()), || "its memories".into())?;
        let windows =
            (0..).zip(&plan.windows).filter(|(_, window)| own(window.tool)).map(|(id, _)| id);
        ensure(windows.eq(tool.windows.iter().copied()), || "its windows".into())?;
        for frame in [&tool.frame, &tool.observe_frame] {
            ascending(frame.iter(), "its invariants")?;
            let count = plan.invariants.len();
            frame.iter().try_for_each(|id| in_range(*id, count, "invariant"))?;
        }
        for touched in [&tool.touches, &tool.writes] {
            self.touches(touched, "what it touches")?;
        }
        Ok(())
    }
}

//! Limits, budgets and the deadline: the stages of a proposal that count calls, costs and time (semantics §3).

use super::eval::Env;
use super::findings::{Consequences, Findings};
use super::{AllowedCall, ReferenceSession};
use crate::hir::{Clause, ClauseKind, Tool, ToolId};
use guard_plan::plan::LimitScope;
use guard_plan::value::{DECIMAL_ONE, Fault, Value};
use guard_plan::verdict::{Code, Decision};
use std::collections::BTreeMap;
use std::rc::Rc;

impl ReferenceSession<'_> {
    pub(super) fn limits(
        &self,
        at: ToolId,
        tool: &Tool,
        env: Env,
        findings: &mut Findings,
        after: &mut Consequences,
    ) {
        for clause in &tool.clauses {
            let ClauseKind::Limit { limit: id, by } = &clause.kind else {
                continue;
            };
            let key = by.as_ref().map(|by| self.eval(by, env)).transpose();
            let Some(key) = findings.ok(&clause.rule, key) else {
                continue;
            };
            let limit = &self.program.limits[*id];
            self.count_walk(self.allowed.len());
            let normal: Vec<Value> = env.args.iter().map(Value::normalised).collect();
            let counted = |a: &&Rc<AllowedCall>| {
                let same = a.limits.iter().any(|(l, k)| l == id && *k == key);
                same && match limit.scope {
                    LimitScope::Window(window) => self.now - a.time < window,
                    LimitScope::Session => true,
                    LimitScope::InFlight => self.flights.iter().any(|f| f.call == a.call),
                    LimitScope::Identical => {
                        a.tool == at
                            && a.args.iter().map(Value::normalised).eq(normal.iter().cloned())
                    }
                }
            };
            if self.allowed.iter().filter(counted).count() >= limit.count as usize {
                match &limit.ask {
                    Some(role) => self.over((at, role), &clause.rule, env, findings, after),
                    None if limit.scope == LimitScope::InFlight => {
                        findings.add(&clause.rule, Code::Limit, Decision::Wait);
                    }
                    None => findings.add(&clause.rule, Code::Limit, Decision::Deny),
                }
            }
            after.limits.push((*id, key));
        }
    }

    pub(super) fn budgets(
        &self,
        tool: &Tool,
        env: Env,
        findings: &mut Findings,
        after: &mut Consequences,
    ) {
        let mut costs: BTreeMap<usize, i64> = BTreeMap::new();
        let mut in_shadow: BTreeMap<usize, i64> = BTreeMap::new();
        for clause in &tool.clauses {
            let ClauseKind::Costs { unit, amount, returned } = &clause.kind else { continue };
            let amount = match self.eval(amount, env) {
                Ok(Value::Decimal(amount)) if amount < 0 => Err(Fault::NegativeCost(String::new())),
                Ok(Value::Decimal(amount)) => Ok(amount),
                Ok(_) => Err(Fault::Decode("a cost is a decimal".into())),
                Err(fault) => Err(fault),
            };
            let Some(amount) = findings.ok(&clause.rule, amount) else { continue };
            let costs = if clause.rule.shadow { &mut in_shadow } else { &mut costs };
            let sum = costs.entry(*unit).or_default();
            *sum = sum.saturating_add(amount);
            if *returned && !clause.rule.shadow {
                after.returned.push((*unit, amount));
            }
        }
        let is_said =
            |c: &Clause| matches!(c.kind, ClauseKind::Costs { unit: 0, .. }) && !c.rule.shadow;
        self.spending(costs, tool.clauses.iter().any(is_said), findings, after);
        for (unit, amount) in in_shadow {
            let plain = after.charges.get(&unit).copied().unwrap_or(0);
            let name = &self.program.units[unit].name;
            if !self.exceeds(unit, plain) && self.exceeds(unit, plain.saturating_add(amount)) {
                findings.budget_in_shadow(name);
            }
        }
    }

    pub(super) fn exceeds(&self, unit: usize, amount: i64) -> bool {
        let total = i128::from(self.spent[unit]) + i128::from(amount);
        self.program.units[unit].budget.is_some_and(|budget| total > i128::from(budget))
    }

    /// Judges budgets and the deadline. A call costs one of `calls`, the first unit, unless a
    /// clause gives its cost.
    fn spending(
        &self,
        mut costs: BTreeMap<usize, i64>,
        said: bool,
        findings: &mut Findings,
        after: &mut Consequences,
    ) {
        if !said {
            let calls = costs.entry(0).or_default();
            *calls = calls.saturating_add(DECIMAL_ONE);
        }
        for (at, unit) in self.program.units.iter().enumerate() {
            let exhausted =
                unit.host_charged && unit.budget.is_some_and(|budget| self.spent[at] >= budget);
            let exceeded = costs.get(&at).is_some_and(|cost| self.exceeds(at, *cost));
            if exhausted || exceeded {
                findings.named(&unit.name, Code::Budget, Decision::Deny);
            }
        }
        self.deadline(findings);
        after.charges = costs;
    }

    pub(super) fn deadline(&self, findings: &mut Findings) {
        if self.program.deadline.is_some_and(|d| self.now >= self.start.saturating_add(d)) {
            findings.named("deadline", Code::Deadline, Decision::Deny);
        }
    }
}

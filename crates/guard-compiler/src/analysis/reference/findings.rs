//! The findings of the stages about a call, and what follows if it is allowed.

use super::{EventEffects, Judgement, Outline, is_missing};
use crate::hir::{LimitId, RuleMeta, VarId};
use guard_plan::json::Json;
use guard_plan::value::{Fault, Value};
use guard_plan::verdict::{Code, Decision};
use guard_syntax::span::Span;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The reasons in the order in which they are found. Faults of missing values are kept separately.
#[derive(Default)]
pub(super) struct Findings {
    reasons: Vec<Outline>,
    shadowed: Vec<Outline>,
    missing: Vec<(Outline, Span)>,
    /// The clauses behind the reasons, enforced or in shadow mode.
    fired: Vec<(Code, Span)>,
    /// The denies that ask a probe, by their index among the clauses. They are judged last.
    pub last: Vec<usize>,
    /// The values that transforms ask for, by parameter.
    pub replacements: Vec<(u32, Json)>,
}

impl Findings {
    pub(super) fn add(&mut self, rule: &RuleMeta, code: Code, decision: Decision) {
        self.needing(rule, code, decision, Vec::new());
    }

    pub(super) fn needing(
        &mut self,
        rule: &RuleMeta,
        code: Code,
        decision: Decision,
        needs: Vec<String>,
    ) {
        let list = if rule.shadow { &mut self.shadowed } else { &mut self.reasons };
        list.push((code, rule.owner.clone(), decision, needs));
        self.fired.push((code, rule.span));
    }

    /// Adds the findings that there would be if rules in shadow mode were enforced.
    pub(super) fn would_be(&mut self, would: Findings) {
        let enforced = would.reasons.into_iter().filter(|reason| !self.reasons.contains(reason));
        self.shadowed.extend(enforced.chain(would.shadowed));
        self.fired.extend(would.fired);
    }

    pub(super) fn named(&mut self, rule: &str, code: Code, decision: Decision) {
        self.reasons.push((code, rule.to_string(), decision, Vec::new()));
    }

    /// Adds a conflict with a call of another tool that is in flight.
    pub(super) fn conflict(&mut self, tool: &str, other: &str) {
        let needs = vec![other.to_string()];
        self.reasons.push((Code::Conflict, tool.to_string(), Decision::Wait, needs));
    }

    /// Adds a refusal by a budget that only a cost in shadow mode exceeds.
    pub(super) fn budget_in_shadow(&mut self, unit: &str) {
        self.shadowed.push((Code::Budget, unit.to_string(), Decision::Deny, Vec::new()));
    }

    /// Returns true if no enforced rule has given a reason yet. Faults of missing values do not count.
    pub(super) fn is_empty(&self) -> bool {
        self.reasons.is_empty()
    }

    /// Returns true if the call is certain to be denied.
    pub(super) fn is_denied(&self) -> bool {
        !self.missing.is_empty() || self.reasons.iter().any(|reason| reason.2 == Decision::Deny)
    }

    pub(super) fn fault(&mut self, rule: &RuleMeta, fault: &Fault) {
        let reason = (Code::EvaluationError, rule.owner.clone(), Decision::Deny, Vec::new());
        match (rule.shadow, is_missing(fault)) {
            (true, _) => self.shadowed.push(reason),
            (false, true) => return self.missing.push((reason, rule.span)),
            (false, false) => self.reasons.push(reason),
        }
        self.fired.push((Code::EvaluationError, rule.span));
    }

    /// Returns the value; if there is none, adds a finding and returns `None`.
    pub(super) fn ok<T>(&mut self, rule: &RuleMeta, value: Result<T, Fault>) -> Option<T> {
        value.map_err(|fault| self.fault(rule, &fault)).ok()
    }

    /// Returns the judgement. A guard in shadow mode refuses nothing.
    pub(super) fn judgement(mut self, shadow: bool) -> Judgement {
        // Approvals can be given, so they do not count against any rule.
        let given = |r: &&Outline| matches!(r.0, Code::Approval | Code::Gated);
        let unmet = self.reasons.iter().filter(|r| !given(r)).count() + self.missing.len();
        let stops = |r: &Outline| matches!(r.2, Decision::Deny | Decision::Wait);
        if !self.reasons.iter().any(stops) {
            for (reason, span) in self.missing {
                self.reasons.push(reason);
                self.fired.push((Code::EvaluationError, span));
            }
        }
        if shadow {
            self.shadowed.append(&mut self.reasons);
        }
        for list in [&mut self.reasons, &mut self.shadowed] {
            list.sort();
            list.dedup();
        }
        let decision = self.reasons.iter().map(|r| r.2).max().unwrap_or(Decision::Allow);
        let reasons = self.reasons;
        let shadowed = self.shadowed;
        let fired = self.fired;
        Judgement { decision, reasons, shadowed, fired, unmet, outcome: EventEffects::default() }
    }
}

/// The consequences of an allowed call.
#[derive(Default)]
pub(super) struct Consequences {
    pub charges: BTreeMap<usize, i64>,
    /// The amounts that a failure returns.
    pub returned: Vec<(usize, i64)>,
    pub limits: Vec<(LimitId, Option<Value>)>,
    pub writes: Vec<(VarId, Rc<Value>)>,
    /// The roles whose approval is used, with the maximum age of the approval; `None` for any role.
    pub roles: BTreeMap<Option<String>, Option<i64>>,
}

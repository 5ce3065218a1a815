//! The reasons that explain a verdict.

use crate::compiled::expr::CompiledExpr;
use crate::eval::context::{Asking, Context};
use guard_plan::json::Json;
use guard_plan::plan::{Message, Part, RuleMeta, Show, SpanId};
use guard_plan::render;
use guard_plan::value::Fault;
use guard_plan::verdict::{Code, Decision, Reason, Verdict};

/// The reasons found so far.
#[derive(Debug, Default)]
pub(crate) struct FoundReasons {
    pub reasons: Vec<Reason>,
    pub shadowed: Vec<Reason>,
    /// The faults of missing values, reported only if nothing else denies or waits.
    missing: Vec<Reason>,
    /// The denies that ask a probe, by index. They are checked last.
    pub postponed: Vec<u32>,
    /// The values that transforms require, by parameter.
    pub replacements: Vec<(u32, Json)>,
    /// The reached limits that ask a role, each with the role, whether it is in shadow mode, and
    /// the reason. The stage of approvals checks them.
    pub asks: Vec<(String, bool, Reason)>,
}

impl FoundReasons {
    /// Adds a reason. The reason of a rule in shadow mode has no effect on the verdict.
    pub fn push(&mut self, shadow: bool, reason: Reason) {
        if shadow { &mut self.shadowed } else { &mut self.reasons }.push(reason);
    }

    /// Adds a rule whose evaluation failed.
    pub fn fault(&mut self, cx: &Context<'_>, rule: &RuleMeta, fault: &Fault) {
        let message = format!("a rule cannot be evaluated: {fault}");
        let reason = cx.reason(Code::EvaluationError, rule, message);
        match fault {
            // Most often another rule reports the cause, and these faults would only repeat it
            // (semantics §3).
            Fault::Missing(_) | Fault::UnequalLengths(..) if !rule.shadow => {
                self.missing.push(reason);
            }
            _ => self.push(rule.shadow, reason),
        }
    }

    /// Returns the numbers of reasons in effect, in shadow mode and of missing values.
    pub fn count(&self) -> [usize; 3] {
        [self.reasons.len(), self.shadowed.len(), self.missing.len()]
    }

    /// Drops the reasons that were added after the given counts.
    pub fn truncate(&mut self, [reasons, shadowed, missing]: [usize; 3]) {
        self.reasons.truncate(reasons);
        self.shadowed.truncate(shadowed);
        self.missing.truncate(missing);
    }

    /// Returns true if no reason in effect refuses the call so far.
    pub fn refuse_nothing(&self) -> bool {
        // A postponed deny may still refuse the call, so no proof may assume yet that it did not.
        self.reasons.is_empty() && self.missing.is_empty() && self.postponed.is_empty()
    }

    /// Returns true if a reason in effect denies the call, whatever else is found.
    pub fn deny(&self) -> bool {
        let denies = |reason: &Reason| reason.decision == Decision::Deny;
        !self.missing.is_empty() || self.reasons.iter().any(denies)
    }

    /// Returns the verdict. A guard in shadow mode refuses nothing.
    pub fn verdict(mut self, shadow: bool) -> Verdict {
        if self.reasons.is_empty() && self.missing.is_empty() && self.shadowed.is_empty() {
            return Verdict {
                decision: Decision::Allow,
                reasons: Vec::new(),
                shadowed: Vec::new(),
            };
        }
        let refuses = |reason: &Reason| matches!(reason.decision, Decision::Deny | Decision::Wait);
        if !self.missing.is_empty() && !self.reasons.iter().any(refuses) {
            self.reasons.append(&mut self.missing);
        }
        if shadow {
            self.shadowed.append(&mut self.reasons);
        }
        sort(&mut self.reasons);
        sort(&mut self.shadowed);
        let decision = self.reasons.iter().map(|reason| reason.decision).max();
        let decision = decision.unwrap_or(Decision::Allow);
        Verdict { decision, reasons: self.reasons, shadowed: self.shadowed }
    }
}

fn sort(reasons: &mut Vec<Reason>) {
    if reasons.len() > 1 {
        reasons.sort_by(|a, b| {
            let key = |reason: &Reason| (reason.code, reason.decision);
            (key(a), &a.rule, &a.message, &a.needs).cmp(&(key(b), &b.rule, &b.message, &b.needs))
        });
        reasons.dedup();
    }
}

/// The decision that a reason with this code alone implies.
fn decision(code: Code) -> Decision {
    match code {
        Code::Approval => Decision::Ask,
        Code::Conflict => Decision::Wait,
        _ => Decision::Deny,
    }
}

impl Context<'_> {
    /// Returns the reason of a rule.
    pub fn reason(&self, code: Code, rule: &RuleMeta, message: String) -> Reason {
        self.reason_at(code, &rule.owner, Some(rule.span), message)
    }

    /// Returns a reason that belongs to no rule.
    pub fn reason_at(
        &self,
        code: Code,
        rule: &str,
        span: Option<SpanId>,
        message: String,
    ) -> Reason {
        Reason {
            code,
            decision: decision(code),
            rule: rule.into(),
            message,
            help: String::new(),
            span: span.and_then(|span| self.compiled.loaded().span_text(span)),
            needs: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Renders a value, or the reason why it has none.
    pub fn show(&self, show: &Show) -> String {
        if show.secret {
            return render::SECRET.into();
        }
        let expr = CompiledExpr::new(&show.expr);
        match self.eval_shown(&expr) {
            Ok(value) => render::value(&self.compiled.plan().types, show.ty, &value),
            Err(fault) => format!("({fault})"),
        }
    }

    /// Renders a message with its values.
    pub fn message(&self, message: &Message) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Value(show) => self.show(show),
        };
        message.parts.iter().map(part).collect()
    }

    /// Returns expressions with their values.
    pub fn values(&self, shows: &[Show]) -> Vec<(String, String)> {
        let asking = self.decision.asking.replace(Asking::Never);
        let values = shows.iter().map(|show| (show.label.clone(), self.show(show))).collect();
        self.decision.asking.set(asking);
        values
    }
}

/// Lists names for a sentence: `a`, `b` or `c`.
pub(crate) fn listed<'n>(names: impl ExactSizeIterator<Item = &'n str>, last: &str) -> String {
    let count = names.len();
    let mut out = String::new();
    for (i, name) in names.enumerate() {
        if i > 0 {
            out.push_str(if i + 1 == count { last } else { ", " });
        }
        out.push('`');
        out.push_str(name);
        out.push('`');
    }
    out
}

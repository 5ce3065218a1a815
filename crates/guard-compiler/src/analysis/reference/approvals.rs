//! Approvals: the roles that must approve a call, and the approvals that it uses up (semantics
//! §3.9).

use super::ReferenceSession;
use super::eval::Env;
use super::propose::{Consequences, Findings};
use crate::hir::{ClauseKind, RuleMeta, Tool, ToolId};
use guard_plan::value::Value;
use guard_plan::verdict::{Code, Decision};

impl ReferenceSession<'_> {
    pub(super) fn approvals(
        &self,
        at: ToolId,
        tool: &Tool,
        env: Env,
        findings: &mut Findings,
        after: &mut Consequences,
    ) {
        let good = |role: Option<&str>, within: Option<i64>| {
            self.grants.iter().any(|g| self.good(g, at, env.args, role, within))
        };
        for clause in &tool.clauses {
            let ClauseKind::Approval { role, within, when, .. } = &clause.kind else {
                continue;
            };
            let applies = when.as_ref().map_or(Ok(true), |w| self.holds(w, env));
            if findings.ok(&clause.rule, applies) != Some(true) {
                continue;
            }
            if !good(Some(role), *within) {
                let needs = vec![role.clone()];
                findings.needing(&clause.rule, Code::Approval, Decision::Ask, needs);
            }
            if !clause.rule.shadow {
                let age = after.roles.entry(Some(role.clone())).or_insert(*within);
                *age = match (*age, *within) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
            }
        }
        if let Some((rule, role)) = self.escalated(tool, env) {
            if !good(Some(&role), None) {
                findings.needing(&rule, Code::Approval, Decision::Ask, vec![role.clone()]);
            }
            after.roles.entry(Some(role)).or_insert(None);
        }
        let mut gated = tool.is_gated();
        for (rule, when) in tool.gates() {
            gated |= findings.ok(rule, self.holds(when, env)) == Some(true);
        }
        if gated {
            if !good(None, None) {
                findings.named(&tool.name, Code::Gated, Decision::Deny);
            }
            if after.roles.is_empty() {
                after.roles.insert(None, None);
            }
        }
    }

    /// Handles a call over a limit that asks a role: it needs an approval of that role, of any age.
    pub(super) fn over(
        &self,
        (at, role): (ToolId, &str),
        rule: &RuleMeta,
        env: Env,
        findings: &mut Findings,
        after: &mut Consequences,
    ) {
        if !self.grants.iter().any(|g| self.good(g, at, env.args, Some(role), None)) {
            findings.needing(rule, Code::Approval, Decision::Ask, vec![role.to_string()]);
        }
        if !rule.shadow {
            after.roles.entry(Some(role.to_string())).or_insert(None);
        }
    }

    fn good(
        &self,
        grant: &super::Grant,
        tool: ToolId,
        args: &[Value],
        role: Option<&str>,
        within: Option<i64>,
    ) -> bool {
        grant.tool == tool
            && grant.args == args
            && role.is_none_or(|r| r == grant.role)
            && self.now < grant.expires
            && within.is_none_or(|d| self.now - grant.given <= d)
    }

    /// Uses up the approvals of a call. Approvals are single-use: for each role, the one that
    /// expires first is used.
    pub(super) fn consume(&mut self, tool: ToolId, args: &[Value], after: &Consequences) {
        for (role, within) in &after.roles {
            let candidates = (0..self.grants.len())
                .filter(|at| self.good(&self.grants[*at], tool, args, role.as_deref(), *within));
            if let Some(first) = candidates.min_by_key(|at| self.grants[*at].expires) {
                self.grants.remove(first);
            }
        }
    }
}

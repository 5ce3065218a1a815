//! Approvals: those that are given and revoked, the roles that must approve a call, and the approvals that it uses up
//! (semantics §3.9).

use super::eval::Env;
use super::findings::{Consequences, Findings};
use super::{Misuse, ReferenceSession};
use crate::hir::{ClauseKind, RuleMeta, Tool, ToolId};
use guard_plan::json::Json;
use guard_plan::time::HOUR;
use guard_plan::value::Value;
use guard_plan::verdict::{Code, Decision};

/// An approval that is not yet used.
#[derive(Clone)]
pub(super) struct Grant {
    tool: ToolId,
    args: Vec<Value>,
    role: String,
    given: i64,
    expires: i64,
}

impl ReferenceSession<'_> {
    /// Records an approval by `role` of exactly this call, until `expires` or for an hour.
    ///
    /// # Errors
    ///
    /// [`Misuse`] for an unknown tool, and for arguments that are not valid for the tool.
    pub fn approve(
        &mut self,
        tool: &str,
        args: &Json,
        role: &str,
        expires: Option<i64>,
        now: i64,
    ) -> Result<(), Misuse> {
        let tool = self.tool(tool).ok_or_else(|| Misuse(format!("unknown tool `{tool}`")))?;
        let args = self
            .arguments(&self.program.tools[tool], args)
            .map_err(|n| Misuse(format!("{n} wrong arguments")))?;
        self.advance(now);
        let expires = expires.unwrap_or(self.now.saturating_add(HOUR));
        self.grants.push(Grant { tool, args, role: role.to_string(), given: self.now, expires });
        Ok(())
    }

    /// Revokes an approval by a role of exactly this call.
    ///
    /// # Errors
    ///
    /// The errors of [`ReferenceSession::approve`]; [`Misuse`] if nothing is left of the approval.
    pub fn revoke(&mut self, tool: &str, args: &Json, role: &str, now: i64) -> Result<(), Misuse> {
        let tool = self.tool(tool).ok_or_else(|| Misuse(format!("unknown tool `{tool}`")))?;
        let args = self
            .arguments(&self.program.tools[tool], args)
            .map_err(|n| Misuse(format!("{n} wrong arguments")))?;
        let later = self.now.max(now);
        let stays =
            |g: &Grant| g.tool != tool || g.args != args || g.role != role || g.expires <= later;
        if self.grants.iter().all(stays) {
            return Err(Misuse("there is no approval to revoke".into()));
        }
        self.grants.retain(stays);
        self.advance(now);
        Ok(())
    }

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
        grant: &Grant,
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

//! Comparison of what the agent reads of results.

use super::Sides;
use super::history::Influence;
use super::reads::RuleReads;
use crate::hir::canon::Canon;
use crate::hir::{Clause, ClauseKind, Expr, ExprKind as K, Program, Tool};
use std::collections::BTreeSet;

impl Sides<'_> {
    /// Returns the tools of which the agent may read more under the new guard, as sentences.
    pub(in crate::analysis::diff) fn shown(&self) -> Vec<String> {
        let both = self.old.tools.iter().filter_map(|a| {
            let b = self.new.tool_on_wire(&a.wire_name)?;
            Some((a, &self.new.tools[b]))
        });
        let more = both.filter(|(a, b)| self.shows_more(a, b));
        more.map(|(a, _)| format!("the agent may read more of the result of `{}`", a.wire_name))
            .collect()
    }

    fn shows_more(&self, a: &Tool, b: &Tool) -> bool {
        let old = transforms(self.old, a);
        let new = transforms(self.new, b);
        if old.is_empty() {
            // The agent reads the whole result anyway.
            return !new.iter().all(|(clause, _)| reads_call_only(&clause.kind));
        }
        // The old ones come first: a later transform may write over an earlier one.
        let kept = old.len() <= new.len() && old.iter().zip(&new).all(|((_, x), (_, y))| x == y);
        let added = new.iter().skip(old.len());
        !kept
            || !added.into_iter().all(|(clause, _)| is_constant(&clause.kind))
            || self.applies_otherwise(a, &old)
            || self.keeps_more(a, b)
    }

    /// Returns true if the transforms of a tool read something that may come about in two ways. The
    /// type of the result is a part of it: only members of that type are shown.
    fn applies_otherwise(&self, tool: &Tool, transforms: &[(&Clause, String)]) -> bool {
        let mut reads = RuleReads::default();
        for (clause, _) in transforms {
            crate::lower::clause_exprs(&clause.kind, &mut |e| reads.expr(self.old, e));
        }
        let mut influences = reads.influences();
        influences.insert(Influence::Calls(tool.wire_name.clone()));
        influences.iter().any(|influence| self.differs(influence))
    }

    /// Returns true if the new guard keeps or tells something of a result that the old one does not. State,
    /// facts and messages are shown as they are.
    fn keeps_more(&self, a: &Tool, b: &Tool) -> bool {
        let kept = |program: &Program, tool: &Tool| -> BTreeSet<String> {
            let keeps = |clause: &&Clause| {
                matches!(
                    clause.kind,
                    ClauseKind::Observe { .. }
                        | ClauseKind::Learn(_)
                        | ClauseKind::Reconcile { .. }
                )
            };
            let clauses = tool.clauses.iter().filter(keeps);
            let text = |clause: &Clause| {
                let mut read = Vec::new();
                let canon = Canon(program);
                // The text of a clause does not contain its message.
                crate::lower::clause_exprs(&clause.kind, &mut |e| {
                    read.push(canon.expr(Some(tool), e));
                });
                format!("{} {read:?}", canon.clause(tool, clause))
            };
            clauses.map(text).collect()
        };
        let remembers = |program: &Program, tool: &Tool| {
            let mut found = false;
            crate::lower::each_expr(program, &mut |root| {
                let is_last = |part: &Expr| matches!(part.kind, K::LastResult(of) if program.tools[of].wire_name == tool.wire_name);
                found |= root.any(&mut |part| is_last(part));
            });
            found
        };
        !kept(self.new, b).is_subset(&kept(self.old, a))
            || (remembers(self.new, b) && !remembers(self.old, a))
    }
}

/// Returns the transforms of a tool's result that apply, in order, each with its text.
fn transforms<'p>(program: &Program, tool: &'p Tool) -> Vec<(&'p Clause, String)> {
    let applies = |clause: &&Clause| {
        matches!(clause.kind, ClauseKind::Transform { .. })
            && !clause.rule.shadow
            && !program.shadow
    };
    let clauses = tool.clauses.iter().filter(applies);
    clauses.map(|clause| (clause, Canon(program).clause(tool, clause))).collect()
}

/// Returns true if a transform always shows the same value.
fn is_constant(transform: &ClauseKind) -> bool {
    let ClauseKind::Transform { value, when, .. } = transform else { return false };
    let is_literal = |kind: &K| matches!(kind, K::String(_) | K::Int(_) | K::Bool(_) | K::None);
    when.is_none() && is_literal(&value.kind)
}

/// Returns true if a transform reads only the arguments and the result of its call.
#[allow(clippy::match_like_matches_macro, reason = "a long list is read line by line")]
fn reads_call_only(transform: &ClauseKind) -> bool {
    let is_other = |part: &Expr| match &part.kind {
        K::None | K::Bool(_) | K::Int(_) | K::Decimal(_) | K::String(_) | K::Path(_) => false,
        K::Duration(_) | K::Time(_) | K::Enum(_) | K::Url(_) => false,
        K::Param(_) | K::Local(_) | K::Result | K::Member(..) | K::Field(..) => false,
        K::List(_) | K::Set(_) | K::Map(_) | K::Record(_) | K::Index(..) | K::UrlPart(..) => false,
        K::Not(_) | K::Neg(_) | K::And(..) | K::Or(..) | K::Implies(..) | K::If(..) => false,
        K::Compare(..) | K::Arith(..) | K::In(..) | K::Matches(..) | K::Quantified { .. } => false,
        K::IsSome(_) | K::Else(..) | K::Unwrap(..) | K::Call(..) => false,
        _ => true,
    };
    let mut only = true;
    crate::lower::clause_exprs(transform, &mut |root| {
        only &= !root.any(&mut |part| is_other(part));
    });
    only
}

//! Parses the items with their own kinds of clauses: lifecycles, probes, feedback, completion,
//! attestations and contracts.

use super::build::TreeBuilder;
use super::grammar::{ChildNodes, Rule, SyntaxNode};
use crate::ast::{
    Attest, BlockCondition, Check, CheckKind, Completion, Contract, ContractClause, Feedback,
    FeedbackBlock, FeedbackNote, Ident, ItemShape, ItemsClause, Lifecycle, LifecycleClause, Probe,
    ProbeClause, Spanned, Str, Transition, Trigger, Whole,
};

impl TreeBuilder<'_> {
    pub fn lifecycle(&mut self, mut parts: ChildNodes) -> Option<Lifecycle> {
        let name = self.name(&mut parts)?;
        let clauses = parts.map(|c| self.lifecycle_clause(c)).collect::<Option<_>>()?;
        Some(Lifecycle { name, clauses })
    }

    pub fn lifecycle_clause(&mut self, node: SyntaxNode) -> Option<Spanned<LifecycleClause>> {
        let span = self.span(&node);
        let node = ChildNodes::new(node).next()?;
        let rule = node.as_rule();
        let mut parts = ChildNodes::new(node);
        let clause = match rule {
            Rule::lc_fields => LifecycleClause::Fields(self.fields(parts.next()?)?),
            Rule::lc_initial => LifecycleClause::Initial(self.name(&mut parts)?),
            Rule::lc_final => LifecycleClause::Final(self.names(&mut parts)),
            Rule::lc_criteria => LifecycleClause::Criteria(self.names(&mut parts)),
            Rule::lc_escalate => {
                let role = self.name(&mut parts)?;
                LifecycleClause::Escalate { role, after: self.take_literal(&mut parts)? }
            }
            _ => LifecycleClause::Transition(self.transition(parts)?),
        };
        Some(Spanned { node: clause, span })
    }

    fn transition(&mut self, mut parts: ChildNodes) -> Option<Transition> {
        let actor = self.ident(&parts.next()?);
        let name = self.name(&mut parts)?;
        let from = self.names(&mut parts);
        parts.has(Rule::arrow);
        let to = self.name(&mut parts)?;
        let evidence = parts.has(Rule::evidence);
        let judged = parts.enter(Rule::judged).and_then(|mut inner| inner.next());
        Some(Transition {
            actor,
            name,
            from,
            to,
            evidence,
            criteria: judged.map(|node| node.as_str() == "pass"),
        })
    }

    pub fn probe(&mut self, mut parts: ChildNodes) -> Option<Probe> {
        let name = self.name(&mut parts)?;
        let clauses = parts.map(|c| self.probe_clause(c)).collect::<Option<_>>()?;
        Some(Probe { name, clauses })
    }

    pub fn probe_clause(&mut self, node: SyntaxNode) -> Option<Spanned<ProbeClause>> {
        let span = self.span(&node);
        let node = ChildNodes::new(node).next()?;
        let rule = node.as_rule();
        let mut parts = ChildNodes::new(node);
        let clause = match rule {
            Rule::returns => {
                ProbeClause::Returns(self.take_type(&mut parts)?, self.take_forms(&mut parts))
            }
            Rule::pr_command => {
                let argv = self.strings(&mut parts);
                ProbeClause::Command { argv, env: self.take_env(&mut parts) }
            }
            Rule::pr_file => ProbeClause::File(self.take_string(&mut parts)?),
            Rule::pr_host => ProbeClause::Host,
            Rule::pr_every => ProbeClause::Every(self.take_literal(&mut parts)?),
            Rule::pr_backoff => {
                let factor = self.take_literal(&mut parts)?;
                ProbeClause::Backoff { factor, up_to: self.take_literal(&mut parts)? }
            }
            Rule::pr_timeout => ProbeClause::Timeout(self.take_literal(&mut parts)?),
            _ => ProbeClause::Within(self.take_literal(&mut parts)?),
        };
        Some(Spanned { node: clause, span })
    }

    pub fn feedback(&mut self, mut parts: ChildNodes) -> Option<Feedback> {
        let name = self.name(&mut parts)?;
        let mut triggers = Vec::new();
        while let Some(node) = parts.accept(Rule::trigger) {
            triggers.push(self.trigger(node)?);
        }
        let blocks = parts.map(|b| self.block(b)).collect::<Option<_>>()?;
        Some(Feedback { name, triggers, blocks })
    }

    pub fn trigger(&mut self, node: SyntaxNode) -> Option<Spanned<Trigger>> {
        let span = self.span(&node);
        let node = ChildNodes::new(node).next()?;
        let rule = node.as_rule();
        let mut parts = ChildNodes::new(node);
        let trigger = match rule {
            Rule::on_calls => Trigger::Calls(self.take_literal(&mut parts)?),
            Rule::on_every => Trigger::Every(self.take_literal(&mut parts)?),
            Rule::on_created => Trigger::Created(self.take_string(&mut parts)?),
            Rule::on_denied => Trigger::Denied(self.take_tool_set(&mut parts)),
            _ => Trigger::When(self.take_expr(&mut parts)?),
        };
        Some(Spanned { node: trigger, span })
    }

    pub fn block(&mut self, node: SyntaxNode) -> Option<FeedbackBlock> {
        let span = self.span_eq(&node);
        let mut parts = ChildNodes::new(node);
        let severity = self.ident(&parts.next()?);
        let condition = match self.take_guard(&mut parts) {
            Some(guard) => BlockCondition::Guard(guard),
            None if parts.has(Rule::otherwise) => BlockCondition::Otherwise,
            None => BlockCondition::Always,
        };
        let message = self.take_message(&mut parts)?;
        let mut notes = Vec::new();
        while let Some(mut inner) = parts.enter(Rule::note) {
            let suggest = inner.next()?.as_str() == "suggest";
            notes.push(FeedbackNote { suggest, text: self.take_message(&mut inner)? });
        }
        Some(FeedbackBlock { severity, condition, message, notes, span })
    }

    pub fn completion(&mut self, mut parts: ChildNodes) -> Option<Completion> {
        let at_most = self.optional(&mut parts, Rule::at_most, Self::take_literal)?;
        Some(Completion { at_most, checks: parts.map(|c| self.check(c)).collect::<Option<_>>()? })
    }

    pub fn check(&mut self, node: SyntaxNode) -> Option<Check> {
        let span = self.span_eq(&node);
        let node = ChildNodes::new(node).next()?;
        let rule = node.as_rule();
        if rule == Rule::expr {
            return Some(Check { kind: CheckKind::Expr(self.expr(node)?), span });
        }
        let mut parts = ChildNodes::new(node);
        let kind = match rule {
            Rule::ck_file => self.file_check(parts)?,
            Rule::ck_command => {
                let argv = self.strings(&mut parts);
                let env = self.take_env(&mut parts);
                parts.has(Rule::exits_word);
                let exits = self.take_literal(&mut parts)?;
                CheckKind::Command { argv, env, exits, within: self.take_within(&mut parts) }
            }
            Rule::ck_git => CheckKind::GitCommitted,
            Rule::ck_every => {
                let lifecycle = self.name(&mut parts)?;
                CheckKind::Every { lifecycle, state: self.name(&mut parts)? }
            }
            Rule::ck_attest => CheckKind::Attest(self.name(&mut parts)?),
            Rule::ck_all => CheckKind::All(parts.map(|c| self.check(c)).collect::<Option<_>>()?),
            _ => CheckKind::Any(parts.map(|c| self.check(c)).collect::<Option<_>>()?),
        };
        Some(Check { kind, span })
    }

    fn take_env(&mut self, parts: &mut ChildNodes) -> Vec<Str> {
        parts.enter(Rule::env).map_or_else(Vec::new, |mut names| self.strings(&mut names))
    }

    fn file_check(&mut self, mut parts: ChildNodes) -> Option<CheckKind> {
        let path = self.take_string(&mut parts)?;
        let Some(more) = parts.next() else { return Some(CheckKind::File(path)) };
        let contains = more.as_rule() == Rule::ck_contains;
        let mut inner = ChildNodes::new(more);
        Some(if contains {
            CheckKind::FileContains(path, self.take_string(&mut inner)?)
        } else {
            CheckKind::FileConforms(path, self.name(&mut inner)?)
        })
    }

    pub fn attest(&mut self, mut parts: ChildNodes) -> Option<Attest> {
        let name = self.name(&mut parts)?;
        Some(Attest { name, dimensions: parts.map(|d| self.dimension(d)).collect::<Option<_>>()? })
    }

    pub fn dimension(&mut self, node: SyntaxNode) -> Option<(Ident, Check)> {
        let mut parts = ChildNodes::new(node);
        let name = self.name(&mut parts)?;
        Some((name, self.check(parts.next()?)?))
    }

    pub fn contract(&mut self, mut parts: ChildNodes) -> Option<Contract> {
        let name = self.name(&mut parts)?;
        let whole = self.optional(&mut parts, Rule::ct_whole, Self::whole)?;
        Some(Contract {
            name,
            whole,
            clauses: parts.map(|c| self.contract_clause(c)).collect::<Option<_>>()?,
        })
    }

    pub fn contract_clause(&mut self, node: SyntaxNode) -> Option<Spanned<ContractClause>> {
        let span = self.span(&node);
        let node = ChildNodes::new(node).next()?;
        let clause = match node.as_rule() {
            Rule::field => ContractClause::Field(self.field(node)?),
            Rule::ct_items => self.contract_items(node)?,
            Rule::ct_bounds => {
                let bound = |entry: SyntaxNode| {
                    let mut parts = ChildNodes::new(entry);
                    Some((self.name(&mut parts)?, self.take_literal(&mut parts)?))
                };
                ContractClause::Bounds(ChildNodes::new(node).map(bound).collect::<Option<_>>()?)
            }
            _ => {
                let mut parts = ChildNodes::new(node);
                let path = self.names(&mut parts);
                ContractClause::Reference { path, allowed: self.take_expr(&mut parts)? }
            }
        };
        Some(Spanned { node: clause, span })
    }

    fn contract_items(&mut self, node: SyntaxNode) -> Option<ContractClause> {
        let mut parts = ChildNodes::new(node.clone());
        let path = self.names(&mut parts);
        let docs = if path.len() == 1 { self.docs(&node) } else { Vec::new() };
        let list = self.items_clause(parts.accept(Rule::ct_list)?)?;
        Some(ContractClause::Items { docs, path, list, wire: self.take_wire(&mut parts) })
    }

    fn whole(&mut self, parts: &mut ChildNodes) -> Option<Whole> {
        match parts.accept(Rule::ct_list) {
            Some(node) => {
                let span = self.span_eq(&node);
                Some(Whole::Items(self.items_clause(node)?, span))
            }
            None => Some(Whole::Value(self.take_type(parts)?)),
        }
    }

    fn items_clause(&mut self, node: SyntaxNode) -> Option<ItemsClause> {
        let mut parts = ChildNodes::new(node);
        let shape = match parts.enter(Rule::ct_schema) {
            Some(mut inner) => ItemShape::Schema(self.take_string(&mut inner)?),
            None => ItemShape::Type(self.take_type(&mut parts)?),
        };
        let max = self.take_max(&mut parts);
        let by = self.optional(&mut parts, Rule::by_key, Self::name)?;
        let partial = parts.accept(Rule::partial_ok).map(|node| self.span_eq(&node));
        Some(ItemsClause { shape, max, by, partial })
    }
}

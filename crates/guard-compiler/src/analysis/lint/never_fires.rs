//! A rule that can never refuse, ask or be broken.

use super::Lint;
use super::truth::{holds_a_constant, truth};
use crate::analysis::diff::implied::is_total;
use crate::analysis::explore::RuleKind;
use crate::errors;
use crate::hir::ClauseKind;
use guard_proof::mutant;
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(lint: &Lint, found: &mut Vec<Diagnostic>) {
    // A policy's rule stands in many tools: it fires if it does in one of them.
    let mut rules: BTreeMap<(Span, RuleKind), bool> = BTreeMap::new();
    // Rules whose condition may fault, which refuses.
    let mut faulting: BTreeSet<Span> = BTreeSet::new();
    for (at, tool) in lint.program.tools.iter().enumerate() {
        for clause in &tool.clauses {
            let (kind, condition) = match &clause.kind {
                ClauseKind::Deny { condition, .. } => (RuleKind::Deny, condition),
                ClauseKind::Requires { when: Some(when), .. } => (RuleKind::Requires, when),
                ClauseKind::Approval { when: Some(when), .. } => (RuleKind::Approval, when),
                _ => continue,
            };
            let silent = (truth(condition, &lint.impossible) == Some(false)
                && !holds_a_constant(condition))
                || lint.impossible.contains(&at)
                || lint.prover.never(tool, &[condition]);
            *rules.entry((clause.rule.span, kind)).or_insert(true) &= silent;
            if !is_total(condition) && !mutant!("no condition faults") {
                faulting.insert(clause.rule.span);
            }
        }
    }
    let clauses = lint.impossible.iter().flat_map(|tool| &lint.program.tools[*tool].clauses);
    let spans: BTreeSet<Span> = clauses.map(|clause| clause.rule.span).collect();
    let impossible = |span: Span| spans.contains(&span);
    for ((span, kind), silent) in &rules {
        // What is wrong with a tool that cannot be called is said of the tool.
        if *silent && !impossible(*span) {
            found.push(if faulting.contains(span) {
                errors::only_faults(*span)
            } else {
                said(*kind, *span, "its condition is never true")
            });
        }
    }
    let Some(explored) = lint.exhausted() else { return };
    for (rule, session) in &explored.rules {
        let tried = matches!(
            rule.kind,
            RuleKind::Deny | RuleKind::Requires | RuleKind::Approval | RuleKind::Invariant
        );
        let known = rules.get(&(rule.span, rule.kind)) == Some(&true);
        if tried && session.is_none() && !known && !impossible(rule.span) {
            found.push(said(
                rule.kind,
                rule.span,
                "the search was exhaustive, and it never applied",
            ));
        }
    }
}

fn said(kind: RuleKind, span: Span, why: &str) -> Diagnostic {
    match kind {
        RuleKind::Approval => errors::never_asked(span, why),
        _ => errors::never_fires(span, why),
    }
}

//! `drop`: removes rules that can never apply. Their reads and writes remain declared, because
//! calls in flight wait for declared writes and not for evaluated rules.

use super::PassWork;
use guard_plan::plan::{Expr, Node, Plan, Tool, ToolId};

/// Drops rules, and guards of rules, whose conditions are constant.
pub(super) fn drop_rules(work: &mut PassWork<'_>) {
    let always: Vec<bool> = work
        .plan
        .invariants
        .iter()
        .map(|invariant| known(&invariant.condition) == Some(true))
        .collect();
    for id in 0..work.plan.tools.len() as ToolId {
        let mut gone = Vec::new();
        let tool = &mut work.plan.tools[id as usize];
        denies(tool, &mut gone);
        conditions(tool, &mut gone);
        frames(work.lowered, tool, &always, &mut gone);
        gone.into_iter().for_each(|what| work.notes.dropped(work.verb, id, what));
    }
    for block in work.plan.feedback.iter_mut().flat_map(|provider| &mut provider.blocks) {
        block.when.take_if(|when| known(when) == Some(true));
    }
}

fn known(expr: &Expr) -> Option<bool> {
    match expr.0.as_slice() {
        [Node::Bool(truth)] => Some(*truth),
        _ => None,
    }
}

/// Removes a condition that always holds.
fn unguard(when: &mut Option<Expr>) {
    when.take_if(|when| known(when) == Some(true));
}

fn never(when: &Option<Expr>) -> bool {
    when.as_ref().is_some_and(|when| known(when) == Some(false))
}

fn denies(tool: &mut Tool, gone: &mut Vec<String>) {
    tool.denies.retain(|deny| {
        let never = known(&deny.condition)
            == Some(guard_proof::mutant!("a deny that always fires is dropped"));
        if never {
            gone.push(format!("deny {}", deny.text));
        }
        !never
    });
}

fn conditions(tool: &mut Tool, gone: &mut Vec<String>) {
    // A requirement keeps a condition that always holds, because the help of a refusal uses only
    // requirements that are written without one.
    tool.requires.retain(|requires| {
        if never(&requires.when) {
            gone.push("requires when false".into());
        }
        !never(&requires.when)
    });
    tool.approvals.retain(|approval| {
        if never(&approval.when) {
            gone.push(format!("approval {} when false", approval.role));
        }
        !never(&approval.when)
    });
    tool.approvals.iter_mut().for_each(|approval| unguard(&mut approval.when));
    tool.learns.iter_mut().for_each(|learn| unguard(&mut learn.when));
    tool.reconciles.retain(|rule| {
        let always = known(&rule.condition) == Some(true);
        if always {
            gone.push(format!("reconcile {}", rule.text));
        }
        !always
    });
}

fn frames(lowered: &Plan, tool: &mut Tool, always: &[bool], gone: &mut Vec<String>) {
    let stays = |id: &u32| !always.get(*id as usize).is_some_and(|always| *always);
    for id in tool.frame.iter().filter(|id| !stays(id)) {
        let invariant = &lowered.invariants[*id as usize];
        gone.push(format!("invariant {}: {}", invariant.rule.owner, invariant.text));
    }
    tool.frame.retain(stays);
    tool.observe_frame.retain(stays);
}

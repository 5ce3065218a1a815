//! Rules that fire by repetition: limits, budgets, the deadline, advice by number and time.
//!
//! The search does not count, so these are looked for from the shortest session that reaches a tool, by doing the same
//! again.

use super::inputs::written;
use super::rules::{self, Rule, RuleKind};
use super::search::{Search, step};
use super::session::{Act, START, Session, Step, Then, WORKSPACE, perform};
use super::world::Oracle;
use crate::hir::{ClauseKind, Program, ToolId};
use crate::reference::Reference;
use guard_plan::plan::LimitScope;
use guard_plan::verdict::Decision;

/// Most calls of one session that only repeats.
const MOST: usize = 700;

/// Looks for what the search has not found.
pub(crate) fn complete(search: &mut Search) {
    for rule in 0..search.rules.len() {
        if search.found.rules[rule].is_some() {
            continue;
        }
        let of = search.rules[rule].clone();
        let found = match of.kind {
            RuleKind::Limit => limit(search, &of),
            RuleKind::Budget => budget(search, &of),
            RuleKind::Deadline => {
                let wait = search.program.deadline.map(Act::Wait);
                wait.and_then(|wait| after(search, vec![wait], &of, None))
            }
            RuleKind::Feedback => feedback(search, &of),
            RuleKind::Invariant | RuleKind::Monitor | RuleKind::Refinement | RuleKind::Deny => {
                pump_all(search, &of)
            }
            _ => None,
        };
        search.found.rules[rule] = found;
    }
}

/// The tools that are held to a rule at this place.
fn holders(program: &Program, rule: &Rule) -> Vec<ToolId> {
    let held = |tool: &ToolId| program.tools[*tool].clauses.iter().any(|c| c.rule.span == rule.span);
    (0..program.tools.len()).filter(held).collect()
}

fn limit(search: &Search, rule: &Rule) -> Option<Session> {
    let program = search.program;
    for tool in holders(program, rule) {
        let clauses = program.tools[tool].clauses.iter().filter(|c| c.rule.span == rule.span);
        let scopes = clauses.filter_map(|clause| match &clause.kind {
            ClauseKind::Limit { limit, .. } => Some(program.limits[*limit].scope),
            _ => None,
        });
        let flying = scopes.into_iter().any(|scope| scope == LimitScope::InFlight);
        let Some(session) = &search.found.tools[tool] else { continue };
        if let Some(found) = pump(search, session, rule, flying) {
            return Some(found);
        }
    }
    None
}

fn budget(search: &Search, rule: &Rule) -> Option<Session> {
    let unit = search.program.units.iter().position(|u| u.name == rule.owner)?;
    let of = &search.program.units[unit];
    if of.host_charged {
        let usage = Act::Usage(of.name.clone(), of.budget?);
        return after(search, vec![usage], rule, None);
    }
    let costs = |tool: &ToolId| {
        search.program.tools[*tool].clauses.iter().any(
            |clause| matches!(&clause.kind, ClauseKind::Costs { unit: u, .. } if *u == unit),
        ) || unit == 0
    };
    let tools = (0..search.program.tools.len()).filter(costs);
    let sessions = tools.filter_map(|tool| search.found.tools[tool].as_ref());
    let found = sessions.filter_map(|session| pump(search, session, rule, false));
    found.min_by_key(Session::len)
}

fn pump_all(search: &Search, rule: &Rule) -> Option<Session> {
    let sessions = search.found.tools.iter().flatten();
    let found = sessions.filter_map(|session| pump(search, session, rule, false));
    found.min_by_key(Session::len)
}

/// The last call of a session again and again, until the rule fires; with `flying` none of them settles.
fn pump(search: &Search, found: &Session, rule: &Rule, flying: bool) -> Option<Session> {
    let mut session = replayed(search.program, found, flying)?;
    let mut out = found.clone();
    let last = out.steps.last_mut()?;
    let Act::Call { then, .. } = &mut last.act else { return None };
    if flying {
        *then = Then::Flies;
        last.changes.clear();
    }
    let mut tail: Vec<Step> = Vec::new();
    // The approvals right before the call belong to it.
    let call = out.steps.last()?.clone();
    let approvals = out.steps.iter().rev().skip(1);
    for step in approvals.take_while(|step| matches!(step.act, Act::Approve { .. })) {
        tail.insert(0, step.clone());
    }
    for round in 0..MOST {
        let mut what = call.act.clone();
        if let Act::Call { id, .. } = &mut what {
            *id = format!("again-{}", round + 1);
        }
        let fixed = |ask: &crate::reference::Ask| {
            call.world.iter().find(|(known, _)| known == ask).map(|(_, answer)| answer.clone())
        };
        let fires = |step: &Step| {
            let all: Vec<_> = step.said.reasons.iter().chain(&step.said.shadowed).cloned().collect();
            !all.is_empty()
        };
        // It may fire without the approvals, and then is shorter.
        let mut probe = session.clone();
        let before = probe.state().map(|(_, v)| v.clone()).collect::<Vec<_>>();
        let said = super::session::act(&mut probe, &what, &fixed)?;
        let changes = probe.changes_since(&before);
        let step = Step { world: call.world.clone(), act: what.clone(), said, changes };
        if fires(&step) && speaks(search, &session, &step, rule) {
            out.steps.push(step);
            return Some(out);
        }
        if step.said.decision == Some(Decision::Allow) {
            out.steps.push(step);
            session = probe;
            continue;
        }
        if step.said.decision != Some(Decision::Ask) && tail.is_empty() || round > MOST / 4 {
            return None;
        }
        for approval in &tail {
            perform(&mut session, approval)?;
            out.steps.push(approval.clone());
        }
        let before = session.state().map(|(_, v)| v.clone()).collect::<Vec<_>>();
        if let Act::Call { id, .. } = &mut what {
            id.push('a');
        }
        let said = super::session::act(&mut session, &what, &fixed)?;
        let changes = session.changes_since(&before);
        let step = Step { world: call.world.clone(), act: what, said, changes };
        let allowed = step.said.decision == Some(Decision::Allow);
        out.steps.push(step);
        if !allowed {
            return None;
        }
    }
    None
}

/// Whether a rule is among the reasons of a call, judged once more.
fn speaks(search: &Search, session: &Reference, step: &Step, rule: &Rule) -> bool {
    let Act::Call { tool, args, .. } = &step.act else { return false };
    let Some(at) = search.program.tools.iter().position(|t| t.wire_name == *tool) else {
        return false;
    };
    let Some(values) = values(search.program, session, at, args) else { return false };
    let fixed = |ask: &crate::reference::Ask| {
        step.world.iter().find(|(known, _)| known == ask).map(|(_, answer)| answer.clone())
    };
    let judged = session.consider(at, &values, &fixed);
    let mut reasons = judged.reasons.clone();
    reasons.extend(judged.shadowed.iter().cloned());
    !rules::fired(std::slice::from_ref(rule), &reasons, &judged.fired).is_empty()
}

fn values(
    program: &Program,
    session: &Reference,
    tool: ToolId,
    args: &guard_plan::json::Json,
) -> Option<Vec<guard_plan::value::Value>> {
    let params = program.tools[tool].params.iter();
    let value = |param: &crate::hir::Field| match args.get(&param.name) {
        Some(json) => session.from_json(&param.ty, json),
        None => Some(guard_plan::value::Value::None),
    };
    params.map(value).collect()
}

fn replayed<'p>(program: &'p Program, found: &Session, flying: bool) -> Option<Reference<'p>> {
    let mut session = Reference::open(program, START, WORKSPACE, found.data.as_ref()).ok()?;
    let count = found.steps.len();
    for (at, step) in found.steps.iter().enumerate() {
        let mut step = step.clone();
        if let (true, true, Act::Call { then, .. }) = (flying, at + 1 == count, &mut step.act) {
            *then = Then::Flies;
        }
        perform(&mut session, &step)?;
    }
    Some(session)
}

/// These, and then a first call of any tool, or of this one.
fn after(search: &Search, acts: Vec<Act>, rule: &Rule, only: Option<ToolId>) -> Option<Session> {
    let program = search.program;
    let mut session = Reference::open(program, START, WORKSPACE, None).ok()?;
    let mut steps = Vec::new();
    for what in acts {
        steps.push(step(&mut session, what, &Oracle::new(program, search.answers, true))?);
    }
    for tool in (0..program.tools.len()).filter(|tool| only.is_none_or(|only| only == *tool)) {
        let Some(args) = search.inputs.calls(tool, &session).into_iter().next() else { continue };
        let what = Act::Call {
            id: "call-1".into(),
            tool: program.tools[tool].wire_name.clone(),
            args: written(program, &session, tool, &args),
            then: Then::Succeeds(None),
        };
        let oracle = Oracle::new(program, search.answers, true);
        let Some(done) = step(&mut session.clone(), what, &oracle) else { continue };
        let spoken = done.said.feedback.contains(&rule.owner) && rule.kind == RuleKind::Feedback;
        if spoken || speaks(search, &session, &done, rule) {
            steps.push(done);
            return Some(Session { data: None, steps });
        }
    }
    None
}

fn feedback(search: &Search, rule: &Rule) -> Option<Session> {
    let provider = search.program.feedback.iter().find(|f| f.span == rule.span)?;
    if let Some(found) = after(search, Vec::new(), rule, None) {
        return Some(found);
    }
    let (calls, every) = rules::cadence(&provider.triggers);
    let waits = every.into_iter().map(|every| vec![Act::Wait(every)]);
    let late = every.zip(search.program.deadline).map(|(every, late)| Act::Wait((late - every).max(every)));
    let timed = waits.chain(late.map(|act| vec![act]));
    if let Some(found) = timed.into_iter().find_map(|acts| after(search, acts, rule, None)) {
        return Some(found);
    }
    for unit in search.program.units.iter().filter(|unit| unit.host_charged) {
        let usage = Act::Usage(unit.name.clone(), unit.budget.unwrap_or(0).saturating_sub(1));
        if let Some(found) = after(search, vec![usage], rule, None) {
            return Some(found);
        }
    }
    calls.and_then(|n| counted(search, rule, n as usize))
}

/// So many judged events, until a provider speaks that counts them: the same call, allowed or denied.
fn counted(search: &Search, rule: &Rule, n: usize) -> Option<Session> {
    let program = search.program;
    for tool in 0..program.tools.len() {
        for then in [Then::Succeeds(None), Then::Fails] {
            let mut session = Reference::open(program, START, WORKSPACE, None).ok()?;
            let Some(args) = search.inputs.calls(tool, &session).into_iter().next() else {
                continue;
            };
            let mut steps = Vec::new();
            for round in 0..n.min(MOST) {
                let what = Act::Call {
                    id: format!("call-{}", round + 1),
                    tool: program.tools[tool].wire_name.clone(),
                    args: written(program, &session, tool, &args),
                    then: then.clone(),
                };
                let oracle = Oracle::new(program, search.answers, true);
                steps.push(step(&mut session, what, &oracle)?);
                if steps.last().is_some_and(|s| s.said.feedback.contains(&rule.owner)) {
                    return Some(Session { data: None, steps });
                }
            }
        }
    }
    None
}

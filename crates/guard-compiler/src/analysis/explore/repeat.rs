//! Rules that fire by repetition: limits, budgets, the deadline, advice by number and time.
//!
//! The search does not count, so these are looked for from the shortest session that reaches a tool, by doing the same
//! again.

use super::inputs::{read, written};
use super::rules::{self, Rule, RuleKind};
use super::search::{Search, roles, step};
use super::session::{
    Act, ExploredEnding, ExploredSession, SessionStep, answered, call_id, perform, start_of,
};
use super::world::Oracle;
use crate::analysis::reference::{Ask, Judgement, ReferenceSession};
use crate::hir::{ClauseKind, Program, ToolId, VarId};
use guard_plan::json::Json;
use guard_plan::plan::LimitScope;
use guard_plan::value::Value;
use guard_plan::verdict::{Code, Decision};
use std::collections::BTreeSet;

/// Most calls of one session that only repeats.
const MOST: usize = 700;
/// The same, to move a variable.
const MOST_MOVES: usize = 100;
/// Most arguments with which a variable is moved.
const MOST_VARIED: usize = 12;
/// Most of them that need an approval each.
const MOST_APPROVED: usize = 60;
/// Most steps for all rules together.
const MOST_STEPS: u64 = 50_000_000;

/// Looks for what the search has not found.
pub(crate) fn complete(search: &mut Search) {
    let until = search.fresh.steps().saturating_add(MOST_STEPS);
    for rule in 0..search.rules.len() {
        if search.fresh.steps() > until || search.stopped_early() {
            return;
        }
        if search.found.rules[rule].is_some() {
            continue;
        }
        let target = search.rules[rule].clone();
        let found = match target.kind {
            RuleKind::Limit => limit(search, &target),
            RuleKind::Budget => budget(search, &target),
            RuleKind::Deadline => {
                let wait = search.program.deadline.map(Act::Wait);
                wait.and_then(|wait| after(search, vec![wait], &target, None))
            }
            RuleKind::Feedback => feedback(search, &target),
            RuleKind::Invariant | RuleKind::Monitor => moving(search, &target),
            _ => None,
        };
        search.found.rules[rule] = found;
    }
}

fn limit(search: &Search, rule: &Rule) -> Option<ExploredSession> {
    let program = search.program;
    for tool in rules::holders(program, rule) {
        let clauses = program.tools[tool].clauses.iter().filter(|c| c.rule.span == rule.span);
        let scopes = clauses.filter_map(|clause| match &clause.kind {
            ClauseKind::Limit { limit, .. } => Some(program.limits[*limit].scope),
            _ => None,
        });
        let flying = scopes.into_iter().any(|scope| scope == LimitScope::InFlight);
        let Some(session) = &search.found.tools[tool] else { continue };
        if let Some(found) = pump(search, session, rule, flying, MOST) {
            return Some(found);
        }
    }
    None
}

fn budget(search: &Search, rule: &Rule) -> Option<ExploredSession> {
    let unit = search.program.units.iter().position(|u| u.name == rule.owner)?;
    let spent = &search.program.units[unit];
    if spent.host_charged {
        let usage = Act::Usage(spent.name.clone(), spent.budget?);
        return after(search, vec![usage], rule, None);
    }
    let costs =
        |tool: &ToolId| {
            search.program.tools[*tool].clauses.iter().any(
                |clause| matches!(&clause.kind, ClauseKind::Costs { unit: u, .. } if *u == unit),
            ) || unit == 0
        };
    let mut tools: Vec<ToolId> = (0..search.program.tools.len()).filter(costs).collect();
    // What costs most comes to the end of the budget first.
    tools.sort_by_key(|tool| std::cmp::Reverse(charge(search, *tool, unit)));
    let mut sessions = tools.iter().filter_map(|tool| search.found.tools[*tool].as_ref());
    sessions.find_map(|session| {
        let mut pump = RepeatedCall::new(search, session, None)?;
        // The dearest arguments that are allowed.
        let calls = search.inputs.calls(pump.tool, &pump.session);
        let cost = |args: &Vec<Value>| {
            let mut pump = pump.clone();
            let before = pump.session.spent_of(unit);
            pump.goes(args).then(|| pump.call(args.clone()));
            pump.session.spent_of(unit) - before
        };
        let plain = pump.args.clone();
        let dearest = calls.into_iter().chain([plain]).rev().max_by_key(cost);
        pump.args = dearest?;
        pump.run(rule, MOST)
    })
}

/// Returns what the last call of a tool's session has charged of a unit, in units of 10⁻⁶.
fn charge(search: &Search, tool: ToolId, unit: usize) -> i64 {
    let Some(found) = &search.found.tools[tool] else { return 0 };
    let data = found.data.as_ref();
    let Ok(mut session) = search.fresh.open_another(found.start, data) else { return 0 };
    let mut before = 0;
    for step in &found.steps {
        before = session.spent_of(unit);
        perform(&mut session, step);
    }
    session.spent_of(unit) - before
}

/// An invariant: the calls that move its variables, again and again.
fn moving(search: &Search, rule: &Rule) -> Option<ExploredSession> {
    let invariant = search.program.invariants.iter().find(|i| i.rule.span == rule.span)?;
    let vars = invariant.condition.variables();
    let writes = |tool: &ToolId| writes(search.program, *tool, &vars);
    let tools = (0..search.program.tools.len()).filter(writes);
    let sessions = tools.filter_map(|tool| search.found.tools[tool].as_ref());
    let found = sessions.filter_map(|session| {
        let pump = RepeatedCall::new(search, session, None)?;
        let calls = search.inputs.calls(pump.tool, &pump.session);
        let other = calls.into_iter().filter(|args| pump.goes(args));
        let pumps = other.take(MOST_VARIED).map(|args| RepeatedCall { args, ..pump.clone() });
        pumps.filter_map(|pump| pump.run(rule, MOST_MOVES)).min_by_key(ExploredSession::len)
    });
    found.min_by_key(ExploredSession::len)
}

/// Returns true if an effect of a tool writes one of these variables.
pub(super) fn writes(program: &Program, tool: ToolId, vars: &BTreeSet<VarId>) -> bool {
    program.tools[tool].clauses.iter().any(|clause| {
        matches!(&clause.kind, ClauseKind::Effect { target, .. } if vars.contains(&target.var))
    })
}

/// The last call of a session again and again, until the rule fires. With `flying` none of them settles; else both
/// outcomes are tried.
fn pump(
    search: &Search,
    found: &ExploredSession,
    rule: &Rule,
    flying: bool,
    most: usize,
) -> Option<ExploredSession> {
    let ends: &[Option<ExploredEnding>] =
        if flying { &[Some(ExploredEnding::Flies)] } else { &[None, Some(ExploredEnding::Fails)] };
    let mut pumped = ends
        .iter()
        .filter_map(|end| RepeatedCall::new(search, found, end.clone())?.run(rule, most));
    pumped.next()
}

/// A session whose last call is made again and again.
#[derive(Clone)]
pub(super) struct RepeatedCall<'s, 'p> {
    pub search: &'s Search<'s, 'p>,
    pub session: ReferenceSession<'p>,
    pub out: ExploredSession,
    pub tool: ToolId,
    pub args: Vec<Value>,
    then: ExploredEnding,
    pub world: Vec<(Ask, Json)>,
    round: usize,
}

impl<'s, 'p> RepeatedCall<'s, 'p> {
    /// The session before its last call, which ends so from now on.
    pub fn new(
        search: &'s Search<'s, 'p>,
        found: &ExploredSession,
        end: Option<ExploredEnding>,
    ) -> Option<Self> {
        let program = search.program;
        let mut out = found.clone();
        let last = out.steps.pop()?;
        let Act::Call { tool, args, then, .. } = last.act else { return None };
        // A call uses up its approval, so each repetition asks for its own.
        while matches!(out.steps.last(), Some(SessionStep { act: Act::Approve { .. }, .. })) {
            out.steps.pop();
        }
        let data = found.data.as_ref();
        let mut session = search.fresh.open_another(found.start, data).ok()?;
        for step in &out.steps {
            perform(&mut session, step)?;
        }
        let tool = program.tool_on_wire(&tool)?;
        let args = read(program, &session, tool, &args)?;
        let then = end.unwrap_or(then);
        let world = last.world;
        Some(RepeatedCall { search, session, out, tool, args, then, world, round: 0 })
    }

    /// The same with other steps before; none where one of them cannot be done.
    pub fn replayed(&self, steps: &[SessionStep]) -> Option<Self> {
        let mut pump = self.clone();
        let out = &mut pump.out;
        out.steps.clear();
        pump.session = self.search.fresh.open_another(out.start, out.data.as_ref()).ok()?;
        for step in steps {
            pump.world.clone_from(&step.world);
            pump.act(step.act.clone())?;
        }
        pump.world.clone_from(&self.world);
        Some(pump)
    }

    /// Returns what [`RepeatedCall::return_to`] needs to undo the steps from here on.
    pub fn mark(&self) -> (ReferenceSession<'p>, usize) {
        (self.session.clone(), self.out.steps.len())
    }

    /// Undoes the steps since a mark.
    pub fn return_to(&mut self, (session, steps): (ReferenceSession<'p>, usize)) {
        self.session = session;
        self.out.steps.truncate(steps);
    }

    pub fn answer(&self, ask: &Ask) -> Option<Json> {
        answered(&self.world, ask)
    }

    fn run(mut self, rule: &Rule, most: usize) -> Option<ExploredSession> {
        while self.round < most {
            let judged = self.session.consider(self.tool, &self.args, &|ask| self.answer(ask));
            let fires =
                rules::fires(rule, &judged.all_reasons(), |place| judged.fired.contains(&place));
            let only = |wanted: &[Code]| judged.reasons.iter().all(|r| wanted.contains(&r.0));
            match judged.decision {
                _ if fires => {
                    self.call(self.args.clone())?;
                    return Some(self.out);
                }
                Decision::Allow => self.call(self.args.clone())?,
                _ if only(&[Code::Approval, Code::Gated]) => self.approved(&judged)?,
                _ if only(&[Code::Limit]) => self.around()?,
                _ => self.other()?,
            }
            self.round += 1;
        }
        None
    }

    pub fn act(&mut self, what: Act) -> Option<()> {
        let before = self.session.committed();
        let said =
            super::session::act(&mut self.session, &what, &|ask| answered(&self.world, ask))?;
        // A state that has grown large would be copied at every further step.
        if self.session.is_heavy() {
            return None;
        }
        let changes = self.session.changes_since(&before);
        self.out.steps.push(SessionStep { world: self.world.clone(), act: what, said, changes });
        Some(())
    }

    pub fn proposal(&self, tool: ToolId, args: &[Value]) -> Act {
        Act::Call {
            id: format!("again-{}", self.out.steps.len() + 1),
            tool: self.search.program.tools[tool].wire_name.clone(),
            args: written(self.search.program, &self.session, tool, args),
            then: self.then.clone(),
        }
    }

    pub fn call(&mut self, args: Vec<Value>) -> Option<()> {
        let what = self.proposal(self.tool, &args);
        self.act(what)
    }

    fn approved(&mut self, judged: &Judgement) -> Option<()> {
        if self.round > MOST_APPROVED {
            return None;
        }
        for role in roles(judged) {
            let Act::Call { tool, args, .. } = self.proposal(self.tool, &self.args) else {
                return None;
            };
            self.act(Act::Approve { tool, args, role })?;
        }
        self.call(self.args.clone())
    }

    /// Returns true if a call with these arguments is allowed.
    fn goes(&self, args: &[Value]) -> bool {
        let judged = self.session.consider(self.tool, args, &|ask| self.answer(ask));
        judged.decision == Decision::Allow
    }

    /// Another limit is in the way: other arguments, or a while later.
    fn around(&mut self) -> Option<()> {
        let varied = (0..self.args.len()).map(|at| varied(&self.args, at, self.round));
        if let Some(args) = varied.into_iter().find(|args| self.goes(args)) {
            return self.call(args);
        }
        let waits = self.search.inputs.waits(self.search.questions, &self.session);
        for wait in waits {
            let mut later = self.session.clone();
            later.wait_until(later.clock_at().0 + wait);
            let judged = later.consider(self.tool, &self.args, &|ask| self.answer(ask));
            if judged.decision == Decision::Allow {
                return self.act(Act::Wait(wait));
            }
        }
        None
    }

    /// The same call cannot be made again: another one of the tool.
    fn other(&mut self) -> Option<()> {
        let calls = self.search.inputs.calls(self.tool, &self.session);
        let args = calls.into_iter().find(|args| self.goes(args))?;
        self.call(args)
    }
}

/// The arguments with another value at a place, where one is easily made.
pub(super) fn varied(args: &[Value], at: usize, round: usize) -> Vec<Value> {
    let mut args = args.to_vec();
    args[at] = match &args[at] {
        Value::String(text) => Value::String(format!("{text}{round}").into()),
        Value::Path(path) => Value::Path(format!("{path}{round}").into()),
        Value::Url(url) => match guard_plan::url::Url::parse(&format!("{}{round}", url.text)) {
            Ok(url) => Value::Url(Box::new(url)),
            Err(_) => args[at].clone(),
        },
        other => other.clone(),
    };
    args
}

/// Judges a call once more, and returns true if a rule is among the reasons.
fn speaks(search: &Search, session: &ReferenceSession, step: &SessionStep, rule: &Rule) -> bool {
    let Act::Call { tool, args, .. } = &step.act else { return false };
    let Some(at) = search.program.tool_on_wire(tool) else { return false };
    let Some(values) = read(search.program, session, at, args) else { return false };
    let judged = session.consider(at, &values, &|ask| answered(&step.world, ask));
    rules::fires(rule, &judged.all_reasons(), |place| judged.fired.contains(&place))
}

/// These, and then a first call of any tool, or of this one.
fn after(
    search: &Search,
    acts: Vec<Act>,
    rule: &Rule,
    only: Option<ToolId>,
) -> Option<ExploredSession> {
    let program = search.program;
    let start = start_of([program]);
    let mut session = search.fresh.open_another(start, None).ok()?;
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
            then: ExploredEnding::Succeeds(None),
        };
        let oracle = Oracle::new(program, search.answers, true);
        let Some(done) = step(&mut session.clone(), what, &oracle) else { continue };
        let spoken = done.said.feedback.contains(&rule.owner) && rule.kind == RuleKind::Feedback;
        if spoken || speaks(search, &session, &done, rule) {
            steps.push(done);
            return Some(ExploredSession { start, data: None, steps });
        }
    }
    None
}

fn feedback(search: &Search, rule: &Rule) -> Option<ExploredSession> {
    let provider = search.program.feedback.iter().find(|f| f.span == rule.span)?;
    if let Some(found) = after(search, Vec::new(), rule, None) {
        return Some(found);
    }
    let (calls, every) = rules::cadence(&provider.triggers);
    for wait in waits(search.program, provider, every) {
        if let Some(found) = after(search, vec![Act::Wait(wait)], rule, None) {
            return Some(found);
        }
    }
    for unit in search.program.units.iter().filter(|unit| unit.host_charged) {
        let usage = Act::Usage(unit.name.clone(), unit.budget.unwrap_or(0).saturating_sub(1));
        if let Some(found) = after(search, vec![usage], rule, None) {
            return Some(found);
        }
    }
    calls.and_then(|n| counted(search, rule, n as usize))
}

/// Returns the times to wait for a provider, in milliseconds: its cadence, and the durations that its conditions name.
fn waits(program: &Program, provider: &crate::hir::Feedback, every: Option<i64>) -> Vec<i64> {
    let mut named: Vec<i64> = every.into_iter().collect();
    let conditions = provider.blocks.iter().filter_map(|block| block.when.as_ref());
    let edges = provider.triggers.iter().filter_map(|trigger| match trigger {
        crate::hir::Trigger::Becomes(e) => Some(e),
        _ => None,
    });
    for e in conditions.chain(edges) {
        e.walk(&mut |part| {
            if let crate::hir::ExprKind::Duration(span) = part.kind {
                named.extend([span, span + 1]);
                named.extend(program.deadline.map(|late| late - span + 1));
            }
        });
    }
    named.retain(|wait| *wait > 0 && program.deadline.is_none_or(|late| *wait < late));
    named.sort_unstable();
    named.dedup();
    named
}

/// So many judged events, until a provider speaks that counts them: the same call, allowed or denied.
fn counted(search: &Search, rule: &Rule, n: usize) -> Option<ExploredSession> {
    let program = search.program;
    let start = start_of([program]);
    for tool in 0..program.tools.len() {
        for then in [ExploredEnding::Succeeds(None), ExploredEnding::Fails] {
            let mut session = search.fresh.open_another(start, None).ok()?;
            let Some(args) = search.inputs.calls(tool, &session).into_iter().next() else {
                continue;
            };
            let mut steps = Vec::new();
            for round in 0..n.min(MOST) {
                let what = Act::Call {
                    id: call_id(round),
                    tool: program.tools[tool].wire_name.clone(),
                    args: written(program, &session, tool, &args),
                    then: then.clone(),
                };
                let oracle = Oracle::new(program, search.answers, true);
                steps.push(step(&mut session, what, &oracle)?);
                if steps.last().is_some_and(|s| s.said.feedback.contains(&rule.owner)) {
                    return Some(ExploredSession { start, data: None, steps });
                }
            }
        }
    }
    None
}

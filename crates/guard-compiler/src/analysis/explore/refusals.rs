//! Sessions in which the effects of one tool are refused: they would leave the type of a variable, or break an
//! invariant.
//!
//! A capacity is reached by doing the same again, each time with another value: the search, which does not count, does
//! not get there.

use super::ExplorationLimits;
use super::inputs::{read, written};
use super::repeat::{RepeatedCall, varied, writes};
use super::rules::RuleKind;
use super::search::{Search, roles};
use super::session::{Act, ExploredEnding, ExploredSession, SessionStep};
use crate::analysis::reference::{Judgement, Outline};
use crate::hir::{Program, ToolId, VarId};
use guard_plan::decimal;
use guard_plan::value::Value;
use guard_plan::verdict::{Code, Decision};
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

/// Calls that fill a variable: first few, of everything that can be repeated.
const FEW: usize = 120;
/// The same with other arguments than those that fill it.
const FEWER: usize = 30;
/// The same of what has not stopped changing it by then.
const MANY: usize = 1_100;
/// Rounds in a row that leave the variable as it is, after which others will, too.
const MOST_IDLE: usize = 20;
/// Most fillings that go on to the end.
const MOST_GROWING: usize = 8;
/// The rounds in which all arguments of the tool are tried; after them only its plainest.
const WIDE_ROUNDS: usize = 8;
/// Most arguments that are tried as what is repeated.
const MOST_VARIED: usize = 12;
/// Most calls that are judged from one beginning.
const MOST_JUDGED: usize = 6_000;
/// Calls judged for one check after which no other beginning is tried.
const MOST_IN_ALL: usize = 60_000;

/// Most steps for all checks together, for each call that the search may judge: the number of checks must not decide how
/// long it takes. They are 96 million usually.
const STEPS_OF_CALL: u64 = 16_000;
/// The part of the steps that are left which one check may use.
const A_SHARE: usize = 3;

/// A check that the effects of a tool owe: a variable stays in its type, or an invariant holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectCheck {
    /// The tool.
    pub tool: String,
    /// The variable or the invariant.
    pub owner: String,
}

/// Looks for a session of each check: of all with few steps, since what one of them finds may serve the others, then of
/// those that are left with many.
pub(crate) fn find_all(
    search: &Search,
    limits: &ExplorationLimits,
) -> Vec<(EffectCheck, Option<ExploredSession>)> {
    let checks = &limits.effects;
    let most = (limits.calls as u64).saturating_mul(STEPS_OF_CALL);
    let until = search.fresh.steps().saturating_add(most);
    let mut found: Vec<Option<ExploredSession>> = vec![None; checks.len()];
    for all in [true, false] {
        let mut left = found.iter().filter(|session| session.is_none()).count();
        for (at, check) in checks.iter().enumerate() {
            if found[at].is_some() || search.stopped_early() {
                continue;
            }
            let steps = until.saturating_sub(search.fresh.steps());
            // The first round keeps half of the steps for the second.
            let share =
                if all { steps / 2 / left as u64 } else { steps / left.min(A_SHARE) as u64 };
            left -= usize::from(!all);
            let filled = checks.iter().zip(&found).filter(|(known, _)| known.owner == check.owner);
            let filled = filled.filter_map(|(_, session)| session.as_ref()).next().cloned();
            let session = find(search, check, filled.as_ref(), share);
            found[at] = session.filter(|session| session.replays_like(search.fresh));
        }
    }
    checks.iter().cloned().zip(found).collect()
}

/// Looks for a session whose last call is one of this tool, and is refused by this check alone. `None` if none is
/// found, which proves nothing. `filled` is such a session of another tool; no more is tried after `share` steps.
fn find(
    search: &Search,
    check: &EffectCheck,
    filled: Option<&ExploredSession>,
    share: u64,
) -> Option<ExploredSession> {
    let program = search.program;
    let tool = program.tools.iter().position(|t| t.name == check.tool)?;
    let known = known(search, &check.owner);
    let wire = &program.tools[tool].wire_name;
    let is_own = |step: &SessionStep| matches!(&step.act, Act::Call { tool, .. } if tool == wire);
    if let Some(known) = known.filter(|session| session.steps.last().is_some_and(is_own)) {
        return Some(known.clone());
    }
    let start = RepeatedCall::new(search, search.found.tools[tool].as_ref()?, None)?;
    // Where the calls of another tool are refused, those of this one may be, too.
    let near = |session: Option<&ExploredSession>| -> Vec<RepeatedCall> {
        session
            .into_iter()
            .flat_map(|known| [&known.steps[..], &known.steps[..known.len().saturating_sub(1)]])
            .filter_map(|steps| start.replayed(steps))
            .collect()
    };
    let vars = variables(program, &check.owner);
    let owner = &check.owner;
    let pump = start.clone();
    let begun = search.fresh.steps();
    // Where another tool took long, this one does, too.
    let is_long = filled.is_some_and(|session| session.len() > FEW);
    let until = begun + share / if is_long { 10 } else { 3 };
    let mut filling = Filling { pump, tool, owner, vars, judged: 0, most: 0, until };
    let mut growing = Vec::new();
    let few = filling.all(&start, &near(known), &mut growing);
    if few.is_some() || filling.judged > MOST_IN_ALL {
        return few;
    }
    (filling.most, filling.until) = (usize::MAX, begun + share);
    for start in near(filled) {
        let args = start.args.clone();
        filling.pump = start;
        if let Some(FillEnd::Refused(session)) = filling.run(tool, &args, 0..1) {
            return Some(session);
        }
    }
    growing.truncate(MOST_GROWING);
    for (pump, writer, args) in growing {
        filling.pump = pump;
        if let Some(FillEnd::Refused(session)) = filling.run(writer, &args, FEW..MANY) {
            return Some(session);
        }
    }
    None
}

/// The same beginning with another result of one of its calls.
fn other_results<'s, 'p>(
    search: &'s Search<'s, 'p>,
    start: &RepeatedCall<'s, 'p>,
) -> Vec<RepeatedCall<'s, 'p>> {
    let program = search.program;
    let mut all = Vec::new();
    for (at, step) in start.out.steps.iter().enumerate() {
        let Act::Call { id, tool, args, then: ExploredEnding::Succeeds(Some(known)) } = &step.act
        else {
            continue;
        };
        let Some(called) = program.tool_on_wire(tool) else { continue };
        let others = search.inputs.results(called, &start.session).into_iter().flatten();
        for result in others.filter(|result| result != known).take(MOST_VARIED) {
            let then = ExploredEnding::Succeeds(Some(result));
            let call = Act::Call { id: id.clone(), tool: tool.clone(), args: args.clone(), then };
            let mut steps = start.out.steps.clone();
            steps[at].act = call;
            all.extend(start.replayed(&steps));
        }
    }
    all
}

/// The session that the search has found for an invariant.
fn known<'a>(search: &'a Search, owner: &str) -> Option<&'a ExploredSession> {
    let at = search.rules.iter().position(|rule| {
        matches!(rule.kind, RuleKind::Invariant | RuleKind::Monitor) && rule.owner == owner
    })?;
    search.found.rules[at].as_ref()
}

/// The variables of a check: the one it is named after, or those that the invariant reads.
fn variables(program: &Program, owner: &str) -> BTreeSet<VarId> {
    let named = program.state.iter().position(|var| var.name == owner);
    let mut vars: BTreeSet<VarId> = named.into_iter().collect();
    for invariant in program.invariants.iter().filter(|invariant| invariant.rule.owner == owner) {
        vars.extend(invariant.condition.variables());
    }
    vars
}

/// A session that grows until the check refuses.
struct Filling<'a, 's, 'p> {
    pump: RepeatedCall<'s, 'p>,
    tool: ToolId,
    owner: &'a str,
    /// What the check reads.
    vars: BTreeSet<VarId>,
    judged: usize,
    /// The number of judged calls at which the search gives up.
    most: usize,
    /// The number of steps at which it does.
    until: u64,
}

/// The end of a filling.
enum FillEnd {
    /// The check has refused a call.
    Refused(ExploredSession),
    /// It may go on.
    Growing,
}

/// A filling that may go on: the session, the tool that fills and its arguments.
type Growing<'s, 'p> = (RepeatedCall<'s, 'p>, ToolId, Vec<Value>);

impl<'s, 'p> Filling<'_, 's, 'p> {
    /// Repeats a few calls of each tool that writes what the check reads, from each beginning, until one of the tool is
    /// refused. What may go on is kept, the first of each beginning.
    fn all(
        &mut self,
        start: &RepeatedCall<'s, 'p>,
        near: &[RepeatedCall<'s, 'p>],
        growing: &mut Vec<Growing<'s, 'p>>,
    ) -> Option<ExploredSession> {
        let search = start.search;
        let program = search.program;
        let tool = self.tool;
        let writes = |at: &ToolId| *at != tool && writes(program, *at, &self.vars);
        let mut writers: Vec<ToolId> = (0..program.tools.len()).filter(writes).collect();
        writers.insert(0, tool);
        let mut found: Option<ExploredSession> = None;
        for writer in writers {
            let last = search.found.tools[writer].as_ref();
            let last = last.and_then(|session| RepeatedCall::new(search, session, None));
            let mut repeated: Vec<Vec<Value>> = search.inputs.calls(writer, &start.session);
            repeated.truncate(MOST_VARIED);
            repeated.splice(0..0, last.iter().map(|last| last.args.clone()));
            let mut first = start.clone();
            first.world.extend(last.iter().flat_map(|last| last.world.clone()));
            // The tool may be allowed where the writer is, or the writer where the tool is.
            let other = last.filter(|_| writer != tool).map(|mut pump| {
                (pump.tool, pump.args) = (tool, start.args.clone());
                pump.world = first.world.clone();
                pump
            });
            let others = other_results(search, &first);
            let starts = [Some(first), other].into_iter().flatten();
            for start in starts.chain(near.iter().cloned()).chain(others) {
                self.most = self.judged + MOST_JUDGED;
                let mut grows = false;
                for args in &repeated {
                    self.pump = start.clone();
                    let rounds = if grows { FEWER } else { FEW };
                    match self.run(writer, args, 0..rounds) {
                        Some(FillEnd::Refused(session)) => {
                            let len = found.as_ref().map_or(usize::MAX, ExploredSession::len);
                            found = Some(session).filter(|shorter| shorter.len() < len).or(found);
                        }
                        Some(FillEnd::Growing) if !grows => {
                            growing.push((self.pump.clone(), writer, args.clone()));
                            grows = true;
                        }
                        _ => {}
                    }
                }
                if found.is_some() || self.judged > MOST_IN_ALL || self.is_spent() {
                    break;
                }
            }
        }
        found
    }

    /// Returns true if no more is tried.
    fn is_spent(&self) -> bool {
        let search = self.pump.search;
        search.fresh.steps() > self.until || search.stopped_early()
    }

    /// The values of what the check reads.
    fn values(&self) -> Vec<Rc<Value>> {
        let state = self.pump.session.committed();
        self.vars.iter().map(|var| state[*var].clone()).collect()
    }

    /// Repeats a call of `writer`, in these rounds, until one of the tool is refused. None where it cannot go on.
    fn run(&mut self, writer: ToolId, args: &[Value], rounds: Range<usize>) -> Option<FillEnd> {
        let own = self.pump.args.clone();
        let mut values = self.values();
        let mut idle = 0;
        for round in rounds {
            if self.judged > self.most || self.is_spent() || idle > MOST_IDLE {
                return None;
            }
            let mut tried = self.anew(self.tool, &own, round);
            if round < WIDE_ROUNDS {
                tried.extend(self.pump.search.inputs.calls(self.tool, &self.pump.session));
            }
            if let Some(args) = tried.into_iter().find(|args| self.is_refused(args)) {
                return self.ended(args).map(FillEnd::Refused);
            }
            let tried = self.anew(writer, args, round);
            match tried.into_iter().find_map(|args| self.next(writer, args))? {
                FillAttempt::Refused(args) => return self.ended(args).map(FillEnd::Refused),
                FillAttempt::Allowed(args) => self.call(writer, args)?,
            }
            let after = self.values();
            idle = if after == values { idle + 1 } else { 0 };
            values = after;
        }
        Some(FillEnd::Growing)
    }

    /// The arguments with texts that no earlier round had, and as they are.
    fn anew(&self, tool: ToolId, args: &[Value], round: usize) -> Vec<Vec<Value>> {
        let longer = (0..args.len()).fold(args.to_vec(), |args, at| varied(&args, at, round));
        let only = args.iter().map(|value| match value {
            Value::String(_) => Value::String(round.to_string().into()),
            other => other.clone(),
        });
        let mut all = vec![longer, only.collect(), args.to_vec()];
        all.dedup();
        let program = self.pump.search.program;
        let session = &self.pump.session;
        let fits = |args: &Vec<Value>| {
            read(program, session, tool, &written(program, session, tool, args)).is_some()
        };
        all.retain(fits);
        all
    }

    /// The outcome of a call of `writer` with these arguments, after a person has done what it lacks: named the
    /// texts, ended a halt, approved. None where other rules refuse it.
    fn next(&mut self, writer: ToolId, args: Vec<Value>) -> Option<FillAttempt> {
        // Kept only where somebody helps: a copy of a long session at each of its calls would be most of the work.
        let mut before = None;
        for help in [Help::None, Help::Resume, Help::Prompt] {
            if !matches!(help, Help::None) {
                before.get_or_insert_with(|| self.pump.mark());
            }
            self.help(help, &args)?;
            if writer == self.tool && self.is_refused(&args) {
                return Some(FillAttempt::Refused(args));
            }
            self.judged += 1;
            let judged = self.judge(writer, &args);
            if judged.decision == Decision::Allow {
                return Some(FillAttempt::Allowed(args));
            }
            if judged.reasons.iter().all(is_asked) {
                before.get_or_insert_with(|| self.pump.mark());
                for role in roles(&judged) {
                    let Act::Call { tool, args, .. } = self.pump.proposal(writer, &args) else {
                        continue;
                    };
                    self.pump.act(Act::Approve { tool, args, role })?;
                }
                if self.judge(writer, &args).decision == Decision::Allow {
                    return Some(FillAttempt::Allowed(args));
                }
            }
        }
        if let Some(mark) = before {
            self.pump.return_to(mark);
        }
        None
    }

    fn help(&mut self, help: Help, args: &[Value]) -> Option<()> {
        let text = |value: &Value| match value {
            Value::String(text) | Value::Path(text) => Some(text.to_string()),
            Value::Int(number) => Some(number.to_string()),
            Value::Decimal(units) => Some(decimal::format(*units)),
            _ => None,
        };
        match help {
            Help::None => Some(()),
            // Nothing is halted: nothing is done.
            Help::Resume => self.pump.act(Act::Resume).or(Some(())),
            Help::Prompt => {
                let texts: Vec<String> = args.iter().filter_map(text).collect();
                self.pump.act(Act::Prompt(texts.join("; ")))
            }
        }
    }

    fn call(&mut self, tool: ToolId, args: Vec<Value>) -> Option<()> {
        let act = self.pump.proposal(tool, &args);
        self.pump.act(act)
    }

    fn judge(&self, tool: ToolId, args: &[Value]) -> Judgement {
        self.pump.session.consider(tool, args, &|ask| self.pump.answer(ask))
    }

    /// Returns true if a call of the tool is refused by the check, whatever a person approves.
    fn is_refused(&mut self, args: &[Value]) -> bool {
        self.judged += 1;
        let judged = self.judge(self.tool, args);
        let is_it = |reason: &Outline| reason.0 == Code::Invariant && reason.1 == self.owner;
        judged.reasons.iter().all(|reason| is_it(reason) || is_asked(reason))
            && judged.reasons.iter().chain(&judged.shadowed).any(is_it)
    }

    fn ended(&mut self, args: Vec<Value>) -> Option<ExploredSession> {
        self.call(self.tool, args)?;
        Some(self.pump.out.clone())
    }
}

/// Returns true if a person can take the reason away.
fn is_asked(reason: &Outline) -> bool {
    matches!(reason.0, Code::Approval | Code::Gated)
}

/// The next call that fills a variable.
enum FillAttempt {
    /// The check refuses it.
    Refused(Vec<Value>),
    /// It is allowed.
    Allowed(Vec<Value>),
}

/// Something a person does before a call.
enum Help {
    None,
    Resume,
    Prompt,
}

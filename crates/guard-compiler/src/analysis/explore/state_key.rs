//! State keys: the part of a session that may influence what comes later. The core must be equal. Of the resources,
//! less spent is never worse.
//!
//! Two sessions with the same core behave alike but for budgets, limits and the deadline. Where one has spent no
//! more of any of these than the other, whatever the other may do it may do as well.

use super::rules::each_condition;
use super::slice::{Slice, reads_state};
use crate::analysis::reference::ReferenceSession;
use crate::hir::{
    Clause, ClauseKind, Expr, ExprKind as K, FactId, Program, Requirement, Tool, ToolId,
};
use guard_plan::key;
use guard_plan::plan::{CompareOp, LimitScope, Undecoded, WindowSize};
use guard_plan::value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A question to the history.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum SessionQuestion {
    Called {
        tool: ToolId,
        params: Vec<u32>,
        since: Option<ToolId>,
        within: Option<i64>,
        latest: bool,
    },
    Failed {
        tool: ToolId,
        since: Option<ToolId>,
        within: Option<i64>,
    },
    Calls {
        tool: ToolId,
        failures: bool,
        recent: Option<WindowSize>,
    },
    Arg(ToolId, u32),
    Result(ToolId),
}

impl SessionQuestion {
    fn tool(&self) -> ToolId {
        match self {
            SessionQuestion::Called { tool, .. }
            | SessionQuestion::Failed { tool, .. }
            | SessionQuestion::Calls { tool, .. }
            | SessionQuestion::Arg(tool, _)
            | SessionQuestion::Result(tool) => *tool,
        }
    }
}

/// Everything that a guard asks of a session.
pub(crate) struct Questions<'p> {
    program: &'p Program,
    asked: BTreeSet<SessionQuestion>,
    /// Most calls that are told apart, where counts are compared with constants alone.
    caps: BTreeMap<(ToolId, bool, Option<WindowSize>), Option<i64>>,
    temporal: Vec<&'p Expr>,
    spent: BTreeSet<usize>,
    /// Limits with a key that reads the state: which key a call counts for tells sessions apart.
    keyed_by_state: BTreeSet<usize>,
    facts: BTreeSet<FactId>,
    /// Something asks what time it is.
    pub time: bool,
    /// Something asks whether a call failed.
    pub failures: BTreeSet<ToolId>,
    /// The tools of which a result that nobody can read changes the state.
    pub clears: BTreeSet<ToolId>,
    /// The other tools that somebody asks after: with such a result their effects are written, and they have not succeeded.
    pub unread: BTreeSet<ToolId>,
}

/// The amounts spent, by resource.
pub(crate) type Resources = BTreeMap<Vec<u8>, i64>;

impl<'p> Questions<'p> {
    /// Returns the questions that a guard's rules ask.
    pub fn new(program: &'p Program) -> Self {
        let mut questions = Questions {
            program,
            asked: BTreeSet::new(),
            caps: BTreeMap::new(),
            temporal: Vec::new(),
            spent: BTreeSet::new(),
            keyed_by_state: BTreeSet::new(),
            facts: BTreeSet::new(),
            time: false,
            failures: BTreeSet::new(),
            clears: BTreeSet::new(),
            unread: BTreeSet::new(),
        };
        for tool in &program.tools {
            for clause in &tool.clauses {
                if let ClauseKind::Limit { limit, by: Some(by) } = &clause.kind
                    && reads_state(by)
                {
                    questions.keyed_by_state.insert(*limit);
                }
                let ClauseKind::Requires { any_of, .. } = &clause.kind else {
                    continue;
                };
                for r in any_of {
                    let params = r.key.iter().map(|(p, _)| *p).collect();
                    let Requirement { tool, since, within, latest, .. } = *r;
                    questions.asked.insert(SessionQuestion::Called {
                        tool,
                        params,
                        since,
                        within,
                        latest,
                    });
                    if latest {
                        questions.failures.insert(tool);
                    }
                }
            }
        }
        each_condition(program, &mut |root| questions.read(root));
        questions.failures.extend(questions.spenders());
        let observes = |clause: &Clause| matches!(clause.kind, ClauseKind::Observe { .. });
        for (id, tool) in program.tools.iter().enumerate().filter(|(_, tool)| !tool.is_served()) {
            if tool.undecoded != Undecoded::Keep && tool.clauses.iter().any(observes) {
                questions.clears.insert(id);
            } else if questions.is_asked_after(id) {
                questions.unread.insert(id);
            }
        }
        questions
    }

    /// Returns true if a result that nobody can read makes a difference to what follows.
    pub fn of_unreadable(&self, tool: ToolId) -> bool {
        self.clears.contains(&tool) || self.unread.contains(&tool)
    }

    /// Returns true if something asks whether calls of a tool have succeeded.
    fn is_asked_after(&self, id: ToolId) -> bool {
        let asked = self.asked.iter().any(|asked| match asked {
            SessionQuestion::Called { tool, since, .. }
            | SessionQuestion::Failed { tool, since, .. } => *tool == id || *since == Some(id),
            SessionQuestion::Calls { tool, .. }
            | SessionQuestion::Arg(tool, _)
            | SessionQuestion::Result(tool) => *tool == id,
        });
        let counts = |clause: &Clause| match &clause.kind {
            ClauseKind::Limit { limit, .. } => self.program.limits[*limit].success,
            _ => false,
        };
        asked || self.program.tools[id].clauses.iter().any(counts)
    }

    /// The tools that spend what somebody asks after: a call that fails has spent it too.
    fn spenders(&self) -> Vec<ToolId> {
        let spends = |tool: &Tool| {
            let units = tool.clauses.iter().filter_map(|clause| match &clause.kind {
                ClauseKind::Costs { unit, .. } => Some(*unit),
                _ => None,
            });
            units.chain([0]).any(|unit| self.spent.contains(&unit))
        };
        let tools = self.program.tools.iter().enumerate();
        tools.filter(|(_, tool)| spends(tool)).map(|(id, _)| id).collect()
    }

    fn read(&mut self, root: &'p Expr) {
        let mut counted = Vec::new();
        let mut compared = Vec::new();
        root.walk(&mut |e| match &e.kind {
            K::Called { tool, key, since, within } => {
                // A call that fails ends what was so since the one before, as one that succeeds does.
                self.failures.extend(since);
                let params = key.iter().map(|(p, _)| *p).collect();
                let since = *since;
                let within = *within;
                let tool = *tool;
                let latest = false;
                self.asked.insert(SessionQuestion::Called { tool, params, since, within, latest });
            }
            K::Failed { tool, since, within } => {
                self.failures.insert(*tool);
                let since = *since;
                let within = *within;
                self.asked.insert(SessionQuestion::Failed { tool: *tool, since, within });
            }
            K::Calls { tool, failures, recent } => {
                if *failures {
                    self.failures.insert(*tool);
                }
                counted.push((*tool, *failures, *recent));
            }
            K::Compare(op, a, b) if *op != CompareOp::Ne => {
                for (a, b) in [(a, b), (b, a)] {
                    if let (K::Calls { tool, failures, recent }, K::Int(most)) = (&a.kind, &b.kind)
                    {
                        compared.push(((*tool, *failures, *recent), *most));
                    }
                }
            }
            K::LastArg(tool, at) => _ = self.asked.insert(SessionQuestion::Arg(*tool, *at)),
            K::LastResult(tool) => _ = self.asked.insert(SessionQuestion::Result(*tool)),
            K::Temporal(..) => self.temporal.push(e),
            K::Spent(unit) | K::Remaining(unit) => _ = self.spent.insert(*unit),
            K::Row(fact, _) | K::Known(fact, _) | K::Rows(fact) => _ = self.facts.insert(*fact),
            K::Now | K::Elapsed | K::Clock(_) | K::RemainingTime => self.time = true,
            _ => {}
        });
        for count in &counted {
            let (tool, failures, recent) = *count;
            self.asked.insert(SessionQuestion::Calls { tool, failures, recent });
            let bounded: Vec<i64> =
                compared.iter().filter(|(c, _)| c == count).map(|(_, most)| *most).collect();
            let all = bounded.len() == counted.iter().filter(|c| *c == count).count();
            // A count above every constant that it is compared with makes no difference any more.
            let most = all.then(|| bounded.into_iter().max().unwrap_or(0).saturating_add(1));
            let known = self.caps.entry(*count).or_insert(Some(0));
            *known = match (*known, most) {
                (Some(a), Some(b)) => Some(a.max(b)),
                _ => None,
            };
        }
    }

    /// Returns true if time may change a verdict in a way other than the deadline and the windows of limits.
    pub fn ages(&self) -> bool {
        self.time
            || self.program.probes.iter().any(|p| p.every.is_some() || p.backoff.is_some())
            || self.asked.iter().any(|asked| {
                matches!(
                    asked,
                    SessionQuestion::Called { within: Some(_), .. }
                        | SessionQuestion::Failed { within: Some(_), .. }
                        | SessionQuestion::Calls { recent: Some(WindowSize::Within(_)), .. }
                )
            })
    }

    /// The spans of time of which the guard speaks in its history.
    pub fn spans(&self) -> BTreeSet<i64> {
        let mut spans = BTreeSet::new();
        for asked in &self.asked {
            match asked {
                SessionQuestion::Called { within, .. } | SessionQuestion::Failed { within, .. } => {
                    spans.extend(*within);
                }
                SessionQuestion::Calls { recent: Some(WindowSize::Within(age)), .. } => {
                    spans.insert(*age);
                }
                _ => {}
            }
        }
        spans
    }

    /// Returns the core of a session: two sessions with equal cores behave alike, as far as a slice of the guard can
    /// tell.
    pub fn core(&self, session: &ReferenceSession, slice: &Slice) -> Vec<u8> {
        let mut out = vec![u8::from(session.halted()), session.flying() as u8];
        let (now, start) = session.clock_at();
        for var in slice.vars.iter().copied() {
            key::write(session.var(var), &mut out);
        }
        if self.time {
            put(now, &mut out);
            put(start, &mut out);
        }
        for asked in self.asked.iter().filter(|asked| slice.tools.contains(&asked.tool())) {
            out.push(0xFE);
            self.history(asked, session, &mut out);
        }
        for e in &self.temporal {
            out.push(match session.closed(e, &|_| None) {
                Ok(Value::Bool(true)) => 1,
                Ok(_) => 0,
                Err(_) => 2,
            });
        }
        for unit in &self.spent {
            put(session.spent_of(*unit), &mut out);
        }
        for (limit, by, ..) in session.counted() {
            if let (true, Some(by)) = (self.keyed_by_state.contains(&limit), by) {
                put(limit as i64, &mut out);
                key::write(by, &mut out);
            }
        }
        for fact in self.facts.intersection(&slice.facts) {
            self.rows(*fact, session, &mut out);
        }
        for at in 0..self.program.lifecycles.len() {
            let most = self.program.lifecycles[at].escalate.as_ref().map_or(0, |e| e.after.into());
            for (state, rejections) in session.item_states(at) {
                put(state as i64, &mut out);
                // Beyond the number that escalates, one more rejection makes no difference.
                put(rejections.min(most) as i64, &mut out);
            }
            out.push(0xFD);
        }
        if !self.program.lifecycles.is_empty() {
            out.push(u8::from(session.good_call().is_some()));
        }
        for (at, probe) in self.program.probes.iter().enumerate() {
            let remembers =
                probe.every.is_some() || probe.backoff.is_some() || probe.within.is_some();
            if let (true, Some((time, said, count, begun))) = (remembers, session.last_attempt(at))
            {
                // Ages, since two sessions that stand at different times may behave alike.
                put(now - time, &mut out);
                put(count as i64, &mut out);
                put(begun.map_or(-1, |begun| now - begun), &mut out);
                out.extend(said.as_bytes());
            }
        }
        out.extend(session.said().as_bytes());
        session.private_texts().mark(&mut out);
        if session.asks_origins() {
            let mut seen: Vec<_> = session.seen_origins().iter().collect();
            seen.sort();
            for (text, origins) in seen.into_iter().map(|seen| &**seen) {
                key::write(&Value::String(text.as_str().into()), &mut out);
                out.push(origins.len() as u8);
                out.extend(origins.iter().map(|origin| *origin as u8));
            }
        }
        out
    }

    fn rows(&self, fact: FactId, session: &ReferenceSession, out: &mut Vec<u8>) {
        let mut rows: Vec<Vec<u8>> = Vec::new();
        for row in session.rows_of(fact) {
            let mut bytes = Vec::new();
            row.iter().for_each(|value| key::write(value, &mut bytes));
            rows.push(bytes);
        }
        // Which row goes first matters only once the table is full.
        if (rows.len() as u64) < self.program.facts[fact].max {
            rows.sort();
        }
        out.push(0xFC);
        rows.iter().for_each(|row| out.extend(row));
    }

    fn history(&self, asked: &SessionQuestion, session: &ReferenceSession, out: &mut Vec<u8>) {
        let now = session.clock_at().0;
        let last = |tool: ToolId| session.past().filter(|p| p.success && p.tool == tool).last();
        let from = |since: &Option<ToolId>| since.and_then(last).map_or(0, |p| p.number);
        match asked {
            SessionQuestion::Called { tool, params, since, within, latest } => {
                let touched = since.map_or(Some(0), |tool| session.touched(tool));
                let mut keys: BTreeMap<Vec<u8>, i64> = BTreeMap::new();
                for p in session.past().filter(|p| p.tool == *tool) {
                    let mut bytes = Vec::new();
                    params.iter().for_each(|at| key::write(&p.args[*at as usize], &mut bytes));
                    if *latest {
                        // A call that fails, or whose success is too old, takes back the success
                        // before it.
                        keys.remove(&bytes);
                    }
                    if !p.success {
                        continue;
                    }
                    let age = now - p.begun.1;
                    if touched.is_some_and(|at| at < p.begun.0) && within.is_none_or(|d| age <= d) {
                        let youngest = keys.get(&bytes).map_or(age, |other| age.min(*other));
                        keys.insert(bytes, if within.is_some() { youngest } else { 0 });
                    }
                }
                for (bytes, age) in keys {
                    out.extend(bytes);
                    put(age, out);
                }
            }
            SessionQuestion::Failed { tool, since, within } => {
                let from = from(since);
                let failed = session.past().filter(|p| p.failed && p.tool == *tool);
                let last = failed.filter(|p| p.number > from).last();
                let age = last.map(|p| now - p.time).filter(|age| within.is_none_or(|d| *age <= d));
                put(age.map_or(-1, |age| if within.is_some() { age } else { 0 }), out);
            }
            SessionQuestion::Calls { tool, failures, recent } => {
                let mine = session.past().filter(|p| p.failed == *failures && p.tool == *tool);
                match recent {
                    Some(WindowSize::Within(age)) => {
                        mine.filter(|p| now - p.time <= *age).for_each(|p| put(now - p.time, out))
                    }
                    Some(WindowSize::Last(count)) => {
                        let later = mine.map(|p| p.later).filter(|later| *later < (*count).into());
                        later.for_each(|later| put(later as i64, out));
                    }
                    None => {
                        let cap = self.caps.get(&(*tool, *failures, None)).copied().flatten();
                        put((mine.count() as i64).min(cap.unwrap_or(i64::MAX)), out);
                    }
                }
            }
            SessionQuestion::Arg(tool, at) => {
                let value = last(*tool).map(|p| p.args[*at as usize].clone());
                key::write(&value.unwrap_or(Value::None), out);
            }
            SessionQuestion::Result(tool) => {
                let value = last(*tool).map(|p| p.result.clone());
                key::write(&value.unwrap_or(Value::None), out);
            }
        }
    }

    /// Returns what a session has spent of its bounded resources.
    pub fn resources(&self, session: &ReferenceSession) -> Resources {
        let mut spent = Resources::new();
        let (now, start) = session.clock_at();
        for (at, unit) in self.program.units.iter().enumerate() {
            if unit.budget.is_some() && session.spent_of(at) > 0 {
                spent.insert(vec![0, at as u8], session.spent_of(at));
            }
        }
        // Where something asks for the time, it is a part of the core.
        if self.program.deadline.is_some() && !self.time && now > start {
            spent.insert(vec![1], now - start);
        }
        // The youngest first, so that the windows of two sessions are compared call by call.
        let counted: Vec<_> = session.counted().collect();
        let mut places: BTreeMap<Vec<u8>, i64> = BTreeMap::new();
        for (limit, by, time, tool, args) in counted.into_iter().rev() {
            let mut name = vec![2, (limit >> 8) as u8, limit as u8];
            if let Some(by) = by {
                key::write(by, &mut name);
            }
            match self.program.limits[limit].scope {
                LimitScope::Window(window) if now - time < window => {
                    let place = places.entry(name.clone()).or_insert(0);
                    put(*place, &mut name);
                    *place += 1;
                    spent.insert(name, window - (now - time));
                }
                LimitScope::Session => *spent.entry(name).or_insert(0) += 1,
                LimitScope::Identical => {
                    put(tool as i64, &mut name);
                    args.iter().for_each(|arg| key::write(arg, &mut name));
                    *spent.entry(name).or_insert(0) += 1;
                }
                _ => {}
            }
        }
        spent
    }
}

/// Returns true if the first session has spent no more of any resource than the second.
pub(crate) fn within(first: &Resources, second: &Resources) -> bool {
    first.iter().all(|(name, spent)| second.get(name).is_some_and(|other| spent <= other))
}

fn put(number: i64, out: &mut Vec<u8>) {
    out.extend(number.to_be_bytes());
}

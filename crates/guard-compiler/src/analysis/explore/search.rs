//! The search: breadth first over what may happen, each state once.
//!
//! A call is settled at once, since an unsettled one only makes others wait; an approval is given right before the call
//! that needs it. A state that another one covers (same core, nothing more spent) is not looked at again.

mod notice;
mod successors;

use super::ExplorationLimits;
use super::inputs::Inputs;
use super::rules::{Places, Rule};
use super::session::{Act, ExploredSession, SessionStep, StepReply, act};
use super::slice::Slice;
use super::state_key::{Questions, Resources, within};
use super::world::Oracle;
use crate::analysis::reference::{Judgement, ReferenceSession};
use crate::hir::{Program, ToolId};
use guard_plan::json::Json;
use guard_plan::verdict::Code;
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Most steps for each call that may be judged, on average: calls of one guard take a thousand times as long as those of
/// another.
const STEPS_OF_CALL: u64 = 2_500;
/// A state that was reached.
pub(crate) struct SearchNode<'p> {
    pub session: ReferenceSession<'p>,
    parent: Option<usize>,
    /// What led here from the parent.
    steps: Vec<SessionStep>,
    pub depth: usize,
    /// When the session began, and with what.
    begun: (i64, Option<Json>),
    /// States that are reached from here, this search's or ones that cover them.
    pub next: Vec<usize>,
    /// The agent may stop here, all checks holding, if the world is kind.
    pub completes: bool,
    /// Everything that was tried here was looked at.
    expanded: bool,
}

/// The sessions found so far, by goal; `None` for a goal that is not found.
#[derive(Default)]
pub(crate) struct SearchFindings {
    pub tools: Vec<Option<ExploredSession>>,
    pub rules: Vec<Option<ExploredSession>>,
    pub goals: Vec<Option<ExploredSession>>,
    pub completion: Option<ExploredSession>,
}

/// One thing that is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SearchGoal {
    Tool(ToolId),
    Rule(usize),
    Named(usize),
    Completion,
}

/// Most that the states of a search remember together, in bytes: calls may double a text again and again.
pub(crate) const MOST_HELD: usize = 32 << 20;

/// A search under way.
pub(crate) struct Search<'s, 'p> {
    pub program: &'p Program,
    /// A session that has just begun; others are opened like it.
    pub fresh: &'s ReferenceSession<'p>,
    pub inputs: &'s Inputs<'p>,
    /// Everything that is tried of what is looked for.
    wide: &'s Inputs<'p>,
    pub questions: &'s Questions<'p>,
    pub rules: &'s [Rule],
    places: OnceCell<Places>,
    pub answers: &'s [Vec<Json>],
    limits: ExplorationLimits,
    /// The number of steps at which the search ends.
    until: u64,
    stop: &'s dyn Fn() -> bool,
    /// What is looked at.
    slice: Slice,
    /// What is looked for, where it is one thing: when it is found the search ends.
    goal: Option<SearchGoal>,
    pub nodes: Vec<SearchNode<'p>>,
    known: HashMap<Vec<u8>, Vec<(Resources, usize)>>,
    /// The size of what the states remember, in bytes.
    held: usize,
    queue: BinaryHeap<Reverse<(usize, usize)>>,
    pub found: SearchFindings,
    /// Calls judged so far.
    pub judged: usize,
    /// Something was left out.
    pub cut: bool,
}

impl<'s, 'p> Search<'s, 'p> {
    pub fn new(
        (program, fresh): (&'p Program, &'s ReferenceSession<'p>),
        inputs: &'s Inputs<'p>,
        questions: &'s Questions<'p>,
        rules: &'s [Rule],
        answers: &'s [Vec<Json>],
        stop: &'s dyn Fn() -> bool,
    ) -> Self {
        let found = SearchFindings {
            tools: vec![None; program.tools.len()],
            rules: vec![None; rules.len()],
            goals: vec![None; program.goals.len()],
            completion: None,
        };
        Search {
            program,
            fresh,
            inputs,
            wide: inputs,
            questions,
            rules,
            places: OnceCell::new(),
            answers,
            limits: ExplorationLimits::default(),
            until: 0,
            stop,
            slice: Slice::default(),
            goal: None,
            nodes: Vec::new(),
            known: HashMap::new(),
            queue: BinaryHeap::new(),
            found,
            judged: 0,
            cut: false,
            held: 0,
        }
    }

    /// Looks at a slice within limits; ends when the goal is found. What was found before stays.
    pub fn run(
        &mut self,
        inputs: &'s Inputs<'p>,
        slice: Slice,
        goal: Option<SearchGoal>,
        limits: &ExplorationLimits,
    ) {
        (self.inputs, self.slice, self.goal) = (inputs, slice, goal);
        let calls = self.judged.saturating_add(limits.calls);
        self.limits = ExplorationLimits { calls, ..limits.clone() };
        self.until = self.fresh.steps().saturating_add(steps_of(limits.calls));
        self.nodes.clear();
        self.known.clear();
        self.queue.clear();
        (self.cut, self.held) = (false, 0);
        for start in self.inputs.starts() {
            self.open(start, None);
            for data in self.inputs.data(self.fresh) {
                self.open(start, Some(data));
            }
        }
        while let Some(Reverse((depth, at))) = self.queue.pop() {
            let spent = self.is_spent() || (self.stop)();
            if self.goal.is_some_and(|goal| self.has(goal, depth)) {
                break;
            }
            if spent || depth >= self.limits.depth {
                self.cut = true;
                if spent {
                    break;
                }
                continue;
            }
            self.expand(at);
            self.nodes[at].expanded = true;
        }
    }

    fn is_spent(&self) -> bool {
        self.judged >= self.limits.calls || self.fresh.steps() >= self.until
    }

    /// Returns true if the caller has asked to stop.
    pub fn stopped_early(&self) -> bool {
        (self.stop)()
    }

    /// Returns true if a session for the goal was found, and no shorter one can be found at this depth.
    fn has(&self, goal: SearchGoal, depth: usize) -> bool {
        let found = match goal {
            SearchGoal::Tool(tool) => &self.found.tools[tool],
            SearchGoal::Rule(rule) => &self.found.rules[rule],
            SearchGoal::Named(goal) => &self.found.goals[goal],
            SearchGoal::Completion => &self.found.completion,
        };
        !longer(found, depth + 1)
    }

    fn open(&mut self, start: i64, data: Option<Json>) {
        if let Ok(session) = self.fresh.open_another(start, data.as_ref()) {
            self.admit(session, None, Vec::new(), (start, data));
        }
    }

    /// Takes a state in, unless one is known that covers it; gives its number.
    fn admit(
        &mut self,
        session: ReferenceSession<'p>,
        parent: Option<usize>,
        steps: Vec<SessionStep>,
        begun: (i64, Option<Json>),
    ) -> Option<usize> {
        let core = self.questions.core(&session, &self.slice);
        let spent = self.questions.resources(&session);
        let known = self.known.get(&core).into_iter().flatten();
        let depth = parent.map_or(0, |p| self.nodes[p].depth) + steps.len();
        let covers = |(resources, at): &&(Resources, usize)| {
            self.nodes[*at].depth <= depth && within(resources, &spent)
        };
        if let Some((_, at)) = known.into_iter().find(covers) {
            return Some(*at);
        }
        self.held += core.len();
        if self.nodes.len() >= self.limits.states || self.held > MOST_HELD {
            self.cut = true;
            return None;
        }
        let at = self.nodes.len();
        self.known.entry(core).or_default().push((spent, at));
        let next = Vec::new();
        let completes = false;
        let expanded = false;
        self.nodes.push(SearchNode {
            session,
            parent,
            steps,
            depth,
            begun,
            next,
            completes,
            expanded,
        });
        self.queue.push(Reverse((depth, at)));
        self.look(at);
        Some(at)
    }

    /// The session that leads to a state.
    pub fn path(&self, at: usize) -> ExploredSession {
        let mut steps = Vec::new();
        let mut node = at;
        loop {
            steps.extend(self.nodes[node].steps.iter().rev().cloned());
            match self.nodes[node].parent {
                Some(parent) => node = parent,
                None => break,
            }
        }
        steps.reverse();
        let (start, data) = self.nodes[node].begun.clone();
        ExploredSession { start, data, steps }
    }

    fn with(&self, at: usize, more: Vec<SessionStep>) -> ExploredSession {
        let mut session = self.path(at);
        session.steps.extend(more);
        session
    }

    fn step_in(&self, at: usize, what: Act, oracle: &Oracle) -> Option<SessionStep> {
        step(&mut self.nodes[at].session.clone(), what, oracle)
    }
}

/// Returns the steps that so many calls may take together.
pub(super) fn steps_of(calls: usize) -> u64 {
    (calls as u64).saturating_mul(STEPS_OF_CALL)
}

/// Returns true if no session was found, or one that is longer than `length`.
fn longer(found: &Option<ExploredSession>, length: usize) -> bool {
    found.as_ref().is_none_or(|session| session.len() > length)
}

/// Lets something happen; what came of it, and which variables it changed.
pub(crate) fn step(
    session: &mut ReferenceSession,
    what: Act,
    oracle: &Oracle,
) -> Option<SessionStep> {
    let before = session.committed();
    let said: StepReply = act(session, &what, &|ask| oracle.answer(ask))?;
    let changes = session.changes_since(&before);
    Some(SessionStep { world: oracle.answers(), act: what, said, changes })
}

/// Returns the roles that must approve; `operator` for a gate, which anybody may approve.
pub(crate) fn roles(judged: &Judgement) -> Vec<String> {
    let mut roles: Vec<String> = Vec::new();
    for (code, _, _, needs) in &judged.reasons {
        if *code == Code::Approval {
            roles.extend(needs.iter().cloned());
        }
    }
    roles.sort();
    roles.dedup();
    if roles.is_empty() {
        roles.push("operator".into());
    }
    roles
}

//! Both guards on the same events, until they say different things.
//!
//! A heuristic search: what it finds replays on both; what it does not find proves nothing.

mod climb;
mod edited;
pub(super) mod known;
mod repetition;

use super::{LEAST, WitnessLimits};
use crate::analysis::explore::climb::PlayedSession;
use crate::analysis::explore::inputs::{Inputs, read, written};
use crate::analysis::explore::search::{MOST_HELD, roles, step};
use crate::analysis::explore::session::{
    Act, ExploredEnding, ExploredSession, SessionStep, StepReply, WORKSPACE, act, call_id, perform,
};
use crate::analysis::explore::slice::{Slice, tools_for};
use crate::analysis::explore::start_of;
use crate::analysis::explore::state_key::Questions;
use crate::analysis::explore::world::Oracle;
use crate::analysis::reference::{Judgement, Outline, ReferenceSession};
use crate::hir::{Program, ToolId};
use guard_plan::json::Json;
use guard_plan::verdict::{Code, Decision};
use guard_proof::mutant;
use known::PairSessions;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, BinaryHeap, HashSet};

/// Most rounds of the same call.
const ROUNDS: usize = 700;
/// Most rounds that need an approval each.
const APPROVED: usize = 40;
/// Most rounds that fill a collection or use up what was there.
const FULL: usize = 130;
/// Most arguments of a call that is not settled, and of one beside it.
const FLYING: usize = 4;
/// Most other worlds of one call.
const WORLDS: usize = 4;

/// The direction in which a verdict changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeDirection {
    Looser,
    Tighter,
}

impl ChangeDirection {
    /// The direction from one rank of a verdict to another; none where they are the same.
    fn between(old: u8, new: u8) -> Option<Self> {
        match new.cmp(&old) {
            Ordering::Less => Some(ChangeDirection::Looser),
            Ordering::Greater => Some(ChangeDirection::Tighter),
            Ordering::Equal => None,
        }
    }
}

/// A session at whose end the guards differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Witness {
    /// What happens, with what the old guard says of it.
    pub session: ExploredSession,
    /// What the new guard says of the last of it; of all before it says the same.
    pub new: StepReply,
}

/// One guard, ready to be searched.
pub(super) struct Side<'p> {
    pub program: &'p Program,
    pub inputs: Inputs<'p>,
    pub questions: Questions<'p>,
    pub answers: Vec<Vec<Json>>,
}

impl<'p> Side<'p> {
    pub fn new(program: &'p Program) -> Option<Self> {
        let fresh = ReferenceSession::open(program, start_of([program]), WORKSPACE, None).ok()?;
        let inputs = Inputs::new(program, &fresh, usize::MAX);
        let answers = inputs.answers(&fresh);
        Some(Side { program, inputs, questions: Questions::new(program), answers })
    }

    fn tool(&self, wire: &str) -> Option<ToolId> {
        self.program.tool_on_wire(wire)
    }
}

#[derive(Clone)]
struct ProductNode<'p> {
    old: ReferenceSession<'p>,
    new: ReferenceSession<'p>,
    session: ExploredSession,
}

impl<'p> ProductNode<'p> {
    fn new(played: PlayedSession<'p>) -> Option<Self> {
        let session = played.session();
        let [old, new] = <[_; 2]>::try_from(played.states).ok()?;
        Some(ProductNode { old, new, session })
    }
}

/// A search for one tool.
pub(super) struct Product<'s, 'p> {
    pub old: &'s Side<'p>,
    pub new: &'s Side<'p>,
    /// The tool's wire name.
    pub wire: &'s str,
    pub states: usize,
    pub calls: usize,
    /// Most calls that the climbing search judges, in each direction.
    pub climbs: usize,
    /// Most calls that it has judged in a direction.
    pub climbed: usize,
    /// Sessions that the climbing search begins with.
    pub seeds: &'s [Vec<Act>],
    pub stop: &'s dyn Fn() -> bool,
    /// By direction the witness that was found.
    pub found: [Option<Witness>; 2],
    /// By direction true if one is looked for.
    pub wants: [bool; 2],
    /// The owner of a rule by which the old guard must refuse the last call, where that matters.
    pub behind: Option<&'s str>,
    pub judged: usize,
    pub seen: usize,
}

impl<'s, 'p> Product<'s, 'p> {
    /// A search that shares its limits with others. `wants` says which ways are looked for.
    pub fn new(
        (old, new): (&'s Side<'p>, &'s Side<'p>),
        wire: &'s str,
        (limits, share): (&'s WitnessLimits, usize),
        wants: [bool; 2],
        stop: &'s dyn Fn() -> bool,
    ) -> Self {
        Product {
            old,
            new,
            wire,
            states: limits.states,
            calls: (limits.calls / share).max(limits.calls.min(LEAST)),
            climbs: (limits.climbs / share).max(limits.climbs.min(LEAST)),
            climbed: 0,
            seeds: &limits.seeds,
            stop,
            found: [None, None],
            wants,
            behind: None,
            judged: 0,
            seen: 0,
        }
    }

    /// Returns true if a witness replays, and its last call is refused by the rule that matters.
    fn accepts(&self, witness: &Witness) -> bool {
        let refuses = |owner: &str| {
            let last = witness.session.verdict();
            last.is_some_and(|said| {
                said.reasons.iter().any(|(code, rule, ..)| *code != Code::Conflict && rule == owner)
            })
        };
        self.behind.is_none_or(refuses) && witness.replays(self.old.program, self.new.program)
    }

    /// Returns true if a witness of this direction is looked for and not found yet.
    fn missing(&self, way: ChangeDirection) -> bool {
        self.wants[way as usize] && self.found[way as usize].is_none()
    }

    fn done(&self) -> bool {
        !self.missing(ChangeDirection::Looser) && !self.missing(ChangeDirection::Tighter)
    }

    /// Both guards, each with its session at a node.
    fn sides<'n>(
        &self,
        node: &'n ProductNode<'p>,
    ) -> [(&'s Side<'p>, &'n ReferenceSession<'p>); 2] {
        [(self.old, &node.old), (self.new, &node.new)]
    }

    /// Looks for witnesses: breadth first, then by repetition, then by climbing.
    pub fn run(&mut self, known: &mut PairSessions<'s, 'p>) {
        let tools = self.tools(known);
        let mut cores: HashSet<Vec<u8>> = HashSet::new();
        let mut nodes: Vec<Option<ProductNode<'p>>> = Vec::new();
        let mut queue: BinaryHeap<Reverse<(usize, usize)>> = BinaryHeap::new();
        for node in self.roots() {
            queue.push(Reverse((0, nodes.len())));
            nodes.push(Some(node));
        }
        let (mut allowed, mut held): (Vec<ProductNode<'p>>, usize) = (Vec::new(), 0);
        while let Some(Reverse((_, at))) = queue.pop() {
            if self.done() || self.judged >= self.calls || (self.stop)() {
                break;
            }
            let Some(node) = nodes[at].take() else { continue };
            self.seen += 1;
            for next in self.expand(&node, &tools, &mut allowed) {
                let mut core = self.old.questions.core(&next.old, &Slice::whole(self.old.program));
                core.push(0xFB);
                core.extend(self.new.questions.core(&next.new, &Slice::whole(self.new.program)));
                held += core.len();
                if nodes.len() < self.states && held <= MOST_HELD && cores.insert(core) {
                    queue.push(Reverse((next.session.len(), nodes.len())));
                    nodes.push(Some(next));
                }
            }
        }
        let root = self.roots().into_iter().next();
        self.go_on(root.as_ref(), &allowed, &tools);
        if !self.done() {
            let called = known.called(&tools).into_iter();
            let called: Vec<ProductNode<'p>> = called.filter_map(ProductNode::new).collect();
            self.go_on(None, &called, &tools);
            allowed.extend(called);
            if known.writers.contains(self.wire) {
                allowed.iter().for_each(|node| self.fill(node));
            }
            if !self.done() {
                let sessions = known.differing_alone(&tools).into_iter();
                let nodes = sessions.filter_map(ProductNode::new);
                nodes.for_each(|node| self.repeat(&node, FULL));
            }
        }
        self.climb(known);
    }

    /// Goes on after calls that both allow: with the same again, and beside an unsettled one, also from the root.
    fn go_on(
        &mut self,
        root: Option<&ProductNode<'p>>,
        allowed: &[ProductNode<'p>],
        tools: &[String],
    ) {
        for node in allowed {
            if !self.done() && !(self.stop)() {
                self.repeat(node, APPROVED);
            }
        }
        for node in root.into_iter().chain(allowed) {
            self.in_flight(node, tools);
        }
    }

    fn roots(&self) -> Vec<ProductNode<'p>> {
        let mut starts: BTreeSet<i64> = BTreeSet::new();
        starts.extend(self.old.inputs.starts());
        starts.extend(self.new.inputs.starts());
        let first = start_of([self.old.program, self.new.program]);
        starts.insert(first);
        let mut data: Vec<Option<Json>> = vec![None];
        for side in [self.old, self.new] {
            let fresh = ReferenceSession::open(side.program, first, WORKSPACE, None);
            if let Ok(fresh) = fresh {
                data.extend(side.inputs.data(&fresh).into_iter().map(Some));
            }
        }
        let mut roots = Vec::new();
        let mut starts: Vec<i64> = starts.into_iter().collect();
        starts.sort_by_key(|start| (*start != first, *start));
        for start in starts {
            for data in &data {
                let open =
                    |program| ReferenceSession::open(program, start, WORKSPACE, data.as_ref());
                let (Ok(old), Ok(new)) = (open(self.old.program), open(self.new.program)) else {
                    continue;
                };
                let session = ExploredSession { start, data: data.clone(), steps: Vec::new() };
                roots.push(ProductNode { old, new, session });
            }
        }
        roots
    }

    /// The tools that may matter to this one, by wire name; it comes first. Last are those that may halt one session only.
    fn tools(&self, known: &PairSessions<'s, 'p>) -> Vec<String> {
        let programs = [self.old, self.new].map(|side| side.program);
        let mut tools = tools_for(programs.into_iter(), self.wire);
        let others = known.halters.iter().filter(|halter| !tools.contains(halter));
        let others: Vec<String> = others.cloned().collect();
        tools.extend(others);
        tools
    }

    fn expand(
        &mut self,
        node: &ProductNode<'p>,
        tools: &[String],
        allowed: &mut Vec<ProductNode<'p>>,
    ) -> Vec<ProductNode<'p>> {
        let mut next = Vec::new();
        for wire in tools {
            for args in self.args(node, wire) {
                if self.done() || self.judged >= self.calls {
                    return next;
                }
                self.call(node, wire, &args, allowed, &mut next);
            }
        }
        let mut acts: Vec<Act> = Vec::new();
        for (side, session) in self.sides(node) {
            acts.extend(side.inputs.prompts(session).into_iter().map(Act::Prompt));
            acts.extend(side.inputs.waits(&side.questions, session).into_iter().map(Act::Wait));
            let (now, start) = session.clock_at();
            acts.extend(side.program.deadline.map(|d| start + d - now).map(Act::Wait));
        }
        acts.retain(|what| !matches!(what, Act::Wait(millis) if *millis <= 0));
        let mut known: Vec<Act> = Vec::new();
        for what in acts {
            if !known.contains(&what) {
                known.push(what.clone());
                next.extend(self.both(node, what, &Oracle::new(self.new.program, &[], true)));
            }
        }
        next
    }

    /// The arguments of both guards.
    fn args(&self, node: &ProductNode<'p>, wire: &str) -> Vec<Json> {
        let mut all: Vec<Json> = Vec::new();
        for (side, session) in self.sides(node) {
            let Some(tool) = side.tool(wire) else { continue };
            for args in side.inputs.calls(tool, session) {
                let json = written(side.program, session, tool, &args);
                if !all.contains(&json) {
                    all.push(json);
                }
            }
        }
        all
    }

    /// Does the same in both; none where one of them cannot.
    fn both(
        &self,
        node: &ProductNode<'p>,
        what: Act,
        oracle: &Oracle<'_>,
    ) -> Option<ProductNode<'p>> {
        let mut next = node.clone();
        let done = step(&mut next.old, what.clone(), oracle)?;
        act(&mut next.new, &what, &|ask| oracle.answer(ask))?;
        next.session.steps.push(SessionStep { world: oracle.answers(), ..done });
        Some(next)
    }

    /// Returns a guard's judgement of a call.
    fn judge(
        &self,
        side: &Side<'p>,
        session: &ReferenceSession<'p>,
        wire: &str,
        args: &Json,
        oracle: &Oracle,
    ) -> JudgedCall {
        let decoded = side.tool(wire).and_then(|tool| {
            let known = |(name, _): &(Box<str>, Json)| {
                side.program.tools[tool].params.iter().any(|p| *p.name == **name)
            };
            let whole = matches!(args, Json::Object(members) if members.iter().all(known));
            Some((tool, whole.then(|| read(side.program, session, tool, args))??))
        });
        match decoded {
            Some((tool, values)) => {
                JudgedCall::Said(Box::new(
                    session.consider(tool, &values, &|ask| oracle.answer(ask)),
                ))
            }
            None => JudgedCall::Unread(!side.program.default_allow || side.tool(wire).is_some()),
        }
    }

    /// Judges a call on both sides, each in its world. Where they differ, the session is a witness, and there is no answer.
    fn compare(
        &mut self,
        node: &ProductNode<'p>,
        wire: &str,
        args: &Json,
        [world, other]: [&Oracle<'_>; 2],
    ) -> Option<[JudgedCall; 2]> {
        let old = self.judge(self.old, &node.old, wire, args, world);
        let new = self.judge(self.new, &node.new, wire, args, other);
        let Some(way) = ChangeDirection::between(old.rank(), new.rank()) else {
            return Some([old, new]);
        };
        if wire == self.wire {
            self.differ(node, args, way, world);
        }
        None
    }

    fn call(
        &mut self,
        node: &ProductNode<'p>,
        wire: &str,
        args: &Json,
        allowed: &mut Vec<ProductNode<'p>>,
        next: &mut Vec<ProductNode<'p>>,
    ) {
        let answers: &'s [Vec<Json>] = &self.new.answers;
        let base = Oracle::new(self.new.program, answers, false);
        let mut worlds = vec![base];
        let mut at = 0;
        while at < worlds.len() {
            self.judged += 1;
            let judged = self.compare(node, wire, args, [&worlds[at]; 2]);
            if at == 0 {
                let others = worlds[0].others();
                worlds.extend(others.into_iter().take(WORLDS));
            }
            let world = worlds[at].again();
            at += 1;
            let Some([old, new]) = judged else { continue };
            let roles = match (&old, &new) {
                (JudgedCall::Said(a), JudgedCall::Said(b)) if a.decision == Decision::Ask => {
                    let (a, b) = (roles(a), roles(b));
                    if a != b && wire == self.wire {
                        // Somebody else is asked: who was asked before has no say any more.
                        self.asked(node, args, [&a, &b], &world);
                    }
                    if a != b { continue } else { a }
                }
                _ if old.rank() == 0 => Vec::new(),
                _ => continue,
            };
            for then in self.ends(node, wire) {
                let Some(after) = self.settled(node, wire, args, &roles, then, &world) else {
                    continue;
                };
                if wire == self.wire && allowed.len() < 3 {
                    allowed.push(after.clone());
                }
                next.push(after);
            }
        }
    }

    /// Returns the endings of a call that both guards allow.
    fn ends(&self, node: &ProductNode<'p>, wire: &str) -> Vec<ExploredEnding> {
        let mut ends: Vec<ExploredEnding> = Vec::new();
        for (side, session) in self.sides(node) {
            let Some(tool) = side.tool(wire) else { continue };
            for result in side.inputs.results(tool, session) {
                if !ends.contains(&ExploredEnding::Succeeds(result.clone())) {
                    ends.push(ExploredEnding::Succeeds(result));
                }
            }
            let asked = &side.questions;
            if asked.failures.contains(&tool) && !ends.contains(&ExploredEnding::Fails) {
                ends.push(ExploredEnding::Fails);
            }
            if asked.of_unreadable(tool) && !ends.contains(&ExploredEnding::Unreadable) {
                ends.push(ExploredEnding::Unreadable);
            }
        }
        ends
    }

    fn proposal(node: &ProductNode, wire: &str, args: &Json, then: ExploredEnding) -> Act {
        let id = call_id(node.session.len());
        Act::Call { id, tool: wire.into(), args: args.clone(), then }
    }

    /// The node after the approvals of these roles for a call.
    fn approved(
        &self,
        node: &ProductNode<'p>,
        wire: &str,
        args: &Json,
        roles: &[String],
        world: &Oracle<'_>,
    ) -> Option<ProductNode<'p>> {
        let mut at = node.clone();
        for role in roles {
            let (tool, args, role) = (wire.to_string(), args.clone(), role.clone());
            at = self.both(&at, Act::Approve { tool, args, role }, &world.again())?;
        }
        Some(at)
    }

    fn settled(
        &self,
        node: &ProductNode<'p>,
        wire: &str,
        args: &Json,
        roles: &[String],
        then: ExploredEnding,
        world: &Oracle<'_>,
    ) -> Option<ProductNode<'p>> {
        let at = self.approved(node, wire, args, roles, world)?;
        let what = Self::proposal(&at, wire, args, then);
        let after = self.both(&at, what, &world.again())?;
        let last = after.session.verdict()?;
        (last.decision == Some(Decision::Allow)).then_some(after)
    }

    /// They ask different people: with the approvals that one asks for they differ, if the other is asked more.
    fn asked(
        &mut self,
        node: &ProductNode<'p>,
        args: &Json,
        asked: [&[String]; 2],
        world: &Oracle<'_>,
    ) {
        for roles in asked {
            let Some(at) = self.approved(node, self.wire, args, roles, world) else { return };
            self.compare(&at, self.wire, args, [&world.again(), &world.again()]);
        }
    }

    /// Keeps the witness, if it is the first of its way and replays on both.
    fn differ(
        &mut self,
        node: &ProductNode<'p>,
        args: &Json,
        way: ChangeDirection,
        world: &Oracle<'_>,
    ) {
        let known = self.found[way as usize].as_ref();
        if known.is_some_and(|known| known.session.len() <= node.session.len() + 1) {
            return;
        }
        let what = Self::proposal(node, self.wire, args, ExploredEnding::Flies);
        let (mut before, mut after) = (node.old.clone(), node.new.clone());
        let oracle = world.again();
        let Some(done) = step(&mut before, what.clone(), &oracle) else { return };
        let Some(said) = act(&mut after, &what, &|ask| oracle.answer(ask)) else { return };
        let mut session = node.session.clone();
        session.steps.push(SessionStep { world: oracle.answers(), ..done });
        let witness = Witness { session, new: said };
        if self.accepts(&witness) {
            self.found[way as usize] = Some(witness);
        }
    }
}

/// A guard's judgement of a call. A call that the guard cannot read is refused, or passes if the guard does not know
/// the tool and allows unknown tools.
enum JudgedCall {
    Said(Box<Judgement>),
    Unread(bool),
}

impl JudgedCall {
    fn rank(&self) -> u8 {
        match self {
            JudgedCall::Said(said) => rank(Some(said.decision), &said.reasons),
            JudgedCall::Unread(true) => 2,
            JudgedCall::Unread(false) => 0,
        }
    }

    /// Returns the roles whose approvals are all that the call needs; none where it needs more, or nothing.
    fn asked(&self) -> Vec<String> {
        match self {
            JudgedCall::Said(said) if said.decision == Decision::Ask || is_gated(said) => {
                roles(said)
            }
            _ => Vec::new(),
        }
    }
}

/// Allowed, asked, or not now: a wait is a refusal, also where somebody is asked beside it.
fn rank(decision: Option<Decision>, reasons: &[Outline]) -> u8 {
    let waits = reasons.iter().any(|(_, _, outcome, _)| *outcome == Decision::Wait);
    match decision {
        Some(Decision::Allow) => 0,
        Some(Decision::Ask) if !waits || mutant!("who is asked need not wait") => 1,
        _ => 2,
    }
}

impl Witness {
    /// Plays it on both guards: all but the last is judged alike, and the last differs.
    pub fn replays(&self, old: &Program, new: &Program) -> bool {
        let open = |program| {
            let (start, data) = (self.session.start, self.session.data.as_ref());
            ReferenceSession::open(program, start, WORKSPACE, data).ok()
        };
        let (Some(mut before), Some(mut after)) = (open(old), open(new)) else { return false };
        let count = self.session.steps.len();
        self.session.steps.iter().enumerate().all(|(at, step)| {
            let both = (perform(&mut before, step), perform(&mut after, step));
            let (Some(old), Some(new)) = both else { return false };
            let same = old.decision == new.decision;
            old == step.said && if at + 1 == count { !same && new == self.new } else { same }
        })
    }
}

fn is_gated(said: &Judgement) -> bool {
    !said.reasons.is_empty()
        && said.reasons.iter().all(|(code, ..)| matches!(code, Code::Approval | Code::Gated))
}

//! Both guards on the same events, until they say different things.
//!
//! A heuristic search: what it finds replays on both; what it does not find proves nothing.

mod climb;
mod comparison;
mod edited;
pub(super) mod known;
mod repetition;
mod successors;

use super::{LEAST, WitnessLimits};
use crate::analysis::explore::climb::PlayedSession;
use crate::analysis::explore::inputs::Inputs;
use crate::analysis::explore::search::MOST_HELD;
use crate::analysis::explore::session::{
    Act, ExploredEnding, ExploredSession, StepReply, WORKSPACE, call_id, perform,
};
use crate::analysis::explore::slice::{Slice, tools_for};
use crate::analysis::explore::start_of;
use crate::analysis::explore::state_key::Questions;
use crate::analysis::reference::ReferenceSession;
use crate::hir::{Program, ToolId};
use comparison::ChangeDirection;
use guard_plan::json::Json;
use known::PairSessions;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashSet};

/// Most rounds that need an approval each.
const APPROVED: usize = 40;
/// Most rounds that fill a collection or use up what was there.
const FULL: usize = 130;

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

    /// The proposal of a call as the next act of the node's session.
    fn proposal(&self, wire: &str, args: &Json, then: ExploredEnding) -> Act {
        let id = call_id(self.session.len());
        Act::Call { id, tool: wire.into(), args: args.clone(), then }
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

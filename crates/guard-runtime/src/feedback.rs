//! Feedback: which providers an event wakes, and what they say (semantics §10).
//!
//! Providers are found by what can wake them, so that a round in which none speaks costs a few comparisons however
//! long the session is. Rendering is in `feedback/block`.

mod block;

use crate::eval::Decision;
use crate::kernel::Kernel;
use crate::prepare::Prepared;
use crate::session::Session;
use crate::session::feedback::{Edge, Memory, Provider};
use crate::world::Questions;
use guard_plan::path;
use guard_plan::plan::{Millis, Node, PathId, Plan, ProviderId, Tool, ToolId, Touch, Trigger};
use guard_plan::record::{Delivered, Note, NoteKind};
use guard_plan::value::Fault;
use std::collections::BTreeSet;

/// The providers of a plan, by what can wake them.
#[derive(Debug, Default)]
pub(crate) struct Providers {
    all: Box<[Ready]>,
    created: Box<[(ProviderId, PathId)]>,
    edges: Box<[(ProviderId, Prepared)]>,
    /// Edges that may change at any time.
    always: Box<[u32]>,
    /// Edges that may change with a settled call, by its tool.
    by_tool: Box<[Box<[u32]>]>,
    /// Edges that read facts, which prompts teach too.
    by_fact: Box<[u32]>,
    /// Who hears of a denial, by the tool.
    denied: Box<[Box<[ProviderId]>]>,
    denied_any: Box<[ProviderId]>,
}

/// What is prepared of one provider.
#[derive(Debug)]
struct Ready {
    calls: Option<u32>,
    every: Option<Millis>,
    /// The conditions of its blocks.
    when: Box<[Option<Prepared>]>,
}

/// What is judged.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Judged {
    /// A call was settled.
    Settled(Option<ToolId>),
    /// A call was denied.
    Denied(Option<ToolId>),
}

/// What a round came to.
#[derive(Debug, Default)]
pub(crate) struct Round {
    pub delivered: Vec<Delivered>,
    pub notes: Vec<Note>,
}

impl Round {
    fn fault(&mut self, plan: &Plan, id: ProviderId, message: String) {
        let rule = plan.feedback[id as usize].name.clone();
        self.notes.push(Note { kind: NoteKind::Feedback, rule, message });
    }
}

impl Providers {
    pub fn new(plan: &Plan) -> Providers {
        if plan.feedback.is_empty() {
            return Providers::default();
        }
        let mut created = Vec::new();
        let mut edges = Vec::new();
        let (mut always, mut by_fact, mut denied_any) = (Vec::new(), Vec::new(), Vec::new());
        let mut by_tool: Vec<Vec<u32>> = vec![Vec::new(); plan.tools.len()];
        let mut denied: Vec<Vec<ProviderId>> = vec![Vec::new(); plan.tools.len()];
        let triggers = (0..).zip(&plan.feedback);
        let triggers = triggers.flat_map(|(id, one)| one.triggers.iter().map(move |t| (id, t)));
        for (id, trigger) in triggers {
            match trigger {
                Trigger::Calls(_) | Trigger::Every(_) => {}
                Trigger::Created(path) => created.push((id, *path)),
                Trigger::Denied(None) => denied_any.push(id),
                Trigger::Denied(Some(tools)) => {
                    tools.iter().for_each(|tool| denied[*tool as usize].push(id));
                }
                Trigger::Becomes { condition, reads } => {
                    let edge = edges.len() as u32;
                    let condition = Prepared::new(condition);
                    let reads = reads.as_deref().and_then(|reads| reads_of(&condition, reads));
                    match reads {
                        None => always.push(edge),
                        Some(reads) => {
                            if reads.iter().any(|touch| matches!(touch, Touch::Fact(_))) {
                                by_fact.push(edge);
                            }
                            let met = (0..).zip(&plan.tools).zip(&mut by_tool);
                            met.filter(|((id, tool), _)| meets(&reads, *id, tool))
                                .for_each(|(_, edges)| edges.push(edge));
                        }
                    }
                    edges.push((id, condition));
                }
            }
        }
        let boxed = |lists: Vec<Vec<u32>>| lists.into_iter().map(Vec::into_boxed_slice).collect();
        Providers {
            all: plan.feedback.iter().map(Ready::new).collect(),
            created: created.into(),
            edges: edges.into(),
            always: always.into(),
            by_tool: boxed(by_tool),
            by_fact: by_fact.into(),
            denied: boxed(denied),
            denied_any: denied_any.into(),
        }
    }

    /// Whether there are any.
    pub fn any(&self) -> bool {
        !self.all.is_empty()
    }

    /// The memory of a session that begins.
    pub fn memory(&self, start: Millis) -> Memory {
        let edges = self.edges.len() as u32;
        let mut memory = Memory {
            judged: 0,
            providers: vec![Provider::default(); self.all.len()].into(),
            created: (0..self.created.len() as u32).collect(),
            edges: vec![Edge::default(); self.edges.len()].into(),
            stale: (0..edges).filter(|edge| !self.always.contains(edge)).collect(),
            ..Memory::default()
        };
        (0..).zip(&self.all).for_each(|(id, ready)| ready.begin(&mut memory, id, start));
        memory
    }

    /// Facts have changed other than by a call.
    pub fn facts_changed(&self, memory: &mut Memory) {
        memory.stale.extend(self.by_fact.iter().copied());
    }
}

impl Ready {
    fn new(feedback: &guard_plan::plan::Feedback) -> Ready {
        let calls = feedback.triggers.iter().filter_map(|trigger| match trigger {
            Trigger::Calls(count) => Some(*count),
            _ => None,
        });
        let every = feedback.triggers.iter().filter_map(|trigger| match trigger {
            Trigger::Every(span) => Some(*span),
            _ => None,
        });
        Ready {
            calls: calls.min(),
            every: every.min(),
            when: feedback.blocks.iter().map(|block| Prepared::optional(&block.when)).collect(),
        }
    }

    /// Its cadence begins.
    fn begin(&self, memory: &mut Memory, id: ProviderId, now: Millis) {
        let count = self.calls.map(|calls| memory.judged.saturating_add(calls.into()));
        let time = self.every.map(|every| now.saturating_add(every));
        memory.due(id, count, time);
    }
}

/// What a condition reads, ascending; none if it may change at any time, whatever the plan says.
fn reads_of(condition: &Prepared, declared: &[Touch]) -> Option<BTreeSet<Touch>> {
    let mut reads: BTreeSet<Touch> = declared.iter().copied().collect();
    for op in condition.ops() {
        let Some(node) = op.node() else { continue };
        match node {
            Node::State(var) => _ = reads.insert(Touch::State(*var)),
            Node::Row(fact, _) | Node::Known(fact, _) => _ = reads.insert(Touch::Fact(*fact)),
            Node::Called { within: Some(_), .. }
            | Node::Failed { within: Some(_), .. }
            | Node::Calls { window: Some(_), .. } => return None,
            Node::Called { tool, since, .. } | Node::Failed { tool, since, .. } => {
                reads.extend([*tool].into_iter().chain(*since).map(Touch::History));
            }
            Node::Calls { tool, .. } | Node::LastArg(tool, _) | Node::LastResult(tool) => {
                reads.insert(Touch::History(*tool));
            }
            Node::Now
            | Node::Elapsed
            | Node::Clock(_)
            | Node::RemainingTime
            | Node::Remaining(_)
            | Node::Spent(_)
            | Node::Temporal(_)
            | Node::Exists(_)
            | Node::Probe(_)
            | Node::Origin(_) => return None,
            _ => {}
        }
    }
    Some(reads)
}

/// Whether the settlement of a call may change something of what is read.
fn meets(reads: &BTreeSet<Touch>, id: ToolId, tool: &Tool) -> bool {
    let targets = tool.effects.iter().map(|effect| effect.target.var);
    let targets = targets.chain(tool.observes.iter().map(|observe| observe.target.var));
    let mut targets = targets.map(Touch::State);
    let mut facts = tool.learns.iter().map(|learn| Touch::Fact(learn.fact));
    reads.contains(&Touch::History(id))
        || tool.writes.iter().any(|touch| reads.contains(touch))
        || targets.any(|touch| reads.contains(&touch))
        || facts.any(|touch| reads.contains(&touch))
}

impl Kernel {
    /// Judges an event, where there are providers: wakes them, and lets them speak.
    pub(crate) fn judge(
        &self,
        session: &mut Session,
        event: Judged,
        answers: &dyn Questions,
    ) -> Round {
        let mut round = Round::default();
        // The memory is no part of what conditions read, and is changed while they are.
        let mut memory = std::mem::take(&mut session.feedback);
        memory.judged += 1;
        let decision = Decision::default();
        let mut woken: Vec<ProviderId> = Vec::new();
        self.by_cadence(&memory, session.now, &mut woken);
        self.by_denial(event, &mut woken);
        self.by_file(session, &mut memory, answers, &mut woken, &mut round);
        self.by_edge(session, &mut memory, event, &decision, answers, &mut woken, &mut round);
        if !woken.is_empty() {
            woken.sort_unstable();
            woken.dedup();
            self.speak(session, &mut memory, &woken, &decision, answers, &mut round);
        }
        session.feedback = memory;
        round
    }

    fn by_cadence(&self, memory: &Memory, now: Millis, woken: &mut Vec<ProviderId>) {
        let counts = memory.by_count.range(..=(memory.judged, ProviderId::MAX));
        woken.extend(counts.map(|(_, id)| *id));
        let times = memory.by_time.range(..=(now, ProviderId::MAX));
        woken.extend(times.map(|(_, id)| *id));
    }

    fn by_denial(&self, event: Judged, woken: &mut Vec<ProviderId>) {
        let Judged::Denied(tool) = event else { return };
        woken.extend(&self.feedback.denied_any);
        if let Some(tool) = tool {
            woken.extend(&self.feedback.denied[tool as usize]);
        }
    }

    /// Asks for the files that were not there yet.
    fn by_file(
        &self,
        session: &Session,
        memory: &mut Memory,
        answers: &dyn Questions,
        woken: &mut Vec<ProviderId>,
        round: &mut Round,
    ) {
        memory.created.retain(|at| {
            let (id, file) = self.feedback.created[*at as usize];
            let place = &session.paths[file as usize];
            if !path::within(place, &session.workspace) {
                let written = &self.plan().paths[file as usize];
                let message = format!("`{written}` is outside the workspace");
                round.fault(self.plan(), id, message);
                return true;
            }
            let there = answers.file(place) == Some(true);
            if there {
                woken.push(id);
            }
            !there
        });
    }

    #[allow(clippy::too_many_arguments, reason = "it reads the session and changes its memory")]
    fn by_edge(
        &self,
        session: &Session,
        memory: &mut Memory,
        event: Judged,
        decision: &Decision,
        answers: &dyn Questions,
        woken: &mut Vec<ProviderId>,
        round: &mut Round,
    ) {
        let cx = self.context(session, decision, answers);
        let stale = std::mem::take(&mut memory.stale);
        let mut look = |edge: u32| {
            let (id, condition) = &self.feedback.edges[edge as usize];
            match cx.holds(condition) {
                Ok(is) => {
                    let was = std::mem::replace(&mut memory.edges[edge as usize].was, is);
                    if is && !was {
                        woken.push(*id);
                    }
                }
                Err(fault) => {
                    memory.stale.insert(edge);
                    let message = format!("what wakes it cannot be evaluated: {fault}");
                    round.fault(self.plan(), *id, message);
                }
            }
        };
        self.feedback.always.iter().for_each(|edge| look(*edge));
        stale.iter().for_each(|edge| look(*edge));
        if let Judged::Settled(Some(tool)) = event {
            let changed = self.feedback.by_tool[tool as usize].iter();
            changed.filter(|edge| !stale.contains(edge)).for_each(|edge| look(*edge));
        }
    }

    /// Lets providers speak: all blocks are made before anything is kept.
    fn speak(
        &self,
        session: &Session,
        memory: &mut Memory,
        woken: &[ProviderId],
        decision: &Decision,
        answers: &dyn Questions,
        round: &mut Round,
    ) {
        let cx = self.context(session, decision, answers);
        let said: Vec<Result<Option<Delivered>, Fault>> = woken
            .iter()
            .map(|id| {
                let ready = &self.feedback.all[*id as usize];
                let feedback = &self.plan().feedback[*id as usize];
                block::of(&cx, feedback, &ready.when, memory.judged)
            })
            .collect();
        for (id, said) in woken.iter().zip(said) {
            match said {
                Ok(None) => continue,
                Ok(Some(delivered)) => {
                    let provider = &mut memory.providers[*id as usize];
                    provider.spoke += 1;
                    provider.last = Some((delivered.clone(), session.now));
                    round.delivered.push(delivered);
                }
                Err(fault) => {
                    let message = format!("its feedback cannot be given: {fault}");
                    round.fault(self.plan(), *id, message);
                }
            }
            self.feedback.all[*id as usize].begin(memory, *id, session.now);
        }
        round.delivered.sort_by_key(|one| std::cmp::Reverse(one.severity));
    }
}

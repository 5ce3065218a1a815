//! The feedback providers, indexed by the events that can wake them (semantics §10).

use super::expr::CompiledExpr;
use guard_plan::plan::{Millis, Node, PathId, Plan, ProviderId, Tool, ToolId, Touch, Trigger};
use std::collections::BTreeSet;

/// The providers of a plan, indexed by the events that can wake them.
#[derive(Debug, Default)]
pub(crate) struct Providers {
    pub all: Box<[PreparedProvider]>,
    pub created: Box<[(ProviderId, PathId)]>,
    pub edges: Box<[(ProviderId, CompiledExpr)]>,
    /// The edges that may change at any time.
    pub always: Box<[u32]>,
    /// The edges that may change with a settled call, by its tool.
    pub by_tool: Box<[Box<[u32]>]>,
    /// The edges that read facts, which prompts also teach.
    pub by_fact: Box<[u32]>,
    /// The providers that react to a denial, by tool.
    pub denied: Box<[Box<[ProviderId]>]>,
    pub denied_any: Box<[ProviderId]>,
}

/// The prepared expressions of one provider.
#[derive(Debug)]
pub(crate) struct PreparedProvider {
    pub calls: Option<u32>,
    pub every: Option<Millis>,
    /// The conditions of its blocks.
    pub when: Box<[Option<CompiledExpr>]>,
}

impl Providers {
    pub fn new(plan: &Plan) -> Providers {
        if plan.feedback.is_empty() {
            return Providers::default();
        }
        let mut created = Vec::new();
        let mut edges = Vec::new();
        let mut always = Vec::new();
        let mut by_fact = Vec::new();
        let mut denied_any = Vec::new();
        let mut by_tool: Vec<Vec<u32>> = vec![Vec::new(); plan.tools.len()];
        let mut denied: Vec<Vec<ProviderId>> = vec![Vec::new(); plan.tools.len()];
        let triggers = (0..).zip(&plan.feedback);
        let triggers =
            triggers.flat_map(|(id, feedback)| feedback.triggers.iter().map(move |t| (id, t)));
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
                    let condition = CompiledExpr::new(condition);
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
            all: plan.feedback.iter().map(PreparedProvider::new).collect(),
            created: created.into(),
            edges: edges.into(),
            always: always.into(),
            by_tool: boxed(by_tool),
            by_fact: by_fact.into(),
            denied: boxed(denied),
            denied_any: denied_any.into(),
        }
    }

    /// Returns true if the plan has providers.
    pub fn any(&self) -> bool {
        !self.all.is_empty()
    }
}

impl PreparedProvider {
    fn new(feedback: &guard_plan::plan::Feedback) -> PreparedProvider {
        let calls = feedback.triggers.iter().filter_map(|trigger| match trigger {
            Trigger::Calls(count) => Some(*count),
            _ => None,
        });
        let every = feedback.triggers.iter().filter_map(|trigger| match trigger {
            Trigger::Every(span) => Some(*span),
            _ => None,
        });
        PreparedProvider {
            // Of several cadences of one kind, the shortest is due whenever a longer one is.
            calls: calls.min(),
            every: every.min(),
            when: feedback.blocks.iter().map(|block| CompiledExpr::optional(&block.when)).collect(),
        }
    }
}

/// Returns the state that a condition reads, ascending; `None` if the condition may change at any
/// time, whatever the plan declares.
fn reads_of(condition: &CompiledExpr, declared: &[Touch]) -> Option<BTreeSet<Touch>> {
    let mut reads: BTreeSet<Touch> = declared.iter().copied().collect();
    for op in condition.ops() {
        let Some(node) = op.node() else { continue };
        match node {
            Node::State(var) => _ = reads.insert(Touch::State(*var)),
            Node::Row(fact, _) | Node::Known(fact, _) | Node::Rows(fact) => {
                _ = reads.insert(Touch::Fact(*fact))
            }
            // The admission of a call of the tool after `since` also changes the result.
            Node::Called { since: Some(_), .. }
            | Node::Called { within: Some(_), .. }
            | Node::Failed { within: Some(_), .. }
            | Node::Calls { window: Some(_), .. } => return None,
            Node::Failed { tool, since, .. } => {
                reads.extend([*tool].into_iter().chain(*since).map(Touch::History));
            }
            Node::Called { tool, .. }
            | Node::Calls { tool, .. }
            | Node::LastArg(tool, _)
            | Node::LastResult(tool) => {
                reads.insert(Touch::History(*tool));
            }
            Node::Now
            | Node::Elapsed
            | Node::Said
            | Node::Clock(_)
            | Node::RemainingTime
            | Node::Remaining(_)
            | Node::Spent(_)
            | Node::Temporal(_)
            | Node::Exists(_)
            | Node::Probe(_)
            | Node::Origin(_)
            | Node::Seen(_)
            | Node::MayRead(..) => return None,
            _ => {}
        }
    }
    Some(reads)
}

/// Returns true if the settlement of a call may change some of the state that is read.
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

//! The verdicts of both guards on one call, and the witness where they differ.

use super::{Product, ProductNode, Side, Witness};
use crate::analysis::explore::inputs::read;
use crate::analysis::explore::search::{roles, step};
use crate::analysis::explore::session::{ExploredEnding, SessionStep, act};
use crate::analysis::explore::world::Oracle;
use crate::analysis::reference::{Judgement, Outline, ReferenceSession};
use guard_plan::json::Json;
use guard_plan::verdict::{Code, Decision};
use guard_proof::mutant;
use std::cmp::Ordering;

/// The direction in which a verdict changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeDirection {
    Looser,
    Tighter,
}

impl ChangeDirection {
    /// The direction from one rank of a verdict to another; none where they are the same.
    pub(super) fn between(old: u8, new: u8) -> Option<Self> {
        match new.cmp(&old) {
            Ordering::Less => Some(ChangeDirection::Looser),
            Ordering::Greater => Some(ChangeDirection::Tighter),
            Ordering::Equal => None,
        }
    }
}

/// A guard's judgement of a call. A call that the guard cannot read is refused, or passes if the guard does not know
/// the tool and allows unknown tools.
pub(super) enum JudgedCall {
    Said(Box<Judgement>),
    Unread(bool),
}

impl JudgedCall {
    pub(super) fn rank(&self) -> u8 {
        match self {
            JudgedCall::Said(said) => rank(Some(said.decision), &said.reasons),
            JudgedCall::Unread(true) => 2,
            JudgedCall::Unread(false) => 0,
        }
    }

    /// Returns the roles whose approvals are all that the call needs; none where it needs more, or nothing.
    pub(super) fn asked(&self) -> Vec<String> {
        match self {
            JudgedCall::Said(said) if said.decision == Decision::Ask || is_gated(said) => {
                roles(said)
            }
            _ => Vec::new(),
        }
    }
}

/// Allowed, asked, or not now: a wait is a refusal, also where somebody is asked beside it.
pub(super) fn rank(decision: Option<Decision>, reasons: &[Outline]) -> u8 {
    let waits = reasons.iter().any(|(_, _, outcome, _)| *outcome == Decision::Wait);
    match decision {
        Some(Decision::Allow) => 0,
        Some(Decision::Ask) if !waits || mutant!("who is asked need not wait") => 1,
        _ => 2,
    }
}

fn is_gated(said: &Judgement) -> bool {
    !said.reasons.is_empty()
        && said.reasons.iter().all(|(code, ..)| matches!(code, Code::Approval | Code::Gated))
}

impl<'s, 'p> Product<'s, 'p> {
    /// Returns a guard's judgement of a call.
    pub(super) fn judge(
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
    pub(super) fn compare(
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
        let what = node.proposal(self.wire, args, ExploredEnding::Flies);
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

    /// Returns true if a witness replays, and its last call is refused by the rule that matters.
    pub(super) fn accepts(&self, witness: &Witness) -> bool {
        let refuses = |owner: &str| {
            let last = witness.session.verdict();
            last.is_some_and(|said| {
                said.reasons.iter().any(|(code, rule, ..)| *code != Code::Conflict && rule == owner)
            })
        };
        self.behind.is_none_or(refuses) && witness.replays(self.old.program, self.new.program)
    }
}

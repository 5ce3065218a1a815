//! The nodes one step beyond a node: both guards do the same, and judge it alike.

use super::comparison::JudgedCall;
use super::{Product, ProductNode};
use crate::analysis::explore::inputs::written;
use crate::analysis::explore::search::{roles, step};
use crate::analysis::explore::session::{Act, ExploredEnding, SessionStep, act};
use crate::analysis::explore::world::Oracle;
use guard_plan::json::Json;
use guard_plan::verdict::Decision;

/// Most other worlds of one call.
const WORLDS: usize = 4;

impl<'s, 'p> Product<'s, 'p> {
    pub(super) fn expand(
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
    pub(super) fn args(&self, node: &ProductNode<'p>, wire: &str) -> Vec<Json> {
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
    pub(super) fn both(
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
        // The first world is answered first: what it was asked says which other worlds there are.
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

    pub(super) fn settled(
        &self,
        node: &ProductNode<'p>,
        wire: &str,
        args: &Json,
        roles: &[String],
        then: ExploredEnding,
        world: &Oracle<'_>,
    ) -> Option<ProductNode<'p>> {
        let at = self.approved(node, wire, args, roles, world)?;
        let what = at.proposal(wire, args, then);
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
}

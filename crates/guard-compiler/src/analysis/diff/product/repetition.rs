//! Doing the same again, beside an unsettled call, or a while later: what a search that does not count would miss.

use super::{FULL, Product, ProductNode};
use crate::analysis::explore::session::{Act, ExploredEnding, SessionStep};
use crate::analysis::explore::slice::Slice;
use crate::analysis::explore::state_key::Resources;
use crate::analysis::explore::world::Oracle;
use guard_plan::json::Json;
use std::collections::BTreeSet;

/// Most rounds of the same call.
const ROUNDS: usize = 700;
/// Most arguments of a call that is not settled, and of one beside it.
const FLYING: usize = 4;

impl<'s, 'p> Product<'s, 'p> {
    /// Calls that are not settled, beside which this one is proposed.
    pub(super) fn in_flight(&mut self, node: &ProductNode<'p>, tools: &[String]) {
        let wire = self.wire;
        for other in tools {
            for args in self.args(node, other).into_iter().take(FLYING) {
                if self.done() || (self.stop)() {
                    return;
                }
                let oracle = Oracle::new(self.new.program, &self.new.answers, true);
                let old = self.judge(self.old, &node.old, other, &args, &oracle);
                let roles = old.asked();
                let flying =
                    self.settled(node, other, &args, &roles, ExploredEnding::Flies, &oracle);
                let Some(flying) = flying else { continue };
                for args in self.args(&flying, wire).into_iter().take(FLYING) {
                    let oracle = Oracle::new(self.new.program, &self.new.answers, true);
                    self.compare(&flying, wire, &args, [&oracle; 2]);
                }
            }
        }
    }

    /// The last call again and again, and a while later where both refuse.
    pub(super) fn repeat(&mut self, first: &ProductNode<'p>, approved: usize) {
        let Some(SessionStep { act: Act::Call { args, then, .. }, world, .. }) =
            first.session.steps.last()
        else {
            return;
        };
        let args = args.clone();
        let then = then.clone();
        let world = world.clone();
        for then in [then, ExploredEnding::Fails] {
            if self.done() || (self.stop)() {
                return;
            }
            self.again(first.clone(), &args, &then, &world, approved);
        }
    }

    pub(super) fn again(
        &mut self,
        mut node: ProductNode<'p>,
        args: &Json,
        then: &ExploredEnding,
        world: &[(crate::analysis::reference::Ask, Json)],
        most_approved: usize,
    ) {
        let wire = self.wire;
        let answers: &'s [Vec<Json>] = &self.new.answers;
        let fixed = Oracle::told(self.new.program, answers, world);
        let mut approved = 0;
        for round in 0..ROUNDS.min(self.calls) {
            if (self.stop)() || node.old.is_heavy() || node.new.is_heavy() {
                return;
            }
            let judged = self.compare(&node, wire, args, [&fixed.again(), &fixed.again()]);
            let Some([old, _]) = judged else { return };
            let roles = old.asked();
            if !roles.is_empty() {
                approved += 1;
            }
            if old.rank() == 0 || (!roles.is_empty() && approved < most_approved) {
                let Some(next) = self.settled(&node, wire, args, &roles, then.clone(), &fixed)
                else {
                    return;
                };
                if self.standing(&next) == self.standing(&node) {
                    // Nothing that is asked after has changed, and nothing would the next time.
                    return;
                }
                node = next;
                continue;
            }
            let varied = self.varied(&node, args, round);
            let Some(next) = varied.or_else(|| self.later(&node, args, &fixed)) else { return };
            node = next;
        }
    }

    /// The last call with another text each time, until what it writes is full for one of the guards.
    pub(super) fn fill(&mut self, first: &ProductNode<'p>) {
        let Some(SessionStep {
            act: Act::Call { args: Json::Object(members), then, .. },
            world,
            ..
        }) = first.session.steps.last()
        else {
            return;
        };
        let wire = self.wire;
        let fixed = Oracle::told(self.new.program, &self.new.answers, world);
        for at in 0..members.len() {
            let Json::String(text) = &members[at].1 else { continue };
            let mut members = members.clone();
            let mut filled: Option<ProductNode<'p>> = None;
            for round in 0..FULL {
                if self.done() || (self.stop)() {
                    return;
                }
                members[at].1 = Json::string(&format!("{text}{round}"));
                let node = filled.as_ref().unwrap_or(first);
                let args = Json::Object(members.clone());
                let judged = self.compare(node, wire, &args, [&fixed.again(), &fixed.again()]);
                let Some([old, _]) = judged else { break };
                let next = self.settled(node, wire, &args, &old.asked(), then.clone(), &fixed);
                let Some(next) = next else { break };
                filled = Some(next);
            }
        }
    }

    /// The core of the session, as each guard asks after it, and its spending.
    fn standing(&self, node: &ProductNode<'p>) -> [(Vec<u8>, Resources); 2] {
        self.sides(node).map(|(side, session)| {
            let core = side.questions.core(session, &Slice::whole(side.program));
            (core, side.questions.resources(session))
        })
    }

    /// A similar call that both allow, where a limit of identical calls is in the way.
    pub(super) fn varied(
        &mut self,
        node: &ProductNode<'p>,
        args: &Json,
        round: usize,
    ) -> Option<ProductNode<'p>> {
        let Json::Object(members) = args else { return None };
        for at in 0..members.len() {
            let Json::String(text) = &members[at].1 else { continue };
            let mut members = members.clone();
            members[at].1 = Json::string(&format!("{text}{round}"));
            let args = Json::Object(members);
            let oracle = Oracle::new(self.new.program, &self.new.answers, false);
            let [old, _] = self.compare(node, self.wire, &args, [&oracle; 2])?;
            if old.rank() == 0 {
                let then = ExploredEnding::Succeeds(None);
                return self.settled(node, self.wire, &args, &[], then, &oracle);
            }
        }
        None
    }

    /// A while later, when the two differ or allow again.
    pub(super) fn later(
        &mut self,
        node: &ProductNode<'p>,
        args: &Json,
        world: &Oracle<'_>,
    ) -> Option<ProductNode<'p>> {
        let mut waits: BTreeSet<i64> = BTreeSet::new();
        for (side, session) in self.sides(node) {
            waits.extend(side.inputs.waits(&side.questions, session));
        }
        for wait in waits {
            let next = self.both(node, Act::Wait(wait), &world.again())?;
            let worlds = [&world.again(), &world.again()];
            let [old, _] = self.compare(&next, self.wire, args, worlds)?;
            if old.rank() == 0 {
                return Some(next);
            }
        }
        None
    }
}

//! A proposal, decided again: what it would come to, what it came to, and what cannot be said of it.

use super::Replay;
use super::compare::same_feedback;
use super::hidden::Hidden;
use super::world::Then;
use guard_plan::json::Json;
use guard_plan::record::{self, Asked, Record};
use guard_plan::replayed::Aspect;
use guard_plan::verdict::{Code, Decision, Verdict};
use guard_runtime::{Ending, Outcome, Proposal, Proposed, Settlement};

/// What a plan would say of a call.
struct Foreseen<'a> {
    /// The verdict; none where nobody looked.
    verdict: Option<Verdict>,
    /// The question on whose answer it depends, which nobody knows.
    unsaid: Option<String>,
    /// The answers under which the session goes on.
    world: Then<'a>,
}

/// What a decision is when its one missing answer is put both ways.
enum Supposed {
    /// The same; with one of the answers.
    Said(Verdict, bool),
    /// Another; with this answer as it was recorded.
    Goes(bool),
    /// Another, and never as recorded; or it cannot be put both ways.
    Open,
}

/// Whether a refusal may come from a missing answer: nothing else refuses.
fn depends_on_world(verdict: &Verdict) -> bool {
    let from_world =
        |code| matches!(code, Code::EvaluationError | Code::NotReady | Code::Lifecycle);
    verdict.decision == Decision::Deny
        && verdict
            .reasons
            .iter()
            .all(|reason| reason.decision != Decision::Deny || from_world(reason.code))
}

/// A result in a few words.
fn short(json: &Json) -> String {
    guard_plan::render::cut(&json.to_string(), 100)
}

impl Replay<'_> {
    /// A proposal, decided again.
    pub(super) fn propose(
        &mut self,
        record: &Record,
        proposal: &Proposal<'_>,
        then: &record::Propose<'_>,
        hidden: Hidden,
    ) -> Option<Outcome> {
        let kernel = &self.judge.kernel;
        let was = then.verdict.decision;
        // No rule looks into arguments that could not be read.
        let looks = |args| self.judge.looks.at_call(kernel, proposal.tool, args);
        let blind = hidden.asked || (hidden.body && proposal.args.json().is_some_and(looks));
        let Foreseen { verdict, unsaid, mut world } = self.foresee(proposal, &then.asked, was);
        let goes = verdict.as_ref().is_none_or(|verdict| verdict.decision == Decision::Allow);
        let mut proposed = None;
        // A call that did not run then, and would now, leaves no mark: nobody knows what it would have come to.
        if was == Decision::Allow || !goes {
            match kernel.propose(&mut self.session, proposal, &mut world) {
                Ok(now) => proposed = Some(now),
                Err(_) => {
                    self.said.recorded.untaken += 1;
                    return None;
                }
            }
        }
        let verdict = verdict.or_else(|| Some(proposed.as_ref()?.verdict.clone()))?;
        self.said.call();
        if blind {
            self.unsure |= was == Decision::Allow || self.remembers_refusals();
            let why = "an argument or answer is known by its mark only".into();
            self.said.unsaid_secret(record, why);
        } else if let Some(missing) = unsaid {
            let ran = proposed.as_ref().is_some_and(|now| now.verdict.decision == Decision::Allow);
            let otherwise = verdict.decision != was && self.remembers_refusals();
            self.unsure |= (was == Decision::Allow && !ran) || otherwise;
            self.said.unsaid_world(record, format!("nobody was asked {missing}"));
        } else {
            self.said.verdict(record, &then.verdict, &verdict, self.unsure);
        }
        self.served(record, then, proposal, proposed.as_ref());
        let delivered = proposed.as_ref().map_or(&[][..], |now| &now.feedback);
        let comparable = verdict.decision == was && world.missing.is_none();
        if comparable && !same_feedback(&then.feedback, delivered) {
            self.said.words(record, Aspect::Feedback, &then.feedback, delivered, self.unsure);
        }
        proposed.map(Outcome::Proposed)
    }

    /// What the plan would say of a call, before anything is done.
    fn foresee<'a>(
        &mut self,
        proposal: &Proposal<'_>,
        asked: &'a [Asked],
        was: Decision,
    ) -> Foreseen<'a> {
        let mut foreseen = Foreseen { verdict: None, unsaid: None, world: Then::new(asked) };
        if self.recorder.is_some() && was == Decision::Allow {
            // It can hardly be otherwise, and the one who looks twice pays twice.
            return foreseen;
        }
        let mut world = Then::new(asked);
        let kernel = &self.judge.kernel;
        let decided =
            kernel.check_with(&self.session, proposal, &mut world, &mut self.scratch).verdict;
        let missing = world.missing.take().filter(|_| depends_on_world(&decided));
        let Some(missing) = missing else {
            return Foreseen { verdict: Some(decided), ..foreseen };
        };
        match self.suppose(proposal, &world, was) {
            Supposed::Said(now, answer) => {
                (foreseen.verdict, foreseen.world) = (Some(now), world.supposing(answer));
            }
            Supposed::Goes(answer) => {
                foreseen.verdict = Some(Verdict { decision: was, ..decided });
                (foreseen.unsaid, foreseen.world) = (Some(missing), world.supposing(answer));
            }
            Supposed::Open => {
                (foreseen.verdict, foreseen.unsaid) = (Some(decided), Some(missing));
            }
        }
        foreseen
    }

    /// Whether a refused call leaves something in the session: a cadence, an answer of a probe.
    fn remembers_refusals(&self) -> bool {
        let plan = self.judge.kernel.plan();
        !plan.feedback.is_empty() || !plan.probes.is_empty()
    }

    /// Decides with the one missing answer put both ways. Nothing is guessed: only where both ways come to the same
    /// decision is it said.
    fn suppose(&mut self, proposal: &Proposal<'_>, world: &Then<'_>, was: Decision) -> Supposed {
        if world.open {
            return Supposed::Open;
        }
        let mut ways = [true, false].map(|answer| {
            let mut world = world.supposing(answer);
            let now = self.judge.kernel.check_with(
                &self.session,
                proposal,
                &mut world,
                &mut self.scratch,
            );
            // A second question shows itself only when the first is answered.
            (answer, now.verdict, world.open)
        });
        if !ways[0].2 && !ways[1].2 && ways[0].1.decision == ways[1].1.decision {
            let [(answer, verdict, _), _] = ways;
            return Supposed::Said(verdict, answer);
        }
        ways.reverse();
        let goes = ways.iter().find(|(_, verdict, _)| verdict.decision == was);
        goes.map_or(Supposed::Open, |(answer, ..)| Supposed::Goes(*answer))
    }

    /// A call that the kernel served, then or now.
    fn served(
        &mut self,
        record: &Record,
        then: &record::Propose<'_>,
        proposal: &Proposal<'_>,
        now: Option<&Proposed>,
    ) {
        let Some(now) = now.filter(|now| now.verdict.decision == Decision::Allow) else { return };
        match (&then.served, &now.served) {
            (Some(then), Some(now)) if **then != *now => {
                let (then, now) = (short(then), short(now));
                self.said.aspect(record, Aspect::Item, &then, &now, self.unsure);
            }
            (Some(result), None) => {
                // The host runs it now; what the kernel did then is the best that is known of it.
                let ending = Ending::Success(Some(result));
                let settlement = Settlement { call: proposal.call, ending, now: proposal.now };
                let _ =
                    self.judge.kernel.settle(&mut self.session, &settlement, &mut Then::new(&[]));
            }
            _ => {}
        }
    }
}

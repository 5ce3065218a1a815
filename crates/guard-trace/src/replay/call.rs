//! Replay of a proposal: the new decision, the recorded one, and the cases that cannot be decided.

use super::Replay;
use super::compare::same_feedback;
use super::hidden::Hidden;
use super::world::RecordedAnswers;
use guard_plan::json::Json;
use guard_plan::record::{self, Asked, Record};
use guard_plan::replay_report::Aspect;
use guard_plan::verdict::{Code, Decision, Verdict};
use guard_runtime::{Ending, Outcome, Proposal, Proposed, Settlement};

/// The decision that a plan would make on a call.
struct ForeseenDecision<'a> {
    /// The verdict; `None` if the call was not evaluated.
    verdict: Option<Verdict>,
    /// The unrecorded question whose answer decides the verdict.
    unsaid: Option<String>,
    /// The answers with which the session continues.
    world: RecordedAnswers<'a>,
}

/// The decision with both possible answers to its one missing question.
enum Hypothetical {
    /// The decision is the same with both answers. Contains the verdict for one of them, and that
    /// answer.
    Said(Verdict, bool),
    /// The decisions differ. With this answer the decision is as recorded.
    Goes(bool),
    /// The decisions differ and neither is as recorded, or the question is not a yes-or-no
    /// question.
    Open,
}

/// Returns true if a refusal may come from a missing answer: nothing else refuses.
fn depends_on_world(verdict: &Verdict) -> bool {
    let from_world =
        |code| matches!(code, Code::EvaluationError | Code::NotReady | Code::Lifecycle);
    verdict.decision == Decision::Deny
        && verdict
            .reasons
            .iter()
            .all(|reason| reason.decision != Decision::Deny || from_world(reason.code))
}

/// Summarizes a result.
fn short(json: &Json) -> String {
    guard_plan::render::cut(&json.to_string(), 100)
}

impl Replay<'_> {
    /// Replays a proposal.
    pub(super) fn propose(
        &mut self,
        record: &Record,
        proposal: &Proposal<'_>,
        then: &record::Propose<'_>,
        hidden: Hidden,
    ) -> Option<Outcome> {
        let kernel = &self.judge.kernel;
        let was = then.verdict.decision;
        // No rule reads arguments that could not be parsed.
        let looks = |args| self.judge.looks.at_call(kernel, proposal.tool, args);
        let blind = hidden.asked || (hidden.body && proposal.args.json().is_some_and(looks));
        let ForeseenDecision { verdict, unsaid, mut world } =
            self.foresee(proposal, &then.asked, was);
        let goes = verdict.as_ref().is_none_or(|verdict| verdict.decision == Decision::Allow);
        let mut proposed = None;
        // A call that was refused in the recording and would now be allowed changes nothing,
        // because its outcome is unknown.
        if was == Decision::Allow || !goes {
            match kernel.propose(&mut self.session, proposal, &mut world) {
                Ok(now) => proposed = Some(now),
                Err(error) => {
                    self.said.recorded.untaken += 1;
                    self.refusal = Some(error);
                    return None;
                }
            }
        }
        let verdict = verdict.or_else(|| Some(proposed.as_ref()?.verdict.clone()))?;
        self.said.call();
        if blind {
            self.unsure |= was == Decision::Allow || self.remembers_refusals();
            let why = "only the mark of an argument or answer is known".into();
            self.said.unsaid_secret(record, why);
        } else if let Some(missing) = unsaid {
            let ran = proposed.as_ref().is_some_and(|now| now.verdict.decision == Decision::Allow);
            let otherwise = verdict.decision != was && self.remembers_refusals();
            self.unsure |= (was == Decision::Allow && !ran) || otherwise;
            self.said.unsaid_world(record, format!("the recorded session did not ask {missing}"));
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

    /// Evaluates a call without changing the session.
    fn foresee<'a>(
        &mut self,
        proposal: &Proposal<'_>,
        asked: &'a [Asked],
        was: Decision,
    ) -> ForeseenDecision<'a> {
        let mut foreseen =
            ForeseenDecision { verdict: None, unsaid: None, world: RecordedAnswers::new(asked) };
        if self.recorder.is_some() && was == Decision::Allow {
            // A second evaluation would cost as much and would rarely differ.
            return foreseen;
        }
        let mut world = RecordedAnswers::new(asked);
        let kernel = &self.judge.kernel;
        let decided =
            kernel.check_with(&self.session, proposal, &mut world, &mut self.scratch).verdict;
        let missing = world.missing.take().filter(|_| depends_on_world(&decided));
        let Some(missing) = missing else {
            return ForeseenDecision { verdict: Some(decided), ..foreseen };
        };
        match self.suppose(proposal, &world, was) {
            Hypothetical::Said(now, answer) => {
                (foreseen.verdict, foreseen.world) = (Some(now), world.supposing(answer));
            }
            Hypothetical::Goes(answer) => {
                foreseen.verdict = Some(Verdict { decision: was, ..decided });
                (foreseen.unsaid, foreseen.world) = (Some(missing), world.supposing(answer));
            }
            Hypothetical::Open => {
                (foreseen.verdict, foreseen.unsaid) = (Some(decided), Some(missing));
            }
        }
        foreseen
    }

    /// Returns true if a refused call changes the session: a cadence, or the answer of a probe.
    fn remembers_refusals(&self) -> bool {
        let plan = self.judge.kernel.plan();
        !plan.feedback.is_empty() || !plan.probes.is_empty()
    }

    /// Decides with both answers to the one missing question. Nothing is guessed: a decision is
    /// reported only if both answers lead to it.
    fn suppose(
        &mut self,
        proposal: &Proposal<'_>,
        world: &RecordedAnswers<'_>,
        was: Decision,
    ) -> Hypothetical {
        if world.open {
            return Hypothetical::Open;
        }
        let mut ways = [true, false].map(|answer| {
            let mut world = world.supposing(answer);
            let now = self.judge.kernel.check_with(
                &self.session,
                proposal,
                &mut world,
                &mut self.scratch,
            );
            // A second missing question appears only after the first is answered.
            (answer, now.verdict, world.open)
        });
        if !ways[0].2 && !ways[1].2 && ways[0].1.decision == ways[1].1.decision {
            let [(answer, verdict, _), _] = ways;
            return Hypothetical::Said(verdict, answer);
        }
        ways.reverse();
        let goes = ways.iter().find(|(_, verdict, _)| verdict.decision == was);
        goes.map_or(Hypothetical::Open, |(answer, ..)| Hypothetical::Goes(*answer))
    }

    /// Replays a call that the kernel served in the recording, or serves now.
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
                let then = short(then);
                let now = short(now);
                self.said.aspect(record, Aspect::Item, &then, &now, self.unsure);
            }
            (Some(result), None) => {
                // The host would run the call now. The recorded result of the kernel is the best
                // available one.
                let ending = Ending::Success(Some(result));
                let settlement = Settlement { call: proposal.call, ending, now: proposal.now };
                let _ = self.judge.kernel.settle(
                    &mut self.session,
                    &settlement,
                    &mut RecordedAnswers::new(&[]),
                );
            }
            _ => {}
        }
    }
}

//! One call of a round: proposed, approved if necessary, run if allowed, and settled.

use super::{DriveEnd, Driver, DriverCall, strange};
use crate::drive::io::{Approved, ToolOutcome, Wanted};
use crate::drive::report;
use guard_plan::drive::{AttemptedCall, Round, RoundOutcome};
use guard_plan::json::Json;
use guard_plan::verdict::{Decision, Reason, Verdict};
use guard_runtime::{CallApproval, Ending, Event, Outcome, Proposal, Proposed, Settlement};

impl Driver<'_, '_> {
    /// Proposes a call to the kernel, and runs it if it is allowed. The inner error is the reason
    /// for a refusal.
    pub(super) fn perform(
        &mut self,
        call: &DriverCall,
        round: &mut Round,
    ) -> DriveEnd<Result<(), String>> {
        // The fallback is a second proposal of the round, and needs an id of its own.
        let id = format!("drive-{}{}", round.number, if call.fallback { "-fallback" } else { "" });
        let mut proposed = self.propose(&id, call)?;
        // No approval is requested for a call that the reasoner did not choose.
        let asks = proposed.verdict.decision == Decision::Ask && !call.fallback;
        if asks && self.approve(call, &proposed.verdict)? {
            proposed = self.propose(&id, call)?;
        }
        let Proposed { verdict, served, .. } = proposed;
        let decision = verdict.decision;
        let why = words(&verdict);
        round.proposed = Some(AttemptedCall {
            call: id.clone(),
            tool: call.tool.clone(),
            args: report::args(self.session.kernel(), &call.tool, &call.args),
            fallback: call.fallback,
            value: call.value,
            decision,
            reasons: verdict.reasons,
        });
        match decision {
            // A call that the kernel serves itself is allowed but never in flight.
            Decision::Allow if self.session.state().in_flight().contains(&&*id) => {
                self.run_call(&id, call, round).map(Ok)
            }
            Decision::Allow => {
                self.succeeded(call, served.as_ref(), round);
                Ok(Ok(()))
            }
            Decision::Ask => {
                self.progress.idled();
                self.say(format!("`{}` was not approved: {why}", call.tool));
                round.outcome = RoundOutcome::NotApproved;
                Ok(Ok(()))
            }
            Decision::Deny | Decision::Wait => Ok(Err(why)),
        }
    }

    fn propose(&mut self, id: &str, call: &DriverCall) -> DriveEnd<Proposed> {
        let now = self.now();
        let proposal = Proposal { call: id, tool: &call.tool, args: (&call.args).into(), now };
        match self.step(&Event::Propose(proposal))? {
            Outcome::Proposed(proposed) => Ok(proposed),
            _ => Err(strange()),
        }
    }

    /// Asks every role whose approval is missing. Returns true if all of them approved.
    fn approve(&mut self, call: &DriverCall, verdict: &Verdict) -> DriveEnd<bool> {
        let DriverCall { tool, args, .. } = call;
        let asks = verdict.reasons.iter().filter(|reason| reason.decision == Decision::Ask);
        for reason in asks {
            for role in &reason.needs {
                let wanted = Wanted { tool, args, role, message: &reason.message };
                let Some(Approved { by, expires }) = self.io.approvals.ask(&wanted) else {
                    return Ok(false);
                };
                let now = self.now();
                let approve = CallApproval { tool, args, role, by: &by, expires, now };
                self.step(&Event::Approve(approve))?;
            }
        }
        Ok(true)
    }

    /// Runs an allowed call, and settles it.
    fn run_call(&mut self, id: &str, call: &DriverCall, round: &mut Round) -> DriveEnd<()> {
        let outcome = self.io.tools.run(&call.tool, &call.args);
        let ending = match &outcome {
            ToolOutcome::Success(result) => Ending::Success(result.as_ref()),
            ToolOutcome::Failure(_) => Ending::Failure,
        };
        let now = self.now();
        // The settlement comes before anything else, so that no error leaves the call in flight.
        self.step(&Event::Settle(Settlement { call: id, ending, now }))?;
        match &outcome {
            ToolOutcome::Success(result) => self.succeeded(call, result.as_ref(), round),
            ToolOutcome::Failure(why) => {
                self.held = false;
                self.progress.failed(self.changed());
                let why = report::failure(self.session.kernel(), &call.tool, why);
                self.tell(call, &format!("failed: {why}"));
                round.outcome = RoundOutcome::Failed(why);
            }
        }
        Ok(())
    }

    /// Records a successful call: one that was run, or one that the kernel served.
    fn succeeded(&mut self, call: &DriverCall, result: Option<&Json>, round: &mut Round) {
        self.held = false;
        self.progress.succeeded(&call.tool, &call.args, self.changed());
        round.outcome = RoundOutcome::Succeeded;
        let result =
            result.and_then(|result| report::result(self.session.kernel(), &call.tool, result));
        self.tell(call, &format!("succeeded{}", result.unwrap_or_default()));
    }

    /// Adds the ending of a call to the reasoner's next situation.
    fn tell(&mut self, call: &DriverCall, ended: &str) {
        let before =
            self.last.take().map(|before| format!("{before}; instead ")).unwrap_or_default();
        self.say(format!("{before}`{}` {ended}", call.tool));
    }

    /// Returns true if the last settlement changed the state.
    fn changed(&self) -> bool {
        let mut changes = self.session.state().changes().iter();
        changes.any(|(var, before)| self.session.state().value(*var) != Some(before))
    }
}

/// Returns all reasons of a refusal.
fn words(verdict: &Verdict) -> String {
    let reason = |reason: &Reason| {
        let help =
            if reason.help.is_empty() { String::new() } else { format!(" ({})", reason.help) };
        format!("{}: {}{help}", reason.code.as_str(), reason.message)
    };
    verdict.reasons.iter().map(reason).collect::<Vec<_>>().join("; ")
}

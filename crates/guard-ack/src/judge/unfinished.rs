//! The promise that is broken when an adapter is silent, or ends, in the middle of a run.
//!
//! The kit does not see settlements. It sees the call that has no answer, and the calls that ended
//! before it: a guard holds a call back only while another call is in flight.

use super::{BrokenPromise, RunJudge};
use crate::adapter::{AdapterTrouble, TroubleKind};
use crate::case::{CallFile, Case};
use crate::observed::{RanCall, RunSeen};
use crate::protocol::{FailureKind, Outage, Question};
use std::collections::BTreeMap;

/// The clauses about calls that do not run and are not counted.
const REFUSED: [&str; 4] = ["GATE-17", "GATE-18", "GATE-19", "GATE-20"];

/// A run that did not end, with all observations of the case so far.
pub struct UnfinishedRun<'a> {
    /// The case.
    pub case: &'a Case,
    /// The index of the run.
    pub number: usize,
    /// The runs that have ended, in the order of the case.
    pub before: &'a [RunSeen],
    /// The run, and the parallel run.
    pub runs: &'a [RunSeen],
    /// Maps the case's id of a call to the adapter's.
    pub ids: &'a BTreeMap<String, String>,
    /// The reason why the run did not end.
    pub trouble: &'a AdapterTrouble,
}

/// A call that ended, and the turn that made it.
struct EndedCall<'a> {
    script: &'a CallFile,
    served: &'a RanCall,
    /// The indexes of its run and turn.
    place: (usize, usize),
}

impl UnfinishedRun<'_> {
    /// Returns the broken promise; empty if no call is open, so that the adapter cannot be judged.
    pub fn broken(&self) -> Vec<BrokenPromise> {
        let Some(seen) = self.runs.first() else { return Vec::new() };
        let bench = &mut RunJudge::new(self.case, self.number, seen, self.ids);
        if matches!(self.trouble.kind, TroubleKind::Hang | TroubleKind::Crash)
            && !self.during_outage(bench)
        {
            // Before the model is asked, no call is open.
            let _ = seen.shown.is_empty()
                || self.beside(bench)
                || self.cancelled(bench)
                || self.after_failure(bench)
                || self.held_back(bench);
        }
        std::mem::take(&mut bench.broken)
    }

    fn during_outage(&self, bench: &mut RunJudge) -> bool {
        let outage = self.case.world.outage_in(self.number);
        // The prompt is reported to the guard before the model is asked.
        let is_told =
            |outage: &&Outage| outage.on == Question::Prompt || !bench.seen.shown.is_empty();
        let Some(outage) = outage.filter(is_told) else { return false };
        let turn = bench.seen.shown.len().checked_sub(1);
        let expected = format!(
            "with the outage `{}` of the guard, the adapter refuses the call or ends the run with an error",
            outage.how
        );
        let open = self.waiting(bench).map(|call| format!("; no answer to {}", name(call)));
        let observed = format!("{}{}", self.trouble_text(), open.unwrap_or_default());
        bench.breaks("GATE-22", turn, expected, observed);
        true
    }

    /// Checks the case that the run of another session is still in progress, while a call of this
    /// run is held until that run ends.
    fn beside(&self, bench: &mut RunJudge) -> bool {
        let during = self.case.run.get(self.number + 1).and_then(|run| run.during.as_ref());
        let (Some(during), Some(beside)) = (during, self.runs.get(1)) else { return false };
        let Some(held) = bench.served(during) else { return false };
        if beside.end.is_some() || self.trouble.kind != TroubleKind::Hang {
            return false;
        }
        let expected = format!(
            "the run of another session ends while `{during}` ({}) is in flight",
            held.call.tool
        );
        let observed = format!(
            "{}; that run asked the model {} times",
            self.trouble_text(),
            beside.shown.len()
        );
        bench.breaks("LOOP-11", None, expected, observed);
        true
    }

    /// Checks the case that the run was cancelled and continues.
    fn cancelled(&self, bench: &mut RunJudge) -> bool {
        let earlier = self.earlier();
        let last = earlier.last().filter(|call| call.is_cancelled() && call.place.0 == self.number);
        let Some(last) = last else { return false };
        let expected = format!("the run ends as `cancelled` after {}", name(last.script));
        let observed = format!("{}; {}", self.trouble_text(), last.ending());
        bench.breaks("LOOP-8", Some(last.place.1), expected, observed);
        true
    }

    /// Checks the case that every call of the turn ran, one of them failed, and the model is not
    /// asked again.
    fn after_failure(&self, bench: &mut RunJudge) -> bool {
        // A silent adapter with an open call is judged by the call that holds it back.
        if self.trouble.kind == TroubleKind::Hang && self.waiting(bench).is_some() {
            return false;
        }
        let turn = bench.seen.shown.len() - 1;
        let earlier = self.earlier();
        let here =
            |call: &&EndedCall| call.place == (self.number, turn) && call.script.is_failure();
        let Some(failed) = earlier.iter().rfind(here) else { return false };
        let clause = if failed.script.failure.is_some() { "GATE-21" } else { "LOOP-6" };
        let expected = format!("the loop continues after {} failed", name(failed.script));
        let observed = format!("{}; {}", self.trouble_text(), failed.ending());
        bench.breaks(clause, Some(turn), expected, observed);
        true
    }

    /// Checks the case that a call of the turn has no answer, and an earlier call may still be in
    /// flight for the guard.
    fn held_back(&self, bench: &mut RunJudge) -> bool {
        let Some(waiting) = self.waiting(bench).filter(|_| self.trouble.kind == TroubleKind::Hang)
        else {
            return false;
        };
        let turn = bench.seen.shown.len() - 1;
        let earlier = self.earlier();
        let Some((clause, holder)) = self.holder(&earlier, waiting, turn) else { return false };
        let waits = format!("{} has neither begun nor an answer", name(waiting));
        let since = match bench.seen.asked.last() {
            Some(message) => format!(", since the model made it in message {}", message + 1),
            None => String::new(),
        };
        let (expected, open) = match holder {
            Some(holder) if clause.starts_with("PAR-") => (
                format!(
                    "{} is settled, and {} put to the guard again",
                    name(holder.script),
                    name(waiting)
                ),
                format!("; {}, {}", name(holder.script), holder.ending()),
            ),
            Some(holder) => (
                format!(
                    "{} is no longer in flight when {} is judged",
                    name(holder.script),
                    name(waiting)
                ),
                format!("; open: {} of {}, {}", name(holder.script), holder.at(), holder.ending()),
            ),
            None => (
                format!("{} waits for no call that the framework refused", name(waiting)),
                String::new(),
            ),
        };
        let observed = format!("{}; {waits}{since}{open}", self.trouble_text());
        bench.breaks(&clause, Some(turn), expected, observed);
        true
    }

    /// Returns the call that a call most likely waits for, and the clause that its adapter breaks.
    /// A call that was cancelled or failed is preferred to a success, because a success that is
    /// never settled shows in every case.
    fn holder<'e, 'a>(
        &self,
        earlier: &'e [EndedCall<'a>],
        waiting: &CallFile,
        turn: usize,
    ) -> Option<(String, Option<&'e EndedCall<'a>>)> {
        let own =
            |prefix: &str| self.case.clause.starts_with(prefix).then(|| self.case.clause.clone());
        let last = |is: &dyn Fn(&EndedCall) -> bool| earlier.iter().rfind(|call| is(call));
        if let Some(cancelled) = last(&|call| call.is_cancelled()) {
            return Some(("LOOP-8".into(), Some(cancelled)));
        }
        let beside = last(&|call| call.place == (self.number, turn));
        // If nothing runs, no promise about separate runs is broken.
        let parallel = own("PAR-").filter(|clause| clause != "PAR-2");
        if let (Some(clause), Some(_)) = (parallel, &beside) {
            return Some((clause, beside));
        }
        if let Some(failed) = last(&|call| call.script.is_failure()) {
            return Some(("GATE-21".into(), Some(failed)));
        }
        if beside.is_some() {
            return Some(("PAR-3".into(), beside));
        }
        // In the first turn of the first run, no call was refused before.
        let refused = REFUSED.contains(&self.case.clause.as_str()) && (self.number, turn) != (0, 0);
        if refused {
            return Some((self.case.clause.clone(), None));
        }
        let must_run = self.case.run[self.number].expect.executed.contains(&waiting.id);
        let succeeded = earlier.last().filter(|_| must_run)?;
        Some(("GATE-9".into(), Some(succeeded)))
    }

    /// Returns the first call of the turn that has not begun. A call that should run is preferred
    /// to one that should be refused.
    fn waiting(&self, bench: &RunJudge) -> Option<&CallFile> {
        let run = &self.case.run[self.number];
        let turn = run.turn.get(bench.seen.shown.len().checked_sub(1)?)?;
        let mut open = turn.calls.iter().filter(|call| bench.served(&call.id).is_none());
        let must_run = |call: &&CallFile| run.expect.executed.contains(&call.id);
        open.clone().find(must_run).or_else(|| open.next())
    }

    /// Returns the calls of the session that the kit has ended, in order.
    fn earlier(&self) -> Vec<EndedCall<'_>> {
        let session = &self.case.run[self.number].session;
        let seen = self.before.iter().chain(self.runs.first());
        let of_session = self.case.run.iter().zip(seen).enumerate();
        let of_session = of_session.filter(|(_, (run, _))| run.session == *session);
        let calls = of_session.flat_map(|(at, (run, seen))| {
            seen.executed.iter().filter(|served| served.ended.is_some()).filter_map(move |served| {
                let made = run.turn.iter().enumerate().find_map(|(turn, file)| {
                    let script =
                        file.calls.iter().find(|call| Some(&call.id) == served.id.as_ref());
                    script.map(|script| (turn, script))
                });
                made.map(|(turn, script)| EndedCall { script, served, place: (at, turn) })
            })
        });
        calls.collect()
    }

    fn trouble_text(&self) -> &str {
        &self.trouble.message
    }
}

impl EndedCall<'_> {
    fn is_cancelled(&self) -> bool {
        self.script.failure == Some(FailureKind::Cancelled)
    }

    /// Formats the position: `run 1, turn 2`.
    fn at(&self) -> String {
        format!("run {}, turn {}", self.place.0 + 1, self.place.1 + 1)
    }

    /// Describes the way in which it ended, and the message at which it did.
    fn ending(&self) -> String {
        let how = match self.script.failure {
            Some(failure) => format!("`{failure}`"),
            None if self.script.is_failure() => "a failure".into(),
            None => "a success".into(),
        };
        match self.served.told {
            Some(message) => format!("reported as {how} in message {}", message + 1),
            None => format!("reported as {how}"),
        }
    }
}

/// Formats a call: `` `a` (lint) ``.
fn name(call: &CallFile) -> String {
    format!("`{}` ({})", call.id, call.tool)
}

//! A session that continues under another guard: one that allows nothing more, or one that a person
//! forces.
//!
//! The kernel transfers the state. This module determines whether a person must approve the change,
//! and records the change before the new guard decides anything.

use crate::error::SessionError;
use crate::guard::Guard;
use crate::persistence::unit_of;
use crate::session::Session;
use guard_compiler::diff::{Answer, Diff, WitnessLimits, diff};
use guard_compiler::explore::events_of;
use guard_plan::plan::Plan;
use guard_plan::record::Forced;
use guard_runtime::{Forgotten, Upgraded, World, completion_text};
use guard_trace::{answers_for, upgrade_payload};

/// The maximum number of attempts to upgrade. An attempt fails when another process has written to the session.
const MAX_ATTEMPTS: usize = 100;

/// The result of an upgrade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionUpgrade {
    /// The content hash of the old plan.
    pub from: String,
    /// The state that is new under the new guard: the old session did not have it.
    pub anew: Vec<String>,
    /// The state of the old session that the new guard does not keep.
    pub dropped: Vec<String>,
    /// The record; `None` if the session used this plan already.
    pub record: Option<String>,
}

impl Guard {
    /// Returns what the guard `new` may allow and this one refuses, one sentence each. Sessions of
    /// this guard must not continue under `new` until a person approves these changes. The list is
    /// empty if every decision is proved to be the same or tighter.
    ///
    /// ```
    /// let guard = guard_sdk::Guard::compile("a.guard", "guard demo\ntool pay(amount: int in 1..=9)")?;
    /// let tighter = guard_sdk::Guard::compile("a.guard", "guard demo\ntool pay(amount: int in 1..=5)")?;
    /// assert!(guard.looser_under(&tighter)?.is_empty());
    /// assert!(!tighter.looser_under(&guard)?.is_empty());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::NotCompared`] if one of the guards was loaded from a plan: only sources can
    /// be compared.
    pub fn looser_under(&self, new: &Guard) -> Result<Vec<String>, SessionError> {
        if self.plan_hash() == new.plan_hash() {
            return Ok(Vec::new());
        }
        let (Some(old), Some(checked)) = (self.checked(), new.checked()) else {
            return Err(SessionError::NotCompared);
        };
        Ok(self.compared(new, || {
            let scenarios = [&old.scenarios, &checked.scenarios];
            let programs = [&old.program, &checked.program];
            let seeds = scenarios.into_iter().flat_map(|all| events_of(all, &programs));
            let limits =
                WitnessLimits { seeds: seeds.collect(), running: true, ..WitnessLimits::default() };
            let compared = diff(&old.program, &checked.program, &limits, &|| false);
            let mut found = looser(&compared);
            if self.plan().completion.is_some() && compared.stops_otherwise {
                found.push("the agent may stop under a different condition".into());
            }
            found.extend(unsaid(self.plan(), new.plan()));
            found
        }))
    }
}

/// Returns what the new guard may allow beyond the old one, from a comparison.
fn looser(found: &Diff) -> Vec<String> {
    let mut looser = Vec::new();
    for tool in &found.tools {
        match &tool.looser {
            Answer::No => {}
            Answer::Yes(_) => looser.push(format!("a call of `{}` is allowed now", tool.tool)),
            Answer::Unknown { because, .. } => {
                let because = because.join(", ");
                looser.push(format!("a call of `{}` may be allowed now: {because}", tool.tool));
            }
        }
    }
    if let Some(what) = found.undeclared.filter(|what| what.is_looser()) {
        looser.push(format!("tools that are not declared {}", what.words()));
    }
    looser.extend(found.disclosed.iter().cloned());
    // It is not decided which of two contracts is stricter.
    looser.extend(found.contracts.iter().cloned());
    looser
}

/// Returns the relaxations that a comparison of two programs does not cover: those of completion and of
/// shadow mode.
fn unsaid(old: &Plan, new: &Plan) -> Vec<String> {
    let mut found = Vec::new();
    if old.completion.is_some() && completion_text(old) != completion_text(new) {
        found.push("the agent may stop under different conditions".into());
    }
    if old.completion.is_some() {
        found.extend(stops_sooner(old, new));
    }
    if new.shadow && !old.shadow {
        found.push("nothing is refused: the whole guard is in shadow".into());
    }
    found
}

/// Returns the conditions under which only the new guard lets a session stop. A session that cannot
/// continue may stop whatever is missing: at its deadline, and when a budget is used up.
fn stops_sooner(old: &Plan, new: &Plan) -> Vec<String> {
    let mut found = Vec::new();
    let sooner =
        |was: Option<i64>, is: Option<i64>| is.is_some_and(|is| was.is_none_or(|was| is < was));
    if sooner(old.deadline, new.deadline) {
        found.push("the agent may stop sooner, at the deadline".into());
    }
    for unit in &new.units {
        let was = old.units.iter().find(|known| known.name == unit.name);
        if sooner(was.and_then(|was| was.budget), unit.budget) {
            found.push(format!("the agent may stop sooner, when no `{}` is left", unit.name));
        }
    }
    found
}

impl<W: World> Session<W> {
    /// Continues under a guard that allows nothing that this one refuses. The state is transferred
    /// by name.
    ///
    /// ```
    /// use guard_sdk::Guard;
    /// let guard = Guard::compile("a.guard", "guard demo\ntool ping() { limit 3 per session }")?;
    /// let tighter = Guard::compile("a.guard", "guard demo\ntool ping() { limit 1 per session }")?;
    /// let mut session = guard.session("s1").open()?;
    /// session.propose("1", "ping", "{}")?;
    /// session.upgrade(&tighter)?;
    /// assert!(!session.propose("2", "ping", "{}")?.verdict.is_allowed());
    /// assert!(session.upgrade(&guard).is_err());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::NotTighter`] and [`SessionError::NotCompared`], where only a person can
    /// approve the change; [`SessionError::Upgrade`] if part of the state cannot be transferred;
    /// the store's errors. After any of these except the last, the session is unchanged.
    pub fn upgrade(&mut self, guard: &Guard) -> Result<SessionUpgrade, SessionError> {
        let looser = self.guard.looser_under(guard)?;
        if !looser.is_empty() {
            return Err(SessionError::NotTighter(looser));
        }
        self.go_on(guard, None)
    }

    /// Continues under any guard, because a person says so. The person's name and reason are
    /// recorded.
    ///
    /// ```
    /// use guard_sdk::Guard;
    /// let guard = Guard::compile("a.guard", "guard demo\ntool ping() { limit 1 per session }")?;
    /// let looser = Guard::compile("a.guard", "guard demo\ntool ping() { limit 3 per session }")?;
    /// let mut session = guard.session("s1").open()?;
    /// assert_eq!(session.upgrade(&looser).unwrap_err().code(), "not_tighter");
    /// let upgrade = session.upgrade_forced(&looser, "kim", Some("the sale"))?;
    /// assert!(upgrade.record.is_some_and(|record| record.contains("the sale")));
    /// assert_eq!(session.guard().plan_hash(), looser.plan_hash());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Step`] if `by` is empty; [`SessionError::Upgrade`] if part of the state
    /// cannot be transferred; the store's errors.
    pub fn upgrade_forced(
        &mut self,
        guard: &Guard,
        by: &str,
        reason: Option<&str>,
    ) -> Result<SessionUpgrade, SessionError> {
        guard_runtime::expect_somebody(by, "forces the guard")?;
        let reason = reason.map(|reason| reason.to_owned().into());
        self.go_on(guard, Some(Forced { by: by.to_owned().into(), reason }))
    }

    fn go_on(
        &mut self,
        guard: &Guard,
        forced: Option<Forced<'static>>,
    ) -> Result<SessionUpgrade, SessionError> {
        let now = self.now();
        crate::clock::expect_time(now)?;
        for _ in 0..MAX_ATTEMPTS {
            self.expect_sound()?;
            let from = self.guard.plan_hash();
            if from == guard.plan_hash() {
                let nothing = Vec::new;
                return Ok(SessionUpgrade {
                    from,
                    anew: nothing(),
                    dropped: nothing(),
                    record: None,
                });
            }
            let upgraded = self.guard.kernel().upgrade(&self.state, guard.kernel(), now);
            let upgraded = upgraded.map_err(SessionError::Upgrade)?;
            let lost = upgraded.lost();
            if forced.is_none() && !lost.is_empty() {
                let lost = lost.iter().map(|what| format!("{what} would be forgotten"));
                return Err(SessionError::NotTighter(lost.collect()));
            }
            let texts = |all: &[Forgotten]| all.iter().map(ToString::to_string).collect();
            let anew = texts(&upgraded.anew);
            let dropped = texts(&upgraded.dropped);
            if let Some(record) = self.switch(guard, upgraded, forced.clone())? {
                return Ok(SessionUpgrade { from, anew, dropped, record: Some(record) });
            }
        }
        Err(SessionError::Contended)
    }

    /// Records the upgrade, and uses the new guard from then on. Returns `None` if another process
    /// has written first.
    fn switch(
        &mut self,
        guard: &Guard,
        upgraded: Upgraded,
        forced: Option<Forced<'static>>,
    ) -> Result<Option<String>, SessionError> {
        let answers = answers_for(guard.kernel(), &self.world.answer_list());
        let mut recorder = self.recorder.clone();
        let secrets = self.persistence.secrets();
        let kernels = (self.guard.kernel(), guard.kernel());
        let payload =
            upgrade_payload(kernels, &upgraded, &answers, forced, (&*secrets, recorder.seq()))
                .ok_or(SessionError::NoKey)?;
        let record = recorder.upgraded(&upgraded.session, &payload).to_vec();
        let record = String::from_utf8_lossy(&record).into_owned();
        let shared = self.persistence.shared_budgets().into_iter();
        let shared = shared.map(|budget| unit_of(guard, budget)).collect::<Result<_, _>>()?;
        let answers = answers.into_iter().map(|(name, json)| (name.into(), json)).collect();
        let guard = std::mem::replace(&mut self.guard, guard.clone());
        let state = std::mem::replace(&mut self.state, upgraded.session);
        let recorder = std::mem::replace(&mut self.recorder, recorder);
        let answers = std::mem::replace(&mut self.world.answers, answers);
        let shared = self.persistence.share(shared);
        let kept = self.keep_with_snapshot(&record);
        if !matches!(kept, Ok(true)) {
            (self.guard, self.state, self.recorder) = (guard, state, recorder);
            self.world.answers = answers;
            self.persistence.share(shared);
        }
        if kept? { Ok(Some(record)) } else { self.reload().map(|()| None) }
    }
}

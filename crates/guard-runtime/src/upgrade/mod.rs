//! The continuation of a session under another plan (semantics §17): its state is transferred by
//! name.
//!
//! State that only the new plan has starts empty. State that only the old plan had is dropped. Both
//! are reported. State that cannot be transferred without guessing is an error. This module does
//! not decide whether the new plan allows more.

mod calls;
mod names;
mod text;

use crate::compiled::CompiledPlan;
use crate::error::UpgradeError;
use crate::open;
use crate::recall;
use crate::recheck;
use crate::session::probes::Attempts;
use crate::session::{SessionState, Truth};
use crate::settle::monitors;
use guard_plan::plan::Millis;
use names::OldPositions;
use std::fmt;

pub use text::completion as completion_text;

/// A kind of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Memory {
    /// The value of a variable.
    Variable,
    /// The amount spent of a unit.
    Spending,
    /// The calls that a limit has counted.
    Limit,
    /// The history of a tool's calls.
    History,
    /// The rows of a fact.
    Fact,
    /// The past truth values of a temporal operator.
    Past,
    /// The attempts of a probe.
    Probe,
    /// The items of a lifecycle.
    Items,
    /// The values that were seen, and the words of the user's prompts.
    Seen,
    /// An unused approval.
    Approval,
    /// All data about a removed tool: no rule can ask for it.
    Tool,
}

/// A part of the state that starts empty or is dropped.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Forgotten {
    /// The kind of memory.
    pub memory: Memory,
    /// The name, as text.
    pub what: String,
}

impl fmt::Display for Forgotten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// A session under its new plan.
#[derive(Debug)]
pub struct Upgraded {
    /// The session.
    pub session: SessionState,
    /// The state that only the new plan has, which starts empty.
    pub anew: Vec<Forgotten>,
    /// The state of the session that the new plan does not have.
    pub dropped: Vec<Forgotten>,
}

impl Upgraded {
    /// Returns the state that may have been lost. A rule of the new guard may replace one that read
    /// it, and then read state that started empty, now or in an earlier upgrade.
    pub fn lost(&self) -> Vec<&Forgotten> {
        let harmless = [Memory::Approval, Memory::Probe, Memory::Tool];
        self.dropped.iter().filter(|dropped| !harmless.contains(&dropped.memory)).collect()
    }
}

/// Transfers a session.
///
/// # Errors
///
/// Returns an error if state that both plans have is of another form, a call is in flight that the
/// new plan cannot settle, or the state is not valid in the new plan.
pub(crate) fn upgrade(
    old: &CompiledPlan,
    new: &CompiledPlan,
    session: &SessionState,
    now: Millis,
) -> Result<Upgraded, UpgradeError> {
    let mut move_ = Migration::new(old, new, session)?;
    move_.to.advance(session.now.max(now));
    move_.state()?;
    move_.spending();
    move_.limits();
    move_.history()?;
    move_.facts()?;
    move_.flights()?;
    move_.approvals();
    move_.probes()?;
    move_.seen();
    move_.items()?;
    move_.counts();
    move_.monitors();
    let Migration { to, mut anew, mut dropped, .. } = move_;
    anew.sort();
    dropped.sort();
    // Recall checks the session like hostile bytes, and computes what the new plan derives from it.
    let session = recall::recall(new, &to.memory()).map_err(UpgradeError::Unsound)?;
    Ok(Upgraded { session, anew, dropped })
}

/// A session during its transfer from one plan to another.
struct Migration<'m> {
    old: &'m CompiledPlan,
    new: &'m CompiledPlan,
    names: OldPositions,
    from: &'m SessionState,
    to: SessionState,
    anew: Vec<Forgotten>,
    dropped: Vec<Forgotten>,
}

impl<'m> Migration<'m> {
    fn new(
        old: &'m CompiledPlan,
        new: &'m CompiledPlan,
        from: &'m SessionState,
    ) -> Result<Migration<'m>, UpgradeError> {
        let to = open::open(new, &from.id, from.start, &from.workspace, None);
        let to = to.map_err(|error| UpgradeError::Other(error.to_string()))?;
        let names = OldPositions::new(old.plan(), new.plan());
        Ok(Migration { old, new, names, from, to, anew: Vec::new(), dropped: Vec::new() })
    }

    fn begins(&mut self, memory: Memory, what: String) {
        self.anew.push(Forgotten { memory, what });
    }

    fn drops(&mut self, memory: Memory, what: String) {
        self.dropped.push(Forgotten { memory, what });
    }

    /// Transfers the values of variables, with the trust in their content.
    fn state(&mut self) -> Result<(), UpgradeError> {
        let old = self.old.plan();
        let new = self.new.plan();
        for (at, var) in new.state.iter().enumerate() {
            let Some(was) = self.names.var(at) else {
                self.begins(Memory::Variable, format!("the variable `{}`", var.name));
                continue;
            };
            if !self.names.same_type(old.state[was].ty, var.ty) {
                return Err(UpgradeError::Other(format!(
                    "the variable `{}` has a different type: give the new one another name",
                    var.name
                )));
            }
            self.to.state[at] = self.from.state[was].clone();
            self.to.stains[at] = self.from.stains[was];
        }
        for var in old.state.iter().filter(|var| new.state.iter().all(|kept| kept.name != var.name))
        {
            self.drops(Memory::Variable, format!("the variable `{}`", var.name));
        }
        Ok(())
    }

    fn spending(&mut self) {
        let old = self.old.plan();
        let new = self.new.plan();
        for (at, unit) in new.units.iter().enumerate() {
            match self.names.unit(at) {
                Some(was) => self.to.spent[at] = self.from.spent[was],
                None => {
                    self.begins(Memory::Spending, format!("the spent amount of `{}`", unit.name))
                }
            }
        }
        for unit in
            old.units.iter().filter(|unit| new.units.iter().all(|kept| kept.name != unit.name))
        {
            self.drops(Memory::Spending, format!("the spent amount of `{}`", unit.name));
        }
    }

    fn facts(&mut self) -> Result<(), UpgradeError> {
        let old = self.old.plan();
        let new = self.new.plan();
        for (at, fact) in new.facts.iter().enumerate() {
            let Some(was) = old.facts.iter().position(|known| known.name == fact.name) else {
                self.begins(Memory::Fact, format!("the fact `{}`", fact.name));
                continue;
            };
            let same = self.names.same_type(old.facts[was].row, fact.row);
            if !same || old.facts[was].keys != fact.keys {
                let why = format!("the fact `{}` has different columns", fact.name);
                return Err(UpgradeError::Other(why));
            }
            let rows = self.from.facts[was].len();
            if rows as u64 > fact.max {
                let name = &fact.name;
                let max = fact.max;
                let why = format!("the fact `{name}` has {rows} rows, and holds {max} now");
                return Err(UpgradeError::Other(why));
            }
            self.to.facts[at] = self.from.facts[was].clone();
        }
        for fact in
            old.facts.iter().filter(|fact| new.facts.iter().all(|kept| kept.name != fact.name))
        {
            self.drops(Memory::Fact, format!("the fact `{}`", fact.name));
        }
        Ok(())
    }

    fn probes(&mut self) -> Result<(), UpgradeError> {
        let old = self.old.plan();
        let new = self.new.plan();
        for (at, probe) in new.probes.iter().enumerate() {
            let Some(was) = old.probes.iter().position(|known| known.name == probe.name) else {
                continue;
            };
            let was_asked = &old.probes[was];
            let same = self.names.same_type(was_asked.returns, probe.returns)
                && text::asks(old, was_asked) == text::asks(new, probe);
            // The answer to another question is not used; the probe can always be asked again.
            self.to.probes[at] =
                if same { self.from.probes[was].clone() } else { Attempts::default() };
            if !same && self.from.probes[was].answer().is_some() {
                self.drops(Memory::Probe, format!("the answers of the probe `{}`", probe.name));
            }
        }
        Ok(())
    }

    /// Transfers the origins of values, the words of the user's prompts, and the endings of calls.
    fn seen(&mut self) {
        let old = self.old.plan();
        let new = self.new.plan();
        match (old.origins, new.origins) {
            (true, true) => self.to.origins = self.from.origins.clone(),
            (false, true) => self.begins(Memory::Seen, "the origins of values".into()),
            _ => {}
        }
        match (old.mentions, new.mentions) {
            (true, true) => self.to.said = self.from.said.clone(),
            (false, true) => self.begins(Memory::Seen, "the user's prompts".into()),
            _ => {}
        }
        match (old.confidential, new.confidential) {
            (true, true) => self.to.private = self.from.private.clone(),
            (false, true) => self.begins(Memory::Seen, "the private content".into()),
            _ => {}
        }
        match (self.old.evidence, self.new.evidence) {
            (true, true) => self.to.ended = self.from.ended.clone(),
            (false, true) => self.begins(Memory::Seen, "the outcomes of calls".into()),
            _ => {}
        }
    }

    fn items(&mut self) -> Result<(), UpgradeError> {
        let old = self.old.plan();
        let new = self.new.plan();
        for (at, lifecycle) in new.lifecycles.iter().enumerate() {
            let Some(was) = old.lifecycles.iter().position(|known| known.name == lifecycle.name)
            else {
                self.begins(Memory::Items, format!("the items of `{}`", lifecycle.name));
                continue;
            };
            let items = &self.from.items[was];
            let same = self.names.same_lifecycle(&old.lifecycles[was], lifecycle);
            if !same && items.len() > 0 {
                let why = format!("`{}` has items, and other states or fields", lifecycle.name);
                return Err(UpgradeError::Other(why));
            }
            if same {
                let moved = items.renumbered(&mut |criterion| self.names.criterion(criterion));
                self.to.items[at] = moved.map_err(|what| {
                    UpgradeError::Other(format!(
                        "an item of `{}` asks {what}, which is removed",
                        lifecycle.name
                    ))
                })?;
            }
        }
        for (was, lifecycle) in old.lifecycles.iter().enumerate() {
            let gone = new.lifecycles.iter().all(|kept| kept.name != lifecycle.name);
            if gone && self.from.items[was].len() > 0 {
                self.drops(Memory::Items, format!("the items of `{}`", lifecycle.name));
            }
        }
        Ok(())
    }

    /// Transfers the counters that belong to no declaration. A halt remains, and so do the findings
    /// about proofs.
    fn counts(&mut self) {
        let from = self.from;
        let to = &mut self.to;
        (to.decisions, to.settlements) = (from.decisions, from.settlements);
        (to.moments, to.calls) = (from.moments, from.calls);
        (to.prompts, to.blocked) = (from.prompts, from.blocked);
        (to.full, to.distrusts) = (from.full, from.distrusts);
        to.halted = from.halted.clone();
        // For a plan without proofs, no rate of re-checks was chosen.
        if !self.old.rechecks.is_empty() && !self.new.rechecks.is_empty() {
            to.recheck = from.recheck;
        }
        to.phase = recheck::phase(&from.id);
    }

    /// Transfers the temporal operators. New operators are evaluated on the transferred state.
    fn monitors(&mut self) {
        let old = self.old.plan();
        let new = self.new.plan();
        monitors::begin_monitors(self.new, &mut self.to);
        let known: Vec<String> =
            (0..old.monitors.len()).map(|monitor| text::monitor(old, monitor)).collect();
        let mut taken = vec![false; known.len()];
        for at in 0..new.monitors.len() {
            let text = text::monitor(new, at);
            match known.iter().position(|other| *other == text) {
                Some(was) => {
                    let truth: &Truth = &self.from.monitors[was];
                    self.to.monitors[at] = truth.clone();
                    taken[was] = true;
                }
                None => self.begins(Memory::Past, "the memory of a temporal operator".into()),
            }
        }
        for _ in taken.iter().filter(|taken| !**taken) {
            self.drops(Memory::Past, "the memory of a temporal operator".into());
        }
    }
}

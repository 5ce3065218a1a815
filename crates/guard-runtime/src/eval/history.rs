//! The nodes that read the history, the budgets, the clock and the facts.

use super::context::{Bindings, Context, Evaluated};
use crate::compiled::expr::CompiledExpr;
use crate::session::{CallStart, Stamp, Successes};
use crate::val::{Val, confused};
use guard_plan::plan::{IndexId, Millis, Node, NodeId, Requirement, ToolId};
use guard_plan::value::Fault;

impl<'a> Context<'a> {
    pub(super) fn asked(
        &self,
        expr: &'a CompiledExpr,
        node: &'a Node,
        scope: Option<&Bindings<'_, 'a>>,
    ) -> Evaluated<'a> {
        let session = self.session;
        Ok(match node {
            Node::Result | Node::Text => {
                Val::from_value(self.result.ok_or_else(|| confused("no result"))?)
            }
            Node::Workspace => Val::Path(&session.workspace),
            Node::Now => Val::Time(self.now),
            Node::Said => Val::Str(&session.said),
            Node::Elapsed => Val::Duration(self.now.saturating_sub(session.start)),
            Node::Clock(part) => self.clock(*part),
            Node::RemainingTime => {
                let deadline = self.compiled.plan().deadline.ok_or(Fault::NoDeadline)?;
                // A deadline beyond the range of time never comes, so saturation is exact enough.
                let end = session.start.saturating_add(deadline);
                Val::Duration(end.saturating_sub(self.now).max(0))
            }
            Node::Remaining(unit) => {
                let budget = self.compiled.plan().units[*unit as usize].budget.unwrap_or_default();
                Val::Decimal(budget.saturating_sub(session.spent[*unit as usize]))
            }
            Node::Spent(unit) => Val::Decimal(session.spent[*unit as usize]),
            Node::Row(fact, keys) => self
                .with_keys(expr, keys, scope, |key| session.facts[*fact as usize].row(key))?
                .flatten()
                .map_or(Val::None, Val::Ref),
            Node::Rows(fact) => {
                let rows = session.facts[*fact as usize].rows_from(0);
                Val::Own(guard_plan::value::Value::List(
                    rows.map(|(_, row, _)| row.clone()).collect(),
                ))
            }
            Node::Known(fact, keys) => {
                let table = &session.facts[*fact as usize];
                let known =
                    self.with_keys(expr, keys, scope, |key| table.known(keys.len(), key))?;
                Val::Bool(known.unwrap_or(false))
            }
            Node::Called { tool, key, since, within } => {
                let done = match key {
                    None => session.tools[*tool as usize].done,
                    Some((index, keys)) => self.done(expr, *index, keys, scope)?,
                };
                Val::Bool(self.counts(done.map(|done| done.begun), *since, *within))
            }
            Node::Failed { tool, since, within } => Val::Bool(self.failed(*tool, *since, *within)),
            Node::Calls { tool, failures, window } => {
                let history = &session.tools[*tool as usize];
                let count = match window {
                    Some(window) => {
                        let settlement = session.settlements;
                        let time = self.now;
                        session.windows[*window as usize].count(Stamp { settlement, time })
                    }
                    None if *failures => history.failures,
                    None => history.successes + history.undecoded,
                };
                Val::Int(i64::try_from(count).unwrap_or(i64::MAX))
            }
            Node::LastArg(tool, param) => {
                let args = session.tools[*tool as usize].last_args.as_ref();
                args.and_then(|args| args.get(*param as usize)).map_or(Val::None, Val::from_value)
            }
            Node::LastResult(tool) => session.tools[*tool as usize]
                .last_result
                .as_ref()
                .map_or(Val::None, Val::from_value),
            Node::Temporal(id) => Val::Bool(session.monitors[*id as usize].value.clone()?),
            _ => return Err(confused("an expression that is not allowed here")),
        })
    }

    /// Returns true if successes meet a requirement.
    pub fn meets(&self, requirement: &Requirement, done: Option<Successes>) -> bool {
        let begun = if requirement.latest {
            done.and_then(|done| done.latest)
        } else {
            done.map(|done| done.begun)
        };
        self.counts(begun, requirement.since, requirement.within)
    }

    /// Returns true if a success counts: it began after every call of the tool `since` had settled,
    /// no such call has begun since, and it is recent enough.
    pub fn counts(
        &self,
        begun: Option<CallStart>,
        since: Option<ToolId>,
        within: Option<Millis>,
    ) -> bool {
        let Some(begun) = begun else { return false };
        // A call in flight has touched the tool at its admission. A call that began later began
        // during its run.
        let undisturbed = since.is_none_or(|tool| {
            let touched = self.session.tools[tool as usize].touched;
            touched < begun.moment && !self.flies(tool)
        });
        undisturbed && self.recent(begun.time, within)
    }

    /// Returns true if a tool has failed after the last success of another, and recently enough.
    fn failed(&self, tool: ToolId, since: Option<ToolId>, within: Option<Millis>) -> bool {
        let Some(failure) = self.session.tools[tool as usize].failure else { return false };
        let later = since.is_none_or(|tool| {
            let last = self.session.tools[tool as usize].success;
            last.is_none_or(|last| last.settlement < failure.settlement)
        });
        later && self.recent(failure.time, within)
    }

    fn recent(&self, time: Millis, within: Option<Millis>) -> bool {
        within.is_none_or(|within| self.now.saturating_sub(time) <= within)
    }

    /// Returns true if a call of a tool is in flight.
    fn flies(&self, tool: ToolId) -> bool {
        self.session.flights.iter().any(|flight| flight.tool == Some(tool))
    }

    fn done(
        &self,
        expr: &'a CompiledExpr,
        index: IndexId,
        keys: &[NodeId],
        scope: Option<&Bindings<'_, 'a>>,
    ) -> Result<Option<Successes>, Fault> {
        // The buffer is taken, because a key may contain another look-up, which then uses an empty
        // one.
        let mut buffer = self.decision.buffer.take();
        buffer.clear();
        for id in keys {
            self.node(expr, *id, scope)?.write_key(&mut buffer);
        }
        guard_plan::key::shorten(0, &mut buffer);
        let done = self.session.indexes[index as usize].get(&*buffer).copied();
        self.decision.buffer.replace(buffer);
        Ok(done)
    }

    /// Looks up the key bytes of some values; a missing option is never found.
    fn with_keys<T>(
        &self,
        expr: &'a CompiledExpr,
        keys: &[NodeId],
        scope: Option<&Bindings<'_, 'a>>,
        look: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, Fault> {
        // As in `done`: a key may contain another look-up.
        let mut buffer = self.decision.buffer.take();
        buffer.clear();
        let mut missing = false;
        for id in keys {
            let value = self.node(expr, *id, scope)?;
            missing |= value.is_none();
            value.write_key(&mut buffer);
        }
        guard_plan::key::shorten(0, &mut buffer);
        let found = (!missing).then(|| look(&buffer));
        self.decision.buffer.replace(buffer);
        Ok(found)
    }
}

//! The memory of a session as bytes, and its restoration (semantics §17).
//!
//! The bytes may be hostile: a session is restored only if every part has the shape that the plan
//! requires. Derived data is computed again, not read.

use crate::bounds;
use crate::compiled::{CompiledPlan, resolved};
use crate::error::RecallError;
use crate::open;
use crate::session::SessionState;
use crate::session::counter::MAX_COUNT;
use crate::session::flight::{InFlight, PartStep, PendingWrites, WrittenPart};
use crate::session::items::{ItemCriterion, SessionItem};
use guard_plan::builtin::MAX_SAID;
use guard_plan::path;
use guard_plan::plan::{Field, Plan, TypeDef, TypeId};
use guard_plan::value::Value;
use std::collections::BTreeSet;

impl SessionState {
    /// Serializes the session's memory, including secrets: store it where only its owner can read
    /// it. The same memory gives the same bytes. Data that records already contain (the opening
    /// data, the last changes) is omitted.
    pub fn memory(&self) -> Vec<u8> {
        // INVARIANT: writing to memory does not fail, and every sequence knows its length.
        postcard::to_allocvec(self).expect("a session is plain data")
    }
}

/// Restores a session from its memory, which was written by a kernel of the same plan.
///
/// # Errors
///
/// Returns an error if the bytes are not a session memory, do not fit the plan, or hold a state
/// that violates a proved invariant.
pub(crate) fn recall(compiled: &CompiledPlan, memory: &[u8]) -> Result<SessionState, RecallError> {
    let mut session: SessionState =
        postcard::from_bytes(memory).map_err(|error| RecallError::Bytes(error.to_string()))?;
    // A new session of the same workspace provides every shape that does not change.
    let new = open::open(compiled, &session.id, session.start, &session.workspace, None);
    let new = new.map_err(|_| RecallError::Misfit("its workspace"))?;
    // A kernel stores the workspace normalised, so another spelling did not come from a kernel.
    if new.workspace != session.workspace {
        return Err(RecallError::Misfit("its workspace"));
    }
    session.paths = new.paths.clone();
    session.phase = new.phase;
    adopt(compiled, &mut session, &new).map_err(RecallError::Misfit)?;
    // A session in which a proof was found to be wrong relies on no proof.
    if !session.distrusts {
        open::begins_sound(compiled, &session)
            .map_err(|error| RecallError::Unsound(error.to_string()))?;
    }
    Ok(session)
}

fn adopt(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    new: &SessionState,
) -> Result<(), &'static str> {
    let plan = compiled.plan();
    let matches = |id, text: &str| compiled.matches(id, text);
    let decoder = compiled.decoder(&new.workspace, false, &matches);
    // Proofs assume refinements of everything in the session's memory. A guard in shadow mode
    // proves nothing, and allows calls that violate refinements.
    let refined = |ty: TypeId, value: &Value| plan.shadow || decoder.conform(ty, value).is_ok();
    let shape = MemoryShape { plan, workspace: &new.workspace, refined: &refined };
    let sound = |what: &'static str, sound: bool| if sound { Ok(()) } else { Err(what) };
    sound("its clock", session.now >= session.start)?;
    sound("its counts", are_counts(session) && session.blocked <= u32::MAX / 2)?;
    sound("its state", shape.all_fit(plan.state.iter().map(|var| var.ty), &session.state))?;
    sound(
        "the user's prompts",
        session.said.len() < MAX_SAID && (plan.mentions || session.said.is_empty()),
    )?;
    sound("its private content", session.private.is_sound(plan.confidential))?;
    sound("its trust", session.stains.len() == new.stains.len())?;
    sound("its spending", session.spent.len() == new.spent.len())?;
    let limits = plan.limits.iter().zip(&mut session.counters);
    let counters = limits.fold(true, |all, (limit, counter)| counter.adopt(limit) && all);
    sound("its counters", counters && session.counters.len() == new.counters.len())?;
    sound("its history", shape.history(session, new))?;
    let windows = plan.windows.iter().zip(&mut session.windows);
    let sorted = windows.fold(true, |all, (window, times)| times.adopt(window.size) && all);
    sound("its windows", session.windows.len() == new.windows.len() && sorted)?;
    let facts = plan.facts.iter().zip(&mut session.facts).fold(true, |all, (fact, table)| {
        table.adopt(fact, &plan.types, &|row| shape.fits(fact.row, row)) && all
    });
    sound("its facts", facts && session.facts.len() == new.facts.len())?;
    sound("its monitors", session.monitors.len() == new.monitors.len())?;
    sound("its calls in flight", shape.flights(session) && shape.landed(session))?;
    let tools = plan.tools.len();
    let grants = session.approvals.iter().all(|grant| (grant.tool as usize) < tools);
    sound("its approvals", grants)?;
    let probes = plan.probes.iter().zip(&session.probes).all(|(probe, attempts)| {
        let Some(Ok(answer)) = attempts.answer() else { return true };
        shape.fits(probe.returns, answer)
    });
    sound("its probes", probes && session.probes.len() == new.probes.len())?;
    sound("its feedback", session.feedback.adopt(&new.feedback))?;
    let lifecycles = plan.lifecycles.iter().zip(&mut session.items);
    let items = lifecycles.fold(true, |all, (lifecycle, items)| {
        items.adopt(lifecycle, &|item| shape.item(&lifecycle.fields, item)) && all
    });
    sound("its items", items && session.items.len() == new.items.len())
}

fn is_normalised(text: &str) -> bool {
    path::normalise("/", text).is_ok_and(|normal| normal == text)
}

/// Returns true if no count is near its end, so that counting on cannot overflow.
fn are_counts(session: &SessionState) -> bool {
    let tools = session.tools.iter();
    let history = tools.flat_map(|tool| [tool.successes, tool.failures, tool.undecoded]);
    [session.decisions, session.settlements, session.moments, session.calls, session.prompts]
        .into_iter()
        .chain(history)
        .all(|count| count <= MAX_COUNT)
}

/// The shape that a plan requires of a session's memory.
struct MemoryShape<'a> {
    plan: &'a Plan,
    workspace: &'a str,
    /// Returns true if a value of the right shape has the refinements of a type.
    refined: &'a dyn Fn(TypeId, &Value) -> bool,
}

impl MemoryShape<'_> {
    /// Returns true if a value has a type.
    fn fits(&self, ty: TypeId, value: &Value) -> bool {
        self.is_shaped(ty, value) && (self.refined)(ty, value)
    }

    /// Returns true if a value has a type, ignoring its refinements.
    fn is_shaped(&self, ty: TypeId, value: &Value) -> bool {
        use TypeDef as T;
        let Some(def) = self.plan.types.get(ty as usize) else { return false };
        match (def, value) {
            (T::Option { .. }, Value::None)
            | (T::Bool, Value::Bool(_))
            | (T::Int { .. }, Value::Int(_))
            | (T::Decimal { .. }, Value::Decimal(_))
            | (T::Duration { .. }, Value::Duration(_))
            | (T::Time { .. }, Value::Time(_))
            | (T::String { .. } | T::Command, Value::String(_))
            | (T::Url, Value::Url(_))
            | (T::Json, Value::Json(_)) => true,
            // Rules about folders compare normalised paths.
            (T::Path, Value::Path(path)) => is_normalised(path),
            (T::Option { of }, value) => self.is_shaped(*of, value),
            (T::Enum { variants, .. }, Value::Enum(at)) => (*at as usize) < variants.len(),
            (T::List { of, .. }, Value::List(items)) => {
                items.iter().all(|item| self.is_shaped(*of, item))
            }
            (T::Set { of, .. }, Value::Set(items)) => {
                items.iter().all(|item| self.is_shaped(*of, item))
            }
            (T::Map { key, of, .. }, Value::Map(all)) => {
                let types = &self.plan.types;
                let known = |text: &str| {
                    key.is_none_or(|ty| guard_plan::map_key::value(types, ty, text).is_some())
                };
                all.iter().all(|(key, value)| known(key) && self.is_shaped(*of, value))
            }
            (T::Record { fields, .. }, Value::Record(values)) => {
                let mut pairs = fields.iter().zip(values);
                fields.len() == values.len()
                    && pairs.all(|(field, value)| self.is_shaped(field.ty, value))
            }
            _ => false,
        }
    }

    fn all_fit(&self, types: impl ExactSizeIterator<Item = TypeId>, values: &[Value]) -> bool {
        types.len() == values.len() && types.zip(values).all(|(ty, value)| self.fits(ty, value))
    }

    /// Returns true if these values are arguments of the parameters; arguments that no rule reads
    /// are omitted.
    fn args(&self, params: &[Field], args: &[Value]) -> bool {
        let mut pairs = params.iter().zip(args);
        params.len() == args.len()
            && pairs.all(|(param, arg)| *arg == Value::None || self.fits(param.ty, arg))
    }

    fn history(&self, session: &SessionState, new: &SessionState) -> bool {
        let mut tools = self.plan.tools.iter().zip(&session.tools);
        session.tools.len() == new.tools.len()
            && session.succeeded.len() == new.succeeded.len()
            && session.indexes.len() == new.indexes.len()
            && tools.all(|(tool, history)| {
                let args = history.last_args.as_ref();
                let result = history.last_result.as_ref().zip(tool.returns);
                args.is_none_or(|args| self.args(&tool.params, args))
                    && result.is_none_or(|(result, ty)| self.fits(ty, result))
            })
    }

    fn flights(&self, session: &SessionState) -> bool {
        let mut calls = BTreeSet::new();
        session.flights.iter().all(|flight| {
            self.flight(flight) && flight.number <= session.calls && calls.insert(&flight.call)
        })
    }

    fn flight(&self, flight: &InFlight) -> bool {
        let draft = &flight.draft;
        let tool = flight.tool.map(|id| self.plan.tools.get(id as usize));
        let kept = match tool {
            None => flight.args.is_empty() && draft.keys.is_empty(),
            Some(None) => false,
            Some(Some(tool)) => {
                let args = flight.args.is_empty() || self.args(&tool.params, &flight.args);
                args && (draft.keys.is_empty() || draft.keys.len() == tool.indexes.len())
            }
        };
        let state = &self.plan.state;
        kept && draft.is_of(self.plan)
            && draft.writes.iter().all(|(var, value)| self.fits(state[*var as usize].ty, value))
            && draft.parts.iter().all(|part| self.part(draft, part))
    }

    /// Returns true if every variable also has its type after each call in flight.
    fn landed(&self, session: &SessionState) -> bool {
        session.flights.iter().all(|flight| {
            bounds::written(flight).into_iter().all(|var| {
                let value = bounds::after(session, Some((flight, true)), var);
                let ty = self.plan.state[var as usize].ty;
                value.is_some_and(|value| (self.refined)(ty, &value))
            })
        })
    }

    /// Returns true if a part of a variable has its type.
    fn part(&self, draft: &PendingWrites, part: &WrittenPart) -> bool {
        let (first, end) = part.steps;
        let Some(steps) = draft.steps.get(first..end) else { return false };
        let def = |ty: TypeId| resolved(&self.plan.types, ty);
        let mut ty = self.plan.state[part.var as usize].ty;
        for step in steps {
            ty = match (step, def(ty)) {
                (PartStep::Field(at), Some(TypeDef::Record { fields, .. })) => {
                    let Some(field) = fields.get(*at as usize) else { return false };
                    field.ty
                }
                (PartStep::Entry(_), Some(TypeDef::Map { of, .. })) => *of,
                (PartStep::Element(_), Some(TypeDef::List { of, .. })) => *of,
                _ => return false,
            };
        }
        part.value.as_ref().is_none_or(|value| self.fits(ty, value))
    }

    fn item(&self, fields: &[Field], item: &SessionItem) -> bool {
        let criterion = |criterion: &ItemCriterion| match criterion {
            ItemCriterion::Command(id) => (*id as usize) < self.plan.commands.len(),
            ItemCriterion::Probe(id) => (*id as usize) < self.plan.probes.len(),
            ItemCriterion::File(path) | ItemCriterion::Contains(path, _) => {
                is_normalised(path) && path::within(path, self.workspace)
            }
            ItemCriterion::Committed => true,
        };
        self.all_fit(fields.iter().map(|field| field.ty), &item.fields)
            && item.criteria.iter().all(criterion)
    }
}

#[cfg(test)]
mod tests;

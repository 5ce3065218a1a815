//! The upgrade of a session's data about calls: limits, histories, calls in flight, approvals.

use super::{Memory, Migration, text};
use crate::bounds;
use crate::error::UpgradeError;
use crate::session::flight::InFlight;
use guard_plan::plan::{Limit, LimitId, Plan, ToolId, Touch, VarId};

/// The properties of a limit that both plans can be compared by: everything except the number of
/// calls that it allows.
#[derive(PartialEq)]
struct Counted {
    owner: String,
    kind: String,
    /// For each tool, its parameters and the key.
    uses: Vec<(String, String)>,
}

impl Counted {
    fn new(plan: &Plan, id: usize, limit: &Limit) -> Counted {
        let by_tool = |(at, tool): (usize, &guard_plan::plan::Tool)| {
            let used = tool.limits.iter().find(|used| used.limit as usize == id)?;
            let by = used.by.as_ref().map(|by| text::expr(plan, Some(at as ToolId), by));
            let forms: Vec<String> =
                tool.params.iter().map(|param| text::form(plan, param.ty)).collect();
            let names: Vec<&str> = tool.params.iter().map(|param| param.name.as_str()).collect();
            Some((tool.wire_name.clone(), format!("{names:?} {forms:?} {by:?}")))
        };
        Counted {
            owner: limit.rule.owner.clone(),
            kind: format!("{:?} {} {}", limit.scope, limit.success, limit.keyed),
            uses: plan.tools.iter().enumerate().filter_map(by_tool).collect(),
        }
    }

    /// Returns true if both limits count the same calls of their common tools, and have at least
    /// one common tool.
    fn is_same(&self, other: &Counted) -> bool {
        let mut common = 0;
        for (tool, by) in &self.uses {
            let Some((_, theirs)) = other.uses.iter().find(|(known, _)| known == tool) else {
                continue;
            };
            common += 1;
            if by != theirs {
                return false;
            }
        }
        self.owner == other.owner && self.kind == other.kind && common > 0
    }

    fn words(&self) -> String {
        format!("the count of a limit of `{}`", self.owner)
    }
}

fn counted(plan: &Plan) -> Vec<Counted> {
    plan.limits.iter().enumerate().map(|(id, limit)| Counted::new(plan, id, limit)).collect()
}

impl Migration<'_> {
    /// Returns, for each limit of the old plan, its index in the new one. Equal limits are paired
    /// in their order.
    fn limit_places(&self) -> Vec<Option<usize>> {
        let old = counted(self.old.plan());
        let new = counted(self.new.plan());
        let mut taken = vec![false; new.len()];
        let place = |limit: &Counted| {
            let at = (0..new.len()).find(|at| !taken[*at] && new[*at].is_same(limit))?;
            taken[at] = true;
            Some(at)
        };
        old.iter().map(place).collect()
    }

    pub(super) fn limits(&mut self) {
        let places = self.limit_places();
        for (was, place) in places.iter().enumerate() {
            if let Some(at) = place {
                let mut counter = self.from.counters[was].clone();
                counter.trim(&self.new.plan().limits[*at]);
                self.to.counters[*at] = counter;
            }
        }
        let old = counted(self.old.plan());
        let new = counted(self.new.plan());
        for (limit, _) in old.iter().zip(&places).filter(|(_, place)| place.is_none()) {
            let is_there =
                |tool: &str| self.new.plan().tools.iter().any(|known| known.wire_name == tool);
            let memory = if limit.uses.iter().any(|(tool, _)| is_there(tool)) {
                Memory::Limit
            } else {
                Memory::Tool
            };
            self.drops(memory, limit.words());
        }
        for (at, limit) in new.iter().enumerate() {
            if !places.contains(&Some(at)) {
                self.begins(Memory::Limit, limit.words());
            }
        }
    }

    /// Returns the kind of memory about a tool of the old plan.
    fn memory_of(&self, old: ToolId) -> Memory {
        match self.names.new_tool(old as usize) {
            Some(_) => Memory::History,
            None => Memory::Tool,
        }
    }

    /// Transfers each tool's history: the endings of its calls, and the values of them that rules
    /// look up.
    pub(super) fn history(&mut self) -> Result<(), UpgradeError> {
        let old = self.old.plan();
        let new = self.new.plan();
        for (at, tool) in new.tools.iter().enumerate() {
            let Some(was) = self.names.tool(at) else { continue };
            let known = &old.tools[was];
            let mut history = self.from.tools[was].clone();
            let other = |what: &str| {
                let why = format!("`{}` has {what}, and its last call is remembered", tool.name);
                UpgradeError::Other(why)
            };
            if history.last_args.is_some() && tool.keeps_args && !self.names.same_params(was, at) {
                return Err(other("other parameters"));
            }
            if history.last_result.is_some()
                && tool.keeps_result
                && !self.names.same_result(known, tool)
            {
                return Err(other("another result"));
            }
            for (keeps, kept, what) in [
                (tool.keeps_args, known.keeps_args, "arguments"),
                (tool.keeps_result, known.keeps_result, "result"),
            ] {
                let name = &tool.wire_name;
                if keeps && !kept && history.successes > 0 {
                    self.begins(Memory::History, format!("the last {what} of `{name}`"));
                }
            }
            history.last_args = history.last_args.filter(|_| tool.keeps_args);
            history.last_result = history.last_result.filter(|_| tool.keeps_result);
            self.to.tools[at] = history;
            let bit = self.from.succeeded[was / 64] >> (was % 64) & 1;
            self.to.succeeded[at / 64] |= bit << (at % 64);
        }
        for (was, tool) in old.tools.iter().enumerate() {
            let history = &self.from.tools[was];
            if self.names.new_tool(was).is_none() && history.successes + history.failures > 0 {
                self.drops(Memory::Tool, format!("the calls of `{}`", tool.wire_name));
            }
        }
        self.indexes();
        self.windows();
        Ok(())
    }

    /// Returns the index in the new plan of a memory of the old plan.
    fn index_place(&self, was: usize) -> Option<usize> {
        let old = self.old.plan();
        let new = self.new.plan();
        let index = &old.indexes[was];
        let tool = self.names.new_tool(index.tool as usize)?;
        let same = self.names.same_params(index.tool as usize, tool);
        let is_same = |known: &guard_plan::plan::SuccessIndex| {
            known.tool as usize == tool && known.params == index.params && same
        };
        new.indexes.iter().position(is_same)
    }

    fn indexes(&mut self) {
        let old = self.old.plan();
        let new = self.new.plan();
        let places: Vec<Option<usize>> =
            (0..old.indexes.len()).map(|was| self.index_place(was)).collect();
        let words = |plan: &Plan, at: usize| {
            let index = &plan.indexes[at];
            let tool = &plan.tools[index.tool as usize];
            let params =
                index.params.iter().map(|param| tool.params[*param as usize].name.as_str());
            let params = params.collect::<Vec<_>>().join(", ");
            format!("the calls of `{}` by {params}", tool.wire_name)
        };
        for (was, place) in places.iter().enumerate() {
            match place {
                Some(at) => self.to.indexes[*at] = self.from.indexes[was].clone(),
                None => self.drops(self.memory_of(old.indexes[was].tool), words(old, was)),
            }
        }
        for at in (0..new.indexes.len()).filter(|at| !places.contains(&Some(*at))) {
            self.begins(Memory::History, words(new, at));
        }
    }

    fn windows(&mut self) {
        let old = self.old.plan();
        let new = self.new.plan();
        let place = |was: &guard_plan::plan::Window| {
            let tool = self.names.new_tool(was.tool as usize)? as ToolId;
            let same = (tool, was.failures, was.size);
            new.windows
                .iter()
                .position(|window| (window.tool, window.failures, window.size) == same)
        };
        let places: Vec<Option<usize>> = old.windows.iter().map(place).collect();
        let words = |plan: &Plan, at: usize| {
            let tool = &plan.tools[plan.windows[at].tool as usize].wire_name;
            format!("the times of the calls of `{tool}`")
        };
        for (was, place) in places.iter().enumerate() {
            match place {
                Some(at) => self.to.windows[*at] = self.from.windows[was].clone(),
                None => self.drops(self.memory_of(old.windows[was].tool), words(old, was)),
            }
        }
        for at in (0..new.windows.len()).filter(|at| !places.contains(&Some(*at))) {
            self.begins(Memory::History, words(new, at));
        }
    }

    /// Transfers the calls in flight. The old plan has decided their writes; the new plan reads
    /// their results.
    pub(super) fn flights(&mut self) -> Result<(), UpgradeError> {
        let limits = self.limit_places();
        for flight in &self.from.flights {
            let flight = self.flight(flight, &limits)?;
            self.to.flights.push(Box::new(flight));
        }
        Ok(())
    }

    fn flight(
        &self,
        flight: &InFlight,
        limits: &[Option<usize>],
    ) -> Result<InFlight, UpgradeError> {
        let mut moved = flight.clone();
        let draft = &mut moved.draft;
        if let Some(was) = flight.tool.map(|id| id as usize) {
            let at = self.in_flight(flight, was)?;
            moved.tool = Some(at as ToolId);
            let known = &self.old.plan().tools[was];
            let tool = &self.new.plan().tools[at];
            draft.keys.clear();
            // A key is computed from the arguments at the proposal, so a new index has none for
            // this call.
            for index in &tool.indexes {
                let place = known
                    .indexes
                    .iter()
                    .position(|known| self.index_place(*known as usize) == Some(*index as usize));
                let key = place.and_then(|place| flight.draft.keys.get(place));
                draft.keys.push(*key.ok_or_else(|| self.unfit(flight, was, "other rules"))?);
            }
            // Other calls wait for the variables that the new tool writes.
            let writes = |var: u32| {
                let new = self.names.new_var(var as usize);
                new.is_none_or(|new| tool.writes.contains(&Touch::State(new as VarId)))
            };
            if !bounds::written(flight).into_iter().all(writes) {
                return Err(self.unfit(flight, was, "other effects"));
            }
            let wanted = &self.new.tools[at].retains;
            let kept = &self.old.tools[was].retains;
            let is_missing = |(at, wants): (usize, &bool)| *wants && kept.get(at) != Some(&true);
            if wanted.iter().enumerate().any(is_missing) {
                return Err(self.unfit(flight, was, "other rules"));
            }
        }
        let var = |var: u32| self.names.new_var(var as usize).map(|var| var as u32);
        draft.writes.retain_mut(|(var_id, _)| var(*var_id).map(|new| *var_id = new).is_some());
        draft.parts.retain_mut(|part| var(part.var).map(|new| part.var = new).is_some());
        let unit = |unit: u32| self.names.new_unit(unit as usize).map(|unit| unit as u32);
        draft.charges.retain_mut(|(unit_id, _)| unit(*unit_id).map(|new| *unit_id = new).is_some());
        draft
            .returned
            .retain_mut(|(unit_id, _)| unit(*unit_id).map(|new| *unit_id = new).is_some());
        let limit = |limit: LimitId| limits[limit as usize].map(|limit| limit as LimitId);
        draft
            .counted
            .retain_mut(|(limit_id, _)| limit(*limit_id).map(|new| *limit_id = new).is_some());
        Ok(moved)
    }

    /// Returns the index in the new plan of the tool of a call in flight.
    fn in_flight(&self, flight: &InFlight, was: usize) -> Result<usize, UpgradeError> {
        let Some(at) = self.names.new_tool(was) else {
            return Err(self.unfit(flight, was, "no place in the new guard"));
        };
        if self.names.same_params(was, at) {
            Ok(at)
        } else {
            Err(self.unfit(flight, was, "other parameters"))
        }
    }

    fn unfit(&self, flight: &InFlight, was: usize, why: &'static str) -> UpgradeError {
        let tool = self.old.plan().tools[was].wire_name.clone();
        UpgradeError::InFlight { call: flight.call.clone(), tool, why }
    }

    pub(super) fn approvals(&mut self) {
        for grant in &self.from.approvals {
            let was = grant.tool as usize;
            let at = self.names.new_tool(was).filter(|at| self.names.same_params(was, *at));
            match at {
                Some(at) => {
                    let mut grant = grant.clone();
                    grant.tool = at as ToolId;
                    self.to.approvals.push(grant);
                }
                None => {
                    let tool = &self.old.plan().tools[was].wire_name;
                    let what = format!("an approval of `{tool}` by {}", grant.by);
                    self.dropped.push(super::Forgotten { memory: Memory::Approval, what });
                }
            }
        }
    }
}

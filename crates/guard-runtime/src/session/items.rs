//! The items of lifecycles (semantics §11), with look-up, counts and pages that do not scan other
//! items.

use guard_plan::plan::Millis;
use guard_plan::plan::{Actor, CommandId, Lifecycle, LifecycleId, Plan, ProbeId};
use guard_plan::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The maximum number of items of one lifecycle.
pub(crate) const MAX_ITEMS: usize = 100_000;

/// The items of one lifecycle.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct ItemTable {
    /// The items, by number from 1.
    all: Vec<SessionItem>,
    /// The item numbers in each state.
    #[serde(skip)]
    by_state: Box<[BTreeSet<u32>]>,
}

/// One item.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SessionItem {
    state: u32,
    /// The field values, in the order of the lifecycle's fields.
    pub fields: Vec<Value>,
    pub criteria: Vec<ItemCriterion>,
    /// The evidence of the last transition that required some.
    pub evidence: Vec<ItemEvidence>,
    pub rejections: u32,
    pub created: Millis,
    pub last: LastChange,
    /// The reasons of the last rejection, or the unmet criteria.
    pub reasons: Vec<String>,
}

/// The last change of an item.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LastChange {
    pub time: Millis,
    pub actor: Actor,
    /// The transition, by position; `None` for the creation of the item.
    pub transition: Option<u32>,
    /// The call, or the person who made the change.
    pub by: Box<str>,
}

/// The action of a served call once it is allowed.
#[derive(Debug, Clone)]
pub(crate) enum ServedAction {
    /// Creates an item.
    Create(Vec<Value>, Vec<ItemCriterion>),
    /// Lists a page of the items in a state, after a number.
    List(Option<u32>, u32),
    /// Makes a transition of the item with a number.
    Move(u32, u32, Option<Vec<ItemEvidence>>),
}

/// A criterion that an item must meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ItemCriterion {
    File(Box<str>),
    Contains(Box<str>, Box<str>),
    Command(CommandId),
    Committed,
    Probe(ProbeId),
}

/// A piece of evidence for an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ItemEvidence {
    Call(Box<str>),
    /// A file and its hash at that time.
    File(Box<str>, Box<str>),
}

impl SessionItem {
    pub fn new(
        lifecycle: &Lifecycle,
        fields: Vec<Value>,
        criteria: Vec<ItemCriterion>,
        now: Millis,
        call: &str,
    ) -> SessionItem {
        let last = LastChange { time: now, actor: Actor::Agent, transition: None, by: call.into() };
        SessionItem {
            state: lifecycle.initial,
            fields,
            criteria,
            evidence: Vec::new(),
            rejections: 0,
            created: now,
            last,
            reasons: Vec::new(),
        }
    }

    /// Returns the index of the item's state.
    pub fn state(&self) -> u32 {
        self.state
    }
}

/// Returns the id of the item with a number.
pub(crate) fn id(lifecycle: &Lifecycle, number: u32) -> String {
    format!("{}-{number}", lifecycle.name)
}

/// Returns the lifecycle and number in an item id, even if no such item exists.
pub(crate) fn place(plan: &Plan, id: &str) -> Option<(LifecycleId, u32)> {
    let (name, number) = parse(id)?;
    let at =
        plan.lifecycles.binary_search_by(|lifecycle| lifecycle.name.as_str().cmp(name)).ok()?;
    Some((at as LifecycleId, number))
}

/// Returns the name and number of an id, if it has the form of an id.
pub(crate) fn parse(id: &str) -> Option<(&str, u32)> {
    let (name, number) = id.rsplit_once('-')?;
    // Each item has one spelling of its id, so a leading zero is refused.
    let digits = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
    if !digits { None } else { Some((name, number.parse().ok()?)) }
}

impl ItemTable {
    pub fn new(lifecycle: &Lifecycle) -> ItemTable {
        ItemTable {
            all: Vec::new(),
            by_state: vec![BTreeSet::new(); lifecycle.states.len()].into(),
        }
    }

    /// Computes the derived data of the items. Returns true if they are valid items of a lifecycle.
    pub fn adopt(&mut self, lifecycle: &Lifecycle, fits: &dyn Fn(&SessionItem) -> bool) -> bool {
        let mut new = ItemTable::new(lifecycle);
        if self.all.len() > MAX_ITEMS {
            return false;
        }
        for item in self.all.drain(..) {
            let state = item.state as usize;
            let moved = item.last.transition;
            let known = state < lifecycle.states.len()
                && moved.is_none_or(|at| (at as usize) < lifecycle.transitions.len());
            if !known || !fits(&item) {
                return false;
            }
            new.add(item);
        }
        *self = new;
        true
    }

    /// Returns the items with other criteria. Stops at the first error.
    pub fn renumbered(
        &self,
        criterion: &mut dyn FnMut(&ItemCriterion) -> Result<ItemCriterion, String>,
    ) -> Result<ItemTable, String> {
        let mut items = self.clone();
        for item in &mut items.all {
            for known in &mut item.criteria {
                *known = criterion(known)?;
            }
        }
        Ok(items)
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the item with a number.
    pub fn get(&self, number: u32) -> Option<&SessionItem> {
        self.all.get((number as usize).checked_sub(1)?)
    }

    /// Returns the item with a number, mutably. Use [`ItemTable::enter`] to change its state.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut SessionItem> {
        self.all.get_mut((number as usize).checked_sub(1)?)
    }

    /// Adds an item and returns its number.
    pub fn add(&mut self, item: SessionItem) -> u32 {
        // INVARIANT: there are never more than MAX_ITEMS.
        let number = self.all.len() as u32 + 1;
        self.by_state[item.state as usize].insert(number);
        self.all.push(item);
        number
    }

    /// Moves an item to a state.
    pub fn enter(&mut self, number: u32, state: u32) {
        let Some(item) = (number as usize).checked_sub(1).and_then(|at| self.all.get_mut(at))
        else {
            return;
        };
        self.by_state[item.state as usize].remove(&number);
        self.by_state[state as usize].insert(number);
        item.state = state;
    }

    /// Returns the number of items in a state.
    pub fn count(&self, state: u32) -> usize {
        self.by_state.get(state as usize).map_or(0, BTreeSet::len)
    }

    /// Returns the first item numbers after a given one: of all items, or of those in a state.
    pub fn page(&self, state: Option<u32>, after: u32, most: usize) -> Vec<u32> {
        let first = after.saturating_add(1);
        match state {
            None => (first..=self.all.len() as u32).take(most).collect(),
            Some(state) => match self.by_state.get(state as usize) {
                Some(numbers) => numbers.range(first..).take(most).copied().collect(),
                None => Vec::new(),
            },
        }
    }

    /// Returns the first item numbers that are not in a state, ascending, and their count.
    pub fn outside(&self, state: u32, most: usize) -> (Vec<u32>, usize) {
        let others = || {
            (0..)
                .zip(&self.by_state)
                .filter(move |(id, _)| *id != state)
                .map(|(_, numbers)| numbers)
        };
        let mut first: Vec<u32> =
            others().flat_map(|numbers| numbers.iter().take(most)).copied().collect();
        first.sort_unstable();
        first.truncate(most);
        (first, others().map(BTreeSet::len).sum())
    }
}

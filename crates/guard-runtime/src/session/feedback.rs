//! A session's memory of the feedback providers (semantics §10): their cadence and their last
//! messages.

use super::counter::MAX_COUNT;
use guard_plan::plan::{Millis, ProviderId, Severity};
use guard_plan::record::Delivered;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The memory of all providers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct FeedbackMemory {
    /// The number of judged events.
    pub judged: u64,
    pub providers: Box<[Provider]>,
    /// The due points of `every N calls`: the number of the judged event, by provider.
    #[serde(skip)]
    pub by_count: BTreeSet<(u64, ProviderId)>,
    /// The due times of `every D`, by provider.
    #[serde(skip)]
    pub by_time: BTreeSet<(Millis, ProviderId)>,
    /// The unused `created` triggers, by their position in the plan's order.
    pub created: Vec<u32>,
    pub edges: Box<[Edge]>,
    /// The edges that must be evaluated although no state that they read has changed.
    pub stale: BTreeSet<u32>,
}

/// The memory of one provider.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Provider {
    /// The entries in `by_count` and `by_time`.
    pub due: (Option<u64>, Option<Millis>),
    pub spoke: u64,
    pub last: Option<(Delivered, Millis)>,
}

/// The value of a condition at the last judgement.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Edge {
    pub was: bool,
}

/// The messages of a feedback provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spoken<'s> {
    /// The number of messages.
    pub times: u64,
    /// The text of the last message.
    pub text: &'s str,
    /// The severity of the last message.
    pub severity: Severity,
    /// The time of the last message.
    pub time: Millis,
    /// The number of the judged event.
    pub judged: u64,
}

impl FeedbackMemory {
    /// Sets the next due points of a provider, from the intervals of its triggers.
    pub fn due(&mut self, id: ProviderId, count: Option<u64>, time: Option<Millis>) {
        let provider = &mut self.providers[id as usize];
        let (old_count, old_time) = std::mem::replace(&mut provider.due, (count, time));
        old_count.map(|at| self.by_count.remove(&(at, id)));
        old_time.map(|at| self.by_time.remove(&(at, id)));
        self.by_count.extend(count.map(|at| (at, id)));
        self.by_time.extend(time.map(|at| (at, id)));
    }

    /// Computes the derived data. Returns true if the memory has the shape of a new one for the
    /// same providers.
    pub fn adopt(&mut self, new: &FeedbackMemory) -> bool {
        (self.by_count, self.by_time) = Default::default();
        for (id, provider) in (0..).zip(&self.providers) {
            self.by_count.extend(provider.due.0.map(|at| (at, id)));
            self.by_time.extend(provider.due.1.map(|at| (at, id)));
        }
        let created = new.created.len() as u32;
        let edges = new.edges.len() as u32;
        let spoken = self.providers.iter().map(|provider| provider.spoke);
        std::iter::once(self.judged).chain(spoken).all(|count| count <= MAX_COUNT)
            && self.providers.len() == new.providers.len()
            && self.edges.len() == new.edges.len()
            && self.created.is_sorted_by(|a, b| a < b)
            && self.created.last().is_none_or(|last| *last < created)
            && self.stale.last().is_none_or(|last| *last < edges)
    }

    /// Returns the messages of a provider, if any.
    pub fn spoken(&self, id: ProviderId) -> Option<Spoken<'_>> {
        let provider = self.providers.get(id as usize)?;
        let (delivered, time) = provider.last.as_ref()?;
        let Delivered { severity, text, judged, .. } = delivered;
        let times = provider.spoke;
        let time = *time;
        Some(Spoken { times, text, severity: *severity, time, judged: *judged })
    }
}

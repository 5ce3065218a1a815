//! What a session remembers of the providers of feedback (semantics §10): their cadence and their last words.

use guard_plan::plan::{Millis, ProviderId, Severity};
use guard_plan::record::Delivered;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The memory of all providers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// How many events were judged.
    pub judged: u64,
    pub providers: Box<[Provider]>,
    /// When `every N calls` is due: the number of the judged event, by provider.
    #[serde(skip)]
    pub by_count: BTreeSet<(u64, ProviderId)>,
    /// When `every D` is due, by provider.
    #[serde(skip)]
    pub by_time: BTreeSet<(Millis, ProviderId)>,
    /// The `created` triggers that were not used, by their place in the plan's order.
    pub created: Vec<u32>,
    pub edges: Box<[Edge]>,
    /// Edges that have to be looked at although nothing they read has changed.
    pub stale: BTreeSet<u32>,
}

/// The memory of one provider.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Provider {
    /// Where it stands in `by_count` and `by_time`.
    pub due: (Option<u64>, Option<Millis>),
    pub spoke: u64,
    pub last: Option<(Delivered, Millis)>,
}

/// What a condition was at the last judgement.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Edge {
    pub was: bool,
}

/// What a provider of feedback has said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spoken<'s> {
    /// How often.
    pub times: u64,
    /// Its last words.
    pub text: &'s str,
    /// How grave they were.
    pub severity: Severity,
    /// When it said them.
    pub time: Millis,
    /// The number of the judged event.
    pub judged: u64,
}

impl Memory {
    /// Moves the cadence of a provider on; the spans are those of its triggers.
    pub fn due(&mut self, id: ProviderId, count: Option<u64>, time: Option<Millis>) {
        let provider = &mut self.providers[id as usize];
        let (old_count, old_time) = std::mem::replace(&mut provider.due, (count, time));
        old_count.map(|at| self.by_count.remove(&(at, id)));
        old_time.map(|at| self.by_time.remove(&(at, id)));
        self.by_count.extend(count.map(|at| (at, id)));
        self.by_time.extend(time.map(|at| (at, id)));
    }

    /// Works out again what follows from the rest; whether it is like a new memory of the same providers.
    pub fn adopt(&mut self, new: &Memory) -> bool {
        (self.by_count, self.by_time) = Default::default();
        for (id, provider) in (0..).zip(&self.providers) {
            self.by_count.extend(provider.due.0.map(|at| (at, id)));
            self.by_time.extend(provider.due.1.map(|at| (at, id)));
        }
        let (created, edges) = (new.created.len() as u32, new.edges.len() as u32);
        self.providers.len() == new.providers.len()
            && self.edges.len() == new.edges.len()
            && self.created.is_sorted_by(|a, b| a < b)
            && self.created.last().is_none_or(|last| *last < created)
            && self.stale.last().is_none_or(|last| *last < edges)
    }

    /// What a provider has said, if it has.
    pub fn spoken(&self, id: ProviderId) -> Option<Spoken<'_>> {
        let provider = self.providers.get(id as usize)?;
        let (delivered, time) = provider.last.as_ref()?;
        let Delivered { severity, text, judged, .. } = delivered;
        let (times, time) = (provider.spoke, *time);
        Some(Spoken { times, text, severity: *severity, time, judged: *judged })
    }
}

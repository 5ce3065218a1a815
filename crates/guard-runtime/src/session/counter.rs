//! Counters of allowed calls.

use super::sorted::Keyed;
use guard_plan::plan::{Limit, LimitScope, Millis};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The maximum of a restored count: no session counts up to it, and counting on cannot overflow.
pub(crate) const MAX_COUNT: u64 = u64::MAX / 2;

/// One counter of a session, for all keys.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Counter {
    /// The times of the latest calls, at most as many as the limit if they stay.
    Window(CounterWindow),
    /// The number of calls in the session or in flight.
    Count(Counts),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CounterWindow {
    span: Millis,
    count: usize,
    /// True if no time within the window is dropped: a failed call is uncounted, or calls over the
    /// limit may be approved and the approver sees their number.
    all: bool,
    plain: VecDeque<Millis>,
    keyed: Keyed<VecDeque<Millis>>,
    /// The number of keys at which keys without recent calls are removed.
    sweep_at: usize,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Counts {
    plain: u32,
    keyed: Keyed<u32>,
}

/// The usage of a counter. For a window that is not full, only that fact is exact, not the count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CounterUsage {
    pub used: u32,
    /// The time when the next call is possible, if it depends on time alone.
    pub next: Option<Millis>,
}

/// The number of keys in a window before the first sweep.
const FIRST_SWEEP: usize = 64;

/// Returns true if the window of a limit keeps the times of all calls within it.
fn keeps_all(limit: &Limit) -> bool {
    limit.success || limit.ask.is_some()
}

impl Counter {
    pub fn new(limit: &Limit) -> Counter {
        match limit.scope {
            LimitScope::Window(span) => Counter::Window(CounterWindow {
                span,
                count: limit.count as usize,
                all: keeps_all(limit),
                plain: VecDeque::new(),
                keyed: Keyed::default(),
                sweep_at: FIRST_SWEEP,
            }),
            _ => Counter::Count(Counts::default()),
        }
    }

    /// Sets the window and count of a limit. Returns true if this is a valid counter of such a
    /// limit.
    pub fn adopt(&mut self, limit: &Limit) -> bool {
        match (self, limit.scope) {
            (Counter::Window(window), LimitScope::Window(span)) => {
                let count = limit.count as usize;
                (window.span, window.count, window.all) = (span, count, keeps_all(limit));
                let mut times = std::iter::once(&window.plain).chain(window.keyed.values());
                let fits = |len: usize| len <= count || keeps_all(limit);
                times.all(|times| fits(times.len()) && times.iter().is_sorted())
            }
            (Counter::Count(_), scope) => !matches!(scope, LimitScope::Window(_)),
            _ => false,
        }
    }

    /// Drops the data that a limit with a lower count does not need.
    pub fn trim(&mut self, limit: &Limit) {
        let Counter::Window(window) = self else { return };
        let count = limit.count as usize;
        if keeps_all(limit) {
            return;
        }
        for times in std::iter::once(&mut window.plain).chain(window.keyed.values_mut()) {
            times.drain(..times.len().saturating_sub(count));
        }
    }

    /// Returns the current usage.
    pub fn usage(&self, key: Option<&[u8]>, now: Millis) -> CounterUsage {
        match self {
            Counter::Window(window) => window.usage(key, now),
            Counter::Count(counts) => {
                let used = key.map_or(Some(&counts.plain), |key| counts.keyed.get(key));
                CounterUsage { used: used.copied().unwrap_or(0), next: None }
            }
        }
    }

    /// Counts an allowed call.
    pub fn add(&mut self, key: Option<&[u8]>, now: Millis) {
        match self {
            Counter::Window(window) => window.add(key, now),
            Counter::Count(counts) => match key {
                None => counts.plain = counts.plain.saturating_add(1),
                Some(key) => match counts.keyed.get_mut(key) {
                    Some(count) => *count = count.saturating_add(1),
                    None => _ = counts.keyed.insert(key.into(), 1),
                },
            },
        }
    }

    /// Removes a call that was counted at a time.
    pub fn remove(&mut self, key: Option<&[u8]>, counted: Millis) {
        let counts = match self {
            Counter::Window(window) => return window.remove(key, counted),
            Counter::Count(counts) => counts,
        };
        let Some(key) = key else {
            counts.plain = counts.plain.saturating_sub(1);
            return;
        };
        if let Some(count) = counts.keyed.get_mut(key) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                counts.keyed.remove(key);
            }
        }
    }
}

impl CounterWindow {
    fn usage(&self, key: Option<&[u8]>, now: Millis) -> CounterUsage {
        let times = key.map_or(Some(&self.plain), |key| self.keyed.get(key));
        let Some(times) = times else {
            return CounterUsage { used: 0, next: None };
        };
        let old = |time: &Millis| now.saturating_sub(*time) >= self.span;
        // One look-up decides whether the window is full; the exact count is computed only for the
        // message of a full one.
        let decisive = times.len().checked_sub(self.count).and_then(|at| times.get(at));
        if self.count > 0 && decisive.is_none_or(old) {
            return CounterUsage { used: times.len().min(self.count - 1) as u32, next: None };
        }
        let old = times.partition_point(old);
        let used = times.len() - old;
        // Approved calls may exceed the limit, so more than one call may have to leave the window
        // first.
        let next = (used >= self.count && self.count > 0)
            .then(|| times.get(times.len() - self.count))
            .flatten()
            .map(|time| time.saturating_add(self.span));
        CounterUsage { used: u32::try_from(used).unwrap_or(u32::MAX), next }
    }

    fn remove(&mut self, key: Option<&[u8]>, counted: Millis) {
        let times = match key {
            None => Some(&mut self.plain),
            Some(key) => self.keyed.get_mut(key),
        };
        let Some(times) = times else { return };
        if let Some(at) = times.iter().rposition(|time| *time == counted) {
            times.remove(at);
        }
    }

    fn add(&mut self, key: Option<&[u8]>, now: Millis) {
        // A limit of 0 is full without any count.
        if self.count == 0 {
            return;
        }
        let span = self.span;
        let count = self.count;
        let stay = !self.all;
        let push = |times: &mut VecDeque<Millis>| {
            let old = |time: &Millis| now.saturating_sub(*time) >= span;
            while stay && times.len() >= count || times.front().is_some_and(old) {
                times.pop_front();
            }
            times.push_back(now);
        };
        let Some(key) = key else {
            return push(&mut self.plain);
        };
        if let Some(times) = self.keyed.get_mut(key) {
            return push(times);
        }
        // The threshold doubles with the keys that stay, so a sweep costs constant time per new key
        // on average.
        if self.keyed.len() >= self.sweep_at {
            let recent = |times: &VecDeque<Millis>| {
                times.back().is_some_and(|time| now.saturating_sub(*time) < span)
            };
            self.keyed.retain(|_, times| recent(times));
            self.sweep_at = (self.keyed.len() * 2).max(FIRST_SWEEP);
        }
        push(self.keyed.entry(key.into()).or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use guard_plan::plan::RuleMeta;

    fn counter(count: u32, scope: LimitScope) -> Counter {
        let rule = RuleMeta { owner: "p".into(), doc: String::new(), shadow: false, span: 0 };
        Counter::new(&Limit { rule, count, success: false, scope, keyed: false, ask: None })
    }

    #[test]
    fn a_window_slides() {
        let mut counter = counter(2, LimitScope::Window(100));
        counter.add(None, 0);
        counter.add(None, 50);
        assert_eq!(counter.usage(None, 99), CounterUsage { used: 2, next: Some(100) });
        assert_eq!(counter.usage(None, 100), CounterUsage { used: 1, next: None });
        assert_eq!(counter.usage(None, 150), CounterUsage { used: 1, next: None });
        counter.add(None, 100);
        assert_eq!(counter.usage(None, 100), CounterUsage { used: 2, next: Some(150) });
        assert_eq!(counter.usage(Some(b"k"), 100).used, 0);
    }

    #[test]
    fn keys_are_swept() {
        let mut counter = counter(1, LimitScope::Window(10));
        for i in 0..10_000_i64 {
            counter.add(Some(&i.to_be_bytes()), i);
        }
        let Counter::Window(window) = counter else { unreachable!() };
        assert!(window.keyed.len() <= FIRST_SWEEP);
    }

    #[test]
    fn counts_go_up_and_down() {
        let mut counter = counter(2, LimitScope::InFlight);
        counter.add(Some(b"a"), 0);
        counter.add(None, 0);
        assert_eq!(counter.usage(Some(b"a"), 9).used, 1);
        counter.remove(Some(b"a"), 0);
        counter.remove(Some(b"a"), 0);
        assert_eq!(counter.usage(Some(b"a"), 9).used, 0);
        assert_eq!(counter.usage(None, 9).used, 1);
    }
}

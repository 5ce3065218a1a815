//! Storage of judged units in their list or in quarantine.

use super::ContractEngine;
use super::search::HEAD;
use crate::keep::Rank;
use crate::keep::Refusal;
use guard_plan::report::{Extent, KeptItem, QuarantineReason, Quarantined, SNIPPET, SpanKind};

impl ContractEngine {
    /// Returns the index of the next unit of a list.
    pub(super) fn next_index(&mut self, list: usize) -> u64 {
        let counted = self.p.lists[list].within.is_some();
        let inner = self.listing().filter(|listing| counted && listing.list == list);
        let count = match inner.and_then(|listing| listing.inner.as_mut()) {
            Some((_, count)) => count,
            None => &mut self.draft.units[list],
        };
        *count += 1;
        *count - 1
    }

    /// Counts an item: it is kept, or the item that it replaces is quarantined.
    pub(super) fn keep(&mut self, list: usize, rank: Rank, item: KeptItem) {
        let start = item.at.start as usize;
        let end = item.at.end as usize;
        let twice = self.listing().is_some_and(|listing| listing.list == list && listing.twice);
        if twice {
            let error = "its list occurs twice".to_owned();
            let refusal = Refusal { reason: QuarantineReason::Malformed, error };
            let raw = item.value.to_string();
            return self.quarantine(list, item.index, refusal, raw.as_bytes(), (start, end));
        }
        self.confirm();
        self.draft.takes(start, end);
        let nested = self.p.lists[list].within.is_some();
        if !nested {
            self.marks.set(start, SpanKind::Item);
        }
        if self.emit && !nested && self.draft.lists[list].takes(&rank) {
            self.out.push(item.clone());
        }
        self.pending = Some((list, rank, item));
    }

    /// Keeps the last item: the text after it shows that it has ended.
    pub(super) fn confirm(&mut self) {
        let Some((list, rank, item)) = self.pending.take() else { return };
        self.draft.resynchronised |= item.resynchronised;
        let nested = self.p.lists[list].within.is_some();
        let inner = self.listing().filter(|_| nested).and_then(|listing| listing.inner.as_mut());
        let keep = match inner {
            Some((keep, _)) => keep,
            None => &mut self.draft.lists[list],
        };
        let lost = keep.offer(rank, item).map(|lost| (lost, keep.over_limit()));
        if let Some((lost, refusal)) = lost {
            let at = (lost.at.start as usize, lost.at.end as usize);
            if !nested {
                self.marks.drop_item(at.0);
            }
            let full = self.draft.quarantined.len() as u64 >= self.most_quarantined();
            let raw = if full { String::new() } else { lost.value.to_string() };
            self.quarantine(list, lost.index, refusal, raw.as_bytes(), at);
        }
    }

    /// Quarantines the last item: the text after it shows that its brace is not its end.
    pub(super) fn reject(&mut self, why: &str) {
        let Some((list, _, item)) = self.pending.take() else { return };
        let at = (item.at.start as usize, item.at.end as usize);
        if self.p.lists[list].within.is_none() {
            self.marks.drop_item(at.0);
        }
        let error = format!("{why}, at byte {}", at.1);
        let refusal = Refusal { reason: QuarantineReason::Malformed, error };
        self.shelve(list, item.index, refusal, item.value.to_string().as_bytes(), at);
    }

    fn most_quarantined(&self) -> u64 {
        u64::from(self.p.contract.bounds.quarantine)
    }

    /// Moves a unit into quarantine.
    pub(super) fn quarantine(
        &mut self,
        list: usize,
        index: u64,
        refusal: Refusal,
        raw: &[u8],
        at: (usize, usize),
    ) {
        let nested = self.p.lists[list].within.is_some();
        if !nested && refusal.reason != QuarantineReason::OverLimit {
            self.marks.set(at.0, SpanKind::Quarantined);
        }
        self.shelve(list, index, refusal, raw, at);
    }

    /// Adds a unit to the quarantine. Its span is already marked.
    fn shelve(
        &mut self,
        list: usize,
        index: u64,
        refusal: Refusal,
        raw: &[u8],
        at: (usize, usize),
    ) {
        let nested = self.p.lists[list].within.is_some();
        self.draft.takes(at.0, at.1);
        let full = self.draft.quarantined.len() as u64 >= self.most_quarantined();
        let raw = if full { String::new() } else { snippet(raw) };
        let within = self.object().filter(|object| nested && object.item.is_some());
        let within = within.map(|object| object.index);
        self.note(Quarantined {
            list: self.p.lists[list].name.clone(),
            index,
            within,
            reason: refusal.reason,
            error: refusal.error,
            raw,
            at: Extent { start: at.0 as u64, end: at.1 as u64 },
            place: None,
        });
    }

    pub(super) fn note(&mut self, unit: Quarantined) {
        self.draft.quarantined_count += 1;
        if (self.draft.quarantined.len() as u64) < self.most_quarantined() {
            self.draft.quarantined.push(unit);
        }
    }
}

/// Returns the first characters of a unit.
fn snippet(raw: &[u8]) -> String {
    let head = &raw[..raw.len().min(HEAD)];
    String::from_utf8_lossy(head).chars().take(SNIPPET).collect()
}

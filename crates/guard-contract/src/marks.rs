//! The classification of the text by marks at the beginning of each part, so that the parts always
//! cover the whole text.

use guard_plan::report::{Extent, SpanKind, TextSpan};

/// The maximum number of parts besides items.
const MOST: usize = 10_000;

/// The starts of the parts, in order.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    marks: Vec<(usize, SpanKind)>,
    /// The number of marks at which they are counted again.
    room: usize,
}

impl Marks {
    /// Marks the text from here on.
    pub fn set(&mut self, at: usize, kind: SpanKind) {
        // Marks after this position were set with less knowledge, so they are replaced.
        while self.marks.pop_if(|mark| mark.0 >= at).is_some() {}
        if let Some((_, was)) = self.marks.last() {
            if *was == kind && kind != SpanKind::Item {
                return;
            }
            if *was == SpanKind::Mixed && kind != SpanKind::Item {
                return;
            }
        }
        self.marks.push((at, kind));
        if self.marks.len() > self.room.max(MOST) {
            self.thin();
        }
    }

    /// Removes the mark of an item that is not kept after all.
    pub fn drop_item(&mut self, start: usize) {
        if let Ok(at) = self.marks.binary_search_by_key(&start, |mark| mark.0)
            && self.marks[at].1 == SpanKind::Item
        {
            self.marks[at].1 = SpanKind::Quarantined;
        }
    }

    /// Marks everything in this range.
    pub fn cover(&mut self, start: usize, end: usize, kind: SpanKind) {
        let from = self.marks.partition_point(|mark| mark.0 < start);
        let to = self.marks.partition_point(|mark| mark.0 < end);
        let behind = self.marks[..to].last().map(|mark| mark.1);
        let continues = self.marks.get(to).is_none_or(|mark| mark.0 > end);
        let mut new = vec![(start, kind)];
        new.extend(behind.filter(|_| continues).map(|kind| (end, kind)));
        self.marks.splice(from..to, new);
    }

    /// Joins adjacent parts of the same kind. If there are still too many, joins all except items.
    fn thin(&mut self) {
        let join = |marks: &mut Vec<(usize, SpanKind)>| {
            marks.dedup_by(|next, last| next.1 == last.1 && next.1 != SpanKind::Item);
        };
        join(&mut self.marks);
        let items = self.marks.iter().filter(|mark| mark.1 == SpanKind::Item).count();
        if self.marks.len() > MOST + 2 * items {
            for mark in self.marks.iter_mut().filter(|mark| mark.1 != SpanKind::Item) {
                mark.1 = SpanKind::Mixed;
            }
            join(&mut self.marks);
        }
        self.room = 2 * self.marks.len() + MOST;
    }

    /// Returns the parts of a text of this length.
    pub fn spans(mut self, length: usize) -> Vec<TextSpan> {
        self.marks.retain(|mark| mark.0 < length);
        if self.marks.first().is_none_or(|mark| mark.0 > 0) && length > 0 {
            self.marks.insert(0, (0, SpanKind::Text));
        }
        self.marks.dedup_by(|next, last| next.1 == last.1 && next.1 != SpanKind::Item);
        let ends = self.marks.iter().skip(1).map(|mark| mark.0).chain([length]);
        let span = |((start, kind), end): (&(usize, SpanKind), usize)| TextSpan {
            kind: *kind,
            at: Extent { start: *start as u64, end: end as u64 },
        };
        self.marks.iter().zip(ends).map(span).collect()
    }
}

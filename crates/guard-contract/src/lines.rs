//! The line and column of the units in a report.

use guard_plan::report::{LINES, Place, Report};

/// The positions of the first [`LINES`] line breaks of a text.
#[derive(Default)]
pub(crate) struct LineBreaks {
    breaks: Vec<u64>,
    length: u64,
}

impl LineBreaks {
    /// Records the line breaks of the next piece of the text.
    pub fn take(&mut self, bytes: &[u8]) {
        let room = LINES - self.breaks.len();
        let start = self.length;
        let found = memchr::memchr_iter(b'\n', bytes).take(room);
        self.breaks.extend(found.map(|at| start + at as u64));
        self.length += bytes.len() as u64;
    }

    /// Adds the positions of the quarantined units to a report.
    pub fn place(&self, report: &mut Report) {
        for unit in &mut report.quarantined {
            unit.place = self.at(unit.at.start);
        }
    }

    fn at(&self, offset: u64) -> Option<Place> {
        let before = self.breaks.partition_point(|at| *at < offset);
        let start = before.checked_sub(1).map_or(0, |last| self.breaks[last] + 1);
        let told = before < LINES;
        told.then_some(Place { line: before as u64 + 1, column: offset - start + 1 })
    }
}

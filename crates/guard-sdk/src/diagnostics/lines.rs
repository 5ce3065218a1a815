//! Conversion of byte offsets to lines and columns.

/// The starts of the lines of a text.
///
/// ```
/// let text = "one\ntwo";
/// let lines = guard_sdk::diagnostics::SourceLines::new(text);
/// let position = lines.position(text, 5);
/// assert_eq!((position.line, position.column), (2, 2));
/// assert_eq!(lines.line(text, 2), "two");
/// ```
#[derive(Debug, Clone)]
pub struct SourceLines {
    starts: Vec<usize>,
}

/// A position: line and column, both from 1. The column counts Unicode scalar values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

impl SourceLines {
    /// Finds the lines of `text`.
    pub fn new(text: &str) -> SourceLines {
        let breaks = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        SourceLines { starts: std::iter::once(0).chain(breaks).collect() }
    }

    /// Returns the position of `offset`; an offset inside a character counts as its first byte.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let offset = floor(text, offset);
        let line = self.starts.partition_point(|start| *start <= offset);
        let before = &text[self.starts[line - 1]..offset];
        // A byte order mark does not count as a column.
        let mark = usize::from(line == 1 && before.starts_with('\u{feff}'));
        Position { line, column: before.chars().count() - mark + 1 }
    }

    /// Returns the offset of a position, limited to the text.
    pub fn offset(&self, text: &str, line: usize, column: usize) -> usize {
        let Some(start) = line.checked_sub(1).and_then(|l| self.starts.get(l)) else {
            return text.len();
        };
        let rest = &text[*start..];
        let within =
            rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(i, _)| i);
        start + within
    }

    /// Returns the text of a line without its line break.
    pub fn line<'a>(&self, text: &'a str, line: usize) -> &'a str {
        let start = self.starts.get(line.wrapping_sub(1)).copied().unwrap_or(text.len());
        text[start..].lines().next().unwrap_or_default()
    }
}

/// Returns the nearest character boundary at or before `offset`.
pub fn floor(text: &str, offset: usize) -> usize {
    text.floor_char_boundary(offset.min(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_characters_not_bytes() {
        let text = "aé b\r\n\nx";
        let lines = SourceLines::new(text);
        let at = |offset| {
            let p = lines.position(text, offset);
            (p.line, p.column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(2), (1, 2));
        assert_eq!(at(3), (1, 3));
        assert_eq!(at(8), (3, 1));
        assert_eq!(at(99), (3, 2));
        assert_eq!(lines.offset(text, 1, 3), 3);
        assert_eq!(lines.line(text, 1), "aé b");
        assert_eq!(lines.line(text, 9), "");
    }
}

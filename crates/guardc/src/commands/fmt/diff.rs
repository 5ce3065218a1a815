//! Unified differences of two texts, line by line.

use crate::report::visible;
use crate::term::Style;
use similar::{ChangeTag, TextDiff};
use std::fmt::Write as _;
use std::time::Duration;

/// The number of context lines around a change.
const CONTEXT: usize = 3;

/// The time after which the search for a shorter difference ends.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Returns the difference from `old` to `new`, in the unified format.
pub fn unified(name: &str, old: &str, new: &str, style: Style) -> String {
    let diff = TextDiff::configure().timeout(TIMEOUT).diff_lines(old, new);
    let mut out =
        format!("{}\n{}\n", style.bold(&format!("--- {name}")), style.bold(&format!("+++ {name}")));
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        let _ = writeln!(out, "{}", style.cyan(&hunk.header().to_string()));
        for change in hunk.iter_changes() {
            let line = change.value().trim_end_matches('\n');
            let text = visible(&format!("{}{line}", change.tag()));
            let text = match change.tag() {
                ChangeTag::Equal => text,
                ChangeTag::Delete => style.red(&text),
                ChangeTag::Insert => style.green(&text),
            };
            let _ = writeln!(out, "{text}");
            if change.missing_newline() {
                out.push_str("\\ No newline at end of file\n");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_changed_with_context() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let new = "a\nb\nc\nd\nE\nf\ng\nh";
        let expected = "--- x\n+++ x\n@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n-h\n+h\n\\ No newline at end of file\n";
        assert_eq!(unified("x", old, new, Style { on: false }), expected);
    }
}

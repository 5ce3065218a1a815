//! Unified differences of two texts, by lines.

use crate::report::visible;
use crate::term::Style;
use std::fmt::Write as _;

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// The maximum work for a minimal difference; beyond it the middle is shown as replaced as a whole.
const MAX_CELLS: usize = 16_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Keep,
    Remove,
    Add,
}

/// The difference from `old` to `new`, in the unified format.
pub fn unified(name: &str, old: &str, new: &str, style: Style) -> String {
    let (a, b) = (lines(old), lines(new));
    let ops = script(&a, &b);
    let mut out =
        format!("{}\n{}\n", style.bold(&format!("--- {name}")), style.bold(&format!("+++ {name}")));
    let mut at = 0;
    while let Some(first) = (at..ops.len()).find(|&i| ops[i] != Op::Keep) {
        let mut last = first;
        for (i, op) in ops.iter().enumerate().skip(first) {
            if *op != Op::Keep {
                last = i;
            } else if i - last > 2 * CONTEXT {
                break;
            }
        }
        let from = first.saturating_sub(CONTEXT).max(at);
        let to = (last + 1 + CONTEXT).min(ops.len());
        hunk(&mut out, &ops, from..to, (&a, &b), style);
        at = to;
    }
    out
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn hunk(
    out: &mut String,
    ops: &[Op],
    range: std::ops::Range<usize>,
    (a, b): (&[&str], &[&str]),
    style: Style,
) {
    let count = |ops: &[Op], skip: Op| ops.iter().filter(|op| **op != skip).count();
    let (mut i, mut j) =
        (count(&ops[..range.start], Op::Add), count(&ops[..range.start], Op::Remove));
    let here = &ops[range];
    let (len_a, len_b) = (count(here, Op::Add), count(here, Op::Remove));
    let start = |at: usize, len: usize| if len == 0 { at } else { at + 1 };
    let head = format!("@@ -{},{len_a} +{},{len_b} @@", start(i, len_a), start(j, len_b));
    let _ = writeln!(out, "{}", style.cyan(&head));
    for op in here {
        let (mark, line) = match op {
            Op::Keep => (' ', a[i]),
            Op::Remove => ('-', a[i]),
            Op::Add => ('+', b[j]),
        };
        i += usize::from(*op != Op::Add);
        j += usize::from(*op != Op::Remove);
        let text = visible(&format!("{mark}{}", line.trim_end_matches('\n')));
        let text = match op {
            Op::Keep => text,
            Op::Remove => style.red(&text),
            Op::Add => style.green(&text),
        };
        let _ = writeln!(out, "{text}");
        if !line.ends_with('\n') {
            out.push_str("\\ No newline at end of file\n");
        }
    }
}

/// Returns the shortest edit script from `a` to `b`: equal ends are removed, the middle uses a
/// longest common subsequence.
fn script(a: &[&str], b: &[&str]) -> Vec<Op> {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[head..], &b[head..]);
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    let mut ops = vec![Op::Keep; head];
    middle(&mut ops, a, b);
    ops.extend(std::iter::repeat_n(Op::Keep, tail));
    ops
}

fn middle(ops: &mut Vec<Op>, a: &[&str], b: &[&str]) {
    let width = b.len() + 1;
    if a.len().saturating_mul(width) > MAX_CELLS {
        ops.extend(std::iter::repeat_n(Op::Remove, a.len()));
        ops.extend(std::iter::repeat_n(Op::Add, b.len()));
        return;
    }
    let mut common = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i * width + j] = if a[i] == b[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let op = if i < a.len() && j < b.len() && a[i] == b[j] {
            Op::Keep
        } else if i < a.len()
            && (j == b.len() || common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            Op::Remove
        } else {
            Op::Add
        };
        i += usize::from(op != Op::Add);
        j += usize::from(op != Op::Remove);
        ops.push(op);
    }
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

    #[test]
    fn an_empty_side_starts_at_zero() {
        assert_eq!(
            unified("x", "", "a\n", Style { on: false }),
            "--- x\n+++ x\n@@ -0,0 +1,1 @@\n+a\n"
        );
    }
}

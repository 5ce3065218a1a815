//! `merge`: combines several patterns on one text into one expression, and compiles a literal glob
//! to a pattern.

use super::PassWork;
use super::order::open;
use super::tree::ExprTree;
use guard_plan::builtin::Builtin;
use guard_plan::plan::{Node, RegexId};
use std::cell::RefCell;

/// The maximum size of a compiled expression, the same as for a written one.
const SIZE_LIMIT: usize = 1 << 20;

/// Merges the patterns of every deciding expression.
pub(super) fn merge(work: &mut PassWork<'_>) {
    let table = RefCell::new(std::mem::take(&mut work.plan.regexes));
    work.rewrite(|facts, tool, tree| {
        tree.map(&|tree| match &tree.node {
            Node::Or(..) => alternatives(&|subject| facts.total(tool, subject), tree, &table),
            Node::Call(Builtin::Glob, _) => glob(tree, &table),
            _ => tree,
        })
    });
    work.plan.regexes = table.into_inner();
    work.notes.patterns = Some(work.plan.regexes.clone());
}

/// Combines adjacent alternatives: `x matches a or x matches b`.
fn alternatives(
    total: &dyn Fn(&ExprTree) -> bool,
    tree: ExprTree,
    table: &RefCell<Vec<String>>,
) -> ExprTree {
    let before = tree.clone();
    let mut operands = Vec::new();
    open(tree, &Node::Or(0, 0), &mut operands);
    let count = operands.len();
    let mut merged: Vec<ExprTree> = Vec::with_capacity(count);
    for operand in operands {
        let joined = merged.last().and_then(|last| join(total, last, &operand, table));
        match (joined, merged.last_mut()) {
            (Some(joined), Some(last)) => *last = joined,
            _ => merged.push(operand),
        }
    }
    if merged.len() == count {
        return before;
    }
    merged.into_iter().reduce(|a, b| ExprTree::two(Node::Or, a, b)).unwrap_or(before)
}

fn join(
    total: &dyn Fn(&ExprTree) -> bool,
    a: &ExprTree,
    b: &ExprTree,
    table: &RefCell<Vec<String>>,
) -> Option<ExprTree> {
    let (Node::Matches(_, first), Node::Matches(_, second)) = (&a.node, &b.node) else {
        return None;
    };
    // The subject is evaluated once instead of twice, which is visible if it can fault.
    if a.kids != b.kids || !a.kids.iter().all(total) {
        return None;
    }
    // This borrow must end before `number` changes the table.
    let pattern = {
        let table = table.borrow();
        let pattern = |id: RegexId| table.get(id as usize).filter(|pattern| plain(pattern));
        format!("{}|(?:{})", grouped(pattern(*first)?), pattern(*second)?)
    };
    let id = number(pattern, table)?;
    Some(ExprTree { node: Node::Matches(0, id), kids: a.kids.clone() })
}

/// Groups a pattern. A pattern that was merged before is already a sequence of groups.
fn grouped(pattern: &str) -> String {
    format!("(?:{pattern})")
}

/// Returns true if a pattern has the same meaning inside a group. A pattern with special whitespace
/// and `#` could turn the following text into a comment.
fn plain(pattern: &str) -> bool {
    let flags = pattern.match_indices("(?").map(|(at, _)| &pattern[at + 2..]);
    flags.into_iter().all(|rest| {
        let flags = rest.split([')', ':', '<']).next().unwrap_or_default();
        !flags.contains('x')
    })
}

/// Returns the index of a pattern; `None` if it does not compile.
fn number(pattern: String, table: &RefCell<Vec<String>>) -> Option<RegexId> {
    if let Some(at) = table.borrow().iter().position(|known| *known == pattern) {
        return Some(at as RegexId);
    }
    regex::RegexBuilder::new(&pattern).size_limit(SIZE_LIMIT).build().ok()?;
    let mut table = table.borrow_mut();
    table.push(pattern);
    Some((table.len() - 1) as RegexId)
}

/// Converts `glob(x, "…")` to a match of the whole text.
fn glob(tree: ExprTree, table: &RefCell<Vec<String>>) -> ExprTree {
    let [_, ExprTree { node: Node::String(glob), .. }] = tree.kids.as_slice() else { return tree };
    let Some(id) = number(regex_of(glob), table) else { return tree };
    let mut kids = tree.kids;
    kids.truncate(1);
    ExprTree { node: Node::Matches(0, id), kids }
}

/// Converts a glob: `*` matches any characters except for `/`, `**` matches any characters, `?`
/// matches one character except for `/`.
fn regex_of(glob: &str) -> String {
    // `**` also matches line feeds.
    let mut out = String::from(r"\A(?s:");
    let mut chars = glob.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '*' if chars.next_if_eq(&'*').is_some() => out.push_str(".*"),
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            c => out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    out + r")\z"
}

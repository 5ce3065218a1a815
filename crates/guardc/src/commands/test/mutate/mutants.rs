//! The mutants of a guard: its text with one rule removed or weakened.
//!
//! The input is the text of a guard and its program. The output is the list of mutants, in the
//! order of the text. Rules of other files are not changed.

use guard_compiler::hir::{Clause, ClauseKind, Expr, ExprKind as K, Program, RuleMeta};
use guard_plan::plan::{ArithOp, CompareOp, QuantifierOp};
use guard_syntax::span::Span;
use std::collections::BTreeMap;
use std::ops::Range;

/// A guard with one change.
pub struct Mutant {
    /// The rule that is changed.
    pub rule: Span,
    /// The changed part of the text, and its new text.
    pub part: Range<usize>,
    /// The new text; empty if the whole rule is removed.
    pub new: String,
}

impl Mutant {
    /// Returns the whole text of the mutant.
    pub fn text(&self, text: &str) -> String {
        let before = text.get(..self.part.start);
        let after = text.get(self.part.end..);
        [before.unwrap_or_default(), &self.new, after.unwrap_or_default()].concat()
    }

    /// Returns true if the whole rule is removed.
    pub fn removes(&self) -> bool {
        self.new.is_empty() && self.part == range(self.rule)
    }
}

/// Returns the mutants in which one rule of the root file is removed, or weakened in one of the
/// supported ways.
pub fn mutants(text: &str, program: &Program) -> Vec<Mutant> {
    let mut by_rule: BTreeMap<(u32, u32), Vec<Mutant>> = BTreeMap::new();
    let is_own = |rule: &RuleMeta| rule.span.file.0 == 0 && !rule.shadow;
    let clauses = program.tools.iter().flat_map(|tool| &tool.clauses);
    for clause in clauses.filter(|clause| is_own(&clause.rule)) {
        // A clause of a policy occurs in every tool that it governs.
        by_rule
            .entry((clause.rule.span.start, clause.rule.span.end))
            .or_insert_with(|| of_clause(text, clause));
    }
    for invariant in program.invariants.iter().filter(|i| !i.monitor && is_own(&i.rule)) {
        let mut weaker = Weaker { text, rule: invariant.rule.span, found: Vec::new() };
        weaker.expr(&invariant.condition, false);
        by_rule.insert((invariant.rule.span.start, invariant.rule.span.end), weaker.found);
    }
    let found = by_rule.into_values().flatten();
    found.filter(|mutant| mutant.text(text) != text).collect()
}

fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

fn of_clause(text: &str, clause: &Clause) -> Vec<Mutant> {
    let rule = clause.rule.span;
    let removed = Mutant { rule, part: range(rule), new: String::new() };
    let mut weaker = Weaker { text, rule, found: vec![removed] };
    match &clause.kind {
        ClauseKind::Deny { condition, .. } => weaker.expr(condition, true),
        ClauseKind::Requires { when, .. } => {
            weaker.without("latest", 1);
            weaker.without("since", 2);
            weaker.without("within", 2);
            when.iter().for_each(|when| weaker.expr(when, true));
        }
        ClauseKind::Risk { when, .. } => weaker.expr(when, true),
        ClauseKind::Approval { when, .. } => {
            weaker.without("within", 2);
            when.iter().for_each(|when| weaker.expr(when, true));
        }
        ClauseKind::Limit { .. } => weaker.after("limit"),
        ClauseKind::Reconcile { condition, .. } => weaker.expr(condition, false),
        _ => {}
    }
    weaker.found
}

/// A collector of weaker forms of one rule.
struct Weaker<'t> {
    text: &'t str,
    rule: Span,
    found: Vec<Mutant>,
}

impl Weaker<'_> {
    fn push(&mut self, part: Range<usize>, new: String) {
        let rule = range(self.rule);
        // Text from a macro or a library is at another position.
        if rule.start <= part.start && part.end <= rule.end {
            self.found.push(Mutant { rule: self.rule, part, new });
        }
    }

    fn slice(&self, span: Span) -> &str {
        self.text.get(range(span)).unwrap_or_default()
    }

    /// Adds forms of a condition that are less often true if `less`, otherwise more often.
    fn expr(&mut self, e: &Expr, less: bool) {
        match &e.kind {
            K::Not(operand) => self.expr(operand, !less),
            K::And(a, b) | K::Or(a, b) => {
                // Of a disjunction one side alone is true less often, and of a conjunction more
                // often.
                if matches!(e.kind, K::Or(..)) == less {
                    for side in [a, b] {
                        let side = format!("({})", self.slice(side.span));
                        self.push(range(e.span), side);
                    }
                }
                self.expr(a, less);
                self.expr(b, less);
            }
            K::Implies(a, b) => {
                self.expr(a, !less);
                self.expr(b, less);
            }
            K::Quantified { op: QuantifierOp::All | QuantifierOp::Any, body, .. } => {
                self.expr(body, less);
            }
            K::Compare(op, a, b) => {
                let up = match op {
                    CompareOp::Gt | CompareOp::Ge => less,
                    CompareOp::Lt | CompareOp::Le => !less,
                    CompareOp::Eq | CompareOp::Ne => return,
                };
                self.number(a, !up);
                self.number(b, up);
            }
            _ => {}
        }
    }

    /// Adds a form of a literal number, one more or one less in its last digit.
    fn number(&mut self, e: &Expr, up: bool) {
        match &e.kind {
            K::Int(_) | K::Decimal(_) | K::Duration(_) => {}
            K::Neg(operand) => return self.number(operand, !up),
            K::Arith(op @ (ArithOp::Add | ArithOp::Sub), a, b) => {
                // The first literal that can be changed is enough: both would change the sum twice.
                let before = self.found.len();
                self.number(b, up == (*op == ArithOp::Add));
                if self.found.len() == before {
                    self.number(a, up);
                }
                return;
            }
            _ => return,
        }
        if let Some(new) = stepped(self.slice(e.span), up) {
            self.push(range(e.span), new);
        }
    }

    /// Adds the rule without the first `word` and the words that belong to it, `count` words in
    /// total.
    fn without(&mut self, word: &str, count: usize) {
        let words = words(self.slice(self.rule));
        let Some(at) = words.iter().position(|w| self.slice(self.rule)[w.clone()] == *word) else {
            return;
        };
        let Some(last) = words.get(at + count - 1) else { return };
        let start = self.rule.start as usize;
        self.push(start + words[at].start..start + last.end, String::new());
    }

    /// Adds the rule in which the number after the first `word` is one more.
    fn after(&mut self, word: &str) {
        let text = self.slice(self.rule);
        let words = words(text);
        let place = words.iter().position(|w| text[w.clone()] == *word);
        let Some(number) = place.and_then(|at| words.get(at + 1)).cloned() else { return };
        if let Some(new) = stepped(&text[number.clone()], true) {
            let start = self.rule.start as usize;
            self.push(start + number.start..start + number.end, new);
        }
    }
}

/// Returns the words of a clause outside of its strings.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        let in_word = !quoted && (c.is_alphanumeric() || matches!(c, '_' | '.' | '*'));
        match (in_word, start) {
            (true, None) => start = Some(at),
            (false, Some(begun)) => {
                words.push(begun..at);
                start = None;
            }
            _ => {}
        }
        quoted = if c == '"' && !escaped { !quoted } else { quoted };
        escaped = c == '\\' && !escaped;
    }
    words.extend(start.map(|begun| begun..text.len()));
    words
}

/// Returns a literal with its last digit increased or decreased; `None` if it cannot be decreased.
fn stepped(literal: &str, up: bool) -> Option<String> {
    if let Some(digits) = literal.strip_prefix('-') {
        return Some(format!("-{}", stepped(digits, !up)?));
    }
    let end = literal.rfind(|c: char| c.is_ascii_digit())? + 1;
    let (number, unit) = literal.split_at(end);
    let point = number.find('.').map(|at| end - at - 1);
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let only_digits = number.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '_'));
    let value = digits.parse::<u64>().ok().filter(|_| only_digits)?;
    let value = if up { value.checked_add(1)? } else { value.checked_sub(1)? };
    let new = match point {
        Some(places) => {
            let padded = format!("{value:0width$}", width = places + 1);
            let (whole, part) = padded.split_at(padded.len() - places);
            format!("{whole}.{part}")
        }
        None => value.to_string(),
    };
    Some(new + unit)
}

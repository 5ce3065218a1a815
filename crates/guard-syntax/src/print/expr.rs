//! Printing of expressions, with the necessary parentheses, on one line or on several.

use super::text;
use crate::ast::{Arg, BinaryOp, Expr, ExprKind, Ident, Quantifier, UnaryOp};

/// The soft width of a line.
pub(super) const WIDTH: usize = 100;

/// The context of an expression.
#[derive(Clone, Copy)]
struct ExprContext {
    /// The loosest level that needs no parentheses.
    min: u8,
    /// True if no part of the same expression follows on the right.
    tail: bool,
    /// True inside a `then` branch, where `else` ends the branch.
    branch: bool,
    /// True for the last expression of its text, so that a name may follow.
    last: bool,
}

const FREE: ExprContext = ExprContext { min: 0, tail: true, branch: false, last: true };
const ENCLOSED: ExprContext = ExprContext { last: false, ..FREE };

/// Prints an expression on one line.
pub(super) fn flat(e: &Expr) -> String {
    write(e, FREE, FLAT)
}

/// Returns true if the last word is `first`. Before a condition such as `x in xs` it would be
/// parsed as a quantifier.
pub(super) fn ends_in_first(text: &str) -> bool {
    text.strip_suffix("first").is_some_and(|before| {
        !before.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
    })
}

/// Prints an expression between brackets, on one line.
pub(super) fn enclosed(e: &Expr) -> String {
    write(e, ENCLOSED, FLAT)
}

/// Prints an expression that begins in `column`. Further lines are indented by `indent`.
pub(super) fn laid_out(e: &Expr, column: usize, indent: usize) -> String {
    let line = flat(e);
    if column + width(&line) <= WIDTH {
        line
    } else {
        write(e, FREE, ExprLayout { indent: Some(indent) })
    }
}

pub(super) fn width(text: &str) -> usize {
    text.chars().count()
}

/// The layout: on one line, or broken with this indent.
#[derive(Clone, Copy)]
struct ExprLayout {
    indent: Option<usize>,
}

/// Everything on one line.
const FLAT: ExprLayout = ExprLayout { indent: None };

impl ExprLayout {
    /// Returns a line break in a broken layout, otherwise a space.
    fn line(self) -> String {
        self.indent.map_or(" ".to_owned(), |n| format!("\n{}", " ".repeat(n)))
    }

    fn deeper(self) -> Self {
        ExprLayout { indent: self.indent.map(|n| n + 2) }
    }

    /// Returns the flat layout for a part that fits on its own line.
    fn for_part(self, part: &Expr, around: ExprContext) -> Self {
        match self.indent {
            Some(n) if n + 8 + width(&write(part, around, FLAT)) > WIDTH => self.deeper(),
            _ => FLAT,
        }
    }
}

/// The level of an operand that gets parentheses unless it is a primary.
const PARENTHESIZED: u8 = 12;

/// Returns the level of an operand. It adds parentheses that help readers, who do not know how
/// tightly `else` binds, nor that `and` binds tighter than `or`.
fn operand(min: u8, op: Option<BinaryOp>, e: &Expr) -> u8 {
    match &e.kind {
        ExprKind::Else(..) => PARENTHESIZED,
        ExprKind::Binary(BinaryOp::And, ..) if op == Some(BinaryOp::Or) => PARENTHESIZED,
        _ => min,
    }
}

fn write(e: &Expr, around: ExprContext, layout: ExprLayout) -> String {
    let own = e.level();
    // Open to the right: permitted at the end, after a loose operator.
    let open = own == 0 && (!around.tail || around.min > 4);
    let loose = own > 0 && own < around.min;
    let bare_else = around.branch && matches!(e.kind, ExprKind::Else(..));
    // `probe` before a name would be parsed as a probe.
    let probe =
        around.last && around.tail && matches!(&e.kind, ExprKind::Name(name) if name == "probe");
    if open || loose || bare_else || probe {
        return format!("({})", inner(e, ENCLOSED, layout));
    }
    inner(e, around, layout)
}

fn inner(e: &Expr, around: ExprContext, layout: ExprLayout) -> String {
    match &e.kind {
        ExprKind::Binary(op, l, r) => binary(*op, l, r, around, layout),
        ExprKind::Else(l, r) => {
            let left = write(l, ExprContext { min: 10, tail: false, ..around }, FLAT);
            format!("{left} else {}", write(r, ExprContext { min: 9, ..around }, FLAT))
        }
        ExprKind::Unary(UnaryOp::Neg, operand) => {
            format!("-{}", write(operand, ExprContext { min: 11, ..around }, FLAT))
        }
        ExprKind::Unary(op, of) => {
            let around = ExprContext { min: operand(4, None, of), ..around };
            format!("{} {}", op.word(), write(of, around, layout))
        }
        ExprKind::Is(of, some) => {
            let around = ExprContext { min: operand(6, None, of), tail: false, ..around };
            let test = if *some { "some" } else { "none" };
            format!("{} is {test}", write(of, around, FLAT))
        }
        ExprKind::If(c, then, other) => {
            let line = layout.line();
            let condition = write(c, ENCLOSED, FLAT);
            let then = write(then, ExprContext { branch: true, ..ENCLOSED }, FLAT);
            let other = write(other, ExprContext { min: 0, tail: true, ..around }, FLAT);
            format!("if {condition}{line}then {then}{line}else {other}")
        }
        ExprKind::Quantified { op, binders, over, body } => {
            quantified(*op, binders, over, body, around, layout)
        }
        _ => primary(e, layout),
    }
}

fn binary(op: BinaryOp, l: &Expr, r: &Expr, around: ExprContext, layout: ExprLayout) -> String {
    if op == BinaryOp::Matches {
        let left_around = ExprContext { min: operand(6, None, l), tail: false, ..around };
        return format!("{} matches {}", write(l, left_around, FLAT), primary(r, layout));
    }
    let level = op.level();
    let (left, right) = match level {
        1 => (2, 1),
        5 => (6, 6),
        n => (n, n + 1),
    };
    let left_around = ExprContext { min: operand(left, Some(op), l), tail: false, ..around };
    let right_around = ExprContext { min: operand(right, Some(op), r), ..around };
    if level > 3 {
        let left = write(l, left_around, layout.for_part(l, left_around));
        let right = write(r, right_around, layout.for_part(r, right_around));
        let line = if layout.indent.is_some() && width(&left) + width(&right) > WIDTH / 2 {
            layout.line()
        } else {
            " ".to_owned()
        };
        return format!("{left}{line}{} {right}", op.word());
    }
    // A chain of one operator is broken before each of its operators.
    let same_on_left = matches!(&l.kind, ExprKind::Binary(inner, ..) if *inner == op && level != 1);
    let left = if same_on_left {
        write(l, left_around, layout)
    } else {
        write(l, left_around, layout.for_part(l, left_around))
    };
    let same_on_right =
        matches!(&r.kind, ExprKind::Binary(inner, ..) if *inner == op && level == 1);
    let right = if same_on_right {
        write(r, right_around, layout)
    } else {
        write(r, right_around, layout.for_part(r, right_around))
    };
    format!("{left}{}{} {right}", layout.line(), op.word())
}

fn quantified(
    op: Quantifier,
    binders: &[Ident],
    over: &Expr,
    body: &Expr,
    around: ExprContext,
    layout: ExprLayout,
) -> String {
    let names: Vec<&str> = binders.iter().map(|b| b.node.as_str()).collect();
    let names = names.join(", ");
    let over_layout = match &over.kind {
        ExprKind::List(_) | ExprKind::Set(_) | ExprKind::Map(_) => layout.for_part(over, ENCLOSED),
        _ => FLAT,
    };
    let over = write(over, ENCLOSED, over_layout);
    let (open, close) = op.ends();
    let around =
        if close.is_empty() { ExprContext { min: 0, tail: true, ..around } } else { ENCLOSED };
    let inside = layout.deeper();
    let body = write(body, around, inside);
    format!("{open}{names} in {over}:{}{body}{close}", inside.line())
}

fn primary(e: &Expr, layout: ExprLayout) -> String {
    match &e.kind {
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::None => "none".to_owned(),
        ExprKind::Number(text) | ExprKind::Duration(text) | ExprKind::Name(text) => text.clone(),
        ExprKind::LastCalls(number) => format!("last {number} calls"),
        ExprKind::String(value) => text::string(value),
        ExprKind::Regex(value) => text::regex(value),
        ExprKind::Field(record, name) => format!("{}.{}", postfix_base(record, layout), name.node),
        ExprKind::Index(collection, keys) => {
            let keys: Vec<String> = keys.iter().map(|key| write(key, ENCLOSED, FLAT)).collect();
            format!("{}[{}]", postfix_base(collection, layout), keys.join(", "))
        }
        ExprKind::Each(operand) => format!("{}[*]", postfix_base(operand, layout)),
        ExprKind::Call(name, args) => {
            format!("{}{}", name.node, call_args(&name.node, args, layout))
        }
        ExprKind::Known(name, args) => {
            format!("known {}{}", name.node, call_args(&name.node, args, layout))
        }
        ExprKind::Probe(name) => format!("probe {}", name.node),
        ExprKind::List(items) => sequence("[", items.iter().map(enclosed).collect(), "]", layout),
        ExprKind::Set(items) => sequence("{", items.iter().map(enclosed).collect(), "}", layout),
        ExprKind::Map(entries) => {
            let entry = |(key, value): &(Ident, Expr)| {
                // Quotes are kept, because without them the text is an int or a bool.
                let length = (key.span.end - key.span.start) as usize;
                let bare = length == key.node.len() && is_key_value(&key.node);
                let key = if bare { key.node.clone() } else { text::key(&key.node) };
                format!("{key}: {}", enclosed(value))
            };
            sequence("{", entries.iter().map(entry).collect(), "}", layout)
        }
        _ => format!("({})", inner(e, ENCLOSED, layout)),
    }
}

/// Returns true if a text is an int or a bool, which a key may be.
fn is_key_value(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_int = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_int || matches!(text, "true" | "false")
}

fn postfix_base(base: &Expr, layout: ExprLayout) -> String {
    write(base, ExprContext { min: 11, tail: false, ..ENCLOSED }, layout)
}

fn call_args(name: &str, args: &[Arg], layout: ExprLayout) -> String {
    // `count(x in xs)` would be parsed as an aggregate.
    let guarded = matches!(name, "count" | "sum");
    let arg_text = |arg: &Arg| match &arg.name {
        Some(name) => format!("{}: {}", name.node, enclosed(&arg.value)),
        None if guarded && arg.value.level() < 10 => format!("({})", enclosed(&arg.value)),
        None => enclosed(&arg.value),
    };
    sequence("(", args.iter().map(arg_text).collect(), ")", layout)
}

/// The width up to which the parts of a sequence share lines.
const SHORT: usize = 20;

/// Prints parts between brackets. If the layout is broken and one line would be too long, short
/// parts fill lines, and other parts are on separate lines.
fn sequence(open: &str, parts: Vec<String>, close: &str, layout: ExprLayout) -> String {
    let line = format!("{open}{}{close}", parts.join(", "));
    match layout.indent {
        Some(n) if parts.len() > 1 && n + width(&line) > WIDTH => {
            let inside = layout.deeper().line();
            let is_short = parts.iter().all(|part| width(part) <= SHORT);
            let lines = if is_short { filled(&parts, WIDTH.saturating_sub(n + 2)) } else { parts };
            format!("{open}{inside}{}{}{close}", lines.join(&format!(",{inside}")), layout.line())
        }
        _ => line,
    }
}

/// Joins parts to lines of at most this width.
fn filled(parts: &[String], most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if width(line) + width(part) + 3 <= most => {
                line.push_str(", ");
                line.push_str(part);
            }
            _ => lines.push(part.clone()),
        }
    }
    lines
}

//! Printing of expressions, with the necessary parentheses, on one line or on several.

use super::text;
use crate::ast::{Arg, BinaryOp, Expr, ExprKind, Ident, Quantifier, UnaryOp};
use crate::parse::level;

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
    write(e, FREE, &mut ExprLayout::flat())
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
    write(e, ENCLOSED, &mut ExprLayout::flat())
}

/// Prints an expression that begins in `column`. Further lines are indented by `indent`.
pub(super) fn laid_out(e: &Expr, column: usize, indent: usize) -> String {
    let line = flat(e);
    if column + width(&line) <= WIDTH {
        line
    } else {
        write(e, FREE, &mut ExprLayout { indent: Some(indent) })
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

impl ExprLayout {
    fn flat() -> Self {
        ExprLayout { indent: None }
    }

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
            Some(n) if n + 8 + width(&write(part, around, &mut ExprLayout::flat())) > WIDTH => {
                self.deeper()
            }
            _ => ExprLayout::flat(),
        }
    }
}

/// Returns how tightly the root of an expression binds.
fn binds(e: &Expr) -> u8 {
    match &e.kind {
        ExprKind::If(..) => 0,
        ExprKind::Quantified { op, .. } if op.is_prefix() => 0,
        ExprKind::Binary(op, ..) => level(*op),
        ExprKind::Unary(UnaryOp::Neg, _) => 10,
        ExprKind::Unary(..) => 4,
        ExprKind::Is(..) => 5,
        ExprKind::Else(..) => 9,
        _ => 12,
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

fn write(e: &Expr, around: ExprContext, layout: &mut ExprLayout) -> String {
    let own = binds(e);
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

fn inner(e: &Expr, around: ExprContext, layout: &mut ExprLayout) -> String {
    match &e.kind {
        ExprKind::Binary(op, l, r) => binary(*op, l, r, around, layout),
        ExprKind::Else(l, r) => {
            let left =
                write(l, ExprContext { min: 10, tail: false, ..around }, &mut ExprLayout::flat());
            format!(
                "{left} else {}",
                write(r, ExprContext { min: 9, ..around }, &mut ExprLayout::flat())
            )
        }
        ExprKind::Unary(UnaryOp::Neg, operand) => {
            format!(
                "-{}",
                write(operand, ExprContext { min: 11, ..around }, &mut ExprLayout::flat())
            )
        }
        ExprKind::Unary(op, operand_expr) => {
            let word = match op {
                UnaryOp::Once => "once",
                UnaryOp::Historically => "historically",
                UnaryOp::Previous => "previous",
                _ => "not",
            };
            format!(
                "{word} {}",
                write(
                    operand_expr,
                    ExprContext { min: operand(4, None, operand_expr), ..around },
                    layout
                )
            )
        }
        ExprKind::Is(operand_expr, some) => {
            let min = operand(6, None, operand_expr);
            let left = write(
                operand_expr,
                ExprContext { min, tail: false, ..around },
                &mut ExprLayout::flat(),
            );
            format!("{left} is {}", if *some { "some" } else { "none" })
        }
        ExprKind::If(c, then, other) => {
            let line = layout.line();
            let condition = write(c, ENCLOSED, &mut ExprLayout::flat());
            let then =
                write(then, ExprContext { branch: true, ..ENCLOSED }, &mut ExprLayout::flat());
            let other = write(
                other,
                ExprContext { min: 0, tail: true, branch: around.branch, ..around },
                &mut ExprLayout::flat(),
            );
            format!("if {condition}{line}then {then}{line}else {other}")
        }
        ExprKind::Quantified { op, binders, over, body } => {
            quantified(*op, binders, over, body, around, layout)
        }
        _ => primary(e, layout),
    }
}

fn binary(
    op: BinaryOp,
    l: &Expr,
    r: &Expr,
    around: ExprContext,
    layout: &mut ExprLayout,
) -> String {
    if op == BinaryOp::Matches {
        return format!(
            "{} matches {}",
            write(
                l,
                ExprContext { min: operand(6, None, l), tail: false, ..around },
                &mut ExprLayout::flat()
            ),
            primary(r, layout)
        );
    }
    let level = level(op);
    let (left, right) = match level {
        1 => (2, 1),
        5 => (6, 6),
        n => (n, n + 1),
    };
    let left_around = ExprContext { min: operand(left, Some(op), l), tail: false, ..around };
    let right_around = ExprContext { min: operand(right, Some(op), r), ..around };
    if level > 3 {
        let left = write(l, left_around, &mut layout.for_part(l, left_around));
        let right = write(r, right_around, &mut layout.for_part(r, right_around));
        let line = if layout.indent.is_some() && width(&left) + width(&right) > WIDTH / 2 {
            layout.line()
        } else {
            " ".to_owned()
        };
        return format!("{left}{line}{} {right}", symbol(op));
    }
    // A chain of one operator is broken before each of its operators.
    let same_on_left = matches!(&l.kind, ExprKind::Binary(inner, ..) if *inner == op && level != 1);
    let left = if same_on_left {
        write(l, left_around, layout)
    } else {
        write(l, left_around, &mut layout.for_part(l, left_around))
    };
    let same_on_right =
        matches!(&r.kind, ExprKind::Binary(inner, ..) if *inner == op && level == 1);
    let right = if same_on_right {
        write(r, right_around, layout)
    } else {
        write(r, right_around, &mut layout.for_part(r, right_around))
    };
    format!("{left}{}{} {right}", layout.line(), symbol(op))
}

fn quantified(
    op: Quantifier,
    binders: &[Ident],
    over: &Expr,
    body: &Expr,
    around: ExprContext,
    layout: &mut ExprLayout,
) -> String {
    let names: Vec<&str> = binders.iter().map(|b| b.node.as_str()).collect();
    let names = names.join(", ");
    let mut over_layout = match &over.kind {
        ExprKind::List(_) | ExprKind::Set(_) | ExprKind::Map(_) => layout.for_part(over, ENCLOSED),
        _ => ExprLayout::flat(),
    };
    let over = write(over, ENCLOSED, &mut over_layout);
    let (open, close) = op.ends();
    let around = if close.is_empty() {
        ExprContext { min: 0, tail: true, branch: around.branch, ..around }
    } else {
        ENCLOSED
    };
    let mut inside = layout.deeper();
    let body = write(body, around, &mut inside);
    format!("{open}{names} in {over}:{}{body}{close}", inside.line())
}

fn primary(e: &Expr, layout: &mut ExprLayout) -> String {
    match &e.kind {
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::None => "none".to_owned(),
        ExprKind::Number(text) | ExprKind::Duration(text) | ExprKind::Name(text) => text.clone(),
        ExprKind::LastCalls(number) => format!("last {number} calls"),
        ExprKind::String(value) => text::string(value),
        ExprKind::Regex(value) => text::regex(value),
        ExprKind::Field(record, name) => format!("{}.{}", postfix_base(record, layout), name.node),
        ExprKind::Index(collection, keys) => {
            let keys: Vec<String> =
                keys.iter().map(|key| write(key, ENCLOSED, &mut ExprLayout::flat())).collect();
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

fn postfix_base(base: &Expr, layout: &mut ExprLayout) -> String {
    write(base, ExprContext { min: 11, tail: false, ..ENCLOSED }, layout)
}

fn call_args(name: &str, args: &[Arg], layout: &mut ExprLayout) -> String {
    // `count(x in xs)` would be parsed as an aggregate.
    let guarded = matches!(name, "count" | "sum");
    let arg_text = |arg: &Arg| match &arg.name {
        Some(name) => format!("{}: {}", name.node, enclosed(&arg.value)),
        None if guarded && binds(&arg.value) < 10 => format!("({})", enclosed(&arg.value)),
        None => enclosed(&arg.value),
    };
    sequence("(", args.iter().map(arg_text).collect(), ")", layout)
}

/// The width up to which the parts of a sequence share lines.
const SHORT: usize = 20;

/// Prints parts between brackets. If the layout is broken and one line would be too long, short
/// parts fill lines, and other parts are on separate lines.
fn sequence(open: &str, parts: Vec<String>, close: &str, layout: &mut ExprLayout) -> String {
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

fn symbol(op: BinaryOp) -> &'static str {
    use BinaryOp as B;
    match op {
        B::Implies => "implies",
        B::Or => "or",
        B::And => "and",
        B::Eq => "==",
        B::Ne => "!=",
        B::Lt => "<",
        B::Le => "<=",
        B::Gt => ">",
        B::Ge => ">=",
        B::In => "in",
        B::Contains => "contains",
        B::Matches => "matches",
        B::Within => "within",
        B::Since => "since",
        B::Add => "+",
        B::Sub => "-",
        B::Mul => "*",
        B::Div => "/",
        B::Rem => "%",
    }
}

//! Expressions as one line of source text, for messages, labels and the keys of flow typing.

use super::scope::Scope;
use guard_syntax::ast::{Arg, BinaryOp, Expr, ExprKind, Ident, Quantifier, UnaryOp};

/// Returns the expression as its author would write it on one line.
pub(crate) fn text(expr: &Expr) -> String {
    line(expr, &|_| None)
}

/// Returns the expression as it would be written in the clause that uses the define around it: with
/// arguments instead of parameters.
pub(crate) fn text_in(expr: &Expr, scope: &Scope) -> String {
    line(expr, &|name| {
        scope.given(name).map(|given| (level(&given.value), text_in(&given.value, &given.scope)))
    })
}

fn line(expr: &Expr, given: &dyn Fn(&str) -> Option<(u8, String)>) -> String {
    let mut out = OneLine { text: String::new(), given, bound: Vec::new() };
    write(expr, 0, &mut out);
    out.text
}

/// A line that is being written.
struct OneLine<'w> {
    text: String,
    /// Returns the level and the text of the argument of a parameter.
    given: &'w dyn Fn(&str) -> Option<(u8, String)>,
    /// Bound variables, which are not parameters.
    bound: Vec<String>,
}

impl OneLine<'_> {
    fn push(&mut self, c: char) {
        self.text.push(c);
    }

    fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Writes the argument that replaces a name. Returns false if the name is not replaced.
    fn argument(&mut self, expr: &Expr, at_least: u8) -> bool {
        let ExprKind::Name(name) = &expr.kind else { return false };
        if self.bound.contains(name) {
            return false;
        }
        let Some((level, text)) = (self.given)(name) else { return false };
        if level < at_least {
            self.push_str(&format!("({text})"))
        } else {
            self.push_str(&text)
        }
        true
    }
}

/// Returns the precedence of an infix operator, and its spelling. A higher number binds more tightly.
pub(crate) fn operator(op: BinaryOp) -> (u8, &'static str) {
    match op {
        BinaryOp::Implies => (1, "implies"),
        BinaryOp::Or => (2, "or"),
        BinaryOp::And => (3, "and"),
        BinaryOp::Eq => (5, "=="),
        BinaryOp::Ne => (5, "!="),
        BinaryOp::Lt => (5, "<"),
        BinaryOp::Le => (5, "<="),
        BinaryOp::Gt => (5, ">"),
        BinaryOp::Ge => (5, ">="),
        BinaryOp::In => (5, "in"),
        BinaryOp::Contains => (5, "contains"),
        BinaryOp::Matches => (5, "matches"),
        BinaryOp::Within => (6, "within"),
        BinaryOp::Since => (6, "since"),
        BinaryOp::Add => (7, "+"),
        BinaryOp::Sub => (7, "-"),
        BinaryOp::Mul => (8, "*"),
        BinaryOp::Div => (8, "/"),
        BinaryOp::Rem => (8, "%"),
    }
}

fn unary(op: UnaryOp) -> (u8, &'static str) {
    match op {
        UnaryOp::Not => (4, "not "),
        UnaryOp::Once => (4, "once "),
        UnaryOp::Historically => (4, "historically "),
        UnaryOp::Previous => (4, "previous "),
        UnaryOp::Neg => (10, "-"),
    }
}

fn level(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::If(..) => 0,
        ExprKind::Quantified { op, .. } if op.is_prefix() => 0,
        ExprKind::Binary(op, ..) => operator(*op).0,
        ExprKind::Unary(op, _) => unary(*op).0,
        ExprKind::Is(..) => 5,
        ExprKind::Else(..) => 9,
        _ => 12,
    }
}

fn write(expr: &Expr, at_least: u8, out: &mut OneLine) {
    if out.argument(expr, at_least) {
        return;
    }
    let enclose = level(expr) < at_least;
    if enclose {
        out.push('(');
    }
    write_bare(expr, out);
    if enclose {
        out.push(')');
    }
}

/// Returns the level of an operand. Readers do not know how tightly `else` binds, or that `and`
/// binds more tightly than `or`.
fn clear(op: BinaryOp, operand: &Expr, level: u8) -> u8 {
    match (op, &operand.kind) {
        (_, ExprKind::Else(..)) | (BinaryOp::Or, ExprKind::Binary(BinaryOp::And, ..)) => 12,
        _ => level,
    }
}

fn write_bare(expr: &Expr, out: &mut OneLine) {
    match &expr.kind {
        ExprKind::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        ExprKind::None => out.push_str("none"),
        ExprKind::Number(s) | ExprKind::Duration(s) | ExprKind::Name(s) => out.push_str(s),
        ExprKind::LastCalls(number) => out.push_str(&format!("last {number} calls")),
        ExprKind::String(s) => out.push_str(&format!("{s:?}")),
        ExprKind::Regex(s) => out.push_str(&format!("/{s}/")),
        ExprKind::Field(record, name) => {
            write(record, 11, out);
            out.push('.');
            out.push_str(&name.node);
        }
        ExprKind::Index(collection, keys) => {
            write(collection, 11, out);
            out.push('[');
            for (nth, key) in keys.iter().enumerate() {
                if nth > 0 {
                    out.push_str(", ");
                }
                write(key, 0, out);
            }
            out.push(']');
        }
        ExprKind::Each(operand) => {
            write(operand, 11, out);
            out.push_str("[*]");
        }
        ExprKind::Call(name, args) => {
            out.push_str(&name.node);
            arguments(args, out);
        }
        ExprKind::Known(name, args) => {
            out.push_str("known ");
            out.push_str(&name.node);
            arguments(args, out);
        }
        ExprKind::Probe(name) => {
            out.push_str("probe ");
            out.push_str(&name.node);
        }
        ExprKind::Unary(op, operand) => {
            let (level, spelling) = unary(*op);
            out.push_str(spelling);
            write(operand, level, out);
        }
        ExprKind::Binary(op, a, b) => {
            let (level, spelling) = operator(*op);
            let (left, right) = match op {
                BinaryOp::Implies => (level + 1, level),
                _ if level == 5 => (level + 1, level + 1),
                _ => (level, level + 1),
            };
            write(a, clear(*op, a, left), out);
            out.push_str(&format!(" {spelling} "));
            write(b, clear(*op, b, right), out);
        }
        ExprKind::Is(operand, some) => {
            write(operand, 6, out);
            out.push_str(if *some { " is some" } else { " is none" });
        }
        ExprKind::Else(a, b) => {
            write(a, 10, out);
            out.push_str(" else ");
            write(b, 9, out);
        }
        ExprKind::If(c, a, b) => {
            out.push_str("if ");
            write(c, 1, out);
            out.push_str(" then ");
            write(a, 10, out);
            out.push_str(" else ");
            write(b, 0, out);
        }
        ExprKind::Quantified { op, binders, over, body } => {
            quantified(*op, binders, over, body, out);
        }
        ExprKind::List(xs) => sequence('[', xs, ']', out),
        ExprKind::Set(xs) => sequence('{', xs, '}', out),
        ExprKind::Map(entries) => {
            out.push('{');
            for (at, (key, value)) in entries.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                if guard_plan::render::is_bare_key(&key.node) {
                    out.push_str(&key.node)
                } else {
                    out.push_str(&format!("{:?}", key.node))
                }
                out.push_str(": ");
                write(value, 0, out);
            }
            out.push('}');
        }
    }
}

fn quantified(op: Quantifier, binders: &[Ident], over: &Expr, body: &Expr, out: &mut OneLine) {
    let names: Vec<&str> = binders.iter().map(|b| b.node.as_str()).collect();
    let (open, close) = op.ends();
    out.push_str(open);
    out.push_str(&names.join(", "));
    out.push_str(" in ");
    write(over, 1, out);
    out.push_str(": ");
    let outer = out.bound.len();
    out.bound.extend(binders.iter().map(|b| b.node.clone()));
    write(body, 0, out);
    out.bound.truncate(outer);
    out.push_str(close);
}

fn sequence(open: char, xs: &[Expr], close: char, out: &mut OneLine) {
    out.push(open);
    for (at, x) in xs.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        write(x, 0, out);
    }
    out.push(close);
}

fn arguments(args: &[Arg], out: &mut OneLine) {
    out.push('(');
    for (at, arg) in args.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        if let Some(name) = &arg.name {
            out.push_str(&name.node);
            out.push_str(": ");
        }
        write(&arg.value, 0, out);
    }
    out.push(')');
}

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
        scope.given(name).map(|given| (given.value.level(), text_in(&given.value, &given.scope)))
    })
}

fn line(expr: &Expr, given: &dyn Fn(&str) -> Option<(u8, String)>) -> String {
    OneLine { given, bound: Vec::new() }.operand(expr, 0)
}

/// A printer of one line.
struct OneLine<'w> {
    /// Returns the level and the text of the argument of a parameter.
    given: &'w dyn Fn(&str) -> Option<(u8, String)>,
    /// Bound variables, which are not parameters.
    bound: Vec<String>,
}

/// Returns the level of an operand. Readers do not know how tightly `else` binds, or that `and`
/// binds more tightly than `or`.
fn clear(op: BinaryOp, operand: &Expr, level: u8) -> u8 {
    match (op, &operand.kind) {
        (_, ExprKind::Else(..)) | (BinaryOp::Or, ExprKind::Binary(BinaryOp::And, ..)) => 12,
        _ => level,
    }
}

impl OneLine<'_> {
    fn operand(&mut self, expr: &Expr, at_least: u8) -> String {
        let argument = match &expr.kind {
            ExprKind::Name(name) if !self.bound.contains(name) => (self.given)(name),
            _ => None,
        };
        let (level, text) = argument.unwrap_or_else(|| (expr.level(), self.bare(expr)));
        if level < at_least { format!("({text})") } else { text }
    }

    fn bare(&mut self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Bool(truth) => truth.to_string(),
            ExprKind::None => "none".into(),
            ExprKind::Number(s) | ExprKind::Duration(s) | ExprKind::Name(s) => s.clone(),
            ExprKind::LastCalls(number) => format!("last {number} calls"),
            ExprKind::String(s) => format!("{s:?}"),
            ExprKind::Regex(s) => format!("/{s}/"),
            ExprKind::Field(record, name) => format!("{}.{}", self.operand(record, 11), name.node),
            ExprKind::Index(collection, keys) => {
                format!("{}[{}]", self.operand(collection, 11), self.all(keys))
            }
            ExprKind::Each(operand) => format!("{}[*]", self.operand(operand, 11)),
            ExprKind::Call(name, args) => format!("{}({})", name.node, self.arguments(args)),
            ExprKind::Known(name, args) => format!("known {}({})", name.node, self.arguments(args)),
            ExprKind::Probe(name) => format!("probe {}", name.node),
            ExprKind::Unary(op, operand) => {
                let space = if *op == UnaryOp::Neg { "" } else { " " };
                format!("{}{space}{}", op.word(), self.operand(operand, op.level()))
            }
            ExprKind::Binary(op, a, b) => {
                let level = op.level();
                // `implies` groups to the right, and comparisons do not group.
                let (left, right) = match op {
                    BinaryOp::Implies => (level + 1, level),
                    _ if level == BinaryOp::COMPARISON => (level + 1, level + 1),
                    _ => (level, level + 1),
                };
                let left = self.operand(a, clear(*op, a, left));
                format!("{left} {} {}", op.word(), self.operand(b, clear(*op, b, right)))
            }
            ExprKind::Is(operand, some) => {
                format!("{} is {}", self.operand(operand, 6), if *some { "some" } else { "none" })
            }
            ExprKind::Else(a, b) => format!("{} else {}", self.operand(a, 10), self.operand(b, 9)),
            ExprKind::If(c, a, b) => {
                let then = format!("if {} then {}", self.operand(c, 1), self.operand(a, 10));
                format!("{then} else {}", self.operand(b, 0))
            }
            ExprKind::Quantified { op, binders, over, body } => {
                self.quantified(*op, binders, over, body)
            }
            ExprKind::List(xs) => format!("[{}]", self.all(xs)),
            ExprKind::Set(xs) => format!("{{{}}}", self.all(xs)),
            ExprKind::Map(entries) => {
                let entry = |(key, value): &(Ident, Expr)| {
                    let value = self.operand(value, 0);
                    if guard_plan::render::is_bare_key(&key.node) {
                        format!("{}: {value}", key.node)
                    } else {
                        format!("{:?}: {value}", key.node)
                    }
                };
                format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn quantified(
        &mut self,
        op: Quantifier,
        binders: &[Ident],
        over: &Expr,
        body: &Expr,
    ) -> String {
        let names: Vec<&str> = binders.iter().map(|b| b.node.as_str()).collect();
        let (open, close) = op.ends();
        let over = self.operand(over, 1);
        let outer = self.bound.len();
        self.bound.extend(binders.iter().map(|b| b.node.clone()));
        let body = self.operand(body, 0);
        self.bound.truncate(outer);
        format!("{open}{} in {over}: {body}{close}", names.join(", "))
    }

    fn all(&mut self, xs: &[Expr]) -> String {
        xs.iter().map(|x| self.operand(x, 0)).collect::<Vec<_>>().join(", ")
    }

    fn arguments(&mut self, args: &[Arg]) -> String {
        let argument = |arg: &Arg| {
            let value = self.operand(&arg.value, 0);
            match &arg.name {
                Some(name) => format!("{}: {value}", name.node),
                None => value,
            }
        };
        args.iter().map(argument).collect::<Vec<_>>().join(", ")
    }
}

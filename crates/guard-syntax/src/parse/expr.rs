//! Expressions: precedence climbing over the grammar's flat list of operands and operators.
//!
//! The parser keeps its own stack, so a long chain of operators uses heap and no call stack. A tree
//! deeper than [`MAX_DEPTH`] is reported and never built. Only brackets recurse, and their nesting
//! was limited before.

use super::build::{LiteralKind, TreeBuilder, literal_kind};
use super::grammar::{ChildNodes, Rule, SyntaxNode};
use crate::ast::{Arg, BinaryOp, Expr, ExprKind, Ident, Quantifier, UnaryOp};
use crate::errors;
use crate::limits::MAX_DEPTH;
use crate::span::Span;

/// An expression and the height of its tree.
struct ParsedExpr {
    expr: Expr,
    depth: usize,
    /// The position of its root, if that is a comparison without parentheses.
    comparison: Option<Span>,
}

/// An operator that waits for its right operand.
enum Pending {
    Unary(UnaryOp, Span),
    If { condition: Box<ParsedExpr>, then: Box<ParsedExpr>, span: Span },
    Quantified { op: Quantifier, binders: Vec<Ident>, over: Box<ParsedExpr>, span: Span },
    Binary(Infix, ParsedExpr),
}

/// An infix operator, including `else`.
#[derive(Clone, Copy)]
enum Infix {
    Op(BinaryOp),
    Else,
}

impl Infix {
    fn from_text(text: &str) -> Option<(Infix, u8)> {
        if text == "else" {
            return Some((Infix::Else, 9));
        }
        BinaryOp::from_word(text).map(|op| (Infix::Op(op), op.level()))
    }

    /// Returns how tightly an operator of `level` binds on its left and on its right.
    fn binding(level: u8) -> (u8, u8) {
        // Levels are doubled to leave room for the side on which an operator of equal level binds.
        let right_associative = matches!(level, 1 | 9);
        if right_associative { (2 * level + 1, 2 * level) } else { (2 * level, 2 * level + 1) }
    }
}

impl Pending {
    /// Returns how tightly it binds on its right.
    fn right(&self) -> u8 {
        match self {
            Pending::Unary(op, _) => 2 * op.level(),
            Pending::If { .. } | Pending::Quantified { .. } => 0,
            Pending::Binary(Infix::Else, ..) => Infix::binding(9).1,
            Pending::Binary(Infix::Op(op), ..) => Infix::binding(op.level()).1,
        }
    }
}

/// An expression under construction.
struct Climb {
    pending: Vec<Pending>,
    value: Option<ParsedExpr>,
}

impl TreeBuilder<'_> {
    pub fn take_expr(&mut self, parts: &mut ChildNodes) -> Option<Expr> {
        let node = parts.accept(Rule::expr)?;
        self.expr(node)
    }

    pub fn expr(&mut self, node: SyntaxNode) -> Option<Expr> {
        self.value(node).map(|value| value.expr)
    }

    fn take_value(&mut self, parts: &mut ChildNodes) -> Option<ParsedExpr> {
        let node = parts.accept(Rule::expr).or_else(|| parts.accept(Rule::branch))?;
        self.value(node)
    }

    fn value(&mut self, node: SyntaxNode) -> Option<ParsedExpr> {
        let mut climb = Climb { pending: Vec::new(), value: None };
        for part in ChildNodes::new(node) {
            self.climb(&mut climb, part)?;
        }
        let mut value = climb.value?;
        while let Some(pending) = climb.pending.pop() {
            value = self.apply(pending, value);
        }
        Some(value)
    }

    fn climb(&mut self, climb: &mut Climb, node: SyntaxNode) -> Option<()> {
        let span = self.span(&node);
        match node.as_rule() {
            Rule::prefix_op => climb.pending.push(Pending::Unary(unary(node.as_str())?, span)),
            Rule::if_head => climb.pending.push(self.if_head(node, span)?),
            Rule::quantifier => climb.pending.push(self.quantifier(node, span)?),
            Rule::infix | Rule::connective => {
                let (infix, level) = Infix::from_text(node.as_str())?;
                let left = self.left_side(climb, level, span)?;
                climb.pending.push(Pending::Binary(infix, left));
            }
            Rule::is_test => {
                let left = self.left_side(climb, BinaryOp::COMPARISON, span)?;
                let some = ChildNodes::new(node).next()?.as_str() == "some";
                let whole = left.expr.span.to(span);
                let mut value = self.over(left, whole, |e| ExprKind::Is(e, some));
                value.comparison = Some(whole);
                climb.value = Some(value);
            }
            Rule::pattern => {
                let left = self.left_side(climb, BinaryOp::COMPARISON, span)?;
                let regex = self.take_regex(&mut ChildNodes::new(node))?;
                let right = Expr { kind: ExprKind::Regex(regex.node), span: regex.span };
                let whole = left.expr.span.to(span);
                let mut value = self
                    .over(left, whole, |e| ExprKind::Binary(BinaryOp::Matches, e, Box::new(right)));
                value.comparison = Some(whole);
                climb.value = Some(value);
            }
            Rule::access => {
                let field = self.name(&mut ChildNodes::new(node))?;
                let operand = climb.value.take()?;
                let whole = operand.expr.span.to(span);
                climb.value = Some(self.over(operand, whole, |e| ExprKind::Field(e, field)));
            }
            Rule::every_element => {
                let operand = climb.value.take()?;
                let whole = operand.expr.span.to(span);
                climb.value = Some(self.over(operand, whole, ExprKind::Each));
            }
            Rule::index => {
                let mut operand = climb.value.take()?;
                let mut keys = Vec::new();
                for part in ChildNodes::new(node) {
                    let key = self.value(part)?;
                    operand.depth = operand.depth.max(key.depth);
                    keys.push(key.expr);
                }
                let whole = operand.expr.span.to(span);
                climb.value = Some(self.over(operand, whole, |base| ExprKind::Index(base, keys)));
            }
            _ => climb.value = Some(self.primary(node, span)?),
        }
        Some(())
    }

    /// Returns the left operand: everything that binds tighter than an operator of `level`.
    fn left_side(&mut self, climb: &mut Climb, level: u8, operator: Span) -> Option<ParsedExpr> {
        let (left, _) = Infix::binding(level);
        let mut value = climb.value.take()?;
        while climb.pending.last().is_some_and(|pending| left < pending.right()) {
            value = self.apply(climb.pending.pop()?, value);
        }
        if let Some(first) = value.comparison.filter(|_| level == BinaryOp::COMPARISON) {
            self.report(errors::chained_comparison(operator, first));
        }
        Some(value)
    }

    fn apply(&mut self, pending: Pending, right: ParsedExpr) -> ParsedExpr {
        match pending {
            Pending::Unary(op, span) => {
                let whole = span.to(right.expr.span);
                self.over(right, whole, |e| ExprKind::Unary(op, e))
            }
            Pending::If { condition, then, span } => {
                let whole = span.to(right.expr.span);
                let depth = condition.depth.max(then.depth);
                let value = ParsedExpr { depth: right.depth.max(depth), ..right };
                let condition = Box::new(condition.expr);
                let then = Box::new(then.expr);
                self.over(value, whole, |e| ExprKind::If(condition, then, e))
            }
            Pending::Quantified { op, binders, over, span } => {
                let whole = span.to(right.expr.span);
                self.join(*over, right, whole, |over, body| ExprKind::Quantified {
                    op,
                    binders,
                    over,
                    body,
                })
            }
            Pending::Binary(Infix::Else, left) => {
                let whole = left.expr.span.to(right.expr.span);
                self.join(left, right, whole, ExprKind::Else)
            }
            Pending::Binary(Infix::Op(op), left) => {
                let whole = left.expr.span.to(right.expr.span);
                let mut value = self.join(left, right, whole, |l, r| ExprKind::Binary(op, l, r));
                value.comparison = (op.level() == BinaryOp::COMPARISON).then_some(whole);
                value
            }
        }
    }

    /// Builds a node with one child.
    fn over(
        &mut self,
        operand: ParsedExpr,
        span: Span,
        make: impl FnOnce(Box<Expr>) -> ExprKind,
    ) -> ParsedExpr {
        // The error refuses the file, so any tree within the limit may stand in for this one.
        if operand.depth >= MAX_DEPTH {
            self.deep(span);
            return operand;
        }
        let depth = operand.depth + 1;
        ParsedExpr {
            expr: Expr { kind: make(Box::new(operand.expr)), span },
            depth,
            comparison: None,
        }
    }

    /// Builds a node with two children.
    fn join(
        &mut self,
        a: ParsedExpr,
        b: ParsedExpr,
        span: Span,
        make: impl FnOnce(Box<Expr>, Box<Expr>) -> ExprKind,
    ) -> ParsedExpr {
        let depth = a.depth.max(b.depth);
        if depth >= MAX_DEPTH {
            self.deep(span);
            return b;
        }
        let kind = make(Box::new(a.expr), Box::new(b.expr));
        ParsedExpr { expr: Expr { kind, span }, depth: depth + 1, comparison: None }
    }

    fn deep(&mut self, span: Span) {
        if !self.too_deep {
            self.too_deep = true;
            self.report(errors::too_deep(span));
        }
    }

    fn if_head(&mut self, node: SyntaxNode, span: Span) -> Option<Pending> {
        let mut parts = ChildNodes::new(node);
        let condition = Box::new(self.take_value(&mut parts)?);
        let then = Box::new(self.take_value(&mut parts)?);
        Some(Pending::If { condition, then, span })
    }

    fn quantifier(&mut self, node: SyntaxNode, span: Span) -> Option<Pending> {
        let mut parts = ChildNodes::new(node);
        let op = match parts.next()?.as_str() {
            "all" => Quantifier::All,
            "first" => Quantifier::First,
            _ => Quantifier::Any,
        };
        let binders = self.binders(&mut parts)?;
        let over = Box::new(self.take_value(&mut parts)?);
        Some(Pending::Quantified { op, binders, over, span })
    }

    pub fn binders(&mut self, parts: &mut ChildNodes) -> Option<Vec<Ident>> {
        let mut names = parts.enter(Rule::binders)?;
        Some(self.names(&mut names))
    }

    fn primary(&mut self, node: SyntaxNode, span: Span) -> Option<ParsedExpr> {
        let rule = node.as_rule();
        let kind = match rule {
            Rule::paren => {
                let value = self.take_value(&mut ChildNodes::new(node))?;
                // Parentheses end a comparison: `(a < b) == c` is not a chain.
                return Some(ParsedExpr { comparison: None, ..value });
            }
            Rule::aggregate => return self.aggregate(node, span),
            Rule::known | Rule::reference => return self.reference(node, span),
            Rule::list | Rule::set => return self.elements(node, span),
            Rule::map => return self.entries(node, span),
            Rule::literal => {
                let literal = self.literal(&node);
                match literal_kind(&literal.node) {
                    Some(LiteralKind::Duration) => ExprKind::Duration(literal.node),
                    _ => ExprKind::Number(literal.node),
                }
            }
            Rule::last_calls => {
                let mut parts = ChildNodes::new(node);
                ExprKind::LastCalls(self.literal(&parts.next()?).node)
            }
            Rule::string => ExprKind::String(self.string(&node).node),
            Rule::boolean => ExprKind::Bool(node.as_str() == "true"),
            Rule::none => ExprKind::None,
            _ => ExprKind::Probe(self.name(&mut ChildNodes::new(node))?),
        };
        Some(ParsedExpr { expr: Expr { kind, span }, depth: 1, comparison: None })
    }

    fn aggregate(&mut self, node: SyntaxNode, span: Span) -> Option<ParsedExpr> {
        let mut parts = ChildNodes::new(node);
        let op =
            if parts.next()?.as_str() == "count" { Quantifier::Count } else { Quantifier::Sum };
        let binders = self.binders(&mut parts)?;
        let over = self.take_value(&mut parts)?;
        let body = self.take_value(&mut parts)?;
        Some(self.join(over, body, span, |over, body| ExprKind::Quantified {
            op,
            binders,
            over,
            body,
        }))
    }

    fn reference(&mut self, node: SyntaxNode, span: Span) -> Option<ParsedExpr> {
        let known = node.as_rule() == Rule::known;
        let mut parts = ChildNodes::new(node);
        let name = self.name(&mut parts)?;
        let Some(args) = parts.accept(Rule::args) else {
            if matches!(name.node.as_str(), "null" | "nil") {
                self.report(errors::null(span, &name.node));
            }
            return Some(ParsedExpr {
                expr: Expr { kind: ExprKind::Name(name.node), span },
                depth: 1,
                comparison: None,
            });
        };
        let (args, depth) = self.deep_args(args)?;
        let kind = if known { ExprKind::Known(name, args) } else { ExprKind::Call(name, args) };
        Some(self.bounded(kind, depth, span))
    }

    fn elements(&mut self, node: SyntaxNode, span: Span) -> Option<ParsedExpr> {
        let is_list = node.as_rule() == Rule::list;
        let mut elements = Vec::new();
        let mut depth = 0;
        for part in ChildNodes::new(node) {
            let value = self.value(part)?;
            depth = depth.max(value.depth);
            elements.push(value.expr);
        }
        let kind = if is_list { ExprKind::List(elements) } else { ExprKind::Set(elements) };
        Some(self.bounded(kind, depth, span))
    }

    fn entries(&mut self, node: SyntaxNode, span: Span) -> Option<ParsedExpr> {
        let mut entries = Vec::new();
        let mut depth = 0;
        for part in ChildNodes::new(node) {
            let mut parts = ChildNodes::new(part);
            let key = match self.take_string(&mut parts) {
                Some(key) => key,
                None => match parts.accept(Rule::key_value) {
                    Some(key) => self.ident(&key),
                    None => self.name(&mut parts)?,
                },
            };
            let value = self.take_value(&mut parts)?;
            depth = depth.max(value.depth);
            entries.push((key, value.expr));
        }
        Some(self.bounded(ExprKind::Map(entries), depth, span))
    }

    /// Builds a node, given the depth of its deepest child.
    fn bounded(&mut self, kind: ExprKind, depth: usize, span: Span) -> ParsedExpr {
        if depth >= MAX_DEPTH {
            self.deep(span);
            return ParsedExpr {
                expr: Expr { kind: ExprKind::None, span },
                depth: 1,
                comparison: None,
            };
        }
        ParsedExpr { expr: Expr { kind, span }, depth: depth + 1, comparison: None }
    }

    fn deep_args(&mut self, node: SyntaxNode) -> Option<(Vec<Arg>, usize)> {
        let mut args = Vec::new();
        let mut depth = 0;
        for part in ChildNodes::new(node) {
            let mut parts = ChildNodes::new(part);
            let name = parts.enter(Rule::arg_name).and_then(|mut named| self.name(&mut named));
            let value = self.take_value(&mut parts)?;
            depth = depth.max(value.depth);
            args.push(Arg { name, value: value.expr });
        }
        Some((args, depth))
    }

    pub fn take_args(&mut self, parts: &mut ChildNodes) -> Option<Vec<Arg>> {
        let node = parts.accept(Rule::args)?;
        self.deep_args(node).map(|(args, _)| args)
    }
}

fn unary(text: &str) -> Option<UnaryOp> {
    use UnaryOp::*;
    [Not, Neg, Once, Historically, Previous].into_iter().find(|op| op.word() == text)
}

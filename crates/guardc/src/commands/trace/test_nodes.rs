//! Recorded values as the nodes of a test's syntax tree.

use guard_plan::json::Json;
use guard_syntax::ast::{Expr, ExprKind, Spanned, UnaryOp};
use guard_syntax::span::Span;

/// The workspace of every test.
const WORKSPACE: &str = "/workspace";

/// The values of a session, whose paths are moved to the workspace of a test.
#[derive(Default)]
pub struct TestValues {
    /// The workspace of the session, without a slash at its end.
    workspace: String,
}

impl TestValues {
    /// Creates the values of a session in a workspace.
    pub fn new(workspace: &str) -> TestValues {
        TestValues { workspace: workspace.trim_end_matches('/').to_owned() }
    }

    /// Returns a value as an expression.
    pub fn value(&self, json: &Json) -> Expr {
        let kind = match json {
            Json::Null => ExprKind::None,
            Json::Bool(value) => ExprKind::Bool(*value),
            Json::Int(value) => return number(&value.to_string()),
            Json::Number(text) => return number(&plain(text)),
            Json::String(text) => ExprKind::String(self.relocated(text)),
            Json::Array(items) => {
                ExprKind::List(items.iter().map(|item| self.value(item)).collect())
            }
            Json::Object(members) if members.is_empty() => ExprKind::Set(Vec::new()),
            Json::Object(members) => ExprKind::Map(
                members
                    .iter()
                    .map(|(key, value)| (node(key.to_string()), self.value(value)))
                    .collect(),
            ),
        };
        expr(kind)
    }

    /// Returns a text with the session's workspace replaced by that of the test.
    pub fn relocated(&self, text: &str) -> String {
        if self.workspace.len() < 2 || self.workspace == WORKSPACE {
            return text.to_owned();
        }
        match text.strip_prefix(&self.workspace) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{WORKSPACE}{rest}"),
            _ => text.replace(&format!("{}/", self.workspace), &format!("{WORKSPACE}/")),
        }
    }
}

fn number(text: &str) -> Expr {
    match text.strip_prefix('-') {
        Some(positive) => expr(ExprKind::Unary(UnaryOp::Neg, Box::new(number(positive)))),
        None => expr(ExprKind::Number(text.to_owned())),
    }
}

/// Returns a number without an exponent.
fn plain(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(value) if text.contains(['e', 'E']) => value.to_string(),
        _ => text.to_owned(),
    }
}

/// Creates an expression that stands nowhere in a source.
pub fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

/// Creates a node that stands nowhere in a source.
pub fn node<T>(node: T) -> Spanned<T> {
    Spanned { node, span: Span::default() }
}

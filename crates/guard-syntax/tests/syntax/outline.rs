//! A compact outline of a tree and its diagnostics, for snapshots.
//!
//! The tree is shown as the formatter prints it, item by item, so that the result of parsing is
//! readable. An expression whose grouping matters is shown with parentheses.

use guard_syntax::ast::{Expr, ExprKind, File, ItemKind};
use guard_syntax::diagnostic::{Diagnostic, DiagnosticSeverity};
use guard_syntax::span::{FileId, Span};
use std::fmt::Write as _;

/// Returns the output of a syntax case: the tree and the diagnostics.
pub fn outline(text: &str) -> String {
    let parse = guard_syntax::parse(FileId(0), text);
    let mut out = String::from("tree\n");
    for line in tree(&parse.file).lines() {
        let _ = writeln!(out, "{}", format!("  {line}").trim_end());
    }
    let _ =
        writeln!(out, "\ndiagnostics{}", if parse.diagnostics.is_empty() { ": none" } else { "" });
    for diagnostic in &parse.diagnostics {
        out.push_str(&rendered(text, diagnostic));
    }
    out
}

/// Returns the tree as text. In `goal`s, the grouping is visible.
fn tree(file: &File) -> String {
    let mut out = guard_syntax::print(file);
    for item in &file.items {
        if let ItemKind::Goal(goal) = &item.kind {
            let _ = writeln!(out, "\ngroups of {}", goal.name.node);
            for condition in &goal.conditions {
                let _ = writeln!(out, "  {}", grouped(condition));
            }
        }
    }
    out
}

/// Returns an expression with every operator in parentheses.
fn grouped(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Binary(op, l, r) => format!("({} {op:?} {})", grouped(l), grouped(r)),
        ExprKind::Unary(op, of) => format!("({op:?} {})", grouped(of)),
        ExprKind::Is(of, some) => {
            format!("({} is {})", grouped(of), if *some { "some" } else { "none" })
        }
        ExprKind::Else(l, r) => format!("({} else {})", grouped(l), grouped(r)),
        ExprKind::If(c, a, b) => {
            format!("(if {} then {} else {})", grouped(c), grouped(a), grouped(b))
        }
        ExprKind::Field(of, name) => format!("{}.{}", grouped(of), name.node),
        ExprKind::Each(of) => format!("{}[*]", grouped(of)),
        ExprKind::Index(of, keys) => {
            let keys: Vec<String> = keys.iter().map(grouped).collect();
            format!("{}[{}]", grouped(of), keys.join(", "))
        }
        ExprKind::Quantified { op, binders, over, body } => {
            let names: Vec<&str> = binders.iter().map(|b| b.node.as_str()).collect();
            format!("({op:?} {} in {}: {})", names.join(", "), grouped(over), grouped(body))
        }
        ExprKind::LastCalls(number) => format!("last {number} calls"),
        ExprKind::Name(name) | ExprKind::Number(name) | ExprKind::Duration(name) => name.clone(),
        _ => format!("{:?}", e.kind).chars().take_while(|c| *c != '(').collect(),
    }
}

/// Formats a diagnostic: `error G0003 3:7-12 message`, with the further details below.
pub fn rendered(text: &str, d: &Diagnostic) -> String {
    let severity = if d.severity == DiagnosticSeverity::Error { "error" } else { "warning" };
    let mut out =
        format!("  {severity} {} {} {}\n", d.code, place(text, d.primary.span), d.message);
    if !d.primary.text.is_empty() {
        let _ = writeln!(out, "    here: {}", d.primary.text);
    }
    for label in &d.secondary {
        let _ = writeln!(out, "    {}: {}", place(text, label.span), label.text);
    }
    if let Some(help) = &d.help {
        let _ = writeln!(out, "    help: {help}");
    }
    if let Some(fix) = &d.fix {
        let _ = writeln!(out, "    fix: {} -> `{}`", place(text, fix.span), fix.replacement);
    }
    out
}

fn place(text: &str, span: Span) -> String {
    let position = |at: u32| {
        let before = text.get(..at as usize).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    };
    let ((line, from), (end_line, to)) = (position(span.start), position(span.end));
    if line == end_line {
        format!("{line}:{from}-{to}")
    } else {
        format!("{line}:{from}-{end_line}:{to}")
    }
}

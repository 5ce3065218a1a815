//! Printing of the clauses of tools and policies.

use super::items::{Piece, PrintedElement};
use super::page::PrintedText;
use super::text;
use crate::ast::{
    Clause, ClauseCondition, ClauseKind, Effect, EffectKind, Expr, Ident, Learn, Limit, LimitScope,
    PartPath, Requirement, ResultStep, Step, Target, Template,
};
use crate::span::Span;

/// Joins names with commas.
pub(super) fn names(names: &[Ident]) -> String {
    names.iter().map(|n| n.node.as_str()).collect::<Vec<_>>().join(", ")
}

impl PrintedElement for Clause {
    fn span(&self) -> Span {
        self.span.0
    }

    fn docs(&self) -> &[String] {
        &self.docs
    }

    fn front_end(&self, page: &PrintedText) -> u32 {
        match &self.kind {
            ClauseKind::Effect(statements) if statements.len() > 1 => page.opened(self.span.0),
            _ => self.span.0.end,
        }
    }

    fn print(&self, page: &mut PrintedText) {
        if self.shadow {
            page.push("shadow ");
        }
        match &self.kind {
            ClauseKind::Effect(statements) => page.effect(statements, self.span.0),
            ClauseKind::Learn(learn) => page.learn(learn),
            kind => page.flow(&pieces(kind)),
        }
    }
}

/// Adds `because "…"`, on a separate line if the whole does not fit.
fn saying(pieces: &mut Vec<Piece<'_>>, because: Option<&Template>) {
    if let Some(because) = because {
        let because = format!("because {}", text::message(because));
        pieces.extend([Piece::Break, Piece::text(because)]);
    }
}

fn pieces(kind: &ClauseKind) -> Vec<Piece<'_>> {
    match kind {
        ClauseKind::Requires { all, guard } => requires(all, guard.as_ref()),
        ClauseKind::Deny { guard: condition, because } => {
            let mut pieces = vec![Piece::text("deny")];
            guard(&mut pieces, Some(condition), false);
            saying(&mut pieces, because.as_ref());
            pieces
        }
        ClauseKind::Limit(l) => limit(l),
        ClauseKind::Costs { amount, unit, returned } => {
            let returned = if *returned { ", returned on failure" } else { "" };
            let unit = Piece::text(format!(" {}{returned}", unit.node));
            vec![Piece::text("costs "), Piece::Expr(amount), unit]
        }
        ClauseKind::Risk { level, guard: condition } => {
            let mut pieces = vec![Piece::text(format!("risk {}", level.node))];
            guard(&mut pieces, condition.as_ref(), true);
            pieces
        }
        ClauseKind::Prior { alpha, beta } => vec![
            Piece::text("prior Beta("),
            Piece::Expr(alpha),
            Piece::text(", "),
            Piece::Expr(beta),
            Piece::text(")"),
        ],
        ClauseKind::Approval { role, within, guard: condition, because } => {
            let within = text::after(" within ", within);
            let mut pieces = vec![Piece::text(format!("approval {}{within}", role.node))];
            guard(&mut pieces, condition.as_ref(), true);
            saying(&mut pieces, because.as_ref());
            pieces
        }
        ClauseKind::Observe { target: t, value, on_break } => {
            let mut pieces =
                vec![Piece::text(format!("observe {} = ", target(t))), Piece::Expr(value)];
            if let Some(word) = on_break {
                pieces.push(Piece::text(format!(" {}", word.node)));
            }
            pieces
        }
        ClauseKind::Let { name, value } => {
            vec![Piece::text(format!("let {} = ", name.node)), Piece::Expr(value)]
        }
        ClauseKind::Transform { target, path, value, guard: condition, because } => {
            let steps: String = path.iter().map(|name| format!(".{}", name.node)).collect();
            let head = format!("transform {}{steps} = ", target.node);
            let mut pieces = vec![Piece::text(head), Piece::Expr(value)];
            guard(&mut pieces, condition.as_ref(), true);
            saying(&mut pieces, because.as_ref());
            pieces
        }
        ClauseKind::Private { part, to, each, guard: condition } => {
            let mut pieces = vec![Piece::text(format!("private {}", result_part(part)))];
            if let Some(to) = to {
                pieces.extend([Piece::text(" to "), Piece::Expr(to)]);
            }
            ranges(&mut pieces, each);
            guard(&mut pieces, condition.as_ref(), true);
            pieces
        }
        ClauseKind::Trusted { extractor, part, each, guard: condition } => {
            let part = part.as_ref().map(result_part);
            let part = part.map(|part| match extractor {
                Some(extractor) => format!(" {}({part})", extractor.node),
                None => format!(" {part}"),
            });
            let mut pieces = vec![Piece::text(format!("trusted{}", part.unwrap_or_default()))];
            ranges(&mut pieces, each);
            guard(&mut pieces, condition.as_ref(), true);
            pieces
        }
        ClauseKind::Reconcile { condition, because } => {
            let mut pieces = vec![Piece::text("reconcile "), Piece::Expr(condition)];
            saying(&mut pieces, because.as_ref());
            pieces
        }
        kind => vec![Piece::Text(short(kind))],
    }
}

fn result_part(part: &PartPath) -> String {
    let step = |step: &ResultStep| match step {
        ResultStep::Field(name) => format!(".{}", name.node),
        ResultStep::Elements(_) => "[*]".to_owned(),
    };
    format!("{}{}", part.of.node, part.steps.iter().map(step).collect::<String>())
}

/// Prints `for a, b in e …`. The ranges stay together.
fn ranges<'a>(pieces: &mut Vec<Piece<'a>>, each: &'a [(Vec<Ident>, Expr)]) {
    for (nth, (binders, over)) in each.iter().enumerate() {
        pieces.push(if nth == 0 { Piece::Break } else { Piece::text(" ") });
        pieces.extend([Piece::text(format!("for {} in ", names(binders))), Piece::Expr(over)]);
    }
}

/// Adds the ranges and the condition of a statement or a lesson.
fn elements<'a>(
    pieces: &mut Vec<Piece<'a>>,
    each: &'a [(Vec<Ident>, Expr)],
    when: Option<&'a Expr>,
) {
    ranges(pieces, each);
    if let Some(when) = when {
        pieces.extend([Piece::Break, Piece::text("when "), Piece::Expr(when)]);
    }
}

/// Prints the clauses without expressions.
fn short(kind: &ClauseKind) -> String {
    match kind {
        ClauseKind::Ready(probe) => format!("ready when probe {}", probe.node),
        ClauseKind::Returns(ty, forms) => {
            format!("returns {}{}", text::ty(ty), text::forms(forms))
        }
        ClauseKind::Tags(tags) => format!("tags {}", names(tags)),
        ClauseKind::Name(name) => format!("name {}", text::string(&name.node)),
        ClauseKind::Undecoded(word) => format!("undecoded {}", word.node),
        ClauseKind::Untrusted(steps) => {
            let steps: String = steps.iter().map(|n| format!(".{}", n.node)).collect();
            if steps.is_empty() {
                "untrusted".to_owned()
            } else {
                format!("untrusted result{steps}")
            }
        }
        _ => "irreversible".to_owned(),
    }
}

/// Prints `when e` or `unless e`.
pub(super) fn guard<'a>(
    pieces: &mut Vec<Piece<'a>>,
    guard: Option<&'a ClauseCondition>,
    may_break: bool,
) {
    let Some(guard) = guard else { return };
    pieces.push(if may_break { Piece::Break } else { Piece::text(" ") });
    pieces.push(Piece::text(if guard.unless { "unless " } else { "when " }));
    pieces.push(Piece::Expr(&guard.condition));
}

fn requires<'a>(
    all: &'a [Vec<Requirement>],
    condition: Option<&'a ClauseCondition>,
) -> Vec<Piece<'a>> {
    let mut pieces = vec![Piece::text("requires")];
    for (index, alternatives) in all.iter().enumerate() {
        let text: Vec<String> = alternatives.iter().map(requirement).collect();
        let comma = if index + 1 < all.len() { "," } else { "" };
        pieces.push(if index == 0 { Piece::text(" ") } else { Piece::Break });
        pieces.push(Piece::text(format!("{}{comma}", text.join(" or "))));
    }
    guard(&mut pieces, condition, true);
    pieces
}

fn requirement(r: &Requirement) -> String {
    let keys = if r.keys.is_empty() { String::new() } else { text::args(&r.keys) };
    let since = text::after(" since ", &r.since);
    let within = text::after(" within ", &r.within);
    let latest = if r.latest { "latest " } else { "" };
    format!("{latest}{}{keys}{since}{within}", r.tool.node)
}

fn limit(limit: &Limit) -> Vec<Piece<'_>> {
    let scope = match &limit.scope {
        LimitScope::Window(d) => format!("per {}", d.node),
        LimitScope::Session => "per session".to_owned(),
        LimitScope::InFlight => "in flight".to_owned(),
        LimitScope::Identical => "identical".to_owned(),
    };
    let success = if limit.success { "success " } else { "" };
    let text = format!("limit {} {success}{scope}", limit.count.node);
    let mut pieces = vec![Piece::text(text)];
    if let Some(by) = &limit.by {
        pieces.extend([Piece::text(" by "), Piece::Expr(by)]);
    }
    if let Some(role) = &limit.ask {
        pieces.push(Piece::text(format!(" else ask {}", role.node)));
    }
    pieces
}

pub(super) fn target(target: &Target) -> String {
    let step = |step: &Step| match step {
        Step::Field(name) => format!(".{}", name.node),
        Step::Index(key) => format!("[{}]", super::expr::enclosed(key)),
    };
    format!("{}{}", target.var.node, target.path.iter().map(step).collect::<String>())
}

impl PrintedText<'_> {
    fn effect(&mut self, statements: &[Effect], span: Span) {
        self.push("effect");
        match statements {
            [only] => {
                self.push(" ");
                only.print(self);
            }
            _ => self.block(span, statements),
        }
    }

    /// Writes the `approval` of a statement, on a separate line if it does not fit.
    pub fn approval(&mut self, approval: &Clause) {
        let mut all = vec![Piece::Break];
        all.extend(pieces(&approval.kind));
        self.flow(&all);
    }

    pub fn learn(&mut self, learn: &Learn) {
        let mut pieces =
            vec![Piece::text(format!("learn {}{}", learn.fact.node, text::args(&learn.args)))];
        elements(&mut pieces, &learn.each, learn.when.as_ref());
        self.flow(&pieces);
    }
}

impl PrintedElement for Effect {
    fn span(&self) -> Span {
        self.span.0
    }

    fn print(&self, page: &mut PrintedText) {
        let to = target(&self.target);
        let assign = |op: &str| Piece::text(format!("{to} {op} "));
        let mut pieces = match &self.kind {
            EffectKind::Set(e) => vec![assign("="), Piece::Expr(e)],
            EffectKind::Add(e) => vec![assign("+="), Piece::Expr(e)],
            EffectKind::Subtract(e) => vec![assign("-="), Piece::Expr(e)],
            EffectKind::Multiply(e) => vec![assign("*="), Piece::Expr(e)],
            EffectKind::Append(e) => {
                vec![Piece::text("append "), Piece::Expr(e), Piece::text(format!(" to {to}"))]
            }
            EffectKind::Insert(e) => {
                vec![Piece::text("add "), Piece::Expr(e), Piece::text(format!(" to {to}"))]
            }
            EffectKind::Remove(e) => {
                vec![Piece::text("remove "), Piece::Expr(e), Piece::text(format!(" from {to}"))]
            }
            EffectKind::Delete => vec![Piece::text(format!("delete {to}"))],
        };
        elements(&mut pieces, &self.each, self.when.as_ref());
        page.flow(&pieces);
    }
}

//! Printing of the contents of lifecycles, probes, feedback, completion, attestations and
//! contracts.

use super::clauses::{guard, names};
use super::expr;
use super::items::{Piece, PrintedElement};
use super::page::PrintedText;
use super::text;
use crate::ast::{
    BlockCondition, Check, CheckKind, Completion, ContractClause, Feedback, FeedbackBlock, Ident,
    ItemShape, ItemsClause, LifecycleClause, Literal, ProbeClause, Spanned, Str, Transition,
    Trigger,
};
use crate::span::Span;

pub(super) fn strings(strings: &[Str]) -> String {
    strings.iter().map(|s| format!(" {}", text::string(&s.node))).collect()
}

fn dotted(path: &[Ident]) -> String {
    path.iter().map(|n| n.node.as_str()).collect::<Vec<_>>().join(".")
}

/// Prints the environment of a command.
fn given(env: &[Str]) -> String {
    if env.is_empty() { String::new() } else { format!(" env{}", strings(env)) }
}

impl PrintedElement for Spanned<LifecycleClause> {
    fn span(&self) -> Span {
        self.span
    }

    fn front_end(&self, page: &PrintedText) -> u32 {
        page.opened(self.span)
    }

    fn print(&self, page: &mut PrintedText) {
        let line = match &self.node {
            LifecycleClause::Fields(fields) => {
                page.push("fields");
                return page.fields(self.span, fields);
            }
            LifecycleClause::Initial(state) => format!("initial {}", state.node),
            LifecycleClause::Final(states) => format!("final {}", names(states)),
            LifecycleClause::Transition(t) => transition(t),
            LifecycleClause::Criteria(kinds) => format!("criteria {}", names(kinds)),
            LifecycleClause::Escalate { role, after } => {
                format!("escalate to {} after {} rejections", role.node, after.node)
            }
        };
        page.push(&line);
    }
}

fn transition(t: &Transition) -> String {
    let evidence = if t.evidence { " requires evidence" } else { "" };
    let criteria = match t.criteria {
        Some(true) => " when criteria pass",
        Some(false) => " when criteria fail",
        None => "",
    };
    format!(
        "{} {}: {} -> {}{evidence}{criteria}",
        t.actor.node,
        t.name.node,
        names(&t.from),
        t.to.node
    )
}

impl PrintedElement for Spanned<ProbeClause> {
    fn span(&self) -> Span {
        self.span
    }

    fn print(&self, page: &mut PrintedText) {
        let line = match &self.node {
            ProbeClause::Returns(ty, forms) => {
                format!("returns {}{}", text::ty(ty), text::forms(forms))
            }
            ProbeClause::Command { argv, env } => format!("command{}{}", strings(argv), given(env)),
            ProbeClause::File(path) => format!("file {}", text::string(&path.node)),
            ProbeClause::Host => "host".to_owned(),
            ProbeClause::Every(d) => format!("every {}", d.node),
            ProbeClause::Backoff { factor, up_to } => {
                format!("backoff {} up to {}", factor.node, up_to.node)
            }
            ProbeClause::Timeout(d) => format!("timeout {}", d.node),
            ProbeClause::Within(d) => format!("within {}", d.node),
        };
        page.push(&line);
    }
}

impl PrintedText<'_> {
    pub fn feedback(&mut self, feedback: &Feedback, span: Span) {
        let triggers: Vec<String> = feedback.triggers.iter().map(|t| trigger(&t.node)).collect();
        self.push(&format!("feedback {} {}", feedback.name.node, triggers.join(", ")));
        self.block(span, &feedback.blocks);
    }

    pub fn completion(&mut self, completion: &Completion, span: Span) {
        self.push("completion");
        let Some(at_most) = &completion.at_most else {
            return self.block(span, &completion.checks);
        };
        let limit = CheckLine::AtMost(at_most);
        let checks = completion.checks.iter().map(CheckLine::Check);
        let entries: Vec<CheckLine> = std::iter::once(limit).chain(checks).collect();
        self.block(span, &entries);
    }
}

/// A line of a completion block.
enum CheckLine<'a> {
    AtMost(&'a Literal),
    Check(&'a Check),
}

impl PrintedElement for CheckLine<'_> {
    fn span(&self) -> Span {
        match self {
            // The range of the words around the number, precise enough for comments.
            CheckLine::AtMost(n) => {
                Span { start: n.span.start.saturating_sub(8), end: n.span.end + 7, ..n.span }
            }
            CheckLine::Check(check) => check.span.0,
        }
    }

    fn front_end(&self, page: &PrintedText) -> u32 {
        match self {
            CheckLine::AtMost(_) => self.span().end,
            CheckLine::Check(check) => check.front_end(page),
        }
    }

    fn print(&self, page: &mut PrintedText) {
        match self {
            CheckLine::AtMost(n) => page.push(&format!("at most {} blocks", n.node)),
            CheckLine::Check(check) => check.print(page),
        }
    }
}

fn trigger(trigger: &Trigger) -> String {
    match trigger {
        Trigger::Calls(n) => format!("every {} calls", n.node),
        Trigger::Every(d) => format!("every {}", d.node),
        Trigger::Created(path) => format!("on created({})", text::string(&path.node)),
        Trigger::Denied(None) => "on denied".to_owned(),
        Trigger::Denied(Some(tools)) => format!("on denied {}", text::tools(tools)),
        Trigger::When(e) => {
            let condition = expr::flat(e);
            // `created(…)` and `denied` would be parsed as triggers.
            let clash = condition.starts_with("created(") || condition.starts_with("denied");
            if clash { format!("on ({condition})") } else { format!("on {condition}") }
        }
    }
}

impl PrintedElement for FeedbackBlock {
    fn span(&self) -> Span {
        self.span.0
    }

    fn print(&self, page: &mut PrintedText) {
        let mut pieces = vec![Piece::text(self.severity.node.clone())];
        match &self.condition {
            BlockCondition::Always => {}
            BlockCondition::Guard(condition) => guard(&mut pieces, Some(condition), false),
            BlockCondition::Otherwise => pieces.push(Piece::text(" otherwise")),
        }
        pieces.extend([Piece::text(":"), Piece::Break, Piece::text(text::message(&self.message))]);
        page.flow(&pieces);
        page.indent += 2;
        for note in &self.notes {
            page.line();
            page.push(&format!(
                "{} {}",
                if note.suggest { "suggest" } else { "observe" },
                text::message(&note.text)
            ));
        }
        page.indent -= 2;
    }
}

impl PrintedElement for Check {
    fn span(&self) -> Span {
        self.span.0
    }

    fn front_end(&self, page: &PrintedText) -> u32 {
        match &self.kind {
            CheckKind::All(_) | CheckKind::Any(_) => page.opened(self.span.0),
            _ => self.span.0.end,
        }
    }

    fn print(&self, page: &mut PrintedText) {
        let line = match &self.kind {
            CheckKind::File(path) => format!("file {}", text::string(&path.node)),
            CheckKind::FileContains(path, what) => {
                format!("file {} contains {}", text::string(&path.node), text::string(&what.node))
            }
            CheckKind::FileConforms(path, contract) => {
                format!("file {} conforms {}", text::string(&path.node), contract.node)
            }
            CheckKind::Command { argv, env, exits, within } => {
                let within = text::after(" within ", within);
                format!("command{}{} exits {}{within}", strings(argv), given(env), exits.node)
            }
            CheckKind::GitCommitted => "git committed".to_owned(),
            CheckKind::Every { lifecycle, state } => {
                format!("every {} is {}", lifecycle.node, state.node)
            }
            CheckKind::Attest(name) => format!("attest {}", name.node),
            CheckKind::All(checks) => {
                page.push("all");
                return page.block(self.span.0, checks);
            }
            CheckKind::Any(checks) => {
                page.push("any");
                return page.block(self.span.0, checks);
            }
            CheckKind::Expr(e) => {
                let text = expr::laid_out(e, page.column(), page.indent + 2);
                if reads_as_check(&text) { format!("({text})") } else { text }
            }
        };
        page.push(&line);
    }
}

/// Returns true if a condition would be parsed as another check, or as a continuation of the
/// previous condition.
fn reads_as_check(text: &str) -> bool {
    let word = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or("");
    text.starts_with('-')
        || expr::ends_in_first(text)
        || matches!(word, "file" | "command" | "git" | "every" | "attest" | "at")
}

impl PrintedElement for (Ident, Check) {
    fn span(&self) -> Span {
        self.0.span.to(self.1.span.0)
    }

    fn front_end(&self, page: &PrintedText) -> u32 {
        self.1.front_end(page)
    }

    fn print(&self, page: &mut PrintedText) {
        page.push(&format!("{}: ", self.0.node));
        self.1.print(page);
    }
}

/// Prints the shape of a list's items and its options.
pub(super) fn items(list: &ItemsClause) -> String {
    let shape = match &list.shape {
        ItemShape::Type(ty) => text::ty(ty),
        ItemShape::Schema(path) => format!("schema {}", text::string(&path.node)),
    };
    let max = text::after(" max ", &list.max);
    let by = text::after(" by ", &list.by);
    let partial = if list.partial.is_some() { " partial ok" } else { "" };
    format!("{shape}{max}{by}{partial}")
}

impl PrintedElement for Spanned<ContractClause> {
    fn span(&self) -> Span {
        self.span
    }

    fn docs(&self) -> &[String] {
        match &self.node {
            ContractClause::Field(field) => &field.docs,
            ContractClause::Items { docs, .. } => docs,
            _ => &[],
        }
    }

    fn print(&self, page: &mut PrintedText) {
        let line = match &self.node {
            ContractClause::Field(field) => text::field(field),
            ContractClause::Items { path, list, wire, .. } => {
                format!("items {}: {}{}", dotted(path), items(list), text::wire(wire))
            }
            ContractClause::Bounds(bounds) => {
                let bounds: Vec<String> =
                    bounds.iter().map(|(name, n)| format!("{} {}", name.node, n.node)).collect();
                if bounds.is_empty() {
                    "bounds {}".to_owned()
                } else {
                    format!("bounds {{ {} }}", bounds.join(", "))
                }
            }
            ContractClause::Reference { path, allowed } => {
                return page.flow(&[
                    Piece::text(format!("reference {} in ", dotted(path))),
                    Piece::Expr(allowed),
                ]);
            }
        };
        page.push(&line);
    }
}

//! Printing of items, and the common layout of blocks.

use super::expr::{WIDTH, width};
use super::page::PrintedText;
use super::text;
use crate::ast::{
    Define, Expr, Field, FileItem, Group, Header, Invariant, InvariantMode, ItemKind, Learn,
    Member, Policy, Property, PropertyMode, Spanned, StateVar, Tool, UnionCase, UseTarget, Variant,
    Whole,
};
use crate::span::Span;

/// An element on its own line in a block.
pub(super) trait PrintedElement {
    fn span(&self) -> Span;
    fn docs(&self) -> &[String] {
        &[]
    }
    /// Returns the position up to which comments move in front of the element.
    fn front_end(&self, _page: &PrintedText) -> u32 {
        self.span().end
    }
    fn print(&self, page: &mut PrintedText);
}

/// A part of a line.
pub(super) enum Piece<'a> {
    Text(String),
    Expr(&'a Expr),
    /// A space, or a line break.
    Break,
}

impl Piece<'_> {
    pub fn text(text: impl Into<String>) -> Self {
        Piece::Text(text.into())
    }

    /// Returns the piece on one line.
    fn flat(&self) -> String {
        match self {
            Piece::Text(text) => text.clone(),
            Piece::Expr(e) => super::expr::flat(e),
            Piece::Break => String::new(),
        }
    }
}

impl PrintedText<'_> {
    /// Writes pieces. A break becomes a line break if the following text does not fit on the line,
    /// and after a part of several lines.
    pub fn flow(&mut self, pieces: &[Piece]) {
        let mut is_broken = false;
        self.indent += 2;
        for (nth, part) in pieces.split(|piece| matches!(piece, Piece::Break)).enumerate() {
            let flat: String = part.iter().map(Piece::flat).collect();
            let room = if nth == 0 { width(&flat) } else { 1 + width(&flat) };
            let fits = self.column() + room <= WIDTH && !is_broken;
            match (nth, fits) {
                (0, _) => {}
                (_, true) => self.push(" "),
                (_, false) => self.line(),
            }
            let begins = self.out.len();
            if fits {
                self.push(&flat)
            } else {
                part.iter().for_each(|piece| self.laid_out(piece))
            }
            is_broken = self.out[begins..].contains('\n');
        }
        self.indent -= 2;
    }

    fn laid_out(&mut self, piece: &Piece) {
        match piece {
            Piece::Text(text) => self.push(text),
            Piece::Expr(e) => {
                let text = super::expr::laid_out(e, self.column(), self.indent + 2);
                self.push(&text);
            }
            Piece::Break => {}
        }
    }

    /// Writes ` { … }` with one element per line. A single element stays on the line if the author
    /// wrote it there.
    pub fn block<E: PrintedElement>(&mut self, span: Span, elements: &[E]) {
        self.push(" {");
        if elements.is_empty() && !self.comment_before(span.end) {
            return self.push("}");
        }
        if let ([only], true) = (elements, self.was_one_line(span) && elements[0].docs().is_empty())
        {
            let mark = self.out.len();
            // A nested block gives up at once during an attempt, so that formatting takes linear
            // time.
            let outer = std::mem::replace(&mut self.trying, true);
            self.push(" ");
            only.print(self);
            self.push(" }");
            self.trying = outer;
            if !self.out[mark..].contains('\n') && self.column() <= WIDTH {
                return;
            }
            self.out.truncate(mark);
        }
        if self.trying {
            // The attempt on one line fails, and the caller sees the line break.
            return self.push("\n");
        }
        self.lines(span, elements);
    }

    /// Writes the elements of an open block, and its end.
    fn lines<E: PrintedElement>(&mut self, span: Span, elements: &[E]) {
        let open = self.opened(span);
        self.trail(open + 1);
        self.indent += 2;
        for (index, element) in elements.iter().enumerate() {
            let front_end = element.front_end(self);
            self.lead(element.span().start, front_end, element.docs(), index == 0);
            element.print(self);
            self.trail(element.span().end);
        }
        self.dangling(span.end.saturating_sub(1), elements.is_empty());
        self.indent -= 2;
        self.line();
        self.push("}");
    }

    /// Returns the position up to which comments of an item move in front of it.
    pub fn front_end(&self, item: &FileItem) -> u32 {
        let span = item.span.0;
        match &item.kind {
            ItemKind::Invariant(_) | ItemKind::Define(_) => span.end,
            _ => self.opened(span),
        }
    }

    pub fn header(&mut self, header: &Header) {
        let edition = text::after(" edition ", &header.edition);
        let shadow = if header.shadow { " shadow" } else { "" };
        self.push(&format!("guard {}{edition}{shadow}", header.name.node));
    }

    pub fn item(&mut self, item: &FileItem) {
        let span = item.span.0;
        match &item.kind {
            ItemKind::Use(UseTarget::File(path)) => {
                self.push(&format!("use {}", text::string(&path.node)))
            }
            ItemKind::Use(UseTarget::Std(name)) => self.push(&format!("use std.{}", name.node)),
            ItemKind::DefaultAllow => self.push("default allow"),
            ItemKind::Enum(e) => {
                self.push(&format!("enum {}", e.name.node));
                self.names(span, &e.variants, variant);
            }
            ItemKind::Record(r) => {
                self.push(&format!("record {}", r.name.node));
                self.fields(span, &r.fields);
            }
            ItemKind::Union(u) => {
                let wire = text::wire(&u.wire);
                self.push(&format!("union {} by {}{wire}", u.name.node, u.tag.node));
                self.names(span, &u.cases, case);
            }
            ItemKind::Alias(a) => self.push(&format!("type {} = {}", a.name.node, text::ty(&a.ty))),
            ItemKind::Define(define) => self.define(define),
            ItemKind::State(variables) => {
                self.push("state");
                self.block(span, variables);
            }
            ItemKind::Budget(b) => {
                let host = if b.host { " host" } else { "" };
                self.push(&format!("budget {} = {}{host}", b.unit.node, b.amount.node))
            }
            ItemKind::Deadline(d) => self.push(&format!("deadline {}", d.node)),
            ItemKind::Tool(tool) => self.tool(tool, span),
            ItemKind::Group(group) => self.group(group),
            ItemKind::Policy(policy) => self.policy(policy, span),
            ItemKind::Property(property) => self.property(property, span),
            ItemKind::Invariant(invariant) => self.invariant(invariant),
            ItemKind::Fact(fact) => {
                self.push(&format!("fact {}", fact.name.node));
                let halts = if fact.halts { " else halt" } else { "" };
                let max =
                    fact.max.as_ref().map_or(String::new(), |n| format!(" max {}{halts}", n.node));
                self.params(&fact.columns, width(&max));
                self.push(&max);
            }
            ItemKind::Statement(s) => {
                self.push(&format!("statement {}", s.name.node));
                let max = text::after(" max ", &s.max);
                self.params(&s.params, width(&max));
                self.push(&max);
                self.approval(&s.approval);
            }
            ItemKind::Source(source) => {
                self.push(&format!("source {}", source.name.node));
                self.block(span, &source.learns);
            }
            ItemKind::Lifecycle(l) => {
                self.push(&format!("lifecycle {}", l.name.node));
                self.block(span, &l.clauses);
            }
            ItemKind::Probe(p) => {
                self.push(&format!("probe {}", p.name.node));
                self.block(span, &p.clauses);
            }
            ItemKind::Feedback(f) => self.feedback(f, span),
            ItemKind::Completion(c) => self.completion(c, span),
            ItemKind::Attest(a) => {
                self.push(&format!("attest {}", a.name.node));
                self.block(span, &a.dimensions);
            }
            ItemKind::Goal(g) => {
                self.push(&format!("goal {}", g.name.node));
                self.block(span, &g.conditions);
            }
            ItemKind::Contract(c) => {
                self.push(&format!("contract {}", c.name.node));
                match &c.whole {
                    Some(Whole::Value(ty)) => self.push(&format!(": {}", text::ty(ty))),
                    Some(Whole::Items(list, _)) => {
                        self.push(&format!(": items {}", super::blocks::items(list)));
                    }
                    None => {}
                }
                let braces = !c.clauses.is_empty() || self.opened(span) < span.end;
                if c.whole.is_none() || braces {
                    self.block(span, &c.clauses);
                }
            }
            ItemKind::Test(t) => {
                self.push(&format!("test {}", text::string(&t.title.node)));
                if let Some(after) = &t.after {
                    self.push(&format!(" after {}", text::string(&after.node)));
                }
                self.block(span, &t.steps);
            }
        }
    }

    /// Prints elements without documentation, on one line if they fit.
    fn names<E: PrintedElement>(&mut self, span: Span, elements: &[E], text: fn(&E) -> String) {
        let texts: Vec<String> = elements.iter().map(text).collect();
        let line = format!(" {{ {} }}", texts.join(", "));
        let fits = self.column() + width(&line) <= WIDTH && !self.comment_before(span.end);
        if fits && !elements.is_empty() { self.push(&line) } else { self.block(span, elements) }
    }

    /// Writes fields in braces, on one line if the author wrote them so.
    pub fn fields(&mut self, span: Span, fields: &[Field]) {
        let all: Vec<String> = fields.iter().map(text::field).collect();
        let line = format!(" {{ {} }}", all.join(", "));
        let documented = fields.iter().any(|f| !f.docs.is_empty());
        let fits = self.column() + width(&line) <= WIDTH;
        if fields.is_empty() || documented || !fits || !self.was_one_line(span) {
            self.block(span, fields);
        } else {
            self.push(&line);
        }
    }

    /// Writes fields in parentheses; `more` is the width of the rest of the line.
    fn params(&mut self, fields: &[Field], more: usize) {
        let all: Vec<String> = fields.iter().map(text::field).collect();
        let line = format!("({})", all.join(", "));
        let documented = fields.iter().any(|f| !f.docs.is_empty());
        if !documented && self.column() + width(&line) + more <= WIDTH || fields.is_empty() {
            return self.push(&line);
        }
        self.push("(");
        self.indent += 2;
        for field in fields {
            self.docs(&field.docs, "///");
            self.line();
            self.push(&text::field(field));
            self.push(",");
        }
        self.indent -= 2;
        self.line();
        self.push(")");
    }

    fn tool(&mut self, tool: &Tool, span: Span) {
        let real = tool
            .real_name
            .as_ref()
            .map_or(String::new(), |name| format!("{} as ", text::string(&name.node)));
        self.push(&format!("tool {real}{}", tool.name.node));
        let has_body = !tool.clauses.is_empty()
            || (self.opened(span) < span.end && self.comment_before(span.end));
        self.params(&tool.params, if has_body { 2 } else { 0 });
        if has_body {
            self.block(span, &tool.clauses);
        }
    }

    fn define(&mut self, define: &Define) {
        let ty = format!(": {} =", text::ty(&define.ty));
        self.push(&format!("define {}", define.name.node));
        if !define.params.is_empty() {
            self.params(&define.params, width(&ty));
        }
        self.push(&ty);
        let flat = format!(" {}", super::expr::flat(&define.value));
        if self.column() + width(&flat) <= WIDTH {
            return self.push(&flat);
        }
        self.indent += 2;
        self.line();
        let value = super::expr::laid_out(&define.value, self.indent, self.indent);
        self.push(&value);
        self.indent -= 2;
    }

    fn group(&mut self, group: &Group) {
        let set = &group.members;
        self.push(&format!("group {} =", group.name.node));
        let line = format!(" {}", text::tools(set));
        let fits = self.column() + width(&line) <= WIDTH && !self.comment_before(set.span.0.end);
        if fits || set.bare { self.push(&line) } else { self.block(set.span.0, &set.members) }
    }

    fn policy(&mut self, policy: &Policy, span: Span) {
        let shadow = if policy.shadow { " shadow" } else { "" };
        let except = policy.except.as_ref().map(|set| format!(" except {}", text::tools(set)));
        let except = except.unwrap_or_default();
        self.push(&format!(
            "policy {} for {}{except}{shadow}",
            policy.name.node,
            text::tools(&policy.tools)
        ));
        self.block(span, &policy.clauses);
    }

    fn property(&mut self, property: &Property, span: Span) {
        let mode = match property.mode {
            PropertyMode::Claimed => "",
            PropertyMode::Monitor => " monitor",
            PropertyMode::Proved => " proved",
        };
        let Policy { name, tools, except, clauses, .. } = &property.policy;
        let except = except.as_ref().map(|set| format!(" except {}", text::tools(set)));
        let tools = if property.of_all {
            String::new()
        } else {
            format!(" for {}{}", text::tools(tools), except.unwrap_or_default())
        };
        self.push(&format!("property {}{mode}{tools}", name.node));
        self.block(span, clauses);
    }

    fn invariant(&mut self, invariant: &Invariant) {
        let mode = match invariant.mode {
            InvariantMode::Enforced => "",
            InvariantMode::Monitor => " monitor",
            InvariantMode::Proved => " proved",
            InvariantMode::Shadow => " shadow",
        };
        let head = format!("invariant {}{mode} {{", invariant.name.node);
        let mut pieces = vec![Piece::text(head), Piece::Break, Piece::Expr(&invariant.condition)];
        let because = invariant.because.as_ref().map(|b| format!(" because {}", text::message(b)));
        let flat = format!(
            " {} }}{}",
            super::expr::flat(&invariant.condition),
            because.as_deref().unwrap_or("")
        );
        if self.column() + width(&flat) + invariant.name.node.len() + mode.len() + 11 <= WIDTH {
            pieces.push(Piece::text(format!(" }}{}", because.unwrap_or_default())));
            return self.flow(&pieces);
        }
        self.push(&format!("invariant {}{mode} {{", invariant.name.node));
        self.indent += 2;
        self.line();
        let condition = super::expr::laid_out(&invariant.condition, self.indent, self.indent + 2);
        self.push(&condition);
        self.indent -= 2;
        self.line();
        self.push(&format!("}}{}", because.unwrap_or_default()));
    }
}

fn variant(variant: &Variant) -> String {
    if variant.quoted { text::string(&variant.name.node) } else { variant.name.node.clone() }
}

impl PrintedElement for Variant {
    fn span(&self) -> Span {
        self.name.span
    }
    fn print(&self, page: &mut PrintedText) {
        page.push(&variant(self));
    }
}

fn case(case: &UnionCase) -> String {
    format!("{}{}", case.record.node, text::wire(&case.wire))
}

impl PrintedElement for UnionCase {
    fn span(&self) -> Span {
        self.wire.as_ref().map_or(self.record.span, |wire| self.record.span.to(wire.span))
    }
    fn print(&self, page: &mut PrintedText) {
        page.push(&case(self));
    }
}

impl PrintedElement for Member {
    fn span(&self) -> Span {
        match self {
            Member::Name(name) | Member::Glob(name) => name.span,
            // The mark `tag ` precedes the name.
            Member::Tag(name) => Span { start: name.span.start.saturating_sub(4), ..name.span },
            Member::All(span) => span.0,
        }
    }
    fn print(&self, page: &mut PrintedText) {
        page.push(&text::member(self));
    }
}

impl PrintedElement for Field {
    fn span(&self) -> Span {
        self.span.0
    }
    fn docs(&self) -> &[String] {
        &self.docs
    }
    fn print(&self, page: &mut PrintedText) {
        page.push(&text::field(self));
    }
}

impl PrintedElement for StateVar {
    fn span(&self) -> Span {
        self.span.0
    }
    fn docs(&self) -> &[String] {
        &self.docs
    }
    fn print(&self, page: &mut PrintedText) {
        let head = format!("{}: {} = ", self.name.node, text::ty(&self.ty));
        page.flow(&[Piece::text(head), Piece::Expr(&self.init)]);
    }
}

impl PrintedElement for Expr {
    fn span(&self) -> Span {
        self.span
    }
    fn print(&self, page: &mut PrintedText) {
        let text = super::expr::laid_out(self, page.column(), page.indent + 2);
        // After another condition, a leading minus would be parsed as subtraction.
        if text.starts_with('-') || super::expr::ends_in_first(&text) {
            page.push(&format!("({text})"));
        } else {
            page.push(&text);
        }
    }
}

impl PrintedElement for Spanned<Learn> {
    fn span(&self) -> Span {
        self.span
    }
    fn print(&self, page: &mut PrintedText) {
        page.learn(&self.node);
    }
}

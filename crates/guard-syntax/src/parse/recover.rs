//! The recovery from errors: it finds the errors inside an item that does not parse, and keeps its
//! valid parts.
//!
//! A block item is split into its elements. A valid element is added to the tree, an invalid one
//! gives one error. A lexical or bracket fault in an element was already reported, so no second
//! error is added.

use super::build::TreeBuilder;
use super::elements::{self, CLAUSES, ElementKind};
use super::explain;
use super::grammar::{self, Rule};
use super::habits;
use super::items::rule_of;
use super::site::Site;
use super::{Chunk, Parser};
use crate::ast::{FileItem, ItemKind};
use crate::errors;
use crate::lexical::{Token, TokenKind};
use crate::nearest::nearest;
use crate::structure::ITEM_KEYWORDS;

/// The text that may follow an item.
const NEXT_ITEM: &str = "the next item";

/// A range of tokens that is parsed as one element. An uncertain cut is undone if that helps.
struct Cut {
    first: usize,
    sure: bool,
}

impl<'t> Parser<'t> {
    pub(super) fn site(&self, first: usize, last: usize) -> Site<'t> {
        Site { file: self.file, text: self.text, tokens: &self.scan.tokens, first, last }
    }

    fn clean(&self, first: usize, last: usize) -> bool {
        !self.faulty(Chunk { first, last })
    }

    /// Handles top-level text that begins with no item keyword.
    pub(super) fn unknown_item(&mut self, chunk: Chunk) -> Option<FileItem> {
        let token = self.scan.tokens[chunk.first];
        let word = token.text(self.text);
        let span = token.span(self.file);
        if token.kind == TokenKind::Word {
            if let Some(meant) = nearest(word, &ITEM_KEYWORDS) {
                self.builder.report(errors::misspelled_item(span, word, meant));
                return self.repaired(chunk, meant);
            }
            if CLAUSES.contains(&word) {
                self.builder.report(errors::clause_outside(span, word));
                return None;
            }
            if let Some(meant) = habits::foreign_item(word) {
                self.builder.report(errors::foreign_item(span, word, meant));
                return None;
            }
        }
        if self.clean(chunk.first, chunk.last) || token.kind == TokenKind::Word {
            self.builder.report(errors::not_an_item(span, word));
        }
        None
    }

    /// Returns the item that the chunk would be with `keyword` as its first word.
    fn repaired(&mut self, chunk: Chunk, keyword: &str) -> Option<FileItem> {
        let rule = rule_of(keyword)?;
        let site = self.site(chunk.first, chunk.last);
        let length = site.word(chunk.first).len();
        let text = format!("{keyword}{}", &site.slice()[length..]);
        // The positions after the keyword must fit the source, whose keyword may have another
        // length.
        let base = site.start() as i64 + length as i64 - keyword.len() as i64;
        self.clean(chunk.first, chunk.last)
            .then(|| grammar::whole(rule, &text))
            .flatten()
            .and_then(|node| self.builder.item(base, node))
    }

    pub(super) fn explain_header(&mut self, chunk: Chunk) {
        if self.clean(chunk.first, chunk.last) {
            let site = self.site(chunk.first, chunk.last);
            self.builder.report(explain::explain(site, Rule::only_header, NEXT_ITEM));
        }
    }

    /// Recovers an item that does not parse as a whole.
    pub(super) fn recover_item(&mut self, chunk: Chunk, rule: Rule) -> Option<FileItem> {
        let body = elements::kind_of(rule).and_then(|kind| Some((kind, self.block(chunk)?)));
        let Some((kind, (open, close))) = body else {
            self.explain_item(chunk);
            return self.leading_item(chunk, rule);
        };
        let mut item = self.head(chunk, rule, open);
        let inner_end = close.unwrap_or(chunk.last);
        for (first, last) in self.cut(kind, open + 1, inner_end) {
            self.element(kind, first, last, item.as_mut());
        }
        if let Some(item) = &mut item {
            item.span.0 = self.chunk_span(Chunk {
                first: chunk.first,
                last: close.map_or(chunk.last, |c| c + 1),
            });
        }
        if let Some(after) = close.map(|c| c + 1).filter(|&after| after < chunk.last) {
            self.leftover(after, chunk.last);
        }
        item
    }

    fn explain_item(&mut self, chunk: Chunk) {
        if self.clean(chunk.first, chunk.last) {
            let site = self.site(chunk.first, chunk.last);
            self.builder.report(explain::explain(site, Rule::only_item, NEXT_ITEM));
        }
    }

    /// Returns the valid item at the start of a chunk that is followed by other text on a new line.
    fn leading_item(&mut self, chunk: Chunk, rule: Rule) -> Option<FileItem> {
        let site = self.site(chunk.first, chunk.last);
        let node = grammar::prefix(rule, site.slice())?;
        let end = site.start() + node.as_str().trim_end().len();
        let next = chunk.first
            + self.scan.tokens[chunk.first..chunk.last]
                .partition_point(|t| (t.end as usize) <= end);
        let kept = next < chunk.last && site.fresh_line(next) && self.clean(chunk.first, next);
        kept.then(|| self.builder.item(site.start() as i64, node)).flatten()
    }

    /// Returns the braces of a block item: the last top-level ones that are not a tool set.
    fn block(&self, chunk: Chunk) -> Option<(usize, Option<usize>)> {
        let mut index = chunk.first;
        let mut found = None;
        while index < chunk.last {
            let token = &self.scan.tokens[index];
            let partner = self.partner(index);
            if token.kind == TokenKind::Open {
                if token.text(self.text) == "{" {
                    let is_set = matches!(
                        self.site(0, 0).word(index.saturating_sub(1)),
                        "for" | "denied" | "in" | "=" | ","
                    );
                    found = Some((index, partner));
                    if !is_set {
                        break;
                    }
                }
                index = partner.unwrap_or(index);
            }
            index += 1;
        }
        found
    }

    fn partner(&self, open: usize) -> Option<usize> {
        let partners = &self.structure.partners;
        let at = partners.binary_search_by_key(&(open as u32), |&(open, _)| open).ok()?;
        Some(partners[at].1 as usize)
    }

    /// Parses the item with an empty block.
    fn head(&mut self, chunk: Chunk, rule: Rule, open: usize) -> Option<FileItem> {
        let site = self.site(chunk.first, open + 1);
        let text = format!("{}}}", site.slice());
        match grammar::whole(rule, &text) {
            Some(node) => self.builder.item(site.start() as i64, node),
            None if self.clean(chunk.first, open) => {
                self.builder.report(explain::explain_text(site, Rule::only_item, &text, "`{`"));
                None
            }
            None => None,
        }
    }

    /// Splits the tokens between two positions into elements.
    fn cut(&self, kind: ElementKind, first: usize, last: usize) -> Vec<(usize, usize)> {
        let site = self.site(first, last);
        let mut cuts: Vec<Cut> = Vec::new();
        let mut index = first;
        while index < last {
            let begins = if index == first || elements::begins_afresh(kind, &site, index) {
                Some(true)
            } else if !elements::ends(&site, index - 1)
                || site.word(index) == ";"
                || site.word(index) == ","
            {
                None
            } else if elements::begins(kind, &site, index) || site.word(index - 1) == ";" {
                Some(true)
            } else {
                elements::may_begin(&site, index).then_some(false)
            };
            if let Some(sure) = begins {
                cuts.push(Cut { first: index, sure });
            }
            // No element begins within brackets, so they are skipped as a whole.
            index = self.partner(index).filter(|&close| close < last).unwrap_or(index) + 1;
        }
        self.join_unsure(kind, cuts, last)
    }

    /// Undoes an uncertain cut if the joined text parses and the first part alone does not.
    fn join_unsure(&self, kind: ElementKind, cuts: Vec<Cut>, last: usize) -> Vec<(usize, usize)> {
        let mut out: Vec<(usize, usize)> = Vec::new();
        for (n, cut) in cuts.iter().enumerate() {
            let end = cuts.get(n + 1).map_or(last, |next| next.first);
            if let Some((start, before)) = out.last_mut().filter(|_| !cut.sure)
                && !self.reads(kind, *start, *before)
                && self.reads(kind, *start, end)
            {
                *before = end;
                continue;
            }
            out.push((cut.first, end));
        }
        out
    }

    fn reads(&self, kind: ElementKind, first: usize, last: usize) -> bool {
        grammar::whole(kind.rule, self.trimmed(first, last).slice()).is_some()
    }

    /// Removes the separators at the end.
    fn trimmed(&self, first: usize, mut last: usize) -> Site<'t> {
        while last > first + 1 && matches!(self.site(0, 0).word(last - 1), "," | ";") {
            last -= 1;
        }
        self.site(first, last)
    }

    fn element(
        &mut self,
        kind: ElementKind,
        first: usize,
        last: usize,
        item: Option<&mut FileItem>,
    ) {
        let site = self.trimmed(first, last);
        if !self.clean(first, last) {
            return;
        }
        let word = site.word(first);
        let base = site.start() as i64;
        let rule = if kind.rule == Rule::check && word == "at" { Rule::at_most } else { kind.rule };
        if let Some(node) = grammar::whole(rule, site.slice()) {
            self.builder.keep(base, node, item);
            return;
        }
        let known = kind.keywords.contains(&word) || kind.keywords.is_empty();
        let meant = nearest(word, kind.keywords)
            .filter(|_| !known && site.kind(first) == Some(TokenKind::Word));
        if let Some(meant) = meant {
            self.builder.report(errors::misspelled_clause(site.span(first), word, meant));
            let text = format!("{meant}{}", &site.slice()[word.len()..]);
            let base = base + word.len() as i64 - meant.len() as i64;
            if let Some(node) = grammar::whole(rule, &text) {
                self.builder.keep(base, node, item);
            }
            return;
        }
        if !known && !matches!(kind.rule, Rule::check | Rule::contract_clause) {
            let at = site.span(first);
            let foreign =
                (kind.rule == Rule::clause).then(|| habits::foreign_clause(word)).flatten();
            self.builder.report(match foreign {
                Some(help) => errors::foreign_clause(at, word, help),
                None => errors::not_a_clause(at, word, kind.called, kind.examples),
            });
            return;
        }
        let next = format!("the next {}", kind.called.trim_start_matches("a "));
        let next =
            if kind.called.starts_with('`') { "the end of the block".to_owned() } else { next };
        self.builder.report(explain::explain(site, kind.only, &next));
    }

    /// Reports the text after the closing brace of an item.
    fn leftover(&mut self, first: usize, last: usize) {
        if self.clean(first, last) {
            let site = self.site(first, last);
            self.builder.report(errors::unexpected(
                site.span(first),
                Some(site.word(first)),
                NEXT_ITEM,
            ));
        }
    }
}

impl TreeBuilder<'_> {
    /// Adds one recovered element to its item.
    fn keep(&mut self, base: i64, node: grammar::SyntaxNode, item: Option<&mut FileItem>) {
        self.base = base;
        let Some(item) = item else { return };
        match &mut item.kind {
            ItemKind::Tool(tool) => tool.clauses.extend(self.clause(node)),
            ItemKind::Policy(policy) => policy.clauses.extend(self.clause(node)),
            ItemKind::Property(property) => property.policy.clauses.extend(self.clause(node)),
            ItemKind::State(variables) => variables.extend(self.variable(node)),
            ItemKind::Record(record) => record.fields.extend(self.field(node)),
            ItemKind::Union(union) => union.cases.extend(self.case(node)),
            ItemKind::Enum(enumeration) => enumeration.variants.extend(self.variant(node)),
            ItemKind::Source(source) => {
                let span = self.span(&node);
                let learn = self.learn(grammar::ChildNodes::new(node));
                source.learns.extend(learn.map(|node| crate::ast::Spanned { node, span }));
            }
            ItemKind::Lifecycle(lifecycle) => lifecycle.clauses.extend(self.lifecycle_clause(node)),
            ItemKind::Probe(probe) => probe.clauses.extend(self.probe_clause(node)),
            ItemKind::Feedback(feedback) => feedback.blocks.extend(self.block(node)),
            ItemKind::Completion(completion) if node.as_rule() == Rule::at_most => {
                completion.at_most = self.take_literal(&mut grammar::ChildNodes::new(node));
            }
            ItemKind::Completion(completion) => completion.checks.extend(self.check(node)),
            ItemKind::Attest(attest) => attest.dimensions.extend(self.dimension(node)),
            ItemKind::Goal(goal) => goal.conditions.extend(self.expr(node)),
            ItemKind::Contract(contract) => contract.clauses.extend(self.contract_clause(node)),
            ItemKind::Test(test) => test.steps.extend(self.step(node)),
            _ => {}
        }
    }

    /// Explains why the text between the braces of a message is not an expression.
    pub(super) fn explain_expression(&mut self, text: &str, tokens: &[Token]) {
        let site = Site { file: self.file, text, tokens, first: 0, last: tokens.len() };
        let diagnostic = explain::explain(site, Rule::only_expr, "`}`");
        self.report(errors::shifted(diagnostic, self.base.max(0) as u32));
    }
}

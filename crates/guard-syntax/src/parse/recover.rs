//! Stub.
use super::build::Builder;
use super::grammar::Rule;
use super::{Chunk, Parser};
use crate::ast;
use crate::errors;
use crate::lexical::Token;

impl Parser<'_> {
    pub(super) fn unknown_item(&mut self, chunk: Chunk) -> Option<ast::Item> {
        let t = self.scan.tokens[chunk.first];
        self.builder.report(errors::not_an_item(t.span(self.file), t.text(self.text)));
        None
    }
    pub(super) fn recover_item(&mut self, chunk: Chunk, _rule: Rule) -> Option<ast::Item> {
        let (start, end) = self.bounds(chunk);
        let stop = super::grammar::stop(Rule::only_item, &self.text[start..end]);
        self.builder.report(errors::unexpected(
            crate::span::Span::new(self.file, start + stop.as_ref().map_or(0, |s| s.at), end),
            None,
            &format!("{stop:?}"),
        ));
        None
    }
    pub(super) fn explain_header(&mut self, _chunk: Chunk) {}
}
impl Builder<'_> {
    pub(super) fn explain_expression(&mut self, _text: &str, _tokens: &[Token]) {}
}

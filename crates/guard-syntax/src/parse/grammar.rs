//! The only module that runs pest. Its types never leave `parse`.

use pest::Parser as _;
use pest::error::{ErrorVariant, InputLocation};
use pest::iterators::{Pair, Pairs};

#[derive(pest_derive::Parser)]
#[grammar = "../grammar/guard.pest"]
#[allow(missing_docs)]
struct Grammar;

/// One node of pest's output.
pub(super) type SyntaxNode<'i> = Pair<'i, Rule>;

/// The position where parsing stopped, from the start of the text, and the possible tokens there.
#[derive(Debug)]
pub(super) struct ParseStop {
    pub at: usize,
    pub expected: Vec<Rule>,
}

/// Parses the whole `text` as `rule`.
pub(super) fn whole(rule: Rule, text: &str) -> Option<SyntaxNode<'_>> {
    prefix(rule, text).filter(|node| node.as_str().len() == text.len())
}

/// Parses the start of `text` as `rule`.
pub(super) fn prefix(rule: Rule, text: &str) -> Option<SyntaxNode<'_>> {
    Grammar::parse(rule, text).ok()?.next()
}

/// Parses `text` as a rule that includes the end of the text, and returns the position of the
/// failure.
pub(super) fn stop(rule: Rule, text: &str) -> Option<ParseStop> {
    let error = Grammar::parse(rule, text).err()?;
    let at = match error.location {
        InputLocation::Pos(at) => at,
        InputLocation::Span((start, _)) => start,
    };
    let expected = match error.variant {
        ErrorVariant::ParsingError { positives, .. } => positives,
        ErrorVariant::CustomError { .. } => Vec::new(),
    };
    Some(ParseStop { at, expected })
}

/// The child nodes of a node, read from left to right.
#[derive(Clone)]
pub(super) struct ChildNodes<'i>(Pairs<'i, Rule>);

impl<'i> ChildNodes<'i> {
    pub fn new(node: SyntaxNode<'i>) -> Self {
        ChildNodes(node.into_inner())
    }

    /// Returns the next node, if it has this rule.
    pub fn accept(&mut self, rule: Rule) -> Option<SyntaxNode<'i>> {
        if self.0.peek()?.as_rule() == rule { self.0.next() } else { None }
    }

    /// Returns true if the next node has this rule, and consumes it in that case.
    pub fn has(&mut self, rule: Rule) -> bool {
        self.accept(rule).is_some()
    }
}

impl<'i> Iterator for ChildNodes<'i> {
    type Item = SyntaxNode<'i>;

    fn next(&mut self) -> Option<SyntaxNode<'i>> {
        self.0.next()
    }
}

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

/// The child nodes of a node, read from left to right, without the marks between them.
#[derive(Clone)]
pub(super) struct ChildNodes<'i>(Pairs<'i, Rule>);

impl<'i> ChildNodes<'i> {
    pub fn new(node: SyntaxNode<'i>) -> Self {
        ChildNodes(node.into_inner())
    }

    /// Returns the next node, if it has this rule.
    pub fn accept(&mut self, rule: Rule) -> Option<SyntaxNode<'i>> {
        self.skip_marks();
        if self.0.peek()?.as_rule() == rule { self.0.next() } else { None }
    }

    /// Returns the children of the next node, if it has this rule.
    pub fn enter(&mut self, rule: Rule) -> Option<ChildNodes<'i>> {
        self.accept(rule).map(ChildNodes::new)
    }

    /// Returns true if the next node has this rule, and consumes it in that case.
    pub fn has(&mut self, rule: Rule) -> bool {
        self.accept(rule).is_some()
    }

    fn skip_marks(&mut self) {
        while self.0.peek().is_some_and(|node| is_mark(node.as_rule())) {
            self.0.next();
        }
    }
}

/// Returns true for signs and words that say nothing beside the parts that they separate. They are
/// rules of the grammar only because messages about errors name them.
fn is_mark(rule: Rule) -> bool {
    use Rule as R;
    let sign = matches!(rule, R::open | R::close | R::equals | R::colon);
    let word = matches!(rule, R::in_word | R::is_word | R::by_word | R::to_word | R::from_word);
    let inner = matches!(rule, R::when_word | R::probe_word | R::feedback_word | R::after_word);
    sign || word || inner || matches!(rule, R::then_word | R::up_to)
}

impl<'i> Iterator for ChildNodes<'i> {
    type Item = SyntaxNode<'i>;

    fn next(&mut self) -> Option<SyntaxNode<'i>> {
        self.skip_marks();
        self.0.next()
    }
}

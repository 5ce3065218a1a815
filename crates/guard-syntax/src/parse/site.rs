//! A range of tokens, in which recovery and explanations look for what was meant.

use crate::lexical::{Token, TokenKind};
use crate::span::{FileId, Span};

/// A range of tokens of a text.
#[derive(Clone, Copy)]
pub(super) struct Site<'t> {
    pub file: FileId,
    pub text: &'t str,
    pub tokens: &'t [Token],
    pub first: usize,
    pub last: usize,
}

impl<'t> Site<'t> {
    pub fn token(&self, index: usize) -> Option<&'t Token> {
        self.tokens.get(index)
    }

    pub fn word(&self, index: usize) -> &'t str {
        self.token(index).map_or("", |t| t.text(self.text))
    }

    pub fn kind(&self, index: usize) -> Option<TokenKind> {
        self.token(index).map(|t| t.kind)
    }

    pub fn span(&self, index: usize) -> Span {
        self.token(index).map_or(Span::default(), |t| t.span(self.file))
    }

    pub fn start(&self) -> usize {
        self.token(self.first).map_or(0, |t| t.start as usize)
    }

    pub fn end(&self) -> usize {
        self.last.checked_sub(1).and_then(|i| self.token(i)).map_or(0, |t| t.end as usize)
    }

    pub fn slice(&self) -> &'t str {
        self.text.get(self.start()..self.end()).unwrap_or("")
    }

    /// Returns true if a token is the first on its line.
    pub fn fresh_line(&self, index: usize) -> bool {
        let (Some(token), Some(before)) =
            (self.token(index), index.checked_sub(1).and_then(|i| self.token(i)))
        else {
            return true;
        };
        self.text
            .get(before.end as usize..token.start as usize)
            .is_some_and(|gap| gap.contains('\n'))
    }
}

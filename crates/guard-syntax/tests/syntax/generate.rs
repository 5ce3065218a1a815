//! Generated trees: every item, clause and expression form, chosen by a string of bytes.
//!
//! A byte is a choice. When the bytes run out, the first choice is taken, so that shorter strings
//! give smaller trees and failures shrink.

mod clauses;
mod exprs;
mod items;
mod scenarios;

use guard_syntax::ast::*;
use guard_syntax::span::Span;

/// A source of choices.
pub struct Choices<'b> {
    bytes: &'b [u8],
    /// True inside of a message, where regular expressions are omitted.
    in_message: bool,
}

const NAMES: [&str; 12] =
    ["a", "b", "xs", "path", "count", "probe", "limit", "name", "order_id", "sum", "key", "max"];
/// Names that begin no clause and no step.
const PLAIN: [&str; 6] = ["lint", "build", "deploy", "t1", "Env", "other_one"];
const STRINGS: [&str; 8] =
    ["", "a b", "say \"x\"", "back\\slash", "line\nbreak\t", "{braces} }}", "é😀", "//no comment"];
const REGEXES: [&str; 3] = ["^[a-z]+$", "a/b", "\\d+"];

fn ident(text: &str) -> Ident {
    Spanned { node: text.to_owned(), span: Span::default() }
}

fn here() -> SpanEq {
    SpanEq(Span::default())
}

impl<'b> Choices<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Choices { bytes, in_message: false }
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    fn below(&mut self, n: usize) -> usize {
        self.byte() as usize % n
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 1
    }

    fn of<'s>(&mut self, pool: &[&'s str]) -> &'s str {
        pool[self.below(pool.len())]
    }

    fn name(&mut self) -> Ident {
        ident(self.of(&NAMES))
    }

    fn plain(&mut self) -> Ident {
        ident(self.of(&PLAIN))
    }

    fn string(&mut self) -> Str {
        ident(self.of(&STRINGS))
    }

    fn number(&mut self) -> Literal {
        ident(self.of(&["5", "0", "50.00", "100"]))
    }

    fn duration(&mut self) -> Literal {
        ident(self.of(&["30s", "1h30m", "250ms", "2d"]))
    }

    fn some<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.coin() { Some(make(self)) } else { None }
    }

    fn many<T>(
        &mut self,
        least: usize,
        most: usize,
        mut make: impl FnMut(&mut Self) -> T,
    ) -> Vec<T> {
        let n = least + self.below(most - least + 1);
        (0..n).map(|_| make(self)).collect()
    }

    fn docs(&mut self) -> Vec<String> {
        if self.below(4) == 1 {
            vec!["About it.".to_owned(), String::new(), "  More".to_owned()]
        } else {
            Vec::new()
        }
    }

    pub fn expr(&mut self, depth: usize) -> Expr {
        Expr { kind: self.expr_kind(depth), span: Span::default() }
    }

    fn field(&mut self) -> Field {
        let docs = self.docs();
        let name = self.name();
        Field {
            docs,
            name,
            ty: self.ty(2, true),
            secret: self.coin(),
            key: self.coin(),
            caseless: self.coin(),
            forms: self.forms(),
            wire: self.some(Self::string),
            span: here(),
        }
    }

    fn forms(&mut self) -> OtherForms {
        let places = self.coin().then(|| self.number());
        OtherForms {
            from: self.some(Self::plain),
            rounded: self.coin().then(|| Rounding { places, span: here() }),
            timezone: self.some(Self::string),
            fallback: self.some(Self::plain),
        }
    }
}

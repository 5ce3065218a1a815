//! Problems that many checks can find, and what a check goes on with after one.

use super::TypeChecker;
use super::typed::broken;
use crate::errors;
use crate::hir::{Expr, Field, RecordId, Type};
use crate::names::NameTable;
use guard_syntax::ast::{Ident, Literal};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;

impl TypeChecker<'_, '_> {
    /// Reports a problem of an expression, and returns the expression that stands for it.
    pub(super) fn broken(&mut self, span: Span, problem: Diagnostic) -> Expr {
        self.report(problem);
        broken(span)
    }

    /// Returns a result, and reports its problem if there is one.
    pub(super) fn reported<T>(&mut self, result: Result<T, Box<Diagnostic>>) -> Option<T> {
        result.map_err(|problem| self.report(*problem)).ok()
    }

    /// Reports a type other than the type that is required.
    pub(super) fn mismatch(&mut self, span: Span, wanted: &str, found: &Type) -> Expr {
        self.broken(span, errors::mismatch(span, wanted, &self.show(found)))
    }

    /// Reports a part of a value that has no parts.
    pub(super) fn no_fields(&mut self, name: &Ident, owner: &Type) {
        self.report(errors::no_fields(name.span, &self.show(owner)));
    }

    /// Returns the value of a literal, and reports a literal that has none.
    pub(super) fn literal<T, W: AsRef<str>>(
        &mut self,
        literal: &Literal,
        read: impl FnOnce(&str) -> Result<T, W>,
    ) -> Option<T> {
        let bad = |why: W| Box::new(errors::literal(literal.span, &literal.node, why.as_ref()));
        self.reported(read(&literal.node).map_err(bad))
    }

    /// Returns the meaning of a word, and reports a word that has none.
    pub(super) fn choice<T: Copy>(
        &mut self,
        what: &str,
        word: &Ident,
        known: &[(impl AsRef<str>, T)],
    ) -> Option<T> {
        let found = known.iter().find(|(known, _)| known.as_ref() == word.node);
        if found.is_none() {
            let known = known.iter().map(|(known, _)| known.as_ref());
            self.report(errors::unknown_word(what, word, known));
        }
        found.map(|(_, meaning)| *meaning)
    }

    /// Returns the declaration of a name, and reports a name without one.
    pub(super) fn declared<T>(
        &mut self,
        what: &str,
        name: &Ident,
        table: &NameTable<T>,
    ) -> Option<usize> {
        let found = table.get(&name.node);
        if found.is_none() {
            self.report(errors::unknown_word(what, name, table.names()));
        }
        found
    }

    /// Returns a field of a record and its position.
    ///
    /// # Errors
    ///
    /// The record has no such field.
    pub(super) fn record_field(
        &self,
        id: RecordId,
        name: &Ident,
    ) -> Result<(usize, Field), Box<Diagnostic>> {
        let record = &self.program.records[id];
        named_field(&record.fields, &format!("the record `{}`", record.name), name)
    }
}

/// Returns the field of this name and its position.
///
/// # Errors
///
/// The owner has no such field.
pub(super) fn named_field(
    fields: &[Field],
    owner: &str,
    name: &Ident,
) -> Result<(usize, Field), Box<Diagnostic>> {
    let at = fields.iter().position(|field| field.name == name.node);
    let known = fields.iter().map(|field| field.name.as_str());
    let at = at.ok_or_else(|| Box::new(errors::unknown_field(name, owner, known)))?;
    Ok((at, fields[at].clone()))
}

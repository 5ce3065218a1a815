//! Diagnostics of a source, as plain values.
//!
//! The output layer renders them (terminal, JSON, SARIF, editor). Each phase has one constructor
//! per problem; every code has a page in `docs/codes/`.

use crate::span::Span;

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiagnosticSeverity {
    /// The guard does not compile.
    Error,
    /// The guard compiles; a part of it is probably unintended.
    Warning,
}

/// A labelled position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The position.
    pub span: Span,
    /// The label; may be empty.
    pub text: String,
}

/// A replacement that corrects the problem and changes nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestedFix {
    /// The replaced range.
    pub span: Span,
    /// The new text.
    pub replacement: String,
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The stable code, `G` and four digits.
    pub code: &'static str,
    /// The severity.
    pub severity: DiagnosticSeverity,
    /// One line: lower case, no full stop, user text in backticks.
    pub message: String,
    /// The position of the problem.
    pub primary: Label,
    /// Other relevant positions.
    pub secondary: Vec<Label>,
    /// A suggestion to correct it.
    pub help: Option<String>,
    /// The edit that corrects it, if it is certain.
    pub fix: Option<SuggestedFix>,
}

impl Diagnostic {
    /// Returns an error at `span`.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: DiagnosticSeverity::Error,
            message: message.into(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// Returns a warning at `span`.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: DiagnosticSeverity::Warning,
            ..Diagnostic::error(code, span, message)
        }
    }

    /// Labels the primary position.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Adds another position.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Sets the suggestion.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Sets the edit.
    #[must_use]
    pub fn fix(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.fix = Some(SuggestedFix { span, replacement: replacement.into() });
        self
    }

    /// Returns true if it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == DiagnosticSeverity::Error
    }
}

//! Types: from resolved declarations to the typed program.
//!
//! It checks declarations first (types, variables, units, facts, signatures), then everything that
//! contains expressions. It collects all problems. An expression with an error gets the error type,
//! which fits everywhere, so that each mistake is reported once. It does not prove or lower
//! anything.

mod ask;
mod builtins;
mod clauses;
mod commands;
mod contracts;
mod declare;
mod defines;
mod descriptions;
mod effects;
mod establish;
mod expr;
mod forms;
mod governs;
mod keys;
mod learning;
mod lets;
mod lifecycles;
pub(crate) mod literal;
mod name;
mod narrow;
mod ops;
mod parts;
mod policy;
mod private;
mod quantified;
mod regex;
mod report;
mod requirements;
mod scenarios;
mod scope;
mod secrets;
mod session;
pub(crate) mod text;
mod transforms;
pub(crate) mod trust;
mod ty;
mod typed;
mod wire;
mod written;

pub(crate) use commands::{field_of, reads_field};
pub(crate) use defines::merge_uses;

use crate::errors;
use crate::hir::{self, Program, Type, UnitId};
use crate::names::Names;
use crate::scenario::Scenario;
use guard_plan::plan::TakenForms;
use guard_syntax::ast::Ident;
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The results of checking a guard.
pub(crate) struct Checked {
    pub program: Program,
    pub scenarios: Vec<Scenario>,
    /// The conditions of the `expect` steps of the scenarios, in order.
    pub expectations: Vec<hir::Expr>,
}

/// Types everything that `names` declares. A missing header is reported at `root`.
pub(crate) fn check(names: &Names, root: Span, diagnostics: &mut Vec<Diagnostic>) -> Checked {
    let mut checker = TypeChecker::new(names, diagnostics);
    checker.declare(root);
    checker.defines();
    checker.invariants();
    checker.properties();
    checker.tools();
    checker.charged_budgets();
    checker.trust_flow();
    checker.private_unasked();
    checker.lifecycles();
    checker.statements();
    checker.contracts();
    checker.forms_in_place();
    checker.session();
    checker.secrets();
    let scenarios = checker.scenarios();
    Checked { program: checker.program, scenarios, expectations: checker.expectations }
}

/// Returns the record within a type, inside any collections.
pub(crate) fn record_in(ty: &Type) -> Option<hir::RecordId> {
    declare::record_in(ty).map(|(record, _)| record)
}

/// The signature of a tool, which other clauses need before the clauses of the tool are checked.
#[derive(Clone)]
pub(crate) struct Signature {
    pub name: String,
    pub params: Vec<hir::Field>,
    pub returns: Option<Type>,
    pub forms: TakenForms,
    pub trust: hir::Trust,
    pub span: Span,
}

/// The state of checking one guard.
pub(crate) struct TypeChecker<'a, 'd> {
    names: &'a Names<'a>,
    program: Program,
    signatures: Vec<Signature>,
    /// The types of aliases that are already known.
    aliases: Vec<Type>,
    units: HashMap<String, UnitId>,
    /// The regular expressions seen so far; true if they compile.
    patterns: HashMap<String, bool>,
    /// The tools of each policy.
    governed: Vec<BTreeSet<hir::ToolId>>,
    /// The types of results, by the clause that declares them.
    results: HashMap<Span, (Type, TakenForms)>,
    /// Types outside of contracts that the program does not contain, with their positions.
    typed: Vec<(Type, Span)>,
    /// The tools with each tag.
    tagged: HashMap<String, Vec<hir::ToolId>>,
    /// The policy whose clauses are being checked for a tool.
    policy: Option<policy::Speaking>,
    /// The reported problems of policies. Their clauses are checked for every tool that they
    /// govern.
    said: HashSet<(Span, String)>,
    expectations: Vec<hir::Expr>,
    /// The types of defines.
    defines: Vec<defines::Defined>,
    /// The uses that are being replaced, outermost first.
    uses: Vec<defines::Use>,
    /// The number of nodes of all uses so far, with their defines replaced.
    nodes: u64,
    /// True if an expression is checked at its declaration instead of its uses.
    alone: bool,
    /// True if a type was reported as nested too deeply. Types that contain it are nested too
    /// deeply as well.
    said_deep: bool,
    /// The positions of syntax errors. Further problems at such a position are mostly wrong.
    syntax_errors: Vec<Span>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'a, 'd> TypeChecker<'a, 'd> {
    fn new(names: &'a Names<'a>, diagnostics: &'d mut Vec<Diagnostic>) -> Self {
        TypeChecker {
            names,
            program: Program::default(),
            signatures: Vec::new(),
            aliases: vec![Type::Error; names.aliases.items.len()],
            units: HashMap::new(),
            patterns: HashMap::new(),
            governed: Vec::new(),
            results: HashMap::new(),
            typed: Vec::new(),
            tagged: HashMap::new(),
            policy: None,
            said: HashSet::new(),
            expectations: Vec::new(),
            defines: Vec::new(),
            uses: Vec::new(),
            nodes: 0,
            alone: false,
            said_deep: false,
            syntax_errors: syntax_errors(diagnostics),
            diagnostics,
        }
    }

    /// Reports a problem. It is reported once if a policy is checked for several tools, or a define
    /// for several uses. It is not reported at a syntax error.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        let span = diagnostic.primary.span;
        let follows = |b: &Span| {
            // An empty position counts as one character.
            b.file == span.file && b.start < span.end.max(span.start + 1) && span.start < b.end
        };
        if self.syntax_errors.iter().any(follows) {
            return;
        }
        let Some(mut diagnostic) = self.of_use(diagnostic) else { return };
        // A clause of a policy has another type if a parameter or `let` of the tool has.
        if let Some(policy::Speaking { policy, tool, tool_span, .. }) = &self.policy
            && diagnostic.code.starts_with("G02")
            && diagnostic.secondary.iter().all(|label| label.span != *tool_span)
        {
            let governed = format!("for `{tool}`, which the policy `{policy}` governs");
            diagnostic = diagnostic.also(*tool_span, governed);
        }
        let judged = self.alone || !self.uses.is_empty() || self.policy.is_none();
        if judged || self.said.insert((span, diagnostic.message.clone())) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports a problem, once if several tools have it from one policy.
    fn report_once(&mut self, diagnostic: Diagnostic) {
        if self.said.insert((diagnostic.primary.span, diagnostic.message.clone())) {
            self.report(diagnostic);
        }
    }

    /// Returns the tool of this name, and reports an error if there is none.
    pub fn tool(&mut self, name: &Ident) -> Option<hir::ToolId> {
        let found = self.names.tools.get(&name.node);
        if found.is_none() {
            self.report(errors::unknown_tool(name, self.names.tools.names()));
        }
        found
    }

    /// Returns the unit of this name, and reports an error if there is none.
    pub fn unit(&mut self, name: &Ident) -> Option<UnitId> {
        let found = self.units.get(&name.node).copied();
        if self.names.budgets.get(&name.node).is_none() && found.is_none() {
            self.report(errors::unknown_unit(name, self.names.budgets.names()));
        }
        found
    }

    fn unknown_parameter(&mut self, tool: hir::ToolId, name: &Ident) {
        let signature = &self.signatures[tool];
        let known: Vec<&str> = signature.params.iter().map(|p| p.name.as_str()).collect();
        let d = errors::unknown_parameter(name, &signature.name, signature.span, known.into_iter());
        self.report(d);
    }

    fn state_type(&self, var: hir::VarId) -> Type {
        self.program.state[var].ty.clone()
    }
}

/// Returns the positions of the errors of the parser, which are the only errors known before the
/// checks begin.
fn syntax_errors(diagnostics: &[Diagnostic]) -> Vec<Span> {
    let syntax = diagnostics.iter().filter(|d| d.is_error() && d.code.starts_with("G00"));
    syntax.map(|d| d.primary.span).collect()
}

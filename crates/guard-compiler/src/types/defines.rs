//! Defines and `let` in expressions: a use is typed as the expression that replaces it.
//!
//! The expression of a define is typed in its own scope. In this scope, a parameter means the
//! argument, which is evaluated in the scope where it was written. So nothing is renamed, and no
//! name changes its meaning. Everything that is known about the replaced text (options, trust,
//! secrets, steps) is also known about the use.

use super::TypeChecker;
use super::declare::marks;
use super::scope::{ExprPlace, GivenArgument, MissingMeaning, Scope};
use super::text::{text, text_in};
use super::ty::fits;
use super::typed::broken;
use crate::defines::WrittenOut;
use crate::errors;
use crate::hir::{Expr, Field, Type};
use crate::limits::MAX_ALL_NODES;
use guard_syntax::ast::{self, Arg, Ident};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;
use std::rc::Rc;

/// A define as seen by its uses.
#[derive(Clone)]
pub(crate) struct Defined {
    pub params: Vec<Field>,
    pub ty: Type,
    /// True if its expression has an error, which was reported.
    broken: bool,
}

/// A use that is replaced, around the current expression.
pub(crate) struct Use {
    span: Span,
    /// True for a define, whose expression is also checked separately.
    define: bool,
}

/// The meaning of a name or a call that is replaced by an expression.
pub(crate) enum DefineMeaning<'s> {
    /// The argument of a parameter.
    Argument(GivenArgument<'s>),
    Let(&'s ast::Expr),
    Define(usize),
}

impl<'s> Scope<'s> {
    /// Calls a function with the expression that replaces `e`, in its own scope; `None` if `e` is
    /// not replaced, or has an error.
    pub fn written_out<T>(
        &self,
        e: &ast::Expr,
        look: impl FnOnce(&ast::Expr, &Scope<'s>) -> T,
    ) -> Option<T> {
        let (at, args): (usize, &[Arg]) = match &e.kind {
            ast::ExprKind::Name(name) => {
                if let Some(given) = self.given(name) {
                    return Some(look(&given.value, &self.of_argument(given)));
                }
                if let Some(value) = self.let_value(name) {
                    return self.lets.is_sound(name).then(|| look(value, &self.of_let(name)));
                }
                (self.define(name, false)?, &[])
            }
            ast::ExprKind::Call(name, args) => (self.define(&name.node, true)?, args),
            _ => return None,
        };
        self.names.written_out[at].as_ref()?;
        if !self.is_written_out() && self.size(e).is_too_large() {
            return None;
        }
        let given = self.arguments(at, args).ok()?;
        Some(look(&self.names.defines.items[at].decl.value, &self.of_define(given)))
    }

    /// Returns the size of an expression with everything replaced.
    fn size(&self, e: &ast::Expr) -> WrittenOut {
        let locals = self.locals.iter().map(|local| local.name.as_str());
        let hidden: Vec<&str> = locals.chain(self.params.iter().map(|p| p.name.as_str())).collect();
        self.lets.size_of(e, self.names, &hidden)
    }

    /// Returns the arguments of a use, in the order of the parameters.
    fn arguments(&self, at: usize, args: &[Arg]) -> Result<Vec<GivenArgument<'s>>, WrongArgument> {
        let define = self.names.defines.items[at].decl;
        let mut values: Vec<Option<&ast::Expr>> = vec![None; define.params.len()];
        for (nth, arg) in args.iter().enumerate() {
            let param = match &arg.name {
                Some(name) => {
                    let found = define.params.iter().position(|p| p.name.node == name.node);
                    found.ok_or_else(|| WrongArgument::Unknown(name.clone()))?
                }
                None => nth,
            };
            match values.get_mut(param) {
                Some(value @ None) => *value = Some(&arg.value),
                Some(Some(first)) => return Err(WrongArgument::Twice(arg.value.span, first.span)),
                None => return Err(WrongArgument::Count),
            }
        }
        if values.iter().any(Option::is_none) {
            return Err(WrongArgument::Count);
        }
        let scope = Rc::new(self.clone());
        let given = |(nth, value): (usize, &ast::Expr)| GivenArgument {
            name: define.params[nth].name.node.clone(),
            of: (at, nth),
            value: Rc::new(value.clone()),
            scope: scope.clone(),
        };
        Ok(values.into_iter().flatten().enumerate().map(given).collect())
    }
}

/// The label of the use that leads to a problem within a define.
const USED: &str = "used here";

/// The maximum number of uses that are shown for one problem.
const SHOWN_USES: usize = 3;

/// Merges problems within a define that several of its uses lead to into one problem. The
/// diagnostics are sorted by position.
pub(crate) fn merge_uses(diagnostics: &mut Vec<Diagnostic>) {
    let mut hidden = 0;
    diagnostics.dedup_by(|later, first| {
        let is_use = |diagnostic: &Diagnostic| {
            diagnostic.secondary.last().is_some_and(|last| last.text.starts_with(USED))
        };
        let same = later.code == first.code
            && later.primary.span == first.primary.span
            && later.message == first.message
            && is_use(later)
            && is_use(first);
        if !same {
            hidden = 0;
            return false;
        }
        let uses = first.secondary.iter().filter(|label| label.text.starts_with(USED)).count();
        if uses < SHOWN_USES {
            first.secondary.extend(later.secondary.pop());
        } else if let Some(last) = first.secondary.last_mut() {
            hidden += 1;
            last.text = format!("{USED}, and in {}", errors::count(hidden, "more place"));
        }
        true
    });
}

/// The reason why arguments do not fit the parameters.
enum WrongArgument {
    Unknown(Ident),
    Twice(Span, Span),
    Count,
}

/// Returns the first type with a refinement: this one, or one within.
fn refined(ty: &ast::Type) -> Option<&ast::Type> {
    if !ty.refinements.is_empty() {
        return Some(ty);
    }
    match &ty.kind {
        ast::TypeKind::Name(_) => None,
        ast::TypeKind::List(element) | ast::TypeKind::Set(element) => refined(element),
        ast::TypeKind::Map(key, value) => refined(key).or_else(|| refined(value)),
    }
}

impl<'a> TypeChecker<'a, '_> {
    /// Computes the types of all defines, which state and rules use.
    pub(super) fn define_types(&mut self) {
        let names = self.names;
        for entry in &names.defines.items {
            let define = entry.decl;
            let secret = |p: &ast::Field| p.secret.then_some("secret");
            let mark = |p| Some((p, secret(p).or_else(|| marks(p).next())?));
            if let Some((param, word)) = define.params.iter().find_map(mark) {
                let why = format!(
                    "`{word}` is not allowed on a parameter of a define: an argument keeps its own marks"
                );
                let help = format!("remove `{word}`");
                self.report(errors::refinement(param.span.0, &why, &help));
            }
            for ty in define.params.iter().map(|p| &p.ty).chain([&define.ty]) {
                if let Some(refined) = refined(ty) {
                    let why = "types of a define cannot be refined: a use does not check them";
                    let help = "remove the refinement; refine the parameter of the tool, the variable or the result";
                    self.report(errors::refinement(refined.span, why, help));
                }
            }
            let params = self.fields("parameter", &define.params);
            for param in &params {
                if let Some(other) = self.other_meaning(&param.name, &param.ty) {
                    let kind = other.kind();
                    let declared = other.declared();
                    let d =
                        errors::hidden_name("parameter", &param.name, param.span, kind, declared);
                    self.report(d);
                }
            }
            let ty = self.ty(&define.ty);
            self.typed.push((ty.clone(), define.ty.span));
            if define.params.is_empty() {
                self.own_variant("define", entry.name, &ty);
            }
            self.defines.push(Defined { params, ty, broken: false });
        }
    }

    /// Checks the expression of each define separately. Possibly missing values are checked at the
    /// uses.
    pub(super) fn defines(&mut self) {
        let names = self.names;
        for (at, entry) in names.defines.items.iter().enumerate() {
            if names.written_out[at].is_none() {
                continue;
            }
            let Defined { params, ty, .. } = self.defines[at].clone();
            let mut scope = Scope::new(names, ExprPlace::Define, &params, MissingMeaning::Any);
            let value = self.by_itself(|checker| checker.value(&entry.decl.value, &ty, &mut scope));
            self.defines[at].broken = value.any(&mut |part| part.ty == Type::Error);
        }
    }

    /// Checks an expression at its declaration instead of its uses. Values that may be missing are
    /// assumed to be present.
    pub(super) fn by_itself<T>(&mut self, judge: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.alone, true);
        let judged = judge(self);
        self.alone = outer;
        judged
    }

    /// Returns the meaning of a name or of the name of a call.
    pub(super) fn meaning<'s>(
        &self,
        e: &ast::Expr,
        scope: &Scope<'s>,
    ) -> Option<DefineMeaning<'s>> {
        match &e.kind {
            ast::ExprKind::Name(name) => {
                if let Some(given) = scope.given(name) {
                    return Some(DefineMeaning::Argument(given.clone()));
                }
                if let Some(value) = scope.let_value(name) {
                    return Some(DefineMeaning::Let(value));
                }
                scope.define(name, false).map(DefineMeaning::Define)
            }
            ast::ExprKind::Call(name, _) => {
                scope.define(&name.node, true).map(DefineMeaning::Define)
            }
            _ => None,
        }
    }

    /// Types a use as the expression that replaces it; `None` if `e` is not replaced.
    pub(super) fn used(
        &mut self,
        e: &ast::Expr,
        expected: Option<&Type>,
        scope: &mut Scope,
    ) -> Option<Expr> {
        let meaning = self.meaning(e, scope)?;
        if !matches!(meaning, DefineMeaning::Argument(_)) && !self.fits_bounds(e, scope) {
            return Some(broken(e.span));
        }
        Some(match meaning {
            DefineMeaning::Argument(given) => {
                let (define, param) = given.of;
                let ty = self.defines[define].params[param].ty.clone();
                self.stood_for(&given.value, &ty, &mut scope.of_argument(&given))
            }
            DefineMeaning::Let(value) => self.let_used(e, value, expected, scope),
            DefineMeaning::Define(at) => self.define_used(at, e, scope),
        })
    }

    /// Returns true if the expression of a use has an allowed size, and reports it otherwise.
    fn fits_bounds(&mut self, e: &ast::Expr, scope: &Scope) -> bool {
        // The outermost use was measured with everything in it.
        if !self.uses.is_empty() {
            return true;
        }
        let size = scope.size(e);
        if size.is_too_large() {
            self.report(errors::use_too_large(e.span, &text(e), size.nodes(), size.depth()));
            return false;
        }
        let fitted = self.nodes <= MAX_ALL_NODES;
        self.nodes = self.nodes.saturating_add(size.nodes());
        // The problem is reported only at the use that exceeds the maximum.
        if fitted && self.nodes > MAX_ALL_NODES {
            self.report(errors::uses_too_large(e.span));
        }
        self.nodes <= MAX_ALL_NODES
    }

    fn let_used(
        &mut self,
        e: &ast::Expr,
        value: &ast::Expr,
        expected: Option<&Type>,
        scope: &Scope,
    ) -> Expr {
        let name = if let ast::ExprKind::Name(name) = &e.kind { name } else { "" };
        if !scope.lets.is_sound(name) {
            return broken(e.span);
        }
        let mut inner = scope.of_let(name);
        self.uses.push(Use { span: e.span, define: false });
        let found = self.expr(value, expected, &mut inner);
        self.uses.pop();
        if let Some(given) = scope.lets.given_by_tool(name)
            && self.tells_of_variant(name, e.span, given.span, &found.ty)
        {
            return broken(e.span);
        }
        self.called(e, found, scope)
    }

    fn define_used(&mut self, at: usize, e: &ast::Expr, scope: &mut Scope) -> Expr {
        let names = self.names;
        let define = names.defines.items[at].decl;
        let args: &[Arg] = if let ast::ExprKind::Call(_, args) = &e.kind { args } else { &[] };
        let as_declared = matches!(e.kind, ast::ExprKind::Call(..)) != define.params.is_empty();
        let given = match scope.arguments(at, args) {
            Ok(given) if as_declared => given,
            Ok(_) | Err(WrongArgument::Count) => return self.wrong_count(define, e, args.len()),
            Err(WrongArgument::Unknown(name)) => {
                let known: Vec<&str> = define.params.iter().map(|p| p.name.node.as_str()).collect();
                let declared = define.name.span;
                let define = &define.name.node;
                return self.broken(
                    e.span,
                    errors::unknown_parameter(&name, define, declared, known.into_iter()),
                );
            }
            Err(WrongArgument::Twice(span, first)) => {
                return self.broken(e.span, errors::said_twice("the argument", span, first));
            }
        };
        let Some(size) = &names.written_out[at] else { return broken(e.span) };
        let Defined { params, ty, broken: in_error } = self.defines[at].clone();
        // An argument that is not read must have a fitting type too.
        for (nth, given) in given.iter().enumerate().filter(|(nth, _)| in_error || !size.uses(*nth))
        {
            let mut inner = scope.of_argument(given);
            inner.missing = inner.missing.inside();
            if self.value(&given.value, &params[nth].ty, &mut inner).ty == Type::Error {
                return broken(e.span);
            }
        }
        if in_error {
            return broken(e.span);
        }
        let mut inner = scope.of_define(given);
        self.uses.push(Use { span: e.span, define: true });
        let found = self.stood_for(&define.value, &ty, &mut inner);
        self.uses.pop();
        let found = Expr { span: e.span, ..found };
        self.called(e, found, scope)
    }

    fn wrong_count(&mut self, define: &ast::Define, e: &ast::Expr, found: usize) -> Expr {
        let name = &define.name.node;
        let params: Vec<&str> = define.params.iter().map(|p| p.name.node.as_str()).collect();
        let signature = match params.as_slice() {
            [] => name.clone(),
            params => format!("{name}({})", params.join(", ")),
        };
        let message = match (params.len(), &e.kind) {
            (0, _) => format!("`{name}` is a constant and takes no arguments"),
            (n, ast::ExprKind::Name(_)) => {
                format!("`{name}` takes {}, found none", errors::count(n, "argument"))
            }
            (n, _) => format!("`{name}` takes {}, found {found}", errors::count(n, "argument")),
        };
        let d = errors::arguments(e.span, message, &signature);
        self.broken(e.span, d.also(define.name.span, format!("`{name}` is declared here")))
    }

    /// Types an expression of a declared type. Only a bool decides about the meaning of a missing
    /// value.
    fn stood_for(&mut self, value: &ast::Expr, ty: &Type, scope: &mut Scope) -> Expr {
        if *ty == Type::Bool {
            return self.condition(value, scope);
        }
        if *ty.required() != Type::Bool {
            scope.missing = scope.missing.inside();
        }
        let found = self.value(value, ty, scope);
        let may_be_missing = ty.is_option() && fits(&found.ty, ty);
        let ty = match found.ty.required() {
            // Nothing else is known about `none`.
            Type::Never => ty.clone(),
            _ if may_be_missing => found.ty.clone().optional(),
            _ => found.ty.clone(),
        };
        Expr { ty, ..found }
    }

    /// Sets the name under which the value of an expression is shown.
    fn called(&self, e: &ast::Expr, found: Expr, scope: &Scope) -> Expr {
        if found.ty == Type::Error {
            return broken(e.span);
        }
        Expr { name: Some(text_in(e, scope).into()), ..found }
    }

    /// Returns a problem within a replaced expression, with the use that leads there; `None` if it
    /// was already reported, for the define itself or for the same use.
    pub(super) fn of_use(&mut self, diagnostic: Diagnostic) -> Option<Diagnostic> {
        let at = diagnostic.primary.span;
        let message = diagnostic.message.clone();
        let Some(outermost) = self.uses.first() else {
            let said = self.alone && !self.said.insert((at, message));
            return (!said).then_some(diagnostic);
        };
        let outer = outermost.span;
        let define = self.uses.iter().any(|used| used.define);
        let known = !self.alone && self.said.contains(&(at, message.clone()));
        if define && !diagnostic.is_error() || known {
            return None;
        }
        // A `let` is corrected at its declaration, so the problem is reported once.
        let place = if define { outer } else { at };
        if !self.said.insert((place, format!("{message} {at:?}"))) {
            return None;
        }
        if self.alone {
            self.said.insert((at, message));
        }
        let inside = at.file == outer.file && outer.start <= at.start && at.end <= outer.end;
        if inside {
            return Some(diagnostic);
        }
        // A missing value in a define without `?` can only be handled within the define.
        let missing = define && diagnostic.code == "G0204";
        let diagnostic = diagnostic.also(outer, USED);
        Some(if missing { diagnostic.help(errors::MISSING_IN_DEFINE) } else { diagnostic })
    }

    /// Returns the value of a constant, for places that accept only literals.
    pub(super) fn constant(&self, name: &str) -> Option<&'a ast::Expr> {
        let at = self.names.defines.get(name)?;
        self.names.written_out[at].as_ref()?;
        let define = self.names.defines.items[at].decl;
        define.params.is_empty().then_some(&define.value)
    }
}

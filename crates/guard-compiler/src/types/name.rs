//! Names in expressions: the meaning of an unqualified name in its place, and the error if it has
//! none.

use super::TypeChecker;
use super::scope::{ExprPlace, Scope};
use super::typed::{boxed, broken, typed};
use crate::errors;
use crate::hir::{EnumDef, Expr, ExprKind, MapKey, ORIGIN, Type};
use guard_plan::plan::SourceKind;
use guard_syntax::ast::Ident;
use guard_syntax::span::Span;

impl TypeChecker<'_, '_> {
    pub(super) fn variant(&mut self, id: usize, name: &str, span: Span) -> Expr {
        let def = &self.program.enums[id];
        match def.variants.iter().position(|v| v == name) {
            Some(at) => {
                self.names.variants.borrow_mut().insert(name.to_string());
                typed(ExprKind::Enum(at as u32), Type::Enum(id), span)
            }
            None => {
                let d = errors::unknown_variant(
                    name,
                    span,
                    &def.name,
                    def.variants.iter().map(String::as_str),
                );
                self.broken(span, d)
            }
        }
    }

    pub(super) fn name(
        &mut self,
        name: &str,
        wanted: Option<&Type>,
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        if let Some(local) = scope.local(name) {
            let key = local.key;
            let ty = local.ty.clone();
            let local = ExprKind::Local(local.slot);
            if key == MapKey::Text {
                return typed(local, ty, span);
            }
            return typed(
                ExprKind::FromKey(boxed(typed(local, Type::string(), span)), key),
                ty,
                span,
            );
        }
        if name == "result"
            && let Some(ty) = &scope.result
        {
            return typed(ExprKind::Result, ty.clone(), span);
        }
        if let Some(at) = scope.param(name) {
            let param = &scope.params[at];
            let other = self.other_meaning(name, &param.ty);
            // A fact is no value, so this name cannot mean it.
            let other = other.filter(|other| !matches!(other, OtherMeaning::Declared("fact", _)));
            if self.means_two(name, span, scope, other) {
                return broken(span);
            }
            return typed(ExprKind::Param(at as u32), param.ty.clone(), span);
        }
        if let Some(at) = self.names.state.get(name) {
            if !scope.place.reads_state() {
                return self.misplaced(span, &format!("the variable `{name}`"), scope);
            }
            return typed(ExprKind::State(at), self.state_type(at), span);
        }
        if let Some(Type::Enum(id)) = wanted
            && self.program.enums[*id].variants.iter().any(|v| v == name)
        {
            return self.variant(*id, name, span);
        }
        self.builtin_name(name, wanted, span, scope)
    }

    fn builtin_name(
        &mut self,
        name: &str,
        wanted: Option<&Type>,
        span: Span,
        scope: &Scope,
    ) -> Expr {
        let (kind, ty) = match name {
            "now" => (ExprKind::Now, Type::Time(None)),
            "elapsed" => (ExprKind::Elapsed, Type::Duration(Some(0), None)),
            "workspace" => return typed(ExprKind::Workspace, Type::Path, span),
            // A define has no tool of its own.
            "tool_name" if let (Some(tool), None) = (&scope.tool, &scope.around) => {
                return typed(ExprKind::String(tool.to_string()), Type::string(), span);
            }
            "text" if scope.place == ExprPlace::Source(SourceKind::Prompt) => {
                return typed(ExprKind::Text, Type::string(), span);
            }
            "data" if scope.place == ExprPlace::Source(SourceKind::Start) => {
                return typed(ExprKind::Result, Type::Json, span);
            }
            _ => return self.unknown_name(name, wanted, span, scope),
        };
        if scope.place.asks() {
            typed(kind, ty, span)
        } else {
            self.misplaced(span, &format!("`{name}`"), scope)
        }
    }

    fn unknown_name(
        &mut self,
        name: &str,
        wanted: Option<&Type>,
        span: Span,
        scope: &Scope,
    ) -> Expr {
        if let Some(Type::Enum(id)) = wanted {
            return self.variant(*id, name, span);
        }
        let declaring: Vec<usize> = (0..self.program.enums.len())
            .filter(|id| named(&self.program.enums, *id))
            .filter(|id| self.program.enums[*id].variants.iter().any(|v| v == name))
            .collect();
        match declaring.as_slice() {
            [id] => return self.variant(*id, name, span),
            [] => {}
            several => {
                let names = several.iter().map(|id| self.program.enums[*id].name.as_str());
                let d = errors::ambiguous_variant(name, span, names);
                return self.broken(span, d);
            }
        }
        if name == "result" {
            return self.misplaced(span, "`result`", scope);
        }
        if scope.outer.iter().any(|p| p.name == name) {
            return self.misplaced(span, &format!("the parameter `{name}`"), scope);
        }
        if scope.around.is_none()
            && let Some(policy) = &self.policy
            && let Some(d) = policy.missing_parameter(name, span)
        {
            // It is reported once for each tool, even if the policy uses the parameter several
            // times.
            if self.said.insert((policy.tool_span, d.message.clone())) {
                self.diagnostics.push(d);
            }
            return broken(span);
        }
        let names = self.names;
        if names.facts.peek(name).is_some() {
            return self.broken(span, errors::fact_as_value(name, span));
        }
        let enums = self.program.enums.iter().enumerate();
        let enums = enums.filter(|(id, _)| named(&self.program.enums, *id));
        let variants = enums.flat_map(|(_, e)| e.variants.iter().map(String::as_str));
        let params = scope.params.iter().map(|p| p.name.as_str());
        let locals = scope.locals.iter().map(|l| l.name.as_str());
        let builtins = ["now", "elapsed", "workspace", "clock", "result", "tool_name"].into_iter();
        let given = scope.given.iter().map(|given| given.name.as_str());
        let own = params.chain(locals).chain(given).chain(scope.lets.names());
        let declared = names.state.names().chain(names.defines.names());
        let known = own.chain(declared).chain(variants).chain(builtins);
        let d = errors::unknown_name(name, span, known, scope.place == ExprPlace::Define);
        self.broken(span, d)
    }

    /// Returns the meaning that the name of a parameter has if the tool does not have the
    /// parameter.
    pub(super) fn other_meaning(&self, name: &str, ty: &Type) -> Option<OtherMeaning> {
        if let Some((kind, span)) = self.names.value(name) {
            return Some(OtherMeaning::Declared(kind, span));
        }
        if BUILT_IN_VALUES.contains(&name) {
            return Some(OtherMeaning::BuiltIn);
        }
        self.variant_of(name, ty).then_some(OtherMeaning::Variant)
    }

    /// Reports a name in a policy that is a parameter of the tool and has another meaning; returns true if it was reported.
    pub(super) fn means_two(
        &mut self,
        name: &str,
        span: Span,
        scope: &Scope,
        other: Option<OtherMeaning>,
    ) -> bool {
        let (Some(policy), Some(at), Some(other)) = (&self.policy, scope.param(name), other) else {
            return false;
        };
        let d = policy.two_meanings(name, span, ("parameter", scope.params[at].span), &other);
        self.report(d);
        true
    }

    /// Reports a name in a policy that is a `let` of the tool and a variant of its own enum; returns true if it was
    /// reported.
    pub(super) fn tells_of_variant(
        &mut self,
        name: &str,
        span: Span,
        given: Span,
        ty: &Type,
    ) -> bool {
        let Some(policy) = self.policy.as_ref().filter(|_| self.variant_of(name, ty)) else {
            return false;
        };
        let d = policy.two_meanings(name, span, ("`let`", given), &OtherMeaning::Variant);
        self.report(d);
        true
    }

    /// Returns true if a type is an enum, or an option of one, with a variant of this name.
    fn variant_of(&self, name: &str, ty: &Type) -> bool {
        let Type::Enum(id) = ty.required() else { return false };
        self.program.enums[*id].variants.iter().any(|variant| variant == name)
    }

    /// Reports a variable or define with the name of a variant of its own enum, because it would
    /// hide the variant everywhere.
    pub(super) fn own_variant(&mut self, what: &str, name: &Ident, ty: &Type) {
        if let Type::Enum(id) = ty.required()
            && self.variant_of(&name.node, ty)
        {
            let d = errors::own_variant(what, name, &self.program.enums[*id].name);
            self.report(d);
        }
    }

    /// Reports a question that is not allowed here.
    pub(super) fn misplaced(&mut self, span: Span, what: &str, scope: &Scope) -> Expr {
        let help = match scope.place {
            ExprPlace::State => {
                "keep what it needs in a state variable, written by effects or observations"
            }
            ExprPlace::Initial => "begin with a constant",
            ExprPlace::Define => "give it to the define as a parameter",
            ExprPlace::Rule => {
                "`result` exists once the call has settled: use `observe`, `learn` or `reconcile`"
            }
            _ => "move the question into a clause of a tool or policy",
        };
        self.broken(span, errors::wrong_place(span, what, scope.place.name(), help))
    }
}

/// The values of the language that a rule of a policy may read.
const BUILT_IN_VALUES: [&str; 5] = ["now", "elapsed", "workspace", "clock", "result"];

/// The other meaning of a name that is also a parameter.
pub(super) enum OtherMeaning {
    /// A variable, fact or define, and the position of its declaration.
    Declared(&'static str, Span),
    /// A value of the language.
    BuiltIn,
    /// A variant of the parameter's own enum.
    Variant,
}

impl OtherMeaning {
    /// Returns the kind, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            OtherMeaning::Declared(kind, _) => kind,
            OtherMeaning::BuiltIn => "built-in value",
            OtherMeaning::Variant => "variant",
        }
    }

    /// Returns the position of its declaration, if it is in a file.
    pub fn declared(&self) -> Option<Span> {
        match self {
            OtherMeaning::Declared(_, span) => Some(*span),
            OtherMeaning::BuiltIn | OtherMeaning::Variant => None,
        }
    }
}

/// Returns true if an unqualified name may be a variant of this enum: an enum that an author
/// declared, or the weekdays. Origins and states of lifecycles are named only in comparisons.
fn named(enums: &[EnumDef], id: usize) -> bool {
    id != ORIGIN && !enums[id].name.contains(' ')
}

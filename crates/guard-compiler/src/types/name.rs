//! Names in expressions: what a bare name means where it stands, and what to say where it means nothing.

use super::Checker;
use super::expr::{broken, typed};
use super::scope::{Place, Scope};
use crate::errors;
use crate::hir::{EnumDef, Expr, ExprKind, ORIGIN, Type};
use guard_plan::plan::SourceKind;
use guard_syntax::span::Span;

impl Checker<'_, '_> {
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
                self.report(d);
                broken(span)
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
            return typed(ExprKind::Local(local.slot), local.ty.clone(), span);
        }
        if name == "result"
            && let Some(ty) = &scope.result
        {
            return typed(ExprKind::Result, ty.clone(), span);
        }
        if let Some(at) = scope.param(name) {
            return typed(ExprKind::Param(at as u32), scope.params[at].ty.clone(), span);
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
            "text" if scope.place == Place::Source(SourceKind::Prompt) => {
                return typed(ExprKind::Text, Type::string(), span);
            }
            "data" if scope.place == Place::Source(SourceKind::Start) => {
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
        let of: Vec<usize> = (0..self.program.enums.len())
            .filter(|id| named(&self.program.enums, *id))
            .filter(|id| self.program.enums[*id].variants.iter().any(|v| v == name))
            .collect();
        match of.as_slice() {
            [id] => return self.variant(*id, name, span),
            [] => {}
            several => {
                let names = several.iter().map(|id| self.program.enums[*id].name.as_str());
                let d = errors::ambiguous_variant(name, span, names);
                self.report(d);
                return broken(span);
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
            // Once for each tool, however often the policy speaks of the parameter.
            if self.said.insert((policy.tool_span, d.message.clone())) {
                self.diagnostics.push(d);
            }
            return broken(span);
        }
        let names = self.names;
        if names.facts.peek(name).is_some() {
            self.report(errors::fact_as_value(name, span));
            return broken(span);
        }
        let enums = self.program.enums.iter().enumerate();
        let enums = enums.filter(|(id, _)| named(&self.program.enums, *id));
        let variants = enums.flat_map(|(_, e)| e.variants.iter().map(String::as_str));
        let params = scope.params.iter().map(|p| p.name.as_str());
        let locals = scope.locals.iter().map(|l| l.name.as_str());
        let builtins = ["now", "elapsed", "workspace", "clock", "result"].into_iter();
        let given = scope.given.iter().map(|given| given.name.as_str());
        let own = params.chain(locals).chain(given).chain(scope.lets.names());
        let declared = names.state.names().chain(names.defines.names());
        let known = own.chain(declared).chain(variants).chain(builtins);
        let d = errors::unknown_name(name, span, known, scope.place == Place::Define);
        self.report(d);
        broken(span)
    }

    /// Something that cannot be asked here.
    pub(super) fn misplaced(&mut self, span: Span, what: &str, scope: &Scope) -> Expr {
        let help = match scope.place {
            Place::State => {
                "keep what it needs in a state variable, written by effects or observations"
            }
            Place::Initial => "begin with a constant",
            Place::Define => "give it to the define as a parameter",
            Place::Rule => {
                "`result` exists once the call has settled: use `observe`, `learn` or `reconcile`"
            }
            _ => "move the question into a clause of a tool or policy",
        };
        self.report(errors::wrong_place(span, what, scope.place.name(), help));
        broken(span)
    }
}

/// Whether a bare name may be a variant of this enum: one that an author declared, or the weekdays. Origins and the
/// states of lifecycles are spoken of where they are compared with.
fn named(enums: &[EnumDef], id: usize) -> bool {
    id != ORIGIN && !enums[id].name.contains(' ')
}

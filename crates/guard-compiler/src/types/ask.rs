//! Calls and questions: builtins, conversions, facts, probes, budgets, history, the world.

use super::scope::Scope;
use super::typed::{broken, folded, typed};
use super::{TypeChecker, literal};
use crate::errors;
use crate::hir::{Expr, ExprKind, Field, ToolId, Type};
use guard_plan::builtin::{ReturnKind, TABLE};
use guard_plan::plan::{MAX_LAST_CALLS, WindowSize};
use guard_syntax::ast::{self, Arg, BinaryOp, Ident};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;

/// The questions about earlier calls.
const HISTORY: [&str; 4] = ["called", "failed", "calls", "failures"];
/// Questions that are not pure functions.
const QUESTIONS: [&str; 11] = [
    "called",
    "failed",
    "calls",
    "failures",
    "last",
    "remaining",
    "spent",
    "exists",
    "origin",
    "seen",
    "may_read",
];

/// Returns true if the function of this name is a predicate. A predicate is false if an argument is missing.
pub(super) fn is_test(name: &str) -> bool {
    TABLE.iter().any(|row| row.name == name && row.gives == ReturnKind::Bool)
}

/// The parts of a question about earlier calls.
struct AskedHistory<'e> {
    name: &'e Ident,
    args: &'e [Arg],
    since: Option<Ident>,
    recent: Option<(WindowSize, Span)>,
    span: Span,
}

impl TypeChecker<'_, '_> {
    pub(super) fn call(
        &mut self,
        e: &ast::Expr,
        name: &Ident,
        args: &[Arg],
        scope: &mut Scope,
    ) -> Expr {
        if let Some(history) = self.history(e, scope) {
            return history;
        }
        match name.node.as_str() {
            "last" => {
                let message = "`last` needs a parameter or `result`".to_string();
                self.broken(
                    e.span,
                    errors::arguments(e.span, message, "last(tool).parameter, last(tool).result"),
                )
            }
            "remaining" | "spent" => self.spending(name, args, e.span, scope),
            "exists" => self.exists(args, e.span, scope),
            "origin" | "seen" => self.origin(&name.node, args, e.span, scope),
            "may_read" => self.may_read(args, e.span, scope),
            _ => match TABLE.iter().find(|row| row.name == name.node) {
                Some(row) => self.builtin(row, name, args, e.span, scope),
                None => {
                    for arg in args {
                        self.expr(&arg.value, None, scope);
                    }
                    let defines = self.names.defines.names();
                    let functions = TABLE.iter().filter(|row| row.is_function());
                    let known = functions.map(|row| row.name).chain(QUESTIONS).chain(defines);
                    self.broken(e.span, errors::unknown_function(name, known))
                }
            },
        }
    }

    fn spending(&mut self, name: &Ident, args: &[Arg], span: Span, scope: &mut Scope) -> Expr {
        if !scope.place.asks() {
            return self.misplaced(span, &format!("`{}`", name.node), scope);
        }
        let [Arg { name: None, value: ast::Expr { kind: ast::ExprKind::Name(unit), span: at } }] =
            args
        else {
            let message = format!("`{}` asks for one unit", name.node);
            return self.broken(
                span,
                errors::arguments(span, message, "remaining(deadline), remaining(usd), spent(usd)"),
            );
        };
        if unit == "deadline" && name.node == "remaining" {
            if self.names.deadline.is_none() {
                return self.broken(span, errors::no_deadline(*at));
            }
            return typed(ExprKind::RemainingTime, Type::Duration(Some(0), None), span);
        }
        let Some(id) = self.unit(&Ident { node: unit.clone(), span: *at }) else {
            return broken(span);
        };
        if name.node == "spent" {
            return typed(ExprKind::Spent(id), Type::Decimal(Some(0), None), span);
        }
        let unit_of = &self.program.units[id];
        if unit_of.budget.is_none() {
            return self.broken(
                span,
                errors::unknown_unit(
                    &Ident { node: unit.clone(), span: *at },
                    self.names.budgets.names(),
                ),
            );
        }
        // The reports of the host count as spent, even if nothing is left.
        let least = (!unit_of.host_charged && !self.program.shadow).then_some(0);
        typed(ExprKind::Remaining(id), Type::Decimal(least, None), span)
    }

    fn exists(&mut self, args: &[Arg], span: Span, scope: &mut Scope) -> Expr {
        if !scope.place.asks() {
            return self.misplaced(span, "whether a file exists", scope);
        }
        let [Arg { name: None, value }] = args else {
            return self.broken(
                span,
                errors::arguments(span, "`exists` asks for one path".into(), "exists(path)"),
            );
        };
        let path = self.value(value, &Type::Path, scope);
        typed(ExprKind::Exists(Box::new(path)), Type::Bool, span)
    }

    pub(super) fn probe(&mut self, name: &Ident, scope: &Scope) -> Expr {
        if !scope.place.asks() {
            return self.misplaced(name.span, "a probe", scope);
        }
        match self.declared("probe", name, &self.names.probes) {
            Some(id) => {
                typed(ExprKind::Probe(id), self.program.probes[id].returns.clone(), name.span)
            }
            None => broken(name.span),
        }
    }

    /// Returns the fact of this name, and reports an error if there is none.
    pub(super) fn fact(&mut self, name: &Ident) -> Option<usize> {
        self.declared("fact", name, &self.names.facts)
    }

    pub(super) fn known(
        &mut self,
        name: &Ident,
        args: &[Arg],
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        let Some(id) = self.fact(name) else {
            for arg in args {
                self.expr(&arg.value, None, scope);
            }
            return broken(span);
        };
        if !scope.place.asks() {
            return self.misplaced(span, "a fact", scope);
        }
        let fact = &self.program.facts[id];
        let columns = self.program.records[fact.row].fields.clone();
        let keys = fact.keys;
        if args.len() != keys || args.iter().any(|a| a.name.is_some()) {
            let names: Vec<&str> = columns[..keys].iter().map(|c| c.name.as_str()).collect();
            let asks = errors::count(keys, "value");
            let message = match args.iter().find(|a| a.name.is_some()) {
                Some(_) => format!("`known {}` takes its values without names", name.node),
                None => format!("`known {}` asks by {asks}, found {}", name.node, args.len()),
            };
            return self.broken(
                span,
                errors::arguments(
                    span,
                    message,
                    &format!("known {}({})", name.node, names.join(", ")),
                ),
            );
        }
        let value = |(arg, column): (&Arg, &Field)| {
            if column.caseless {
                folded(self.value(&arg.value, &column.ty, scope), column)
            } else {
                self.lifted(&arg.value, &column.ty, scope)
            }
        };
        let values = args.iter().zip(&columns).map(value).collect();
        typed(ExprKind::Known(id, values), Type::Bool, span)
    }

    /// Types `fact[a, b]`: the row with these keys.
    pub(super) fn row(
        &mut self,
        id: usize,
        at: &[ast::Expr],
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        if !scope.place.asks() {
            return self.misplaced(span, "a fact", scope);
        }
        let (row, keys, name) = {
            let fact = &self.program.facts[id];
            (fact.row, fact.keys, fact.name.clone())
        };
        let columns = self.program.records[row].fields.clone();
        if keys != at.len() || columns.len() == keys {
            return self.broken(span, errors::no_rows(span, &name, keys, columns.len()));
        }
        let key = |(at, column): (_, &Field)| folded(self.value(at, &column.ty, scope), column);
        let keys = at.iter().zip(&columns).map(key).collect();
        typed(ExprKind::Row(id, keys), Type::Record(row).optional(), span)
    }

    /// Types `last(T).arg` and `last(T).result`.
    pub(super) fn last(
        &mut self,
        last: &Ident,
        args: &[Arg],
        part: &Ident,
        span: Span,
        scope: &Scope,
    ) -> Expr {
        if !scope.place.asks() {
            return self.misplaced(span, "the last call", scope);
        }
        let Some(tool) = self.tool_argument(last, args) else {
            return broken(span);
        };
        if part.node == "result" {
            let ty = self.signatures[tool].returns.clone().unwrap_or(Type::Json);
            return typed(ExprKind::LastResult(tool), ty.optional(), span);
        }
        match self.signatures[tool].params.iter().position(|p| p.name == part.node) {
            Some(at) => {
                let ty = self.signatures[tool].params[at].ty.clone().optional();
                typed(ExprKind::LastArg(tool, at as u32), ty, span)
            }
            None => {
                self.unknown_parameter(tool, part);
                broken(span)
            }
        }
    }

    /// Returns the tool that is the first argument of a question about calls.
    fn tool_argument(&mut self, question: &Ident, args: &[Arg]) -> Option<ToolId> {
        match args.first() {
            Some(Arg {
                name: None,
                value: ast::Expr { kind: ast::ExprKind::Name(tool), span },
            }) => self.tool(&Ident { node: tool.clone(), span: *span }),
            _ => {
                let message = format!("`{}` asks about a tool", question.node);
                self.report(errors::arguments(
                    question.span,
                    message,
                    &format!("{}(tool)", question.node),
                ));
                None
            }
        }
    }

    /// Types a question about earlier calls with its `since` and `within`; `None` if it is
    /// something else.
    pub(super) fn history(&mut self, e: &ast::Expr, scope: &mut Scope) -> Option<Expr> {
        let history = match take_apart(e) {
            Some(Ok(history)) => history,
            Some(Err((text, span, why))) => {
                self.report(errors::literal(span, &text, &why));
                return Some(broken(e.span));
            }
            None => return None,
        };
        if !scope.place.asks() {
            return Some(self.misplaced(e.span, "earlier calls", scope));
        }
        Some(self.typed_history(&history, scope).unwrap_or_else(|| broken(e.span)))
    }

    fn typed_history(&mut self, h: &AskedHistory, scope: &mut Scope) -> Option<Expr> {
        let tool = self.tool_argument(h.name, h.args)?;
        let since = match &h.since {
            Some(name) => Some(self.tool(name)?),
            None => None,
        };
        let within = match h.recent {
            Some((WindowSize::Within(age), _)) => Some(age),
            Some((WindowSize::Last(_), span))
                if matches!(h.name.node.as_str(), "called" | "failed") =>
            {
                self.report(last_calls_misplaced(span));
                return None;
            }
            _ => None,
        };
        // INVARIANT: the first argument is the tool.
        let key = self.keys(tool, &h.args[1..], scope)?;
        let name = h.name.node.as_str();
        if name != "called" && !key.is_empty() {
            let message = format!("`{name}` counts all calls of a tool");
            self.report(errors::arguments(h.span, message, &format!("{name}(tool)")));
            return None;
        }
        let (kind, ty) = match name {
            "called" => (ExprKind::Called { tool, key, since, within }, Type::Bool),
            "failed" => (ExprKind::Failed { tool, since, within }, Type::Bool),
            _ if since.is_some() => {
                let message = format!("`{name}` takes no `since`");
                self.report(errors::arguments(
                    h.span,
                    message,
                    &format!("{name}(tool) within 10m"),
                ));
                return None;
            }
            _ => {
                let recent = h.recent.map(|(size, _)| size);
                let most = match recent {
                    Some(WindowSize::Last(count)) => Some(count.into()),
                    _ => None,
                };
                let kind = ExprKind::Calls { tool, failures: name == "failures", recent };
                (kind, Type::Int(Some(0), most))
            }
        };
        Some(typed(kind, ty, h.span))
    }

    /// Types key arguments: parameters of `tool`, ascending, each with a value of its type.
    pub(super) fn keys(
        &mut self,
        tool: ToolId,
        args: &[Arg],
        scope: &mut Scope,
    ) -> Option<Vec<(u32, Expr)>> {
        let mut keys: Vec<(u32, Expr)> = Vec::new();
        let mut complete = true;
        for arg in args {
            let shorthand = match &arg.value.kind {
                ast::ExprKind::Name(name) => {
                    Some(Ident { node: name.clone(), span: arg.value.span })
                }
                _ => None,
            };
            let Some(name) = arg.name.clone().or(shorthand) else {
                let message = "a key names the parameter it is compared with".to_string();
                let tool = &self.signatures[tool].name;
                self.report(errors::arguments(
                    arg.value.span,
                    message,
                    &format!("{tool}(parameter: value)"),
                ));
                complete = false;
                continue;
            };
            let Some(at) = self.signatures[tool].params.iter().position(|p| p.name == name.node)
            else {
                self.unknown_parameter(tool, &name);
                complete = false;
                continue;
            };
            let ty = self.signatures[tool].params[at].ty.clone();
            let value = self.value(&arg.value, &ty, scope);
            if let Some((_, first)) = keys.iter().find(|(k, _)| *k == at as u32) {
                let first = first.span;
                self.report(errors::said_twice(
                    &format!("the key `{}`", name.node),
                    name.span,
                    first,
                ));
                complete = false;
            }
            keys.push((at as u32, value));
        }
        keys.sort_by_key(|(at, _)| *at);
        complete.then_some(keys)
    }
}

/// Returns the parts of `called(T) since B within D`, in any nesting; `None` if `e` is no such
/// question.
fn take_apart(e: &ast::Expr) -> Option<Result<AskedHistory<'_>, (String, Span, String)>> {
    match &e.kind {
        ast::ExprKind::Call(name, args) if HISTORY.contains(&name.node.as_str()) => {
            Some(Ok(AskedHistory { name, args, since: None, recent: None, span: e.span }))
        }
        ast::ExprKind::Binary(BinaryOp::Within, left, right) => {
            let (text, size) = match &right.kind {
                ast::ExprKind::Duration(text) => {
                    (text, literal::duration(text).map(WindowSize::Within))
                }
                ast::ExprKind::LastCalls(text) => (text, last_calls(text).map(WindowSize::Last)),
                _ => return None,
            };
            let inner = take_apart(left)?;
            Some(inner.and_then(|h| match size {
                Ok(_) if h.recent.is_some() => {
                    Err((text.clone(), right.span, "is a second `within` of one question".into()))
                }
                Ok(size) => {
                    Ok(AskedHistory { recent: Some((size, right.span)), span: e.span, ..h })
                }
                Err(why) => Err((text.clone(), right.span, why)),
            }))
        }
        ast::ExprKind::Binary(BinaryOp::Since, left, right) => {
            let ast::ExprKind::Name(tool) = &right.kind else {
                return None;
            };
            let since = Ident { node: tool.clone(), span: right.span };
            let inner = take_apart(left)?;
            Some(inner.and_then(|h| match h.since {
                Some(_) => {
                    Err((tool.clone(), right.span, "is a second `since` of one question".into()))
                }
                None => Ok(AskedHistory { since: Some(since), span: e.span, ..h }),
            }))
        }
        _ => None,
    }
}

/// The problem with `last N calls` in a place where it has no meaning.
pub(super) fn last_calls_misplaced(span: Span) -> Diagnostic {
    let message =
        "`last N calls` must directly follow `calls(tool) within` or `failures(tool) within`"
            .to_string();
    errors::arguments(span, message, "(failures(tool) within last 10 calls)")
}

/// Returns the number of `last N calls`.
fn last_calls(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (1..=MAX_LAST_CALLS).contains(number));
    number.ok_or_else(|| format!("is not a whole number from 1 to {MAX_LAST_CALLS}"))
}

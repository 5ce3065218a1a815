//! Calls of builtins: their arguments and their types. Questions to the session or the world are in
//! `ask`.

use super::TypeChecker;
use super::scope::Scope;
use super::ty::{fits, join};
use super::typed::{broken, typed};
use crate::errors;
use crate::hir::{Expr, ExprKind, Type};
use guard_plan::builtin::{Builtin, BuiltinRow, MAX_COMMANDS, ParamKind, ReturnKind};
use guard_syntax::ast::{Arg, Ident};
use guard_syntax::span::Span;

impl TypeChecker<'_, '_> {
    pub(super) fn builtin(
        &mut self,
        row: &BuiltinRow,
        name: &Ident,
        args: &[Arg],
        span: Span,
        scope: &mut Scope,
    ) -> Expr {
        // The default folder of a command is the workspace.
        let folder_left_out = row.builtin == Builtin::Commands && args.len() == 1;
        // The words of the prompts are not an argument that a guard writes.
        let written = row.written();
        let asks_what_was_said = row.takes.contains(&ParamKind::Said);
        if asks_what_was_said && !scope.place.asks() {
            return self.misplaced(span, "the user's words", scope);
        }
        let count = written - usize::from(folder_left_out);
        if args.len() != count || args.iter().any(|a| a.name.is_some()) {
            let takes = errors::count(written, "argument");
            let message = match args.iter().find(|a| a.name.is_some()) {
                Some(_) => format!("`{}` takes its arguments without names", name.node),
                None => format!("`{}` takes {takes}, found {}", name.node, args.len()),
            };
            return self.broken(span, errors::arguments(span, message, &signature(row)));
        }
        let mut typed_args: Vec<Option<Expr>> = vec![None; args.len()];
        let mut same: Option<Type> = None;
        for at in self.guides_first(row, args, scope) {
            let arg = &args[at];
            let kind = row.takes[at];
            let found = self.argument(row, arg, kind, same.as_ref(), scope);
            if found.ty == Type::Error {
                return broken(span);
            }
            if let (Some(Type::Int(..)), Type::Decimal(..))
            | (Some(Type::Decimal(..)), Type::Int(..)) = (&same, &found.ty)
            {
                let first = typed_args.iter().flatten().next().map_or(span, |first| first.span);
                let is_int = matches!(same, Some(Type::Int(..)));
                let name = name.node.as_str();
                return self.broken(
                    span,
                    errors::mixed_numbers(span, name, first, arg.value.span, is_int),
                );
            }
            let tested = row.gives == ReturnKind::Bool && scope.missing.accepts(false);
            let ty = if tested { found.ty.required() } else { &found.ty };
            if !accepts(kind, ty, same.as_ref()) {
                let shown = self.show(&found.ty);
                let message = format!("`{}` does not take {shown} here", name.node);
                let is_int = kind == ParamKind::Decimal && matches!(ty, Type::Int(..));
                let report = errors::arguments(arg.value.span, message, &signature(row));
                let report = if is_int {
                    report.help("`decimal(n)` makes a decimal of an int")
                } else {
                    report
                };
                return self.broken(span, report);
            }
            if matches!(kind, ParamKind::Number | ParamKind::Ordered | ParamKind::Elements) {
                same = Some(found.ty.clone());
            }
            typed_args[at] = Some(found);
        }
        let mut typed_args: Vec<Expr> = typed_args.into_iter().flatten().collect();
        if folder_left_out {
            typed_args.push(typed(ExprKind::Workspace, Type::Path, span));
        }
        for kind in &row.takes[written..] {
            typed_args.extend(self.unwritten(*kind, &typed_args, span));
        }
        if matches!(row.builtin, Builtin::StartsWith | Builtin::EndsWith) {
            self.empty_needle(&typed_args[1]);
        }
        let ty = match row.gives {
            ReturnKind::Commands => {
                Type::List(Type::Record(self.simple_command()).into(), Some(MAX_COMMANDS as u64))
            }
            _ => gives(row, &typed_args),
        };
        typed(ExprKind::Call(row.builtin, typed_args), ty, span)
    }

    /// Returns an argument of a builtin that a guard does not write.
    fn unwritten(&self, kind: ParamKind, args: &[Expr], span: Span) -> Option<Expr> {
        Some(match kind {
            ParamKind::Said => typed(ExprKind::Said, Type::string(), span),
            ParamKind::Workspace => typed(ExprKind::Workspace, Type::Path, span),
            ParamKind::Variants => {
                let variants: &[_] = match args.first().map(|arg| &arg.ty) {
                    Some(Type::Enum(id)) => &self.program.enums[*id].variants,
                    _ => &[],
                };
                let name =
                    |name: &String| typed(ExprKind::String(name.clone()), Type::string(), span);
                let names = ExprKind::List(variants.iter().map(name).collect());
                typed(names, Type::List(Type::string().into(), None), span)
            }
            _ => return None,
        })
    }

    /// Returns the order in which the arguments of a builtin are typed. A literal comes after the
    /// argument that determines its type.
    fn guides_first(&self, row: &BuiltinRow, args: &[Arg], scope: &Scope) -> Vec<usize> {
        match (row.takes, args) {
            ([ParamKind::Number | ParamKind::Ordered | ParamKind::Elements, _], [a, b])
                if self.needs_guide(&a.value, scope) && !self.needs_guide(&b.value, scope) =>
            {
                vec![1, 0]
            }
            _ => (0..args.len()).collect(),
        }
    }

    /// Types an argument of a builtin: it has the required kind, or it is an option if a test of a
    /// missing text is allowed.
    fn argument(
        &mut self,
        row: &BuiltinRow,
        arg: &Arg,
        kind: ParamKind,
        same: Option<&Type>,
        scope: &mut Scope,
    ) -> Expr {
        let guide = same.cloned().or_else(|| fixed(kind));
        let found =
            self.operand(scope, |checker, scope| checker.expr(&arg.value, guide.as_ref(), scope));
        let tested = row.gives == ReturnKind::Bool && scope.missing.accepts(false);
        match kind {
            ParamKind::Text | ParamKind::Measurable if *found.ty.required() == Type::Json => found,
            ParamKind::String | ParamKind::Path | ParamKind::Decimal
                if tested && accepts(kind, found.ty.required(), None) =>
            {
                found
            }
            _ => self.present(&arg.value, found, scope),
        }
    }
}

fn fixed(kind: ParamKind) -> Option<Type> {
    match kind {
        ParamKind::String | ParamKind::Text => Some(Type::string()),
        ParamKind::Path => Some(Type::Path),
        ParamKind::Command => Some(Type::Command),
        ParamKind::Int => Some(Type::int()),
        ParamKind::Decimal => Some(Type::decimal()),
        _ => None,
    }
}

/// Returns true if an argument of this kind may have this type.
pub(super) fn accepts(kind: ParamKind, ty: &Type, same: Option<&Type>) -> bool {
    let number = matches!(ty, Type::Int(..) | Type::Decimal(..) | Type::Duration(..));
    let alike = same.is_none_or(|s| std::mem::discriminant(s) == std::mem::discriminant(ty));
    match kind {
        ParamKind::String => matches!(ty, Type::String(_)),
        ParamKind::Path => matches!(ty, Type::Path),
        ParamKind::Command => matches!(ty, Type::Command),
        ParamKind::Int => matches!(ty, Type::Int(..)),
        ParamKind::Decimal => matches!(ty, Type::Decimal(..)),
        ParamKind::Number => number && alike,
        ParamKind::Ordered => (number || matches!(ty, Type::Time(_))) && alike,
        ParamKind::Text => {
            matches!(ty.required(), Type::String(_) | Type::Command | Type::Json)
        }
        ParamKind::Elements => match (ty, same) {
            (Type::List(..) | Type::Set(..), Some(same)) => {
                std::mem::discriminant(same) == std::mem::discriminant(ty)
                    && (fits(ty, same) || fits(same, ty))
            }
            (ty, _) => matches!(ty, Type::List(..) | Type::Set(..)),
        },
        ParamKind::Shown => matches!(
            ty,
            Type::Path | Type::Url | Type::Int(..) | Type::Decimal(..) | Type::Bool | Type::Enum(_)
        ),
        // No argument that a guard writes has this kind.
        ParamKind::Said | ParamKind::Workspace | ParamKind::Variants => false,
        ParamKind::Measurable => {
            let measured = matches!(
                ty,
                Type::String(_) | Type::Command | Type::List(..) | Type::Set(..) | Type::Map(..)
            );
            measured || *ty.required() == Type::Json
        }
    }
}

fn gives(row: &BuiltinRow, args: &[Expr]) -> Type {
    match row.gives {
        ReturnKind::Bool => Type::Bool,
        ReturnKind::Int => {
            let positive = matches!(args.first().map(|a| &a.ty), Some(Type::Decimal(Some(0..), _)));
            let natural = match row.builtin {
                Builtin::Floor | Builtin::Round => positive,
                builtin => builtin == Builtin::Len,
            };
            Type::Int(natural.then_some(0), None)
        }
        ReturnKind::Decimal => match args.first().map(|a| &a.ty) {
            Some(Type::Int(low, _)) => Type::Decimal(low.filter(|l| *l >= 0).map(|_| 0), None),
            _ => Type::decimal(),
        },
        ReturnKind::String => Type::string(),
        ReturnKind::OptionalString => Type::string().optional(),
        ReturnKind::Path => Type::Path,
        ReturnKind::OptionalDecimal => Type::Decimal(None, None).optional(),
        ReturnKind::OptionalPath => Type::Path.optional(),
        ReturnKind::Strings => Type::List(Type::string().into(), None),
        // The checker makes the record.
        ReturnKind::Commands => Type::Error,
        ReturnKind::Same => same_bounds(row.builtin, args),
    }
}

/// Returns the bounds of `min`, `max`, `abs` and `joined`.
fn same_bounds(builtin: Builtin, args: &[Expr]) -> Type {
    let range = |ty: &Type| match ty {
        Type::Int(l, h) | Type::Decimal(l, h) | Type::Duration(l, h) => (*l, *h),
        _ => (None, None),
    };
    let Some(first) = args.first() else {
        return Type::Error;
    };
    if let (Builtin::Joined, Some(second)) = (builtin, args.get(1)) {
        let joint = join(&first.ty, &second.ty);
        let sum = |a: Option<u64>, b: Option<u64>| a?.checked_add(b?);
        return match (joint, &first.ty, &second.ty) {
            (Some(Type::List(element, _)), &Type::List(_, a), &Type::List(_, b)) => {
                Type::List(element, sum(a, b))
            }
            (Some(Type::Set(element, _)), &Type::Set(_, a), &Type::Set(_, b)) => {
                Type::Set(element, sum(a, b))
            }
            _ => first.ty.clone(),
        };
    }
    let a = range(&first.ty);
    let b = args.get(1).map_or((None, None), |b| range(&b.ty));
    let (low, high) = match builtin {
        // A maximum is at least as large as each lower bound that is known.
        Builtin::Max => (a.0.max(b.0), a.1.zip(b.1).map(|(x, y)| x.max(y))),
        Builtin::Min => {
            (a.0.zip(b.0).map(|(x, y)| x.min(y)), [a.1, b.1].into_iter().flatten().min())
        }
        Builtin::Abs => (Some(0), None),
        _ => a,
    };
    match &first.ty {
        Type::Int(..) => Type::Int(low, high),
        Type::Decimal(..) => Type::Decimal(low, high),
        Type::Duration(..) => Type::Duration(low, high),
        other => other.clone(),
    }
}

fn signature(row: &BuiltinRow) -> String {
    let takes: Vec<&str> = row
        .takes
        .iter()
        .map(|kind| match kind {
            ParamKind::String => "string",
            ParamKind::Path => "path",
            ParamKind::Command => "command",
            ParamKind::Int => "int",
            ParamKind::Decimal => "decimal",
            ParamKind::Number => "number",
            ParamKind::Ordered => "number or time",
            ParamKind::Measurable => "string or collection",
            ParamKind::Text => "string or json",
            ParamKind::Elements => "list or set",
            ParamKind::Shown => "path, url, int, decimal, bool or enum",
            ParamKind::Said | ParamKind::Workspace | ParamKind::Variants => "",
        })
        .filter(|kind| !kind.is_empty())
        .collect();
    format!("{}({})", row.name, takes.join(", "))
}

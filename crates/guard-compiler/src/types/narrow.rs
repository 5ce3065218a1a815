//! Flow typing of options: the missing values that a condition excludes.
//!
//! It works on syntax. The key of an expression is its text, with each bound variable replaced by
//! the collection that it ranges over. So `all b in ids: variant[b].available` establishes
//! something about `sum(a in ids: variant[a].price)`.

use super::scope::Scope;
use guard_plan::builtin::Builtin;
use guard_syntax::ast::{Arg, BinaryOp, Expr, ExprKind, Ident, Quantifier, TypeKind, UnaryOp};

/// The slot of a binder over a computed value. Outside its quantifier nothing is known about it.
const OPAQUE: u32 = u32::MAX;

/// Returns the key of a readable place; `None` if it is computed.
pub(crate) fn key(expr: &Expr, scope: &Scope) -> Option<String> {
    if let Some(key) = scope.written_out(expr, key) {
        return key;
    }
    match &expr.kind {
        ExprKind::Name(name) => match scope.local(name) {
            Some(local) if local.symbol.is_none() && local.slot == OPAQUE => None,
            Some(local) => local.symbol.clone().or_else(|| Some(format!("‹{}›{name}", local.slot))),
            None => Some(free(name, scope)),
        },
        ExprKind::Field(record, name) => Some(format!("{}.{}", key(record, scope)?, name.node)),
        ExprKind::Index(collection, at) => {
            Some(format!("{}[{}]", key(collection, scope)?, keys(at, scope)?))
        }
        ExprKind::Binary(op, a, b) if is_arithmetic(*op) => {
            Some(format!("({} {} {})", key(a, scope)?, op.word(), key(b, scope)?))
        }
        ExprKind::String(text) => Some(format!("{text:?}")),
        ExprKind::Number(text) => Some(text.clone()),
        ExprKind::Call(name, args) if name.node == "last" && args.len() == 1 => {
            Some(format!("last({})", key(&args[0].value, scope)?))
        }
        ExprKind::Quantified { op: Quantifier::First, .. } => whole(expr, scope, 0),
        // A function returns the same value for the same arguments.
        ExprKind::Call(name, _) if Builtin::by_name(&name.node).is_some() => whole(expr, scope, 0),
        _ => None,
    }
}

/// Returns the text of a whole expression in which each name is replaced by its meaning; `None` if
/// a name has no meaning that is known elsewhere. `bound` is the number of names that the
/// expression around it binds.
fn whole(expr: &Expr, scope: &Scope, bound: usize) -> Option<String> {
    if let Some(text) = scope.written_out(expr, |e, scope| whole(e, scope, bound)) {
        return text;
    }
    let inner = |e: &Expr| whole(e, scope, bound);
    let all = |parts: &mut dyn Iterator<Item = &Expr>| -> Option<String> {
        let parts: Option<Vec<String>> = parts.map(|e| whole(e, scope, bound)).collect();
        Some(parts?.join(", "))
    };
    let arguments = |args: &[Arg]| -> Option<String> {
        let name = |arg: &Arg| arg.name.as_ref().map_or(String::new(), |n| format!("{}: ", n.node));
        let parts: Option<Vec<String>> =
            args.iter().map(|arg| Some(name(arg) + &inner(&arg.value)?)).collect();
        Some(parts?.join(", "))
    };
    Some(match &expr.kind {
        ExprKind::Name(_) => key(expr, scope)?,
        ExprKind::Bool(truth) => truth.to_string(),
        ExprKind::None => "none".into(),
        ExprKind::Number(text) | ExprKind::Duration(text) => text.clone(),
        ExprKind::LastCalls(number) => format!("last {number} calls"),
        ExprKind::String(text) => format!("{text:?}"),
        ExprKind::Regex(text) => format!("/{text}/"),
        ExprKind::Field(part, name) => format!("{}.{}", inner(part)?, name.node),
        ExprKind::Index(part, at) => format!("{}[{}]", inner(part)?, all(&mut at.iter())?),
        ExprKind::Call(name, args) => format!("{}({})", name.node, arguments(args)?),
        ExprKind::Known(fact, args) => {
            format!("known {}({})", free(&fact.node, scope), arguments(args)?)
        }
        ExprKind::Probe(name) => format!("probe {}", name.node),
        ExprKind::Unary(op, part) => format!("{op:?}({})", inner(part)?),
        ExprKind::Binary(op, a, b) => format!("{op:?}({}, {})", inner(a)?, inner(b)?),
        ExprKind::Is(part, some) => format!("is {some}({})", inner(part)?),
        ExprKind::Else(a, b) => format!("else({}, {})", inner(a)?, inner(b)?),
        ExprKind::If(c, a, b) => format!("if({}, {}, {})", inner(c)?, inner(a)?, inner(b)?),
        ExprKind::List(xs) => format!("[{}]", all(&mut xs.iter())?),
        ExprKind::Set(xs) => format!("{{{}}}", all(&mut xs.iter())?),
        ExprKind::Map(_) | ExprKind::Each(_) => return None,
        ExprKind::Quantified { op, binders, over, body } => {
            let over = inner(over)?;
            let mut inner = scope.clone();
            for (at, binder) in binders.iter().enumerate() {
                let symbol = format!("‹bound {}›", bound + at);
                inner.bind(&binder.node, crate::hir::Type::Error, Some(symbol));
            }
            let body = whole(body, &inner, bound + binders.len())?;
            format!("{op:?} {}({over}: {body})", binders.len())
        }
    })
}

/// Returns the keys of several places, separated by commas.
fn keys<'e>(exprs: impl IntoIterator<Item = &'e Expr>, scope: &Scope) -> Option<String> {
    let keys: Option<Vec<String>> = exprs.into_iter().map(|e| key(e, scope)).collect();
    Some(keys?.join(", "))
}

/// Returns the key of a name that is not bound. Within a define, the name cannot be a parameter of
/// the tool around it.
fn free(name: &str, scope: &Scope) -> String {
    if scope.around.is_some_and(|params| params.iter().any(|param| param.name == name)) {
        format!("::{name}")
    } else {
        name.to_string()
    }
}

/// Returns the key of a binder that ranges over `over`; `None` if `over` has no key.
pub(crate) fn each(over: &Expr, scope: &Scope) -> Option<String> {
    Some(format!("each({})", key(over, scope)?))
}

/// Returns the key of an element of `over` whose key or index a binder stands for.
pub(crate) fn element(over: &Expr, at: &Ident, scope: &Scope) -> Option<String> {
    let at = Expr { kind: ExprKind::Name(at.node.clone()), span: at.span };
    Some(format!("{}[{}]", key(over, scope)?, key(&at, scope)?))
}

/// Establishes everything that has a value whenever `condition` has the value `truth`.
pub(crate) fn establish(condition: &Expr, truth: bool, scope: &mut Scope) {
    let mut keys = Vec::new();
    implied(condition, truth, scope, &mut keys);
    scope.established.append(&mut keys);
}

/// Adds the keys of everything that has a value whenever `condition` has the value `truth`.
pub(crate) fn implied(condition: &Expr, truth: bool, scope: &Scope, out: &mut Vec<String>) {
    let inside = |e: &Expr, scope: &Scope| implied(e, truth, scope, out);
    if scope.written_out(condition, inside).is_some() {
        return;
    }
    match &condition.kind {
        ExprKind::Unary(UnaryOp::Not, operand) => implied(operand, !truth, scope, out),
        ExprKind::Binary(BinaryOp::And, a, b) if truth => both(a, true, b, true, scope, out),
        ExprKind::Binary(BinaryOp::Or, a, b) if !truth => both(a, false, b, false, scope, out),
        ExprKind::Binary(BinaryOp::Implies, a, b) if !truth => both(a, true, b, false, scope, out),
        ExprKind::Is(operand, some) if *some == truth => chain(operand, scope, out),
        ExprKind::Binary(BinaryOp::Ne, a, b) if !truth => {
            chain(a, scope, out);
            chain(b, scope, out);
        }
        ExprKind::Binary(op, a, b) if truth && lifts_to_false(*op) => {
            chain(a, scope, out);
            chain(b, scope, out);
            out.extend(match op {
                BinaryOp::In => entry(a, b, scope),
                BinaryOp::Contains => entry(b, a, scope),
                _ => None,
            });
        }
        ExprKind::Call(name, args) if truth && super::ask::is_test(&name.node) => {
            args.iter().for_each(|arg| chain(&arg.value, scope, out));
        }
        // The reader must be present. The text that is read may be missing.
        ExprKind::Call(name, args) if truth && name.node == "may_read" => {
            args.iter().take(1).for_each(|who| chain(&who.value, scope, out));
        }
        // The key lists the arguments in the order of the columns, which names could change.
        ExprKind::Known(fact, args) if truth && args.iter().all(|arg| arg.name.is_none()) => {
            args.iter().for_each(|arg| chain(&arg.value, scope, out));
            let hidden = scope.is_bound(&fact.node);
            if let Some(at) = keys(args.iter().map(|arg| &arg.value), scope).filter(|_| !hidden) {
                out.push(format!("{}[{at}]", free(&fact.node, scope)));
            }
        }
        ExprKind::Quantified { op, binders, over, body } if holds_for_each(*op, truth) => {
            let mut inner = scope.clone();
            bind_symbols(binders, over, &mut inner);
            implied(body, truth, &inner, out);
        }
        ExprKind::Name(_) | ExprKind::Field(..) | ExprKind::Index(..) if truth => {
            chain(condition, scope, out)
        }
        _ => {}
    }
}

fn both(a: &Expr, of_a: bool, b: &Expr, of_b: bool, scope: &Scope, out: &mut Vec<String>) {
    implied(a, of_a, scope, out);
    implied(b, of_b, scope, out);
}

/// Returns true if the quantifier's value implies the same value for every element.
fn holds_for_each(op: Quantifier, truth: bool) -> bool {
    op == if truth { Quantifier::All } else { Quantifier::Any }
}

/// Returns the key of the entry that is present if a map has a key; `None` if it is not declared as
/// a map.
fn entry(at: &Expr, map: &Expr, scope: &Scope) -> Option<String> {
    let ExprKind::Name(name) = &map.kind else { return None };
    let state = &scope.names.state;
    let declared = state.peek(name).filter(|_| !scope.is_bound(name))?;
    let is_map = matches!(state.items[declared].decl.ty.kind, TypeKind::Map(..));
    is_map.then_some(format!("{}[{}]", free(name, scope), key(at, scope)?))
}

fn lifts_to_false(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, Eq | Lt | Le | Gt | Ge | In | Contains | Matches | Within)
}

fn is_arithmetic(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, Add | Sub | Mul | Div | Rem)
}

/// Collects the place and every place on the path to it.
fn chain(expr: &Expr, scope: &Scope, out: &mut Vec<String>) {
    let inside = |e: &Expr, scope: &Scope| chain(e, scope, out);
    if scope.written_out(expr, inside).is_some() {
        return;
    }
    if let Some(key) = key(expr, scope) {
        out.push(key);
        if let ExprKind::Field(record, _) | ExprKind::Index(record, _) = &expr.kind {
            chain(record, scope, out);
        }
    }
}

/// Binds the names of a quantifier only for their symbols.
fn bind_symbols(binders: &[Ident], over: &Expr, scope: &mut Scope) {
    let sources: Vec<&Expr> = match &over.kind {
        ExprKind::Call(name, args) if name.node == "zip" => args.iter().map(|a| &a.value).collect(),
        _ => vec![over],
    };
    let symbols: Vec<Option<String>> = sources.iter().map(|s| each(s, scope)).collect();
    for (at, binder) in binders.iter().enumerate() {
        let symbol = if symbols.len() == binders.len() { symbols[at].clone() } else { None };
        scope.bind(&binder.node, crate::hir::Type::Error, symbol);
        if let Some(local) = scope.locals.last_mut().filter(|local| local.symbol.is_none()) {
            local.slot = OPAQUE;
        }
    }
}

//! Effects and observations: the writes of calls, and whether they fit. Learning is in `learning`.

use super::TypeChecker;
use super::clauses::place_key;
use super::narrow;
use super::scope::{ExprPlace, MissingMeaning, Scope};
use super::text::text;
use crate::errors;
use crate::hir::{self, Clause, ClauseKind, Expr, RuleMeta, Step, Target, ToolId, Type};
use guard_plan::plan::EffectOp;
use guard_syntax::ast::{self, EffectKind};

impl TypeChecker<'_, '_> {
    /// Checks a statement of an `effect`. With `for`, it applies once to each element.
    pub(super) fn effect(
        &mut self,
        effect: &ast::Effect,
        rule: RuleMeta,
        tool: &mut hir::Tool,
        scope: &mut Scope,
    ) {
        let depth = scope.locals.len();
        let established = scope.established.len();
        let help = "take one collection, a statement each";
        let ranges = self.ranges(&effect.each, ("an effect", help), scope);
        let when = effect.when.as_ref().map(|when| {
            let condition = self.condition(when, scope);
            narrow::establish(when, true, scope);
            condition
        });
        if let Some((target, op, value)) = self.operation(effect, &tool.name, scope) {
            let kind = ClauseKind::Effect { ranges, when, target, op, value };
            tool.clauses.push(Clause { rule, kind });
        }
        scope.locals.truncate(depth);
        scope.established.truncate(established);
    }

    /// Checks the target and the operand of an effect.
    fn operation(
        &mut self,
        effect: &ast::Effect,
        tool: &str,
        scope: &mut Scope,
    ) -> Option<(Target, EffectOp, Option<Expr>)> {
        let (target, ty) = self.target(&effect.target, scope)?;
        self.present_entry(effect, &target, &ty, scope);
        // A call may use up what was agreed to.
        if !matches!(effect.kind, EffectKind::Remove(_) | EffectKind::Delete) {
            self.stated_elsewhere(&effect.target, tool);
        }
        let (op, value) = match &effect.kind {
            EffectKind::Set(value) => (EffectOp::Set, Some(self.value(value, &ty, scope))),
            EffectKind::Add(value) => {
                (EffectOp::Add, self.increment("+=", value, &effect.target, &ty, scope))
            }
            EffectKind::Subtract(value) => {
                (EffectOp::Subtract, self.increment("-=", value, &effect.target, &ty, scope))
            }
            EffectKind::Multiply(value) => {
                (EffectOp::Multiply, self.increment("*=", value, &effect.target, &ty, scope))
            }
            EffectKind::Append(value) => match &ty {
                Type::List(element, _) => {
                    (EffectOp::Append, Some(self.value(value, element, scope)))
                }
                _ => {
                    let help = "`append` extends a list";
                    self.misfit_effect("append … to", &effect.target, &ty, help);
                    return None;
                }
            },
            EffectKind::Insert(value) => match &ty {
                Type::Set(element, _) => {
                    (EffectOp::Insert, Some(self.value(value, element, scope)))
                }
                _ => {
                    let help = "`add` extends a set; numbers take `+=`";
                    self.misfit_effect("add … to", &effect.target, &ty, help);
                    return None;
                }
            },
            EffectKind::Remove(value) => match &ty {
                Type::Set(element, _) | Type::List(element, _) => {
                    (EffectOp::Remove, Some(self.value(value, element, scope)))
                }
                Type::Map(key, ..) => (EffectOp::Remove, Some(self.key(value, *key, scope))),
                _ => {
                    let help =
                        "`remove` takes an element out of a list or set, or an entry out of a map";
                    self.misfit_effect("remove … from", &effect.target, &ty, help);
                    return None;
                }
            },
            EffectKind::Delete => {
                // An index into a list is a number.
                let last = target.path.last();
                let entry = matches!(last, Some(Step::Index(key)) if !matches!(key.ty.required(), Type::Int(..)));
                if !ty.is_option() && !entry {
                    let help = "`delete` empties an option or takes an entry out of a map; `remove x from xs` takes an element out of a list";
                    self.misfit_effect("delete", &effect.target, &ty, help);
                    return None;
                }
                (EffectOp::Delete, None)
            }
        };
        Some((target, op, value))
    }

    /// Requires that the entry exists which is incremented, extended or removed from.
    fn present_entry(&mut self, effect: &ast::Effect, place: &Target, ty: &Type, scope: &Scope) {
        let target = &effect.target;
        let steps = target.path.len();
        let Some(Step::Index(key)) = place.path.last() else { return };
        let creates = matches!(effect.kind, EffectKind::Set(_) | EffectKind::Delete);
        if creates || ty.is_option() || *ty == Type::Error {
            return;
        }
        if place_key(target, steps, scope).is_some_and(|key| scope.establishes(&key)) {
            return;
        }
        let entry = written(target, steps);
        let none = match ty {
            Type::Int(..) => "0",
            Type::Decimal(..) => "0.00",
            Type::Duration(..) => "0s",
            Type::List(..) => "[]",
            Type::Set(..) | Type::Map(..) => "{}",
            _ => "…",
        };
        let form = match &effect.kind {
            EffectKind::Add(e) => Some(format!("{entry} = ({entry} else {none}) + {}", operand(e))),
            EffectKind::Subtract(e) => {
                Some(format!("{entry} = ({entry} else {none}) - {}", operand(e)))
            }
            EffectKind::Multiply(e) => {
                Some(format!("{entry} = ({entry} else {none}) * {}", operand(e)))
            }
            EffectKind::Append(e) => {
                Some(format!("{entry} = joined({entry} else [], [{}])", text(e)))
            }
            EffectKind::Insert(e) => {
                Some(format!("{entry} = joined({entry} else {{}}, {{{}}})", text(e)))
            }
            _ => None,
        };
        // An assignment creates an entry of a map, but not an element of a list.
        let of_each = !effect.each.is_empty();
        let form = form.filter(|_| matches!(key.ty, Type::String(_)) && !of_each);
        self.report(errors::missing_entry(target.span.0, &entry, form.as_deref(), of_each));
    }

    fn misfit_effect(&mut self, op: &str, target: &ast::Target, ty: &Type, help: &str) {
        let declared = self.names.state.peek(&target.var.node);
        let declared = declared.map(|at| self.program.state[at].span).unwrap_or_default();
        let shown = self.show(ty);
        let place = written(target, target.path.len());
        self.report(errors::effect_misfit(target.span.0, op, &place, &shown, declared, help));
    }

    fn increment(
        &mut self,
        op: &str,
        e: &ast::Expr,
        target: &ast::Target,
        ty: &Type,
        scope: &mut Scope,
    ) -> Option<Expr> {
        let wanted = match (op, ty) {
            (_, Type::Error) => Type::Error,
            (_, Type::Int(..)) => Type::int(),
            (_, Type::Decimal(..)) => Type::decimal(),
            ("+=" | "-=", Type::Duration(..) | Type::Time(_)) => Type::duration(),
            ("*=", Type::Duration(..)) => Type::int(),
            _ => {
                let help = match ty {
                    Type::Set(..) => "write `add … to` for a set",
                    Type::List(..) => "write `append … to` for a list",
                    Type::String(_) if op == "+=" => "write `x = x + …` for a text",
                    Type::Option(_) => "write `x = (x else 0) + …`: the value may be missing",
                    _ => "only numbers, durations and times are counted up and down",
                };
                self.misfit_effect(op, target, ty, help);
                return None;
            }
        };
        Some(self.value(e, &wanted, scope))
    }

    /// Returns the place that a target names, and its type. Reports a write to the variable of a
    /// statement, because it would bypass the approval of the statement.
    fn stated_elsewhere(&mut self, target: &ast::Target, tool: &str) {
        let name = &target.var.node;
        let states = self.names.statements.iter().any(|known| known.name.node == *name);
        if states && tool != name {
            self.report(errors::stated_elsewhere(target.var.span, name));
        }
    }

    fn target(&mut self, target: &ast::Target, scope: &mut Scope) -> Option<(Target, Type)> {
        let Some(var) = self.names.state.get(&target.var.node) else {
            if self.names.facts.get(&target.var.node).is_some() {
                self.report(errors::fact_as_target(&target.var.node, target.var.span));
                return None;
            }
            let known = self.names.state.names();
            let d = errors::unknown_name(&target.var.node, target.var.span, known, false);
            self.report(d.label("no such state variable"));
            return None;
        };
        let mut ty = self.state_type(var);
        let mut path = Vec::new();
        for (at, step) in target.path.iter().enumerate() {
            // An entry of a map or list may be missing, although its type is no option.
            if ty.is_option() || at > 0 && matches!(target.path[at - 1], ast::Step::Index(_)) {
                self.established_place(target, at, scope);
            }
            let (step, inner) = self.target_step(step, ty.required(), scope)?;
            path.push(step);
            ty = inner;
        }
        Some((Target { var, path }, ty))
    }

    /// Reports a target whose inner path may be missing. Only the last entry of a target may be
    /// new.
    fn established_place(&mut self, target: &ast::Target, steps: usize, scope: &Scope) {
        let known = place_key(target, steps, scope).is_some_and(|key| scope.establishes(&key));
        if !known {
            let shown = written(target, steps);
            self.report(
                errors::may_be_missing(target.span.0, &format!("`{shown}`"), false)
                    .label("a part of it is written"),
            );
        }
    }

    fn target_step(
        &mut self,
        step: &ast::Step,
        ty: &Type,
        scope: &mut Scope,
    ) -> Option<(Step, Type)> {
        match (step, ty) {
            (_, Type::Error) => None,
            (ast::Step::Field(name), Type::Record(id)) => {
                let (at, field) = self.reported(self.record_field(*id, name))?;
                Some((Step::Field(at as u32), field.ty))
            }
            (ast::Step::Index(at), Type::Map(key, of, _)) => {
                let key = *key;
                let element = (**of).clone();
                Some((Step::Index(self.key(at, key, scope)), element))
            }
            (ast::Step::Index(at), Type::List(of, _)) => {
                let element = (**of).clone();
                Some((Step::Index(self.value(at, &Type::int(), scope)), element))
            }
            (ast::Step::Field(name), other) => {
                self.no_fields(name, other);
                None
            }
            (ast::Step::Index(at), other) => {
                let shown = self.show(other);
                self.report(errors::no_elements(at.span, &shown));
                None
            }
        }
    }

    pub(super) fn settle_clause(
        &mut self,
        at: ToolId,
        clause: &ast::Clause,
        rule: RuleMeta,
        tool: &mut hir::Tool,
        outer: &Scope,
    ) {
        let mut scope = outer.clone();
        scope.place = ExprPlace::Settle;
        // The other clauses read what effects and observations have written.
        scope.by_clauses = match clause.kind {
            ast::ClauseKind::Observe { .. } => scope.after_effects.clone(),
            _ => scope.after_observations.clone(),
        };
        scope.result = Some(self.signatures[at].returns.clone().unwrap_or(Type::Json));
        match &clause.kind {
            ast::ClauseKind::Observe { target, value, on_break } => {
                let words = [("halt", false), ("warn", true)];
                let warn = on_break.as_ref().and_then(|w| self.choice("reaction", w, &words));
                let Some((place, ty)) = self.target(target, &mut scope) else {
                    return;
                };
                self.stated_elsewhere(target, &tool.name);
                scope.decodes = true;
                let value = self.value(value, &ty, &mut scope);
                let warn = warn.unwrap_or(false);
                let kind = ClauseKind::Observe { target: place, value, ty, warn };
                tool.clauses.push(Clause { rule, kind });
            }
            ast::ClauseKind::Reconcile { condition, because } => {
                // A missing value fails the reconciliation.
                scope.missing = MissingMeaning::Refuses(false);
                let kind = ClauseKind::Reconcile {
                    condition: self.condition(condition, &mut scope),
                    text: self.shown(condition, &scope),
                    because: because.as_ref().map(|b| self.message(b, &mut scope)),
                };
                tool.clauses.push(Clause { rule, kind });
            }
            ast::ClauseKind::Private { part, to, each, guard } => {
                let guard = guard.as_ref();
                let kind = self.private(at, (part, each), to.as_ref(), guard, &mut scope);
                tool.clauses.extend(kind.map(|kind| Clause { rule, kind }));
            }
            ast::ClauseKind::Trusted { .. } => {
                if rule.shadow {
                    self.report(errors::shadow_description(clause.span.0));
                }
                let kind = self.endorsement(at, &clause.kind, &mut scope);
                tool.clauses.extend(kind.map(|kind| Clause { rule, kind }));
            }
            ast::ClauseKind::Learn(learn) => {
                if let Some(learn) = self.learn(learn, clause.span.0, &mut scope) {
                    tool.clauses.push(Clause { rule, kind: ClauseKind::Learn(learn) });
                }
            }
            _ => {}
        }
    }
}

/// Returns an operand as text, in parentheses if it has parts.
fn operand(e: &ast::Expr) -> String {
    match &e.kind {
        ast::ExprKind::Binary(..) => format!("({})", text(e)),
        _ => text(e),
    }
}

/// Returns the first `steps` steps of a target, as they are written.
fn written(target: &ast::Target, steps: usize) -> String {
    let mut out = target.var.node.clone();
    for step in &target.path[..steps] {
        match step {
            ast::Step::Field(name) => out = format!("{out}.{}", name.node),
            ast::Step::Index(at) => out = format!("{out}[{}]", text(at)),
        }
    }
    out
}

//! Clauses of tools and policies, applied to the tools that they govern.

use super::governs::{Governing, shortened};
use super::narrow;
use super::policy::Speaking;
use super::scope::{ExprPlace, MissingMeaning, Scope};
use super::text::text;
use super::transforms::CheckedTransform;
use super::trust::endorses;
use super::typed::typed;
use super::{TypeChecker, establish};
use crate::errors;
use crate::hir::{self, Clause, ClauseKind, Expr, ExprKind, LimitId, RuleMeta, ToolId, Type};
use guard_plan::plan::LimitScope;
use guard_syntax::ast;
use guard_syntax::span::Span;
use std::collections::HashMap;
use std::rc::Rc;

/// Returns true if a clause only refuses, so that a property can claim that it never does.
fn is_claim(clause: &ast::ClauseKind) -> bool {
    use ast::ClauseKind as C;
    matches!(
        clause,
        C::Requires { .. } | C::Deny { .. } | C::Limit(_) | C::Approval { .. } | C::Let { .. }
    )
}

impl<'a> TypeChecker<'a, '_> {
    pub(super) fn invariants(&mut self) {
        let names = self.names;
        for entry in &names.invariants.items {
            let mut scope =
                Scope::new(names, ExprPlace::State, &[], MissingMeaning::Refuses(false));
            let condition = self.condition(&entry.decl.condition, &mut scope);
            let because = entry.decl.because.as_ref().map(|b| self.message(b, &mut scope));
            let rule = RuleMeta {
                owner: entry.name.node.clone(),
                doc: entry.docs.join("\n"),
                shadow: entry.decl.mode == ast::InvariantMode::Shadow,
                property: None,
                span: entry.decl.condition.span,
            };
            self.program.invariants.push(hir::Invariant {
                rule,
                monitor: entry.decl.mode == ast::InvariantMode::Monitor,
                proved: entry.decl.mode == ast::InvariantMode::Proved,
                condition,
                text: self.shown(&entry.decl.condition, &scope),
                because,
            });
        }
    }

    /// Fills in the properties, in the order of the source.
    pub(super) fn properties(&mut self) {
        let names = self.names;
        for entry in &names.policies.items {
            let Some(mode) = names.properties.get(entry.name.node.as_str()) else { continue };
            let name = entry.name.node.clone();
            let doc = entry.docs.join("\n");
            let span = entry.name.span;
            self.program.properties.push(hir::Property { name, doc, mode: *mode, span });
        }
    }

    pub(super) fn tools(&mut self) {
        let governing = self.governing();
        let types =
            establish::DeclaredTypes { program: &self.program, signatures: &self.signatures };
        let establishing = establish::by_success(self.names, types);
        let mut limits: HashMap<Span, LimitId> = HashMap::new();
        let names = self.names;
        for (at, entry) in names.tools.items.iter().enumerate() {
            let signature = self.signatures[at].clone();
            let mut tool = hir::Tool {
                name: entry.name.node.clone(),
                wire_name: entry.decl.real_name.as_ref().unwrap_or(entry.name).node.clone(),
                doc: entry.docs.join("\n"),
                params: signature.params.clone(),
                returns: signature.returns.clone(),
                forms: signature.forms,
                trust: signature.trust.clone(),
                span: entry.name.span,
                ..hir::Tool::default()
            };
            let clauses = &governing[at];
            let plain = clauses.iter().map(|g| g.governing);
            let plain: Vec<Governing> = plain.filter(|g| g.property.is_none()).collect();
            let base = establish::by_clauses(clauses, names, &establishing, &signature.params);
            let after = establish::after_writes(&base, &plain, signature.returns.as_ref());
            let after = after.map(Rc::new);
            let mut scope =
                Scope::new(names, ExprPlace::Rule, &signature.params, MissingMeaning::Strict);
            scope.by_clauses = Rc::new(base);
            scope.tool = Some(tool.wire_name.as_str().into());
            [scope.after_effects, scope.after_observations] = after;
            for (nth, governs) in clauses.iter().enumerate() {
                scope.clause = nth;
                scope.lets = governs.lets.clone();
                self.policy = governs.governing.policy.map(|policy| Speaking {
                    policy: policy.name.node.clone(),
                    tool: tool.name.clone(),
                    tool_span: tool.span,
                    governed: governs.governed.clone(),
                });
                self.clause(at, governs.governing, &mut tool, &mut scope, &mut limits);
            }
            self.policy = None;
            self.lets(at, clauses, &mut scope);
            self.unknown_commands(&mut tool, &mut scope);
            self.written_once(&tool, &plain);
            self.program.tools.push(tool);
        }
        self.requirement_cycles();
    }

    fn clause(
        &mut self,
        at: ToolId,
        governing: Governing<'a>,
        tool: &mut hir::Tool,
        scope: &mut Scope,
        limits: &mut HashMap<Span, LimitId>,
    ) {
        let clause = governing.clause;
        if governing.property.is_some() && !is_claim(&clause.kind) {
            return self.report(errors::not_a_claim(clause.span.0));
        }
        if governing.property.is_some() && clause.shadow {
            self.report(errors::shadow_in_property(clause.span.0));
        }
        let rule = RuleMeta {
            owner: governing.policy.map_or(&tool.name, |p| &p.name.node).clone(),
            doc: clause.docs.join("\n"),
            shadow: governing.shadow(),
            property: governing.property,
            span: clause.span.0,
        };
        use ast::ClauseKind as C;
        match &clause.kind {
            C::Requires { all, guard } => {
                let when = guard.as_ref().map(|g| self.guard(g, scope));
                for alternatives in all {
                    let any_of = self.alternatives(alternatives, guard.as_ref(), scope);
                    let span = match (alternatives.first(), alternatives.last()) {
                        (Some(first), Some(last)) if all.len() > 1 => first.span.0.to(last.span.0),
                        _ => rule.span,
                    };
                    let kind = ClauseKind::Requires { any_of, when: when.clone() };
                    tool.clauses.push(Clause { rule: RuleMeta { span, ..rule.clone() }, kind });
                }
            }
            C::Deny { guard, because } => {
                let condition = self.guard(guard, scope);
                let because = because.as_ref().map(|b| self.message(b, scope));
                let text = self.condition_text(guard, scope);
                let kind = ClauseKind::Deny { condition, text, because, replacement: None };
                tool.clauses.push(Clause { rule, kind });
            }
            C::Limit(limit) => self.limit(limit, rule, tool, scope, limits),
            C::Costs { amount, unit, returned } => {
                self.costs((amount, unit, *returned), rule, tool, scope);
            }
            C::Approval { role, within, guard, because } => {
                let when = guard.as_ref().map(|g| self.guard(g, scope));
                let because = because.as_ref().map(|b| self.message(b, scope));
                let within = within.as_ref().and_then(|w| self.duration(w));
                let role = role.node.clone();
                let kind = ClauseKind::Approval { role, within, when, because };
                tool.clauses.push(Clause { rule, kind });
            }
            C::Ready(name) => {
                let probe = self.probe(name, scope);
                if let ExprKind::Probe(id) = probe.kind {
                    if probe.ty != Type::Bool {
                        self.mismatch(name.span, "a probe that answers a bool", &probe.ty);
                    }
                    tool.clauses.push(Clause { rule, kind: ClauseKind::Ready(id) });
                }
            }
            C::Effect(effects) => {
                for effect in effects {
                    let rule = RuleMeta { span: effect.span.0, ..rule.clone() };
                    self.effect(effect, rule, tool, scope);
                }
            }
            C::Observe { .. } | C::Learn(_) | C::Reconcile { .. } | C::Private { .. } => {
                self.settle_clause(at, clause, rule, tool, scope)
            }
            C::Transform { target, path, value, guard, because } => {
                let transform = CheckedTransform { target, path, value, guard: guard.as_ref() };
                self.transform(at, &transform, because.as_ref(), rule, tool, scope);
            }
            C::Trusted { .. } if endorses(&clause.kind) => {
                self.settle_clause(at, clause, rule, tool, scope);
            }
            C::Risk { .. } | C::Prior { .. } => self.nature(governing, rule, tool, scope),
            C::Irreversible | C::Returns(..) | C::Tags(_) => self.description(governing, tool),
            // Its uses are typed where they occur.
            C::Let { .. } => {}
            C::Name(_) | C::Trusted { .. } | C::Untrusted(_) | C::Undecoded(_) => {
                self.description(governing, tool);
            }
        }
    }

    /// Types the condition of a `when` or `unless` that holds a call back if the condition applies.
    pub(super) fn guard(&mut self, guard: &ast::ClauseCondition, scope: &mut Scope) -> Expr {
        let outer = std::mem::replace(&mut scope.missing, MissingMeaning::Refuses(!guard.unless));
        let condition = self.condition(&guard.condition, scope);
        scope.missing = outer;
        negated_if(guard.unless, condition)
    }

    /// Returns the condition of a clause as its author would write it, for reasons.
    pub(super) fn condition_text(&self, guard: &ast::ClauseCondition, scope: &Scope) -> String {
        let word = if guard.unless { "unless" } else { "when" };
        shortened(format!("{word} {}", self.shown(&guard.condition, scope)))
    }

    /// Types a message. The interpolated values may be missing.
    pub(super) fn message(&mut self, template: &ast::Template, scope: &mut Scope) -> hir::Message {
        let outer = std::mem::replace(&mut scope.missing, MissingMeaning::Any);
        let mut parts = Vec::new();
        for part in &template.parts {
            parts.push(match part {
                ast::TemplatePart::Text(text) => hir::Part::Text(text.clone()),
                ast::TemplatePart::Expr(e) => hir::Part::Value(text(e), self.expr(e, None, scope)),
            });
        }
        scope.missing = outer;
        hir::Message { parts }
    }

    fn costs(
        &mut self,
        (amount, unit, returned): (&ast::Expr, &ast::Ident, bool),
        rule: RuleMeta,
        tool: &mut hir::Tool,
        scope: &mut Scope,
    ) {
        let value = self.value(amount, &Type::decimal(), scope);
        if let Type::Decimal(low, _) = value.ty
            && low.is_none_or(|l| l < 0)
        {
            self.report(errors::negative_cost(amount.span, &text(amount)));
        }
        if let Some(unit) = self.unit(unit) {
            let kind = ClauseKind::Costs { unit, amount: value, returned };
            tool.clauses.push(Clause { rule, kind });
        }
    }

    fn limit(
        &mut self,
        limit: &ast::Limit,
        rule: RuleMeta,
        tool: &mut hir::Tool,
        scope: &mut Scope,
        limits: &mut HashMap<Span, LimitId>,
    ) {
        let by = limit.by.as_ref().map(|by| {
            let found = self.expr(by, None, scope);
            let found = self.present(by, found, scope);
            if matches!(
                found.ty,
                Type::Json | Type::List(..) | Type::Set(..) | Type::Map(..) | Type::Record(_)
            ) {
                self.mismatch(by.span, "a simple value to count by", &found.ty);
            }
            found
        });
        let scope = match &limit.scope {
            ast::LimitScope::Window(window) => {
                match self.lasting(window, "the window of a limit") {
                    Some(ms) => LimitScope::Window(ms),
                    None => return,
                }
            }
            ast::LimitScope::Session => LimitScope::Session,
            ast::LimitScope::InFlight => LimitScope::InFlight,
            ast::LimitScope::Identical => LimitScope::Identical,
        };
        let whole = |text: &str| text.parse::<u32>().map_err(|_| "is not a whole number of calls");
        let Some(count) = self.literal(&limit.count, whole) else { return };
        if limit.success && scope == LimitScope::InFlight {
            return self.report(errors::success_in_flight(limit.count.span));
        }
        if let (Some(role), LimitScope::InFlight) = (&limit.ask, scope) {
            return self.report(errors::ask_in_flight(role.span, &role.node));
        }
        if count == 0 {
            return self.report(errors::limit_of_nothing(limit.count.span));
        }
        let shared = !matches!(scope, LimitScope::Identical);
        let next = self.program.limits.len();
        let id = if shared { *limits.entry(rule.span).or_insert(next) } else { next };
        if id == next {
            self.program.limits.push(hir::Limit {
                rule: rule.clone(),
                count,
                success: limit.success,
                scope,
                keyed: by.is_some(),
                ask: limit.ask.as_ref().map(|role| role.node.clone()),
            });
        }
        tool.clauses.push(Clause { rule, kind: ClauseKind::Limit { limit: id, by } });
    }

    /// Checks that a tool writes each place at most once, including the writes of policies.
    /// Different fields of one entry are different places, and entries with different keys may be.
    fn written_once(&mut self, tool: &hir::Tool, clauses: &[Governing]) {
        // Each target, and true if its keys are compared with those of the others when the call is
        // judged.
        let mut effects: Vec<(&ast::Target, bool)> = Vec::new();
        let mut observes: Vec<(&ast::Target, bool)> = Vec::new();
        self.transformed_once(tool, clauses);
        for governing in clauses {
            match &governing.clause.kind {
                ast::ClauseKind::Effect(list) => {
                    effects.extend(list.iter().map(|e| (&e.target, e.each.is_empty())));
                }
                ast::ClauseKind::Observe { target, .. } => observes.push((target, false)),
                _ => {}
            }
        }
        for targets in [effects, observes] {
            let mut seen: HashMap<&str, Vec<(&ast::Target, bool)>> = HashMap::new();
            for (target, compared) in targets {
                let before = seen.entry(&target.var.node).or_default();
                let overlaps = |(first, also): &&(&ast::Target, bool)| {
                    overlap(first, target, compared && *also)
                };
                if let Some((first, _)) = before.iter().find(overlaps) {
                    let second = target.span.0;
                    let first = first.span.0;
                    self.report(errors::written_twice(&target.var.node, second, first, &tool.name));
                }
                before.push((target, compared));
            }
        }
    }
}

/// Returns `not e` if `negate`, otherwise `e`.
pub(crate) fn negated_if(negate: bool, e: Expr) -> Expr {
    if !negate {
        return e;
    }
    let span = e.span;
    typed(ExprKind::Not(Box::new(e)), Type::Bool, span)
}

/// Returns true if two targets write the same place, or may do so if keys are not compared when the
/// call is judged.
fn overlap(a: &ast::Target, b: &ast::Target, compared: bool) -> bool {
    for (x, y) in a.path.iter().zip(&b.path) {
        match (x, y) {
            (ast::Step::Field(x), ast::Step::Field(y)) if x.node != y.node => return false,
            (ast::Step::Index(x), ast::Step::Index(y)) if x != y => return !compared,
            _ => {}
        }
    }
    true
}

/// Returns the key of flow typing of the first `steps` steps of a target.
pub(crate) fn place_key(target: &ast::Target, steps: usize, scope: &Scope) -> Option<String> {
    // Knowledge about a parameter that hides the variable does not apply to the variable.
    if scope.is_bound(&target.var.node) {
        return None;
    }
    let mut key = target.var.node.clone();
    for step in &target.path[..steps] {
        match step {
            ast::Step::Field(name) => key = format!("{key}.{}", name.node),
            ast::Step::Index(at) => key = format!("{key}[{}]", narrow::key(at, scope)?),
        }
    }
    Some(key)
}

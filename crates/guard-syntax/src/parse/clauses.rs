//! The clauses of tools and policies.

use super::build::TreeBuilder;
use super::grammar::{ChildNodes, Rule, SyntaxNode};
use crate::ast::{
    Clause, ClauseCondition, ClauseKind, Effect, EffectKind, Expr, Ident, Learn, Limit, LimitScope,
    Literal, PartPath, Requirement, ResultStep, Step, Target, Template,
};

impl TreeBuilder<'_> {
    /// Parses the clauses of an optional `{ … }`.
    pub fn take_clauses(&mut self, parts: &mut ChildNodes) -> Option<Vec<Clause>> {
        match parts.accept(Rule::clauses) {
            Some(node) => ChildNodes::new(node).map(|clause| self.clause(clause)).collect(),
            None => Some(Vec::new()),
        }
    }

    pub fn clause(&mut self, node: SyntaxNode) -> Option<Clause> {
        let docs = self.docs(&node);
        let span = self.span_eq(&node);
        let mut parts = ChildNodes::new(node);
        let shadow = parts.has(Rule::shadow);
        let kind = self.clause_kind(parts.next()?)?;
        Some(Clause { docs, shadow, kind, span })
    }

    /// Parses a clause without `shadow`.
    pub fn clause_kind(&mut self, node: SyntaxNode) -> Option<ClauseKind> {
        let rule = node.as_rule();
        let mut parts = ChildNodes::new(node);
        Some(match rule {
            Rule::requires => self.requires(parts)?,
            Rule::deny => {
                let guard = self.take_guard(&mut parts)?;
                ClauseKind::Deny { guard, because: self.take_because(&mut parts) }
            }
            Rule::limit => ClauseKind::Limit(self.limit(parts)?),
            Rule::costs => {
                let amount = self.take_expr(&mut parts)?;
                let unit = self.name(&mut parts)?;
                ClauseKind::Costs { amount, unit, returned: parts.has(Rule::returned) }
            }
            Rule::risk => {
                let level = self.name(&mut parts)?;
                ClauseKind::Risk { level, guard: self.take_guard(&mut parts) }
            }
            Rule::irreversible => ClauseKind::Irreversible,
            Rule::approval => {
                let role = self.undeclared(&mut parts)?;
                let within = self.take_within(&mut parts);
                let guard = self.take_guard(&mut parts);
                ClauseKind::Approval { role, within, guard, because: self.take_because(&mut parts) }
            }
            Rule::ready => ClauseKind::Ready(self.name(&mut parts)?),
            Rule::effect => {
                ClauseKind::Effect(parts.map(|s| self.statement(s)).collect::<Option<_>>()?)
            }
            Rule::observe => self.observe(parts)?,
            Rule::learn => ClauseKind::Learn(self.learn(parts)?),
            Rule::reconcile => {
                let condition = self.take_expr(&mut parts)?;
                ClauseKind::Reconcile { condition, because: self.take_because(&mut parts) }
            }
            Rule::transform => self.transform(parts)?,
            Rule::private => self.private(parts)?,
            Rule::let_clause => {
                let name = self.name(&mut parts)?;
                ClauseKind::Let { name, value: self.take_expr(&mut parts)? }
            }
            Rule::prior => {
                let alpha = self.take_expr(&mut parts)?;
                ClauseKind::Prior { alpha, beta: self.take_expr(&mut parts)? }
            }
            Rule::returns => {
                ClauseKind::Returns(self.take_type(&mut parts)?, self.take_forms(&mut parts))
            }
            Rule::tags => {
                ClauseKind::Tags(std::iter::from_fn(|| self.undeclared(&mut parts)).collect())
            }
            Rule::display_name => ClauseKind::Name(self.take_string(&mut parts)?),
            Rule::undecoded => ClauseKind::Undecoded(self.name(&mut parts)?),
            Rule::trusted => self.trusted(parts)?,
            _ => ClauseKind::Untrusted(self.names(&mut parts)),
        })
    }

    /// Parses `when e` or `unless e`.
    pub fn take_guard(&mut self, parts: &mut ChildNodes) -> Option<ClauseCondition> {
        let mut inner = parts.enter(Rule::guard)?;
        let unless = inner.has(Rule::unless_word);
        Some(ClauseCondition { unless, condition: self.take_expr(&mut inner)? })
    }

    pub fn take_because(&mut self, parts: &mut ChildNodes) -> Option<Template> {
        self.take_message(&mut parts.enter(Rule::because)?)
    }

    pub fn take_within(&mut self, parts: &mut ChildNodes) -> Option<Literal> {
        self.take_literal(&mut parts.enter(Rule::within)?)
    }

    fn requires(&mut self, mut parts: ChildNodes) -> Option<ClauseKind> {
        let mut all = Vec::new();
        while let Some(alternatives) = parts.enter(Rule::alternatives) {
            all.push(alternatives.map(|r| self.requirement(r)).collect::<Option<_>>()?);
        }
        Some(ClauseKind::Requires { all, guard: self.take_guard(&mut parts) })
    }

    fn requirement(&mut self, node: SyntaxNode) -> Option<Requirement> {
        let span = self.span_eq(&node);
        let mut parts = ChildNodes::new(node);
        let latest = parts.has(Rule::latest);
        let tool = self.name(&mut parts)?;
        let keys = self.take_args(&mut parts).unwrap_or_default();
        let since = self.optional(&mut parts, Rule::since, Self::name)?;
        let within = self.take_within(&mut parts);
        Some(Requirement { latest, tool, keys, since, within, span })
    }

    fn limit(&mut self, mut parts: ChildNodes) -> Option<Limit> {
        let count = self.take_literal(&mut parts)?;
        let success = parts.has(Rule::success);
        let scope = parts.enter(Rule::limit_scope)?.next()?;
        let scope = match scope.as_rule() {
            Rule::per_session => LimitScope::Session,
            Rule::per_window => LimitScope::Window(self.take_literal(&mut ChildNodes::new(scope))?),
            Rule::in_flight => LimitScope::InFlight,
            _ => LimitScope::Identical,
        };
        let by = self.optional(&mut parts, Rule::by, |this, inner| this.expr(inner.next()?))?;
        let ask = self.optional(&mut parts, Rule::else_ask, Self::undeclared)?;
        Some(Limit { count, success, scope, by, ask })
    }

    pub fn statement(&mut self, node: SyntaxNode) -> Option<Effect> {
        let span = self.span_eq(&node);
        let mut whole = ChildNodes::new(node);
        let node = whole.next()?;
        let rule = node.as_rule();
        let mut parts = ChildNodes::new(node);
        let (kind, target) = match rule {
            Rule::assign => {
                let target = self.take_target(&mut parts)?;
                let op = parts.next()?;
                let value = self.take_expr(&mut parts)?;
                let kind = match op.as_str() {
                    "+=" => EffectKind::Add(value),
                    "-=" => EffectKind::Subtract(value),
                    "*=" => EffectKind::Multiply(value),
                    _ => EffectKind::Set(value),
                };
                (kind, target)
            }
            Rule::delete => (EffectKind::Delete, self.take_target(&mut parts)?),
            _ => {
                let value = self.take_expr(&mut parts)?;
                let kind = match rule {
                    Rule::append => EffectKind::Append(value),
                    Rule::insert => EffectKind::Insert(value),
                    _ => EffectKind::Remove(value),
                };
                (kind, self.take_target(&mut parts)?)
            }
        };
        let each = self.take_each(&mut whole)?;
        let when = self.take_each_when(&mut whole)?;
        Some(Effect { kind, target, each, when, span })
    }

    fn take_target(&mut self, parts: &mut ChildNodes) -> Option<Target> {
        let node = parts.accept(Rule::target)?;
        let span = self.span_eq(&node);
        let mut inner = ChildNodes::new(node);
        let var = self.name(&mut inner)?;
        let mut path = Vec::new();
        for step in inner {
            let is_field = step.as_rule() == Rule::access;
            let mut parts = ChildNodes::new(step);
            path.push(if is_field {
                Step::Field(self.name(&mut parts)?)
            } else {
                Step::Index(self.take_expr(&mut parts)?)
            });
        }
        Some(Target { var, path, span })
    }

    fn observe(&mut self, mut parts: ChildNodes) -> Option<ClauseKind> {
        let target = self.take_target(&mut parts)?;
        let value = self.take_expr(&mut parts)?;
        let on_break = parts.accept(Rule::on_break).map(|node| self.ident(&node));
        Some(ClauseKind::Observe { target, value, on_break })
    }

    fn transform(&mut self, mut parts: ChildNodes) -> Option<ClauseKind> {
        let target = self.name(&mut parts)?;
        let mut path = Vec::new();
        while let Some(mut step) = parts.enter(Rule::access) {
            path.push(self.name(&mut step)?);
        }
        let value = self.take_expr(&mut parts)?;
        let guard = self.take_guard(&mut parts);
        let because = self.take_because(&mut parts);
        Some(ClauseKind::Transform { target, path, value, guard, because })
    }

    fn private(&mut self, mut parts: ChildNodes) -> Option<ClauseKind> {
        let part = self.result_part(parts.accept(Rule::part)?)?;
        let to = self.optional(&mut parts, Rule::readers, Self::take_expr)?;
        let each = self.take_each(&mut parts)?;
        Some(ClauseKind::Private { part, to, each, guard: self.take_guard(&mut parts) })
    }

    fn trusted(&mut self, mut parts: ChildNodes) -> Option<ClauseKind> {
        let mut extractor = None;
        let part = if let Some(mut inner) = parts.enter(Rule::extracted) {
            extractor = Some(self.name(&mut inner)?);
            inner.accept(Rule::part)
        } else {
            parts.accept(Rule::part)
        };
        let part = match part {
            Some(node) => Some(self.result_part(node)?),
            None => None,
        };
        let each = self.take_each(&mut parts)?;
        Some(ClauseKind::Trusted { extractor, part, each, guard: self.take_guard(&mut parts) })
    }

    fn result_part(&mut self, node: SyntaxNode) -> Option<PartPath> {
        let mut parts = ChildNodes::new(node);
        let name = self.name(&mut parts)?;
        let mut steps = Vec::new();
        for step in parts {
            steps.push(match step.as_rule() {
                Rule::access => ResultStep::Field(self.name(&mut ChildNodes::new(step))?),
                _ => ResultStep::Elements(self.span_eq(&step)),
            });
        }
        Some(PartPath { of: name, steps })
    }

    fn take_each(&mut self, parts: &mut ChildNodes) -> Option<Vec<(Vec<Ident>, Expr)>> {
        let mut each = Vec::new();
        while let Some(mut inner) = parts.enter(Rule::each) {
            let binders = self.binders(&mut inner)?;
            each.push((binders, self.take_expr(&mut inner)?));
        }
        Some(each)
    }

    pub fn learn(&mut self, mut parts: ChildNodes) -> Option<Learn> {
        let fact = self.name(&mut parts)?;
        let args = self.take_args(&mut parts)?;
        let each = self.take_each(&mut parts)?;
        let when = self.take_each_when(&mut parts)?;
        Some(Learn { fact, args, each, when })
    }

    /// Parses the condition on elements; the inner value is `None` if there is none.
    fn take_each_when(&mut self, parts: &mut ChildNodes) -> Option<Option<Expr>> {
        self.optional(parts, Rule::each_when, Self::take_expr)
    }
}

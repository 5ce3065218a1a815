//! Tools: their clauses by kind, each kind sorted by content.

use super::{Lowering, expr, lessons};
use crate::hir::{self, Clause, ClauseKind, Field};
use guard_plan::plan::{self, RuleMeta, Tool};

impl Lowering<'_> {
    /// Returns the plan of a tool, without conflicts and costs, which need the whole plan.
    pub(super) fn tool(&self, declared: hir::ToolId) -> Tool {
        let tool = &self.program.tools[declared];
        let mut tags = tool.tags.clone();
        tags.sort();
        tags.dedup();
        let mut out = Tool {
            name: tool.name.clone(),
            wire_name: tool.wire_name.clone(),
            title: tool.title.clone(),
            doc: tool.doc.clone(),
            tags,
            params: tool.params.iter().map(|p| self.field(p)).collect(),
            returns: tool.returns.as_ref().map(|ty| self.tables.ty(ty)),
            forms: Some(tool.forms).filter(|forms| !forms.is_own()),
            undecoded: tool.undecoded,
            trust: tool.trust.clone(),
            served: tool.served.map(|served| self.served(served)),
            states: tool.states,
            risk: tool.risk,
            irreversible: tool.irreversible,
            span: self.span(tool.span),
            keeps_args: self.tables.keeps_args.contains(&declared),
            keeps_result: self.tables.keeps_result.contains(&declared),
            ..Tool::default()
        };
        for clause in &tool.clauses {
            self.clause(clause, &tool.params, &mut out);
        }
        self.memories(declared, &mut out);
        sort(&mut out);
        let lessons = tool.clauses.iter().filter_map(Clause::lesson);
        let order = lessons::order(self.program, Some(tool), lessons);
        // The positions count the lessons in the order of the clauses, in which they still are.
        out.learns = order.into_iter().map(|at| out.learns[at].clone()).collect();
        out
    }

    pub(super) fn field(&self, field: &Field) -> plan::Field {
        plan::Field {
            name: field.wire.clone(),
            ty: self.tables.ty(&field.ty),
            secret: field.secret,
            doc: field.doc.clone(),
        }
    }

    fn memories(&self, declared: hir::ToolId, out: &mut Tool) {
        let id = self.tables.tools.id(declared);
        out.indexes = rows_of(&self.tables.indexes, |index| index.tool, id);
        out.windows = rows_of(&self.tables.windows, |window| window.tool, id);
    }

    fn replacement(&self, replacement: &hir::Replacement, params: &[Field]) -> plan::Replacement {
        let value = self.show(&params[replacement.param as usize].wire, &replacement.value, params);
        plan::Replacement { param: replacement.param, value, text: replacement.text.clone() }
    }

    fn clause(&self, clause: &Clause, params: &[Field], out: &mut Tool) {
        let rule = self.rule(&clause.rule);
        use ClauseKind as C;
        match &clause.kind {
            C::Requires { any_of, when } => out.requires.push(plan::Requires {
                rule,
                any_of: any_of.iter().map(|r| self.requirement(r)).collect(),
                when: self.optional(when),
            }),
            C::Deny { condition, text, because, replacement } => out.denies.push(plan::Deny {
                rule,
                condition: self.expr(condition),
                text: text.clone(),
                because: because.as_ref().map(|b| self.message(b, params)),
                shows: self.shows(condition, params),
                replacement: replacement.as_ref().map(|r| self.replacement(r, params)),
            }),
            C::Limit { limit, by } => out.limits.push(plan::LimitUse {
                limit: self.tables.limits.id(*limit),
                by: self.optional(by),
                by_type: by.as_ref().map(|b| self.tables.shown_ty(&b.ty)),
            }),
            C::Costs { unit, amount, returned } => out.costs.push(plan::Cost {
                rule,
                unit: self.tables.units.id(*unit),
                amount: self.expr(amount),
                returned: *returned,
            }),
            C::Risk { level, when, text } => out.risks.push(plan::ConditionalRisk {
                rule,
                level: *level,
                when: self.expr(when),
                text: text.clone(),
            }),
            C::Prior { alpha, beta } => {
                out.prior = Some(plan::Prior { alpha: self.expr(alpha), beta: self.expr(beta) });
            }
            C::Approval { role, within, when, because } => out.approvals.push(plan::Approval {
                rule,
                role: role.clone(),
                within: *within,
                when: self.optional(when),
                because: because.as_ref().map(|b| self.message(b, params)),
                shows: when.iter().flat_map(|when| self.shows(when, params)).collect(),
            }),
            C::Ready(probe) => {
                out.ready.push(plan::Ready { rule, probe: self.tables.probes.id(*probe) })
            }
            C::Effect { ranges, when, target, op, value } => out.effects.push(plan::Effect {
                rule,
                ranges: self.ranges(ranges),
                when: self.optional(when),
                target: self.target(target),
                op: *op,
                value: self.optional(value),
            }),
            C::Observe { target, value, ty, warn } => out.observes.push(plan::Observe {
                rule,
                target: self.target(target),
                value: self.expr(value),
                ty: self.tables.ty(ty),
                warn: *warn,
            }),
            C::Learn(learn) => out.learns.push(self.learn(rule, learn)),
            C::Transform { path, value, when } => out.transforms.push(plan::Transform {
                rule,
                path: path.clone(),
                value: self.expr(value),
                ty: self.tables.shown_ty(&value.ty),
                when: self.optional(when),
            }),
            C::Private { part, to, when } => out.privates.push(plan::PrivatePart {
                rule,
                part: self.part(part),
                to: self.optional(to),
                secret: to.as_ref().is_some_and(|to| expr::is_secret(self.program, to, params)),
                when: self.optional(when),
            }),
            C::Endorse { part, extractor, when } => out.endorsements.push(plan::Endorsement {
                rule,
                part: self.part(part),
                extractor: *extractor,
                when: self.optional(when),
            }),
            C::Reconcile { condition, text, because } => out.reconciles.push(plan::Reconcile {
                rule,
                condition: self.expr(condition),
                text: text.clone(),
                because: because.as_ref().map(|b| self.message(b, params)),
                shows: self.shows(condition, params),
            }),
        }
    }

    pub(super) fn learn(&self, rule: RuleMeta, learn: &hir::Learn) -> plan::Learn {
        plan::Learn {
            rule,
            fact: self.tables.facts.id(learn.fact),
            ranges: self.ranges(&learn.ranges),
            when: self.optional(&learn.when),
            row: learn.row.iter().map(|e| self.expr(e)).collect(),
        }
    }

    fn part(&self, part: &hir::SelectedPart) -> plan::ResultPart {
        plan::ResultPart { path: part.path.clone(), ranges: self.ranges(&part.ranges) }
    }

    fn ranges(&self, ranges: &[hir::Range]) -> Vec<plan::Range> {
        let range = |range: &hir::Range| plan::Range {
            over: self.expr(&range.over),
            binders: range.binders.clone(),
        };
        ranges.iter().map(range).collect()
    }

    fn requirement(&self, requirement: &hir::Requirement) -> plan::Requirement {
        let key = (!requirement.key.is_empty()).then(|| plan::Key {
            index: self.tables.index(requirement.tool, &requirement.key),
            values: requirement.key.iter().map(|(_, e)| self.expr(e)).collect(),
        });
        plan::Requirement {
            latest: requirement.latest,
            tool: self.tables.tools.id(requirement.tool),
            key,
            since: requirement.since.map(|s| self.tables.tools.id(s)),
            within: requirement.within,
        }
    }

    fn target(&self, target: &hir::Target) -> plan::Target {
        let step = |step: &hir::Step| match step {
            hir::Step::Field(at) => plan::Step::Field(*at),
            hir::Step::Index(at) => plan::Step::Index(self.expr(at)),
        };
        plan::Target {
            var: self.tables.state.id(target.var),
            path: target.path.iter().map(step).collect(),
        }
    }
}

/// Returns the positions of the rows of a tool in a table that is sorted by tool.
fn rows_of<T>(table: &[T], tool: fn(&T) -> u32, id: u32) -> Vec<u32> {
    let first = table.partition_point(|row| tool(row) < id);
    let end = table.partition_point(|row| tool(row) <= id);
    (first as u32..end as u32).collect()
}

/// Visits every rule of a tool, in the order of the span numbers.
pub(super) fn rules(tool: &mut Tool) -> impl Iterator<Item = &mut RuleMeta> {
    let requires = tool.requires.iter_mut().map(|r| &mut r.rule);
    let denies = tool.denies.iter_mut().map(|r| &mut r.rule);
    let costs = tool.costs.iter_mut().map(|r| &mut r.rule);
    let effects = tool.effects.iter_mut().map(|r| &mut r.rule);
    let risks = tool.risks.iter_mut().map(|r| &mut r.rule);
    let approvals = tool.approvals.iter_mut().map(|r| &mut r.rule);
    let ready = tool.ready.iter_mut().map(|r| &mut r.rule);
    let observes = tool.observes.iter_mut().map(|r| &mut r.rule);
    let learns = tool.learns.iter_mut().map(|r| &mut r.rule);
    let reconciles = tool.reconciles.iter_mut().map(|r| &mut r.rule);
    let transforms = tool.transforms.iter_mut().map(|r| &mut r.rule);
    let privates = tool.privates.iter_mut().map(|r| &mut r.rule);
    let endorsements = tool.endorsements.iter_mut().map(|r| &mut r.rule);
    let first = requires.chain(denies).chain(costs).chain(effects).chain(risks).chain(approvals);
    first
        .chain(ready)
        .chain(observes)
        .chain(learns)
        .chain(reconciles)
        .chain(transforms)
        .chain(privates)
        .chain(endorsements)
}

/// Sorts the rules of each kind except for lessons by content, not by position.
fn sort(tool: &mut Tool) {
    tool.requires.iter_mut().for_each(|r| r.any_of.sort_by_cached_key(|a| format!("{a:?}")));
    by_content(&mut tool.requires, |r| &mut r.rule);
    by_content(&mut tool.denies, |r| &mut r.rule);
    by_content(&mut tool.costs, |r| &mut r.rule);
    by_content(&mut tool.effects, |r| &mut r.rule);
    by_content(&mut tool.risks, |r| &mut r.rule);
    by_content(&mut tool.approvals, |r| &mut r.rule);
    by_content(&mut tool.ready, |r| &mut r.rule);
    by_content(&mut tool.observes, |r| &mut r.rule);
    by_content(&mut tool.reconciles, |r| &mut r.rule);
    by_content(&mut tool.transforms, |r| &mut r.rule);
    by_content(&mut tool.privates, |r| &mut r.rule);
    by_content(&mut tool.endorsements, |r| &mut r.rule);
    tool.limits.sort_by_cached_key(|l| format!("{l:?}"));
}

/// Sorts by everything except for the span. The span only orders equal rules.
pub(super) fn by_content<T: std::fmt::Debug>(
    rules: &mut Vec<T>,
    meta: fn(&mut T) -> &mut RuleMeta,
) {
    if rules.len() < 2 {
        return;
    }
    let mut keyed: Vec<(String, u32, T)> = rules
        .drain(..)
        .map(|mut rule| {
            let span = std::mem::take(&mut meta(&mut rule).span);
            (format!("{rule:?}"), span, rule)
        })
        .collect();
    keyed.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    rules.extend(keyed.into_iter().map(|(_, span, mut rule)| {
        meta(&mut rule).span = span;
        rule
    }));
}

//! Lowering: from the checked program to the plan. It is total: every checked program has a plan.
//!
//! The order of the plan is independent of the order of declarations. So the same guard with
//! shuffled declarations has the same plan, byte for byte. Source positions are stored next to the
//! plan. `optimize` makes decisions faster.

mod collect;
mod conflicts;
mod contract;
mod cost;
mod expr;
pub(crate) mod lessons;
mod session;
mod tools;
mod visit;

use crate::hir::{self, Program};
use crate::scenario::{Scenario, StepKind};
use crate::sources::SourceFile;
pub(crate) use collect::{Tables, plain};
pub(crate) use conflicts::waits_for;
pub(crate) use expr::is_secret;
use guard_plan::plan::{self, Plan, RuleMeta, SourceSpan, Sources, SpanId};
use guard_syntax::span::Span;
use std::cell::RefCell;
pub(crate) use visit::{clause_exprs, each_expr};

pub(crate) use cost::{CostliestRule, MAX_STEPS, costliest, fill as count_steps};

/// Returns the plan of a program, and the positions of its rules.
pub(crate) fn lower(program: &Program, files: &[SourceFile]) -> (Plan, Sources) {
    let tables = Tables::collect(program);
    let lowering = Lowering { program, tables, spans: RefCell::default() };
    let mut plan = lowering.plan();
    conflicts::fill(program, &lowering.tables, &mut plan);
    cost::fill(&mut plan);
    let sources = lowering.number_spans(&mut plan, files);
    (plan, sources)
}

/// Fills in the conditions of the `expect` steps of the scenarios, in order.
pub(crate) fn lower_expectations(
    program: &Program,
    conditions: &[hir::Expr],
    scenarios: &mut [Scenario],
) {
    let tables = Tables::collect(program);
    let mut conditions = conditions.iter();
    for step in scenarios.iter_mut().flat_map(|s| &mut s.steps) {
        if let StepKind::Expect { condition, shows } = &mut step.kind
            && let Some(expectation) = conditions.next()
        {
            *condition = expr::flatten(&tables, expectation);
            *shows = read_variables(&tables, expectation);
        }
    }
}

/// Returns the state variables that an expression reads, to show their values.
fn read_variables(tables: &Tables, e: &hir::Expr) -> Vec<(String, plan::Expr, plan::TypeId)> {
    let mut shown: Vec<(String, plan::Expr, plan::TypeId)> = Vec::new();
    e.walk(&mut |part| {
        if let hir::ExprKind::State(var) = part.kind {
            let name = tables.program_state_name(var);
            if !shown.iter().any(|(known, ..)| *known == name) {
                shown.push((name, expr::flatten(tables, part), tables.ty(&part.ty)));
            }
        }
    });
    shown
}

struct Lowering<'p> {
    program: &'p Program,
    tables: Tables<'p>,
    /// Spans by provisional number, in order of first use.
    spans: RefCell<Vec<Span>>,
}

impl Lowering<'_> {
    fn plan(&self) -> Plan {
        let p = self.program;
        let t = &self.tables;
        let mut feedback: Vec<&hir::Feedback> = p.feedback.iter().collect();
        feedback.sort_by_key(|provider| &provider.name);
        let mut goals: Vec<&hir::Goal> = p.goals.iter().collect();
        goals.sort_by_key(|goal| &goal.name);
        Plan {
            edition: p.edition,
            guard: p.guard.clone(),
            shadow: p.shadow,
            default_allow: p.default_allow,
            deadline: p.deadline,
            types: t.type_rows(),
            state: t.state.lowered(|at| self.state_var(&p.state[at])),
            units: t.units.lowered(|at| self.unit(&p.units[at])),
            limits: t.limits.lowered(|at| self.limit(&p.limits[at])),
            regexes: t.regexes.iter().map(|r| r.to_string()).collect(),
            paths: t.paths.iter().cloned().collect(),
            invariants: t.invariants.lowered(|at| self.invariant(&p.invariants[at])),
            monitors: t.monitors.values().cloned().collect(),
            indexes: t.indexes.clone(),
            windows: t.windows.clone(),
            facts: t.facts.lowered(|at| self.fact(&p.facts[at])),
            commands: t.commands.iter().cloned().collect(),
            probes: t.probes.lowered(|at| self.probe(&p.probes[at])),
            sources: self.sources(),
            origins: t.origins,
            mentions: t.mentions,
            confidential: t.confidential,
            lifecycles: t.lifecycles.lowered(|at| self.lifecycle(&p.lifecycles[at])),
            feedback: feedback.iter().map(|f| self.feedback(f)).collect(),
            attests: t.attests.lowered(|at| self.attest(&p.attests[at])),
            completion: p.completion.as_ref().map(|completion| self.completion(completion)),
            goals: goals.iter().map(|goal| self.goal(goal)).collect(),
            coercions: t.coercions(),
            contracts: t.contracts.lowered(|at| self.contract(&p.contracts[at])),
            tools: t.tools.lowered(|at| self.tool(at)),
            proofs: Vec::new(),
        }
    }

    fn state_var(&self, var: &hir::StateVar) -> plan::StateVar {
        plan::StateVar {
            name: var.name.clone(),
            ty: self.tables.ty(&var.ty),
            init: self.expr(&var.init),
        }
    }

    fn unit(&self, unit: &hir::Unit) -> plan::Unit {
        plan::Unit {
            name: unit.name.clone(),
            budget: unit.budget,
            host_charged: unit.host_charged,
            span: self.span(unit.span),
        }
    }

    fn limit(&self, limit: &hir::Limit) -> plan::Limit {
        let rule = self.rule(&limit.rule);
        let hir::Limit { count, success, scope, keyed, .. } = *limit;
        plan::Limit { rule, count, success, scope, keyed, ask: limit.ask.clone() }
    }

    fn fact(&self, fact: &hir::Fact) -> plan::Fact {
        plan::Fact {
            name: fact.name.clone(),
            row: self.tables.ty(&hir::Type::Record(fact.row)),
            keys: fact.keys as u32,
            max: fact.max,
            halts: fact.halts,
        }
    }

    fn invariant(&self, invariant: &hir::Invariant) -> plan::Invariant {
        let mut reads: Vec<u32> = Vec::new();
        invariant.condition.walk(&mut |e| {
            if let hir::ExprKind::State(var) = e.kind {
                reads.push(self.tables.state.id(var));
            }
        });
        reads.sort_unstable();
        reads.dedup();
        plan::Invariant {
            rule: self.rule(&invariant.rule),
            monitor: invariant.monitor,
            condition: self.expr(&invariant.condition),
            text: invariant.text.clone(),
            because: invariant.because.as_ref().map(|m| self.message(m, &[])),
            shows: self.shows(&invariant.condition, &[]),
            reads,
        }
    }

    fn expr(&self, e: &hir::Expr) -> plan::Expr {
        expr::flatten(&self.tables, e)
    }

    fn optional(&self, e: &Option<hir::Expr>) -> Option<plan::Expr> {
        e.as_ref().map(|e| self.expr(e))
    }

    fn rule(&self, rule: &hir::RuleMeta) -> RuleMeta {
        let span = self.span(rule.span);
        RuleMeta { owner: rule.owner.clone(), doc: rule.doc.clone(), shadow: rule.shadow, span }
    }

    /// Returns a provisional number. The final number follows the order of the plan.
    fn span(&self, span: Span) -> SpanId {
        let mut spans = self.spans.borrow_mut();
        spans.push(span);
        (spans.len() - 1) as SpanId
    }

    fn message(&self, message: &hir::Message, params: &[hir::Field]) -> plan::Message {
        let parts = message
            .parts
            .iter()
            .map(|part| match part {
                hir::Part::Text(text) => plan::Part::Text(text.clone()),
                hir::Part::Value(label, e) => plan::Part::Value(self.show(label, e, params)),
            })
            .collect();
        plan::Message { parts }
    }

    fn show(&self, label: &str, e: &hir::Expr, params: &[hir::Field]) -> plan::Show {
        plan::Show {
            label: label.to_string(),
            expr: self.expr(e),
            ty: self.tables.shown_ty(&e.ty),
            secret: expr::is_secret(self.program, e, params),
        }
    }

    /// Returns the arguments and state that a condition reads, to show them with a refusal.
    fn shows(&self, condition: &hir::Expr, params: &[hir::Field]) -> Vec<plan::Show> {
        let mut shown: Vec<plan::Show> = Vec::new();
        for place in expr::places(condition) {
            let label = expr::label(self.program, place, params);
            if !shown.iter().any(|s| s.label == label) {
                shown.push(self.show(&label, place, params));
            }
        }
        shown
    }

    /// Renumbers the spans in the order in which the plan mentions them.
    fn number_spans(&self, plan: &mut Plan, files: &[SourceFile]) -> Sources {
        let lines: Vec<LineStarts> = files.iter().map(|f| LineStarts::new(&f.text)).collect();
        let found = self.spans.borrow();
        let mut spans = Vec::new();
        let mut number = |id: &mut SpanId| {
            let span = found[*id as usize];
            *id = spans.len() as SpanId;
            spans.push(lines[span.file.0 as usize].place(span));
        };
        plan.units.iter_mut().for_each(|u| number(&mut u.span));
        plan.limits.iter_mut().for_each(|l| number(&mut l.rule.span));
        plan.invariants.iter_mut().for_each(|i| number(&mut i.rule.span));
        session::spans(plan).for_each(&mut number);
        for tool in &mut plan.tools {
            number(&mut tool.span);
            tools::rules(tool).for_each(|rule| number(&mut rule.span));
        }
        let files = files.iter().map(|f| f.path.clone()).collect();
        Sources { files, spans, rewrites: Vec::new() }
    }
}

/// The starts of the lines of a text.
struct LineStarts<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> LineStarts<'t> {
    fn new(text: &'t str) -> Self {
        let starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        LineStarts { text, starts }
    }

    /// Returns the line and the column, both from 1. Columns are in characters.
    fn locate(&self, offset: usize) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts[line - 1];
        let column = self.text.get(start..offset).map_or(0, |t| t.chars().count());
        (line as u32, column as u32 + 1)
    }

    fn place(&self, span: Span) -> SourceSpan {
        let (line, column) = self.locate(span.start as usize);
        let (end_line, end_column) = self.locate(span.end as usize);
        SourceSpan { file: span.file.0, line, column, end_line, end_column }
    }
}

//! Declarations: types, variables, units, facts, probes, and the signatures of tools.

use super::forms::FormPlace;
use super::name::OtherMeaning;
use super::scope::{ExprPlace, MissingMeaning, Scope};
use super::trust::endorses;
use super::ty::{MAX_LEVELS, levels};
use super::{Signature, TypeChecker, literal};
use crate::errors;
use crate::hir::{self, EnumDef, Field, RecordDef, StateVar, ToolId, Type, Unit};
use guard_plan::origin::Origin;
use guard_plan::plan::{MAX_ROWS, TakenForms};
use guard_plan::value::DECIMAL_ONE;
use guard_syntax::ast::{self, Clause, ClauseKind};
use guard_syntax::span::Span;
use std::collections::HashMap;

/// The default number of rows that a fact keeps.
const DEFAULT_ROWS: u64 = 10_000;

impl<'a> TypeChecker<'a, '_> {
    pub(super) fn declare(&mut self, root: Span) {
        self.header(root);
        self.enums();
        self.records();
        self.units();
        self.define_types();
        self.state();
        self.facts();
        self.probes();
        self.tags();
        self.groups();
        self.governed();
        self.signatures();
    }

    fn header(&mut self, root: Span) {
        self.program.edition = 1;
        match self.names.header {
            Some(header) => {
                self.program.guard = header.name.node.clone();
                self.program.shadow = header.shadow;
                if let Some(edition) = header.edition.as_ref().filter(|e| e.node != "1") {
                    self.report(errors::unknown_edition(edition.span, &edition.node));
                }
            }
            None => self.report(errors::no_header(root)),
        }
        if let Some(span) = self.names.default_allow {
            self.program.default_allow = true;
            self.report(errors::default_allow(span));
        }
        self.program.deadline = self.names.deadline.and_then(|deadline| self.duration(deadline));
    }

    fn enums(&mut self) {
        let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
        let variants = days.into_iter().map(String::from).collect();
        self.program.enums.push(EnumDef { name: "Weekday".into(), variants });
        let variants = Origin::NAMES.into_iter().map(String::from).collect();
        self.program.enums.push(EnumDef { name: "Origin".into(), variants });
        for entry in &self.names.enums.items {
            let mut seen: HashMap<&str, Span> = HashMap::new();
            for variant in &entry.decl.variants {
                if let Some(first) = seen.insert(&variant.name.node, variant.name.span) {
                    self.report(errors::duplicate("variant", &variant.name, first));
                }
            }
            if entry.decl.variants.is_empty() {
                let why = format!("the enum `{}` has no variants", entry.name.node);
                self.report(errors::impossible_type(entry.name.span, &why, "name at least one"));
            }
            let variants = entry.decl.variants.iter().map(|v| v.name.node.clone()).collect();
            self.program.enums.push(EnumDef { name: entry.name.node.clone(), variants });
        }
    }

    fn records(&mut self) {
        for entry in &self.names.records.items {
            self.program.records.push(RecordDef::new(entry.name.node.clone(), Vec::new()));
        }
        for entry in &self.names.unions.items {
            self.program.records.push(RecordDef::new(entry.name.node.clone(), Vec::new()));
        }
        self.aliases();
        for (at, entry) in self.names.records.items.iter().enumerate() {
            let fields = self.fields("field", &entry.decl.fields);
            for field in fields.iter().filter(|field| *field.ty.required() == Type::Command) {
                let help = "declare a parameter `command` for each command that the tool runs";
                self.report(errors::impossible_type(field.span, "a command in a record", help));
            }
            self.program.records[at].fields = fields;
        }
        self.unions();
        self.no_recursion();
    }

    /// Reports records that contain themselves, because their values would be infinite.
    fn no_recursion(&mut self) {
        // The records that each record contains, and the number of collections in between.
        let uses: Vec<Vec<(usize, usize)>> = self
            .program
            .records
            .iter()
            .map(|r| {
                let cases = r.union.iter().flat_map(|union| &union.cases).map(|case| (case.1, 0));
                r.fields.iter().filter_map(|f| record_in(&f.ty)).chain(cases).collect()
            })
            .collect();
        // 0 unseen, 1 open, 2 done. The search is iterative, because chains of declarations may be
        // as long as the file.
        let mut mark = vec![0u8; uses.len()];
        let mut depth = vec![1usize; uses.len()];
        for start in 0..uses.len() {
            let mut stack = vec![(start, 0usize)];
            while let Some((at, next)) = stack.pop() {
                if next == 0 && mark[at] == 0 {
                    mark[at] = 1;
                }
                match uses[at].get(next) {
                    Some(&(inner, _)) => {
                        stack.push((at, next + 1));
                        if mark[inner] == 1 {
                            self.recursive_record(at, inner);
                        } else if mark[inner] == 0 {
                            stack.push((inner, 0));
                        }
                    }
                    None if mark[at] == 2 => {}
                    None => {
                        mark[at] = 2;
                        let inner = uses[at].iter().map(|(inner, levels)| depth[*inner] + levels);
                        depth[at] = 1 + inner.max().unwrap_or(0);
                        if depth[at] > MAX_LEVELS {
                            self.deep_record(at);
                            // Its fields are forgotten, so the records around it are not reported
                            // too.
                            depth[at] = 1;
                        }
                    }
                }
            }
        }
    }

    fn deep_record(&mut self, at: usize) {
        self.too_deep(self.record_name(at).span);
        self.forget_fields(at);
    }

    fn recursive_record(&mut self, at: usize, inner: usize) {
        let name = self.record_name(inner);
        let why = format!("the record `{}` contains itself", name.node);
        let d = errors::impossible_type(name.span, &why, "refer to others by an id instead");
        self.said_deep = true;
        let field = self.record_name(at).span;
        self.report(if field == name.span { d } else { d.also(field, "by way of this record") });
        self.forget_fields(at);
    }

    fn forget_fields(&mut self, at: usize) {
        for field in &mut self.program.records[at].fields {
            field.ty = Type::Error;
        }
        if let Some(union) = &mut self.program.records[at].union {
            union.cases.clear();
        }
    }

    /// Returns the name of a record or union.
    fn record_name(&self, at: usize) -> &'a ast::Ident {
        let names = self.names;
        let records = names.records.items.len();
        match at.checked_sub(records) {
            None => names.records.items[at].name,
            Some(union) => names.unions.items[union].name,
        }
    }

    /// Declares fields, parameters or columns. Their names must be different and their types known.
    pub(super) fn fields(&mut self, what: &str, fields: &[ast::Field]) -> Vec<Field> {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        let mut out = Vec::new();
        for field in fields {
            if let Some(first) = seen.insert(&field.name.node, field.name.span) {
                self.report(errors::duplicate(what, &field.name, first));
                continue;
            }
            for word in marks(field).filter(|_| what != "column") {
                let name = &field.name.node;
                let why = format!("`{word}` marks columns of a fact, and `{name}` is a {what}");
                let help = format!("remove `{word}`");
                self.report(errors::refinement(field.span.0, &why, &help));
            }
            let ty = self.ty(&field.ty);
            if field.caseless && !matches!(ty, Type::String(_) | Type::Error) {
                let name = &field.name.node;
                let why = format!("`caseless` marks columns of text, and `{name}` is another");
                self.report(errors::refinement(field.span.0, &why, "remove `caseless`"));
            }
            let form = field.wire.as_ref().map(|wire| ("a name in JSON (`as`)", wire.span));
            if let Some((form, span)) = form.filter(|_| what != "field") {
                self.report(errors::contract_form(span, &format!("a {what}"), form));
            } else if let Some((form, span)) = field.forms.first().filter(|_| what != "field") {
                self.report(errors::inexact(span, &format!("a {what}"), form));
            }
            if what != "field" {
                self.typed.push((ty.clone(), field.name.span));
            }
            out.push(Field {
                name: field.name.node.clone(),
                wire: self.wire_name(&field.name, field.wire.as_ref()),
                forms: self.forms(&field.forms, &ty, FormPlace::Member),
                ty,
                secret: field.secret,
                caseless: field.caseless,
                doc: field.docs.join("\n"),
                span: field.name.span,
            });
        }
        self.distinct_wires(&out);
        out
    }

    fn units(&mut self) {
        let push = |name: &str, budget, host_charged, span| Unit {
            name: name.into(),
            budget,
            host_charged,
            span,
        };
        // Every guard has the unit `calls`, with or without a budget for it.
        let mut units = vec![push("calls", None, false, Span::default())];
        for entry in &self.names.budgets.items {
            let name = entry.name.node.as_str();
            let budget = self.literal(&entry.decl.amount, literal::decimal);
            let whole = matches!(name, "calls" | "tokens");
            if whole && budget.is_some_and(|b| b % DECIMAL_ONE != 0) {
                let why = format!("counts {name}, which are whole");
                self.report(errors::literal(entry.decl.amount.span, &entry.decl.amount.node, &why));
            }
            if name == "calls" && entry.decl.host {
                self.report(errors::calls_by_host(entry.name.span));
            }
            let host = name == "tokens" || (entry.decl.host && name != "calls");
            let unit = push(name, budget, host, entry.name.span);
            if name == "calls" { units[0] = unit } else { units.push(unit) }
        }
        self.units = units.iter().enumerate().map(|(at, u)| (u.name.clone(), at)).collect();
        self.program.units = units;
    }

    /// Reports budgets that are never charged, because they would limit nothing.
    pub(super) fn charged_budgets(&mut self) {
        // A clause with an error may be the one that charges the budget.
        if self.diagnostics.iter().any(|d| d.is_error()) {
            return;
        }
        let mut charged = vec![false; self.program.units.len()];
        for clause in self.program.tools.iter().flat_map(|tool| &tool.clauses) {
            if let hir::ClauseKind::Costs { unit, amount, .. } = &clause.kind {
                let nothing =
                    matches!(amount.kind, hir::ExprKind::Decimal(0) | hir::ExprKind::Int(0));
                charged[*unit] |= !nothing && !clause.rule.shadow;
            }
        }
        let idle = self.program.units.iter().zip(charged).filter(|(unit, charged)| {
            unit.budget.is_some() && unit.name != "calls" && !unit.host_charged && !charged
        });
        let idle: Vec<_> = idle.map(|(unit, _)| (unit.name.clone(), unit.span)).collect();
        for (name, span) in idle {
            self.report(errors::budget_never_charged(span, &name));
        }
    }

    fn state(&mut self) {
        let names = self.names;
        for entry in &names.state.items {
            let ty = self.ty(&entry.decl.ty);
            let mut scope = Scope::new(names, ExprPlace::Initial, &[], MissingMeaning::Strict);
            let init = self.value(&entry.decl.init, &ty, &mut scope);
            if !is_constant(&init) {
                self.report(errors::not_constant(entry.decl.init.span));
            }
            self.own_variant("variable", entry.name, &ty);
            self.program.state.push(StateVar {
                name: entry.name.node.clone(),
                ty,
                init,
                span: entry.name.span,
            });
        }
    }

    fn facts(&mut self) {
        let names = self.names;
        for entry in &names.facts.items {
            let mut columns = self.fields("column", &entry.decl.columns);
            let marked: Vec<bool> = entry.decl.columns.iter().map(|c| c.key).collect();
            let keys = marked.iter().filter(|k| **k).count();
            // Rows are identified by the first columns, so the keys come first.
            let mut order: Vec<usize> = (0..columns.len()).collect();
            order.sort_by_key(|at| !marked.get(*at).copied().unwrap_or(false));
            columns = order.iter().map(|at| columns[*at].clone()).collect();
            if columns.is_empty() {
                let why = format!("the fact `{}` has no columns", entry.name.node);
                self.report(errors::impossible_type(entry.name.span, &why, "name at least one"));
            }
            let row = self.program.records.len();
            // Without a key, the whole row is its key.
            let keys = if keys == 0 { columns.len() } else { keys };
            // It has a different name from a record of the same name.
            self.program.records.push(RecordDef::new(format!("fact {}", entry.name.node), columns));
            let max = entry.decl.max.as_ref().and_then(|max| self.row_count(max));
            let fact = hir::Fact {
                name: entry.name.node.clone(),
                row,
                keys,
                max: max.unwrap_or(DEFAULT_ROWS),
                halts: entry.decl.halts,
                span: entry.name.span,
                bundled: entry.bundled,
            };
            self.program.facts.push(fact);
        }
    }

    /// Returns the number of rows that a fact keeps.
    fn row_count(&mut self, max: &ast::Literal) -> Option<u64> {
        let rows = self.count(max)?;
        match rows {
            0 => self.report(errors::count_of_nothing(max.span, "the number of rows")),
            1..=MAX_ROWS => return Some(rows),
            _ => {
                let why = format!("a fact keeps at most {} rows", errors::grouped(MAX_ROWS));
                self.report(errors::impossible_type(max.span, &why, "write a smaller `max`"));
            }
        }
        None
    }

    /// Returns the milliseconds of a duration literal.
    pub(super) fn duration(&mut self, text: &ast::Literal) -> Option<i64> {
        self.literal(text, literal::duration)
    }

    fn signatures(&mut self) {
        let names = self.names;
        let mut described = self.described();
        for (at, entry) in names.tools.items.iter().enumerate() {
            let params = self.fields("parameter", &entry.decl.params);
            for param in &params {
                let name = &param.name;
                let span = param.span;
                match self.other_meaning(name, &param.ty) {
                    Some(OtherMeaning::Declared("variable", at)) => {
                        self.report(errors::hidden_variable(name, span, at));
                    }
                    Some(OtherMeaning::Declared("fact", _)) | None => {}
                    Some(OtherMeaning::BuiltIn) if name == "result" => {
                        let what = "value";
                        let kind = "parameter";
                        self.report(errors::hidden_name(what, name, span, kind, None));
                    }
                    Some(other) => {
                        let (kind, at) = (other.kind(), other.declared());
                        self.report(errors::hidden_name("parameter", name, span, kind, at));
                    }
                }
            }
            let by_policies = described.remove(&at).unwrap_or_default();
            let clauses: Vec<&Clause> = entry.decl.clauses.iter().chain(by_policies).collect();
            let (returns, forms) = self.returns(&clauses).unzip();
            let trust = self.trust(&clauses);
            self.trusted_parts(&clauses, returns.as_ref());
            self.signatures.push(Signature {
                name: entry.name.node.clone(),
                params,
                returns,
                forms: forms.unwrap_or_default(),
                trust,
                span: entry.name.span,
            });
        }
    }

    /// Returns the clauses of policies that declare the results of tools and the trust in them.
    fn described(&self) -> HashMap<ToolId, Vec<&'a Clause>> {
        let mut described: HashMap<ToolId, Vec<&Clause>> = HashMap::new();
        for (entry, tools) in self.names.policies.items.iter().zip(&self.governed) {
            use ClauseKind::{Returns, Trusted, Untrusted};
            let describes = |clause: &&Clause| match &clause.kind {
                Returns(..) | Untrusted(_) => true,
                // An endorsement reads the names of its tool, so it is checked with the other
                // clauses of the tool.
                trusted @ Trusted { .. } => !endorses(trusted),
                _ => false,
            };
            for clause in entry.decl.clauses.iter().filter(describes) {
                tools.iter().for_each(|tool| described.entry(*tool).or_default().push(clause));
            }
        }
        described
    }

    /// Returns the type of the result and its other forms, from the clauses of a tool and of its
    /// policies.
    fn returns(&mut self, clauses: &[&Clause]) -> Option<(Type, TakenForms)> {
        let mut returns: Option<((Type, TakenForms), Span)> = None;
        for clause in clauses {
            let ClauseKind::Returns(ty, forms) = &clause.kind else { continue };
            match &returns {
                Some((_, first)) => {
                    self.report_once(errors::said_twice("`returns`", clause.span.0, *first));
                }
                None => {
                    let known = self.results.get(&clause.span.0).cloned();
                    let result = known.unwrap_or_else(|| {
                        let ty = self.ty(ty);
                        let forms = self.forms(forms, &ty, FormPlace::Result);
                        (ty, forms)
                    });
                    // The clause of a policy applies to each of its tools.
                    self.results.insert(clause.span.0, result.clone());
                    returns = Some((result, clause.span.0));
                }
            }
        }
        returns.map(|(result, _)| result)
    }
}

/// Returns the record within a type, and the number of collections around it.
pub(super) fn record_in(mut ty: &Type) -> Option<(usize, usize)> {
    let around = levels(ty);
    loop {
        match ty {
            Type::Record(id) => return Some((*id, around)),
            Type::List(element, _)
            | Type::Set(element, _)
            | Type::Map(_, element, _)
            | Type::Option(element) => ty = element,
            _ => return None,
        }
    }
}

fn is_constant(e: &hir::Expr) -> bool {
    use hir::ExprKind::*;
    !e.any(&mut |e| {
        let plain = matches!(e.kind, None | Bool(_) | Int(_) | Decimal(_) | String(_) | Enum(_));
        let read = matches!(e.kind, Path(_) | Url(_) | Duration(_) | Time(_) | Error);
        !(plain || read || matches!(e.kind, List(_) | Set(_) | Map(_) | Record(_)))
    })
}

/// Returns the marks of a field that only a column may have.
pub(super) fn marks(field: &ast::Field) -> impl Iterator<Item = &'static str> {
    let marks = [(field.key, "key"), (field.caseless, "caseless")];
    marks.into_iter().filter(|(set, _)| *set).map(|(_, word)| word)
}

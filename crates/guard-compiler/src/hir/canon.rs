//! Declarations as texts that contain everything about them, except for source positions, numbers
//! and the order of declarations.
//!
//! Two texts are equal only if the declarations have the same effect on decisions, provided that
//! the declarations that they name have the same effect.

use crate::hir::{
    Clause, ClauseKind, Expr, ExprKind as K, FactId, Learn, LifecycleId, Program, Range,
    Replacement, Requirement, SelectedPart, Step, Target, Tool, Type,
};
use guard_plan::builtin::Builtin;
use guard_plan::plan::{CriterionKind, TakenForms};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A program whose declarations are converted to texts.
#[derive(Clone, Copy)]
pub(crate) struct Canon<'p>(pub &'p Program);

/// Returns the wire name of a tool, which may contain any characters.
pub(crate) fn wire(tool: &Tool) -> String {
    format!("{:?}", tool.wire_name)
}

/// A text up to its first bracket or space. The rest is not written.
struct FirstWord(String);

impl std::fmt::Write for FirstWord {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = text.find(['(', '{', ' ']);
        self.0.push_str(&text[..end.unwrap_or(text.len())]);
        // The error stops the formatter, because the whole expression may be large.
        end.map_or(Ok(()), |_| Err(std::fmt::Error))
    }
}

impl Canon<'_> {
    /// Returns a type with all its parts.
    pub fn ty(self, ty: &Type) -> String {
        let program = self.0;
        match ty {
            Type::Enum(id) => format!("enum{:?}", program.enums[*id].variants),
            Type::Record(id) => {
                let def = &program.records[*id];
                if let Some(union) = &def.union {
                    let case = |(tag, record): &(String, usize)| {
                        format!("{tag:?} {}", self.ty(&Type::Record(*record)))
                    };
                    let cases = union.cases.iter().map(case).collect::<Vec<_>>().join(", ");
                    return format!("union by {:?} {{{cases}}}", union.tag);
                }
                let fields = &def.fields;
                let field = |f: &crate::hir::Field| {
                    let wire =
                        if f.wire == f.name { String::new() } else { format!(" as {:?}", f.wire) };
                    format!("{}: {}{wire}", f.name, self.taken(&f.ty, &f.forms))
                };
                format!("record{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
            }
            Type::List(element, max) => format!("list<{}> {max:?}", self.ty(element)),
            Type::Set(element, max) => format!("set<{}> {max:?}", self.ty(element)),
            Type::Map(key, value, max) => {
                format!("map<{}, {}> {max:?}", self.ty(&key.ty()), self.ty(value))
            }
            Type::Option(inner) => format!("{}?", self.ty(inner)),
            plain => format!("{plain:?}"),
        }
    }

    /// Returns a type that is also accepted in other forms.
    pub fn taken(self, ty: &Type, forms: &TakenForms) -> String {
        let ty = self.ty(ty);
        if forms.is_own() { ty } else { format!("{ty} {forms:?}") }
    }

    /// Returns an expression of a tool, or of no tool.
    pub fn expr(self, tool: Option<&Tool>, e: &Expr) -> String {
        self.written(tool, e, false)
    }

    /// Returns the expression as it would be if no value in it were known to be present.
    pub fn expr_as_written(self, tool: Option<&Tool>, e: &Expr) -> String {
        self.written(tool, e, true)
    }

    fn written(self, tool: Option<&Tool>, e: &Expr, bare: bool) -> String {
        if let (K::Unwrap(operand, _), true) = (&e.kind, bare) {
            return self.written(tool, operand, bare);
        }
        let mut out = self.head(tool, e);
        let children = e.children();
        if !children.is_empty() {
            let parts: Vec<String> = children.iter().map(|c| self.written(tool, c, bare)).collect();
            let _ = write!(out, "({})", parts.join(", "));
        }
        out
    }

    /// Returns an expression's own operator and operand names as text, without its children.
    fn head(self, tool: Option<&Tool>, e: &Expr) -> String {
        let p = self.0;
        let name = |tool: usize| wire(&p.tools[tool]);
        let since = |since: &Option<usize>| since.map_or("-".into(), name);
        let params = |tool: usize, key: &[(u32, Expr)]| {
            let names = key.iter().map(|(at, _)| p.tools[tool].params[*at as usize].name.as_str());
            names.collect::<Vec<_>>().join(",")
        };
        match &e.kind {
            K::Param(at) => {
                let param = tool.and_then(|t| t.params.get(*at as usize));
                format!("param {}", param.map_or("?", |p| &p.name))
            }
            K::State(var) => format!("state {}", p.state[*var].name),
            K::Enum(at) => match e.ty.required() {
                // Variants are ordered by their position.
                Type::Enum(id) => format!("variant {:?} {at}", p.enums[*id].variants[*at as usize]),
                _ => format!("variant {at}"),
            },
            K::Remaining(unit) => format!("remaining {}", p.units[*unit].name),
            K::Spent(unit) => format!("spent {}", p.units[*unit].name),
            K::Field(record, at) => match record.ty.required() {
                Type::Record(id) => format!("field {}", p.records[*id].fields[*at as usize].name),
                _ => format!("field {at}"),
            },
            K::Row(fact, _) => format!("row {}", p.facts[*fact].name),
            K::Rows(fact) => format!("rows {}", p.facts[*fact].name),
            K::Known(fact, _) => format!("known {}", p.facts[*fact].name),
            K::Called { tool: other, key, since: from, within } => {
                format!(
                    "called {} [{}] {} {within:?}",
                    name(*other),
                    params(*other, key),
                    since(from)
                )
            }
            K::Failed { tool: other, since: from, within } => {
                format!("failed {} {} {within:?}", name(*other), since(from))
            }
            K::Calls { tool: other, failures, recent } => {
                format!("calls {} {failures} {recent:?}", name(*other))
            }
            K::LastArg(other, at) => {
                format!("last {} {}", name(*other), p.tools[*other].params[*at as usize].name)
            }
            K::LastResult(other) => format!("result {}", name(*other)),
            K::Probe(probe) => format!("probe {}", p.probes[*probe].name),
            K::Compare(op, ..) => format!("{op:?}"),
            K::Arith(op, a, _) => format!("{op:?} {}", self.kind_of(&a.ty)),
            K::Quantified { op, binders, .. } => format!("{op:?} {binders:?}"),
            K::Call(Builtin::Concat, _) => "Add string".into(),
            K::Call(builtin, _) => format!("{builtin:?}"),
            K::Temporal(op, ..) => format!("{op:?}"),
            K::Matches(_, pattern) => format!("matches {pattern:?}"),
            K::Member(_, member) => format!("member {member:?}"),
            K::UrlPart(_, part) => format!("{part:?}"),
            K::ToKey(_, key) => format!("to key {}", self.ty(&key.ty())),
            K::FromKey(_, key) => format!("from key {}", self.ty(&key.ty())),
            K::Map(entries) => {
                format!("map {:?}", entries.iter().map(|(key, _)| key).collect::<Vec<_>>())
            }
            K::Record(_) => match e.ty.required() {
                Type::Record(id) => {
                    let fields = p.records[*id].fields.iter().map(|field| field.name.as_str());
                    format!("record {}", fields.collect::<Vec<_>>().join(","))
                }
                _ => "record".into(),
            },
            leaf if e.children().is_empty() => format!("{leaf:?}"),
            other => {
                let mut name = FirstWord(String::new());
                // The writer stops after the word.
                let _ = write!(name, "{other:?}");
                name.0
            }
        }
    }

    fn kind_of(self, ty: &Type) -> &'static str {
        match ty.required() {
            Type::Decimal(..) => "decimal",
            Type::Duration(..) => "duration",
            Type::Time(_) => "time",
            _ => "int",
        }
    }

    fn target(self, tool: &Tool, target: &Target) -> String {
        let mut out = format!("state {}", self.0.state[target.var].name);
        for step in &target.path {
            match step {
                Step::Field(at) => _ = write!(out, ".{at}"),
                Step::Index(e) => _ = write!(out, "[{}]", self.expr(Some(tool), e)),
            }
        }
        out
    }

    fn requirement(self, tool: &Tool, r: &Requirement) -> String {
        let tool_def = &self.0.tools[r.tool];
        let key: Vec<String> = r
            .key
            .iter()
            .map(|(at, e)| {
                format!("{}: {}", tool_def.params[*at as usize].name, self.expr(Some(tool), e))
            })
            .collect();
        let since = r.since.map_or("-".into(), |s| wire(&self.0.tools[s]));
        let latest = if r.latest { "latest " } else { "" };
        let keys = key.join(", ");
        format!("{latest}{}({keys}) since {since} within {:?}", wire(tool_def), r.within)
    }

    /// Returns a clause, enforced or in shadow mode. A limit contains its counter, but not the
    /// other tools that it counts.
    pub fn clause(self, tool: &Tool, clause: &Clause) -> String {
        let text = self.enforced(tool, clause);
        if clause.rule.shadow { format!("shadow {text}") } else { text }
    }

    /// Returns a limit, enforced or in shadow mode, without the role that it asks.
    pub fn counter(self, tool: &Tool, clause: &Clause) -> String {
        let text = self.counted(tool, clause);
        if clause.rule.shadow { format!("shadow {text}") } else { text }
    }

    /// Returns the counter of a limit: what it counts, and its key. Empty for other clauses.
    fn counted(self, tool: &Tool, clause: &Clause) -> String {
        let ClauseKind::Limit { limit, by } = &clause.kind else { return String::new() };
        let limit = &self.0.limits[*limit];
        let by = by.as_ref().map_or("always".into(), |by| self.expr(Some(tool), by));
        format!("limit {} {:?} by {by}", limit.success, limit.scope)
    }

    /// Returns the clauses of a tool, each with its text. A repeated text is numbered, because two
    /// equal clauses may have twice the effect of one.
    pub fn clauses<'t>(self, tool: &'t Tool) -> Vec<(&'t Clause, String)> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let numbered = |clause: &'t Clause| {
            let text = self.clause(tool, clause);
            let count = counts.entry(text.clone()).or_default();
            *count += 1;
            (clause, if *count > 1 { format!("{text} #{count}") } else { text })
        };
        tool.clauses.iter().map(numbered).collect()
    }

    fn enforced(self, tool: &Tool, clause: &Clause) -> String {
        let e = |e: &Expr| self.expr(Some(tool), e);
        let when = |when: &Option<Expr>| when.as_ref().map_or("always".into(), e);
        match &clause.kind {
            ClauseKind::Requires { any_of, when: applies } => {
                let mut any: Vec<String> =
                    any_of.iter().map(|r| self.requirement(tool, r)).collect();
                any.sort();
                format!("requires {} when {}", any.join(" or "), when(applies))
            }
            ClauseKind::Deny { condition, replacement: None, .. } => {
                format!("deny {}", e(condition))
            }
            ClauseKind::Deny {
                condition, replacement: Some(Replacement { value, .. }), ..
            } => {
                format!("transform {} by {}", e(condition), e(value))
            }
            ClauseKind::Limit { limit, .. } => {
                let ask = self.0.limits[*limit].ask.as_ref();
                let ask = ask.map_or(String::new(), |role| format!(" else {role}"));
                self.counted(tool, clause) + &ask
            }
            ClauseKind::Costs { unit, amount, returned } => {
                let returned = if *returned { ", returned on failure" } else { "" };
                format!("costs {} {}{returned}", self.0.units[*unit].name, e(amount))
            }
            ClauseKind::Risk { level, when: applies, .. } => {
                format!("risk {level:?} when {}", e(applies))
            }
            ClauseKind::Prior { alpha, beta } => format!("prior {} {}", e(alpha), e(beta)),
            ClauseKind::Approval { role, within, when: applies, .. } => {
                format!("approval {role} {within:?} when {}", when(applies))
            }
            ClauseKind::Ready(probe) => format!("ready {}", self.probe(*probe)),
            ClauseKind::Effect { ranges, when: wanted, target, op, value } => {
                let each = self.ranges(Some(tool), ranges);
                let target = self.target(tool, target);
                let value = when(value);
                format!("effect {target} {op:?} {value} for {each} when {}", when(wanted))
            }
            ClauseKind::Observe { target, value, ty, warn } => {
                let target = self.target(tool, target);
                let ty = self.ty(ty);
                format!("observe {target} = {} as {ty} {warn}", e(value))
            }
            ClauseKind::Learn(learn) => self.learn(Some(tool), learn),
            ClauseKind::Reconcile { condition, .. } => format!("reconcile {}", e(condition)),
            ClauseKind::Transform { path, value, when: applies } => {
                format!("transform {path:?} by {} when {}", e(value), when(applies))
            }
            ClauseKind::Private { part, to, when: applies } => {
                let to = to.as_ref().map_or("nobody".into(), e);
                let part = self.part(tool, part);
                format!("private {part} to {to} when {}", when(applies))
            }
            ClauseKind::Endorse { part, extractor, when: applies } => {
                let part = self.part(tool, part);
                format!("trusted {extractor:?} {part} when {}", when(applies))
            }
        }
    }

    fn part(self, tool: &Tool, part: &SelectedPart) -> String {
        format!("{:?} {}", part.path, self.ranges(Some(tool), &part.ranges))
    }

    fn ranges(self, tool: Option<&Tool>, ranges: &[Range]) -> String {
        let range = |range: &Range| format!("{:?} {}", range.binders, self.expr(tool, &range.over));
        ranges.iter().map(range).collect::<Vec<_>>().join("; ")
    }

    /// Returns a `learn` clause as text.
    pub fn learn(self, tool: Option<&Tool>, learn: &Learn) -> String {
        let e = |e: &Expr| self.expr(tool, e);
        let ranges = self.ranges(tool, &learn.ranges);
        let when = learn.when.as_ref().map_or("-".into(), e);
        let row: Vec<String> = learn.row.iter().map(e).collect();
        let fact = &self.0.facts[learn.fact].name;
        format!("learn {fact} {ranges} {when} {}", row.join(", "))
    }

    /// Returns a complete probe.
    pub fn probe(self, probe: usize) -> String {
        let p = &self.0.probes[probe];
        let ty = self.taken(&p.returns, &p.forms);
        format!(
            "probe {} {ty} {:?} {:?} {:?} {} {:?}",
            p.name, p.asks, p.every, p.backoff, p.timeout, p.within
        )
    }

    /// Returns a complete relation, without its teachers.
    pub fn fact(self, fact: FactId) -> String {
        let f = &self.0.facts[fact];
        format!("{} {} {}", self.columns(fact), f.max, f.halts)
    }

    /// Returns a relation, without the number of its rows.
    pub fn columns(self, fact: FactId) -> String {
        let f = &self.0.facts[fact];
        format!("fact {} {} {}", f.name, f.keys, self.ty(&Type::Record(f.row)))
    }

    /// Returns a complete lifecycle.
    pub fn lifecycle(self, id: LifecycleId) -> String {
        let l = &self.0.lifecycles[id];
        let mut steps: Vec<String> = l
            .transitions
            .iter()
            .map(|t| {
                let mut from: Vec<&str> = t.from.iter().map(|s| l.states[*s].as_str()).collect();
                from.sort_unstable();
                let to = &l.states[t.to];
                format!("{} {:?} {from:?} {to} {} {:?}", t.name, t.actor, t.evidence, t.criteria)
            })
            .collect();
        steps.sort();
        let fields: Vec<String> =
            l.fields.iter().map(|f| format!("{}: {}", f.name, self.ty(&f.ty))).collect();
        let initial = &l.states[l.initial];
        let mut criteria: Vec<String> = l.criteria.iter().map(|c| format!("{c:?}")).collect();
        criteria.sort();
        let mut commands: Vec<String> = Vec::new();
        self.0.each_command(&mut |command| commands.push(format!("{command:?}")));
        commands.sort();
        // A criterion may name any probe that answers with a bool.
        let asked = self.0.probes.iter().enumerate().filter(|(_, p)| p.returns == Type::Bool);
        let mut asked: Vec<String> = asked.map(|(at, _)| self.probe(at)).collect();
        asked.sort();
        commands.extend(asked);
        // Anything may affect which calls count as evidence, and the answer of a probe with a
        // memory.
        let remembers = l.criteria.contains(&CriterionKind::Probe)
            && self.0.probes.iter().any(|p| p.returns == Type::Bool && p.remembers());
        if remembers || l.transitions.iter().any(|t| t.evidence) {
            commands.push(self.whole());
        }
        let escalate = l.escalate.as_ref().map(|e| (e.role.clone(), e.after));
        // A move from a final state is a rejection.
        let mut finals: Vec<&str> = l.finals.iter().map(|at| l.states[*at].as_str()).collect();
        finals.sort_unstable();
        format!(
            "{} {fields:?} {initial} {finals:?} {steps:?} {criteria:?} {commands:?} {escalate:?}",
            l.name
        )
    }

    /// Returns the whole program without its source positions.
    pub fn whole(self) -> String {
        let text = format!("{:?}", self.0);
        let mut out = String::new();
        let mut rest = text.as_str();
        // Text that looks like a position within a string is not a position.
        let mut quoted = false;
        let mut escaped = false;
        while let Some(c) = rest.chars().next() {
            if !quoted && rest.starts_with("Span {") {
                rest = rest.split_once('}').map_or("", |(_, after)| after);
                continue;
            }
            quoted ^= c == '"' && !escaped;
            escaped = quoted && c == '\\' && !escaped;
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
        out
    }
}

//! The clauses that only one of two guards has: what they read and write, and the denies that depend on them.

use crate::analysis::explore::slice::exprs_of;
use crate::hir::canon::Canon;
use crate::hir::{ClauseKind, Expr, ExprKind, Program, Tool, Type, VarId};
use guard_syntax::span::Span;
use std::collections::BTreeSet;

/// The clauses of these kinds as they compare, and the handling of results that are not read, with the tool by wire name.
pub(super) fn clauses(program: &Program, kinds: fn(&ClauseKind) -> bool) -> ClauseTexts {
    let clauses = |tool: &Tool| {
        let clauses = Canon(program).clauses(tool).into_iter();
        let texts = clauses.filter(|(clause, _)| kinds(&clause.kind)).map(|(_, text)| text);
        let texts = texts.chain([format!("{:?}", tool.undecoded)]);
        texts.map(|text| (tool.wire_name.clone(), text)).collect::<Vec<_>>()
    };
    program.tools.iter().flat_map(clauses).collect()
}

/// Clauses as they compare, by tool.
type ClauseTexts = BTreeSet<(String, String)>;

/// Two guards, and what only one of them has.
pub(super) struct EditedClauses<'p> {
    /// Each guard, and the clauses of the other.
    sides: [(&'p Program, ClauseTexts); 2],
    /// The variables and facts that clauses of one guard only write, by name.
    written: BTreeSet<&'p str>,
}

impl<'p> EditedClauses<'p> {
    pub fn new(programs: [&'p Program; 2]) -> Self {
        let [old, new] = programs.map(|program| clauses(program, |_| true));
        let sides = [(programs[0], new), (programs[1], old)];
        let mut edited = EditedClauses { sides, written: BTreeSet::new() };
        edited.written = edited.all().filter_map(written).collect();
        edited
    }

    /// The clauses that only one guard has, each with the guard and its tool.
    fn all(&self) -> impl Iterator<Item = (&'p Program, &'p Tool, &'p ClauseKind)> {
        self.sides.iter().flat_map(|(program, other)| {
            let program: &'p Program = program;
            program.tools.iter().flat_map(move |tool| {
                let clauses = Canon(program).clauses(tool).into_iter();
                let alone = clauses
                    .filter(|(_, text)| !other.contains(&(tool.wire_name.clone(), text.clone())));
                alone.map(move |(clause, _)| (program, tool, &clause.kind))
            })
        })
    }

    /// The members of arguments and results that they are about, by name.
    pub fn members(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut vars = BTreeSet::new();
        for (program, tool, kind) in self.all() {
            members_of(program, tool, kind, &mut names, |var| {
                vars.insert(program.state[var].name.as_str());
            });
        }
        // What they read of the session, results have told.
        for (program, _) in &self.sides {
            for tool in &program.tools {
                for clause in &tool.clauses {
                    if let ClauseKind::Observe { target, .. } = &clause.kind
                        && vars.contains(program.state[target.var].name.as_str())
                    {
                        members_of(program, tool, &clause.kind, &mut names, |_| ());
                    }
                }
            }
        }
        names
    }

    /// Of each guard, the denies of a tool by which it may refuse what the other allows: those that it alone has, and those
    /// that read what clauses of one guard only write.
    pub fn denies_at_stake(&self, wire: &str) -> [Vec<Span>; 2] {
        self.sides.each_ref().map(|(program, other)| {
            let tools = program.tools.iter().filter(|tool| tool.wire_name == wire);
            let clauses = tools.flat_map(|tool| Canon(program).clauses(tool));
            let at_stake = clauses.filter_map(|(clause, text)| {
                let ClauseKind::Deny { condition, .. } = &clause.kind else { return None };
                let alone = !other.contains(&(wire.to_string(), text));
                (alone || reads(program, condition, &self.written)).then_some(clause.rule.span)
            });
            at_stake.collect()
        })
    }
}

/// The variable or fact that a clause writes, by name.
fn written<'p>((program, _, kind): (&'p Program, &'p Tool, &'p ClauseKind)) -> Option<&'p str> {
    match kind {
        ClauseKind::Effect { target, .. } | ClauseKind::Observe { target, .. } => {
            Some(&program.state[target.var].name)
        }
        ClauseKind::Learn(learn) => Some(&program.facts[learn.fact].name),
        _ => None,
    }
}

/// Collects the members that a clause reads, and visits the variables.
fn members_of(
    program: &Program,
    tool: &Tool,
    kind: &ClauseKind,
    names: &mut BTreeSet<String>,
    mut read: impl FnMut(VarId),
) {
    exprs_of(kind, &mut |e| {
        e.walk(&mut |e| match &e.kind {
            ExprKind::Param(at) => _ = names.insert(tool.params[*at as usize].name.clone()),
            ExprKind::State(var) => read(*var),
            ExprKind::Field(record, at) => {
                if let Type::Record(id) = record.ty.required() {
                    names.insert(program.records[*id].fields[*at as usize].wire.clone());
                }
            }
            _ => {}
        });
    });
}

/// Returns true if an expression reads a variable or fact of these names.
fn reads(program: &Program, e: &Expr, names: &BTreeSet<&str>) -> bool {
    e.any(&mut |e| match &e.kind {
        ExprKind::State(var) => names.contains(program.state[*var].name.as_str()),
        ExprKind::Row(fact, _) | ExprKind::Known(fact, _) | ExprKind::Rows(fact) => {
            names.contains(program.facts[*fact].name.as_str())
        }
        _ => false,
    })
}

//! The clauses that only one of two guards has: what they read and write, and the denies that depend on them.

use crate::analysis::diff::canon::Canon;
use crate::analysis::explore::slice::exprs_of;
use crate::hir::{ClauseKind, Expr, ExprKind, Program, Tool, Type};
use guard_syntax::span::Span;
use std::collections::BTreeSet;

/// The clauses of these kinds as they compare, and the handling of results that are not read, with the tool by wire name.
pub(super) fn clauses(
    program: &Program,
    kinds: fn(&ClauseKind) -> bool,
) -> BTreeSet<(String, String)> {
    let of = |tool: &Tool| {
        let clauses = Canon(program).clauses(tool).into_iter();
        let texts = clauses.filter(|(clause, _)| kinds(&clause.kind)).map(|(_, text)| text);
        let texts = texts.chain([format!("{:?}", tool.undecoded)]);
        texts.map(|text| (tool.wire_name.clone(), text)).collect::<Vec<_>>()
    };
    program.tools.iter().flat_map(of).collect()
}

/// The clauses that a guard has and the other does not, each with its tool.
fn clauses_alone<'p>(
    program: &'p Program,
    other: &BTreeSet<(String, String)>,
) -> Vec<(&'p Tool, &'p ClauseKind)> {
    let alone = |tool: &'p Tool| {
        let clauses = Canon(program).clauses(tool).into_iter();
        let clauses =
            clauses.filter(|(_, text)| !other.contains(&(tool.wire_name.clone(), text.clone())));
        clauses.map(|(clause, _)| (tool, &clause.kind)).collect::<Vec<_>>()
    };
    program.tools.iter().flat_map(alone).collect()
}

/// The members of arguments and results that the clauses of one guard only are about, by name.
pub(super) fn read_otherwise(programs: [&Program; 2]) -> BTreeSet<String> {
    let [old, new] = programs.map(|program| clauses(program, |_| true));
    let mut names = BTreeSet::new();
    for (program, other) in programs.into_iter().zip([new, old]) {
        let mut vars = BTreeSet::new();
        let mut each = |tool: &Tool, kind: &ClauseKind, vars: &mut BTreeSet<usize>| {
            exprs_of(kind, &mut |e| {
                e.walk(&mut |e| match &e.kind {
                    ExprKind::Param(at) => _ = names.insert(tool.params[*at as usize].name.clone()),
                    ExprKind::State(var) => _ = vars.insert(*var),
                    ExprKind::Field(of, at) => {
                        if let Type::Record(id) = of.ty.required() {
                            names.insert(program.records[*id].fields[*at as usize].wire.clone());
                        }
                    }
                    _ => {}
                });
            });
        };
        for (tool, kind) in clauses_alone(program, &other) {
            each(tool, kind, &mut vars);
        }
        // What they read of the session, results have told.
        for tool in &program.tools {
            for clause in &tool.clauses {
                if let ClauseKind::Observe { target, .. } = &clause.kind
                    && vars.contains(&target.var)
                {
                    each(tool, &clause.kind, &mut BTreeSet::new());
                }
            }
        }
    }
    names
}

/// Of each guard, the denies of a tool by which it may refuse what the other allows: those that it alone has, and those that
/// read what clauses of one guard only write.
pub(super) fn denies_at_stake(programs: [&Program; 2], wire: &str) -> [Vec<Span>; 2] {
    let [old, new] = programs.map(|program| clauses(program, |_| true));
    let sides = [(programs[0], new), (programs[1], old)];
    let written = sides.iter().flat_map(|(program, other)| written_alone(program, other));
    let written: BTreeSet<&str> = written.collect();
    sides.each_ref().map(|(program, other)| {
        let tools = program.tools.iter().filter(|tool| tool.wire_name == wire);
        let clauses = tools.flat_map(|tool| Canon(program).clauses(tool));
        let at_stake = clauses.filter_map(|(clause, text)| {
            let ClauseKind::Deny { condition, .. } = &clause.kind else { return None };
            let alone = !other.contains(&(wire.to_string(), text));
            (alone || reads(program, condition, &written)).then_some(clause.rule.span)
        });
        at_stake.collect()
    })
}

/// The variables and facts that a guard's clauses write which the other does not have, by name.
fn written_alone<'p>(program: &'p Program, other: &BTreeSet<(String, String)>) -> Vec<&'p str> {
    let written = |(_, kind): (&Tool, &ClauseKind)| match kind {
        ClauseKind::Effect { target, .. } | ClauseKind::Observe { target, .. } => {
            Some(program.state[target.var].name.as_str())
        }
        ClauseKind::Learn(learn) => Some(program.facts[learn.fact].name.as_str()),
        _ => None,
    };
    clauses_alone(program, other).into_iter().filter_map(written).collect()
}

/// Returns whether an expression reads a variable or fact of these names.
fn reads(program: &Program, e: &Expr, names: &BTreeSet<&str>) -> bool {
    let mut found = false;
    e.walk(&mut |e| {
        found |= match &e.kind {
            ExprKind::State(var) => names.contains(program.state[*var].name.as_str()),
            ExprKind::Row(fact, _) | ExprKind::Known(fact, _) | ExprKind::Rows(fact) => {
                names.contains(program.facts[*fact].name.as_str())
            }
            _ => false,
        };
    });
    found
}

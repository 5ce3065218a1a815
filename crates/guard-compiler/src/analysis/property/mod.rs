//! Properties: what the rules of a guard are claimed to imply (semantics §15).
//!
//! Input: a checked program whose properties are rules in shadow mode. For each clause of a
//! property and each tool, `prove` returns the proof that the clause never refuses a call. `refute`
//! searches for a session in which it would. Nothing here is part of a plan.

mod limits;
mod program;

pub(crate) use program::{Stance, with};

use crate::analysis::diff::implied::{ImpliedRule, covers};
use crate::analysis::diff::{self, Witness};
use crate::analysis::reference::ReferenceSession;
use crate::analysis::verify::{self, Basis, ObligationStatus};
use crate::hir::canon::Canon;
use crate::hir::{
    Clause, ClauseKind, Expr, ExprKind, Invariant, Program, Property, PropertyId, RuleMeta, Tool,
    ToolId, VarId,
};
use crate::sources::SourceFile;
use guard_plan::plan::{Plan, Undecoded};
use guard_proof::frame;
use guard_syntax::span::Span;
use std::collections::BTreeSet;

/// The result for one clause of a property and one tool.
#[derive(Debug, Clone)]
pub struct PropertyClaim {
    /// The property, by its index in the program.
    pub property: PropertyId,
    /// The tool, by its index in the program.
    pub tool: ToolId,
    /// A short text of the clause.
    pub text: String,
    /// The position of the clause.
    pub span: Span,
    /// The rules and proofs that it follows from; `None` if it is not proved.
    pub proof: Option<Vec<Basis>>,
}

/// The outcome of a property.
#[derive(Debug, Clone)]
pub enum PropertyOutcome {
    /// No session violates it.
    Proved,
    /// This session violates it. In the witness, the old guard is the one with the property
    /// enforced, and the new guard is the guard itself.
    Refuted(Box<Witness>),
    /// It is not proved, and no session was found that violates it.
    NotDecided {
        /// The number of explored states.
        states: usize,
        /// The number of judged calls.
        calls: usize,
    },
}

/// Decides for every clause of every property, and for each of its tools, whether the clause
/// follows from the rules of the guard.
pub(crate) fn prove(claimed: &Program, files: &[SourceFile]) -> Vec<PropertyClaim> {
    let mut claims = Vec::new();
    for (tool, tool_def) in claimed.tools.iter().enumerate() {
        for clause in &tool_def.clauses {
            let Some(property) = clause.rule.property else { continue };
            let text = written(files, clause);
            let span = clause.rule.span;
            let proof = if claimed.shadow { None } else { at_sight(claimed, files, tool, clause) };
            claims.push(PropertyClaim { property, tool, text, span, proof });
        }
    }
    if !claimed.shadow && claims.iter().any(|claim| claim.proof.is_none()) {
        OpenClaims { claimed, files }.prove(&mut claims);
    }
    claims.sort_by_key(|claim| (claim.property, claim.span, claim.tool));
    claims
}

/// Returns a clause as it is written, without its reason and on one line.
fn written(files: &[SourceFile], clause: &Clause) -> String {
    let span = clause.rule.span;
    let text = files.get(span.file.0 as usize).map_or("", |file| &file.text);
    let text = text.get(span.start as usize..span.end as usize).unwrap_or_default();
    let text = text.split(" because \"").next().unwrap_or_default();
    let text: Vec<&str> =
        text.lines().map(|line| line.split(" //").next().unwrap_or(line)).collect();
    text.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the basis of a clause that follows from a rule by its form; `None` if it follows from
/// none.
fn at_sight(
    claimed: &Program,
    files: &[SourceFile],
    tool: ToolId,
    clause: &Clause,
) -> Option<Vec<Basis>> {
    let tool_def = &claimed.tools[tool];
    let place = |clause| ImpliedRule { program: claimed, tool: tool_def, clause };
    let enforced = tool_def.clauses.iter().filter(|other| !other.rule.shadow);
    let mut covering = enforced.filter(|other| covers(place(other), place(clause)));
    if let Some(other) = covering.next() {
        return Some(vec![Basis::Rule(written(files, other))]);
    }
    limits::follows(claimed, clause).then(|| vec![Basis::Limits])
}

/// The clauses that do not follow from the form of a rule.
struct OpenClaims<'p> {
    claimed: &'p Program,
    files: &'p [SourceFile],
}

impl OpenClaims<'_> {
    fn prove(&self, claims: &mut [PropertyClaim]) {
        let open = |claims: &[PropertyClaim], tool: ToolId, clause: &Clause| {
            let known = |claim: &PropertyClaim| {
                claim.tool == tool && claim.span == clause.rule.span && claim.proof.is_none()
            };
            claims.iter().position(known)
        };
        // Each open clause is identified in the plan by its number.
        let watched = |claims: &[PropertyClaim]| {
            let mut watched = with(self.claimed, |tool, clause| match open(claims, tool, clause) {
                Some(_) => Stance::Watches,
                None => Stance::Absent,
            });
            for (tool, tool_def) in watched.tools.iter_mut().enumerate() {
                tool_def
                    .clauses
                    .retain(|clause| !clause.rule.shadow || clause.rule.property.is_some());
                for clause in tool_def.clauses.iter_mut().filter(|c| c.rule.property.is_some()) {
                    let at = open(claims, tool, clause);
                    clause.rule.owner = at.map_or(String::new(), |at| at.to_string());
                }
            }
            watched
        };
        let candidates = self.candidates(&watched(claims));
        for at in candidates.iter().flat_map(|candidate| &candidate.claims) {
            claims[*at].proof = Some(vec![Basis::Induction]);
        }
        if claims.iter().all(|claim| claim.proof.is_some()) {
            return;
        }
        let mut program = watched(claims);
        program.invariants.extend(candidates.into_iter().map(|candidate| candidate.invariant));
        let (plan, _) = crate::lower::lower(&program, self.files);
        for (at, basis) in verify::claims(&plan) {
            if let Some(claim) = at.parse().ok().and_then(|at: usize| claims.get_mut(at)) {
                claim.proof = Some(basis);
            }
        }
    }

    /// Returns the open clauses that hold in every committed state, by induction over the session.
    /// Calls that are in flight at the same time read nothing that the other call writes. So what
    /// each call preserves is preserved by both, in either order.
    fn candidates(&self, watched: &Program) -> Vec<InvariantCandidate> {
        let mut candidates: Vec<InvariantCandidate> = Vec::new();
        let (plan, _) = crate::lower::lower(watched, self.files);
        let pure = pure_denies(&plan);
        let clauses = watched.tools.iter().flat_map(|tool| {
            let clauses = tool.clauses.iter();
            clauses.map(move |clause| (tool, clause))
        });
        for (tool, clause) in clauses {
            let ClauseKind::Deny { condition, text, .. } = &clause.kind else { continue };
            let Ok(at) = clause.rule.owner.parse::<usize>() else { continue };
            if clause.rule.property.is_none() || !pure.contains(&clause.rule.owner) {
                continue;
            }
            // A clause of a policy is in each of its tools. Its names may mean something else in
            // each of them, so the expressions are compared.
            let meaning = Canon(watched).expr(Some(tool), condition);
            let is_same = |known: &&mut InvariantCandidate| {
                known.meaning == meaning
                    || guard_proof::mutant!("a clause of a policy means the same in every tool")
                        && known.invariant.rule.span == clause.rule.span
            };
            match candidates.iter_mut().find(is_same) {
                Some(known) => known.claims.push(at),
                None => {
                    let invariant = holds_always(&clause.rule, condition, text);
                    candidates.push(InvariantCandidate { invariant, meaning, claims: vec![at] });
                }
            }
        }
        loop {
            let broken = self.broken(watched, &candidates);
            if broken.is_empty() || guard_proof::mutant!("whatever is tried is kept") {
                return candidates;
            }
            candidates.retain(|candidate| !broken.contains(&candidate.invariant.rule.owner));
        }
    }

    /// Returns the candidates, by name, that are not proved for every tool, or do not hold
    /// initially.
    fn broken(&self, watched: &Program, candidates: &[InvariantCandidate]) -> BTreeSet<String> {
        let mut program = with(watched, |_, _| Stance::Absent);
        program.invariants.extend(candidates.iter().map(|c| c.invariant.clone()));
        let names: BTreeSet<&String> = candidates.iter().map(|c| &c.invariant.rule.owner).collect();
        if candidates.is_empty() {
            return BTreeSet::new();
        }
        let mut broken: BTreeSet<String> = BTreeSet::new();
        match ReferenceSession::open(&program, 0, "/", None) {
            Ok(session) => broken.extend(
                session
                    .broken_initially()
                    .into_iter()
                    .filter(|_| !guard_proof::mutant!("whatever holds at first"))
                    .map(|(at, _)| program.invariants[at].rule.owner.clone()),
            ),
            Err(_) => broken.extend(names.iter().map(|name| (*name).clone())),
        }
        let (plan, _) = crate::lower::lower(&program, self.files);
        let verified = verify::verify(&plan);
        for pair in verified.pairs.iter().chain(&verified.observations) {
            if !matches!(pair.status, ObligationStatus::Proved(_) | ObligationStatus::Vacuous) {
                broken.insert(plan.invariants[pair.invariant as usize].rule.owner.clone());
            }
        }
        // A result that does not decode may clear what it would write, and nothing enforces a candidate.
        let cleared = cleared(&program);
        for InvariantCandidate { invariant, .. } in candidates {
            if !invariant.condition.variables().is_disjoint(&cleared) {
                broken.insert(invariant.rule.owner.clone());
            }
        }
        broken.retain(|name| names.contains(name));
        broken
    }
}

/// Returns the variables that are cleared by a result that does not decode.
fn cleared(program: &Program) -> BTreeSet<VarId> {
    let clears = |tool: &&Tool| tool.undecoded == Undecoded::Clear;
    let clauses = program.tools.iter().filter(clears).flat_map(|tool| &tool.clauses);
    let observed = clauses.filter_map(|clause| match &clause.kind {
        ClauseKind::Observe { target, .. } => Some(target.var),
        _ => None,
    });
    observed.collect()
}

/// An invariant that may hold of every session, and the claims that it is made from, by number.
struct InvariantCandidate {
    invariant: Invariant,
    /// The condition as a text that is equal only for the same condition.
    meaning: String,
    claims: Vec<usize>,
}

/// Returns the owners of denies in shadow mode that read only the state, and have the same value at
/// the beginning of every session.
fn pure_denies(plan: &Plan) -> BTreeSet<String> {
    let denies = plan.tools.iter().flat_map(|tool| &tool.denies);
    let is_pure = |condition| {
        frame::is_pure(condition)
            && (frame::begins_alike(plan, condition)
                || guard_proof::mutant!("a candidate begins alike in every workspace"))
    };
    let pure = denies.filter(|deny| deny.rule.shadow && is_pure(&deny.condition));
    pure.map(|deny| deny.rule.owner.clone()).collect()
}

/// Returns the invariant that a `deny` never refuses, with a name that no other invariant has.
fn holds_always(rule: &RuleMeta, condition: &Expr, text: &str) -> Invariant {
    let owner = format!("property {}", rule.owner);
    Invariant {
        rule: RuleMeta { owner, shadow: false, property: None, ..rule.clone() },
        monitor: false,
        proved: false,
        condition: Expr { kind: ExprKind::Not(Box::new(condition.clone())), ..condition.clone() },
        text: text.to_string(),
        because: None,
    }
}

/// Decides for each property whether it holds. For a property that is not proved, searches for a
/// session that violates it.
pub(crate) fn decide(
    claimed: &Program,
    claims: &[PropertyClaim],
    limits: &diff::WitnessLimits,
    stop: &dyn Fn() -> bool,
) -> Vec<PropertyOutcome> {
    let guard = with(claimed, |_, _| Stance::Absent);
    let outcome = |(id, property): (PropertyId, &Property)| {
        let open: BTreeSet<ToolId> = claims
            .iter()
            .filter(|claim| claim.property == id && claim.proof.is_none())
            .map(|claim| claim.tool)
            .collect();
        if open.is_empty() {
            return PropertyOutcome::Proved;
        }
        let refusing = with(claimed, |_, clause| {
            if clause.rule.property == Some(id) { Stance::Refuses } else { Stance::Absent }
        });
        let mut states = 0;
        let mut calls = 0;
        for tool in &open {
            let wire = &claimed.tools[*tool].wire_name;
            let share = open.len();
            let found = diff::allowed_despite(
                &refusing,
                &guard,
                (wire, &property.name),
                (limits, share),
                stop,
            );
            if let Some(witness) = found.witness {
                return PropertyOutcome::Refuted(Box::new(witness));
            }
            states += found.states;
            calls += found.calls;
        }
        PropertyOutcome::NotDecided { states, calls }
    };
    claimed.properties.iter().enumerate().map(outcome).collect()
}

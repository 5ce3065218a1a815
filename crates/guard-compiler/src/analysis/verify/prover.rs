//! The prover: from a problem to a certificate, or to why there is none.
//!
//! Exact Fourier–Motzkin elimination over integers with cuts by common divisors, below a case split whose next
//! case is chosen by intervals. Steps are counted, never the clock, so that the same problem has the same
//! certificate everywhere. Nothing here need be trusted: `guard_proof::proves` looks at the result.

mod intervals;
mod tableau;

use guard_plan::plan::{Certificate, ProofStep};
use guard_proof::formula::{Formula, Operands};
use guard_proof::linear::Var;
use guard_proof::{BranchContext, ProofProblem};
use intervals::VariableBounds;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use tableau::Tableau;

/// The limits of the prover's work on one problem.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Combinations of rows.
    pub combinations: u32,
    /// Cases looked at.
    pub cases: u32,
}

impl Effort {
    /// Enough for what people write.
    pub const USUAL: Effort = Effort { combinations: 20_000, cases: 400 };
    /// Enough for a guess, of which there are many.
    pub const GUESS: Effort = Effort { combinations: 400, cases: 12 };
}

/// The looks at rows and alternatives that are left for all problems of a guard: a guard of many hard pairs ends as
/// well.
#[derive(Debug)]
pub(crate) struct Allowance {
    looks: Cell<u64>,
}

impl Allowance {
    /// For a whole guard.
    pub fn for_a_guard() -> Allowance {
        Allowance { looks: Cell::new(20_000_000) }
    }

    /// For all guesses about a guard.
    pub fn for_guesses() -> Allowance {
        Allowance { looks: Cell::new(200_000) }
    }

    /// For one problem that is asked for by itself.
    pub fn unlimited() -> Allowance {
        Allowance { looks: Cell::new(u64::MAX) }
    }

    /// Takes so many looks; false where they are not left.
    fn take(&self, looks: u64) -> bool {
        let left = self.looks.get().checked_sub(looks);
        self.looks.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// Rounds of hypotheses that share a variable with those before.
const ROUNDS: usize = 4;
/// Most inequalities taken together.
const MOST_ATOMS: u32 = 3_000;

/// The prover's answer to a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProverAnswer {
    /// It is so.
    Proved(Certificate),
    /// Nothing that the prover knows excludes the opposite.
    Open,
    /// The effort was used up.
    Exhausted,
}

/// Looks for a certificate that names only what it needs.
pub(crate) fn prove(problem: &ProofProblem, effort: Effort, allowance: &Allowance) -> ProverAnswer {
    match first_proof(problem, effort, allowance) {
        ProverAnswer::Proved(certificate) => {
            ProverAnswer::Proved(needed(problem, certificate, allowance))
        }
        answer => answer,
    }
}

/// Looks for any certificate: enough for whom only the answer matters.
pub(crate) fn first_proof(
    problem: &ProofProblem,
    effort: Effort,
    allowance: &Allowance,
) -> ProverAnswer {
    let slices = Slices::new(problem);
    let mut search = ProofSearch { problem, effort, allowance, steps: Vec::new() };
    let mut tried: Option<BTreeSet<u32>> = None;
    for round in 1..=ROUNDS {
        let uses = slices.within(round);
        if tried.as_ref() == Some(&uses) {
            break;
        }
        let uses_list: Vec<u32> = uses.iter().copied().collect();
        let Some(context) = BranchContext::new(problem, &uses_list) else {
            return ProverAnswer::Open;
        };
        search.steps.clear();
        if search.refute(&context, &[]) {
            return ProverAnswer::Proved(Certificate { uses: uses_list, steps: search.steps });
        }
        if search.effort.combinations == 0 || search.effort.cases == 0 {
            return ProverAnswer::Exhausted;
        }
        tried = Some(uses);
    }
    ProverAnswer::Open
}

/// Looks for a certificate that uses these hypotheses alone.
pub(crate) fn certify(problem: &ProofProblem, uses: &[u32], effort: Effort) -> ProverAnswer {
    let Some(context) = BranchContext::new(problem, uses) else { return ProverAnswer::Open };
    let allowance = &Allowance::unlimited();
    let mut search = ProofSearch { problem, effort, allowance, steps: Vec::new() };
    if search.refute(&context, &[]) {
        ProverAnswer::Proved(Certificate { uses: uses.to_vec(), steps: search.steps })
    } else {
        ProverAnswer::Open
    }
}

/// The same certificate without the hypotheses that it does not need: so that a proof names what did it.
fn needed(problem: &ProofProblem, certificate: Certificate, allowance: &Allowance) -> Certificate {
    let mut kept = certificate;
    // From the last to the first, so that what was found to matter early stays; half of them at a time, then half of
    // these, since most are not needed.
    let whole = 0..kept.uses.len();
    let mut open = vec![whole];
    while let Some(part) = open.pop() {
        let fewer = [&kept.uses[..part.start], &kept.uses[part.end..]].concat();
        if guard_proof::mutant!("a needed hypothesis is dropped") {
            kept.uses = fewer;
            continue;
        }
        let Some(context) = BranchContext::new(problem, &fewer) else { continue };
        let effort = Effort { combinations: 4_000, cases: 100 };
        let mut search = ProofSearch { problem, effort, allowance, steps: Vec::new() };
        if search.refute(&context, &[]) {
            kept = Certificate { uses: fewer, steps: search.steps };
        } else if part.len() > 1 {
            let middle = part.start + part.len() / 2;
            open.extend([part.start..middle, middle..part.end]);
        }
    }
    kept
}

/// The relevance of hypotheses to the goal: the distance of each in steps.
struct Slices {
    distance: Vec<usize>,
    atoms: Vec<u32>,
}

impl Slices {
    fn new(problem: &ProofProblem) -> Slices {
        let vars_of = |formula: &Formula| {
            let mut vars = BTreeSet::new();
            formula.vars(&mut |var| _ = vars.insert(var));
            vars
        };
        let vars: Vec<BTreeSet<Var>> = problem.hypotheses.iter().map(vars_of).collect();
        let mut reached = vars_of(&problem.negated_goal);
        let mut distance = vec![usize::MAX; vars.len()];
        if reached.is_empty() {
            // Whether the hypotheses can be at all: each has to do with that.
            distance.fill(1);
        }
        for round in 1..=ROUNDS {
            let mut next = reached.clone();
            for (at, vars) in vars.iter().enumerate() {
                if distance[at] == usize::MAX && (vars.is_empty() || !vars.is_disjoint(&reached)) {
                    distance[at] = round;
                    next.extend(vars);
                }
            }
            reached = next;
        }
        let atoms = problem.hypotheses.iter().map(Formula::atoms).collect();
        Slices { distance, atoms }
    }

    fn within(&self, round: usize) -> BTreeSet<u32> {
        let mut total = 0u32;
        let mut uses = BTreeSet::new();
        for (at, distance) in self.distance.iter().enumerate() {
            let more = total.saturating_add(self.atoms[at]);
            if *distance <= round && more <= MOST_ATOMS {
                total = more;
                uses.insert(at as u32);
            }
        }
        uses
    }
}

struct ProofSearch<'p> {
    problem: &'p ProofProblem,
    effort: Effort,
    allowance: &'p Allowance,
    steps: Vec<ProofStep>,
}

impl ProofSearch<'_> {
    /// Shows that what a context says cannot be; the steps say how. Disjunctions that were split above are decided.
    fn refute(&mut self, context: &BranchContext, decided: &[u32]) -> bool {
        if context.absurd {
            return true;
        }
        if self.effort.cases == 0 {
            return false;
        }
        self.effort.cases -= 1;
        let atoms = context.alternatives.iter().flat_map(|parts| &parts.parts).map(Formula::atoms);
        let atoms: u64 = atoms.map(u64::from).sum();
        if !self.allowance.take(context.rows.len() as u64 + atoms) {
            self.effort.cases = 0;
            return false;
        }
        let bounds = VariableBounds::from_rows(self.problem, &context.rows);
        let next = next_case(&context.alternatives, decided, &bounds);
        // Where one alternative is left the rows can wait; where none is, they are not needed.
        let rows_decide = bounds.absurd || next.as_ref().is_none_or(|next| next.open > 1);
        if rows_decide && self.eliminate(context) {
            return true;
        }
        let Some(CaseSplit { index, parts, .. }) = next else { return false };
        let begun = self.steps.len();
        self.steps.push(ProofStep::Split(index));
        let decided = [decided, &[index]].concat();
        let most = if guard_proof::mutant!("the prover splits two cases") { 1 } else { usize::MAX };
        for part in parts.parts.iter().take(most) {
            let mut branch = context.clone();
            branch.assume(part);
            if !self.refute(&branch, &decided) {
                self.steps.truncate(begun);
                return false;
            }
        }
        true
    }

    /// Fourier–Motzkin on the inequalities alone.
    fn eliminate(&mut self, context: &BranchContext) -> bool {
        let mut tableau = Tableau::new(self.problem, &context.rows);
        let Some(absurd) = tableau.refute(&mut self.effort.combinations) else { return false };
        self.steps.extend(tableau.steps(absurd, context.rows.len() as u32));
        true
    }
}

/// The disjunction to split next.
struct CaseSplit {
    index: u32,
    parts: Rc<Operands>,
    /// How many alternatives the intervals leave open.
    open: usize,
}

fn next_case(
    alternatives: &[Rc<Operands>],
    decided: &[u32],
    bounds: &VariableBounds,
) -> Option<CaseSplit> {
    let mut best: Option<CaseSplit> = None;
    for (index, parts) in (0..).zip(alternatives) {
        if decided.contains(&index) || parts.parts.iter().any(|part| bounds.entails(part)) {
            continue;
        }
        let open = parts.parts.iter().filter(|part| !bounds.refutes(part)).count();
        if best.as_ref().is_none_or(|best| open < best.open) {
            let done = open == 0;
            best = Some(CaseSplit { index, parts: parts.clone(), open });
            if done {
                break;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use guard_proof::Variable;
    use guard_proof::linear::Linear;

    #[test]
    fn a_used_up_allowance_proves_nothing() {
        let at_most = |factor, constant| {
            Formula::at_most(Some(Linear { terms: vec![(0, factor)], constant })).expect("small")
        };
        let problem = ProofProblem {
            vars: Rc::from([Variable {
                term: Default::default(),
                least: Some(0),
                greatest: Some(9),
            }]),
            hypotheses: Rc::from([at_most(1, -3)]),
            negated_goal: at_most(-1, 5),
        };
        let enough = prove(&problem, Effort::USUAL, &Allowance::for_a_guard());
        assert!(matches!(enough, ProverAnswer::Proved(_)));
        let none = Allowance { looks: Cell::new(0) };
        assert_eq!(prove(&problem, Effort::USUAL, &none), ProverAnswer::Exhausted);
    }
}

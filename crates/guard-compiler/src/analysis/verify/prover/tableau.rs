//! Fourier–Motzkin elimination of the variables of some rows: the sums of rows that lead to an absurd one.

use guard_plan::plan::{ProofStep, Row};
use guard_proof::ProofProblem;
use guard_proof::linear::{Linear, Var, gcd};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Most rows of one elimination.
const MOST_ROWS: usize = 1_500;
/// The origin of a row.
#[derive(Clone, Copy)]
enum RowOrigin {
    Given(Row),
    /// Multiples of two earlier ones.
    Sum((u64, usize), (u64, usize)),
}

/// Rows under elimination, with their origins.
pub(super) struct Tableau {
    rows: Vec<(Linear, RowOrigin)>,
    /// Of the same sums only the tightest is kept alive.
    alive: HashMap<Vec<(Var, i128)>, usize>,
    absurd: Option<usize>,
}

impl Tableau {
    pub(super) fn new(problem: &ProofProblem, given: &[Linear]) -> Tableau {
        let mut tableau = Tableau { rows: Vec::new(), alive: HashMap::new(), absurd: None };
        let mut vars = BTreeSet::new();
        for (at, row) in (0..).zip(given) {
            vars.extend(row.terms.iter().map(|(var, _)| *var));
            tableau.add(row.clone(), RowOrigin::Given(Row::Known(at)));
        }
        for var in vars {
            let variable = &problem.vars[var as usize];
            if let Some(least) = variable.least {
                let row = Linear { terms: vec![(var, -1)], constant: least };
                tableau.add(row, RowOrigin::Given(Row::Least(var)));
            }
            if let Some(greatest) = variable.greatest {
                let row = Linear { terms: vec![(var, 1)], constant: -greatest };
                tableau.add(row, RowOrigin::Given(Row::Greatest(var)));
            }
        }
        tableau
    }

    fn add(&mut self, row: Linear, origin: RowOrigin) {
        if row.terms.is_empty() {
            if row.constant > 0 && self.absurd.is_none() {
                self.absurd = Some(self.rows.len());
                self.rows.push((row, origin));
            }
            return;
        }
        let tighter = self.alive.get(&row.terms).map(|at| self.rows[*at].0.constant);
        if tighter.is_none_or(|known| known < row.constant) {
            self.alive.insert(row.terms.clone(), self.rows.len());
            self.rows.push((row, origin));
        }
    }

    /// Eliminates one variable after the other; the absurd row, if one comes out.
    pub(super) fn refute(&mut self, combinations: &mut u32) -> Option<usize> {
        while self.absurd.is_none() {
            let (var, above, below) = self.next_var()?;
            let equal = self.equality(var, &above, &below);
            let mut pairs: Vec<(usize, usize)> = Vec::new();
            match equal {
                Some((up, down)) => {
                    pairs.extend(above.iter().filter(|at| **at != up).map(|at| (*at, down)));
                    pairs.extend(below.iter().filter(|at| **at != down).map(|at| (up, *at)));
                }
                None => pairs
                    .extend(above.iter().flat_map(|up| below.iter().map(move |down| (*up, *down)))),
            }
            if pairs.len() > MOST_ROWS || self.alive.len() > MOST_ROWS {
                return None;
            }
            for at in above.iter().chain(&below) {
                self.alive.remove(&self.rows[*at].0.terms);
            }
            for (up, down) in pairs {
                *combinations =
                    combinations.checked_sub(1).filter(|left| *left > 0).or_else(|| {
                        *combinations = 0;
                        None
                    })?;
                self.combine(var, up, down);
                if self.absurd.is_some() {
                    break;
                }
            }
        }
        self.absurd
    }

    /// The variable whose elimination makes the fewest rows; those that bound it from above, and from below.
    fn next_var(&self) -> Option<(Var, Vec<usize>, Vec<usize>)> {
        let mut sides: BTreeMap<Var, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        let mut alive: Vec<usize> = self.alive.values().copied().collect();
        alive.sort_unstable();
        for at in alive {
            for (var, factor) in &self.rows[at].0.terms {
                let (above, below) = sides.entry(*var).or_default();
                if *factor > 0 { above.push(at) } else { below.push(at) }
            }
        }
        let cost = |(var, (above, below)): &(Var, (Vec<usize>, Vec<usize>))| {
            let pairs = above.len() * below.len();
            match self.equality(*var, above, below) {
                Some(_) => (above.len() + below.len()).min(pairs),
                None => pairs,
            }
        };
        let (var, (above, below)) = sides.into_iter().min_by_key(cost)?;
        Some((var, above, below))
    }

    /// Two rows that say together that the variable equals something, with factor 1.
    fn equality(&self, var: Var, above: &[usize], below: &[usize]) -> Option<(usize, usize)> {
        let unit = |at: &&usize| {
            let terms = &self.rows[**at].0.terms;
            terms.iter().any(|(known, factor)| *known == var && factor.abs() == 1)
        };
        above.iter().filter(unit).find_map(|up| {
            let opposite = self.rows[*up].0.times(-1)?;
            let down = below.iter().find(|down| self.rows[**down].0 == opposite)?;
            Some((*up, *down))
        })
    }

    fn combine(&mut self, var: Var, up: usize, down: usize) {
        let factor = |at: usize| {
            let terms = &self.rows[at].0.terms;
            terms.iter().find(|(known, _)| *known == var).map_or(0, |(_, factor)| factor.abs())
        };
        let a = factor(up);
        let b = factor(down);
        let (a, b) = if guard_proof::mutant!("multipliers are swapped") { (b, a) } else { (a, b) };
        let shared = gcd(a, b).max(1);
        let (Ok(up_times), Ok(down_times)) = (u64::try_from(b / shared), u64::try_from(a / shared))
        else {
            return;
        };
        let sum = self.rows[up].0.times(up_times.into());
        let sum = sum.and_then(|sum| sum.plus(down_times.into(), &self.rows[down].0));
        if let Some(sum) = sum {
            self.add(sum.tightened(), RowOrigin::Sum((up_times, up), (down_times, down)));
        }
    }

    /// The sums that lead to a row, as steps, where so many rows are known before.
    pub(super) fn steps(&self, last: usize, known: u32) -> Vec<ProofStep> {
        let mut needed = BTreeSet::from([last]);
        let mut open = vec![last];
        while let Some(at) = open.pop() {
            if let RowOrigin::Sum((_, a), (_, b)) = self.rows[at].1 {
                open.extend([a, b].into_iter().filter(|at| needed.insert(*at)));
            }
        }
        let mut numbers: HashMap<usize, Row> = HashMap::new();
        let mut steps = Vec::new();
        for at in needed {
            match self.rows[at].1 {
                RowOrigin::Given(row) => {
                    numbers.insert(at, row);
                }
                RowOrigin::Sum((a_times, a), (b_times, b)) => {
                    let off = u32::from(guard_proof::mutant!("rows are counted from one"));
                    numbers.insert(at, Row::Known(known + steps.len() as u32 + off));
                    steps
                        .push(ProofStep::Sum(vec![(a_times, numbers[&a]), (b_times, numbers[&b])]));
                }
            }
        }
        steps
    }
}

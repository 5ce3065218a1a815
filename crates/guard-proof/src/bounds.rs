//! Bounds of a session: inequalities between variables and counts of the session, which hold in
//! every committed state by induction over its settlements (semantics §15).
//!
//! A bound is part of the plan. This module determines the bounds that an induction may be about,
//! that they hold initially, and what each settlement that could break one has to prove. It does
//! not search for bounds.

use crate::bodies::written;
use crate::encoder::{Encoder, EncoderEnv};
use crate::formula::Formula;
use crate::linear::Linear;
use crate::system::{Given, ProofGoal, SystemBuilder};
use crate::terms::{Moment, Op};
use crate::value::{Encoded, SymbolicValue, TooMuch, Width};
use crate::{charges, frame};
use guard_plan::plan::{
    Claim, LimitScope, Node, Plan, Proof, SessionBound, SessionMeasure, Tool, ToolId, TypeDef,
    VarId,
};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The maximum number of bounds of a plan.
pub const MOST_BOUNDS: usize = 64;
/// The maximum number of measures of a bound.
const MOST_TERMS: usize = 8;

/// Returns the bounds that proofs claim, each once, ascending.
pub fn claimed(proofs: &[Proof]) -> Vec<SessionBound> {
    let bounds = proofs.iter().filter_map(|proof| match &proof.claim {
        Claim::Bounded { bound, .. } => Some(bound.clone()),
        _ => None,
    });
    bounds.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the value of a bound's sum, given the values of its measures; `None` if one of them is
/// not known. The bound holds if the value is not positive.
pub fn value(
    bound: &SessionBound,
    mut measured: impl FnMut(SessionMeasure) -> Option<i128>,
) -> Option<i128> {
    bound.terms.iter().try_fold(i128::from(bound.constant), |sum, (factor, measure)| {
        sum.checked_add(i128::from(*factor).checked_mul(measured(*measure)?)?)
    })
}

/// Returns the variables that a bound reads.
pub fn variables(bound: &SessionBound) -> impl Iterator<Item = VarId> {
    bound.terms.iter().filter_map(|(_, measure)| match measure {
        SessionMeasure::State(var) | SessionMeasure::Size(var) => Some(*var),
        _ => None,
    })
}

/// Returns true if a settlement of the tool could break the bound: it writes one of its variables,
/// or its success is measured. Every other settlement only increases counts, which cannot break a
/// bound.
pub fn is_moved_by(plan: &Plan, tool: ToolId, bound: &SessionBound) -> bool {
    let called = bound.terms.iter().any(|(_, measure)| *measure == SessionMeasure::Called(tool));
    writes(&plan.tools[tool as usize], bound) || called && !mutant!("a success moves no bound")
}

/// Returns true if the tool has to prove that its settlement preserves the bound, because it could
/// break it. If no tool could break the bound, the first tool has to claim it, so that every bound
/// is claimed.
pub fn is_owed_by(plan: &Plan, tool: ToolId, bound: &SessionBound) -> bool {
    let all = 0..plan.tools.len() as ToolId;
    is_moved_by(plan, tool, bound)
        || tool == 0 && !all.into_iter().any(|other| is_moved_by(plan, other, bound))
}

fn writes(tool: &Tool, bound: &SessionBound) -> bool {
    let effects = tool.effects.iter().map(|effect| effect.target.var);
    let mut all = effects.chain(tool.observes.iter().map(|observe| observe.target.var));
    all.any(|target| variables(bound).any(|var| var == target))
}

/// Checks that an induction may be about these bounds: each is well formed, holds initially, and
/// has a claim for every tool that has to preserve it.
///
/// # Errors
///
/// Returns an error, as text, for the first bound that does not satisfy this.
pub(crate) fn founded(plan: &Plan, proofs: &[Proof]) -> Result<Vec<SessionBound>, String> {
    let bounds = claimed(proofs);
    if bounds.len() > MOST_BOUNDS {
        return Err(format!("its proofs claim more than {MOST_BOUNDS} bounds"));
    }
    for bound in &bounds {
        if !is_founded(plan, bound) {
            return Err("a claimed bound cannot be proved by induction".into());
        }
        for tool in (0..plan.tools.len() as ToolId).filter(|id| is_owed_by(plan, *id, bound)) {
            let claim = Claim::Bounded { tool, bound: bound.clone() };
            if !proofs.iter().any(|proof| proof.claim == claim) {
                let name = &plan.tools[tool as usize].name;
                return Err(format!("`{name}` is not proved to keep a claimed bound"));
            }
        }
    }
    Ok(bounds)
}

/// Returns true if a bound is well formed and holds initially.
///
/// Counts may occur in a bound only if larger counts weaken it. A failed call, a call of an
/// undeclared tool, or a call that is counted twice is then harmless. No variable may be observed,
/// because an observation may be dropped, or cleared if a result does not decode. Calls that could
/// break the bound and calls that write one of its variables wait for each other, so that the
/// variables have the same values at a settlement as at the proposal.
pub fn is_founded(plan: &Plan, bound: &SessionBound) -> bool {
    let distinct: BTreeSet<SessionMeasure> =
        bound.terms.iter().map(|(_, measure)| *measure).collect();
    let formed = !bound.terms.is_empty()
        && bound.terms.len() <= MOST_TERMS
        && distinct.len() == bound.terms.len()
        && bound.terms.iter().all(|(factor, measure)| is_measured(plan, *factor, *measure));
    if !formed {
        return false;
    }
    let begins = mutant!("a bound need not hold at first")
        || value(bound, |measure| at_first(plan, measure)).is_some_and(|value| value <= 0);
    begins && waited_for(plan, bound)
}

fn is_measured(plan: &Plan, factor: i64, measure: SessionMeasure) -> bool {
    match measure {
        SessionMeasure::State(var) | SessionMeasure::Size(var) => {
            let Some(declared) = plan.state.get(var as usize) else { return false };
            let is_observed = plan.tools.iter().any(|tool| {
                tool.observes.iter().any(|observe| observe.target.var == var)
                    && !mutant!("a bound may be observed")
            });
            let ty = plan.types.get(declared.ty as usize);
            let is_size = matches!(measure, SessionMeasure::Size(_));
            let fits = match ty {
                Some(TypeDef::List { .. } | TypeDef::Set { .. } | TypeDef::Map { .. }) => is_size,
                Some(TypeDef::Bool | TypeDef::Int { .. } | TypeDef::Decimal { .. }) => !is_size,
                _ => false,
            };
            factor != 0 && fits && !is_observed && frame::is_pure(&declared.init)
        }
        SessionMeasure::Counted(id) => plan.limits.get(id as usize).is_some_and(|limit| {
            let shadow = limit.rule.shadow && !mutant!("a limit in shadow bounds");
            let whole = limit.scope == LimitScope::Session || mutant!("a limit of a window bounds");
            let keyed = limit.keyed && !mutant!("a limit of a key bounds");
            let asks = limit.ask.is_some() && !mutant!("a limit that asks bounds");
            factor < 0 && !shadow && whole && !keyed && !asks
        }),
        SessionMeasure::Spent(id) => plan.units.get(id as usize).is_some_and(|unit| {
            factor < 0 && unit.budget.is_some_and(|most| most >= 0) && !unit.host_charged
        }),
        SessionMeasure::Called(id) => factor != 0 && (id as usize) < plan.tools.len(),
    }
}

/// Returns the value of a measure when a session begins.
fn at_first(plan: &Plan, measure: SessionMeasure) -> Option<i128> {
    let (SessionMeasure::State(var) | SessionMeasure::Size(var)) = measure else { return Some(0) };
    let mut encoder = Encoder::new(plan, Width::REAL);
    let env =
        EncoderEnv { params: &[], returns: None, written: Rc::default(), locals: Rc::default() };
    let init = &plan.state.get(var as usize)?.init;
    let first = encoder.clause(|encoder| {
        let outcome = encoder.eval(init, &env)?;
        Ok((encoder.measured(&outcome.value, measure)?, outcome.sound))
    });
    let (measured, sound) = first?;
    (sound == Formula::True).then_some(measured?.as_constant()).flatten()
}

fn waited_for(plan: &Plan, bound: &SessionBound) -> bool {
    let tools = || (0..).zip(&plan.tools);
    tools().filter(|(id, _)| is_moved_by(plan, *id, bound)).all(|(mover, moving)| {
        tools().filter(|(_, tool)| writes(tool, bound)).all(|(writer, writing)| {
            mutant!("a bound is never in flight twice")
                || moving.waits_for(writer, writing) && writing.waits_for(mover, moving)
        })
    })
}

impl<'p> Encoder<'p> {
    /// Returns the measured number of a value; `None` if it has none.
    fn measured(
        &mut self,
        value: &SymbolicValue,
        measure: SessionMeasure,
    ) -> Encoded<Option<Linear>> {
        let value = self.open(value.clone());
        Ok(match (measure, value) {
            (SessionMeasure::State(_), SymbolicValue::Number(sort, linear)) if sort.is_number() => {
                Some(linear)
            }
            (SessionMeasure::State(_), SymbolicValue::Bool(truth)) => Some(self.as_number(&truth)?),
            (SessionMeasure::Size(_), SymbolicValue::Collection(collection)) => {
                Some(self.len(&collection)?)
            }
            _ => None,
        })
    }

    /// Returns 1 if a condition holds, otherwise 0.
    fn as_number(&mut self, truth: &Formula) -> Encoded<Linear> {
        if let Formula::AtMost(linear) = truth
            && let ([(var, -1)], 1) = (&linear.terms[..], linear.constant)
            && self.vars[*var as usize].range() == (Some(0), Some(1))
        {
            return Ok(Linear::var(*var));
        }
        self.choose_number(truth, Linear::constant(1), Linear::constant(0))
    }

    /// Returns a count of a session, at the proposal or at the settlement. At the proposal, a
    /// success is the answer to `called`.
    fn count(&mut self, measure: SessionMeasure, at: Moment) -> Linear {
        let range = (Some(0), self.most(measure));
        let term = match (measure, at) {
            (SessionMeasure::Called(tool), Moment::Proposal) => self.called(tool),
            // `spent(u)` is another term: it counts calls in flight, which may still give their
            // cost back.
            (SessionMeasure::Spent(_), Moment::Proposal) if mutant!("what is spent is settled") => {
                self.terms.intern(Op::Node(format!("{measure:?}")), Vec::new())
            }
            _ => self.terms.intern(Op::Measure(measure, at), Vec::new()),
        };
        Linear::var(self.var(term, range))
    }

    /// Returns the maximum of a count: admission refuses a call that would exceed it, and a session
    /// whose counts exceed it is not resumed.
    fn most(&self, measure: SessionMeasure) -> Option<i128> {
        match measure {
            SessionMeasure::Counted(id) => {
                self.plan.limits.get(id as usize).map(|limit| limit.count.into())
            }
            SessionMeasure::Spent(id) => {
                self.plan.units.get(id as usize).and_then(|unit| unit.budget).map(i128::from)
            }
            _ => Some(1),
        }
    }

    /// Encodes a bound over the variables of an environment, with these counts.
    fn bound(
        &mut self,
        bound: &SessionBound,
        env: &EncoderEnv<'p>,
        counts: &BTreeMap<SessionMeasure, Linear>,
    ) -> Encoded<Formula> {
        let mut sum = Linear::constant(bound.constant.into());
        for (factor, measure) in &bound.terms {
            let measured = match measure {
                SessionMeasure::State(var) | SessionMeasure::Size(var) => {
                    let value = self.state(*var, env);
                    self.measured(&value, *measure)?
                }
                count => counts.get(count).cloned(),
            };
            sum = sum.plus(i128::from(*factor), &measured.ok_or(TooMuch)?).ok_or(TooMuch)?;
        }
        Formula::at_most(Some(sum)).ok_or(TooMuch)
    }
}

/// The counts of a session, by measure.
type SessionCounts = BTreeMap<SessionMeasure, Linear>;

impl<'p> SystemBuilder<'p> {
    /// States the bounds at the proposal of a call of a tool, and returns the bounds that its
    /// settlement could break and has to prove.
    ///
    /// At the proposal every bound holds with the counts at that time. At the settlement the counts
    /// may have grown, because other calls were settled. The variables of a bound that the tool
    /// could break are unchanged, because no other call could write them.
    pub(crate) fn bounds(
        &mut self,
        (id, tool): (ToolId, &'p Tool),
        bounds: &[SessionBound],
        after: Option<&EncoderEnv<'p>>,
    ) -> Vec<ProofGoal> {
        if bounds.is_empty() {
            return Vec::new();
        }
        // The facts so far keep their index among the hypotheses, with and without bounds.
        self.give_facts();
        let measures =
            bounds.iter().flat_map(|bound| bound.terms.iter().map(|(_, measure)| *measure));
        let counted = |measure: &SessionMeasure| {
            !matches!(measure, SessionMeasure::State(_) | SessionMeasure::Size(_))
        };
        let measures: BTreeSet<SessionMeasure> = measures.filter(counted).collect();
        let before = self.env.clone();
        let proposed = self.counts(tool, &measures, Moment::Proposal);
        for (at, bound) in (0..).zip(bounds) {
            let holds = self.encoder.clause(|encoder| encoder.bound(bound, &before, &proposed));
            self.give_all(holds.map(|holds| (Given::Bound(at), holds)));
        }
        let plan = self.encoder.plan;
        let owed = |(_, bound): &(u32, &SessionBound)| is_owed_by(plan, id, bound);
        let moved: Vec<(u32, &SessionBound)> = (0..).zip(bounds).filter(owed).collect();
        if moved.is_empty() {
            return Vec::new();
        }
        let settling = self.counts(tool, &measures, Moment::Settlement);
        for (measure, then) in &settling {
            let grown = proposed.get(measure).and_then(|now| Formula::le(now, then));
            self.give_all(grown.map(|grown| (Given::Growth, grown)));
        }
        for (at, bound) in &moved {
            let holds = self.encoder.clause(|encoder| encoder.bound(bound, &before, &settling));
            self.give_all(holds.map(|holds| (Given::Bound(*at), holds)));
        }
        let settled = self.settled((id, tool), &settling);
        moved
            .into_iter()
            .map(|(_, bound)| {
                let formula = after.and_then(|after| {
                    self.encoder.clause(|encoder| encoder.bound(bound, after, &settled))
                });
                ProofGoal { claim: Claim::Bounded { tool: id, bound: bound.clone() }, formula }
            })
            .collect()
    }

    /// Returns the counts before this call is counted, with the facts that its admission implies
    /// about them.
    ///
    /// The call itself is counted and is not among the settled calls. So these are at least one
    /// fewer than a limit permits, and leave at least its cost of a budget.
    fn counts(
        &mut self,
        tool: &'p Tool,
        measures: &BTreeSet<SessionMeasure>,
        at: Moment,
    ) -> SessionCounts {
        let mut counts = SessionCounts::new();
        let env = self.env.clone();
        for measure in measures {
            let count = self.encoder.count(*measure, at);
            let own = self.encoder.clause(|encoder| own_share(encoder, tool, *measure, &env));
            let most = self.encoder.most(*measure);
            if let (Some(Some(own)), Some(most)) = (own, most) {
                let within =
                    count.plus(1, &own).and_then(|sum| Formula::le(&sum, &Linear::constant(most)));
                let given = match measure {
                    SessionMeasure::Counted(id) => Given::Limit(*id),
                    _ => Given::Costs,
                };
                self.give_all(within.map(|within| (given, within)));
            }
            if at == Moment::Proposal {
                self.relate_count(tool, *measure, &count, &env);
            }
            counts.insert(*measure, count);
        }
        counts
    }

    /// States what the rules of the tool and the answers of history imply about a count at the
    /// proposal.
    fn relate_count(
        &mut self,
        tool: &'p Tool,
        measure: SessionMeasure,
        count: &Linear,
        env: &EncoderEnv<'p>,
    ) {
        match measure {
            SessionMeasure::Spent(unit) => {
                // The cost of calls in flight is already spent.
                let term =
                    self.encoder.terms.intern(Op::Node(written(&Node::Spent(unit))), Vec::new());
                let (spent, _) = self.encoder.new_var(term, self.encoder.any());
                self.give_all(Formula::le(count, &spent).map(|fact| (Given::Costs, fact)));
            }
            SessionMeasure::Called(other) => {
                for (at, rule) in
                    tool.requires.iter().enumerate().filter(|(_, clause)| !clause.rule.shadow)
                {
                    let met = self.encoder.clause(|encoder| encoder.succeeded(rule, env));
                    self.give_all(met.map(|met| (Given::Requires(at), met)));
                }
                // A success that counts for a key, a `since` or an age is a success.
                let flag = Formula::le(&Linear::constant(1), count);
                for asked in self.encoder.successes_of(other) {
                    let asked = self.encoder.flag_of(asked);
                    let fact = flag.clone().and_then(|flag| asked.implies(flag));
                    self.give_all(fact.map(|fact| (Given::Success(other), fact)));
                }
            }
            _ => {}
        }
    }

    /// Returns the counts after the settlement of this call.
    ///
    /// It is unknown whether the result decodes. A success is recorded only if it does, but effects
    /// are written in any case.
    fn settled(
        &mut self,
        (id, tool): (ToolId, &'p Tool),
        settling: &SessionCounts,
    ) -> SessionCounts {
        let mut settled = settling.clone();
        let env = self.env.clone();
        for (measure, count) in &mut settled {
            let own = self.encoder.clause(|encoder| own_share(encoder, tool, *measure, &env));
            if let Some(Some(own)) = own {
                let twice = i128::from(mutant!("a settled call counts twice"));
                *count = count.plus(1 + twice, &own).unwrap_or_else(|| count.clone());
            } else if *measure == SessionMeasure::Called(id) {
                let term = self.encoder.terms.intern(Op::Node("Called afterwards".into()), vec![]);
                let least = i128::from(mutant!("every settled call has succeeded"));
                let (after, _) = self.encoder.new_var(term, (Some(least), Some(1)));
                self.give_all(Formula::le(count, &after).map(|fact| (Given::Growth, fact)));
                *count = after;
            }
        }
        settled
    }
}

/// Returns the amount by which a call of the tool raises a count; `None` if it does not, or by an
/// unknown amount.
fn own_share<'p>(
    encoder: &mut Encoder<'p>,
    tool: &'p Tool,
    measure: SessionMeasure,
    env: &EncoderEnv<'p>,
) -> Encoded<Option<Linear>> {
    Ok(match measure {
        SessionMeasure::Counted(id) => {
            tool.limits.iter().any(|at| at.limit == id).then(|| Linear::constant(1))
        }
        SessionMeasure::Spent(unit) => charges::charged(encoder, tool, unit, env)?,
        _ => None,
    })
}

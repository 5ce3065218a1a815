//! One step from arbitrary states: every claim of a guard is held against calls in states that its types allow and all that its
//! proofs assume, whether or not a session reaches them.
//!
//! The reference evaluator decides each call and says which parts of invariants are false after it; it shares no code with the
//! prover. States and arguments are found by a walk that keeps what makes a call more feasible.

mod counts;
pub mod grammar;
pub mod points;
mod scenarios;

use counts::MeasureCounts;
use guard_compiler::CompilerOutput;
use guard_compiler::hir::{ExprKind, Invariant, Program};
use guard_compiler::reference::{Judgement, ReferenceSession};
use guard_compiler::verify::{Verification, verify};
use guard_plan::plan::{Claim, Plan, SessionBound, SessionMeasure, ToolId};
use guard_plan::random::Rng;
use guard_plan::value::Value;
use guard_plan::verdict::{Code, Decision};
use guard_proof::{Given, System, Width, assumable};
use points::Pools;
use std::collections::{BTreeMap, BTreeSet};

/// The counts of what was tried.
#[derive(Debug, Default, Clone)]
pub struct StepCounts {
    /// Guards that compiled.
    pub guards: usize,
    /// Claims that were proved: preserved parts, types, observations, tools that cannot be called.
    pub claims: usize,
    /// Claims against which at least one call stood.
    pub met: usize,
    /// Calls that nothing but invariants refused.
    pub feasible: usize,
    /// Calls in all.
    pub calls: usize,
    /// Settlements that a claim about observations was held against.
    pub observed: usize,
    /// Settlements that a bound was held against.
    pub settled: usize,
    /// Proofs by what they rest on: each kind of hypothesis, each rule of the encoder.
    pub rests_on: BTreeMap<String, usize>,
}

/// A state and the arguments of a call in it.
#[derive(Debug, Clone)]
struct StepPoint {
    state: Vec<Value>,
    args: Vec<Value>,
    /// What the session has counted.
    counts: MeasureCounts,
}

/// The claims about a tool, by the names that the split program gives to parts.
#[derive(Default)]
struct ToolClaims {
    /// Parts of invariants, with the parts before them.
    parts: Vec<(String, u32)>,
    /// Variables in their types.
    refined: BTreeSet<String>,
    /// No call of the tool is possible.
    impossible: bool,
    /// Whole invariants after observations.
    observed: Vec<String>,
    /// How many bounds its settlement keeps.
    bounded: usize,
}

impl ToolClaims {
    fn count(&self) -> usize {
        let bounds = self.bounded + usize::from(self.impossible);
        self.parts.len() + self.refined.len() + self.observed.len() + bounds
    }
}

/// Tries all claims of a guard with so many calls for each tool; the error is the first claim that does not hold.
pub fn try_guard(
    output: &CompilerOutput,
    rng: &mut Rng,
    calls: usize,
    tried: &mut StepCounts,
) -> Result<(), String> {
    let plan = &output.lowered;
    let said = verify(plan);
    tried.guards += 1;
    if said.proofs.is_empty() && said.impossible.is_empty() {
        return Ok(());
    }
    let program = split_program(&output.program);
    let mut pools = Pools::new(plan);
    let assumed = assumable(plan, &said.proofs);
    for tool in 0..plan.tools.len() as ToolId {
        learn(plan, tool, &said, &assumed, &mut pools, tried);
    }
    pools.finish();
    let assumed: BTreeSet<&str> = (0..)
        .zip(&assumed)
        .filter(|(_, assumed)| **assumed)
        .map(|(id, _): (usize, _)| plan.invariants[id].rule.owner.as_str())
        .collect();
    for tool in 0..plan.tools.len() as ToolId {
        let claims = claims_of(plan, tool, &said);
        if claims.count() == 0 {
            continue;
        }
        tried.claims += claims.count();
        let bounds = &said.bounds[..];
        let pools = &pools;
        let walk = Walk { plan, program: &program, pools, assumed: &assumed, tool, claims, bounds };
        walk.walk(rng, calls, tried)?;
    }
    Ok(())
}

/// Returns true if one call of `t` breaks the invariant `i`, or takes `o` out of its type, in some state that is given: what
/// nearly holds does not hold.
pub fn breaks(output: &CompilerOutput, rng: &mut Rng, calls: usize) -> bool {
    let plan = &output.lowered;
    let named = |name: &str| plan.invariants.iter().find(|invariant| invariant.rule.owner == name);
    let mut claims = ToolClaims { refined: BTreeSet::from(["o".into()]), ..ToolClaims::default() };
    if let Some(invariant) = named("i") {
        let parts = 0..guard_proof::parts(&invariant.condition).len() as u32;
        claims.parts.extend(parts.map(|part| ("i".to_string(), part)));
    }
    let Some(tool) = plan.tools.iter().position(|tool| tool.name == "t") else { return false };
    let mut pools = Pools::new(plan);
    pools.finish();
    let walk = Walk {
        plan,
        program: &split_program(&output.program),
        pools: &pools,
        assumed: &BTreeSet::from(["i"]),
        tool: tool as ToolId,
        claims,
        bounds: &[],
    };
    walk.walk(rng, calls, &mut StepCounts::default()).is_err()
}

/// The program whose invariants are their parts, each only reported.
pub fn split_program(program: &Program) -> Program {
    let mut split = program.clone();
    split.invariants = program
        .invariants
        .iter()
        .flat_map(|invariant| {
            let mut parts = vec![&invariant.condition];
            while let Some(at) =
                parts.iter().position(|part| matches!(part.kind, ExprKind::And(..)))
            {
                if let ExprKind::And(a, b) = &parts[at].kind {
                    parts.splice(at..=at, [&**a, &**b]);
                }
            }
            (0..).zip(parts).map(|(at, part): (u32, _)| {
                let mut one: Invariant = invariant.clone();
                one.rule.owner = format!("{}/{at}", invariant.rule.owner);
                one.condition = part.clone();
                one.monitor = true;
                one
            })
        })
        .collect();
    split
}

/// Takes in the constants of what the certificates use, and counts what they rest on.
fn learn(
    plan: &Plan,
    tool: ToolId,
    said: &Verification,
    assumed: &[bool],
    pools: &mut Pools,
    tried: &mut StepCounts,
) {
    let proofs: Vec<_> = said.proofs.iter().filter(|proof| proof.claim.tool() == tool).collect();
    if proofs.is_empty() {
        return;
    }
    let systems = [
        System::with_bounds(plan, tool, assumed, &said.bounds, Width::REAL),
        System::of_observations(plan, tool, assumed, Width::REAL),
    ];
    for proof in proofs {
        let system = &systems[usize::from(matches!(proof.claim, Claim::Observed { .. }))];
        let Some(goal) = system.goals.iter().find(|goal| goal.claim == proof.claim) else {
            continue;
        };
        let Some(problem) = system.problem(goal) else { continue };
        pools.formula(&problem.negated_goal);
        let mut kinds = BTreeSet::new();
        for at in &proof.certificate.uses {
            pools.formula(&problem.hypotheses[*at as usize]);
            kinds.insert(match system.given[*at as usize] {
                Given::Deny(_) => "deny".to_string(),
                Given::Invariant(_) => "invariant".to_string(),
                Given::Refined(_) => "type".to_string(),
                Given::Bound(_) => "bound".to_string(),
                Given::Limit(_) => "limit".to_string(),
                Given::Requires(_) => "requires".to_string(),
                Given::Success(_) => "success".to_string(),
                other => format!("{other:?}"),
            });
        }
        kinds.into_iter().for_each(|kind| *tried.rests_on.entry(kind).or_default() += 1);
    }
}

fn claims_of(plan: &Plan, tool: ToolId, said: &Verification) -> ToolClaims {
    let mut claims = ToolClaims {
        impossible: said.impossible.iter().any(|call| call.tool == tool),
        ..ToolClaims::default()
    };
    let name = |invariant: u32| plan.invariants[invariant as usize].rule.owner.clone();
    for proof in said.proofs.iter().filter(|proof| proof.claim.tool() == tool) {
        match &proof.claim {
            Claim::Preserved { invariant, part, .. } => {
                claims.parts.push((name(*invariant), *part));
            }
            Claim::Refined { var, .. } => {
                claims.refined.insert(plan.state[*var as usize].name.clone());
            }
            Claim::Observed { invariant, .. } => claims.observed.push(name(*invariant)),
            Claim::Bounded { .. } => claims.bounded += 1,
        }
    }
    claims
}

struct Walk<'w> {
    plan: &'w Plan,
    program: &'w Program,
    pools: &'w Pools,
    assumed: &'w BTreeSet<&'w str>,
    tool: ToolId,
    claims: ToolClaims,
    bounds: &'w [SessionBound],
}

impl Walk<'_> {
    fn walk(&self, rng: &mut Rng, calls: usize, tried: &mut StepCounts) -> Result<(), String> {
        let tool = &self.plan.tools[self.tool as usize];
        let place = self.program.tools.iter().position(|known| known.name == tool.name);
        let (Some(place), Ok(session)) =
            (place, ReferenceSession::open(self.program, 0, "/", None))
        else {
            return Ok(());
        };
        let mut feasible = 0;
        let mut here: Option<(usize, StepPoint)> = None;
        let mut stuck = 0;
        for _ in 0..calls {
            let point = match &here {
                Some((_, point)) if stuck < 25 => self.near(point, rng),
                _ => {
                    stuck = 0;
                    here = None;
                    self.point(&session, rng)
                }
            };
            tried.calls += 1;
            let mut there = session.clone();
            for (var, value) in self.plan.state.iter().zip(&point.state) {
                there.place(&var.name, value.clone());
            }
            counts::place(self.plan, &point.counts, &mut there);
            let judged = there.consider(place, &point.args, &|_| None);
            let broken = counts::broken(self.plan, self.bounds, &there, &point.counts);
            let away = self.away(&there, &judged) + broken.len();
            if away == 0 {
                feasible += 1;
                self.hold(&there, &judged, &point)?;
                if !self.claims.observed.is_empty() || self.claims.bounded > 0 {
                    self.observe(&there, &point, rng, tried)?;
                }
            }
            match &here {
                Some((known, _)) if away > *known && !rng.chance(5) => stuck += 1,
                _ => here = Some((away, point)),
            }
        }
        tried.feasible += feasible;
        tried.met += if feasible > 0 { self.claims.count() } else { 0 };
        Ok(())
    }

    /// Returns the number of conditions that stop a call from being a test of a claim.
    fn away(&self, session: &ReferenceSession<'_>, judged: &Judgement) -> usize {
        let broken = session.broken_initially();
        let assumed = broken.iter().filter(|(at, _)| {
            let name = &self.program.invariants[*at].rule.owner;
            self.assumed.contains(whole(name))
        });
        let refused = judged.reasons.iter().filter(|(code, ..)| *code != Code::Invariant);
        assumed.count() + refused.count()
    }

    /// Holds the claims against a feasible call.
    fn hold(
        &self,
        session: &ReferenceSession<'_>,
        judged: &Judgement,
        point: &StepPoint,
    ) -> Result<(), String> {
        let tool = &self.plan.tools[self.tool as usize].name;
        let at = || format!("with {point:?}");
        if self.claims.impossible {
            return Err(format!("`{tool}` can be called {}", at()));
        }
        let untyped: Vec<&String> = judged.reasons.iter().map(|(_, name, ..)| name).collect();
        if let Some(var) = untyped.iter().find(|name| self.claims.refined.contains(**name)) {
            return Err(format!("`{tool}` leaves the type of `{var}` {}", at()));
        }
        if !untyped.is_empty() {
            return Ok(());
        }
        let broken: BTreeSet<&str> = judged
            .shadowed
            .iter()
            .filter(|(_, name, ..)| name.contains('/'))
            .map(|(_, name, ..)| name.as_str())
            .collect();
        // A part that the call does not touch is not judged again: false before, it is false afterwards.
        let already: BTreeSet<&str> = session
            .broken_initially()
            .iter()
            .map(|(at, _)| self.program.invariants[*at].rule.owner.as_str())
            .collect();
        for (name, part) in &self.claims.parts {
            let before = (0..*part).map(|at| format!("{name}/{at}")).any(|earlier| {
                broken.contains(earlier.as_str()) || already.contains(earlier.as_str())
            });
            if !before && broken.contains(format!("{name}/{part}").as_str()) {
                return Err(format!("`{tool}` breaks part {part} of `{name}` {}", at()));
            }
        }
        Ok(())
    }

    /// Settles a call with some result: what is claimed of observations holds afterwards.
    fn observe(
        &self,
        session: &ReferenceSession<'_>,
        point: &StepPoint,
        rng: &mut Rng,
        tried: &mut StepCounts,
    ) -> Result<(), String> {
        let tool = &self.plan.tools[self.tool as usize];
        let json = |ty, value: &Value| guard_plan::render::to_json(&self.plan.types, ty, value);
        let args = tool.params.iter().zip(&point.args);
        let args = args.map(|(param, value)| (param.name.as_str().into(), json(param.ty, value)));
        let args = guard_plan::json::Json::Object(args.collect());
        let mut session = session.clone();
        let proposed = session.propose("1", &tool.wire_name, &args, 0, &|_| None);
        if !proposed.is_ok_and(|judged| judged.decision == Decision::Allow) {
            return Ok(());
        }
        // Other calls have settled meanwhile: what is counted has grown, as far as this call leaves room.
        let settling = self.grown(&session, point, rng);
        let before: Vec<(String, i64)> =
            session.spent().map(|(unit, spent)| (unit.to_string(), spent)).collect();
        let charged = |unit: &str| {
            let (_, spent) = before.iter().find(|(known, _)| known == unit).expect("a unit");
            let had = self.plan.units.iter().position(|known| known.name == unit);
            let had = had.and_then(|at| point.counts.get(&SessionMeasure::Spent(at as u32)));
            spent - had.copied().unwrap_or(*spent)
        };
        // Whether the result decodes is open.
        let decodes = tool.returns.is_none() || rng.chance(70);
        let result = if decodes {
            tool.returns.map(|ty| json(ty, &self.pools.draw(self.plan, ty, rng)))
        } else {
            Some(guard_plan::json::Json::Array(Vec::new()))
        };
        if session.settle("1", true, result.as_ref(), 0, &|_| None).is_err() {
            return Ok(());
        }
        let after = counts::settled(self.plan, self.tool, &settling, charged, decodes);
        tried.settled += usize::from(self.claims.bounded > 0);
        if let Some(at) = counts::broken(self.plan, self.bounds, &session, &after).first() {
            let bound = guard_plan::words::bound(self.plan, &self.bounds[*at]);
            return Err(format!("`{}` breaks the bound `{bound}`, {point:?}", tool.name));
        }
        tried.observed += 1;
        for (at, why) in session.broken_initially() {
            let name = whole(&self.program.invariants[at].rule.owner);
            if self.claims.observed.iter().any(|claimed| claimed == name) {
                return Err(format!(
                    "`{}` observes what breaks `{name}`: {why}, {point:?}",
                    tool.name
                ));
            }
        }
        Ok(())
    }

    fn point(&self, session: &ReferenceSession<'_>, rng: &mut Rng) -> StepPoint {
        let initial = rng.chance(50);
        let draw = |ty, rng: &mut Rng| self.pools.draw(self.plan, ty, rng);
        let state = self.plan.state.iter().map(|var| {
            let first = session.state().find(|(name, _)| *name == var.name);
            match first {
                Some((_, value)) if initial && rng.chance(80) => value.clone(),
                _ => draw(var.ty, rng),
            }
        });
        let state = state.collect();
        let params = &self.plan.tools[self.tool as usize].params;
        let args = params.iter().map(|param| draw(param.ty, rng)).collect();
        let counts = counts::draw(self.plan, self.bounds, self.pools, rng);
        StepPoint { state, args, counts }
    }

    /// The counts at the settlement of a call that was proposed at a point.
    fn grown(
        &self,
        session: &ReferenceSession<'_>,
        point: &StepPoint,
        rng: &mut Rng,
    ) -> MeasureCounts {
        let drawn = counts::draw(self.plan, self.bounds, self.pools, rng);
        let own =
            |id: u32| self.plan.tools[self.tool as usize].limits.iter().any(|at| at.limit == id);
        let mut grown = point.counts.clone();
        for (measure, count) in &mut grown {
            let room = match *measure {
                SessionMeasure::Counted(id) => {
                    i64::from(self.plan.limits[id as usize].count) - i64::from(own(id)) - *count
                }
                SessionMeasure::Spent(id) => {
                    let unit = &self.plan.units[id as usize];
                    let spent = session.spent().find(|(name, _)| *name == unit.name);
                    unit.budget.unwrap_or(0) - spent.map_or(0, |(_, spent)| spent)
                }
                _ => 0,
            };
            *count += (drawn[measure] - *count).clamp(0, room.max(0));
        }
        grown
    }

    fn near(&self, point: &StepPoint, rng: &mut Rng) -> StepPoint {
        let mut point = point.clone();
        if !point.counts.is_empty() && rng.chance(40) {
            point.counts = counts::draw(self.plan, self.bounds, self.pools, rng);
        }
        for _ in 0..1 + rng.below(2) {
            let at = rng.below(point.state.len() + point.args.len());
            match at.checked_sub(point.state.len()) {
                None => {
                    let ty = self.plan.state[at].ty;
                    point.state[at] = self.pools.near(self.plan, ty, &point.state[at], rng);
                }
                Some(at) => {
                    let ty = self.plan.tools[self.tool as usize].params[at].ty;
                    point.args[at] = self.pools.near(self.plan, ty, &point.args[at], rng);
                }
            }
        }
        point
    }
}

/// The invariant that a part belongs to.
fn whole(part: &str) -> &str {
    part.rsplit_once('/').map_or(part, |(whole, _)| whole)
}

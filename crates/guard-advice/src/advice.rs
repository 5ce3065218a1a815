//! Advice: ranks the possible next actions of a session.
//!
//! The computation is pure: the session does not change. The kernel's own stages decide whether an
//! action is allowed, so advice cannot disagree with a verdict. All numbers are exact decimals with
//! six places; `docs/reference/advice.md` defines the formulas. The format and text are in
//! `guard_plan::advice`.

mod after;
mod belief;
mod boundary;
mod candidates;
mod expression;
mod fixed;
mod goals;
mod graph;
mod needs;
mod remembered;
mod unmet;
mod view;

use crate::advice::candidates::Candidate;
use crate::advice::goals::Goals;
use crate::advice::graph::CandidateGraph;
use crate::advice::remembered::Remembered;
use guard_plan::advice::{Action, Advice, Belief, Decimal, Param, Price, Status, Terms};
use guard_plan::plan::{Expr, Millis, Plan, Risk, ToolId, UnitId, VarId};
use guard_plan::render;
use guard_plan::value::{Fault, Value};
use guard_runtime::{Assumed, Hypothesis, Kernel, SessionState, World};
use std::cmp::Reverse;

/// The subject of the advice: a session at a given time.
struct AdviceScene<'s> {
    kernel: &'s Kernel,
    /// The plan that decides the session.
    plan: &'s Plan,
    session: &'s SessionState,
    now: Millis,
}

/// A hypothesis with assumed values.
#[derive(Clone, Copy)]
struct Supposition<'s, 'h> {
    scene: &'s AdviceScene<'s>,
    hypothesis: &'s Hypothesis<'h>,
    assumed: Assumed<'s>,
}

impl<'s, 'h> Supposition<'s, 'h> {
    /// Evaluates an expression.
    fn evaluate(&self, expr: &Expr) -> Result<Value, Fault> {
        self.hypothesis.evaluate(expr, &self.assumed)
    }

    /// Returns true if a condition holds; a condition with a fault does not hold.
    fn holds(&self, expr: &Expr) -> bool {
        self.evaluate(expr) == Ok(Value::Bool(true))
    }

    /// Returns the supposition with the values that effects write.
    fn after(&self, writes: &'s [(VarId, Value)]) -> Supposition<'s, 'h> {
        Supposition { assumed: Assumed { writes, ..self.assumed }, ..*self }
    }
}

impl AdviceScene<'_> {
    /// Runs hypothetical questions. The world is asked each question at most once.
    fn read<T>(&self, world: &mut dyn World, read: impl FnOnce(&Hypothesis<'_>) -> T) -> T {
        read(&self.kernel.suppose(self.session, self.now, world))
    }

    /// Evaluates an expression that does not ask the world.
    fn plain(&self, expr: &Expr) -> Option<Value> {
        let nobody = &mut guard_runtime::NoWorld;
        self.read(nobody, |hypothesis| hypothesis.evaluate(expr, &Assumed::default()).ok())
    }

    /// Returns the risk of a call: the highest level whose condition holds, or cannot be evaluated
    /// without arguments or the world.
    fn risk(&self, id: ToolId, args: Option<&[Value]>) -> Risk {
        let tool = &self.plan.tools[id as usize];
        let call = args.map(|args| (id, args));
        let nobody = &mut guard_runtime::NoWorld;
        let holds = |hypothesis: &Hypothesis<'_>, when: &Expr| {
            let assumed = Assumed { call, ..Assumed::default() };
            // A condition that cannot be evaluated counts as true, so that a risk is never
            // understated.
            hypothesis.evaluate(when, &assumed) != Ok(Value::Bool(false))
        };
        self.read(nobody, |hypothesis| {
            let said = tool.risks.iter().filter(|risk| holds(hypothesis, &risk.when));
            said.map(|risk| risk.level).fold(tool.risk, Risk::max)
        })
    }

    /// Returns the remaining budget of a unit; `None` if it has none.
    fn remaining(&self, unit: UnitId) -> Option<i64> {
        let budget = self.plan.units[unit as usize].budget?;
        Some(budget.saturating_sub(self.session.spent(unit)?).max(0))
    }
}

/// A candidate and the terms of its value.
struct Scored {
    candidate: Candidate,
    belief: Belief,
    terms: Terms,
}

/// Ranks the possible next actions of a session (semantics §13). Nothing changes; the world is
/// asked each question at most once. Tools that the kernel serves itself are omitted.
pub fn advise(
    kernel: &Kernel,
    session: &SessionState,
    now: Millis,
    world: &mut dyn World,
) -> Advice {
    let plan = kernel.plan_of(session);
    let scene = AdviceScene { kernel, plan, session, now: session.now().max(now) };
    // Candidates are compared with each other, and so they must see the same world.
    let world = &mut Remembered::new(world);
    let goals = Goals::now(&scene, world);
    let tools = (0..).zip(&plan.tools).filter(|(_, tool)| tool.served.is_none());
    let tools: Vec<ToolId> = tools.map(|(id, _)| id).collect();
    let beliefs = tools.iter().map(|id| (*id, belief::read(&scene, *id))).collect();
    let all =
        tools.iter().flat_map(|id| candidates::for_tool(&scene, &goals, *id, world)).collect();
    let graph = CandidateGraph::new(all, &beliefs);
    let scored: Vec<Scored> = tools
        .iter()
        .filter_map(|id| graph.of_tool(*id, |at| score(&scene, &goals, &graph, at, beliefs[id])))
        .collect();
    let mut actions: Vec<Action> =
        scored.iter().map(|candidate| action(&scene, &graph, candidate, &scored)).collect();
    // The name decides between equal values, so that equal sessions get equal advice.
    actions.sort_by(|a, b| (Reverse(a.value), &a.tool).cmp(&(Reverse(b.value), &b.tool)));
    view::advice(&scene, &goals, actions)
}

/// Computes the terms of a candidate, without its opportunity cost.
fn score(
    scene: &AdviceScene<'_>,
    goals: &Goals<'_>,
    graph: &CandidateGraph,
    at: usize,
    belief: Belief,
) -> Scored {
    let candidate = graph.candidate(at).clone();
    let tool = &scene.plan.tools[candidate.tool as usize];
    let worth = graph.worth(at);
    // Information on an action that leads to no goal has no value.
    let info = if goals.any() && worth == 0 { 0 } else { belief::info(&belief) };
    let terms = Terms {
        progress: Decimal(belief::expected(&belief, worth)),
        info: Decimal(info),
        cost_ratio: Decimal(cost_ratio(scene, &candidate.charges)),
        risk: Decimal(boundary::risk(candidate.risk, tool, candidate.nearness)),
        opportunity: Decimal(0),
    };
    Scored { candidate, belief, terms }
}

impl Scored {
    /// Orders ready candidates first, then by value.
    fn rank(&self) -> (Status, Reverse<Decimal>) {
        (self.candidate.status, Reverse(self.terms.value()))
    }
}

/// Returns the largest charge as a fraction of the remaining budget of its unit.
fn cost_ratio(scene: &AdviceScene<'_>, charges: &[(UnitId, i64)]) -> i64 {
    let part = |(unit, amount): &(UnitId, i64)| Some(fixed::part(*amount, scene.remaining(*unit)?));
    charges.iter().filter_map(part).max().unwrap_or(0)
}

/// Returns the value of the best alternative that is affordable now but not after an action.
fn opportunity(scene: &AdviceScene<'_>, scored: &Scored, all: &[Scored]) -> Decimal {
    let charged = |scored: &Scored, unit: UnitId| {
        let charge = scored.candidate.charges.iter().find(|(charged, _)| *charged == unit);
        charge.map_or(0, |(_, amount)| *amount)
    };
    let lost = |other: &&Scored| {
        let mut gone = false;
        for (unit, cost) in &other.candidate.charges {
            let Some(left) = scene.remaining(*unit) else { continue };
            if *cost > left {
                return false;
            }
            gone |= cost.saturating_add(charged(scored, *unit)) > left;
        }
        gone
    };
    let others = all.iter().filter(|other| other.candidate.tool != scored.candidate.tool);
    let best = others.filter(lost).map(|other| other.terms.value()).max();
    // A negative value is no loss.
    best.unwrap_or_default().clamp(Decimal(0), Decimal(fixed::ONE))
}

fn action(
    scene: &AdviceScene<'_>,
    graph: &CandidateGraph,
    scored: &Scored,
    all: &[Scored],
) -> Action {
    let plan = scene.plan;
    let Scored { candidate, belief, terms } = scored;
    let tool = &plan.tools[candidate.tool as usize];
    let terms = Terms { opportunity: opportunity(scene, scored, all), ..*terms };
    let price = |(unit, amount): &(UnitId, i64)| Price {
        unit: plan.units[*unit as usize].name.clone(),
        amount: Decimal(*amount),
        at_least: candidate.open_units.contains(unit),
    };
    let mut cost: Vec<Price> = candidate.charges.iter().map(price).collect();
    cost.sort_by(|a, b| a.unit.cmp(&b.unit));
    let param = |param: &guard_plan::plan::Field| Param {
        name: param.name.clone(),
        ty: render::type_name(&plan.types, param.ty),
    };
    Action {
        tool: tool.name.clone(),
        wire_name: tool.wire_name.clone(),
        title: tool.title.clone(),
        args: candidate.args.clone(),
        params: tool.params.iter().map(param).collect(),
        status: candidate.status,
        needs: needs::collect(scene, graph, candidate),
        value: terms.value(),
        terms,
        belief: *belief,
        cost,
        risk: candidate.risk,
        irreversible: tool.irreversible,
    }
}

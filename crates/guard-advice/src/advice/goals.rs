//! Goals: their progress now, and their predicted progress after a call.

use super::after::SucceededCall;
use super::fixed::{self, ONE};
use super::remembered::Remembered;
use super::{AdviceScene, Supposition};
use guard_plan::advice::{Decimal, GoalView};
use guard_plan::plan::{Expr, Goal, Node, VarId};
use guard_runtime::Assumed;

/// The goals of a plan in a session.
pub(super) struct Goals<'k> {
    goals: &'k [Goal],
    /// For each goal, true for each condition that holds now.
    holds: Vec<Vec<bool>>,
    overall: Option<i64>,
}

impl<'k> Goals<'k> {
    /// Evaluates the goals now.
    pub fn now(scene: &AdviceScene<'k>, world: &mut Remembered<'_>) -> Goals<'k> {
        let goals = scene.plan.goals.as_slice();
        // Each condition has the steps of a decision for itself: otherwise a long one would make those
        // after it fail.
        let mut holds = |(_, expr): &(String, Expr)| {
            scene.read(world, |hypothesis| {
                Supposition { scene, hypothesis, assumed: Assumed::default() }.holds(expr)
            })
        };
        let holds: Vec<Vec<bool>> =
            goals.iter().map(|goal| goal.conditions.iter().map(&mut holds).collect()).collect();
        let overall = overall(
            holds.iter().map(|conditions| part(conditions.iter().map(|holds| halves(*holds)))),
        );
        Goals { goals, holds, overall }
    }

    /// Returns the mean progress of the goals; `None` without goals.
    pub fn overall(&self) -> Option<i64> {
        self.overall
    }

    /// Returns the progress after a successful call, as a fraction of the remaining distance. A
    /// condition that depends on unknown values counts half, unless the known values make it true.
    pub fn gain<'s, 'h>(&self, cx: &Supposition<'s, 'h>, after: &SucceededCall<'s>) -> i64 {
        let cx = &cx.after(after.writes);
        let then = |(_, expr): &(String, Expr)| {
            let expr = after.rewritten(cx, expr);
            if cx.holds(&expr) { 2 } else { i64::from(after.may_change(&expr)) }
        };
        let mut gained = 0;
        let mut left = 0;
        for (goal, holds) in self.goals.iter().zip(&self.holds) {
            let whole = 2 * goal.conditions.len() as i64;
            let conditions = goal.conditions.iter().zip(holds);
            let more: i64 =
                conditions.map(|(condition, holds)| then(condition) - halves(*holds)).sum();
            let missing: i64 = holds.iter().map(|holds| 2 - halves(*holds)).sum();
            gained += fixed::twelve(more, whole);
            left += fixed::twelve(missing, whole);
        }
        fixed::quotient(gained, left)
    }

    /// Returns true if there are goals.
    pub fn any(&self) -> bool {
        !self.goals.is_empty()
    }

    /// Returns the variables that conditions read.
    pub fn reads(&self) -> Vec<VarId> {
        let conditions = self.goals.iter().flat_map(|goal| &goal.conditions);
        let nodes = conditions.flat_map(|(_, expr)| &expr.0);
        let mut vars: Vec<VarId> = nodes
            .filter_map(|node| if let Node::State(var) = node { Some(*var) } else { None })
            .collect();
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    pub fn views(&self) -> Vec<GoalView> {
        let view = |(goal, holds): (&Goal, &Vec<bool>)| GoalView {
            name: goal.name.clone(),
            doc: goal.doc.clone(),
            progress: Decimal(part(holds.iter().map(|holds| halves(*holds)))),
            conditions: goal
                .conditions
                .iter()
                .zip(holds)
                .map(|((text, _), holds)| (text.clone(), *holds))
                .collect(),
        };
        self.goals.iter().zip(&self.holds).map(view).collect()
    }
}

fn halves(holds: bool) -> i64 {
    if holds { 2 } else { 0 }
}

/// Returns the fraction of conditions that hold; each counts for 0 to 2 halves.
fn part(halves: impl Iterator<Item = i64>) -> i64 {
    let mut sum = 0;
    let mut whole = 0;
    for half in halves {
        sum += half;
        whole += 2;
    }
    if whole == 0 { ONE } else { fixed::part(sum, whole) }
}

fn overall(parts: impl Iterator<Item = i64>) -> Option<i64> {
    let mut sum = 0;
    let mut count = 0;
    for part in parts {
        sum += part;
        count += ONE;
    }
    (count > 0).then(|| fixed::part(sum, count))
}

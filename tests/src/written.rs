//! Claims about guards that are written down in `suite/proofs`, and plans that were changed after their proofs were found.

use crate::{compiled, loads};
use guard_plan::plan::{Expr, Node, Plan, Tool, Touch, VarId};

/// Guards of which `t` breaks `i`, or the type of `o`.
pub const NEARLY_KEPT: &str = include_str!("../suite/proofs/nearly_kept.txt");
/// Guards of which something is not so in some session, or nothing is said.
pub const OPEN: &str = include_str!("../suite/proofs/open.txt");
/// Guards that are proved as a whole.
pub const KEPT: &str = include_str!("../suite/proofs/kept.txt");
/// Guards that are proved by bounds of their sessions.
pub const BOUNDED: &str = include_str!("../suite/proofs/bounded.txt");
/// Guards that no bound of their sessions proves.
pub const NEARLY_BOUNDED: &str = include_str!("../suite/proofs/nearly_bounded.txt");
/// Conditions that a pass of the optimizer rewrites, after a title and a blank line.
const CONDITIONS: &str = include_str!("../suite/proofs/conditions.txt");
/// Invariants, denies and effects of the guards of the walks.
pub const WALKS: &str = include_str!("../suite/proofs/walks.txt");
/// Scenarios of one step.
pub const STEPS: &str = include_str!("../suite/proofs/steps.txt");
/// Scenarios of sessions.
pub const BOUNDS: &str = include_str!("../suite/proofs/bounds.txt");
/// Guards whose property does not follow.
const NOT_IMPLIED: &str = include_str!("../suite/proofs/not_implied.txt");

/// Pairs of guards that differ in one thing.
const COMPARED: &str = include_str!("../suite/proofs/compared.txt");

/// The cases of a file: the title of each, and its guard.
///
/// # Panics
///
/// If the file has no case, or a case without a guard: a damaged file must not pass as a law.
pub fn cases(file: &str) -> impl Iterator<Item = (&str, &str)> {
    assert!(!file.starts_with("== ") && file.contains("\n== "), "a file without cases: {file}");
    let guard = |case: &'_ str| panic!("`{case}` has no guard");
    file.split("\n== ")
        .skip(1)
        .map(move |case| case.split_once('\n').unwrap_or_else(|| guard(case)))
}

/// The scenarios of a file, after its first paragraph: the state of each, its invariant, and its tools or the body of one.
///
/// # Panics
///
/// If there is none, or one has no invariant or no tools.
pub fn scenarios(file: &str) -> Vec<(&str, &str, &str)> {
    let scenario = |text| -> Option<(&str, &str, &str)> {
        let (state, rest) = str::split_once(text, "\ninvariant ")?;
        let (invariant, tools) = rest.split_once('\n')?;
        Some((state, invariant, tools))
    };
    let whole = |text| scenario(text).unwrap_or_else(|| panic!("no scenario: {text}"));
    let scenarios: Vec<_> = file.trim_end().split("\n\n").skip(1).map(whole).collect();
    assert!(!scenarios.is_empty(), "a file without scenarios");
    scenarios
}

/// The conditions that a pass of the optimizer rewrites.
///
/// # Panics
///
/// If there is none.
pub fn conditions() -> impl Iterator<Item = &'static str> {
    let (_, lines) = CONDITIONS.split_once("\n\n").expect("conditions after the first paragraph");
    lines.lines()
}

/// A property that does not follow is not proved.
pub fn not_implied(n: u64) -> Option<Result<(), String>> {
    let (title, text) = cases(NOT_IMPLIED).nth(n as usize)?;
    let output = compiled(&format!("guard not_implied\n{text}"));
    let found = output.as_ref().and_then(|output| {
        let of_t = output.program.tools.iter().position(|tool| tool.name == "t")?;
        Some((of_t, output.properties.as_ref()?))
    });
    let Some((of_t, properties)) = found else {
        return Some(Err(format!("`{title}` does not compile")));
    };
    let mut claims = properties.claims.iter().filter(|claim| claim.tool == of_t);
    let is_proved = claims.any(|claim| claim.proof.is_some());
    Some(if is_proved { Err(format!("it is proved, but {title}")) } else { Ok(()) })
}

/// Pair `n`: the old guard and the new one.
pub fn compared(n: u64) -> Option<(String, String)> {
    let (_, pair) = cases(COMPARED).nth(n as usize)?;
    let (old, new) = pair.split_once("--- and ---\n")?;
    Some((old.into(), new.into()))
}

/// A change of a plan: what it is, the guard, and the change itself.
type ChangedPlan = (&'static str, &'static str, fn(&mut Plan));

/// Plans in which something else holds than when their proofs were found.
const CHANGED: &[ChangedPlan] = &[
    (
        "`n` begins with 1",
        "state { n: int = 0 }\ninvariant i { n <= 9 }\ntool t(x: int in 0..=3) {\n  limit 3 per session\n  effect n += x\n}",
        |plan| plan.state[0].init = Expr(vec![Node::Int(1)]),
    ),
    (
        "a call of `lower` no longer waits for one of `raise`",
        "state { high: int = 9  low: int = 0  n: int = 0 }\ninvariant i { n >= 0 }\ntool lower(x: int in 0..=9) {\n  deny unless high - x >= low\n  effect high -= x\n}\ntool raise(x: int in 0..=9) {\n  deny unless low + x <= high\n  effect low += x\n}\ntool t() { effect n = high - low }",
        |plan| {
            let low = plan.state.iter().position(|var| var.name == "low").expect("`low`") as VarId;
            let lower = |tool: &&mut Tool| tool.name == "lower";
            let lower = plan.tools.iter_mut().find(lower).expect("`lower`");
            lower.touches.retain(|touch| *touch != Touch::State(low));
        },
    ),
];

/// The proofs of a plan are refused after a change of the plan that they do not survive.
pub fn changed(n: u64) -> Option<Result<(), String>> {
    let (what, text, change) = CHANGED.get(n as usize)?;
    let Some(output) = compiled(&format!("guard changed\n{text}")) else {
        return Some(Err("it does not compile".into()));
    };
    if output.verification.bounds.is_empty() {
        return Some(Err("no bound is proved".into()));
    }
    let mut plan = output.plan.clone();
    change(&mut plan);
    Some(match (loads(&output.plan, &output), loads(&plan, &output)) {
        (Err(why), _) => Err(why),
        (_, Ok(())) => Err(format!("the proofs are accepted although {what}")),
        (Ok(()), Err(_)) => Ok(()),
    })
}

//! Guards whose invariants follow from limits, budgets and requirements, or nearly: a limit may be of a window, of a key, in
//! shadow, in flight or of successes; a cost may be in shadow; a variable may be observed or reset. `suite/proofs/bounds.txt` has
//! them, with words in capitals for what is drawn.

use crate::written::{BOUNDS, scenarios};
use guard_plan::random::Rng;

const LIMITS: &[&str] = &[
    "limit N per session",
    "limit N per session",
    "limit N per session",
    "limit N success per session",
    "shadow limit N per session",
    "limit N per session by x",
    "limit N per 1m",
    "limit N in flight",
    "limit N identical",
    "limit N per session\n  limit 1 in flight",
    "",
];

const COSTS: &[&str] = &[
    "costs c money",
    "costs c money, returned on failure",
    "costs c * 2 money",
    "costs c / 2 money",
    "shadow costs c money\n  costs 1 money",
    "costs 2 money",
    "costs 1 calls",
    "costs (if c > 3 then c else 3) money",
];

const REQUIRED: &[&str] = &[
    "test",
    "test",
    "latest test",
    "test within 5m",
    "test(x)",
    "test when x > J",
    "test or deploys",
];

/// A random guard.
pub fn source(rng: &mut Rng) -> String {
    let known = scenarios(BOUNDS);
    let (state, invariant, tools) = *rng.pick(&known);
    let k = rng.below(7);
    let j = 1 + rng.below(6);
    let most = 1 + rng.below(40);
    let mut tools = tools.to_string();
    for (place, words) in [
        (
            "COST2",
            &[
                "costs 1 calls",
                "costs 1 calls, returned on failure",
                "costs 2 money",
                "costs 0.5 money",
                "",
            ][..],
        ),
        ("COST", COSTS),
        ("TRUE", &["true", "true", "x <= J"][..]),
        ("ASKED", &["deny unless called(test)", "deny unless called(test) within 5m"][..]),
        ("REQUIRED2", &["begin", "begin", "latest begin", "begin since end"][..]),
        ("REQUIRED", REQUIRED),
        ("EDIT2", &["requires begin", "limit N per session", ""][..]),
        (
            "EDIT",
            &["requires test", "deny when live", "deny when called(test)", "shadow deny when live"]
                [..],
        ),
        ("RETURNS", &["returns int", ""][..]),
        ("OBSERVE", &["observe n = result", "observe o = result", "shadow observe n = result"][..]),
    ] {
        while tools.contains(place) {
            let words = *rng.pick(words);
            tools = tools.replacen(place, words, 1);
        }
    }
    while tools.contains("LIMIT") {
        let limit = *rng.pick(LIMITS);
        tools = tools.replacen("LIMIT", limit, 1);
    }
    while tools.contains("limit N") {
        tools = tools.replacen("limit N", &format!("limit {}", 1 + rng.below(4)), 1);
    }
    if !tools.contains("x: int") {
        tools = tools.replace("session by x", "session by c");
    }
    let deploys = if tools.contains("deploys") { "tool deploys() { }\n" } else { "" };
    let shared = if rng.chance(25) {
        let names: Vec<&str> = tools
            .lines()
            .filter_map(|line| line.strip_prefix("tool ")?.split('(').next())
            .take(2)
            .collect();
        format!(
            "policy shared for {{ {} }} {{ limit {} per session }}\n",
            names.join(", "),
            1 + rng.below(5)
        )
    } else {
        String::new()
    };
    let fill = |text: &str| {
        text.replace('K', &k.to_string())
            .replace('J', &j.to_string())
            .replace('M', &most.to_string())
    };
    let mut budgets = String::new();
    if tools.contains("money") {
        budgets += &format!("budget money = {}\n", 1 + rng.below(20));
    }
    if rng.chance(30) || tools.contains("1 calls") {
        budgets += &format!("budget calls = {}\n", 1 + rng.below(12));
    }
    let monitor = if rng.chance(8) { " monitor" } else { "" };
    let also = if state.starts_with("  n: ") { "" } else { "  n: int = 0\n" };
    format!(
        "guard bounded\n\n{budgets}\nstate {{\n{also}  o: int = 0\n{}\n}}\n\ninvariant i{monitor} {{ {} }}\n\n{}\n{deploys}{shared}",
        fill(state),
        fill(invariant),
        fill(&tools),
    )
}

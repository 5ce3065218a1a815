//! Guards whose invariants follow from limits, budgets and requirements, or nearly: a limit may be of a window, of a key, in
//! shadow, in flight or of successes; a cost may be in shadow; a variable may be observed or reset.

use guard_plan::random::Rng;

/// State, invariant and tools. `LIMIT`, `COST`, `RETURNS` are drawn; `K`, `J` are small numbers, `M` a larger one.
const SCENARIOS: &[(&str, &str, &str)] = &[
    (
        "n: int = 0",
        "n <= M",
        "tool a(x: int in 0..=9) {\n  LIMIT\n  deny unless x <= J\n  effect n += x\n}",
    ),
    (
        "n: int = 0",
        "n <= M",
        "tool a(x: int in 0..=9) {\n  LIMIT\n  effect n += J\n}\ntool b(x: int in 0..=9) {\n  LIMIT\n  effect n += K\n}",
    ),
    (
        "n: int = K",
        "n <= M",
        "tool a(x: int in 0..=9) {\n  LIMIT\n  effect n += J\n}\ntool b(x: int in 0..=9) { effect n = J }",
    ),
    (
        "n: int = 0",
        "n <= M",
        "tool a(x: int in 0..=9) {\n  LIMIT\n  effect n += J\n}\ntool b(x: int in 0..=9) {\n  deny unless x <= n\n  effect n -= x\n}",
    ),
    (
        "n: int = 0",
        "n >= -M",
        "tool a(x: int in 0..=9) {\n  LIMIT\n  effect n -= x\n}\ntool b(x: int in 0..=9) { effect n = 0 }",
    ),
    (
        "n: int = 0",
        "n <= M",
        "tool a(x: int in 0..=9) {\n  RETURNS\n  LIMIT\n  effect n += J\n}\ntool look() {\n  trusted\n  returns int in 0..=9\n  OBSERVE\n}",
    ),
    ("d: decimal = 0", "d <= M", "tool pay(c: decimal in 0..=9) {\n  COST\n  effect d += c\n}"),
    (
        "d: decimal = 0",
        "d <= M",
        "tool pay(c: decimal in 0..=9) {\n  COST\n  LIMIT\n  effect d += c\n}\ntool back(c: decimal in 0..=9) {\n  deny unless c <= d\n  effect d -= c\n}",
    ),
    (
        "n: int = 0",
        "n <= M",
        "tool pay(x: int in 0..=9) {\n  costs decimal(x) money\n  effect n += x\n}\ntool b(x: int in 0..=9) {\n  COST2\n  effect n += J\n}",
    ),
    (
        "d: decimal = 0",
        "d <= M",
        "tool pay(c: decimal in 0..=9) { COST }\ntool lock() { effect d = spent(money) }\ntool more(c: decimal in 0..=9) {\n  COST\n  effect d += c\n}",
    ),
    ("n: int = 0", "n <= M", "tool pay(x: int in 0..=9) {\n  COST2\n  effect n += x\n}"),
    (
        "l: list<int> max M = []",
        "len(l) <= K or n >= 0",
        "tool add(x: int in 0..=9) {\n  LIMIT\n  effect append x to l\n}",
    ),
    (
        "l: list<int> max 9 = []",
        "len(l) <= K",
        "tool add(x: int in 0..=9) {\n  LIMIT\n  effect append x to l\n}\ntool drop(x: int in 0..=9) { effect remove x from l }",
    ),
    (
        "s: set<int> max 99 = {}",
        "len(s) <= K",
        "tool add(x: int in 0..=9) {\n  LIMIT\n  COST2\n  effect add x to s\n}",
    ),
    (
        "m: map<string, int> max 99 = {}",
        "len(m) <= K",
        "tool put(g: string max 5, x: int in 0..=9) {\n  LIMIT\n  effect m[g] = x\n}",
    ),
    (
        "tested: bool = false\n  live: bool = false",
        "live implies tested",
        "tool test(x: int in 0..=9) {\n  RETURNS\n  effect tested = true\n}\ntool deploy(x: int in 0..=9) {\n  requires REQUIRED\n  effect live = true\n}",
    ),
    (
        "tested: bool = false\n  live: bool = false",
        "live implies tested",
        "tool test(x: int in 0..=9) { effect tested = true }\ntool deploy(x: int in 0..=9) {\n  requires REQUIRED\n  effect live = true\n}\ntool edit(x: int in 0..=9) {\n  EDIT\n  effect tested = false\n}",
    ),
    (
        "tested: bool = false\n  live: bool = false",
        "live implies tested",
        "tool test(x: int in 0..=9) { effect tested = TRUE }\ntool deploy(x: int in 0..=9) {\n  ASKED\n  effect live = true\n}",
    ),
    (
        "ready: int in 0..=9 = 0",
        "n <= ready",
        "tool test(x: int in 0..=9) { effect ready = 9 }\ntool go(x: int in 0..=9) {\n  requires REQUIRED\n  deny unless x <= J\n  effect n = x\n}",
    ),
    (
        "hi: int = 0\n  lo: int = 0",
        "lo <= M",
        "tool up(x: int in 0..=9) {\n  LIMIT\n  effect hi += x\n}\ntool low(x: int in 0..=9) {\n  deny unless lo + x <= hi\n  effect lo += x\n}",
    ),
    (
        "hi: int = 0\n  lo: int = 0",
        "lo <= hi",
        "tool up(x: int in 0..=9) { effect hi += x }\ntool low(x: int in 0..=9) {\n  deny unless x <= hi\n  effect lo = x\n}",
    ),
    (
        "speed: int = 0",
        "n <= M",
        "tool set(x: int in 0..=9) {\n  deny unless x <= J\n  effect speed = x\n}\ntool go(x: int in 0..=9) { effect n = speed + K }",
    ),
    (
        "speed: int = 0",
        "n <= M",
        "tool set(x: int in 0..=9) {\n  LIMIT\n  effect speed += x\n}\ntool go(x: int in 0..=9) {\n  LIMIT\n  effect n += speed\n}",
    ),
    (
        "a: int = 0\n  b: int = 0",
        "a <= M",
        "tool s(x: int in 0..=9) {\n  effect a = b\n  effect b = a\n}\ntool t(x: int in 0..=9) {\n  deny unless x <= J\n  effect b = x\n}",
    ),
    (
        "a: int = 0\n  b: int = 0",
        "n <= M",
        "tool s(x: int in 0..=9) {\n  effect a += x\n  effect b -= x\n}\ntool t(x: int in 0..=9) { effect n = a + b }",
    ),
    (
        "open: bool = false",
        "n == 0 or open",
        "tool begin() { effect open = true }\ntool work(x: int in 0..=9) {\n  requires REQUIRED2\n  effect n += x\n}\ntool end() {\n  EDIT2\n  effect open = false\n  effect n = 0\n}",
    ),
    (
        "big: int in 0..=9 = 0",
        "n <= M",
        "tool grow(x: int in 0..=9) {\n  LIMIT\n  effect big += J\n}\ntool copy(x: int in 0..=9) { effect n = big }",
    ),
];

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
    let (state, invariant, tools) = SCENARIOS[rng.below(SCENARIOS.len())];
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
    let also = if state.starts_with("n: ") { "" } else { "  n: int = 0\n" };
    format!(
        "guard bounded\n\n{budgets}\nstate {{\n{also}  o: int = 0\n  {}\n}}\n\ninvariant i{monitor} {{ {} }}\n\n{}\n{deploys}{shared}",
        fill(state),
        fill(invariant),
        fill(&tools),
    )
}

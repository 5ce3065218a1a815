//! Random guards and random sessions: the input of the differential law.
//!
//! Guards are generated as text, so that a failure can be read and every phase takes part. Not every one
//! compiles (an invariant may be false at the beginning, a value may be missing); those are drawn again.

mod advice;
mod clauses;
mod contract;
mod events;
mod expr;
mod items;
mod named;
mod outward;
mod world;

use clauses::{after, effects, rule};
use expr::{Speaks, truth};
use guard_plan::random::Rng;

pub use contract::document;
pub use events::{Event, Timed, events, opening};
pub use outward::{any_call, escapes, fenced};

/// Parameters a tool may have, with how their values are drawn.
const PARAMS: [(&str, &str); 13] = [
    ("a", "int in 0..=5"),
    ("b", "int"),
    ("e", "Env"),
    ("s", "string max 12"),
    ("o", "int?"),
    ("xs", "list<int> max 3"),
    ("ys", "list<int> max 3"),
    ("p", "path"),
    ("amt", "decimal in 0..=20"),
    ("note", "string max 2000"),
    ("link", "url"),
    ("pw", "secret string max 20"),
    ("cmd", "command"),
];

/// One generated tool: its name and the indexes of its parameters.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Its name.
    pub name: String,
    /// Indexes of its parameters.
    params: Vec<usize>,
}

/// A generated guard.
#[derive(Debug, Clone)]
pub struct Generated {
    /// Its items; each can be left out when a failure is reduced.
    pub items: Vec<String>,
    /// Its tools, without those of lifecycles.
    pub tools: Vec<Shape>,
    /// Its lifecycles.
    lifecycles: Vec<items::Drawn>,
    /// The tools of every `T since U`.
    sinces: Vec<(String, String)>,
    /// The guard with every use of a define or a `let` written out.
    pub written_out: String,
}

impl Generated {
    /// The guard as text.
    pub fn text(&self) -> String {
        self.items.join("\n")
    }
}

const STATE: [&str; 12] = [
    "n: int in -5..=12 = 0",
    "m: int = 3",
    "flag: bool = false",
    "money: decimal in 0..=60 = 10.00",
    "envs: set<Env> max 2 = {}",
    "log: list<int> max 3 = [1]",
    "owner: string? = none",
    "items: map<string, Item> max 2 = {}",
    "pause: duration = 5m",
    "by_env: map<Env, int> max 2 = {prod: 1}",
    "by_int: map<int, bool> max 3 = {-1: true}",
    "by_bool: map<bool, Item> max 2 = {}",
];

/// A guard drawn from `rng`.
pub fn guard(rng: &mut Rng) -> Generated {
    let mut items = vec![
        format!("guard generated{}", if rng.chance(4) { " shadow" } else { "" }),
        "enum Env { dev, staging, prod }".to_string(),
        format!("record Item {{ id: string  qty: int in 0..=9{} }}", clauses::forms(rng)),
        "record Post { by: string  names: list<string> max 3  text: string }".to_string(),
        format!("state {{ {} }}", STATE.join("  ")),
        "fact row(id: string key, qty: int) max 2".to_string(),
        format!("fact who(name: string) max {}", rng.pick(&["1", "2", "2 else halt", "3"]),),
    ];
    items.extend(named::defines());
    items.extend(world::probes(rng));
    if rng.chance(50) {
        items.push(format!("budget calls = {}", 5 + rng.below(15)));
    }
    if rng.chance(30) {
        items.push("budget tokens = 100".to_string());
    }
    if rng.chance(30) {
        items.push("deadline 3h".to_string());
    }
    if rng.chance(10) {
        items.push("default allow".to_string());
    }
    let tools: Vec<Shape> = (0..2 + rng.below(5))
        .map(|at| Shape {
            name: format!("t{at}"),
            params: (0..PARAMS.len()).filter(|_| rng.chance(45)).collect(),
        })
        .collect();
    let lifecycles = items::lifecycles(rng);
    let served = lifecycles.iter().flat_map(items::Drawn::tools);
    let named: Vec<Shape> = tools.iter().cloned().chain(served).collect();
    for at in 0..tools.len() {
        items.push(tool(rng, &named, at));
    }
    for at in 0..rng.below(3) {
        let policy = policy(rng, &named, at, &items);
        items.push(policy);
    }
    if items.iter().any(|item| item.contains(" post in result")) {
        items.extend(clauses::telltales(rng));
    }
    if rng.chance(25) {
        items.push(outward::tool(rng));
    }
    items.push("statement said(a: int in 0..=5, s: string max 12) max 3 approval human".into());
    items.push(
        "statement noted(e: Env, a: int in 0..=5, s: string max 12) approval boss when a > 2"
            .into(),
    );
    items.extend(world::sources(rng));
    items.extend(lifecycles.iter().map(|lifecycle| lifecycle.text.clone()));
    items.extend(advice::feedback(rng, &named));
    items.extend(contract::contract(rng));
    items.extend(advice::completion(rng, &named, &lifecycles));
    for at in 0..rng.below(4) {
        let mode = *rng.pick(&["", "", "", " monitor", " shadow"]);
        let speaks = Speaks { params: &[], asks: false };
        let claim = truth(rng, &speaks, &named, 2);
        // True at first, or the guard would often not compile.
        let claim = if rng.chance(60) { format!("n == 0 or {claim}") } else { claim };
        items.push(format!("invariant i{at}{mode} {{ {claim} }}"));
    }
    // A budget that no tool charges is the host's.
    let charged = items.iter().any(|item| item.contains(" usd\n") || item.contains(" usd}"));
    items.push(format!("budget usd = 90.00{}", if charged { "" } else { " host" }));
    let stated = [("said", vec![0, 3]), ("noted", vec![0, 2, 3])];
    let stated = stated.map(|(name, params)| Shape { name: name.to_string(), params });
    let tools: Vec<Shape> = tools.into_iter().chain(stated).collect();
    let items: Vec<String> =
        items.into_iter().map(|item| named::with_let(item, || "2".to_string())).collect();
    let written_out = named::rendered(&items.join("\n"), true);
    let items: Vec<String> = items.iter().map(|item| named::rendered(item, false)).collect();
    let sinces = items.iter().flat_map(|item| sinces(item)).collect();
    Generated { items, tools, lifecycles, sinces, written_out }
}

/// The pairs of tools of every `T since U` in a text.
pub fn sinces(text: &str) -> Vec<(String, String)> {
    let words = |text: &str| -> Vec<String> {
        let names = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        names.filter(|name| name.starts_with('t')).map(str::to_string).collect()
    };
    let is_tool = |name: &String| name[1..].parse::<usize>().is_ok();
    let pair = |(at, _): (usize, &str)| {
        let before = words(&text[..at]).into_iter().rfind(is_tool)?;
        let after = words(&text[at..]).into_iter().find(is_tool)?;
        Some((before, after))
    };
    text.match_indices(" since t").filter_map(pair).collect()
}

fn tool(rng: &mut Rng, tools: &[Shape], at: usize) -> String {
    let shape = &tools[at];
    let params: Vec<String> =
        shape.params.iter().map(|p| format!("{}: {}", PARAMS[*p].0, PARAMS[*p].1)).collect();
    let mut clauses: Vec<String> = (0..rng.below(4)).map(|_| rule(rng, tools, at)).collect();
    if rng.chance(60) {
        clauses.push(effects(rng, tools, at));
    }
    if rng.chance(8) {
        let speaks = Speaks { params: &shape.params, asks: true };
        let when = if rng.chance(50) {
            format!(" when {}", expr::truth(rng, &speaks, tools, 1))
        } else {
            String::new()
        };
        clauses.push(format!("risk critical{when}\n  irreversible"));
    }
    clauses.extend(after(rng, &shape.params));
    let tool =
        format!("tool {}({}) {{\n  {}\n}}", shape.name, params.join(", "), clauses.join("\n  "));
    let speaks = Speaks { params: &shape.params, asks: true };
    named::with_let(tool, || expr::int(rng, &speaks, tools, 1))
}

fn policy(rng: &mut Rng, tools: &[Shape], at: usize, items: &[String]) -> String {
    let members: Vec<&str> =
        tools.iter().filter(|_| rng.chance(60)).map(|t| t.name.as_str()).collect();
    let alone = members.is_empty() || rng.chance(20);
    let members = if alone { vec![rng.pick(tools).name.as_str()] } else { members };
    let none = Shape { name: String::new(), params: Vec::new() };
    let with_none: Vec<Shape> = tools.iter().cloned().chain([none]).collect();
    let clauses: Vec<String> =
        (0..1 + rng.below(2)).map(|_| rule(rng, &with_none, tools.len())).collect();
    let shadow = if rng.chance(15) { " shadow" } else { "" };
    let policy = format!(
        "policy q{at} for {{ {} }}{shadow} {{\n  {}\n}}",
        members.join(", "),
        clauses.join("\n  ")
    );
    if let [tool] = members[..]
        && let Some(policy) = named::with_let_of(tool, &policy, items)
    {
        return policy;
    }
    named::with_let(policy, || expr::int(rng, &Speaks { params: &[], asks: true }, tools, 1))
}

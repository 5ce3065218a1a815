//! Random guards and random sessions: the input of the differential law.
//!
//! Guards are generated as text, so that a failure can be read and every phase takes part. Not every one
//! compiles (an invariant may be false at the beginning, a value may be missing); those are drawn again.

use crate::rng::Rng;
use guard_plan::json::Json;

/// Parameters a tool may have, with how their values are drawn.
const PARAMS: [(&str, &str); 9] = [
    ("a", "int in 0..=5"),
    ("b", "int"),
    ("e", "Env"),
    ("s", "string max 12"),
    ("o", "int?"),
    ("xs", "list<int> max 3"),
    ("ys", "list<int> max 3"),
    ("p", "path"),
    ("amt", "decimal in 0..=20"),
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
    /// Its tools.
    pub tools: Vec<Shape>,
}

impl Generated {
    /// The guard as text.
    pub fn text(&self) -> String {
        self.items.join("\n")
    }
}

/// What conditions may speak of.
struct Speaks<'s> {
    params: &'s [usize],
    /// History, time, budgets and the world too.
    asks: bool,
}

const STATE: [&str; 9] = [
    "n: int in -5..=12 = 0",
    "m: int = 3",
    "flag: bool = false",
    "money: decimal in 0..=60 = 10.00",
    "envs: set<Env> max 2 = {}",
    "log: list<int> max 3 = [1]",
    "owner: string? = none",
    "items: map<string, Item> max 2 = {}",
    "pause: duration = 5m",
];

/// A guard drawn from `rng`.
pub fn guard(rng: &mut Rng) -> Generated {
    let mut items = vec![
        format!("guard generated{}", if rng.chance(4) { " shadow" } else { "" }),
        "enum Env { dev, staging, prod }".to_string(),
        "record Item { id: string  qty: int in 0..=9 }".to_string(),
        format!("state {{ {} }}", STATE.join("  ")),
        "fact row(id: string key, qty: int) max 2".to_string(),
        "probe ready".to_string() + " { host }",
        "budget usd = 90.00".to_string(),
    ];
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
    for at in 0..tools.len() {
        items.push(tool(rng, &tools, at));
    }
    for at in 0..rng.below(3) {
        items.push(policy(rng, &tools, at));
    }
    for at in 0..rng.below(4) {
        let mode = *rng.pick(&["", "", "", " monitor", " shadow"]);
        let speaks = Speaks { params: &[], asks: false };
        items.push(format!("invariant i{at}{mode} {{ {} }}", truth(rng, &speaks, &tools, 2)));
    }
    Generated { items, tools }
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
        clauses.push("risk critical, irreversible".to_string());
    }
    clauses.extend(after(rng, &shape.params));
    format!("tool {}({}) {{\n  {}\n}}", shape.name, params.join(", "), clauses.join("\n  "))
}

fn policy(rng: &mut Rng, tools: &[Shape], at: usize) -> String {
    let members: Vec<&str> =
        tools.iter().filter(|_| rng.chance(60)).map(|t| t.name.as_str()).collect();
    let members = if members.is_empty() { vec![tools[0].name.as_str()] } else { members };
    let none = Shape { name: String::new(), params: Vec::new() };
    let with_none: Vec<Shape> = tools.iter().cloned().chain([none]).collect();
    let clauses: Vec<String> =
        (0..1 + rng.below(2)).map(|_| rule(rng, &with_none, tools.len())).collect();
    let shadow = if rng.chance(15) { " shadow" } else { "" };
    format!(
        "policy q{at} for {{ {} }}{shadow} {{\n  {}\n}}",
        members.join(", "),
        clauses.join("\n  ")
    )
}

fn rule(rng: &mut Rng, tools: &[Shape], at: usize) -> String {
    let params = &tools[at].params;
    let speaks = Speaks { params, asks: true };
    let named: Vec<Shape> = tools.iter().filter(|t| !t.name.is_empty()).cloned().collect();
    let shadow = if rng.chance(8) { "shadow " } else { "" };
    let when = |rng: &mut Rng| match rng.below(3) {
        0 => format!(" when {}", truth(rng, &speaks, &named, 1)),
        1 => format!(" unless {}", truth(rng, &speaks, &named, 1)),
        _ => String::new(),
    };
    let clause = match rng.below(11) {
        0..=2 => format!("requires {}{}", requirement(rng, tools, at), when(rng)),
        3..=5 => {
            // Mostly rare, so that sessions get somewhere.
            let (word, joint) = *rng.pick(&[("when", "and"), ("unless", "or")]);
            let other = if rng.chance(60) {
                format!(" {joint} {}", truth(rng, &speaks, &named, 0))
            } else {
                String::new()
            };
            format!("deny {word} {}{other} because \"no: {{now}}\"", truth(rng, &speaks, &named, 1))
        }
        6 => {
            let by = if !params.is_empty() && rng.chance(40) {
                format!(" by {}", PARAMS[*rng.pick(params)].0)
            } else {
                String::new()
            };
            let by = if by.ends_with("s") && by.len() == 6 || by == " by o" {
                String::new()
            } else {
                by
            };
            let scope = *rng.pick(&["per 10m", "per session", "in flight", "identical", "per 1h"]);
            format!("limit {} {scope}{by}", 1 + rng.below(3))
        }
        7 | 8 => {
            format!("costs {} {}", amount(rng, params), rng.pick(&["usd", "usd", "usd", "calls"]))
        }
        9 => {
            let within = if rng.chance(30) { " within 20m" } else { "" };
            format!("approval {}{within}{}", rng.pick(&["human", "boss"]), when(rng))
        }
        _ => "ready when probe ready".to_string(),
    };
    format!("{shadow}{clause}")
}

fn requirement(rng: &mut Rng, tools: &[Shape], at: usize) -> String {
    let others: Vec<&Shape> = tools
        .iter()
        .enumerate()
        .filter(|(t, s)| *t != at && !s.name.is_empty())
        .map(|(_, s)| s)
        .collect();
    let Some(first) = others.get(rng.below(others.len().max(1))) else { return "t0".to_string() };
    let mut alternatives = Vec::new();
    let mut chosen = vec![*first];
    if rng.chance(20) {
        chosen.push(others[rng.below(others.len())]);
    }
    for other in chosen {
        let mut text = other.name.clone();
        let shared: Vec<usize> =
            other.params.iter().filter(|p| tools[at].params.contains(p)).copied().collect();
        if !shared.is_empty() && rng.chance(50) {
            text += &format!("({})", PARAMS[*rng.pick(&shared)].0);
        } else if other.params.contains(&0) && rng.chance(20) {
            text += &format!("(a: {})", rng.below(3));
        }
        if rng.chance(20) {
            text += &format!(" since {}", others[rng.below(others.len())].name);
        }
        if rng.chance(20) {
            text += " within 15m";
        }
        alternatives.push(text);
    }
    alternatives.join(" or ")
}

fn amount(rng: &mut Rng, params: &[usize]) -> String {
    let decimal = params.contains(&8) && rng.chance(50);
    match (decimal, rng.below(4)) {
        (true, 0) => "amt * 1.5".to_string(),
        (true, 1) => "amt / 3.0".to_string(),
        (true, _) => "amt".to_string(),
        (false, 0) if params.contains(&0) => "decimal(a)".to_string(),
        (false, 1) => "if flag then 0.10 else 7.25".to_string(),
        _ => format!("{}.{:02}", rng.below(15), rng.below(100)),
    }
}

fn effects(rng: &mut Rng, tools: &[Shape], at: usize) -> String {
    let params = &tools[at].params;
    let speaks = Speaks { params, asks: true };
    let mut statements = Vec::new();
    for var in 0..STATE.len() {
        if !rng.chance(25) {
            continue;
        }
        let int = int(rng, &speaks, tools, 2);
        let env = env(rng, params);
        statements.push(match (var, rng.below(3)) {
            (0, 0) => format!("n += {int}"),
            (0, 1) => format!("n = {int}"),
            (0, _) => format!("n -= {int}"),
            (1, 0) => format!("m *= {int}"),
            (1, _) => format!("m += {int}"),
            (2, _) => format!("flag = {}", truth(rng, &speaks, tools, 1)),
            (3, 0) => "money -= 2.50".to_string(),
            (3, _) => format!("money += {}", amount(rng, params)),
            (4, 0) => format!("remove {env} from envs"),
            (4, _) => format!("add {env} to envs"),
            (5, 0) => format!("remove {int} from log"),
            (5, _) => format!("append {int} to log"),
            (6, 0) => "delete owner".to_string(),
            (6, _) => format!("owner = {}", text(rng, params)),
            (7, 0) => format!("delete items[{}]", text(rng, params)),
            (7, _) => format!("items[{}] = {{id: \"x\", qty: {int}}}", text(rng, params)),
            _ => "pause += 1m".to_string(),
        });
    }
    if statements.is_empty() {
        String::new()
    } else {
        format!("effect {{ {} }}", statements.join("  "))
    }
}

/// Clauses about the result.
fn after(rng: &mut Rng, params: &[usize]) -> Vec<String> {
    let mut clauses = Vec::new();
    match rng.below(6) {
        0 => {
            clauses.push("trusted  returns Item".to_string());
            if rng.chance(60) {
                clauses.push(format!(
                    "observe items[{}] = result{}",
                    text(rng, params),
                    rng.pick(&["", " warn"])
                ));
            }
            if rng.chance(60) {
                clauses.push("learn row(id: result.id, qty: result.qty)".to_string());
            }
        }
        1 => {
            clauses.push("trusted  returns json".to_string());
            let when = rng.pick(&["", " when flag"]);
            clauses
                .push(format!("learn row(id: k, qty: v.qty else 1) for k, v in result.rows{when}"));
            if rng.chance(40) {
                clauses.push("observe n = result.n".to_string());
            }
        }
        2 => {
            clauses.push("returns int".to_string());
            clauses.push(format!("observe m = result + m{}", rng.pick(&["", " warn"])));
            if rng.chance(40) {
                clauses.push(format!("reconcile m <= {}", 3 + rng.below(9)));
            }
        }
        _ => {}
    }
    clauses
}

fn env(rng: &mut Rng, params: &[usize]) -> String {
    if params.contains(&2) && rng.chance(60) {
        "e".into()
    } else {
        (*rng.pick(&["dev", "staging", "prod"])).into()
    }
}

fn text(rng: &mut Rng, params: &[usize]) -> String {
    if params.contains(&3) && rng.chance(60) {
        "s".into()
    } else {
        format!("\"{}\"", rng.pick(&["u", "v"]))
    }
}

/// An int expression.
fn int(rng: &mut Rng, speaks: &Speaks, tools: &[Shape], depth: usize) -> String {
    let tool = |rng: &mut Rng| rng.pick(tools).name.clone();
    if depth > 0 && rng.chance(30) {
        let (x, y) = (int(rng, speaks, tools, depth - 1), int(rng, speaks, tools, depth - 1));
        return match rng.below(6) {
            0 => format!("({x} + {y})"),
            1 => format!("({x} - {y})"),
            2 => format!("({x} * {y})"),
            3 => format!("({x} / {y})"),
            4 => format!("({x} % {y})"),
            _ => format!("max({x}, {y})"),
        };
    }
    let has = |p: usize| speaks.params.contains(&p);
    match rng.below(16) {
        0 if has(0) => "a".into(),
        1 if has(1) => "b".into(),
        2 if has(4) => format!("(o else {})", rng.below(4)),
        3 if has(5) => "len(xs)".into(),
        4 if has(5) => "sum(x in xs: x)".into(),
        5 if has(5) => "count(x in xs: x > m)".into(),
        6 if has(1) => "9223372036854775807".into(),
        7 if speaks.asks => format!("calls({})", tool(rng)),
        8 if speaks.asks => format!("(failures({}) within 20m)", tool(rng)),
        9 if speaks.asks => "clock.minute".into(),
        10 if speaks.asks => "(row[\"u\"].qty else 2)".into(),
        11 => "len(envs)".into(),
        12 => "sum(x in log: x)".into(),
        13 => "(items[\"u\"].qty else 4)".into(),
        14 => "n".into(),
        15 => "m".into(),
        _ => rng.below(9).to_string(),
    }
}

/// A condition.
fn truth(rng: &mut Rng, speaks: &Speaks, tools: &[Shape], depth: usize) -> String {
    let tool = |rng: &mut Rng| rng.pick(tools).name.clone();
    if depth > 0 && rng.chance(45) {
        let x = truth(rng, speaks, tools, depth - 1);
        let y = truth(rng, speaks, tools, depth - 1);
        return match rng.below(5) {
            0 => format!("({x} and {y})"),
            1 => format!("({x} or {y})"),
            2 => format!("({x} implies {y})"),
            3 => format!("(if {x} then {y} else flag)"),
            _ => format!("not ({x})"),
        };
    }
    let compare = |rng: &mut Rng, x: String, y: String| {
        format!("{x} {} {y}", rng.pick(&["==", "!=", "<", "<=", ">", ">="]))
    };
    let has = |p: usize| speaks.params.contains(&p);
    match rng.below(30) {
        0 if has(2) => "e in envs".into(),
        1 if has(2) => format!("e == {}", rng.pick(&["dev", "prod"])),
        2 if has(3) => "s matches /^[a-z]+$/".into(),
        3 if has(3) => "owner == s".into(),
        4 if has(3) && speaks.asks => "known row(s)".into(),
        5 if has(5) && has(6) => "all x, y in zip(xs, ys): x <= y".into(),
        6 if has(5) => "any x in xs: x == m".into(),
        7 if has(7) => "p within workspace".into(),
        8 if has(7) && speaks.asks => "exists(p)".into(),
        9 if has(8) => "amt > money".into(),
        10 if has(4) => "o is none".into(),
        11 if has(4) => "o == m".into(),
        12 if speaks.asks => format!("called({})", tool(rng)),
        13 if speaks.asks => format!("failed({}) within 15m", tool(rng)),
        14 if speaks.asks => format!("called({}) since {}", tool(rng), tool(rng)),
        15 if speaks.asks => "spent(usd) > 20".into(),
        16 if speaks.asks => "remaining(usd) < 10".into(),
        17 if speaks.asks => "elapsed > 20m".into(),
        18 if speaks.asks => "probe ready".into(),
        19 if speaks.asks => format!("once (n > {})", rng.below(4)),
        20 if speaks.asks => "historically (not flag)".into(),
        21 if speaks.asks => "previous flag".into(),
        22 if speaks.asks => "(m > 2) since flag".into(),
        23 if speaks.asks => "clock.weekday in {sat, sun}".into(),
        24 => "owner is some".into(),
        25 => "flag".into(),
        26 => "prod in envs".into(),
        27 => "any k, v in items: v.qty > 3".into(),
        _ => {
            let x = int(rng, speaks, tools, 1);
            let y = int(rng, speaks, tools, 1);
            compare(rng, x, y)
        }
    }
}

/// One event of a session.
#[derive(Debug, Clone)]
pub enum Event {
    /// A proposal: call id, tool, arguments.
    Propose(String, String, Json),
    /// A settlement: call id, success, result.
    Settle(String, bool, Option<Json>),
    /// An approval: tool, arguments, role, milliseconds until it expires.
    Approve(String, Json, String, Option<i64>),
    /// Use of a host-charged unit, in units of 10⁻⁶.
    Usage(i64),
    /// A halt ends.
    Resume,
}

/// Events with the clock's movement before each, in milliseconds; it may go backwards.
pub fn events(rng: &mut Rng, guard: &Generated, count: usize) -> Vec<(i64, Event)> {
    let mut started: Vec<String> = Vec::new();
    let mut approved: Option<(String, Json)> = None;
    let mut events = Vec::new();
    for at in 0..count {
        let step =
            *rng.pick(&[0, 0, 0, 1_000, 1_000, 60_000, 60_000, 600_000, 1_800_000, -120_000]);
        let event = match rng.below(20) {
            0..=10 => {
                let (tool, args) = match approved.take() {
                    Some(call) if rng.chance(80) => call,
                    _ => call(rng, guard),
                };
                let id = if rng.chance(4) { "c0".to_string() } else { format!("c{at}") };
                started.push(id.clone());
                Event::Propose(id, tool, args)
            }
            11..=16 if !started.is_empty() => {
                let id = started.remove(rng.below(started.len()));
                Event::Settle(id, rng.chance(80), result(rng))
            }
            17 | 18 => {
                let (tool, args) = call(rng, guard);
                approved = Some((tool.clone(), args.clone()));
                let expires = if rng.chance(30) { Some(600_000) } else { None };
                Event::Approve(
                    tool,
                    args,
                    (*rng.pick(&["human", "human", "boss"])).to_string(),
                    expires,
                )
            }
            19 if rng.chance(50) => Event::Usage(rng.below(60_000_000) as i64),
            _ => Event::Resume,
        };
        events.push((step, event));
    }
    events
}

fn call(rng: &mut Rng, guard: &Generated) -> (String, Json) {
    if rng.chance(2) {
        return ("unheard_of".to_string(), Json::Object(Vec::new()));
    }
    let tool = rng.pick(&guard.tools);
    let mut members: Vec<String> = Vec::new();
    for param in &tool.params {
        if rng.chance(2) {
            continue;
        }
        members.push(format!("\"{}\":{}", PARAMS[*param].0, argument(rng, *param)));
    }
    if rng.chance(2) {
        members.push("\"zz\":1".into());
    }
    let args = Json::parse(&format!("{{{}}}", members.join(","))).unwrap_or(Json::Null);
    (tool.name.clone(), args)
}

fn argument(rng: &mut Rng, param: usize) -> String {
    if rng.chance(2) {
        let hostile = [
            "null",
            "true",
            "1e400",
            "-0",
            "0.0000001",
            "\"\\u0000\"",
            "[[]]",
            "{}",
            "9223372036854775808",
        ];
        return (*rng.pick(&hostile)).to_string();
    }
    let list = |rng: &mut Rng| {
        let items: Vec<String> = (0..rng.below(4)).map(|_| rng.below(5).to_string()).collect();
        format!("[{}]", items.join(","))
    };
    match param {
        0 => rng.below(4).to_string(),
        1 => (*rng.pick(&["0", "1", "-3", "7", "9223372036854775807"])).to_string(),
        2 => format!("\"{}\"", rng.pick(&["dev", "staging", "prod"])),
        3 => format!("\"{}\"", rng.pick(&["u", "v", "U1"])),
        4 => (*rng.pick(&["null", "2", "3"])).to_string(),
        5 | 6 => list(rng),
        7 => format!("\"{}\"", rng.pick(&["a", "a/../b", "/etc/x", "../up", "/workspace/a"])),
        _ => (*rng.pick(&["0", "0.1", "12.5", "7.333333", "20"])).to_string(),
    }
}

fn result(rng: &mut Rng) -> Option<Json> {
    let results = [
        "null",
        "5",
        "-2",
        "\"x\"",
        "{\"id\":\"u\",\"qty\":3}",
        "{\"id\":\"v\",\"qty\":12}",
        "{\"id\":\"u\",\"qty\":3,\"more\":[]}",
        "{\"n\":4,\"rows\":{\"u\":{\"qty\":2},\"w\":{}}}",
        "{\"n\":40,\"rows\":[{\"qty\":1},7]}",
        "{\"n\":\"x\",\"rows\":{\"u\":{\"qty\":1},\"v\":{\"qty\":2},\"w\":{\"qty\":3}}}",
    ];
    let text = *rng.pick(&results);
    if text == "null" && rng.chance(50) { None } else { Json::parse(text).ok() }
}

//! The clauses of tools and policies.

use super::expr::{Speaks, env, int, text, truth};
use super::{PARAMS, STATE, Shape};
use guard_plan::random::Rng;

pub(super) fn rule(rng: &mut Rng, tools: &[Shape], at: usize) -> String {
    let params = &tools[at].params;
    let speaks = Speaks { params, asks: true };
    let named: Vec<Shape> = tools.iter().filter(|t| !t.name.is_empty()).cloned().collect();
    let shadow = if rng.chance(8) { "shadow " } else { "" };
    let when = |rng: &mut Rng| match rng.below(3) {
        0 => format!(" when {}", truth(rng, &speaks, &named, 1)),
        1 => format!(" unless {}", truth(rng, &speaks, &named, 1)),
        _ => String::new(),
    };
    let clause = match rng.below(12) {
        11 => transform(rng, params, &when),
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
            let success = if scope != "in flight" && rng.chance(35) { "success " } else { "" };
            let ask = if scope != "in flight" && rng.chance(30) {
                format!(" else ask {}", rng.pick(&["human", "boss"]))
            } else {
                String::new()
            };
            format!("limit {} {success}{scope}{by}{ask}", 1 + rng.below(3))
        }
        7 | 8 => {
            let returned = if rng.chance(30) { ", returned on failure" } else { "" };
            let unit = rng.pick(&["usd", "usd", "usd", "calls"]);
            format!("costs {} {unit}{returned}", amount(rng, params))
        }
        9 => {
            let within = if rng.chance(30) { " within 20m" } else { "" };
            format!("approval {}{within}{}", rng.pick(&["human", "boss"]), when(rng))
        }
        _ => "ready when probe ready".to_string(),
    };
    format!("{shadow}{clause}")
}

/// A value for an argument; without parameters, a deny.
fn transform(rng: &mut Rng, params: &[usize], when: &dyn Fn(&mut Rng) -> String) -> String {
    let Some(param) = params.get(rng.below(params.len().max(1))) else {
        return "deny when m > 40".into();
    };
    let value = match param {
        0 => *rng.pick(&["min(a, 3)", "m", "4"]),
        1 => *rng.pick(&["n + 1", "min(b, m)"]),
        2 => *rng.pick(&["dev", "e"]),
        3 => *rng.pick(&["\"u\"", "lower(s)", "s + \"x\""]),
        4 => *rng.pick(&["none", "o else 2", "7"]),
        5 => *rng.pick(&["[1, 2]", "joined(xs, [1])"]),
        8 => *rng.pick(&["min(amt, 2.50)", "decimal(m)"]),
        9 => "\"noted\"",
        _ => return "deny when m > 41".into(),
    };
    let because = if rng.chance(30) { " because \"so: {now}\"" } else { "" };
    format!("transform {} = {value}{}{because}", PARAMS[*param].0, when(rng))
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
        let latest = if rng.chance(25) { "latest " } else { "" };
        let mut text = format!("{latest}{}", other.name);
        let shared: Vec<usize> =
            other.params.iter().filter(|p| tools[at].params.contains(p)).copied().collect();
        if !shared.is_empty() && rng.chance(50) {
            text += &format!("({})", PARAMS[*rng.pick(&shared)].0);
        } else if other.params.contains(&0) && rng.chance(20) {
            text += &format!("(a: {})", rng.below(3));
        }
        if rng.chance(45) {
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

pub(super) fn effects(rng: &mut Rng, tools: &[Shape], at: usize) -> String {
    let params = &tools[at].params;
    let speaks = Speaks { params, asks: true };
    let mut statements = Vec::new();
    for var in 0..STATE.len() {
        if !rng.chance(25) {
            continue;
        }
        let int = int(rng, &speaks, tools, 2);
        let env = env(rng, params);
        if rng.chance(20)
            && let Some(statement) = on_elements(rng, var, params, &int)
        {
            statements.push(statement);
            continue;
        }
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
            (5, 1) => format!("log = joined(log, [{int}])"),
            (5, _) => format!("append {int} to log"),
            (6, 0) if rng.chance(50) => "owner = first k in items: k != \"u\"".to_string(),
            (6, 0) => "delete owner".to_string(),
            (6, 1) => format!("owner = (owner else \"\") + {}", text(rng, params)),
            (6, _) => format!("owner = {}", text(rng, params)),
            (7, 0) => format!("delete items[{}]", text(rng, params)),
            (7, 1) => {
                let text = text(rng, params);
                format!("items[{text}] = {{id: \"x\", qty: {int}}}  delete items[\"u\"]")
            }
            (7, _) => format!("items[{}] = {{id: \"x\", qty: {int}}}", text(rng, params)),
            (8, _) => "pause += 1m".to_string(),
            (9, 0) => format!("remove {env} from by_env"),
            (9, _) => format!("by_env[{env}] = {int}"),
            (10, 0) => format!("delete by_int[{int}]"),
            // The same entry, sometimes.
            (10, 1) => {
                let truth = truth(rng, &speaks, tools, 1);
                format!("by_int[{int}] = {truth}  by_int[2] = flag")
            }
            (10, _) => format!("by_int[{int}] = {}", truth(rng, &speaks, tools, 1)),
            (_, 0) => "delete by_bool[flag]".to_string(),
            _ => {
                let key = rng.pick(&["flag", "n > 2", "true"]);
                format!("by_bool[{key}] = {{id: \"z\", qty: {int}}}")
            }
        });
    }
    if statements.is_empty() {
        String::new()
    } else {
        let shadow = if rng.chance(8) { "shadow " } else { "" };
        format!("{shadow}effect {{ {} }}", statements.join("  "))
    }
}

/// A statement that is done for each element of a collection; none for some variables.
fn on_elements(rng: &mut Rng, var: usize, params: &[usize], int: &str) -> Option<String> {
    let lists: Vec<&str> =
        [5, 6].iter().filter(|at| params.contains(at)).map(|at| super::PARAMS[*at].0).collect();
    let list = if lists.is_empty() || rng.chance(40) { "log" } else { *rng.pick(&lists) };
    let text = text(rng, params);
    let statement = match (var, rng.below(3)) {
        (0, 0) => format!("n += x for x in {list} when x > {int}"),
        (0, 1) => format!("n = x for x in {list}"),
        (0, _) => format!("n -= x for k, v in by_env for x in {list} when v != x"),
        (1, 0) => format!("m += i * x for i, x in {list}"),
        (1, _) => format!("m *= x for x in {{1, 2, {int}}}"),
        (3, _) => format!("money -= decimal(x) for x in {list}"),
        (4, _) => format!("remove e from envs for e in envs when n < {int}"),
        (5, 0) => format!("append x + {int} to log for x in {list}"),
        (5, _) => format!("remove x from log for x in {list}"),
        (7, 0) => format!("items[k].qty += x for k in items for x in {list} when k in items"),
        (7, 1) => format!("items[k] = {{id: k, qty: {int}}} for k in [{text}, \"a\", \"b\"]"),
        (7, _) => format!("items[k].qty = x for k in items for x in {list} when items[k] is some"),
        (9, _) => format!("by_env[e] = x for e in envs for x in {list}"),
        (10, 0) => format!("by_int[i] = x > {int} for i, x in {list}"),
        (10, 1) => format!("delete by_int[x] for x in {list}"),
        (10, _) => format!("by_int[x] = i > 0 for i, x in {list} when x != {int}"),
        _ => return None,
    };
    Some(statement)
}

/// The other forms in which an int is taken, or none.
pub(super) fn forms(rng: &mut Rng) -> &'static str {
    rng.pick::<&str>(&["", "", " from string", " from number", " rounded", " from string rounded"])
}

/// Clauses about the result.
pub(super) fn after(rng: &mut Rng, params: &[usize]) -> Vec<String> {
    let mut clauses = Vec::new();
    match rng.below(17) {
        0 => {
            let from = rng.pick(&["", " from string"]);
            clauses.push(format!("trusted  returns Item{from}"));
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
            if rng.chance(50) {
                let when = rng.pick(&["", " when flag", " unless result.qty > m"]);
                let value = rng.pick(&["0", "result.qty / m", "m"]);
                clauses.push(format!("transform result.qty = {value}{when}"));
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
            if rng.chance(50) {
                clauses.push("transform result.rows.qty = none".to_string());
            }
        }
        2 => {
            clauses.push(format!("returns int{}", forms(rng)));
            clauses.push(format!("observe m = result + m{}", rng.pick(&["", " warn"])));
            if rng.chance(40) {
                clauses.push(format!("reconcile m <= {}", 3 + rng.below(9)));
            }
        }
        3 => {
            clauses.push("trusted result.names  untrusted result.names.bad".to_string());
            clauses.push("learn who(result.names.good)".to_string());
        }
        4 => {
            clauses.push("trusted".to_string());
            clauses.push(lesson(rng, params));
            if rng.chance(50) {
                clauses.push(lesson(rng, params));
            }
            if rng.chance(40) {
                clauses.push("reconcile probe built or origin(\"w\") == trusted".to_string());
            }
        }
        5 => {
            clauses.push("trusted  untrusted result.names".to_string());
            clauses.push(format!(
                "reconcile {} != known who(\"u\")",
                rng.pick(&["probe marker", "exists(\"a\")", "flag"])
            ));
        }
        6 => clauses.push(format!("observe owner = result.to{}", rng.pick(&["", " warn"]))),
        7 => {
            let from = rng.pick(&["", " from string"]);
            clauses.push(format!("returns Item{from}"));
            clauses.push("observe owner = result.id".to_string());
            let key = text(rng, params);
            clauses.push(format!("observe items[{key}] = {{id: \"y\", qty: result.qty}}"));
        }
        8 => {
            clauses.push("returns map<Env, map<int, bool> max 2> max 2".to_string());
            let env = env(rng, params);
            clauses.push(format!("observe by_int = result[{env}] else {{}}"));
        }
        9 | 10 => clauses.extend(posts(rng)),
        11 | 12 => {
            let part = *rng.pick(&["", ".names", ".posts"]);
            clauses.push(format!("trusted result{part} when {}", outside(rng)));
            clauses.push(match part {
                ".posts" => "learn who(post.by) for post in result.posts".to_string(),
                _ => "learn who(result.names[*])".to_string(),
            });
            if rng.chance(40) {
                let when = outside(rng);
                clauses.push(format!(
                    "private post.text to post.by for at, post in result.posts unless {when}"
                ));
            }
        }
        _ => {}
    }
    if rng.chance(45) {
        let is_typed = |clause: &String| clause.contains("returns") && !clause.contains("json");
        let typed = clauses.iter().any(is_typed);
        clauses.push(private(rng, params, typed));
    }
    let writes = |clause: &&mut String| {
        ["observe", "learn", "private"].iter().any(|word| clause.starts_with(word))
    };
    for clause in clauses.iter_mut().filter(writes) {
        if rng.chance(8) {
            *clause = format!("shadow {clause}");
        }
    }
    if rng.chance(15) {
        clauses.push(format!("undecoded {}", rng.pick(&["clear", "keep", "keep", "halt"])));
    }
    clauses
}

/// A condition that reads nothing of a result.
fn outside(rng: &mut Rng) -> &'static str {
    rng.pick::<&str>(&[
        "flag",
        "mentions(\"u\")",
        "known who(\"u\")",
        "not (2.00 / (money - 10.00) > 0.50)",
        "true",
    ])
}

/// Policies that tell, without effect, what was seen of posts and who may read it. The law tells rules apart by their owners.
pub(super) fn telltales(rng: &mut Rng) -> Vec<String> {
    let seen = ["w", "x", "ann@example.org", "eve@example.org", "b@[1.2.3.4]"];
    let texts = ["the merger closes on friday", "pin 4711", "u 7.50 to b@[1.2.3.4]"];
    let seen = seen.map(|value| format!("trusted in seen(\"{value}\")"));
    let read = texts.map(|text| format!("may_read(\"{}\", \"{text}\")", rng.pick(&["u", "w"])));
    let all = seen.into_iter().chain(read).enumerate();
    all.map(|(at, tells)| format!("policy tells{at} for all {{ shadow deny when {tells} }}"))
        .collect()
}

/// Clauses about posts, each with its author.
fn posts(rng: &mut Rng) -> Vec<String> {
    let mut clauses = vec!["returns list<Post>".to_string()];
    let trusted = ["trusted result.by", "trusted result.by  untrusted result.names"];
    clauses.push((*rng.pick(&trusted)).to_string());
    let bind = *rng.pick(&["", "at, "]);
    let by = ["post.by == \"u\"", "post.by in [\"u\", \"w\"]", "known who(post.by)"];
    let when = |rng: &mut Rng| match rng.below(20) {
        // What nobody vouches for.
        0 => "\"w\" in post.names",
        1..14 => *rng.pick(&by),
        _ => outside(rng),
    };
    let parts = [
        ("post.names", "learn who(name) for at, post in result for name in post.names"),
        ("post.names", "learn who(n) for i, p in result for n in p.names when p.by != \"v\""),
        ("emails(post.text)", "learn who(mail) for i, p in result for mail in emails(p.text)"),
        ("words(post.text)", "learn who(word) for i, p in result for word in words(p.text)"),
        ("post.text", "learn row(id: p.text, qty: 2) for p in result when p.by != \"w\""),
    ];
    for (part, lesson) in parts {
        if rng.chance(40) {
            let condition = when(rng);
            clauses.push(format!("trusted {part} for {bind}post in result when {condition}"));
            // A lesson may bind no index that the condition could ask for, and which of two lessons of one fact is forgotten first is
            // the plan's.
            let binds = bind.is_empty() || lesson.contains(", p");
            let fact = &lesson[..10];
            let taught = clauses.iter().any(|clause| clause.starts_with(fact));
            if rng.chance(60) && binds && !taught {
                clauses.push(lesson.to_string());
            }
        }
    }
    if rng.chance(50) {
        let to = [" to post.names", " to post.by", " to items[post.by].id else post.by", ""];
        let to = *rng.pick(&to);
        let condition = when(rng);
        let when = *rng.pick(&["when", "unless"]);
        clauses.push(format!("private post.text{to} for {bind}post in result {when} {condition}"));
    }
    clauses
}

/// A private part of the result.
fn private(rng: &mut Rng, params: &[usize], typed: bool) -> String {
    let parts = ["", "", "", ".names", ".id", ".to", "[*]", ".names[*]"];
    let part = if typed { "" } else { *rng.pick(&parts) };
    let to = match rng.below(8) {
        0 | 1 => String::new(),
        2 => " to \"u\"".into(),
        3 => " to {\"u\", \"v\"}".into(),
        4 => format!(" to {}", text(rng, params)),
        5 => " to [owner else \"w\"]".into(),
        6 => format!(" to items[\"{}\"].id else \"u\"", rng.pick(&["u", "v"])),
        _ if typed => " to \"w\"".into(),
        _ => " to result.names".into(),
    };
    let when = rng.pick(&["", "", "", " when flag", " unless 4 / n > m"]);
    format!("private result{part}{to}{when}")
}

/// A lesson of a trusted tool: of its result, or of what has been elsewhere before.
fn lesson(rng: &mut Rng, params: &[usize]) -> String {
    match rng.below(12) {
        0..3 => "learn who(result.names[*])".to_string(),
        3 => "learn row(id: w, qty: v.qty else 1) for k, v in result.rows for w in result.names"
            .to_string(),
        4 => {
            "learn who(w) for id, item in items for w in result.names when item.qty > 1".to_string()
        }
        5 => "learn who(owner else \"w\")".to_string(),
        6 => format!("learn who({})", text(rng, params)),
        7 if rng.chance(40) => {
            "learn who((first n in result.names: n != \"u\") else \"w\")".to_string()
        }
        7 => format!("learn who({}) when len(result.names) > 1", text(rng, params)),
        8 => "learn who(k) for k, v in items".to_string(),
        9 => "learn who(items[\"u\"].id else \"w\")".to_string(),
        10 => format!("learn row(id: {}, qty: result.n)", text(rng, params)),
        _ => "learn who(\"u\") when flag".to_string(),
    }
}

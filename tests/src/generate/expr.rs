//! Expressions: ints, truths, texts.

use super::{Shape, named};
use guard_plan::random::Rng;

/// The scope of drawn conditions: what they may use.
pub(super) struct Speaks<'s> {
    pub params: &'s [usize],
    /// History, time, budgets and the world too.
    pub asks: bool,
}

pub(super) fn env(rng: &mut Rng, params: &[usize]) -> String {
    if params.contains(&2) && rng.chance(60) {
        "e".into()
    } else {
        (*rng.pick(&["dev", "staging", "prod"])).into()
    }
}

pub(super) fn text(rng: &mut Rng, params: &[usize]) -> String {
    if rng.chance(8) {
        return joined(rng, params);
    }
    if rng.chance(6) {
        return shown(rng, params);
    }
    if params.contains(&3) && rng.chance(60) {
        "s".into()
    } else {
        format!("\"{}\"", rng.pick(&["u", "v"]))
    }
}

/// The text of a value.
fn shown(rng: &mut Rng, params: &[usize]) -> String {
    let of = match rng.below(8) {
        0 if params.contains(&2) => "e",
        1 if params.contains(&7) => "p",
        2 if params.contains(&8) => "amt",
        3 if params.contains(&10) => "link",
        4 => "m",
        5 => "flag",
        6 => "workspace",
        _ => "money",
    };
    format!("text({of})")
}

/// A text that may be read as a path.
fn written_path(rng: &mut Rng, params: &[usize]) -> String {
    let spelling = ["../x", "/a/./b", "", "a\\\\b", "~", "%2e%2e/x", "u", "/", "..", "."];
    match rng.below(5) {
        0 if params.contains(&7) => "text(p)".into(),
        1 if params.contains(&7) => "(text(p) + \"/..\")".into(),
        2 => format!("(\"sub/\" + {})", text(rng, params)),
        3 => format!("\"{}\"", rng.pick(&spelling)),
        _ => text(rng, params),
    }
}

/// A condition about the path that a text is.
fn path_truth(rng: &mut Rng, speaks: &Speaks) -> String {
    let has = |p: usize| speaks.params.contains(&p);
    let found = format!("(path({}))", written_path(rng, speaks.params));
    let (condition, instead) = match rng.below(6) {
        0 if has(7) => (format!("{found} == p"), "workspace"),
        1 if has(7) => (format!("p within {found}"), "\"/\""),
        2 if speaks.asks => (format!("exists({found})"), "workspace"),
        3 => (format!("file_name({found}) == \"u\""), "workspace"),
        4 => return format!("{found} is some"),
        _ => (format!("{found} within workspace"), "\"/\""),
    };
    maybe(rng, &condition, &found, instead)
}

/// Two texts, one after the other.
fn joined(rng: &mut Rng, params: &[usize]) -> String {
    let first = text(rng, params);
    let second = text(rng, params);
    match rng.below(3) {
        0 => format!("({first} + {second})"),
        1 => format!("({first} + \"\" + {second})"),
        _ => format!("((owner else {first}) + {second})"),
    }
}

/// An int expression.
pub(super) fn int(rng: &mut Rng, speaks: &Speaks, tools: &[Shape], depth: usize) -> String {
    let tool = |rng: &mut Rng| rng.pick(tools).name.clone();
    if depth > 0 && rng.chance(30) {
        let x = int(rng, speaks, tools, depth - 1);
        let y = int(rng, speaks, tools, depth - 1);
        return match rng.below(6) {
            0 => format!("({x} + {y})"),
            1 => format!("({x} - {y})"),
            2 => format!("({x} * {y})"),
            3 => format!("({x} / {y})"),
            4 => format!("({x} % {y})"),
            _ => format!("max({x}, {y})"),
        };
    }
    if rng.chance(10) {
        return use_of(rng, speaks, tools, "int");
    }
    if speaks.asks && rng.chance(4) {
        return named::let_use();
    }
    if rng.chance(8) {
        return first_int(rng, speaks);
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
        7 if speaks.asks => {
            let of = tool(rng);
            let window = if of == "t0" { " within last 2 calls" } else { "" };
            format!("(calls({of}){window})")
        }
        8 if speaks.asks => {
            let of = tool(rng);
            let window = if of == "t1" { "last 1 calls" } else { "20m" };
            format!("(failures({of}) within {window})")
        }
        9 if speaks.asks => "clock.minute".into(),
        10 if speaks.asks => "(row[\"u\"].qty else 2)".into(),
        11 => "len(envs)".into(),
        12 => "sum(x in log: x)".into(),
        13 => "(items[\"u\"].qty else 4)".into(),
        14 if has(2) => "(by_env[e] else 1)".into(),
        14 => "n".into(),
        15 => "m".into(),
        _ => rng.below(9).to_string(),
    }
}

/// The first of some ints, or another int.
fn first_int(rng: &mut Rng, speaks: &Speaks) -> String {
    let has = |p: usize| speaks.params.contains(&p);
    let k = rng.below(4);
    let order = *rng.pick(&["<", ">", "!=", ">="]);
    match rng.below(8) {
        0 if has(5) => format!("((first x in xs: x {order} {k}) else m)"),
        1 if has(5) => format!("((first i, x in xs: i {order} {k} and x != m) else {k})"),
        // A fault before the first that fits.
        2 if has(5) => format!("((first x in xs: 6 / x {order} {k}) else 7)"),
        3 if speaks.asks => format!("((first r in row: r.qty {order} {k}).qty else n)"),
        4 => format!("((first k in by_int: k {order} {k} or (by_int[k] else flag)) else 5)"),
        5 => format!("((first k, v in items: v.qty {order} {k}).qty else m)"),
        6 => format!("((first k, v in by_env: v {order} {k} or k == dev) else {k})"),
        _ => format!("((first x in log: x {order} {k} and (any y in log: y > x)) else n)"),
    }
}

/// A condition about a first element.
fn first_truth(rng: &mut Rng, speaks: &Speaks) -> String {
    let has = |p: usize| speaks.params.contains(&p);
    let k = rng.below(4);
    let (condition, missing, instead) = match rng.below(9) {
        0 => (format!("(first v in envs: v != {}) is some", env(rng, speaks.params)), "", ""),
        1 => {
            let found = "(first k in by_env: (by_env[k] else 3) != m)";
            (format!("{found} == dev"), found, "prod")
        }
        2 if has(9) => ("(first w in words(note): len(w) > 3) is none".into(), "", ""),
        3 if has(3) && speaks.asks => {
            let found = "(first r in row: r.qty != n).id";
            (format!("{found} == s"), found, "\"v\"")
        }
        4 if speaks.asks => {
            let found = format!("(first r in row: r.qty >= {k})");
            (format!("({found} is some and {found}.qty > n)"), "", "")
        }
        5 => {
            let body = format!("k != \"u\" and (items[k].qty else 0) > {k}");
            (format!("(first k in items: {body}) is some"), "", "")
        }
        6 if has(5) => {
            let found = "(first x in xs: x > m)";
            (format!("{found} == (first x in log: x < {k})"), found, "4")
        }
        7 if has(12) => {
            ("((first c in commands(cmd): c.program != \"ls\").certain else flag)".into(), "", "")
        }
        _ => {
            let found = "(first y in log: y > x)";
            (format!("(any x in log: {found} == {k})"), found, "2")
        }
    };
    if missing.is_empty() { condition } else { maybe(rng, &condition, missing, instead) }
}

/// A use of a define.
fn use_of(rng: &mut Rng, speaks: &Speaks, tools: &[Shape], ty: &str) -> String {
    let (name, params, ..) = named::any_of(rng, ty, speaks.asks);
    let mut args = Vec::new();
    for (_, ty) in params.iter() {
        args.push(match *ty {
            // What nobody reads must fit all the same, and is not there where it is written out.
            _ if *name == "d_never" => rng.below(9).to_string(),
            "int" => int(rng, speaks, tools, 1),
            "bool" => truth(rng, speaks, tools, 0),
            "string?" => rng.pick(&["owner", "items[\"u\"].id"]).to_string(),
            _ => text(rng, speaks.params),
        });
    }
    named::call(name, &args)
}

/// A condition.
pub(super) fn truth(rng: &mut Rng, speaks: &Speaks, tools: &[Shape], depth: usize) -> String {
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
    if rng.chance(12) {
        return use_of(rng, speaks, tools, "bool");
    }
    if rng.chance(3) {
        // The define binds the same name as its use.
        return format!("any y in log: {}", named::call("d_near", &["y + n".to_string()]));
    }
    let has = |p: usize| speaks.params.contains(&p);
    match rng.below(85) {
        79 | 80 => path_truth(rng, speaks),
        81 if has(9) => "(all p1 in paths(note): (path(p1) else \"/\") within workspace)".into(),
        82 if has(7) => "((path(text(p)) else parent(p)) == p)".into(),
        83 => {
            let found =
                format!("email_local({})", if has(3) { "s + \"@x.org\"" } else { "\"U@x.org\"" });
            let local = text(rng, speaks.params);
            maybe(rng, &format!("{found} == {local}"), &found, "\"v\"")
        }
        84 => format!("{} == {}", shown(rng, speaks.params), text(rng, speaks.params)),
        76..=78 => first_truth(rng, speaks),
        72 => format!("{} == {}", joined(rng, speaks.params), joined(rng, speaks.params)),
        73 if rng.chance(50) => {
            format!("starts_with({}, {})", joined(rng, speaks.params), text(rng, speaks.params))
        }
        73 => format!("len({}) > {}", joined(rng, speaks.params), rng.below(4)),
        74 if speaks.asks => format!("known row({})", joined(rng, speaks.params)),
        75 => maybe(rng, "items[owner + \"\"] is some", "owner", "\"u\""),
        66 if speaks.asks && has(9) => format!("may_read({}, note)", readers(rng, speaks)),
        67 if speaks.asks && has(9) => {
            "(all r in [\"u\", \"w\"]: may_read(r, [note, \"x\"]))".into()
        }
        68 if speaks.asks && has(3) => format!("may_read({}, s)", readers(rng, speaks)),
        69 if speaks.asks => {
            let private = rng.pick(&["the merger closes on friday", "4711", "u", "12.50"]);
            format!("may_read({}, \"{private}\")", readers(rng, speaks))
        }
        41 if has(3) => "all h in hosts(s): h == \"a.org\"".into(),
        42 if has(9) => "all h in hosts(note): h == \"a.org\"".into(),
        43 if has(9) => "any w in emails(note): w == \"ann@example.org\"".into(),
        44 if has(9) => "len(paths(note)) > 1".into(),
        45 if has(3) => "s contains (owner else \"\")".into(),
        46 if has(9) && has(3) => "(note contains s or starts_with(note, s))".into(),
        47 if has(3) && speaks.asks => "mentions(s)".into(),
        48 if has(9) && speaks.asks => {
            (*rng.pick(&["mentions(note)", "all w in words(note): mentions(w)"])).into()
        }
        49 if speaks.asks => {
            let named = rng.pick(&[
                "mentions(\"u\")",
                "mentions(owner)",
                "mentions(\"ann example\")",
                "mentions_code(owner)",
                "mentions_date(\"2026-01-05\")",
                "mentions_number(decimal(m))",
            ]);
            (*named).into()
        }
        50 if has(2) => maybe(rng, "(e in by_env or by_env[prod] == 1)", "by_env[prod]", "0"),
        51 => "any k, v in by_env: k == dev or v > m".into(),
        52 if has(1) => {
            maybe(rng, "(by_int[b] == flag or any k in by_int: k > b)", "by_int[b]", "true")
        }
        53 => maybe(rng, "by_bool[n > 2].qty == m", "by_bool[n > 2].qty", "0"),
        54 if has(2) => format!("({{dev: 1, prod: {}}}[e] else 0) == 2", 1 + rng.below(2)),
        55 if speaks.asks => format!("any r in row: r.qty > {}", rng.below(4)),
        56 if speaks.asks && has(3) => "all r in row: r.id == s or r.qty <= m".into(),
        57 if speaks.asks => "any w in who: any r in row: w.name == r.id".into(),
        58 if speaks.asks => "count(r in row: r.qty > n) == 1".into(),
        59 if has(0) => maybe(rng, "(said[a] == \"u\" or a in said)", "said[a]", "\"\""),
        60 if has(2) => maybe(rng, "noted[e].a > m", "noted[e].a", "0"),
        61 if speaks.asks => "called(said) since noted".into(),
        62 if speaks.asks && has(3) => format!("{} in seen(s)", whence(rng)),
        63 if speaks.asks && has(8) => format!("not (seen(amt) contains {})", whence(rng)),
        64 if speaks.asks => format!("{} in seen(\"{}\")", whence(rng), rng.pick(&["u", "w"])),
        65 if speaks.asks && has(10) => "len(seen(link)) > 1".into(),
        0 if has(2) => "e in envs".into(),
        1 if has(2) => format!("e == {}", rng.pick(&["dev", "prod"])),
        2 if has(3) => "s matches /^[a-z]+$/".into(),
        3 if has(3) => maybe(rng, "owner == s", "owner", "\"v\""),
        4 if has(3) && speaks.asks => "known row(s)".into(),
        5 if has(5) && has(6) => "all x, y in zip(xs, ys): x <= y".into(),
        6 if has(5) => "any x in xs: x == m".into(),
        7 if has(7) => "p within workspace".into(),
        8 if has(7) && speaks.asks => "exists(p)".into(),
        9 if has(8) => "amt > money".into(),
        10 if has(4) => "o is none".into(),
        11 if has(4) => maybe(rng, "o == m", "o", "0"),
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
        28 if has(3) && speaks.asks => format!("origin(s) {}", from(rng)),
        29 if has(7) && speaks.asks => format!("origin(p) {}", from(rng)),
        30 if has(8) && speaks.asks => format!("origin(amt) {}", from(rng)),
        31 if has(1) && speaks.asks => format!("origin(b) {}", from(rng)),
        32 if has(10) && speaks.asks => format!("origin(link) {}", from(rng)),
        33 if speaks.asks => format!("origin(\"{}\") {}", rng.pick(&["u", "w", ""]), from(rng)),
        34 if has(3) && speaks.asks => "known who(s)".into(),
        35 if has(9) && speaks.asks => "known who(note)".into(),
        36 if speaks.asks => "known who(\"u\")".into(),
        37 if speaks.asks => "probe built".into(),
        38 if speaks.asks => "probe marker".into(),
        39 if speaks.asks => "(probe level) > 3".into(),
        40 if speaks.asks => "(probe word) == \"up\"".into(),
        41 if has(12) => "any c in commands(cmd): not c.certain or c.program == \"rm\"".into(),
        42 if has(12) => "all c in commands(cmd): all f in c.removes: f within workspace".into(),
        43 if has(12) => "cmd == \"ls\" or len(commands(cmd)) > 1".into(),
        _ => {
            let x = int(rng, speaks, tools, 1);
            let y = int(rng, speaks, tools, 1);
            compare(rng, x, y)
        }
    }
}

/// A condition that reads something which may be missing, mostly with a value for when it is: without one it compiles in
/// few places only.
fn maybe(rng: &mut Rng, condition: &str, missing: &str, instead: &str) -> String {
    if rng.chance(90) {
        condition.replace(missing, &format!("({missing} else {instead})"))
    } else {
        condition.into()
    }
}

/// Readers who are asked about.
fn readers(rng: &mut Rng, speaks: &Speaks) -> String {
    let readers =
        ["\"u\"", "[\"u\", \"v\"]", "{\"v\"}", "[]", "(owner else \"\")", "hosts(\"u@v.org\")"];
    if speaks.params.contains(&3) && rng.chance(40) {
        "s".into()
    } else {
        (*rng.pick(&readers)).into()
    }
}

/// A place where a value is seen.
fn whence(rng: &mut Rng) -> &'static str {
    rng.pick::<&str>(&["prompt", "trusted", "untrusted"])
}

/// A comparison of an origin.
fn from(rng: &mut Rng) -> String {
    let origin = rng.pick(&["prompt", "trusted", "untrusted", "unknown"]);
    match rng.below(3) {
        0 => format!("!= {origin}"),
        1 => format!("in {{{origin}, prompt}}"),
        _ => format!("== {origin}"),
    }
}

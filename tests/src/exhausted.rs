//! Explorations that say that they have tried everything, held against arguments that they did not try.
//!
//! Small guards whose rules read arguments in every way that the language has. Where an exploration says that a tool is never
//! called or a rule never fires, random sessions, with calls in flight, look for one that says otherwise.

use guard_compiler::explore::{Exploration, ExplorationLimits, explore};
use guard_compiler::hir::{Program, Type};
use guard_compiler::lint;
use guard_compiler::reference::{Ask, ReferenceSession};
use guard_plan::json::Json;
use guard_plan::random::Rng;
use guard_plan::verdict::{Code, Decision};
use guard_syntax::span::Span;
use std::fmt::Write as _;

/// Counts of what was claimed and tried.
#[derive(Debug, Default)]
pub struct ExplorationCounts {
    /// Explorations that say that they tried everything.
    pub exhausted: usize,
    /// Tools and rules that they never saw.
    pub never: usize,
    /// Rules of which a warning says that they protect nothing.
    pub silent: usize,
    /// Rules of which a warning says that another one refuses all that they do.
    pub covered: usize,
    /// Calls that might have shown otherwise.
    pub calls: usize,
}

/// Texts that the rules name, and some that they do not.
const TEXTS: [&str; 12] = ["a", "b", "ab", "abc", "", "zz", "a/b", "A", "7", "12 a", "aa", "b a"];

/// A random guard: up to two tools with a text, an int, a flag and an option.
pub fn source(rng: &mut Rng) -> String {
    let mut out = String::from(
        "guard tried\n\nenum Env { dev, stage, prod }\n\n\
         define table: map<string, int> = {a: 1, ab: 2, zz: 3}\n\n\
         state {\n  kept: string = \"\"\n  sum: int = 0\n}\n",
    );
    if rng.chance(40) {
        out.push_str("\nbudget usd = 2.00\n");
    }
    let paid = out.contains("budget usd");
    if rng.chance(10) {
        out.push_str(&if rng.chance(30) { of_one_result(rng) } else { of_one_pattern(rng) });
        return out;
    }
    if rng.chance(15) {
        out.push_str(&of_one_fault(rng));
        return out;
    }
    for at in 0..1 + rng.below(2) {
        let text = rng.pick(&["max 9", "max 3", "matches /^[ab]*$/", "matches /^(a|b|zz)$/"]);
        let int = rng.pick(&["", " in 0..=3", " in -2..=2"]);
        let all = [
            ("x", format!("string {text}")),
            ("i", format!("int{int}")),
            ("f", "bool".into()),
            ("o", "string? max 3".into()),
            ("e", "Env".into()),
        ];
        // Of many parameters no exploration tries everything.
        let likely = [70, 50, 20, 10, 15];
        let has: Vec<bool> = likely.into_iter().map(|percent| rng.chance(percent)).collect();
        let params = all.iter().zip(&has).filter(|(_, has)| **has);
        let params: Vec<String> = params.map(|((name, ty), _)| format!("{name}: {ty}")).collect();
        let _ = writeln!(out, "\ntool t{at}({}) {{", params.join(", "));
        let known = |text: &str| {
            let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
            all.iter().zip(&has).all(|((name, _), has)| *has || !words.contains(name))
        };
        for _ in 0..1 + rng.below(3) {
            let word = if rng.chance(50) { "when" } else { "unless" };
            let drawn = (0..20).map(|_| condition(rng, paid, 1)).find(|text| known(text));
            let drawn = drawn.unwrap_or("called(t0)".into());
            let _ = writeln!(out, "  deny {word} {drawn}");
            // A rule that another one makes needless, or nearly.
            let more = (0..20).map(|_| condition(rng, paid, 0)).find(|text| known(text));
            if let Some(more) = more.filter(|_| rng.chance(20)) {
                let _ = match rng.below(3) {
                    0 => writeln!(out, "  deny when ({drawn}) and ({more})"),
                    1 => writeln!(out, "  deny when ({more}) and ({drawn})"),
                    _ => writeln!(out, "  deny unless ({more}) or ({drawn})"),
                };
            }
        }
        match rng.below(5) {
            0 if has[0] => out.push_str("  effect kept = x\n"),
            1 if has[1] => out.push_str("  effect sum = i % 5\n"),
            2 if paid => out.push_str("  costs 1.00 usd\n"),
            _ => {}
        }
        out.push_str("}\n");
    }
    out
}

/// A tool of a text with a pattern, and one rule about it.
fn of_one_pattern(rng: &mut Rng) -> String {
    let pattern = rng.pick(&["^[ab]*$", "^(a|b|zz)$", "^a", "b$"]);
    let condition = match rng.below(4) {
        0 => format!("len(x) == {}", rng.below(4)),
        1 => format!("x == \"{}\"", rng.pick(&TEXTS)),
        2 => format!("starts_with(x, \"{}\")", rng.pick(&["a", "b", "ba"])),
        _ => format!("ends_with(x, \"{}\")", rng.pick(&["a", "b", "ab"])),
    };
    let word = rng.pick(&["when", "unless"]);
    format!("\ntool t0(x: string matches /{pattern}/) {{\n  deny {word} {condition}\n}}\n")
}

/// A tool with a result of many values, and one that may be called after some of them.
fn of_one_result(rng: &mut Rng) -> String {
    let count = 11 + rng.below(4);
    let marks: Vec<String> = (1..=count).map(|n| format!("v{n}")).collect();
    let (returns, observe, rule) = if rng.chance(50) {
        (
            "Mark",
            "  undecoded keep\n  observe last = result\n",
            format!("deny unless last == v{count}"),
        )
    } else {
        ("Both", "", "requires look".into())
    };
    format!(
        "\nenum Mark {{ {} }}\n\ntype Begun = string matches /^a/\ntype Both = Begun matches /z$/\n\n\
         state {{\n  last: Mark = v1\n}}\n\n\
         tool look() {{\n  returns {returns}\n{observe}}}\n\n\
         tool t0() {{\n  {rule}\n}}\n",
        marks.join(", ")
    )
}

/// A result that a tool may have.
fn result(program: &Program, returns: Option<&Type>, rng: &mut Rng) -> Json {
    match returns {
        Some(Type::Enum(id)) => Json::string(rng.pick::<String>(&program.enums[*id].variants)),
        Some(Type::String(_)) => Json::string("az"),
        _ => Json::Null,
    }
}

/// A rule that some arguments cannot be judged by.
fn of_one_fault(rng: &mut Rng) -> String {
    let fault = rng.pick(&["6 / i > 9", "6 / i > 3", "6 % (i - 2) == 9", "6 / (i + 1) > 9"]);
    // Of what a guard counts all is tried, of what calls say not always.
    let counts = rng.chance(60);
    let fault = fault.replace('i', if counts { "n" } else { "i" });
    let params = if counts { "" } else { "i: int in 0..=3, f: bool" };
    let other = if counts {
        rng.pick(&["called(dead)", "n < 9", "n > 9"])
    } else {
        rng.pick(&["called(dead)", "i < 9", "i > 9", "f"])
    };
    let joined = rng.pick(&["and", "or", "implies"]);
    let condition = match rng.below(3) {
        0 => fault,
        1 => format!("({fault}) {joined} {other}"),
        _ => format!("{other} {joined} ({fault})"),
    };
    let clause =
        rng.pick(&["deny when", "deny unless", "approval boss when", "requires dead when"]);
    format!(
        "\nstate {{\n  n: int in 0..=2 = 0\n}}\n\n\
         tool dead() {{\n  deny when true\n}}\n\n\
         tool up() {{\n  deny when n == 2\n  effect n += 1\n}}\n\n\
         tool t0({params}) {{\n  {clause} {condition}\n}}\n"
    )
}

fn condition(rng: &mut Rng, paid: bool, depth: usize) -> String {
    if depth > 0 && rng.chance(35) {
        let a = condition(rng, paid, depth - 1);
        let b = condition(rng, paid, depth - 1);
        return format!("({a}) {} ({b})", rng.pick(&["and", "or", "implies"]));
    }
    let c = format!("\"{}\"", rng.pick(&["a", "b", "ab", "zz", "a/b"]));
    let n = rng.below(9) as i64 - 2;
    match rng.below(55) {
        53 => format!("6 / i > {n}"),
        54 => format!("i % (i - 1) == {n}"),
        46 => format!("(path(x) else \"/\") == \"/workspace/{}\"", rng.pick(&["a", "zz"])),
        47 => "(path(x) else workspace) within \"/etc\"".into(),
        48 => format!("text(i) == \"{n}\""),
        49 => "text(e) == \"prod\"".into(),
        50 => format!("(email_local(x) else \"b\") == {c}"),
        51 => "path(x) is none".into(),
        52 => format!("text(f) + x == \"true\" + {c}"),
        41 => format!("(first k in [\"a\", \"zz\"]: k == x) == {c}"),
        42 => "(first k in [\"a\", x, \"b\"]: len(k) > 1) is some".into(),
        43 => format!("((first w in split(x, \" \"): w != \"12\") else \"\") == {c}"),
        44 => format!("((first k in [1, 2]: k > i) else 9) == {n}"),
        45 => format!("((first k in table: k != x) else \"\") == {c}"),
        36 => format!("x + \"b\" == {c}"),
        37 => format!("\"a\" + x == {c} + \"b\""),
        38 => format!("x + x contains {c}"),
        39 => format!("len(x + (o else \"\")) > {}", rng.below(4)),
        40 => "(if x + \"/b\" == \"a/b\" then i else 0) > 0".into(),
        0 => format!("x == {c}"),
        1 => format!("x in {{\"a\", \"{}\"}}", rng.pick(&["b", "zz"])),
        2 => "x in \"abc\"".into(),
        3 => format!("x contains {c}"),
        4 => "starts_with(x, \"a\")".into(),
        5 => "ends_with(x, \"b\")".into(),
        6 => "glob(x, \"a*\")".into(),
        7 => format!("len(x) > {}", rng.below(4)),
        8 => format!("lower(x) == {c}"),
        9 => format!("(table[x] else 0) == {}", rng.below(4)),
        10 => "table[x] is some".into(),
        11 => format!("([\"a\", \"b\", \"ab\"][i] else \"\") == {c}"),
        12 => format!("[x, \"b\"] == [{c}, \"b\"]"),
        13 => format!("{{x}} == {{{c}}}"),
        14 => format!("(if f then x else \"b\") == {c}"),
        15 => format!("(o else x) == {c}"),
        16 => "o is some".into(),
        17 => "split(x, \"/\") == [\"a\", \"b\"]".into(),
        18 => format!("sum(k in [1, 2]: i) == {n}"),
        19 => format!("sum(k in [1, 2]: k * i) == {n}"),
        20 => format!("count(k in [\"a\", \"b\"]: k == x) == {}", rng.below(2)),
        21 => "any k in [\"a\", \"zz\"]: k == x".into(),
        22 => format!("i == {n}"),
        23 => format!("i + 1 == {n}"),
        24 => format!("-i == {n}"),
        25 => format!("min(i, 2) == {n}"),
        26 => "i % 3 == 1".into(),
        27 => format!("i > {n}"),
        28 => "any w in words(x): w == \"a\"".into(),
        29 => "numbers(x) == [\"7\"]".into(),
        30 => "x matches /^a+$/".into(),
        31 => "e == prod".into(),
        32 => "f".into(),
        33 => "kept == x".into(),
        34 => format!("sum == {}", rng.below(5)),
        _ if paid => "spent(usd) >= 1.00 and calls(t0) == 0 and failures(t0) == 0".into(),
        _ => "called(t0)".into(),
    }
}

/// Explores a guard, and looks for what it says that there is not.
pub fn try_guard(
    program: &Program,
    rng: &mut Rng,
    tried: &mut ExplorationCounts,
) -> Result<(), String> {
    let found = Some(explore(program, &ExplorationLimits::default(), &|| false));
    let found = found.filter(|found| found.exhausted);
    let needless = Needless::told(program, found.as_ref());
    tried.silent += needless.silent.len();
    tried.covered += needless.covered.len();
    let mut unseen = 0;
    if let Some(found) = &found {
        tried.exhausted += 1;
        unseen = found.tools.iter().filter(|session| session.is_none()).count()
            + found.rules.iter().filter(|(_, session)| session.is_none()).count();
        tried.never += unseen;
    }
    if unseen == 0 && needless.silent.is_empty() && needless.covered.is_empty() {
        return Ok(());
    }
    for _ in 0..60 {
        session(program, found.as_ref(), &needless, rng, tried)?;
    }
    Ok(())
}

/// The rules of which warnings say that they refuse nothing, or nothing that another rule lets pass.
#[derive(Default)]
struct Needless {
    silent: Vec<Span>,
    /// A rule, and the one that refuses all that it does.
    covered: Vec<(Span, Span)>,
}

impl Needless {
    fn told(program: &Program, found: Option<&Exploration>) -> Needless {
        let mut needless = Needless::default();
        for warning in lint::all(program, found, &lint::NoProver) {
            let at = warning.primary.span;
            match (warning.code, warning.secondary.first()) {
                ("G0511" | "G0518", _) if !warning.message.contains("cannot be evaluated") => {
                    needless.silent.push(at);
                }
                ("G0512", Some(by)) => needless.covered.push((at, by.span)),
                _ => {}
            }
        }
        needless
    }

    /// Returns the rule that refuses what it is told not to.
    fn contradicted(&self, fired: &[(Code, Span)]) -> Option<Code> {
        let refuses = |rule: &Span| fired.iter().any(|(_, span)| span == rule);
        let is_needed = |rule: &Span| {
            let alone = |(at, by): &(Span, Span)| at == rule && !refuses(by);
            self.silent.contains(rule) || self.covered.iter().any(alone)
        };
        fired.iter().find(|(_, rule)| is_needed(rule)).map(|(code, _)| *code)
    }
}

fn session(
    program: &Program,
    found: Option<&Exploration>,
    needless: &Needless,
    rng: &mut Rng,
    tried: &mut ExplorationCounts,
) -> Result<(), String> {
    let world = &|_: &Ask| None;
    let Ok(mut session) = ReferenceSession::open(program, 0, "/", None) else { return Ok(()) };
    let mut said = String::new();
    let mut flying = Vec::new();
    for n in 0..6 {
        let at = rng.below(program.tools.len());
        let tool = &program.tools[at];
        let members = tool.params.iter().filter_map(|param| {
            let value = argument(&param.ty, rng)?;
            Some((param.name.as_str().into(), value))
        });
        let args = Json::Object(members.collect());
        let id = format!("c{n}");
        let judged = session.propose(&id, &tool.wire_name, &args, 0, world);
        let Ok(judged) = judged else { continue };
        tried.calls += 1;
        let _ = write!(said, "{}({args}) is {:?}; ", tool.name, judged.decision);
        let is_never = found.is_some_and(|found| found.tools[at].is_none());
        if judged.decision == Decision::Allow && is_never {
            return Err(format!("`{}` is never called, it says: {said}", tool.name));
        }
        for (rule, seen) in found.iter().flat_map(|found| &found.rules) {
            let fires = judged.fired.iter().any(|(_, span)| *span == rule.span);
            if seen.is_none() && fires {
                return Err(format!("`{}` never fires, it says: {said}", rule.text));
            }
        }
        if let Some(code) = needless.contradicted(&judged.fired) {
            return Err(format!(
                "a warning says that a rule is needless, and it says {code:?}: {said}"
            ));
        }
        if judged.decision == Decision::Allow {
            flying.push((id, at));
        }
        while !flying.is_empty() && rng.chance(70) {
            let (id, at) = flying.remove(rng.below(flying.len()));
            let success = rng.chance(70);
            let result = result(program, program.tools[at].returns.as_ref(), rng);
            let _ = write!(said, "{id} ends {}; ", if success { "well" } else { "badly" });
            let _ = session.settle(&id, success, Some(&result), 0, world);
        }
    }
    Ok(())
}

/// A value that a parameter may have; none where it stays away.
fn argument(ty: &Type, rng: &mut Rng) -> Option<Json> {
    Some(match ty {
        Type::Option(_) if rng.chance(40) => return None,
        Type::Option(of) => return argument(of, rng),
        Type::Bool => Json::Bool(rng.chance(50)),
        Type::Enum(_) => Json::string(rng.pick::<&str>(&["dev", "stage", "prod"])),
        Type::Int(..) => Json::Int(rng.below(14) as i64 - 4),
        _ => {
            let a = rng.pick(&TEXTS);
            let b = rng.pick(&TEXTS);
            let joined = if rng.chance(70) { a.to_string() } else { format!("{a}{b}") };
            Json::string(&joined)
        }
    })
}

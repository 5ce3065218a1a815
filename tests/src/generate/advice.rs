//! Feedback, completion and attests.

use super::Shape;
use super::expr::{Speaks, int, truth};
use super::items::Drawn;
use guard_plan::random::Rng;

/// The scope of an expression that may use the session only, and no parameters.
const SESSION: Speaks<'static> = Speaks { params: &[], asks: true };

/// The parameters that are texts, one of them a secret.
const TEXTS: [usize; 5] = [3, 7, 9, 10, 11];

/// Providers with all kinds of triggers.
pub(super) fn feedback(rng: &mut Rng, tools: &[Shape]) -> Vec<String> {
    (0..rng.below(4)).map(|at| provider(rng, tools, at)).collect()
}

fn provider(rng: &mut Rng, tools: &[Shape], at: usize) -> String {
    let triggers: Vec<String> = (0..1 + rng.below(3)).map(|_| trigger(rng, tools)).collect();
    let count = 1 + rng.below(3);
    let mut blocks = Vec::new();
    for place in 0..count {
        let severity = rng.pick(&["info", "caution", "warning"]);
        let condition = match (place + 1 == count, rng.below(3)) {
            (true, 0) => " otherwise".to_string(),
            (true, 1) => String::new(),
            (_, 0) => format!(" unless {}", truth(rng, &SESSION, tools, 1)),
            _ => format!(" when {}", truth(rng, &SESSION, tools, 1)),
        };
        let condition =
            if count == 1 && condition == " otherwise" { String::new() } else { condition };
        let mut block = format!("{severity}{condition}: \"{}\"", message(rng, tools));
        for _ in 0..rng.below(3) {
            let word = rng.pick(&["observe", "suggest"]);
            block += &format!("\n    {word} \"{}\"", message(rng, tools));
        }
        blocks.push(block);
    }
    format!("feedback f{at} {} {{\n  {}\n}}", triggers.join(", "), blocks.join("\n  "))
}

fn trigger(rng: &mut Rng, tools: &[Shape]) -> String {
    match rng.below(8) {
        0 | 1 => format!("every {} calls", 1 + rng.below(5)),
        2 => format!("every {}", rng.pick(&["1s", "1m", "15m", "1h"])),
        3 => format!("on created(\"{}\")", rng.pick(&["a", "marker.txt", "docs/x.md"])),
        4 => "on denied".to_string(),
        5 => {
            let x = &rng.pick(tools).name;
            let y = &rng.pick(tools).name;
            if rng.chance(50) {
                format!("on denied {x}")
            } else {
                format!("on denied {{ {x}, {y} }}")
            }
        }
        _ => format!("on {}", truth(rng, &SESSION, tools, 1)),
    }
}

/// A message with interpolations; braces of strings inside it are the language's own business.
fn message(rng: &mut Rng, tools: &[Shape]) -> String {
    let mut text = rng.pick(&["Look", "It <is> so", "é"]).to_string();
    for _ in 0..rng.below(3) {
        let value = match rng.below(17) {
            0 => "n".to_string(),
            1 => "owner".to_string(),
            2 => "elapsed".to_string(),
            3 => "pause".to_string(),
            4 => "envs".to_string(),
            5 => "items".to_string(),
            6 => "money".to_string(),
            7 => "10 / n".to_string(),
            8 => "remaining(usd)".to_string(),
            9 => "now".to_string(),
            10 => "probe level".to_string(),
            11 => "log".to_string(),
            12 => format!("last({}).result", tools[0].name),
            13 => "owner else \\\"-\\\"".to_string(),
            _ => match tools.iter().find(|t| t.params.iter().any(|p| TEXTS.contains(p))) {
                Some(tool) => {
                    let texts: Vec<&usize> =
                        tool.params.iter().filter(|p| TEXTS.contains(*p)).collect();
                    let param = **rng.pick(&texts);
                    format!("last({}).{}", tool.name, super::PARAMS[param].0)
                }
                None => int(rng, &SESSION, tools, 0).replace('"', "\\\""),
            },
        };
        text += &format!(" {{{value}}}");
    }
    text
}

/// Draws the completion of a guard, with its attests.
pub(super) fn completion(rng: &mut Rng, tools: &[Shape], lifecycles: &[Drawn]) -> Vec<String> {
    let mut items = Vec::new();
    if rng.chance(40) {
        return items;
    }
    let attest = rng.chance(40);
    if attest {
        let dimensions: Vec<String> = (0..1 + rng.below(3))
            .map(|at| format!("d{at}: {}", dimension(rng, tools, lifecycles)))
            .collect();
        items.push(format!("attest good {{\n  {}\n}}", dimensions.join("\n  ")));
    }
    let mut checks: Vec<String> =
        (0..1 + rng.below(3)).map(|_| check(rng, tools, lifecycles, 2)).collect();
    if attest {
        checks.insert(rng.below(checks.len() + 1), "attest good".to_string());
    }
    let at_most = if rng.chance(60) {
        format!("at most {} blocks\n  ", 1 + rng.below(3))
    } else {
        String::new()
    };
    items.push(format!("completion {{\n  {at_most}{}\n}}", checks.join("\n  ")));
    items
}

fn dimension(rng: &mut Rng, tools: &[Shape], lifecycles: &[Drawn]) -> String {
    match rng.below(6) {
        0 => "decimal(n) / 10.0".to_string(),
        1 => "0.5".to_string(),
        2 => "if flag then 1.0 else 0.0".to_string(),
        3 => "decimal(m - 2)".to_string(),
        _ => check(rng, tools, lifecycles, 1),
    }
}

fn check(rng: &mut Rng, tools: &[Shape], lifecycles: &[Drawn], depth: usize) -> String {
    let file = *rng.pick(&["a", "marker.txt", "docs/x.md", "report.md"]);
    match rng.below(14) {
        12 | 13 => "file \"report.json\" conforms Found".to_string(),
        0 | 1 => format!("file \"{file}\""),
        2 => format!("file \"{file}\" contains \"{}\"", rng.pick(&["x", "done"])),
        3 => format!("command \"make\" \"test\" exits {}", rng.below(2)),
        4 => "command \"make\" \"check\" env \"PATH\" exits 0 within 5m".to_string(),
        5 => "git committed".to_string(),
        6 | 7 if !lifecycles.is_empty() => {
            let one = rng.pick(lifecycles);
            format!("every {} is {}", one.name, rng.pick(one.states))
        }
        8 | 9 if depth > 0 => {
            let word = rng.pick(&["all", "any"]);
            let inner: Vec<String> =
                (0..1 + rng.below(3)).map(|_| check(rng, tools, lifecycles, depth - 1)).collect();
            format!("{word} {{ {} }}", inner.join("; "))
        }
        10 => format!("file \"{file}\"; file \"b\""),
        _ => format!("({})", truth(rng, &SESSION, tools, 1)),
    }
}

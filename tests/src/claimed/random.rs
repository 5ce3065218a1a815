//! Random guards with properties, many of which follow from the rules, or nearly do.

use super::ClaimedGuard;
use super::rules::{Condition, CountScope, Denial, TOOLS, words};
use guard_plan::random::Rng;
use std::fmt::Write as _;

/// A random guard with properties.
pub fn source(rng: &mut Rng) -> ClaimedGuard {
    let mut text =
        String::from("guard claimed\n\nstate {\n  x: int in 0..=4 = 0\n  f: bool = false\n}\n");
    let mut own: Vec<Vec<Denial>> = Vec::new();
    for (tool, name) in TOOLS.iter().enumerate() {
        let rules: Vec<Denial> = (0..rng.below(3)).map(|_| rule(rng, tool)).collect();
        let _ = writeln!(text, "\ntool {name}() {{");
        rules.iter().for_each(|rule| _ = writeln!(text, "  {}", words(rule)));
        let effect = ["", "effect f = true", "effect f = false", "effect x += 1", "effect x = 0"];
        let _ = writeln!(text, "  {}\n}}", rng.pick(&effect));
        own.push(rules);
    }
    let mut properties = Vec::new();
    for at in 0..2 + rng.below(3) {
        let tool = rng.below(TOOLS.len());
        let near = own[tool].clone();
        let claimed = if near.is_empty() || rng.chance(25) {
            claim(rng, tool)
        } else {
            weakened(rng, rng_pick(&near, at))
        };
        let _ =
            writeln!(text, "\nproperty p{at} for {} {{\n  {}\n}}", TOOLS[tool], words(&claimed));
        properties.push((tool, claimed));
    }
    ClaimedGuard { text, properties }
}

fn rng_pick(rules: &[Denial], at: usize) -> &Denial {
    &rules[at % rules.len()]
}

fn other(rng: &mut Rng, tool: usize) -> usize {
    (tool + 1 + rng.below(TOOLS.len() - 1)) % TOOLS.len()
}

fn age(rng: &mut Rng) -> Option<i64> {
    rng.chance(30).then(|| 1 + rng.below(4) as i64)
}

fn rule(rng: &mut Rng, tool: usize) -> Denial {
    if rng.chance(15) {
        let of = match rng.below(3) {
            0 => Condition::Flag,
            1 => Condition::Once(true),
            _ => Condition::Failed { tool: other(rng, tool), since: None, within: None },
        };
        return Denial::Deny(Condition::Not(Box::new(of)));
    }
    match rng.below(6) {
        0 | 1 => {
            let of = other(rng, tool);
            let since = rng.chance(40).then(|| other(rng, of)).filter(|since| *since != of);
            Denial::Requires { tool: of, latest: rng.chance(40), since, within: age(rng) }
        }
        2 => {
            let scope = *rng.pick(&[
                CountScope::Session,
                CountScope::InFlight,
                CountScope::Window(3),
                CountScope::Window(6),
            ]);
            let success = scope != CountScope::InFlight && rng.chance(40);
            let asks = scope != CountScope::InFlight && rng.chance(25);
            Denial::Limit { count: 1 + rng.below(3), scope, success, asks }
        }
        _ => Denial::Deny(condition(rng, 2)),
    }
}

/// A rule that refuses, as a property claims it.
fn claim(rng: &mut Rng, tool: usize) -> Denial {
    let mut claim = rule(rng, tool);
    if let Denial::Limit { asks, .. } = &mut claim {
        *asks = false;
    }
    claim
}

fn condition(rng: &mut Rng, depth: usize) -> Condition {
    let deeper = |rng: &mut Rng| Box::new(condition(rng, depth - 1));
    let tool = rng.below(TOOLS.len());
    match rng.below(if depth == 0 { 7 } else { 11 }) {
        0 => {
            let since = rng.chance(40).then(|| other(rng, tool));
            Condition::Called { tool, since, within: age(rng) }
        }
        1 => {
            let since = rng.chance(60).then(|| rng.below(TOOLS.len()));
            Condition::Failed { tool, since, within: age(rng) }
        }
        2 => Condition::Calls { tool, failures: rng.chance(40), more: rng.below(3) },
        3 => Condition::AtLeast(rng.below(6) as i64),
        4 => Condition::Flag,
        5 => Condition::Once(rng.chance(50)),
        6 => Condition::Historically(rng.chance(50)),
        7 | 8 => Condition::Not(deeper(rng)),
        9 => Condition::And(deeper(rng), deeper(rng)),
        _ => Condition::Or(deeper(rng), deeper(rng)),
    }
}

/// Something that often follows from a rule, and often nearly.
fn weakened(rng: &mut Rng, rule: &Denial) -> Denial {
    let plain = Condition::Called { tool: 0, since: None, within: None };
    match rule {
        Denial::Requires { tool, latest, since, within } => {
            let tool = *tool;
            let called = |since, within| Condition::Called { tool, since, within };
            let refused = |condition: Condition| Denial::Deny(Condition::Not(Box::new(condition)));
            match rng.below(6) {
                0 => Denial::Requires { tool, latest: false, since: None, within: *within },
                1 => Denial::Requires { tool, latest: *latest, since: *since, within: age(rng) },
                2 => refused(called(*since, within.map(|age| age + rng.below(3) as i64 - 1))),
                3 => refused(Condition::Calls { tool, failures: false, more: rng.below(2) }),
                4 => Denial::Deny(Condition::Failed { tool, since: Some(tool), within: age(rng) }),
                _ => refused(called(None, None)),
            }
        }
        Denial::Limit { count, scope, success, .. } => match rng.below(4) {
            0 => Denial::Limit {
                count: count + rng.below(2),
                scope: CountScope::InFlight,
                success: false,
                asks: false,
            },
            1 => {
                let success = rng.chance(50);
                Denial::Limit { count: *count, scope: CountScope::Window(4), success, asks: false }
            }
            2 => {
                let success = !success && *scope != CountScope::InFlight;
                Denial::Limit { count: *count, scope: *scope, success, asks: false }
            }
            _ => {
                let tool = rng.below(TOOLS.len());
                let failures = rng.chance(40);
                let more = count + rng.below(2) - 1;
                Denial::Deny(Condition::Calls { tool, failures, more })
            }
        },
        Denial::Deny(condition) => Denial::Deny(match (condition, rng.below(5)) {
            (_, 0) => {
                Condition::And(Box::new(condition.clone()), Box::new(self::condition(rng, 1)))
            }
            (Condition::Or(a, _), _) => (**a).clone(),
            (Condition::AtLeast(_), 1) => Condition::AtLeast(5),
            (Condition::Failed { tool, .. }, _) => {
                Condition::Calls { tool: *tool, failures: true, more: 0 }
            }
            (Condition::Calls { tool, failures: true, more: 0 }, _) => {
                Condition::Failed { tool: *tool, since: None, within: age(rng) }
            }
            (Condition::Once(wanted), _) => {
                if *wanted {
                    Condition::Flag
                } else {
                    Condition::Not(Box::new(Condition::Flag))
                }
            }
            (Condition::Flag, 2) => Condition::Not(Box::new(Condition::Historically(false))),
            (Condition::Not(of), 1 | 2) if matches!(**of, Condition::Once(_)) => {
                Condition::Not(Box::new(Condition::Flag))
            }
            (Condition::Not(of), 1..=3) if matches!(**of, Condition::Failed { .. }) => {
                let Condition::Failed { tool, .. } = **of else { return rule.clone() };
                let calls = Condition::Calls { tool, failures: rng.chance(30), more: 0 };
                Condition::Not(Box::new(calls))
            }
            (Condition::Not(of), 1..=3) if matches!(**of, Condition::Flag) => {
                let tool = rng.below(TOOLS.len());
                let calls = Condition::Calls { tool, failures: false, more: 0 };
                Condition::Not(Box::new(calls))
            }
            (_, 4) => plain,
            _ => condition.clone(),
        }),
    }
}

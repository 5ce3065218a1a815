//! Probes and sources: what is asked of the world, and what the host itself says.

use guard_plan::random::Rng;

/// The probes that conditions may speak of, with schedules.
pub(super) fn probes(rng: &mut Rng) -> Vec<String> {
    let asked = [
        ("ready", "host"),
        ("built", "command \"make\" \"check\" env \"PATH\""),
        ("marker", "file \"marker.txt\""),
        ("level", "returns int  command \"cat\" \"level\""),
        ("word", "returns string  command \"cat\" \"word\""),
    ];
    let mut probes = Vec::new();
    for (name, by) in asked {
        let by = if name == "level" && rng.chance(50) { "returns int  host" } else { by };
        let mut clauses = vec![by.to_string()];
        if rng.chance(25) {
            clauses.push(format!("every {}", rng.pick(&["1m", "1s", "20m"])));
        }
        if rng.chance(25) {
            let factor = rng.pick(&["1", "2", "1.5", "60", "2.000001"]);
            clauses.push(format!("backoff {factor} up to {}", rng.pick(&["500ms", "2m", "1h"])));
        }
        if rng.chance(15) {
            clauses.push(format!("within {}", rng.pick(&["1m", "30m", "2h"])));
        }
        if rng.chance(10) {
            clauses.push("timeout 2s".to_string());
        }
        probes.push(format!("probe {name} {{\n  {}\n}}", clauses.join("\n  ")));
    }
    probes
}

/// Draws the sources of a guard: what the start value and prompts teach.
pub(super) fn sources(rng: &mut Rng) -> Vec<String> {
    let mut sources = Vec::new();
    if rng.chance(40) {
        let learns = [
            "learn who(data.names[*])",
            "learn row(id: k, qty: v.qty) for k, v in data.rows",
            "learn row(id: \"u\", qty: 4)",
            "learn who(emails(data))",
        ];
        let chosen: Vec<&str> = learns.into_iter().filter(|_| rng.chance(40)).collect();
        sources.push(source("start", &chosen));
    }
    if rng.chance(50) {
        let learns = [
            "learn who(quoted(text))",
            "learn who(emails(text)) when text != \"u\"",
            "learn row(id: \"p\", qty: len(text) % 9)",
            "learn row(id: w, qty: 2) for w in numbers(text) when w != \"3\" or len(text) > 9",
        ];
        let chosen: Vec<&str> = learns.into_iter().filter(|_| rng.chance(40)).collect();
        sources.push(source("prompt", &chosen));
    }
    sources
}

fn source(name: &str, learns: &[&str]) -> String {
    format!("source {name} {{\n  {}\n}}", learns.join("\n  "))
}

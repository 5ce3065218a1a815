//! A contract, and the documents that a file under it may hold: strict JSON, or nothing like it.

use guard_plan::random::Rng;

/// A contract of a few members and items; what varies are its bounds and what it refers to.
pub(super) fn contract(rng: &mut Rng) -> Vec<String> {
    let mut clauses = vec![
        "title: string max 9".to_string(),
        format!("items units: Unit max {}{}", 1 + rng.below(3), rng.pick(&["", " by rank"])),
    ];
    if rng.chance(40) {
        clauses.push("items units.parts: Part max 2".to_string());
    }
    if rng.chance(60) {
        let bounds = ["depth 2", "depth 3", "string 4", "string 8", "bytes 60", "quarantine 1"];
        let chosen: Vec<&str> = bounds.into_iter().filter(|_| rng.chance(20)).collect();
        clauses.push(format!("bounds {{ {} }}", chosen.join(", ")));
    }
    let references = [
        "reference units.of in who",
        "reference units.of in [\"u\", \"v\", \"ann\"]",
        "reference units.rank in log",
        "reference units.parts.of in who",
        "reference title in items",
    ];
    let chosen = references.into_iter().filter(|_| rng.chance(15));
    clauses.extend(chosen.map(String::from));
    vec![
        "record Part { of: string  qty: int in 0..=9 }".to_string(),
        "record Unit { rank: int  of: string?  parts: list<Part> max 3 }".to_string(),
        format!("contract Found {{\n  {}\n}}", clauses.join("\n  ")),
    ]
}

/// A document, mostly one that many of these contracts take.
pub fn document(rng: &mut Rng) -> String {
    let title = *rng.pick(&["t", "u", "title", "none", "a title of its own"]);
    let units: Vec<String> = (0..rng.below(3)).map(|_| unit(rng)).collect();
    let units = format!("[{}]", units.join(","));
    match rng.below(12) {
        0 => String::new(),
        1 => "nothing".to_string(),
        2 if rng.chance(50) => format!("{{\"title\":\"{title}\"}}"),
        2 => format!("{{\"units\":{units}}}"),
        3 => format!("{{\"title\":\"{title}\",\"units\":{units},\"more\":1}}"),
        4 => format!("{{\"title\":7,\"units\":{units}}}"),
        5 => format!("{{\"units\":{units},\"title\":\"{title}\"}}"),
        _ => format!("{{\"title\":\"{title}\",\"units\":{units}}}"),
    }
}

fn unit(rng: &mut Rng) -> String {
    let of = *rng.pick(&["\"u\"", "\"v\"", "\"ann\"", "\"nobody\"", "null", "3"]);
    let parts: Vec<String> = (0..rng.below(3)).map(|_| part(rng)).collect();
    let parts = format!("[{}]", parts.join(","));
    let rank = rng.below(5);
    match rng.below(10) {
        0 => format!("{{\"rank\":{rank},\"of\":{of}}}"),
        1 => format!("{{\"rank\":\"first\",\"of\":{of},\"parts\":{parts}}}"),
        2 => format!("{{\"rank\":{rank},\"parts\":{parts}}}"),
        _ => format!("{{\"rank\":{rank},\"of\":{of},\"parts\":{parts}}}"),
    }
}

fn part(rng: &mut Rng) -> String {
    let of = *rng.pick(&["u", "v", "ann", "nobody", "somebody else"]);
    let more = *rng.pick(&["", "", "", ",\"x\":{}"]);
    format!("{{\"of\":\"{of}\",\"qty\":{}{more}}}", rng.below(11))
}

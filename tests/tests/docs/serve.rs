//! A conversation with `guardc serve`, its answers laid out for reading.

use crate::sidecar::Sidecar;
use guard_plan::json::Json;

/// As wide as an answer on one line may be.
const WIDTH: usize = 100;

/// Lays out the answer to a line.
pub fn laid_out(sidecar: &mut Sidecar, line: &str) -> String {
    let answer = sidecar.line(line);
    let mut out = String::new();
    match Json::parse(&answer) {
        Ok(json) => lay_out(&json, 0, &mut out),
        Err(error) => panic!("{error}: {answer}"),
    }
    out
}

/// On one line where it fits, else a line for each part.
fn lay_out(json: &Json, depth: usize, out: &mut String) {
    let flat = flat(json);
    let parts: Vec<(String, &Json)> = match json {
        Json::Array(items) => items.iter().map(|item| (String::new(), item)).collect(),
        Json::Object(members) => {
            members.iter().map(|(name, value)| (format!("\"{name}\": "), value)).collect()
        }
        _ => Vec::new(),
    };
    if parts.is_empty() || 2 * depth + flat.chars().count() <= WIDTH {
        return out.push_str(&flat);
    }
    let (open, close) = if matches!(json, Json::Array(_)) { ("[", "]") } else { ("{", "}") };
    out.push_str(open);
    for (at, (name, value)) in parts.iter().enumerate() {
        out.push_str(if at == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(depth + 1));
        out.push_str(name);
        lay_out(value, depth + 1, out);
    }
    out.push_str(&format!("\n{}{close}", "  ".repeat(depth)));
}

fn flat(json: &Json) -> String {
    match json {
        Json::Array(items) if !items.is_empty() => {
            format!("[{}]", items.iter().map(flat).collect::<Vec<_>>().join(", "))
        }
        Json::Object(members) if !members.is_empty() => {
            let member = |(name, value): &(Box<str>, Json)| format!("\"{name}\": {}", flat(value));
            format!("{{ {} }}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        other => {
            let mut out = String::new();
            other.write(&mut out);
            out
        }
    }
}

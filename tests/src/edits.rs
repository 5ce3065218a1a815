//! Edits of a guard's text: a line or an item less, a line twice or in shadow, another number, operator or name.

use guard_plan::random::Rng;

/// Operators and words, with one that often fits in their place.
const SWAPS: &[(&str, &str)] = &[
    (" < ", " <= "),
    (" <= ", " < "),
    (" > ", " >= "),
    (" >= ", " > "),
    (" == ", " != "),
    (" != ", " == "),
    (" and ", " or "),
    (" or ", " and "),
    (" + ", " - "),
    (" - ", " + "),
    (" any ", " all "),
    (" all ", " any "),
    ("deny when ", "deny unless "),
    ("deny unless ", "deny when "),
    ("not ", ""),
    (" += ", " = "),
    (" = ", " += "),
    (" per session", " per 1m"),
    (" per session", " per session else ask boss"),
    (" else ask boss", ""),
    (" else ask human", ""),
    ("allow", "deny"),
    ("untrusted", "trusted"),
    ("else ", "else 1 + "),
];

/// The text with one edit in it. It may not compile, or say the same.
pub fn edited(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    let inner = |line: &String| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with("//") && !line.starts_with("guard ")
    };
    let places: Vec<usize> = (0..lines.len()).filter(|at| inner(&lines[*at])).collect();
    if places.is_empty() {
        return text.to_string();
    }
    let at = *rng.pick(&places);
    match rng.below(9) {
        0 | 1 => drop(lines.remove(at)),
        2 => {
            let line = lines[at].clone();
            lines.insert(at, line);
        }
        3 => {
            let line = lines[at].trim_start().to_string();
            lines[at] = match line.strip_prefix("shadow ") {
                Some(rest) => rest.to_string(),
                None => format!("shadow {line}"),
            };
        }
        4 => lines[at] = with_number(&lines[at], rng),
        5 => {
            let swaps: Vec<_> = SWAPS.iter().filter(|(old, _)| lines[at].contains(old)).collect();
            if !swaps.is_empty() {
                let (old, new) = *rng.pick(&swaps);
                lines[at] = lines[at].replacen(old, new, 1);
            }
        }
        6 => {
            let other = *rng.pick(&places);
            lines.swap(at, other);
        }
        7 => {
            let starts = |line: &String| !line.is_empty() && !line.starts_with([' ', '}']);
            let first = (0..=at).rev().find(|at| starts(&lines[*at])).unwrap_or(at);
            let ends = |line: &String| line.starts_with('}') || line.is_empty();
            let count = lines[first..].iter().take_while(|line| !ends(line)).count();
            let closed = lines.get(first + count).is_some_and(|line| line.starts_with('}'));
            lines.drain(first..first + count + usize::from(closed));
        }
        _ => lines[at] = with_name(&lines[at], text, rng),
    }
    lines.join("\n")
}

/// The line with another digit.
fn with_number(line: &str, rng: &mut Rng) -> String {
    let digits: Vec<usize> =
        line.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at).collect();
    let mut line = line.to_string();
    if !digits.is_empty() {
        let at = *rng.pick(&digits);
        line.replace_range(at..=at, &rng.below(10).to_string());
    }
    line
}

/// The line with a name in the place of another, both of this text.
fn with_name(line: &str, text: &str, rng: &mut Rng) -> String {
    let names = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.filter(|word| !word.is_empty()).map(String::from).collect()
    };
    let here = names(line);
    let all = names(text);
    if here.is_empty() {
        return line.to_string();
    }
    let old = rng.pick(&here).clone();
    let new = rng.pick(&all).clone();
    line.replacen(&old, &new, 1)
}

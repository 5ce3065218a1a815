//! A plan as text: expressions, types, durations and rules in the author's notation.
//!
//! Explanations, guides, references and diagrams of a guard use this text. The module does not
//! depend on where the text is shown.

mod bound;
mod expr;
mod reasons;
pub mod rules;
pub mod session;
mod ty;

pub use bound::bound;
pub use expr::{Shows, expr, node, template, typed};
pub use reasons::{Meaning, meaning};
pub use ty::{apart, element, further, open, parameters, plain, ty};

use crate::plan::{
    EffectOp, Limit, LimitScope, Node, Requirement, Requires, Risk, Step, Target, Tool, TypeDef,
    TypeId,
};

/// The text that replaces a result for the agent if a part of the result cannot be changed as a
/// `transform` requires.
pub const WITHHELD: &str = "the result is withheld: a part of it would have to be changed first";

/// Formats a number of things, singular or plural: `1 call`, `2 calls`.
///
/// ```
/// assert_eq!(guard_plan::words::count(1, "call"), "1 call");
/// assert_eq!(guard_plan::words::count("12,431", "call"), "12,431 calls");
/// ```
pub fn count(number: impl std::fmt::Display, noun: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Formats a number with commas between thousands: `12,345,678`.
///
/// ```
/// assert_eq!(guard_plan::words::grouped(999), "999");
/// assert_eq!(guard_plan::words::grouped(12_345_678), "12,345,678");
/// ```
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a duration in the notation of the language: `5m`, `1h30m`, `250ms`.
pub fn duration(millis: i64) -> String {
    const UNITS: [(&str, u64); 6] = [
        ("w", 604_800_000),
        ("d", 86_400_000),
        ("h", 3_600_000),
        ("m", 60_000),
        ("s", 1000),
        ("ms", 1),
    ];
    let mut rest = millis.unsigned_abs();
    let mut out = String::from(if millis < 0 { "-" } else { "" });
    for (unit, size) in UNITS {
        // Weeks are used only if nothing is left over: 60 days are 60d.
        let whole = unit != "w" || rest.is_multiple_of(size);
        if rest >= size && whole {
            out.push_str(&format!("{}{unit}", rest / size));
            rest %= size;
        }
    }
    if millis == 0 { "0s".into() } else { out }
}

/// Formats a text on one line: line breaks and control characters become spaces.
pub fn line(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.trim().to_owned()
}

/// Formats any text as code, on one line.
pub fn code(text: &str) -> String {
    let line = line(text);
    if line.contains('`') { format!("`` {line} ``") } else { format!("`{line}`") }
}

/// Formats one requirement: `` `build`, called with `path` = `path`, since `edit`, within 10m ``.
pub fn requirement(shows: &Shows, requirement: &Requirement) -> String {
    let plan = shows.plan;
    let name = |tool: u32| plan.tools.get(tool as usize).map_or("?", |t| t.name.as_str());
    let mut out = format!("`{}`", name(requirement.tool));
    if requirement.latest {
        out.push_str(", the latest call");
    }
    if let Some(key) = &requirement.key {
        let params = plan.indexes.get(key.index as usize).map_or(&[][..], |index| &index.params);
        let tool = plan.tools.get(requirement.tool as usize);
        let pairs: Vec<String> = params
            .iter()
            .zip(&key.values)
            .map(|(p, value)| {
                let param = tool.and_then(|t| t.params.get(*p as usize));
                let name = param.map_or("?", |param| param.name.as_str());
                let value = typed(shows, value, param.map(|param| param.ty));
                if value == name {
                    format!("the same `{value}`")
                } else {
                    format!("`{name}: {value}`")
                }
            })
            .collect();
        out.push_str(&format!(" with {}", pairs.join(" and ")));
    }
    if let Some(since) = requirement.since {
        out.push_str(&format!(", since the last `{}`", name(since)));
    }
    if let Some(within) = requirement.within {
        out.push_str(&format!(", in the last {}", duration(within)));
    }
    out
}

/// Formats one `requires` clause, without its condition.
pub fn requires(shows: &Shows, clause: &Requires) -> String {
    let any: Vec<String> =
        clause.any_of.iter().map(|alternative| requirement(shows, alternative)).collect();
    any.join(if any.iter().any(|text| text.contains(',')) { ", or " } else { " or " })
}

/// Formats a counter: `5 in 1h`, `1 in a session`.
pub fn limit(limit: &Limit) -> String {
    let success = if limit.success { " success" } else { "" };
    let count = format!("{}{success}", limit.count);
    match limit.scope {
        LimitScope::Window(window) => format!("{count} in {}", duration(window)),
        LimitScope::Session => format!("{count} in a session"),
        LimitScope::InFlight => format!("{count} in flight"),
        LimitScope::Identical => format!("{count} with the same arguments"),
    }
}

/// Formats a risk level: `low`, `medium`, `high`, `critical`.
pub fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
        Risk::Critical => "critical",
    }
}

/// Formats a target: `orders[order_id].status`.
pub fn target(shows: &Shows, target: &Target) -> String {
    walk(shows, target).0
}

/// Formats the value that is assigned to a target.
pub fn assigned(shows: &Shows, to: &Target, value: &crate::plan::Expr) -> String {
    typed(shows, value, walk(shows, to).1)
}

/// Returns the text of a target and its type.
fn walk(shows: &Shows, target: &Target) -> (String, Option<TypeId>) {
    let var = shows.plan.state.get(target.var as usize);
    let mut out = var.map_or("?", |v| v.name.as_str()).to_owned();
    let mut at = var.map(|v| v.ty);
    for step in &target.path {
        let def = at.and_then(|id| shows.plan.types.get(ty::open(shows.plan, id) as usize));
        match step {
            Step::Field(field) => {
                let field = match def {
                    Some(TypeDef::Record { fields, .. }) => fields.get(*field as usize),
                    _ => None,
                };
                out.push_str(&format!(".{}", field.map_or("?", |f| f.name.as_str())));
                at = field.map(|f| f.ty);
            }
            Step::Index(key) => {
                let key = match (def, &key.0[..]) {
                    // A key that is an int, a bool or a variant is stored as its text.
                    (Some(TypeDef::Map { key: Some(_), .. }), [Node::String(text)]) => text.clone(),
                    _ => expr(shows, key),
                };
                out.push_str(&format!("[{key}]"));
                at = at.and_then(|id| ty::element(shows.plan, id));
            }
        }
    }
    (out, at)
}

/// Formats one effect as its statement.
pub fn effect(
    shows: &Shows,
    op: EffectOp,
    on: &Target,
    value: Option<&crate::plan::Expr>,
) -> String {
    let to = target(shows, on);
    let value = value.map(|value| assigned(shows, on, value)).unwrap_or_default();
    match op {
        EffectOp::Set => format!("{to} = {value}"),
        EffectOp::Add => format!("{to} += {value}"),
        EffectOp::Subtract => format!("{to} -= {value}"),
        EffectOp::Multiply => format!("{to} *= {value}"),
        EffectOp::Append => format!("append {value} to {to}"),
        EffectOp::Insert => format!("add {value} to {to}"),
        EffectOp::Remove => format!("remove {value} from {to}"),
        EffectOp::Delete => format!("delete {to}"),
    }
}

/// Returns a tool's name in the guard, with the wire name if it differs.
pub fn tool_name(tool: &Tool) -> String {
    if tool.name == tool.wire_name {
        tool.name.clone()
    } else {
        format!("{} (\"{}\")", tool.name, tool.wire_name)
    }
}

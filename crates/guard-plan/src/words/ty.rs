//! Types as text.

use super::code;
use super::duration;
use crate::decimal;
use crate::plan::{Field, Plan, TypeDef, TypeId};
use std::fmt::Display;

/// Formats a type approximately in the author's notation.
pub fn ty(plan: &Plan, id: TypeId) -> String {
    let Some(def) = plan.types.get(id as usize) else {
        return "?".into();
    };
    let inner = |element: &TypeId| ty(plan, *element);
    let max = |max: &Option<u64>| max.map(|n| format!(" max {n}")).unwrap_or_default();
    match def {
        TypeDef::Bool => "bool".into(),
        TypeDef::Int { min, max } => range("int", *min, *max, |n| n.to_string()),
        TypeDef::Decimal { min, max } => range("decimal", *min, *max, decimal::format),
        TypeDef::Duration { min, max } => range("duration", *min, *max, duration),
        TypeDef::String { max_chars, max_bytes, patterns } => {
            let bytes = max_bytes.map(|n| format!(" max {}", size(n))).unwrap_or_default();
            let patterns = patterns.iter().filter_map(|p| plan.regexes.get(*p as usize));
            let patterns: String = patterns.map(|p| format!(" matches /{p}/")).collect();
            format!("string{}{bytes}{patterns}", max(max_chars))
        }
        TypeDef::Path => "path".into(),
        TypeDef::Url => "url".into(),
        TypeDef::Command => "command".into(),
        TypeDef::Time { format } => {
            format!(
                "time{}",
                format.as_ref().map(|f| format!(" format \"{f}\"")).unwrap_or_default()
            )
        }
        TypeDef::Enum { name, .. } | TypeDef::Record { name, .. } | TypeDef::Union { name, .. } => {
            name.clone()
        }
        TypeDef::List { of, max: most } => format!("list<{}>{}", inner(of), max(most)),
        TypeDef::Set { of, max: most } => format!("set<{}>{}", inner(of), max(most)),
        TypeDef::Map { key, of, max: most } => {
            let key = key.as_ref().map_or("string".into(), inner);
            format!("map<{key}, {}>{}", inner(of), max(most))
        }
        TypeDef::Option { of } => {
            let inner = inner(of);
            match inner.split_once(' ') {
                Some((head, refined)) => format!("{head}? {refined}"),
                None => format!("{inner}?"),
            }
        }
        TypeDef::Json => "json".into(),
    }
}

/// Formats a size: `1MiB`, `4KiB`, `512B`.
fn size(bytes: u64) -> String {
    match bytes {
        n if n > 0 && n % (1 << 20) == 0 => format!("{}MiB", n >> 20),
        n if n > 0 && n % (1 << 10) == 0 => format!("{}KiB", n >> 10),
        n => format!("{n}B"),
    }
}

fn range<T: Copy + Display>(
    name: &str,
    min: Option<T>,
    max: Option<T>,
    show: impl Fn(T) -> String,
) -> String {
    let low = min.map(&show).unwrap_or_default();
    match (min, max) {
        (None, None) => name.into(),
        (_, None) => format!("{name} in {low}.."),
        (_, Some(high)) => format!("{name} in {low}..={}", show(high)),
    }
}

/// Formats parameters: `env: Env, count: int in 1..=5`.
pub fn parameters(plan: &Plan, params: &[Field]) -> String {
    let field_text = |field: &Field| {
        let secret = if field.secret { "secret " } else { "" };
        format!("{}: {secret}{}", field.name, ty(plan, field.ty))
    };
    params.iter().map(field_text).collect::<Vec<_>>().join(", ")
}

/// The maximum number of variants that are listed where an enum is used.
const FEW: usize = 8;

/// Describes a type for a sentence: `whole number from 1 to 5`, `list of text, at most 7`. Records
/// and enums with many variants are described by their names.
pub fn plain(plan: &Plan, id: TypeId) -> String {
    let Some(def) = plan.types.get(id as usize) else {
        return "?".into();
    };
    match def {
        TypeDef::Bool => "true or false".into(),
        TypeDef::Int { min, max } => between("whole number", *min, *max, |n| n.to_string()),
        TypeDef::Decimal { min, max } => between("number", *min, *max, decimal::format),
        TypeDef::Duration { min, max } => {
            between("duration such as \"1h30m\"", *min, *max, duration)
        }
        TypeDef::String { max_chars, max_bytes, patterns } => {
            let chars = max_chars.map(|n| format!(", at most {n} characters")).unwrap_or_default();
            let bytes = max_bytes.map(|n| format!(", at most {}", size(n))).unwrap_or_default();
            let patterns = patterns.iter().filter_map(|p| plan.regexes.get(*p as usize));
            let patterns: String = patterns.map(|p| format!(", matching {}", code(p))).collect();
            format!("text{chars}{bytes}{patterns}")
        }
        TypeDef::Path => "file path".into(),
        TypeDef::Url => "URL".into(),
        TypeDef::Command => "shell command".into(),
        TypeDef::Time { format: None } => "time in RFC 3339".into(),
        TypeDef::Time { format: Some(format) } => format!("time as {}", code(format)),
        TypeDef::Enum { name, variants } => one_of(name, variants),
        TypeDef::Record { name, .. } | TypeDef::Union { name, .. } => {
            format!("object {}", code(name))
        }
        TypeDef::List { of, max } => format!("list of {}{}", part(plan, *of), most(*max)),
        TypeDef::Set { of, max } => format!("list of different {}{}", part(plan, *of), most(*max)),
        TypeDef::Map { key, of, max } => {
            let key = key.map_or("names".into(), |key| part(plan, key));
            format!("object from {key} to {}{}", part(plan, *of), most(*max))
        }
        TypeDef::Option { of } => format!("{}, or nothing", plain(plan, *of)),
        TypeDef::Json => "any JSON".into(),
    }
}

fn one_of(name: &str, variants: &[String]) -> String {
    if variants.len() > FEW {
        return format!("one of the variants of {}", code(name));
    }
    let names: Vec<String> = variants.iter().map(|v| code(v)).collect();
    format!("one of {}", names.join(", "))
}

/// Returns true if a type is described separately from its uses.
pub fn apart(def: &TypeDef) -> bool {
    match def {
        TypeDef::Record { .. } | TypeDef::Union { .. } => true,
        TypeDef::Enum { variants, .. } => variants.len() > FEW,
        _ => false,
    }
}

/// Formats the type of a part, in parentheses if it is longer than a few words.
fn part(plan: &Plan, id: TypeId) -> String {
    let text = plain(plan, id);
    if text.contains([',', ';']) { format!("({text})") } else { text }
}

fn most(max: Option<u64>) -> String {
    max.map(|n| format!(", at most {n}")).unwrap_or_default()
}

fn between<T: Copy>(
    name: &str,
    min: Option<T>,
    max: Option<T>,
    show: impl Fn(T) -> String,
) -> String {
    match (min, max) {
        (None, None) => name.into(),
        (Some(min), Some(max)) => format!("{name} from {} to {}", show(min), show(max)),
        (Some(min), None) => format!("{name}, at least {}", show(min)),
        (None, Some(max)) => format!("{name}, at most {}", show(max)),
    }
}

/// Returns documentation as a further sentence of a line, or nothing: `. The file that is read.`
pub fn further(doc: &str) -> String {
    let words: Vec<&str> = doc.split_whitespace().collect();
    if words.is_empty() { String::new() } else { format!(". {}", words.join(" ")) }
}

/// Returns the type inside an option.
pub fn open(plan: &Plan, id: TypeId) -> TypeId {
    match plan.types.get(id as usize) {
        Some(TypeDef::Option { of }) => *of,
        _ => id,
    }
}

/// Returns the type of the elements of a collection.
pub fn element(plan: &Plan, id: TypeId) -> Option<TypeId> {
    match plan.types.get(open(plan, id) as usize)? {
        TypeDef::List { of, .. } | TypeDef::Set { of, .. } | TypeDef::Map { of, .. } => Some(*of),
        _ => None,
    }
}

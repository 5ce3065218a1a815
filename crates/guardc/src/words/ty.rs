//! Types in words.

use super::duration;
use guard_plan::decimal;
use guard_plan::plan::{Field, Plan, TypeDef, TypeId};
use std::fmt::Display;

/// A type as an author would write it, near enough to read.
pub fn ty(plan: &Plan, id: TypeId) -> String {
    let Some(def) = plan.types.get(id as usize) else {
        return "?".into();
    };
    let inner = |of: &TypeId| ty(plan, *of);
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
        TypeDef::Time { format } => {
            format!(
                "time{}",
                format.as_ref().map(|f| format!(" format \"{f}\"")).unwrap_or_default()
            )
        }
        TypeDef::Enum { name, .. } | TypeDef::Record { name, .. } => name.clone(),
        TypeDef::List { of, max: most } => format!("list<{}>{}", inner(of), max(most)),
        TypeDef::Set { of, max: most } => format!("set<{}>{}", inner(of), max(most)),
        TypeDef::Map { of, max: most } => format!("map<string, {}>{}", inner(of), max(most)),
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

/// `1MiB`, `4KiB`, `512B`.
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

/// `env: Env, count: int in 1..=5`.
pub fn parameters(plan: &Plan, params: &[Field]) -> String {
    let one = |field: &Field| {
        let secret = if field.secret { "secret " } else { "" };
        format!("{}: {secret}{}", field.name, ty(plan, field.ty))
    };
    params.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The type under an option.
pub(super) fn open(plan: &Plan, id: TypeId) -> TypeId {
    match plan.types.get(id as usize) {
        Some(TypeDef::Option { of }) => *of,
        _ => id,
    }
}

/// The type of the elements of a collection.
pub(super) fn element(plan: &Plan, id: TypeId) -> Option<TypeId> {
    match plan.types.get(open(plan, id) as usize)? {
        TypeDef::List { of, .. } | TypeDef::Set { of, .. } | TypeDef::Map { of, .. } => Some(*of),
        _ => None,
    }
}

//! Operations on values, as defined in `docs/reference/semantics.md` §1.

use super::ReferenceSession;
use crate::hir::MapKey;
use guard_plan::json::Json;
use guard_plan::plan::{ArithOp, CompareOp, UrlPart};
use guard_plan::value::{DECIMAL_ONE, Fault, Value};
use std::borrow::Cow;
use std::cmp::Ordering;

type ComputedValue = Result<Value, Fault>;

/// True if one operand is true, even if the other faults. Unknown if neither is true and one
/// faults.
pub(super) fn or(a: Result<bool, Fault>, b: Result<bool, Fault>) -> Result<bool, Fault> {
    match (a, b) {
        (Ok(true), _) | (_, Ok(true)) => Ok(true),
        (Err(fault), _) | (_, Err(fault)) => Err(fault),
        _ => Ok(false),
    }
}

/// False if one operand is false, even if the other faults. Unknown if neither is false and one
/// faults.
pub(super) fn and(a: Result<bool, Fault>, b: Result<bool, Fault>) -> Result<bool, Fault> {
    match (a, b) {
        (Ok(false), _) | (_, Ok(false)) => Ok(false),
        (Err(fault), _) | (_, Err(fault)) => Err(fault),
        _ => Ok(true),
    }
}

pub(super) fn opened(json: &Json) -> Value {
    match json {
        Json::Null => Value::None,
        other => Value::Json(Box::new(other.clone())),
    }
}

pub(super) fn url_part(url: &guard_plan::url::Url, part: UrlPart) -> Value {
    match part {
        UrlPart::Scheme => Value::String(url.scheme.as_ref().into()),
        UrlPart::Host => Value::String(url.host.as_ref().into()),
        UrlPart::Port => Value::Int(url.port.into()),
        UrlPart::Path => Value::String(url.path.as_ref().into()),
        UrlPart::Query => Value::String(url.query.as_ref().into()),
    }
}

pub(crate) fn index(collection: Value, at: Value) -> Value {
    match (collection, at) {
        (Value::List(items), Value::Int(at)) => {
            usize::try_from(at).ok().and_then(|at| items.get(at).cloned()).unwrap_or(Value::None)
        }
        (Value::Map(entries), Value::String(key)) => {
            entries.get(&*key).cloned().unwrap_or(Value::None)
        }
        (Value::Json(json), Value::String(key)) => json.get(&key).map_or(Value::None, opened),
        (Value::Json(json), Value::Int(at)) => match (*json, usize::try_from(at)) {
            (Json::Array(items), Ok(at)) => items.get(at).map_or(Value::None, opened),
            _ => Value::None,
        },
        _ => Value::None,
    }
}

impl ReferenceSession<'_> {
    /// Returns the text that represents a key in a map.
    pub(super) fn key_text(&self, key: MapKey, value: &Value) -> String {
        match (key, value) {
            (_, Value::Bool(truth)) => truth.to_string(),
            (_, Value::Int(number)) => number.to_string(),
            (MapKey::Enum(id), Value::Enum(at)) => {
                self.program.enums[id].variants[*at as usize].clone()
            }
            _ => String::new(),
        }
    }

    /// Returns the key that a text represents in a map.
    pub(super) fn key_of(&self, key: MapKey, text: &str) -> Value {
        match key {
            MapKey::Text => Value::String(text.into()),
            MapKey::Bool => Value::Bool(text == "true"),
            MapKey::Int => Value::Int(text.parse().unwrap_or_default()),
            MapKey::Enum(id) => {
                let variants = &self.program.enums[id].variants;
                let at = variants.iter().position(|name| name == text);
                at.map_or(Value::None, |at| Value::Enum(at as u32))
            }
        }
    }
}

fn no_collection() -> Fault {
    Fault::Decode("iteration over a value that is not a collection".into())
}

/// Returns the values of the binders of a quantifier, row by row.
pub(super) fn rows(sources: &[Cow<'_, Value>], binders: usize) -> Result<Vec<Vec<Value>>, Fault> {
    if sources.len() > 1 {
        let lists: Vec<&Vec<Value>> = sources
            .iter()
            .filter_map(|s| if let Value::List(items) = &**s { Some(items) } else { None })
            .collect();
        let (Some(first), true) = (lists.first(), lists.len() == sources.len()) else {
            return Ok(Vec::new());
        };
        if let Some(other) = lists.iter().find(|l| l.len() != first.len()) {
            return Err(Fault::UnequalLengths(first.len(), other.len()));
        }
        return Ok((0..first.len())
            .map(|at| lists.iter().map(|l| l[at].clone()).collect())
            .collect());
    }
    let keyed = |key: Value, value: Value| {
        if binders == 2 { vec![key, value] } else { vec![value] }
    };
    Ok(match sources.first().map(|source| &**source) {
        Some(Value::List(items)) => {
            (0i64..).zip(items).map(|(at, v)| keyed(Value::Int(at), v.clone())).collect()
        }
        Some(Value::Set(items)) => items.iter().map(|v| vec![v.clone()]).collect(),
        Some(Value::Map(entries)) => {
            let key = |k: &str| Value::String(k.into());
            let entries = entries.iter();
            match binders {
                2 => entries.map(|(k, v)| vec![key(k), v.clone()]).collect(),
                _ => entries.map(|(k, _)| vec![key(k)]).collect(),
            }
        }
        Some(Value::Json(json)) => match json.as_ref() {
            Json::Array(items) => (0i64..)
                .zip(items)
                .map(|(at, v)| keyed(Value::Int(at), Value::Json(Box::new(v.clone()))))
                .collect(),
            Json::Object(members) => members
                .iter()
                .map(|(k, v)| keyed(Value::String(k.clone()), Value::Json(Box::new(v.clone()))))
                .collect(),
            _ => return Err(no_collection()),
        },
        _ => return Err(no_collection()),
    })
}

pub(super) fn number(value: &Value) -> i64 {
    match value {
        Value::Int(v) | Value::Decimal(v) | Value::Duration(v) | Value::Time(v) => *v,
        _ => 0,
    }
}

pub(crate) fn negate(value: Value) -> ComputedValue {
    let minus = |v: i64| v.checked_neg().ok_or(Fault::Overflow("-"));
    Ok(match value {
        Value::Int(v) => Value::Int(minus(v)?),
        Value::Decimal(v) => Value::Decimal(minus(v)?),
        Value::Duration(v) => Value::Duration(minus(v)?),
        other => other,
    })
}

pub(crate) fn compare(op: CompareOp, a: &Value, b: &Value) -> bool {
    if *a == Value::None || *b == Value::None {
        return op == CompareOp::Ne;
    }
    match op {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::Lt => a.cmp(b) == Ordering::Less,
        CompareOp::Le => a.cmp(b) != Ordering::Greater,
        CompareOp::Gt => a.cmp(b) == Ordering::Greater,
        CompareOp::Ge => a.cmp(b) != Ordering::Less,
    }
}

pub(crate) fn is_in(item: &Value, many: &Value) -> bool {
    match (item, many) {
        (Value::None, _) => false,
        (item, Value::List(items)) => items.contains(item),
        (item, Value::Set(items)) => items.contains(item),
        (Value::String(key), Value::Map(entries)) => entries.contains_key(key),
        (Value::String(part), Value::String(whole)) => !part.is_empty() && whole.contains(&**part),
        _ => false,
    }
}

pub(super) fn is_below(path: &str, base: &str) -> bool {
    let components =
        |p: &str| p.split('/').filter(|c| !c.is_empty()).map(String::from).collect::<Vec<_>>();
    // A path that cannot be parsed is not within any other path.
    path.starts_with('/') && components(path).starts_with(&components(base))
}

/// Computes an operation on two numbers of matching kinds exactly, and narrows the result.
pub(crate) fn arithmetic(op: ArithOp, a: Value, b: Value) -> ComputedValue {
    let x = i128::from(number(&a));
    let y = i128::from(number(&b));
    let unit = i128::from(DECIMAL_ONE);
    let decimal = matches!((&a, &b), (Value::Decimal(_), Value::Decimal(_)));
    let spelling = ["+", "-", "*", "/", "%"][op as usize];
    let exact = match op {
        ArithOp::Add => x + y,
        ArithOp::Sub => x - y,
        ArithOp::Mul if decimal => half_even(x * y, unit),
        ArithOp::Mul => x * y,
        ArithOp::Div | ArithOp::Rem if y == 0 => return Err(Fault::DivisionByZero),
        ArithOp::Div if decimal => half_even(x * unit * y.signum(), y.abs()),
        ArithOp::Div => x / y,
        ArithOp::Rem => x % y,
    };
    let narrow = i64::try_from(exact).map_err(|_| Fault::Overflow(spelling))?;
    Ok(match (op, &a, &b) {
        (ArithOp::Div, Value::Duration(_), Value::Duration(_)) => Value::Int(narrow),
        (ArithOp::Sub, Value::Time(_), Value::Time(_)) => Value::Duration(narrow),
        (_, Value::Time(_), _) | (_, _, Value::Time(_)) => Value::Time(narrow),
        (_, Value::Duration(_), _) | (_, _, Value::Duration(_)) => Value::Duration(narrow),
        (_, Value::Decimal(_), _) => Value::Decimal(narrow),
        _ => Value::Int(narrow),
    })
}

/// Returns `numerator / denominator`, rounded to the nearest, half to even. The denominator must be
/// positive.
pub(super) fn half_even(numerator: i128, denominator: i128) -> i128 {
    let floor = numerator.div_euclid(denominator);
    let rest = numerator.rem_euclid(denominator);
    match (2 * rest).cmp(&denominator) {
        Ordering::Less => floor,
        Ordering::Greater => floor + 1,
        Ordering::Equal => floor + (floor & 1),
    }
}

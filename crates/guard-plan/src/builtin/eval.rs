//! The evaluation of the builtins, which is total for all arguments.

use super::extract::EmitText;
use super::is_unreadable;
use crate::json::Json;
use crate::value::{DECIMAL_ONE, Fault, Value};
use crate::{decimal, path};
use std::cmp::Ordering;

pub(super) type BuiltinResult = Result<Value, Fault>;

/// Extracts parts of a text.
type Extractor = fn(&str, EmitText);

/// The fault of arguments that do not have the declared kinds.
pub(super) fn confused() -> Fault {
    Fault::Decode("a builtin got a value of another kind".into())
}

fn text<'a>(value: &&'a Value) -> Result<&'a str, Fault> {
    match value {
        Value::String(text) | Value::Path(text) => Ok(text),
        _ => Err(confused()),
    }
}

/// Returns true if `whole` contains `part`. An empty `part` is contained in no text, so that a name
/// that was left empty does not match every text.
pub fn contains_text(whole: &str, part: &str) -> bool {
    !part.is_empty() && whole.contains(part)
}

pub(super) fn two_texts<'a>(args: &[&'a Value]) -> Result<(&'a str, &'a str), Fault> {
    Ok((text(&args[0])?, text(&args[1])?))
}

fn string(text: &str) -> Value {
    Value::String(text.into())
}

fn int(count: usize) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

pub(super) fn len(args: &[&Value]) -> BuiltinResult {
    Ok(int(match args[0] {
        Value::String(text) => text.chars().count(),
        Value::List(items) => items.len(),
        Value::Set(items) => items.len(),
        Value::Map(entries) => entries.len(),
        Value::Json(json) => match &**json {
            Json::String(text) => text.chars().count(),
            Json::Array(items) => items.len(),
            Json::Object(members) => members.len(),
            _ => 0,
        },
        // A missing member of a `json`.
        Value::None => 0,
        _ => return Err(confused()),
    }))
}

fn order(a: &Value, b: &Value) -> Result<Ordering, Fault> {
    match (a, b) {
        (Value::Int(_), Value::Int(_))
        | (Value::Decimal(_), Value::Decimal(_))
        | (Value::Duration(_), Value::Duration(_))
        | (Value::Time(_), Value::Time(_)) => Ok(a.cmp(b)),
        _ => Err(confused()),
    }
}

pub(super) fn min(args: &[&Value]) -> BuiltinResult {
    Ok(args[usize::from(order(args[0], args[1])?.is_gt())].clone())
}

pub(super) fn max(args: &[&Value]) -> BuiltinResult {
    Ok(args[usize::from(order(args[0], args[1])?.is_lt())].clone())
}

pub(super) fn joined(args: &[&Value]) -> BuiltinResult {
    Ok(match (args[0], args[1]) {
        (Value::List(a), Value::List(b)) => Value::List(a.iter().chain(b).cloned().collect()),
        (Value::Set(a), Value::Set(b)) => Value::Set(a.union(b).cloned().collect()),
        _ => return Err(confused()),
    })
}

pub(super) fn abs(args: &[&Value]) -> BuiltinResult {
    let size = |number: &i64| number.checked_abs().ok_or(Fault::Overflow("abs"));
    Ok(match args[0] {
        Value::Int(number) => Value::Int(size(number)?),
        Value::Decimal(units) => Value::Decimal(size(units)?),
        Value::Duration(millis) => Value::Duration(size(millis)?),
        _ => return Err(confused()),
    })
}

pub(super) fn lower(args: &[&Value]) -> BuiltinResult {
    let text = match args[0] {
        // A lesson for a `caseless` column, whose value comes from a `json`.
        Value::Json(json) => json.as_str().ok_or_else(confused)?,
        _ => text(&args[0])?,
    };
    Ok(Value::String(text.to_lowercase().into()))
}

pub(super) fn upper(args: &[&Value]) -> BuiltinResult {
    Ok(Value::String(text(&args[0])?.to_uppercase().into()))
}

pub(super) fn trim(args: &[&Value]) -> BuiltinResult {
    Ok(string(text(&args[0])?.trim()))
}

pub(super) fn starts_with(args: &[&Value]) -> BuiltinResult {
    let (whole, part) = two_texts(args)?;
    Ok(Value::Bool(!part.is_empty() && whole.starts_with(part)))
}

pub(super) fn split(args: &[&Value]) -> BuiltinResult {
    let (whole, separator) = two_texts(args)?;
    Ok(Value::List(match separator {
        // The pieces of an unreadable element would look like readable texts.
        separator if separator.is_empty() || is_unreadable(whole) => vec![string(whole)],
        separator => whole.split(separator).map(string).collect(),
    }))
}

/// The maximum number of bytes of a text that is joined from two texts. Without it, a variable that
/// a call makes longer could double with each call.
pub const MAX_JOINED: usize = 1 << 20;

pub(super) fn concat(args: &[&Value]) -> BuiltinResult {
    let (Value::String(first), Value::String(second)) = (args[0], args[1]) else {
        return Err(confused());
    };
    if first.len() + second.len() > MAX_JOINED {
        return Err(Fault::TooLong);
    }
    Ok(Value::String([&**first, &**second].concat().into()))
}

pub(super) fn ends_with(args: &[&Value]) -> BuiltinResult {
    let (whole, part) = two_texts(args)?;
    Ok(Value::Bool(!part.is_empty() && whole.ends_with(part)))
}

pub(super) fn glob(args: &[&Value]) -> BuiltinResult {
    let (text, pattern) = two_texts(args)?;
    Ok(Value::Bool(glob_matches(text, pattern)))
}

/// One token of a glob pattern.
#[derive(PartialEq)]
enum GlobToken {
    Char(char),
    One,
    Run,
    AnyRun,
}

/// Matches the pattern with a set of positions, in time proportional to the pattern's length times
/// the text's length.
fn glob_matches(text: &str, pattern: &str) -> bool {
    let mut tokens = Vec::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        tokens.push(match c {
            '?' => GlobToken::One,
            '*' if chars.next_if_eq(&'*').is_some() => GlobToken::AnyRun,
            '*' => GlobToken::Run,
            c => GlobToken::Char(c),
        });
    }
    let skips = |token: &GlobToken| matches!(token, GlobToken::Run | GlobToken::AnyRun);
    let mut here = vec![false; tokens.len() + 1];
    let close = |set: &mut [bool]| {
        for (i, token) in tokens.iter().enumerate() {
            set[i + 1] |= set[i] && skips(token);
        }
    };
    here[0] = true;
    close(&mut here);
    let mut next = here.clone();
    for c in text.chars() {
        next.fill(false);
        for (i, token) in tokens.iter().enumerate().filter(|(i, _)| here[*i]) {
            match token {
                GlobToken::Char(expected) => next[i + 1] |= *expected == c,
                GlobToken::One => next[i + 1] |= c != '/',
                GlobToken::Run => next[i] |= c != '/',
                GlobToken::AnyRun => next[i] = true,
            }
        }
        close(&mut next);
        std::mem::swap(&mut here, &mut next);
    }
    here[tokens.len()]
}

pub(super) fn file_name(args: &[&Value]) -> BuiltinResult {
    Ok(string(path::file_name(text(&args[0])?)))
}

pub(super) fn extension(args: &[&Value]) -> BuiltinResult {
    Ok(match path::file_name(text(&args[0])?).rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && !extension.is_empty() => string(extension),
        _ => Value::None,
    })
}

pub(super) fn parent(args: &[&Value]) -> BuiltinResult {
    let path = text(&args[0])?;
    // The parent of an unreadable path is as unknown as the path itself.
    Ok(Value::Path(if is_unreadable(path) { path } else { path::parent(path) }.into()))
}

pub(super) fn email_domain(args: &[&Value]) -> BuiltinResult {
    let text = text(&args[0])?;
    let domain = super::extract::address(text).map(|(_, domain)| domain);
    Ok(domain.map_or(Value::None, |domain| string(&domain.to_ascii_lowercase())))
}

pub(super) fn number(args: &[&Value]) -> BuiltinResult {
    Ok(decimal::parse(text(&args[0])?).map_or(Value::None, Value::Decimal))
}

pub(super) fn email_local(args: &[&Value]) -> BuiltinResult {
    let local = super::extract::address(text(&args[0])?).map(|(local, _)| local);
    Ok(local.map_or(Value::None, string))
}

/// Returns the text of a value. The second argument has the names of its enum's variants.
pub(super) fn shown(args: &[&Value]) -> BuiltinResult {
    Ok(match args[0] {
        Value::Bool(true) => string("true"),
        Value::Bool(false) => string("false"),
        Value::Int(number) => string(&number.to_string()),
        Value::Decimal(units) => string(&decimal::format(*units)),
        Value::Path(path) => Value::String(path.clone()),
        Value::Url(url) => Value::String(url.text.clone()),
        Value::Enum(variant) => match args[1] {
            Value::List(names) => match names.get(*variant as usize) {
                Some(name @ Value::String(_)) => name.clone(),
                _ => return Err(confused()),
            },
            _ => return Err(confused()),
        },
        _ => return Err(confused()),
    })
}

/// Returns the path that a text denotes as an argument of a call. An unreadable element is not a
/// path, and neither is a text that contains one: after a folder it would otherwise count as a path
/// in that folder.
pub(super) fn read_path(args: &[&Value]) -> BuiltinResult {
    let (Value::String(text), Value::Path(workspace)) = (args[0], args[1]) else {
        return Err(confused());
    };
    if super::extract::unreadable::holds_unreadable(text) {
        return Ok(Value::None);
    }
    Ok(path::normalise(workspace, text).map_or(Value::None, |path| Value::Path(path.into())))
}

pub(super) fn version_at_least(args: &[&Value]) -> BuiltinResult {
    let (version, least) = two_texts(args)?;
    let order = version_parts(version).zip(version_parts(least)).map(|(a, b)| a.cmp(&b));
    Ok(Value::Bool(order.is_some_and(Ordering::is_ge)))
}

/// Returns the numbers of a version without trailing zeros, true if it is a release, and the parts
/// of its pre-release.
fn version_parts(text: &str) -> Option<(Vec<u64>, bool, Vec<PreRelease<'_>>)> {
    let text = text.strip_prefix('v').unwrap_or(text);
    // Build metadata does not order versions, as in SemVer.
    let text = text.split_once('+').map_or(text, |(version, _)| version);
    let (numbers, pre) = match text.split_once('-') {
        Some((numbers, pre)) => (numbers, Some(pre)),
        None => (text, None),
    };
    let number = |part: &str| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| part.parse().ok())?
    };
    let mut numbers: Vec<u64> = numbers.split('.').map(number).collect::<Option<_>>()?;
    // `1` and `1.0` are the same version.
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    let part = |part| number(part).map_or(PreRelease::Word(part), PreRelease::Number);
    let parts = pre.map(|pre| pre.split('.').map(part).collect()).unwrap_or_default();
    Some((numbers, pre.is_none(), parts))
}

/// A part of a pre-release. Numbers sort before words.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum PreRelease<'a> {
    Number(u64),
    Word(&'a str),
}

pub(super) fn decimal(args: &[&Value]) -> BuiltinResult {
    let Value::Int(number) = args[0] else {
        return Err(confused());
    };
    let units = number.checked_mul(DECIMAL_ONE).ok_or(Fault::Overflow("decimal"))?;
    Ok(Value::Decimal(units))
}

pub(super) fn floor(args: &[&Value]) -> BuiltinResult {
    let Value::Decimal(units) = args[0] else {
        return Err(confused());
    };
    Ok(Value::Int(decimal::floor(*units)))
}

pub(super) fn round(args: &[&Value]) -> BuiltinResult {
    let Value::Decimal(units) = args[0] else {
        return Err(confused());
    };
    Ok(Value::Int(decimal::round(*units)))
}

/// Returns the results of an extractor on a string, or on the strings of a `json` including its
/// keys. Each result occurs once, in order.
pub(super) fn extracted(args: &[&Value], extract: Extractor) -> BuiltinResult {
    let mut seen = std::collections::HashSet::new();
    let mut found = Vec::new();
    extract_from(args, extract, &mut |part| {
        if seen.insert(part.to_owned()) {
            found.push(string(part));
        }
    })?;
    Ok(Value::List(found))
}

/// Returns the results of an extractor as `extracted` does, with repetitions.
pub(super) fn sequence(args: &[&Value], extract: Extractor) -> BuiltinResult {
    let mut found = Vec::new();
    extract_from(args, extract, &mut |part| found.push(string(part)))?;
    Ok(Value::List(found))
}

fn extract_from(args: &[&Value], extract: Extractor, emit: EmitText) -> Result<(), Fault> {
    match args[0] {
        Value::String(text) => extract(text, emit),
        Value::Json(json) => strings_of(json, &mut |text| extract(text, emit)),
        // What is missing in a `json`.
        Value::None => {}
        _ => return Err(confused()),
    }
    Ok(())
}

fn strings_of(json: &Json, visit: &mut dyn FnMut(&str)) {
    match json {
        Json::String(text) => visit(text),
        Json::Array(items) => items.iter().for_each(|item| strings_of(item, visit)),
        Json::Object(members) => members.iter().for_each(|(key, value)| {
            visit(key);
            strings_of(value, visit);
        }),
        _ => {}
    }
}

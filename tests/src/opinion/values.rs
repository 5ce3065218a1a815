//! Values as terms of a solver: numbers and texts as they are, collections element by element.

use super::Script;
use guard_compiler::hir::{Program, Type};

/// The kind of a number. Decimals are in units of 10⁻⁶.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberKind {
    Int,
    Decimal,
    Other,
}

/// A value.
#[derive(Debug, Clone)]
pub(crate) enum SmtVal {
    Number(NumberKind, String),
    Bool(String),
    Text(String),
    /// Whether there is one, and which.
    Option(String, Box<SmtVal>),
    Record(Vec<SmtVal>),
    /// How many, and the elements of which those below that count are there.
    List(String, Vec<SmtVal>),
    /// Whether it is there, and which; no two that are there are equal.
    Set(Vec<(String, SmtVal)>),
    /// The same with keys.
    Map(Vec<(String, String, SmtVal)>),
    /// The missing option.
    None,
}

pub(crate) fn and(parts: &[String]) -> String {
    joined("and", "true", parts)
}

pub(crate) fn or(parts: &[String]) -> String {
    joined("or", "false", parts)
}

fn joined(word: &str, neutral: &str, parts: &[String]) -> String {
    let parts: Vec<&str> =
        parts.iter().map(String::as_str).filter(|part| *part != neutral).collect();
    match parts[..] {
        [] => neutral.into(),
        [only] => only.into(),
        _ => format!("({word} {})", parts.join(" ")),
    }
}

pub(crate) fn not(condition: &str) -> String {
    match condition {
        "true" => "false".into(),
        "false" => "true".into(),
        _ => format!("(not {condition})"),
    }
}

pub(crate) fn number(number: i64) -> String {
    if number < 0 { format!("(- {})", number.unsigned_abs()) } else { number.to_string() }
}

/// Within 64 bits.
pub(crate) fn fits_64(term: &str) -> String {
    between(term, None, None)
}

/// A number is within these ends, or else within 64 bits.
fn between(term: &str, min: Option<i64>, max: Option<i64>) -> String {
    let min = number(min.unwrap_or(i64::MIN));
    let max = number(max.unwrap_or(i64::MAX));
    format!("(and (<= {min} {term}) (<= {term} {max}))")
}

impl Script {
    /// Any value of a type, with collections of so many elements at most.
    pub fn any(&mut self, program: &Program, ty: &Type, most: usize) -> Option<SmtVal> {
        let bounded = |script: &mut Script, kind, min: Option<i64>, max: Option<i64>| {
            let name = script.declare("Int");
            script.assert(&between(&name, min, max));
            SmtVal::Number(kind, name)
        };
        let size = |max: &Option<u64>| max.map_or(most, |max| most.min(max as usize));
        Some(match ty {
            Type::Bool => SmtVal::Bool(self.declare("Bool")),
            Type::Int(min, max) => bounded(self, NumberKind::Int, *min, *max),
            Type::Decimal(min, max) => bounded(self, NumberKind::Decimal, *min, *max),
            Type::Duration(min, max) => bounded(self, NumberKind::Other, *min, *max),
            Type::Enum(id) => {
                let last = program.enums[*id].variants.len() as i64 - 1;
                bounded(self, NumberKind::Other, Some(0), Some(last))
            }
            Type::String(bounds) => {
                let name = self.declare("String");
                let fits = self.fits(program, ty, &SmtVal::Text(name.clone()))?;
                if !bounds.patterns.is_empty() {
                    return None;
                }
                self.assert(&fits);
                SmtVal::Text(name)
            }
            Type::Option(of) => {
                let some = self.declare("Bool");
                SmtVal::Option(some, Box::new(self.any(program, of, most)?))
            }
            Type::Record(id) => {
                let fields = program.records[*id].fields.iter();
                SmtVal::Record(
                    fields
                        .map(|field| self.any(program, &field.ty, most))
                        .collect::<Option<_>>()?,
                )
            }
            Type::List(of, max) => {
                let len = self.declare("Int");
                let size = size(max);
                self.assert(&format!("(and (<= 0 {len}) (<= {len} {size}))"));
                let items = (0..size).map(|_| self.any(program, of, most));
                SmtVal::List(len, items.collect::<Option<_>>()?)
            }
            Type::Set(of, max) => {
                let mut items: Vec<(String, SmtVal)> = Vec::new();
                for _ in 0..size(max) {
                    let item = (self.declare("Bool"), self.any(program, of, most)?);
                    for (there, other) in &items {
                        let same = self.same(&item.1, other)?;
                        let both = and(&[item.0.clone(), there.clone(), same]);
                        self.assert(&not(&both));
                    }
                    items.push(item);
                }
                SmtVal::Set(items)
            }
            Type::Map(_, of, max) => {
                let mut entries: Vec<(String, String, SmtVal)> = Vec::new();
                for _ in 0..size(max) {
                    let entry = (
                        self.declare("Bool"),
                        self.declare("String"),
                        self.any(program, of, most)?,
                    );
                    for (there, key, _) in &entries {
                        let same = format!("(= {key} {})", entry.1);
                        self.assert(&not(&and(&[entry.0.clone(), there.clone(), same])));
                    }
                    entries.push(entry);
                }
                SmtVal::Map(entries)
            }
            _ => return None,
        })
    }

    /// Returns the condition that a value satisfies a type.
    pub fn fits(&mut self, program: &Program, ty: &Type, value: &SmtVal) -> Option<String> {
        Some(match (ty, value) {
            (Type::Option(_), SmtVal::None) => "true".into(),
            (Type::Option(of), SmtVal::Option(some, inner)) => {
                or(&[not(some), self.fits(program, of, inner)?])
            }
            (Type::Option(of), value) => self.fits(program, of, value)?,
            (ty, SmtVal::Option(some, inner)) => {
                and(&[some.clone(), self.fits(program, ty, inner)?])
            }
            (Type::Bool, SmtVal::Bool(_)) => "true".into(),
            (
                Type::Int(min, max) | Type::Decimal(min, max) | Type::Duration(min, max),
                SmtVal::Number(_, term),
            ) => between(term, *min, *max),
            (Type::Enum(_), SmtVal::Number(..)) => "true".into(),
            (Type::String(bounds), SmtVal::Text(text)) => {
                match (bounds.max_chars, bounds.max_bytes) {
                    _ if !bounds.patterns.is_empty() => return None,
                    (None, None) => "true".into(),
                    (Some(max), None) => format!("(<= (str.len {text}) {max})"),
                    _ => return None,
                }
            }
            (Type::Record(id), SmtVal::Record(values)) => {
                let fields = program.records[*id].fields.iter().zip(values);
                let fits = fields.map(|(field, value)| self.fits(program, &field.ty, value));
                and(&fits.collect::<Option<Vec<_>>>()?)
            }
            (Type::List(of, max), SmtVal::List(len, items)) => {
                let mut fits = vec![max.map_or("true".into(), |max| format!("(<= {len} {max})"))];
                for (at, item) in items.iter().enumerate() {
                    fits.push(or(&[format!("(<= {len} {at})"), self.fits(program, of, item)?]));
                }
                and(&fits)
            }
            (Type::Set(of, max), SmtVal::Set(items)) => {
                let there: Vec<&String> = items.iter().map(|(there, _)| there).collect();
                let mut fits = vec![at_most(&there, *max)];
                for (there, item) in items {
                    fits.push(or(&[not(there), self.fits(program, of, item)?]));
                }
                and(&fits)
            }
            (Type::Map(_, of, max), SmtVal::Map(entries)) => {
                let there: Vec<&String> = entries.iter().map(|(there, ..)| there).collect();
                let mut fits = vec![at_most(&there, *max)];
                for (there, _, value) in entries {
                    fits.push(or(&[not(there), self.fits(program, of, value)?]));
                }
                and(&fits)
            }
            (Type::Map(..) | Type::List(..), SmtVal::Set(items)) if items.is_empty() => {
                "true".into()
            }
            _ => return None,
        })
    }

    /// Returns the condition that two values are the same. Two missing options are the same here.
    pub fn same(&mut self, a: &SmtVal, b: &SmtVal) -> Option<String> {
        Some(match (a, b) {
            (SmtVal::None, SmtVal::None) => "true".into(),
            (SmtVal::Option(some, _), SmtVal::None) | (SmtVal::None, SmtVal::Option(some, _)) => {
                not(some)
            }
            (SmtVal::None, _) | (_, SmtVal::None) => "false".into(),
            (SmtVal::Option(has_a, a), SmtVal::Option(has_b, b)) => {
                let same = self.same(a, b)?;
                let both = and(&[has_a.clone(), has_b.clone(), same]);
                or(&[both, and(&[not(has_a), not(has_b)])])
            }
            (SmtVal::Option(some, a), b) | (b, SmtVal::Option(some, a)) => {
                and(&[some.clone(), self.same(a, b)?])
            }
            (SmtVal::Number(_, a), SmtVal::Number(_, b)) | (SmtVal::Text(a), SmtVal::Text(b)) => {
                format!("(= {a} {b})")
            }
            (SmtVal::Bool(a), SmtVal::Bool(b)) => format!("(= {a} {b})"),
            (SmtVal::Record(a), SmtVal::Record(b)) => {
                let same = a.iter().zip(b).map(|(a, b)| self.same(a, b));
                and(&same.collect::<Option<Vec<_>>>()?)
            }
            (SmtVal::List(len_a, a), SmtVal::List(len_b, b)) => {
                let mut same = vec![format!("(= {len_a} {len_b})")];
                for (at, (a, b)) in a.iter().zip(b).enumerate() {
                    same.push(or(&[format!("(<= {len_a} {at})"), self.same(a, b)?]));
                }
                and(&same)
            }
            _ => return None,
        })
    }

    /// The first where the condition holds, the second elsewhere.
    pub fn choose(&mut self, condition: &str, a: &SmtVal, b: &SmtVal) -> Option<SmtVal> {
        let mut ite =
            |sort, a: &str, b: &str| self.define(sort, format!("(ite {condition} {a} {b})"));
        Some(match (a, b) {
            (SmtVal::Number(kind, a), SmtVal::Number(other, b)) if kind == other => {
                SmtVal::Number(*kind, ite("Int", a, b))
            }
            (SmtVal::Bool(a), SmtVal::Bool(b)) => SmtVal::Bool(ite("Bool", a, b)),
            (SmtVal::Text(a), SmtVal::Text(b)) => SmtVal::Text(ite("String", a, b)),
            (SmtVal::None, SmtVal::None) => SmtVal::None,
            (SmtVal::Option(has_a, a), SmtVal::Option(has_b, b)) => {
                let some = ite("Bool", has_a, has_b);
                SmtVal::Option(some, Box::new(self.choose(condition, a, b)?))
            }
            (SmtVal::Option(some, a), SmtVal::None) => {
                SmtVal::Option(and(&[condition.into(), some.clone()]), a.clone())
            }
            (SmtVal::None, SmtVal::Option(some, b)) => {
                SmtVal::Option(and(&[not(condition), some.clone()]), b.clone())
            }
            (a, SmtVal::None) => SmtVal::Option(condition.into(), Box::new(a.clone())),
            (SmtVal::None, b) => SmtVal::Option(not(condition), Box::new(b.clone())),
            (SmtVal::Option(some, a), b) => {
                let some = ite("Bool", some, "true");
                SmtVal::Option(some, Box::new(self.choose(condition, a, b)?))
            }
            (a, SmtVal::Option(some, b)) => {
                let some = ite("Bool", "true", some);
                SmtVal::Option(some, Box::new(self.choose(condition, a, b)?))
            }
            (SmtVal::Record(a), SmtVal::Record(b)) => {
                let fields = a.iter().zip(b).map(|(a, b)| self.choose(condition, a, b));
                SmtVal::Record(fields.collect::<Option<_>>()?)
            }
            (SmtVal::List(len_a, a), SmtVal::List(len_b, b)) => {
                let len = ite("Int", len_a, len_b);
                let most = a.len().max(b.len());
                let items = (0..most).map(|at| match (a.get(at), b.get(at)) {
                    (Some(a), Some(b)) => self.choose(condition, a, b),
                    (a, b) => a.or(b).cloned(),
                });
                SmtVal::List(len, items.collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }
}

fn at_most(there: &[&String], max: Option<u64>) -> String {
    match max {
        Some(max) if (max as usize) < there.len() => {
            format!("(<= {} {max})", count(there))
        }
        _ => "true".into(),
    }
}

/// Returns a term for the number of conditions that are true.
pub(crate) fn count(there: &[&String]) -> String {
    let ones: Vec<String> = there.iter().map(|there| format!("(ite {there} 1 0)")).collect();
    format!("(+ 0 {})", if ones.is_empty() { "0".into() } else { ones.join(" ") })
}

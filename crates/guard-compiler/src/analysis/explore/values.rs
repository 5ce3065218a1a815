//! Values worth trying: boundary values of what a place is held against, what the session has there, and fresh ones.
//!
//! The first value of a place is its plainest one. Fresh values of a class are used in order, since which of them a
//! session takes makes no difference.

pub(crate) mod draw;
mod shapes;
mod texts;

use super::classes::{Class, Classes, Hint, ValuePlace, each_element};
use crate::analysis::reference::ReferenceSession;
use crate::hir::{MapKey, Program, Type};
use guard_plan::json::Json;
use guard_plan::value::{DECIMAL_ONE, Value};
use std::collections::BTreeMap;

/// Most values of one place.
const MOST: usize = 10;
/// The maximum number of variants of an enum that are tried.
pub(super) const MOST_VARIANTS: usize = 12;
/// Most values of a record that are tried.
const MOST_RECORDS: usize = 24;
/// The maximum depth of the values that are made.
const DEPTH: usize = 5;
/// Strings of which it does not matter which they are.
const FRESH: [&str; 2] = ["a", "b"];

/// The maker of values: the program, the classes and the session that it takes them from.
pub(crate) struct Maker<'c, 'p> {
    pub program: &'p Program,
    pub classes: &'c Classes<'p>,
    pub session: &'c ReferenceSession<'p>,
}

impl Maker<'_, '_> {
    /// The values of a place that is declared with a type, the plainest first; at least one where the type has any
    /// that can be found.
    pub fn values(&self, ty: &Type, node: Option<usize>) -> Vec<Value> {
        self.make(ty, node, DEPTH)
    }

    /// JSON for a result of a type, or of none.
    pub fn results(&self, returns: Option<&Type>, node: Option<usize>) -> Vec<Json> {
        match returns {
            Some(ty) if *ty.required() != Type::Json => {
                let values = self.make(ty, node, DEPTH);
                values.iter().map(|v| tidy(self.session.to_json(ty, v))).collect()
            }
            _ => match node {
                Some(node) => self.json(node, DEPTH),
                None => vec![Json::Null],
            },
        }
    }

    fn make(&self, ty: &Type, node: Option<usize>, depth: usize) -> Vec<Value> {
        let class = node.and_then(|node| self.classes.class_of(node));
        let used = class.is_some_and(Class::is_read);
        let values = match ty {
            Type::Bool if used => vec![Value::Bool(true), Value::Bool(false)],
            Type::Bool => vec![Value::Bool(false)],
            Type::Enum(id) => self.variants(*id, used),
            Type::Int(lo, hi) => self.numbers(class, (*lo, *hi), 1, Value::Int),
            Type::Decimal(lo, hi) => self.numbers(class, (*lo, *hi), 10_000, Value::Decimal),
            Type::Duration(lo, hi) => self.numbers(class, (*lo, *hi), 1_000, Value::Duration),
            Type::Time(_) => self.numbers(class, (None, None), 1_000, Value::Time),
            Type::String(bounds) => self.strings(class, node, bounds),
            Type::Path => self.paths(class),
            Type::Url => self.urls(class, node),
            Type::Command => self.commands(class, node),
            Type::Option(inner) => {
                let mut values = self.make(inner, node, depth);
                if used || values.is_empty() {
                    values.push(Value::None);
                } else {
                    values = vec![Value::None];
                }
                return values;
            }
            Type::Record(id) => self.records(*id, depth),
            Type::List(element, _) | Type::Set(element, _) => self.lists(ty, element, node, depth),
            Type::Map(key, value, _) => self.maps(*key, value, node, depth),
            Type::Json => {
                // `null` cannot be written as an argument in a test.
                let json =
                    node.map_or_else(|| vec![Json::Bool(true)], |node| self.json(node, depth));
                json.into_iter().map(|json| Value::Json(Box::new(json))).collect()
            }
            Type::Never | Type::Error => Vec::new(),
        };
        let most = if used { MOST.max(MOST_RECORDS) } else { 1 };
        let mut kept = Vec::new();
        for value in values {
            if kept.len() == most {
                break;
            }
            if !kept.contains(&value) && self.session.is_of(ty, &value) {
                kept.push(value);
            }
        }
        kept
    }

    fn variants(&self, id: usize, used: bool) -> Vec<Value> {
        let count = self.program.enums[id].variants.len().min(if used { MOST_VARIANTS } else { 1 });
        (0..count as u32).map(Value::Enum).collect()
    }

    /// The numbers just below, at and above every boundary.
    fn numbers(
        &self,
        class: Option<&Class>,
        (lo, hi): (Option<i64>, Option<i64>),
        unit: i64,
        wrap: fn(i64) -> Value,
    ) -> Vec<Value> {
        let unit_size = if unit == 10_000 { DECIMAL_ONE } else { 1 };
        let plain = match wrap(0) {
            Value::Time(_) => self.session.clock_at().0,
            _ => lo.unwrap_or(unit_size.min(hi.unwrap_or(unit_size))).max(lo.unwrap_or(i64::MIN)),
        };
        let mut numbers = vec![plain];
        let Some(class) = class.filter(|class| class.is_read()) else {
            return vec![wrap(plain)];
        };
        let mut around = |bound: i64| {
            numbers.extend([bound, bound.saturating_add(unit), bound.saturating_sub(unit)]);
        };
        for hint in &class.hints {
            match hint {
                Hint::Is(value) => each_element(value, &mut |v| around(number(v))),
                Hint::Gives(e) => {
                    if let Ok(value) = self.session.closed(e, &|_| None) {
                        each_element(&value, &mut |v| around(number(v)));
                    }
                }
                Hint::Moves(var, sign) => {
                    self.gaps(*var, *sign).into_iter().for_each(&mut around);
                }
                Hint::Pays(at) => {
                    let budget = self.program.units[*at].budget;
                    let left = budget.map(|b| b.saturating_sub(self.session.spent_of(*at)));
                    left.into_iter().for_each(&mut around);
                }
                _ => {}
            }
        }
        for value in self.present(class) {
            each_element(&value, &mut |v| {
                if !matches!(v, Value::None) {
                    numbers.push(number(v));
                }
            });
        }
        numbers.extend([lo, hi].into_iter().flatten());
        numbers.extend(self.ends(class));
        let within = |n: &i64| lo.is_none_or(|lo| *n >= lo) && hi.is_none_or(|hi| *n <= hi);
        numbers.retain(within);
        numbers.into_iter().map(wrap).collect()
    }

    /// The ends of the ranges of all places of a class.
    fn ends(&self, class: &Class) -> Vec<i64> {
        let ends = |node: &usize| match self.classes.type_of(*node) {
            Some(Type::Int(lo, hi) | Type::Decimal(lo, hi) | Type::Duration(lo, hi)) => [lo, hi],
            _ => [None, None],
        };
        class.members.iter().flat_map(ends).flatten().collect()
    }

    /// Returns the distances of a variable from its boundaries, in the direction of a change. Boundaries that lie in
    /// the other direction give negative distances.
    fn gaps(&self, var: usize, sign: i64) -> Vec<i64> {
        let at = number(self.session.var(var));
        let (lo, hi) = match self.program.state[var].ty {
            Type::Int(lo, hi) | Type::Decimal(lo, hi) | Type::Duration(lo, hi) => (lo, hi),
            _ => (None, None),
        };
        let mut bounds: Vec<i64> = [lo, hi].into_iter().flatten().collect();
        if let Some(class) = self.classes.class(&ValuePlace::State(var)) {
            for hint in &class.hints {
                if let Hint::Is(value) = hint {
                    bounds.push(number(value));
                }
            }
        }
        bounds.iter().map(|bound| bound.saturating_sub(at).saturating_mul(sign)).collect()
    }

    /// Returns the values that the session holds in the places of a class.
    fn present(&self, class: &Class) -> Vec<Value> {
        let mut present = Vec::new();
        for node in &class.members {
            for value in self.at(&self.classes.places[*node], 3) {
                if value != Value::None && !present.contains(&value) {
                    present.push(value);
                }
            }
        }
        present
    }

    fn at(&self, place: &ValuePlace, depth: usize) -> Vec<Value> {
        if depth == 0 {
            return Vec::new();
        }
        let below = |place: usize| self.at(&self.classes.places[place], depth - 1);
        match place {
            ValuePlace::State(var) => vec![self.session.var(*var).clone()],
            ValuePlace::Param(tool, at) => {
                let mine = self.session.past().filter(|p| p.tool == *tool && p.success);
                mine.filter_map(|p| p.args.get(*at as usize).cloned()).collect()
            }
            ValuePlace::Field(record, at) => {
                let fact = self.program.facts.iter().position(|f| f.row == *record);
                let rows = fact.into_iter().flat_map(|fact| self.session.rows_of(fact));
                rows.filter_map(|row| row.get(*at as usize).cloned()).collect()
            }
            ValuePlace::Elem(base) => {
                let mut elements = Vec::new();
                for value in below(*base) {
                    if matches!(value, Value::List(_) | Value::Set(_) | Value::Map(_)) {
                        each_element(&value, &mut |v| elements.push(v.clone()));
                    }
                }
                elements
            }
            ValuePlace::Key(base) => {
                let keys = |value: Value| match value {
                    Value::Map(entries) => entries.into_keys().map(Value::String).collect(),
                    _ => Vec::new(),
                };
                below(*base).into_iter().flat_map(keys).collect()
            }
            _ => Vec::new(),
        }
    }

    fn records(&self, id: usize, depth: usize) -> Vec<Value> {
        if depth == 0 {
            return Vec::new();
        }
        let mut fields = Vec::new();
        for (at, field) in self.program.records[id].fields.iter().enumerate() {
            let node = self.classes.find(&ValuePlace::Field(id, at as u32));
            fields.push(self.make(&field.ty, node, depth - 1));
        }
        let rows = combinations(&fields, MOST_RECORDS);
        rows.into_iter().map(Value::Record).collect()
    }

    fn elements(&self, node: Option<usize>, element: &Type, depth: usize) -> Vec<Value> {
        if depth == 0 {
            return Vec::new();
        }
        let part = self.classes.part(node, |place| matches!(place, ValuePlace::Elem(_)));
        self.make(element, part, depth - 1)
    }

    fn lists(&self, ty: &Type, element: &Type, node: Option<usize>, depth: usize) -> Vec<Value> {
        let elements = self.elements(node, element, depth);
        let mut lists: Vec<Vec<Value>> = vec![Vec::new()];
        lists.extend(elements.iter().take(6).map(|v| vec![v.clone()]));
        if let [a, b, ..] = elements.as_slice() {
            lists.push(vec![a.clone(), b.clone()]);
        }
        let wrap = |items: Vec<Value>| match ty {
            Type::Set(..) => Value::Set(items.into_iter().collect()),
            _ => Value::List(items),
        };
        lists.into_iter().map(wrap).collect()
    }

    fn maps(&self, key: MapKey, element: &Type, node: Option<usize>, depth: usize) -> Vec<Value> {
        let texts = self.key_texts(key);
        let mut maps = vec![BTreeMap::new()];
        for (at, value) in self.elements(node, element, depth).into_iter().take(4).enumerate() {
            // The plainest value under each key, every other under the first.
            let keys = if at == 0 { &texts[..] } else { &texts[..1] };
            let entry = |key: &String| BTreeMap::from([(key.as_str().into(), value.clone())]);
            maps.extend(keys.iter().map(entry));
        }
        maps.into_iter().map(Value::Map).collect()
    }

    /// A few keys of a map, as texts; at least one.
    pub(crate) fn key_texts(&self, key: MapKey) -> Vec<String> {
        match key {
            MapKey::Text => vec![FRESH[0].to_string()],
            MapKey::Bool => vec!["true".to_string(), "false".to_string()],
            MapKey::Int => ["1", "0", "2"].map(str::to_string).to_vec(),
            MapKey::Enum(id) => self.program.enums[id].variants.iter().take(4).cloned().collect(),
        }
    }
}

/// All combinations if they are few; else the plainest, and what differs from it in one place or two.
pub(crate) fn combinations<T: Clone>(lists: &[Vec<T>], most: usize) -> Vec<Vec<T>> {
    if lists.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    let product = lists.iter().try_fold(1usize, |n, list| n.checked_mul(list.len()));
    if product.is_some_and(|product| product <= most) {
        let mut rows: Vec<Vec<T>> = vec![Vec::new()];
        for list in lists {
            let with = |row: &Vec<T>, value: &T| {
                let mut row = row.clone();
                row.push(value.clone());
                row
            };
            rows = rows.iter().flat_map(|row| list.iter().map(|v| with(row, v))).collect();
        }
        return rows;
    }
    let plain: Vec<T> = lists.iter().map(|list| list[0].clone()).collect();
    let mut rows = vec![plain.clone()];
    // The first alternative of each, then the second: a cut takes the same of all.
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    for nth in 1..longest {
        for (at, list) in lists.iter().enumerate() {
            if let Some(value) = list.get(nth) {
                let mut row = plain.clone();
                row[at] = value.clone();
                rows.push(row);
            }
        }
    }
    for a in 0..lists.len() {
        for b in a + 1..lists.len() {
            for x in &lists[a][1..] {
                for y in &lists[b][1..] {
                    let mut row = plain.clone();
                    (row[a], row[b]) = (x.clone(), y.clone());
                    rows.push(row);
                }
            }
        }
    }
    rows.truncate(most.max(lists.iter().map(Vec::len).sum()));
    rows
}

/// Paths of the workspace as a person writes them, and nothing said of what is missing.
pub(crate) fn tidy(json: Json) -> Json {
    match json {
        Json::String(text) => match text.strip_prefix("/workspace/") {
            Some(rest) if !rest.is_empty() => Json::string(rest),
            _ => Json::String(text),
        },
        Json::Array(items) => Json::Array(items.into_iter().map(tidy).collect()),
        Json::Object(members) => {
            let said = members.into_iter().filter(|(_, value)| *value != Json::Null);
            Json::Object(said.map(|(k, v)| (k, tidy(v))).collect())
        }
        other => other,
    }
}

fn number(value: &Value) -> i64 {
    match value {
        Value::Int(v) | Value::Decimal(v) | Value::Duration(v) | Value::Time(v) => *v,
        _ => 0,
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) | Value::Path(text) => Some(text.to_string()),
        Value::Url(url) => Some(url.text.to_string()),
        Value::Json(json) => json.as_str().map(String::from),
        _ => None,
    }
}

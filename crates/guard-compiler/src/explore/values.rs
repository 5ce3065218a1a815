//! Values worth trying: boundary values of what a place is held against, what the session has there, and fresh ones.
//!
//! The first value of a place is its plainest one. Fresh values of a class are used in order, since which of them a
//! session takes makes no difference.

use super::classes::{Class, Classes, Hint, Place, UrlKind, each_element};
use super::sample;
use crate::hir::{Program, StringBounds, Type};
use crate::reference::Reference;
use guard_plan::json::Json;
use guard_plan::value::{DECIMAL_ONE, Value};
use std::collections::BTreeMap;

/// Most values of one place.
const MOST: usize = 10;
/// Most values of a record that are tried.
const MOST_RECORDS: usize = 24;
/// How deep values are made.
const DEPTH: usize = 5;
/// Strings of which it does not matter which they are.
const FRESH: [&str; 2] = ["a", "b"];

/// What values are made of.
pub(crate) struct Maker<'c, 'p> {
    pub program: &'p Program,
    pub classes: &'c Classes<'p>,
    pub session: &'c Reference<'p>,
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
        let used = class.is_some_and(|class| class.used || class.opaque);
        let mut values = match ty {
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
            Type::Option(of) => {
                let mut values = self.make(of, node, depth);
                if used || values.is_empty() {
                    values.push(Value::None);
                } else {
                    values = vec![Value::None];
                }
                return values;
            }
            Type::Record(id) => self.records(*id, depth),
            Type::List(of, _) | Type::Set(of, _) => self.lists(ty, of, node, depth),
            Type::Map(of, _) => self.maps(of, node, depth),
            Type::Json => {
                let json = node.map_or_else(|| vec![Json::Null], |node| self.json(node, depth));
                json.into_iter().map(|json| Value::Json(Box::new(json))).collect()
            }
            Type::Never | Type::Error => Vec::new(),
        };
        let mut kept = Vec::new();
        values.retain(|value| self.session.is_of(ty, value));
        for value in values {
            if !kept.contains(&value) {
                kept.push(value);
            }
        }
        kept.truncate(if used { MOST.max(MOST_RECORDS) } else { 1 });
        kept
    }

    fn variants(&self, id: usize, used: bool) -> Vec<Value> {
        let count = self.program.enums[id].variants.len().min(if used { 12 } else { 1 });
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
        let one = if unit == 10_000 { DECIMAL_ONE } else { 1 };
        let plain = match wrap(0) {
            Value::Time(_) => self.session.clock_at().0,
            _ => lo.unwrap_or(one.min(hi.unwrap_or(one))).max(lo.unwrap_or(i64::MIN)),
        };
        let mut numbers = vec![plain];
        let Some(class) = class.filter(|class| class.used || class.opaque) else {
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

    /// How far a variable is from its boundaries, in the direction of a change.
    fn gaps(&self, var: usize, sign: i64) -> Vec<i64> {
        let at = number(self.session.var(var));
        let (lo, hi) = match self.program.state[var].ty {
            Type::Int(lo, hi) | Type::Decimal(lo, hi) | Type::Duration(lo, hi) => (lo, hi),
            _ => (None, None),
        };
        let mut bounds: Vec<i64> = [lo, hi].into_iter().flatten().collect();
        if let Some(class) = self.classes.class(&Place::State(var)) {
            for hint in &class.hints {
                if let Hint::Is(value) = hint {
                    bounds.push(number(value));
                }
            }
        }
        bounds.iter().map(|bound| bound.saturating_sub(at).saturating_mul(sign)).collect()
    }

    /// What the session has in the places of a class.
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

    fn at(&self, place: &Place, depth: usize) -> Vec<Value> {
        if depth == 0 {
            return Vec::new();
        }
        let below = |of: usize| self.at(&self.classes.places[of], depth - 1);
        match place {
            Place::State(var) => vec![self.session.var(*var).clone()],
            Place::Param(tool, at) => {
                let mine = self.session.past().filter(|p| p.tool == *tool && p.success);
                mine.filter_map(|p| p.args.get(*at as usize).cloned()).collect()
            }
            Place::Field(record, at) => {
                let fact = self.program.facts.iter().position(|f| f.row == *record);
                let rows = fact.into_iter().flat_map(|fact| self.session.rows_of(fact));
                rows.filter_map(|row| row.get(*at as usize).cloned()).collect()
            }
            Place::Elem(of) => {
                let mut elements = Vec::new();
                for value in below(*of) {
                    if matches!(value, Value::List(_) | Value::Set(_) | Value::Map(_)) {
                        each_element(&value, &mut |v| elements.push(v.clone()));
                    }
                }
                elements
            }
            Place::Key(of) => {
                let keys = |value: Value| match value {
                    Value::Map(entries) => entries.into_keys().map(Value::String).collect(),
                    _ => Vec::new(),
                };
                below(*of).into_iter().flat_map(keys).collect()
            }
            _ => Vec::new(),
        }
    }

    fn texts(&self, class: &Class) -> Vec<String> {
        let mut texts = Vec::new();
        for value in self.present(class) {
            each_element(&value, &mut |v| texts.extend(text(v)));
        }
        texts
    }

    /// The texts that a class is held against.
    fn hinted(&self, class: &Class) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        for hint in &class.hints {
            match hint {
                Hint::Is(value) => each_element(value, &mut |v| texts.extend(text(v))),
                Hint::Begins(begin) => texts.push(format!("{begin}a")),
                Hint::Ends(end) => texts.push(format!("a{end}")),
                Hint::Holds(part) => texts.push(format!("a{part}a")),
                Hint::Globs(pattern) => {
                    texts.push(pattern.replace("**", "a").replace('*', "a").replace('?', "a"));
                }
                Hint::Matches(pattern) => texts.extend(sample::of(pattern)),
                Hint::Gives(e) => {
                    if let Ok(value) = self.session.closed(e, &|_| None) {
                        each_element(&value, &mut |v| texts.extend(text(v)));
                    }
                }
                _ => {}
            }
        }
        texts
    }

    fn fresh(&self, known: &[String]) -> Option<String> {
        FRESH.iter().find(|f| !known.iter().any(|k| k == *f)).map(|f| (*f).to_string())
    }

    fn strings(
        &self,
        class: Option<&Class>,
        node: Option<usize>,
        bounds: &StringBounds,
    ) -> Vec<Value> {
        let patterned = bounds.patterns.iter().flat_map(|p| sample::two(p));
        let mut texts: Vec<String> = Vec::new();
        match class.filter(|class| class.used || class.opaque) {
            None => {
                texts.push(FRESH[0].to_string());
                texts.extend(patterned);
            }
            Some(class) => {
                texts.extend(self.texts(class));
                texts.extend(self.fresh(&texts));
                texts.extend(self.hinted(class));
                texts.extend(patterned);
                for part in node.map_or(&[][..], |node| self.classes.parts(node)) {
                    texts.extend(self.shaped(*part));
                }
            }
        }
        texts.into_iter().map(|t| Value::String(t.into())).collect()
    }

    /// Texts with a part that is asked for: a length, a domain, something to find.
    fn shaped(&self, part: usize) -> Vec<String> {
        let Some(class) = self.classes.class_of(part) else { return Vec::new() };
        match &self.classes.places[part] {
            Place::Length(_) => {
                let lengths = self.numbers(Some(class), (Some(0), Some(4_096)), 1, Value::Int);
                lengths.iter().map(|n| "a".repeat(number(n) as usize)).collect()
            }
            Place::Domain(_) => {
                let mut domains = self.hinted(class);
                domains.extend(self.texts(class));
                domains.into_iter().map(|d| format!("a@{d}")).collect()
            }
            Place::Found(_, what) => {
                let mut found = vec![sample::found(what).to_string()];
                found.extend(self.hinted(class).iter().map(|t| sample::wrapped(what, t)));
                found
            }
            _ => Vec::new(),
        }
    }

    fn paths(&self, class: Option<&Class>) -> Vec<Value> {
        let below = |name: &str| match name.starts_with('/') {
            true => name.to_string(),
            false => format!("/workspace/{name}"),
        };
        let mut paths = vec![below("a.txt")];
        if let Some(class) = class.filter(|class| class.used || class.opaque) {
            let present: Vec<String> = self.texts(class);
            if present.contains(&paths[0]) {
                paths.push(below("b.txt"));
            }
            for hint in &class.hints {
                if let Hint::Below(base) = hint {
                    paths.push(format!("{}/a.txt", base.trim_end_matches('/')));
                    paths.push("/etc/a.txt".into());
                }
            }
            paths.extend(self.hinted(class).iter().map(|text| below(text)));
            paths.splice(0..0, present);
        }
        let normal = |p: String| {
            guard_plan::path::normalise("/workspace", &p).ok().map(|p| Value::Path(p.into()))
        };
        paths.into_iter().filter_map(normal).collect()
    }

    fn urls(&self, class: Option<&Class>, node: Option<usize>) -> Vec<Value> {
        let mut urls: Vec<String> = Vec::new();
        let parts = node.map_or(&[][..], |node| self.classes.parts(node));
        for part in parts {
            let (Some(of), Place::Url(_, kind)) =
                (self.classes.class_of(*part), &self.classes.places[*part])
            else {
                continue;
            };
            let mut texts = self.texts(of);
            texts.extend(self.hinted(of));
            for text in texts {
                match kind {
                    UrlKind::Host => urls.push(format!("https://{text}/a")),
                    UrlKind::Scheme => urls.push(format!("{text}://a.example/a")),
                    UrlKind::Other => urls.push(format!("https://a.example{text}")),
                }
            }
        }
        urls.push("https://a.example/a".into());
        if let Some(class) = class.filter(|class| class.used || class.opaque) {
            urls.splice(0..0, self.texts(class));
            urls.extend(self.hinted(class));
            if !parts.is_empty() {
                urls.push("http://a.example/a".into());
            }
        }
        let parsed = |u: String| guard_plan::url::Url::parse(&u).ok();
        urls.into_iter().filter_map(parsed).map(|u| Value::Url(Box::new(u))).collect()
    }

    fn records(&self, id: usize, depth: usize) -> Vec<Value> {
        if depth == 0 {
            return Vec::new();
        }
        let mut fields = Vec::new();
        for (at, field) in self.program.records[id].fields.iter().enumerate() {
            let node = self.classes.find(&Place::Field(id, at as u32));
            fields.push(self.make(&field.ty, node, depth - 1));
        }
        let rows = combinations(&fields, MOST_RECORDS);
        rows.into_iter().map(Value::Record).collect()
    }

    fn elements(&self, node: Option<usize>, of: &Type, depth: usize) -> Vec<Value> {
        if depth == 0 {
            return Vec::new();
        }
        let part = |wanted: fn(&Place) -> bool| {
            let parts = node.map_or(&[][..], |node| self.classes.parts(node));
            parts.iter().copied().find(|part| wanted(&self.classes.places[*part]))
        };
        self.make(of, part(|place| matches!(place, Place::Elem(_))), depth - 1)
    }

    fn lists(&self, ty: &Type, of: &Type, node: Option<usize>, depth: usize) -> Vec<Value> {
        let elements = self.elements(node, of, depth);
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

    fn maps(&self, of: &Type, node: Option<usize>, depth: usize) -> Vec<Value> {
        let mut maps = vec![BTreeMap::new()];
        for value in self.elements(node, of, depth).into_iter().take(4) {
            maps.push(BTreeMap::from([(FRESH[0].into(), value)]));
        }
        maps.into_iter().map(Value::Map).collect()
    }

    /// JSON of the shape that is asked for.
    fn json(&self, node: usize, depth: usize) -> Vec<Json> {
        if depth == 0 {
            return vec![Json::Null];
        }
        let places = &self.classes.places;
        let parts = self.classes.parts(node);
        let members: Vec<(&str, usize)> = parts
            .iter()
            .filter_map(|part| match &places[*part] {
                Place::Member(_, name) => Some((name.as_str(), *part)),
                _ => None,
            })
            .collect();
        if !members.is_empty() {
            return self.objects(&members, depth);
        }
        let find = |wanted: fn(&Place) -> bool| parts.iter().find(|part| wanted(&places[**part]));
        let element = find(|place| matches!(place, Place::Elem(_)));
        let key = find(|place| matches!(place, Place::Key(_)));
        if let Some(element) = element {
            let inner = self.json(*element, depth - 1);
            let named = key.and_then(|key| self.classes.class_of(*key)).is_some_and(|c| c.opaque);
            let wrap = |json: Json| match named {
                true => Json::Object(vec![(FRESH[0].into(), json)]),
                false => Json::Array(vec![json]),
            };
            return inner.into_iter().map(wrap).collect();
        }
        let found: Vec<String> = parts.iter().flat_map(|part| self.shaped(*part)).collect();
        if !found.is_empty() {
            return found.iter().map(|text| Json::string(text)).collect();
        }
        let class = self.classes.class_of(node);
        match class.and_then(|class| class.ty.clone()) {
            Some(ty) => {
                let values = self.make(&ty, Some(node), depth - 1);
                values.iter().map(|v| tidy(self.session.to_json(&ty, v))).collect()
            }
            None => {
                let mut texts = class.map(|class| self.hinted(class)).unwrap_or_default();
                texts.insert(0, FRESH[0].into());
                texts.iter().map(|text| Json::string(text)).collect()
            }
        }
    }

    fn objects(&self, members: &[(&str, usize)], depth: usize) -> Vec<Json> {
        let mut names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        let of = |name: &&str| members.iter().find(|(n, _)| n == name).map(|(_, part)| *part);
        let parts: Vec<Vec<Json>> =
            names.iter().filter_map(of).map(|part| self.json(part, depth - 1)).collect();
        let rows = combinations(&parts, MOST_RECORDS);
        let object = |row: Vec<Json>| {
            Json::Object(names.iter().map(|name| (*name).into()).zip(row).collect())
        };
        rows.into_iter().map(object).collect()
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

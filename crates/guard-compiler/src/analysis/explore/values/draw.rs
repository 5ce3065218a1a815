//! Values drawn at random, from few texts and numbers: those that a place is held against, and those of the whole guard.
//!
//! Few values make it likely that two places agree, which is what most conditions ask for.

use super::super::classes::ValuePlace;
use super::super::sample::SampleKind;
use super::{DEPTH, FRESH, Maker, tidy};
use crate::hir::{ExprKind as K, MapKey, Program, Type};
use guard_plan::json::Json;
use guard_plan::random::Rng;
use guard_plan::value::{DECIMAL_ONE, Value};
use std::collections::BTreeMap;

const DAY: i64 = 86_400_000;

/// The constants of a guard.
#[derive(Default)]
pub(crate) struct Constants {
    numbers: Vec<i64>,
    decimals: Vec<i64>,
    spans: Vec<i64>,
    texts: Vec<String>,
}

impl Constants {
    /// All literals of a guard, and the numbers beside them.
    pub fn new(program: &Program) -> Self {
        let mut all = Constants::default();
        all.texts.extend(FRESH.iter().map(|text| (*text).to_string()));
        all.numbers.extend([0, 1, 2, 3]);
        all.decimals.extend([0, DECIMAL_ONE, 100 * DECIMAL_ONE]);
        all.spans.extend([DAY, 1_000]);
        crate::lower::each_expr(program, &mut |root| {
            root.walk(&mut |e| match &e.kind {
                K::Int(n) => all.numbers.extend([*n, n.saturating_add(1), n.saturating_sub(1)]),
                K::Decimal(n) => all.decimals.extend([*n, n.saturating_add(10_000)]),
                K::Duration(n) => all.spans.extend([*n, n.saturating_add(1_000)]),
                K::String(text) => all.texts.push(text.to_string()),
                _ => {}
            });
        });
        for numbers in [&mut all.numbers, &mut all.decimals, &mut all.spans] {
            numbers.sort_unstable();
            numbers.dedup();
        }
        all.texts.sort();
        all.texts.dedup();
        all
    }

    /// A span of time.
    pub fn span(&self, rng: &mut Rng) -> i64 {
        *rng.pick(&self.spans)
    }

    /// The texts, as a user would say all of them at once.
    pub fn said(&self) -> String {
        self.texts.join(" ")
    }
}

impl Maker<'_, '_> {
    /// A value of a place that is declared with a type; none where nothing fits.
    pub fn draw(
        &self,
        ty: &Type,
        node: Option<usize>,
        constants: &Constants,
        rng: &mut Rng,
    ) -> Option<Value> {
        self.drawn(ty, node, constants, rng, DEPTH)
    }

    /// JSON for a result of a type, or of none.
    pub fn draw_result(
        &self,
        returns: Option<&Type>,
        node: Option<usize>,
        constants: &Constants,
        rng: &mut Rng,
    ) -> Option<Json> {
        match (returns, node) {
            (Some(ty), _) if *ty.required() != Type::Json => {
                let value = self.draw(ty, node, constants, rng)?;
                Some(tidy(self.session.to_json(ty, &value)))
            }
            (_, Some(node)) => self.drawn_json(node, constants, rng, DEPTH),
            _ => None,
        }
    }

    fn drawn(
        &self,
        ty: &Type,
        node: Option<usize>,
        constants: &Constants,
        rng: &mut Rng,
        depth: usize,
    ) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        let element = || self.classes.part(node, |place| matches!(place, ValuePlace::Elem(_)));
        let value = match ty {
            Type::Bool => Value::Bool(rng.chance(50)),
            Type::Enum(id) => Value::Enum(rng.below(self.program.enums[*id].variants.len()) as u32),
            Type::Option(_) if rng.chance(15) => Value::None,
            // An option is no level of its own.
            Type::Option(inner) => return self.drawn(inner, node, constants, rng, depth + 1),
            Type::Record(id) => {
                let fields = self.program.records[*id].fields.iter().enumerate();
                let draw = |(at, field): (usize, &crate::hir::Field)| {
                    let node = self.classes.find(&ValuePlace::Field(*id, at as u32));
                    self.drawn(&field.ty, node, constants, rng, depth)
                };
                Value::Record(fields.map(draw).collect::<Option<_>>()?)
            }
            Type::List(of, _) | Type::Set(of, _) => {
                let count = *rng.pick(&[0, 1, 1, 1, 2, 2, 3]);
                let items =
                    (0..count).filter_map(|_| self.drawn(of, element(), constants, rng, depth));
                match ty {
                    Type::Set(..) => Value::Set(items.collect()),
                    _ => Value::List(items.collect()),
                }
            }
            Type::Map(kind, of, _) => {
                let keys = self.classes.part(node, |place| matches!(place, ValuePlace::Key(_)));
                let mut entries = BTreeMap::new();
                for _ in 0..*rng.pick(&[0, 1, 1, 1, 2, 2, 3]) {
                    let key = match kind {
                        MapKey::Text => self.drawn(&Type::string(), keys, constants, rng, depth),
                        kind => {
                            let texts = self.key_texts(*kind);
                            Some(Value::String(rng.pick(&texts).as_str().into()))
                        }
                    };
                    let value = self.drawn(of, element(), constants, rng, depth);
                    if let (Some(Value::String(key)), Some(value)) = (key, value) {
                        entries.insert(key, value);
                    }
                }
                Value::Map(entries)
            }
            Type::Json => {
                let json = node.and_then(|node| self.drawn_json(node, constants, rng, depth));
                Value::Json(Box::new(json.unwrap_or(Json::Null)))
            }
            Type::Never | Type::Error => return None,
            leaf => return self.leaf(leaf, node, constants, rng),
        };
        self.session.is_of(ty, &value).then_some(value)
    }

    /// A number, a text, a path, a url or a time.
    fn leaf(
        &self,
        ty: &Type,
        node: Option<usize>,
        constants: &Constants,
        rng: &mut Rng,
    ) -> Option<Value> {
        let mut known = self.make(ty, node, 1);
        let common: Vec<Value> = match ty {
            Type::Int(..) => constants.numbers.iter().copied().map(Value::Int).collect(),
            Type::Decimal(..) => constants.decimals.iter().copied().map(Value::Decimal).collect(),
            Type::Duration(..) => constants.spans.iter().copied().map(Value::Duration).collect(),
            Type::Time(_) => {
                let now = self.session.clock_at().0;
                let around = |span: &i64| [now - span, now + span];
                let times = constants.spans.iter().flat_map(around);
                times.chain([now]).map(Value::Time).collect()
            }
            Type::String(bounds) => {
                let class = node.and_then(|node| self.classes.class_of(node));
                let of_class = class.map(|c| self.classes.types_of(c)).unwrap_or_default();
                let patterns = of_class.iter().filter_map(|ty| match ty.required() {
                    Type::String(bounds) => Some(&bounds.patterns),
                    _ => None,
                });
                let patterns = patterns.chain([&bounds.patterns]).flatten();
                let samples = &self.classes.samples;
                for pattern in patterns {
                    let texts = samples.texts(SampleKind::Alternatives, pattern);
                    known.extend(texts.iter().map(|t| Value::String(t.as_str().into())));
                }
                let text = |t: &String| Value::String(t.as_str().into());
                constants.texts.iter().map(text).collect()
            }
            _ => Vec::new(),
        };
        known.extend(
            FRESH
                .iter()
                .filter(|_| matches!(ty, Type::String(_)))
                .map(|t| Value::String((*t).into())),
        );
        known.retain(|value| self.session.is_of(ty, value));
        let common: Vec<Value> = common.into_iter().filter(|v| self.session.is_of(ty, v)).collect();
        match (known.len(), common.len()) {
            (0, 0) => None,
            (0, _) => Some(rng.pick(&common).clone()),
            (_, 0) => Some(rng.pick(&known).clone()),
            _ if rng.chance(40) => Some(known[rng.below(known.len().min(2))].clone()),
            _ if rng.chance(65) => Some(rng.pick(&known).clone()),
            _ => Some(rng.pick(&common).clone()),
        }
    }

    fn drawn_json(
        &self,
        node: usize,
        constants: &Constants,
        rng: &mut Rng,
        depth: usize,
    ) -> Option<Json> {
        let depth = depth.checked_sub(1)?;
        let class = self.classes.class_of(node);
        if let Some(ty) = class.and_then(|class| class.ty.clone()) {
            let value = self.drawn(&ty, Some(node), constants, rng, depth)?;
            return Some(tidy(self.session.to_json(&ty, &value)));
        }
        let places = &self.classes.places;
        let parts = self.classes.parts(node);
        let mut members: Vec<(&str, usize)> = Vec::new();
        for part in parts {
            if let ValuePlace::Member(_, name) = &places[*part]
                && !members.iter().any(|(known, _)| known == name)
            {
                members.push((name, *part));
            }
        }
        if !members.is_empty() {
            let member = |(name, part): &(&str, usize)| {
                Some(((*name).into(), self.drawn_json(*part, constants, rng, depth)?))
            };
            return Some(Json::Object(members.iter().filter_map(member).collect()));
        }
        let part = |is_such| self.classes.part(Some(node), is_such);
        if let Some(element) = part(|place| matches!(place, ValuePlace::Elem(_))) {
            let keys = part(|place| matches!(place, ValuePlace::Key(_)));
            let mut items = Vec::new();
            for _ in 0..*rng.pick(&[0, 1, 1, 1, 2, 2, 3]) {
                let key = self.drawn(&Type::string(), keys, constants, rng, depth);
                let Some(Value::String(key)) = key else { continue };
                items.extend(self.drawn_json(element, constants, rng, depth).map(|v| (key, v)));
            }
            // A list has no keys that anything is compared with.
            let named = keys.and_then(|key| self.classes.class_of(key)).is_some_and(|c| c.opaque);
            return Some(if named {
                let entries: BTreeMap<_, _> = items.into_iter().collect();
                Json::Object(entries.into_iter().map(|(k, v)| ((*k).into(), v)).collect())
            } else {
                Json::Array(items.into_iter().map(|(_, value)| value).collect())
            });
        }
        let plain = self.json(node, 2);
        if rng.chance(60) && !plain.is_empty() {
            Some(rng.pick(&plain).clone())
        } else {
            Some(match rng.below(4) {
                0 => Json::Int(*rng.pick(&constants.numbers)),
                1 => Json::Bool(rng.chance(50)),
                _ => Json::string(rng.pick(&constants.texts).as_str()),
            })
        }
    }
}

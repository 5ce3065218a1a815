//! JSON of the shape that a guard asks for.

use super::super::classes::ValuePlace;
use super::{FRESH, MOST_RECORDS, Maker, combinations, tidy};
use guard_plan::json::Json;

impl Maker<'_, '_> {
    /// JSON of the shape that is asked for.
    pub(super) fn json(&self, node: usize, depth: usize) -> Vec<Json> {
        if depth == 0 {
            return vec![Json::Null];
        }
        let places = &self.classes.places;
        let parts = self.classes.parts(node);
        let members: Vec<(&str, usize)> = parts
            .iter()
            .filter_map(|part| match &places[*part] {
                ValuePlace::Member(_, name) => Some((name.as_str(), *part)),
                _ => None,
            })
            .collect();
        if !members.is_empty() {
            return self.objects(&members, depth);
        }
        let part = |is_such| self.classes.part(Some(node), is_such);
        if let Some(element) = part(|place| matches!(place, ValuePlace::Elem(_))) {
            let key = part(|place| matches!(place, ValuePlace::Key(_)));
            let inner = self.json(element, depth - 1);
            let named = key.and_then(|key| self.classes.class_of(key)).is_some_and(|c| c.opaque);
            let wrap = |json: Json| {
                if named {
                    Json::Object(vec![(FRESH[0].into(), json)])
                } else {
                    Json::Array(vec![json])
                }
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

    pub(super) fn objects(&self, members: &[(&str, usize)], depth: usize) -> Vec<Json> {
        let mut names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        let member = |name: &&str| members.iter().find(|(n, _)| n == name).map(|(_, part)| *part);
        let parts: Vec<Vec<Json>> =
            names.iter().filter_map(member).map(|part| self.json(part, depth - 1)).collect();
        let rows = combinations(&parts, MOST_RECORDS);
        let object = |row: Vec<Json>| {
            Json::Object(names.iter().map(|name| (*name).into()).zip(row).collect())
        };
        rows.into_iter().map(object).collect()
    }
}

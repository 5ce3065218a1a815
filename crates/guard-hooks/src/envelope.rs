//! The members of a JSON object as texts, so that everything stays exactly as the agent wrote it.

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The members of an object, in order, without duplicate keys.
#[derive(Debug)]
pub struct Members<'e>(Vec<(String, &'e RawValue)>);

impl<'e> Members<'e> {
    /// Parses an object.
    pub fn read(text: &'e str) -> Result<Members<'e>, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// Returns the text of a member; `None` if it is absent or `null`.
    pub fn text(&self, name: &str) -> Option<&'e str> {
        let member = self.0.iter().find(|(known, _)| known == name);
        member.map(|(_, value)| value.get()).filter(|text| *text != "null")
    }

    /// Returns a member that is a string; `None` if it is absent or `null`.
    pub fn string(&self, name: &str) -> Result<Option<String>, String> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let read = serde_json::from_str::<String>(text);
        read.map(Some).map_err(|_| format!("`{name}` is not a string"))
    }

    /// Returns a required member that is a string.
    pub fn required(&self, name: &str) -> Result<String, String> {
        let text = self.string(name)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| format!("`{name}` is missing"))
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members: Vec<(String, &'de RawValue)> = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
            // Two readers of a duplicate member may take different ones, so the guard could judge
            // another call.
            if members.iter().any(|(known, _)| *known == name) {
                return Err(A::Error::custom(format!("the member `{name}` is there twice")));
            }
            members.push((name, value));
        }
        Ok(Members(members))
    }
}

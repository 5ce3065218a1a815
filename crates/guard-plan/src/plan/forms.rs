//! The forms besides its own in which a value is taken (reference, "Types", "Other forms").

use super::*;
use crate::json::{Json, JsonError};

/// A field of a record that is taken in other forms too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Coercion {
    /// The record.
    pub record: TypeId,
    /// Its field, by position.
    pub field: u32,
    /// The other forms.
    pub forms: TakenForms,
}

/// The forms besides its own in which a value is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TakenForms {
    /// Another form, of which nothing is lost.
    pub from: Option<CoercedForm>,
    /// Numbers are rounded half to even, to so many places; an int to none.
    pub rounded: Option<u8>,
    /// The offset from UTC of a time that is written without one, in minutes to the east.
    pub timezone: Option<i16>,
    /// The variant that stands for a text that is no variant.
    pub fallback: Option<u32>,
}

/// The form in which a value may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CoercedForm {
    /// A JSON string.
    String,
    /// A JSON number.
    Number,
}

impl TakenForms {
    /// Only the value's own form.
    pub const OWN: TakenForms =
        TakenForms { from: None, rounded: None, timezone: None, fallback: None };

    /// Returns true if there is no other form than the value's own.
    pub fn is_own(&self) -> bool {
        *self == TakenForms::OWN
    }

    /// Returns what is shown of a result: a text, where it came as one and was opened.
    pub fn closed(opened: bool, shown: Json) -> Json {
        match shown {
            Json::Array(_) | Json::Object(_) if opened => Json::string(&shown.to_string()),
            shown => shown,
        }
    }

    /// Returns the JSON in a text, of a result that is taken from a string; `None` for any other result.
    pub fn opened(&self, result: &Json) -> Option<Json> {
        match (self.from, result) {
            (Some(CoercedForm::String), Json::String(text)) => Json::parse(text).ok(),
            _ => None,
        }
    }

    /// Returns why a result that is taken from a string holds no JSON; `None` for any other result.
    pub fn unread(&self, result: &Json) -> Option<JsonError> {
        match (self.from, result) {
            (Some(CoercedForm::String), Json::String(text)) => Json::parse(text).err(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_as_a_text_is_shown_as_one() {
        let string = TakenForms { from: Some(CoercedForm::String), ..TakenForms::OWN };
        let text = Json::string("{\"a\":1}");
        let opened = string.opened(&text);
        assert_eq!(opened, Json::parse("{\"a\":1}").ok());
        assert_eq!(opened.map(|shown| TakenForms::closed(true, shown)), Some(text.clone()));
        for (forms, result) in
            [(TakenForms::OWN, text), (string, Json::string("no JSON")), (string, Json::Int(1))]
        {
            assert_eq!(forms.opened(&result), None, "{result}");
            assert_eq!(TakenForms::closed(false, result.clone()), result);
        }
    }
}

//! The other forms in which a value is accepted, beside the form of its type (reference, "Types",
//! "Other forms").

use super::*;
use crate::json::{Json, JsonError};

/// A field of a record that is also accepted in other forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Coercion {
    /// The record.
    pub record: TypeId,
    /// The index of the field.
    pub field: u32,
    /// The other forms.
    pub forms: TakenForms,
}

/// The other forms in which a value is accepted, beside the form of its type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TakenForms {
    /// Another form, from which the value is converted without loss.
    pub from: Option<CoercedForm>,
    /// The number of decimal places to which a number is rounded, half to even; 0 for an int.
    pub rounded: Option<u8>,
    /// The offset from UTC of a time without an offset, in minutes to the east.
    pub timezone: Option<i16>,
    /// The variant that replaces a text that is not the name of a variant.
    pub fallback: Option<u32>,
}

/// A form in which a value may be written.
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
    /// The form of the type only.
    pub const OWN: TakenForms =
        TakenForms { from: None, rounded: None, timezone: None, fallback: None };

    /// Returns true if the value is accepted only in the form of its type.
    pub fn is_own(&self) -> bool {
        *self == TakenForms::OWN
    }

    /// Returns the form in which a result is shown: an array or object becomes a text again if it
    /// was parsed from one.
    pub fn closed(opened: bool, shown: Json) -> Json {
        match shown {
            Json::Array(_) | Json::Object(_) if opened => Json::string(&shown.to_string()),
            shown => shown,
        }
    }

    /// Returns the JSON in a text, for a result that is accepted as a string; `None` for any other
    /// result.
    pub fn opened(&self, result: &Json) -> Option<Json> {
        match (self.from, result) {
            (Some(CoercedForm::String), Json::String(text)) => Json::parse(text).ok(),
            _ => None,
        }
    }

    /// Returns the reason why a result that is accepted as a string is not JSON; `None` for any
    /// other result.
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

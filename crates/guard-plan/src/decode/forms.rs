//! Values in other forms than the one of their type, where the author of a guard permits them.

use crate::json::Json;
use crate::plan::{CoercedForm, TakenForms, TypeDef};
use crate::value::{DECIMAL_ONE, Value};
use crate::{decimal, time};
use std::borrow::Cow;

/// Returns the value that a text or number stands for; `None` if the conversion would lose
/// information.
pub fn coerced(from: CoercedForm, def: &TypeDef, value: &Json) -> Option<Json> {
    match (from, def, value) {
        (
            CoercedForm::String,
            TypeDef::Int { .. } | TypeDef::Decimal { .. },
            Json::String(text),
        ) => {
            let read = Json::parse(text).ok()?;
            let number = matches!(read, Json::Int(_) | Json::Number(_));
            // In the notation of JSON, without whitespace around it.
            (number && read.to_string() == **text).then_some(read)
        }
        (CoercedForm::String, TypeDef::Bool, Json::String(text)) => match &**text {
            "true" => Some(Json::Bool(true)),
            "false" => Some(Json::Bool(false)),
            _ => None,
        },
        (CoercedForm::Number, TypeDef::Int { .. }, Json::Number(text)) => {
            let units = decimal::parse(text)?;
            (units % DECIMAL_ONE == 0).then_some(Json::Int(units / DECIMAL_ONE))
        }
        (CoercedForm::Number, TypeDef::String { .. }, Json::Int(_) | Json::Number(_)) => {
            Some(Json::string(&value.to_string()))
        }
        _ => None,
    }
}

/// Returns the JSON of the value in the form of its type, if it is accepted in another form.
pub(super) fn own<'a>(forms: &TakenForms, def: &TypeDef, json: &'a Json) -> Cow<'a, Json> {
    let read = forms.from.and_then(|from| coerced(from, def, json));
    read.map_or(Cow::Borrowed(json), Cow::Owned)
}

/// Decodes a scalar that is rounded, is written without its offset from UTC, or is not a known
/// variant.
pub(super) fn other(forms: &TakenForms, def: &TypeDef, json: &Json) -> Option<Value> {
    match (def, json) {
        (TypeDef::Int { .. }, Json::Number(text)) => {
            forms.rounded.and_then(|_| decimal::half_even(text, 0)).map(Value::Int)
        }
        (TypeDef::Decimal { .. }, Json::Int(_) | Json::Number(_)) => {
            let places = i64::from(forms.rounded?).min(decimal::PLACES);
            let units = decimal::half_even(&json.to_string(), places)?;
            let scale = 10_i64.pow((decimal::PLACES - places) as u32);
            units.checked_mul(scale).map(Value::Decimal)
        }
        (TypeDef::Time { format }, Json::String(text)) => {
            let offset = i64::from(forms.timezone?) * 60_000;
            let time = match format {
                Some(format) => time::parse_format_at(format, text, offset),
                None => time::parse_rfc3339_at(text, Some(offset)),
            };
            time.map(Value::Time)
        }
        (TypeDef::Enum { variants, .. }, Json::String(text)) => {
            let known = variants.iter().any(|variant| **variant == **text);
            forms.fallback.filter(|_| !known).map(Value::Enum)
        }
        _ => None,
    }
}

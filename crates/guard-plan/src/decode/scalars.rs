//! The decoding of scalars in the form of their own type.

use super::{Decoder, UNREADABLE};
use crate::builtin::is_unreadable;
use crate::json::Json;
use crate::plan::TypeDef;
use crate::url::Url;
use crate::value::{DECIMAL_ONE, Value};
use crate::{decimal, path, time};

impl Decoder<'_> {
    /// Decodes a scalar in its own form. The error has a message if it says more than the type
    /// does.
    pub(super) fn scalar(&self, def: &TypeDef, json: &Json) -> Result<Value, Option<String>> {
        match (def, json) {
            (_, Json::String(text)) => self.of_text(def, text),
            (TypeDef::Bool, Json::Bool(value)) => Ok(Value::Bool(*value)),
            (TypeDef::Int { .. }, _) => int(json).map(Value::Int).ok_or(None),
            (TypeDef::Decimal { .. }, _) => exact(json).map(Value::Decimal).ok_or(None),
            (TypeDef::Duration { .. }, _) => int(json).map(Value::Duration).ok_or(None),
            _ => Err(None),
        }
    }

    /// Decodes a scalar that is written as a string. The error has a message if it says more than
    /// the type does.
    fn of_text(&self, def: &TypeDef, text: &str) -> Result<Value, Option<String>> {
        match def {
            TypeDef::String { .. } if is_unreadable(text) => Err(Some(UNREADABLE.into())),
            TypeDef::String { .. } | TypeDef::Command => Ok(Value::String(text.into())),
            TypeDef::Path => {
                let path = path::normalise(self.workspace, text);
                path.map(|path| Value::Path(path.into())).map_err(|why| Some(why.to_string()))
            }
            TypeDef::Url => {
                let url = Url::parse(text);
                url.map(|url| Value::Url(Box::new(url))).map_err(|why| Some(why.to_string()))
            }
            TypeDef::Duration { .. } => time::parse_duration(text).map(Value::Duration).ok_or(None),
            TypeDef::Time { format: None } => {
                time::parse_rfc3339(text).map(Value::Time).ok_or(None)
            }
            TypeDef::Time { format: Some(format) } => {
                time::parse_format(format, text).map(Value::Time).ok_or(None)
            }
            TypeDef::Enum { variants, .. } => variants
                .iter()
                .position(|variant| variant == text)
                .map(|index| Value::Enum(index as u32))
                .ok_or(None),
            _ => Err(None),
        }
    }
}

fn int(json: &Json) -> Option<i64> {
    match json {
        Json::Int(number) => Some(*number),
        Json::Number(text) if **text == *"-0" => Some(0),
        _ => None,
    }
}

fn exact(json: &Json) -> Option<i64> {
    match json {
        Json::Int(number) => number.checked_mul(DECIMAL_ONE),
        Json::Number(text) => decimal::parse(text),
        _ => None,
    }
}

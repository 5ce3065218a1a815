//! JSON-RPC 2.0, one object a line.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The longest line that is read.
pub const MAX_LINE: usize = 16 << 20;

/// A request as it arrives; what we do not know is ignored.
#[derive(Debug, Deserialize)]
pub struct Request {
    /// `"2.0"`.
    pub jsonrpc: Option<String>,
    /// Kept as written; without one nobody waits for the answer.
    #[serde(default, deserialize_with = "present")]
    pub id: Option<Box<RawValue>>,
    /// What is asked.
    pub method: Option<String>,
    /// With what.
    pub params: Option<Box<RawValue>>,
}

/// `null` is an id, absence is none.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(from).map(Some)
}

/// What goes wrong, as the caller sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    /// The code of JSON-RPC.
    pub number: i32,
    /// Our own code, stable: `data.code`.
    pub code: &'static str,
    /// One line.
    pub message: String,
    /// More in `data`.
    pub more: Option<(&'static str, Value)>,
}

impl Error {
    /// The line is not JSON.
    pub fn parse(message: impl Into<String>) -> Error {
        Error { number: -32700, code: "parse_error", message: message.into(), more: None }
    }

    /// The line is JSON and no request.
    pub fn request(message: impl Into<String>) -> Error {
        Error { number: -32600, code: "invalid_request", message: message.into(), more: None }
    }

    /// There is no such method.
    pub fn method(code: &'static str, message: impl Into<String>) -> Error {
        Error { number: -32601, code, message: message.into(), more: None }
    }

    /// The parameters are not what the method takes.
    pub fn params(message: impl Into<String>) -> Error {
        Error { number: -32602, code: "invalid_params", message: message.into(), more: None }
    }

    /// The method itself fails.
    pub fn failed(code: &'static str, message: impl Into<String>) -> Error {
        Error { number: -32000, code, message: message.into(), more: None }
    }

    /// Adds something to `data`.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Value) -> Error {
        self.more = Some((name, value));
        self
    }
}

/// The answer to one request, a line without its end.
pub fn answer(id: Option<&RawValue>, result: Result<String, Error>) -> String {
    let id = id.map_or("null", RawValue::get);
    match result {
        Ok(result) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"),
        Err(error) => {
            let mut data = json!({ "code": error.code });
            if let Some((name, value)) = error.more {
                data[name] = value;
            }
            let error = json!({ "code": error.number, "message": error.message, "data": data });
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_carries_its_code() {
        let line = answer(None, Err(Error::failed("bad_plan", "no").with("at", json!(3))));
        let expected = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"data\":{\"at\":3,\"code\":\"bad_plan\"},\"message\":\"no\"}}";
        assert_eq!(line, expected);
    }
}

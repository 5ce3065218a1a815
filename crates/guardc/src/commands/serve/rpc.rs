//! JSON-RPC 2.0, one object per line.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The maximum length of a line, in bytes.
pub const MAX_LINE: usize = 16 << 20;

/// A request as it arrives; what we do not know is ignored.
#[derive(Debug, Deserialize)]
pub struct Request {
    /// `"2.0"`.
    pub jsonrpc: Option<String>,
    /// The id, kept as written; a request without one gets no answer.
    #[serde(default, deserialize_with = "present")]
    pub id: Option<Box<RawValue>>,
    /// The method.
    pub method: Option<String>,
    /// The parameters.
    pub params: Option<Box<RawValue>>,
}

/// `null` is an id; an absent id is none.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(from).map(Some)
}

/// An error in a response.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    /// The code of JSON-RPC.
    pub number: i32,
    /// Our own stable code: `data.code`.
    pub code: &'static str,
    /// The message, one line.
    pub message: String,
    /// An additional member of `data`.
    pub more: Option<(&'static str, Value)>,
}

impl Error {
    /// The line is not JSON.
    pub fn parse(message: impl Into<String>) -> Error {
        Error { number: -32700, code: "parse_error", message: message.into(), more: None }
    }

    /// The line is JSON but not a request.
    pub fn request(message: impl Into<String>) -> Error {
        Error { number: -32600, code: "invalid_request", message: message.into(), more: None }
    }

    /// The method does not exist.
    pub fn method(code: &'static str, message: impl Into<String>) -> Error {
        Error { number: -32601, code, message: message.into(), more: None }
    }

    /// The parameters are invalid for the method.
    pub fn params(message: impl Into<String>) -> Error {
        Error { number: -32602, code: "invalid_params", message: message.into(), more: None }
    }

    /// The method failed.
    pub fn failed(code: &'static str, message: impl Into<String>) -> Error {
        Error { number: -32000, code, message: message.into(), more: None }
    }

    /// Adds a member to `data`.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Value) -> Error {
        self.more = Some((name, value));
        self
    }
}

/// Returns the answer to one request, without a line break.
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

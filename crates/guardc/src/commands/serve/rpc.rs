//! JSON-RPC 2.0, one object per line.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::io::{self, BufRead};

/// The maximum length of a line, in bytes.
pub const MAX_LINE: usize = 16 << 20;

/// A line of input.
pub enum Line {
    /// Text.
    Text(Vec<u8>),
    /// A line that was too long, and has been skipped.
    TooLong,
    /// The input has ended.
    End,
}

/// Reads the next line, holding at most [`MAX_LINE`] bytes of it.
///
/// # Errors
///
/// Returns the error of the reader.
pub fn read_line(input: &mut impl BufRead) -> io::Result<Line> {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let available = match input.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return Ok(match (too_long, line.is_empty()) {
                (true, _) => Line::TooLong,
                (false, true) => Line::End,
                (false, false) => Line::Text(line),
            });
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = &available[..end.unwrap_or(available.len())];
        too_long |= line.len() + taken.len() > MAX_LINE;
        if too_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(taken);
        }
        let used = taken.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(if too_long { Line::TooLong } else { Line::Text(line) });
        }
    }
}

/// A request; unknown members are ignored.
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
    fn a_long_line_is_skipped_and_the_next_one_read() {
        let mut text = vec![b'x'; MAX_LINE + 1];
        text.extend_from_slice(b"\nshort\nlast");
        let mut input = io::BufReader::new(text.as_slice());
        assert!(matches!(read_line(&mut input), Ok(Line::TooLong)));
        assert!(matches!(read_line(&mut input), Ok(Line::Text(t)) if t == b"short"));
        assert!(matches!(read_line(&mut input), Ok(Line::Text(t)) if t == b"last"));
        assert!(matches!(read_line(&mut input), Ok(Line::End)));
    }

    #[test]
    fn an_error_carries_its_code() {
        let line = answer(None, Err(Error::failed("bad_plan", "no").with("at", json!(3))));
        let expected = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"data\":{\"at\":3,\"code\":\"bad_plan\"},\"message\":\"no\"}}";
        assert_eq!(line, expected);
    }
}

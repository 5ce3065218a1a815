//! JSON-RPC 2.0, one object per line.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// A request as it arrives. Unknown members are ignored.
#[derive(Debug, Deserialize)]
pub struct Request {
    /// `"2.0"`.
    pub jsonrpc: Option<String>,
    /// The id, kept as written. A request without an id gets no answer.
    #[serde(default, deserialize_with = "present")]
    pub id: Option<Box<RawValue>>,
    /// The method.
    pub method: Option<String>,
    /// The parameters.
    pub params: Option<Box<RawValue>>,
}

/// Deserializes the id: `null` is an id, and an absent id is `None`.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(from).map(Some)
}

impl Request {
    /// Returns the method; empty if there is none, which [`read`] refuses.
    pub fn method(&self) -> &str {
        self.method.as_deref().unwrap_or_default()
    }

    /// Returns the session that the request concerns.
    pub fn session(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct SessionParam {
            session: Option<String>,
        }
        let params = self.params.as_deref()?;
        serde_json::from_str::<SessionParam>(params.get()).ok()?.session
    }

    /// Returns the text in pieces that the request concerns. Its pieces are processed one after the
    /// other.
    fn feed(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct FeedParam {
            feed: Option<String>,
        }
        let params = self.params.as_deref()?;
        let feed = serde_json::from_str::<FeedParam>(params.get()).ok()?.feed;
        feed.map(|feed| format!("\0feed {feed}"))
    }

    /// Returns the queue of the request. Requests of one session run one after the other. A request
    /// without a session does not wait for others.
    pub fn queue(&self) -> String {
        static ALONE: AtomicU64 = AtomicU64::new(0);
        match self.session().or_else(|| self.feed()) {
            Some(id) => id,
            // No session id begins with this character.
            None => format!("\0{}", ALONE.fetch_add(1, Ordering::Relaxed)),
        }
    }
}

/// Parses a request from a line, or returns the answer with the reason why it is not one.
pub fn read(line: &[u8]) -> Result<Request, String> {
    let refused = |id: Option<&RawValue>, error| Err(answer(id, Err(error)));
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => {
            let message = format!("the line is not UTF-8, at byte {}", error.valid_up_to());
            return refused(None, RpcError::parse(message));
        }
    };
    // A text that is JSON but no request has another error than one that is not JSON.
    let raw: &RawValue = match serde_json::from_str(text) {
        Ok(raw) => raw,
        Err(error) => {
            return refused(None, RpcError::parse(format!("the line is not JSON: {error}")));
        }
    };
    if !raw.get().starts_with('{') {
        return refused(
            None,
            RpcError::request("a request must be an object; batches are not supported"),
        );
    }
    let request: Request = match serde_json::from_str(raw.get()) {
        Ok(request) => request,
        Err(error) => {
            return refused(None, RpcError::request(format!("the line is not a request: {error}")));
        }
    };
    let id = request.id.as_deref();
    let scalar = id.is_none_or(|id| !id.get().starts_with(['{', '[', 't', 'f']));
    if request.jsonrpc.as_deref() != Some("2.0") || !scalar {
        let message = "a request has `jsonrpc` \"2.0\" and an `id` that is a string or a number";
        return refused(id.filter(|_| scalar), RpcError::request(message));
    }
    if request.method.is_none() {
        return refused(id, RpcError::request("a request has a `method`"));
    }
    Ok(request)
}

/// An error in a response.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// The code of JSON-RPC.
    pub number: i32,
    /// Our own stable code: `data.code`.
    pub code: &'static str,
    /// The message, one line.
    pub message: String,
    /// An additional member of `data`.
    pub more: Option<(&'static str, Value)>,
}

impl RpcError {
    /// Returns the error that the line is not JSON.
    pub fn parse(message: impl Into<String>) -> RpcError {
        RpcError { number: -32700, code: "parse_error", message: message.into(), more: None }
    }

    /// Returns the error that the line is JSON but not a request.
    pub fn request(message: impl Into<String>) -> RpcError {
        RpcError { number: -32600, code: "invalid_request", message: message.into(), more: None }
    }

    /// Returns the error that the method does not exist.
    pub fn method(code: &'static str, message: impl Into<String>) -> RpcError {
        RpcError { number: -32601, code, message: message.into(), more: None }
    }

    /// Returns the error that the parameters are invalid for the method.
    pub fn params(message: impl Into<String>) -> RpcError {
        RpcError { number: -32602, code: "invalid_params", message: message.into(), more: None }
    }

    /// Returns the error that the method failed.
    pub fn failed(code: &'static str, message: impl Into<String>) -> RpcError {
        RpcError { number: -32000, code, message: message.into(), more: None }
    }

    /// Adds a member to `data`.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Value) -> RpcError {
        self.more = Some((name, value));
        self
    }
}

/// Returns the answer to one request, without a line break.
pub fn answer(id: Option<&RawValue>, result: Result<String, RpcError>) -> String {
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
        let line = answer(None, Err(RpcError::failed("bad_plan", "no").with("at", json!(3))));
        let expected = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"data\":{\"at\":3,\"code\":\"bad_plan\"},\"message\":\"no\"}}";
        assert_eq!(line, expected);
    }
}

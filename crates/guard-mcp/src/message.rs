//! JSON-RPC messages: one line, parsed and classified.

use guard_plan::json::Json;

/// The maximum length of a line, in bytes.
pub const MAX_LINE: usize = 32 << 20;

/// The keys of a message. A parser that ignores case (as some JSON libraries do) would accept
/// `Method` as `method`.
const MESSAGE_KEYS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// The keys of the parameters of `tools/call`.
const CALL_KEYS: [&str; 6] =
    ["name", "arguments", "_meta", "task", "inputResponses", "requestState"];

/// One JSON-RPC message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RpcMessage {
    /// A method with an id.
    Request { id: Json, method: String },
    /// A method without an id.
    Notification { method: String },
    /// A result or an error.
    Response { id: Json },
    /// Any other JSON.
    Other,
}

impl RpcMessage {
    /// Classifies a JSON value.
    ///
    /// # Errors
    ///
    /// Returns an error if two readers could understand the message differently.
    pub fn read(json: &Json) -> Result<RpcMessage, String> {
        let Json::Object(members) = json else { return Ok(RpcMessage::Other) };
        unambiguous(members, &MESSAGE_KEYS)?;
        let is_answer = json.get("result").is_some() || json.get("error").is_some();
        if is_answer && json.get("method").is_some() {
            return Err("a message is a request or an answer, not both".into());
        }
        let id = json.get("id");
        match (json.get("method"), id) {
            (Some(Json::String(method)), Some(id)) => {
                if !is_id(id) {
                    return Err("an id is a string or an integer".into());
                }
                Ok(RpcMessage::Request { id: id.clone(), method: method.to_string() })
            }
            (Some(Json::String(method)), None) => {
                Ok(RpcMessage::Notification { method: method.to_string() })
            }
            (Some(_), _) => Err("a method is a string".into()),
            (None, Some(id)) if is_answer => Ok(RpcMessage::Response { id: id.clone() }),
            // A client that accepts it as the answer to a call would read an unchecked result.
            (None, None) if json.get("result").is_some() => Err("a result has an id".into()),
            (None, _) => Ok(RpcMessage::Other),
        }
    }
}

/// Refuses keys of the parameters of `tools/call` that some parser could accept as another key.
pub(crate) fn unambiguous_call(params: &[(Box<str>, Json)]) -> Result<(), String> {
    unambiguous(params, &CALL_KEYS)
}

fn unambiguous(members: &[(Box<str>, Json)], keys: &[&str]) -> Result<(), String> {
    for (name, _) in members {
        if let Some(key) = keys.iter().find(|key| ***key != **name && folded(key) == folded(name)) {
            return Err(format!("`{name}` could be read as `{key}`"));
        }
    }
    Ok(())
}

/// Returns a name without differences of case. The text is first converted to upper case, so that
/// the two other letters that are equal to `s` and `k` without case are also folded.
fn folded(name: &str) -> String {
    name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Returns true if a method is another spelling of one that is guarded.
pub(crate) fn resembles(method: &str, known: &str) -> bool {
    method != known && folded(method.trim()) == known
}

/// Returns true for strings and integers.
pub(crate) fn is_id(id: &Json) -> bool {
    match id {
        Json::String(_) | Json::Int(_) => true,
        Json::Number(text) => !text.contains(['.', 'e', 'E']),
        _ => false,
    }
}

/// A scanner for the id of a message that cannot be parsed: the value of the first `id` at the top
/// level, and whether there is a `method`. It uses the same small amount of memory for a message of
/// any length.
#[derive(Debug, Clone, Default)]
pub struct IdScanner {
    depth: usize,
    in_string: bool,
    escaped: bool,
    expects_value: bool,
    /// The text of the current string or literal at the top level.
    token: String,
    key: String,
    id: Option<String>,
    has_method: bool,
}

/// The maximum length of a key or id that is kept, in bytes.
const MAX_TOKEN: usize = 200;

impl IdScanner {
    /// Reads more bytes of the message.
    pub fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    /// Returns the id, if there is a valid one.
    pub fn id(&self) -> Option<Json> {
        let id = self.id.as_deref().and_then(|text| Json::parse(text).ok());
        id.filter(is_id)
    }

    /// Returns true if the message names a method.
    pub fn has_method(&self) -> bool {
        self.has_method
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.token.clear();
            }
            b'}' | b']' => {
                self.end_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => {
                self.key = std::mem::take(&mut self.token);
                self.has_method |= self.key == "\"method\"";
                self.expects_value = true;
            }
            b',' => self.end_value(),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < MAX_TOKEN && byte.is_ascii() {
            self.token.push(char::from(byte));
        }
    }

    fn end_value(&mut self) {
        if self.depth != 1 {
            return;
        }
        let token = std::mem::take(&mut self.token);
        if self.expects_value && self.key == "\"id\"" && self.id.is_none() {
            self.id = Some(token);
        }
        self.expects_value = false;
    }
}

#[cfg(test)]
mod tests {
    use super::{IdScanner, Json, RpcMessage};

    fn scanned(text: &str) -> (Option<String>, bool) {
        let mut scanner = IdScanner::default();
        text.as_bytes().chunks(3).for_each(|part| scanner.feed(part));
        (scanner.id().map(|id| id.to_string()), scanner.has_method())
    }

    #[test]
    fn ids_are_found_in_unreadable_messages() {
        assert_eq!(scanned(r#"{"id": 7, "result": {"id": 8"#), (Some("7".into()), false));
        assert_eq!(
            scanned(r#"{"result": {"id": 8, "a": [1]}, "id": "x\"y"}"#).0.unwrap(),
            r#""x\"y""#
        );
        assert_eq!(
            scanned(r#"{"method": "a", "params": ["id", 3], "id": -2}"#),
            (Some("-2".into()), true)
        );
        assert_eq!(scanned(r#"{"a": "id", "b": "\"id\":9", "id": [1]}"#).0, None);
        assert_eq!(scanned(r#"[{"id": 7}]"#).0, None);
        assert_eq!(scanned("}}}}{\"id\":1}").0, Some("1".into()));
    }

    #[test]
    fn messages_that_two_readers_understand_differently_are_refused() {
        for text in [
            r#"{"id": 1, "method": "ping", "Method": "tools/call"}"#,
            r#"{"id": 1, "method": "ping", "paramſ": {}}"#,
            r#"{"id": 1.0, "method": "ping"}"#,
            r#"{"id": null, "method": "ping"}"#,
            r#"{"id": {}, "method": "ping"}"#,
            r#"{"id": 1, "method": 5}"#,
        ] {
            let json = Json::parse(text).unwrap();
            assert!(RpcMessage::read(&json).is_err(), "{text}");
        }
    }
}

//! Arguments and results as a caller gives them, and their reading. Their types are checked by the
//! kernel.

use guard_plan::json::Json;

/// The arguments of a call: the text that the model wrote, or a parsed value.
///
/// Text is the better choice: it is checked exactly as written, and text that is not valid JSON
/// becomes a verdict that the agent can read.
#[derive(Debug, Clone, Copy)]
pub enum CallArguments<'a> {
    /// JSON text, as the model wrote it.
    Text(&'a str),
    /// A parsed value.
    Value(&'a Json),
}

impl<'a> From<&'a str> for CallArguments<'a> {
    fn from(text: &'a str) -> CallArguments<'a> {
        CallArguments::Text(text)
    }
}

impl<'a> From<&'a String> for CallArguments<'a> {
    fn from(text: &'a String) -> CallArguments<'a> {
        CallArguments::Text(text)
    }
}

impl<'a> From<&'a Json> for CallArguments<'a> {
    fn from(json: &'a Json) -> CallArguments<'a> {
        CallArguments::Value(json)
    }
}

/// The maximum length of arguments and results that come as text, in bytes.
const MAX_TEXT: usize = 16 << 20;

/// Reads arguments or a result.
///
/// # Errors
///
/// Returns the reason why the text is unreadable: it is not JSON, or so long that its record might
/// not fit a line of a trace.
pub(crate) fn read(text: &str) -> Result<Json, String> {
    if text.len() > MAX_TEXT {
        return Err(format!("longer than {} MiB", MAX_TEXT >> 20));
    }
    Json::parse(text).map_err(|error| error.to_string())
}

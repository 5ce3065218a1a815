//! Messages that the proxy creates itself.

use guard_plan::json::Json;

/// JSON-RPC: the message is not JSON.
pub(crate) const PARSE_ERROR: i64 = -32700;
/// JSON-RPC: the message is not a valid request.
pub(crate) const INVALID_REQUEST: i64 = -32600;
/// JSON-RPC: the parameters are not valid.
pub(crate) const INVALID_PARAMS: i64 = -32602;
/// JSON-RPC: the receiver failed.
pub(crate) const INTERNAL_ERROR: i64 = -32603;

/// The key of the approval among the inputs that are requested from a modern client.
pub(crate) const APPROVAL_INPUT: &str = "guard-approval";

/// The protocol's key of the version in `_meta`, which only the modern era has.
pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The protocol's key of the client's capabilities in `_meta`.
pub(crate) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Creates an object.
pub(crate) fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

/// Returns a message as a line.
pub(crate) fn line(message: &Json) -> Vec<u8> {
    let mut text = message.to_string();
    text.push('\n');
    text.into_bytes()
}

/// Returns the response with a result.
pub(crate) fn response(id: &Json, result: Json) -> Json {
    object([("jsonrpc", Json::string("2.0")), ("id", id.clone()), ("result", result)])
}

/// Returns the response with an error.
pub(crate) fn error(id: &Json, code: i64, text: &str) -> Json {
    let error =
        object([("code", Json::Int(code)), ("message", Json::string(&format!("guard: {text}")))]);
    object([("jsonrpc", Json::string("2.0")), ("id", id.clone()), ("error", error)])
}

/// Returns a text block of a result's content.
pub(crate) fn text_block(text: &str) -> Json {
    object([("type", Json::string("text")), ("text", Json::string(text))])
}

/// Returns the result of a tool that was not run, or whose result is withheld.
pub(crate) fn denial(text: &str, modern: bool) -> Json {
    let mut members: Vec<(Box<str>, Json)> = vec![
        ("content".into(), Json::Array(vec![text_block(text)])),
        ("isError".into(), Json::Bool(true)),
    ];
    if modern {
        members.push(("resultType".into(), Json::string("complete")));
    }
    Json::Object(members)
}

/// Returns the result of a tool that the guard serves itself.
pub(crate) fn served(result: &Json, feedback: &str, modern: bool) -> Json {
    let text = match result {
        Json::String(text) => text.to_string(),
        other => other.to_string(),
    };
    let mut content = vec![text_block(&text)];
    if !feedback.is_empty() {
        content.push(text_block(feedback));
    }
    let mut members: Vec<(Box<str>, Json)> = vec![("content".into(), Json::Array(content))];
    if matches!(result, Json::Object(_)) {
        members.push(("structuredContent".into(), result.clone()));
    }
    members.push(("isError".into(), Json::Bool(false)));
    if modern {
        members.push(("resultType".into(), Json::string("complete")));
    }
    Json::Object(members)
}

/// Returns the question to a person, in the form of both eras.
pub(crate) fn approval_form(message: &str) -> Json {
    let field = |kind: &str, title: &str| {
        vec![("type".into(), Json::string(kind)), ("title".into(), Json::string(title))]
    };
    let mut name = field("string", "Your name");
    name.push(("minLength".into(), Json::Int(1)));
    let properties = object([
        ("approve", Json::Object(field("boolean", "Approve exactly this call"))),
        ("name", Json::Object(name)),
        ("reason", Json::Object(field("string", "The reason, if you refuse"))),
    ]);
    let required = Json::Array(vec![Json::string("approve"), Json::string("name")]);
    object([
        ("message", Json::string(message)),
        (
            "requestedSchema",
            object([
                ("type", Json::string("object")),
                ("properties", properties),
                ("required", required),
            ]),
        ),
    ])
}

/// Returns the request for a person's answer in the eras with a handshake.
pub(crate) fn elicitation(id: &Json, message: &str) -> Json {
    object([
        ("jsonrpc", Json::string("2.0")),
        ("id", id.clone()),
        ("method", Json::string("elicitation/create")),
        ("params", approval_form(message)),
    ])
}

/// Returns the result of the modern era that requests a person's answer. The client repeats the
/// call with it.
pub(crate) fn input_required(message: &str, state: &str) -> Json {
    let mut params = approval_form(message);
    if let Json::Object(members) = &mut params {
        members.insert(0, ("mode".into(), Json::string("form")));
    }
    let request = object([("method", Json::string("elicitation/create")), ("params", params)]);
    object([
        ("resultType", Json::string("input_required")),
        ("inputRequests", object([(APPROVAL_INPUT, request)])),
        ("requestState", Json::string(state)),
    ])
}

/// Returns the notification that a call is cancelled.
pub(crate) fn cancelled(id: &Json, reason: &str) -> Json {
    let params = object([("requestId", id.clone()), ("reason", Json::string(reason))]);
    object([
        ("jsonrpc", Json::string("2.0")),
        ("method", Json::string("notifications/cancelled")),
        ("params", params),
    ])
}

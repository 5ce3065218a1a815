//! JSON-RPC messages of the Model Context Protocol: `tools/call` and its results.

use super::session::LoggedOutcome;
use super::{Importer, RecordSink, arguments, text_of, time_of};
use guard_plan::json::Json;

/// Returns the JSON-RPC message of a line: the line itself, or a member of an object around it.
pub(super) fn message(json: &Json) -> Option<&Json> {
    let is_message = |json: &&Json| json.get("jsonrpc").is_some();
    Some(json).filter(is_message).or_else(|| match json {
        Json::Object(members) => members.iter().map(|(_, json)| json).find(is_message),
        _ => None,
    })
}

/// Imports one line; a batch is a list.
pub(super) fn value(
    importer: &mut Importer,
    json: &Json,
    at: Option<i64>,
    give: &mut RecordSink<'_>,
) {
    if let Json::Array(items) = json {
        return items.iter().for_each(|item| value(importer, item, at, give));
    }
    let Some(message) = message(json) else { return importer.pass("it is not JSON-RPC") };
    let at = time_of(json).or(at);
    let name = ["session", "session_id", "sessionId"];
    let name = name.iter().find_map(|name| json.get(name).and_then(Json::as_str));
    let Some(builder) = importer.session(name) else { return };
    let session = builder.name().to_owned();
    let Some(id) = message.get("id").map(Json::to_string) else {
        return importer.pass("a notification holds no calls");
    };
    match message.get("method").and_then(Json::as_str) {
        Some("tools/call") => {
            let params = message.get("params").unwrap_or(&Json::Null);
            let Some(tool) = params.get("name").and_then(Json::as_str) else {
                return importer.pass("a `tools/call` without a name");
            };
            let args = arguments(params.get("arguments"));
            importer.call(&session, at, &id, tool, args, true, give);
        }
        Some(method) => importer.pass(&format!("the method `{method}` is not a call of a tool")),
        None => {
            let known = importer.sessions.get(&session).is_some_and(|known| known.has(&id));
            if !known {
                return importer.pass("an answer to something else than a call of a tool");
            }
            importer.outcome(&session, at, &id, outcome(message), give);
        }
    }
}

fn outcome(message: &Json) -> LoggedOutcome {
    let Some(result) = message.get("result") else { return LoggedOutcome::Failure };
    if result.get("isError") == Some(&Json::Bool(true)) {
        return LoggedOutcome::Failure;
    }
    if let Some(structured) = result.get("structuredContent") {
        return LoggedOutcome::Success(structured.clone());
    }
    let text = result.get("content").and_then(text_of);
    LoggedOutcome::Success(text.map_or_else(|| result.clone(), |text| Json::string(&text)))
}

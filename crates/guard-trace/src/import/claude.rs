//! Transcripts of Claude Code: `tool_use` of the assistant, `tool_result` of the user, one message
//! per line.

use super::session::LoggedOutcome;
use super::{Importer, RecordSink, arguments, text_of, time_of};
use guard_plan::json::Json;

/// Imports one line of a transcript.
pub(super) fn value(importer: &mut Importer, json: &Json, give: &mut RecordSink<'_>) {
    let text = |json: &Json, name: &str| json.get(name).and_then(Json::as_str).map(str::to_owned);
    let kind = text(json, "type").unwrap_or_default();
    let Some(message) = json.get("message").filter(|_| matches!(&*kind, "user" | "assistant"))
    else {
        let kind = if kind.is_empty() { "no type".into() } else { format!("type `{kind}`") };
        return importer.pass(&format!("a line of {kind} holds no calls"));
    };
    if !matches!(message, Json::Object(_)) {
        return importer.pass("its `message` is not an object");
    }
    let name = text(json, "sessionId").or_else(|| text(json, "session_id"));
    let Some(session) = importer.session(name.as_deref()) else { return };
    session.workspace(json.get("cwd").and_then(Json::as_str));
    let name = session.name().to_owned();
    let at = time_of(json);
    let content = message.get("content").unwrap_or(&Json::Null);
    let blocks = match content {
        Json::Array(blocks) => &blocks[..],
        _ => &[],
    };
    let of_kind = |kind: &'static str| {
        let is = move |block: &&Json| block.get("type").and_then(Json::as_str) == Some(kind);
        blocks.iter().filter(is)
    };
    let results = of_kind("tool_result").count();
    if kind == "assistant" {
        for block in of_kind("tool_use") {
            let (Some(id), Some(tool)) = (text(block, "id"), text(block, "name")) else {
                importer.pass("a `tool_use` without id or name");
                continue;
            };
            let args = arguments(block.get("input"));
            importer.call(&name, at, &id, &tool, args, true, give);
        }
        return;
    }
    for block in of_kind("tool_result") {
        let Some(id) = text(block, "tool_use_id") else {
            importer.pass("a `tool_result` without `tool_use_id`");
            continue;
        };
        let outcome = match block.get("is_error") {
            Some(Json::Bool(true)) => LoggedOutcome::Failure,
            _ => LoggedOutcome::Success(result(json, block, results)),
        };
        importer.outcome(&name, at, &id, outcome, give);
    }
    // The host writes results and its own notes as messages of the user, too.
    let by_user = json.get("isMeta") != Some(&Json::Bool(true)) && results == 0;
    if let Some(said) = text_of(content).filter(|_| by_user) {
        importer.prompt(&name, at, &said, give);
    }
}

/// Returns the result of a tool: an object if the line has one, otherwise a text.
fn result(json: &Json, block: &Json, results: usize) -> Json {
    match json.get("toolUseResult") {
        // With several results in one message the object belongs to none of them in particular.
        Some(object @ (Json::Object(_) | Json::Array(_))) if results == 1 => object.clone(),
        _ => {
            let content = block.get("content").unwrap_or(&Json::Null);
            text_of(content).map_or_else(|| content.clone(), |text| Json::string(&text))
        }
    }
}

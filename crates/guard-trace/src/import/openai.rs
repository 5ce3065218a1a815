//! Messages with `tool_calls`, one per line or in a list, and items of the Responses API.

use super::session::LoggedOutcome;
use super::{Importer, RecordSink, arguments, text_of, time_of};
use guard_plan::json::Json;

/// Imports one value: a message, an item, a list of these, or an object that holds one.
pub(super) fn value(importer: &mut Importer, json: &Json, give: &mut RecordSink<'_>) {
    let id = ["session", "session_id", "conversation_id", "thread_id", "id"]
        .iter()
        .find_map(|name| json.get(name).and_then(Json::as_str));
    let list = ["messages", "input", "output", "items"].iter().filter_map(|name| json.get(name));
    let lists: Vec<&Json> = list.filter(|list| matches!(list, Json::Array(_))).collect();
    if let Json::Array(items) = json {
        items.iter().for_each(|item| value(importer, item, give));
    } else if lists.is_empty() {
        // The id of a message is not the id of its session.
        let session = ["session", "session_id", "conversation_id", "thread_id"];
        let session = session.iter().find_map(|name| json.get(name).and_then(Json::as_str));
        message(importer, json, session, give);
    } else {
        let name = match id {
            Some(id) => id.to_owned(),
            None => format!("{}-{}", importer.name, importer.line),
        };
        for list in lists {
            let Json::Array(items) = list else { continue };
            items.iter().for_each(|item| message(importer, item, Some(&name), give));
        }
    }
}

fn message(importer: &mut Importer, json: &Json, session: Option<&str>, give: &mut RecordSink<'_>) {
    let text = |json: &Json, name: &str| json.get(name).and_then(Json::as_str).map(str::to_owned);
    let at = time_of(json);
    let Some(builder) = importer.session(session) else { return };
    let name = builder.name().to_owned();
    match text(json, "type").as_deref() {
        Some("function_call" | "custom_tool_call") => {
            let id = text(json, "call_id").or_else(|| text(json, "id"));
            let (Some(id), Some(tool)) = (id, text(json, "name")) else {
                return importer.pass("a `function_call` without `call_id` or name");
            };
            let args = arguments(json.get("arguments").or_else(|| json.get("input")));
            return importer.call(&name, at, &id, &tool, args, true, give);
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            let Some(id) = text(json, "call_id") else {
                return importer.pass("a `function_call_output` without `call_id`");
            };
            let output = LoggedOutcome::Success(result(json.get("output")));
            return importer.outcome(&name, at, &id, output, give);
        }
        _ => {}
    }
    match text(json, "role").as_deref() {
        Some("assistant") => {
            let Some(Json::Array(calls)) = json.get("tool_calls") else { return };
            for call in calls {
                let function = call.get("function").unwrap_or(call);
                let (Some(id), Some(tool)) = (text(call, "id"), text(function, "name")) else {
                    importer.pass("a tool call without id or name");
                    continue;
                };
                let args = arguments(function.get("arguments"));
                importer.call(&name, at, &id, &tool, args, true, give);
            }
        }
        Some("tool") => {
            let Some(id) = text(json, "tool_call_id") else {
                return importer.pass("a message of role `tool` without `tool_call_id`");
            };
            let failed = text(json, "status").as_deref() == Some("error");
            let outcome = if failed {
                LoggedOutcome::Failure
            } else {
                LoggedOutcome::Success(result(json.get("content")))
            };
            importer.outcome(&name, at, &id, outcome, give);
        }
        Some("user") => {
            if let Some(said) = json.get("content").and_then(text_of) {
                importer.prompt(&name, at, &said, give);
            }
        }
        Some("system" | "developer") => {}
        Some(other) => importer.pass(&format!("a message of role `{other}`")),
        None => match text(json, "type") {
            Some(kind) => importer.pass(&format!("an item of type `{kind}` holds no calls")),
            None => importer.pass("it is not a message"),
        },
    }
}

/// Returns the result of a tool, which is a text: parsed if it is JSON.
fn result(content: Option<&Json>) -> Json {
    let content = content.unwrap_or(&Json::Null);
    let Some(text) = text_of(content) else { return content.clone() };
    match Json::parse(&text) {
        Ok(json @ (Json::Object(_) | Json::Array(_))) => json,
        _ => Json::string(&text),
    }
}

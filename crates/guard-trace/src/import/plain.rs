//! Lines of the form `{"tool": …, "args": {…}, "outcome": "success"}`, one call each; `{"prompt":
//! …}` is a user message.

use super::session::LoggedOutcome;
use super::{Importer, RecordSink, arguments, time_of};
use guard_plan::json::Json;

/// Imports one line.
pub(super) fn value(importer: &mut Importer, json: &Json, give: &mut RecordSink<'_>) {
    if let Json::Array(items) = json {
        return items.iter().for_each(|item| value(importer, item, give));
    }
    let any = |names: &[&str]| names.iter().find_map(|name| json.get(name));
    let text = |names: &[&str]| any(names).and_then(Json::as_str);
    let at = time_of(json);
    let Some(builder) = importer.session(text(&["session", "session_id"])) else { return };
    builder.workspace(text(&["workspace", "cwd"]));
    let session = builder.name().to_owned();
    if let Some(said) = text(&["prompt"]) {
        return importer.prompt(&session, at, said, give);
    }
    let Some(tool) = text(&["tool"]) else { return importer.pass("it names no `tool`") };
    let Some(ending) = ending(any(&["outcome", "ok", "success"]), json) else {
        return importer.pass("its `outcome` is not one of success, failure, denied");
    };
    let args = arguments(any(&["args", "arguments", "input"]));
    let ran = ending != LoggedEnding::Denied;
    importer.call(&session, at, "", tool, args, ran, give);
    let outcome = match ending {
        LoggedEnding::Success => {
            LoggedOutcome::Success(json.get("result").cloned().unwrap_or(Json::Null))
        }
        LoggedEnding::Failure => LoggedOutcome::Failure,
        LoggedEnding::Denied => return,
    };
    // The call ends at its start time: a line has only one time.
    let at = at.or_else(|| importer.sessions.get(&session).and_then(|session| session.now()));
    importer.outcome(&session, at, "", outcome, give);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoggedEnding {
    Success,
    Failure,
    Denied,
}

/// Returns the ending of a call; without an outcome it succeeded, unless it has an `error`.
fn ending(outcome: Option<&Json>, json: &Json) -> Option<LoggedEnding> {
    Some(match outcome {
        None if json.get("error").is_some_and(|error| *error != Json::Null) => {
            LoggedEnding::Failure
        }
        None | Some(Json::Bool(true)) => LoggedEnding::Success,
        Some(Json::Bool(false)) => LoggedEnding::Failure,
        Some(Json::String(text)) => match &**text {
            "success" | "succeeded" | "ok" | "allowed" => LoggedEnding::Success,
            "failure" | "failed" | "error" => LoggedEnding::Failure,
            "denied" | "refused" | "blocked" => LoggedEnding::Denied,
            _ => return None,
        },
        Some(_) => return None,
    })
}

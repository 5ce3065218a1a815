//! Results of tools: their kinds, the forms in which a guard can read them, and what the client may see.

use crate::reply::text_block;
use guard_plan::decode::holds_secrets;
use guard_plan::json::Json;
use guard_plan::plan::{Plan, TakenForms, Tool};
use guard_plan::{render, secrecy};

/// The kind of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultKind {
    /// The tool ran and succeeded.
    Succeeded,
    /// The tool ran and failed.
    Failed,
    /// The server asks for inputs, and the client repeats the call.
    InputRequired,
    /// An unknown kind: a task, or a kind of a later version.
    Unknown,
}

impl ResultKind {
    /// Returns the kind of a result.
    pub fn from_result(result: &Json) -> ResultKind {
        let Json::Object(_) = result else { return ResultKind::Unknown };
        // Any value but `false` and `null` is a failure, because clients may take other values for
        // true.
        let failed = !matches!(result.get("isError"), None | Some(Json::Null | Json::Bool(false)));
        match result.get("resultType").map(Json::as_str) {
            Some(Some("input_required")) => ResultKind::InputRequired,
            // A result that is only a reference to a task cannot be checked.
            None | Some(Some("complete")) if result.get("task").is_some() => ResultKind::Unknown,
            None | Some(Some("complete")) if failed => ResultKind::Failed,
            None | Some(Some("complete")) => ResultKind::Succeeded,
            Some(_) => ResultKind::Unknown,
        }
    }
}

/// Returns the forms in which a result can be read, the best first: the structured content, the
/// value that it wraps, the JSON in the text, the text.
pub(crate) fn forms(result: &Json) -> Vec<Json> {
    let mut forms = Vec::new();
    if let Some(structured) = result.get("structuredContent").filter(|json| **json != Json::Null) {
        forms.push(structured.clone());
        // A server library wraps values that are not objects.
        if let Json::Object(members) = structured
            && let [(name, value)] = &members[..]
            && **name == *"result"
        {
            forms.push(value.clone());
        }
    }
    let texts = texts(result);
    let parsed = |text: &&str| Json::parse(text).unwrap_or_else(|_| Json::string(text));
    match &texts[..] {
        [] => {}
        [text] => {
            forms.extend(Json::parse(text).ok());
            forms.push(Json::string(text));
        }
        several => forms.push(Json::Array(several.iter().map(parsed).collect())),
    }
    forms
}

fn texts(result: &Json) -> Vec<&str> {
    let Some(Json::Array(content)) = result.get("content") else { return Vec::new() };
    let text = |block: &Json| block.get("type").and_then(Json::as_str) == Some("text");
    let blocks = content.iter().filter(|block| text(block));
    blocks.filter_map(|block| block.get("text").and_then(Json::as_str)).collect()
}

/// Returns true if the results of a tool contain secrets.
pub(crate) fn is_secret(plan: &Plan, tool: &Tool) -> bool {
    tool.returns.is_some_and(|ty| holds_secrets(&plan.types, ty))
}

/// Returns the result without its secrets, built from the value that was decoded by the declared
/// type. No other part of the server's result is kept.
pub(crate) fn redacted(plan: &Plan, tool: &Tool, form: Option<&Json>, result: &Json) -> Json {
    let hide = |_: &Json| Json::string(render::SECRET);
    let shown = match (tool.returns, form) {
        (Some(ty), Some(form)) => {
            let opened = tool.forms.and_then(|forms| forms.opened(form));
            let shown = secrecy::of_type(&plan.types, ty, opened.as_ref().unwrap_or(form), &hide);
            TakenForms::closed(opened.is_some(), shown)
        }
        _ => Json::string(render::SECRET),
    };
    made_anew(shown, result)
}

/// Returns a result with this value in place of the server's.
pub(crate) fn made_anew(shown: Json, result: &Json) -> Json {
    let text = match &shown {
        Json::String(text) => text.to_string(),
        other => other.to_string(),
    };
    let mut members: Vec<(Box<str>, Json)> =
        vec![("content".into(), Json::Array(vec![text_block(&text)]))];
    match (shown, result.get("structuredContent")) {
        (shown @ Json::Object(_), Some(_)) => members.push(("structuredContent".into(), shown)),
        // A server library wraps values that are not objects.
        (shown, Some(Json::Object(wrapper))) if matches!(&wrapper[..], [(name, _)] if **name == *"result") =>
        {
            let wrapped = Json::Object(vec![("result".into(), shown)]);
            members.push(("structuredContent".into(), wrapped));
        }
        _ => {}
    }
    for name in ["isError", "resultType"] {
        members.extend(result.get(name).map(|value| (name.into(), value.clone())));
    }
    Json::Object(members)
}

/// Adds a text for the agent to a result.
pub(crate) fn with_feedback(result: &Json, feedback: &str) -> Json {
    let Json::Object(members) = result else { return result.clone() };
    let mut members = members.clone();
    match members.iter_mut().find(|(name, _)| **name == *"content") {
        Some((_, Json::Array(content))) => content.push(text_block(feedback)),
        Some((_, content)) => *content = Json::Array(vec![text_block(feedback)]),
        None => members.push(("content".into(), Json::Array(vec![text_block(feedback)]))),
    }
    Json::Object(members)
}

#[cfg(test)]
mod tests {
    use super::{Json, ResultKind, forms};

    fn shown(text: &str) -> Vec<String> {
        forms(&Json::parse(text).unwrap()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn forms_of_results() {
        assert_eq!(shown(r#"{"content": []}"#), Vec::<String>::new());
        assert_eq!(shown(r#"{"content": [{"type": "text", "text": "hi"}]}"#), [r#""hi""#]);
        assert_eq!(shown(r#"{"content": [{"type": "text", "text": "7"}]}"#), ["7", r#""7""#]);
        assert_eq!(
            shown(
                r#"{"structuredContent": {"result": 7}, "content": [{"type": "text", "text": "7"}]}"#
            ),
            [r#"{"result":7}"#, "7", "7", r#""7""#]
        );
        let two = r#"{"content": [{"type": "text", "text": "{}"}, {"type": "image"}, {"type": "text", "text": "x"}]}"#;
        assert_eq!(shown(two), [r#"[{},"x"]"#]);
    }

    #[test]
    fn kinds_of_results() {
        let kind = |text: &str| ResultKind::from_result(&Json::parse(text).unwrap());
        assert_eq!(kind(r#"{"content": []}"#), ResultKind::Succeeded);
        assert_eq!(kind(r#"{"content": [], "isError": "yes"}"#), ResultKind::Failed);
        assert_eq!(kind(r#"{"resultType": "input_required"}"#), ResultKind::InputRequired);
        assert_eq!(kind(r#"{"resultType": "task"}"#), ResultKind::Unknown);
        assert_eq!(kind(r#"{"task": {"taskId": "1"}}"#), ResultKind::Unknown);
        assert_eq!(kind("[]"), ResultKind::Unknown);
    }
}

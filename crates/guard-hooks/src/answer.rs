//! Answers in the format of the host: exactly one JSON object, without members that the host does
//! not know.

use crate::event::{HookEvent, NOT_DONE};
use crate::vocabulary::{AnswerForm, EventMeaning, Vocabulary};
use serde_json::{Map, Value, json};

/// The maximum number of characters of a reason or a context. Hosts truncate longer ones.
const MAX_CHARS: usize = 9_500;

/// The answer to an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookAnswer {
    /// The guard has no objection and no message. The host's own permissions still apply.
    Pass,
    /// The call does not run, the agent does not stop, or a past event is a problem. The agent
    /// reads the reason.
    Deny(String),
    /// A text for the agent.
    Context(String),
    /// A text for the user.
    Notice(String),
}

impl HookAnswer {
    /// Returns the answer in the format of the host, on one line.
    pub fn encode(&self, host: &Vocabulary, event: &HookEvent) -> String {
        let mut answer = Map::new();
        match self {
            HookAnswer::Pass => {}
            HookAnswer::Deny(reason) => deny(&mut answer, host.form, event, &cut(reason)),
            HookAnswer::Context(text) => {
                let context =
                    json!({ "hookEventName": event.name, "additionalContext": cut(text) });
                answer.insert("hookSpecificOutput".into(), context);
            }
            HookAnswer::Notice(text) => {
                answer.insert("systemMessage".into(), cut(text).into());
            }
        }
        Value::Object(answer).to_string()
    }
}

fn deny(answer: &mut Map<String, Value>, form: AnswerForm, event: &HookEvent, reason: &str) {
    let stop = matches!(event.meaning, EventMeaning::Stop | EventMeaning::SubagentStop);
    // A reason must not be empty, because Codex then runs the tool.
    let reason = match (reason.trim(), stop) {
        ("", _) => "the guard gives no reason".to_owned(),
        (_, true) => format!("{NOT_DONE}{reason}"),
        (_, false) => reason.to_owned(),
    };
    if form == AnswerForm::Permission && event.meaning == EventMeaning::BeforeTool {
        let decision = json!({
            "hookEventName": event.name,
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        });
        answer.insert("hookSpecificOutput".into(), decision);
        return;
    }
    let decision = match form {
        AnswerForm::Permission => "block",
        AnswerForm::Decision => "deny",
    };
    answer.insert("decision".into(), decision.into());
    answer.insert("reason".into(), reason.into());
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

//! Decoded events of a host. A tool event that cannot be parsed completely is an error, never a
//! guess.

use crate::envelope::Members;
use crate::fingerprint;
use crate::vocabulary::{EventMeaning, ShellResult, Vocabulary};
use std::fmt;

/// The first words of every reason for a blocked stop. They identify a reason that the host repeats
/// as a prompt, although no user wrote it.
pub(crate) const NOT_DONE: &str = "[guard] ";

/// An event in the form that the guard needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEvent {
    /// The host's name of the event.
    pub name: String,
    /// The host's id of the session.
    pub session: String,
    /// The current working directory of the agent.
    pub cwd: Option<String>,
    /// The event's meaning.
    pub meaning: EventMeaning,
    /// The contents.
    pub action: EventAction,
}

/// The contents of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventAction {
    /// A call must be decided.
    Propose(ToolCall),
    /// Calls have ended. `strict` is false if calls that the guard does not know are not an error.
    Settle {
        /// The calls with their endings.
        calls: Vec<(ToolCall, ToolEnding)>,
        /// True if each call must be in flight.
        strict: bool,
    },
    /// The user wrote this message.
    Prompt(String),
    /// The agent, or a sub-agent, wants to stop.
    Stop,
    /// The session begins or continues.
    Start,
    /// There is nothing to decide.
    Pass,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The host's id of the call, if it has one.
    pub id: Option<String>,
    /// The name of the tool.
    pub tool: String,
    /// The arguments, as JSON text.
    pub args: String,
}

impl ToolCall {
    /// Returns a text that is the same for the same tool and arguments.
    pub fn fingerprint(&self) -> String {
        fingerprint::fingerprint(&self.tool, &self.args)
    }
}

/// The ending of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolEnding {
    /// The call succeeded, with this result as JSON text.
    Success(Option<String>),
    /// The call failed, or never ran.
    Failure,
}

/// The reason why an event cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventError(pub String);

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EventError {}

impl From<String> for EventError {
    fn from(why: String) -> EventError {
        EventError(why)
    }
}

impl HookEvent {
    /// Parses the JSON of an event.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not one JSON object, if a required member is missing or
    /// has another type, or if an unknown event contains a tool call.
    pub fn read(host: &Vocabulary, bytes: &[u8]) -> Result<HookEvent, EventError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            EventError(format!("the event is not UTF-8, at byte {}", error.valid_up_to()))
        })?;
        if text.trim().is_empty() {
            return Err(EventError("the event is empty".into()));
        }
        let members = Members::read(text).map_err(|why| format!("the event is not JSON: {why}"))?;
        let name = members.required("hook_event_name")?;
        let meaning = match host.meaning(&name) {
            Some(meaning) => meaning,
            // If such an event passed, a call could run without a decision.
            None if members.text("tool_name").is_some() => {
                let why = format!("the event `{name}` is not known, and it carries a tool call");
                return Err(EventError(why));
            }
            None => EventMeaning::Pass,
        };
        let session = match meaning {
            // An event with nothing to decide must not fail, because a failure blocks.
            EventMeaning::Pass => members.string("session_id")?.unwrap_or_default(),
            _ => members.required("session_id")?,
        };
        let cwd = members.string("cwd")?;
        let action = action(host, meaning, &members)?;
        Ok(HookEvent { name, session, cwd, meaning, action })
    }
}

fn action(
    host: &Vocabulary,
    meaning: EventMeaning,
    members: &Members<'_>,
) -> Result<EventAction, EventError> {
    Ok(match meaning {
        EventMeaning::BeforeTool => EventAction::Propose(call(host, members)?),
        EventMeaning::AfterTool => {
            let ending = ending(host, members);
            EventAction::Settle { calls: vec![(call(host, members)?, ending)], strict: true }
        }
        EventMeaning::AfterFailure => EventAction::Settle {
            calls: vec![(call(host, members)?, ToolEnding::Failure)],
            strict: true,
        },
        // Without an id, the refusal cannot be assigned to a call; that call then stays in flight.
        EventMeaning::Refused => match host.call_id.and_then(|id| members.text(id)) {
            Some(_) => {
                let calls = vec![(call(host, members)?, ToolEnding::Failure)];
                // The call may have been denied by the guard before, so that none is in flight.
                EventAction::Settle { calls, strict: false }
            }
            None => EventAction::Pass,
        },
        EventMeaning::AfterBatch => {
            // Most of these calls are settled already, by the events after each tool.
            EventAction::Settle { calls: batch(host, members)?, strict: false }
        }
        EventMeaning::Prompt => prompt(host, members)?,
        EventMeaning::Stop | EventMeaning::SubagentStop => EventAction::Stop,
        EventMeaning::SessionStart => EventAction::Start,
        EventMeaning::Pass => EventAction::Pass,
    })
}

fn call(host: &Vocabulary, members: &Members<'_>) -> Result<ToolCall, EventError> {
    let tool = members.required("tool_name")?;
    let id = host.call_id.map(|id| members.required(id)).transpose()?;
    let args = members.text("tool_input").ok_or("`tool_input` is missing".to_owned())?;
    Ok(ToolCall { id, tool, args: guard_plan::naming::named_arguments(args)? })
}

/// Returns the calls of a step, which the host lists again. Calls without a result did not run.
fn batch(
    host: &Vocabulary,
    members: &Members<'_>,
) -> Result<Vec<(ToolCall, ToolEnding)>, EventError> {
    let calls = members.text("tool_calls").ok_or("`tool_calls` is missing".to_owned())?;
    let calls: Vec<&serde_json::value::RawValue> =
        serde_json::from_str(calls).map_err(|_| "`tool_calls` is not an array".to_owned())?;
    let entry = |raw: &&serde_json::value::RawValue| {
        let members = Members::read(raw.get()).map_err(|why| format!("`tool_calls`: {why}"))?;
        let ending = match members.text("tool_response") {
            Some(_) => ending(host, &members),
            None => ToolEnding::Failure,
        };
        Ok((call(host, &members)?, ending))
    };
    calls.iter().map(entry).collect()
}

/// Returns the ending that a result shows. If the host reports failed commands as results, the
/// failure is in the text of the shell's result.
fn ending(host: &Vocabulary, members: &Members<'_>) -> ToolEnding {
    let Some(text) = members.text("tool_response") else { return ToolEnding::Success(None) };
    let Some(shell) = host.shell_result else {
        return ToolEnding::Success(Some(text.to_owned()));
    };
    // The texts of other tools are files and pages, whose lines state no ending.
    let is_shell =
        members.string("tool_name").is_ok_and(|name| name.as_deref() == Some(shell.tool));
    let failed = match serde_json::from_str::<serde_json::Value>(text) {
        Ok(response) => {
            !response["error"].is_null() || (is_shell && command_failed(&shell, &response))
        }
        Err(_) => false,
    };
    if failed { ToolEnding::Failure } else { ToolEnding::Success(Some(text.to_owned())) }
}

/// Returns true if a result of the shell shows that the command failed, or did not run to its end.
fn command_failed(shell: &ShellResult, response: &serde_json::Value) -> bool {
    let shown = response["llmContent"].as_str().unwrap_or_default();
    if shell.unfinished.iter().any(|beginning| shown.starts_with(beginning)) {
        return true;
    }
    // A command can print such lines itself, so the output is cut off where the host repeats it.
    // Otherwise the last line counts: only a success may be taken for a failure then.
    let output = response["returnDisplay"].as_str().unwrap_or_default();
    let after = shown.strip_prefix(shell.output).and_then(|rest| rest.strip_prefix(output));
    let after = after.unwrap_or(shown);
    shell.endings.iter().any(|(label, fine)| {
        let status = after.lines().rev().find_map(|line| line.strip_prefix(label));
        status.is_some_and(|status| !fine.contains(&status.trim()))
    })
}

fn prompt(host: &Vocabulary, members: &Members<'_>) -> Result<EventAction, EventError> {
    let text = members.string("prompt")?.ok_or("`prompt` is missing".to_owned())?;
    let source = members.string("source")?;
    // A prompt that the user did not type teaches nothing, because it could contain words of the
    // agent.
    let typed = match (host.prompt_source, source) {
        (Some(sources), Some(source)) => sources.contains(&source.as_str()),
        _ => true,
    };
    // A repeated reason must not count as the user's words, because they may mention values of the
    // agent.
    if typed && !text.starts_with(NOT_DONE) {
        Ok(EventAction::Prompt(text))
    } else {
        Ok(EventAction::Pass)
    }
}

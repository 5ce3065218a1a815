//! The settings of a host, with or without our hook. Only the text of the hook changes: comments,
//! unknown members, order and layout of everything else are preserved.

mod edit;
mod tree;

use crate::vocabulary::{TimeUnit, Vocabulary};
use edit::Editor;
use serde_json::{Value, json};
use std::fmt;
use tree::JsonNode;

/// The reason why settings cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError(pub String);

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}

/// One of our hooks in the settings.
#[derive(Debug, Clone, PartialEq)]
pub struct InstalledHook {
    /// The event.
    pub event: String,
    /// The matcher of its group.
    pub matcher: Option<String>,
    /// The hook: its command, its time limit and the rest.
    pub hook: Value,
}

impl InstalledHook {
    /// Returns the command line.
    pub fn command(&self) -> &str {
        self.hook["command"].as_str().unwrap_or_default()
    }
}

/// Returns true if a command line is one of ours, for a host.
pub fn is_ours(host: &Vocabulary, command: &str) -> bool {
    command.contains("guardc") && command.contains(&format!(" hook {} ", host.name))
}

/// Returns the settings with our hook at each event of the host. Settings that already have it are
/// unchanged.
///
/// # Errors
///
/// Returns an error if the text is not JSON (with comments), or a member on the path to the hooks
/// has another type.
pub fn install(
    host: &Vocabulary,
    text: &str,
    command: &str,
    timeout_seconds: u64,
) -> Result<String, SettingsError> {
    let mut editor = Editor::new(if text.trim().is_empty() { "{}\n" } else { text });
    // INVARIANT: each round corrects one event; the limit only ends the loop after a bug of ours.
    for _ in 0..1000 {
        let root = editor.parse()?;
        let Some(step) = next_step(host, &root, &editor, command, timeout_seconds)? else {
            return Ok(editor.text);
        };
        editor.apply(step);
    }
    Err(SettingsError("the settings cannot be brought into the form that is needed".into()))
}

/// Returns the settings without our hooks.
///
/// # Errors
///
/// The errors of [`install`].
pub fn uninstall(host: &Vocabulary, text: &str) -> Result<String, SettingsError> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let mut editor = Editor::new(text);
    for _ in 0..1000 {
        let root = editor.parse()?;
        let Some(step) = next_removal(host, &root, &editor, &|_, _| false)? else {
            return Ok(editor.text);
        };
        editor.apply(step);
    }
    Err(SettingsError("the settings cannot be brought into the form that is needed".into()))
}

/// Returns our hooks in the settings.
///
/// # Errors
///
/// The errors of [`install`].
pub fn installed(host: &Vocabulary, text: &str) -> Result<Vec<InstalledHook>, SettingsError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let editor = Editor::new(text);
    let root = editor.parse()?;
    let mut found = Vec::new();
    let Some(hooks) = hooks_of(&root)? else { return Ok(found) };
    for (event, groups) in hooks.members() {
        for group in groups.items() {
            let matcher = group.member("matcher").and_then(|node| node.as_text(&editor.text));
            for hook in group.member("hooks").into_iter().flat_map(JsonNode::items) {
                let hook = hook.to_value(&editor.text);
                if hook["command"].as_str().is_some_and(|command| is_ours(host, command)) {
                    let event = event.to_owned();
                    let matcher = matcher.clone();
                    found.push(InstalledHook { event, matcher, hook });
                }
            }
        }
    }
    Ok(found)
}

/// One change of the text.
pub(crate) enum EditStep {
    /// A new member of the object at this place.
    Member(JsonNode, String, Value),
    /// A new element of the array at this place.
    Item(JsonNode, Value),
    /// The removal of this element of an array.
    RemoveItem(JsonNode, usize),
    /// The removal of this member of an object.
    RemoveMember(JsonNode, usize),
}

/// Returns the group of hooks that an event should have.
fn group(host: &Vocabulary, matcher: Option<&str>, command: &str, timeout_seconds: u64) -> Value {
    let timeout = match host.time_unit {
        TimeUnit::Seconds => timeout_seconds,
        TimeUnit::Milliseconds => timeout_seconds * 1000,
    };
    let mut hook = json!({ "type": "command", "command": command, "timeout": timeout });
    for (name, value) in host.fail_closed {
        hook[*name] = (*value).into();
    }
    let mut group = json!({ "hooks": [hook] });
    if let Some(matcher) = matcher {
        group["matcher"] = matcher.into();
    }
    group
}

fn next_step(
    host: &Vocabulary,
    root: &JsonNode,
    editor: &Editor,
    command: &str,
    timeout_seconds: u64,
) -> Result<Option<EditStep>, SettingsError> {
    let wanted = |event: &str| {
        let registered = host.registered.iter().find(|(name, _)| *name == event);
        registered.map(|(_, matcher)| group(host, *matcher, command, timeout_seconds))
    };
    // First, our hooks that are not as they should be are removed.
    let keep = |event: &str, found: &Value| wanted(event).is_some_and(|wanted| wanted == *found);
    if let Some(step) = next_removal(host, root, editor, &keep)? {
        return Ok(Some(step));
    }
    let Some(hooks) = hooks_of(root)? else {
        return Ok(Some(EditStep::Member(root.clone(), "hooks".into(), json!({}))));
    };
    for (event, _) in host.registered {
        let Some(groups) = hooks.member(event) else {
            return Ok(Some(EditStep::Member(hooks.clone(), (*event).into(), json!([]))));
        };
        let wanted = wanted(event).unwrap_or_default();
        if !groups.items().any(|found| found.to_value(&editor.text) == wanted) {
            return Ok(Some(EditStep::Item(groups.clone(), wanted)));
        }
    }
    Ok(None)
}

/// Returns the next hook of ours to remove, including containers that become empty. `keep` is asked
/// about groups that contain only our hooks. The first one of an event that is kept stays; another
/// one is removed.
fn next_removal(
    host: &Vocabulary,
    root: &JsonNode,
    editor: &Editor,
    keep: &dyn Fn(&str, &Value) -> bool,
) -> Result<Option<EditStep>, SettingsError> {
    let Some(hooks) = hooks_of(root)? else { return Ok(None) };
    let ours = |hook: &JsonNode| {
        let hook = hook.to_value(&editor.text);
        hook["command"].as_str().is_some_and(|command| is_ours(host, command))
    };
    for (at, (event, groups)) in hooks.members().enumerate() {
        let mut kept = false;
        for (number, found) in groups.items().enumerate() {
            let Some(list) = found.member("hooks") else { continue };
            let Some(place) = list.items().position(ours) else { continue };
            if !kept && keep(event, &found.to_value(&editor.text)) {
                kept = true;
                continue;
            }
            if list.items().count() > 1 {
                return Ok(Some(EditStep::RemoveItem(list.clone(), place)));
            }
            if groups.items().count() > 1 {
                return Ok(Some(EditStep::RemoveItem(groups.clone(), number)));
            }
            if hooks.members().count() > 1 {
                return Ok(Some(EditStep::RemoveMember(hooks.clone(), at)));
            }
            let place = root.members().position(|(name, _)| name == "hooks").unwrap_or_default();
            return Ok(Some(EditStep::RemoveMember(root.clone(), place)));
        }
    }
    Ok(None)
}

/// Returns the object of hooks, if there is one.
fn hooks_of(root: &JsonNode) -> Result<Option<&JsonNode>, SettingsError> {
    if !root.is_object() {
        return Err(SettingsError("the settings are not a JSON object".into()));
    }
    let Some(hooks) = root.member("hooks") else { return Ok(None) };
    if !hooks.is_object() {
        return Err(SettingsError("`hooks` is not an object".into()));
    }
    for (event, groups) in hooks.members() {
        // Other members of `hooks` are settings of the host.
        if groups.is_object() {
            return Err(SettingsError(format!("`hooks.{event}` is not an array")));
        }
    }
    Ok(Some(hooks))
}

#[cfg(test)]
mod tests;

//! The `permissions` of Claude Code's settings. Deny rules take precedence over ask rules, and both
//! over allow rules.

use super::{CallPattern, StaticDecision, StaticRule};
use serde_json::json;
use std::collections::BTreeSet;

/// The tools with paths: the parameter, and the name of the tool in the rules.
const PATH_TOOLS: [(&str, &str, &str); 3] =
    [("Read", "file_path", "Read"), ("Write", "file_path", "Edit"), ("Edit", "file_path", "Edit")];

/// Returns the respect in which the rule is weaker, or the reason why there is none.
pub(super) fn says(rule: &StaticRule) -> Result<&'static str, &'static str> {
    match &rule.pattern {
        CallPattern::Every if is_tool_name(&rule.tool) => {
            Ok("every call is meant, as in the guard")
        }
        CallPattern::Words { param, .. } if rule.tool == "Bash" && param == "command" => Ok(
            "other spellings of a command pass: paths, options before the subcommand, other programs that run it",
        ),
        CallPattern::Host { param, .. } if rule.tool == "WebFetch" && param == "url" => {
            Ok("shell commands pass")
        }
        CallPattern::FileName { param, name: text }
        | CallPattern::FileEnding { param, ending: text }
        | CallPattern::Below { param, folder: text } => {
            let named = |(tool, its, _): &&(&str, &str, &str)| *tool == rule.tool && its == param;
            if PATH_TOOLS.iter().any(|tool| named(&tool)) && is_plain_path(text) {
                Ok(
                    "shell commands and links pass; the host has one rule for all tools that change files",
                )
            } else {
                Err("the host has no rule for paths of this tool")
            }
        }
        _ => Err("the host has no rule for this argument"),
    }
}

/// Returns true if both tools change files, so that the same rules apply to them.
pub(super) fn means(tool: &str, other: &str) -> bool {
    let edits =
        |tool: &str| PATH_TOOLS.iter().any(|(name, _, rule)| *name == tool && *rule == "Edit");
    edits(tool) && edits(other)
}

/// Returns the settings.
pub(super) fn text(rules: &[StaticRule]) -> String {
    let patterns = |decision: StaticDecision| -> BTreeSet<String> {
        rules.iter().filter(|rule| rule.decision == decision).map(written).collect()
    };
    let deny = patterns(StaticDecision::Deny);
    let ask = patterns(StaticDecision::Ask);
    let settings = json!({ "permissions": { "ask": ask, "deny": deny } });
    format!("{settings:#}\n")
}

fn written(rule: &StaticRule) -> String {
    let tool = &rule.tool;
    let named =
        PATH_TOOLS.iter().find(|(name, _, _)| name == tool).map_or(&**tool, |(_, _, rule)| rule);
    match &rule.pattern {
        CallPattern::Every | CallPattern::Text { .. } => tool.clone(),
        CallPattern::Words { words, .. } => format!("{tool}({} *)", words.join(" ")),
        CallPattern::FileName { name, .. } => format!("{named}(//**/{name})"),
        CallPattern::FileEnding { ending, .. } => format!("{named}(//**/*{ending})"),
        // One slash stands for the folder of the settings, two for the root of the file system.
        CallPattern::Below { folder, .. } => format!("{named}(/{folder}/**)"),
        CallPattern::Host { host, .. } => format!("{tool}(domain:{host})"),
    }
}

/// Returns true if path patterns match the text literally.
fn is_plain_path(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "._-/+@".contains(c))
}

fn is_tool_name(tool: &str) -> bool {
    !tool.is_empty() && tool.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}

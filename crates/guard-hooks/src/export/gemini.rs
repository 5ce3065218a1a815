//! The policies of Gemini CLI. The matching rule with the highest priority applies.

use super::{CallPattern, StaticDecision, StaticRule};
use serde_json::json;
use std::fmt::Write as _;

/// Returns the respect in which the rule is weaker, or the reason why there is none.
pub(super) fn says(rule: &StaticRule) -> Result<&'static str, &'static str> {
    match &rule.pattern {
        CallPattern::Every => Ok("every call is meant, as in the guard"),
        CallPattern::Words { param, .. }
            if rule.tool == "run_shell_command" && param == "command" =>
        {
            Ok(
                "other spellings of a command pass: paths, options before the subcommand, other programs that run it",
            )
        }
        CallPattern::Words { .. } => Err("the host has no rule for commands of this tool"),
        CallPattern::Below { .. } => {
            Ok("other spellings of a path pass, and shell commands and links")
        }
        CallPattern::FileName { .. } | CallPattern::FileEnding { .. } => {
            Ok("shell commands and links pass")
        }
        CallPattern::Host { .. } => Ok("other spellings of a host pass, and shell commands"),
        CallPattern::Text { .. } => Ok("the same text is meant, as in the guard"),
    }
}

/// Returns the file of policies.
pub(super) fn text(rules: &[StaticRule]) -> String {
    let mut out = String::from(
        "# Written by guardc export: what these policies can say of a guard, and no more.\n",
    );
    for rule in rules {
        for condition in conditions(&rule.pattern) {
            let _ = write!(out, "\n[[rule]]\ntoolName = {}\n{condition}", json!(rule.tool));
            let said = match rule.decision {
                StaticDecision::Deny => {
                    format!(
                        "decision = \"deny\"\npriority = 900\ndenyMessage = {}\n",
                        json!(rule.because)
                    )
                }
                // In planning mode the host itself is stricter.
                StaticDecision::Ask => "decision = \"ask_user\"\npriority = 800\n\
                    modes = [\"default\", \"autoEdit\", \"yolo\"]\n"
                    .to_owned(),
            };
            out.push_str(&said);
        }
    }
    out
}

/// Returns the conditions of the rules for a pattern, one per line. Patterns are tested on the
/// arguments as JSON.
fn conditions(pattern: &CallPattern) -> Vec<String> {
    let start = |param: &str| format!("\"{}\":\"", escaped(param));
    let pattern_line = |patterns: &[String]| -> Vec<String> {
        patterns.iter().map(|pattern| format!("argsPattern = {}\n", json!(pattern))).collect()
    };
    match pattern {
        CallPattern::Every => vec![String::new()],
        CallPattern::Words { words, .. } => {
            vec![format!("commandPrefix = {}\n", json!(words.join(" ")))]
        }
        CallPattern::FileName { param, name } => {
            let name = in_json(name);
            pattern_line(&[
                format!("{}{name}\"", start(param)),
                format!("{}[^\"]*/{name}\"", start(param)),
            ])
        }
        CallPattern::FileEnding { param, ending } => {
            pattern_line(&[format!("{}[^\"]*{}\"", start(param), in_json(ending))])
        }
        CallPattern::Below { param, folder } => {
            let folder = in_json(folder);
            // A path that leads out of the folder again is left to the guard.
            pattern_line(&[format!("{}(?![^\"]*\\.\\.){folder}[/\"]", start(param))])
        }
        CallPattern::Host { param, host } => {
            pattern_line(&[format!("{}[a-z]+://{}[/:?#\"]", start(param), in_json(host))])
        }
        CallPattern::Text { param, text } => {
            pattern_line(&[format!("{}{}\"", start(param), in_json(text))])
        }
    }
}

/// Returns a text in its form within a JSON string, for a regular expression.
fn in_json(text: &str) -> String {
    let json = json!(text).to_string();
    escaped(json.trim_start_matches('"').strip_suffix('"').unwrap_or_default())
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "-[]{}()*+?.,\\^$|#\"/".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

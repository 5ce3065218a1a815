//! The rules of Codex CLI's `execpolicy`: prefixes of commands. If several match, the strictest
//! applies.

use super::{CallPattern, ExportExample, StaticDecision, StaticRule};
use serde_json::json;
use std::fmt::Write as _;

/// The maximum number of examples of one kind in a rule.
const MAX_EXAMPLES: usize = 3;

/// Returns the respect in which the rule is weaker, or the reason why there is none.
pub(super) fn says(rule: &StaticRule) -> Result<&'static str, &'static str> {
    match &rule.pattern {
        CallPattern::Words { param, .. } if rule.tool == "Bash" && param == "command" => Ok(
            "other spellings of a command pass: paths, options before the subcommand, other programs that run it",
        ),
        _ => Err("the host has rules for the beginnings of commands only"),
    }
}

/// Returns the file of rules.
pub(super) fn text(rules: &[StaticRule], examples: &[ExportExample]) -> String {
    let mut out = String::from(
        "# Written by guardc export: what these rules can say of a guard, and no more.\n",
    );
    for rule in rules {
        let CallPattern::Words { param, words } = &rule.pattern else { continue };
        let decision = match rule.decision {
            StaticDecision::Deny => "forbidden",
            StaticDecision::Ask => "prompt",
        };
        let of_tool = examples.iter().filter(|example| example.tool == rule.tool);
        let mut met = Vec::new();
        let mut other = Vec::new();
        for example in of_tool {
            let Some(command) = example.words(param) else { continue };
            match (example.runs, command.starts_with(words)) {
                (false, true) => met.push(command),
                (true, false) => other.push(command),
                _ => {}
            }
        }
        // The most similar examples come first: those of the same program.
        other.sort_by_key(|command| command.first() != words.first());
        let _ = write!(
            out,
            "\nprefix_rule(\n    pattern = {},\n    decision = \"{decision}\",\n    justification = {},\n",
            json!(words),
            json!(rule.because)
        );
        for (name, commands) in [("match", met), ("not_match", other)] {
            if !commands.is_empty() {
                let _ = writeln!(out, "    {name} = [");
                for command in commands.iter().take(MAX_EXAMPLES) {
                    let _ = writeln!(out, "        {},", json!(command));
                }
                out.push_str("    ],\n");
            }
        }
        out.push_str(")\n");
    }
    out
}

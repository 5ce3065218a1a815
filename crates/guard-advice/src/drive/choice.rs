//! A reasoner's choice, parsed from its reply.

mod contract;

use guard_plan::json::Json;
use guard_plan::render;

/// The maximum length of a reply, in bytes.
pub const MAX_REPLY_BYTES: usize = 1 << 20;

/// A reasoner's choice.
#[derive(Debug, Clone, PartialEq)]
pub enum Choice {
    /// Calls a tool: `{"action": "…", "args": {…}, "reasoning": "…"}`.
    Act {
        /// The name of a tool.
        action: String,
        /// The arguments, an object; `None` if the advice chooses them.
        args: Option<Json>,
        /// The reasoning.
        reasoning: String,
    },
    /// Stops: `{"stop": true, "reasoning": "…"}`.
    Stop {
        /// The reasoning.
        reasoning: String,
    },
}

impl Choice {
    /// Parses a reply: one JSON object, by itself, in a fence, in prose or after reasoning. Text
    /// that is not strict JSON is parsed as a contract parses it: nothing is guessed, and among
    /// several documents the last is the choice. Unknown members are ignored.
    ///
    /// # Errors
    ///
    /// Returns the problem of the reply: there is no object, it is cut off, or a member is wrong.
    pub fn read(text: &str) -> Result<Choice, String> {
        if text.len() > MAX_REPLY_BYTES {
            return Err(format!("the reply is longer than {MAX_REPLY_BYTES} bytes"));
        }
        let json = match Json::parse(text) {
            Ok(json @ Json::Object(_)) => json,
            // JSON of another kind is a clear answer of the wrong form, in which no object is
            // searched.
            Ok(json) => return Err(format!("the reply is {}, not an object", json.kind())),
            Err(error) => {
                contract::read(text)?.ok_or_else(|| format!("the reply is not JSON: {error}"))?
            }
        };
        let reasoning = match json.get("reasoning") {
            None | Some(Json::Null) => String::new(),
            Some(json) => words(json, "reasoning")?,
        };
        let stop = match json.get("stop") {
            None | Some(Json::Null) => false,
            Some(Json::Bool(stop)) => *stop,
            Some(other) => return Err(format!("`stop` is {}, not a boolean", other.kind())),
        };
        let action = match json.get("action") {
            None | Some(Json::Null) => None,
            Some(json) => Some(words(json, "action")?),
        };
        let args = match json.get("args") {
            None | Some(Json::Null) => None,
            Some(args @ Json::Object(_)) => Some(args.clone()),
            Some(other) => return Err(format!("`args` is {}, not an object", other.kind())),
        };
        match (action, stop) {
            (Some(action), false) => Ok(Choice::Act { action, args, reasoning }),
            (None, true) => Ok(Choice::Stop { reasoning }),
            (Some(_), true) => Err("the reply names an action and asks to stop".into()),
            (None, false) => Err("the reply names no action and does not ask to stop".into()),
        }
    }
}

fn words(json: &Json, name: &str) -> Result<String, String> {
    json.as_str()
        .map(String::from)
        .ok_or_else(|| format!("`{name}` is {}, not a string", render::cut(json.kind(), 20)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown = match Choice::read(text) {
            Ok(Choice::Act { action, args, reasoning }) => {
                let args = args.map(|args| args.to_string()).unwrap_or_default();
                format!("{action} {args} {reasoning}").trim().to_owned()
            }
            Ok(Choice::Stop { reasoning }) => format!("stop {reasoning}").trim().to_owned(),
            Err(why) => format!("error: {why}"),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn replies() {
        check(r#" {"action": "test", "reasoning": "next", "mood": 3} "#, "test  next");
        check(r#"{"action":"f","args":{"n":1}}"#, r#"f {"n":1}"#);
        check(r#"{"action":"f","args":null,"stop":false}"#, "f");
        check(r#"{"stop":true,"reasoning":"done"}"#, "stop done");
        check("I think", "error: the reply is not JSON: expected a value at line 1, column 1");
        check("```json\n{\"action\":\"f\"}\n```", "f");
        check(
            "I choose:\n```json\n{\"action\":\"f\",\"args\":{\"n\":1}}\n```\nbecause",
            r#"f {"n":1}"#,
        );
        check(r#"<think>{"action":"f"}</think>{"action":"g"}"#, "g");
        check("{'stop': True, /* done */}", "stop");
        check(r#"{"action":"f","args":{"n":1"#, "error: the reply is cut");
        check("[]", "error: the reply is an array, not an object");
        check("{}", "error: the reply names no action and does not ask to stop");
        check(r#"{"action":"f","stop":true}"#, "error: the reply names an action and asks to stop");
        check(r#"{"action":7}"#, "error: `action` is a number, not a string");
        check(r#"{"action":"f","args":"x"}"#, "error: `args` is a string, not an object");
        check(r#"{"stop":"yes"}"#, "error: `stop` is a string, not a boolean");
        check(r#"{"action":"f","action":"g"}"#, "error: `action`: it occurs twice");
        check(&" ".repeat(MAX_REPLY_BYTES + 1), "error: the reply is longer than 1048576 bytes");
    }
}

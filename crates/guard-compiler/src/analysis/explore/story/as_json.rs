//! A session as JSON, for other programs.

use super::super::session::{Act, ExploredEnding, ExploredSession, SessionStep, StepReply};
use super::world_words;
use guard_plan::json::Json;
use guard_plan::time::format_rfc3339;
use guard_plan::verdict::Decision;

impl ExploredSession {
    /// Returns the last step with another guard's reply, as JSON; `null` without a step.
    pub fn said_json(&self, other: &StepReply) -> Json {
        match self.steps.last() {
            Some(last) => {
                step_json(&SessionStep { said: other.clone(), changes: Vec::new(), ..last.clone() })
            }
            None => Json::Null,
        }
    }

    /// The session as JSON: steps with what happens, the world that was asked, and what was said.
    pub fn to_json(&self) -> Json {
        let steps = self.steps.iter().map(step_json).collect();
        let mut members = Vec::new();
        if let Some(data) = &self.data {
            members.push(("data".into(), data.clone()));
        }
        members.push(("start".into(), Json::string(&format_rfc3339(self.start))));
        members.push(("steps".into(), Json::Array(steps)));
        Json::Object(members)
    }
}

fn step_json(step: &SessionStep) -> Json {
    let text = |text: &str| Json::string(text);
    let mut members: Vec<(Box<str>, Json)> = Vec::new();
    let mut add = |name: &str, value: Json| members.push((name.into(), value));
    match &step.act {
        Act::Call { id, tool, args, then } => {
            add("call", text(id));
            add("tool", text(tool));
            add("args", args.clone());
            let (ends, result) = match then {
                ExploredEnding::Succeeds(result) => ("succeeds", result.as_ref()),
                ExploredEnding::Unreadable => ("undecoded", None),
                ExploredEnding::Fails => ("fails", None),
                ExploredEnding::Flies => ("in_flight", None),
            };
            if step.said.decision == Some(Decision::Allow) {
                add("then", text(ends));
                if let Some(result) = result {
                    add("result", result.clone());
                }
            }
        }
        Act::Settle(id, then) => {
            add("settle", text(id));
            add("success", Json::Bool(!matches!(then, ExploredEnding::Fails)));
        }
        Act::Approve { tool, args, role } => {
            add("approve", text(tool));
            add("args", args.clone());
            add("role", text(role));
        }
        Act::Wait(millis) => add("wait_ms", Json::Int(*millis)),
        Act::Prompt(said) => add("prompt", text(said)),
        Act::Usage(unit, amount) => {
            add("usage", text(unit));
            add("amount", text(&guard_plan::decimal::format(*amount)));
        }
        Act::Resume => add("resume", Json::Bool(true)),
        Act::Verify(item) => add("verify", text(item)),
        Act::Move(item, transition) => {
            add("move", text(item));
            add("by", text(transition));
        }
        Act::Stop => add("stop", Json::Bool(true)),
    }
    if let Some(decision) = step.said.decision {
        add("decision", text(&format!("{decision:?}").to_lowercase()));
    }
    let reasons = step.said.reasons.iter().map(|r| {
        let needs = r.3.iter().map(|n| text(n)).collect();
        Json::Object(vec![
            ("code".into(), text(r.0.as_str())),
            ("rule".into(), text(&r.1)),
            ("needs".into(), Json::Array(needs)),
        ])
    });
    let reasons: Vec<Json> = reasons.collect();
    if !reasons.is_empty() {
        add("reasons", Json::Array(reasons));
    }
    let world: Vec<Json> =
        step.world.iter().filter_map(|(a, b)| world_words(a, b)).map(|w| text(&w)).collect();
    if !world.is_empty() {
        add("world", Json::Array(world));
    }
    let changes = step.changes.iter().map(|(name, before, after)| {
        let pair = Json::Array(vec![text(before), text(after)]);
        (name.as_str().into(), pair)
    });
    let changes: Vec<(Box<str>, Json)> = changes.collect();
    if !changes.is_empty() {
        add("changes", Json::Object(changes));
    }
    Json::Object(members)
}

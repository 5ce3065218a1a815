//! The expectations of a case, which are the observations on the reference evaluator.

use super::scenario::GeneratedScenario;
use guard_ack::RunSeen;
use guard_ack::protocol::{LoopEndKind, ModelMessage, Role};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The expectations of a scenario.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Expected {
    /// The shown texts by turn, as written in a case.
    pub sees: Vec<Vec<String>>,
    pub executed: Vec<String>,
    pub approvals: Vec<String>,
    pub ended: String,
    pub together: Vec<[String; 2]>,
    pub apart: Vec<[String; 2]>,
}

impl Expected {
    /// Returns empty expectations.
    pub fn nothing() -> Expected {
        Expected { ended: "stopped".into(), ..Expected::default() }
    }

    /// Returns the expectations from the observations.
    pub fn from_run(scenario: &GeneratedScenario, seen: &RunSeen) -> Expected {
        let ids = ids(scenario, seen);
        let id = |wire: &str| ids.get(wire).cloned().unwrap_or_default();
        let mut expected = Expected {
            sees: sees(scenario, seen, &ids),
            executed: seen.executed.iter().map(|call| id(&call.call.call)).collect(),
            approvals: seen
                .approvals
                .iter()
                .map(|approval| format!("{} {}", id(&approval.call), approval.role))
                .collect(),
            ended: seen.end.as_ref().map_or(LoopEndKind::Error, |end| end.ended).to_string(),
            ..Expected::default()
        };
        for (at, turn) in scenario.turns.iter().enumerate().filter(|(_, turn)| turn.overlap) {
            let here: Vec<String> =
                (0..turn.calls.len()).map(|place| GeneratedScenario::id(at, place)).collect();
            let ran: Vec<_> =
                seen.executed.iter().filter(|call| here.contains(&id(&call.call.call))).collect();
            for (place, call) in ran.iter().enumerate() {
                for other in &ran[place + 1..] {
                    let pair = [id(&call.call.call), id(&other.call.call)];
                    if call.beside(other) {
                        expected.together.push(pair)
                    } else {
                        expected.apart.push(pair)
                    }
                }
            }
        }
        expected
    }

    /// Writes the end of a case.
    pub fn toml(&self, out: &mut String) {
        let list = |items: &[String]| Value::from(items.to_vec());
        let _ = writeln!(out, "\n[expect]\nexecuted = {}", list(&self.executed));
        let _ = writeln!(out, "ended = \"{}\"", self.ended);
        if !self.approvals.is_empty() {
            let _ = writeln!(out, "approvals = {}", list(&self.approvals));
        }
        for (name, pairs) in [("together", &self.together), ("apart", &self.apart)] {
            if !pairs.is_empty() {
                let pairs: Vec<Value> = pairs.iter().map(|pair| list(pair)).collect();
                let _ = writeln!(out, "{name} = {}", Value::from(pairs));
            }
        }
    }
}

/// Maps the id of a call in the protocol to its id in the case.
fn ids(scenario: &GeneratedScenario, seen: &RunSeen) -> BTreeMap<String, String> {
    let last = seen.shown.last().map_or(&[] as &[ModelMessage], Vec::as_slice);
    let said = last.iter().filter(|message| message.role == Role::Assistant);
    let mut ids = BTreeMap::new();
    for ((at, turn), message) in scenario.turns.iter().enumerate().zip(said) {
        for (place, call) in message.calls.iter().enumerate().take(turn.calls.len()) {
            ids.insert(call.call.clone(), GeneratedScenario::id(at, place));
        }
    }
    ids
}

/// Returns the number of times that a text is shown, excluding the model's own messages.
fn times(messages: &[ModelMessage], text: &str) -> usize {
    let heard = messages.iter().filter(|message| message.role != Role::Assistant);
    heard.map(|message| message.text.matches(text).count()).sum()
}

/// Returns the shown texts, by turn: the new texts of each turn, and all texts at the last turn.
fn sees(
    scenario: &GeneratedScenario,
    seen: &RunSeen,
    ids: &BTreeMap<String, String>,
) -> Vec<Vec<String>> {
    let mut sees: Vec<Vec<String>> = Vec::new();
    let mut known: Vec<(String, &'static str)> = Vec::new();
    // The first message is the prompt, which every adapter shows.
    let mut before = 1;
    for (at, messages) in seen.shown.iter().enumerate() {
        let mut here = Vec::new();
        let mut new: Vec<(String, &'static str)> = Vec::new();
        let ran = |call: &str| seen.executed.iter().any(|executed| executed.call.call == call);
        let prompted =
            |text: &str| scenario.turns.iter().any(|turn| turn.prompt.as_deref() == Some(text));
        for message in messages.iter().skip(before) {
            match (&message.call, message.role) {
                (Some(call), Role::Tool) if !ran(call) => {
                    let id = ids.get(call).cloned().unwrap_or_default();
                    for text in message.text.split("\n\n").filter(|text| !text.is_empty()) {
                        if text.starts_with("<feedback") {
                            new.push((text.to_owned(), "STEER-6"));
                            continue;
                        }
                        here.push(one(
                            Some(&id),
                            text,
                            message.text.matches(text).count(),
                            "GATE-4",
                        ));
                    }
                }
                (None, Role::User) if prompted(&message.text) => {}
                (None, Role::User) if message.text.starts_with("<feedback") => {
                    new.push((message.text.clone(), "STEER-1"));
                }
                (None, Role::User) => {
                    new.extend(message.text.lines().map(|line| (line.to_owned(), "DONE-2")));
                }
                _ => {}
            }
        }
        new.dedup();
        for (text, clause) in new {
            if !known.iter().any(|(other, _)| *other == text) {
                known.push((text.clone(), clause));
            }
            here.push(one(None, &text, times(messages, &text), clause));
        }
        if at + 1 == seen.shown.len() {
            for (text, clause) in &known {
                let again = one(None, text, times(messages, text), clause);
                if !here.contains(&again) {
                    here.push(again);
                }
            }
            let shaded = scenario.guard().contains(crate::reference::SHADE);
            if shaded {
                let text = crate::reference::SHADE;
                here.push(format!("{{ lacks = \"{text}\", clause = \"EFFECT-13\" }}"));
            }
        }
        before = messages.len();
        sees.push(here);
    }
    sees
}

fn one(call: Option<&str>, text: &str, times: usize, clause: &str) -> String {
    let call = call.map(|id| format!("call = \"{id}\", ")).unwrap_or_default();
    let times = if times == 1 { String::new() } else { format!(", times = {times}") };
    format!("{{ {call}has = {}{times}, clause = \"{clause}\" }}", Value::from(text))
}

//! Judges the messages shown to the model, turn by turn.

use super::Bench;
use crate::case::Sees;
use crate::protocol::{Message, Role};
use crate::world::json_of;
use serde_json::Value;

/// The maximum length of a quoted text, in characters.
const QUOTED: usize = 600;

/// Judges every turn of a run.
pub fn turns(bench: &mut Bench) {
    let shown: Vec<(usize, &Vec<Message>)> = bench.seen.shown.iter().enumerate().collect();
    for (at, messages) in shown {
        let Some(turn) = bench.run.turn.get(at) else { return };
        if at == 0 {
            prompted(bench, messages);
        } else {
            answered(bench, at, messages);
        }
        for sees in &turn.sees {
            sight(bench, at, messages, sees);
        }
    }
}

/// Checks that the model is asked with the user's prompt.
fn prompted(bench: &mut Bench, messages: &[Message]) {
    let prompt = &bench.run.prompt;
    if !messages
        .iter()
        .any(|message| message.role != Role::Tool && message.text.contains(prompt.as_str()))
    {
        let expected = format!("the model is shown the prompt {prompt:?}");
        let observed = quoted(messages.iter());
        bench.breaks("LOOP-1", Some(0), expected, observed);
    }
}

/// Checks that each call of the previous turn is answered once, and that a call that ran shows its
/// result.
fn answered(bench: &mut Bench, at: usize, messages: &[Message]) {
    let Some(before) = bench.run.turn.get(at - 1) else { return };
    for call in &before.calls {
        let wire = bench.ids.get(&call.id).cloned().unwrap_or_default();
        let answers: Vec<&Message> =
            messages.iter().filter(|message| answers(message, &wire)).collect();
        if answers.len() != 1 {
            let observed = match answers.len() {
                0 => "there is no answer to it".to_owned(),
                count => format!("there are {count} answers: {}", quoted(answers.iter().copied())),
            };
            bench.breaks(
                "LOOP-2",
                Some(at),
                format!("`{}` ({}) is answered once", call.id, call.tool),
                observed,
            );
            continue;
        }
        let ran = bench.served(&call.id).is_some();
        let gave = call.result.as_ref().map_or_else(|| Value::from("done"), json_of);
        if ran && !leaves(&gave).iter().all(|leaf| answers[0].text.contains(leaf)) {
            let clause = if call.fails { "LOOP-6" } else { "LOOP-3" };
            let expected = format!(
                "the answer to `{}` ({}) holds what the tool gave: {gave}",
                call.id, call.tool
            );
            bench.breaks(clause, Some(at), expected, quoted(answers.iter().copied()));
        }
    }
    let unknown = messages.iter().filter(|message| message.role == Role::Tool);
    let unknown: Vec<String> = unknown
        .filter_map(|message| message.call.clone())
        .filter(|call| !bench.ids.values().any(|id| id == call))
        .collect();
    for call in unknown {
        bench.breaks(
            "LOOP-2",
            Some(at),
            "answers name calls that the model made",
            format!("one names `{call}`"),
        );
    }
}

fn answers(message: &Message, wire: &str) -> bool {
    message.role == Role::Tool && message.call.as_deref() == Some(wire)
}

/// Returns the texts that any rendering of a value must contain.
fn leaves(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(leaves).collect(),
        Value::Object(members) => members.values().flat_map(leaves).collect(),
        other => vec![other.to_string()],
    }
}

fn sight(bench: &mut Bench, at: usize, messages: &[Message], sees: &Sees) {
    let wire = sees.call.as_ref().and_then(|id| bench.ids.get(id)).cloned();
    let looked: Vec<&Message> = match &wire {
        Some(wire) => messages.iter().filter(|message| answers(message, wire)).collect(),
        // The model's own messages are shown back to it, and do not count.
        None => messages.iter().filter(|message| message.role != Role::Assistant).collect(),
    };
    let count =
        |text: &str| looked.iter().map(|message| message.text.matches(text).count()).sum::<usize>();
    let place = match &sees.call {
        Some(id) => format!("in the answer to `{id}`"),
        None => "to the model".to_owned(),
    };
    let times = |count: usize| match count {
        0 => "not".to_owned(),
        1 => "once".into(),
        count => format!("{count} times"),
    };
    let has = sees.has.0.iter().map(|text| (text, sees.times));
    let lacks = sees.lacks.0.iter().map(|text| (text, 0));
    let wrong: Vec<(String, usize, usize)> = has
        .chain(lacks)
        .map(|(text, wanted)| (text.clone(), wanted, count(text)))
        .filter(|(_, wanted, found)| wanted != found)
        .collect();
    let quote = quoted(looked.iter().copied().rev().take(4).collect::<Vec<_>>().into_iter().rev());
    let clause = sees.clause.clone().unwrap_or_else(|| bench.case.clause.clone());
    for (text, wanted, found) in wrong {
        let expected = format!("shown {} {place}: {text:?}", times(wanted));
        let observed = format!("shown {}; {place}: {quote}", times(found));
        bench.breaks(&clause, Some(at), expected, observed);
    }
}

/// Quotes messages, shortened.
fn quoted<'m>(messages: impl Iterator<Item = &'m Message>) -> String {
    let texts: Vec<String> = messages.map(|message| format!("{:?}", message.text)).collect();
    match texts.is_empty() {
        true => "nothing".into(),
        false => guard_plan::render::cut(&texts.join(" | "), QUOTED),
    }
}

//! The check of the messages that were shown to the model, turn by turn.

use super::RunJudge;
use crate::case::{CallFile, Sees};
use crate::protocol::{FailureKind, ModelMessage, Role};
use crate::world::json_of;
use serde_json::Value;

/// The maximum length of a quoted text, in characters.
const QUOTED: usize = 600;

/// Checks every turn of a run.
pub fn turns(bench: &mut RunJudge) {
    let shown: Vec<(usize, &Vec<ModelMessage>)> = bench.seen.shown.iter().enumerate().collect();
    let mut whole = true;
    for (at, messages) in shown {
        let Some(turn) = bench.run.turn.get(at) else { return };
        if at == 0 {
            prompted(bench, messages);
        } else {
            answered(bench, at, messages);
            // A missing part of the conversation is missing from then on, so it is reported only
            // once.
            whole = whole && complete(bench, at, messages);
        }
        for sees in &turn.sees {
            sight(bench, at, messages, sees);
        }
    }
}

/// Checks that the content of earlier turns is still there. Returns true if it is.
fn complete(bench: &mut RunJudge, at: usize, messages: &[ModelMessage]) -> bool {
    let said = |text: &str| {
        let mut by_model = messages.iter().filter(|message| message.role == Role::Assistant);
        by_model.any(|message| message.text.contains(text))
    };
    let prompt = bench.run.prompt.as_str();
    let mut lost = None;
    if !messages.iter().any(|message| message.role != Role::Tool && message.text.contains(prompt)) {
        lost = Some(format!("the prompt {prompt:?}"));
    }
    for (number, before) in bench.run.turn.iter().enumerate().take(at) {
        if let Some(text) = before.say.as_ref().filter(|text| !said(text)) {
            lost = lost.or(Some(format!("the model's text in turn {}: {text:?}", number + 1)));
        }
        // The answers to the turn directly before are checked separately.
        let calls = if number + 1 == at { &[][..] } else { &before.calls };
        // A call without an id has no answer that could be recognised.
        for call in calls.iter().filter(|call| call.given_id.as_deref() != Some("")) {
            let wire = bench.ids.get(&call.id).map_or("", String::as_str);
            let gave = given(bench, call);
            let kept = messages.iter().filter(|message| answers(message, wire)).any(|message| {
                gave.iter().flat_map(leaves).all(|leaf| message.text.contains(&leaf))
            });
            if !kept {
                let turn = number + 1;
                lost = lost.or(Some(format!("the answer to `{}` of turn {turn}", call.id)));
            }
        }
        for call in before.calls.iter().filter(|call| !is_said(bench, call, messages)) {
            lost = lost.or(Some(format!(
                "its call `{}` of turn {}, with its arguments",
                call.id,
                number + 1
            )));
        }
    }
    let Some(lost) = lost else { return true };
    let observed = format!("it is not in the {} messages that the model is shown", messages.len());
    bench.breaks("LOOP-1", Some(at), format!("the model is still shown {lost}"), observed);
    false
}

/// Returns true if a call is in the model's messages. If it has no id or no valid arguments,
/// frameworks write it down in different ways.
fn is_said(bench: &RunJudge, call: &CallFile, messages: &[ModelMessage]) -> bool {
    if call.given_id.is_some() || !call.args.is_table() {
        return true;
    }
    let args = crate::world::named(&json_of(&call.args), bench.ids);
    let wire = bench.ids.get(&call.id);
    let mut said = messages.iter().flat_map(|message| &message.calls);
    said.any(|made| Some(&made.call) == wire && made.tool == call.tool && made.args == args)
}

/// Returns the part of a tool's result that the model reads, if the call ran.
fn given(bench: &RunJudge, call: &CallFile) -> Option<Value> {
    bench.served(&call.id)?;
    let given = call.shown.as_ref().or(call.result.as_ref());
    Some(given.map_or_else(|| Value::from("done"), json_of))
}

/// Checks that the model is asked with the user's prompt.
fn prompted(bench: &mut RunJudge, messages: &[ModelMessage]) {
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

/// Checks that each call of the previous turn is answered once, and that the answer to a call that
/// ran shows its result.
fn answered(bench: &mut RunJudge, at: usize, messages: &[ModelMessage]) {
    let Some(before) = bench.run.turn.get(at - 1) else { return };
    for call in &before.calls {
        let wire = bench.ids.get(&call.id).cloned().unwrap_or_default();
        let answers: Vec<&ModelMessage> =
            messages.iter().filter(|message| answers(message, &wire)).collect();
        // A call without an id is answered under some id.
        if wire.is_empty() {
            continue;
        }
        // Calls of one turn with the same id may share an answer. An id that is used again in a
        // later turn is answered again.
        let has_id = |sent: &&CallFile| bench.ids.get(&sent.id) == Some(&wire);
        let sharing =
            bench.run.turn.iter().take(at).map(|turn| turn.calls.iter().filter(has_id).count());
        let sharing: Vec<usize> = sharing.filter(|count| *count > 0).collect();
        let expected = sharing.len()..=sharing.iter().sum();
        if !expected.contains(&answers.len()) {
            let observed = match answers.len() {
                0 => "there is no answer to it".to_owned(),
                count => format!("there are {count} answers: {}", quoted(answers.iter().copied())),
            };
            let expected = format!("`{}` ({}) is answered once", call.id, call.tool);
            bench.breaks("LOOP-2", Some(at), expected, observed);
            continue;
        }
        result_is_shown(bench, at, call, &answers);
        twin_is_answered(bench, at, call, &answers);
    }
    // A call without an id is answered under an id of the framework, which is unknown here.
    if bench.ids.values().any(String::is_empty) {
        return;
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

/// Checks that the answer to a call contains its result, or the reason why it did not run.
fn result_is_shown(bench: &mut RunJudge, at: usize, call: &CallFile, answers: &[&ModelMessage]) {
    let shown = |leaf: &String| answers.iter().any(|answer| answer.text.contains(leaf));
    told_apart(bench, at, call, answers);
    match given(bench, call) {
        // Frameworks report a time-out in their own words.
        Some(gave)
            if call.failure != Some(FailureKind::Timeout) && !leaves(&gave).iter().all(shown) =>
        {
            let clause = match &call.shown {
                Some(_) => "EFFECT-16",
                None if call.is_failure() => "LOOP-6",
                None => "LOOP-3",
            };
            let gave = guard_plan::render::cut(&gave.to_string(), QUOTED);
            let expected = format!(
                "the answer to `{}` ({}) contains the tool's result: {gave}",
                call.id, call.tool
            );
            let lengths: Vec<String> =
                answers.iter().map(|answer| answer.text.len().to_string()).collect();
            let observed =
                format!("{} ({} bytes)", quoted(answers.iter().copied()), lengths.join(" and "));
            bench.breaks(clause, Some(at), expected, observed);
        }
        None if answers.iter().all(|answer| answer.text.trim().is_empty()) => {
            let expected =
                format!("the answer to `{}` ({}) states why it did not run", call.id, call.tool);
            bench.breaks("LOOP-2", Some(at), expected, "the answer is empty");
        }
        _ => {}
    }
}

/// Checks that of two calls with the same id, of which one ran, the model is also told about the
/// other.
fn twin_is_answered(bench: &mut RunJudge, at: usize, call: &CallFile, answers: &[&ModelMessage]) {
    let (None, Some(given_id), [answer]) = (bench.served(&call.id), &call.given_id, answers) else {
        return;
    };
    let Some(Value::String(gave)) = bench
        .case
        .calls()
        .find(|scripted| scripted.id == *given_id)
        .and_then(|call| given(bench, call))
    else {
        return;
    };
    if answer.text.trim() == gave {
        let expected = format!("`{}`, which has the id of `{given_id}`, is answered too", call.id);
        bench.breaks("LOOP-2", Some(at), expected, "only what the other gave is shown");
    }
}

/// Checks that a success is not marked as a failure, and that a failure does not read like a
/// success.
fn told_apart(bench: &mut RunJudge, at: usize, call: &CallFile, answers: &[&ModelMessage]) {
    let Some(gave) = given(bench, call) else { return };
    let is_failed = answers.iter().any(|answer| answer.failed);
    let success = match gave {
        Value::String(text) => text,
        gave => gave.to_string(),
    };
    let reads_alike = |answer: &&ModelMessage| answer.text.trim() == success.trim();
    let name = format!("the answer to `{}` ({})", call.id, call.tool);
    // Calls with the same id share their answers.
    if !call.is_failure() && is_failed && answers.iter().all(|answer| answer.failed) {
        let expected = format!("{name} reads as a success");
        bench.breaks("LOOP-9", Some(at), expected, "it is marked as `failed`");
    }
    if call.is_failure() && !is_failed && answers.iter().any(reads_alike) {
        let expected = format!("{name} states that it failed, or is marked as `failed`");
        let observed = format!("it reads as a success: {}", quoted(answers.iter().copied()));
        bench.breaks("LOOP-9", Some(at), expected, observed);
    }
}

fn answers(message: &ModelMessage, wire: &str) -> bool {
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

fn sight(bench: &mut RunJudge, at: usize, messages: &[ModelMessage], sees: &Sees) {
    let wire = sees.call.as_ref().and_then(|id| bench.ids.get(id)).cloned();
    let looked: Vec<&ModelMessage> = match &wire {
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
        0 => "not shown".to_owned(),
        1 => "shown once".into(),
        count => format!("shown {count} times"),
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
        let expected = format!("{} {place}: {text:?}", times(wanted));
        let observed = format!("{}; {place}: {quote}", times(found));
        bench.breaks(&clause, Some(at), expected, observed);
    }
}

/// Quotes messages, shortened.
fn quoted<'m>(messages: impl Iterator<Item = &'m ModelMessage>) -> String {
    let texts: Vec<String> = messages.map(|message| format!("{:?}", message.text)).collect();
    if texts.is_empty() {
        "nothing".into()
    } else {
        guard_plan::render::cut(&texts.join(" | "), QUOTED)
    }
}
